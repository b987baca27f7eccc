/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Where rules apply in a graph, what applying one would do, and doing it.
 *
 * A site is a rule and a binding of its names to nodes and values, in the graph or in a body of one
 * of its nodes: then that node is the site's only one, and taking the site makes it anew. A preview
 * tells what taking a site changes without building a graph. A candidate is a site whose preview is
 * fine and whose result no earlier candidate has. Nothing here depends on addresses or threads.
 */
#ifndef TG_REWRITE_SITES_H
#define TG_REWRITE_SITES_H

#include "engine/base/job.h"
#include "engine/ir/graph.h"
#include "rule.h"

typedef struct tg_site_binding tg_site_binding; /* opaque */

typedef struct tg_site {
    int rule;              /* of the set that found it */
    int n_nodes;           /* matched nodes, in the order of the rule's lines */
    const uint32_t *nodes; /* ids */
    uint64_t key;          /* identity across runs and graphs: rule name, node ids, binding */
    const tg_site_binding *binding;
} tg_site;

/* For a site in a body: the site there and the body, a graph with sites of its own; else NULL. */
const tg_site *tg_site_inner(const tg_graph *g, const tg_site *site, const tg_graph **body);

/* All sites of one graph: by rule, then by place in the graph's order, then by node ids. */
typedef struct tg_sites tg_sites;

/* Errors: TG_CANCELLED. `job` may be NULL. About linear in the graph. */
tg_status tg_sites_find(const tg_rules *rules, const tg_graph *g, const tg_job *job,
                        tg_sites **out) TG_MUST_USE;
/*
 * The sites of `next`, made by one rewrite from the graph of `old`: looks only around what changed.
 * Gives the same sites in the same order as tg_sites_find.
 */
tg_status tg_sites_update(const tg_sites *old, const tg_graph *next, const tg_job *job,
                          tg_sites **out) TG_MUST_USE;
/* What a site can be found again by in the same graph: 24 bytes where a site takes hundreds. */
typedef struct tg_site_mark {
    int rule;
    uint32_t anchor;
    uint64_t key;
} tg_site_mark;

tg_site_mark tg_site_mark_of(const tg_site *site);
/*
 * The site of a mark, in the arena. O(sites at its first node); those in bodies are looked for
 * everywhere. Errors: TG_NOTFOUND (the graph is another one).
 */
tg_status tg_site_recall(const tg_rules *rules, const tg_graph *g, tg_site_mark mark,
                         tg_arena *arena, tg_site *out) TG_MUST_USE;

int tg_sites_count(const tg_sites *sites);
const tg_site *tg_sites_get(const tg_sites *sites, int i); /* lives as long as `sites` */
void tg_sites_free(tg_sites *sites);                       /* NULL is fine */

/*
 * A node that a rewrite would make. Its id is graph->n_ids plus its index in tg_preview.come, and
 * it will have that id in the graph built.
 */
typedef struct tg_preview_node {
    tg_op op;
    uint16_t n_in, n_out;
    int n_attr;
    const tg_attr *attr; /* by spec position, canonical */
    const tg_value *in;  /* of nodes of the graph or of earlier new nodes; TG_NO_VALUE: absent */
    const tg_type *out;
    bool constant;     /* costs nothing at run time */
    tg_weight *weight; /* TG_OP_CONST only; held by the arena */
    const char *name;  /* of the node that it takes the place of; NULL: none */
    double cost_ms;    /* analytic (ops/cost.h); 0 if constant */
} tg_preview_node;

typedef struct tg_preview_redirect {
    tg_value from, to;
} tg_preview_redirect;

/* Everything lives in the arena that tg_site_preview was given. */
typedef struct tg_preview {
    bool ok;
    const char *why_not; /* NULL if ok; else a short fact; then only this and `unfit` hold */
    bool unfit;          /* the right side cannot be built there, or has other types */
    double cost_delta_ms;
    int nodes_gone, nodes_come; /* nodes that run: constants and constant expressions not counted */
    uint64_t change;            /* two sites of a graph with equal changes give equal graphs */
    const uint32_t *gone;       /* all nodes that go, ascending */
    int n_gone;
    const tg_preview_node *come; /* producers first */
    int n_come;
    const tg_preview_redirect *redirects; /* each use of `from` becomes a use of `to` */
    int n_redirects;
} tg_preview;

/*
 * What taking the site would do. Returns TG_OK also when the site cannot be taken (ok is false):
 * it would make a cycle, change a shape, raise the node count of a cancel or fuse rule ...
 */
tg_status tg_site_preview(const tg_rules *rules, const tg_graph *g, const tg_site *site,
                          tg_arena *arena, tg_preview *out) TG_MUST_USE;
/*
 * tg_graph.hash of the graph that taking the site builds, without building it. O(nodes below the
 * change).
 */
uint64_t tg_preview_hash(const tg_graph *g, const tg_preview *preview);
/*
 * The graph with the site taken; its hash is tg_preview_hash. Debug builds run tg_check.
 * Errors: TG_RULE (the preview is not ok).
 */
tg_status tg_site_apply(const tg_rules *rules, const tg_graph *g, const tg_site *site,
                        tg_graph **out) TG_MUST_USE;

/* What a search chooses from. */
typedef struct tg_candidate {
    const tg_site *site;
    tg_preview preview;
} tg_candidate;

/* In the order of sites. Holds references of rules and graph. */
typedef struct tg_candidates tg_candidates;

tg_status tg_candidates_find(const tg_rules *rules, const tg_graph *g, const tg_job *job,
                             tg_candidates **out) TG_MUST_USE;
tg_status tg_candidates_update(const tg_candidates *old, const tg_graph *next, const tg_job *job,
                               tg_candidates **out) TG_MUST_USE;
int tg_candidates_count(const tg_candidates *c);
const tg_candidate *tg_candidates_get(const tg_candidates *c, int i);
/* Position of the candidate whose site has this key, or -1. */
int tg_candidates_find_key(const tg_candidates *c, uint64_t key);
const tg_graph *tg_candidates_graph(const tg_candidates *c);
const tg_rules *tg_candidates_rules(const tg_candidates *c);
/* Sites found, sites whose preview was not ok, sites merged into an earlier candidate. */
void tg_candidates_tally(const tg_candidates *c, int *sites, int *refused, int *merged);
/* The graph with candidate i taken. */
tg_status tg_candidates_apply(const tg_candidates *c, int i, tg_graph **out) TG_MUST_USE;
/* Gives the previews' memory back: they are empty from here on, and made again where they are
 * needed. */
void tg_candidates_forget(tg_candidates *c);
void tg_candidates_free(tg_candidates *c); /* NULL is fine */

#endif
