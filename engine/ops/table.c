/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of operators that ir/op.h promises. */
#include "ops.h"

#include "rows.h"

#define ANY (-1)
#define LEAST(least, most) least
#define MOST(least, most) most
#define infer_none NULL
#define kernel_none NULL
#define work_none NULL

const tg_op_row tg_op_rows[] = {
#define OP(id, op_name, op_domain, op_since, in, out, op_attrs, op_folds, op_flags, op_infer,      \
           op_kernel, op_work, cpu, op_doc)                                                        \
    {.name = op_name,                                                                              \
     .domain = op_domain,                                                                          \
     .since = op_since,                                                                            \
     .min_in = LEAST in,                                                                           \
     .max_in = MOST in,                                                                            \
     .min_out = LEAST out,                                                                         \
     .max_out = MOST out,                                                                          \
     .attrs = op_attrs,                                                                            \
     .folds = op_folds,                                                                            \
     .flags = op_flags,                                                                            \
     .infer = infer_##op_infer,                                                                    \
     .kernel = kernel_##op_kernel,                                                                 \
     .work = work_##op_work,                                                                       \
     .doc = op_doc},
#include "ops.def"
#undef OP
};

const int tg_op_row_count = (int)(sizeof tg_op_rows / sizeof *tg_op_rows);
