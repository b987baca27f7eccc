/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A graph reached by steps from a root: what every search hands around and hands back. */
#ifndef TG_SEARCH_TRAIL_H
#define TG_SEARCH_TRAIL_H

#include "engine/rewrite/sites.h"

/* One step, in words that mean the same in another run. */
typedef struct tg_taken {
    const char *rule;    /* interned */
    const char *site;    /* labels of the matched nodes, "Conv_3,Relu_4"; interned */
    uint64_t key;        /* of the site */
    double predicted_ms; /* analytic cost of the graph after it */
    uint64_t hash;       /* of the graph after it */
    double probability;  /* that the chooser gave it; NaN where it gives none */
    int rank;            /* from 1, in the chooser's order; 0 where there is none */
} tg_taken;

/*
 * Invariants: parent is NULL for the root, else `taken` leads from the parent's graph to this one.
 * Reference-counted, immutable once made, so that threads may share trails.
 */
typedef struct tg_trail {
    atomic_int refs;
    const struct tg_trail *parent;
    tg_graph *graph;
    double cost_ms; /* analytic, of `graph` */
    int depth;      /* steps from the root */
    tg_taken taken;
} tg_trail;

/* Takes a reference of the graph; its cost is computed. */
tg_trail *tg_trail_root(const tg_graph *g);
/*
 * One step on: builds candidate i of the parent's graph. Errors: those of tg_candidates_apply.
 * probability and rank are set by the caller on the new trail before it is shared.
 */
tg_status tg_trail_step(const tg_trail *parent, const tg_candidates *c, int i,
                        tg_trail **next) TG_MUST_USE;
/* The same for a site found again by its mark. Errors: TG_NOTFOUND too. */
tg_status tg_trail_step_to(const tg_trail *parent, const tg_rules *rules, tg_site_mark mark,
                           tg_trail **next) TG_MUST_USE;
/* One step on to a graph, whose reference is taken over, that no candidate of a rule leads to. */
tg_trail *tg_trail_leap(const tg_trail *parent, tg_graph *graph, const char *rule,
                        const char *site);
tg_trail *tg_trail_ref(const tg_trail *trail);
void tg_trail_unref(const tg_trail *trail); /* NULL is fine; iterative */

/* The trail after `depth` steps from the root; depth <= trail->depth. */
const tg_trail *tg_trail_at(const tg_trail *trail, int depth);
/* The words for a site: labels of the first matched nodes. */
const char *tg_site_words(const tg_graph *g, const tg_site *site);

#endif
