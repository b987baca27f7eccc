/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "status.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#undef tg_fail
#undef tg_wrap
#undef tg_wrap_file

enum { MESSAGE_SIZE = 1024 };

static _Thread_local char message[MESSAGE_SIZE];

static const struct {
    const char *name;
    int exit;
} rows[] = {
#define STATUS(id, exit, doc) {#id, exit},
#include "status.def"
#undef STATUS
};

tg_status tg_fail(tg_status status, const char *fmt, ...)
{
    assert(status != TG_OK);
    char text[MESSAGE_SIZE]; /* the arguments may point into the old message */
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    memcpy(message, text, sizeof text);
    return status;
}

tg_status tg_wrap(tg_status status, const char *fmt, ...)
{
    assert(status != TG_OK);
    char where[MESSAGE_SIZE], text[MESSAGE_SIZE];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(where, sizeof where, fmt, ap);
    va_end(ap);
    int n = snprintf(text, sizeof text, "%.400s: %.600s", where, message);
    if (n > 0) memcpy(message, text, sizeof text);
    return status;
}

tg_status tg_wrap_file(tg_status status, const char *path)
{
    status = tg_wrap(status, "%s", path);
    tg_one_line(message);
    return status;
}

char *tg_one_line(char *text)
{
    for (char *at = text; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f) *at = '?';
    return text;
}

const char *tg_message(void)
{
    return message;
}

const char *tg_status_name(tg_status status)
{
    return rows[status].name;
}

int tg_status_exit(tg_status status)
{
    return rows[status].exit;
}
