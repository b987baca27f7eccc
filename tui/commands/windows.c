/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Splitting, deleting, choosing and sizing windows. */
#include "tui/app.h"

UI_FAMILY(windows);

DEFCMD(delete_window, "delete-window", "",
       "Remove the selected window; its neighbour takes the place.")
{
    return ui_window_delete(ui, ui->selected);
}

DEFCMD(delete_others, "delete-other-windows", "", "Let the selected window fill the frame.")
{
    if (ui->selected == ui->mini) return tg_fail(TG_USAGE, "Can't expand minibuffer to full frame");
    ui_window_delete_others(ui, ui->selected);
    return TG_OK;
}

static tg_status split(ui_app *ui, const ui_args *args, bool across)
{
    ui_window *made;
    int size = args->prefix.given ? args->prefix.n : 0;
    return ui_window_split(ui, ui->selected, across, size, &made);
}

DEFCMD(
    split_below, "split-window-below", "N",
    "Split the window in two, one above the other.\n\nWith a prefix argument N, the upper gets N "
    "rows, or the lower -N if N is negative.")
{
    return split(ui, args, false);
}

DEFCMD(
    split_right, "split-window-right", "N",
    "Split the window in two, side by side.\n\nWith a prefix argument N, the left gets N columns, "
    "or the right -N if N is negative.")
{
    return split(ui, args, true);
}

DEFCMD(other_window, "other-window", "N",
       "Select the next window.\n\nWith a prefix argument N, go on N windows; a negative one goes "
       "back, and so does C-u -1.")
{
    ui_window *next = ui_window_cycle(ui, ui->selected, args->prefix.n);
    if (next == ui->selected) return tg_fail(TG_LIMIT, "No other window to select");
    ui_window_select(ui, next);
    return TG_OK;
}

DEFCMD(enlarge, "enlarge-window", "N",
       "Make the window one row taller.\n\nWith a prefix argument, by that many rows.")
{
    return ui_window_grow(ui, ui_window_ordinary(ui), false, args->prefix.n);
}

DEFCMD(shrink, "shrink-window-horizontally", "N",
       "Make the window one column narrower.\n\nWith a prefix argument, by that many columns.")
{
    return ui_window_grow(ui, ui_window_ordinary(ui), true, -args->prefix.n);
}

DEFCMD(widen, "enlarge-window-horizontally", "N",
       "Make the window one column wider.\n\nWith a prefix argument, by that many columns.")
{
    return ui_window_grow(ui, ui_window_ordinary(ui), true, args->prefix.n);
}

DEFCMD(balance, "balance-windows", "", "Give all windows of a row or column the same size.")
{
    ui_windows_balance(ui);
    return TG_OK;
}

DEFCMD(fit, "shrink-window-if-larger-than-buffer", "",
       "Make the window as low as its buffer allows.")
{
    ui_window *w = ui_window_ordinary(ui);
    size_t rows = ui_buffer_rows(ui, w->buffer), body = (size_t)ui_window_body(ui, w);
    if (rows >= body) return TG_OK;
    return ui_window_grow(ui, w, false, -(int)(body - rows));
}

DEFCMD(
    quit_window, "quit-window", "N",
    "Put the window back as it was before its buffer was shown.\n\nWith a prefix argument (C-u), "
    "also kill the buffer.")
{
    ui_buffer *b = ui->selected->buffer;
    if (ui->selected == ui->mini) return tg_fail(TG_CANCELLED, "Quit");
    ui_window_quit(ui, ui->selected);
    if (args->prefix.given) ui_buffer_kill(ui, b);
    return TG_OK;
}

DEFCMD(quit_kill, "quit-window-and-kill", "",
       "Put the window back as it was and kill the buffer that it showed.")
{
    ui_buffer *b = ui->selected->buffer;
    if (ui->selected == ui->mini) return tg_fail(TG_CANCELLED, "Quit");
    ui_window_quit(ui, ui->selected);
    ui_buffer_kill(ui, b);
    return TG_OK;
}
