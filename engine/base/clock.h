/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef TG_BASE_CLOCK_H
#define TG_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds of a clock that never jumps, and of the CPU time of the calling thread. */
int64_t tg_clock_ns(void);
int64_t tg_clock_thread_ns(void);

/* Tests fix the clock so that screens repeat; a negative value lets it run again. */
void tg_clock_freeze(int64_t ns);

#endif
