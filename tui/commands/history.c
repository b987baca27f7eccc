/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moving in the tree of states, naming, comparing and pruning them. */
#include "tui/copy.h"
#include "tui/history_tree.h"
#include "tui/prompt.h"

#include <stdlib.h>
#include <string.h>

UI_FAMILY(history);

DEFCMD(history, "history", "", "Show the tree of states and select it, point at the present one.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    ui_window *from = ui->selected, *w = ui_display(ui, ui_history_buffer(ui));
    if (w != from && w->quit == UI_QUIT_BURY) w->quit_select = from; /* it was there before */
    ui_window_select(ui, w);
    ui_history_point_to(ui, s->history->head);
    return TG_OK;
}

/* The session and the state at point in *history*. */
static tg_status state_at_point(ui_app *ui, ui_session **s, int *state)
{
    TG_TRY(ui_session_need(ui, s));
    *state = ui_history_selected(ui);
    return *state >= 0 ? TG_OK : tg_fail(TG_NOTFOUND, "No state on this line");
}

static tg_status go(ui_session *s, int state)
{
    if (s->stepping) return tg_fail(TG_USAGE, "A step is under way");
    ui_session_go(s, state);
    ui_message(s->ui, "At step %d", tg_history_depth(s->history, state));
    return TG_OK;
}

DEFCMD(visit, "history-visit", "", "Make the state at point the present one.")
{
    ui_session *s;
    int state;
    TG_TRY(state_at_point(ui, &s, &state));
    TG_TRY(go(s, state));
    ui_history_point_to(ui, state);
    return TG_OK;
}

DEFCMD(step_to_point, "step-to-point", "",
       "Take or take back steps up to the state at point in *history*.")
{
    ui_session *s;
    int state;
    TG_TRY(state_at_point(ui, &s, &state));
    return go(s, state);
}

DEFCMD(forward, "history-forward", "", "Move point to the state that the next step leads to.")
{
    ui_session *s;
    int state, child;
    TG_TRY(state_at_point(ui, &s, &state));
    child = tg_history_get(s->history, state)->last_visited;
    if (child < 0) child = tg_history_get(s->history, state)->first_child;
    while (child >= 0 && tg_history_get(s->history, child)->pruned)
        child = tg_history_get(s->history, child)->next_sibling;
    return child >= 0 && ui_history_point_to(ui, child)
               ? TG_OK
               : tg_fail(TG_LIMIT, "No step leads on from here");
}

DEFCMD(backward, "history-backward", "", "Move point to the state that the step came from.")
{
    ui_session *s;
    int state;
    TG_TRY(state_at_point(ui, &s, &state));
    int parent = tg_history_get(s->history, state)->parent;
    return parent >= 0 && ui_history_point_to(ui, parent)
               ? TG_OK
               : tg_fail(TG_LIMIT, "This is the model as it was loaded");
}

/* Moves over the lines that hold a state. */
static tg_status move_row(ui_app *ui, int by)
{
    ui_buffer *b = ui_history_buffer(ui);
    ui_point was = ui_buffer_point(ui, b);
    size_t n = ui_buffer_rows(ui, b);
    for (size_t row = was.row + (size_t)by; row < n; row += (size_t)by) {
        ui_buffer_set_point(ui, b, row, was.col);
        if (ui_history_selected(ui) >= 0) return TG_OK;
    }
    ui_buffer_set_point(ui, b, was.row, was.col);
    return tg_fail(TG_LIMIT, by > 0 ? "End of buffer" : "Beginning of buffer");
}

DEFCMD(next_row, "history-next-row", "", "Move to the next line with a state.")
{
    return move_row(ui, 1);
}

DEFCMD(previous_row, "history-previous-row", "", "Move to the line before with a state.")
{
    return move_row(ui, -1);
}

/* A step that made it slower: as measured, else as predicted. */
static bool is_regression(const ui_session *s, int state)
{
    const tg_state *now = tg_history_get(s->history, state);
    const tg_comparison *measured = ui_step_measured(s, now);
    if (now->parent < 0) return false;
    if (measured) return measured->verdict == TG_SLOWER;
    return now->trail->cost_ms > tg_history_get(s->history, now->parent)->trail->cost_ms;
}

static tg_status to_regression(ui_app *ui, int by)
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    ui_buffer *b = ui_history_buffer(ui);
    ui_point was = ui_buffer_point(ui, b);
    while (move_row(ui, by) == TG_OK)
        if (is_regression(s, ui_history_selected(ui))) return TG_OK;
    ui_buffer_set_point(ui, b, was.row, was.col);
    return tg_fail(TG_LIMIT, by > 0 ? "No slower step further down" : "No slower step further up");
}

DEFCMD(next_regression, "next-regression", "",
       "Move to the next step in *history* that made it slower, as measured or predicted.")
{
    return to_regression(ui, 1);
}

DEFCMD(previous_regression, "previous-regression", "",
       "Move to the step before in *history* that made it slower, as measured or predicted.")
{
    return to_regression(ui, -1);
}

DEFCMD(quit, "history-quit", "", "Leave *history*; the present state stays what it was.")
{
    ui_session *s = ui_session_get(ui);
    if (s) ui_history_point_to(ui, s->history->head);
    ui_window *w = ui->selected, *back = w->quit_select;
    if (w->quit == UI_QUIT_BURY && back && ui_window_live(ui, back)) {
        w->quit_select = NULL;
        ui_window_select(ui, back);
    } else {
        ui_window_quit(ui, w);
    }
    return TG_OK;
}

DEFCMD(tag, "tag-state", "name:text Name of this state",
       "Give the state at point in *history* a name.\n\nAn empty name takes it away.")
{
    ui_session *s;
    int state;
    TG_TRY(state_at_point(ui, &s, &state));
    const char *name = ui_arg(args, "name");
    tg_history_get(s->history, state)->tag = name[0] ? tg_intern(name) : NULL;
    tg_status status = ui_journal_tag(s->journal, state, name);
    if (status == TG_OK) ui_message(ui, "State %d is called %s", state, name);
    ui_touch(ui);
    return status;
}

DEFCMD(mark, "mark-state", "",
       "Mark the state at point in *history* for comparison, or take the mark back.\n\nTwo may be "
       "marked; `diff-states' compares them.")
{
    ui_session *s;
    int state, *marks = ui_history_marks(ui);
    TG_TRY(state_at_point(ui, &s, &state));
    if (marks[0] == state || marks[1] == state) {
        if (marks[0] == state) marks[0] = marks[1];
        marks[1] = -1;
    } else {
        if (marks[1] >= 0) marks[0] = marks[1];
        marks[marks[0] >= 0] = state;
    }
    ui_touch(ui);
    return TG_OK;
}

DEFCMD(diff_states, "diff-states", "",
       "Compare the two states marked in *history*, or one and the present, or it and the root.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    const int *marks = ui_history_marks(ui);
    int a = marks[0] >= 0 ? marks[0] : 0, b = marks[1] >= 0 ? marks[1] : s->history->head;
    if (a == b) a = 0;
    if (a == b) return tg_fail(TG_USAGE, "No two states to compare: d marks them in *history*");
    ui_diff_show_states(ui, a < b ? a : b, a < b ? b : a);
    return TG_OK;
}

static bool is_below(tg_history *h, int state, int top)
{
    while (state > top) state = tg_history_get(h, state)->parent;
    return state == top;
}

DEFCMD(prune, "prune", "",
       "Remove the state at point in *history* and all that follow from it, after asking.")
{
    ui_session *s;
    int state, n = 0;
    bool yes;
    char question[96];
    TG_TRY(state_at_point(ui, &s, &state));
    if (state == 0) return tg_fail(TG_USAGE, "The model as it was loaded stays");
    if (s->stepping) return tg_fail(TG_USAGE, "A step is under way");
    for (size_t i = 0; i < s->history->states.n; i++)
        n += !s->history->states.v[i].pruned && is_below(s->history, (int)i, state);
    snprintf(question, sizeof question, "Remove step %d and the %d that follow?",
             tg_history_depth(s->history, state), n - 1);
    TG_TRY(ui_ask_yes(ui, question, &yes));
    if (!yes) return TG_OK;
    int parent = tg_history_get(s->history, state)->parent;
    if (is_below(s->history, s->history->head, state)) ui_session_go(s, parent);
    tg_history_prune(s->history, state);
    tg_status status = ui_journal_prune(s->journal, state);
    ui_history_point_to(ui, parent);
    ui_message(ui, "Removed %d state%s", n, n == 1 ? "" : "s");
    return status;
}

DEFCMD(copy_line, "copy-replay-line", "",
       "Copy the shell line that replays the journal up to the state at point in *history*.")
{
    ui_session *s;
    int state;
    TG_TRY(state_at_point(ui, &s, &state));
    if (!s->journal) return tg_fail(TG_NOTFOUND, "No journal is kept of this session");
    tg_str line = {0};
    tg_str_add(&line, "regraft replay '");
    for (const char *p = ui_journal_path(s->journal); *p; p++)
        if (*p == '\'') tg_str_add(&line, "'\\''");
        else tg_str_addc(&line, *p);
    tg_str_addf(&line, "' --to %d --check", state);
    ui_copy(ui, line.p);
    tg_str_free(&line);
    return TG_OK;
}
