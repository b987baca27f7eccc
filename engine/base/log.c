/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "log.h"

#include "lock.h"

#include <stdarg.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tg_log_fn target;
static void *target_ctx;

void tg_log_to(tg_log_fn fn, void *ctx)
{
    tg_lock(&lock);
    target = fn;
    target_ctx = ctx;
    tg_unlock(&lock);
}

void tg_log(tg_log_level level, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    tg_lock(&lock);
    if (target) target(target_ctx, level, tg_one_line(text));
    tg_unlock(&lock);
}
