/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The shared models with the sizes of their stored inputs. */
#ifndef TESTS_BENCH_MODELS_H
#define TESTS_BENCH_MODELS_H

#include "engine/exec/backend.h"
#include "engine/ir/eval.h"
#include "engine/onnx/onnx.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MODEL_INPUTS = 16 };

typedef struct model_case {
    char folder[2048];
    tg_graph *g;
    tg_tensor in[MODEL_INPUTS];
} model_case;

/* Reads the stored inputs, as they are numbered; their names go to `shapes`. */
static tg_status model_read(model_case *m, tg_input_shape *shapes, int *n)
{
    char path[2200];
    for (*n = 0; *n < MODEL_INPUTS; (*n)++) {
        char *name = NULL;
        snprintf(path, sizeof path, "%s/test_data_set_0/input_%d.pb", m->folder, *n);
        if (access(path, R_OK) != 0) return TG_OK;
        TG_TRY(tg_onnx_read_tensor(path, &m->in[*n], &name));
        shapes[*n] = (tg_input_shape){name, m->in[*n].shape};
    }
    return TG_OK;
}

/* Puts the inputs into the places of the graph inputs that they are named after. */
static void model_sort(model_case *m, const tg_input_shape *shapes, int n)
{
    tg_tensor sorted[MODEL_INPUTS] = {{0}};
    for (int k = 0; k < n; k++) {
        uint32_t at = (uint32_t)k;
        for (uint32_t j = 0; j < m->g->n_inputs; j++)
            if (strcmp(m->g->nodes[m->g->inputs[j]]->name, shapes[k].name) == 0) at = j;
        sorted[at] = m->in[k];
    }
    memcpy(m->in, sorted, sizeof sorted);
}

static void model_done(model_case *m)
{
    for (int i = 0; i < MODEL_INPUTS; i++) tg_tensor_free(&m->in[i]);
    tg_graph_unref(m->g);
}

static tg_status model_load(const char *folder, model_case *m)
{
    char path[2200];
    tg_input_shape shapes[MODEL_INPUTS];
    tg_load_options options = {.inputs = shapes};
    memset(m, 0, sizeof *m);
    snprintf(m->folder, sizeof m->folder, "%s", folder);
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    tg_status status = model_read(m, shapes, &options.n_inputs);
    if (status == TG_OK) status = tg_onnx_load(path, &options, &m->g);
    if (status == TG_OK) model_sort(m, shapes, options.n_inputs);
    for (int i = 0; i < options.n_inputs; i++) free((char *)(uintptr_t)shapes[i].name);
    if (status != TG_OK) model_done(m);
    return status;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names of the models below a folder, sorted; NULL at the end. */
__attribute__((unused)) static char **model_names(const char *folder)
{
    DIR *dir = opendir(folder);
    char **names = calloc(2049, sizeof *names);
    int n = 0;
    for (struct dirent *e; dir && n < 2048 && (e = readdir(dir));)
        if (e->d_name[0] != '.' && !strstr(e->d_name, ".md")) names[n++] = strdup(e->d_name);
    if (dir) closedir(dir);
    qsort(names, (size_t)n, sizeof *names, by_name);
    return names;
}

#endif
