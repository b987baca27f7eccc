/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A pair of expressions as a paragraph of the rule language. What the pair was found with (one
 * shape, one group, no strides) is left open as far as a choice of these ways says; whether the
 * rule is right is for its proof to tell. For the files of generate/ only.
 */
#ifndef TG_GENERATE_PARAGRAPH_H
#define TG_GENERATE_PARAGRAPH_H

#include "pairs.h"

/* How the groups of convolutions are written. */
typedef enum group_way {
    GROUP_ANY,   /* the new ones have those of the old ones */
    GROUP_SUM,   /* two filters joined have the groups of both: as many outputs for each group */
    GROUP_ONE,   /* one */
    GROUP_FOUND, /* as in the world: one, or two of the new ones */
    GROUP_WAYS
} group_way;

typedef struct way {
    bool any_axis; /* one axis for all concatenations and splits, of any shape */
    group_way group;
    bool plain;    /* convolutions without strides and dilations */
    unsigned same; /* a bit a pair of operands that must have one shape */
} way;

/* Writes the rule called `name`; false: the pair cannot be written like that. */
bool paragraph_write(const bank *b, const pair *p, const way *way, const char *name, tg_str *out);
/* Of a pair: is there one axis to leave open; has it convolutions; pairs of operands for way.same.
 */
bool paragraph_has_axis(const bank *b, const pair *p);
bool paragraph_has_conv(const bank *b, const pair *p);
int paragraph_operand_pairs(const bank *b, const pair *p);

#endif
