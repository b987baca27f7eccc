/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The column `cpu` of the operator table. */
#include "plan.h"

/* A repeated declaration is legal, so rows may share functions. */
#define OP(id, name, domain, since, in, out, attrs, folds, flags, infer, kernel, work, cpu, doc)   \
    tg_status tg_cpu_plan_##cpu(tg_cpu_plan *p, const tg_node *node);
#include "engine/ops/ops.def"
#undef OP

#define tg_cpu_plan_none NULL

static const tg_cpu_plan_fn plans[] = {
#define OP(id, name, domain, since, in, out, attrs, folds, flags, infer, kernel, work, cpu, doc)   \
    tg_cpu_plan_##cpu,
#include "engine/ops/ops.def"
#undef OP
};

/* What a node reads or makes while running only goes through the reference kernels. */
static bool is_known(const tg_cpu_plan *p, const tg_node *node)
{
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] != TG_NO_VALUE && (!tg_type_complete(tg_cpu_type(p, node->in[i])) ||
                                           tg_cpu_type(p, node->in[i])->dtype == TG_STR))
            return false;
    for (int i = 0; i < node->n_out; i++)
        if (!tg_type_complete(&node->out[i]) || node->out[i].dtype == TG_STR) return false;
    return true;
}

tg_status tg_cpu_plan_anchor(tg_cpu_plan *p, const tg_node *node)
{
    if (!plans[node->op] || !is_known(p, node)) return tg_fail(TG_UNSUPPORTED, "no anchor");
    return plans[node->op](p, node);
}

tg_status tg_cpu_plan_shadow(tg_cpu_plan *p, const tg_node *node)
{
    return tg_cpu_plan_anchor(p, node);
}

tg_status tg_cpu_plan_node(tg_cpu_plan *p, const tg_node *node)
{
    if (node->op == TG_OP_OPAQUE || (!plans[node->op] && !tg_op_get(node->op)->kernel))
        return tg_fail(TG_UNSUPPORTED, "operator %s cannot be run",
                       node->op == TG_OP_OPAQUE ? tg_node_attr(node, "op_type")->s
                                                : tg_op_get(node->op)->name);
    if (plans[node->op] && is_known(p, node)) {
        tg_status status = plans[node->op](p, node);
        if (status == TG_UNSUPPORTED) status = tg_cpu_plan_halves(p, node);
        if (status != TG_UNSUPPORTED) return status;
    }
    if (!tg_op_get(node->op)->kernel)
        return tg_fail(TG_UNSUPPORTED, "operator %s cannot be run", tg_op_get(node->op)->name);
    return tg_cpu_plan_reference(p, node);
}
