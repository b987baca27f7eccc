/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * A crew of threads that share the parts of one task. A result does not depend on how many there
 * are as long as no part depends on which worker runs it.
 */
#ifndef AG_CREW_H
#define AG_CREW_H

#include "engine/base/alloc.h"

typedef struct ag_crew ag_crew;

/* `workers` counts the caller of ag_crew_run; at least 1. */
ag_crew *ag_crew_new(int workers);
void ag_crew_free(ag_crew *crew);
int ag_crew_size(const ag_crew *crew);

/* Calls run(ctx, part, worker) once for each part and returns when all are done. NULL crew: alone.
 */
void ag_crew_run(ag_crew *crew, void (*run)(void *ctx, int part, int worker), void *ctx, int parts);

#endif
