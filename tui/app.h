/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The state of the interface. It belongs to one thread, which only draws and dispatches: work goes
 * to ui->jobs and comes back as events.
 */
#ifndef TUI_APP_H
#define TUI_APP_H

#include "cell.h"
#include "keymap.h"
#include "mode.h"
#include "option.h"
#include "term.h"
#include "window.h"

#include "engine/base/job.h"

#include <stdio.h>

enum { UI_LOSSAGE = 300 };

typedef struct ui_minibuf ui_minibuf;
typedef struct ui_script ui_script;
typedef struct ui_search ui_search;

/* A key that was typed and the command that it ended in (NULL: none yet). */
typedef struct ui_typed {
    ui_key key;
    const ui_command *command;
} ui_typed;

/* An answer given to a prompt of some kind. */
typedef struct ui_answer {
    char *kind, *text;
} ui_answer;

struct ui_app {
    ui_term *term; /* NULL in batch */
    tg_jobs *jobs;
    ui_script *script; /* NULL: keys come from the terminal */
    ui_grid grid;
    int rows, cols; /* of the terminal */
    bool dirty;     /* the screen no longer shows the state */
    bool late;      /* it may wait for the refresh rate */
    int64_t painted_ns;

    TG_VEC(ui_buffer *) buffers;
    uint64_t clock; /* counts selections */
    ui_window *root, *selected, *mini;
    bool solo; /* only the selected window is shown */

    ui_keymap *global;
    TG_VEC(ui_keymap *) mode_maps; /* by ui_mode_at */

    tg_str echo;          /* shown in the echo area; "" if nothing */
    tg_str keys_shown;    /* a partial key, shown after a while */
    bool keys_were_shown; /* the rest of the argument is shown at once */
    char *last_message;   /* in *Messages*, for folding repeats */
    int message_repeats;
    TG_VEC(ui_line) overlay; /* rows drawn above the echo area, for which-key and menus */

    ui_key keys[UI_MAX_KEYS]; /* the sequence that called the command */
    int n_keys;
    TG_VEC(ui_key) unread;
    ui_prefix prefix;
    bool keep_prefix; /* the command builds the argument of the next one */
    const ui_command *this_command, *last_command;
    int goal; /* column that vertical motion aims at */
    TG_VEC(ui_typed) lossage;
    uint64_t typed; /* keys so far */

    TG_VEC(char *) kills;
    size_t yank_at; /* kills are yanked from here by M-y */
    ui_point yank_from;
    TG_VEC(ui_answer) answers; /* oldest first */
    ui_minibuf *minibuf;       /* the active prompt, or NULL */
    ui_search *search;         /* a search whose matches are lit, or NULL */
    TG_VEC(char *) search_ring;
    TG_VEC(char *) help_trail; /* targets of *Help*, for l and r */
    size_t help_at;

    int depth; /* command loops inside each other */
    bool stop; /* leave the innermost loop */
    bool exit; /* leave all of them */
    int exit_status;
    bool colour_light;
    bool bare;   /* the user's files are left alone */
    FILE *out;   /* where ui_print goes in batch */
    void *model; /* the session of the modes that need one */
};

/* Takes over the terminal (NULL in batch). `bare`: no files of the user's are read or written. */
ui_app *ui_app_new(ui_term *term, bool bare);
void ui_app_free(ui_app *ui);
/* Adopts the options that concern the terminal. */
void ui_app_theme(ui_app *ui);

/* ---- history.c */
void ui_history_load(ui_app *ui);
void ui_history_save(ui_app *ui);

/* ---- screen.c */
/* Draws everything into the grid and shows it. */
void ui_paint(ui_app *ui);
/* The screen is no longer right: paint before the next wait, or when the refresh rate allows it. */
void ui_touch(ui_app *ui);
void ui_touch_late(ui_app *ui);
/* Moves the window's top so that point is in it; to the middle if it was far away. */
void ui_window_follow(ui_app *ui, ui_window *window);

/* ---- echo.c */
/* A message in the echo area and in *Messages*. */
void ui_message(ui_app *ui, const char *fmt, ...) TG_PRINTF(2, 3);
/* Only in *Messages*. */
void ui_note(ui_app *ui, const char *fmt, ...) TG_PRINTF(2, 3);
/* Only in the echo area. */
void ui_hint(ui_app *ui, const char *fmt, ...) TG_PRINTF(2, 3);
/* In batch to stdout; else a message, or a pop-up if there are several lines. */
void ui_print(ui_app *ui, const char *text);
/* Says what the failed status is about; TG_CANCELLED is "Quit". */
void ui_complain(ui_app *ui, tg_status status);

/* ---- loop.c */
/* Waits for a key; UI_KEY_EOF when the program ends. */
ui_key ui_read_key(ui_app *ui);
/* The same for at most `seconds` (0: for ever); UI_KEY_NONE when they passed. */
ui_key ui_read_key_for(ui_app *ui, double seconds);
void ui_unread_key(ui_app *ui, ui_key key);
/*
 * Reads a whole sequence through the maps that are active. False when the program ends or C-g broke
 * off. The sequence is in ui->keys; *command is NULL if it leads nowhere.
 */
bool ui_read_sequence(ui_app *ui, const ui_command **command);
/* The binding of a sequence in the maps that are active now, major before global. */
ui_binding ui_active_binding(ui_app *ui, const ui_key *keys, int n, const ui_keymap **where);
/* Reads and runs one command. */
void ui_step(ui_app *ui);
/* Runs commands until ui->stop or ui->exit. */
void ui_loop(ui_app *ui);
/* Leaves the program with this status. */
void ui_exit(ui_app *ui, int status);
/* Runs a command as if its key was typed, with all that follows. */
void ui_execute(ui_app *ui, const ui_command *command, const ui_args *args);

#endif
