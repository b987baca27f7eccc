/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "rules.h"

#include "diff.h"
#include "help.h"

#include <math.h>
#include <string.h>

ui_rule_tally ui_rule_tally_of(ui_session *s, int rule)
{
    ui_rule_tally t = {.change = NAN};
    const char *name = tg_rules_get(s->rules, rule)->name;
    double sum = 0;
    for (int i = 0; s->view && i < tg_candidates_count(s->view->candidates); i++)
        t.sites += tg_candidates_get(s->view->candidates, i)->site->rule == rule;
    for (size_t i = 1; i < s->history->states.n; i++) {
        const tg_state *state = &s->history->states.v[i];
        const tg_state *parent = &s->history->states.v[state->parent];
        if (state->pruned || strcmp(state->trail->taken.rule, name) != 0) continue;
        if (state->info.who == TG_BY_YOU) t.you++;
        else if (state->info.who == TG_BY_AGENT) t.agent++;
        sum += 100 * (state->trail->cost_ms / parent->trail->cost_ms - 1);
    }
    if (t.you + t.agent) t.change = sum / (t.you + t.agent);
    for (size_t i = 0; i < s->vetoes.n; i++)
        t.vetoed |= !s->vetoes.v[i].site && strcmp(s->vetoes.v[i].rule, name) == 0;
    return t;
}

/* The last two parts of a path: what tells rule files apart. */
static const char *short_path(const char *path)
{
    const char *cut = path;
    int slashes = 0;
    for (const char *p = path + strlen(path); p > path && slashes < 2; p--)
        if (p[-1] == '/' && ++slashes == 2) cut = p;
    return cut;
}

/* The first word of a line begins a part of the paragraph. */
static void add_paragraph(ui_text *out, const char *text)
{
    while (*text) {
        int n = (int)strcspn(text, "\n"), word = (int)strcspn(text, " \n");
        ui_text_addf(out, UI_FACE_header, "%.*s", word < n ? word : n, text);
        if (word < n) ui_text_addf(out, UI_FACE_plain, "%.*s", n - word, text + word);
        ui_text_add(out, UI_FACE_plain, "\n");
        text += n + (text[n] == '\n');
    }
}

static void add_tally(ui_text *out, const ui_rule_tally *t)
{
    char p[24];
    ui_text_addf(out, UI_FACE_plain, "\n%d site%s here; taken %d time%s by you, %d by the agent",
                 t->sites, t->sites == 1 ? "" : "s", t->you, t->you == 1 ? "" : "s", t->agent);
    if (!isnan(t->change))
        ui_text_addf(out, UI_FACE_plain, ", predicted change %s%% on average",
                     ui_signed(p, t->change, 1));
    ui_text_addf(out, UI_FACE_plain, ".%s\n", t->vetoed ? " It is vetoed everywhere." : "");
}

tg_status ui_rule_show(ui_app *ui, const char *name)
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    int rule = tg_rules_find(s->rules, name);
    if (rule < 0) return tg_fail(TG_NOTFOUND, "No rule is called `%s'", name);
    const tg_rule_info *info = tg_rules_get(s->rules, rule);
    tg_str target = {0};
    tg_str_addf(&target, "rule:%s", name);
    ui_buffer *help = ui_help_begin(ui, target.p);
    tg_str_free(&target);
    ui_text_addf(&help->text, UI_FACE_plain, "%s is a rule of the family %s (%s:%d).\n\n", name,
                 info->family, short_path(info->file), info->line);
    add_paragraph(&help->text, info->text);
    ui_rule_tally t = ui_rule_tally_of(s, rule);
    add_tally(&help->text, &t);
    ui_help_show(ui, help);
    return TG_OK;
}
