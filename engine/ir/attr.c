/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "attr.h"

#include "engine/base/hash.h"
#include "graph.h"
#include "value.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGN = 16, PRINTED = 8 };

tg_attr tg_attr_str(const char *s)
{
    return (tg_attr){.kind = TG_ATTR_STR, .n = (uint32_t)strlen(s), .s = s};
}

static size_t aligned(size_t n)
{
    return (n + ALIGN - 1) & ~(size_t)(ALIGN - 1);
}

static size_t payload_size(const tg_attr *a)
{
    size_t n = 0;
    switch (a->kind) {
    case TG_ATTR_STR:
    case TG_ATTR_BYTES: return aligned(a->n + 1);
    case TG_ATTR_INTS: return aligned(a->n * sizeof *a->ints);
    case TG_ATTR_FLOATS: return aligned(a->n * sizeof *a->floats);
    case TG_ATTR_TENSOR: return aligned(sizeof *a->tensor) + aligned(tg_tensor_bytes(a->tensor));
    case TG_ATTR_STRS:
        for (uint32_t i = 0; i < a->n; i++) n += aligned(strlen(a->strs[i]) + 1);
        return n + aligned(a->n * sizeof *a->strs);
    default: return 0;
    }
}

/* Copies `size` bytes to *at and moves *at behind them. */
static void *take(char **at, const void *from, size_t size, size_t room)
{
    char *to = *at;
    if (size) memcpy(to, from, size);
    *at += aligned(room);
    return to;
}

static void copy_strs(tg_attr *to, const tg_attr *from, char **at)
{
    const char **list = (const char **)(void *)*at;
    *at += aligned(from->n * sizeof *list);
    for (uint32_t i = 0; i < from->n; i++) {
        size_t size = strlen(from->strs[i]) + 1;
        list[i] = take(at, from->strs[i], size, size);
    }
    to->strs = list;
}

static void copy_payload(tg_attr *to, const tg_attr *from, char **at)
{
    *to = *from;
    switch (from->kind) {
    case TG_ATTR_STR: to->s = take(at, from->s, from->n, from->n + 1); break;
    case TG_ATTR_BYTES: to->bytes = take(at, from->bytes, from->n, from->n + 1); break;
    case TG_ATTR_INTS:
        to->ints = take(at, from->ints, from->n * sizeof *from->ints, from->n * sizeof *from->ints);
        break;
    case TG_ATTR_FLOATS:
        to->floats =
            take(at, from->floats, from->n * sizeof *from->floats, from->n * sizeof *from->floats);
        break;
    case TG_ATTR_STRS: copy_strs(to, from, at); break;
    case TG_ATTR_TENSOR: {
        size_t bytes = tg_tensor_bytes(from->tensor);
        tg_tensor *t = take(at, from->tensor, sizeof *t, sizeof *t);
        t->data = take(at, from->tensor->data, bytes, bytes);
        to->tensor = t;
        break;
    }
    case TG_ATTR_GRAPH: tg_graph_ref(from->graph); break;
    default: break;
    }
}

tg_attrs *tg_attrs_new(const tg_attr *a, size_t n)
{
    size_t head = aligned(sizeof(tg_attrs) + n * sizeof *a), size = head;
    for (size_t i = 0; i < n; i++) size += payload_size(&a[i]);
    tg_attrs *attrs = tg_calloc(1, size);
    char *at = (char *)attrs + head;
    atomic_init(&attrs->refs, 1);
    attrs->n = (uint32_t)n;
    attrs->hash = n;
    for (size_t i = 0; i < n; i++) {
        copy_payload(&attrs->a[i], &a[i], &at);
        attrs->hash = tg_attr_hash(attrs->hash, &a[i]);
        attrs->graphs |= a[i].kind == TG_ATTR_GRAPH;
    }
    return attrs;
}

tg_attrs *tg_attrs_ref(const tg_attrs *attrs)
{
    tg_attrs *a = (tg_attrs *)attrs;
    atomic_fetch_add_explicit(&a->refs, 1, memory_order_relaxed);
    return a;
}

void tg_attrs_unref(const tg_attrs *attrs)
{
    tg_attrs *a = (tg_attrs *)attrs;
    if (!a || atomic_fetch_sub_explicit(&a->refs, 1, memory_order_acq_rel) != 1) return;
    for (uint32_t i = 0; a->graphs && i < a->n; i++)
        if (a->a[i].kind == TG_ATTR_GRAPH) tg_graph_unref(a->a[i].graph);
    free(a);
}

static bool strs_equal(const tg_attr *a, const tg_attr *b)
{
    for (uint32_t i = 0; i < a->n; i++)
        if (strcmp(a->strs[i], b->strs[i]) != 0) return false;
    return true;
}

/* The inputs enter by number: a body may have some that it does not read. */
static uint64_t body_key(const tg_graph *g)
{
    return tg_hash_add(tg_graph_key(g), g->n_inputs);
}

bool tg_attr_equal(const tg_attr *a, const tg_attr *b)
{
    if (a->kind != b->kind || a->n != b->n) return false;
    switch (a->kind) {
    case TG_ATTR_TYPE:
    case TG_ATTR_INT: return a->i == b->i;
    case TG_ATTR_FLOAT: return memcmp(&a->f, &b->f, sizeof a->f) == 0;
    case TG_ATTR_STR:
    case TG_ATTR_BYTES: return !a->n || memcmp(a->s, b->s, a->n) == 0;
    case TG_ATTR_INTS: return !a->n || memcmp(a->ints, b->ints, a->n * sizeof *a->ints) == 0;
    case TG_ATTR_FLOATS:
        return !a->n || memcmp(a->floats, b->floats, a->n * sizeof *a->floats) == 0;
    case TG_ATTR_STRS: return strs_equal(a, b);
    case TG_ATTR_TENSOR: return tg_tensor_equal(a->tensor, b->tensor);
    case TG_ATTR_GRAPH: return a->graph == b->graph || body_key(a->graph) == body_key(b->graph);
    default: return true;
    }
}

bool tg_attrs_equal(const tg_attrs *a, const tg_attrs *b)
{
    if (a == b) return true;
    if (a->hash != b->hash || a->n != b->n) return false;
    for (uint32_t i = 0; i < a->n; i++)
        if (!tg_attr_equal(&a->a[i], &b->a[i])) return false;
    return true;
}

uint64_t tg_attr_hash(uint64_t h, const tg_attr *a)
{
    h = tg_hash_add(h, (uint64_t)a->kind);
    switch (a->kind) {
    case TG_ATTR_TYPE:
    case TG_ATTR_INT: return tg_hash_add(h, (uint64_t)a->i);
    case TG_ATTR_FLOAT: return tg_hash_bytes(h, &a->f, sizeof a->f);
    case TG_ATTR_STR:
    case TG_ATTR_BYTES: return tg_hash_bytes(h, a->s, a->n);
    case TG_ATTR_INTS: return tg_hash_bytes(h, a->ints, a->n * sizeof *a->ints);
    case TG_ATTR_FLOATS: return tg_hash_bytes(h, a->floats, a->n * sizeof *a->floats);
    case TG_ATTR_STRS:
        for (uint32_t i = 0; i < a->n; i++) h = tg_hash_str(h, a->strs[i]);
        return tg_hash_add(h, a->n);
    case TG_ATTR_TENSOR: return tg_tensor_hash(h, a->tensor);
    case TG_ATTR_GRAPH: return tg_hash_add(h, body_key(a->graph));
    default: return h;
    }
}

static void print_list(const tg_attr *a, tg_str *out)
{
    tg_str_addc(out, '[');
    for (uint32_t i = 0; i < a->n && i < PRINTED; i++) {
        if (i) tg_str_addc(out, ',');
        if (a->kind == TG_ATTR_INTS) tg_str_addf(out, "%lld", (long long)a->ints[i]);
        else if (a->kind == TG_ATTR_FLOATS) tg_str_addf(out, "%g", (double)a->floats[i]);
        else tg_str_add(out, a->strs[i]);
    }
    tg_str_add(out, a->n > PRINTED ? ",...]" : "]");
}

void tg_attr_print(const tg_attr *a, tg_str *out)
{
    char text[TG_SHAPE_TEXT];
    switch (a->kind) {
    case TG_ATTR_NONE: tg_str_add(out, "absent"); break;
    case TG_ATTR_INT: tg_str_addf(out, "%lld", (long long)a->i); break;
    case TG_ATTR_FLOAT: tg_str_addf(out, "%g", (double)a->f); break;
    case TG_ATTR_STR: tg_str_addn(out, a->s, a->n); break;
    case TG_ATTR_BYTES: tg_str_addf(out, "%u bytes", a->n); break;
    case TG_ATTR_TYPE: tg_str_add(out, tg_dtype_name((tg_dtype)a->i)); break;
    case TG_ATTR_GRAPH: tg_str_addf(out, "graph of %u", tg_graph_op_count(a->graph)); break;
    case TG_ATTR_TENSOR:
        tg_str_addf(out, "%s %s", tg_dtype_name(a->tensor->dtype),
                    tg_shape_text(text, &a->tensor->shape));
        break;
    default: print_list(a, out);
    }
}
