/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "features.h"

#include <stdlib.h>
#include <string.h>

static void names_copy(tg_arena *arena, ag_names *to, const ag_names *from)
{
    const char **name = TG_NEW_ARRAY(arena, const char *, from->n + 1);
    for (int i = 0; i < from->n; i++) name[i] = tg_arena_strdup(arena, from->name[i]);
    *to = (ag_names){from->n, name};
}

ag_spec *ag_spec_copy(tg_arena *arena, const ag_spec *spec)
{
    ag_spec *copy = TG_NEW(arena, ag_spec);
    names_copy(arena, &copy->operators, &spec->operators);
    names_copy(arena, &copy->rules, &spec->rules);
    names_copy(arena, &copy->node, &spec->node);
    names_copy(arena, &copy->edge, &spec->edge);
    names_copy(arena, &copy->candidate, &spec->candidate);
    names_copy(arena, &copy->global, &spec->global);
    return copy;
}

int ag_names_find(const ag_names *names, const char *name)
{
    for (int i = 0; i < names->n; i++) {
        if (!strcmp(names->name[i], name)) return i;
    }
    return -1;
}

/* Receivers by sender, from senders by receiver. */
static void build_out(tg_arena *arena, ag_graph *g)
{
    int *at = TG_NEW_ARRAY(arena, int, g->n + 2);
    for (int i = 0; i < g->n; i++) {
        for (int k = g->in_at[i]; k < g->in_at[i + 1]; k++) {
            if (g->in_from[k] != i) at[g->in_from[k] + 2]++;
        }
    }
    for (int i = 0; i < g->n; i++) at[i + 2] += at[i + 1];
    int *to = TG_NEW_ARRAY(arena, int, at[g->n + 1] + 1);
    for (int i = 0; i < g->n; i++) {
        for (int k = g->in_at[i]; k < g->in_at[i + 1]; k++) {
            if (g->in_from[k] != i) to[at[g->in_from[k] + 1]++] = i;
        }
    }
    g->out_at = at;
    g->out_to = to;
}

static void put_edge(int *from, float *x, int *next, int sender, const float *link, int dims,
                     int kind)
{
    int k = (*next)++;
    float *row = x + (size_t)k * (size_t)dims;
    from[k] = sender;
    if (link) memcpy(row, link, (size_t)dims * sizeof *row);
    memset(row, 0, AG_EDGE_KINDS * sizeof *row);
    row[kind] = 1;
}

void ag_graph_build(tg_arena *arena, ag_graph *graph, int n, const int *op, const float *x,
                    int links, const int *from, const int *to, const float *link_x, int dims)
{
    int m = n + 2 * links;
    int *at = TG_NEW_ARRAY(arena, int, n + 2), *in_from = TG_NEW_ARRAY(arena, int, m + 1);
    float *in_x = TG_NEW_ARRAY(arena, float, (size_t)(m + 1) * (size_t)dims);
    for (int i = 0; i < n; i++) at[i + 2] = 1;
    for (int k = 0; k < links; k++) {
        at[to[k] + 2]++;
        at[from[k] + 2]++;
    }
    for (int i = 0; i < n; i++) at[i + 2] += at[i + 1];
    for (int i = 0; i < n; i++) put_edge(in_from, in_x, &at[i + 1], i, NULL, dims, AG_EDGE_SELF);
    for (int k = 0; k < links; k++) {
        const float *link = link_x + (size_t)k * (size_t)dims;
        put_edge(in_from, in_x, &at[to[k] + 1], from[k], link, dims, AG_EDGE_FORWARD);
        put_edge(in_from, in_x, &at[from[k] + 1], to[k], link, dims, AG_EDGE_REVERSE);
    }
    *graph =
        (ag_graph){.n = n, .m = m, .op = op, .x = x, .in_at = at, .in_from = in_from, .in_x = in_x};
    build_out(arena, graph);
}

ag_state *ag_state_new(void)
{
    tg_arena *arena = tg_arena_new();
    ag_state *state = TG_NEW(arena, ag_state);
    atomic_init(&state->refs, 1);
    state->arena = arena;
    return state;
}

ag_state *ag_state_ref(ag_state *state)
{
    atomic_fetch_add_explicit(&state->refs, 1, memory_order_relaxed);
    return state;
}

void ag_state_unref(ag_state *state)
{
    if (!state) return;
    if (atomic_fetch_sub_explicit(&state->refs, 1, memory_order_acq_rel) == 1)
        tg_arena_free(state->arena);
}

static void release_state(void *state)
{
    ag_state_unref(state);
}

ag_state *ag_state_share(ag_state *state)
{
    ag_state *copy = ag_state_new();
    tg_arena_hold(copy->arena, release_state, ag_state_ref(state));
    copy->key = state->key;
    copy->graph = state->graph;
    copy->no_stop = state->no_stop;
    copy->n_candidates = state->n_candidates;
    copy->global = state->global;
    copy->candidates = TG_NEW_ARRAY(copy->arena, ag_candidate, state->n_candidates + 1);
    for (int i = 0; i < state->n_candidates; i++) copy->candidates[i] = state->candidates[i];
    return copy;
}

static bool in_range(const int *v, int n, int limit)
{
    for (int i = 0; i < n; i++) {
        if (v[i] < 0 || v[i] >= limit) return false;
    }
    return true;
}

static bool delta_ok(const ag_graph *g, const ag_delta *d, const ag_spec *spec, char *role)
{
    memset(role, 0, (size_t)g->n + 1);
    if (!in_range(d->gone, d->n_gone, g->n)) return false;
    for (int i = 0; i < d->n_gone; i++) {
        if (role[d->gone[i]]) return false;
        role[d->gone[i]] = 1;
    }
    if (!in_range(d->op, d->n_rows, spec->operators.n)) return false;
    for (int r = 0; r < d->n_rows; r++) {
        if (d->base[r] < -1 || d->base[r] >= g->n) return false;
        if (d->base[r] < 0) continue;
        if (role[d->base[r]]) return false;
        role[d->base[r]] = 2;
    }
    if (d->n_rows && !in_range(d->in_from, d->in_at[d->n_rows], g->n + d->n_rows)) return false;
    for (int k = 0; d->n_rows && k < d->in_at[d->n_rows]; k++) {
        if (d->in_from[k] < g->n && role[d->in_from[k]] == 1) return false;
    }
    for (int i = 0; i < g->n; i++) {
        if (role[i]) continue;
        for (int k = g->in_at[i]; k < g->in_at[i + 1]; k++) {
            if (role[g->in_from[k]] == 1) return false;
        }
    }
    return true;
}

tg_status ag_state_check(const ag_state *state, const ag_spec *spec)
{
    const ag_graph *g = &state->graph;
    if (!in_range(g->op, g->n, spec->operators.n) || !in_range(g->in_from, g->m, g->n))
        return tg_fail(TG_INVALID, "features: an index of the graph is out of range");
    char *role = tg_malloc((size_t)g->n + 1);
    tg_status status = TG_OK;
    for (int c = 0; c < state->n_candidates && status == TG_OK; c++) {
        const ag_candidate *a = &state->candidates[c];
        if (a->rule < 0 || a->rule >= spec->rules.n)
            status = tg_fail(TG_INVALID, "features: candidate %d has no rule", c);
        else if (!delta_ok(g, &a->delta, spec, role))
            status = tg_fail(TG_INVALID, "features: candidate %d changes the graph wrongly", c);
    }
    free(role);
    return status;
}

/* New index of each old node and row: place[0..n) nodes (-1 gone), place[n..) rows. */
static int renumber(int *place, const ag_graph *g, const ag_delta *d)
{
    int next = 0;
    memset(place, 0, (size_t)g->n * sizeof *place);
    for (int i = 0; i < d->n_gone; i++) place[d->gone[i]] = -1;
    for (int i = 0; i < g->n; i++) {
        if (place[i] == 0) place[i] = next++;
    }
    for (int r = 0; r < d->n_rows; r++)
        place[g->n + r] = d->base[r] >= 0 ? place[d->base[r]] : next++;
    return next;
}

void ag_graph_apply(tg_arena *arena, ag_graph *after, const ag_graph *g, const ag_delta *d,
                    const ag_spec *spec)
{
    size_t dims = (size_t)spec->node.n, edge = (size_t)spec->edge.n;
    int *place = tg_malloc(sizeof(int) * (size_t)(g->n + d->n_rows + 1));
    int n = renumber(place, g, d), m = 0;
    int *source = tg_malloc(sizeof(int) * (size_t)(n + 1)); /* node i of `after`: node or n + row */
    for (int i = 0; i < g->n; i++) {
        if (place[i] >= 0) source[place[i]] = i;
    }
    for (int r = 0; r < d->n_rows; r++) source[place[g->n + r]] = g->n + r;
    int *op = TG_NEW_ARRAY(arena, int, n + 1), *at = TG_NEW_ARRAY(arena, int, n + 1);
    float *x = TG_NEW_ARRAY(arena, float, (size_t)(n + 1) * dims);
    int most = g->m + (d->n_rows ? d->in_at[d->n_rows] : 0);
    int *from = TG_NEW_ARRAY(arena, int, most + 1);
    float *in_x = TG_NEW_ARRAY(arena, float, (size_t)(most + 1) * edge);
    for (int i = 0; i < n; i++) {
        bool row = source[i] >= g->n;
        int s = row ? source[i] - g->n : source[i];
        const int *s_at = row ? d->in_at : g->in_at, *s_from = row ? d->in_from : g->in_from;
        const float *s_x = row ? d->in_x : g->in_x;
        op[i] = (row ? d->op : g->op)[s];
        memcpy(x + (size_t)i * dims, (row ? d->x : g->x) + (size_t)s * dims, dims * sizeof *x);
        at[i] = m;
        for (int k = s_at[s]; k < s_at[s + 1]; k++, m++) {
            from[m] = place[s_from[k]];
            memcpy(in_x + (size_t)m * edge, s_x + (size_t)k * edge, edge * sizeof *x);
        }
    }
    at[n] = m;
    free(place);
    free(source);
    *after =
        (ag_graph){.n = n, .m = m, .op = op, .x = x, .in_at = at, .in_from = from, .in_x = in_x};
    build_out(arena, after);
}
