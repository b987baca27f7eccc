/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The terminal of the tests: keys in, a grid of cells out. */
#include "term.h"

#include "engine/base/vec.h"

#include <stdlib.h>
#include <string.h>

/* Invariant: keys[0..at) were read. */
typedef struct memory {
    ui_term term;
    ui_grid shown;
    int y, x, beeps, rows, cols;
    TG_VEC(ui_key) keys;
    size_t at;
    TG_VEC(char *) pastes;
    size_t paste_at;
} memory;

static void memory_size(ui_term *term, int *rows, int *cols)
{
    const memory *m = (const memory *)term;
    *rows = m->rows;
    *cols = m->cols;
}

static void memory_put(ui_term *term, ui_grid *grid, int y, int x)
{
    memory *m = (memory *)term;
    if (m->shown.rows != grid->rows || m->shown.cols != grid->cols) {
        ui_grid_resize(&m->shown, grid->rows, grid->cols);
    }
    size_t n = (size_t)grid->rows * (size_t)grid->cols;
    memcpy(m->shown.cells, grid->cells, n * sizeof *grid->cells);
    m->y = y;
    m->x = x;
}

static ui_key memory_read(ui_term *term)
{
    memory *m = (memory *)term;
    if (m->at == m->keys.n) return UI_KEY_NONE;
    ui_key key = m->keys.v[m->at++];
    if (key == UI_KEY_PASTE) m->paste_at++;
    if (m->at == m->keys.n) m->at = m->keys.n = 0;
    return key;
}

static const char *memory_paste(ui_term *term)
{
    const memory *m = (const memory *)term;
    return m->paste_at ? m->pastes.v[m->paste_at - 1] : "";
}

static void memory_beep(ui_term *term)
{
    ((memory *)term)->beeps++;
}

static void memory_nothing(ui_term *term)
{
    (void)term;
}

static void memory_close(ui_term *term)
{
    memory *m = (memory *)term;
    for (size_t i = 0; i < m->pastes.n; i++) free(m->pastes.v[i]);
    tg_vec_free(&m->pastes);
    tg_vec_free(&m->keys);
    ui_grid_done(&m->shown);
    free(m);
}

ui_term *ui_term_memory(int rows, int cols, bool utf8)
{
    memory *m = tg_calloc(1, sizeof *m);
    m->rows = rows;
    m->cols = cols;
    m->term = (ui_term){
        .fd = -1,
        .utf8 = utf8,
        .tier = UI_MONO,
        .size = memory_size,
        .put = memory_put,
        .read = memory_read,
        .paste = memory_paste,
        .beep = memory_beep,
        .suspend = memory_nothing,
        .redraw = memory_nothing,
        .close = memory_close,
    };
    return &m->term;
}

void ui_term_memory_resize(ui_term *term, int rows, int cols)
{
    memory *m = (memory *)term;
    m->rows = rows;
    m->cols = cols;
    ui_term_memory_feed(term, UI_KEY_RESIZE);
}

void ui_term_memory_feed(ui_term *term, ui_key key)
{
    memory *m = (memory *)term;
    tg_vec_push(&m->keys, key);
}

void ui_term_memory_paste(ui_term *term, const char *text)
{
    memory *m = (memory *)term;
    tg_vec_push(&m->pastes, tg_strdup(text));
    ui_term_memory_feed(term, UI_KEY_PASTE);
}

int ui_term_memory_beeps(const ui_term *term)
{
    return ((const memory *)term)->beeps;
}

void ui_term_memory_cursor(const ui_term *term, int *y, int *x)
{
    const memory *m = (const memory *)term;
    *y = m->y;
    *x = m->x;
}

static void add_cell(tg_str *out, const ui_cell *cell)
{
    char utf8[5];
    for (int i = 0; i < UI_CELL_CHARS && cell->cp[i] && cell->width; i++) {
        ui_utf8_encode(cell->cp[i], utf8);
        tg_str_add(out, utf8);
    }
}

char *ui_grid_text(const ui_grid *grid)
{
    tg_str out = {0};
    for (int y = 0; y < grid->rows; y++) {
        for (int x = 0; x < grid->cols; x++) add_cell(&out, ui_grid_at((ui_grid *)grid, y, x));
        while (out.n && out.p[out.n - 1] == ' ') out.p[--out.n] = '\0';
        tg_str_addc(&out, '\n');
    }
    return out.p ? out.p : tg_strdup("");
}

static bool same_faces(const ui_cell *a, const ui_cell *b)
{
    return a->face == b->face && a->over == b->over;
}

char *ui_grid_faces(const ui_grid *grid)
{
    tg_str out = {0};
    for (int y = 0; y < grid->rows; y++) {
        for (int x = 0, from = 0; x < grid->cols; x++) {
            const ui_cell *cell = ui_grid_at((ui_grid *)grid, y, x);
            if (x + 1 < grid->cols && same_faces(cell, cell + 1)) continue;
            if (cell->face || cell->over) {
                tg_str_addf(&out, "%d:%d-%d %s", y, from, x, ui_face_get(cell->face)->name);
                if (cell->over) tg_str_addf(&out, " %s", ui_face_get(cell->over)->name);
                tg_str_addc(&out, '\n');
            }
            from = x + 1;
        }
    }
    return out.p ? out.p : tg_strdup("");
}

char *ui_term_memory_text(const ui_term *term)
{
    return ui_grid_text(&((const memory *)term)->shown);
}

char *ui_term_memory_faces(const ui_term *term)
{
    return ui_grid_faces(&((const memory *)term)->shown);
}
