/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "loop.h"

#include <string.h>

tg_status tg_cpu_loop(tg_cpu_plan *p, const tg_node *node, tg_step_fn run, const void *own,
                      size_t size, size_t scratch)
{
    int n = node->n_in + node->n_out + (scratch > 0);
    tg_operand *all = TG_NEW_ARRAY(p->memory, tg_operand, n + 1);
    for (int i = 0; i < node->n_in; i++) {
        all[i].buffer = -1;
        if (node->in[i] != TG_NO_VALUE) TG_TRY(tg_cpu_plain(p, node->in[i], &all[i]));
    }
    for (int i = 0; i < node->n_out; i++) {
        tg_layout plain = tg_layout_plain(&node->out[i].shape);
        all[node->n_in + i] = tg_cpu_new(p, &node->out[i], &plain);
        tg_cpu_set(p, node, (uint32_t)i, &all[node->n_in + i]);
    }
    if (scratch) {
        all[n - 1] = (tg_operand){.dtype = TG_U8};
        all[n - 1].buffer = tg_cpu_scratch(p, scratch);
    }
    void *copy = own ? tg_arena_dup(p->memory, own, size) : NULL;
    tg_cpu_step(p, node, run, copy, all, n);
    p->stats->loops++;
    return TG_OK;
}

const tg_attr *tg_cpu_attr(const tg_node *node, const char *name)
{
    int i = tg_op_attr_index(node->op, name);
    return i < 0 || node->attrs->a[i].kind == TG_ATTR_NONE ? NULL : &node->attrs->a[i];
}

bool tg_cpu_named(const tg_node *node, const char *name)
{
    return strcmp(tg_op_get(node->op)->name, name) == 0;
}

tg_fold3 tg_cpu_fold3(const tg_shape *s, int64_t axis)
{
    tg_fold3 f = {1, 1, 1};
    for (int i = 0; i < s->rank; i++) {
        if (i < axis) f.outer *= s->dim[i];
        else if (i == axis) f.dim = s->dim[i];
        else f.inner *= s->dim[i];
    }
    return f;
}
