/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "dataset.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void ui_dataset_read(const char *folder, const char *prefix, ui_dataset *set)
{
    for (int k = 0;; k++) {
        ui_named_tensor item = {0};
        tg_str path = {0};
        tg_str_addf(&path, "%s/%s_%d.pb", folder, prefix, k);
        item.path = path.p;
        if (access(item.path, F_OK) != 0) {
            tg_str_free(&path);
            return;
        }
        if (tg_onnx_read_tensor(item.path, &item.tensor, &item.name) != TG_OK)
            item = (ui_named_tensor){.path = item.path, .name = tg_strdup("")};
        tg_vec_push(&set->items, item);
    }
}

void ui_dataset_done(ui_dataset *set)
{
    for (size_t i = 0; i < set->items.n; i++) {
        tg_tensor_free(&set->items.v[i].tensor);
        free(set->items.v[i].name);
        free(set->items.v[i].path);
    }
    tg_vec_free(&set->items);
}

static ui_named_tensor *find(ui_dataset *set, const char *name, size_t i)
{
    for (size_t k = 0; k < set->items.n; k++)
        if (strcmp(set->items.v[k].name, name) == 0) return &set->items.v[k];
    return i < set->items.n ? &set->items.v[i] : NULL;
}

tg_status ui_dataset_get(ui_dataset *set, const char *name, size_t i, tg_dtype dtype,
                         const tg_tensor **t)
{
    ui_named_tensor *item = find(set, name, i);
    *t = NULL;
    if (!item) return TG_OK;
    bool other = tg_dtype_is_list(dtype) && item->tensor.dtype != dtype;
    if (!item->tensor.data || other) {
        tg_tensor found;
        TG_TRY(tg_onnx_read_value(item->path, dtype, &found, NULL));
        tg_tensor_free(&item->tensor);
        item->tensor = found;
    }
    if (dtype == TG_BF16 && item->tensor.dtype == TG_U16) item->tensor.dtype = TG_BF16;
    *t = &item->tensor;
    return TG_OK;
}

static tg_status gather(const tg_graph *g, ui_dataset *set, tg_tensor *in)
{
    for (uint32_t i = 0; i < g->n_inputs; i++) {
        const tg_node *node = g->nodes[g->inputs[i]];
        const tg_tensor *t;
        TG_TRY(ui_dataset_get(set, node->name, i, node->out[0].dtype, &t));
        if (!t) return tg_fail(TG_INVALID, "no tensor for input %s", node->name);
        in[i] = *t;
    }
    return TG_OK;
}

tg_status ui_dataset_load(const ui_args *args, const char *model, ui_dataset *inputs,
                          tg_graph **graph, tg_tensor **in)
{
    tg_graph *g;
    size_t n = inputs->items.n;
    tg_input_shape *shapes = tg_calloc(n + 1, sizeof *shapes);
    for (size_t i = 0; i < n; i++) {
        const ui_named_tensor *item = &inputs->items.v[i];
        shapes[i] = (tg_input_shape){item->name, item->tensor.shape};
        if (!item->tensor.data) shapes[i].shape = TG_SHAPE_UNKNOWN;
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
