/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What operators with bodies share: checks of what a body is given, and its work. */
#ifndef TG_OPS_BODY_H
#define TG_OPS_BODY_H

#include "engine/ir/graph.h"
#include "rows.h"

/* May input i of the body be a value of this type, `what` in messages? Errors: TG_TYPE, TG_SHAPE.
 */
tg_status tg_body_takes(const tg_graph *body, int i, const tg_type *t,
                        const char *what) TG_MUST_USE;
/* The captured values are inputs from..n_in of the node, and as many last ones of the body. */
tg_status tg_body_captured(const tg_infer *infer, const tg_graph *body, int from) TG_MUST_USE;
/* Has the body so many inputs and outputs? Errors: TG_INVALID. */
tg_status tg_body_counts(const tg_graph *body, int in, int out, const char *name) TG_MUST_USE;
/* Adds the work of so many runs. */
void tg_body_work(const tg_graph *body, double times, tg_work *work);

#endif
