/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What Pad puts where nothing is. */
#ifndef TG_OPS_PAD_H
#define TG_OPS_PAD_H

#include <stdint.h>

/*
 * Where place i of a padded axis comes from, counted from the first place that is not padding; i
 * may be below 0 or from `size` on. -1: mode "constant", nowhere. Modes as in the standard.
 */
static inline int64_t tg_pad_source(const char *mode, int64_t i, int64_t size)
{
    if (i >= 0 && i < size) return i;
    if (mode[0] == 'c') return -1;
    if (mode[0] == 'e') return i < 0 ? 0 : size - 1;
    int64_t period = mode[0] == 'w' ? size : 2 * size - 2;
    if (period == 0) return 0;
    int64_t at = i % period;
    if (at < 0) at += period;
    return at < size ? at : period - at;
}

#endif
