/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Searches that need no learning, and what the last one found. */
#include "tui/help.h"
#include "tui/prompt.h"
#include "tui/session.h"

#include <stdlib.h>
#include <string.h>

UI_FAMILY(searches);

static void search_names(ui_app *ui, void *ctx, const char *typed, ui_choices *choices)
{
    const tg_search *search;
    (void)ui, (void)ctx, (void)typed;
    for (int i = 0; (search = tg_search_at(i)) != NULL; i++)
        ui_choices_add(choices, search->name, search->about);
}

/* By the argument, or asked for. Errors: TG_CANCELLED, TG_NOTFOUND. */
static tg_status which_search(ui_app *ui, const ui_args *args, const tg_search **search)
{
    const char *given = ui_arg(args, "by");
    ui_prompt prompt = {.text = "Search by",
                        .start = ui_opt_text(UI_OPT_search),
                        .history = "search",
                        .source = search_names,
                        .must_match = true};
    char *name;
    if (given) name = tg_strdup(given);
    else TG_TRY(ui_ask(ui, &prompt, &name));
    *search = tg_search_find(name);
    tg_status status = *search ? TG_OK : tg_fail(TG_NOTFOUND, "No search is called `%s'", name);
    free(name);
    return status;
}

DEFCMD(run_search, "run-search", "[by]:text Search by",
       "Search for a cheaper graph from here on, beside everything else.\n\nIts steps are verified "
       "like all others and become a branch of the history; HEAD goes along unless it has moved "
       "meanwhile. C-g and C-c C-k end the search with the best that it has found so far. Rules "
       "that are vetoed, anywhere, are left out. The options search, search-budget, "
       "search-seconds and search-alpha say how it is done; search-report shows its course.")
{
    ui_session *s;
    const tg_search *search;
    TG_TRY(ui_session_need(ui, &s));
    TG_TRY(which_search(ui, args, &search));
    TG_TRY(ui_session_need(ui, &s)); /* another may be open since */
    return ui_session_search(s, search);
}

static void add_course(const tg_search_report *r, ui_text *out)
{
    ui_text_add(out, UI_FACE_header, "\n best ms  at graph   after s\n");
    for (int i = 0; i < r->n_course; i++)
        ui_text_addf(out, UI_FACE_plain, "%8.4f  %8d  %8.3f\n", r->course[i].cost_ms,
                     r->course[i].expansions, r->course[i].seconds);
}

static void add_report(ui_session *s, ui_text *out)
{
    const ui_found *f = &s->found;
    const tg_search_report *r = &f->report;
    double from = tg_history_get(s->history, f->from)->trail->cost_ms;
    ui_text_addf(out, UI_FACE_plain, "Search by %s from state %d to state %d.\n%s\n\n",
                 f->search->name, f->from, f->to, f->search->about);
    ui_text_addf(out, UI_FACE_plain, "predicted   %.4f -> %.4f ms (%+.1f%%)\n", from, f->ms,
                 from > 0 ? 100 * (f->ms / from - 1) : 0.0);
    if (f->best_ms < f->ms)
        ui_text_addf(out, UI_FACE_plain, "best graph  %.4f ms, but no steps lead there\n",
                     f->best_ms);
    ui_text_addf(out, UI_FACE_plain, "steps       %d, each of them verified\n", f->steps);
    ui_text_addf(out, UI_FACE_plain, "ended by    %s%s\n", r->stop,
                 r->exhausted ? "; all that can be reached was seen" : "");
    ui_text_addf(out, UI_FACE_plain, "looked at   %d graphs, %ld sites\n", r->expansions, r->sites);
    ui_text_addf(out, UI_FACE_plain, "built       %d graphs, %d of them known already\n", r->graphs,
                 r->duplicates);
    if (r->equal_nodes)
        ui_text_addf(out, UI_FACE_plain, "e-graph     %d operators, %s\n", r->equal_nodes,
                     r->proved ? "none of its graphs is cheaper"
                               : "not proved that none of its graphs is cheaper");
    ui_text_addf(out, UI_FACE_plain, "took        %.3f s\n", r->seconds);
    add_course(r, out);
}

tg_status ui_search_report(ui_app *ui)
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    if (!s->found.search) return tg_fail(TG_NOTFOUND, "No search has ended yet");
    ui_buffer *help = ui_help_begin(ui, UI_SEARCH_TARGET);
    add_report(s, &help->text);
    ui_help_show(ui, help);
    return TG_OK;
}

DEFCMD(search_report, "search-report", "",
       "Show the course of the last search: its best over time, what it looked at, why it ended.")
{
    return ui_search_report(ui);
}
