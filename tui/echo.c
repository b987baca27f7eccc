/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The echo area and *Messages*. */
#include "app.h"
#include "show.h"

#include <stdlib.h>
#include <string.h>

/* Windows whose point was at the end of the log stay there. */
static void follow_end(ui_app *ui, ui_buffer *log, size_t old_end)
{
    size_t end = log->text.lines.n - 1;
    for (ui_window *w = ui_window_first(ui); w; w = ui_window_after(ui, w)) {
        if (w->buffer == log && w->point.row >= old_end) w->point = (ui_point){end, 0};
    }
    if (log->point.row >= old_end) log->point = (ui_point){end, 0};
}

static void log_line(ui_app *ui, const char *text)
{
    ui_buffer *log = ui_buffer_get(ui, "*Messages*", &ui_mode_log);
    ui_text *t = &log->text;
    size_t end = t->lines.n - 1, limit = (size_t)ui_opt_int(UI_OPT_message_log_max);
    if (ui->last_message && strcmp(ui->last_message, text) == 0) {
        ui_line_clear(&t->lines.v[end - 1]);
        ui_line_addf(&t->lines.v[end - 1], UI_FACE_plain, "%s [%d times]", text,
                     ++ui->message_repeats);
        return;
    }
    free(ui->last_message);
    ui->last_message = tg_strdup(text);
    ui->message_repeats = 1;
    ui_text_addf(t, UI_FACE_plain, "%s\n", text);
    if (t->lines.n > limit + 1) {
        size_t gone = t->lines.n - limit - 1;
        ui_text_drop(t, limit + 1);
        end = end > gone ? end - gone : 0;
        for (ui_window *w = ui_window_first(ui); w; w = ui_window_after(ui, w)) {
            if (w->buffer != log) continue;
            w->point.row = w->point.row > gone ? w->point.row - gone : 0;
            w->top = w->top > gone ? w->top - gone : 0;
        }
    }
    follow_end(ui, log, end);
}

static void show(ui_app *ui, const char *text)
{
    tg_str_clear(&ui->echo);
    tg_str_add(&ui->echo, text);
    tg_str_clear(&ui->keys_shown);
    ui_touch(ui);
}

void ui_message(ui_app *ui, const char *fmt, ...)
{
    tg_str s = {0};
    va_list ap;
    va_start(ap, fmt);
    tg_str_vaddf(&s, fmt, ap);
    va_end(ap);
    if (ui->term) {
        log_line(ui, tg_str_text(&s));
        show(ui, tg_str_text(&s));
    } else {
        tg_str_addc(&s, '\n');
        ui_show_to(stderr, tg_str_text(&s));
    }
    tg_str_free(&s);
}

void ui_note(ui_app *ui, const char *fmt, ...)
{
    tg_str s = {0};
    va_list ap;
    va_start(ap, fmt);
    tg_str_vaddf(&s, fmt, ap);
    va_end(ap);
    if (ui->term) log_line(ui, tg_str_text(&s));
    else {
        tg_str_addc(&s, '\n');
        ui_show_to(stderr, tg_str_text(&s));
    }
    ui_touch_late(ui);
    tg_str_free(&s);
}

void ui_hint(ui_app *ui, const char *fmt, ...)
{
    tg_str s = {0};
    va_list ap;
    va_start(ap, fmt);
    tg_str_vaddf(&s, fmt, ap);
    va_end(ap);
    show(ui, tg_str_text(&s));
    tg_str_free(&s);
}

void ui_print(ui_app *ui, const char *text)
{
    if (!ui->term) {
        fputs(text, ui->out);
        return;
    }
    const char *end = strchr(text, '\n');
    if (!end || !end[1]) {
        ui_message(ui, "%.*s", (int)strcspn(text, "\n"), text);
        return;
    }
    ui_buffer *b = ui_buffer_get(ui, "*Output*", &ui_mode_help);
    ui_text_set(&b->text, text);
    ui_window *w = ui_display(ui, b);
    w->point = (ui_point){0};
    w->top = 0;
}

void ui_complain(ui_app *ui, tg_status status)
{
    if (status == TG_OK) return;
    if (ui->term) ui->term->beep(ui->term);
    if (status == TG_CANCELLED) ui_message(ui, "Quit");
    else ui_message(ui, "%s", tg_message());
}
