/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The rule library: going to a rule and back, forbidding one. */
#include "tui/rules.h"

#include "tui/diff.h"
#include "tui/node.h"
#include "tui/prompt.h"

#include <stdlib.h>
#include <string.h>

UI_FAMILY(rules);

enum { MOST_PLACES = 100 };

static ui_buffer *rules_buffer(ui_app *ui)
{
    return ui_buffer_get(ui, "*rules*", &ui_mode_rules);
}

DEFCMD(library, "rule-library", "",
       "List the rules that are loaded, with their sites and how often they were taken.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    ui_display(ui, rules_buffer(ui));
    return TG_OK;
}

/* The rule that point is at: in *rules*, *history*, else of the candidate; NULL for none. */
static const char *rule_at_point(ui_app *ui, ui_session *s)
{
    const ui_window *w = ui_window_ordinary(ui);
    if (w->buffer->mode == &ui_mode_rules)
        return w->point.row < (size_t)tg_rules_count(s->rules)
                   ? tg_rules_get(s->rules, (int)w->point.row)->name
                   : NULL;
    if (w->buffer->mode == &ui_mode_history) {
        int state = ui_history_selected(ui);
        return state > 0 ? tg_history_get(s->history, state)->trail->taken.rule : NULL;
    }
    if (w->buffer->mode == &ui_mode_graph) {
        const tg_row *row = ui_node_row(ui, s);
        for (uint32_t i = 0; row && i < row->n_nodes; i++) {
            const tg_node *node =
                tg_graph_node(tg_candidates_graph(s->view->candidates), row->nodes[i]);
            if (node && node->rule) return node->rule;
        }
    }
    const tg_candidate *c = ui_session_candidate(s, ui_session_row_at_point(s));
    return c ? tg_rules_get(s->rules, c->site->rule)->name : NULL;
}

static void rule_names(ui_app *ui, void *ctx, const char *typed, ui_choices *choices)
{
    const ui_session *s = ctx;
    (void)ui, (void)typed;
    for (int i = 0; i < tg_rules_count(s->rules); i++)
        ui_choices_add(choices, tg_rules_get(s->rules, i)->name, NULL);
}

/* ---- places to come back to: hidden rows "buffer, row, column" */

static ui_buffer *places(ui_app *ui)
{
    return ui_buffer_get(ui, " *places*", &ui_mode_fundamental);
}

static void push_place(ui_app *ui)
{
    const ui_window *w = ui_window_ordinary(ui);
    ui_text *t = &places(ui)->text;
    ui_text_addf(t, UI_FACE_plain, "%zu %zu %s\n", w->point.row, w->point.col, w->buffer->name);
    ui_text_drop(t, MOST_PLACES);
}

DEFCMD(
    find_definition, "find-definition", "N",
    "Show the rule at point as it is written, with its file and line.\n\nWith a prefix argument, "
    "or where there is no rule, its name is asked for. M-, comes back.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    const char *rule = rule_at_point(ui, s);
    char *asked = NULL;
    if (!rule || args->prefix.given) {
        ui_prompt prompt = {.text = "Rule",
                            .start = rule,
                            .history = "rule",
                            .source = rule_names,
                            .ctx = s,
                            .must_match = true};
        TG_TRY(ui_ask(ui, &prompt, &asked));
        rule = asked;
    }
    push_place(ui);
    tg_status status = ui_rule_show(ui, rule);
    free(asked);
    return status;
}

DEFCMD(pop, "pop-definition", "", "Go back to where M-. was typed.")
{
    ui_text *t = &places(ui)->text;
    unsigned long row, col;
    char name[128];
    if (t->lines.n < 2) return tg_fail(TG_LIMIT, "No place to go back to");
    size_t at = t->lines.n - 2;
    int n = sscanf(tg_str_text(&t->lines.v[at].text), "%lu %lu %127[^\n]", &row, &col, name);
    size_t end_row = at + 1;
    ui_text_delete(t, at, 0, end_row, 0, NULL);
    ui_buffer *b = n == 3 ? ui_buffer_find(ui, name) : NULL;
    if (!b) return tg_fail(TG_NOTFOUND, "That buffer is gone");
    ui_window *w = ui_window_showing(ui, b);
    if (w) ui_window_select(ui, w);
    else ui_window_show(ui, ui->selected, b);
    ui->selected->point = (ui_point){row, col};
    return TG_OK;
}

DEFCMD(veto_rule, "veto-rule", "",
       "Forbid the rule at point everywhere, or allow it again.\n\nThe agent no longer takes it, "
       "neither here nor in training.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    const char *rule = rule_at_point(ui, s);
    if (!rule) return tg_fail(TG_NOTFOUND, "No rule on this line");
    bool vetoed = ui_rule_tally_of(s, tg_rules_find(s->rules, rule)).vetoed;
    ui_session_veto(s, rule, 0, vetoed);
    ui_message(ui, vetoed ? "%s is allowed again" : "%s is vetoed everywhere", rule);
    return TG_OK;
}
