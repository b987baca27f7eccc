/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quantising and back, by one scale or many. */
#include "quant.h"

#include "emit.h"
#include "engine/exec/fold.h"
#include "loop.h"

#include <math.h>
#include <string.h>

/* The only element of a constant as a float. */
static bool constant_number(const tg_graph *g, tg_value v, float *x)
{
    tg_weight *weight;
    const tg_type *t = tg_graph_type(g, v);
    if (!tg_graph_maker(g, v)->constant || !tg_type_complete(t) || tg_shape_count(&t->shape) != 1)
        return false;
    if (tg_fold_value(g, v, &weight) != TG_OK) return false;
    tg_tensor one = {t->dtype, t->shape, (void *)(uintptr_t)weight->data};
    *x = (float)tg_tensor_f64(&one, 0);
    tg_weight_unref(weight);
    return true;
}

bool tg_quant_code(const tg_graph *g, const tg_node *node, tg_code *code)
{
    bool makes = tg_cpu_named(node, "QuantizeLinear");
    if (!makes && !tg_cpu_named(node, "DequantizeLinear")) return false;
    const tg_type *in = tg_graph_type(g, node->in[0]), *out = &node->out[0];
    const tg_type *whole = makes ? out : in, *real = makes ? in : out;
    *code = (tg_code){whole->dtype, true, 1, 0};
    if (real->dtype != TG_F32 || !tg_type_complete(out)) return false;
    if (tg_dtype_kind(whole->dtype) == 'q') return false;
    if (tg_graph_type(g, node->in[1])->dtype != TG_F32) return false;
    if (!constant_number(g, node->in[1], &code->scale)) return false;
    if (node->n_in < 3 || node->in[2] == TG_NO_VALUE) return true;
    return constant_number(g, node->in[2], &code->zero);
}

bool tg_quant_is_lazy(const tg_graph *g, const tg_node *node)
{
    return !node->constant && tg_cpu_named(node, "DequantizeLinear") &&
           tg_type_complete(&node->out[0]) && tg_type_complete(tg_graph_type(g, node->in[0]));
}

bool tg_quant_source(const tg_graph *g, tg_value v, tg_value *from, tg_code *code)
{
    const tg_node *node = tg_graph_maker(g, v);
    if (!tg_quant_is_lazy(g, node) || !tg_quant_code(g, node, code)) return false;
    *from = node->in[0];
    return true;
}

bool tg_quant_weight(const tg_graph *g, tg_value v, int64_t axis)
{
    const tg_node *node = tg_graph_maker(g, v);
    if (!tg_cpu_named(node, "DequantizeLinear") || node->out[0].dtype != TG_F32) return false;
    if (!tg_type_complete(&node->out[0]) || !tg_quant_is_byte(tg_graph_type(g, node->in[0])->dtype))
        return false;
    const tg_type *scale = tg_graph_type(g, node->in[1]);
    int64_t given = tg_node_attr(node, "axis")->i;
    if (given < 0) given += node->out[0].shape.rank;
    if (scale->dtype != TG_F32 || !tg_type_complete(scale)) return false;
    return tg_shape_count(&scale->shape) == 1 ||
           (given == axis && tg_node_attr(node, "block_size")->i == 0);
}

bool tg_quant_out_given(const tg_graph *g, const tg_node *node, tg_value scale, tg_value zero,
                        tg_quant_out *out)
{
    *out = (tg_quant_out){node, {node->out[0].dtype, true, 1, 0}, -INFINITY, INFINITY};
    if (tg_graph_type(g, scale)->dtype != TG_F32) return false;
    return constant_number(g, scale, &out->code.scale) && constant_number(g, zero, &out->code.zero);
}

bool tg_quant_out_of(const tg_cpu_plan *p, const tg_node *node, tg_quant_out *out)
{
    const tg_group *group = p->groups[node->id];
    *out = (tg_quant_out){node, {TG_F32, false, 1, 0}, -INFINITY, INFINITY};
    const tg_attr *activation = tg_cpu_attr(node, "activation");
    bool plain = !activation || !*activation->s;
    if (node->out[0].dtype != TG_F32 || (!plain && strcmp(activation->s, "Relu") != 0))
        return false;
    if (!plain) out->low = 0;
    for (int i = 0; group && i < group->n_ops; i++) {
        const tg_tail_op *op = &group->ops[i];
        bool relu = op->kind == TG_POST_RELU && op->alpha == 0;
        if (op->norm || (!relu && op->kind != TG_POST_CLIP)) return false;
        float low = relu ? 0 : op->alpha, high = relu ? INFINITY : op->beta;
        /* What was cut to [low, high] before is cut again. */
        out->low = fminf(fmaxf(out->low, low), high);
        out->high = fminf(fmaxf(out->high, low), high);
    }
    if (!group) return true;
    out->last = group->nodes[group->n - 1];
    return !group->quantize || tg_quant_code(p->g, group->quantize, &out->code);
}

bool tg_quant_anchor(const tg_graph *g, const tg_node *node)
{
    tg_value from;
    tg_code code;
    bool conv = tg_cpu_named(node, "Conv");
    if (!conv && !tg_cpu_named(node, "MatMul") && !tg_cpu_named(node, "Gemm")) return false;
    if (node->constant || !tg_quant_source(g, node->in[0], &from, &code)) return false;
    int64_t rank = tg_graph_type(g, node->in[1])->shape.rank, axis = conv ? 0 : rank - 1;
    const tg_attr *across = tg_cpu_attr(node, "transB");
    if (across && across->i) axis = 0;
    return tg_quant_is_byte(code.dtype) && tg_quant_weight(g, node->in[1], axis);
}

/* ---- scales along an axis, in blocks, or not constant ---- */

typedef struct scaled {
    tg_fold3 x;
    int64_t scales, block, scale_dim; /* scales: 1, or one an index (block 0), or blocks of them */
    tg_dtype whole;
    bool makes, has_zero;
} scaled;

/* One row of elements that share a scale. */
static void scaled_row(const scaled *k, const tg_code *code, const char *from, char *to, int64_t n)
{
    enum { BLOCK = 256 };
    float x[BLOCK + 16];
    int64_t size = (int64_t)tg_dtype_size(k->whole);
    for (int64_t done = 0; done < n; done += BLOCK) {
        int m = n - done < BLOCK ? (int)(n - done) : BLOCK;
        if (k->makes) {
            memcpy(x, (const float *)from + done, sizeof(float) * (size_t)m);
            tg_convert_store(code, x, m, to + done * size, 1);
        } else {
            int whole = m / 16 * 16; /* what is not must not be read beyond its end */
            tg_convert_load(code, from + done * size, 1, whole, x);
            for (int i = whole; i < m; i++)
                tg_convert_load(code, from + (done + i) * size, 0, 1, x + i);
            memcpy((float *)to + done, x, sizeof(float) * (size_t)m);
        }
    }
}

static tg_code code_at(const scaled *k, const float *scale, const tg_tensor *zero, int64_t i)
{
    return (tg_code){k->whole, true, scale[i],
                     k->has_zero ? (float)tg_tensor_f64(zero, k->scales > 1 ? i : 0) : 0};
}

static tg_status run_scaled(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const scaled *k = step->own;
    const tg_node *node = step->node;
    tg_tensor zero = {k->whole, {.rank = 1, .dim = {k->scales}}, k->has_zero ? ptr[2] : NULL};
    int64_t from_size = k->makes ? (int64_t)sizeof(float) : (int64_t)tg_dtype_size(k->whole);
    int64_t to_size = k->makes ? (int64_t)tg_dtype_size(k->whole) : (int64_t)sizeof(float);
    const char *from = ptr[0];
    char *to = ptr[node->n_in];
    /* Scales that change with each element make rows of one. */
    int64_t row = k->block ? 1 : k->x.inner;
    for (int64_t o = 0; o < k->x.outer; o++) {
        for (int64_t a = 0; a < k->x.dim; a++) {
            for (int64_t i = 0; i < k->x.inner; i += row, from += row * from_size) {
                int64_t at = k->block ? (o * k->scale_dim + a / k->block) * k->x.inner + i : a;
                tg_code code = code_at(k, ptr[1], &zero, k->scales > 1 ? at : 0);
                scaled_row(k, &code, from, to, row);
                to += row * to_size;
            }
        }
    }
    return TG_OK;
}

static tg_status plan_scaled(tg_cpu_plan *p, const tg_node *node)
{
    const tg_type *scale = tg_cpu_type(p, node->in[1]);
    bool makes = tg_cpu_named(node, "QuantizeLinear");
    tg_type real = makes ? *tg_cpu_type(p, node->in[0]) : node->out[0];
    if (real.dtype != TG_F32 || scale->dtype != TG_F32)
        return tg_fail(TG_UNSUPPORTED, "not of floats");
    tg_dtype whole = makes ? node->out[0].dtype : tg_cpu_type(p, node->in[0])->dtype;
    if (tg_dtype_kind(whole) == 'q') return tg_fail(TG_UNSUPPORTED, "narrow numbers");
    int64_t axis = tg_node_attr(node, "axis")->i;
    if (axis < 0) axis += real.shape.rank;
    scaled k = {.x = tg_cpu_fold3(&real.shape, axis), .scales = tg_shape_count(&scale->shape)};
    k.block = tg_node_attr(node, "block_size")->i;
    if (k.block) k.scale_dim = scale->shape.dim[axis];
    k.makes = makes;
    k.whole = whole;
    k.has_zero = node->n_in > 2 && node->in[2] != TG_NO_VALUE;
    if (k.scales == 1 && !k.block) k.x = (tg_fold3){1, 1, tg_shape_count(&real.shape)};
    return tg_cpu_loop(p, node, run_scaled, &k, sizeof k, 0);
}

tg_status tg_cpu_plan_dequantize(tg_cpu_plan *p, const tg_node *node)
{
    tg_value from;
    tg_code code;
    tg_value v = tg_value_of(node->id, 0);
    if (!tg_quant_source(p->g, v, &from, &code) || !tg_convert_fits(code.dtype) ||
        !tg_cpu_is_float(p, v))
        return plan_scaled(p, node);
    tg_emit *e = tg_emit_new(p, node);
    tg_emit_result(e, node, tg_emit_input(e, v));
    tg_status status = e->status == TG_OK ? tg_emit_done(e, NULL) : e->status;
    tg_emit_free(e);
    return status;
}

tg_status tg_cpu_plan_quantize(tg_cpu_plan *p, const tg_node *node)
{
    tg_status status = tg_cpu_plan_eltwise(p, node);
    return status == TG_UNSUPPORTED && !p->groups[node->id] ? plan_scaled(p, node) : status;
}

/* ---- by the range of the input ---- */

typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));

static void range_of(const float *x, int64_t n, float *low, float *high)
{
    lanes l = {0}, h = {0};
    int64_t i = 0;
    *low = *high = 0;
    for (; i + 16 <= n; i += 16) {
        lanes v = *(const lanes *)(x + i);
        for (int k = 0; k < 16; k++) l[k] = v[k] < l[k] ? v[k] : l[k];
        for (int k = 0; k < 16; k++) h[k] = v[k] > h[k] ? v[k] : h[k];
    }
    for (int k = 0; k < 16; k++) {
        if (l[k] < *low) *low = l[k];
        if (h[k] > *high) *high = h[k];
    }
    for (; i < n; i++) {
        if (x[i] < *low) *low = x[i];
        if (x[i] > *high) *high = x[i];
    }
}

static tg_status run_dynamic(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const int64_t n = *(const int64_t *)step->own;
    float low, high;
    range_of(ptr[0], n, &low, &high);
    float scale = (high - low) / 255.0f;
    if (scale == 0) scale = 1;
    float zero = rintf(0 - low / scale);
    zero = zero > 255 ? 255 : zero;
    scaled k = {.whole = TG_U8, .makes = true};
    tg_code code = {TG_U8, true, scale, zero};
    scaled_row(&k, &code, ptr[0], ptr[1], n);
    if (step->node->n_out > 1) *(float *)ptr[2] = scale;
    if (step->node->n_out > 2) *(uint8_t *)ptr[3] = (uint8_t)zero;
    return TG_OK;
}

tg_status tg_cpu_plan_dynamic_quantize(tg_cpu_plan *p, const tg_node *node)
{
    int64_t n = tg_shape_count(&node->out[0].shape);
    return tg_cpu_loop(p, node, run_dynamic, &n, sizeof n, 0);
}
