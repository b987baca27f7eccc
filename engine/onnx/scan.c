/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Scan of opset 8, which went over a batch along axis 0 and over each of its sequences along
 * axis 1: a Scan of the present form for each element of the batch.
 */
#include "engine/ir/value.h"
#include "engine/ops/ops.h"
#include "import.h"

#include <string.h>

/* A batch of more elements is carried: it would make as many nodes. */
enum { MOST_BATCH = 256 };

/* An old Scan on its way. */
typedef struct old_scan {
    tg_draft *d;
    const tg_graph *body;
    int states, scanned, captured, stacked;
    int64_t batch, length;
    tg_value lengths; /* TG_NO_VALUE: all sequences are whole */
    tg_value *parts;  /* [inputs][batch]: states, then what is scanned, then the lengths */
    tg_value *made;   /* [outputs][batch] */
} old_scan;

static tg_status build(const old_scan *s, tg_op op, const tg_value *in, int n_in, int n_out,
                       const tg_named_attr *attrs, int n_attrs, tg_value *out)
{
    uint32_t id;
    tg_node_spec spec = {
        .op = op, .in = in, .n_in = n_in, .n_out = n_out, .attrs = attrs, .n_attrs = n_attrs};
    TG_TRY(tg_build_node(s->d->im->b, &spec, &id));
    for (int i = 0; i < n_out; i++) out[i] = tg_value_of(id, (uint32_t)i);
    return TG_OK;
}

static tg_status build_axes(const old_scan *s, tg_op op, tg_value in, tg_value *out)
{
    static const int64_t first[] = {0};
    tg_named_attr axes = {"axes", TG_ATTR_OF_INTS(first, 1)};
    return build(s, op, &in, 1, 1, &axes, 1, out);
}

static tg_status carried(const char *why)
{
    return tg_fail(TG_UNSUPPORTED, "a Scan of opset 8 %s", why);
}

/* The batch and the length from one input; others must agree. */
static tg_status agree(int64_t *size, int64_t dim, const char *what)
{
    if (dim < 0) return carried("of unknown shape");
    if (*size >= 0 && *size != dim)
        return tg_fail(TG_SHAPE, "%s of %lld and %lld", what, (long long)*size, (long long)dim);
    *size = dim;
    return TG_OK;
}

static tg_status measure(old_scan *s)
{
    s->batch = s->length = -1;
    for (int i = 0; i < s->states + s->scanned; i++) {
        tg_value v = s->d->in.v[1 + i];
        const tg_type *type = v == TG_NO_VALUE ? NULL : tg_build_type(s->d->im->b, v);
        if (!type || type->shape.rank < 0) return carried("of unknown shape");
        if (type->shape.rank < (i < s->states ? 1 : 2))
            return tg_fail(TG_SHAPE, "input %d has no axis for the batch or the sequence", 1 + i);
        TG_TRY(agree(&s->batch, type->shape.dim[0], "batches"));
        if (i >= s->states) TG_TRY(agree(&s->length, type->shape.dim[1], "sequences"));
    }
    if (s->batch < 1 || s->batch > MOST_BATCH) return carried("with an empty or a long batch");
    return TG_OK;
}

/* Cuts a value along the batch, and the pieces lose that axis. */
static tg_status cut(const old_scan *s, tg_value whole, tg_value *parts)
{
    int n = (int)s->batch;
    parts[0] = whole;
    if (n > 1) {
        int64_t *ones = TG_NEW_ARRAY(s->d->im->arena, int64_t, n);
        for (int i = 0; i < n; i++) ones[i] = 1;
        tg_named_attr attrs[] = {{"axis", TG_ATTR_OF_INT(0)}, {"split", TG_ATTR_OF_INTS(ones, n)}};
        TG_TRY(build(s, TG_OP(Split), &whole, 1, n, attrs, 2, parts));
    }
    for (int i = 0; i < n; i++) TG_TRY(build_axes(s, TG_OP(Squeeze), parts[i], &parts[i]));
    return TG_OK;
}

static bool is_back(const old_scan *s, int i)
{
    const tg_draft *d = s->d;
    for (size_t k = 0; k < d->attrs.n; k++) {
        const tg_attr *a = &d->attrs.v[k].value;
        if (strcmp(d->attrs.v[k].name, "scan_input_directions") != 0) continue;
        return a->kind == TG_ATTR_INTS && (uint32_t)i < a->n && a->ints[i];
    }
    return false;
}

/* What is scanned from its end begins with the last step that counts. */
static tg_status turn_inputs(old_scan *s)
{
    const tg_type *type = tg_build_type(s->d->im->b, s->lengths);
    tg_shape want = tg_shape_of(s->batch);
    if (type->shape.rank < 0) return carried("of unknown shape");
    if (!tg_shape_equal(&type->shape, &want) || type->dtype != TG_I64)
        return tg_fail(TG_SHAPE, "the lengths are not %lld of int64", (long long)s->batch);
    tg_named_attr axes[] = {{"batch_axis", TG_ATTR_OF_INT(0)}, {"time_axis", TG_ATTR_OF_INT(1)}};
    for (int i = 0; i < s->scanned; i++) {
        tg_value *v = &s->d->in.v[1 + s->states + i], in[] = {*v, s->lengths};
        if (is_back(s, i)) TG_TRY(build(s, TG_OP(ReverseSequence), in, 2, 1, axes, 2, v));
    }
    for (size_t k = 0; k < s->d->attrs.n; k++)
        if (strcmp(s->d->attrs.v[k].name, "scan_input_directions") == 0)
            s->d->attrs.v[k].value = (tg_attr){.kind = TG_ATTR_INTS};
    return TG_OK;
}

static tg_status cut_inputs(old_scan *s)
{
    int n = s->states + s->scanned;
    s->parts = TG_NEW_ARRAY(s->d->im->arena, tg_value, (n + 1) * (int)s->batch);
    if (s->lengths != TG_NO_VALUE) TG_TRY(turn_inputs(s));
    for (int i = 0; i < n; i++) TG_TRY(cut(s, s->d->in.v[1 + i], s->parts + i * s->batch));
    return s->lengths == TG_NO_VALUE ? TG_OK : cut(s, s->lengths, s->parts + n * s->batch);
}

/* The body, with all its states as outputs once more at the end, to be stacked. */
static tg_status show_states(const old_scan *s, tg_graph **body)
{
    const tg_node *sink = tg_graph_sink(s->body);
    tg_arena *arena = s->d->im->arena;
    tg_value *out = TG_NEW_ARRAY(arena, tg_value, sink->n_in + s->states + 1);
    const char **names = TG_NEW_ARRAY(arena, const char *, sink->n_in + s->states + 1);
    tg_builder *b = tg_builder_from(s->body);
    tg_status status = TG_OK;
    for (int i = 0; i < sink->n_in; i++) {
        out[i] = sink->in[i];
        names[i] = s->body->output_names[i];
    }
    for (int i = 0; i < s->states && status == TG_OK; i++) {
        uint32_t id = 0;
        tg_node_spec spec = {.op = TG_OP(Identity), .in = &sink->in[i], .n_in = 1};
        status = tg_build_node(b, &spec, &id);
        out[sink->n_in + i] = tg_value_of(id, 0);
        names[sink->n_in + i] = tg_arena_printf(arena, "%s_of_all_steps", names[i]);
    }
    if (status != TG_OK) {
        tg_builder_free(b);
        return status;
    }
    tg_build_outputs(b, out, names, sink->n_in + s->states);
    return tg_build_done(b, body);
}

/* The state behind the last step that counts: the one given where there is none. */
static tg_status pick_state(const old_scan *s, tg_value start, tg_value all, tg_value length,
                            tg_value *state)
{
    tg_named_attr axis = {"axis", TG_ATTR_OF_INT(0)};
    tg_value both[] = {start, all}, picked[2] = {0, length};
    TG_TRY(build_axes(s, TG_OP(Unsqueeze), start, &both[0]));
    TG_TRY(build(s, TG_OP(Concat), both, 2, 1, &axis, 1, &picked[0]));
    return build(s, TG_OP(Gather), picked, 2, 1, &axis, 1, state);
}

/* Zeros where no step counts. */
static tg_status clear_rest(const old_scan *s, tg_value *v, tg_value length)
{
    tg_builder *b = s->d->im->b;
    tg_type type = *tg_build_type(b, *v);
    if (!tg_type_complete(&type)) return carried("of unknown shape");
    tg_shape column = {.rank = type.shape.rank}, one = {.rank = 0};
    int64_t *steps = TG_NEW_ARRAY(s->d->im->arena, int64_t, s->length + 1);
    for (int i = 0; i < column.rank; i++) column.dim[i] = i ? 1 : s->length;
    for (int64_t i = 0; i < s->length; i++) steps[i] = i;
    tg_tensor numbers = {TG_I64, column, steps};
    tg_tensor zero = {type.dtype, one, TG_NEW_ARRAY(s->d->im->arena, int64_t, 4)};
    tg_value less[] = {tg_build_const(b, TG_I64, &column, tg_tensor_weight(&numbers), ""), length};
    tg_value chosen[] = {0, *v, tg_build_const(b, type.dtype, &one, tg_tensor_weight(&zero), "")};
    TG_TRY(build(s, TG_OP(Less), less, 2, 1, NULL, 0, &chosen[0]));
    return build(s, TG_OP(Where), chosen, 3, 1, NULL, 0, v);
}

/* What a Scan made of one sequence, where not all of its steps count. */
static tg_status cut_off(const old_scan *s, int64_t at, const tg_value *in, tg_value *out)
{
    tg_value length = s->parts[(s->states + s->scanned) * s->batch + at];
    for (int i = 0; i < s->states; i++)
        TG_TRY(pick_state(s, in[i], out[s->states + s->stacked + i], length, &out[i]));
    for (int i = 0; i < s->stacked; i++) TG_TRY(clear_rest(s, &out[s->states + i], length));
    return TG_OK;
}

static tg_status scan_one(const old_scan *s, int64_t at)
{
    int n = s->states + s->scanned, n_out = s->states + s->stacked;
    bool partial = s->lengths != TG_NO_VALUE;
    tg_arena *arena = s->d->im->arena;
    tg_value *in = TG_NEW_ARRAY(arena, tg_value, n + s->captured + 1);
    tg_value *out = TG_NEW_ARRAY(arena, tg_value, n_out + s->states + 1);
    for (int i = 0; i < n; i++) in[i] = s->parts[i * s->batch + at];
    for (int i = 0; i < s->captured; i++) in[n + i] = s->d->in.v[1 + n + i];
    TG_TRY(build(s, s->d->op, in, n + s->captured, n_out + (partial ? s->states : 0), s->d->attrs.v,
                 (int)s->d->attrs.n, out));
    if (partial) TG_TRY(cut_off(s, at, in, out));
    for (int i = 0; i < n_out; i++) s->made[i * s->batch + at] = out[i];
    return TG_OK;
}

static tg_status join(const old_scan *s, int i, const char *name, tg_value *out)
{
    static const int64_t first[] = {0};
    tg_value *parts = s->made + i * s->batch;
    bool alone = s->batch == 1;
    for (int64_t k = 0; !alone && k < s->batch; k++)
        TG_TRY(build_axes(s, TG_OP(Unsqueeze), parts[k], &parts[k]));
    uint32_t id;
    tg_named_attr axis = {"axis", TG_ATTR_OF_INT(0)}, axes = {"axes", TG_ATTR_OF_INTS(first, 1)};
    tg_node_spec spec = {.op = alone ? TG_OP(Unsqueeze) : TG_OP(Concat),
                         .in = parts,
                         .n_in = (int)s->batch,
                         .attrs = alone ? &axes : &axis,
                         .n_attrs = 1,
                         .name = i ? NULL : s->d->proto->name,
                         .out_names = &name};
    TG_TRY(tg_build_node(s->d->im->b, &spec, &id));
    *out = tg_value_of(id, 0);
    return TG_OK;
}

static tg_status scan_batch(old_scan *s)
{
    tg_draft *d = s->d;
    TG_TRY(measure(s));
    TG_TRY(cut_inputs(s));
    s->made = TG_NEW_ARRAY(d->im->arena, tg_value, d->n_out * (int)s->batch + 1);
    for (int64_t i = 0; i < s->batch; i++) TG_TRY(scan_one(s, i));
    d->out = TG_NEW_ARRAY(d->im->arena, tg_value, d->n_out + 1);
    for (int i = 0; i < d->n_out; i++) TG_TRY(join(s, i, d->out_names[i], &d->out[i]));
    return TG_OK;
}

tg_status tg_import_old_scan(tg_draft *d, tg_graph **body, int scanned, int captured)
{
    int states = (int)d->in.n - 1 - captured - scanned;
    old_scan s = {.d = d,
                  .body = *body,
                  .states = states,
                  .scanned = scanned,
                  .captured = captured,
                  .stacked = d->n_out - states,
                  .lengths = d->in.v[0]};
    if (s.stacked < 0) return tg_fail(TG_INVALID, "a body has too few outputs");
    if (s.lengths != TG_NO_VALUE) {
        tg_graph *more;
        TG_TRY(show_states(&s, &more));
        tg_graph_unref(*body);
        *body = more;
    }
    tg_vec_push(&d->attrs, (tg_named_attr){"body", TG_ATTR_OF_GRAPH(*body)});
    TG_TRY(scan_batch(&s));
    if (d->im->frame->symbolic) d->im->origin->fixed_dims = true;
    d->built = true;
    return TG_OK;
}
