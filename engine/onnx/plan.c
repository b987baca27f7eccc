/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What is written as a node and what as a tensor, and in which opset. */
#include "engine/base/log.h"
#include "export.h"
#include "import.h"
#include "standard.h"

#include <stdlib.h>
#include <string.h>

/* A folded value may be this much larger than the constants that it is made of. */
enum { GROWTH = 256 };

const tg_frame_node *tg_export_verbatim(const tg_exporter *ex, const tg_node *node)
{
    const tg_frame_node *f = node->rule ? NULL : tg_frame_find(ex->frame, node);
    if (!f || ex->opset == ex->file_opset || tg_op_get(node->op)->domain[0]) return f;
    if (node->attrs->graphs)
        return tg_proto_survives(f->proto, ex->file_opset, ex->opset) ? f : NULL;
    bool same = tg_standard_version(f->proto->op_type, (int)ex->file_opset) ==
                tg_standard_version(f->proto->op_type, (int)ex->opset);
    return same ? f : NULL;
}

/* ---- constants ---- */

static int64_t add_capped(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* Bytes of the weights below each constant, by id. */
static int64_t *weigh_constants(const tg_graph *g)
{
    int64_t *below = tg_calloc(g->n_ids, sizeof *below);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        if (node->weight) below[node->id] = (int64_t)node->weight->size;
        for (int k = 0; node->constant && k < node->n_in; k++)
            if (node->in[k] != TG_NO_VALUE)
                below[node->id] = add_capped(below[node->id], below[tg_value_node(node->in[k])]);
    }
    return below;
}

static bool grows(const tg_node *node, int64_t below)
{
    for (int i = 0; node->op != TG_OP_CONST && i < node->n_out; i++)
        if (!tg_type_complete(&node->out[i]) ||
            tg_type_bytes(&node->out[i]) > add_capped(below, GROWTH))
            return true;
    return false;
}

/* Sibling bodies may compute the same from one constant: what the file has as a node stays one. */
static bool stays_node(const tg_exporter *ex, const tg_node *node)
{
    return ex->outer && node->op != TG_OP_CONST && !node->rule && tg_frame_find(ex->frame, node);
}

static void want_inputs(tg_exporter *ex, const tg_node *node)
{
    for (int i = 0; i < node->n_in; i++)
        if (node->in[i] != TG_NO_VALUE)
            *tg_map_put(&ex->wanted, node->in[i], NULL) = TG_EXPORT_NODE;
}

static bool is_wanted(const tg_exporter *ex, const tg_node *node)
{
    for (int i = 0; i < node->n_out; i++)
        if (tg_map_find(&ex->wanted, tg_value_of(node->id, (uint32_t)i))) return true;
    return false;
}

static void want_tensors(tg_exporter *ex, const tg_node *node)
{
    for (int i = 0; i < node->n_out; i++) {
        uint64_t *want = tg_map_find(&ex->wanted, tg_value_of(node->id, (uint32_t)i));
        if (want) *want = TG_EXPORT_TENSOR;
    }
}

/* Users come before makers here, so that what is wanted is known. */
void tg_export_choose(tg_exporter *ex)
{
    ex->emitted = tg_arena_alloc(ex->arena, ex->g->n_ids);
    const tg_graph *g = ex->g;
    int64_t *below = weigh_constants(g);
    int unfolded = 0;
    for (uint32_t i = g->n_nodes; i-- > 0;) {
        const tg_node *node = g->nodes[g->order[i]];
        if (node->op == TG_OP_INPUT) continue;
        if (node->constant && !is_wanted(ex, node)) continue;
        bool kept = stays_node(ex, node);
        if (node->constant && !kept && !grows(node, below[node->id])) {
            want_tensors(ex, node);
            continue;
        }
        unfolded += node->constant && !kept;
        ex->emitted[node->id] = node->op != TG_OP_SINK;
        want_inputs(ex, node);
    }
    if (unfolded)
        tg_log(TG_LOG_NOTE, "%d constant node%s left unfolded: the result would be large", unfolded,
               unfolded > 1 ? "s" : "");
    free(below);
}

/* ---- the opset ---- */

static void raise(tg_exporter *ex, int64_t to, const char *why, int64_t *need)
{
    if (to <= *need) return;
    *need = to;
    ex->raised_for = why;
}

/* The opset that the nodes need which cannot be written as they were. */
static int64_t needed_opset(tg_exporter *ex)
{
    int64_t need = ex->opset;
    for (uint32_t i = 0; i < ex->g->n_nodes; i++) {
        const tg_node *node = ex->g->nodes[ex->g->order[i]];
        if (!ex->emitted[node->id] || node->op < TG_OP_FIRST_REAL) continue;
        if (tg_op_get(node->op)->domain[0] || tg_export_verbatim(ex, node)) continue;
        raise(ex, tg_downgrade_needs(ex->g, node, ex->opset), tg_op_get(node->op)->name, &need);
        for (uint32_t k = 0; node->attrs->graphs && k < node->attrs->n; k++) {
            if (node->attrs->a[k].kind != TG_ATTR_GRAPH) continue;
            tg_exporter *body = tg_export_body(ex, node, (int)k);
            body->opset = ex->opset;
            body->file_opset = ex->file_opset;
            raise(ex, needed_opset(body), body->raised_for, &need);
        }
    }
    return need;
}

/* Why the opset is raised, such as "Clip needs"; the opset follows. */
static const char *reason(const tg_exporter *ex)
{
    if (!ex->raised_for) return "the oldest that is written is";
    return tg_arena_printf(ex->arena, "%s needs", ex->raised_for);
}

static tg_status check_carried(const tg_exporter *ex)
{
    for (uint32_t i = 0; i < ex->g->n_nodes; i++) {
        const tg_node *node = ex->g->nodes[ex->g->order[i]];
        bool survives = true;
        if (node->op == TG_OP_OPAQUE) TG_TRY(tg_carried_survives(ex, node, ex->opset, &survives));
        if (survives) continue;
        char label[128];
        return tg_fail(TG_UNSUPPORTED,
                       "%s opset %lld, but the carried node %s has another form there than "
                       "in opset %lld",
                       reason(ex), (long long)ex->opset,
                       tg_graph_label(ex->g, node->id, label, sizeof label),
                       (long long)ex->file_opset);
    }
    for (size_t i = 0; i < ex->bodies.n; i++) TG_TRY(check_carried(ex->bodies.v[i]));
    return TG_OK;
}

/* What is chosen for the whole model, told to the bodies. */
static void spread_choices(tg_exporter *ex)
{
    for (size_t i = 0; i < ex->bodies.n; i++) {
        tg_exporter *body = ex->bodies.v[i];
        body->opset = ex->opset;
        body->file_opset = ex->file_opset;
        body->keep_dims = ex->keep_dims;
        body->raised_for = ex->raised_for;
        body->inline_tensors = ex->g->origin->ir_version > 0 && ex->g->origin->ir_version < 4;
        spread_choices(body);
    }
}

static tg_status choose_opset(tg_exporter *ex)
{
    enum { USUAL = 17 };
    ex->file_opset = tg_origin_opset(ex->g->origin);
    ex->opset = ex->file_opset ? ex->file_opset : USUAL;
    if (!ex->file_opset) ex->file_opset = ex->opset;
    if (ex->opset < TG_ONNX_OPSET_WRITTEN) ex->opset = TG_ONNX_OPSET_WRITTEN;
    /* A raised opset takes nodes out of their old form, which may raise it again. */
    for (int64_t need; (need = needed_opset(ex)) > ex->opset;) ex->opset = need;
    spread_choices(ex);
    if (ex->opset == ex->file_opset) return TG_OK;
    if (ex->frame) {
        TG_TRY(check_carried(ex));
        tg_log(TG_LOG_NOTE, "opset raised from %lld to %lld%s%s", (long long)ex->file_opset,
               (long long)ex->opset, ex->raised_for ? " for " : ", the oldest that is written",
               ex->raised_for ? ex->raised_for : "");
    }
    return TG_OK;
}

/* ---- dimensions ---- */

static bool listed(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(name, *names) == 0) return true;
    return false;
}

/* Operators whose attributes hold sizes that may come from a dimension. */
static bool holds_sizes(const tg_exporter *ex, const tg_op_row *row)
{
    static const char *const sized[] = {
        "AffineGrid", "CenterCropPad", "Col2Im",     "ConstantOfShape",
        "Expand",     "Range",         "Reshape",    "Resize",
        "Slice",      "Split",         "Tile",       "Squeeze",
        "Shape",      "Size",          "GridSample", NULL};
    static const char *const windows[] = {"AveragePool",   "Conv",    "ConvInteger", "LpPool",
                                          "ConvTranspose", "MaxPool", "QLinearConv", NULL};
    return listed(row->name, sized) ||
           (ex->frame && ex->frame->auto_pad && listed(row->name, windows));
}

/* Operators that are not removed for the size of a dimension, such as a sum over one element. */
static bool goes_at_any_size(const tg_op_row *row)
{
    static const char *const names[] = {
        "AveragePool", "BatchNormalization", "Concat",    "Conv",    "ConvTranspose",
        "Gemm",        "LayerNormalization", "MatMul",    "MaxPool", "Pad",
        "Softmax",     "Transpose",          "Unsqueeze", NULL};
    return row->flags & TG_ELTWISE || listed(row->name, names);
}

/*
 * A rewrite does not say whether it used the size of a dimension. It may have where it made a node
 * that holds sizes, or removed one that is removed for them.
 */
static bool relied_on_dims(const tg_exporter *ex)
{
    const tg_graph *g = ex->g;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        const tg_node *node = g->nodes[g->order[i]];
        if (!ex->emitted[node->id] || node->op < TG_OP_FIRST_REAL) continue;
        if (!tg_export_verbatim(ex, node) && holds_sizes(ex, tg_op_get(node->op))) return true;
    }
    for (size_t i = 0; i < ex->bodies.n; i++)
        if (relied_on_dims(ex->bodies.v[i])) return true;
    for (size_t i = 0; ex->frame && i < ex->frame->nodes.n; i++) {
        const tg_frame_node *f = &ex->frame->nodes.v[i];
        if (tg_frame_find(ex->frame, tg_graph_node(g, f->id)) == f) continue;
        tg_op op = tg_upgrade_op(f->proto->domain ? f->proto->domain : "", f->proto->op_type);
        bool body = tg_op_get(op)->flags & TG_BODIES; /* made anew for a change inside */
        if (!body && !goes_at_any_size(tg_op_get(op))) return true;
    }
    return false;
}

static void choose_dims(tg_exporter *ex)
{
    const tg_origin *origin = ex->g->origin;
    ex->keep_dims = true;
    if (ex->frame && !ex->frame->symbolic) return;
    ex->keep_dims = !origin->fixed_dims && (!ex->frame || !relied_on_dims(ex));
    if (ex->keep_dims) return;
    tg_log(TG_LOG_NOTE, "symbolic dimensions are saved with the sizes that they have here: %s",
           origin->fixed_dims ? "the model reads its shapes" : "a rewrite may rely on them");
}

tg_status tg_export_plan(tg_exporter *ex)
{
    tg_export_choose(ex);
    tg_export_bodies(ex);
    TG_TRY(choose_opset(ex));
    choose_dims(ex);
    spread_choices(ex);
    return TG_OK;
}
