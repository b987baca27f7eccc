/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "show.h"

#include "char.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static bool is_kept(char c, bool lines)
{
    return lines && (c == '\n' || c == '\t');
}

void ui_show(tg_str *out, const char *s, size_t n, bool lines)
{
    for (size_t i = 0; i < n;) {
        ui_cluster c = ui_cluster_read(s + i, n - i);
        if (c.escape[0] && !is_kept(s[i], lines)) tg_str_add(out, c.escape);
        else tg_str_addn(out, s + i, c.bytes);
        i += c.bytes;
    }
}

void ui_show_to(FILE *file, const char *text)
{
    for (size_t n = strlen(text); n;) {
        ui_cluster c = ui_cluster_read(text, n);
        if (c.escape[0] && !is_kept(*text, true)) fputs(c.escape, file);
        else fwrite(text, 1, c.bytes, file);
        text += c.bytes;
        n -= c.bytes;
    }
}

/* A conversion of printf: its text up to the length, and what it says. */
typedef struct conversion {
    char flags[16]; /* with '%', width and all but the precision of a string */
    int precision;  /* -1: none */
    char length, letter;
} conversion;

static void put(conversion *c, size_t *n, char letter)
{
    assert(*n + 2 < sizeof c->flags);
    c->flags[(*n)++] = letter;
    c->flags[*n] = '\0';
}

/* Reads it from behind '%'; returns what follows it. */
static const char *read_conversion(const char *at, va_list *ap, conversion *c)
{
    size_t n = 0;
    *c = (conversion){.precision = -1};
    put(c, &n, '%');
    for (; strchr("-+ #0", *at) && *at; at++) put(c, &n, *at);
    for (; *at >= '0' && *at <= '9'; at++) put(c, &n, *at);
    if (*at == '.') {
        at++;
        c->precision = *at == '*' ? va_arg(*ap, int) : (int)strtol(at, NULL, 10);
        while (*at == '*' || (*at >= '0' && *at <= '9')) at++;
    }
    for (; *at == 'l' || *at == 'z'; at++) c->length = *at == 'z' || c->length == 'l' ? 'L' : 'l';
    c->letter = *at;
    assert(*at && strchr("diuxXcsfeEgG%", *at));
    return at + 1;
}

static void add_string(tg_str *out, const conversion *c, const char *s)
{
    tg_str shown = {0};
    size_t n = c->precision >= 0 ? strnlen(s, (size_t)c->precision) : strlen(s);
    ui_show(&shown, s, n, false);
    int width = atoi(c->flags + strspn(c->flags, "%-+ #0")), columns = ui_text_width(s, n);
    bool left = strchr(c->flags, '-') != NULL;
    if (!left && columns < width) tg_str_addf(out, "%*s", width - columns, "");
    tg_str_add(out, tg_str_text(&shown));
    if (left && columns < width) tg_str_addf(out, "%*s", width - columns, "");
    tg_str_free(&shown);
}

/* The format is put together from one that the compiler has checked. */
static void add_number(tg_str *out, const conversion *c, va_list *ap)
{
    char format[32];
    bool real = strchr("feEgG", c->letter) != NULL;
    snprintf(format, sizeof format, "%s%s%c", c->flags,
             real        ? ".*"
             : c->length ? "ll"
                         : "",
             c->letter);
    if (real) tg_str_addf(out, format, c->precision < 0 ? 6 : c->precision, va_arg(*ap, double));
    else if (!c->length) tg_str_addf(out, format, va_arg(*ap, int));
    else if (c->length == 'l') tg_str_addf(out, format, (long long)va_arg(*ap, long));
    else tg_str_addf(out, format, va_arg(*ap, long long));
}

void ui_show_format(tg_str *out, const char *fmt, va_list ap)
{
    va_list rest;
    va_copy(rest, ap);
    while (*fmt) {
        conversion c;
        size_t n = strcspn(fmt, "%");
        tg_str_addn(out, fmt, n);
        if (!fmt[n]) break;
        fmt = read_conversion(fmt + n + 1, &rest, &c);
        if (c.letter == '%') tg_str_addc(out, '%');
        else if (c.letter == 's') add_string(out, &c, va_arg(rest, const char *));
        else add_number(out, &c, &rest);
    }
    va_end(rest);
}
