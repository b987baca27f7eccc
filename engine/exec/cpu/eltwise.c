/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "eltwise.h"

#include "absorb.h"
#include "emit.h"
#include "engine/exec/fold.h"
#include "loop.h"
#include "quant.h"

#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

float tg_attr_or(const tg_node *node, const char *name, float missing)
{
    int i = tg_op_attr_index(node->op, name);
    const tg_attr *a = i < 0 ? NULL : &node->attrs->a[i];
    if (!a || a->kind == TG_ATTR_NONE) return missing;
    return a->kind == TG_ATTR_FLOAT ? a->f : (float)a->i;
}

static tg_status emit_clip(tg_emit *e, const tg_node *node)
{
    int x = tg_emit_input(e, node->in[0]);
    float low = tg_attr_or(node, "min", -FLT_MAX), high = tg_attr_or(node, "max", FLT_MAX);
    /* A bound that is absent must let infinities through. */
    if (low == -FLT_MAX) low = -INFINITY;
    if (high == FLT_MAX) high = INFINITY;
    tg_emit_result(e, node, tg_emit_op(e, TG_V_CLIP, x, x, low, high));
    return TG_OK;
}

static tg_status emit_reciprocal(tg_emit *e, const tg_node *node)
{
    int x = tg_emit_input(e, node->in[0]);
    tg_emit_result(e, node, tg_emit_op(e, TG_V_RDIVK, x, x, 1, 0));
    return TG_OK;
}

static int hard_sigmoid(tg_emit *e, int x, float alpha, float beta)
{
    int y = tg_emit_op(e, TG_V_MULK, x, x, alpha, 0);
    y = tg_emit_op(e, TG_V_ADDK, y, y, beta, 0);
    return tg_emit_op(e, TG_V_CLIP, y, y, 0, 1);
}

static tg_status emit_hardsigmoid(tg_emit *e, const tg_node *node)
{
    int x = tg_emit_input(e, node->in[0]);
    tg_emit_result(
        e, node,
        hard_sigmoid(e, x, tg_attr_or(node, "alpha", 0.2f), tg_attr_or(node, "beta", 0.5f)));
    return TG_OK;
}

static tg_status emit_hardswish(tg_emit *e, const tg_node *node)
{
    int x = tg_emit_input(e, node->in[0]);
    int y = hard_sigmoid(e, x, 1.0f / 6, 0.5f);
    tg_emit_result(e, node, tg_emit_op(e, TG_V_MUL, x, y, 0, 0));
    return TG_OK;
}

/* x / 2 (1 + erf(x / root 2)), or with tanh(root(2 / pi) (x + 0.044715 x^3)). */
static tg_status emit_gelu(tg_emit *e, const tg_node *node)
{
    int x = tg_emit_input(e, node->in[0]), y;
    if (strcmp(tg_node_attr(node, "approximate")->s, "tanh") == 0) {
        y = tg_emit_op(e, TG_V_SQUARE, x, x, 0, 0);
        y = tg_emit_op(e, TG_V_MULK, y, y, 0.044715f, 0);
        y = tg_emit_op(e, TG_V_ADDK, y, y, 1, 0);
        y = tg_emit_op(e, TG_V_MUL, x, y, 0, 0);
        y = tg_emit_op(e, TG_V_MULK, y, y, 0.7978845608f, 0);
        y = tg_emit_op(e, TG_V_TANH, y, y, 0, 0);
    } else {
        y = tg_emit_op(e, TG_V_MULK, x, x, 0.7071067812f, 0);
        y = tg_emit_op(e, TG_V_ERF, y, y, 0, 0);
    }
    y = tg_emit_op(e, TG_V_ADDK, y, y, 1, 0);
    y = tg_emit_op(e, TG_V_MUL, x, y, 0, 0);
    tg_emit_result(e, node, tg_emit_op(e, TG_V_MULK, y, y, 0.5f, 0));
    return TG_OK;
}

static tg_status emit_mish(tg_emit *e, const tg_node *node)
{
    int x = tg_emit_input(e, node->in[0]);
    int y = tg_emit_op(e, TG_V_SOFTPLUS, x, x, 0, 0);
    y = tg_emit_op(e, TG_V_TANH, y, y, 0, 0);
    tg_emit_result(e, node, tg_emit_op(e, TG_V_MUL, x, y, 0, 0));
    return TG_OK;
}

static tg_status emit_swish(tg_emit *e, const tg_node *node)
{
    int x = tg_emit_input(e, node->in[0]);
    int y = tg_emit_op(e, TG_V_MULK, x, x, tg_attr_or(node, "alpha", 1), 0);
    y = tg_emit_op(e, TG_V_SIGMOID, y, y, 0, 0);
    tg_emit_result(e, node, tg_emit_op(e, TG_V_MUL, x, y, 0, 0));
    return TG_OK;
}

static tg_status emit_selu(tg_emit *e, const tg_node *node)
{
    int x = tg_emit_input(e, node->in[0]);
    x = tg_emit_op(e, TG_V_ELU, x, x, tg_attr_or(node, "alpha", 0), 0);
    tg_emit_result(e, node, tg_emit_op(e, TG_V_MULK, x, x, tg_attr_or(node, "gamma", 0), 0));
    return TG_OK;
}

/* max(x, 0) + min(0, alpha (exp(x / alpha) - 1)). */
static tg_status emit_celu(tg_emit *e, const tg_node *node)
{
    float alpha = tg_attr_or(node, "alpha", 1);
    if (!(alpha > 1e-20f && alpha < 1e20f)) return tg_fail(TG_UNSUPPORTED, "alpha %g", alpha);
    int x = tg_emit_input(e, node->in[0]);
    int above = tg_emit_op(e, TG_V_RELU, x, x, 0, 0);
    int y = tg_emit_op(e, TG_V_MULK, x, x, 1 / alpha, 0);
    y = tg_emit_op(e, TG_V_CLIP, y, y, -INFINITY, 0);
    y = tg_emit_op(e, TG_V_ELU, y, y, alpha, 0);
    tg_emit_result(e, node, tg_emit_op(e, TG_V_ADD, above, y, 0, 0));
    return TG_OK;
}

static tg_status emit_mean(tg_emit *e, const tg_node *node)
{
    int y = tg_emit_input(e, node->in[0]);
    for (int i = 1; i < node->n_in; i++)
        y = tg_emit_op(e, TG_V_ADD, y, tg_emit_input(e, node->in[i]), 0, 0);
    tg_emit_result(e, node, tg_emit_op(e, TG_V_MULK, y, y, 1.0f / (float)node->n_in, 0));
    return TG_OK;
}

static tg_status floats_of(tg_cpu_plan *p, tg_value v, const float **x)
{
    tg_operand at;
    TG_TRY(tg_cpu_plain(p, v, &at));
    *x = tg_cpu_constant_data(p, &at);
    return *x ? TG_OK : tg_fail(TG_UNSUPPORTED, "parameters are not constant");
}

tg_status tg_batchnorm_fold(tg_cpu_plan *p, const tg_node *node, tg_operand *factor,
                            tg_operand *term)
{
    const float *scale, *shift, *mean, *variance;
    TG_TRY(floats_of(p, node->in[1], &scale));
    TG_TRY(floats_of(p, node->in[2], &shift));
    TG_TRY(floats_of(p, node->in[3], &mean));
    TG_TRY(floats_of(p, node->in[4], &variance));
    tg_shape shape = tg_cpu_type(p, node->in[1])->shape;
    double epsilon = tg_attr_or(node, "epsilon", 1e-5f);
    size_t n = (size_t)shape.dim[0];
    float *f = tg_calloc(n, sizeof *f), *t = tg_calloc(n, sizeof *t);
    for (size_t i = 0; i < n; i++) {
        double gain = scale[i] / sqrt(variance[i] + epsilon);
        f[i] = (float)gain;
        t[i] = (float)(shift[i] - mean[i] * gain);
    }
    *factor = tg_cpu_constant(p, TG_F32, &shape, f);
    *term = tg_cpu_constant(p, TG_F32, &shape, t);
    free(f);
    free(t);
    return TG_OK;
}

/* A [C] vector as [C, 1, 1 ...], so that it meets axis 1. */
static tg_operand along_channels(tg_operand at, int64_t rank)
{
    int64_t n = at.shape.dim[0];
    at.shape = (tg_shape){.rank = rank - 1};
    for (int i = 0; i < at.shape.rank; i++) at.shape.dim[i] = i ? 1 : n;
    at.layout = tg_layout_plain(&at.shape);
    return at;
}

static tg_status emit_batchnorm(tg_emit *e, const tg_node *node)
{
    tg_operand factor, term;
    int64_t rank = tg_cpu_type(e->p, node->in[0])->shape.rank;
    TG_TRY(tg_batchnorm_fold(e->p, node, &factor, &term));
    factor = along_channels(factor, rank);
    term = along_channels(term, rank);
    int x = tg_emit_input(e, node->in[0]);
    int y = tg_emit_op(e, TG_V_MUL, x, tg_emit_operand(e, &factor), 0, 0);
    tg_emit_result(e, node, tg_emit_op(e, TG_V_ADD, y, tg_emit_operand(e, &term), 0, 0));
    return TG_OK;
}

/* The rounding happens when the elements are stored. */
static tg_status emit_quantize(tg_emit *e, const tg_node *node)
{
    tg_emit_result(e, node, tg_emit_input(e, node->in[0]));
    return TG_OK;
}

#define UNARY(op, v, k0, k1, post) {#op, TG_V_##v, k0, k1, TG_POST_##post, 1, NULL},
#define BINARY(op, v, post) {#op, TG_V_##v, "", "", TG_POST_##post, 2, NULL},
#define SPECIAL(op, function) {#op, TG_V_CODES, "", "", TG_POST_NONE, 0, emit_##function},
#define TG_POST_NONE TG_POST_KINDS
static const tg_eltwise rows[] = {
#include "eltwise.def"
};
#undef UNARY
#undef BINARY
#undef SPECIAL

static const tg_eltwise **row_of;
static pthread_once_t rows_once = PTHREAD_ONCE_INIT;

static void rows_index(void)
{
    row_of = tg_calloc((size_t)tg_op_row_count, sizeof *row_of);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_op op = tg_op_find("", rows[i].name);
        if (op != TG_OP_OPAQUE) row_of[op] = &rows[i];
    }
}

const tg_eltwise *tg_eltwise_of(tg_op op)
{
    pthread_once(&rows_once, rows_index);
    return row_of[op];
}

static bool is_float(const tg_type *t)
{
    return t->dtype == TG_F32 && tg_type_complete(t) && tg_shape_count(&t->shape) > 0;
}

/* Parameters of a batch normalisation must be constant; bounds of a Clip must be attributes. */
static bool extra_inputs_fit(const tg_graph *g, const tg_node *node, const tg_eltwise *row)
{
    if (row->emit == emit_batchnorm) {
        for (int i = 1; i < node->n_in; i++)
            if (!tg_graph_maker(g, node->in[i])->constant) return false;
        return tg_attr_or(node, "training_mode", 0) == 0;
    }
    return row->arity == 2 || row->emit == emit_mean || node->n_in == 1;
}

static bool quantize_fits(const tg_graph *g, const tg_node *node)
{
    tg_code code;
    return !node->constant && is_float(tg_graph_type(g, node->in[0])) &&
           tg_quant_code(g, node, &code) && tg_convert_fits(code.dtype);
}

/* Halves are computed with as floats, and rounded where they leave the program. */
static bool is_real(const tg_type *t)
{
    bool half = t->dtype == TG_F16 || t->dtype == TG_BF16;
    return is_float(t) || (half && tg_type_complete(t) && tg_shape_count(&t->shape) > 0);
}

bool tg_eltwise_fits(const tg_graph *g, const tg_node *node)
{
    const tg_eltwise *row = node->op < tg_op_row_count ? tg_eltwise_of(node->op) : NULL;
    if (row && row->emit == emit_quantize) return quantize_fits(g, node);
    if (!row || node->constant || node->n_out != 1 || !is_real(&node->out[0])) return false;
    if (row->emit == emit_batchnorm && !is_float(&node->out[0])) return false;
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] == TG_NO_VALUE || !is_real(tg_graph_type(g, node->in[i]))) return false;
    return node->n_in > 0 && extra_inputs_fit(g, node, row);
}

static tg_status emit_group(tg_emit *e, const tg_group *group)
{
    for (int i = 0; i < group->n; i++) TG_TRY(tg_emit_node(e, group->nodes[i]));
    return TG_OK;
}

/* Other types' kernels are typed rows; those of floats, sums and norms are not. */
static tg_status plan_typed(tg_cpu_plan *p, const tg_node *node)
{
    const tg_eltwise *row = tg_eltwise_of(node->op);
    char kind = tg_dtype_kind(node->out[0].dtype);
    bool whole = kind == 'i' || kind == 'u' || kind == 'b';
    if (!row || row->emit == emit_batchnorm || row->emit == emit_mean || !whole ||
        tg_cpu_named(node, "Sum") || node->n_out != 1)
        return tg_fail(TG_UNSUPPORTED, "not of floats");
    return tg_cpu_plan_kernel(p, node);
}

tg_status tg_cpu_plan_eltwise(tg_cpu_plan *p, const tg_node *node)
{
    const tg_group *group = p->groups[node->id];
    if (!group && !tg_eltwise_fits(p->g, node)) return plan_typed(p, node);
    tg_emit *e = tg_emit_new(p, group ? group->nodes[group->n - 1] : node);
    tg_status status = group ? emit_group(e, group) : tg_emit_node(e, node);
    if (status == TG_OK) status = tg_emit_done(e, group);
    tg_emit_free(e);
    if (status == TG_OK && group) p->stats->absorbed += group->n - 1;
    return status;
}

tg_status tg_cpu_plan_binary(tg_cpu_plan *p, const tg_node *node)
{
    return tg_cpu_plan_eltwise(p, node);
}

tg_status tg_cpu_plan_batch_norm(tg_cpu_plan *p, const tg_node *node)
{
    return tg_cpu_plan_eltwise(p, node);
}
