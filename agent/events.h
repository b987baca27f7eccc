/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A training run as files: scalars in a TensorBoard event file and the same numbers in
 * training.csv. An event file is a sequence of records: length (8 bytes), its masked CRC-32C, an
 * Event message, the masked CRC-32C of that; all little-endian.
 */
#ifndef AG_EVENTS_H
#define AG_EVENTS_H

#include "engine/base/alloc.h"

#include <stdint.h>

typedef struct ag_events ag_events;

/* Makes `folder` if need be. The CSV is appended to. Errors: TG_IO. */
tg_status ag_events_open(const char *folder, ag_events **events) TG_MUST_USE;
void ag_events_close(ag_events *events); /* NULL is fine */

/*
 * Writes one value a name and flushes. The names must be the same in each call; they head the CSV.
 * `seconds` is the wall time since 1970. Errors: TG_IO.
 */
tg_status ag_events_write(ag_events *events, double seconds, int64_t step, int n,
                          const char *const *names, const double *values) TG_MUST_USE;

#endif
