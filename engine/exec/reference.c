/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "reference.h"

#include "engine/ir/interpret.h"
#include "fold.h"

static tg_status run_body(void *ctx, const tg_graph *g, const tg_tensor *in, tg_tensor *out)
{
    (void)ctx;
    return tg_reference_run(g, in, out);
}

const tg_runner *tg_reference_runner(void)
{
    static const tg_runner runner = {run_body, NULL};
    return &runner;
}

tg_status tg_reference_watch(const tg_graph *g, const tg_tensor *in, tg_tensor *out, tg_see_fn see,
                             void *ctx)
{
    tg_interpreter how = {tg_fold_value, see, ctx, tg_reference_runner()};
    return tg_interpret(g, in, out, &how);
}

tg_status tg_reference_run(const tg_graph *g, const tg_tensor *in, tg_tensor *out)
{
    return tg_reference_watch(g, in, out, NULL, NULL);
}
