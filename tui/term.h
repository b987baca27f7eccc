/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A terminal as a record of functions: the real one (term_curses.c) or one in memory
 * (term_memory.c).
 */
#ifndef TUI_TERM_H
#define TUI_TERM_H

#include "cell.h"
#include "key.h"

#include "engine/base/status.h"

typedef struct ui_term ui_term;

struct ui_term {
    int fd;       /* readable when keys wait; -1 if there is nothing to poll */
    bool utf8;    /* symbols beyond ASCII may be sent */
    bool live;    /* a person looks at it: timers run by the clock */
    ui_tier tier; /* what it can show */

    void (*size)(ui_term *term, int *rows, int *cols);
    /* Shows the grid, with the cursor at (y, x); sends only what differs from the last one. */
    void (*put)(ui_term *term, ui_grid *grid, int y, int x);
    /* The next key, or UI_KEY_NONE if none waits. Never blocks. */
    ui_key (*read)(ui_term *term);
    /* Text of the last UI_KEY_PASTE. Valid until the next read. */
    const char *(*paste)(ui_term *term);
    void (*beep)(ui_term *term);
    /* Gives the screen back and stops the process; returns when it was continued. */
    void (*suspend)(ui_term *term);
    /* Reads the size again and repaints everything with the next put. */
    void (*redraw)(ui_term *term);
    /* Gives the screen back and frees the terminal. */
    void (*close)(ui_term *term);
};

/*
 * Opens the controlling terminal. Errors: TG_USAGE with the words to print (unknown or unfit TERM,
 * no terminal).
 */
tg_status ui_term_curses(ui_term **term) TG_MUST_USE;

/*
 * Gives an open terminal back with async-signal-safe calls only; does nothing when none is open.
 * For crash handlers and atexit.
 */
void ui_term_rescue(void);

/* Lets the terminal show fewer colours than it could, or a light theme. */
void ui_term_curses_theme(ui_term *term, ui_tier tier, bool light);

/* A terminal in memory of the given size. */
ui_term *ui_term_memory(int rows, int cols, bool utf8);
void ui_term_memory_resize(ui_term *term, int rows, int cols);
/* Queues a key to be read. */
void ui_term_memory_feed(ui_term *term, ui_key key);
void ui_term_memory_paste(ui_term *term, const char *text);
/* How often it beeped. */
int ui_term_memory_beeps(const ui_term *term);
/*
 * The screen as text, trailing blanks removed, one line a row; with `faces`, the names of the faces
 * instead: one line for each run of cells, "row:from-to face [over]". Freed by the caller.
 */
char *ui_term_memory_text(const ui_term *term);
char *ui_term_memory_faces(const ui_term *term);
void ui_term_memory_cursor(const ui_term *term, int *y, int *x);

/* The same for any grid. Freed by the caller. */
char *ui_grid_text(const ui_grid *grid);
char *ui_grid_faces(const ui_grid *grid);

#endif
