/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Windows tile the frame (the screen without the echo area). They form a tree: a leaf shows a
 * buffer, an inner node holds two or more windows above each other or side by side. Sizes follow
 * from shares, so that a resize keeps proportions and undoes itself. The minibuffer's window is
 * outside of the tree.
 */
#ifndef TUI_WINDOW_H
#define TUI_WINDOW_H

#include "buffer.h"

enum { UI_MIN_ROWS = 4, UI_MIN_COLS = 10 };

/* What q does in a window that a pop-up used. */
typedef enum ui_quit_how { UI_QUIT_BURY, UI_QUIT_DELETE, UI_QUIT_RESTORE } ui_quit_how;

/*
 * Invariants: an inner node has at least two kids and no buffer; kids of one node tile it, with one
 * column between those side by side; `rows` of a leaf counts its mode line.
 */
typedef struct ui_window {
    struct ui_window *parent;
    TG_VEC(struct ui_window *) kids;
    bool across; /* kids stand side by side */
    double share;
    int y, x, rows, cols;

    ui_buffer *buffer;
    ui_point point;
    size_t top; /* first row shown */
    int left;   /* columns scrolled away */
    uint64_t used;
    ui_quit_how quit;
    ui_buffer *quit_buffer; /* to return to */
    ui_point quit_point;
    size_t quit_top;
    struct ui_window *quit_select; /* selected again by q */
} ui_window;

void ui_windows_init(ui_app *ui, ui_buffer *buffer);
void ui_windows_done(ui_app *ui);
/* Places all windows in the frame. Where they do not fit, only the selected one is shown
 * (ui->solo). */
void ui_windows_layout(ui_app *ui);

/* Leaves in the order of C-x o. */
ui_window *ui_window_first(ui_app *ui);
ui_window *ui_window_after(ui_app *ui, ui_window *window); /* NULL after the last */
ui_window *ui_window_cycle(ui_app *ui, ui_window *window, int n);
/* The selected window, or the one that the active prompt came from. */
ui_window *ui_window_ordinary(ui_app *ui);
int ui_window_count(ui_app *ui);
bool ui_window_live(ui_app *ui, const ui_window *window);
/* A window that shows the buffer, or NULL. */
ui_window *ui_window_showing(ui_app *ui, const ui_buffer *buffer);
/* Rows of text it shows. */
int ui_window_body(ui_app *ui, const ui_window *window);

/* Splits; the new window comes after. size 0: halves. Errors: TG_LIMIT (no room). */
tg_status ui_window_split(ui_app *ui, ui_window *window, bool across, int size,
                          ui_window **made) TG_MUST_USE;
/* Errors: TG_LIMIT (the only window). */
tg_status ui_window_delete(ui_app *ui, ui_window *window) TG_MUST_USE;
void ui_window_delete_others(ui_app *ui, ui_window *window);
/* Grows by `delta` rows (or columns) as far as the others allow. Errors: TG_LIMIT. */
tg_status ui_window_grow(ui_app *ui, ui_window *window, bool across, int delta) TG_MUST_USE;
void ui_windows_balance(ui_app *ui);
/* True if the inner and outer sizes agree everywhere; for tests. */
bool ui_windows_tile(ui_app *ui);

void ui_window_select(ui_app *ui, ui_window *window);
/* Shows a buffer at the place where it was last seen. */
void ui_window_show(ui_app *ui, ui_window *window, ui_buffer *buffer);

/* Shows a buffer somewhere without selecting it, by the rules for pop-ups; returns its window. */
ui_window *ui_display(ui_app *ui, ui_buffer *buffer);
/* Puts the window back as it was before a pop-up used it. */
void ui_window_quit(ui_app *ui, ui_window *window);
/* Deletes pop-up windows until the rest fits; part of a resize. */
void ui_windows_drop_popups(ui_app *ui);

#endif
