/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dataset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_DIMS = 64 };

tg_status ui_dataset_read(const char *folder, const char *prefix, ui_dataset *set)
{
    tg_str path = {0};
    tg_status status = TG_OK;
    for (int k = 0; status == TG_OK; k++) {
        ui_named_tensor item = {0};
        tg_str_clear(&path);
        tg_str_addf(&path, "%s/%s_%d.pb", folder, prefix, k);
        if (access(path.p, F_OK) != 0) break;
        status = tg_onnx_read_tensor(path.p, &item.tensor, &item.name);
        if (status == TG_OK) tg_vec_push(&set->items, item);
    }
    tg_str_free(&path);
    if (status != TG_OK) ui_dataset_done(set);
    return status;
}

void ui_dataset_done(ui_dataset *set)
{
    for (size_t i = 0; i < set->items.n; i++) {
        tg_tensor_free(&set->items.v[i].tensor);
        free(set->items.v[i].name);
    }
    tg_vec_free(&set->items);
}

/* The tensor for graph input number i. */
static const tg_tensor *tensor_for(const tg_graph *g, uint32_t i, const ui_dataset *set)
{
    const char *name = g->nodes[g->inputs[i]]->name;
    for (size_t k = 0; k < set->items.n; k++)
        if (set->items.v[k].name && strcmp(set->items.v[k].name, name) == 0)
            return &set->items.v[k].tensor;
    return i < set->items.n ? &set->items.v[i].tensor : NULL;
}

static int sizes_of(const tg_graph *g, const ui_dataset *set, tg_dim_fix *fix)
{
    int n = 0;
    for (uint32_t d = 0; d < g->origin->n_dim_names && n < MAX_DIMS; d++) {
        const tg_dim_name *dim = &g->origin->dim_names[d];
        if (dim->output || dim->index >= g->n_inputs) continue;
        const tg_tensor *t = tensor_for(g, dim->index, set);
        if (t && dim->axis < (uint32_t)t->shape.rank)
            fix[n++] = (tg_dim_fix){dim->name, t->shape.dim[dim->axis]};
    }
    return n;
}

static tg_status gather(const tg_graph *g, const ui_dataset *set, tg_tensor *in)
{
    for (uint32_t i = 0; i < g->n_inputs; i++) {
        const tg_tensor *t = tensor_for(g, i, set);
        if (!t) return tg_fail(TG_INVALID, "no tensor for input %s", g->nodes[g->inputs[i]]->name);
        in[i] = *t;
    }
    return TG_OK;
}

tg_status ui_dataset_load(const ui_args *args, const char *model, const ui_dataset *inputs,
                          tg_graph **graph, tg_tensor **in)
{
    tg_graph *g, *fixed;
    tg_dim_fix fix[MAX_DIMS];
    TG_TRY(ui_work_load(args, model, &g));
    int n = sizes_of(g, inputs, fix);
    if (n) { /* the names of the dims live in the first graph's origin */
        tg_load_options options = {.dims = fix, .n_dims = n};
        tg_status status = tg_onnx_load(model, &options, &fixed);
        tg_graph_unref(g);
        TG_TRY(status);
        g = fixed;
    }
    *in = tg_calloc(g->n_inputs + 1, sizeof **in);
    tg_status status = gather(g, inputs, *in);
    if (status != TG_OK) {
        free(*in);
        tg_graph_unref(g);
        return tg_wrap(status, "%s", model);
    }
    *graph = g;
    return TG_OK;
}
