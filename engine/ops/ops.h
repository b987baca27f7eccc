/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The operators' numbers: TG_OP_Conv and so on. */
#ifndef TG_OPS_OPS_H
#define TG_OPS_OPS_H

#include "engine/ir/op.h"

enum {
#define OP(id, name, domain, since, in, out, attrs, folds, flags, infer, kernel, work, cpu, doc)   \
    TG_OP_NUMBER_##id,
#include "ops.def"
#undef OP
    TG_OP_NUMBERS
};

/* TG_OP_Relu etc.; the first four are those of ir/op.h. */
#define TG_OP(id) ((tg_op)TG_OP_NUMBER_##id)

#endif
