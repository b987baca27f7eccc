/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A journal turned back into the session that wrote it. */
#ifndef TUI_REPLAY_H
#define TUI_REPLAY_H

#include "engine/engine.h"
#include "journal.h"

typedef struct ui_replay_report {
    int steps;            /* applied again */
    int records;          /* read */
    size_t lost;          /* bytes of a torn record at the end */
    bool crashed;         /* a record says so */
    double max_abs_error; /* of the steps checked */
} ui_replay_report;

typedef struct ui_replay_options {
    int to;            /* state to stop at; -1: all */
    bool check;        /* run each step on random inputs */
    uint64_t seed;     /* of these */
    const char *model; /* in place of the journal's path; NULL: none */
    const tg_job *job;
    /* Called after each step; may be NULL. */
    void (*step)(void *ctx, const tg_state *state, int steps, int all);
    void *ctx;
} ui_replay_options;

/* Loads the journal's model with its dimensions. Errors: those of loading; TG_DIFFERS (another
 * model). */
tg_status ui_replay_model(const ui_journal_log *log, const char *model, tg_graph **g) TG_MUST_USE;

/*
 * Applies the steps of a journal again, state by state, and checks the hash that each recorded.
 * HEAD ends where it was. Errors: TG_DIFFERS, TG_NOTFOUND at the record where it appears.
 */
tg_status ui_replay(const ui_journal_log *log, const tg_graph *root, const tg_rules *rules,
                    const ui_replay_options *options, tg_history **history,
                    ui_replay_report *report) TG_MUST_USE;

#endif
