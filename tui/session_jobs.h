/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The jobs behind a session: for the session's own files. */
#ifndef TUI_SESSION_JOBS_H
#define TUI_SESSION_JOBS_H

#include "session.h"

void ui_view_free(ui_view *view); /* NULL is fine */
/* Starts or restarts the computation of HEAD's view. */
void ui_session_start_view(ui_session *s);
/* Called when a view arrived and the session is at rest: goes on with steps that are left. */
void ui_session_rest(ui_session *s);
/* Tells the trainer where to start from now on. */
void ui_session_follow(ui_session *s);
/* Says a failure of the journal, once. */
void ui_session_journal_check(ui_session *s, tg_status status);
/* Keys of the candidates that are vetoed; *keys is malloced. */
int ui_vetoed_keys(const ui_veto *vetoes, size_t n, const tg_candidates *c, uint64_t **keys);
/* True while a job holds a pointer into the session. */
bool ui_session_working(const ui_session *s);
/* Starts the next measurement that waits, if none runs. */
void ui_session_measure_next(ui_session *s);

/* ---- layout.c */
/* A model was opened: its buffers and windows are laid out. */
void ui_session_loaded(ui_session *s);
/* What the windows look at, by identity: remembered before a view goes, found again in the new. */
typedef struct ui_looks ui_looks;
ui_looks *ui_session_looks(ui_session *s);
/* A view arrived: its buffers show it. Frees `looks`. */
void ui_session_shown(ui_session *s, ui_looks *looks);

/* Watches the trainer in a thread of its own. */
void ui_session_start_ticker(ui_session *s);
void ui_session_stop_ticker(ui_session *s);

#endif
