/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Boxes and lines in the plane, for the files of draw/ only. */
#ifndef TG_DRAW_LAYOUT_H
#define TG_DRAW_LAYOUT_H

#include "engine/base/vec.h"
#include "picture.h"

typedef struct tg_point {
    double x, y;
} tg_point;

/* One value from the row that makes it to one that reads it. */
typedef struct tg_edge {
    uint32_t from, to; /* rows */
    tg_value value;
    uint32_t first, n; /* its points: the ends of cubic curves and their controls, 3k + 1 of them */
} tg_edge;

/* Points have y downwards. Boxes are centred on `at`. */
typedef struct tg_layout {
    TG_VEC(tg_edge) edges;
    TG_VEC(tg_point) points;
    tg_point *at; /* by row */
    double *box_width;
    double box_height, width, height;
    const char *name;
} tg_layout;

/* The edges between the rows of a drawing, each (value, reader) once. */
void tg_layout_edges(const tg_graph *g, const tg_drawing *d, tg_layout *l);
/* Boxes in rows and lanes. Cannot fail. */
void tg_layout_rails(const tg_drawing *d, tg_layout *l);
/* By Graphviz, in a child process. Errors: TG_LIMIT (time), TG_BACKEND, TG_CANCELLED. */
tg_status tg_layout_graphviz(const tg_drawing *d, double limit_s, const tg_job *job,
                             tg_layout *l) TG_MUST_USE;
void tg_layout_done(tg_layout *l);

/* The colour of an operator class. */
const char *tg_op_colour(const char *op_class);
/* Fills a report but for its layout. */
void tg_picture_count(const tg_graph *g, const tg_drawing *d, tg_picture_report *report);

/* What a box says: one line, never empty. */
void tg_box_words(const tg_row *row, tg_str *out);

#endif
