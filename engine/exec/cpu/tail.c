/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tail.h"

#include "eltwise.h"

#include <stdlib.h>
#include <string.h>

void tg_operand_none(tg_prim_operands *o)
{
    memset(o, 0, sizeof *o);
    o->src.buffer = o->weights.buffer = o->bias.buffer = o->dst.buffer = -1;
    for (int i = 0; i < TG_MAX_POSTS; i++) o->post[i].buffer = -1;
}

/* A vector of one number a channel: [n]. */
static tg_status as_vector(tg_cpu_plan *p, tg_value v, tg_operand *out)
{
    TG_TRY(tg_cpu_plain(p, v, out));
    tg_shape flat = tg_shape_of(tg_shape_count(&out->shape));
    out->layout = (tg_layout){.offset = out->layout.offset, .stride = {1}};
    out->shape = flat;
    return tg_cpu_padded(p, out, out);
}

/* A vector along an axis of the result: 1 elsewhere. */
static tg_operand along(tg_operand vector, const tg_shape *shape, int axis)
{
    tg_operand at = vector;
    at.shape = (tg_shape){.rank = shape->rank};
    for (int i = 0; i < shape->rank; i++) at.shape.dim[i] = i == axis ? shape->dim[axis] : 1;
    at.layout = tg_layout_plain(&at.shape);
    at.layout.offset = vector.layout.offset;
    return at;
}

static tg_status set_bias(const tg_tail_in *in, tg_value v, tg_prim_spec *spec, tg_prim_operands *o)
{
    TG_TRY(as_vector(in->p, v, &o->bias));
    if (o->bias.shape.dim[0] != in->shape.dim[in->axis])
        return tg_fail(TG_UNSUPPORTED, "not a bias");
    if (spec->kind == TG_PRIM_MATMUL) o->bias = along(o->bias, &in->shape, in->axis);
    spec->bias = tg_cpu_md_plain(&o->bias);
    return TG_OK;
}

static bool is_vector(const tg_tail_in *in, tg_value other)
{
    const tg_shape *s = &tg_cpu_type(in->p, other)->shape;
    return tg_shape_count(s) == in->shape.dim[in->axis] &&
           !tg_shape_equal(s, &in->node->out[0].shape);
}

static tg_status set_other(const tg_tail_in *in, tg_value other, tg_post *post, tg_operand *at)
{
    if (is_vector(in, other)) {
        TG_TRY(as_vector(in->p, other, at));
        *at = along(*at, &in->shape, in->axis);
        post->md = tg_cpu_md(at);
        return TG_OK;
    }
    tg_layout plain = tg_layout_plain(&in->node->out[0].shape);
    bool whole = tg_shape_equal(&in->shape, &in->node->out[0].shape);
    tg_operand value;
    TG_TRY(tg_cpu_value(in->p, other, &value));
    TG_TRY(tg_cpu_move(in->p, &value, whole ? in->layout : &plain, at));
    TG_TRY(tg_cpu_padded(in->p, at, at));
    if (!whole) {
        int64_t offset = at->layout.offset;
        at->shape = in->shape;
        at->layout = *in->layout;
        at->layout.offset = offset;
    }
    post->md = whole ? tg_cpu_md(at) : tg_cpu_md_plain(at);
    return TG_OK;
}

static tg_post *post_add(tg_prim_spec *spec, tg_post_kind kind, float alpha, float beta)
{
    if (spec->n_post == TG_MAX_POSTS) return NULL;
    tg_post *post = &spec->post[spec->n_post++];
    post->kind = (int32_t)kind;
    post->alpha = alpha;
    post->beta = beta;
    return post;
}

static tg_status place_norm(const tg_tail_in *in, const tg_node *norm, tg_prim_spec *spec,
                            tg_prim_operands *o)
{
    tg_operand both[2];
    TG_TRY(tg_batchnorm_fold(in->p, norm, &both[0], &both[1]));
    for (int i = 0; i < 2; i++) {
        tg_post *post = post_add(spec, i ? TG_POST_ADD : TG_POST_MUL, 0, 0);
        if (!post) return tg_fail(TG_UNSUPPORTED, "too long a tail");
        both[i] = along(both[i], &in->shape, in->axis);
        post->md = tg_cpu_md(&both[i]);
        o->post[spec->n_post - 1] = both[i];
    }
    return TG_OK;
}

static bool has_kind(const tg_prim_spec *spec, tg_post_kind kind)
{
    for (int i = 0; i < spec->n_post; i++)
        if (spec->post[i].kind == (int32_t)kind) return true;
    return false;
}

/* A second linear operation as a product and a sum with vectors: see absorb.c. */
static tg_status place_linear(const tg_tail_in *in, const tg_tail_op *op, tg_prim_spec *spec,
                              tg_prim_operands *o)
{
    tg_shape shape = tg_shape_of(in->shape.dim[in->axis]);
    size_t n = (size_t)shape.dim[0];
    float *x = tg_calloc(n, sizeof *x);
    tg_status status = TG_OK;
    for (int part = 0; part < 2 && status == TG_OK; part++) {
        float number = part ? op->beta : op->alpha;
        if (number == (part ? 0 : 1)) continue;
        for (size_t i = 0; i < n; i++) x[i] = number;
        tg_post *post = post_add(spec, part ? TG_POST_ADD : TG_POST_MUL, 0, 0);
        if (!post) {
            status = tg_fail(TG_UNSUPPORTED, "too long a tail");
            break;
        }
        tg_operand at = tg_cpu_constant(in->p, TG_F32, &shape, x);
        at = along(at, &in->shape, in->axis);
        post->md = tg_cpu_md(&at);
        o->post[spec->n_post - 1] = at;
    }
    free(x);
    return status;
}

static tg_status place_op(const tg_tail_in *in, const tg_tail_op *op, tg_prim_spec *spec,
                          tg_prim_operands *o)
{
    if (op->norm) return place_norm(in, op->norm, spec, o);
    if (op->kind == TG_POST_ADD && !spec->n_post && !spec->bias.rank && is_vector(in, op->other))
        return set_bias(in, op->other, spec, o);
    if (op->kind == TG_POST_LINEAR && has_kind(spec, TG_POST_LINEAR))
        return place_linear(in, op, spec, o);
    tg_post *post = post_add(spec, op->kind, op->alpha, op->beta);
    if (!post) return tg_fail(TG_UNSUPPORTED, "too long a tail");
    if (op->other == TG_NO_VALUE) return TG_OK;
    return set_other(in, op->other, post, &o->post[spec->n_post - 1]);
}

/* A fused activation is the first of the post-operations. */
static tg_status place_activation(const tg_node *node, tg_prim_spec *spec)
{
    static const struct {
        const char *name;
        tg_post_kind kind;
    } kinds[] = {{"Relu", TG_POST_RELU}, {"Sigmoid", TG_POST_LOGISTIC}, {"Tanh", TG_POST_TANH}};
    int at = tg_op_attr_index(node->op, "activation");
    const char *name = at < 0 || node->attrs->a[at].kind != TG_ATTR_STR ? "" : node->attrs->a[at].s;
    if (!*name) return TG_OK;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kinds[i].name, name) != 0) continue;
        post_add(spec, kinds[i].kind, 0, 0);
        return TG_OK;
    }
    return tg_fail(TG_UNSUPPORTED, "no activation %s", name);
}

tg_status tg_tail_place(const tg_tail_in *in, tg_prim_spec *spec, tg_prim_operands *o)
{
    if (in->bias != TG_NO_VALUE) TG_TRY(set_bias(in, in->bias, spec, o));
    TG_TRY(place_activation(in->node, spec));
    for (int i = 0; in->group && i < in->group->n_ops; i++)
        TG_TRY(place_op(in, &in->group->ops[i], spec, o));
    return TG_OK;
}
