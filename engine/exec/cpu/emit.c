/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "emit.h"

#include "eltwise.h"
#include "quant.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

tg_emit *tg_emit_new(tg_cpu_plan *p, const tg_node *node)
{
    tg_emit *e = tg_calloc(1, sizeof *e);
    e->p = p;
    e->node = node;
    e->shape = node->out[0].shape;
    return e;
}

void tg_emit_free(tg_emit *e)
{
    tg_vec_free(&e->in);
    tg_vec_free(&e->lines);
    tg_map_free(&e->results);
    free(e);
}

int tg_emit_operand(tg_emit *e, const tg_operand *at)
{
    tg_vec_push(&e->in, (tg_emit_in){TG_NO_VALUE, *at, e->n_variables, {0}});
    return e->n_variables++;
}

int tg_emit_input(tg_emit *e, tg_value v)
{
    const uint64_t *result = tg_map_find(&e->results, tg_value_node(v));
    if (result) return (int)*result - 1;
    for (size_t i = 0; i < e->in.n; i++)
        if (e->in.v[i].value == v) return e->in.v[i].variable;
    tg_operand at;
    tg_code code = {0};
    tg_value from = v;
    if (tg_quant_source(e->p->g, v, &from, &code) && !tg_convert_fits(code.dtype)) from = v;
    if (from == v) code = (tg_code){0};
    tg_status status = tg_cpu_value(e->p, from, &at);
    if (status != TG_OK) {
        e->status = status;
        return 0;
    }
    int variable = tg_emit_operand(e, &at);
    if (from == v && at.dtype != TG_F32) code = (tg_code){at.dtype, false, 1, 0};
    tg_vec_last(&e->in).value = v;
    tg_vec_last(&e->in).code = code;
    return variable;
}

int tg_emit_op(tg_emit *e, int code, int a, int b, float k0, float k1)
{
    tg_vec_push(&e->lines, (tg_emit_line){code, e->n_variables, a, b, k0, k1});
    return e->n_variables++;
}

void tg_emit_result(tg_emit *e, const tg_node *node, int variable)
{
    *tg_map_put(&e->results, node->id, NULL) = (uint64_t)variable + 1;
}

static int power(tg_emit *e, int x, float k)
{
    if (k == 2) return tg_emit_op(e, TG_V_SQUARE, x, x, 0, 0);
    if (k == 0.5f) return tg_emit_op(e, TG_V_SQRT, x, x, 0, 0);
    if (k == 1) return tg_emit_op(e, TG_V_MULK, x, x, 1, 0);
    if (k == -1) return tg_emit_op(e, TG_V_RDIVK, x, x, 1, 0);
    if (k == 3 || k == 4) {
        int square = tg_emit_op(e, TG_V_SQUARE, x, x, 0, 0);
        if (k == 4) return tg_emit_op(e, TG_V_SQUARE, square, square, 0, 0);
        return tg_emit_op(e, TG_V_MUL, square, x, 0, 0);
    }
    return tg_emit_op(e, TG_V_POWK, x, x, k, 0);
}

/* An operation whose second operand (first if `swapped`) is a constant number; -1: no such. */
static int with_number(tg_emit *e, int code, int x, float k, bool swapped)
{
    switch (code) {
    case TG_V_ADD: return tg_emit_op(e, TG_V_ADDK, x, x, k, 0);
    case TG_V_SUB:
        return tg_emit_op(e, swapped ? TG_V_RSUBK : TG_V_ADDK, x, x, swapped ? k : -k, 0);
    case TG_V_MUL: return tg_emit_op(e, TG_V_MULK, x, x, k, 0);
    case TG_V_DIV:
        if (swapped) return tg_emit_op(e, TG_V_RDIVK, x, x, k, 0);
        return k == 0 || isinf(1 / k) ? -1 : tg_emit_op(e, TG_V_MULK, x, x, 1 / k, 0);
    case TG_V_MIN: return isnan(k) ? -1 : tg_emit_op(e, TG_V_CLIP, x, x, -INFINITY, k);
    case TG_V_MAX: return isnan(k) ? -1 : tg_emit_op(e, TG_V_CLIP, x, x, k, INFINITY);
    case TG_V_POW: return swapped ? -1 : power(e, x, k);
    default: return -1;
    }
}

/* The other operand must have the result's shape by itself: a number adds none. */
static int binary(tg_emit *e, int code, tg_value a, tg_value b)
{
    float k;
    int y = -1;
    if (tg_absorb_scalar(e->p->g, b, &k)) y = with_number(e, code, tg_emit_input(e, a), k, false);
    if (y < 0 && tg_absorb_scalar(e->p->g, a, &k))
        y = with_number(e, code, tg_emit_input(e, b), k, true);
    if (y >= 0) return y;
    int va = tg_emit_input(e, a), vb = tg_emit_input(e, b);
    return tg_emit_op(e, code, va, vb, 0, 0);
}

static tg_status emit_plain(tg_emit *e, const tg_node *node, const tg_eltwise *row)
{
    if (row->arity == 1) {
        int x = tg_emit_input(e, node->in[0]);
        float k0 = *row->k0 ? tg_attr_or(node, row->k0, 0) : 0;
        float k1 = *row->k1 ? tg_attr_or(node, row->k1, 0) : 0;
        tg_emit_result(e, node, tg_emit_op(e, row->code, x, x, k0, k1));
        return TG_OK;
    }
    int y;
    if (node->n_in == 1) {
        int x = tg_emit_input(e, node->in[0]);
        y = tg_emit_op(e, TG_V_MULK, x, x, 1, 0);
    } else {
        y = binary(e, row->code, node->in[0], node->in[1]);
    }
    for (int i = 2; i < node->n_in; i++)
        y = tg_emit_op(e, row->code, y, tg_emit_input(e, node->in[i]), 0, 0);
    tg_emit_result(e, node, y);
    return TG_OK;
}

tg_status tg_emit_node(tg_emit *e, const tg_node *node)
{
    const tg_eltwise *row = tg_eltwise_of(node->op);
    TG_TRY(row->emit ? row->emit(e, node) : emit_plain(e, node, row));
    return e->status;
}

/* ---- registers ---- */

/* By variable: the last line that reads it; INT32_MAX if it is an output; and its register. */
typedef struct allocation {
    int *last, *reg;
    bool busy[TG_VECTOR_REGISTERS];
    int high;
} allocation;

static int take_register(allocation *a)
{
    for (int i = 0; i < TG_VECTOR_REGISTERS; i++) {
        if (a->busy[i]) continue;
        a->busy[i] = true;
        if (i >= a->high) a->high = i + 1;
        return i;
    }
    return -1;
}

static void find_last_uses(const tg_emit *e, const int *outputs, int n_out, allocation *a)
{
    for (size_t i = 0; i < e->lines.n; i++)
        a->last[e->lines.v[i].a] = a->last[e->lines.v[i].b] = (int)i;
    for (int i = 0; i < n_out; i++) a->last[outputs[i]] = INT32_MAX;
}

/* An input's register is its number, for its elements may be read in place. */
static bool allocate(const tg_emit *e, const int *outputs, int n_out, tg_vector *v, allocation *a)
{
    if (e->in.n + (size_t)n_out > TG_VECTOR_OPERANDS || e->lines.n > TG_VECTOR_OPS) return false;
    find_last_uses(e, outputs, n_out, a);
    for (size_t i = 0; i < e->in.n; i++) {
        a->reg[e->in.v[i].variable] = (int)i;
        a->busy[i] = true;
        a->high = (int)i + 1;
    }
    for (size_t i = 0; i < e->lines.n; i++) {
        const tg_emit_line *l = &e->lines.v[i];
        int to = a->reg[l->to] = take_register(a);
        if (to < 0) return false;
        v->ops[v->n_ops++] =
            (tg_vector_op){(uint8_t)l->code,      (uint8_t)to, (uint8_t)a->reg[l->a],
                           (uint8_t)a->reg[l->b], l->k0,       l->k1};
        for (int k = 0; k < 2; k++) {
            int read = k ? l->b : l->a;
            if (a->last[read] == (int)i && a->reg[read] >= (int)e->in.n)
                a->busy[a->reg[read]] = false;
        }
    }
    for (int i = 0; i < n_out; i++) v->out[i] = (uint8_t)a->reg[outputs[i]];
    v->n_registers = a->high;
    return true;
}

/* ---- layouts ---- */

static bool has_shape(const tg_emit *e, const tg_operand *at)
{
    return tg_shape_equal(&at->shape, &e->shape);
}

/* That of an input of full size: one that is not row-major has its reasons. */
static tg_layout choose_layout(const tg_emit *e)
{
    tg_layout chosen = tg_layout_plain(&e->shape);
    bool found = false;
    for (size_t i = 0; i < e->in.n; i++) {
        const tg_operand *at = &e->in.v[i].at;
        int axes[TG_MAX_RANK];
        if (!has_shape(e, at) || tg_cpu_constant_data(e->p, at)) continue;
        if (found && tg_layout_is_plain(&at->shape, &at->layout)) continue;
        if (found && !tg_layout_is_plain(&e->shape, &chosen)) continue;
        tg_layout_order(&at->shape, &at->layout, axes);
        chosen = tg_layout_of_order(&at->shape, axes);
        found = true;
    }
    return chosen;
}

/* Strides of an operand along the axes of the result: 0 where it repeats. */
static void strides_of(const tg_emit *e, const tg_operand *at, int64_t *stride)
{
    int64_t skip = e->shape.rank - at->shape.rank;
    for (int i = 0; i < e->shape.rank; i++)
        stride[i] = i < skip || at->shape.dim[i - skip] == 1 ? 0 : at->layout.stride[i - skip];
}

static tg_status fit_inputs(tg_emit *e, const tg_layout *layout, int innermost)
{
    for (size_t i = 0; i < e->in.n; i++) {
        tg_operand *at = &e->in.v[i].at;
        if (has_shape(e, at) && at->layout.stride[innermost] != 1)
            TG_TRY(tg_cpu_move(e->p, at, layout, at));
        TG_TRY(tg_cpu_padded(e->p, at, at));
    }
    return TG_OK;
}

static tg_status run_vector(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const tg_vector *v = step->own;
    tg_vector_run(v, ptr, ptr[v->n_in + v->n_out]);
    return TG_OK;
}

static void add_step(tg_emit *e, tg_vector *v, const tg_operand *out, const int *axes)
{
    tg_operand all[TG_VECTOR_OPERANDS + 1];
    int n = v->n_in + v->n_out;
    for (int i = 0; i < n; i++) {
        all[i] = i < v->n_in ? e->in.v[i].at : out[i - v->n_in];
        strides_of(e, &all[i], v->stride[i]);
        if (i < v->n_in) v->code[i] = e->in.v[i].code;
    }
    memcpy(v->dim, e->shape.dim, sizeof v->dim);
    tg_vector_collapse(v, (int)e->shape.rank, axes);
    all[n] = (tg_operand){.buffer = -1};
    if (v->tiles) {
        all[n] = (tg_operand){.dtype = TG_F32};
        all[n].buffer = tg_cpu_scratch(e->p, (size_t)v->tiles * sizeof(float));
    }
    tg_cpu_step(e->p, e->node, run_vector, tg_arena_dup(e->p->memory, v, sizeof *v), all, n + 1);
    e->p->stats->loops++;
}

static bool used_outside(const tg_graph *g, const tg_node *node, const tg_group *group)
{
    uint32_t n;
    const tg_use *uses = tg_graph_uses(g, node->id, &n);
    for (uint32_t i = 0; i < n; i++) {
        bool inside = false;
        for (int k = 0; k < group->n; k++) inside |= group->nodes[k]->id == uses[i].node;
        if (!inside) return true;
    }
    return false;
}

/* The nodes whose values leave the program, and the variables of those. */
static int find_outputs(const tg_emit *e, const tg_group *group, const tg_node **nodes, int *vars)
{
    int n = 0, count = group ? group->n : 1;
    for (int i = 0; i < count; i++) {
        const tg_node *node = group ? group->nodes[i] : e->node;
        if (group && !used_outside(e->p->g, node, group)) continue;
        if (n == TG_VECTOR_OPERANDS) return n + 1;
        nodes[n] = node;
        vars[n++] = (int)*tg_map_find(&e->results, node->id) - 1;
    }
    return n;
}

tg_status tg_emit_done(tg_emit *e, const tg_group *group)
{
    const tg_node *nodes[TG_VECTOR_OPERANDS];
    int vars[TG_VECTOR_OPERANDS], axes[TG_MAX_RANK];
    int n_out = find_outputs(e, group, nodes, vars);
    tg_vector v;
    memset(&v, 0, sizeof v);
    v.n_in = (int)e->in.n;
    v.n_out = n_out;
    size_t n = (size_t)e->n_variables + 1;
    allocation a = {.last = tg_calloc(n, sizeof(int)), .reg = tg_calloc(n, sizeof(int))};
    bool ok = n_out <= TG_VECTOR_OPERANDS && allocate(e, vars, n_out, &v, &a);
    free(a.last);
    free(a.reg);
    if (!ok) return tg_fail(TG_UNSUPPORTED, "too large for one element-wise program");
    tg_layout layout = choose_layout(e);
    tg_layout_order(&e->shape, &layout, axes);
    TG_TRY(fit_inputs(e, &layout, e->shape.rank ? axes[e->shape.rank - 1] : 0));
    tg_operand out[TG_VECTOR_OPERANDS];
    for (int i = 0; i < n_out; i++) {
        out[i] = tg_cpu_new(e->p, &nodes[i]->out[0], &layout);
        tg_cpu_set(e->p, nodes[i], 0, &out[i]);
        tg_code *code = &v.code[v.n_in + i];
        if (out[i].dtype != TG_F32 && !tg_quant_code(e->p->g, nodes[i], code))
            *code = (tg_code){out[i].dtype, false, 1, 0};
    }
    add_step(e, &v, out, axes);
    return TG_OK;
}
