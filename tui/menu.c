/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "menu.h"

#include "help.h"
#include "prompt.h"
#include "whichkey.h"

#include <stdlib.h>
#include <string.h>

enum { GROUP_COLUMNS = 4, LEAST_COLUMN = 19 };

/* ---- drawing */

static ui_line *new_row(ui_app *ui)
{
    tg_vec_push(&ui->overlay, (ui_line){0});
    return &tg_vec_last(&ui->overlay);
}

static void draw_arguments(ui_app *ui, const ui_menu *menu)
{
    int half = ui->cols >= 76 ? ui->cols / 2 : ui->cols, n = 0;
    ui_line *row = NULL;
    if (!menu->arguments) return;
    ui_line_add(new_row(ui), UI_FACE_header, "Arguments");
    for (const ui_menu_argument *a = menu->arguments; a->key; a++, n++) {
        bool left = half == ui->cols || n % 2 == 0;
        if (left) row = new_row(ui);
        else ui_line_pad(row, half);
        ui_line_addf(row, UI_FACE_key, " -%c ", a->key);
        ui_line_fit(row, UI_FACE_plain, a->text, 22);
        ui_line_pad(row, (left ? 0 : half) + 28);
        ui_line_addf(row, UI_FACE_plain, "(%s)", ui_opt_text(a->option));
    }
    new_row(ui);
}

static int group_height(const ui_menu_group *g)
{
    int n = 0;
    while (g->items[n].key) n++;
    return n;
}

/* Draws `n` groups side by side. */
static void draw_groups(ui_app *ui, const ui_menu_group *groups, int n, int width)
{
    int height = 0;
    ui_line *head = new_row(ui);
    for (int i = 0; i < n; i++) {
        ui_line_pad(head, i * width);
        ui_line_fit(head, UI_FACE_header, groups[i].title, width - 1);
        if (group_height(&groups[i]) > height) height = group_height(&groups[i]);
    }
    for (int r = 0; r < height; r++) {
        ui_line *row = new_row(ui);
        for (int i = 0; i < n; i++) {
            if (r >= group_height(&groups[i])) continue;
            const ui_menu_item *item = &groups[i].items[r];
            ui_line_pad(row, i * width);
            ui_line_addf(row, UI_FACE_key, " %s ", item->key);
            ui_line_fit(row, UI_FACE_plain, item->text, width - 3 - (int)strlen(item->key));
        }
    }
}

static void draw_menu(ui_app *ui, const ui_menu *menu)
{
    int across = ui->cols / LEAST_COLUMN, n = 0;
    if (across > GROUP_COLUMNS) across = GROUP_COLUMNS;
    if (across < 1) across = 1;
    ui_whichkey_hide(ui);
    ui_line_add(new_row(ui), UI_FACE_header, menu->title);
    draw_arguments(ui, menu);
    while (menu->groups[n].title) n++;
    for (int i = 0; i < n; i += across) {
        if (i) new_row(ui);
        draw_groups(ui, menu->groups + i, n - i < across ? n - i : across, ui->cols / across);
    }
    ui_line *foot = new_row(ui);
    ui_line_addf(foot, UI_FACE_mode_line,
                 "-%c:%%%%-  *transient*  (%s)   C-g back  C-h KEY help  C-q "
                 "leave ",
                 ui->term->utf8 ? 'U' : 'A', menu->title);
    while (ui_line_width(foot) < ui->cols) ui_line_add(foot, UI_FACE_mode_line, "-");
    ui_touch(ui);
}

/* ---- keys */

static const ui_menu_item *find_item(const ui_menu *menu, ui_key key)
{
    for (const ui_menu_group *g = menu->groups; g->title; g++) {
        for (const ui_menu_item *i = g->items; i->key; i++) {
            ui_key one;
            int n;
            if (ui_keys_parse(i->key, &one, 1, &n) == TG_OK && n == 1 && one == key) return i;
        }
    }
    return NULL;
}

static void wrong_key(ui_app *ui, ui_key key)
{
    tg_str name = {0};
    ui_key_name(key, &name);
    ui->term->beep(ui->term);
    ui_message(ui, "Unbound suffix: `%s' (use C-g to abort, ? for help)", tg_str_text(&name));
    tg_str_free(&name);
}

static tg_status set_argument(ui_app *ui, const ui_menu_argument *a)
{
    char *value;
    const ui_opt_info *o = ui_opt_info_get(a->option);
    if (o->kind == UI_OPT_FLAG) {
        return ui_opt_set(a->option, ui_opt_flag(a->option) ? "false" : "true");
    }
    ui_prompt prompt = {.text = a->text,
                        .start = ui_opt_text(a->option),
                        .history = "value",
                        .ctx = (void *)o->choices,
                        .source = o->kind == UI_OPT_CHOICE ? ui_source_words : NULL};
    TG_TRY(ui_ask(ui, &prompt, &value));
    tg_status status = ui_opt_set(a->option, value);
    free(value);
    return status;
}

/* `-` was typed: the next key names the argument. */
static void take_argument(ui_app *ui, const ui_menu *menu)
{
    ui_hint(ui, "%s: -", menu->title);
    ui_key key = ui_read_key(ui);
    if (key == UI_KEY_EOF || key == 7) return;
    for (const ui_menu_argument *a = menu->arguments; a && a->key; a++) {
        if ((ui_key)a->key != key) continue;
        ui_complain(ui, set_argument(ui, a));
        return;
    }
    wrong_key(ui, key);
}

static void explain(ui_app *ui, const ui_menu *menu)
{
    ui_hint(ui, "Describe suffix: ");
    ui_key key = ui_read_key(ui);
    if (key == UI_KEY_EOF || key == 7) return;
    const ui_menu_item *item = find_item(menu, key);
    if (!item) {
        wrong_key(ui, key);
    } else if (item->command) {
        tg_str target = {0};
        tg_str_addf(&target, "command:%s", item->command);
        ui_complain(ui, ui_help_visit(ui, target.p));
        tg_str_free(&target);
    } else {
        ui_message(ui, "%s opens the menu %s", item->key, item->menu->title);
    }
}

/* A key that is no suffix: keys with Control or Meta do what they do everywhere. */
static void ordinary_key(ui_app *ui, ui_key key)
{
    const ui_command *command;
    bool special = key < 32 || key >= UI_KEY_UP;
    if (!special || key == UI_KEY_PASTE) {
        wrong_key(ui, key);
        return;
    }
    ui_unread_key(ui, key);
    if (ui_read_sequence(ui, &command) && command) ui_execute(ui, command, NULL);
    else if (!ui->exit) wrong_key(ui, key);
}

typedef enum outcome { STAYS, RAN, WENT_BACK, LEFT_ALL } outcome;

static outcome run_level(ui_app *ui, const ui_menu *menu, tg_status *status);

static outcome take_item(ui_app *ui, const ui_menu_item *item, tg_status *status)
{
    ui_prefix prefix = ui->prefix;
    if (item->menu) return run_level(ui, item->menu, status) == WENT_BACK ? STAYS : LEFT_ALL;
    const ui_command *command = ui_command_find(item->command);
    ui_whichkey_hide(ui);
    if (!command) {
        *status = tg_fail(TG_NOTFOUND, "no command is called %s", item->command);
        return RAN;
    }
    ui->this_command = command;
    *status = ui_command_call(ui, command, prefix, NULL);
    return RAN;
}

static outcome run_level(ui_app *ui, const ui_menu *menu, tg_status *status)
{
    while (!ui->exit) {
        draw_menu(ui, menu);
        ui_key key = ui_read_key(ui);
        const ui_menu_item *item = find_item(menu, key);
        tg_str_clear(&ui->echo);
        outcome o = STAYS;
        if (key == UI_KEY_EOF || key == 'q' - 96) o = LEFT_ALL;
        else if (key == 'g' - 96) o = WENT_BACK;
        else if (item) o = take_item(ui, item, status);
        else if (key == '-') take_argument(ui, menu);
        else if (key == 8 || key == UI_KEY_F1) explain(ui, menu);
        else ordinary_key(ui, key);
        if (o != STAYS) return o;
    }
    return LEFT_ALL;
}

tg_status ui_menu_run(ui_app *ui, const ui_menu *menu)
{
    tg_status status = TG_OK;
    if (!ui->term) return tg_fail(TG_USAGE, "a menu needs a screen");
    outcome o = run_level(ui, menu, &status);
    ui_whichkey_hide(ui);
    ui_touch(ui);
    if (o == WENT_BACK) return tg_fail(TG_CANCELLED, "Quit");
    return status;
}

const char *ui_menu_check(const ui_menu *menu)
{
    for (const ui_menu_group *g = menu->groups; g->title; g++) {
        for (const ui_menu_item *i = g->items; i->key; i++) {
            ui_key key;
            int n;
            bool ok = ui_keys_parse(i->key, &key, 1, &n) == TG_OK && n == 1;
            if (!ok || !i->command == !i->menu) return i->key;
            if (i->command && !ui_command_find(i->command)) return i->command;
            if (i->menu && ui_menu_check(i->menu)) return ui_menu_check(i->menu);
        }
    }
    return NULL;
}
