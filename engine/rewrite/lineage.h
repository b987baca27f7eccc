/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Keys of graphs that rewrites make of one model, in the time of the change and not of what lies
 * behind it. Equal keys: equal graphs. Unequal keys need not mean unequal graphs (a rule may make
 * again what another took away): tg_graph_key tells, once the graph is built.
 */
#ifndef TG_REWRITE_LINEAGE_H
#define TG_REWRITE_LINEAGE_H

#include "sites.h"

typedef struct tg_lineage tg_lineage;

tg_lineage *tg_lineage_new(const tg_graph *g); /* O(graph); holds a reference */
uint64_t tg_lineage_key(const tg_lineage *lineage);
/* The key of the graph that taking a site of this graph makes. Not from two threads at once. */
uint64_t tg_lineage_after(tg_lineage *lineage, const tg_preview *preview);
void tg_lineage_free(tg_lineage *lineage); /* NULL is fine */

#endif
