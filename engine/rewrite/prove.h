/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Proof of rules by test: graphs that a rule's `from` side describes are drawn at random, with
 * awkward shapes among them, the rule is applied, and both graphs run on the same data with the
 * reference kernels.
 */
#ifndef TG_REWRITE_PROVE_H
#define TG_REWRITE_PROVE_H

#include "engine/ir/graph.h"
#include "rule.h"

typedef struct tg_rule_report {
    int samples;    /* graphs on which the rule was taken and compared */
    int sites;      /* sites taken in them */
    int refused;    /* sites whose right side did not fit there: another shape, a type ... */
    bool exact;     /* every element was the same to the last bit */
    double worst;   /* largest difference, in parts of the largest element of its tensor */
    int conditions; /* sound ones; each was dropped in turn ... */
    int earned;     /* ... and for so many of them a wrong rewrite was found */
    uint64_t seed;  /* number of the sample that failed, if one did */
    /*
     * Of `sites`, `field` lay in a prime field (field.h); on `agreed` of them the sides were equal
     * there at `points` random points each. A site whose sides differ as formulas, of degree at
     * most `degree` in what is drawn, agrees with a chance of at most `slip` (Schwartz 1980, Zippel
     * 1979).
     */
    int field, agreed, points;
    double degree, slip;
    char detail[4096]; /* where the sides differ: both graphs and the inputs; else "" */
} tg_rule_report;

/*
 * Proves rule i on `samples` drawn graphs. Errors: TG_DIFFERS (the sides differ, or a sound
 * condition never matters), TG_RULE (no graph was found that the rule fits); the message begins
 * with file and line and says which sample, result and element, or which condition. The report is
 * filled in any case.
 */
tg_status tg_rule_prove(const tg_rules *rules, int i, uint64_t seed, int samples,
                        tg_rule_report *report) TG_MUST_USE;
/* How long to look. tg_rule_prove gives up drawing after 40000 tries a sample. */
typedef struct tg_rule_effort {
    int samples, tries;
    bool conditions; /* must they matter? */
} tg_rule_effort;
tg_status tg_rule_prove_with(const tg_rules *rules, int i, uint64_t seed,
                             const tg_rule_effort *effort, tg_rule_report *report) TG_MUST_USE;
/* Were all sites that lay in the field equal there, one at least, with a slip below 1e-6? */
bool tg_rule_proved_exactly(const tg_rule_report *report);
/* How the rule was proved, in words: "exact over a prime field (...), ...". */
void tg_rule_report_text(const tg_rule_report *report, tg_str *out);

/* A graph of the form that rule i looks for. Errors: TG_RULE (none was found). */
tg_status tg_rule_draw(const tg_rules *rules, int i, uint64_t seed, tg_graph **out) TG_MUST_USE;
/*
 * One whose outputs are the results of the rule alone and whose constants are those that the rule
 * asks for, so that all of the form may be rewritten on the way to something else.
 */
tg_status tg_rule_draw_bare(const tg_rules *rules, int i, uint64_t seed,
                            tg_graph **out) TG_MUST_USE;

#endif
