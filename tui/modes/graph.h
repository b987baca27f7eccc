/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What *graph* knows of its rows, for its mode and its commands. */
#ifndef TUI_MODES_GRAPH_H
#define TUI_MODES_GRAPH_H

#include "tui/session.h"

/*
 * Worked out once a view. tag[row]: the best row of *candidates* whose site has a node in the row,
 * or -1. sum[row]: milliseconds of the rows before it.
 */
typedef struct ui_graph_rows {
    uint64_t serial; /* of the view */
    int *tag;
    double *sum, most_ms;
    int name, op, shape; /* widest texts, in columns */
} ui_graph_rows;

/* Of the buffer, up to date; NULL while there is no view. */
const ui_graph_rows *ui_graph_rows_of(ui_app *ui, ui_buffer *buffer);
/* Writes the shape as 1×64×56×56, a list as seq(float); returns out. */
char *ui_graph_shape(char *out, size_t size, const tg_type *type);
/* Whether the site of a candidate has a node in this row. */
bool ui_graph_in_site(const tg_drawing *d, const tg_candidate *c, size_t row);
/* Where the name begins in a row of a window `width` columns wide. */
int ui_graph_name_column(ui_app *ui, ui_buffer *buffer, int width);
/* The step that made a node, from 1; 0: it is the model's. */
int ui_graph_made_at(const tg_trail *trail, uint32_t node);

#endif
