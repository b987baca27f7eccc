/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Graphs as files: SVG, DOT, JSON, text. */
#ifndef TG_DRAW_PICTURE_H
#define TG_DRAW_PICTURE_H

#include "drawing.h"

typedef struct tg_picture_options {
    tg_draw_options view;   /* what folds */
    const char *theme;      /* "light", "dark", "print"; NULL: light */
    int max_rows;           /* up to which Graphviz makes the layout; 0: 300 */
    double limit_s;         /* for how long; 0: 2 */
    const uint32_t *marked; /* nodes to light, ascending; may be NULL */
    size_t n_marked;
    const char *title; /* NULL: the graph's name */
    const tg_job *job;
} tg_picture_options;

typedef struct tg_picture_report {
    const char *layout; /* "graphviz" or "rails" */
    uint32_t rows, ops; /* rows drawn, operators they stand for */
    uint32_t folded;    /* operators inside folds */
} tg_picture_report;

/*
 * Valid XML in every case. Graphviz runs in a child process; where it is absent, too slow or the
 * view too large, regraft's own layout of rails serves. Errors: TG_CANCELLED.
 */
tg_status tg_picture_svg(const tg_graph *g, const tg_picture_options *options, tg_str *out,
                         tg_picture_report *report) TG_MUST_USE;
/* A graph in the DOT language. */
tg_status tg_picture_dot(const tg_graph *g, const tg_picture_options *options, tg_str *out,
                         tg_picture_report *report) TG_MUST_USE;
/* {name, hash, nodes: [{id, op, name, inputs, outputs, attributes}], inputs, outputs}. */
tg_status tg_picture_json(const tg_graph *g, const tg_picture_options *options, tg_str *out,
                          tg_picture_report *report) TG_MUST_USE;
/* Rails as text. */
tg_status tg_picture_text(const tg_graph *g, const tg_picture_options *options, tg_str *out,
                          tg_picture_report *report) TG_MUST_USE;

/*
 * By the extension of the path: .svg .dot .json .txt; written aside, then renamed. Errors: TG_USAGE
 * (no such format), TG_IO.
 */
tg_status tg_picture_write(const tg_graph *g, const char *path, const tg_picture_options *options,
                           tg_picture_report *report) TG_MUST_USE;

/* The class of an operator, for colours: "conv", "matmul", "eltwise", "norm", "pool", "layout",
 * "reduce", "const", "opaque", "other". */
const char *tg_op_class(const tg_node *node);

#endif
