/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "frame.h"

#include <stdlib.h>

tg_frame *tg_frame_new(tg_unpacked *unpacked)
{
    tg_frame *f = tg_calloc(1, sizeof *f);
    f->unpacked = unpacked;
    f->model = (const Onnx__ModelProto *)(const void *)unpacked->message;
    f->graph = f->model->graph;
    return f;
}

void tg_frame_free(void *frame)
{
    tg_frame *f = frame;
    if (!f) return;
    for (size_t i = 0; i < f->consts.n; i++) tg_weight_unref(f->consts.v[i].weight);
    for (size_t i = 0; i < f->nodes.n; i++) tg_attrs_unref(f->nodes.v[i].attrs);
    tg_vec_free(&f->nodes);
    tg_vec_free(&f->consts);
    tg_map_free(&f->node_of);
    tg_strmap_free(&f->const_of);
    tg_strmap_free(&f->initialisers);
    tg_strmap_free(&f->types);
    tg_unpacked_free(f->unpacked);
    free(f);
}
