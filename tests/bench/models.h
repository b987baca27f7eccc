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

enum { MODEL_INPUTS = 16, MODEL_DIMS = 32 };

typedef struct model_case {
    char folder[2048];
    tg_graph *g;
    tg_tensor in[MODEL_INPUTS];
} model_case;

/* Puts the stored inputs into the places of the graph inputs that they are named after. */
static tg_status model_inputs(model_case *m)
{
    char path[2200];
    for (uint32_t k = 0; k < m->g->n_inputs && k < MODEL_INPUTS; k++) {
        char *name = NULL;
        tg_tensor t;
        snprintf(path, sizeof path, "%s/test_data_set_0/input_%u.pb", m->folder, k);
        TG_TRY(tg_onnx_read_tensor(path, &t, &name));
        uint32_t at = k;
        for (uint32_t j = 0; j < m->g->n_inputs; j++)
            if (strcmp(m->g->nodes[m->g->inputs[j]]->name, name) == 0) at = j;
        free(name);
        m->in[at] = t;
    }
    return TG_OK;
}

static void model_done(model_case *m)
{
    for (int i = 0; i < MODEL_INPUTS; i++) tg_tensor_free(&m->in[i]);
    tg_graph_unref(m->g);
}

/* Loads twice: first at any size, to learn the names of the dimensions that the inputs fix. */
static tg_status model_load(const char *folder, model_case *m)
{
    char path[2200];
    tg_dim_fix fix[MODEL_DIMS];
    tg_load_options any = {.other_dims = 96}, fixed = {fix, 0, 1};
    memset(m, 0, sizeof *m);
    snprintf(m->folder, sizeof m->folder, "%s", folder);
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    TG_TRY(tg_onnx_load(path, &any, &m->g));
    tg_graph *first = m->g;
    tg_status status = model_inputs(m);
    for (uint32_t i = 0; status == TG_OK && i < first->origin->n_dim_names; i++) {
        const tg_dim_name *d = &first->origin->dim_names[i];
        if (d->output || d->index >= MODEL_INPUTS || fixed.n_dims == MODEL_DIMS) continue;
        fix[fixed.n_dims++] = (tg_dim_fix){d->name, m->in[d->index].shape.dim[d->axis]};
    }
    m->g = NULL;
    if (status == TG_OK) status = tg_onnx_load(path, &fixed, &m->g);
    tg_graph_unref(first);
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
    char **names = calloc(257, sizeof *names);
    int n = 0;
    for (struct dirent *e; dir && n < 256 && (e = readdir(dir));)
        if (e->d_name[0] != '.' && !strstr(e->d_name, ".md")) names[n++] = strdup(e->d_name);
    if (dir) closedir(dir);
    qsort(names, (size_t)n, sizeof *names, by_name);
    return names;
}

#endif
