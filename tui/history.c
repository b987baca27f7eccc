/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Answers to prompts, kept from run to run in the user's state folder: "kind TAB text" a line. */
#include "app.h"
#include "minibuf.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_BYTES = 1 << 20 };

/* The path of the file; its folders are made if `make`. False if there is no home. */
static bool history_path(tg_str *path, bool make)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    if (state && *state) tg_str_add(path, state);
    else if (home && *home) tg_str_addf(path, "%s/.local/state", home);
    else return false;
    tg_str_add(path, "/regraft/history");
    for (char *c = path->p + 1; make && *c; c++) {
        if (*c != '/') continue;
        *c = '\0';
        mkdir(path->p, 0700);
        *c = '/';
    }
    return true;
}

void ui_history_load(ui_app *ui)
{
    tg_str path = {0};
    char *data, *rest = NULL;
    size_t size;
    if (history_path(&path, false) && tg_read_file(path.p, MOST_BYTES, &data, &size) == TG_OK) {
        for (char *line = strtok_r(data, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
            char *tab = strchr(line, '\t');
            if (!tab) continue;
            *tab = '\0';
            ui_answer_keep(ui, line, tab + 1);
        }
        free(data);
    }
    tg_str_free(&path);
}

void ui_history_save(ui_app *ui)
{
    tg_str path = {0}, text = {0};
    for (size_t i = 0; i < ui->answers.n; i++) {
        tg_str_addf(&text, "%s\t%s\n", ui->answers.v[i].kind, ui->answers.v[i].text);
    }
    /* a home that cannot be written to loses the history and nothing else */
    if (text.n && history_path(&path, true)) {
        tg_status status = tg_write_file(path.p, text.p, text.n);
        (void)status;
    }
    tg_str_free(&path);
    tg_str_free(&text);
}
