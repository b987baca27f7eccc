/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders of tensors as the ONNX test data has them: input_K.pb, output_K.pb. */
#ifndef TUI_DATASET_H
#define TUI_DATASET_H

#include "work.h"

typedef struct ui_named_tensor {
    char *name; /* "" if the file gives none */
    tg_tensor tensor;
} ui_named_tensor;

/* The tensors PREFIX_0.pb, PREFIX_1.pb ... of a folder, as many as there are. */
typedef struct ui_dataset {
    TG_VEC(ui_named_tensor) items;
} ui_dataset;

/* Errors: TG_IO, TG_FORMAT, TG_UNSUPPORTED (not a tensor). */
tg_status ui_dataset_read(const char *folder, const char *prefix, ui_dataset *set) TG_MUST_USE;
void ui_dataset_done(ui_dataset *set);

/*
 * Loads a model with its symbolic dimensions fixed to the sizes of the given inputs, and puts the
 * inputs in the graph's order: by name, else by number. in has g->n_inputs views into the set.
 * Errors: those of loading; TG_INVALID (an input is missing).
 */
tg_status ui_dataset_load(const ui_args *args, const char *model, const ui_dataset *inputs,
                          tg_graph **g, tg_tensor **in) TG_MUST_USE;

#endif
