/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "node.h"

#include "diff.h"
#include "modes/graph.h"

#include <stdio.h>
#include <string.h>

const tg_row *ui_node_row(ui_app *ui, const ui_session *s)
{
    ui_buffer *b = ui_buffer_find(ui, "*graph*");
    size_t row = b ? ui_buffer_point(ui, b).row : 0;
    return s->view && row < s->view->drawing->n_rows ? &s->view->drawing->rows[row] : NULL;
}

static const tg_graph *graph_of(const ui_session *s)
{
    return tg_candidates_graph(s->view->candidates);
}

static double row_ms(const ui_session *s, const tg_row *row)
{
    double ms = 0;
    for (uint32_t i = 0; i < row->n_nodes; i++) ms += s->view->node_ms[row->nodes[i]];
    return ms;
}

static tg_work row_work(const ui_session *s, const tg_row *row)
{
    const tg_graph *g = graph_of(s);
    tg_work sum = {0};
    for (uint32_t i = 0; i < row->n_nodes; i++) {
        const tg_node *node = g->nodes[row->nodes[i]];
        if (node->constant || node->op < TG_OP_FIRST_REAL) continue;
        tg_type *in = tg_calloc(node->n_in + 1u, sizeof *in);
        for (int k = 0; k < node->n_in; k++)
            if (node->in[k] != TG_NO_VALUE) in[k] = *tg_graph_type(g, node->in[k]);
        tg_work w = tg_op_work(node->op, node->attrs->a, in, node->n_in, node->out, node->n_out);
        sum.flops += w.flops;
        sum.bytes += w.bytes;
        free(in);
    }
    return sum;
}

static void type_words(const tg_type *type, tg_str *out)
{
    char shape[TG_SHAPE_TEXT + 64], bytes[32];
    if (!type->dtype) return;
    tg_str_add(out, tg_dtype_name(type->dtype));
    if (tg_dtype_is_list(type->dtype)) return;
    tg_str_addf(out, " %s", ui_graph_shape(shape, sizeof shape, type));
    if (tg_type_complete(type))
        tg_str_addf(out, " (%s)", tg_format_bytes(bytes, (double)tg_type_bytes(type)));
}

static double share_of(const ui_session *s, double ms)
{
    return s->view->total_ms > 0 ? 100 * ms / s->view->total_ms : 0;
}

void ui_node_brief(const ui_session *s, const tg_row *row, tg_str *out)
{
    char ms[24];
    double time = row_ms(s, row);
    tg_str_addf(out, "%s", row->label);
    if (row->op[0]) tg_str_addf(out, "  %s", row->op);
    if (row->fold) tg_str_addf(out, "  %u operators", row->n_ops);
    tg_str_add(out, "  ");
    type_words(&row->type, out);
    if (row->n_nodes)
        tg_str_addf(out, "  %s ms %s, %.1f%% of all", ui_ms(ms, time),
                    s->view->node_measured ? "measured" : "predicted", share_of(s, time));
}

/* ---- all of it */

static void add_values(const tg_graph *g, const tg_node *node, tg_str *out)
{
    char label[128];
    for (int k = 0; k < node->n_in; k++) {
        if (k) tg_str_add(out, ", ");
        if (node->in[k] == TG_NO_VALUE) {
            tg_str_add(out, "—");
            continue;
        }
        const tg_node *maker = tg_graph_maker(g, node->in[k]);
        tg_str_add(out, tg_graph_label(g, maker->id, label, sizeof label));
        if (maker->constant) tg_str_add(out, " ◂W");
    }
}

static void add_readers(const tg_graph *g, const tg_node *node, tg_str *out)
{
    char label[128];
    uint32_t n;
    const tg_use *use = tg_graph_uses(g, node->id, &n);
    for (uint32_t u = 0; u < n; u++) {
        if (u) tg_str_add(out, ", ");
        if (use[u].node) tg_str_add(out, tg_graph_label(g, use[u].node, label, sizeof label));
        else tg_str_addf(out, "graph output %s", g->output_names[use[u].slot]);
    }
}

static void add_attributes(const tg_node *node, tg_str *out)
{
    int n;
    const tg_attr_spec *spec = tg_op_attrs(node->op, &n);
    for (int i = 0; i < n; i++) {
        const tg_attr *a = &node->attrs->a[i];
        bool usual = a->kind == TG_ATTR_NONE || tg_attr_equal(a, &spec[i].value);
        if (usual || a->kind == TG_ATTR_BYTES || a->kind == TG_ATTR_TENSOR) continue;
        if (out->n) tg_str_add(out, "  ");
        tg_str_addf(out, "%s=", spec[i].name);
        tg_attr_print(a, out);
    }
}

static void add_origin(const ui_session *s, const tg_node *node, tg_str *out)
{
    const tg_state *state = &s->history->states.v[s->view->state];
    if (node->rule) {
        int step = ui_graph_made_at(state->trail, node->id);
        tg_str_addf(out, "made by %s", node->rule);
        if (step > 0) tg_str_addf(out, " at step %d", step);
    } else {
        tg_str_addf(out, "%s of the model", node->op == TG_OP_INPUT ? "an input" : "a node");
        if (node->name[0]) tg_str_addf(out, ", \"%s\"", node->name);
    }
}

static void fact(ui_text *out, const char *label, tg_str *words, int width)
{
    if (words->n) ui_diff_fact(out, label, words->p, width);
    tg_str_clear(words);
}

/* The operators of each body, in their order. */
static void describe_bodies(const tg_node *node, int width, ui_text *out)
{
    enum { SHOWN = 24 };
    int n;
    char label[128];
    const tg_attr_spec *spec = tg_op_attrs(node->op, &n);
    for (int i = 0; node->attrs->graphs && i < n; i++) {
        tg_str words = {0};
        const tg_graph *body = node->attrs->a[i].graph;
        if (node->attrs->a[i].kind != TG_ATTR_GRAPH) continue;
        uint32_t shown = 0;
        for (uint32_t k = 0; k < body->n_nodes && shown < SHOWN; k++) {
            const tg_node *inner = body->nodes[body->order[k]];
            if (inner->constant || inner->op < TG_OP_OPAQUE || inner->op == TG_OP_SINK) continue;
            tg_str_addf(&words, "%s%s %s", shown++ ? ", " : "", tg_op_get(inner->op)->name,
                        tg_graph_label(body, inner->id, label, sizeof label));
        }
        if (shown == SHOWN) tg_str_add(&words, " …");
        fact(out, spec[i].name, &words, width);
        tg_str_free(&words);
    }
}

static void describe_node(const ui_session *s, const tg_row *row, int width, ui_text *out)
{
    const tg_graph *g = graph_of(s);
    const tg_node *node = g->nodes[row->nodes[0]];
    tg_str words = {0};
    ui_diff_fact(out, "op", row->op, width);
    add_attributes(node, &words);
    fact(out, "attrs", &words, width);
    describe_bodies(node, width, out);
    add_values(g, node, &words);
    fact(out, "reads", &words, width);
    add_readers(g, node, &words);
    fact(out, "read by", &words, width);
    type_words(&row->type, &words);
    fact(out, "gives", &words, width);
    add_origin(s, node, &words);
    fact(out, "from", &words, width);
    tg_str_free(&words);
}

static void describe_fold(const ui_session *s, const tg_row *row, int width, ui_text *out)
{
    char label[128];
    tg_str words = {0};
    tg_str_addf(&words, "%u operators", row->n_ops);
    if (row->repeat > 1) tg_str_addf(&words, " in %u equal blocks", row->repeat);
    fact(out, "fold", &words, width);
    for (uint32_t i = 0; i < row->n_nodes && i < 12; i++)
        tg_str_addf(&words, "%s%s", i ? ", " : "",
                    tg_graph_label(graph_of(s), row->nodes[i], label, sizeof label));
    if (row->n_nodes > 12) tg_str_addf(&words, " … and %u more", row->n_nodes - 12);
    fact(out, "nodes", &words, width);
    type_words(&row->type, &words);
    fact(out, "gives", &words, width);
    tg_str_free(&words);
}

void ui_node_describe(const ui_session *s, const tg_row *row, int width, ui_text *out)
{
    char ms[24], bytes[32];
    tg_str words = {0};
    if (row->fold) describe_fold(s, row, width, out);
    else if (row->n_nodes) describe_node(s, row, width, out);
    else ui_diff_fact(out, "output", row->label, width);
    if (!row->n_nodes) return;
    double time = row_ms(s, row);
    tg_work work = row_work(s, row);
    tg_str_addf(&words, "%s %s ms, %.1f%% of the sum over all operators",
                s->view->node_measured ? "● measured" : "○ predicted", ui_ms(ms, time),
                share_of(s, time));
    fact(out, "time", &words, width);
    if (work.flops < 1e6) tg_str_addf(&words, "%.0f", work.flops);
    else tg_str_addf(&words, "%.4g million", work.flops / 1e6);
    tg_str_addf(&words, " operations, %s moved", tg_format_bytes(bytes, work.bytes));
    fact(out, "work", &words, width);
    tg_str_free(&words);
}
