/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs in the DOT language and as text. */
#include "layout.h"

static void add_quoted(tg_str *out, const char *text)
{
    tg_str_addc(out, '"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') tg_str_addc(out, '\\');
        if ((unsigned char)*text < 0x20) tg_str_addf(out, "\\\\x%02x", (unsigned char)*text);
        else tg_str_addc(out, *text);
    }
    tg_str_addc(out, '"');
}

static void add_dot_row(const tg_graph *g, const tg_row *row, uint32_t r, tg_str *out)
{
    tg_str words = {0};
    tg_box_words(row, &words);
    tg_str_addf(out, "  n%u [label=", r);
    add_quoted(out, tg_str_text(&words));
    tg_str_add(out, ", tooltip=");
    add_quoted(out, row->label);
    const char *class = row->n_nodes == 1 ? tg_op_class(g->nodes[row->nodes[0]]) : "other";
    tg_str_addf(out, ", class=\"%s\", color=\"%s\"];\n", class, tg_op_colour(class));
    tg_str_free(&words);
}

tg_status tg_picture_dot(const tg_graph *g, const tg_picture_options *o, tg_str *out,
                         tg_picture_report *report)
{
    tg_drawing *d;
    TG_TRY(tg_draw_rails(g, &o->view, o->job, &d));
    tg_layout l = {0};
    tg_picture_count(g, d, report);
    tg_layout_edges(g, d, &l);
    report->layout = "dot";
    tg_str_add(out, "digraph ");
    add_quoted(out, o->title ? o->title : g->origin->graph_name);
    tg_str_add(out, " {\n  node [shape=box, fontname=monospace];\n");
    for (uint32_t r = 0; r < d->n_rows; r++) add_dot_row(g, &d->rows[r], r, out);
    for (size_t i = 0; i < l.edges.n; i++) {
        char shape[TG_SHAPE_TEXT];
        tg_str_addf(out, "  n%u -> n%u [tooltip=\"%s\"];\n", l.edges.v[i].from, l.edges.v[i].to,
                    tg_type_text(shape, tg_graph_type(g, l.edges.v[i].value)));
    }
    tg_str_add(out, "}\n");
    tg_layout_done(&l);
    tg_drawing_free(d);
    return TG_OK;
}

tg_status tg_picture_text(const tg_graph *g, const tg_picture_options *o, tg_str *out,
                          tg_picture_report *report)
{
    tg_drawing *d;
    TG_TRY(tg_draw_rails(g, &o->view, o->job, &d));
    tg_picture_count(g, d, report);
    report->layout = "rails";
    tg_drawing_text(g, d, out);
    tg_drawing_free(d);
    return TG_OK;
}
