/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "layout.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_ROWS = 300, PAD = 12, TITLE = 34 };

/* Colours: Okabe and Ito's, which are told apart by all kinds of sight. */
typedef struct theme {
    const char *name, *paper, *ink, *line, *faint;
    double tint; /* how much of the class colour fills a box */
} theme;

static const theme themes[] = {
    {"light", "#ffffff", "#1a1a1a", "#707070", "#d8d8d8", 0.25},
    {"dark", "#16181c", "#ececec", "#9a9a9a", "#3c4048", 0.40},
    {"print", "none", "#000000", "#000000", "#a0a0a0", 0.0},
};

static const struct {
    const char *class, *colour;
} colours[] = {{"conv", "#0072b2"},   {"matmul", "#d55e00"}, {"eltwise", "#009e73"},
               {"norm", "#cc79a7"},   {"pool", "#56b4e9"},   {"layout", "#8c8c8c"},
               {"reduce", "#e69f00"}, {"const", "#f0e442"},  {"opaque", "#000000"}};

static const theme *theme_named(const char *name)
{
    for (size_t i = 0; name && i < sizeof themes / sizeof *themes; i++)
        if (strcmp(themes[i].name, name) == 0) return &themes[i];
    return &themes[0];
}

const char *tg_op_colour(const char *class)
{
    for (size_t i = 0; i < sizeof colours / sizeof *colours; i++)
        if (strcmp(colours[i].class, class) == 0) return colours[i].colour;
    return "#8c8c8c";
}

const char *tg_op_class(const tg_node *node)
{
    static const struct {
        const char *part, *class;
    } names[] = {{"Conv", "conv"},     {"MatMul", "matmul"}, {"Gemm", "matmul"},
                 {"Einsum", "matmul"}, {"Pool", "pool"},     {"Norm", "norm"},
                 {"Softmax", "norm"},  {"LRN", "norm"},      {"Reduce", "reduce"},
                 {"Arg", "reduce"},    {"TopK", "reduce"}};
    const tg_op_row *row = tg_op_get(node->op);
    if (node->op == TG_OP_OPAQUE) return "opaque";
    if (node->op == TG_OP_CONST) return "const";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strstr(row->name, names[i].part)) return names[i].class;
    if (row->flags & TG_ELTWISE && !(row->flags & TG_VIEW)) return "eltwise";
    return node->op < TG_OP_FIRST_REAL ? "other" : "layout";
}

static bool marked(const tg_picture_options *o, const tg_row *row)
{
    for (uint32_t i = 0; i < row->n_nodes; i++)
        for (size_t m = 0; m < o->n_marked; m++)
            if (o->marked[m] == row->nodes[i]) return true;
    return false;
}

static void add_tooltip(const tg_graph *g, const tg_row *row, tg_str *out)
{
    tg_str_add(out, "<title>");
    tg_str_add_xml(out, row->label);
    for (uint32_t i = 0; i < row->n_nodes && i < 40 && row->fold; i++) {
        char label[128];
        tg_str_add(out, "\n");
        tg_str_add_xml(out, tg_graph_label(g, row->nodes[i], label, sizeof label));
    }
    if (row->fold && row->n_nodes > 40) tg_str_addf(out, "\nand %u more", row->n_nodes - 40);
    tg_str_add(out, "</title>");
}

static void add_box(const tg_graph *g, const tg_picture_options *o, const theme *t,
                    const tg_layout *l, uint32_t r, const tg_row *row, tg_str *out)
{
    double w = l->box_width[r], h = l->box_height, x = l->at[r].x - w / 2, y = l->at[r].y - h / 2;
    const char *class = row->n_nodes == 1 ? tg_op_class(g->nodes[row->nodes[0]]) : "other";
    const char *colour = tg_op_colour(class);
    bool lit = marked(o, row), ends = !row->n_nodes || g->nodes[row->nodes[0]]->op == TG_OP_INPUT;
    tg_str_addf(out, "<g class=\"%s\">", row->fold ? "fold" : class);
    add_tooltip(g, row, out);
    tg_str_addf(out,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%d\" fill=\"%s\" "
                "fill-opacity=\"%.2f\" stroke=\"%s\" stroke-width=\"%s\"%s/>",
                x, y, w, h, ends ? 12 : 3, colour, ends ? 0 : t->tint,
                lit    ? "#d55e00"
                : ends ? t->line
                       : colour,
                lit ? "3" : "1.2", row->fold ? " stroke-dasharray=\"5 2\"" : "");
    tg_str words = {0};
    tg_box_words(row, &words);
    tg_str_addf(out, "<text x=\"%.1f\" y=\"%.1f\">", l->at[r].x, l->at[r].y + 4);
    tg_str_add_xml(out, tg_str_text(&words));
    tg_str_add(out, "</text></g>\n");
    tg_str_free(&words);
}

static void add_line(const tg_layout *l, const tg_edge *e, tg_str *out)
{
    const tg_point *p = l->points.v + e->first;
    tg_str_addf(out, "<path d=\"M%.1f %.1f", p[0].x, p[0].y);
    for (uint32_t i = 1; i + 2 < e->n; i += 3)
        tg_str_addf(out, "C%.1f %.1f %.1f %.1f %.1f %.1f", p[i].x, p[i].y, p[i + 1].x, p[i + 1].y,
                    p[i + 2].x, p[i + 2].y);
    tg_str_add(out, "\" marker-end=\"url(#arrow)\"/>\n");
}

static void add_head(const tg_graph *g, const tg_picture_options *o, const theme *t,
                     const tg_layout *l, const tg_picture_report *report, tg_str *out)
{
    double w = l->width + 2 * PAD, h = l->height + 2 * PAD + TITLE;
    if (w < 420) w = 420;
    tg_str_addf(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" "
        "width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n",
        w, h, w, h);
    tg_str_addf(out,
                "<style>text{font:12px "
                "monospace;text-anchor:middle;fill:%s}.head{font-weight:bold;text-anchor:start}"
                "path{fill:none;stroke:%s;stroke-width:1.2}</style>\n",
                t->ink, t->line);
    tg_str_addf(out,
                "<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" "
                "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" "
                "style=\"fill:%s;stroke:none\"/></marker></defs>\n",
                t->line);
    if (strcmp(t->paper, "none") != 0)
        tg_str_addf(out, "<rect width=\"100%%\" height=\"100%%\" fill=\"%s\"/>\n", t->paper);
    tg_str_addf(out, "<text class=\"head\" x=\"%d\" y=\"22\">", PAD);
    tg_str_add_xml(out, o->title                   ? o->title
                        : g->origin->graph_name[0] ? g->origin->graph_name
                                                   : "graph");
    tg_str_addf(out, ": %u operators", report->ops);
    if (report->folded) tg_str_addf(out, ", %u of them in folds", report->folded);
    tg_str_add(out, "</text>\n");
}

void tg_picture_count(const tg_graph *g, const tg_drawing *d, tg_picture_report *report)
{
    *report = (tg_picture_report){.rows = d->n_rows, .ops = tg_graph_op_count(g)};
    for (uint32_t r = 0; r < d->n_rows; r++)
        if (d->rows[r].fold) report->folded += d->rows[r].n_ops;
}

static void write_svg(const tg_graph *g, const tg_picture_options *o, const tg_drawing *d,
                      const tg_layout *l, const tg_picture_report *report, tg_str *out)
{
    const theme *t = theme_named(o->theme);
    add_head(g, o, t, l, report, out);
    tg_str_addf(out, "<g transform=\"translate(%d %d)\">\n", PAD, PAD + TITLE);
    for (size_t i = 0; i < l->edges.n; i++) add_line(l, &l->edges.v[i], out);
    for (uint32_t r = 0; r < d->n_rows; r++) add_box(g, o, t, l, r, &d->rows[r], out);
    tg_str_add(out, "</g>\n</svg>\n");
}

tg_status tg_picture_svg(const tg_graph *g, const tg_picture_options *o, tg_str *out,
                         tg_picture_report *report)
{
    tg_drawing *d;
    TG_TRY(tg_draw_rails(g, &o->view, o->job, &d));
    tg_layout l = {0};
    tg_status status = TG_LIMIT;
    tg_picture_count(g, d, report);
    tg_layout_edges(g, d, &l);
    if (d->n_rows <= (uint32_t)(o->max_rows ? o->max_rows : MAX_ROWS))
        status = tg_layout_graphviz(d, o->limit_s > 0 ? o->limit_s : 2, o->job, &l);
    if (status != TG_OK && status != TG_CANCELLED) {
        tg_layout_rails(d, &l);
        status = TG_OK;
    }
    report->layout = l.name;
    if (status == TG_OK) write_svg(g, o, d, &l, report, out);
    tg_layout_done(&l);
    tg_drawing_free(d);
    return status;
}
