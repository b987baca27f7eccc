/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The explorer's session with one model: the tree of states, what the screen shows of HEAD, the
 * agent that trains beside, the measurements, the journal.
 *
 * It belongs to the interface's thread, which neither computes nor touches files: every function
 * here that has work to do starts a job and returns; the result comes back as an event, is put into
 * the session and shows on the screen. A result for a HEAD that is no longer there is dropped.
 */
#ifndef TUI_SESSION_H
#define TUI_SESSION_H

#include "agent/agent.h"
#include "app.h"
#include "engine/engine.h"
#include "journal.h"

/*
 * What was computed for one state. Replaced whole. Invariants: order lists the candidates as rows,
 * the most probable first, ties by candidate number; row n_rows - 1 is STOP (order -1).
 */
typedef struct ui_view {
    uint64_t serial;     /* differs from that of every other view */
    int state;           /* id in the history */
    tg_drawing *drawing; /* of its graph, with the folds of the session */
    tg_candidates *candidates;
    ag_scores scores; /* by the pinned policy; n == 0: not scored yet */
    double *p;        /* as scores.p, but before vetoes are masked out; NULL: not scored */
    int *order;       /* row -> candidate, -1: STOP */
    int n_rows;
    double *node_ms; /* by node id: predicted, or measured where `node_measured` */
    bool node_measured;
    double total_ms; /* sum of node_ms */
} ui_view;

typedef struct ui_veto {
    const char *rule; /* interned */
    uint64_t site;    /* key; 0: the rule everywhere */
} ui_veto;

/* An override as training sees it: number `number`, the step that led to `state`. */
typedef struct ui_demo {
    int state;        /* that it led to */
    size_t number;    /* the agent's */
    double before_ms; /* analytic cost of the state it left */
    double percent;   /* the largest gain since, in per cent of the root's cost */
} ui_demo;

/* Flagged with d; x makes vetoes of them. */
typedef enum ui_veto_scope { UI_VETO_SITE, UI_VETO_RULE_HERE, UI_VETO_RULE } ui_veto_scope;

typedef struct ui_flag {
    uint64_t key;
    ui_veto_scope scope;
} ui_flag;

typedef enum ui_agent_state {
    UI_AGENT_PAUSE,
    UI_AGENT_STEP,
    UI_AGENT_RUN,
    UI_AGENT_WAIT,
    UI_AGENT_SPEC
} ui_agent_state;

typedef enum ui_measure_state {
    UI_MEASURE_QUEUED,
    UI_MEASURE_RUNNING,
    UI_MEASURE_DONE,
    UI_MEASURE_FAILED
} ui_measure_state;

/* A measurement of a candidate (its graph against that of `state`), asked for, running or done. */
typedef struct ui_measurement {
    int state;         /* the state it starts from */
    uint64_t key;      /* of the site; 0: the state itself against its parent */
    const char *rule;  /* interned */
    const char *words; /* rule and site; interned */
    ui_measure_state at;
    tg_comparison result;
    char *why; /* of a failure */
    tg_job *job;
} ui_measurement;

/* What a search from state `from` found. */
typedef struct ui_found {
    const tg_search *search; /* NULL: none has ended yet */
    tg_search_report report;
    int from, to;   /* states; equal where nothing was found */
    int steps;      /* between them */
    double ms;      /* predicted, of `to` */
    double best_ms; /* of the best graph, which steps may not reach */
} ui_found;

typedef struct ui_choosing ui_choosing;

typedef struct ui_session {
    ui_app *ui;
    char *path, *name; /* of the model; name is the file's without folder and extension */
    tg_rules *rules;
    const tg_backend *backend;
    uint64_t seed;
    tg_history *history;
    ui_view *view;       /* of the state it says; NULL until the first is there */
    bool viewing;        /* a newer one is being computed */
    uint64_t views;      /* serial of the last; grows, and is never one of another session */
    uint64_t generation; /* counts HEAD's moves, so that stale results are told */

    tg_draw_options draw; /* fold level and flipped blocks */
    TG_VEC(uint64_t) flipped;

    ag_agent *agent;
    ag_policy *pin;  /* the policy that the screen is computed with */
    uint64_t newest; /* version of the newest policy there is */
    ag_stats stats;  /* of training, as of the last tick */
    ui_agent_state agent_state;
    bool training, started; /* the trainer runs; its threads exist */

    TG_VEC(ui_veto) vetoes;
    TG_VEC(uint64_t) marks; /* keys of marked candidates */
    TG_VEC(ui_flag) flags;
    TG_VEC(ui_demo) demos;
    TG_VEC(ag_agent *) retired; /* agents that a loaded policy took the place of */
    TG_VEC(uint64_t) plan;      /* keys still to be taken, the next one last */
    TG_VEC(uint64_t) was;       /* keys by rank before a policy was adopted, */
    uint64_t was_typed;         /* and after which key: shown until the next */
    TG_VEC(ui_measurement) measurements;
    ui_choosing *choosing; /* a search that runs; NULL */
    ui_found found;        /* by the last one that ended */

    ui_journal *journal;      /* NULL: none is written */
    bool journal_failed;      /* and that was said */
    bool stepping, again;     /* a step is under way; compute the view anew when it is done */
    bool give_up;             /* the step under way is not to be taken */
    int steps_left;           /* of the agent, after the present one */
    bool sampling;            /* it draws from the policy */
    int64_t until_ns;         /* it goes on no longer than that; 0: for ever */
    double until_ms;          /* nor below this predicted latency; 0: no matter */
    struct ui_ticker *ticker; /* watches the trainer; NULL: nobody does */
    tg_job *view_job;
    tg_job *job;       /* foreground work (open, step, view, save), for C-g; NULL */
    const char *doing; /* what it is: "Loading x.onnx" */
} ui_session;

/* The session that is open, or NULL. Commands say `No model loaded`. */
ui_session *ui_session_get(ui_app *ui);
/* TG_OK and the session, or TG_NOTFOUND "No model loaded". */
tg_status ui_session_need(ui_app *ui, ui_session **s) TG_MUST_USE;

/* Opens a model or a journal (by its first bytes) in place of the present session. Returns at once.
 */
tg_status ui_session_open(ui_app *ui, const char *path) TG_MUST_USE;
/* Stops jobs and training, closes the journal. */
void ui_session_close(ui_app *ui);

tg_state *ui_session_head(ui_session *s);
/* The candidate in a row of the view, or NULL for STOP and rows that are not there. */
const tg_candidate *ui_session_candidate(const ui_session *s, int row);
/* The row of a candidate by its site's key, or -1. */
int ui_session_row(const ui_session *s, uint64_t key);
/* Row that the agent would take: the most probable one that is not vetoed. */
int ui_session_choice(const ui_session *s);
bool ui_session_vetoed(const ui_session *s, const char *rule, uint64_t key);
const ui_measurement *ui_session_measured(const ui_session *s, int state, uint64_t key);

/*
 * Takes the candidate in a row, verified on random inputs; HEAD moves when it is done. A row other
 * than the agent's choice, taken by a person, is an override. Errors (at once): TG_USAGE (STOP,
 * vetoed, another step is under way).
 */
tg_status ui_session_take(ui_session *s, int row, tg_who who) TG_MUST_USE;
/* The agent's turn: its choice, or with `sample` one drawn from the policy; `count` times. */
tg_status ui_session_step(ui_session *s, int count, bool sample) TG_MUST_USE;
/* Takes several candidates by key, one after the other; those that went meanwhile are left out. */
tg_status ui_session_take_all(ui_session *s, const uint64_t *keys, size_t n) TG_MUST_USE;
/* Moves HEAD (undo, redo, history). The view follows. */
void ui_session_go(ui_session *s, int state);
/*
 * To the parent, to the child visited last, n times. A step under way is given up instead. Errors:
 * TG_LIMIT (the root, a leaf).
 */
tg_status ui_session_undo(ui_session *s, int n) TG_MUST_USE;
tg_status ui_session_redo(ui_session *s, int n) TG_MUST_USE;
/* Computes the view of HEAD anew: after HEAD moved, a policy was adopted, vetoes changed. */
void ui_session_refresh(ui_session *s);
/* Draws HEAD anew: folds changed. */
void ui_session_redraw(ui_session *s);
/* Pins the newest policy and ranks anew. */
void ui_session_adopt(ui_session *s);
/* Writes the newest policy to a checkpoint; goes on from one, pinned at once. Errors: TG_USAGE
 * (busy). */
tg_status ui_session_save_policy(ui_session *s, const char *path) TG_MUST_USE;
tg_status ui_session_load_policy(ui_session *s, const char *path) TG_MUST_USE;
/* Pauses or resumes training. */
void ui_session_train(ui_session *s, bool on);
void ui_session_veto(ui_session *s, const char *rule, uint64_t key, bool lift);
/*
 * Searches for a cheaper graph from HEAD, beside everything else. Its steps are verified and become
 * a branch of the history; HEAD goes along unless it has moved meanwhile. Errors: TG_USAGE (one
 * runs).
 */
tg_status ui_session_search(ui_session *s, const tg_search *search) TG_MUST_USE;
/*
 * Ends the search: the best so far is kept, unless `give_up` is set or it was ended already. False:
 * none runs.
 */
bool ui_session_search_end(ui_session *s, bool give_up);
/* Adds " taso 120 ○0.59ms" where one runs. */
void ui_session_search_status(const ui_session *s, tg_str *out);
/* Queues measurements of rows. */
tg_status ui_session_measure(ui_session *s, int row) TG_MUST_USE;
/* Measures HEAD end to end. */
tg_status ui_session_time(ui_session *s) TG_MUST_USE;
/* Cancels measurements that wait or run; how many there were. */
int ui_session_measure_cancel(ui_session *s);
/* A measurement runs or waits. */
bool ui_session_measuring(const ui_session *s);
/* Cancels foreground work (C-g); true if there was any. A running agent pauses after its step. */
bool ui_session_cancel(ui_session *s);
/*
 * Writes the graph of HEAD by extension: .onnx .svg .dot .json .txt. The file that the model came
 * from is written only with `overwrite`.
 */
tg_status ui_session_write(ui_session *s, const char *path, bool overwrite) TG_MUST_USE;
/* Waits, in a job, until the journal is on disk, and says where it is. */
tg_status ui_session_save(ui_session *s) TG_MUST_USE;

/* The row at point in *candidates*; -1: none. */
int ui_session_row_at_point(ui_session *s);

/* "squeezenet@17 3.42ms PPO:run v12": what the mode lines say. */
void ui_session_status(const ui_session *s, tg_str *out);

#endif
