/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * What the operators of the table can do, found by trying each on an example (ops/example.def), and
 * the chapter of the manual that says it.
 */
#ifndef TG_OPERATORS_H
#define TG_OPERATORS_H

#include "engine/base/str.h"
#include "engine/ir/op.h"

/* Bit t of `types` stands for the element type t of the inputs that an example calls T. */
typedef struct tg_operator_trial {
    uint64_t types;  /* those for which the reference kernel ran; 0: none, or there is no kernel */
    const char *cpu; /* what the cpu backend runs for the first of them: "primitive", "loop",
                        "view", several joined by "+", or "none": the reference kernel */
} tg_operator_trial;

/* Builds and runs the example with every element type; plans it once. The same on every machine. */
tg_operator_trial tg_operator_try(tg_op op);
/* Adds a table in Markdown: one row an operator, in the order of its file. */
void tg_operators_manual(tg_str *out);

#endif
