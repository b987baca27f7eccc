/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choosing among candidates: accepting, marking, forbidding, measuring. */
#include "tui/modes/graph.h"
#include "tui/prompt.h"

#include <regex.h>
#include <stdlib.h>
#include <string.h>

UI_FAMILY(candidates);

/* The candidate that a command means: tagged at point in *graph*, else at point in *candidates*. */
static tg_status meant_row(ui_app *ui, ui_session *s, int *row)
{
    ui_window *w = ui->selected;
    if (!s->view) return tg_fail(TG_NOTFOUND, "The candidates are not there yet");
    *row = ui_session_row_at_point(s);
    if (w->buffer->mode == &ui_mode_graph) {
        const ui_graph_rows *r = ui_graph_rows_of(ui, w->buffer);
        const tg_candidate *chosen = ui_session_candidate(s, *row);
        size_t at = w->point.row;
        if (!ui_graph_in_site(s->view->drawing, chosen, at))
            *row = at < s->view->drawing->n_rows ? r->tag[at] : -1;
    }
    if (*row < 0) return tg_fail(TG_NOTFOUND, "No candidate here");
    return TG_OK;
}

static size_t find_key(const ui_session *s, uint64_t key)
{
    size_t i = 0;
    while (i < s->marks.n && s->marks.v[i] != key) i++;
    return i;
}

static void next_row(ui_app *ui, int by)
{
    ui_window *w = ui->selected;
    size_t rows = ui_buffer_rows(ui, w->buffer);
    if (by > 0 ? w->point.row + 1 < rows : w->point.row > 0)
        w->point.row += by > 0 ? 1 : (size_t)-1;
}

/* ---- accepting */

/* The node that two marked sites share, or 0. */
static uint32_t shared_node(const tg_candidate *a, const tg_candidate *b)
{
    for (int i = 0; i < a->site->n_nodes; i++)
        for (int k = 0; k < b->site->n_nodes; k++)
            if (a->site->nodes[i] == b->site->nodes[k]) return a->site->nodes[i];
    return 0;
}

static tg_status check_disjoint(const ui_session *s)
{
    const tg_graph *g = tg_candidates_graph(s->view->candidates);
    char name[128];
    for (size_t i = 0; i < s->marks.n; i++)
        for (size_t k = i + 1; k < s->marks.n; k++) {
            int a = ui_session_row(s, s->marks.v[i]), b = ui_session_row(s, s->marks.v[k]);
            if (a < 0 || b < 0) continue;
            uint32_t node = shared_node(ui_session_candidate(s, a), ui_session_candidate(s, b));
            if (node)
                return tg_fail(TG_USAGE, "Candidates %d and %d both need %s; nothing was done",
                               a + 1, b + 1, tg_graph_label(g, node, name, sizeof name));
        }
    return TG_OK;
}

static tg_status accept_marked(ui_session *s)
{
    TG_TRY(check_disjoint(s));
    ui_message(s->ui, "Taking %zu marked candidates", s->marks.n);
    tg_status status = ui_session_take_all(s, s->marks.v, s->marks.n);
    if (status == TG_OK) tg_vec_clear(&s->marks);
    return status;
}

static tg_status accept_everywhere(ui_session *s, int row)
{
    const tg_candidate *chosen = ui_session_candidate(s, row);
    TG_VEC(uint64_t) keys = {0};
    if (!chosen) return tg_fail(TG_USAGE, "STOP is no rewrite");
    for (int r = 0; r < s->view->n_rows; r++) {
        const tg_candidate *c = ui_session_candidate(s, r);
        if (c && c->site->rule == chosen->site->rule) tg_vec_push(&keys, c->site->key);
    }
    tg_status status = ui_session_take_all(s, keys.v, keys.n);
    if (status == TG_OK)
        ui_message(s->ui, "Taking %s at %zu sites",
                   tg_rules_get(s->rules, chosen->site->rule)->name, keys.n);
    tg_vec_free(&keys);
    return status;
}

DEFCMD(accept, "accept", "N",
       "Take the candidate at point, or all that are marked.\n\nWhere it is not what the agent "
       "would take, this overrides the agent. With C-u, take its rule wherever it applies.")
{
    ui_session *s;
    int row;
    TG_TRY(ui_session_need(ui, &s));
    if (s->marks.n && s->view && !args->prefix.given) return accept_marked(s);
    TG_TRY(meant_row(ui, s, &row));
    if (args->prefix.bare) return accept_everywhere(s, row);
    return ui_session_take(s, row, TG_BY_YOU);
}

/* ---- marks */

static tg_status at_point(ui_app *ui, ui_session **s, uint64_t *key)
{
    int row;
    TG_TRY(ui_session_need(ui, s));
    TG_TRY(meant_row(ui, *s, &row));
    const tg_candidate *c = ui_session_candidate(*s, row);
    if (!c) return tg_fail(TG_USAGE, "STOP is no rewrite");
    *key = c->site->key;
    return TG_OK;
}

static void unmark(ui_session *s, uint64_t key)
{
    size_t i = find_key(s, key);
    if (i < s->marks.n) tg_vec_remove(&s->marks, i);
    for (i = s->flags.n; i-- > 0;)
        if (s->flags.v[i].key == key) tg_vec_remove(&s->flags, i);
}

DEFCMD(mark_row, "mark-row", "", "Mark the candidate at point and go to the next.")
{
    ui_session *s;
    uint64_t key;
    TG_TRY(at_point(ui, &s, &key));
    if (find_key(s, key) == s->marks.n) tg_vec_push(&s->marks, key);
    next_row(ui, 1);
    return TG_OK;
}

/* Does the rule's name, or do the nodes of the site, hold a match? */
static bool row_matches(const ui_session *s, const tg_candidate *c, const regex_t *re)
{
    const char *rule = tg_rules_get(s->rules, c->site->rule)->name;
    const char *site = tg_site_words(tg_candidates_graph(s->view->candidates), c->site);
    return regexec(re, rule, 0, NULL, 0) == 0 || regexec(re, site, 0, NULL, 0) == 0;
}

DEFCMD(mark_regexp, "mark-rows-by-regexp", "regexp:text Mark rows whose rule or site matches",
       "Mark the candidates whose rule or site matches REGEXP.")
{
    ui_session *s;
    regex_t re;
    int marked = 0;
    TG_TRY(ui_session_need(ui, &s));
    if (!s->view) return tg_fail(TG_NOTFOUND, "The candidates are not there yet");
    if (regcomp(&re, ui_arg(args, "regexp"), REG_EXTENDED | REG_NOSUB) != 0)
        return tg_fail(TG_USAGE, "Invalid regexp: %s", ui_arg(args, "regexp"));
    for (int row = 0; row < s->view->n_rows; row++) {
        const tg_candidate *c = ui_session_candidate(s, row);
        if (!c || !row_matches(s, c, &re) || find_key(s, c->site->key) < s->marks.n) continue;
        tg_vec_push(&s->marks, c->site->key);
        marked++;
    }
    regfree(&re);
    ui_message(ui, "%d matching candidate%s marked", marked, marked == 1 ? "" : "s");
    return TG_OK;
}

DEFCMD(unmark_row, "unmark-row", "",
       "Take mark and flag from the candidate at point and go to the next.")
{
    ui_session *s;
    uint64_t key;
    TG_TRY(at_point(ui, &s, &key));
    unmark(s, key);
    next_row(ui, 1);
    return TG_OK;
}

DEFCMD(unmark_backward, "unmark-backward", "",
       "Go to the candidate before and take mark and flag from it.")
{
    ui_session *s;
    uint64_t key;
    next_row(ui, -1);
    TG_TRY(at_point(ui, &s, &key));
    unmark(s, key);
    return TG_OK;
}

DEFCMD(unmark_all, "unmark-all", "", "Take all marks and flags away.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    tg_vec_clear(&s->marks);
    tg_vec_clear(&s->flags);
    return TG_OK;
}

DEFCMD(toggle_marks, "toggle-marks", "", "Mark what is not marked, and unmark what is.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    for (int row = 0; s->view && row < s->view->n_rows; row++) {
        const tg_candidate *c = ui_session_candidate(s, row);
        size_t i = c ? find_key(s, c->site->key) : 0;
        if (c && i < s->marks.n) tg_vec_remove(&s->marks, i);
        else if (c) tg_vec_push(&s->marks, c->site->key);
    }
    return TG_OK;
}

/* ---- vetoes */

DEFCMD(veto, "veto", "",
       "Flag the candidate at point for a veto; x carries it out.\n\nThe scope is asked: s this "
       "site (whatever rule matches there), h this rule here, r this rule everywhere. On a vetoed "
       "row, lift the veto.")
{
    ui_session *s;
    uint64_t key;
    char scope;
    TG_TRY(at_point(ui, &s, &key));
    int row = ui_session_row(s, key);
    const char *rule = tg_rules_get(s->rules, ui_session_candidate(s, row)->site->rule)->name;
    if (ui_session_vetoed(s, rule, key)) {
        ui_session_veto(s, rule, key, true);
        ui_session_veto(s, rule, 0, true);
        ui_message(ui, "%s is allowed again", rule);
        return TG_OK;
    }
    TG_TRY(ui_ask_key(ui, "Veto: s this site, h this rule here, r this rule everywhere", "shr",
                      &scope));
    if (ui_session_get(ui) != s) return TG_OK;
    unmark(s, key);
    ui_flag flag = {key, scope == 's'   ? UI_VETO_SITE
                         : scope == 'h' ? UI_VETO_RULE_HERE
                                        : UI_VETO_RULE};
    tg_vec_push(&s->flags, flag);
    next_row(ui, 1);
    return TG_OK;
}

static bool same_nodes(const tg_site *a, const tg_site *b)
{
    if (a->n_nodes != b->n_nodes) return false;
    for (int i = 0; i < a->n_nodes; i++) {
        int k = 0;
        while (k < b->n_nodes && b->nodes[k] != a->nodes[i]) k++;
        if (k == b->n_nodes) return false;
    }
    return true;
}

/* Every candidate that matches just the nodes of this one. */
static void veto_site(ui_session *s, const tg_site *site)
{
    for (int row = 0; row < s->view->n_rows; row++) {
        const tg_candidate *c = ui_session_candidate(s, row);
        if (c && same_nodes(c->site, site))
            ui_session_veto(s, tg_rules_get(s->rules, c->site->rule)->name, c->site->key, false);
    }
}

DEFCMD(execute_vetoes, "execute-vetoes", "",
       "Carry out the vetoes that were flagged with d.\n\nThe agent no longer takes what is "
       "vetoed, here and in training; the rows stay visible.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    size_t n = s->flags.n;
    if (!n) return tg_fail(TG_NOTFOUND, "No row is flagged");
    for (size_t i = 0; i < n; i++) {
        int row = ui_session_row(s, s->flags.v[i].key);
        const tg_candidate *c = ui_session_candidate(s, row);
        if (!c) continue;
        const char *rule = tg_rules_get(s->rules, c->site->rule)->name;
        switch (s->flags.v[i].scope) {
        case UI_VETO_SITE: veto_site(s, c->site); break;
        case UI_VETO_RULE_HERE: ui_session_veto(s, rule, c->site->key, false); break;
        case UI_VETO_RULE: ui_session_veto(s, rule, 0, false); break;
        }
    }
    tg_vec_clear(&s->flags);
    ui_message(ui, "%zu veto%s", n, n == 1 ? "" : "es");
    return TG_OK;
}

/* ---- measuring, copying */

static tg_status measure_marked(ui_session *s)
{
    int n = 0;
    for (size_t i = 0; i < s->marks.n; i++) {
        int row = ui_session_row(s, s->marks.v[i]);
        if (row >= 0 && ui_session_measure(s, row) == TG_OK) n++;
    }
    ui_message(s->ui, "%d measurements queued", n);
    return TG_OK;
}

DEFCMD(measure, "measure", "",
       "Measure the candidate at point, or all that are marked, against the present graph.\n\nIn "
       "*graph*, on STOP or where nothing is tagged, measure the present graph end to end.")
{
    ui_session *s;
    int row;
    TG_TRY(ui_session_need(ui, &s));
    if (s->marks.n && s->view) return measure_marked(s);
    if (!s->view) return tg_fail(TG_NOTFOUND, "The candidates are not there yet");
    row = ui->selected->buffer->mode == &ui_mode_graph ? -1 : ui_session_row_at_point(s);
    return ui_session_candidate(s, row) ? ui_session_measure(s, row) : ui_session_time(s);
}

/* What w copies from the buffer at point. */
static tg_status copied_text(ui_app *ui, ui_session *s, tg_str *out)
{
    const ui_window *w = ui->selected;
    if (w->buffer->mode == &ui_mode_graph) {
        if (!s->view || w->point.row >= s->view->drawing->n_rows)
            return tg_fail(TG_NOTFOUND, "No row of a graph here");
        tg_str_add(out, s->view->drawing->rows[w->point.row].label);
        return TG_OK;
    }
    const tg_candidate *c = ui_session_candidate(s, ui_session_row_at_point(s));
    if (!c) return tg_fail(TG_NOTFOUND, "No candidate here");
    tg_str_addf(out, "%s at %s", tg_rules_get(s->rules, c->site->rule)->name,
                tg_site_words(tg_candidates_graph(s->view->candidates), c->site));
    return TG_OK;
}

DEFCMD(copy_name, "copy-name", "",
       "Copy the name at point, so that C-y inserts it: of a node, or of a rule and its site.")
{
    ui_session *s;
    tg_str text = {0};
    TG_TRY(ui_session_need(ui, &s));
    tg_status status = copied_text(ui, s, &text);
    if (status == TG_OK) {
        tg_vec_push(&ui->kills, tg_strdup(tg_str_text(&text)));
        ui_message(ui, "Copied %s", tg_str_text(&text));
    }
    tg_str_free(&text);
    return status;
}
