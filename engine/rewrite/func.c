/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "func.h"

#include <stdlib.h>
#include <string.h>

typedef struct ints {
    const int64_t *v;
    int64_t n;
} ints;

static tg_status need_ints(const operand *arg, ints *out)
{
    if (arg->is_values || arg->attr.kind != TG_ATTR_INTS)
        return tg_fail(TG_RULE, "a function needs a list");
    *out = (ints){arg->attr.ints, arg->attr.n};
    return TG_OK;
}

static tg_status need_int(const operand *arg, int64_t *out)
{
    if (arg->is_values || arg->attr.kind != TG_ATTR_INT)
        return tg_fail(TG_RULE, "a function needs an integer");
    *out = arg->attr.i;
    return TG_OK;
}

static tg_status need_shape(eval *ev, const operand *arg, const tg_shape **out)
{
    if (!arg->is_values || arg->values.n != 1 || arg->values.v[0] == TG_NO_VALUE)
        return tg_fail(TG_RULE, "a function needs a value");
    *out = &tg_graph_type(ev->g, arg->values.v[0])->shape;
    return tg_shape_complete(*out) ? TG_OK : tg_fail(TG_RULE, "a shape is not known");
}

/* Position `i` of `n`, from the end if negative. */
static tg_status position(int64_t i, int64_t n, int64_t *out)
{
    *out = i < 0 ? i + n : i;
    return *out >= 0 && *out < n ? TG_OK : tg_fail(TG_RULE, "a position is outside its list");
}

static int64_t *room(eval *ev, int64_t n)
{
    return TG_NEW_ARRAY(ev->arena, int64_t, n + 1);
}

static tg_status give_ints(tg_attr *out, const int64_t *v, int64_t n)
{
    *out = TG_ATTR_OF_INTS(v, n);
    return TG_OK;
}

static tg_status give_int(tg_attr *out, int64_t i)
{
    *out = TG_ATTR_OF_INT(i);
    return TG_OK;
}

/* out[i] = list[order[i]] */
static tg_status pick(eval *ev, ints list, ints order, tg_attr *out)
{
    int64_t *v = room(ev, order.n), at;
    for (int64_t i = 0; i < order.n; i++) {
        TG_TRY(position(order.v[i], list.n, &at));
        v[i] = list.v[at];
    }
    return give_ints(out, v, order.n);
}

static tg_status func_compose(eval *ev, const operand *arg, int n, tg_attr *out)
{
    ints p, q;
    (void)n;
    TG_TRY(need_ints(&arg[0], &p));
    TG_TRY(need_ints(&arg[1], &q));
    return pick(ev, p, q, out);
}

static tg_status func_permute(eval *ev, const operand *arg, int n, tg_attr *out)
{
    return func_compose(ev, arg, n, out);
}

static tg_status func_map(eval *ev, const operand *arg, int n, tg_attr *out)
{
    ints positions, list;
    (void)n;
    TG_TRY(need_ints(&arg[0], &positions));
    TG_TRY(need_ints(&arg[1], &list));
    return pick(ev, list, positions, out);
}

static tg_status func_inverse(eval *ev, const operand *arg, int n, tg_attr *out)
{
    ints p;
    int64_t at;
    (void)n;
    TG_TRY(need_ints(&arg[0], &p));
    int64_t *v = room(ev, p.n);
    for (int64_t i = 0; i < p.n; i++) {
        TG_TRY(position(p.v[i], p.n, &at));
        v[at] = i;
    }
    return give_ints(out, v, p.n);
}

static tg_status func_find(eval *ev, const operand *arg, int n, tg_attr *out)
{
    ints list;
    int64_t x;
    (void)ev, (void)n;
    TG_TRY(need_int(&arg[0], &x));
    TG_TRY(need_ints(&arg[1], &list));
    for (int64_t i = 0; i < list.n; i++)
        if (list.v[i] == x) return give_int(out, i);
    return give_int(out, -1);
}

static tg_status func_shape(eval *ev, const operand *arg, int n, tg_attr *out)
{
    const tg_shape *s;
    (void)n;
    TG_TRY(need_shape(ev, &arg[0], &s));
    return give_ints(out, s->dim, s->rank);
}

static tg_status func_rank(eval *ev, const operand *arg, int n, tg_attr *out)
{
    const tg_shape *s;
    (void)n;
    TG_TRY(need_shape(ev, &arg[0], &s));
    return give_int(out, s->rank);
}

static tg_status func_dim(eval *ev, const operand *arg, int n, tg_attr *out)
{
    const tg_shape *s;
    int64_t axis;
    (void)n;
    TG_TRY(need_shape(ev, &arg[0], &s));
    TG_TRY(need_int(&arg[1], &axis));
    TG_TRY(position(axis, s->rank, &axis));
    return give_int(out, s->dim[axis]);
}

static tg_status func_sizes(eval *ev, const operand *arg, int n, tg_attr *out)
{
    int64_t axis, at;
    (void)n;
    TG_TRY(need_int(&arg[1], &axis));
    if (!arg[0].is_values) return tg_fail(TG_RULE, "sizes needs values");
    int64_t *v = room(ev, arg[0].values.n);
    for (int i = 0; i < arg[0].values.n; i++) {
        operand one = {.is_values = true, .values = {arg[0].values.v + i, 1}};
        const tg_shape *s;
        TG_TRY(need_shape(ev, &one, &s));
        TG_TRY(position(axis, s->rank, &at));
        v[i] = s->dim[at];
    }
    return give_ints(out, v, arg[0].values.n);
}

static tg_status func_count(eval *ev, const operand *arg, int n, tg_attr *out)
{
    const tg_shape *s;
    (void)n;
    TG_TRY(need_shape(ev, &arg[0], &s));
    return give_int(out, tg_shape_count(s));
}

static tg_status func_len(eval *ev, const operand *arg, int n, tg_attr *out)
{
    ints list;
    (void)ev, (void)n;
    if (arg[0].is_values) return give_int(out, arg[0].values.n);
    TG_TRY(need_ints(&arg[0], &list));
    return give_int(out, list.n);
}

static tg_status func_at(eval *ev, const operand *arg, int n, tg_attr *out)
{
    ints list;
    int64_t i;
    (void)ev, (void)n;
    TG_TRY(need_ints(&arg[0], &list));
    TG_TRY(need_int(&arg[1], &i));
    TG_TRY(position(i, list.n, &i));
    return give_int(out, list.v[i]);
}

static tg_status func_sum(eval *ev, const operand *arg, int n, tg_attr *out)
{
    ints list;
    int64_t total = 0;
    (void)ev, (void)n;
    TG_TRY(need_ints(&arg[0], &list));
    for (int64_t i = 0; i < list.n; i++)
        if (__builtin_add_overflow(total, list.v[i], &total))
            return tg_fail(TG_RULE, "a number is too large");
    return give_int(out, total);
}

static tg_status func_prod(eval *ev, const operand *arg, int n, tg_attr *out)
{
    ints list;
    int64_t total = 1;
    (void)ev, (void)n;
    TG_TRY(need_ints(&arg[0], &list));
    for (int64_t i = 0; i < list.n; i++)
        if (__builtin_mul_overflow(total, list.v[i], &total))
            return tg_fail(TG_RULE, "a number is too large");
    return give_int(out, total);
}

static tg_status func_slice(eval *ev, const operand *arg, int n, tg_attr *out)
{
    ints list;
    int64_t from, to;
    (void)ev, (void)n;
    TG_TRY(need_ints(&arg[0], &list));
    TG_TRY(need_int(&arg[1], &from));
    TG_TRY(need_int(&arg[2], &to));
    from = from < 0 ? from + list.n : from;
    to = to < 0 ? to + list.n : to;
    if (from < 0 || to > list.n || from > to)
        return tg_fail(TG_RULE, "a slice is outside its list");
    return give_ints(out, list.v + from, to - from);
}

/* The list with `put` numbers at `at` in place of `cut`. */
static tg_status splice(eval *ev, ints list, int64_t at, int64_t cut, ints put, tg_attr *out)
{
    int64_t *v = room(ev, list.n + put.n), k = 0;
    for (int64_t i = 0; i < at; i++) v[k++] = list.v[i];
    for (int64_t i = 0; i < put.n; i++) v[k++] = put.v[i];
    for (int64_t i = at + cut; i < list.n; i++) v[k++] = list.v[i];
    return give_ints(out, v, k);
}

static tg_status func_replace(eval *ev, const operand *arg, int n, tg_attr *out)
{
    ints list;
    int64_t at, x;
    (void)n;
    TG_TRY(need_ints(&arg[0], &list));
    TG_TRY(need_int(&arg[1], &at));
    TG_TRY(need_int(&arg[2], &x));
    TG_TRY(position(at, list.n, &at));
    return splice(ev, list, at, 1, (ints){&x, 1}, out);
}

static tg_status func_insert(eval *ev, const operand *arg, int n, tg_attr *out)
{
    ints list;
    int64_t at, x;
    (void)n;
    TG_TRY(need_ints(&arg[0], &list));
    TG_TRY(need_int(&arg[1], &at));
    TG_TRY(need_int(&arg[2], &x));
    TG_TRY(position(at, list.n + 1, &at));
    return splice(ev, list, at, 0, (ints){&x, 1}, out);
}

static tg_status func_without(eval *ev, const operand *arg, int n, tg_attr *out)
{
    ints list, cut;
    int64_t k = 0, at;
    (void)n;
    TG_TRY(need_ints(&arg[0], &list));
    TG_TRY(need_ints(&arg[1], &cut));
    int64_t *v = room(ev, list.n);
    for (int64_t i = 0; i < list.n; i++) {
        bool goes = false;
        for (int64_t j = 0; j < cut.n; j++) {
            TG_TRY(position(cut.v[j], list.n, &at));
            goes |= at == i;
        }
        if (!goes) v[k++] = list.v[i];
    }
    return give_ints(out, v, k);
}

static tg_status func_fill(eval *ev, const operand *arg, int n, tg_attr *out)
{
    int64_t count, x;
    (void)n;
    TG_TRY(need_int(&arg[0], &count));
    TG_TRY(need_int(&arg[1], &x));
    if (count < 0 || count > 64) return tg_fail(TG_RULE, "a list is too long");
    int64_t *v = room(ev, count);
    for (int64_t i = 0; i < count; i++) v[i] = x;
    return give_ints(out, v, count);
}

static tg_status func_range(eval *ev, const operand *arg, int n, tg_attr *out)
{
    int64_t from, to;
    (void)n;
    TG_TRY(need_int(&arg[0], &from));
    TG_TRY(need_int(&arg[1], &to));
    if (to - from > 64) return tg_fail(TG_RULE, "a list is too long");
    int64_t count = to > from ? to - from : 0, *v = room(ev, count);
    for (int64_t i = 0; i < count; i++) v[i] = from + i;
    return give_ints(out, v, count);
}

static tg_status func_least(eval *ev, const operand *arg, int n, tg_attr *out)
{
    int64_t a, b;
    (void)ev, (void)n;
    TG_TRY(need_int(&arg[0], &a));
    TG_TRY(need_int(&arg[1], &b));
    return give_int(out, a < b ? a : b);
}

static tg_status func_most(eval *ev, const operand *arg, int n, tg_attr *out)
{
    int64_t a, b;
    (void)ev, (void)n;
    TG_TRY(need_int(&arg[0], &a));
    TG_TRY(need_int(&arg[1], &b));
    return give_int(out, a > b ? a : b);
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static tg_status func_sorted(eval *ev, const operand *arg, int n, tg_attr *out)
{
    ints list;
    (void)n;
    TG_TRY(need_ints(&arg[0], &list));
    int64_t *v = room(ev, list.n);
    if (list.n) memcpy(v, list.v, (size_t)list.n * sizeof *v);
    qsort(v, (size_t)list.n, sizeof *v, ascending);
    return give_ints(out, v, list.n);
}

static tg_status func_type(eval *ev, const operand *arg, int n, tg_attr *out)
{
    (void)n;
    if (!arg[0].is_values || !arg[0].values.n || arg[0].values.v[0] == TG_NO_VALUE)
        return tg_fail(TG_RULE, "type needs a value");
    return give_int(out, tg_graph_type(ev->g, arg[0].values.v[0])->dtype);
}

static tg_status func_float(eval *ev, const operand *arg, int n, tg_attr *out)
{
    (void)ev, (void)n;
    if (arg[0].attr.kind == TG_ATTR_FLOAT) {
        *out = arg[0].attr;
        return TG_OK;
    }
    int64_t x;
    TG_TRY(need_int(&arg[0], &x));
    *out = TG_ATTR_OF_FLOAT((float)x);
    return TG_OK;
}

const func_row func_rows[] = {
#define FUNC(name, least, most, doc) {#name, least, most, doc, func_##name},
#include "func.def"
#undef FUNC
};

const int func_row_count = (int)(sizeof func_rows / sizeof *func_rows);

int func_named(const char *name)
{
    for (int i = 0; i < func_row_count; i++)
        if (strcmp(func_rows[i].name, name) == 0) return i;
    return -1;
}
