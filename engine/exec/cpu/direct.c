/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Operators whose reference kernel is the loop to run: typed rows, copies, choices by index. The
 * step keeps the call ready, so that a node of few elements costs little more than its loop.
 */
#include "loop.h"

#include "engine/base/arena.h"

#include <string.h>

typedef struct direct {
    tg_call call;
    bool clears; /* the kernel leaves out elements that are 0 */
} direct;

static void close_direct(void *own)
{
    direct *k = own;
    tg_arena_free(k->call.arena);
}

static tg_status run_direct(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    direct *k = step->own;
    tg_call *call = &k->call;
    tg_tensor *in = (tg_tensor *)(uintptr_t)call->in;
    for (int i = 0; i < call->n_in; i++) in[i].data = ptr[i];
    for (int i = 0; i < call->n_out; i++) {
        call->out[i].data = ptr[call->n_in + i];
        if (k->clears) memset(call->out[i].data, 0, tg_tensor_bytes(&call->out[i]));
    }
    tg_status status = call->row->kernel(call);
    if (status != TG_OK)
        status = tg_wrap(status, "%s%s%s", call->row->name, step->node->name[0] ? " " : "",
                         step->node->name);
    if (tg_arena_size(call->arena)) {
        tg_arena_free(call->arena);
        call->arena = tg_arena_new();
    }
    return status;
}

tg_status tg_cpu_plan_kernel(tg_cpu_plan *p, const tg_node *node)
{
    direct k = {.clears = !(tg_op_get(node->op)->flags & TG_ELTWISE)};
    tg_tensor *in = TG_NEW_ARRAY(p->memory, tg_tensor, node->n_in + 1);
    tg_tensor *out = TG_NEW_ARRAY(p->memory, tg_tensor, node->n_out + 1);
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i] == TG_NO_VALUE) continue;
        const tg_type *type = tg_cpu_type(p, node->in[i]);
        in[i] = (tg_tensor){type->dtype, type->shape, NULL};
    }
    for (int i = 0; i < node->n_out; i++)
        out[i] = (tg_tensor){node->out[i].dtype, node->out[i].shape, NULL};
    k.call = (tg_call){.row = tg_op_get(node->op),
                       .attr = node->attrs->a,
                       .n_in = node->n_in,
                       .n_out = node->n_out,
                       .in = in,
                       .out = out};
    TG_TRY(tg_cpu_loop(p, node, run_direct, &k, sizeof k, 0));
    tg_step *step = &tg_vec_last(&p->steps);
    ((direct *)step->own)->call.arena = tg_arena_new();
    step->close = close_direct;
    return TG_OK;
}
