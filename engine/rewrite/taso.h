/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * TASO's own first step, for comparison: what its matcher finds in a graph and what graphs it would
 * make, right or wrong. The semantics are those of the program published with Jia et al., SOSP
 * 2019: positional operands, groups derived from shapes, splits at the boundaries that
 * concatenations leave, dead operators kept.
 */
#ifndef TG_REWRITE_TASO_H
#define TG_REWRITE_TASO_H

#include "engine/base/job.h"
#include "engine/ir/graph.h"

/* One rule's complete matches, and what became of them: full = bad_shape + external + graphs. */
typedef struct tg_taso_count {
    char rule[8]; /* B0 ... B17, then pb0 ... */
    int full;
    int bad_shape; /* the new operators do not fit */
    int external;  /* an inner value is used outside */
    int graphs;
    int loops;    /* of the graphs: those with a cycle */
    int distinct; /* of the graphs: those that no earlier match gave */
} tg_taso_count;

typedef struct tg_taso_report {
    int nodes, ops; /* as TASO counts them: a pool owns a weight */
    tg_taso_count *rules;
    int n_rules; /* those with a full match */
    int graphs, loops, distinct;
    double ms;
} tg_taso_report;

/*
 * Counts for the 18 built-in rules and those of the file. Free with tg_taso_report_done. Errors:
 * TG_IO, TG_RULE (the file), TG_CANCELLED. Time: about the matches times the nodes behind them.
 */
tg_status tg_taso_exact(const char *path, const tg_graph *g, const tg_job *job,
                        tg_taso_report *out) TG_MUST_USE;
void tg_taso_report_done(tg_taso_report *report);

#endif
