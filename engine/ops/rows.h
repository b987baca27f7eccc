/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The functions that fill the columns of the operator table, declared from the table itself, and
 * what they share. A file of this folder defines those of its family.
 */
#ifndef TG_OPS_ROWS_H
#define TG_OPS_ROWS_H

#include "ops.h"

/* A repeated declaration is legal, so rows may share functions; infer_none etc. are never defined.
 */
#define OP(id, name, domain, since, in, out, attrs, folds, flags, op_infer, op_kernel, op_work,    \
           cpu, doc)                                                                               \
    tg_status infer_##op_infer(tg_infer *infer);                                                   \
    tg_status kernel_##op_kernel(tg_call *call);                                                   \
    void work_##op_work(const tg_attr *attr, const tg_type *in_types, int n_in,                    \
                        const tg_type *out_types, int n_out, tg_work *work);
#include "ops.def"
#undef OP

/* Present input of an infer or a call? */
static inline bool has_type(const tg_infer *infer, int slot)
{
    return slot < infer->n_in && infer->in[slot].dtype != TG_DTYPE_NONE;
}
static inline bool has_input(const tg_call *call, int slot)
{
    return slot < call->n_in && call->in[slot].data;
}
static inline const tg_attr *call_attr(const tg_call *call, const char *name)
{
    return tg_row_attr(call->row, call->attr, name);
}

#endif
