/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "env.h"

#include <stdlib.h>

ag_source *ag_source_new(const ag_source_class *class, void *self)
{
    ag_source *source = tg_malloc(sizeof *source);
    atomic_init(&source->refs, 1);
    source->class = class;
    source->self = self;
    return source;
}

ag_source *ag_source_ref(ag_source *source)
{
    atomic_fetch_add_explicit(&source->refs, 1, memory_order_relaxed);
    return source;
}

void ag_source_unref(ag_source *source)
{
    if (!source) return;
    if (atomic_fetch_sub_explicit(&source->refs, 1, memory_order_acq_rel) != 1) return;
    source->class->free(source->self);
    free(source);
}

void ag_source_cancel(ag_source *source)
{
    if (source && source->class->cancel) source->class->cancel(source->self);
}
