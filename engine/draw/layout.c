/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "layout.h"

#include "engine/base/hash.h"

#include <stdlib.h>
#include <string.h>

enum { CHAR_WIDTH = 7, BOX_HEIGHT = 24, ROW_STEP = 40, LANE_STEP = 26, MARGIN = 16, LONGEST = 48 };

void tg_box_words(const tg_row *row, tg_str *out)
{
    char shape[TG_SHAPE_TEXT];
    if (row->output >= 0) tg_str_addf(out, "output %.*s", LONGEST, row->label);
    else if (!row->fold) tg_str_addf(out, "%s", row->op);
    else if (row->repeat > 1)
        tg_str_addf(out, "%s  %u ops in %u blocks", row->label, row->n_ops, row->repeat);
    else tg_str_addf(out, "%s  %u ops", row->label, row->n_ops);
    if (row->type.dtype) tg_str_addf(out, "  %s", tg_type_text(shape, &row->type));
}

static void add_edge(tg_layout *l, const tg_drawing *d, tg_map *seen, tg_value v, uint32_t to)
{
    int32_t from = d->row_of[tg_value_node(v)];
    bool fresh;
    if (from < 0 || (uint32_t)from == to) return;
    tg_map_put(seen, tg_hash_add(v, to), &fresh);
    if (fresh) tg_vec_push(&l->edges, (tg_edge){(uint32_t)from, to, v, 0, 0});
}

void tg_layout_edges(const tg_graph *g, const tg_drawing *d, tg_layout *l)
{
    tg_map seen = {0};
    for (uint32_t r = 0; r < d->n_rows; r++) {
        const tg_row *row = &d->rows[r];
        if (row->output >= 0) add_edge(l, d, &seen, tg_graph_sink(g)->in[row->output], r);
        for (uint32_t i = 0; i < row->n_nodes; i++) {
            const tg_node *node = g->nodes[row->nodes[i]];
            for (int k = 0; k < node->n_in; k++)
                if (node->in[k] != TG_NO_VALUE) add_edge(l, d, &seen, node->in[k], r);
        }
    }
    tg_map_free(&seen);
    l->at = tg_calloc(d->n_rows + 1, sizeof *l->at);
    l->box_width = tg_calloc(d->n_rows + 1, sizeof *l->box_width);
    l->box_height = BOX_HEIGHT;
    tg_str words = {0};
    for (uint32_t r = 0; r < d->n_rows; r++) {
        tg_str_clear(&words);
        tg_box_words(&d->rows[r], &words);
        l->box_width[r] = (double)(words.n * CHAR_WIDTH + 20);
    }
    tg_str_free(&words);
}

/* Boxes in one column, each value's line left of it in the lane of its maker. */
void tg_layout_rails(const tg_drawing *d, tg_layout *l)
{
    double left = MARGIN + LANE_STEP * (d->lanes + 1);
    l->name = "rails";
    l->width = l->height = 0;
    tg_vec_clear(&l->points);
    for (uint32_t r = 0; r < d->n_rows; r++) {
        l->at[r] =
            (tg_point){left + l->box_width[r] / 2, MARGIN + BOX_HEIGHT / 2 + ROW_STEP * (double)r};
        if (left + l->box_width[r] + MARGIN > l->width) l->width = left + l->box_width[r] + MARGIN;
    }
    for (size_t i = 0; i < l->edges.n; i++) {
        tg_edge *e = &l->edges.v[i];
        double y0 = l->at[e->from].y, y1 = l->at[e->to].y;
        double x = MARGIN + LANE_STEP * (double)d->rows[e->from].lane;
        e->first = (uint32_t)l->points.n;
        e->n = 10;
        tg_point p[] = {{left, y0},   {x + 8, y0},  {x, y0 + 4}, {x, y0 + 14}, {x, y0 + 14},
                        {x, y1 - 14}, {x, y1 - 14}, {x, y1 - 4}, {x + 8, y1},  {left, y1}};
        for (int k = 0; k < 10; k++) tg_vec_push(&l->points, p[k]);
    }
    l->height = 2 * MARGIN + BOX_HEIGHT + ROW_STEP * (double)(d->n_rows ? d->n_rows - 1 : 0);
}

void tg_layout_done(tg_layout *l)
{
    tg_vec_free(&l->edges);
    tg_vec_free(&l->points);
    free(l->at);
    free(l->box_width);
    *l = (tg_layout){0};
}
