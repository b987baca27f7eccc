/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The agent's turn, and moving over the tree of states. */
#include "tui/command.h"
#include "tui/prompt.h"
#include "tui/session.h"

#include "engine/base/clock.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

UI_FAMILY(step);

DEFCMD(step, "step", "N",
       "Let the agent take its choice.\n\nWith a prefix argument N, that many times; a negative "
       "one goes back. With C-u, draw from the policy's probabilities.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    int n = args->prefix.n;
    if (args->prefix.bare && !args->prefix.minus) return ui_session_step(s, 1, true);
    return n < 0 ? ui_session_undo(s, -n) : ui_session_step(s, n, false);
}

DEFCMD(unstep, "unstep", "N",
       "Go back to the state before.\n\nWith a prefix argument N, over that many steps.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    int n = args->prefix.n;
    return n < 0 ? ui_session_redo(s, -n) : ui_session_undo(s, n);
}

DEFCMD(redo, "redo", "N",
       "Go on to the state that was left last.\n\nWith a prefix argument N, over that many steps.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    return ui_session_redo(s, args->prefix.n);
}

DEFCMD(retract_all, "retract-all", "", "Go back to the model as it was loaded; nothing is lost.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    return ui_session_undo(s, tg_history_depth(s->history, s->history->head));
}

/* "stop", "20", "20 steps", "5 s", "3.2 ms". */
static tg_status parse_until(const char *text, int *steps, double *seconds, double *ms)
{
    char *rest;
    *steps = INT_MAX;
    if (strcmp(text, "stop") == 0 || strcmp(text, "STOP") == 0) return TG_OK;
    double x = strtod(text, &rest);
    while (*rest == ' ') rest++;
    if (rest == text || !(x > 0) || x > 1e6)
        return tg_fail(TG_USAGE, "Until what? stop, 20 steps, 5 s or 3.2 ms");
    if (!*rest || strncmp(rest, "step", 4) == 0) *steps = (int)x;
    else if (strcmp(rest, "s") == 0) *seconds = x;
    else if (strcmp(rest, "ms") == 0) *ms = x;
    else return tg_fail(TG_USAGE, "Until what? stop, 20 steps, 5 s or 3.2 ms");
    return TG_OK;
}

DEFCMD(step_until, "step-until", "[until]:text Until stop, N steps, N s or N ms",
       "Let the agent go on until it stops or a condition holds.\n\nThat is so many steps or "
       "seconds, or a predicted latency as low as that. C-g and C-c C-c pause it after the present "
       "rewrite.")
{
    ui_session *s;
    int steps;
    double seconds = 0, ms = 0;
    char *text;
    ui_prompt prompt = {.text = "Until (stop, N steps, N s, N ms)", .start = "stop"};
    TG_TRY(ui_session_need(ui, &s));
    if (ui_arg(args, "until")) text = tg_strdup(ui_arg(args, "until"));
    else TG_TRY(ui_ask(ui, &prompt, &text));
    tg_status status = parse_until(text, &steps, &seconds, &ms);
    free(text);
    TG_TRY(status);
    TG_TRY(ui_session_need(ui, &s));
    TG_TRY(ui_session_step(s, steps, false));
    s->until_ns = seconds > 0 ? tg_clock_ns() + (int64_t)(seconds * 1e9) : 0;
    s->until_ms = ms;
    s->agent_state = UI_AGENT_RUN;
    return TG_OK;
}

DEFCMD(interrupt, "interrupt", "",
       "Pause what runs: the agent after its present rewrite, else training.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    if (ui_session_cancel(s)) return TG_OK;
    if (!s->training) return tg_fail(TG_NOTFOUND, "Nothing runs");
    ui_session_train(s, false);
    ui_message(ui, "Training is paused (C-c C-a t goes on)");
    return TG_OK;
}

DEFCMD(cancel_job, "cancel-job", "",
       "Cancel the measurements that run or wait, and end a search.\n\nThe best that it has found "
       "so far is kept; a second time gives that up, too.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    int n = ui_session_measure_cancel(s);
    bool searching = ui_session_search_end(s, false);
    if (searching && !n) return TG_OK; /* what it found says itself */
    if (!n) return tg_fail(TG_NOTFOUND, "Nothing is being measured or searched for");
    ui_message(ui, "Cancelled %d measurement%s", n, n == 1 ? "" : "s");
    return TG_OK;
}
