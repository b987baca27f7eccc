/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The grid of cells that a screen is drawn into before it is flushed to a terminal. */
#ifndef TUI_CELL_H
#define TUI_CELL_H

#include "char.h"
#include "face.h"

/* width is 1 or 2; the cell after a wide one has width 0 and no characters. */
typedef struct ui_cell {
    uint32_t cp[UI_CELL_CHARS];
    uint8_t width;
    uint8_t face; /* ui_face */
    uint8_t over; /* a second face laid over the first (cursor row, match) */
} ui_cell;

/* Invariant: rows * cols cells; every wide cell is followed by its 0-width half in the same row. */
typedef struct ui_grid {
    int rows, cols;
    ui_cell *cells;
    bool ascii; /* symbols are replaced by their stand-ins */
} ui_grid;

void ui_grid_resize(ui_grid *grid, int rows, int cols); /* all cells become blank */
void ui_grid_done(ui_grid *grid);
void ui_grid_clear(ui_grid *grid);
ui_cell *ui_grid_at(ui_grid *grid, int y, int x);

/*
 * Puts text at row y from column x; columns from `end` on are left alone. Returns the column after
 * the text (or `end` if it was cut). Out-of-range rows and columns are fine.
 */
int ui_grid_put(ui_grid *grid, int y, int x, int end, const char *s, size_t n, ui_face face);
/* Fills columns x up to `end` of row y with one ASCII or drawing character. */
void ui_grid_fill(ui_grid *grid, int y, int x, int end, uint32_t cp, ui_face face);
/* Lays a face over columns x up to `end`. */
void ui_grid_over(ui_grid *grid, int y, int x, int end, ui_face over);

bool ui_cell_equal(const ui_cell *a, const ui_cell *b);

#endif
