/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dataset.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
    tg_graph *g;
    size_t n = inputs->items.n;
    tg_input_shape *shapes = tg_calloc(n + 1, sizeof *shapes);
    for (size_t i = 0; i < n; i++) {
        const ui_named_tensor *item = &inputs->items.v[i];
        shapes[i] = (tg_input_shape){item->name ? item->name : "", item->tensor.shape};
    }
    tg_status status = ui_work_load_with(args, model, shapes, (int)n, &g);
    free(shapes);
    TG_TRY(status);
    *in = tg_calloc(g->n_inputs + 1, sizeof **in);
    status = gather(g, inputs, *in);
    if (status != TG_OK) {
        free(*in);
        tg_graph_unref(g);
        return tg_wrap_file(status, model);
    }
    *graph = g;
    return TG_OK;
}
