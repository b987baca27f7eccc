/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "gnn.h"

#include "lanes.h"

#include <assert.h>
#include <stdio.h>

#define SCORE_SLOPE ((ag_real)0.2)
#define NODE_SLOPE ((ag_real)0.01)

enum { W_X, W_EDGE_X, W_EDGE_SUM, W_OPS, W_H0, W_READ, W_DH, W_DPREV, W_DQ, W_DEDGE };
enum { R_Q, R_SEND, R_RECV, R_EDGE, R_ALPHA, R_MIX, R_H };

void ag_gnn_define(ag_gnn *gnn, ag_layout *layout, const ag_spec *spec, int hidden, int heads,
                   int layers)
{
    assert(hidden % heads == 0 && heads <= AG_MAX_HEADS && layers <= AG_MAX_LAYERS);
    *gnn = (ag_gnn){.hidden = hidden, .heads = heads, .layers = layers};
    gnn->node_dim = spec->node.n;
    gnn->edge_dim = spec->edge.n;
    gnn->op = ag_layout_add(layout, "gnn.operator", spec->operators.n, hidden, AG_AXIS_OPERATOR,
                            AG_INIT_NORMAL, 0.5);
    gnn->node =
        ag_layout_add(layout, "gnn.node", gnn->node_dim, hidden, AG_AXIS_NODE, AG_INIT_LECUN, 1);
    gnn->edge =
        ag_layout_add(layout, "gnn.edge", gnn->edge_dim, hidden, AG_AXIS_EDGE, AG_INIT_LECUN, 0.5);
    gnn->bias = ag_layout_add(layout, "gnn.bias", 1, hidden, AG_AXIS_NONE, AG_INIT_ZERO, 0);
    for (int l = 0; l < layers; l++) {
        ag_gnn_layer *at = &gnn->layer[l];
        char name[32];
#define ADD(field, suffix, rows, cols, axis, init, gain)                                           \
    snprintf(name, sizeof name, "gnn.%d." suffix, l);                                              \
    at->field = ag_layout_add(layout, name, rows, cols, axis, init, gain)
        ADD(w, "weight", hidden, hidden, AG_AXIS_NONE, AG_INIT_LECUN, 1);
        ADD(b, "bias", 1, hidden, AG_AXIS_NONE, AG_INIT_ZERO, 0);
        ADD(send, "sender", 1, hidden, AG_AXIS_NONE, AG_INIT_LECUN, 0.25);
        ADD(recv, "receiver", 1, hidden, AG_AXIS_NONE, AG_INIT_LECUN, 0.25);
        ADD(edge, "edge", spec->edge.n, heads, AG_AXIS_EDGE, AG_INIT_NORMAL, 1);
#undef ADD
    }
}

void ag_gnn_work_done(ag_gnn_work *work)
{
    ag_rows_done(&work->rows);
    for (size_t i = 0; i < sizeof work->buffers / sizeof *work->buffers; i++)
        ag_buffer_done(&work->buffers[i]);
    for (int l = 0; l < AG_MAX_LAYERS; l++) {
        for (int i = 0; i < 7; i++) ag_buffer_done(&work->round[l].buffers[i]);
    }
}

static void put(ag_real *restrict to, const float *restrict from, size_t n)
{
    for (size_t i = 0; i < n; i++) to[i] = from[i];
}

/* Copies the features of the graph and of the deltas into matrices. */
static void gather(const ag_gnn *gnn, const ag_state *state, ag_gnn_work *work)
{
    const ag_graph *g = &state->graph;
    const ag_rows *rows = &work->rows;
    size_t nd = (size_t)gnn->node_dim, ed = (size_t)gnn->edge_dim;
    work->x = AG_GET(&work->buffers[W_X], ag_real, (size_t)rows->active[0] * nd + 1);
    work->edge_x = AG_GET(&work->buffers[W_EDGE_X], ag_real, (size_t)rows->edge_features * ed + 1);
    work->ops = AG_GET(&work->buffers[W_OPS], int, rows->active[0] + 1);
    put(work->x, g->x, (size_t)g->n * nd);
    put(work->edge_x, g->in_x, (size_t)g->m * ed);
    memcpy(work->ops, g->op, (size_t)g->n * sizeof(int));
    size_t at = (size_t)g->n, edge = (size_t)g->m;
    for (int c = 0; c < state->n_candidates; c++) {
        const ag_delta *d = &state->candidates[c].delta;
        if (!d->n_rows) continue;
        size_t k = (size_t)d->n_rows, m = (size_t)d->in_at[k];
        put(work->x + at * nd, d->x, k * nd);
        put(work->edge_x + edge * ed, d->in_x, m * ed);
        memcpy(work->ops + at, d->op, k * sizeof(int));
        at += k;
        edge += m;
    }
}

/* h0 = operator + features + sum of incoming edge features, of the rows of level 0. */
static void embed(const ag_gnn *gnn, const ag_real *value, ag_gnn_work *work)
{
    const ag_rows *rows = &work->rows;
    int n = rows->active[0], H = gnn->hidden;
    size_t ed = (size_t)gnn->edge_dim;
    work->h0 = AG_GET(&work->buffers[W_H0], ag_real, (size_t)n * (size_t)H + 1);
    work->edge_sum = AG_GET(&work->buffers[W_EDGE_SUM], ag_real, (size_t)n * ed + 1);
    memset(work->edge_sum, 0, (size_t)n * ed * sizeof(ag_real));
    for (int i = 0; i < n; i++) {
        for (int e = rows->edge_at[i]; e < rows->edge_at[i + 1]; e++)
            ag_axpy(work->edge_sum + (size_t)i * ed, work->edge_x + (size_t)rows->feature[e] * ed,
                    1, gnn->edge_dim);
    }
    ag_dense(work->h0, work->x, value + gnn->node, value + gnn->bias, n, gnn->node_dim, H);
    ag_dense_add(work->h0, work->edge_sum, value + gnn->edge, n, gnn->edge_dim, H);
    for (int i = 0; i < n; i++) {
        const ag_real *o = value + gnn->op + (size_t)work->ops[i] * (size_t)H;
        ag_axpy(work->h0 + (size_t)i * (size_t)H, o, 1, H);
    }
}

/* out[rows, heads] = products of each head's slice of q with the same slice of `vector`. */
static void project(ag_real *restrict out, const ag_real *restrict q, const ag_real *vector, int n,
                    int heads, int D)
{
    for (int i = 0; i < n; i++) {
        for (int h = 0; h < heads; h++, q += D) *out++ = ag_dot(q, vector + h * D, D);
    }
}

/* Scores of a row's incoming edges less the largest of their head, into alpha[edges, heads]. */
static void score(const ag_rows *rows, ag_gnn_round *r, int row, int self, int active, int heads)
{
    int first = rows->edge_at[row], last = rows->edge_at[row + 1];
    const ag_real *restrict recv = r->recv + self * heads;
    ag_real most[AG_MAX_HEADS];
    for (int h = 0; h < heads; h++) most[h] = -INFINITY;
    for (int e = first; e < last; e++) {
        const ag_real *restrict send = r->send + ag_rows_sender(rows, e, active) * heads;
        const ag_real *restrict edge = r->edge + rows->feature[e] * heads;
        ag_real *restrict to = r->alpha + e * heads;
        for (int h = 0; h < heads; h++) {
            to[h] = ag_leaky(send[h] + recv[h] + edge[h], SCORE_SLOPE);
            most[h] = to[h] > most[h] ? to[h] : most[h];
        }
    }
    for (int e = first; e < last; e++) {
        for (int h = 0; h < heads; h++) r->alpha[e * heads + h] -= most[h];
    }
}

/* Normalises the exponentials of a row's scores and mixes its senders. */
static void mix(const ag_rows *rows, ag_gnn_round *r, int row, int active, int heads, int D)
{
    int first = rows->edge_at[row], last = rows->edge_at[row + 1];
    size_t H = (size_t)heads * (size_t)D;
    ag_real *restrict to = r->mix + (size_t)row * H;
    ag_real sum[AG_MAX_HEADS] = {0};
    memset(to, 0, H * sizeof *to);
    for (int e = first; e < last; e++) {
        for (int h = 0; h < heads; h++) sum[h] += r->alpha[e * heads + h];
    }
    for (int h = 0; h < heads; h++) sum[h] = 1 / sum[h];
    for (int e = first; e < last; e++) {
        const ag_real *restrict q = r->q + (size_t)ag_rows_sender(rows, e, active) * H;
        ag_real *restrict alpha = r->alpha + e * heads;
        for (int h = 0; h < heads; h++) {
            alpha[h] *= sum[h];
            ag_axpy(to + h * D, q + h * D, alpha[h], D);
        }
    }
}

static void round_forward(const ag_gnn *gnn, const ag_real *value, ag_gnn_work *work, int l)
{
    const ag_rows *rows = &work->rows;
    const ag_gnn_layer *at = &gnn->layer[l];
    ag_gnn_round *r = &work->round[l];
    const ag_real *prev = l ? work->round[l - 1].h : work->h0;
    int before = rows->active[l], after = rows->active[l + 1], heads = gnn->heads, H = gnn->hidden;
    size_t hd = (size_t)heads, nb = (size_t)before, na = (size_t)after;
    r->q = AG_GET(&r->buffers[R_Q], ag_real, nb * (size_t)H + 1);
    r->send = AG_GET(&r->buffers[R_SEND], ag_real, nb * hd + 1);
    r->recv = AG_GET(&r->buffers[R_RECV], ag_real, nb * hd + 1);
    r->edge = AG_GET(&r->buffers[R_EDGE], ag_real, (size_t)rows->edge_features * hd + 1);
    r->alpha = AG_GET(&r->buffers[R_ALPHA], ag_real, (size_t)rows->edge_at[after] * hd + 1);
    r->mix = AG_GET(&r->buffers[R_MIX], ag_real, na * (size_t)H + 1);
    r->h = AG_GET(&r->buffers[R_H], ag_real, na * (size_t)H + 1);
    ag_dense(r->q, prev, value + at->w, value + at->b, before, H, H);
    project(r->send, r->q, value + at->send, before, heads, H / heads);
    project(r->recv, r->q, value + at->recv, before, heads, H / heads);
    ag_dense(r->edge, work->edge_x, value + at->edge, NULL, rows->edge_features, gnn->edge_dim,
             heads);
    for (int row = 0; row < after; row++)
        score(rows, r, row, row < before ? row : rows->base[row], before, heads);
    ag_exp(r->alpha, (size_t)rows->edge_at[after] * hd);
    for (int row = 0; row < after; row++) {
        int self = row < before ? row : rows->base[row];
        mix(rows, r, row, before, heads, H / heads);
        size_t at_row = (size_t)row * (size_t)H;
        ag_add_leaky(r->h + at_row, prev + (size_t)self * (size_t)H, r->mix + at_row, NODE_SLOPE,
                     H);
    }
}

static const ag_real *last_h(const ag_gnn *gnn, const ag_gnn_work *work)
{
    return gnn->layers ? work->round[gnn->layers - 1].h : work->h0;
}

static void read_out(const ag_gnn *gnn, const ag_state *state, ag_gnn_work *work)
{
    const ag_rows *rows = &work->rows;
    const ag_real *h = last_h(gnn, work);
    int H = gnn->hidden;
    size_t w = (size_t)H, n = (size_t)state->n_candidates + 1;
    work->read = AG_GET(&work->buffers[W_READ], ag_real, n * w);
    memset(work->read, 0, n * w * sizeof(ag_real));
    for (int i = 0; i < rows->n; i++) ag_axpy(work->read, h + (size_t)i * w, 1, H);
    for (int c = 0; c < state->n_candidates; c++) {
        const ag_delta *d = &state->candidates[c].delta;
        ag_real *to = work->read + (size_t)(c + 1) * w;
        for (int i = rows->candidate_at[c]; i < rows->candidate_at[c + 1]; i++) {
            int row = rows->candidate_row[i], base = rows->base[row];
            ag_axpy(to, h + (size_t)row * w, 1, H);
            if (base != row) ag_axpy(to, h + (size_t)base * w, -1, H);
        }
        for (int i = 0; i < d->n_gone; i++) ag_axpy(to, h + (size_t)d->gone[i] * w, -1, H);
    }
}

void ag_gnn_forward(const ag_gnn *gnn, const ag_real *value, const ag_state *state,
                    ag_gnn_work *work)
{
    ag_rows_build(&work->rows, &state->graph, state->candidates, state->n_candidates, gnn->layers);
    gather(gnn, state, work);
    embed(gnn, value, work);
    for (int l = 0; l < gnn->layers; l++) round_forward(gnn, value, work, l);
    read_out(gnn, state, work);
}

/* Spreads the gradient of the readout over the rows of the last round. */
static void read_back(const ag_gnn *gnn, const ag_state *state, const ag_rows *rows,
                      const ag_real *d_read, ag_real *dh)
{
    int H = gnn->hidden;
    size_t w = (size_t)H;
    for (int i = 0; i < rows->n; i++) ag_axpy(dh + (size_t)i * w, d_read, 1, H);
    for (int c = 0; c < state->n_candidates; c++) {
        const ag_delta *d = &state->candidates[c].delta;
        const ag_real *from = d_read + (size_t)(c + 1) * w;
        for (int i = rows->candidate_at[c]; i < rows->candidate_at[c + 1]; i++) {
            int row = rows->candidate_row[i], base = rows->base[row];
            ag_axpy(dh + (size_t)row * w, from, 1, H);
            if (base != row) ag_axpy(dh + (size_t)base * w, from, -1, H);
        }
        for (int i = 0; i < d->n_gone; i++) ag_axpy(dh + (size_t)d->gone[i] * w, from, -1, H);
    }
}

typedef struct round_grad {
    ag_real *dq;                    /* [active before, hidden] */
    ag_real *dsend, *drecv, *dedge; /* as in ag_gnn_round */
    ag_real *dots;                  /* [edges of one row, heads] */
} round_grad;

/* Backward of one row's attention: dm is the gradient of its mix. */
static void attend_back(const ag_rows *rows, const ag_gnn_round *r, round_grad *g, int row,
                        int self, int active, int heads, int D, const ag_real *restrict dm)
{
    int first = rows->edge_at[row], last = rows->edge_at[row + 1];
    size_t H = (size_t)heads * (size_t)D;
    ag_real mean[AG_MAX_HEADS] = {0};
    ag_real *restrict dot = g->dots;
    for (int e = first; e < last; e++, dot += heads) {
        size_t at = (size_t)ag_rows_sender(rows, e, active) * H;
        const ag_real *restrict alpha = r->alpha + e * heads;
        for (int h = 0; h < heads; h++) {
            dot[h] = ag_dot(dm + h * D, r->q + at + h * D, D);
            ag_axpy(g->dq + at + h * D, dm + h * D, alpha[h], D);
            mean[h] += alpha[h] * dot[h];
        }
    }
    dot = g->dots;
    for (int e = first; e < last; e++, dot += heads) {
        int s = ag_rows_sender(rows, e, active) * heads, f = rows->feature[e] * heads;
        for (int h = 0; h < heads; h++) {
            ag_real z = r->send[s + h] + r->recv[self * heads + h] + r->edge[f + h];
            ag_real dz = r->alpha[e * heads + h] * (dot[h] - mean[h]) * (z < 0 ? SCORE_SLOPE : 1);
            g->dsend[s + h] += dz;
            g->dedge[f + h] += dz;
            g->drecv[self * heads + h] += dz;
        }
    }
}

/* Backward of `project`. */
static void project_back(ag_real *dq, ag_real *dvector, const ag_real *q, const ag_real *vector,
                         const ag_real *dout, int n, int heads, int D)
{
    for (int i = 0; i < n; i++) {
        for (int h = 0; h < heads; h++) {
            size_t k = (size_t)i * (size_t)heads + (size_t)h;
            ag_axpy(dq + k * (size_t)D, vector + h * D, dout[k], D);
            ag_axpy(dvector + h * D, q + k * (size_t)D, dout[k], D);
        }
    }
}

static void zero(ag_real *p, size_t n)
{
    memset(p, 0, n * sizeof *p);
}

/* Takes the gradient of all rows after round l to the rows before it. dh is spoilt. */
static void round_backward(const ag_gnn *gnn, const ag_real *value, ag_gnn_work *work, int l,
                           ag_real *dh, ag_real *dprev, ag_real *grad)
{
    const ag_rows *rows = &work->rows;
    const ag_gnn_layer *at = &gnn->layer[l];
    const ag_gnn_round *r = &work->round[l];
    const ag_real *prev = l ? work->round[l - 1].h : work->h0;
    int before = rows->active[l], after = rows->active[l + 1], heads = gnn->heads, H = gnn->hidden;
    size_t nq = (size_t)before * (size_t)H, ns = (size_t)before * (size_t)heads;
    size_t ne = (size_t)rows->edge_features * (size_t)heads;
    size_t nd = (size_t)rows->most_edges * (size_t)heads;
    round_grad g = {.dq = AG_GET(&work->buffers[W_DQ], ag_real, nq + 2 * ns + nd + 1)};
    g.dsend = g.dq + nq;
    g.drecv = g.dsend + ns;
    g.dots = g.drecv + ns;
    g.dedge = AG_GET(&work->buffers[W_DEDGE], ag_real, ne + 1);
    zero(g.dq, nq + 2 * ns);
    zero(g.dedge, ne);
    zero(dprev, nq);
    for (int row = 0; row < after; row++) {
        int self = row < before ? row : rows->base[row];
        ag_real *restrict d = dh + (size_t)row * (size_t)H;
        ag_axpy(dprev + (size_t)self * (size_t)H, d, 1, H);
        ag_leaky_back(d, r->mix + (size_t)row * (size_t)H, NODE_SLOPE, H);
        attend_back(rows, r, &g, row, self, before, heads, H / heads, d);
    }
    project_back(g.dq, grad + at->send, r->q, value + at->send, g.dsend, before, heads, H / heads);
    project_back(g.dq, grad + at->recv, r->q, value + at->recv, g.drecv, before, heads, H / heads);
    ag_dense_back(NULL, grad + at->edge, NULL, work->edge_x, NULL, g.dedge, rows->edge_features,
                  gnn->edge_dim, heads);
    ag_dense_back(dprev, grad + at->w, grad + at->b, prev, value + at->w, g.dq, before, H, H);
}

static void embed_back(const ag_gnn *gnn, const ag_gnn_work *work, const ag_real *dh, ag_real *grad)
{
    int n = work->rows.active[0], H = gnn->hidden;
    ag_dense_back(NULL, grad + gnn->node, grad + gnn->bias, work->x, NULL, dh, n, gnn->node_dim, H);
    ag_dense_back(NULL, grad + gnn->edge, NULL, work->edge_sum, NULL, dh, n, gnn->edge_dim, H);
    for (int i = 0; i < n; i++)
        ag_axpy(grad + gnn->op + (size_t)work->ops[i] * (size_t)H, dh + (size_t)i * (size_t)H, 1,
                H);
}

void ag_gnn_backward(const ag_gnn *gnn, const ag_real *value, const ag_state *state,
                     ag_gnn_work *work, const ag_real *d_read, ag_real *grad)
{
    const ag_rows *rows = &work->rows;
    size_t n = (size_t)rows->rows * (size_t)gnn->hidden;
    ag_real *dh = AG_GET(&work->buffers[W_DH], ag_real, n + 1);
    ag_real *dprev = AG_GET(&work->buffers[W_DPREV], ag_real, n + 1);
    zero(dh, n);
    read_back(gnn, state, rows, d_read, dh);
    for (int l = gnn->layers - 1; l >= 0; l--) {
        round_backward(gnn, value, work, l, dh, dprev, grad);
        ag_real *swap = dh;
        dh = dprev;
        dprev = swap;
    }
    embed_back(gnn, work, dh, grad);
}
