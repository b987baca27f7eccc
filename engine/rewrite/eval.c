/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Evaluating attribute expressions and conditions. */
#include "engine/ir/eval.h"

#include "func.h"

#include <string.h>

enum { SMALL = 64, MOST_ELEMENTS = 64, MOST_ARGS = 32 };

static tg_status wrong(const char *what)
{
    return tg_fail(TG_RULE, "%s", what);
}

static bool as_list(const tg_attr *a, const int64_t **v, int64_t *one, uint32_t *n)
{
    if (a->kind == TG_ATTR_INTS) {
        *v = a->ints;
        *n = a->n;
        return true;
    }
    *one = a->i;
    *v = one;
    *n = 1;
    return a->kind == TG_ATTR_INT;
}

static tg_status eval_list(eval *ev, const expr *e, tg_attr *out)
{
    int64_t v[MOST_ELEMENTS], one;
    uint32_t n = 0;
    for (int i = 0; i < e->n_args; i++) {
        const expr *arg = e->args[i]->kind == EXPR_SPLICE ? e->args[i]->args[0] : e->args[i];
        tg_attr a;
        const int64_t *from;
        uint32_t count;
        TG_TRY(eval_expr(ev, arg, &a));
        if (!as_list(&a, &from, &one, &count))
            return wrong("a list holds something else than integers");
        if (n + count > MOST_ELEMENTS) return wrong("a list is too long");
        if (count) memcpy(v + n, from, count * sizeof *v);
        n += count;
    }
    *out = TG_ATTR_OF_INTS(tg_arena_dup(ev->arena, v, n * sizeof *v), n);
    return TG_OK;
}

static tg_status arith_ints(char op, int64_t a, int64_t b, int64_t *out)
{
    if ((op == '/' || op == '%') && (b == 0 || (a == INT64_MIN && b == -1)))
        return wrong("division by zero");
    bool overflow = false;
    switch (op) {
    case '+': overflow = __builtin_add_overflow(a, b, out); break;
    case '-': overflow = __builtin_sub_overflow(a, b, out); break;
    case '*': overflow = __builtin_mul_overflow(a, b, out); break;
    case '/': *out = a / b; break;
    default: *out = a % b;
    }
    return overflow ? wrong("a number is too large") : TG_OK;
}

static double as_float(const tg_attr *a)
{
    return a->kind == TG_ATTR_FLOAT ? (double)a->f : (double)a->i;
}

static bool is_number(const tg_attr *a)
{
    return a->kind == TG_ATTR_FLOAT || a->kind == TG_ATTR_INT;
}

static tg_status arith_floats(char op, double a, double b, tg_attr *out)
{
    double r = op == '+' ? a + b : op == '-' ? a - b : op == '*' ? a * b : a / b;
    *out = TG_ATTR_OF_FLOAT((float)r);
    return op == '%' ? wrong("% takes integers") : TG_OK;
}

/* Integers, floats, lists of one length element by element, a list and an integer. */
static tg_status eval_arith(eval *ev, const expr *e, tg_attr *out)
{
    tg_attr a, b;
    TG_TRY(eval_expr(ev, e->args[0], &a));
    TG_TRY(eval_expr(ev, e->args[1], &b));
    if (is_number(&a) && is_number(&b) && (a.kind == TG_ATTR_FLOAT || b.kind == TG_ATTR_FLOAT))
        return arith_floats(e->op, as_float(&a), as_float(&b), out);
    const int64_t *x, *y;
    int64_t one[2];
    uint32_t n, m;
    if (!as_list(&a, &x, &one[0], &n) || !as_list(&b, &y, &one[1], &m))
        return wrong("arithmetic takes numbers and lists of integers");
    bool lists = a.kind == TG_ATTR_INTS || b.kind == TG_ATTR_INTS;
    if (n != m && n != 1 && m != 1) return wrong("lists of different length");
    uint32_t most = n == 1 ? m : n; /* a list may be empty */
    int64_t *r = TG_NEW_ARRAY(ev->arena, int64_t, most + 1);
    for (uint32_t i = 0; i < most; i++)
        TG_TRY(arith_ints(e->op, x[n == 1 ? 0 : i], y[m == 1 ? 0 : i], &r[i]));
    *out = lists ? TG_ATTR_OF_INTS(r, most) : TG_ATTR_OF_INT(r[0]);
    return TG_OK;
}

static tg_status eval_compare(eval *ev, const expr *e, tg_attr *out)
{
    tg_attr a, b;
    TG_TRY(eval_expr(ev, e->args[0], &a));
    TG_TRY(eval_expr(ev, e->args[1], &b));
    bool numbers = is_number(&a) && is_number(&b), holds = false;
    double x = numbers ? as_float(&a) : 0, y = numbers ? as_float(&b) : 0;
    bool equal = numbers ? x == y : tg_attr_equal(&a, &b);
    switch (e->op) {
    case '=': holds = equal; break;
    case '!': holds = !equal; break;
    case '<': holds = numbers && x < y; break;
    case '>': holds = numbers && x > y; break;
    case '{': holds = numbers && x <= y; break;
    default: holds = numbers && x >= y;
    }
    *out = TG_ATTR_OF_INT(holds);
    return TG_OK;
}

static tg_status eval_values(eval *ev, const expr *e, value_list *out)
{
    const rule_value *v = &ev->rule->values[e->slot];
    bool list = v->list && !(v->each && ev->element);
    if (!((list ? ev->has_list : ev->has_value) >> e->slot & 1)) return wrong("an unbound value");
    *out = list ? ev->lists[e->slot] : (value_list){&ev->values[e->slot], 1};
    return TG_OK;
}

static tg_status eval_args(eval *ev, const expr *e, operand *args)
{
    for (int i = 0; i < e->n_args; i++) {
        args[i] = (operand){.is_values = e->args[i]->kind == EXPR_VALUE};
        if (args[i].is_values) TG_TRY(eval_values(ev, e->args[i], &args[i].values));
        else TG_TRY(eval_expr(ev, e->args[i], &args[i].attr));
    }
    return TG_OK;
}

static tg_status eval_call(eval *ev, const expr *e, tg_attr *out)
{
    operand args[MOST_ARGS];
    TG_TRY(eval_args(ev, e, args));
    return func_rows[e->fn].call(ev, args, e->n_args, out);
}

bool eval_truth(const tg_attr *a)
{
    return a->kind == TG_ATTR_INT && a->i;
}

static tg_status eval_logic(eval *ev, const expr *e, tg_attr *out)
{
    operand args[MOST_ARGS];
    if (e->kind == EXPR_FACT) {
        TG_TRY(eval_args(ev, e, args));
        *out = TG_ATTR_OF_INT(fact_rows[e->fn].holds(ev, args, e->n_args));
        return TG_OK;
    }
    bool first = eval_fact(ev, e->args[0]);
    *out = TG_ATTR_OF_INT(e->kind == EXPR_NOT ? !first : first || eval_fact(ev, e->args[1]));
    return TG_OK;
}

tg_status eval_expr(eval *ev, const expr *e, tg_attr *out)
{
    switch (e->kind) {
    case EXPR_INT: *out = TG_ATTR_OF_INT(e->i); return TG_OK;
    case EXPR_FLOAT: *out = TG_ATTR_OF_FLOAT((float)e->f); return TG_OK;
    case EXPR_STR: *out = tg_attr_str(e->s); return TG_OK;
    case EXPR_PARAM:
        if (!(ev->has_param >> e->slot & 1)) return wrong("an unbound name");
        *out = ev->params[e->slot];
        return TG_OK;
    case EXPR_LIST: return eval_list(ev, e, out);
    case EXPR_SPLICE: return eval_expr(ev, e->args[0], out);
    case EXPR_CALL: return eval_call(ev, e, out);
    case EXPR_FACT:
    case EXPR_NOT:
    case EXPR_OR: return eval_logic(ev, e, out);
    case EXPR_ARITH: return eval_arith(ev, e, out);
    case EXPR_COMPARE: return eval_compare(ev, e, out);
    default: return wrong("a value stands where a number belongs");
    }
}

bool eval_fact(eval *ev, const expr *e)
{
    tg_attr a;
    return eval_expr(ev, e, &a) == TG_OK && eval_truth(&a);
}

static bool all_small_weights(const tg_graph *g, const tg_node *node)
{
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i] == TG_NO_VALUE) continue;
        const tg_node *maker = tg_graph_maker(g, node->in[i]);
        if (maker->op != TG_OP_CONST || tg_shape_count(&maker->out[0].shape) > SMALL) return false;
    }
    return true;
}

static void release_weight(void *w)
{
    tg_weight_unref(w);
}

tg_tensor eval_constant(const tg_graph *g, tg_value v, tg_arena *arena)
{
    const tg_node *node = tg_graph_maker(g, v);
    const tg_type *type = tg_graph_type(g, v);
    tg_tensor none = {.dtype = type->dtype, .shape = type->shape};
    tg_weight *w;
    if (!node->constant || !tg_type_complete(type)) return none;
    if (node->op == TG_OP_CONST) return tg_node_tensor(node);
    if (tg_shape_count(&type->shape) > SMALL || !all_small_weights(g, node)) return none;
    if (tg_const_eval(g, v, &w) != TG_OK) return none;
    tg_arena_hold(arena, release_weight, w);
    return (tg_tensor){type->dtype, type->shape, (void *)(uintptr_t)w->data};
}

bool eval_uniform(const tg_graph *g, tg_value v, tg_arena *arena, double *x)
{
    if (!tg_graph_maker(g, v)->constant) return false;
    tg_tensor t = eval_constant(g, v, arena);
    char kind = tg_dtype_kind(t.dtype);
    if (!t.data || !kind || !strchr("fiub", kind)) return false;
    int64_t n = tg_tensor_count(&t);
    if (n < 1) return false;
    *x = tg_tensor_f64(&t, 0);
    for (int64_t i = 1; i < n; i++)
        if (tg_tensor_f64(&t, i) != *x) return false;
    return true;
}
