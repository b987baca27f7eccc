/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The event loop: keys, events of jobs, signals; reading key sequences; running commands. */
#include "app.h"
#include "minibuf.h"
#include "prompt.h"
#include "script.h"
#include "signals.h"
#include "whichkey.h"

#include "engine/base/clock.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>

void ui_exit(ui_app *ui, int status)
{
    ui->exit = true;
    ui->exit_status = status;
}

static void take_size(ui_app *ui)
{
    int rows, cols;
    ui->term->size(ui->term, &rows, &cols);
    ui_touch(ui);
    if (rows == ui->rows && cols == ui->cols) return;
    ui->rows = rows;
    ui->cols = cols;
    ui_windows_layout(ui);
}

static void take_signals(ui_app *ui)
{
    bool resized = false;
    for (int s; (s = ui_signals_take()) != 0;) {
        if (s == SIGTERM || s == SIGHUP || s == SIGINT) ui_exit(ui, 128 + s);
        if (s == SIGTSTP) ui->term->suspend(ui->term);
        if (s == SIGWINCH || s == SIGCONT || s == SIGTSTP) resized = true;
    }
    if (!resized) return;
    ui->term->redraw(ui->term);
    take_size(ui);
}

/* Milliseconds until the screen may be painted; -1: nothing to paint. */
static int paint_due(ui_app *ui)
{
    if (!ui->dirty) return -1;
    if (!ui->late) return 0;
    int64_t pause = 1000000000 / ui_opt_int(UI_OPT_refresh_rate);
    int64_t left = ui->painted_ns + pause - tg_clock_ns();
    return left <= 0 ? 0 : (int)(left / 1000000) + 1;
}

static void wait_for_input(ui_app *ui, int ms)
{
    struct pollfd fds[3] = {
        {.fd = ui->term->fd, .events = POLLIN},
        {.fd = tg_jobs_fd(ui->jobs), .events = POLLIN},
        {.fd = ui_signals_fd(), .events = POLLIN},
    };
    if (poll(fds, 3, ms) <= 0) return;
    /* the terminal went away without a word: the same as a dropped line */
    if ((fds[0].revents & (POLLHUP | POLLERR | POLLNVAL)) && !(fds[0].revents & POLLIN)) {
        ui_exit(ui, 128 + SIGHUP);
    }
}

/* A key that is there already: given back, scripted or typed. */
static ui_key next_ready(ui_app *ui)
{
    if (ui->unread.n) return tg_vec_pop(&ui->unread);
    if (ui->script) {
        ui_key key = ui_script_next(ui, ui->script);
        if (key != UI_KEY_EOF || !ui->term->live) return key;
        ui_script_free(ui->script);
        ui->script = NULL;
    }
    return ui->term->read(ui->term);
}

static void note_typed(ui_app *ui, ui_key key)
{
    ui->typed++;
    if (ui->lossage.n == UI_LOSSAGE) tg_vec_remove(&ui->lossage, 0);
    tg_vec_push(&ui->lossage, (ui_typed){key, NULL});
}

ui_key ui_read_key_for(ui_app *ui, double seconds)
{
    int64_t until = tg_clock_ns() + (int64_t)(seconds * 1e9);
    while (!ui->exit) {
        bool scripted = ui->script && !ui->unread.n;
        ui_key key = next_ready(ui);
        if (key == UI_KEY_RESIZE) {
            take_size(ui);
            continue;
        }
        if (key == UI_KEY_EOF) break;
        if (key != UI_KEY_NONE) {
            note_typed(ui, key);
            return key;
        }
        if (scripted && ui->script && seconds > 0) return UI_KEY_NONE;
        if (scripted && ui->script) continue;
        tg_jobs_dispatch(ui->jobs);
        take_signals(ui);
        int due = paint_due(ui);
        if (due == 0) ui_paint(ui);
        if (!ui->term->live) break;
        int64_t left = (until - tg_clock_ns()) / 1000000;
        if (seconds > 0 && left <= 0) return UI_KEY_NONE;
        int wait = due > 0 ? due : -1;
        if (seconds > 0 && (wait < 0 || left < wait)) wait = (int)left + 1;
        if (!ui->exit) wait_for_input(ui, wait);
    }
    return UI_KEY_EOF;
}

ui_key ui_read_key(ui_app *ui)
{
    return ui_read_key_for(ui, 0);
}

void ui_unread_key(ui_app *ui, ui_key key)
{
    tg_vec_push(&ui->unread, key);
}

ui_binding ui_active_binding(ui_app *ui, const ui_key *keys, int n, const ui_keymap **where)
{
    const ui_keymap *major = ui_mode_keymap(ui, ui->selected->buffer->mode);
    ui_binding b = ui_keymap_lookup(major, keys, n, where);
    if (b.command || b.prefix) return b;
    return ui_keymap_lookup(ui->global, keys, n, where);
}

/* "C-u 8 C-x-": what was typed so far. */
static void show_partial(ui_app *ui, int n, bool escape)
{
    tg_str *s = &ui->keys_shown;
    tg_str_clear(s);
    if (ui->prefix.given) {
        tg_str_add(s, "C-u");
        if (!ui->prefix.bare) tg_str_addf(s, " %d", ui->prefix.n);
    }
    if (n && s->n) tg_str_addc(s, ' ');
    ui_keys_name(ui->keys, n, s);
    if (escape) tg_str_add(s, s->n ? " ESC" : "ESC");
    if (s->n) tg_str_addc(s, '-');
    ui_touch(ui);
}

/* Reads one key of a sequence; a prefix left alone is shown, then its keys pop up. */
static ui_key read_part(ui_app *ui, int n, bool escape)
{
    double echo = ui_opt_real(UI_OPT_echo_keystrokes), pop = ui_opt_real(UI_OPT_which_key_delay);
    bool partial = n || escape || ui->prefix.given;
    if (!partial) return ui_read_key(ui);
    if (ui->keys_shown.n || (!n && !escape && ui->keys_were_shown)) show_partial(ui, n, escape);
    if (echo > 0 && !ui->keys_shown.n) {
        ui_key key = ui_read_key_for(ui, echo);
        if (key != UI_KEY_NONE) return key;
        show_partial(ui, n, escape);
    }
    if ((!n && !escape) || !ui_opt_flag(UI_OPT_which_key)) return ui_read_key(ui);
    if (!ui->overlay.n) {
        ui_key key = ui_read_key_for(ui, pop > echo ? pop - echo : 0.001);
        if (key != UI_KEY_NONE) return key;
    }
    ui_whichkey_show(ui, ui->keys, n, escape);
    return ui_read_key(ui);
}

/* After C-u digits and a minus sign belong to the argument, whatever they are bound to. */
static const ui_command *argument_key(const ui_app *ui, ui_key key)
{
    if (!ui->prefix.given) return NULL;
    if (key >= '0' && key <= '9') return ui_command_find("digit-argument");
    if (key == '-' && ui->prefix.bare) return ui_command_find("negative-argument");
    return NULL;
}

static bool is_bound(ui_app *ui, int n)
{
    ui_binding b = ui_active_binding(ui, ui->keys, n, NULL);
    return b.command || b.prefix;
}

/* Reads a key and what ESC makes of it into keys[n]; false when the program ends. */
static bool read_into(ui_app *ui, int n)
{
    bool escape = false;
    for (;;) {
        ui_key key = read_part(ui, n, escape);
        if (key == UI_KEY_EOF) return false;
        if (!n && !escape) {
            tg_str_clear(&ui->echo);
            if (ui->minibuf) ui_minibuf_note(ui, "");
            ui_touch(ui);
        }
        ui->keys[n] = escape ? key | UI_KEY_META : key;
        if (key != UI_KEY_ESC || escape || is_bound(ui, n + 1)) return true;
        escape = true;
    }
}

static void end_partial(ui_app *ui)
{
    if (ui->keys_shown.n || ui->overlay.n) ui_touch(ui);
    ui->keys_were_shown = ui->keys_shown.n > 0;
    tg_str_clear(&ui->keys_shown);
    ui_whichkey_hide(ui);
}

bool ui_read_sequence(ui_app *ui, const ui_command **command)
{
    *command = NULL;
    ui->n_keys = 0;
    for (int n = 0; n < UI_MAX_KEYS;) {
        if (!read_into(ui, n)) return false;
        ui_key key = ui->keys[n++];
        ui->n_keys = n;
        if (n == 1 && (*command = argument_key(ui, key)) != NULL) break;
        if (n > 1 && (key == 7 || key == (7 | UI_KEY_META))) {
            end_partial(ui);
            return false;
        }
        ui_binding b = ui_active_binding(ui, ui->keys, n, NULL);
        *command = b.command;
        if (b.prefix) continue;
        if (!b.command && n > 1 && (key == 8 || key == UI_KEY_F1)) {
            ui->n_keys = n - 1;
            *command = ui_command_find("describe-prefix-bindings");
        }
        break;
    }
    end_partial(ui);
    return true;
}

static void name_typed(ui_app *ui, const ui_command *command)
{
    if (ui->lossage.n) tg_vec_last(&ui->lossage).command = command;
}

static void call_moved(ui_app *ui, const ui_window *before, const ui_buffer *buffer, size_t row)
{
    ui_window *w = ui->selected;
    if (w == before && w->buffer == buffer && w->point.row == row) return;
    void (*moved)(ui_app *, ui_window *);
    UI_MODE_CALL(moved, w->buffer->mode, moved);
    if (moved) moved(ui, w);
}

/* Rows may go while nobody types; a command finds point on one that is there. */
static void clamp_point(ui_app *ui, ui_window *w)
{
    size_t rows = ui_buffer_rows(ui, w->buffer);
    if (w->point.row >= rows) w->point = (ui_point){rows ? rows - 1 : 0, w->point.col};
}

void ui_execute(ui_app *ui, const ui_command *command, const ui_args *args)
{
    ui_prefix prefix = ui->prefix;
    clamp_point(ui, ui->selected);
    const ui_window *before = ui->selected;
    const ui_buffer *buffer = ui->selected->buffer;
    size_t row = ui->selected->point.row;
    ui->this_command = command;
    ui->keep_prefix = false;
    ui_complain(ui, ui_command_call(ui, command, prefix, args));
    if (!ui->keep_prefix) ui->prefix = (ui_prefix){.n = 1};
    ui->keep_prefix = false;
    ui->last_command = ui->this_command;
    if (ui->exit) return;
    clamp_point(ui, ui->selected);
    call_moved(ui, before, buffer, row);
    ui_touch(ui);
}

static void undefined_key(ui_app *ui)
{
    tg_str s = {0};
    ui_keys_name(ui->keys, ui->n_keys, &s);
    ui->term->beep(ui->term);
    ui_message(ui, "%s is undefined", tg_str_text(&s));
    ui->prefix = (ui_prefix){.n = 1};
    tg_str_free(&s);
}

void ui_step(ui_app *ui)
{
    const ui_command *command;
    if (!ui_read_sequence(ui, &command)) {
        ui->prefix = (ui_prefix){.n = 1};
        if (!ui->exit && ui->n_keys > 1) ui_complain(ui, TG_CANCELLED);
        else ui->stop = true;
        return;
    }
    if (!command && ui->n_keys == 1 && ui_key_is_text(ui->keys[0]) &&
        !ui->selected->buffer->read_only) {
        command = ui_command_find("self-insert-command");
    }
    name_typed(ui, command);
    if (command) ui_execute(ui, command, NULL);
    else undefined_key(ui);
}

void ui_loop(ui_app *ui)
{
    ui->depth++;
    while (!ui->stop && !ui->exit) ui_step(ui);
    ui->stop = false;
    ui->depth--;
}
