/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "func.h"

#include <math.h>
#include <string.h>

/* Calls `holds` for every value of every argument. */
static bool for_all(eval *ev, const operand *arg, int n, bool (*holds)(eval *ev, tg_value v))
{
    for (int i = 0; i < n; i++) {
        if (!arg[i].is_values) return false;
        for (int k = 0; k < arg[i].values.n; k++)
            if (!holds(ev, arg[i].values.v[k])) return false;
    }
    return true;
}

static bool is_const(eval *ev, tg_value v)
{
    return v == TG_NO_VALUE || tg_graph_maker(ev->g, v)->constant;
}

static bool fact_const(eval *ev, const operand *arg, int n)
{
    return for_all(ev, arg, n, is_const);
}

static bool is_once(eval *ev, tg_value v)
{
    return v == TG_NO_VALUE || tg_graph_maker(ev->g, v)->constant ||
           tg_graph_use_count(ev->g, v) == 1;
}

static bool fact_once(eval *ev, const operand *arg, int n)
{
    return for_all(ev, arg, n, is_once);
}

/* All elements of constant v on one side of the bound: sign * (x - bound) > 0. */
static bool on_side(eval *ev, tg_value v, double bound, int sign)
{
    if (v == TG_NO_VALUE) return false;
    tg_tensor t = eval_constant(ev->g, v, ev->arena);
    if (!t.data || tg_dtype_kind(t.dtype) == 's' || tg_dtype_kind(t.dtype) == 'c') return false;
    for (int64_t i = 0, n = tg_tensor_count(&t); i < n; i++) {
        double x = tg_tensor_f64(&t, i);
        if (!(sign > 0 ? x > bound : x < bound)) return false;
    }
    return true;
}

static bool all_on_side(eval *ev, const operand *arg, int sign)
{
    const tg_attr *a = &arg[1].attr;
    if (!arg[0].is_values || arg[1].is_values) return false;
    if (a->kind != TG_ATTR_FLOAT && a->kind != TG_ATTR_INT) return false;
    double bound = a->kind == TG_ATTR_FLOAT ? (double)a->f : (double)a->i;
    for (int k = 0; k < arg[0].values.n; k++)
        if (!on_side(ev, arg[0].values.v[k], bound, sign)) return false;
    return true;
}

static bool fact_above(eval *ev, const operand *arg, int n)
{
    (void)n;
    return all_on_side(ev, arg, 1);
}

static bool fact_below(eval *ev, const operand *arg, int n)
{
    (void)n;
    return all_on_side(ev, arg, -1);
}

static bool is_positive(eval *ev, tg_value v)
{
    return on_side(ev, v, 0, 1);
}

static bool fact_positive(eval *ev, const operand *arg, int n)
{
    return for_all(ev, arg, n, is_positive);
}

static bool is_kind(eval *ev, tg_value v, const char *kinds)
{
    char kind = v == TG_NO_VALUE ? 0 : tg_dtype_kind(tg_graph_type(ev->g, v)->dtype);
    return v == TG_NO_VALUE || (kind && strchr(kinds, kind));
}

static bool is_integral(eval *ev, tg_value v)
{
    return is_kind(ev, v, "iu");
}

static bool fact_integral(eval *ev, const operand *arg, int n)
{
    return for_all(ev, arg, n, is_integral);
}

static bool is_floating(eval *ev, tg_value v)
{
    return is_kind(ev, v, "f");
}

static bool fact_floating(eval *ev, const operand *arg, int n)
{
    return for_all(ev, arg, n, is_floating);
}

/* The first value of the arguments; TG_NO_VALUE if there is none. */
static tg_value first_value(const operand *arg, int n)
{
    for (int i = 0; i < n; i++)
        if (arg[i].is_values && arg[i].values.n) return arg[i].values.v[0];
    return TG_NO_VALUE;
}

static bool fact_same_shape(eval *ev, const operand *arg, int n)
{
    tg_value first = first_value(arg, n);
    if (first == TG_NO_VALUE) return false;
    for (int i = 0; i < n; i++)
        for (int k = 0; arg[i].is_values && k < arg[i].values.n; k++)
            if (arg[i].values.v[k] == TG_NO_VALUE ||
                !tg_shape_equal(&tg_graph_type(ev->g, first)->shape,
                                &tg_graph_type(ev->g, arg[i].values.v[k])->shape))
                return false;
    return true;
}

static bool fact_same_type(eval *ev, const operand *arg, int n)
{
    tg_value first = first_value(arg, n);
    if (first == TG_NO_VALUE) return false;
    for (int i = 0; i < n; i++)
        for (int k = 0; arg[i].is_values && k < arg[i].values.n; k++)
            if (arg[i].values.v[k] == TG_NO_VALUE ||
                tg_graph_type(ev->g, first)->dtype !=
                    tg_graph_type(ev->g, arg[i].values.v[k])->dtype)
                return false;
    return true;
}

static bool fact_fits_into(eval *ev, const operand *arg, int n)
{
    tg_value a = first_value(arg, 1), b = first_value(arg + 1, n - 1);
    if (a == TG_NO_VALUE || b == TG_NO_VALUE) return false;
    const tg_shape *x = &tg_graph_type(ev->g, a)->shape, *y = &tg_graph_type(ev->g, b)->shape;
    if (x->rank < 0 || y->rank < 0 || x->rank > y->rank) return false;
    for (int i = 1; i <= x->rank; i++) {
        int64_t have = x->dim[x->rank - i];
        if (have != 1 && have != y->dim[y->rank - i]) return false;
    }
    return true;
}

static bool equal_off(const tg_shape *a, const tg_shape *b, int64_t axis)
{
    if (a->rank != b->rank || a->rank < 1) return false;
    for (int64_t i = 0; i < a->rank; i++)
        if (a->dim[i] != b->dim[i] && i != (axis < 0 ? axis + a->rank : axis)) return false;
    return true;
}

static bool fact_equal_off(eval *ev, const operand *arg, int n)
{
    tg_value first = first_value(arg, n);
    if (first == TG_NO_VALUE || arg[n - 1].is_values || arg[n - 1].attr.kind != TG_ATTR_INT)
        return false;
    for (int i = 0; i < n - 1; i++)
        for (int k = 0; arg[i].is_values && k < arg[i].values.n; k++)
            if (arg[i].values.v[k] == TG_NO_VALUE ||
                !equal_off(&tg_graph_type(ev->g, first)->shape,
                           &tg_graph_type(ev->g, arg[i].values.v[k])->shape, arg[n - 1].attr.i))
                return false;
    return true;
}

/* Bits of value and of exponent that decide whether a type holds another. */
static bool holds_all(tg_dtype from, tg_dtype to)
{
    static const struct {
        tg_dtype t;
        int digits;   /* bits of an integer that are exact */
        int exponent; /* bits of the exponent; 0: integer */
        bool negative;
    } rows[] = {{TG_BOOL, 1, 0, false}, {TG_U8, 8, 0, false},   {TG_U16, 16, 0, false},
                {TG_U32, 32, 0, false}, {TG_U64, 64, 0, false}, {TG_I8, 7, 0, true},
                {TG_I16, 15, 0, true},  {TG_I32, 31, 0, true},  {TG_I64, 63, 0, true},
                {TG_F16, 11, 5, true},  {TG_BF16, 8, 8, true},  {TG_F32, 24, 8, true},
                {TG_F64, 53, 11, true}};
    int a = -1, b = -1, n = (int)(sizeof rows / sizeof *rows);
    for (int i = 0; i < n; i++) {
        if (rows[i].t == from) a = i;
        if (rows[i].t == to) b = i;
    }
    if (from == to) return true;
    if (a < 0 || b < 0 || (rows[a].negative && !rows[b].negative)) return false;
    if (to == TG_BOOL || (rows[a].exponent && !rows[b].exponent)) return false;
    return rows[a].digits <= rows[b].digits && rows[a].exponent <= rows[b].exponent;
}

static tg_dtype dtype_of(eval *ev, const operand *arg)
{
    tg_value v = first_value(arg, 1);
    if (v != TG_NO_VALUE) return tg_graph_type(ev->g, v)->dtype;
    return arg->attr.kind == TG_ATTR_INT ? (tg_dtype)arg->attr.i : TG_DTYPE_NONE;
}

static bool fact_holds_all(eval *ev, const operand *arg, int n)
{
    (void)n;
    return holds_all(dtype_of(ev, &arg[0]), dtype_of(ev, &arg[1]));
}

static bool fact_identity(eval *ev, const operand *arg, int n)
{
    (void)ev, (void)n;
    if (arg[0].is_values || arg[0].attr.kind != TG_ATTR_INTS) return false;
    for (uint32_t i = 0; i < arg[0].attr.n; i++)
        if (arg[0].attr.ints[i] != i) return false;
    return true;
}

static bool is_present(eval *ev, tg_value v)
{
    (void)ev;
    return v != TG_NO_VALUE;
}

static bool fact_present(eval *ev, const operand *arg, int n)
{
    return for_all(ev, arg, n, is_present);
}

static bool is_uniform(eval *ev, tg_value v)
{
    double x;
    return v != TG_NO_VALUE && eval_uniform(ev->g, v, ev->arena, &x);
}

static bool fact_uniform(eval *ev, const operand *arg, int n)
{
    return for_all(ev, arg, n, is_uniform);
}

static bool fact_per_channel(eval *ev, const operand *arg, int n)
{
    tg_value a = first_value(arg, 1), b = first_value(arg + 1, n - 1);
    if (a == TG_NO_VALUE || b == TG_NO_VALUE) return false;
    const tg_shape *x = &tg_graph_type(ev->g, a)->shape, *y = &tg_graph_type(ev->g, b)->shape;
    if (y->rank < 2 || x->rank > y->rank || x->rank < y->rank - 1) return false;
    for (int64_t i = 0; i < x->rank; i++)
        if (x->dim[i] != (i + y->rank - x->rank == 1 ? y->dim[1] : 1)) return false;
    return true;
}

static bool is_list(const operand *arg)
{
    return !arg->is_values && arg->attr.kind == TG_ATTR_INTS;
}

static bool fact_all(eval *ev, const operand *arg, int n)
{
    (void)ev, (void)n;
    if (!is_list(&arg[0]) || arg[1].attr.kind != TG_ATTR_INT) return false;
    for (uint32_t i = 0; i < arg[0].attr.n; i++)
        if (arg[0].attr.ints[i] != arg[1].attr.i) return false;
    return true;
}

static bool fact_at_least(eval *ev, const operand *arg, int n)
{
    (void)ev, (void)n;
    if (!is_list(&arg[0]) || arg[1].attr.kind != TG_ATTR_INT) return false;
    for (uint32_t i = 0; i < arg[0].attr.n; i++)
        if (arg[0].attr.ints[i] < arg[1].attr.i) return false;
    return true;
}

static bool fact_less(eval *ev, const operand *arg, int n)
{
    (void)ev, (void)n;
    if (!is_list(&arg[0]) || !is_list(&arg[1]) || arg[0].attr.n != arg[1].attr.n) return false;
    for (uint32_t i = 0; i < arg[0].attr.n; i++)
        if (arg[0].attr.ints[i] >= arg[1].attr.ints[i]) return false;
    return true;
}

static bool fact_disjoint(eval *ev, const operand *arg, int n)
{
    (void)ev, (void)n;
    if (!is_list(&arg[0]) || !is_list(&arg[1])) return false;
    for (uint32_t i = 0; i < arg[0].attr.n; i++)
        for (uint32_t k = 0; k < arg[1].attr.n; k++)
            if (arg[0].attr.ints[i] == arg[1].attr.ints[k]) return false;
    return true;
}

static bool fact_keeps_order(eval *ev, const operand *arg, int n)
{
    (void)ev, (void)n;
    if (!is_list(&arg[0]) || !is_list(&arg[1]) || arg[0].attr.n != arg[1].attr.n) return false;
    int64_t last = -1;
    for (uint32_t i = 0; i < arg[0].attr.n; i++) {
        int64_t axis = arg[0].attr.ints[i];
        if (axis < 0 || axis >= arg[1].attr.n) return false;
        if (arg[1].attr.ints[axis] == 1) continue;
        if (axis < last) return false;
        last = axis;
    }
    return true;
}

#define KIND_sound true
#define KIND_pays false

const fact_row fact_rows[] = {
#define FACT(name, least, most, kind, doc) {#name, least, most, KIND_##kind, doc, fact_##name},
#include "fact.def"
#undef FACT
};

const int fact_row_count = (int)(sizeof fact_rows / sizeof *fact_rows);

int fact_named(const char *name)
{
    for (int i = 0; i < fact_row_count; i++)
        if (strcmp(fact_rows[i].name, name) == 0) return i;
    return -1;
}
