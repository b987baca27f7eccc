/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "import.h"

#include "engine/base/log.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- the model's frame ---- */

static tg_status check_ir_version(const Onnx__ModelProto *m)
{
    if (!m->graph) return tg_fail(TG_FORMAT, "it holds no graph: not an ONNX model");
    if (!m->has_ir_version) return tg_fail(TG_INVALID, "the IR version is absent");
    if (m->ir_version < TG_ONNX_IR_OLDEST || m->ir_version > TG_ONNX_IR_NEWEST)
        return tg_fail(TG_UNSUPPORTED, "IR version %lld; %d to %d are known",
                       (long long)m->ir_version, TG_ONNX_IR_OLDEST, TG_ONNX_IR_NEWEST);
    return TG_OK;
}

static tg_status read_opsets(tg_importer *im, const Onnx__ModelProto *m)
{
    tg_origin *o = im->origin;
    if (!m->n_opset_import) return tg_fail(TG_INVALID, "opset_import is absent");
    tg_opset *opsets = TG_NEW_ARRAY(o->arena, tg_opset, m->n_opset_import);
    for (size_t i = 0; i < m->n_opset_import; i++) {
        const Onnx__OperatorSetIdProto *set = m->opset_import[i];
        const char *domain = set->domain ? set->domain : "";
        if (strcmp(domain, "ai.onnx") == 0) domain = "";
        opsets[i] = (tg_opset){tg_arena_strdup(o->arena, domain), set->version};
        if (domain[0]) continue;
        if (set->version > TG_ONNX_OPSET_NEWEST)
            return tg_fail(TG_UNSUPPORTED,
                           "opset %lld of the default domain; the newest known "
                           "is %d",
                           (long long)set->version, TG_ONNX_OPSET_NEWEST);
        if (set->version < TG_ONNX_OPSET_OLDEST)
            return tg_fail(TG_UNSUPPORTED,
                           "opset %lld of the default domain; the oldest read "
                           "is %d",
                           (long long)set->version, TG_ONNX_OPSET_OLDEST);
        if (im->opset && im->opset != set->version)
            return tg_fail(TG_INVALID, "opsets %lld and %lld of the default domain at once",
                           (long long)im->opset, (long long)set->version);
        im->opset = set->version;
    }
    o->opsets = opsets;
    o->n_opsets = (uint32_t)m->n_opset_import;
    return TG_OK;
}

static void list_functions(tg_importer *im, const Onnx__ModelProto *m)
{
    if (!im->frame->keeps_functions) return;
    for (size_t i = 0; i < m->n_functions; i++) {
        const char *domain = m->functions[i]->domain ? m->functions[i]->domain : "";
        if (strcmp(domain, "ai.onnx") == 0) domain = "";
        const char *name = m->functions[i]->name ? m->functions[i]->name : "";
        tg_strmap_put(&im->functions, tg_arena_printf(im->arena, "%s\n%s", domain, name), NULL);
    }
}

/* ---- inputs, initialisers, outputs ---- */

static tg_status list_initialisers(tg_importer *im)
{
    for (size_t i = 0; i < im->graph->n_initializer; i++) {
        const Onnx__TensorProto *t = im->graph->initializer[i];
        bool fresh;
        if (!t->name || !t->name[0]) return tg_fail(TG_INVALID, "initialiser %zu has no name", i);
        *tg_strmap_put(&im->frame->initialisers, t->name, &fresh) = (uintptr_t)t;
        if (!fresh) return tg_fail(TG_INVALID, "the initialiser %s is there twice", t->name);
    }
    return TG_OK;
}

static tg_status import_inputs(tg_importer *im)
{
    tg_strmap seen = {0};
    tg_status status = TG_OK;
    uint32_t index = 0;
    for (size_t i = 0; i < im->graph->n_input && status == TG_OK; i++) {
        const Onnx__ValueInfoProto *info = im->graph->input[i];
        tg_type type;
        bool fresh;
        if (!info->name || !info->name[0])
            status = tg_fail(TG_INVALID, "graph input %zu has no name", i);
        if (status != TG_OK) break;
        tg_strmap_put(&seen, info->name, &fresh);
        if (!fresh) status = tg_fail(TG_INVALID, "the graph input %s is listed twice", info->name);
        if (status != TG_OK || tg_strmap_find(&im->frame->initialisers, info->name)) continue;
        status = tg_dims_input(im, info, index++, &type);
        if (status == TG_OK)
            *tg_strmap_put(&im->values, info->name, NULL) =
                tg_build_input(im->b, info->name, &type);
    }
    tg_strmap_free(&seen);
    return status;
}

static tg_status import_initialisers(tg_importer *im)
{
    tg_value v;
    for (size_t i = 0; i < im->graph->n_initializer; i++)
        TG_TRY(
            tg_import_tensor(im, im->graph->initializer[i], im->graph->initializer[i]->name, &v));
    for (size_t i = 0; i < im->graph->n_sparse_initializer; i++)
        TG_TRY(tg_import_sparse(im, im->graph->sparse_initializer[i]));
    return TG_OK;
}

static void list_types(tg_importer *im, Onnx__ValueInfoProto **infos, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (infos[i]->name && infos[i]->name[0])
            *tg_strmap_put(&im->frame->types, infos[i]->name, NULL) = (uintptr_t)infos[i];
}

static tg_status set_outputs(tg_importer *im)
{
    size_t n = im->graph->n_output;
    tg_value *values = TG_NEW_ARRAY(im->arena, tg_value, n + 1);
    const char **names = TG_NEW_ARRAY(im->arena, const char *, n + 1);
    tg_strmap seen = {0};
    tg_status status = TG_OK;
    if (!n) status = tg_fail(TG_INVALID, "the graph has no outputs");
    for (size_t i = 0; i < n && status == TG_OK; i++) {
        bool fresh;
        names[i] = im->graph->output[i]->name ? im->graph->output[i]->name : "";
        const uint64_t *at = tg_strmap_find(&im->values, names[i]);
        tg_strmap_put(&seen, names[i], &fresh);
        if (!fresh && !im->outer)
            status = tg_fail(TG_INVALID, "the graph output %s is listed twice", names[i]);
        else if (!at)
            status = tg_fail(TG_INVALID, "nothing produces the graph output %s", names[i]);
        else values[i] = (tg_value)*at;
        if (!im->outer) tg_dims_output(im, im->graph->output[i], (uint32_t)i);
    }
    tg_strmap_free(&seen);
    if (status == TG_OK) tg_build_outputs(im->b, values, names, (int)n);
    return status;
}

/* ---- the whole ---- */

static void note_carried(const tg_importer *im)
{
    tg_str text = {0};
    for (size_t i = 0; i < im->carried_names.n; i++)
        tg_str_addf(&text, "%s%llu %s", i ? ", " : "",
                    (unsigned long long)*tg_strmap_find(&im->carried, im->carried_names.v[i]),
                    im->carried_names.v[i]);
    if (text.n) tg_log(TG_LOG_NOTE, "%s: carried untouched: %s", im->origin->path, text.p);
    tg_str_free(&text);
}

static void note_dims(const tg_importer *im)
{
    tg_str text = {0};
    tg_dims_print(&im->dims, &text);
    if (text.n) tg_log(TG_LOG_NOTE, "%s: dimensions fixed: %s", im->origin->path, text.p);
    tg_str_free(&text);
}

static void note_node_names(tg_importer *im)
{
    for (int i = 0; i < im->n_items; i++) {
        bool fresh;
        const char *name = im->items[i].proto->name;
        if (!name || !name[0]) continue;
        tg_strmap_put(&im->node_names, name, &fresh);
        if (fresh) continue;
        tg_log(TG_LOG_WARN, "%s: several nodes have the name %s", im->origin->path, name);
        return;
    }
}

static tg_status import_nodes(tg_importer *im)
{
    for (int i = 0; i < im->n_items; i++) TG_TRY(tg_import_node(im, &im->items[i]));
    return TG_OK;
}

static tg_status import_given(tg_importer *im)
{
    if (im->outer) return tg_import_formals(im);
    TG_TRY(import_inputs(im));
    return tg_dims_check(&im->dims);
}

tg_status tg_import_body(tg_importer *im)
{
    TG_TRY(list_initialisers(im));
    TG_TRY(import_given(im));
    TG_TRY(import_initialisers(im));
    list_types(im, im->graph->value_info, im->graph->n_value_info);
    list_types(im, im->graph->output, im->graph->n_output);
    TG_TRY(tg_order_nodes(im));
    tg_fused_join(im);
    tg_status status = import_nodes(im);
    if (status == TG_SHAPE && im->dims.list.n && !im->outer) {
        tg_str dims = {0};
        tg_dims_print(&im->dims, &dims);
        status = tg_wrap(status, "with %s", dims.p);
        tg_str_free(&dims);
    }
    if (status != TG_OK) return status;
    return set_outputs(im);
}

static void fill_origin(tg_importer *im)
{
    tg_origin *o = im->origin;
    o->graph_name = tg_arena_strdup(o->arena, im->graph->name ? im->graph->name : "");
    o->ir_version = im->frame->model->ir_version;
    o->dim_names =
        tg_arena_dup(o->arena, im->dims.names.v, im->dims.names.n * sizeof *im->dims.names.v);
    o->n_dim_names = (uint32_t)im->dims.names.n;
}

/* Only what the graph has can be missed later. */
void tg_import_prune(tg_frame *f, const tg_graph *g)
{
    size_t kept = 0;
    for (size_t i = 0; i < f->nodes.n; i++) {
        uint64_t *at = tg_map_find(&f->node_of, f->nodes.v[i].id);
        bool live = tg_graph_node(g, f->nodes.v[i].id);
        if (!live) tg_attrs_unref(f->nodes.v[i].attrs);
        if (live) f->nodes.v[kept++] = f->nodes.v[i];
        *at = live ? kept : 0;
    }
    f->nodes.n = kept;
}

static tg_status import_model(tg_importer *im, tg_graph **g)
{
    const Onnx__ModelProto *m = im->frame->model;
    tg_graph *made = NULL;
    TG_TRY(check_ir_version(m));
    im->graph = m->graph;
    TG_TRY(read_opsets(im, m));
    TG_TRY(tg_functions_inline(im));
    list_functions(im, m);
    im->b = tg_builder_new(im->origin);
    tg_status status = tg_import_body(im);
    if (status != TG_OK) {
        tg_builder_free(im->b);
        return status;
    }
    fill_origin(im);
    TG_TRY(tg_build_done(im->b, &made));
    tg_import_prune(im->frame, made);
    im->origin->hash = made->hash;
    if (im->silent && im->misfits) {
        *g = made;
        return TG_OK;
    }
    note_dims(im);
    note_carried(im);
    note_node_names(im);
    *g = made;
    return TG_OK;
}

void tg_importer_done(tg_importer *im)
{
    tg_strmap_free(&im->values);
    tg_strmap_free(&im->read);
    tg_strmap_free(&im->node_names);
    tg_origin_unref(im->origin);
}

static void importer_done(tg_importer *im)
{
    tg_importer_done(im);
    tg_strmap_free(&im->functions);
    tg_strmap_free(&im->carried);
    tg_vec_free(&im->carried_names);
    tg_strmap_free(&im->dims.index);
    tg_vec_free(&im->dims.list);
    tg_vec_free(&im->dims.names);
    tg_arena_free(im->arena);
}

/* One way of reading a file: what symbolic dimensions become, and how well that fits. */
typedef struct attempt {
    int64_t guess; /* of all but the first axes */
    uint64_t ones; /* bits of dimensions that are 1 all the same, in the order in which they come */
    bool last;     /* the notes are said even if bodies do not fit */
    size_t open;   /* dimensions that were guessed */
    int misfits;   /* bodies that do not fit the sizes */
} attempt;

/* Takes over the reference to `file`. */
static tg_status load_with(tg_weight *file, const char *path, const char *folder,
                           const tg_load_options *opt, attempt *a, tg_graph **g)
{
    tg_unpacked *u;
    tg_map opset_of = {0};
    TG_TRY(tg_unpack(file, &onnx__model_proto__descriptor, &u));
    tg_importer im = {.folder = folder,
                      .opset_of = &opset_of,
                      .arena = tg_arena_new(),
                      .origin = tg_origin_new(),
                      .frame = tg_frame_new(u),
                      .silent = !a->last,
                      .dims = {.opt = opt, .guess = a->guess, .ones = a->ones}};
    im.origin->path = tg_arena_strdup(im.origin->arena, path);
    im.origin->frame = im.frame;
    tg_arena_hold(im.origin->arena, tg_frame_free, im.frame);
    tg_status status = import_model(&im, g);
    a->open = opt && opt->other_dims > 0 ? 0 : im.dims.list.n;
    a->misfits = im.misfits;
    importer_done(&im);
    tg_map_free(&opset_of);
    return status;
}

typedef struct source {
    tg_weight *file;
    const char *path, *folder;
    const tg_load_options *opt;
} source;

/* Takes the attempt for the best if at most `most` bodies misfit. False: no other will do. */
static bool try(const source *s, attempt a, int most, attempt *best)
{
    tg_graph *g = NULL;
    tg_status status = load_with(tg_weight_ref(s->file), s->path, s->folder, s->opt, &a, &g);
    tg_graph_unref(g);
    if (status == TG_OK && a.misfits <= most) *best = a;
    return status == TG_OK || status == TG_SHAPE;
}

/*
 * Of the sizes that dimensions usually have, the one that most bodies fit, or that fits at all;
 * then each dimension that may as well be 1 is, as the batch of a state that is not its first axis;
 * from the last on, since what a state is of comes before it.
 */
static attempt best_guess(const source *s, const attempt *first, int misfits)
{
    enum { MOST = 16 };
    static const int64_t usual[] = {16, 32, 64, 128, 224, 320};
    attempt best = {.misfits = misfits};
    bool on = true;
    for (size_t i = 0; i < sizeof usual / sizeof *usual && best.misfits && on; i++)
        on = try(s, (attempt){.guess = usual[i]}, best.misfits - 1, &best);
    for (size_t i = first->open < MOST ? first->open : MOST; i-- > 0 && best.guess && on;) {
        attempt a = {.guess = best.guess, .ones = best.ones | (uint64_t)1 << i};
        on = try(s, a, best.misfits, &best);
    }
    return best;
}

/*
 * The message of the first try is the one that counts: it names the sizes that were asked for.
 * Takes over the reference to `file`.
 */
static tg_status load(tg_weight *file, const char *path, const char *folder,
                      const tg_load_options *opt, tg_graph **g)
{
    source s = {file, path, folder, opt};
    attempt a = {.guess = 0};
    tg_graph *made = NULL;
    tg_status status = load_with(tg_weight_ref(file), path, folder, opt, &a, &made);
    char *words = status == TG_OK ? NULL : tg_strdup(tg_message());
    if (a.misfits || (status == TG_SHAPE && a.open)) {
        bool fits = status == TG_OK;
        attempt best = {.guess = 0};
        if (a.open) best = best_guess(&s, &a, fits ? a.misfits : INT_MAX);
        tg_graph_unref(made);
        made = NULL;
        a = (attempt){.guess = best.guess, .ones = best.ones, .last = true};
        if (a.guess || fits) status = load_with(tg_weight_ref(file), path, folder, opt, &a, &made);
    }
    tg_weight_unref(file);
    if (status == TG_OK) *g = made;
    else if (words) status = tg_fail(status, "%s", words);
    free(words);
    return status;
}

static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) return tg_strdup(".");
    size_t n = slash == path ? 1 : (size_t)(slash - path);
    char *folder = tg_malloc(n + 1);
    memcpy(folder, path, n);
    folder[n] = '\0';
    return folder;
}

tg_status tg_onnx_load(const char *path, const tg_load_options *opt, tg_graph **g)
{
    tg_weight *file;
    TG_TRY(tg_file_open(path, &file));
    char *folder = folder_of(path);
    tg_status status = load(file, path, folder, opt, g);
    free(folder);
    return status == TG_OK ? TG_OK : tg_wrap_file(status, path);
}

tg_status tg_onnx_load_memory(const void *bytes, size_t n, const char *name,
                              const tg_load_options *opt, tg_graph **g)
{
    tg_status status = load(tg_file_copy(bytes, n), name, NULL, opt, g);
    return status == TG_OK ? TG_OK : tg_wrap_file(status, name);
}
