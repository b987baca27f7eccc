/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Einsum: any number of operands, repeated labels, ellipsis. */
#include "compute.h"

#include <ctype.h>
#include <string.h>

/*
 * Labels are the letters and, for the ellipsis, the numbers from BATCH on: batch axis i counts from
 * the right, so that operands of different rank broadcast.
 */
enum { BATCH = 128, LABELS = BATCH + TG_MAX_RANK, MAX_OPERANDS = 32 };

/* One term of the equation: its labels in order. */
typedef struct term {
    int n;
    uint8_t label[TG_MAX_RANK];
} term;

typedef struct equation {
    int n; /* operands */
    term in[MAX_OPERANDS], out;
    int64_t size[LABELS]; /* -1: the label does not occur */
} equation;

static tg_status too_long(void)
{
    return tg_fail(TG_INVALID, "a term of the equation does not fit its operand");
}

/* Puts the labels of `batch` ellipsis axes. */
static tg_status put_batch(term *t, int64_t batch)
{
    if (batch < 0 || t->n + batch > TG_MAX_RANK) return too_long();
    for (int64_t i = batch - 1; i >= 0; i--) t->label[t->n++] = (uint8_t)(BATCH + i);
    return TG_OK;
}

static int letters(const char *s, const char *end)
{
    int n = 0;
    for (; s < end; s++) n += isalpha((unsigned char)*s) != 0;
    return n;
}

/* batch: how many axes the ellipsis stands for. */
static tg_status read_term(const char *s, const char *end, int64_t batch, term *t)
{
    bool dots = false;
    for (; s < end; s++) {
        if (*s == ' ') continue;
        if (*s == '.') {
            if (dots || end - s < 3 || strncmp(s, "...", 3) != 0)
                return tg_fail(TG_INVALID, "the equation has a stray dot");
            dots = true;
            s += 2;
            TG_TRY(put_batch(t, batch));
        } else if (isalpha((unsigned char)*s)) {
            if (t->n == TG_MAX_RANK) return too_long();
            t->label[t->n++] = (uint8_t)*s;
        } else {
            return tg_fail(TG_INVALID, "the equation has the character '%c'", *s);
        }
    }
    return TG_OK;
}

static tg_status bind(equation *e, const term *t, const tg_shape *s)
{
    if (t->n != s->rank) return too_long();
    for (int i = 0; i < t->n; i++) {
        int64_t *size = &e->size[t->label[i]], dim = s->dim[i];
        if (*size == -1 || *size == 1) *size = dim;
        else if (dim != *size && dim != 1)
            return tg_fail(TG_SHAPE, "a label of the equation has sizes %lld and %lld",
                           (long long)*size, (long long)dim);
    }
    return TG_OK;
}

/* Without an arrow: batch axes, then the letters that occur once, in order. */
static tg_status implicit_output(equation *e, int64_t batch)
{
    int seen[LABELS] = {0};
    for (int k = 0; k < e->n; k++)
        for (int i = 0; i < e->in[k].n; i++) seen[e->in[k].label[i]]++;
    TG_TRY(put_batch(&e->out, batch));
    for (int c = 'A'; c <= 'z'; c++) {
        if (seen[c] != 1) continue;
        if (e->out.n == TG_MAX_RANK) return too_long();
        e->out.label[e->out.n++] = (uint8_t)c;
    }
    return TG_OK;
}

static tg_status read_output(equation *e, const char *arrow, int64_t batch)
{
    if (!arrow) return implicit_output(e, batch);
    TG_TRY(read_term(arrow + 2, arrow + strlen(arrow), batch, &e->out));
    bool seen[LABELS] = {false};
    for (int i = 0; i < e->out.n; i++) {
        int label = e->out.label[i];
        if (e->size[label] == -1 || seen[label])
            return tg_fail(TG_INVALID, "an output label of the equation is unknown or repeated");
        seen[label] = true;
    }
    return TG_OK;
}

/* The shapes are those of the n operands. */
static tg_status read_equation(const char *text, const tg_type *in, int n, equation *e)
{
    *e = (equation){.n = n};
    for (int i = 0; i < LABELS; i++) e->size[i] = -1;
    if (n > MAX_OPERANDS) return tg_fail(TG_LIMIT, "more than %d operands", MAX_OPERANDS);
    const char *arrow = strstr(text, "->"), *s = text, *end = arrow ? arrow : text + strlen(text);
    int64_t most = 0;
    for (int k = 0; k < n; k++) {
        const char *comma = memchr(s, ',', (size_t)(end - s)), *stop = comma ? comma : end;
        if (!comma != (k == n - 1))
            return tg_fail(TG_INVALID, "the equation does not have %d operands", n);
        int64_t batch = in[k].shape.rank - letters(s, stop);
        if (memchr(s, '.', (size_t)(stop - s)) && batch > most) most = batch;
        TG_TRY(read_term(s, stop, batch, &e->in[k]));
        TG_TRY(bind(e, &e->in[k], &in[k].shape));
        s = stop + 1;
    }
    return read_output(e, arrow, most);
}

/* Explicit and without blanks. */
static void canonical_equation(tg_infer *infer, const equation *e)
{
    const char *text = tg_infer_attr(infer, "equation")->s;
    char *out = tg_arena_alloc(infer->arena, strlen(text) + TG_MAX_RANK + 8), *p = out;
    for (const char *s = text; *s; s++)
        if (*s != ' ') *p++ = *s;
    if (!strstr(text, "->")) {
        p = stpcpy(p, "->");
        bool dots = false;
        for (int i = 0; i < e->out.n; i++) {
            int label = e->out.label[i];
            if (label < BATCH) *p++ = (char)label;
            else if (!dots) p = stpcpy(p, "...");
            dots |= label >= BATCH;
        }
    }
    *p = '\0';
    *tg_infer_attr(infer, "equation") = tg_attr_str(out);
}

tg_status infer_einsum(tg_infer *infer)
{
    equation e;
    for (int i = 0; i < infer->n_in; i++) {
        char kind = tg_dtype_kind(infer->in[i].dtype);
        if (kind != 'f' && kind != 'i' && kind != 'u')
            return tg_fail(TG_TYPE, "operand %d has element type %s", i,
                           tg_dtype_name(infer->in[i].dtype));
        TG_TRY(tg_need_same(infer, i, 0, "an operand"));
    }
    TG_TRY(read_equation(tg_infer_attr(infer, "equation")->s, infer->in, infer->n_in, &e));
    canonical_equation(infer, &e);
    tg_shape out = {.rank = e.out.n};
    for (int i = 0; i < e.out.n; i++) out.dim[i] = e.size[e.out.label[i]];
    infer->out[0] = (tg_type){infer->in[0].dtype, out};
    return TG_OK;
}

/* The labels that are walked, the output's first, and each operand's step along each. */
typedef struct walk {
    int n;
    int64_t size[LABELS], step[MAX_OPERANDS][LABELS];
    int64_t outer, inner; /* places of the output; terms of each sum */
} walk;

static void add_label(walk *w, const equation *e, const tg_type *in, int label)
{
    w->size[w->n] = e->size[label];
    for (int k = 0; k < e->n; k++) {
        int64_t stride = 1;
        for (int i = e->in[k].n - 1; i >= 0; i--) {
            int64_t dim = in[k].shape.dim[i];
            if (e->in[k].label[i] == label && dim != 1) w->step[k][w->n] += stride;
            stride *= dim;
        }
    }
    w->n++;
}

static tg_status times(int64_t *n, int64_t size)
{
    if (!__builtin_mul_overflow(*n, size, n)) return TG_OK;
    return tg_fail(TG_LIMIT, "the sums of the equation have too many terms");
}

static tg_status plan_walk(walk *w, const equation *e, const tg_type *in)
{
    bool done[LABELS] = {false};
    memset(w, 0, sizeof *w);
    w->outer = w->inner = 1;
    for (int i = 0; i < e->out.n; i++) {
        add_label(w, e, in, e->out.label[i]);
        done[e->out.label[i]] = true;
        TG_TRY(times(&w->outer, e->size[e->out.label[i]]));
    }
    for (int label = 0; label < LABELS; label++) {
        if (e->size[label] == -1 || done[label]) continue;
        add_label(w, e, in, label);
        TG_TRY(times(&w->inner, e->size[label]));
    }
    return TG_OK;
}

/* Moves all operands to place `i` of the labels [from, to). */
static void place(const walk *w, int n, int from, int to, int64_t i, const int64_t *base,
                  int64_t *at)
{
    for (int k = 0; k < n; k++) at[k] = base[k];
    for (int l = to - 1; l >= from; l--) {
        int64_t digit = i % w->size[l];
        i /= w->size[l];
        for (int k = 0; k < n; k++) at[k] += digit * w->step[k][l];
    }
}

static void run(tg_call *call, const walk *w, int out_labels)
{
    static const int64_t start[MAX_OPERANDS];
    const double *x[MAX_OPERANDS];
    int64_t base[MAX_OPERANDS], at[MAX_OPERANDS];
    for (int k = 0; k < call->n_in; k++) x[k] = tg_call_doubles(call, k);
    for (int64_t o = 0; o < w->outer; o++) {
        double sum = 0;
        place(w, call->n_in, 0, out_labels, o, start, base);
        for (int64_t i = 0; i < w->inner; i++) {
            place(w, call->n_in, out_labels, w->n, i, base, at);
            double product = 1;
            for (int k = 0; k < call->n_in; k++) product *= x[k][at[k]];
            sum += product;
        }
        tg_tensor_set_f64(&call->out[0], o, sum);
    }
}

tg_status kernel_einsum(tg_call *call)
{
    equation e;
    tg_type in[MAX_OPERANDS];
    walk *w = TG_NEW(call->arena, walk);
    for (int i = 0; i < call->n_in && i < MAX_OPERANDS; i++)
        in[i] = (tg_type){call->in[i].dtype, call->in[i].shape};
    TG_TRY(read_equation(call_attr(call, "equation")->s, in, call->n_in, &e));
    TG_TRY(plan_walk(w, &e, in));
    run(call, w, e.out.n);
    return TG_OK;
}

void work_einsum(const tg_attr *attr, const tg_type *in, int n_in, const tg_type *out, int n_out,
                 tg_work *work)
{
    const tg_op_row *row = tg_op_get(TG_OP(Einsum));
    equation e;
    *work = (tg_work){.kernels = 1};
    for (int i = 0; i < n_in; i++) work->bytes += (double)tg_type_bytes(&in[i]);
    for (int i = 0; i < n_out; i++) work->bytes += (double)tg_type_bytes(&out[i]);
    if (read_equation(tg_row_attr(row, attr, "equation")->s, in, n_in, &e) != TG_OK) return;
    work->flops = n_in;
    for (int i = 0; i < LABELS; i++)
        if (e.size[i] != -1) work->flops *= (double)e.size[i];
}
