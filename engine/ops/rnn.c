/* SPDX-License-Identifier: GPL-3.0-or-later */
/* LSTM, GRU and RNN. */
#include "compute.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* The activation functions of recurrent cells, with alpha and beta where they have them. */
typedef enum {
    ACT_RELU,
    ACT_TANH,
    ACT_SIGMOID,
    ACT_AFFINE,
    ACT_LEAKY,
    ACT_THRESHOLDED,
    ACT_SCALED_TANH,
    ACT_HARD_SIGMOID,
    ACT_ELU,
    ACT_SOFTSIGN,
    ACT_SOFTPLUS,
    ACT_COUNT
} act_kind;

static const struct {
    const char *name;
    bool has_alpha, has_beta;
    double alpha, beta;
} act_rows[ACT_COUNT] = {
    [ACT_RELU] = {"Relu", false, false, 0, 0},
    [ACT_TANH] = {"Tanh", false, false, 0, 0},
    [ACT_SIGMOID] = {"Sigmoid", false, false, 0, 0},
    [ACT_AFFINE] = {"Affine", true, true, 1, 0},
    [ACT_LEAKY] = {"LeakyRelu", true, false, 0.01, 0},
    [ACT_THRESHOLDED] = {"ThresholdedRelu", true, false, 1, 0},
    [ACT_SCALED_TANH] = {"ScaledTanh", true, true, 1, 1},
    [ACT_HARD_SIGMOID] = {"HardSigmoid", true, true, 0.2, 0.5},
    [ACT_ELU] = {"Elu", true, false, 1, 0},
    [ACT_SOFTSIGN] = {"Softsign", false, false, 0, 0},
    [ACT_SOFTPLUS] = {"Softplus", false, false, 0, 0},
};

typedef struct act {
    act_kind kind;
    double alpha, beta;
} act;

static double act_run(const act *f, double x)
{
    double a = f->alpha, b = f->beta;
    switch (f->kind) {
    case ACT_RELU: return x < 0 ? 0 : x;
    case ACT_TANH: return tanh(x);
    case ACT_SIGMOID: return 1 / (1 + exp(-x));
    case ACT_AFFINE: return a * x + b;
    case ACT_LEAKY: return x < 0 ? a * x : x;
    case ACT_THRESHOLDED: return x > a ? x : 0;
    case ACT_SCALED_TANH: return a * tanh(b * x);
    case ACT_HARD_SIGMOID: return fmin(1, fmax(0, a * x + b));
    case ACT_ELU: return x < 0 ? a * expm1(x) : x;
    case ACT_SOFTSIGN: return x / (1 + fabs(x));
    default: return x > 30 ? x : log1p(exp(x));
    }
}

/* How the operator differs from its siblings. */
typedef struct cell {
    int gates, acts; /* gates a cell, activation functions a direction */
    const char *defaults[3];
    int peepholes; /* input slot of P, or -1 */
} cell;

static const cell lstm = {4, 3, {"Sigmoid", "Tanh", "Tanh"}, 7};
static const cell gru = {3, 2, {"Sigmoid", "Tanh"}, -1};
static const cell rnn = {1, 1, {"Tanh"}, -1};

static int directions(const tg_op_row *row, const tg_attr *attr)
{
    return strcmp(tg_row_attr(row, attr, "direction")->s, "bidirectional") == 0 ? 2 : 1;
}

static act_kind act_named(const char *name)
{
    int k = 0;
    while (k < ACT_COUNT && strcasecmp(act_rows[k].name, name) != 0) k++;
    return (act_kind)k;
}

/* The functions of all directions, gathering alphas and betas in order. Errors: TG_INVALID. */
static tg_status read_acts(const tg_op_row *row, const tg_attr *attr, const cell *cell, act *out)
{
    const tg_attr *names = tg_row_attr(row, attr, "activations");
    const tg_attr *alphas = tg_row_attr(row, attr, "activation_alpha");
    const tg_attr *betas = tg_row_attr(row, attr, "activation_beta");
    uint32_t a = 0, b = 0;
    int n = cell->acts * directions(row, attr);
    if (names->kind == TG_ATTR_STRS && (int)names->n != n)
        return tg_fail(TG_INVALID, "attribute activations has %u entries, not %d", names->n, n);
    for (int i = 0; i < n; i++) {
        const char *name =
            names->kind == TG_ATTR_STRS ? names->strs[i] : cell->defaults[i % cell->acts];
        act_kind k = act_named(name);
        if (k == ACT_COUNT) return tg_fail(TG_INVALID, "no activation function is called %s", name);
        out[i] = (act){k, act_rows[k].alpha, act_rows[k].beta};
        if (act_rows[k].has_alpha && alphas->kind == TG_ATTR_FLOATS && a < alphas->n)
            out[i].alpha = alphas->floats[a++];
        if (act_rows[k].has_beta && betas->kind == TG_ATTR_FLOATS && b < betas->n)
            out[i].beta = betas->floats[b++];
    }
    return TG_OK;
}

/* Names that are the defaults are left out. */
static void canonical_acts(tg_infer *infer, const cell *cell)
{
    tg_attr *names = tg_infer_attr(infer, "activations");
    if (names->kind != TG_ATTR_STRS) return;
    bool plain = true;
    for (uint32_t i = 0; i < names->n; i++)
        plain &= strcasecmp(names->strs[i], cell->defaults[i % (uint32_t)cell->acts]) == 0;
    if (plain) *names = (tg_attr){.kind = TG_ATTR_NONE};
}

static tg_status need_dims(const tg_infer *infer, int slot, const char *what, int rank,
                           const int64_t *dims)
{
    if (!has_type(infer, slot)) return TG_OK;
    tg_shape want = tg_shape_from(dims, rank);
    char got[TG_SHAPE_TEXT], wanted[TG_SHAPE_TEXT];
    if (tg_shape_equal(&infer->in[slot].shape, &want)) return TG_OK;
    return tg_fail(TG_SHAPE, "%s has shape %s, not %s", what,
                   tg_shape_text(got, &infer->in[slot].shape), tg_shape_text(wanted, &want));
}

/* Sizes of a run. */
typedef struct sizes {
    int64_t steps, batch, in, hidden, dirs;
} sizes;

static tg_status infer_sizes(tg_infer *infer, const cell *cell, sizes *s)
{
    const tg_attr *direction = tg_infer_attr(infer, "direction");
    if (strcmp(direction->s, "forward") != 0 && strcmp(direction->s, "reverse") != 0 &&
        strcmp(direction->s, "bidirectional") != 0)
        return tg_fail(TG_INVALID, "attribute direction is %s", direction->s);
    TG_TRY(tg_need_float(infer, 0, "the input"));
    TG_TRY(tg_need_rank(infer, 0, "the input", 3, 3));
    TG_TRY(tg_need_rank(infer, 2, "the recurrence", 3, 3));
    const int64_t *x = infer->in[0].shape.dim, *r = infer->in[2].shape.dim;
    bool batch_first = tg_infer_attr(infer, "layout")->i != 0;
    *s = (sizes){x[batch_first], x[!batch_first], x[2], r[2], directions(infer->row, infer->attr)};
    tg_attr *hidden = tg_infer_attr(infer, "hidden_size");
    if (hidden->kind == TG_ATTR_INT && hidden->i != s->hidden)
        return tg_fail(TG_INVALID, "attribute hidden_size is %lld, the recurrence has %lld",
                       (long long)hidden->i, (long long)s->hidden);
    if (s->hidden > (int64_t)1 << 30)
        return tg_fail(TG_LIMIT, "the hidden size is %lld", (long long)s->hidden);
    *hidden = TG_ATTR_OF_INT(s->hidden);
    int64_t rows = cell->gates * s->hidden;
    TG_TRY(need_dims(infer, 1, "the weight", 3, (int64_t[]){s->dirs, rows, s->in}));
    return need_dims(infer, 2, "the recurrence", 3, (int64_t[]){s->dirs, rows, s->hidden});
}

static tg_status check_options(tg_infer *infer, const cell *cell, const sizes *s)
{
    act acts[2 * 3];
    bool batch_first = tg_infer_attr(infer, "layout")->i != 0;
    int64_t state[3] = {s->dirs, s->batch, s->hidden};
    if (batch_first) state[0] = s->batch, state[1] = s->dirs;
    tg_infer_attr(infer, "layout")->i = batch_first;
    TG_TRY(read_acts(infer->row, infer->attr, cell, acts));
    canonical_acts(infer, cell);
    int64_t rows = cell->gates * s->hidden;
    TG_TRY(need_dims(infer, 3, "the bias", 2, (int64_t[]){s->dirs, 2 * rows}));
    TG_TRY(tg_need_vector(infer, 4, "the list of lengths", s->batch));
    if (has_type(infer, 4) && infer->in[4].dtype != TG_I32)
        return tg_fail(TG_TYPE, "the lengths have element type %s, not int32",
                       tg_dtype_name(infer->in[4].dtype));
    TG_TRY(need_dims(infer, 5, "the initial state", 3, state));
    if (cell->peepholes < 0) return TG_OK;
    TG_TRY(need_dims(infer, 6, "the initial cell", 3, state));
    return need_dims(infer, 7, "the peephole weight", 2, (int64_t[]){s->dirs, 3 * s->hidden});
}

static tg_status infer_cell(tg_infer *infer, const cell *cell)
{
    sizes s = {0};
    TG_TRY(infer_sizes(infer, cell, &s));
    TG_TRY(check_options(infer, cell, &s));
    for (int i = 1; i < infer->n_in; i++)
        if (i != 4) TG_TRY(tg_need_same(infer, i, 0, "a weight or state"));
    bool batch_first = tg_infer_attr(infer, "layout")->i != 0;
    tg_dtype t = infer->in[0].dtype;
    infer->out[0] = (tg_type){t, batch_first ? tg_shape_of(s.batch, s.steps, s.dirs, s.hidden)
                                             : tg_shape_of(s.steps, s.dirs, s.batch, s.hidden)};
    for (int i = 1; i < infer->n_out; i++)
        infer->out[i] = (tg_type){t, batch_first ? tg_shape_of(s.batch, s.dirs, s.hidden)
                                                 : tg_shape_of(s.dirs, s.batch, s.hidden)};
    return TG_OK;
}

tg_status infer_lstm(tg_infer *infer)
{
    return infer_cell(infer, &lstm);
}

tg_status infer_gru(tg_infer *infer)
{
    return infer_cell(infer, &gru);
}

tg_status infer_rnn(tg_infer *infer)
{
    return infer_cell(infer, &rnn);
}

/* One direction of one sequence at work. */
typedef struct run {
    const cell *cell;
    sizes s;
    act acts[2 * 3];
    const act *f;            /* of this direction */
    const double *w, *r;     /* gates * hidden rows */
    const double *wb, *rb;   /* NULL: no bias */
    const double *p;         /* peepholes, or NULL */
    double *h, *c, *xw, *hr; /* state; x W and h R with their biases */
    double clip;             /* 0: none */
    bool coupled, after;     /* input_forget; linear_before_reset */
} run;

/* y = M x + b, M of n rows. */
static void affine(const double *m, const double *x, const double *b, int64_t n, int64_t k,
                   double *y)
{
    for (int64_t i = 0; i < n; i++) {
        double sum = b ? b[i] : 0;
        for (int64_t j = 0; j < k; j++) sum += m[i * k + j] * x[j];
        y[i] = sum;
    }
}

static double gate(const run *r, int f, double x)
{
    if (r->clip > 0) x = x > r->clip ? r->clip : x < -r->clip ? -r->clip : x;
    return act_run(&r->f[f], x);
}

/* Gates in the order i o f c. */
static void lstm_step(run *r, const double *x)
{
    int64_t n = r->s.hidden;
    affine(r->w, x, r->wb, 4 * n, r->s.in, r->xw);
    affine(r->r, r->h, r->rb, 4 * n, n, r->hr);
    for (int64_t k = 0; k < n; k++) {
        double z[4], peep[3] = {0};
        for (int g = 0; g < 4; g++) z[g] = r->xw[g * n + k] + r->hr[g * n + k];
        for (int g = 0; r->p && g < 3; g++) peep[g] = r->p[g * n + k];
        double in = gate(r, 0, z[0] + peep[0] * r->c[k]);
        double forget = r->coupled ? 1 - in : gate(r, 0, z[2] + peep[2] * r->c[k]);
        double cell = forget * r->c[k] + in * gate(r, 1, z[3]);
        double out = gate(r, 0, z[1] + peep[1] * cell);
        r->c[k] = cell;
        r->h[k] = out * gate(r, 2, cell);
    }
}

/* Gates in the order z r h. */
static void gru_step(run *r, const double *x)
{
    int64_t n = r->s.hidden;
    affine(r->w, x, r->wb, 3 * n, r->s.in, r->xw);
    affine(r->r, r->h, r->rb, 3 * n, n, r->hr);
    double *reset = r->c;
    for (int64_t k = 0; k < n; k++) reset[k] = gate(r, 0, r->xw[n + k] + r->hr[n + k]);
    if (r->after) {
        for (int64_t k = 0; k < n; k++) r->hr[2 * n + k] *= reset[k];
    } else {
        for (int64_t k = 0; k < n; k++) reset[k] *= r->h[k];
        affine(r->r + 2 * n * n, reset, r->rb ? r->rb + 2 * n : NULL, n, n, r->hr + 2 * n);
    }
    for (int64_t k = 0; k < n; k++) {
        double update = gate(r, 0, r->xw[k] + r->hr[k]);
        double fresh = gate(r, 1, r->xw[2 * n + k] + r->hr[2 * n + k]);
        r->h[k] = (1 - update) * fresh + update * r->h[k];
    }
}

static void rnn_step(run *r, const double *x)
{
    affine(r->w, x, r->wb, r->s.hidden, r->s.in, r->xw);
    affine(r->r, r->h, r->rb, r->s.hidden, r->s.hidden, r->hr);
    for (int64_t k = 0; k < r->s.hidden; k++) r->h[k] = gate(r, 0, r->xw[k] + r->hr[k]);
}

static void step(run *r, const double *x)
{
    if (r->cell == &lstm) lstm_step(r, x);
    else if (r->cell == &gru) gru_step(r, x);
    else rnn_step(r, x);
}

/* Element at which the vector of (direction, sequence) begins in a state. */
static int64_t state_at(const sizes *s, bool batch_first, int64_t d, int64_t b)
{
    return (batch_first ? b * s->dirs + d : d * s->batch + b) * s->hidden;
}

static void put(tg_call *call, int i, int64_t at, const double *v, int64_t n)
{
    for (int64_t k = 0; has_output(call, i) && k < n; k++)
        tg_tensor_set_f64(&call->out[i], at + k, v[k]);
}

static void start(tg_call *call, int slot, int64_t at, double *v, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        v[k] = has_input(call, slot) ? tg_tensor_f64(&call->in[slot], at + k) : 0;
}

/* Runs over `length` steps; the outputs behind them stay zero. */
static void run_sequence(tg_call *call, run *r, int64_t d, int64_t b, int64_t length, bool back)
{
    const sizes *s = &r->s;
    bool batch_first = call_int(call, "layout") != 0;
    int64_t n = s->hidden, state = state_at(s, batch_first, d, b);
    double *x = tg_call_scratch(call, s->in);
    start(call, 5, state, r->h, n);
    start(call, r->cell == &lstm ? 6 : call->n_in, state, r->c, n);
    for (int64_t i = 0; i < length; i++) {
        int64_t t = back ? length - 1 - i : i;
        int64_t from = (batch_first ? b * s->steps + t : t * s->batch + b) * s->in;
        for (int64_t k = 0; k < s->in; k++) x[k] = tg_tensor_f64(&call->in[0], from + k);
        step(r, x);
        int64_t to = batch_first ? ((b * s->steps + t) * s->dirs + d) * n
                                 : ((t * s->dirs + d) * s->batch + b) * n;
        put(call, 0, to, r->h, n);
    }
    put(call, 1, state, r->h, n);
    if (r->cell == &lstm) put(call, 2, state, r->c, n);
}

static void take_weights(tg_call *call, run *r)
{
    int64_t n = r->s.hidden, rows = r->cell->gates * n;
    r->w = tg_call_doubles(call, 1);
    r->r = tg_call_doubles(call, 2);
    r->wb = tg_call_doubles(call, 3);
    r->rb = r->wb ? r->wb + rows : NULL;
    r->p = r->cell->peepholes < 0 ? NULL : tg_call_doubles(call, r->cell->peepholes);
    r->h = tg_call_scratch(call, n);
    r->c = tg_call_scratch(call, n);
    r->xw = tg_call_scratch(call, rows);
    r->hr = tg_call_scratch(call, rows);
    const tg_attr *clip = call_attr(call, "clip");
    r->clip = clip->kind == TG_ATTR_FLOAT ? clip->f : 0;
}

static void next_direction(run *r)
{
    int64_t n = r->s.hidden, rows = r->cell->gates * n;
    r->w += rows * r->s.in;
    r->r += rows * n;
    if (r->wb) r->wb += 2 * rows;
    if (r->rb) r->rb += 2 * rows;
    if (r->p) r->p += 3 * n;
    r->f += r->cell->acts;
}

static tg_status length_of(const tg_call *call, const sizes *s, int64_t b, int64_t *length)
{
    *length = has_input(call, 4) ? tg_tensor_i64(&call->in[4], b) : s->steps;
    if (*length >= 0 && *length <= s->steps) return TG_OK;
    return tg_fail(TG_INVALID, "sequence %lld has length %lld of %lld", (long long)b,
                   (long long)*length, (long long)s->steps);
}

static tg_status run_cell(tg_call *call, run *r)
{
    const int64_t *x = call->in[0].shape.dim;
    bool batch_first = call_int(call, "layout") != 0;
    r->s = (sizes){x[batch_first], x[!batch_first], x[2], call->in[2].shape.dim[2],
                   directions(call->row, call->attr)};
    TG_TRY(read_acts(call->row, call->attr, r->cell, r->acts));
    r->f = r->acts;
    take_weights(call, r);
    bool reverse = strcmp(call_attr(call, "direction")->s, "reverse") == 0;
    for (int64_t d = 0; d < r->s.dirs; d++) {
        for (int64_t b = 0; b < r->s.batch; b++) {
            int64_t length;
            TG_TRY(length_of(call, &r->s, b, &length));
            run_sequence(call, r, d, b, length, reverse || d == 1);
        }
        next_direction(r);
    }
    return TG_OK;
}

tg_status kernel_lstm(tg_call *call)
{
    run r = {.cell = &lstm, .coupled = call_int(call, "input_forget") != 0};
    return run_cell(call, &r);
}

tg_status kernel_gru(tg_call *call)
{
    run r = {.cell = &gru, .after = call_int(call, "linear_before_reset") != 0};
    return run_cell(call, &r);
}

tg_status kernel_rnn(tg_call *call)
{
    run r = {.cell = &rnn};
    return run_cell(call, &r);
}
