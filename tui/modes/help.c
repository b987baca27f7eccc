/* SPDX-License-Identifier: GPL-3.0-or-later */
/* *Help* and *Completions*: text with links. */
#include "tui/help.h"
#include "tui/minibuf.h"

UI_FAMILY(links);

static bool after(const ui_link *l, ui_point p)
{
    return l->row > p.row || (l->row == p.row && l->from > p.col);
}

DEFCMD(next_link, "forward-link", "", "Move point to the next link, around the end.")
{
    ui_window *w = ui->selected;
    const ui_text *t = &w->buffer->text;
    if (!t->links.n) return tg_fail(TG_NOTFOUND, "No links here");
    size_t i = 0;
    while (i < t->links.n && !after(&t->links.v[i], w->point)) i++;
    const ui_link *l = &t->links.v[i < t->links.n ? i : 0];
    w->point = (ui_point){l->row, l->from};
    return TG_OK;
}

DEFCMD(previous_link, "backward-link", "", "Move point to the previous link, around the start.")
{
    ui_window *w = ui->selected;
    const ui_text *t = &w->buffer->text;
    if (!t->links.n) return tg_fail(TG_NOTFOUND, "No links here");
    size_t i = t->links.n;
    while (i > 0) {
        const ui_link *l = &t->links.v[i - 1];
        if (l->row < w->point.row || (l->row == w->point.row && l->from < w->point.col)) break;
        i--;
    }
    const ui_link *l = &t->links.v[i ? i - 1 : t->links.n - 1];
    w->point = (ui_point){l->row, l->from};
    return TG_OK;
}

DEFCMD(follow_link, "follow-link", "", "Show what the link at point leads to.")
{
    ui_window *w = ui->selected;
    const ui_link *l = ui_text_link_at(&w->buffer->text, w->point.row, w->point.col);
    if (!l) return tg_fail(TG_NOTFOUND, "No link here");
    char *target = tg_strdup(l->target);
    tg_status status = ui_help_visit(ui, target);
    free(target);
    return status;
}

/* Shows another page of the trail without changing the trail. */
static tg_status walk(ui_app *ui, size_t at)
{
    size_t was = ui->help_at;
    ui->help_at = at;
    tg_status status = ui_help_visit(ui, ui->help_trail.v[at]);
    if (status != TG_OK) ui->help_at = was;
    return status;
}

DEFCMD(back, "help-go-back", "", "Go back to the help shown before.")
{
    for (size_t i = ui->help_at; i-- > 0;) {
        if (walk(ui, i) == TG_OK) return TG_OK;
    }
    return tg_fail(TG_LIMIT, "No previous help buffer");
}

DEFCMD(forward, "help-go-forward", "", "Go on to the help shown after this one.")
{
    for (size_t i = ui->help_at + 1; i < ui->help_trail.n; i++) {
        if (walk(ui, i) == TG_OK) return TG_OK;
    }
    return tg_fail(TG_LIMIT, "No next help buffer");
}

DEFCMD(choose, "choose-completion", "", "Give the completion at point as the answer.")
{
    ui_window *w = ui->selected;
    const ui_text *t = &w->buffer->text;
    const ui_link *l = ui_text_link_at(t, w->point.row, w->point.col);
    if (!ui->minibuf) return tg_fail(TG_USAGE, "No prompt is active");
    if (!l) return tg_fail(TG_NOTFOUND, "No completion here");
    char *text = tg_strdup(l->target);
    ui_choices choices = {0};
    const ui_prompt *p = ui->minibuf->prompt;
    if (p->source) p->source(ui, p->ctx, ui_minibuf_text(ui), &choices);
    tg_str whole = {0};
    tg_str_addn(&whole, ui_minibuf_text(ui), choices.base);
    tg_str_add(&whole, text);
    ui_minibuf_set(ui, whole.p);
    ui_window_select(ui, ui->mini);
    tg_str_free(&whole);
    ui_choices_done(&choices);
    free(text);
    return TG_OK;
}

const ui_mode ui_mode_help = {
    .name = "help-mode",
    .label = "Help",
    .doc = "Help. TAB goes from link to link, RET follows one, l and r go back and forward.",
    .parent = &ui_mode_special,
    .keys =
        (const ui_key_row[]){
            {"TAB", "forward-link"},
            {"S-TAB", "backward-link"},
            {"RET", "follow-link"},
            {"l", "help-go-back"},
            {"r", "help-go-forward"},
            {NULL, NULL},
        },
};

const ui_mode ui_mode_completions = {
    .name = "completions-mode",
    .label = "Completions",
    .doc = "What the answer to a prompt may become. RET takes the one at point.",
    .parent = &ui_mode_special,
    .keys =
        (const ui_key_row[]){
            {"TAB", "forward-link"},
            {"S-TAB", "backward-link"},
            {"RET", "choose-completion"},
            {NULL, NULL},
        },
};
