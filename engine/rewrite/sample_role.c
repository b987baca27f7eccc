/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Element types that the slot of an operator asks for, whatever the others have. */
#include "sample.h"

#include <string.h>

typedef enum role { ROLE_BYTE, ROLE_BOOL, ROLE_INDEX } role;

static const struct {
    const char *op;
    int slot;
    role role;
} roles[] = {
    {"QuantizeLinear", 2, ROLE_BYTE},
    {"DequantizeLinear", 0, ROLE_BYTE},
    {"DequantizeLinear", 2, ROLE_BYTE},
    {"Not", 0, ROLE_BOOL},
    {"Where", 0, ROLE_BOOL},
    {"Gather", 1, ROLE_INDEX},
};

static bool finds_role(const rule_node *node, int slot, role *out)
{
    for (int k = 0; k < node->n_in; k++) {
        if (node->in[k].kind != TERM_VALUE && node->in[k].kind != TERM_LIST) continue;
        if (node->in[k].slot != slot) continue;
        for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
            if (roles[i].slot != k || strcmp(roles[i].op, tg_op_get(node->op)->name) != 0) continue;
            *out = roles[i].role;
            return true;
        }
    }
    return false;
}

tg_dtype sample_role(sample *s, int slot)
{
    role r;
    for (int i = 0; i < s->rule->n_from; i++) {
        if (!finds_role(&s->rule->from[i], slot, &r)) continue;
        if (r != ROLE_BYTE) return r == ROLE_BOOL ? TG_BOOL : TG_I64;
        if (s->byte == TG_DTYPE_NONE) s->byte = sample_chance(s, 50) ? TG_U8 : TG_I8;
        return s->byte;
    }
    return TG_DTYPE_NONE;
}
