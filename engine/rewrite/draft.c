/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "draft.h"

#include "engine/ir/eval.h"
#include "engine/ops/cost.h"

#include <stdlib.h>
#include <string.h>

static const tg_preview_node *made(const draft *d, tg_value v)
{
    uint32_t id = tg_value_node(v);
    return id < d->g->n_ids ? NULL : &d->come.v[id - d->g->n_ids];
}

const tg_type *draft_type(const draft *d, tg_value v)
{
    const tg_preview_node *node = made(d, v);
    return node ? &node->out[tg_value_port(v)] : tg_graph_type(d->g, v);
}

bool draft_constant(const draft *d, tg_value v)
{
    const tg_preview_node *node = made(d, v);
    return node ? node->constant : tg_graph_maker(d->g, v)->constant;
}

static void release_weight(void *w)
{
    tg_weight_unref(w);
}

/* Adds a constant; takes over the weight. */
static tg_value add_const(draft *d, tg_dtype dtype, const tg_shape *shape, tg_weight *w)
{
    tg_type *out = TG_NEW(d->arena, tg_type);
    *out = (tg_type){dtype, *shape};
    tg_arena_hold(d->arena, release_weight, w);
    uint32_t id = d->g->n_ids + (uint32_t)d->come.n;
    tg_vec_push(&d->come,
                (tg_preview_node){
                    .op = TG_OP_CONST, .n_out = 1, .out = out, .constant = true, .weight = w});
    return tg_value_of(id, 0);
}

tg_value draft_fill(draft *d, tg_dtype dtype, const tg_shape *shape, double x)
{
    tg_tensor t = {dtype, *shape, NULL};
    size_t size = tg_tensor_bytes(&t);
    t.data = tg_calloc(1, size ? size : 1);
    for (int64_t i = 0, n = tg_tensor_count(&t); x != 0 && i < n; i++) tg_tensor_set_f64(&t, i, x);
    return add_const(d, dtype, shape, tg_weight_own(t.data, size));
}

/* A node on its way. */
typedef struct pending {
    draft *d;
    tg_op op;
    tg_attr *attr;
    tg_value *in;
    int n_in, n_out;
    tg_type *out;
} pending;

/* The tensor of a constant; an expression of the graph is evaluated, a new one cannot be. */
static const tg_tensor *value_of(draft *d, tg_value v)
{
    tg_tensor *t = TG_NEW(d->arena, tg_tensor);
    const tg_preview_node *node = made(d, v);
    const tg_type *type = draft_type(d, v);
    tg_weight *w = node ? node->weight : NULL;
    if (node && !w) return NULL;
    if (!node) {
        if (!tg_graph_maker(d->g, v)->constant || tg_const_eval(d->g, v, &w) != TG_OK) return NULL;
        tg_arena_hold(d->arena, release_weight, w);
    }
    *t = (tg_tensor){type->dtype, type->shape, (void *)(uintptr_t)w->data};
    return t;
}

static tg_attr attr_of_tensor(draft *d, tg_attr_kind kind, const tg_tensor *t)
{
    int64_t n = tg_tensor_count(t);
    if (kind == TG_ATTR_INT && n == 1) return TG_ATTR_OF_INT(tg_tensor_i64(t, 0));
    if (kind == TG_ATTR_FLOAT && n == 1) return TG_ATTR_OF_FLOAT((float)tg_tensor_f64(t, 0));
    if (kind == TG_ATTR_INTS) {
        int64_t *v = TG_NEW_ARRAY(d->arena, int64_t, n + 1);
        for (int64_t i = 0; i < n; i++) v[i] = tg_tensor_i64(t, i);
        return TG_ATTR_OF_INTS(v, n);
    }
    return (tg_attr){.kind = TG_ATTR_NONE};
}

static void trim(pending *p)
{
    while (p->n_in && p->in[p->n_in - 1] == TG_NO_VALUE) p->n_in--;
}

/* As the builder: constant inputs that the row names become attributes. */
static tg_status fold_inputs(pending *p)
{
    int n, n_specs;
    const tg_fold_spec *folds = tg_op_folds(p->op, &n);
    const tg_attr_spec *specs = tg_op_attrs(p->op, &n_specs);
    for (int i = 0; i < n; i++) {
        int slot = folds[i].slot;
        if (slot >= p->n_in || p->in[slot] == TG_NO_VALUE || !draft_constant(p->d, p->in[slot]))
            continue;
        const tg_tensor *t = value_of(p->d, p->in[slot]);
        if (!t) return tg_fail(TG_RULE, "an attribute depends on a constant that is not known yet");
        tg_attr value = attr_of_tensor(p->d, specs[folds[i].attr].kind, t);
        if (value.kind == TG_ATTR_NONE) continue;
        p->attr[folds[i].attr] = value;
        p->in[slot] = TG_NO_VALUE;
    }
    trim(p);
    return TG_OK;
}

static tg_status check(const pending *p)
{
    const tg_op_row *row = tg_op_get(p->op);
    int n;
    const tg_attr_spec *spec = tg_op_attrs(p->op, &n);
    if (p->n_in < row->min_in || (row->max_in >= 0 && p->n_in > row->max_in))
        return tg_fail(TG_INVALID, "%s cannot have %d inputs", row->name, p->n_in);
    if (p->n_out < row->min_out || (row->max_out >= 0 && p->n_out > row->max_out) ||
        p->n_out > TG_MAX_PORTS)
        return tg_fail(TG_INVALID, "%s cannot have %d outputs", row->name, p->n_out);
    for (int i = 0; i < p->n_in; i++)
        if (p->in[i] == TG_NO_VALUE && i < row->min_in)
            return tg_fail(TG_INVALID, "%s lacks input %d", row->name, i);
    for (int i = 0; i < n; i++)
        if (spec[i].required && p->attr[i].kind == TG_ATTR_NONE)
            return tg_fail(TG_INVALID, "%s lacks attribute %s", row->name, spec[i].name);
    return TG_OK;
}

static const tg_tensor *slot_value(void *ctx, int slot)
{
    pending *p = ctx;
    return draft_constant(p->d, p->in[slot]) ? value_of(p->d, p->in[slot]) : NULL;
}

static tg_status infer(pending *p, tg_type *in)
{
    const tg_op_row *row = tg_op_get(p->op);
    for (int i = 0; i < p->n_in; i++) {
        bool absent = p->in[i] == TG_NO_VALUE;
        in[i] = absent ? (tg_type){TG_DTYPE_NONE, TG_SHAPE_UNKNOWN} : *draft_type(p->d, p->in[i]);
        if (!absent && !tg_type_complete(&in[i]) && !(row->flags & TG_BODIES))
            return tg_fail(TG_SHAPE, "a shape is not known");
    }
    for (int i = 0; i < p->n_out; i++) p->out[i] = (tg_type){TG_DTYPE_NONE, TG_SHAPE_UNKNOWN};
    tg_infer_source source = {slot_value, p};
    tg_infer infer = {.row = row,
                      .attr = p->attr,
                      .n_in = p->n_in,
                      .n_out = p->n_out,
                      .in = in,
                      .out = p->out,
                      .arena = p->d->arena,
                      .source = &source};
    TG_TRY(row->infer(&infer));
    return infer.known ? tg_fail(TG_RULE, "%s has a known result", row->name) : TG_OK;
}

static bool is_constant(const pending *p)
{
    if (!tg_op_get(p->op)->kernel || tg_op_get(p->op)->flags & (TG_RANDOM | TG_BODIES))
        return false;
    for (int i = 0; i < p->n_in; i++)
        if (p->in[i] != TG_NO_VALUE && !draft_constant(p->d, p->in[i])) return false;
    return true;
}

tg_status draft_node(draft *d, tg_op op, tg_attr *attr, const tg_value *in, int n_in, int n_out,
                     uint32_t *id)
{
    pending p = {d,
                 op,
                 attr,
                 tg_arena_dup(d->arena, in, sizeof *in * (size_t)n_in),
                 n_in,
                 n_out,
                 TG_NEW_ARRAY(d->arena, tg_type, n_out)};
    trim(&p);
    TG_TRY(check(&p));
    TG_TRY(fold_inputs(&p));
    tg_type *types = TG_NEW_ARRAY(d->arena, tg_type, p.n_in);
    TG_TRY(infer(&p, types));
    int n_attr;
    tg_op_attrs(op, &n_attr);
    bool constant = is_constant(&p);
    double cost = tg_cost_ms(op, attr, types, p.n_in, p.out, n_out, constant, true);
    *id = d->g->n_ids + (uint32_t)d->come.n;
    tg_vec_push(&d->come, (tg_preview_node){.op = op,
                                            .n_in = (uint16_t)p.n_in,
                                            .n_out = (uint16_t)n_out,
                                            .n_attr = n_attr,
                                            .attr = attr,
                                            .in = p.in,
                                            .out = p.out,
                                            .constant = constant,
                                            .cost_ms = cost});
    return TG_OK;
}
