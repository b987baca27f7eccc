/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "builder.h"

#include "engine/base/intern.h"

#include <stdlib.h>

tg_builder *tg_builder_new(const tg_origin *origin)
{
    tg_builder *b = tg_calloc(1, sizeof *b);
    b->origin = tg_origin_ref(origin);
    b->first_new = 1;
    tg_vec_push(&b->nodes, NULL);
    return b;
}

tg_builder *tg_builder_from(const tg_graph *parent)
{
    tg_builder *b = tg_calloc(1, sizeof *b);
    b->origin = tg_origin_ref(parent->origin);
    b->parent = tg_graph_ref(parent);
    b->first_new = parent->n_ids;
    tg_vec_reserve(&b->nodes, parent->n_ids + 16);
    b->nodes.n = parent->n_ids;
    memset(b->nodes.v, 0, parent->n_ids * sizeof *b->nodes.v);
    for (uint32_t i = 0; i < parent->n_nodes; i++) {
        uint32_t id = parent->order[i];
        if (id) b->nodes.v[id] = tg_node_ref(parent->nodes[id]);
    }
    for (uint32_t i = 0; i < parent->n_inputs; i++) tg_vec_push(&b->inputs, parent->inputs[i]);
    const tg_node *sink = tg_graph_sink(parent);
    tg_build_outputs(b, sink->in, parent->output_names, sink->n_in);
    return b;
}

void tg_builder_free(tg_builder *b)
{
    if (!b) return;
    for (size_t i = 0; i < b->nodes.n; i++) tg_node_unref(b->nodes.v[i]);
    tg_vec_free(&b->nodes);
    tg_vec_free(&b->inputs);
    tg_vec_free(&b->outputs);
    tg_vec_free(&b->output_names);
    tg_map_free(&b->redirects);
    tg_consts_done(&b->consts);
    tg_graph_unref(b->parent);
    tg_origin_unref(b->origin);
    free(b);
}

static uint32_t add(tg_builder *b, tg_node_parts *parts)
{
    parts->id = (uint32_t)b->nodes.n;
    if (!parts->group) parts->group = parts->id;
    tg_vec_push(&b->nodes, tg_node_new(parts));
    return parts->id;
}

tg_value tg_build_input(tg_builder *b, const char *name, const tg_type *type)
{
    const char *interned = tg_intern(name);
    tg_node_parts parts = {.op = TG_OP_INPUT,
                           .n_out = 1,
                           .out = type,
                           .out_name = &interned,
                           .name = interned,
                           .attrs = tg_attrs_new(NULL, 0)};
    uint32_t id = add(b, &parts);
    tg_vec_push(&b->inputs, id);
    return tg_value_of(id, 0);
}

tg_value tg_build_const(tg_builder *b, tg_dtype dtype, const tg_shape *shape, tg_weight *weight,
                        const char *name)
{
    const char *interned = tg_intern(name ? name : "");
    tg_type type = {dtype, *shape};
    tg_node_parts parts = {.op = TG_OP_CONST,
                           .n_out = 1,
                           .out = &type,
                           .out_name = &interned,
                           .name = interned,
                           .attrs = tg_attrs_new(NULL, 0),
                           .weight = weight,
                           .constant = true};
    return tg_value_of(add(b, &parts), 0);
}

tg_value tg_build_ints(tg_builder *b, const int64_t *v, int64_t n)
{
    tg_shape shape = tg_shape_of(n);
    return tg_build_const(b, TG_I64, &shape, tg_weight_copy(v, (size_t)n * sizeof *v), NULL);
}

tg_value tg_build_scalar(tg_builder *b, tg_dtype dtype, double x)
{
    tg_shape shape = {.rank = 0};
    tg_tensor t = {dtype, shape, tg_calloc(1, tg_dtype_size(dtype))};
    tg_tensor_set_f64(&t, 0, x);
    return tg_build_const(b, dtype, &shape, tg_weight_own(t.data, tg_dtype_size(dtype)), NULL);
}

const tg_node *tg_build_get(const tg_builder *b, uint32_t id)
{
    return id < b->nodes.n ? b->nodes.v[id] : NULL;
}

const tg_type *tg_build_type(const tg_builder *b, tg_value v)
{
    return &b->nodes.v[tg_value_node(v)]->out[tg_value_port(v)];
}

const tg_tensor *tg_build_value(tg_builder *b, tg_value v)
{
    const tg_tensor *t;
    if (v == TG_NO_VALUE || !b->nodes.v[tg_value_node(v)]->constant) return NULL;
    return tg_consts_eval(&b->consts, b->nodes.v, v, &t) == TG_OK ? t : NULL;
}

void tg_build_outputs(tg_builder *b, const tg_value *values, const char *const *names, int n)
{
    tg_vec_clear(&b->outputs);
    tg_vec_clear(&b->output_names);
    for (int i = 0; i < n; i++) {
        tg_vec_push(&b->outputs, values[i]);
        tg_vec_push(&b->output_names, tg_intern(names[i]));
    }
}

/* A node on its way: its inputs and attributes while they are brought to their final form. */
typedef struct draft {
    tg_builder *b;
    const tg_op_row *row;
    tg_op op;
    tg_arena *arena;
    tg_value *in;
    int n_in, n_out;
    tg_attr *attr;
    int n_attr;
    tg_type *out;
} draft;

static tg_status set_attr(draft *d, const tg_named_attr *given)
{
    int n, i = tg_op_attr_index(d->op, given->name);
    if (i < 0)
        return tg_fail(TG_INVALID, "operator %s has no attribute %s", d->row->name, given->name);
    const tg_attr_spec *spec = &tg_op_attrs(d->op, &n)[i];
    if (given->value.kind != spec->kind && given->value.kind != TG_ATTR_NONE) {
        /* An empty list is written without a type by some exporters. */
        if (given->value.n || (spec->kind != TG_ATTR_INTS && spec->kind != TG_ATTR_FLOATS) ||
            (given->value.kind != TG_ATTR_INTS && given->value.kind != TG_ATTR_FLOATS))
            return tg_fail(TG_INVALID, "attribute %s of %s has the wrong type", given->name,
                           d->row->name);
        d->attr[i] = (tg_attr){.kind = spec->kind};
        return TG_OK;
    }
    d->attr[i] = given->value;
    return TG_OK;
}

static tg_status fill_attrs(draft *d, const tg_node_spec *spec)
{
    const tg_attr_spec *rows = tg_op_attrs(d->op, &d->n_attr);
    d->attr = TG_NEW_ARRAY(d->arena, tg_attr, d->n_attr + 1);
    for (int i = 0; i < d->n_attr; i++) d->attr[i] = rows[i].value;
    for (int i = 0; i < spec->n_attrs; i++) TG_TRY(set_attr(d, &spec->attrs[i]));
    for (int i = 0; i < d->n_attr; i++)
        if (rows[i].required && d->attr[i].kind == TG_ATTR_NONE)
            return tg_fail(TG_INVALID, "operator %s lacks attribute %s", d->row->name,
                           rows[i].name);
    return TG_OK;
}

static void trim_inputs(draft *d)
{
    while (d->n_in && d->in[d->n_in - 1] == TG_NO_VALUE) d->n_in--;
}

static tg_status check_arity(const draft *d)
{
    const tg_op_row *row = d->row;
    if (d->n_in < row->min_in || (row->max_in >= 0 && d->n_in > row->max_in))
        return tg_fail(TG_INVALID, "operator %s cannot have %d inputs", row->name, d->n_in);
    if (d->n_out < row->min_out || (row->max_out >= 0 && d->n_out > row->max_out))
        return tg_fail(TG_INVALID, "operator %s cannot have %d outputs", row->name, d->n_out);
    if (d->n_out > TG_MAX_PORTS)
        return tg_fail(TG_LIMIT, "operator %s has more than %d outputs", row->name, TG_MAX_PORTS);
    for (int i = 0; i < d->n_in; i++)
        if (d->in[i] == TG_NO_VALUE && i < row->min_in)
            return tg_fail(TG_INVALID, "operator %s lacks input %d", row->name, i);
    if (d->b->nodes.n >= TG_MAX_NODES) return tg_fail(TG_LIMIT, "more than %d nodes", TG_MAX_NODES);
    return TG_OK;
}

/* Does element i fit a float attribute? A bound of 2^31 - 1 does not: it stays an input. */
static bool fits_float(const tg_tensor *t, int64_t i)
{
    double x = tg_tensor_f64(t, i);
    if (tg_dtype_kind(t->dtype) != 'f') return x >= -0x1p24 && x <= 0x1p24;
    return x != x || (double)(float)x == x;
}

static tg_attr attr_of_tensor(draft *d, tg_attr_kind kind, const tg_tensor *t)
{
    int64_t n = tg_tensor_count(t);
    if (t->dtype == TG_STR) return (tg_attr){.kind = TG_ATTR_NONE};
    if (kind == TG_ATTR_INT && n == 1) return TG_ATTR_OF_INT(tg_tensor_i64(t, 0));
    if (kind == TG_ATTR_FLOAT && n == 1 && fits_float(t, 0))
        return TG_ATTR_OF_FLOAT((float)tg_tensor_f64(t, 0));
    if (kind == TG_ATTR_INTS) {
        int64_t *v = TG_NEW_ARRAY(d->arena, int64_t, n + 1);
        for (int64_t i = 0; i < n; i++) v[i] = tg_tensor_i64(t, i);
        return TG_ATTR_OF_INTS(v, n);
    }
    if (kind == TG_ATTR_FLOATS) {
        float *v = TG_NEW_ARRAY(d->arena, float, n + 1);
        for (int64_t i = 0; i < n; i++) v[i] = (float)tg_tensor_f64(t, i);
        return (tg_attr){.kind = TG_ATTR_FLOATS, .n = (uint32_t)n, .floats = v};
    }
    return (tg_attr){.kind = TG_ATTR_NONE};
}

/* Constant inputs that the row names become attributes: one meaning, one form. */
static void fold_inputs(draft *d)
{
    int n_folds, n_specs;
    const tg_fold_spec *folds = tg_op_folds(d->op, &n_folds);
    const tg_attr_spec *specs = tg_op_attrs(d->op, &n_specs);
    for (int i = 0; i < n_folds; i++) {
        int slot = folds[i].slot;
        if (slot >= d->n_in || d->in[slot] == TG_NO_VALUE) continue;
        const tg_tensor *t = tg_build_value(d->b, d->in[slot]);
        if (!t) continue;
        tg_attr value = attr_of_tensor(d, specs[folds[i].attr].kind, t);
        if (value.kind == TG_ATTR_NONE) continue;
        d->attr[folds[i].attr] = value;
        d->in[slot] = TG_NO_VALUE;
    }
    trim_inputs(d);
}

static const tg_tensor *draft_value(void *ctx, int slot)
{
    draft *d = ctx;
    return tg_build_value(d->b, d->in[slot]);
}

static bool inputs_complete(const draft *d, const tg_type *types)
{
    for (int i = 0; i < d->n_in; i++)
        if (d->in[i] != TG_NO_VALUE && !tg_type_complete(&types[i])) return false;
    return true;
}

/*
 * Element types follow from those of the inputs whatever the shapes are: dimensions that are not
 * known are tried as 1, a rank that is not known as `rank`. False: that does not fit.
 */
static bool try_types(draft *d, const tg_type *in, int rank)
{
    int n_attrs;
    tg_op_attrs(d->op, &n_attrs);
    tg_type *tried = tg_arena_dup(d->arena, in, sizeof *in * (size_t)(d->n_in + 1));
    tg_type *out = TG_NEW_ARRAY(d->arena, tg_type, d->n_out + 1);
    for (int i = 0; i < d->n_in; i++) {
        tg_shape *s = &tried[i].shape;
        if (d->in[i] == TG_NO_VALUE) continue;
        if (!tried[i].dtype) return false;
        if (s->rank < 0) *s = tg_shape_from((int64_t[TG_MAX_RANK]){1, 1, 1, 1, 1, 1, 1, 1}, rank);
        for (int k = 0; k < s->rank; k++)
            if (s->dim[k] < 0) s->dim[k] = 1;
    }
    for (int i = 0; i < d->n_out; i++) out[i] = (tg_type){TG_DTYPE_NONE, TG_SHAPE_UNKNOWN};
    tg_infer_source source = {draft_value, d};
    tg_infer infer = {.row = d->row,
                      .attr = tg_arena_dup(d->arena, d->attr, sizeof *d->attr * (size_t)n_attrs),
                      .n_in = d->n_in,
                      .n_out = d->n_out,
                      .in = tried,
                      .out = out,
                      .arena = d->arena,
                      .source = &source};
    if (d->row->infer(&infer) != TG_OK) return false;
    for (int i = 0; i < d->n_out; i++) d->out[i].dtype = out[i].dtype;
    return true;
}

/* Without complete inputs, and where no shapes were found to try, the first input's type. */
static void guess_types(draft *d, const tg_type *in)
{
    bool open = false; /* is some rank unknown? */
    for (int i = 0; i < d->n_in; i++) open |= d->in[i] != TG_NO_VALUE && in[i].shape.rank < 0;
    for (int rank = 1; rank <= (open ? 5 : 1) && d->row->infer; rank++)
        if (try_types(d, in, rank % 5)) return;
    for (int i = 0; i < d->n_out; i++) d->out[i].dtype = d->n_in ? in[0].dtype : TG_DTYPE_NONE;
    int to = tg_op_attr_index(d->op, "to");
    if (to >= 0 && d->attr[to].kind == TG_ATTR_INT) d->out[0].dtype = (tg_dtype)d->attr[to].i;
}

static tg_status infer(draft *d, const int64_t **known)
{
    tg_type *in = TG_NEW_ARRAY(d->arena, tg_type, d->n_in + 1);
    for (int i = 0; i < d->n_in; i++)
        in[i] = d->in[i] == TG_NO_VALUE ? (tg_type){TG_DTYPE_NONE, TG_SHAPE_UNKNOWN}
                                        : *tg_build_type(d->b, d->in[i]);
    d->out = TG_NEW_ARRAY(d->arena, tg_type, d->n_out + 1);
    for (int i = 0; i < d->n_out; i++) d->out[i] = (tg_type){TG_DTYPE_NONE, TG_SHAPE_UNKNOWN};
    TG_TRY(tg_op_takes(d->row, in, d->n_in));
    if (!d->row->infer || (!(d->row->flags & TG_PARTIAL) && !inputs_complete(d, in))) {
        guess_types(d, in);
        return TG_OK;
    }
    tg_infer_source source = {draft_value, d};
    tg_infer infer = {.row = d->row,
                      .attr = d->attr,
                      .n_in = d->n_in,
                      .n_out = d->n_out,
                      .in = in,
                      .out = d->out,
                      .arena = d->arena,
                      .source = &source};
    for (int i = 0; i < d->n_in; i++) TG_TRY(tg_type_limit(&in[i]));
    TG_TRY(d->row->infer(&infer));
    for (int i = 0; i < d->n_out; i++) TG_TRY(tg_type_limit(&d->out[i]));
    *known = infer.known;
    return TG_OK;
}

static uint32_t add_known(draft *d, const tg_node_spec *spec, const int64_t *known)
{
    tg_weight *w = tg_weight_copy(known, (size_t)tg_type_bytes(&d->out[0]));
    const char *name = spec->out_names && spec->out_names[0] ? spec->out_names[0] : spec->name;
    return tg_value_node(tg_build_const(d->b, TG_I64, &d->out[0].shape, w, name));
}

static void intern_names(draft *d, const tg_node_spec *spec, const char **names)
{
    for (int i = 0; i < d->n_out; i++)
        names[i] = spec->out_names && spec->out_names[i] ? tg_intern(spec->out_names[i]) : "";
}

/* Runs in any case so that the caller can free the arena. */
static tg_status draft_node(draft *d, const tg_node_spec *spec, uint32_t *id)
{
    const int64_t *known = NULL;
    d->in = tg_arena_dup(d->arena, spec->in, sizeof *spec->in * (size_t)spec->n_in);
    trim_inputs(d);
    TG_TRY(fill_attrs(d, spec));
    TG_TRY(check_arity(d));
    fold_inputs(d);
    TG_TRY(infer(d, &known));
    if (known) {
        *id = add_known(d, spec, known);
        return TG_OK;
    }
    const char **names = TG_NEW_ARRAY(d->arena, const char *, d->n_out + 1);
    intern_names(d, spec, names);
    tg_node_parts parts = {.op = d->op,
                           .n_in = d->n_in,
                           .n_out = d->n_out,
                           .in = d->in,
                           .out_name = names,
                           .out =
                               spec->out_types && d->op == TG_OP_OPAQUE ? spec->out_types : d->out,
                           .attrs = tg_attrs_new(d->attr, (size_t)d->n_attr),
                           .name = tg_intern(spec->name ? spec->name : ""),
                           .rule = spec->rule ? tg_intern(spec->rule) : NULL,
                           .group = spec->group,
                           .constant = tg_node_is_constant(d->op, d->in, d->n_in, d->b->nodes.v)};
    *id = add(d->b, &parts);
    return TG_OK;
}

tg_status tg_build_node(tg_builder *b, const tg_node_spec *spec, uint32_t *id)
{
    draft d = {.b = b,
               .op = spec->op,
               .row = tg_op_get(spec->op),
               .arena = tg_arena_new(),
               .n_in = spec->n_in,
               .n_out = spec->n_out ? spec->n_out : tg_op_get(spec->op)->min_out};
    tg_status status = draft_node(&d, spec, id);
    tg_arena_free(d.arena);
    return status;
}

tg_status tg_build_copy(tg_builder *b, tg_op op, const tg_attr *attrs, const tg_value *in, int n_in,
                        int n_out, const char *rule, uint32_t *id)
{
    int n;
    const tg_attr_spec *specs = tg_op_attrs(op, &n);
    tg_named_attr *named = tg_calloc((size_t)n + 1, sizeof *named);
    for (int i = 0; i < n; i++) named[i] = (tg_named_attr){specs[i].name, attrs[i]};
    tg_node_spec spec = {.op = op,
                         .in = in,
                         .n_in = n_in,
                         .n_out = n_out,
                         .attrs = named,
                         .n_attrs = n,
                         .rule = rule};
    tg_status status = tg_build_node(b, &spec, id);
    free(named);
    return status;
}

tg_status tg_build_redirect(tg_builder *b, tg_value from, tg_value to)
{
    const tg_type *old = tg_build_type(b, from), *new = tg_build_type(b, to);
    char a[TG_SHAPE_TEXT], c[TG_SHAPE_TEXT];
    if (old->dtype != new->dtype && old->dtype)
        return tg_fail(TG_TYPE, "a value of type %s cannot replace one of type %s",
                       tg_dtype_name(new->dtype), tg_dtype_name(old->dtype));
    if (!tg_shape_equal(&old->shape, &new->shape))
        return tg_fail(TG_SHAPE, "a value of shape %s cannot replace one of shape %s",
                       tg_shape_text(c, &new->shape), tg_shape_text(a, &old->shape));
    *tg_map_put(&b->redirects, from, NULL) = to;
    tg_node *maker = b->nodes.v[tg_value_node(to)], *was = b->nodes.v[tg_value_node(from)];
    int port = (int)tg_value_port(to);
    if (tg_value_node(to) >= b->first_new && !maker->out_name[port][0])
        tg_node_set_out_name(maker, port, was->out_name[tg_value_port(from)]);
    return TG_OK;
}
