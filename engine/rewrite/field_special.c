/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Quotients, means and the operators that hold a product or a root inside. */
#include "field_rows.h"

#include "engine/base/hash.h"
#include "engine/ir/value.h"
#include "engine/ops/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static tg_status outside(const tg_node *node, const char *why)
{
    return tg_fail(TG_UNSUPPORTED, "%s with %s is outside the field", tg_op_get(node->op)->name,
                   why);
}

/* ---- quotients and powers -------------------------------------------------------------------- */

static uint64_t divide(void *ctx, const uint64_t *x, int n)
{
    (void)ctx;
    if (!x[n - 1]) return FIELD_PRIME;
    return field_mul(n > 1 ? x[0] : 1, field_inverse(x[n - 1]));
}

tg_status field_quotient(const tg_node *node, uint64_t seed, const tg_tensor *in, tg_tensor *out)
{
    (void)seed;
    return field_map(node, in, out, divide, NULL);
}

tg_status field_reciprocal(const tg_node *node, uint64_t seed, const tg_tensor *in, tg_tensor *out)
{
    (void)seed;
    return field_map(node, in, out, divide, NULL);
}

/* Small whole exponents multiply, a half is the root; any other is an oracle. */
static uint64_t raise(void *ctx, const uint64_t *x, int n)
{
    enum { SMALL = 16 };
    const uint64_t *seed = ctx;
    uint64_t half = (FIELD_PRIME + 1) / 2, e = x[1], y;
    (void)n;
    bool below = FIELD_PRIME - e <= SMALL || FIELD_PRIME - e == half;
    if (below) e = FIELD_PRIME - e;
    if (e <= SMALL) y = field_power(x[0], e);
    else if (e == half) y = field_ask("Sqrt", *seed, x[0]);
    else return field_ask("Pow", tg_hash_add(*seed, e), x[0]);
    if (!below) return y;
    return y ? field_inverse(y) : FIELD_PRIME;
}

tg_status field_power_of(const tg_node *node, uint64_t seed, const tg_tensor *in, tg_tensor *out)
{
    return field_map(node, in, out, raise, &seed);
}

/* ---- means ---------------------------------------------------------------------------------- */

/*
 * Runs the kernel of a mean over at most `most` elements. It rounds a quotient s / n once, so that
 * `times` of it, where n divides `times`, is whole but for less than a half.
 */
static tg_status mean(const tg_node *node, const tg_tensor *in, tg_tensor *out, double times)
{
    TG_TRY(field_kernel(node, 0, in, out));
    uint64_t count, r;
    TG_TRY(field_residue(times, &count));
    if (!count) return tg_fail(TG_INVALID, "a division by 0");
    double *y = out[0].data;
    for (int64_t i = 0, n = tg_tensor_count(&out[0]); i < n; i++) {
        double sum = y[i] * times;
        if (!(fabs(sum) < 0x1p51))
            return tg_fail(TG_LIMIT, "%s: a sum passes 2^51", tg_op_get(node->op)->name);
        TG_TRY(field_residue(nearbyint(sum), &r));
        y[i] = (double)field_mul(r, field_inverse(count));
    }
    return TG_OK;
}

tg_status field_mean(const tg_node *node, uint64_t seed, const tg_tensor *in, tg_tensor *out)
{
    (void)seed;
    return mean(node, in, out, node->n_in);
}

tg_status field_mean_of_axes(const tg_node *node, uint64_t seed, const tg_tensor *in,
                             tg_tensor *out)
{
    (void)seed;
    int64_t from = tg_tensor_count(&in[0]);
    int64_t to = tg_type_complete(&node->out[0]) ? tg_shape_count(&node->out[0].shape) : 0;
    if (from < 1 || to < 1 || from % to) return outside(node, "nothing to average");
    return mean(node, in, out, (double)(from / to));
}

/* The least number that all up to n divide. */
static double common_multiple(int64_t n)
{
    double all = 1;
    for (int64_t i = 2; i <= n && all < 0x1p51; i++) {
        double k = 1;
        while (fmod(k * all, (double)i) != 0) k++;
        all *= k;
    }
    return all;
}

/* At a border fewer elements meet: how many is between 1 and all. */
tg_status field_pool(const tg_node *node, uint64_t seed, const tg_tensor *in, tg_tensor *out)
{
    (void)seed;
    const tg_attr *kernel = tg_node_attr(node, "kernel_shape");
    int64_t n = 1;
    for (uint32_t i = 0; i < kernel->n; i++) n *= kernel->ints[i];
    bool full = !tg_node_attr(node, "ceil_mode")->i;
    const tg_attr *pads = tg_node_attr(node, "pads");
    for (uint32_t i = 0; i < pads->n; i++) full = full && !pads->ints[i];
    return mean(node, in, out, full ? (double)n : common_multiple(n));
}

/* ---- products ------------------------------------------------------------------------------- */

static tg_status scaled(const tg_tensor *t, double factor, tg_tensor *out)
{
    uint64_t f;
    TG_TRY(field_residue(factor, &f));
    *out = tg_tensor_copy(t);
    double *x = out->data;
    for (int64_t i = 0, n = x ? tg_tensor_count(out) : 0; i < n; i++)
        x[i] = (double)field_mul((uint64_t)x[i], f);
    return TG_OK;
}

static tg_attrs *with_floats(const tg_node *node, float x)
{
    tg_attr a[16];
    for (uint32_t i = 0; i < node->attrs->n && i < 16; i++) {
        a[i] = node->attrs->a[i];
        if (a[i].kind == TG_ATTR_FLOAT) a[i].f = x;
    }
    return tg_attrs_new(a, node->attrs->n);
}

/* alpha and beta scale the operands, so that no product has three large factors. */
tg_status field_gemm(const tg_node *node, uint64_t seed, const tg_tensor *in, tg_tensor *out)
{
    (void)seed;
    tg_tensor own[3] = {{0}, in[1], {0}};
    TG_TRY(scaled(&in[0], tg_node_attr(node, "alpha")->f, &own[0]));
    tg_status status = TG_OK;
    bool added = node->n_in > 2 && in[2].data;
    if (added) status = scaled(&in[2], tg_node_attr(node, "beta")->f, &own[2]);
    added = added && status == TG_OK;
    tg_attrs *attrs = with_floats(node, 1);
    if (status == TG_OK) status = field_kernel_with(node, attrs, own, out);
    tg_attrs_unref(attrs);
    tg_tensor_free(&own[0]);
    if (added) tg_tensor_free(&own[2]);
    return status == TG_OK ? field_reduce(node, out) : status;
}

/* A fused activation is the operator of its name. */
static void activate(const char *name, uint64_t seed, tg_tensor *t)
{
    double *x = t->data;
    for (int64_t i = 0, n = tg_tensor_count(t); i < n; i++)
        x[i] = (double)field_ask(name, seed, (uint64_t)x[i]);
}

static tg_attrs *without(const tg_node *node, const char *name)
{
    tg_attr a[16];
    int index = tg_op_attr_index(node->op, name);
    memcpy(a, node->attrs->a, node->attrs->n * sizeof *a);
    a[index] = tg_attr_str("");
    return tg_attrs_new(a, node->attrs->n);
}

tg_status field_conv(const tg_node *node, uint64_t seed, const tg_tensor *in, tg_tensor *out)
{
    tg_attrs *plain = without(node, "activation");
    tg_status status = field_kernel_with(node, plain, in, out);
    if (status == TG_OK) status = field_reduce(node, out);
    const tg_attr *activation = tg_node_attr(node, "activation");
    if (status == TG_OK && activation->n) activate(activation->s, seed, &out[0]);
    tg_attrs_unref(plain);
    return status;
}

tg_status field_scatter(const tg_node *node, uint64_t seed, const tg_tensor *in, tg_tensor *out)
{
    const char *how = tg_node_attr(node, "reduction")->s;
    if (strcmp(how, "none") != 0 && strcmp(how, "add") != 0) return outside(node, how);
    return field_ring(node, seed, in, out);
}

/* The four numbers of a channel; the root is the oracle of Sqrt. */
typedef struct channel {
    uint64_t scale, shift, mean;
} channel;

static tg_status channel_of(const tg_node *node, uint64_t seed, const tg_tensor *in, int64_t c,
                            channel *out)
{
    uint64_t v[5] = {0}, epsilon;
    TG_TRY(field_residue(tg_node_attr(node, "epsilon")->f, &epsilon));
    for (int i = 1; i < 5; i++) v[i] = (uint64_t)((const double *)in[i].data)[c];
    uint64_t root = field_ask("Sqrt", seed, (v[4] + epsilon) % FIELD_PRIME);
    if (!root) return tg_fail(TG_INVALID, "a division by 0");
    *out = (channel){field_mul(v[1], field_inverse(root)), v[2], v[3]};
    return TG_OK;
}

tg_status field_batch_norm(const tg_node *node, uint64_t seed, const tg_tensor *in, tg_tensor *out)
{
    if (tg_node_attr(node, "training_mode")->i || node->n_out > 1) return outside(node, "training");
    out[0] = tg_tensor_copy(&in[0]);
    const tg_shape *s = &in[0].shape;
    int64_t channels = s->rank > 1 ? s->dim[1] : 1, plane = 1, n = tg_tensor_count(&out[0]);
    for (int i = 2; i < s->rank; i++) plane *= s->dim[i];
    double *y = out[0].data;
    for (int64_t c = 0; c < channels; c++) {
        channel k;
        TG_TRY(channel_of(node, seed, in, c, &k));
        for (int64_t i = 0; i < n; i++) {
            if (i / plane % channels != c) continue;
            uint64_t d = (uint64_t)y[i] + FIELD_PRIME - k.mean;
            y[i] = (double)((field_mul(d % FIELD_PRIME, k.scale) + k.shift) % FIELD_PRIME);
        }
    }
    return TG_OK;
}

/* ---- what passes through --------------------------------------------------------------------- */

/* While a model is used it changes nothing. */
tg_status field_dropout(const tg_node *node, uint64_t seed, const tg_tensor *in, tg_tensor *out)
{
    (void)seed;
    if (node->n_out > 1 || tg_node_attr(node, "training_mode")->i) return outside(node, "training");
    out[0] = tg_tensor_copy(&in[0]);
    return TG_OK;
}

/* To double nothing is lost; any other rounding of reals is an oracle. */
tg_status field_cast(const tg_node *node, uint64_t seed, const tg_tensor *in, tg_tensor *out)
{
    tg_dtype to = node->out[0].dtype;
    if (tg_dtype_kind(to) != 'f' || tg_dtype_kind(in[0].dtype) != 'f')
        return outside(node, "integers");
    if (to != TG_F64) return field_oracle(node, tg_hash_add(seed, (uint64_t)to), in, out);
    out[0] = tg_tensor_copy(&in[0]);
    return TG_OK;
}
