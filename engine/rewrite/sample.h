/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Drawing graphs and data for proofs. For the files of rewrite/ only. */
#ifndef TG_REWRITE_SAMPLE_H
#define TG_REWRITE_SAMPLE_H

#include "engine/base/rng.h"
#include "engine/ir/build.h"
#include "match.h"

/* A graph being drawn. */
typedef struct sample {
    const tg_rule *rule;
    uint64_t skip; /* facts that the data need not satisfy */
    bool bare;     /* what need not be constant is not, only results are outputs */
    tg_rng *rng;
    tg_arena *arena;
    tg_builder *b;
    tg_dtype dtype;                      /* of most values */
    tg_dtype byte;                       /* of quantised ones; TG_DTYPE_NONE: not drawn yet */
    tg_shape base;                       /* shapes that no declaration gives come from this one */
    int64_t cube;                        /* dimensions are this or 1; 0: any */
    int elements;                        /* of lists */
    int parts;                           /* of the Split at hand */
    int named;                           /* values of lists so far */
    int list_axis;                       /* along which undeclared elements of a list differ */
    int style;                           /* of the data */
    uint64_t single;                     /* bits of values that are asked to have one element */
    uint64_t consts, above, below, flat; /* bits of values: what facts say of them */
    int channels_of[RULE_VALUES];        /* 1 + the value whose channels it has a number for */
    names names;
    tg_attr *rests[RULE_RESTS];
} sample;

int sample_below(sample *s, int n);
bool sample_chance(sample *s, int percent);
int64_t sample_dim(sample *s);

/* sample_attr.c: attribute `index` of a node of that operator over these inputs. */
tg_attr sample_attr(sample *s, tg_op op, int index, const tg_attr *so_far, const tg_value *in,
                    int n_in);
/* sample_role.c: the type that a free value must have; TG_DTYPE_NONE: that of most. */
tg_dtype sample_role(sample *s, int slot);
/* sample_data.c: random elements; sign 1: positive, -1: negative, 0: any. */
void sample_fill(sample *s, tg_tensor *t, int sign, bool flat);

/* sample.c: bits of the values whose elements conditions look at. */
uint64_t sample_reads(const tg_rule *rule);

/*
 * sample.c: a graph of the rule's form. Fails often: what is drawn need not fit together.
 * Errors: those of building.
 */
tg_status sample_graph(const tg_rule *rule, tg_rng *rng, uint64_t skip, tg_graph **out) TG_MUST_USE;
/* The same without what hinders some rewrites: outputs within the form, constants not asked for. */
tg_status sample_bare_graph(const tg_rule *rule, tg_rng *rng, tg_graph **out) TG_MUST_USE;

#endif
