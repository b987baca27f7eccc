/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * An environment as a record of functions, so that learning knows nothing of graphs and rules.
 *
 * An ag_source stands for a start state and makes environments that begin there; it is shared by
 * all threads and must be safe to use from any of them. An ag_env belongs to one thread at a time.
 */
#ifndef AG_ENV_H
#define AG_ENV_H

#include "features.h"

typedef struct ag_env_class {
    /* Back to the start state. */
    tg_status (*reset)(void *env);
    /* The decision at the current state: a new reference. The order of candidates is fixed. */
    tg_status (*observe)(void *env, ag_state **state);
    /* Takes a candidate of the last observed state. */
    tg_status (*step)(void *env, int candidate);
    /* Milliseconds of the current state, above 0; the same each time if nothing is measured. */
    tg_status (*cost)(void *env, double *ms);
    void (*free)(void *env);
} ag_env_class;

typedef struct ag_env {
    const ag_env_class *class;
    void *self;
} ag_env;

/* What `open` gives lives no longer than the source. */
typedef struct ag_source_class {
    tg_status (*open)(void *source, ag_env *env);
    /* From now on all its environments, and `open`, end soon with TG_CANCELLED. May be NULL. */
    void (*cancel)(void *source);
    void (*free)(void *source);
} ag_source_class;

/* Reference-counted. */
typedef struct ag_source {
    atomic_int refs;
    const ag_source_class *class;
    void *self;
} ag_source;

/* Takes over `self`. */
ag_source *ag_source_new(const ag_source_class *class, void *self);
ag_source *ag_source_ref(ag_source *source);
void ag_source_unref(ag_source *source);  /* NULL is fine */
void ag_source_cancel(ag_source *source); /* NULL is fine */

#endif
