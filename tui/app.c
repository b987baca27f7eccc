/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "app.h"

#include "script.h"
#include "session.h"
#include "whichkey.h"

#include "engine/base/log.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const ui_key_row global_keys[] = {
#define KEY(keys, command) {keys, command},
#include "keys.def"
#undef KEY
    {NULL, NULL},
};

/* Words of the libraries come from any thread; they are shown by the one that draws. */
static void show_log(void *owner, void *event)
{
    ui_note(owner, "%s", (const char *)event);
    free(event);
}

static void take_log(void *ctx, tg_log_level level, const char *text)
{
    ui_app *ui = ctx;
    if (level == TG_LOG_DEBUG) return;
    tg_jobs_post(ui->jobs, show_log, ui, tg_strdup(text));
}

static bool background_is_light(void)
{
    if (!ui_opt_is(UI_OPT_background_mode, "auto")) {
        return ui_opt_is(UI_OPT_background_mode, "light");
    }
    const char *s = getenv("COLORFGBG"), *semicolon = s ? strrchr(s, ';') : NULL;
    int background = semicolon ? atoi(semicolon + 1) : 0;
    return background == 7 || background == 15;
}

void ui_app_theme(ui_app *ui)
{
    static const struct {
        const char *name;
        ui_tier tier;
    } tiers[] = {{"mono", UI_MONO}, {"8", UI_8}, {"16", UI_16}, {"256", UI_256}};
    ui_tier tier = UI_256;
    ui->colour_light = background_is_light();
    for (size_t i = 0; i < sizeof tiers / sizeof *tiers; i++) {
        if (ui_opt_is(UI_OPT_colours, tiers[i].name)) tier = tiers[i].tier;
    }
    if (ui->term && ui->term->live) ui_term_curses_theme(ui->term, tier, ui->colour_light);
    ui_touch(ui);
}

static void open_screen(ui_app *ui)
{
    ui->term->size(ui->term, &ui->rows, &ui->cols);
    ui->global = ui_keymap_new("global-map", NULL);
    tg_status status = ui_keymap_bind_table(ui->global, global_keys);
    assert(status == TG_OK);
    (void)status;
    ui_buffer *scratch = ui_buffer_get(ui, "*scratch*", &ui_mode_interaction);
    ui_windows_init(ui, scratch);
    ui_buffer_get(ui, "*Messages*", &ui_mode_log);
    ui_buffer *mini = ui_buffer_get(ui, " *Minibuf*", &ui_mode_minibuffer);
    ui->mini->buffer = mini;
    ui_windows_layout(ui);
    ui_window_select(ui, ui->root);
    ui_app_theme(ui);
}

ui_app *ui_app_new(ui_term *term, bool bare)
{
    ui_app *ui = tg_calloc(1, sizeof *ui);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    ui->term = term;
    ui->bare = bare;
    ui->goal = -1;
    ui->out = stdout;
    ui->prefix = (ui_prefix){.n = 1};
    ui->jobs = tg_jobs_new(cores > 4 ? (int)cores - 1 : 4);
    if (term) {
        open_screen(ui);
        tg_log_to(take_log, ui);
        if (!bare) ui_history_load(ui);
    }
    return ui;
}

#define FREE_STRINGS(vector)                                                                       \
    do {                                                                                           \
        for (size_t i_ = 0; i_ < (vector)->n; i_++) free((vector)->v[i_]);                         \
        tg_vec_free(vector);                                                                       \
    } while (0)

static void close_screen(ui_app *ui)
{
    if (!ui->bare) ui_history_save(ui);
    ui_whichkey_hide(ui);
    tg_vec_free(&ui->overlay);
    ui_buffers_done(ui);
    ui_windows_done(ui);
    ui_modes_done(ui);
    ui_keymap_free(ui->global);
}

void ui_app_free(ui_app *ui)
{
    ui_session_close(ui);
    if (ui->term) tg_log_to(NULL, NULL);
    tg_jobs_free(ui->jobs);
    if (ui->term) close_screen(ui);
    if (ui->script) ui_script_free(ui->script);
    for (size_t i = 0; i < ui->answers.n; i++) {
        free(ui->answers.v[i].kind);
        free(ui->answers.v[i].text);
    }
    tg_vec_free(&ui->answers);
    FREE_STRINGS(&ui->kills);
    FREE_STRINGS(&ui->search_ring);
    FREE_STRINGS(&ui->help_trail);
    tg_vec_free(&ui->unread);
    tg_vec_free(&ui->lossage);
    tg_str_free(&ui->echo);
    tg_str_free(&ui->keys_shown);
    free(ui->last_message);
    ui_grid_done(&ui->grid);
    if (ui->term) ui->term->close(ui->term);
    free(ui);
}
