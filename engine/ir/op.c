/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "op.h"

#include "engine/base/hash.h"
#include "engine/base/vec.h"

#include <assert.h>
#include <pthread.h>
#include <stdio.h>

/* The specs of all rows, parsed once. */
typedef struct parsed {
    tg_attr_spec *attrs;
    tg_fold_spec *folds;
    int n_attrs, n_folds;
} parsed;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static parsed *table;
static tg_strmap by_name;
static tg_arena *arena;

static const struct {
    const char *name;
    tg_attr_kind kind;
} kinds[] = {{"int", TG_ATTR_INT},       {"float", TG_ATTR_FLOAT},   {"str", TG_ATTR_STR},
             {"ints", TG_ATTR_INTS},     {"floats", TG_ATTR_FLOATS}, {"strs", TG_ATTR_STRS},
             {"tensor", TG_ATTR_TENSOR}, {"bytes", TG_ATTR_BYTES},   {"type", TG_ATTR_TYPE},
             {"graph", TG_ATTR_GRAPH}};

static tg_attr_kind kind_named(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, name) == 0) return kinds[i].kind;
    assert(!"attribute kind in the operator table");
    return TG_ATTR_NONE;
}

static tg_attr default_ints(char *text)
{
    int64_t v[16];
    uint32_t n = 0;
    for (char *save, *w = strtok_r(text, ",", &save); w; w = strtok_r(NULL, ",", &save))
        v[n++] = strtoll(w, NULL, 10);
    return TG_ATTR_OF_INTS(tg_arena_dup(arena, v, n * sizeof *v), n);
}

static tg_attr default_value(tg_attr_kind kind, char *text)
{
    switch (kind) {
    case TG_ATTR_INT: return TG_ATTR_OF_INT(strtoll(text, NULL, 10));
    case TG_ATTR_FLOAT: return TG_ATTR_OF_FLOAT(strtof(text, NULL));
    case TG_ATTR_STR: return tg_attr_str(tg_arena_strdup(arena, text));
    case TG_ATTR_INTS: return default_ints(text);
    default: return (tg_attr){.kind = TG_ATTR_NONE};
    }
}

/* "name:kind", "name:kind=default", "name:kind!" */
static tg_attr_spec parse_attr(char *word)
{
    tg_attr_spec spec = {0};
    char *colon = strchr(word, ':'), *value = strchr(word, '=');
    assert(colon);
    *colon = '\0';
    if (value) *value++ = '\0';
    size_t n = strlen(colon + 1);
    if (n && colon[n] == '!') {
        spec.required = true;
        colon[n] = '\0';
    }
    spec.name = tg_arena_strdup(arena, word);
    spec.kind = kind_named(colon + 1);
    if (value) spec.value = default_value(spec.kind, value);
    return spec;
}

static void parse_attrs(parsed *p, const char *text)
{
    char *copy = tg_arena_strdup(arena, text ? text : "");
    p->attrs = TG_NEW_ARRAY(arena, tg_attr_spec, strlen(copy) / 3 + 1);
    for (char *save, *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save))
        p->attrs[p->n_attrs++] = parse_attr(w);
}

static int attr_index(const parsed *p, const char *name)
{
    for (int i = 0; i < p->n_attrs; i++)
        if (strcmp(p->attrs[i].name, name) == 0) return i;
    return -1;
}

/* "slot=attr@opset" */
static void parse_folds(parsed *p, const char *text)
{
    char *copy = tg_arena_strdup(arena, text ? text : "");
    p->folds = TG_NEW_ARRAY(arena, tg_fold_spec, strlen(copy) / 4 + 1);
    for (char *save, *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
        char *name = strchr(w, '='), *since = strchr(w, '@');
        assert(name && since);
        *name++ = *since++ = '\0';
        tg_fold_spec fold = {atoi(w), attr_index(p, name), atoi(since)};
        assert(fold.attr >= 0);
        p->folds[p->n_folds++] = fold;
    }
}

static const char *key_of(char *buf, size_t size, const char *domain, const char *name)
{
    if (strcmp(domain, "ai.onnx") == 0) domain = "";
    snprintf(buf, size, "%s:%s", domain, name);
    return buf;
}

static void parse_table(void)
{
    char key[256];
    arena = tg_arena_new();
    table = TG_NEW_ARRAY(arena, parsed, tg_op_row_count);
    for (int op = 0; op < tg_op_row_count; op++) {
        const tg_op_row *row = &tg_op_rows[op];
        parse_attrs(&table[op], row->attrs);
        parse_folds(&table[op], row->folds);
        *tg_strmap_put(&by_name, key_of(key, sizeof key, row->domain, row->name), NULL) =
            (uint64_t)op;
    }
}

const tg_op_row *tg_op_get(tg_op op)
{
    assert(op < tg_op_row_count);
    return &tg_op_rows[op];
}

tg_op tg_op_find(const char *domain, const char *name)
{
    char key[256];
    pthread_once(&once, parse_table);
    const uint64_t *op = tg_strmap_find(&by_name, key_of(key, sizeof key, domain, name));
    return op ? (tg_op)*op : (tg_op)TG_OP_OPAQUE;
}

const tg_attr_spec *tg_op_attrs(tg_op op, int *count)
{
    pthread_once(&once, parse_table);
    *count = table[op].n_attrs;
    return table[op].attrs;
}

const tg_fold_spec *tg_op_folds(tg_op op, int *count)
{
    pthread_once(&once, parse_table);
    *count = table[op].n_folds;
    return table[op].folds;
}

int tg_op_attr_index(tg_op op, const char *name)
{
    pthread_once(&once, parse_table);
    return attr_index(&table[op], name);
}

const tg_attr *tg_row_attr(const tg_op_row *row, const tg_attr *attrs, const char *name)
{
    int i = tg_op_attr_index((tg_op)(row - tg_op_rows), name);
    assert(i >= 0);
    return &attrs[i];
}

tg_attr *tg_infer_attr(tg_infer *infer, const char *name)
{
    int i = tg_op_attr_index((tg_op)(infer->row - tg_op_rows), name);
    assert(i >= 0);
    return &infer->attr[i];
}

void tg_infer_set_ints(tg_infer *infer, const char *name, const int64_t *v, size_t n)
{
    *tg_infer_attr(infer, name) = TG_ATTR_OF_INTS(tg_arena_dup(infer->arena, v, n * sizeof *v), n);
}

const tg_tensor *tg_infer_value(tg_infer *infer, int slot)
{
    if (slot >= infer->n_in || infer->in[slot].dtype == TG_DTYPE_NONE || !infer->source)
        return NULL;
    return infer->source->value(infer->source->ctx, slot);
}

tg_status tg_op_takes(const tg_op_row *row, const tg_type *in, int n)
{
    if (row->flags & (TG_TAKES_LISTS | TG_INTERNAL)) return TG_OK;
    for (int i = 0; i < n; i++)
        if (tg_dtype_is_list(in[i].dtype))
            return tg_fail(TG_TYPE, "operator %s takes no %s as input %d", row->name,
                           tg_dtype_name(in[i].dtype), i);
    return TG_OK;
}

tg_status tg_axis_normalise(int64_t axis, int64_t rank, int64_t *out)
{
    if (axis < -rank || axis >= rank)
        return tg_fail(TG_INVALID, "axis %lld is outside rank %lld", (long long)axis,
                       (long long)rank);
    *out = axis < 0 ? axis + rank : axis;
    return TG_OK;
}
