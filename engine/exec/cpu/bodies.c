/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Bodies of If, Loop and Scan: planned with the graph around them where their inputs have types. */
#include "engine/exec/reference.h"
#include "plan.h"

enum { BODIES = 2 }; /* of a node */

/* Invariant: plan[i] runs body i, or is NULL: then the reference does. */
typedef struct bodies {
    tg_runner runner;
    const tg_graph *g[BODIES];
    tg_plan *plan[BODIES];
    int n;
} bodies;

static tg_status run_body(void *ctx, const tg_graph *g, const tg_tensor *in, tg_tensor *out)
{
    const bodies *b = ctx;
    for (int i = 0; i < b->n; i++)
        if (b->g[i] == g && b->plan[i]) return tg_plan_run(b->plan[i], in, out);
    return tg_reference_run(g, in, out);
}

static void free_bodies(void *own)
{
    bodies *b = own;
    for (int i = 0; i < b->n; i++) tg_plan_free(b->plan[i]);
}

void tg_cpu_add_stats(tg_plan_stats *to, const tg_plan_stats *from)
{
    to->weight_bytes += from->weight_bytes;
    to->primitives += from->primitives;
    to->loops += from->loops;
    to->reorders += from->reorders;
    to->views += from->views;
    to->absorbed += from->absorbed;
    to->reference += from->reference;
    to->slow += from->slow;
}

const tg_runner *tg_cpu_bodies(tg_cpu_plan *p, const tg_node *node)
{
    bodies *b = TG_NEW(p->memory, bodies);
    tg_plan_options options = {.threads = p->threads, .job = p->job};
    b->runner = (tg_runner){run_body, b};
    for (uint32_t i = 0; i < node->attrs->n && b->n < BODIES; i++) {
        const tg_attr *a = &node->attrs->a[i];
        if (a->kind != TG_ATTR_GRAPH) continue;
        b->g[b->n] = a->graph;
        if (tg_plan_new(tg_backend_find("cpu"), a->graph, &options, &b->plan[b->n]) == TG_OK)
            tg_cpu_add_stats(p->stats, tg_plan_stats_of(b->plan[b->n]));
        else p->stats->reference += (int)tg_graph_op_count(a->graph);
        b->n++;
    }
    tg_arena_hold(p->memory, free_bodies, b);
    return &b->runner;
}
