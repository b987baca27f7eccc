/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TfIdfVectorizer: how often the n-grams of a pool occur in rows of integers or strings. */
#include "compute.h"
#include "element.h"
#include "engine/base/hash.h"
#include "engine/base/intern.h"

#include <string.h>

enum { MOST_COLUMNS = 1 << 24, MOST_LENGTH = 1 << 16 };

/* Entries of the pool that hold n-grams of n: [*from, *to). */
static void grams_of(const tg_attr *counts, int64_t pool, int64_t n, int64_t *from, int64_t *to)
{
    *from = n <= counts->n ? counts->ints[n - 1] : pool;
    *to = n < counts->n ? counts->ints[n] : pool;
}

/* Sections ascend, hold whole n-grams, and have an index (and a weight) for each. */
static tg_status check_pool(tg_infer *infer)
{
    const tg_attr *counts = tg_infer_attr(infer, "ngram_counts");
    const tg_attr *index = tg_infer_attr(infer, "ngram_indexes");
    const tg_attr *weights = tg_infer_attr(infer, "weights");
    bool strings = infer->in[0].dtype == TG_STR;
    int64_t pool = tg_infer_attr(infer, strings ? "pool_strings" : "pool_int64s")->n, grams = 0;
    for (int64_t n = 1; n <= counts->n; n++) {
        int64_t from, to;
        grams_of(counts, pool, n, &from, &to);
        if (from < 0 || to < from || to > pool || (to - from) % n || (n == 1 && from))
            return tg_fail(TG_INVALID, "entry %d of ngram_counts is %lld", (int)n - 1,
                           (long long)from);
        grams += (to - from) / n;
    }
    if (grams != index->n)
        return tg_fail(TG_INVALID, "%lld n-grams have %u indices", (long long)grams, index->n);
    if (weights->kind == TG_ATTR_FLOATS && weights->n && weights->n != grams)
        return tg_fail(TG_INVALID, "%lld n-grams have %u weights", (long long)grams, weights->n);
    return TG_OK;
}

static tg_status check_lengths(tg_infer *infer)
{
    int64_t least = tg_infer_attr(infer, "min_gram_length")->i;
    int64_t most = tg_infer_attr(infer, "max_gram_length")->i;
    int64_t skip = tg_infer_attr(infer, "max_skip_count")->i;
    const char *mode = tg_infer_attr(infer, "mode")->s;
    if (least < 1 || most < least || most > MOST_LENGTH || skip < 0 || skip > MOST_LENGTH)
        return tg_fail(TG_INVALID, "n-grams of %lld to %lld with %lld skipped", (long long)least,
                       (long long)most, (long long)skip);
    if (strcmp(mode, "TF") && strcmp(mode, "IDF") && strcmp(mode, "TFIDF"))
        return tg_fail(TG_INVALID, "attribute mode is '%s'", mode);
    return TG_OK;
}

tg_status infer_tf_idf(tg_infer *infer)
{
    const tg_shape *x = &infer->in[0].shape;
    const tg_attr *index = tg_infer_attr(infer, "ngram_indexes");
    tg_dtype dtype = infer->in[0].dtype;
    if (dtype != TG_I32 && dtype != TG_I64 && dtype != TG_STR)
        return tg_fail(TG_UNSUPPORTED, "n-grams of element type %s",
                       tg_dtype_name(infer->in[0].dtype));
    TG_TRY(tg_need_rank(infer, 0, "the input", 1, 2));
    TG_TRY(check_lengths(infer));
    TG_TRY(check_pool(infer));
    int64_t columns = 0;
    for (uint32_t k = 0; k < index->n; k++) {
        if (index->ints[k] < 0 || index->ints[k] >= MOST_COLUMNS)
            return tg_fail(TG_INVALID, "ngram_indexes has entry %lld", (long long)index->ints[k]);
        if (index->ints[k] >= columns) columns = index->ints[k] + 1;
    }
    infer->out[0] =
        (tg_type){TG_F32, x->rank == 2 ? tg_shape_of(x->dim[0], columns) : tg_shape_of(columns)};
    return TG_OK;
}

/* Times that the n-gram occurs with every `step`th element of the row. */
static int64_t occurrences(const int64_t *row, int64_t length, const int64_t *gram, int64_t n,
                           int64_t step)
{
    int64_t found = 0;
    for (int64_t at = 0; at + (n - 1) * step < length; at++) {
        int64_t k = 0;
        while (k < n && row[at + k * step] == gram[k]) k++;
        found += k == n;
    }
    return found;
}

static void count_row(const tg_call *call, const tg_attr *pool, const int64_t *row, int64_t length,
                      double *y)
{
    const tg_attr *counts = call_attr(call, "ngram_counts");
    const tg_attr *weights = call_attr(call, "weights"), *index = call_attr(call, "ngram_indexes");
    const char *mode = call_attr(call, "mode")->s;
    int64_t id = 0, from, to;
    for (int64_t n = 1; n <= counts->n; n++) {
        grams_of(counts, pool->n, n, &from, &to);
        for (; from < to; from += n, id++) {
            int64_t found = 0, skip = n == 1 ? 0 : call_int(call, "max_skip_count");
            if (n < call_int(call, "min_gram_length") || n > call_int(call, "max_gram_length"))
                continue;
            for (int64_t s = 0; s <= skip && (n - 1) * (s + 1) < length; s++)
                found += occurrences(row, length, pool->ints + from, n, s + 1);
            double w = weights->kind == TG_ATTR_FLOATS && weights->n ? weights->floats[id] : 1;
            if (mode[0] == 'I') y[index->ints[id]] += found ? w : 0;
            else y[index->ints[id]] += (double)found * (mode[2] ? w : 1);
        }
    }
}

/* Strings as numbers: the place in the pool where each stands first, -1 for those not in it. */
static void number_strings(tg_call *call, int64_t *x, tg_attr *pool)
{
    const tg_attr *words = call_attr(call, "pool_strings");
    int64_t *number = TG_NEW_ARRAY(call->arena, int64_t, words->n + 1);
    tg_map first = {0};
    bool fresh;
    for (uint32_t i = 0; i < words->n; i++) {
        const char *one = tg_intern(words->strs[i]);
        uint64_t *at = tg_map_put(&first, (uint64_t)(uintptr_t)one, &fresh);
        if (fresh) *at = i;
        number[i] = (int64_t)*at;
    }
    const tg_string *s = call->in[0].data;
    for (int64_t i = 0, n = tg_tensor_count(&call->in[0]); i < n; i++) {
        const char *one = tg_intern_bytes(s[i].p, s[i].n);
        const uint64_t *at = tg_map_find(&first, (uint64_t)(uintptr_t)one);
        x[i] = at ? (int64_t)*at : -1;
    }
    tg_map_free(&first);
    *pool = TG_ATTR_OF_INTS(number, words->n);
}

tg_status kernel_tf_idf(tg_call *call)
{
    const tg_shape *s = &call->in[0].shape;
    int64_t n = tg_tensor_count(&call->in[0]), length = s->dim[s->rank - 1];
    int64_t rows = s->rank == 2 ? s->dim[0] : 1;
    int64_t columns = call->out[0].shape.dim[s->rank - 1];
    int64_t *x = TG_NEW_ARRAY(call->arena, int64_t, n + 1);
    tg_attr numbered, *pool = &numbered;
    double *y = tg_call_scratch(call, tg_tensor_count(&call->out[0]));
    if (call->in[0].dtype == TG_STR) {
        number_strings(call, x, &numbered);
    } else {
        numbered = *call_attr(call, "pool_int64s");
        tg_element_load_i64(&call->in[0], 0, 1, n, x);
    }
    for (int64_t r = 0; r < rows; r++)
        count_row(call, pool, x + r * length, length, y + r * columns);
    tg_call_store(call, 0, y);
    return TG_OK;
}
