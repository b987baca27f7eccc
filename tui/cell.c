/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "cell.h"

#include "engine/base/alloc.h"

#include <stdlib.h>
#include <string.h>

static const ui_cell blank = {.cp = {' '}, .width = 1};

void ui_grid_clear(ui_grid *grid)
{
    size_t n = (size_t)grid->rows * (size_t)grid->cols;
    for (size_t i = 0; i < n; i++) grid->cells[i] = blank;
}

void ui_grid_resize(ui_grid *grid, int rows, int cols)
{
    grid->rows = rows;
    grid->cols = cols;
    free(grid->cells);
    grid->cells = tg_calloc((size_t)rows * (size_t)cols + 1, sizeof *grid->cells);
    ui_grid_clear(grid);
}

void ui_grid_done(ui_grid *grid)
{
    free(grid->cells);
    *grid = (ui_grid){0};
}

ui_cell *ui_grid_at(ui_grid *grid, int y, int x)
{
    return &grid->cells[(size_t)y * (size_t)grid->cols + (size_t)x];
}

bool ui_cell_equal(const ui_cell *a, const ui_cell *b)
{
    return a->width == b->width && a->face == b->face && a->over == b->over &&
           memcmp(a->cp, b->cp, sizeof a->cp) == 0;
}

/* Writes one character of `width` columns; a wide one that is cut in two leaves a blank. */
static int put_cell(ui_grid *grid, int y, int x, int end, const uint32_t *cp, int width,
                    ui_face face)
{
    if (x + width > end) {
        while (x < end) *ui_grid_at(grid, y, x++) = (ui_cell){{' '}, 1, (uint8_t)face, 0};
        return end;
    }
    ui_cell *cell = ui_grid_at(grid, y, x);
    *cell = (ui_cell){.width = (uint8_t)width, .face = (uint8_t)face};
    memcpy(cell->cp, cp, sizeof cell->cp);
    if (grid->ascii && cp[0] >= 0x7f) {
        memset(cell->cp, 0, sizeof cell->cp);
        cell->cp[0] = (uint32_t)ui_char_ascii(cp[0]);
        cell->width = 1;
        if (width == 2) *ui_grid_at(grid, y, x + 1) = (ui_cell){{'?'}, 1, (uint8_t)face, 0};
    } else if (width == 2) {
        *ui_grid_at(grid, y, x + 1) = (ui_cell){.width = 0, .face = (uint8_t)face};
    }
    return x + width;
}

int ui_grid_put(ui_grid *grid, int y, int x, int end, const char *s, size_t n, ui_face face)
{
    if (y < 0 || y >= grid->rows || x < 0) return x;
    if (end > grid->cols) end = grid->cols;
    for (size_t i = 0; i < n && x < end;) {
        ui_cluster c = ui_cluster_read(s + i, n - i);
        i += c.bytes;
        if (!c.escape[0]) {
            x = put_cell(grid, y, x, end, c.cp, c.width, face);
            continue;
        }
        for (const char *e = c.escape; *e && x < end; e++) {
            uint32_t cp[UI_CELL_CHARS] = {(unsigned char)*e};
            x = put_cell(grid, y, x, end, cp, 1, UI_FACE_escape);
        }
    }
    return x;
}

void ui_grid_fill(ui_grid *grid, int y, int x, int end, uint32_t cp, ui_face face)
{
    if (y < 0 || y >= grid->rows || x < 0) return;
    if (end > grid->cols) end = grid->cols;
    uint32_t cps[UI_CELL_CHARS] = {cp};
    while (x < end) x = put_cell(grid, y, x, end, cps, 1, face);
}

void ui_grid_over(ui_grid *grid, int y, int x, int end, ui_face over)
{
    if (y < 0 || y >= grid->rows || x < 0) return;
    if (end > grid->cols) end = grid->cols;
    for (; x < end; x++) ui_grid_at(grid, y, x)->over = (uint8_t)over;
}
