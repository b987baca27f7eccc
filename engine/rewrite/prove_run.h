/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Running the graphs of a proof, in floats and in the field. For the files of rewrite/ only. */
#ifndef TG_REWRITE_PROVE_RUN_H
#define TG_REWRITE_PROVE_RUN_H

#include "engine/base/rng.h"
#include "match.h"
#include "prove.h"

/* What runs a node, and what a constant is. */
typedef struct prove_way {
    tg_status (*eval)(void *ctx, const tg_node *node, const tg_tensor *in, tg_tensor *out);
    /* The tensor of a constant; not NULL: the run frees its elements. */
    tg_status (*constant)(void *ctx, const tg_node *node, tg_tensor *out);
    void *ctx;
} prove_way;

/* The values of one run, by node id and port. */
typedef struct prove_run {
    const tg_graph *g;
    tg_tensor **values;
    bool own_constants;
} prove_run;

/* `inputs` by the number of the input; way NULL: the reference kernels. Free it in any case. */
tg_status prove_run_graph(const tg_graph *g, const tg_tensor *inputs, const prove_way *way,
                          prove_run *run) TG_MUST_USE;
void prove_run_free(prove_run *run);
/* Output i of the graph. */
const tg_tensor *prove_run_output(const prove_run *run, int i);

/* A site taken on a drawn graph. */
typedef struct prove_case {
    const tg_rule *rule;
    int number; /* of the sample */
    const tg_graph *before, *after;
    const tg_site *site;
    tg_rng *rng;
    tg_rule_report *report;
    bool equal; /* as formulas: what differs is rounding, and may be more of it */
} prove_case;

/*
 * prove_compare.c: both graphs on the same random numbers. *ran: the graph before runs; some
 * operators do not take all the types that are drawn. Errors: TG_DIFFERS saying where; the report's
 * detail has the graphs and what they ran on.
 */
tg_status prove_in_floats(const prove_case *c, bool *ran) TG_MUST_USE;
/* "file:line: rule NAME", into buf; returns buf. */
enum { PROVE_WHERE = 256 };
const char *prove_where(const tg_rule *rule, char *buf);

/*
 * prove_field.c: both graphs at a few random points of the field; fills in what the report says of
 * it. The site tells which constants may be any. True if they are equal there, false if they
 * differ or lie outside.
 */
bool prove_in_field(const prove_case *c);

/*
 * prove_degree.c: what bounds the chance that two graphs which differ as formulas agree at a
 * random point. Elements are quotients of polynomials in what is drawn and in what oracles answer;
 * the union bound adds to the lemma of Schwartz and Zippel the chance that two questions which
 * differ as formulas are the same number.
 */
typedef struct prove_bound {
    double degree; /* of the difference of two outputs that belong together */
    double slip;   /* at one point */
} prove_bound;
/* `fixed` has a bit, by node id, for each constant that is not drawn. */
prove_bound prove_bound_of(const tg_graph *before, const tg_graph *after, const bool *fixed);

#endif
