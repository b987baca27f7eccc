/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rows.h"

#include <assert.h>

enum {
    B_BASE,
    B_EDGE_AT,
    B_OWN,
    B_OTHER,
    B_FEATURE,
    B_CAND_AT,
    B_CAND_ROW,
    B_NODE,
    B_LEVEL,
    B_MARK,
    B_PLACE,
    B_COUNT
};

typedef struct build {
    ag_rows *rows;
    const ag_graph *graph;
    const ag_candidate *candidates;
    int n_candidates;
    int *mark;  /* [n] the last candidate, plus 1, that this node differs or is gone in */
    int *place; /* [n] its row there */
    int *count; /* [candidates * (layers + 1)] rows by candidate and level, then where they start */
    TG_VEC(int) node; /* dirty nodes, candidate by candidate, level by level: node, or n + row */
} build;

static void reach(build *b, int c, int node)
{
    b->mark[node] = c + 1;
    tg_vec_push(&b->node, node);
}

/* Lists the nodes of candidate c that differ, in the order of the round that first sees it. */
static void search(build *b, int c)
{
    const ag_delta *d = &b->candidates[c].delta;
    const ag_graph *g = b->graph;
    int *count = b->count + (size_t)c * (size_t)(b->rows->layers + 1);
    size_t from = b->node.n;
    for (int i = 0; i < d->n_gone; i++) b->mark[d->gone[i]] = c + 1;
    for (int r = 0; r < d->n_rows; r++) {
        if (d->base[r] >= 0) reach(b, c, d->base[r]);
        else tg_vec_push(&b->node, g->n + r);
    }
    count[0] = d->n_rows;
    for (int level = 1; level <= b->rows->layers; level++) {
        size_t to = b->node.n;
        for (; from < to; from++) {
            int u = b->node.v[from];
            if (u >= g->n) continue; /* only rows receive from a new node */
            for (int k = g->out_at[u]; k < g->out_at[u + 1]; k++) {
                if (b->mark[g->out_to[k]] != c + 1) reach(b, c, g->out_to[k]);
            }
        }
        count[level] = (int)(b->node.n - to);
    }
}

/* Turns counts into first rows, level by level, and sets active. */
static void allot(build *b)
{
    ag_rows *rows = b->rows;
    int next = rows->n, levels = rows->layers + 1;
    for (int level = 0; level < levels; level++) {
        for (int c = 0; c < b->n_candidates; c++) {
            int *count = &b->count[c * levels + level], here = *count;
            *count = next;
            next += here;
        }
        rows->active[level] = next;
    }
    rows->rows = next;
}

static void put_edges(ag_rows *rows, int *next, const int *from, int begin, int end, int feature)
{
    for (int k = begin; k < end; k++, (*next)++) {
        rows->own[*next] = rows->other[*next] = from[k];
        rows->feature[*next] = feature + k;
    }
}

/* Number of incoming edges of a candidate's node. */
static int degree(const ag_graph *g, const ag_delta *d, int node, int row)
{
    return row >= 0 ? d->in_at[row + 1] - d->in_at[row] : g->in_at[node + 1] - g->in_at[node];
}

/* Rows of candidate c: where they are, what they stand for, how many edges they have. */
static size_t number(build *b, int c, size_t first)
{
    ag_rows *rows = b->rows;
    const ag_delta *d = &b->candidates[c].delta;
    int levels = rows->layers + 1;
    const int *start = b->count + (size_t)c * (size_t)levels;
    size_t i = first;
    for (int level = 0; level < levels; level++) {
        int stop = c + 1 < b->n_candidates ? start[levels + level] : rows->active[level];
        for (int row = start[level]; row < stop; row++, i++) {
            int node = b->node.v[i];
            rows->base[row] = node < rows->n ? node : row;
            rows->edge_at[row + 1] = degree(b->graph, d, node, level == 0 ? (int)(i - first) : -1);
            rows->candidate_row[i] = row;
        }
    }
    rows->candidate_at[c + 1] = (int)i;
    return i;
}

/* The edges of candidate c, their senders resolved to its own rows where it has one. */
static void connect(build *b, int c, int feature)
{
    ag_rows *rows = b->rows;
    const ag_delta *d = &b->candidates[c].delta;
    int first = rows->candidate_at[c], last = rows->candidate_at[c + 1], n = rows->n;
    for (int i = first; i < last; i++) {
        int row = rows->candidate_row[i], base = rows->base[row];
        if (base != row) {
            b->mark[base] = c + 1;
            b->place[base] = row;
        }
    }
    for (int i = first; i < last; i++) {
        int row = rows->candidate_row[i], r = i - first, next = rows->edge_at[row];
        if (r < d->n_rows) {
            put_edges(rows, &next, d->in_from, d->in_at[r], d->in_at[r + 1], feature);
        } else {
            const ag_graph *g = b->graph;
            int node = rows->base[row];
            put_edges(rows, &next, g->in_from, g->in_at[node], g->in_at[node + 1], 0);
        }
        for (int e = rows->edge_at[row]; e < next; e++) {
            int u = rows->own[e];
            if (u >= n) { /* a new row by its number in the delta */
                rows->own[e] = rows->candidate_row[first + u - n];
                rows->other[e] = rows->base[rows->own[e]];
            } else if (b->mark[u] == c + 1) {
                rows->own[e] = b->place[u];
            }
        }
    }
}

static void sum_edges(ag_rows *rows)
{
    rows->most_edges = 0;
    for (int i = 0; i < rows->rows; i++) {
        if (rows->edge_at[i + 1] > rows->most_edges) rows->most_edges = rows->edge_at[i + 1];
        rows->edge_at[i + 1] += rows->edge_at[i];
    }
}

static void begin(build *b)
{
    ag_rows *rows = b->rows;
    size_t n = (size_t)rows->n, k = (size_t)b->n_candidates;
    b->mark = AG_GET(&rows->buffers[B_MARK], int, n + 1);
    b->place = AG_GET(&rows->buffers[B_PLACE], int, n + 1);
    b->count = AG_GET(&rows->buffers[B_LEVEL], int, k *(size_t)(rows->layers + 1) + 1);
    memset(b->mark, 0, (n + 1) * sizeof(int));
    b->node.v = rows->buffers[B_NODE].p;
    b->node.cap = rows->buffers[B_NODE].cap / sizeof(int);
}

/* Numbers all rows and makes room for their edges. */
static void lay_out(build *b)
{
    ag_rows *rows = b->rows;
    const ag_graph *g = b->graph;
    size_t all = (size_t)rows->rows;
    rows->base = AG_GET(&rows->buffers[B_BASE], int, all + 1);
    rows->edge_at = AG_GET(&rows->buffers[B_EDGE_AT], int, all + 1);
    rows->candidate_at = AG_GET(&rows->buffers[B_CAND_AT], int, b->n_candidates + 1);
    rows->candidate_row = AG_GET(&rows->buffers[B_CAND_ROW], int, all - (size_t)rows->n + 1);
    rows->edge_at[0] = rows->candidate_at[0] = 0;
    for (int i = 0; i < rows->n; i++) {
        rows->base[i] = i;
        rows->edge_at[i + 1] = g->in_at[i + 1] - g->in_at[i];
    }
    size_t at = 0;
    for (int c = 0; c < b->n_candidates; c++) at = number(b, c, at);
    sum_edges(rows);
    size_t edges = (size_t)rows->edge_at[rows->rows];
    rows->own = AG_GET(&rows->buffers[B_OWN], int, edges + 1);
    rows->other = AG_GET(&rows->buffers[B_OTHER], int, edges + 1);
    rows->feature = AG_GET(&rows->buffers[B_FEATURE], int, edges + 1);
}

void ag_rows_build(ag_rows *rows, const ag_graph *graph, const ag_candidate *candidates,
                   int n_candidates, int layers)
{
    assert(layers <= AG_MAX_LAYERS);
    build b = {
        .rows = rows, .graph = graph, .candidates = candidates, .n_candidates = n_candidates};
    rows->layers = layers;
    rows->n = graph->n;
    begin(&b);
    for (int c = 0; c < n_candidates; c++) search(&b, c);
    allot(&b);
    lay_out(&b);
    int next = 0, feature = graph->m;
    put_edges(rows, &next, graph->in_from, 0, graph->m, 0);
    memset(b.mark, 0, (size_t)graph->n * sizeof(int));
    for (int c = 0; c < n_candidates; c++) {
        const ag_delta *d = &candidates[c].delta;
        connect(&b, c, feature);
        feature += d->n_rows ? d->in_at[d->n_rows] : 0;
    }
    rows->edge_features = feature;
    rows->buffers[B_NODE].p = b.node.v;
    rows->buffers[B_NODE].cap = b.node.cap * sizeof(int);
}

void ag_rows_done(ag_rows *rows)
{
    for (int i = 0; i < B_COUNT; i++) ag_buffer_done(&rows->buffers[i]);
}
