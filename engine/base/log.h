/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Words for the person: notes and warnings that are not failures. Library code never prints itself.
 */
#ifndef TG_BASE_LOG_H
#define TG_BASE_LOG_H

#include "status.h"

typedef enum tg_log_level { TG_LOG_DEBUG, TG_LOG_NOTE, TG_LOG_WARN } tg_log_level;

/* Called from any thread; the text has no line end. */
typedef void (*tg_log_fn)(void *ctx, tg_log_level level, const char *text);

/* Sets where words go; NULL drops them (the start state). */
void tg_log_to(tg_log_fn fn, void *ctx);
void tg_log(tg_log_level level, const char *fmt, ...) TG_PRINTF(2, 3);

#endif
