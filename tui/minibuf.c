/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "minibuf.h"

#include <stdlib.h>
#include <string.h>

static const char minibuf_name[] = " *Minibuf*";

const char *ui_minibuf_text(ui_app *ui)
{
    return tg_str_text(&ui->mini->buffer->text.lines.v[0].text);
}

void ui_minibuf_set(ui_app *ui, const char *text)
{
    ui_text_set(&ui->mini->buffer->text, "");
    ui_point *p = &ui->mini->point;
    *p = (ui_point){0};
    ui_text_insert(&ui->mini->buffer->text, &p->row, &p->col, text, strcspn(text, "\n"));
}

void ui_minibuf_note(ui_app *ui, const char *note)
{
    tg_str_clear(&ui->minibuf->note);
    tg_str_add(&ui->minibuf->note, note);
    ui_touch(ui);
}

size_t ui_minibuf_draw(ui_app *ui, ui_line *line)
{
    const ui_minibuf *m = ui->minibuf;
    ui_line_add(line, UI_FACE_prompt, m->prompt->text);
    if (m->prompt->start && *m->prompt->start) {
        ui_line_addf(line, UI_FACE_prompt, " (default %s)", m->prompt->start);
    }
    ui_line_add(line, UI_FACE_prompt, ": ");
    size_t cursor = line->text.n + ui->mini->point.col;
    ui_line_add(line, UI_FACE_plain, ui_minibuf_text(ui));
    const char *note = m->note.n ? tg_str_text(&m->note) : tg_str_text(&ui->echo);
    if (*note) ui_line_addf(line, UI_FACE_plain, " [%s]", note);
    if (ui->keys_shown.n) ui_line_addf(line, UI_FACE_plain, "  %s", tg_str_text(&ui->keys_shown));
    return cursor;
}

static void close_completions(ui_app *ui)
{
    ui_buffer *b = ui_buffer_find(ui, "*Completions*");
    ui_window *w = b ? ui_window_showing(ui, b) : NULL;
    if (w) ui_window_quit(ui, w);
    if (b) ui_buffer_kill(ui, b);
}

static void open_minibuf(ui_app *ui, ui_minibuf *m)
{
    ui_buffer *b = ui_buffer_get(ui, minibuf_name, &ui_mode_minibuffer);
    m->from = ui->selected;
    ui->minibuf = m;
    ui->mini->buffer = b;
    for (size_t i = 0; i < b->text.undo.n; i++) free(b->text.undo.v[i].content);
    b->text.undo.n = 0;
    b->mark_active = b->mark_set = false;
    ui_minibuf_set(ui, m->prompt->initial ? m->prompt->initial : "");
    tg_str_clear(&ui->echo);
    ui_window_select(ui, ui->mini);
}

static void close_minibuf(ui_app *ui, ui_minibuf *m)
{
    bool inside = ui->selected == ui->mini;
    ui->minibuf = NULL;
    ui_window *back = ui_window_live(ui, m->from) ? m->from : ui_window_first(ui);
    if (inside) ui_window_select(ui, back);
    close_completions(ui);
    free(m->typed);
    tg_str_free(&m->note);
    ui_windows_layout(ui);
    ui_touch(ui);
}

tg_status ui_ask(ui_app *ui, const ui_prompt *prompt, char **answer)
{
    if (!ui->term) return tg_fail(TG_USAGE, "%s: an answer is needed", prompt->text);
    if (ui->minibuf) {
        return tg_fail(TG_USAGE, "Command attempted to use minibuffer while in minibuffer");
    }
    ui_minibuf m = {.prompt = prompt};
    ui_prefix prefix = ui->prefix;
    const ui_command *outer = ui->this_command;
    open_minibuf(ui, &m);
    ui->prefix = (ui_prefix){.n = 1};
    ui_loop(ui);
    char *text = tg_strdup(ui_minibuf_text(ui));
    close_minibuf(ui, &m);
    ui->prefix = prefix;
    ui->this_command = outer;
    if (!m.done || ui->exit) {
        free(text);
        return tg_fail(TG_CANCELLED, "Quit");
    }
    if (*text) ui_answer_keep(ui, prompt->history ? prompt->history : prompt->text, text);
    if (!*text && prompt->start) {
        free(text);
        text = tg_strdup(prompt->start);
    }
    *answer = text;
    return TG_OK;
}

static const ui_source sources[] = {
#define ui_source_none NULL
#define KIND(id, name, word, source) [UI_KIND_##id] = ui_source_##source,
#include "kind.def"
#undef KIND
};

tg_status ui_ask_param(ui_app *ui, const ui_param *p, char **answer)
{
    ui_prompt prompt = {
        .text = p->doc[0] ? p->doc : p->name,
        .start = p->start,
        .history = p->name,
        .source = p->choices ? ui_source_words : sources[p->kind],
        .ctx = (void *)p->choices,
        .must_match = p->choices || p->kind == UI_KIND_command || p->kind == UI_KIND_variable ||
                      p->kind == UI_KIND_face,
        .fold_case = true,
    };
    if (p->kind == UI_KIND_file || p->kind == UI_KIND_path || p->kind == UI_KIND_folder) {
        prompt.history = "file";
        prompt.fold_case = false;
    }
    tg_status status;
    char *text = NULL;
    while ((status = ui_ask(ui, &prompt, &text)) == TG_OK) {
        status = ui_param_check(p, text);
        if (status == TG_OK) break;
        ui_complain(ui, status);
        free(text);
        if (ui->exit) return tg_fail(TG_CANCELLED, "Quit");
    }
    if (status != TG_OK) return status;
    if (prompt.source == ui_source_file) {
        char *whole = ui_expand_file(text);
        free(text);
        text = whole;
    }
    *answer = text;
    return TG_OK;
}

tg_status ui_prompt_missing(ui_app *ui, const ui_command *command, const ui_spec *spec,
                            ui_args *args)
{
    for (const ui_param *p; (p = ui_args_missing(spec, args)) != NULL;) {
        if (!ui->term) return tg_fail(TG_USAGE, "%s: %s is missing", command->name, p->name);
        if (p->kind == UI_KIND_key) break; /* the command reads keys itself */
        char *text;
        TG_TRY(ui_ask_param(ui, p, &text));
        ui_args_add(args, p->name, text);
        free(text);
    }
    return TG_OK;
}

tg_status ui_ask_key(ui_app *ui, const char *question, const char *keys, char *key)
{
    if (!ui->term) return tg_fail(TG_USAGE, "%s: an answer is needed", question);
    ui_hint(ui, "%s", question);
    for (;;) {
        ui_key k = ui_read_key(ui);
        if (k == UI_KEY_EOF || k == 7) {
            tg_str_clear(&ui->echo);
            return tg_fail(TG_CANCELLED, "Quit");
        }
        const char *known = k < 128 && k ? strchr(keys, (int)k) : NULL;
        if (known) {
            tg_str_clear(&ui->echo);
            ui_touch(ui);
            *key = *known;
            return TG_OK;
        }
        ui->term->beep(ui->term);
        ui_hint(ui, "Please answer %s.  %s", strcmp(keys, "yn \177") ? keys : "y or n", question);
    }
}

tg_status ui_ask_yes(ui_app *ui, const char *question, bool *yes)
{
    char key;
    tg_str s = {0};
    tg_str_addf(&s, "%s (y or n) ", question);
    tg_status status = ui_ask_key(ui, tg_str_text(&s), "yn \177", &key);
    tg_str_free(&s);
    if (status == TG_OK) *yes = key == 'y' || key == ' ';
    return status;
}

void ui_answer_keep(ui_app *ui, const char *kind, const char *text)
{
    size_t n = 0, oldest = 0;
    for (size_t i = ui->answers.n; i-- > 0;) {
        ui_answer *a = &ui->answers.v[i];
        if (strcmp(a->kind, kind) != 0) continue;
        if (strcmp(a->text, text) == 0) {
            ui_answer same = *a;
            tg_vec_remove(&ui->answers, i);
            tg_vec_push(&ui->answers, same);
            return;
        }
        n++;
        oldest = i;
    }
    if (n && n >= (size_t)ui_opt_int(UI_OPT_history_length)) {
        free(ui->answers.v[oldest].kind);
        free(ui->answers.v[oldest].text);
        tg_vec_remove(&ui->answers, oldest);
    }
    ui_answer a = {tg_strdup(kind), tg_strdup(text)};
    tg_vec_push(&ui->answers, a);
}
