/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "samples.h"

#include "maker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef tg_value (*build_fn)(maker *m);

static const struct row {
    tg_sample_info info;
    build_fn build;
    bool layers; /* takes NAMExN */
} rows[] = {
    {{"squeezenet", "SqueezeNet 1.1 as an exporter writes it, with drawn weights."},
     sample_squeezenet,
     false},
    {{"resnet18", "ResNet-18 with its batch norms apart, with drawn weights."},
     sample_resnet18,
     false},
    {{"attention", "One block of self-attention: three products of one input."},
     sample_attention,
     false},
    {{"branches", "Three convolutions of one input, joined and pooled."}, sample_branches, false},
    {{"conv-bn", "Two convolutions, each with batch norm and Relu."}, sample_conv_bn, false},
    {{"layernorm", "Layer normalisation and Gelu spelled out in elementary operators."},
     sample_layernorm,
     false},
    {{"qdq", "A small network of bytes: QuantizeLinear and DequantizeLinear around each operator."},
     sample_qdq,
     false},
    {{"taso-bert", "TASO's bert: 8 layers of attention without softmax."}, sample_taso_bert, true},
    {{"taso-squeezenet", "TASO's squeezenet."}, sample_taso_squeezenet, false},
    {{"taso-resnet18bn", "TASO's resnet-18 with batch norm, no stem."},
     sample_taso_resnet18bn,
     false},
    {{"taso-resnet50", "TASO's resnet-50, no stem."}, sample_taso_resnet50, false},
    {{"taso-resnext50", "TASO's resnext-50."}, sample_taso_resnext50, false},
    {{"taso-inceptionv3", "TASO's inception-v3."}, sample_taso_inceptionv3, false},
    {{"taso-nasrnn", "TASO's nasrnn: 5 steps of a recurrent cell."}, sample_taso_nasrnn, true},
    {{"taso-nasnet_a", "TASO's nasnet-a: 3 stacks of cells."}, sample_taso_nasnet_a, true},
    {{"xrlflow-bert", "X-RLflow's bert: attention that leads nowhere."},
     sample_xrlflow_bert,
     false},
    {{"xrlflow-vit", "X-RLflow's vit-base."}, sample_xrlflow_vit, false},
    {{"xrlflow-dalle", "X-RLflow's mini-dall-e."}, sample_xrlflow_dalle, false},
    {{"xrlflow-transducer", "X-RLflow's transformer-transducer."},
     sample_xrlflow_transducer,
     false},
};

enum { ROWS = sizeof rows / sizeof *rows, OPSET = 17, IR_VERSION = 8, MOST_LAYERS = 64 };

int tg_sample_count(void)
{
    return ROWS;
}

const tg_sample_info *tg_sample_get(int i)
{
    return &rows[i].info;
}

static const struct row *find(const char *name, int *layers)
{
    for (int i = 0; i < ROWS; i++) {
        size_t n = strlen(rows[i].info.name);
        *layers = 0;
        if (strncmp(rows[i].info.name, name, n) != 0) continue;
        if (!name[n]) return &rows[i];
        if (!rows[i].layers || name[n] != 'x') continue;
        char *end;
        long count = strtol(name + n + 1, &end, 10);
        if (*end || count < 1 || count > MOST_LAYERS) continue;
        *layers = (int)count;
        return &rows[i];
    }
    return NULL;
}

static tg_origin *frame(const char *name)
{
    tg_origin *origin = tg_origin_new();
    tg_opset *opset = TG_NEW(origin->arena, tg_opset);
    *opset = (tg_opset){"", OPSET};
    origin->opsets = opset;
    origin->n_opsets = 1;
    origin->ir_version = IR_VERSION;
    origin->graph_name = tg_arena_strdup(origin->arena, name);
    return origin;
}

static tg_status finish(maker *m, tg_value out, tg_graph **graph)
{
    tg_value outs[MOST_OUTS + 1] = {out};
    char text[MOST_OUTS][16];
    const char *names[MOST_OUTS + 1] = {"out"};
    if (m->status != TG_OK) {
        tg_builder_free(m->b);
        return m->status;
    }
    for (int i = 0; i < m->n_outs; i++) {
        snprintf(text[i], sizeof text[i], "out%d", i + 1);
        names[i + 1] = text[i];
        outs[i + 1] = m->outs[i];
    }
    tg_build_outputs(m->b, outs, names, 1 + m->n_outs);
    return tg_build_done(m->b, graph);
}

tg_status tg_sample_build(const char *name, uint64_t seed, bool blank, tg_graph **graph)
{
    int layers;
    const struct row *row = find(name, &layers);
    if (!row) return tg_fail(TG_NOTFOUND, "no sample is called %s", name);
    tg_origin *origin = frame(name);
    maker m = {
        .b = tg_builder_new(origin), .rng = tg_rng_new(seed), .blank = blank, .layers = layers};
    tg_value out = row->build(&m);
    tg_status status = finish(&m, out, graph);
    tg_rng_free(m.rng);
    tg_origin_unref(origin);
    return status == TG_OK ? TG_OK : tg_wrap(status, "sample %s", name);
}
