/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tg_log_fn target;
static void *target_ctx;

void tg_log_to(tg_log_fn fn, void *ctx)
{
    pthread_mutex_lock(&lock);
    target = fn;
    target_ctx = ctx;
    pthread_mutex_unlock(&lock);
}

void tg_log(tg_log_level level, const char *fmt, ...)
{
    char text[1024];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    pthread_mutex_lock(&lock);
    if (target) target(target_ctx, level, tg_one_line(text));
    pthread_mutex_unlock(&lock);
}
