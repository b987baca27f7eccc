/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "copy.h"

#include <stdlib.h>

enum { MOST_KILLS = 60 };

void ui_copy(ui_app *ui, const char *text)
{
    while (ui->kills.n >= MOST_KILLS) {
        free(ui->kills.v[0]);
        tg_vec_remove(&ui->kills, 0);
    }
    tg_vec_push(&ui->kills, tg_strdup(text));
    ui->yank_at = ui->kills.n - 1;
    ui_message(ui, "Copied: %s", text);
}
