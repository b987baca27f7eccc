/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The keys of the minibuffer: completion, history, ending it. */
#include "tui/minibuf.h"

#include <stdlib.h>
#include <string.h>

UI_FAMILY(minibuffer);

static tg_status check_active(const ui_app *ui)
{
    return ui->minibuf ? TG_OK : tg_fail(TG_USAGE, "No prompt is active");
}

/* The candidates that fit the answer as it stands; *best is what it can be completed to. */
static bool find_choices(ui_app *ui, ui_choices *choices, tg_str *best, bool *exact)
{
    const ui_prompt *p = ui->minibuf->prompt;
    if (!p->source) return false;
    p->source(ui, p->ctx, ui_minibuf_text(ui), choices);
    ui_complete(ui_minibuf_text(ui), choices, p->fold_case, best, exact);
    return true;
}

static void list_choices(ui_app *ui, const ui_choices *choices)
{
    ui_buffer *b = ui_buffer_get(ui, "*Completions*", &ui_mode_completions);
    int widest = 0;
    ui_text_clear(&b->text);
    for (size_t i = 0; i < choices->list.n; i++) {
        int n = ui_text_width(choices->list.v[i].text, strlen(choices->list.v[i].text));
        if (n > widest) widest = n;
    }
    ui_text_addf(&b->text, UI_FACE_header, "%zu possible completions:", choices->list.n);
    for (size_t i = 0; i < choices->list.n; i++) {
        const ui_choice *c = &choices->list.v[i];
        ui_text_add(&b->text, UI_FACE_plain, "\n");
        ui_text_add_link(&b->text, c->text, c->text);
        ui_line *line = &tg_vec_last(&b->text.lines);
        if (!c->note) continue;
        ui_line_pad(line, widest + 2);
        ui_line_add(line, UI_FACE_key, c->note);
    }
    ui_window *w = ui_display(ui, b);
    w->point = (ui_point){0};
    w->top = 0;
}

/* Text up to and with the next hyphen after what was typed. */
static size_t word_end(const char *typed, const char *best)
{
    size_t n = strlen(typed);
    const char *hyphen = strlen(best) > n ? strchr(best + n, '-') : NULL;
    return hyphen ? (size_t)(hyphen - best) + 1 : strlen(best);
}

static tg_status complete(ui_app *ui, bool word)
{
    ui_choices choices = {0};
    tg_str best = {0};
    bool exact, listed = ui->minibuf->listed;
    ui->minibuf->listed = false;
    if (!find_choices(ui, &choices, &best, &exact)) return TG_OK;
    if (!choices.list.n) {
        ui_minibuf_note(ui, "No match");
    } else if (strcmp(tg_str_text(&best), ui_minibuf_text(ui)) != 0) {
        if (word) {
            size_t n = word_end(ui_minibuf_text(ui), tg_str_text(&best));
            if (n < best.n) best.p[n] = '\0';
        }
        ui_minibuf_set(ui, tg_str_text(&best));
    } else if (choices.list.n == 1) {
        ui_minibuf_note(ui, "Sole completion");
    } else if (listed) {
        list_choices(ui, &choices);
        ui->minibuf->listed = true;
    } else {
        ui_minibuf_note(ui, exact ? "Complete, but not unique" : "More than one completion");
        ui->minibuf->listed = true;
    }
    ui_choices_done(&choices);
    tg_str_free(&best);
    return TG_OK;
}

DEFCMD(complete, "minibuffer-complete", "",
       "Complete the answer as far as it is certain; a second time, list what it may become.")
{
    TG_TRY(check_active(ui));
    if (ui->last_command != ui->this_command) ui->minibuf->listed = false;
    return complete(ui, false);
}

static tg_status insert_key(ui_app *ui)
{
    return ui_command_run(ui, "self-insert-command", NULL);
}

DEFCMD(complete_word, "minibuffer-complete-word", "",
       "Complete a word of a command's name; elsewhere insert a space.")
{
    TG_TRY(check_active(ui));
    return ui->minibuf->prompt->must_match ? complete(ui, true) : insert_key(ui);
}

DEFCMD(completion_help, "minibuffer-completion-help", "",
       "List what the answer may become; insert the key if nothing completes it.")
{
    ui_choices choices = {0};
    tg_str best = {0};
    bool exact;
    TG_TRY(check_active(ui));
    if (!find_choices(ui, &choices, &best, &exact)) return insert_key(ui);
    if (choices.list.n) list_choices(ui, &choices);
    else ui_minibuf_note(ui, "No match");
    ui_choices_done(&choices);
    tg_str_free(&best);
    return TG_OK;
}

static void finish(ui_app *ui)
{
    ui->minibuf->done = ui->stop = true;
}

/* Only a completion will do: complete if that is certain, else stay. */
static void finish_matching(ui_app *ui)
{
    ui_choices choices = {0};
    tg_str best = {0};
    bool exact = false;
    find_choices(ui, &choices, &best, &exact);
    if (exact) {
        finish(ui);
    } else if (choices.list.n == 1) {
        ui_minibuf_set(ui, tg_str_text(&best));
        finish(ui);
    } else if (choices.list.n) {
        if (best.n > strlen(ui_minibuf_text(ui))) ui_minibuf_set(ui, tg_str_text(&best));
        ui_minibuf_note(ui, "Complete, but not unique");
    } else {
        const ui_command *near = ui->minibuf->prompt->source == ui_source_command
                                     ? ui_command_nearest(ui_minibuf_text(ui))
                                     : NULL;
        tg_str note = {0};
        tg_str_add(&note, "No match");
        if (near) tg_str_addf(&note, "; did you mean %s?", near->name);
        ui_minibuf_note(ui, tg_str_text(&note));
        tg_str_free(&note);
    }
    ui_choices_done(&choices);
    tg_str_free(&best);
}

DEFCMD(finish, "exit-minibuffer", "", "Give the answer; an empty one takes the default.")
{
    TG_TRY(check_active(ui));
    const ui_prompt *p = ui->minibuf->prompt;
    bool empty = !*ui_minibuf_text(ui);
    if (p->must_match && !(empty && p->start)) finish_matching(ui);
    else finish(ui);
    return TG_OK;
}

DEFCMD(finish_raw, "exit-minibuffer-raw", "", "Give the answer just as it stands.")
{
    TG_TRY(check_active(ui));
    finish(ui);
    return TG_OK;
}

/* The step-th newest answer of this kind of prompt, or NULL. */
static const char *answer_back(const ui_app *ui, size_t step)
{
    const ui_prompt *p = ui->minibuf->prompt;
    const char *kind = p->history ? p->history : p->text;
    for (size_t i = ui->answers.n; i-- > 0;) {
        if (strcmp(ui->answers.v[i].kind, kind) == 0 && --step == 0) return ui->answers.v[i].text;
    }
    return NULL;
}

static void show_answer(ui_app *ui, size_t step, const char *text)
{
    ui_minibuf *m = ui->minibuf;
    if (!m->history) {
        free(m->typed);
        m->typed = tg_strdup(ui_minibuf_text(ui));
    }
    m->history = step;
    ui_minibuf_set(ui, text);
}

DEFCMD(previous_answer, "previous-history-element", "", "Take the answer given before this one.")
{
    TG_TRY(check_active(ui));
    const char *text = answer_back(ui, ui->minibuf->history + 1);
    if (!text) return tg_fail(TG_LIMIT, "Beginning of history; no preceding item");
    show_answer(ui, ui->minibuf->history + 1, text);
    return TG_OK;
}

DEFCMD(next_answer, "next-history-element", "",
       "Take the answer given after this one; past the newest, the default.")
{
    TG_TRY(check_active(ui));
    ui_minibuf *m = ui->minibuf;
    if (m->history > 1) {
        show_answer(ui, m->history - 1, answer_back(ui, m->history - 1));
    } else if (m->history == 1) {
        m->history = 0;
        ui_minibuf_set(ui, m->typed ? m->typed : "");
    } else if (m->prompt->start && strcmp(ui_minibuf_text(ui), m->prompt->start) != 0) {
        ui_minibuf_set(ui, m->prompt->start);
    } else {
        return tg_fail(TG_LIMIT, "End of defaults; no next item");
    }
    return TG_OK;
}

DEFCMD(search_answer, "previous-matching-history-element", "",
       "Take the last answer that contains the text typed so far.")
{
    TG_TRY(check_active(ui));
    ui_minibuf *m = ui->minibuf;
    char *part = tg_strdup(m->history && m->typed ? m->typed : ui_minibuf_text(ui));
    const char *text;
    size_t step = m->history + 1;
    while ((text = answer_back(ui, step)) != NULL && !strstr(text, part)) step++;
    free(part);
    if (!text) return tg_fail(TG_NOTFOUND, "No earlier matching history item");
    show_answer(ui, step, text);
    return TG_OK;
}
