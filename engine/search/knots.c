/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "knots.h"

#include <stdlib.h>

void knots_init(knots *k, uint32_t n)
{
    *k = (knots){.n = n,
                 .next = tg_calloc((size_t)n + 1, sizeof *k->next),
                 .knot = tg_calloc((size_t)n + 1, sizeof *k->knot),
                 .size = tg_calloc((size_t)n + 1, sizeof *k->size)};
}

void knots_done(knots *k)
{
    for (uint32_t i = 0; i < k->n; i++) tg_vec_free(&k->next[i]);
    free(k->next);
    free(k->knot);
    free(k->size);
}

void knots_link(knots *k, uint32_t from, uint32_t to)
{
    tg_vec_push(&k->next[from], to);
}

/* Invariants: met[i] is 0 for numbers not met, else their rank from 1; `open` have no knot yet. */
typedef struct walk {
    knots *k;
    uint32_t *met, *low;
    size_t *at; /* the next link to follow */
    bool *is_open;
    knots_vec way, open;
    uint32_t ranks;
} walk;

static void meet(walk *w, uint32_t i)
{
    w->met[i] = w->low[i] = ++w->ranks;
    w->is_open[i] = true;
    tg_vec_push(&w->way, i);
    tg_vec_push(&w->open, i);
}

static void leave(walk *w, uint32_t i)
{
    w->way.n--;
    if (w->way.n) {
        uint32_t from = tg_vec_last(&w->way);
        if (w->low[i] < w->low[from]) w->low[from] = w->low[i];
    }
    if (w->low[i] != w->met[i]) return;
    for (uint32_t member = UINT32_MAX; member != i;) {
        member = tg_vec_pop(&w->open);
        w->is_open[member] = false;
        w->k->knot[member] = i;
        w->k->size[i]++;
    }
}

static void walk_from(walk *w, uint32_t start)
{
    meet(w, start);
    while (w->way.n) {
        uint32_t i = tg_vec_last(&w->way);
        const knots_vec *next = &w->k->next[i];
        if (w->at[i] == next->n) {
            leave(w, i);
            continue;
        }
        uint32_t to = next->v[w->at[i]++];
        if (!w->met[to]) meet(w, to);
        else if (w->is_open[to] && w->met[to] < w->low[i]) w->low[i] = w->met[to];
    }
}

void knots_find(knots *k)
{
    size_t n = (size_t)k->n + 1;
    walk w = {.k = k,
              .met = tg_calloc(n, sizeof *w.met),
              .low = tg_calloc(n, sizeof *w.low),
              .at = tg_calloc(n, sizeof *w.at),
              .is_open = tg_calloc(n, sizeof *w.is_open)};
    for (uint32_t i = 0; i < k->n; i++)
        if (!w.met[i]) walk_from(&w, i);
    free(w.met);
    free(w.low);
    free(w.at);
    free(w.is_open);
    tg_vec_free(&w.way);
    tg_vec_free(&w.open);
}
