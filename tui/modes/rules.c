/* SPDX-License-Identifier: GPL-3.0-or-later */
/* *rules*: the library, with what each rule finds and did here. */
#include "tui/diff.h"
#include "tui/rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 100, NAME = 38, NARROW_NAME = 32, FAMILY_COLUMNS = 9 };

/* Narrow windows have no columns for the family and the change. */
typedef struct columns {
    int name, family, change;
} columns;

static columns share_columns(int width)
{
    if (width < WIDE) return (columns){.name = NARROW_NAME};
    return (columns){NAME, FAMILY_COLUMNS, 8};
}

/* Tallies by rule; made anew when a view came or HEAD moved. */
typedef struct rules_view {
    uint64_t made;
    TG_VEC(ui_rule_tally) tallies;
} rules_view;

static void rules_open(ui_app *ui, ui_buffer *buffer)
{
    (void)ui;
    buffer->data = tg_calloc(1, sizeof(rules_view));
    buffer->read_only = true;
}

static void rules_close(ui_app *ui, ui_buffer *buffer)
{
    rules_view *v = buffer->data;
    (void)ui;
    tg_vec_free(&v->tallies);
    free(v);
}

static rules_view *sync(ui_app *ui, ui_buffer *buffer)
{
    rules_view *v = buffer->data;
    ui_session *s = ui_session_get(ui);
    uint64_t now = 1;
    if (s) now = tg_hash_add(tg_hash_add(s->views + 2, s->history->states.n), s->vetoes.n);
    if (now == v->made) return v;
    v->made = now;
    tg_vec_clear(&v->tallies);
    for (int i = 0; s && i < tg_rules_count(s->rules); i++)
        tg_vec_push(&v->tallies, ui_rule_tally_of(s, i));
    return v;
}

static size_t rules_rows(ui_app *ui, ui_buffer *buffer)
{
    const rules_view *v = sync(ui, buffer);
    return v->tallies.n ? v->tallies.n : 1;
}

static void add_count(ui_line *line, int n, int width)
{
    int at = ui_line_width(line);
    if (n) ui_line_addf(line, UI_FACE_plain, "%*d", width, n);
    else ui_line_pad(line, at + width - 1);
    if (!n) ui_line_add(line, UI_FACE_stale, "·");
}

static void rules_draw(ui_app *ui, ui_buffer *buffer, size_t row, int width, ui_line *line)
{
    const rules_view *v = sync(ui, buffer);
    const ui_session *s = ui_session_get(ui);
    if (!s || row >= v->tallies.n) {
        ui_line_add(line, UI_FACE_plain, "No model loaded");
        return;
    }
    char p[24];
    const ui_rule_tally *t = &v->tallies.v[row];
    const tg_rule_info *rule = tg_rules_get(s->rules, (int)row);
    columns c = share_columns(width);
    ui_line_add(line, UI_FACE_vetoed, t->vetoed ? "! " : "  ");
    ui_line_fit(line, t->vetoed ? UI_FACE_vetoed : UI_FACE_plain, rule->name, c.name - 1);
    ui_line_pad(line, 2 + c.name);
    if (c.family) ui_line_fit(line, UI_FACE_plain, rule->family, c.family - 1);
    ui_line_pad(line, 2 + c.name + c.family);
    add_count(line, t->sites, 5);
    add_count(line, t->you, 5);
    add_count(line, t->agent, 6);
    if (c.change && !isnan(t->change))
        ui_line_addf(line, UI_FACE_predicted, "   %s", ui_signed(p, t->change, 1));
    ui_line_pad(line, 2 + c.name + c.family + 16 + c.change);
    ui_line_add(line, UI_FACE_plain, "  ");
    ui_line_fit(line, UI_FACE_plain, rule->about, width - ui_line_width(line));
}

static bool rules_header(ui_app *ui, ui_buffer *buffer, int width, ui_line *line)
{
    columns c = share_columns(width);
    (void)ui, (void)buffer;
    ui_line_add(line, UI_FACE_header, "  rule");
    ui_line_pad(line, 2 + c.name);
    if (c.family) ui_line_add(line, UI_FACE_header, "family");
    ui_line_pad(line, 2 + c.name + c.family);
    ui_line_add(line, UI_FACE_header, "sites  you agent");
    if (c.change) ui_line_add(line, UI_FACE_header, " change%");
    ui_line_add(line, UI_FACE_header, "  about");
    return true;
}

static void rules_status(ui_app *ui, ui_buffer *buffer, tg_str *out)
{
    const rules_view *v = sync(ui, buffer);
    int match = 0, applied = 0;
    for (size_t i = 0; i < v->tallies.n; i++) {
        match += v->tallies.v[i].sites > 0;
        applied += v->tallies.v[i].you + v->tallies.v[i].agent > 0;
    }
    tg_str_addf(out, "%zu loaded, %d match, %d taken", v->tallies.n, match, applied);
}

static tg_status rules_refresh(ui_app *ui, ui_buffer *buffer)
{
    ((rules_view *)buffer->data)->made = 0;
    ui_touch(ui);
    return TG_OK;
}

const ui_mode ui_mode_rules = {
    .name = "rules-mode",
    .label = "Rules",
    .doc = "The rules that are loaded: the sites of each in the present graph, how often you and "
           "the agent took it, and its predicted change. RET shows a rule as it is written, d "
           "forbids it everywhere or allows it again.",
    .parent = &ui_mode_special,
    .hl_line = true,
    .keys =
        (const ui_key_row[]){
            {"RET", "find-definition"},
            {"d", "veto-rule"},
            {"w", "copy-row"},
            {NULL, NULL},
        },
    .open = rules_open,
    .close = rules_close,
    .rows = rules_rows,
    .draw = rules_draw,
    .header = rules_header,
    .status = rules_status,
    .refresh = rules_refresh,
};
