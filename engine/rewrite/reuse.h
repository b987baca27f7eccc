/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Previews of the graph before. For the files of rewrite/ only. */
#ifndef TG_REWRITE_REUSE_H
#define TG_REWRITE_REUSE_H

#include "preview.h"

typedef struct reuser reuser;

/* `now` is `was` after one rewrite. O(graph). Neither is referenced. */
reuser *reuse_new(const tg_graph *was, const tg_graph *now);
void reuse_free(reuser *r); /* NULL is fine */
/*
 * The preview of a site of `now` from that of the same site (by key) of `was`, if it holds; else
 * false, and preview_run tells. O(change).
 */
bool reuse_preview(const reuser *r, const tg_site *site, const tg_preview *from, tg_arena *arena,
                   tg_preview *out);

#endif
