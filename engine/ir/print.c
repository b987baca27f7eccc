/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "graph.h"

static void print_attrs(const tg_node *node, tg_str *out)
{
    int n;
    const tg_attr_spec *spec = tg_op_attrs(node->op, &n);
    bool first = true;
    for (int i = 0; i < n; i++) {
        if (tg_attr_equal(&node->attrs->a[i], &spec[i].value)) continue;
        tg_str_addf(out, "%s%s=", first ? "; " : ", ", spec[i].name);
        tg_attr_print(&node->attrs->a[i], out);
        first = false;
    }
}

static void print_node(const tg_graph *g, const tg_node *node, tg_str *out)
{
    char text[TG_SHAPE_TEXT], label[96];
    for (int i = 0; i < node->n_out; i++)
        tg_str_addf(out, "%s%%%u.%d:%s[%s]", i ? ", " : "", node->id, i,
                    tg_dtype_name(node->out[i].dtype), tg_shape_text(text, &node->out[i].shape));
    tg_str_addf(out, "%s%s(", node->n_out ? " = " : "", tg_op_get(node->op)->name);
    for (int i = 0; i < node->n_in; i++) {
        if (i) tg_str_add(out, ", ");
        if (node->in[i] == TG_NO_VALUE) tg_str_addc(out, '_');
        else tg_str_addf(out, "%%%u.%u", tg_value_node(node->in[i]), tg_value_port(node->in[i]));
    }
    print_attrs(node, out);
    tg_str_addf(out, ")%s  # %s\n", node->constant ? " const" : "",
                tg_graph_label(g, node->id, label, sizeof label));
}

void tg_graph_print(const tg_graph *g, tg_str *out)
{
    for (uint32_t i = 0; i < g->n_nodes; i++) print_node(g, g->nodes[g->order[i]], out);
}
