/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Two states of the history compared. */
#include "diff.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int common_ancestor(ui_session *s, int a, int b)
{
    while (a != b) /* a parent's id is smaller */
        if (a > b) a = tg_history_get(s->history, a)->parent;
        else b = tg_history_get(s->history, b)->parent;
    return a;
}

static void add_row(ui_text *out, const char *what, const char *a, const char *b, const char *c)
{
    ui_line *line = &tg_vec_last(&out->lines);
    ui_line_fit(line, UI_FACE_header, what, 23);
    ui_line_pad(line, 24);
    ui_line_addf(line, UI_FACE_plain, "%12s %12s   %s", a, b, c);
    ui_text_add(out, UI_FACE_plain, "\n");
}

static void add_number(ui_text *out, const char *what, double a, double b, int decimals)
{
    char x[32], y[32], d[24], words[64];
    snprintf(x, sizeof x, "%.*f", decimals, a);
    snprintf(y, sizeof y, "%.*f", decimals, b);
    int n = snprintf(words, sizeof words, "%s", ui_signed(d, b - a, decimals));
    if (a > 0)
        snprintf(words + n, sizeof words - (size_t)n, "  (%s%%)",
                 ui_signed(d, 100 * (b - a) / a, 1));
    add_row(out, what, x, y, words);
}

/* Bytes of all values that nodes make while the graph runs. */
static double bytes_made(const tg_graph *g)
{
    double bytes = 0;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        if (node->constant) continue;
        for (int k = 0; k < node->n_out; k++)
            if (tg_type_complete(&node->out[k])) bytes += (double)tg_type_bytes(&node->out[k]);
    }
    return bytes;
}

static int *count_ops(const tg_graph *g)
{
    int *count = tg_calloc((size_t)tg_op_row_count, sizeof *count);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        if (!node->constant && node->op >= TG_OP_OPAQUE) count[node->op]++;
    }
    return count;
}

/* Operators whose number differs, those that shrink most first. */
static void add_operators(ui_text *out, const tg_graph *a, const tg_graph *b)
{
    int *before = count_ops(a), *after = count_ops(b);
    ui_text_add(out, UI_FACE_plain, "\n");
    int most = 1;
    for (int op = 0; op < tg_op_row_count; op++)
        if (abs(after[op] - before[op]) > most) most = abs(after[op] - before[op]);
    for (int size = most; size > 0; size--)
        for (int op = 0; op < tg_op_row_count; op++)
            if (abs(after[op] - before[op]) == size)
                add_number(out, tg_op_get((tg_op)op)->name, before[op], after[op], 0);
    free(before);
    free(after);
}

static void add_steps(ui_text *out, ui_session *s, int from, int to, const char *title)
{
    TG_VEC(int) ids = {0};
    for (int i = to; i != from; i = tg_history_get(s->history, i)->parent) tg_vec_push(&ids, i);
    if (ids.n) ui_text_addf(out, UI_FACE_header, "\n%s\n", title);
    while (ids.n) {
        const tg_state *state = tg_history_get(s->history, tg_vec_pop(&ids));
        ui_text_addf(out, UI_FACE_plain, "%4d  %s  %s at %s\n",
                     tg_history_depth(s->history, state->id),
                     tg_who_short_name(state->info.who), state->trail->taken.rule,
                     state->trail->taken.site);
    }
    tg_vec_free(&ids);
}

static void state_name(ui_session *s, int id, char *buf, size_t size)
{
    const tg_state *state = tg_history_get(s->history, id);
    if (state->tag) snprintf(buf, size, "%s", state->tag);
    else snprintf(buf, size, "%s %d", id ? "state" : "root", id);
}

void ui_diff_states(ui_text *out, ui_session *s, int a, int b, const ui_diff_style *style)
{
    char x[32], y[32], title[96];
    tg_state *left = tg_history_get(s->history, a), *right = tg_history_get(s->history, b);
    const tg_graph *g = left->trail->graph, *h = right->trail->graph;
    int base = common_ancestor(s, a, b);
    state_name(s, a, x, sizeof x);
    state_name(s, b, y, sizeof y);
    add_row(out, "", x, y, "change");
    add_number(out, "steps from the root", tg_history_depth(s->history, a),
               tg_history_depth(s->history, b), 0);
    add_number(out, "operators", tg_graph_op_count(g), tg_graph_op_count(h), 0);
    add_number(out, "predicted ms", left->trail->cost_ms, right->trail->cost_ms, 4);
    if (left->timed && right->timed)
        add_number(out, "measured ms", left->latency.median_ms, right->latency.median_ms, 3);
    add_number(out, "MB made by operators", bytes_made(g) / 1e6, bytes_made(h) / 1e6, 2);
    if (g->hash == h->hash) ui_text_add(out, UI_FACE_plain, "\nThe two graphs are equal.\n");
    add_operators(out, g, h);
    snprintf(title, sizeof title, "Steps that only %s has", x);
    add_steps(out, s, base, a, title);
    snprintf(title, sizeof title, "Steps that only %s has", y);
    add_steps(out, s, base, b, title);
    if (base != a || a == b) return;
    ui_text_add(out, UI_FACE_plain, "\n");
    tg_diff *d = tg_diff_of_graphs(g, h, style->radius);
    ui_diff_rails(out, d, style);
    tg_diff_free(d);
}
