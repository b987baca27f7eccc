/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Folders of values as the ONNX test data has them: input_K.pb, output_K.pb. */
#ifndef TUI_DATASET_H
#define TUI_DATASET_H

#include "work.h"

/* Invariant: tensor.data is NULL where the file could not be read as a tensor; its name is "". */
typedef struct ui_named_tensor {
    char *path, *name; /* name "" if the file gives none */
    tg_tensor tensor;
} ui_named_tensor;

/*
 * The values PREFIX_0.pb, PREFIX_1.pb ... of a folder, as many as there are. Only the model says
 * which of them are sequences and optionals, so all are read as tensors first.
 */
typedef struct ui_dataset {
    TG_VEC(ui_named_tensor) items;
} ui_dataset;

void ui_dataset_read(const char *folder, const char *prefix, ui_dataset *set);
void ui_dataset_done(ui_dataset *set);
/*
 * The value called `name`, else number i, as one of this type; *t is NULL if there is none. The
 * bits of a bfloat16 may be written as uint16. Errors: those of tg_onnx_read_value.
 */
tg_status ui_dataset_get(ui_dataset *set, const char *name, size_t i, tg_dtype dtype,
                         const tg_tensor **t) TG_MUST_USE;

/*
 * Loads a model with its symbolic dimensions fixed to the sizes of the given inputs, and puts the
 * inputs in the graph's order: by name, else by number. in has g->n_inputs views into the set.
 * Errors: those of loading and reading; TG_INVALID (an input is missing).
 */
tg_status ui_dataset_load(const ui_args *args, const char *model, ui_dataset *inputs, tg_graph **g,
                          tg_tensor **in) TG_MUST_USE;

#endif
