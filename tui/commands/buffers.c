/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choosing, showing, killing and refreshing buffers. */
#include "tui/app.h"
#include "tui/prompt.h"

#include <stdlib.h>

UI_FAMILY(buffers);

/* Asks for a buffer by name; the default is the one used before. */
static tg_status ask_buffer(ui_app *ui, const ui_args *args, const char *text, bool current,
                            char **name)
{
    const char *given = ui_arg(args, "buffer");
    if (given) {
        *name = tg_strdup(given);
        return TG_OK;
    }
    ui_buffer *now = ui_window_ordinary(ui)->buffer;
    ui_prompt prompt = {
        .text = text,
        .start = current ? now->name : ui_buffer_other(ui, now)->name,
        .history = "buffer",
        .source = ui_source_buffer,
    };
    return ui_ask(ui, &prompt, name);
}

static ui_buffer *take_buffer(ui_app *ui, char *name)
{
    ui_buffer *b = ui_buffer_get(ui, name, &ui_mode_fundamental);
    free(name);
    return b;
}

static tg_status check_ordinary(const ui_app *ui)
{
    if (ui->selected != ui->mini) return TG_OK;
    return tg_fail(TG_USAGE, "Cannot switch buffers in minibuffer window");
}

DEFCMD(switch_buffer, "switch-to-buffer", "[buffer]:buffer Switch to buffer",
       "Show BUFFER in the selected window. A name that is not known makes a new buffer.")
{
    char *name;
    TG_TRY(check_ordinary(ui));
    TG_TRY(ask_buffer(ui, args, "Switch to buffer", false, &name));
    ui_window_show(ui, ui->selected, take_buffer(ui, name));
    return TG_OK;
}

DEFCMD(switch_other, "switch-to-buffer-other-window", "[buffer]:buffer Switch to buffer",
       "Show BUFFER in another window and select that.")
{
    char *name;
    TG_TRY(check_ordinary(ui));
    TG_TRY(ask_buffer(ui, args, "Switch to buffer in other window", false, &name));
    ui_window_select(ui, ui_display(ui, take_buffer(ui, name)));
    return TG_OK;
}

DEFCMD(display, "display-buffer", "[buffer]:buffer Display buffer",
       "Show BUFFER in another window without selecting it.")
{
    char *name;
    TG_TRY(ask_buffer(ui, args, "Display buffer", false, &name));
    ui_display(ui, take_buffer(ui, name));
    return TG_OK;
}

DEFCMD(kill, "kill-buffer", "[buffer]:buffer Kill buffer",
       "Close BUFFER; windows that show it show another.")
{
    char *name;
    TG_TRY(ask_buffer(ui, args, "Kill buffer", true, &name));
    ui_buffer *b = ui_buffer_find(ui, name);
    tg_status status =
        b && b->name[0] != ' ' ? TG_OK : tg_fail(TG_NOTFOUND, "No buffer named `%s'", name);
    free(name);
    if (b && status == TG_OK) ui_buffer_kill(ui, b);
    return status;
}

/* The buffer after (or before) the present one in the order they were made. */
static tg_status step_buffer(ui_app *ui, int n)
{
    TG_TRY(check_ordinary(ui));
    size_t count = ui->buffers.n, i = 0;
    while (ui->buffers.v[i] != ui->selected->buffer) i++;
    do i = (i + count + (size_t)(n > 0 ? 1 : -1)) % count;
    while (ui->buffers.v[i]->name[0] == ' ');
    ui_window_show(ui, ui->selected, ui->buffers.v[i]);
    return TG_OK;
}

DEFCMD(next_buffer, "next-buffer", "", "Show the next buffer in the selected window.")
{
    return step_buffer(ui, 1);
}

DEFCMD(previous_buffer, "previous-buffer", "", "Show the previous buffer in the selected window.")
{
    return step_buffer(ui, -1);
}

DEFCMD(revert, "revert-buffer", "", "Bring what the buffer shows up to date.")
{
    tg_status (*refresh)(ui_app *, ui_buffer *);
    ui_buffer *b = ui_window_ordinary(ui)->buffer;
    UI_MODE_CALL(refresh, b->mode, refresh);
    return refresh ? refresh(ui, b) : TG_OK;
}

DEFCMD(revert_all, "refresh-all", "", "Bring every buffer up to date and repaint the screen.")
{
    for (size_t i = 0; i < ui->buffers.n; i++) {
        tg_status (*refresh)(ui_app *, ui_buffer *);
        UI_MODE_CALL(refresh, ui->buffers.v[i]->mode, refresh);
        if (refresh) TG_TRY(refresh(ui, ui->buffers.v[i]));
    }
    if (ui->term) ui->term->redraw(ui->term);
    return TG_OK;
}
