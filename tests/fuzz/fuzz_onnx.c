/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Models: what can be loaded passes the check, can be rewritten, saved, loaded again, planned and
 * run; anything else is one line.
 */
#include "fuzz.h"

#include "engine/engine.h"
#include "engine/onnx/frame.h"
#include "engine/onnx/onnx.pb-c.h"

#include <string.h>

/* What is run stays small: the point is what the kernels touch, not how much they compute. */
enum { MOST_NODES = 400, MOST_BYTES = 1 << 20 };
static const double MOST_FLOPS = 1e7;

static const tg_rules *rules(void)
{
    static tg_rules *loaded;
    if (!loaded) fuzz_must(tg_rules_load(NULL, 0, &loaded) == TG_OK);
    return loaded;
}

static bool is_small(const tg_graph *g)
{
    int64_t bytes = 0;
    double flops = 0;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        for (int k = 0; k < node->n_out; k++) {
            if (!tg_type_complete(&node->out[k])) return false;
            if (tg_type_bytes(&node->out[k]) > MOST_BYTES - bytes) return false;
            bytes += tg_type_bytes(&node->out[k]);
        }
        if (!tg_op_get(node->op)->infer) continue;
        tg_type in[TG_MAX_PORTS];
        if (node->n_in > TG_MAX_PORTS) return false;
        for (int k = 0; k < node->n_in; k++)
            in[k] = node->in[k] == TG_NO_VALUE ? (tg_type){TG_DTYPE_NONE, TG_SHAPE_UNKNOWN}
                                               : *tg_graph_type(g, node->in[k]);
        flops += tg_op_work(node->op, node->attrs->a, in, node->n_in, node->out, node->n_out).flops;
    }
    return flops < MOST_FLOPS;
}

/*
 * Where a type is unknown, another form of the file may tell that a node was wrong all along; so
 * may it where a function was not read since it is of another opset.
 */
static bool all_known(const tg_graph *g)
{
    const tg_frame *frame = g->origin->frame;
    if (frame && frame->keeps_functions) return false;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        for (int k = 0; k < node->n_out; k++)
            if (!tg_type_complete(&node->out[k])) return false;
    }
    return true;
}

static void save_and_load(const tg_graph *g)
{
    void *bytes;
    size_t n;
    tg_graph *again;
    if (tg_onnx_save_memory(g, &bytes, &n) != TG_OK) {
        fuzz_must(tg_message()[0]);
        return;
    }
    if (tg_onnx_load_memory(bytes, n, "again", NULL, &again) == TG_OK) {
        fuzz_must(tg_check(again) == TG_OK);
        tg_graph_unref(again);
    } else {
        fuzz_must(!all_known(g));
    }
    free(bytes);
}

static void rewrite(const tg_graph *g, uint64_t choice)
{
    tg_candidates *c;
    tg_graph *next;
    fuzz_must(tg_candidates_find(rules(), g, NULL, &c) == TG_OK);
    int n = tg_candidates_count(c);
    if (n && tg_candidates_apply(c, (int)(choice % (uint64_t)n), &next) == TG_OK) {
        fuzz_must(tg_check(next) == TG_OK);
        save_and_load(next);
        tg_graph_unref(next);
    }
    tg_candidates_free(c);
}

static void free_outputs(const tg_graph *g, tg_tensor *out)
{
    for (int i = 0; i < tg_graph_sink(g)->n_in; i++) tg_tensor_free(&out[i]);
}

static void run(const tg_graph *g, bool plan)
{
    tg_tensor *in, out[TG_MAX_PORTS] = {0};
    tg_plan *planned;
    if (tg_graph_sink(g)->n_in > TG_MAX_PORTS || tg_inputs_draw(g, 1, &in) != TG_OK) return;
    if (tg_reference_run(g, in, out) == TG_OK) free_outputs(g, out);
    if (plan && tg_plan_new(tg_backend_find("cpu"), g, NULL, &planned) == TG_OK) {
        if (tg_plan_run(planned, in, out) == TG_OK) free_outputs(g, out);
        tg_plan_free(planned);
    }
    tg_inputs_free(in, g->n_inputs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tg_graph *g;
    if (tg_onnx_load_memory(data, size, "fuzz", NULL, &g) != TG_OK) {
        fuzz_message();
        return 0;
    }
    uint64_t choice = tg_hash_bytes(0, data, size);
    fuzz_must(tg_check(g) == TG_OK);
    save_and_load(g);
    if (g->n_nodes <= MOST_NODES) {
        rewrite(g, choice);
        if (is_small(g)) run(g, choice >> 32 & 1);
    }
    tg_graph_unref(g);
    return 0;
}

static const char *word(const ProtobufCFieldDescriptor *field, uint64_t n)
{
    static const char *const names[] = {"x", "y", "w", "a", "b", "c", "", "in", "out", "N", "0"};
    tg_op op = (tg_op)(TG_OP_FIRST_REAL + n % (uint64_t)(tg_op_row_count - TG_OP_FIRST_REAL));
    int count;
    if (strcmp(field->name, "op_type") == 0) return tg_op_get(op)->name;
    if (strcmp(field->name, "name") == 0 && n >> 40 & 1) {
        const tg_attr_spec *spec = tg_op_attrs(op, &count);
        if (count) return spec[(n >> 16) % (uint64_t)count].name;
    }
    if (field->type != PROTOBUF_C_TYPE_STRING) return NULL;
    return names[(n >> 8) % (sizeof names / sizeof *names)];
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    return fuzz_mutate_message(&onnx__model_proto__descriptor, data, size, most, seed, word);
}
