/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What carries a state from token to token: LinearAttention, whose state is a matrix for each head,
 * and CausalConvWithState, whose state is the end of its input.
 */
#include "compute.h"

#include <math.h>
#include <string.h>

/* ---- LinearAttention ---- */

enum { QUERY, KEY, VALUE, PAST, DECAY, BETA };

/* Does the rule let the state decay, and does it correct what it writes? */
static bool decays(const char *rule)
{
    return strncmp(rule, "gated", 5) == 0;
}

static bool corrects(const char *rule)
{
    return strcmp(rule, "delta") == 0 || strcmp(rule, "gated_delta") == 0;
}

static tg_status check_rule(tg_infer *infer)
{
    const char *rule = tg_infer_attr(infer, "update_rule")->s;
    if (strcmp(rule, "linear") != 0 && strcmp(rule, "gated") != 0 && !corrects(rule))
        return tg_fail(TG_INVALID, "attribute update_rule is '%s'", rule);
    if (has_type(infer, DECAY) != decays(rule))
        return tg_fail(TG_INVALID, "the rule %s %s decay", rule,
                       decays(rule) ? "needs a" : "has no");
    if (has_type(infer, BETA) != corrects(rule))
        return tg_fail(TG_INVALID, "the rule %s %s beta", rule,
                       corrects(rule) ? "needs a" : "has no");
    return TG_OK;
}

/* Fails unless the input is [batch, tokens, a or b]. */
static tg_status need_rows(const tg_infer *infer, int slot, const char *what, int64_t a, int64_t b)
{
    const tg_shape *s = &infer->in[slot].shape, *q = &infer->in[QUERY].shape;
    if (!has_type(infer, slot)) return TG_OK;
    TG_TRY(tg_need_float(infer, slot, what));
    TG_TRY(tg_need_rank(infer, slot, what, 3, 3));
    if (s->dim[0] == q->dim[0] && s->dim[1] == q->dim[1] && (s->dim[2] == a || s->dim[2] == b))
        return TG_OK;
    return tg_fail(TG_SHAPE, "%s does not fit the query", what);
}

tg_status infer_linear_attention(tg_infer *infer)
{
    int64_t heads = tg_infer_attr(infer, "q_num_heads")->i;
    int64_t kv_heads = tg_infer_attr(infer, "kv_num_heads")->i;
    const tg_shape *q = &infer->in[QUERY].shape, *v = &infer->in[VALUE].shape;
    TG_TRY(check_rule(infer));
    TG_TRY(tg_need_rank(infer, QUERY, "the query", 3, 3));
    TG_TRY(tg_need_rank(infer, VALUE, "the value", 3, 3));
    if (heads < 1 || kv_heads < 1 || heads % kv_heads || q->dim[2] % heads || v->dim[2] % kv_heads)
        return tg_fail(TG_INVALID, "%lld and %lld heads do not fit query and value",
                       (long long)heads, (long long)kv_heads);
    int64_t size = q->dim[2] / heads, v_size = v->dim[2] / kv_heads;
    TG_TRY(need_rows(infer, QUERY, "the query", q->dim[2], q->dim[2]));
    TG_TRY(need_rows(infer, KEY, "the key", kv_heads * size, kv_heads * size));
    TG_TRY(need_rows(infer, VALUE, "the value", v->dim[2], v->dim[2]));
    TG_TRY(need_rows(infer, DECAY, "the decay", kv_heads * size, kv_heads));
    TG_TRY(need_rows(infer, BETA, "beta", kv_heads, 1));
    tg_shape state = tg_shape_of(q->dim[0], kv_heads, size, v_size);
    if (has_type(infer, PAST) && !tg_shape_equal(&infer->in[PAST].shape, &state))
        return tg_fail(TG_SHAPE, "the past state does not fit the query");
    if (has_type(infer, PAST)) TG_TRY(tg_need_float(infer, PAST, "the past state"));
    infer->out[0] =
        (tg_type){infer->in[QUERY].dtype, tg_shape_of(q->dim[0], q->dim[1], heads * v_size)};
    if (infer->n_out > 1)
        infer->out[1] = (tg_type){infer->in[has_type(infer, PAST) ? PAST : QUERY].dtype, state};
    return TG_OK;
}

/* One head that holds a state, and all that it reads. Decay and beta: NULL if there is none. */
typedef struct cell {
    const double *k, *v, *decay, *beta;
    int64_t n_decay, size, v_size; /* n_decay: 1, or one for each row of the state */
    double *state, *written;
} cell;

/* state' = decayed state + k (beta (v - state k)), the parts in brackets by the rule. */
static void step(const cell *c)
{
    for (int64_t d = 0; d < c->size && c->decay; d++)
        for (int64_t m = 0; m < c->v_size; m++)
            c->state[d * c->v_size + m] *= exp(c->decay[c->n_decay == 1 ? 0 : d]);
    for (int64_t m = 0; m < c->v_size; m++) {
        double found = 0;
        for (int64_t d = 0; d < c->size && c->beta; d++)
            found += c->state[d * c->v_size + m] * c->k[d];
        c->written[m] = c->beta ? *c->beta * (c->v[m] - found) : c->v[m];
    }
    for (int64_t d = 0; d < c->size; d++)
        for (int64_t m = 0; m < c->v_size; m++)
            c->state[d * c->v_size + m] += c->k[d] * c->written[m];
}

static void look_up(const cell *c, const double *q, double scale, double *y)
{
    for (int64_t m = 0; m < c->v_size; m++) {
        double sum = 0;
        for (int64_t d = 0; d < c->size; d++) sum += q[d] * c->state[d * c->v_size + m];
        y[m] = scale * sum;
    }
}

tg_status kernel_linear_attention(tg_call *call)
{
    const double *q = tg_call_doubles(call, QUERY), *k = tg_call_doubles(call, KEY);
    const double *v = tg_call_doubles(call, VALUE), *past = tg_call_doubles(call, PAST);
    const double *decay = tg_call_doubles(call, DECAY), *beta = tg_call_doubles(call, BETA);
    int64_t heads = call_int(call, "q_num_heads"), kv_heads = call_int(call, "kv_num_heads");
    const tg_shape *s = &call->in[QUERY].shape;
    int64_t size = s->dim[2] / heads, v_size = call->in[VALUE].shape.dim[2] / kv_heads;
    int64_t n_decay = decay ? call->in[DECAY].shape.dim[2] / kv_heads : 0;
    int64_t n_beta = beta ? call->in[BETA].shape.dim[2] : 0, each = size * v_size;
    int64_t n_state = s->dim[0] * kv_heads * each, group = heads / kv_heads;
    double *state = tg_call_scratch(call, n_state), *written = tg_call_scratch(call, v_size);
    double *y = tg_call_scratch(call, tg_tensor_count(&call->out[0]));
    double scale = call_float(call, "scale");
    if (scale == 0) scale = 1 / sqrt((double)size);
    for (int64_t i = 0; i < n_state && past; i++) state[i] = past[i];
    for (int64_t row = 0; row < s->dim[0] * s->dim[1]; row++)
        for (int64_t h = 0; h < kv_heads; h++) {
            cell c = {.k = k + (row * kv_heads + h) * size,
                      .v = v + (row * kv_heads + h) * v_size,
                      .decay = decay ? decay + (row * kv_heads + h) * n_decay : NULL,
                      .beta = beta ? beta + row * n_beta + (n_beta == 1 ? 0 : h) : NULL,
                      .n_decay = n_decay,
                      .size = size,
                      .v_size = v_size,
                      .state = state + (row / s->dim[1] * kv_heads + h) * each,
                      .written = written};
            step(&c);
            for (int64_t g = h * group; g < (h + 1) * group; g++)
                look_up(&c, q + (row * heads + g) * size, scale, y + (row * heads + g) * v_size);
        }
    tg_call_store(call, 0, y);
    if (has_output(call, 1)) tg_call_store(call, 1, state);
    return TG_OK;
}

/* ---- CausalConvWithState ---- */

tg_status infer_causal_conv(tg_infer *infer)
{
    const tg_shape *x = &infer->in[0].shape, *w = &infer->in[1].shape;
    const char *after = tg_infer_attr(infer, "activation")->s;
    if (strcmp(after, "none") != 0 && strcmp(after, "silu") != 0 && strcmp(after, "swish") != 0)
        return tg_fail(TG_INVALID, "attribute activation is '%s'", after);
    TG_TRY(tg_need_float(infer, 0, "the input"));
    TG_TRY(tg_need_rank(infer, 0, "the input", 3, 3));
    TG_TRY(tg_need_rank(infer, 1, "the weight", 3, 3));
    for (int i = 1; i < 4; i++) TG_TRY(tg_need_same(infer, i, 0, "an operand"));
    if (w->dim[0] != x->dim[1] || w->dim[1] != 1 || w->dim[2] < 1)
        return tg_fail(TG_SHAPE, "the weight does not fit the input");
    TG_TRY(tg_need_vector(infer, 2, "the bias", x->dim[1]));
    tg_shape state = tg_shape_of(x->dim[0], x->dim[1], w->dim[2] - 1);
    if (has_type(infer, 3) && !tg_shape_equal(&infer->in[3].shape, &state))
        return tg_fail(TG_SHAPE, "the past state does not fit input and weight");
    infer->out[0] = infer->in[0];
    if (infer->n_out > 1) infer->out[1] = (tg_type){infer->in[0].dtype, state};
    return TG_OK;
}

/* Element i of what came before (zeros without a past) and the input, joined. */
static double joined(const double *past, const double *x, int64_t kept, int64_t i)
{
    return i >= kept ? x[i - kept] : past ? past[i] : 0;
}

tg_status kernel_causal_conv(tg_call *call)
{
    const double *x = tg_call_doubles(call, 0), *w = tg_call_doubles(call, 1);
    const double *bias = tg_call_doubles(call, 2), *past = tg_call_doubles(call, 3);
    const tg_shape *s = &call->in[0].shape;
    bool swish = strcmp(call_attr(call, "activation")->s, "none") != 0;
    int64_t n = s->dim[2], taps = call->in[1].shape.dim[2], kept = taps - 1;
    double *y = tg_call_scratch(call, tg_tensor_count(&call->out[0]));
    double *state = tg_call_scratch(call, s->dim[0] * s->dim[1] * kept);
    for (int64_t row = 0; row < s->dim[0] * s->dim[1]; row++) {
        int64_t channel = row % s->dim[1];
        const double *line = x + row * n, *before = past ? past + row * kept : NULL;
        for (int64_t i = 0; i < n; i++) {
            double sum = bias ? bias[channel] : 0;
            for (int64_t k = 0; k < taps; k++)
                sum += w[channel * taps + k] * joined(before, line, kept, i + k);
            y[row * n + i] = swish ? sum / (1 + exp(-sum)) : sum;
        }
        for (int64_t i = 0; i < kept; i++)
            state[row * kept + i] = joined(before, line, kept, n + i);
    }
    tg_call_store(call, 0, y);
    if (has_output(call, 1)) tg_call_store(call, 1, state);
    return TG_OK;
}
