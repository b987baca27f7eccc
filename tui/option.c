/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "option.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLAG(id, name, start, doc) {name, doc, UI_OPT_FLAG, 0, 1, "", #start},
#define INT(id, name, start, least, most, doc) {name, doc, UI_OPT_INT, least, most, "", #start},
#define REAL(id, name, start, least, most, doc) {name, doc, UI_OPT_REAL, least, most, "", #start},
#define CHOICE(id, name, start, choices, doc) {name, doc, UI_OPT_CHOICE, 0, 0, choices, start},
#define TEXT(id, name, start, doc) {name, doc, UI_OPT_TEXT, 0, 0, "", start},
static const ui_opt_info infos[] = {
#include "option.def"
};

/* Invariant: text is "" until the option is set; then number and text say the same. */
static struct {
    char text[1024];
    double number;
} values[UI_OPT_COUNT];

const ui_opt_info *ui_opt_info_get(ui_opt opt)
{
    return &infos[opt];
}

bool ui_opt_find(const char *name, ui_opt *opt)
{
    for (int i = 0; i < UI_OPT_COUNT; i++) {
        if (strcmp(infos[i].name, name) == 0) {
            *opt = (ui_opt)i;
            return true;
        }
    }
    return false;
}

static bool parse_flag(const char *text, double *number)
{
    static const char *const yes[] = {"true", "on", "yes", "1", "t"};
    static const char *const no[] = {"false", "off", "no", "0", "nil"};
    for (int i = 0; i < 5; i++) {
        if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
            *number = strcmp(text, yes[i]) == 0;
            return true;
        }
    }
    return false;
}

static bool parse_number(const ui_opt_info *o, const char *text, double *number)
{
    char *end;
    errno = 0;
    double x = strtod(text, &end);
    if (end == text || *end || errno || !isfinite(x)) return false;
    if (x < o->least || x > o->most) return false;
    if (o->kind == UI_OPT_INT && x != floor(x)) return false;
    *number = x;
    return true;
}

static bool is_choice(const char *choices, const char *text)
{
    size_t n = strlen(text);
    for (const char *c = choices; n && *c;) {
        size_t len = strcspn(c, "|");
        if (len == n && memcmp(c, text, n) == 0) return true;
        c += len + (c[len] == '|');
    }
    return false;
}

tg_status ui_opt_set(ui_opt opt, const char *value)
{
    const ui_opt_info *o = &infos[opt];
    double number = 0;
    bool ok = false;
    switch (o->kind) {
    case UI_OPT_FLAG:
        if (!parse_flag(value, &number)) {
            return tg_fail(TG_USAGE, "%s: on or off, not %s", o->name, value);
        }
        value = number != 0 ? "true" : "false";
        ok = true;
        break;
    case UI_OPT_CHOICE: ok = is_choice(o->choices, value); break;
    case UI_OPT_TEXT:
        if (strlen(value) >= sizeof values[opt].text)
            return tg_fail(TG_USAGE, "%s: longer than %zu bytes", o->name,
                           sizeof values[opt].text - 1);
        ok = true;
        break;
    default: ok = parse_number(o, value, &number); break;
    }
    if (!ok && o->kind == UI_OPT_CHOICE) {
        return tg_fail(TG_USAGE, "%s: one of %s, not %s", o->name, o->choices, value);
    }
    if (!ok || strlen(value) >= sizeof values[opt].text) {
        return tg_fail(TG_USAGE, "%s: %s from %g to %g, not %s", o->name,
                       o->kind == UI_OPT_INT ? "a whole number" : "a number", o->least, o->most,
                       value);
    }
    memmove(values[opt].text, value, strlen(value) + 1);
    values[opt].number = number;
    return TG_OK;
}

tg_status ui_opt_assign(const char *text)
{
    const char *eq = strchr(text, '=');
    if (!eq) return tg_fail(TG_USAGE, "NAME=VALUE is needed, not %s", text);
    char *name = tg_strdup(text);
    name[eq - text] = '\0';
    ui_opt opt;
    tg_status status = ui_opt_find(name, &opt)
                           ? ui_opt_set(opt, eq + 1)
                           : tg_fail(TG_NOTFOUND, "no option is called %s", name);
    free(name);
    return status;
}

void ui_opt_reset(void)
{
    memset(values, 0, sizeof values);
}

const char *ui_opt_text(ui_opt opt)
{
    return values[opt].text[0] ? values[opt].text : infos[opt].start;
}

double ui_opt_real(ui_opt opt)
{
    return values[opt].text[0] ? values[opt].number : strtod(infos[opt].start, NULL);
}

int ui_opt_int(ui_opt opt)
{
    return (int)ui_opt_real(opt);
}

bool ui_opt_flag(ui_opt opt)
{
    return strcmp(ui_opt_text(opt), "true") == 0;
}

bool ui_opt_is(ui_opt opt, const char *choice)
{
    return strcmp(ui_opt_text(opt), choice) == 0;
}
