/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Building what a preview describes. For the files of rewrite/ only. */
#ifndef TG_REWRITE_APPLY_H
#define TG_REWRITE_APPLY_H

#include "sites.h"

tg_status apply_preview(const tg_graph *g, const tg_preview *preview, const char *rule,
                        tg_graph **out) TG_MUST_USE;

#endif
