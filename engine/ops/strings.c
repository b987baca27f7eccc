/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Operators on strings: StringConcat, StringSplit, StringNormalizer, RegexFullMatch. */
#include "broadcast.h"
#include "engine/base/str.h"
#include "params.h"
#include "regex.h"
#include "utf8.h"

#include <stdlib.h>
#include <string.h>

static tg_status need_strings(const tg_infer *infer, int slot)
{
    if (infer->in[slot].dtype == TG_STR) return TG_OK;
    return tg_fail(TG_TYPE, "input %d is %s, not string", slot,
                   tg_dtype_name(infer->in[slot].dtype));
}

static tg_string *strings_of(const tg_tensor *t)
{
    return t->data;
}

tg_status infer_string_concat(tg_infer *infer)
{
    TG_TRY(need_strings(infer, 0));
    TG_TRY(need_strings(infer, 1));
    return infer_broadcast(infer);
}

tg_status kernel_string_concat(tg_call *call)
{
    const tg_shape *shapes[] = {&call->in[0].shape, &call->in[1].shape};
    tg_broadcast b;
    tg_str text = {0};
    for (tg_broadcast_start(&b, &call->out[0].shape, shapes, 2); b.rows; tg_broadcast_next(&b))
        for (int64_t i = 0; i < b.n; i++) {
            const tg_string *x = &strings_of(&call->in[0])[b.at[0] + i * b.step[0]];
            const tg_string *y = &strings_of(&call->in[1])[b.at[1] + i * b.step[1]];
            tg_str_clear(&text);
            if (x->n) tg_str_addn(&text, x->p, x->n);
            if (y->n) tg_str_addn(&text, y->p, y->n);
            strings_of(&call->out[0])[b.to + i] = tg_string_of(text.p, text.n);
        }
    tg_str_free(&text);
    return TG_OK;
}

/* ---- StringSplit ---- */

tg_status infer_string_split(tg_infer *infer)
{
    const tg_attr *most = tg_infer_attr(infer, "maxsplit");
    TG_TRY(need_strings(infer, 0));
    if (most->kind == TG_ATTR_INT && most->i < 0)
        return tg_fail(TG_INVALID, "maxsplit is negative");
    if (infer->in[0].shape.rank >= TG_MAX_RANK)
        return tg_fail(TG_UNSUPPORTED, "a shape of rank %d, above %d", TG_MAX_RANK + 1,
                       TG_MAX_RANK);
    infer->out[0].dtype = TG_STR;
    if (infer->n_out > 1) infer->out[1] = (tg_type){TG_I64, infer->in[0].shape};
    return TG_OK;
}

/* How strings are cut: at a delimiter or, if it is empty, at runs of white space. */
typedef struct cutter {
    tg_string delimiter;
    int64_t most; /* cuts; -1: any number */
} cutter;

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

/* Where the next cut of s from `at` on begins and ends; false if there is none. */
static bool next_cut(const cutter *c, const tg_string *s, size_t at, size_t *from, size_t *to)
{
    size_t n = c->delimiter.n;
    for (*from = at; *from < s->n; ++*from) {
        *to = *from + n;
        if (n && (*to > s->n || memcmp(s->p + *from, c->delimiter.p, n) != 0)) continue;
        if (n) return true;
        while (*to < s->n && is_space(s->p[*to])) ++*to;
        if (*to > *from) return true;
    }
    return false;
}

/* Puts the pieces of s into `to` (NULL: only counts them). */
static int64_t cut(const cutter *c, const tg_string *s, tg_string *to)
{
    size_t at = 0, from, end, last = s->n;
    int64_t n = 0;
    if (!c->delimiter.n) {
        while (at < s->n && is_space(s->p[at])) at++;
        if (at == s->n) return 0;
    }
    while ((c->most < 0 || n < c->most) && next_cut(c, s, at, &from, &end)) {
        if (!c->delimiter.n && end == s->n) {
            last = from;
            break;
        }
        if (to) to[n] = tg_string_of(s->p + at, from - at);
        n++;
        at = end;
    }
    if (to) to[n] = tg_string_of(s->n ? s->p + at : "", last - at);
    return n + 1;
}

tg_status kernel_string_split(tg_call *call)
{
    const tg_attr *delimiter = call_attr(call, "delimiter"), *most = call_attr(call, "maxsplit");
    cutter c = {.most = most->kind == TG_ATTR_INT ? most->i : -1};
    if (delimiter->kind == TG_ATTR_STR) c.delimiter = (tg_string){delimiter->s, delimiter->n};
    const tg_string *x = call->in[0].data;
    int64_t n = tg_tensor_count(&call->in[0]), longest = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t pieces = cut(&c, &x[i], NULL);
        if (pieces > longest) longest = pieces;
        if (call->n_out > 1) ((int64_t *)call->out[1].data)[i] = pieces;
    }
    tg_shape shape = call->in[0].shape;
    shape.dim[shape.rank++] = longest;
    TG_TRY(tg_type_limit(&(tg_type){TG_STR, shape}));
    if (tg_shape_count(&shape) > (int64_t)1 << 28)
        return tg_fail(TG_LIMIT, "more than 2^28 pieces, with those that are filled up");
    tg_call_alloc(call, 0, TG_STR, shape);
    for (int64_t i = 0; i < n; i++) cut(&c, &x[i], strings_of(&call->out[0]) + i * longest);
    return TG_OK;
}

/* ---- StringNormalizer ---- */

static tg_status check_case(const char *action, const char *locale)
{
    static const char *const special[] = {"tr", "az", "lt"};
    if (strcmp(action, "NONE") && strcmp(action, "LOWER") && strcmp(action, "UPPER"))
        return tg_fail(TG_INVALID, "case_change_action is '%s'", action);
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        if (tg_starts_with(locale, special[i]))
            return tg_fail(TG_UNSUPPORTED, "the case rules of locale %s", locale);
    return TG_OK;
}

/* Lists and matrices of one row; how many words are left is known when it runs. */
tg_status infer_string_normalizer(tg_infer *infer)
{
    const tg_shape *in = &infer->in[0].shape;
    char text[TG_SHAPE_TEXT];
    TG_TRY(need_strings(infer, 0));
    TG_TRY(check_case(tg_infer_attr(infer, "case_change_action")->s,
                      tg_infer_attr(infer, "locale")->s));
    if (in->rank != 1 && (in->rank != 2 || in->dim[0] != 1))
        return tg_fail(TG_SHAPE, "words of shape %s, not a list or one row",
                       tg_shape_text(text, in));
    infer->out[0].dtype = TG_STR;
    const tg_attr *stop = tg_infer_attr(infer, "stopwords");
    if (in->dim[in->rank - 1] && (stop->kind == TG_ATTR_NONE || !stop->n))
        infer->out[0].shape = *in;
    return TG_OK;
}

/* True if the word is none of the stop words, which have the case that it is compared in. */
static bool stays(const tg_string *word, const tg_string *stop, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (tg_string_equal(word, &stop[i])) return false;
    return true;
}

static tg_string *stop_words(tg_call *call, const tg_attr *list, bool exact)
{
    tg_string *stop = TG_NEW_ARRAY(call->arena, tg_string, list->n + 1);
    for (uint32_t i = 0; i < list->n; i++) {
        stop[i] = (tg_string){list->strs[i], strlen(list->strs[i])};
        if (!exact) stop[i] = tg_string_cased(&stop[i], false);
    }
    return stop;
}

tg_status kernel_string_normalizer(tg_call *call)
{
    const tg_string *x = call->in[0].data;
    const tg_attr none = {.kind = TG_ATTR_STRS}, *list = call_attr(call, "stopwords");
    const char *action = call_attr(call, "case_change_action")->s;
    bool exact = call_attr(call, "is_case_sensitive")->i != 0;
    if (list->kind == TG_ATTR_NONE) list = &none;
    int64_t n = tg_tensor_count(&call->in[0]), left = 0;
    tg_string *stop = stop_words(call, list, exact);
    tg_string *kept = TG_NEW_ARRAY(call->arena, tg_string, n + 1);
    for (int64_t i = 0; i < n; i++) {
        tg_string as = exact ? x[i] : tg_string_cased(&x[i], false);
        if (!stays(&as, stop, list->n)) continue;
        kept[left++] = *action == 'N' ? x[i] : tg_string_cased(&x[i], *action == 'U');
    }
    if (!left) left = 1; /* one empty word */
    tg_shape shape = call->in[0].shape;
    shape.dim[shape.rank - 1] = left;
    tg_call_alloc(call, 0, TG_STR, shape);
    memcpy(call->out[0].data, kept, (size_t)left * sizeof *kept);
    return TG_OK;
}

/* ---- RegexFullMatch ---- */

tg_status infer_regex_full_match(tg_infer *infer)
{
    tg_regex *regex;
    const tg_attr *pattern = tg_infer_attr(infer, "pattern");
    TG_TRY(need_strings(infer, 0));
    TG_TRY(tg_regex_new(pattern->s, pattern->n, &regex));
    tg_regex_free(regex);
    infer->out[0] = (tg_type){TG_BOOL, infer->in[0].shape};
    return TG_OK;
}

tg_status kernel_regex_full_match(tg_call *call)
{
    tg_regex *regex;
    const tg_attr *pattern = call_attr(call, "pattern");
    const tg_string *x = call->in[0].data;
    TG_TRY(tg_regex_new(pattern->s, pattern->n, &regex));
    for (int64_t i = 0, n = tg_tensor_count(&call->in[0]); i < n; i++)
        ((uint8_t *)call->out[0].data)[i] = tg_regex_matches(regex, x[i].n ? x[i].p : "", x[i].n);
    tg_regex_free(regex);
    return TG_OK;
}
