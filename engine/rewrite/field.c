/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "field_rows.h"

#include "engine/base/hash.h"
#include "engine/ir/eval.h"
#include "engine/ops/broadcast.h"
#include "engine/ops/ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    tg_op op;
    field_function *eval;
} specials[] = {
#define FIELD(op, function, bound) {TG_OP(op), field_##function},
#include "field.def"
#undef FIELD
};

static field_function *special_of(tg_op op)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (specials[i].op == op) return specials[i].eval;
    return NULL;
}

bool field_is_oracle(tg_op op)
{
    const tg_op_row *row = tg_op_get(op);
    return row->flags & TG_ELTWISE && !(row->flags & (TG_RING | TG_RANDOM)) && !special_of(op);
}

bool field_knows(tg_op op)
{
    if (op < TG_OP_FIRST_REAL) return false;
    return tg_op_get(op)->flags & TG_RING || special_of(op) || field_is_oracle(op);
}

/* ---- numbers -------------------------------------------------------------------------------- */

uint64_t field_mul(uint64_t x, uint64_t y)
{
    return x * y % FIELD_PRIME;
}

uint64_t field_power(uint64_t x, uint64_t n)
{
    uint64_t result = 1;
    for (; n; n >>= 1, x = field_mul(x, x))
        if (n & 1) result = field_mul(result, x);
    return result;
}

uint64_t field_inverse(uint64_t x)
{
    return field_power(x, FIELD_PRIME - 2);
}

/* x is whole and below 2^53. */
static uint64_t whole(double x)
{
    int64_t r = (int64_t)x % FIELD_PRIME;
    return (uint64_t)(r < 0 ? r + FIELD_PRIME : r);
}

tg_status field_residue(double x, uint64_t *out)
{
    if (!isfinite(x)) return tg_fail(TG_UNSUPPORTED, "%g has no residue", x);
    int exponent;
    uint64_t m = whole(ldexp(frexp(x, &exponent), 53));
    exponent -= 53;
    uint64_t scale = field_power(2, (uint64_t)abs(exponent));
    *out = field_mul(m, exponent < 0 ? field_inverse(scale) : scale);
    return TG_OK;
}

void field_draw(tg_rng *rng, const tg_shape *shape, tg_tensor *out)
{
    *out = (tg_tensor){TG_F64, *shape, NULL};
    double *x = out->data = tg_calloc(1, tg_tensor_bytes(out) + 1);
    for (int64_t i = 0, n = tg_tensor_count(out); i < n; i++)
        x[i] = (double)tg_rng_below(rng, FIELD_PRIME);
}

static bool is_real(tg_dtype t)
{
    return tg_dtype_kind(t) == 'f';
}

tg_status field_embed(const tg_tensor *t, tg_tensor *out)
{
    tg_tensor made = {TG_F64, t->shape, NULL};
    if (!is_real(t->dtype)) {
        *out = tg_tensor_copy(t);
        return TG_OK;
    }
    double *x = made.data = tg_calloc(1, tg_tensor_bytes(&made) + 1);
    tg_status status = TG_OK;
    for (int64_t i = 0, n = tg_tensor_count(t); i < n && status == TG_OK; i++) {
        uint64_t r = 0;
        status = field_residue(tg_tensor_f64(t, i), &r);
        x[i] = (double)r;
    }
    if (status == TG_OK) *out = made;
    else free(made.data);
    return status;
}

/* ---- the kernel on residues ------------------------------------------------------------------ */

tg_status field_kernel_with(const tg_node *node, const tg_attrs *attrs, const tg_tensor *in,
                            tg_tensor *out)
{
    tg_type types[TG_MAX_PORTS];
    for (int i = 0; i < node->n_out; i++) {
        types[i] = node->out[i];
        if (is_real(types[i].dtype)) types[i].dtype = TG_F64;
    }
    const tg_node wide = {.id = node->id,
                          .op = node->op,
                          .n_in = node->n_in,
                          .n_out = node->n_out,
                          .attrs = attrs,
                          .name = node->name,
                          .in = node->in,
                          .out = types,
                          .out_name = node->out_name};
    return tg_node_eval(&wide, in, out);
}

/* Floats among the attributes are coefficients. NULL: there are none. */
static tg_status residues_of(const tg_attrs *attrs, tg_attrs **out)
{
    tg_attr a[64];
    bool any = false;
    *out = NULL;
    if (attrs->n > 64) return tg_fail(TG_LIMIT, "too many attributes");
    for (uint32_t i = 0; i < attrs->n; i++) {
        a[i] = attrs->a[i];
        if (a[i].kind == TG_ATTR_FLOATS)
            return tg_fail(TG_UNSUPPORTED, "a list of floats is outside the field");
        if (a[i].kind != TG_ATTR_FLOAT) continue;
        uint64_t r;
        TG_TRY(field_residue(a[i].f, &r));
        a[i].f = (float)r; /* below 2^24: exact */
        any = true;
    }
    if (any) *out = tg_attrs_new(a, attrs->n);
    return TG_OK;
}

tg_status field_kernel(const tg_node *node, uint64_t seed, const tg_tensor *in, tg_tensor *out)
{
    (void)seed;
    tg_attrs *attrs;
    TG_TRY(residues_of(node->attrs, &attrs));
    tg_status status = field_kernel_with(node, attrs ? attrs : node->attrs, in, out);
    tg_attrs_unref(attrs);
    return status;
}

/*
 * Terms are all natural numbers (or there is one, of either sign), so that no partial sum is larger
 * than the result: a result below 2^53 was reached without rounding.
 */
tg_status field_reduce(const tg_node *node, tg_tensor *out)
{
    for (int i = 0; i < node->n_out; i++) {
        if (!is_real(out[i].dtype)) continue;
        double *x = out[i].data;
        for (int64_t k = 0, n = tg_tensor_count(&out[i]); k < n; k++) {
            if (!(fabs(x[k]) < 0x1p53))
                return tg_fail(TG_LIMIT, "%s: a sum passes 2^53", tg_op_get(node->op)->name);
            x[k] = (double)whole(x[k]);
        }
    }
    return TG_OK;
}

tg_status field_ring(const tg_node *node, uint64_t seed, const tg_tensor *in, tg_tensor *out)
{
    TG_TRY(field_kernel(node, seed, in, out));
    return field_reduce(node, out);
}

/* ---- pointwise ------------------------------------------------------------------------------ */

static tg_status need_real(const tg_node *node, const tg_tensor *in)
{
    bool real = node->n_out == 1 && is_real(node->out[0].dtype);
    for (int i = 0; i < node->n_in; i++)
        if (in[i].data && !is_real(in[i].dtype)) real = false;
    if (real) return TG_OK;
    return tg_fail(TG_UNSUPPORTED, "%s is outside the field here", tg_op_get(node->op)->name);
}

static tg_status map_shape(const tg_shape *const *shapes, int n, tg_shape *out)
{
    *out = (tg_shape){0};
    for (int i = 0; i < n; i++) TG_TRY(tg_shape_broadcast(out, shapes[i], out));
    return TG_OK;
}

tg_status field_map(const tg_node *node, const tg_tensor *in, tg_tensor *out, field_pointwise *f,
                    void *ctx)
{
    TG_TRY(need_real(node, in));
    const tg_shape *shapes[TG_BROADCAST_MAX];
    const double *x[TG_BROADCAST_MAX];
    int n = 0;
    for (int i = 0; i < node->n_in; i++) {
        if (!in[i].data) continue;
        if (n == TG_BROADCAST_MAX)
            return tg_fail(TG_UNSUPPORTED, "a function of more than %d values", n);
        shapes[n] = &in[i].shape;
        x[n++] = in[i].data;
    }
    out[0].dtype = TG_F64;
    TG_TRY(map_shape(shapes, n, &out[0].shape));
    double *y = out[0].data = tg_calloc(1, tg_tensor_bytes(&out[0]) + 1);
    tg_broadcast b;
    for (tg_broadcast_start(&b, &out[0].shape, shapes, n); b.rows; tg_broadcast_next(&b))
        for (int64_t i = 0; i < b.n; i++) {
            uint64_t v[TG_BROADCAST_MAX];
            for (int k = 0; k < n; k++) v[k] = (uint64_t)x[k][b.at[k] + i * b.step[k]];
            uint64_t r = f(ctx, v, n);
            if (r == FIELD_PRIME) return tg_fail(TG_INVALID, "a division by 0");
            y[b.to + i] = (double)r;
        }
    return TG_OK;
}

typedef struct oracle {
    uint64_t key;
    bool commutes;
} oracle;

static uint64_t ask(void *ctx, const uint64_t *x, int n)
{
    const oracle *o = ctx;
    uint64_t h = o->key;
    bool swap = o->commutes && n > 1 && x[0] > x[1];
    for (int i = 0; i < n; i++) h = tg_hash_add(h, x[swap && i < 2 ? 1 - i : i]);
    return h % FIELD_PRIME;
}

/* Of attributes, each counts; of inputs, which ones are there. */
static uint64_t oracle_key(const char *name, uint64_t seed, const tg_attrs *attrs)
{
    uint64_t key = tg_hash_str(seed, name);
    for (uint32_t i = 0; attrs && i < attrs->n; i++) key = tg_attr_hash(key, &attrs->a[i]);
    return key;
}

tg_status field_oracle(const tg_node *node, uint64_t seed, const tg_tensor *in, tg_tensor *out)
{
    const tg_op_row *row = tg_op_get(node->op);
    oracle o = {oracle_key(row->name, seed, node->attrs), (row->flags & TG_COMMUTES) != 0};
    for (int i = 0; i < node->n_in; i++) o.key = tg_hash_add(o.key, in[i].data != NULL);
    return field_map(node, in, out, ask, &o);
}

uint64_t field_ask(const char *name, uint64_t seed, uint64_t x)
{
    oracle o = {tg_hash_add(oracle_key(name, seed, NULL), true), false};
    return ask(&o, &x, 1);
}

/* ---- a node --------------------------------------------------------------------------------- */

/* Nothing real goes in: what comes out is computed as ever, and embedded. */
static tg_status from_integers(const tg_node *node, const tg_tensor *in, tg_tensor *out)
{
    TG_TRY(tg_node_eval(node, in, out));
    for (int i = 0; i < node->n_out; i++) {
        if (!is_real(out[i].dtype)) continue;
        tg_tensor real;
        TG_TRY(field_embed(&out[i], &real));
        tg_tensor_free(&out[i]);
        out[i] = real;
    }
    return TG_OK;
}

static tg_status evaluate(const tg_node *node, uint64_t seed, const tg_tensor *in, tg_tensor *out)
{
    const tg_op_row *row = tg_op_get(node->op);
    bool real = false;
    for (int i = 0; i < node->n_in; i++) real |= in[i].data && is_real(in[i].dtype);
    if (row->flags & (TG_RANDOM | TG_BODIES | TG_TAKES_LISTS | TG_GIVES_LISTS) &&
        !(row->flags & TG_RING))
        return tg_fail(TG_UNSUPPORTED, "%s is outside the field", row->name);
    if (!real) return from_integers(node, in, out);
    field_function *special = special_of(node->op);
    if (special) return special(node, seed, in, out);
    if (row->flags & TG_RING) return field_ring(node, seed, in, out);
    if (field_is_oracle(node->op)) return field_oracle(node, seed, in, out);
    return tg_fail(TG_UNSUPPORTED, "%s is outside the field", row->name);
}

tg_status field_eval(const tg_node *node, uint64_t seed, const tg_tensor *in, tg_tensor *out)
{
    if (node->op < TG_OP_FIRST_REAL)
        return tg_fail(TG_UNSUPPORTED, "%s is outside the field", tg_op_get(node->op)->name);
    memset(out, 0, node->n_out * sizeof *out);
    tg_status status = evaluate(node, seed, in, out);
    if (status == TG_OK) return TG_OK;
    for (int i = 0; i < node->n_out; i++) tg_tensor_free(&out[i]);
    return status;
}
