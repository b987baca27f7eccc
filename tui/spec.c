/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "spec.h"

#include "engine/base/str.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *word;
} kinds[] = {
#define KIND(id, name, word, source) {name, word},
#include "kind.def"
#undef KIND
};

static tg_status find_kind(const char *s, size_t n, ui_kind *kind)
{
    for (int i = 0; i < UI_KIND_COUNT; i++) {
        if (strlen(kinds[i].name) == n && memcmp(kinds[i].name, s, n) == 0) {
            *kind = (ui_kind)i;
            return TG_OK;
        }
    }
    return tg_fail(TG_USAGE, "no such kind of argument: %.*s", (int)n, s);
}

/* The part before the colon: `-o --out`, `[name]`, `name...` or `name`. */
static void parse_name(tg_arena *arena, const char *s, size_t n, ui_param *p)
{
    if (n > 3 && s[0] == '-' && s[1] != '-') {
        p->letter = s[1];
        s += 3;
        n -= 3;
    }
    if (n > 2 && s[0] == '-' && s[1] == '-') {
        p->option = p->optional = true;
        s += 2;
        n -= 2;
    } else if (s[0] == '[') {
        p->optional = true;
        s++;
        n -= 2;
    } else if (n > 3 && memcmp(s + n - 3, "...", 3) == 0) {
        p->rest = true;
        n -= 3;
    }
    p->name = tg_arena_strndup(arena, s, n);
}

static tg_status parse_param(tg_arena *arena, const char *s, size_t n, ui_param *p)
{
    const char *end = s + n, *colon = memchr(s, ':', n);
    if (!colon) return tg_fail(TG_USAGE, "no kind in the argument `%.*s'", (int)n, s);
    parse_name(arena, s, (size_t)(colon - s), p);
    const char *k = colon + 1;
    size_t len = strcspn(k, "(= ;");
    TG_TRY(find_kind(k, len, &p->kind));
    k += len;
    if (*k == '(') {
        len = strcspn(k, ")");
        p->choices = tg_arena_strndup(arena, k + 1, len - 1);
        k += len + 1;
    }
    if (k < end && *k == '=') {
        len = strcspn(k, " ;");
        p->start = tg_arena_strndup(arena, k + 1, len - 1);
        p->optional = true;
        k += len;
    }
    while (k < end && *k == ' ') k++;
    p->doc = tg_arena_strndup(arena, k < end ? k : end, k < end ? (size_t)(end - k) : 0);
    return TG_OK;
}

static tg_status parse_item(const char *s, size_t n, ui_spec *spec)
{
    if (n == 5 && memcmp(s, "batch", 5) == 0) {
        spec->batch = true;
        return TG_OK;
    }
    if (n == 1 && *s == 'N') {
        spec->reads_prefix = true;
        return TG_OK;
    }
    if (spec->n == UI_MAX_PARAMS) return tg_fail(TG_USAGE, "too many arguments");
    return parse_param(spec->arena, s, n, &spec->params[spec->n++]);
}

tg_status ui_spec_parse(const char *text, ui_spec *spec)
{
    ui_spec made = {.arena = tg_arena_new()};
    for (const char *s = text; *s;) {
        size_t n = strcspn(s, ";"), cut = n;
        while (cut && isspace((unsigned char)s[cut - 1])) cut--;
        tg_status status = cut ? parse_item(s, cut, &made) : TG_OK;
        if (status != TG_OK) {
            tg_arena_free(made.arena);
            return status;
        }
        s += n;
        while (*s == ';' || isspace((unsigned char)*s)) s++;
    }
    *spec = made;
    return TG_OK;
}

void ui_spec_done(ui_spec *spec)
{
    tg_arena_free(spec->arena);
    spec->arena = NULL;
}

static void add_upper(tg_str *out, const char *s)
{
    for (; *s; s++) tg_str_addc(out, (char)toupper((unsigned char)*s));
}

static void add_param(const ui_param *p, tg_str *out)
{
    if (p->option) {
        tg_str_addf(out, "--%s", p->name);
        if (p->choices) tg_str_addf(out, " %s", p->choices);
        else if (kinds[p->kind].word[0]) tg_str_addf(out, " %s", kinds[p->kind].word);
    } else {
        add_upper(out, p->name);
        if (p->rest) tg_str_add(out, "...");
    }
}

void ui_spec_usage(const ui_spec *spec, tg_str *out)
{
    for (int i = 0; i < spec->n; i++) {
        if (spec->params[i].option) continue;
        tg_str_add(out, spec->params[i].optional ? " [" : " ");
        add_param(&spec->params[i], out);
        if (spec->params[i].optional) tg_str_addc(out, ']');
    }
    for (int i = 0; i < spec->n; i++) {
        if (!spec->params[i].option) continue;
        tg_str_add(out, " [");
        add_param(&spec->params[i], out);
        tg_str_addc(out, ']');
    }
}

void ui_spec_describe(const ui_spec *spec, tg_str *out)
{
    for (int i = 0; i < spec->n; i++) {
        const ui_param *p = &spec->params[i];
        size_t from = out->n;
        tg_str_add(out, "  ");
        if (p->letter) tg_str_addf(out, "-%c, ", p->letter);
        add_param(p, out);
        do tg_str_addc(out, ' ');
        while (out->n - from < 26);
        tg_str_add(out, p->doc);
        if (p->start && *p->start) tg_str_addf(out, " (default %s)", p->start);
        tg_str_addc(out, '\n');
    }
}

void ui_args_add(ui_args *args, const char *name, const char *text)
{
    ui_value value = {tg_strdup(name), tg_strdup(text)};
    tg_vec_push(&args->values, value);
}

void ui_args_copy(ui_args *args, const ui_args *from)
{
    for (size_t i = 0; i < from->values.n; i++) {
        ui_args_add(args, from->values.v[i].name, from->values.v[i].text);
    }
}

void ui_args_done(ui_args *args)
{
    for (size_t i = 0; i < args->values.n; i++) {
        free(args->values.v[i].name);
        free(args->values.v[i].text);
    }
    tg_vec_free(&args->values);
}

const char *ui_arg_nth(const ui_args *args, const char *name, int i)
{
    for (size_t j = 0; j < args->values.n; j++) {
        if (strcmp(args->values.v[j].name, name) == 0 && i-- == 0) return args->values.v[j].text;
    }
    return NULL;
}

const char *ui_arg(const ui_args *args, const char *name)
{
    return ui_arg_nth(args, name, 0);
}

bool ui_arg_flag(const ui_args *args, const char *name)
{
    return ui_arg(args, name) != NULL;
}

long ui_arg_int(const ui_args *args, const char *name)
{
    const char *text = ui_arg(args, name);
    return text ? strtol(text, NULL, 10) : 0;
}

double ui_arg_num(const ui_args *args, const char *name)
{
    const char *text = ui_arg(args, name);
    return text ? strtod(text, NULL) : 0;
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

tg_status ui_param_check(const ui_param *p, const char *text)
{
    char *end;
    errno = 0;
    switch (p->kind) {
    case UI_KIND_int:
    case UI_KIND_count: {
        long n = strtol(text, &end, 10);
        if (end == text || *end || errno)
            return tg_fail(TG_USAGE, "%s: a whole number is needed, not %s", p->name, text);
        if (p->kind == UI_KIND_count && (n < 0 || n > INT_MAX))
            return tg_fail(TG_USAGE, "%s: a number from 0 to %d is needed, not %s", p->name,
                           INT_MAX, text);
        return TG_OK;
    }
    case UI_KIND_num: {
        double x = strtod(text, &end);
        if (end == text || *end || errno || !isfinite(x))
            return tg_fail(TG_USAGE, "%s: a number is needed, not %s", p->name, text);
        return TG_OK;
    }
    case UI_KIND_choice:
        if (is_choice(p->choices, text)) return TG_OK;
        return tg_fail(TG_USAGE, "%s: one of %s is needed, not %s", p->name, p->choices, text);
    default: return TG_OK;
    }
}

static const ui_param *find_option(const ui_spec *spec, const char *word, size_t n)
{
    for (int i = 0; i < spec->n; i++) {
        const ui_param *p = &spec->params[i];
        if (!p->option) continue;
        if (n == 2 && word[1] == p->letter && p->letter) return p;
        if (n > 2 && strlen(p->name) == n - 2 && memcmp(p->name, word + 2, n - 2) == 0) return p;
    }
    return NULL;
}

/* The i-th word that is no option belongs to this parameter. */
static const ui_param *positional(const ui_spec *spec, int i)
{
    for (int j = 0; j < spec->n; j++) {
        const ui_param *p = &spec->params[j];
        if (!p->option && (i-- == 0 || p->rest)) return p;
    }
    return NULL;
}

static tg_status add_checked(const ui_param *p, const char *text, ui_args *args)
{
    TG_TRY(ui_param_check(p, text));
    ui_args_add(args, p->name, text);
    return TG_OK;
}

/* An option at argv[*i], with its value there or in the next word. */
static tg_status take_option(const ui_spec *spec, int argc, const char *const *argv, int *i,
                             ui_args *args)
{
    const char *word = argv[*i];
    size_t n = strcspn(word, "=");
    const ui_param *p = find_option(spec, word, n);
    if (!p) return tg_fail(TG_USAGE, "unknown option %.*s", (int)n, word);
    if (p->kind == UI_KIND_flag) {
        if (word[n]) return tg_fail(TG_USAGE, "--%s takes no value", p->name);
        ui_args_add(args, p->name, "true");
        return TG_OK;
    }
    if (word[n] == '=') return add_checked(p, word + n + 1, args);
    if (*i + 1 >= argc) return tg_fail(TG_USAGE, "--%s needs a value", p->name);
    return add_checked(p, argv[++*i], args);
}

tg_status ui_args_parse(const ui_spec *spec, int argc, const char *const *argv, ui_args *args)
{
    bool words_only = false;
    for (int i = 0, taken = 0; i < argc; i++) {
        if (!words_only && strcmp(argv[i], "--") == 0) {
            words_only = true;
        } else if (!words_only && argv[i][0] == '-' && argv[i][1]) {
            TG_TRY(take_option(spec, argc, argv, &i, args));
        } else {
            const ui_param *p = positional(spec, taken++);
            if (!p) return tg_fail(TG_USAGE, "one argument too many: %s", argv[i]);
            TG_TRY(add_checked(p, argv[i], args));
        }
    }
    ui_args_defaults(spec, args);
    return TG_OK;
}

void ui_args_defaults(const ui_spec *spec, ui_args *args)
{
    for (int i = 0; i < spec->n; i++) {
        const ui_param *p = &spec->params[i];
        if (p->start && !ui_arg(args, p->name)) ui_args_add(args, p->name, p->start);
    }
}

const ui_param *ui_args_missing(const ui_spec *spec, const ui_args *args)
{
    for (int i = 0; i < spec->n; i++) {
        const ui_param *p = &spec->params[i];
        if (!p->optional && !ui_arg(args, p->name)) return p;
    }
    return NULL;
}
