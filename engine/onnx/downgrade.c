/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Forms of operators in opsets before the one that gave them their present meaning. */
#include "export.h"

#include <string.h>

int64_t tg_downgrade_needs(const tg_graph *g, const tg_node *node, int64_t opset)
{
    (void)g, (void)opset;
    return tg_op_get(node->op)->since;
}

void tg_downgrade(tg_exporter *ex, const tg_node *node, Onnx__NodeProto *proto)
{
    (void)ex, (void)node, (void)proto;
}
