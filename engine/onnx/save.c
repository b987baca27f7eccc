/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The model around the graph, and the file around the model. */
#include "engine/base/log.h"
#include "export.h"
#include "valuetype.h"

#include <stdlib.h>
#include <string.h>

enum { USUAL_IR = 8 };

/* ---- types ---- */

static Onnx__TensorShapeProto *make_shape(tg_arena *arena, const tg_shape *s)
{
    Onnx__TensorShapeProto *shape = TG_NEW(arena, Onnx__TensorShapeProto);
    onnx__tensor_shape_proto__init(shape);
    shape->n_dim = (size_t)s->rank;
    shape->dim = TG_NEW_ARRAY(arena, Onnx__TensorShapeProto__Dimension *, s->rank + 1);
    for (int64_t i = 0; i < s->rank; i++) {
        shape->dim[i] = TG_NEW(arena, Onnx__TensorShapeProto__Dimension);
        onnx__tensor_shape_proto__dimension__init(shape->dim[i]);
        if (s->dim[i] < 0) continue;
        shape->dim[i]->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        shape->dim[i]->dim_value = s->dim[i];
    }
    return shape;
}

static Onnx__ValueInfoProto *make_info(tg_arena *arena, const char *name, const tg_type *type)
{
    Onnx__ValueInfoProto *info = TG_NEW(arena, Onnx__ValueInfoProto);
    onnx__value_info_proto__init(info);
    info->name = (char *)(uintptr_t)name;
    if (!type->dtype) return info;
    info->type = tg_value_type(arena, type->dtype);
    if (type->shape.rank >= 0) info->type->tensor_type->shape = make_shape(arena, &type->shape);
    return info;
}

/* Whether what the file says of a value is true of one of this type, whatever its names stand for.
 */
static bool describes(const Onnx__ValueInfoProto *info, const tg_type *type)
{
    const Onnx__TypeProto *t = info->type;
    if (!t || !type->dtype) return true;
    if (tg_dtype_is_list(type->dtype)) return tg_value_dtype(t) == type->dtype;
    if (t->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE) return true;
    const Onnx__TensorShapeProto *shape = t->tensor_type->shape;
    if (t->tensor_type->elem_type != (int32_t)type->dtype) return false;
    if (!shape || type->shape.rank < 0) return true;
    if ((int64_t)shape->n_dim != type->shape.rank) return false;
    for (size_t i = 0; i < shape->n_dim; i++) {
        bool sized =
            shape->dim[i]->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE;
        int64_t size = sized ? shape->dim[i]->dim_value : -1;
        /* 0 may stand for any size (dims.c). */
        if (size > 0 && type->shape.dim[i] >= 0 && size != type->shape.dim[i]) return false;
    }
    return true;
}

/* The checker of the onnx package wants shapes, which some files leave out. */
static bool lacks_shape(const Onnx__ValueInfoProto *info)
{
    const Onnx__TypeProto *t = info->type;
    return !t || (t->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE && !t->tensor_type->shape);
}

/* As the file has it, or, where dimensions are fixed, with the type that the graph has. */
static Onnx__ValueInfoProto *info_for(tg_exporter *ex, const Onnx__ValueInfoProto *old,
                                      const char *name, const tg_type *type)
{
    bool complete = tg_type_complete(type);
    bool known = ex->frame && !ex->frame->symbolic && complete;
    if (old && describes(old, type) && (ex->keep_dims || !complete) && !(known && lacks_shape(old)))
        return (Onnx__ValueInfoProto *)old;
    Onnx__ValueInfoProto *info = make_info(ex->arena, name, type);
    if (!old) return info;
    info->doc_string = old->doc_string;
    info->n_metadata_props = old->n_metadata_props;
    info->metadata_props = old->metadata_props;
    return info;
}

static void name_dims(tg_exporter *ex, Onnx__ValueInfoProto *info, uint32_t index, bool output)
{
    const tg_origin *o = ex->g->origin;
    for (uint32_t i = 0; ex->keep_dims && i < o->n_dim_names; i++) {
        const tg_dim_name *d = &o->dim_names[i];
        if (d->index != index || d->output != output || !info->type ||
            info->type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE)
            continue;
        Onnx__TensorShapeProto *shape = info->type->tensor_type->shape;
        if (!shape || d->axis >= shape->n_dim) continue;
        shape->dim[d->axis]->value_case = ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
        shape->dim[d->axis]->dim_param = (char *)(uintptr_t)d->name;
    }
}

/* ---- the graph ---- */

typedef TG_VEC(Onnx__ValueInfoProto *) info_vec;

static const Onnx__GraphProto *old_graph(const tg_exporter *ex)
{
    return ex->frame ? ex->frame->graph : NULL;
}

static void list_names(const tg_exporter *ex, tg_strmap *tensors)
{
    for (size_t i = 0; i < ex->tensor_list.n; i++)
        *tg_strmap_put(tensors, ex->tensor_list.v[i]->name, NULL) = i + 1;
}

/* Inputs in the model's order; an initialiser that is listed among them stays so. */
static void fill_inputs(tg_exporter *ex, info_vec *infos, int64_t ir_version)
{
    const Onnx__GraphProto *old = old_graph(ex);
    tg_strmap tensors = {0};
    uint32_t next = 0;
    list_names(ex, &tensors);
    for (size_t i = 0; old && i < old->n_input; i++) {
        Onnx__ValueInfoProto *info = old->input[i];
        uint64_t *tensor = tg_strmap_find(&tensors, info->name);
        if (tensor && *tensor) {
            *tensor = 0;
            tg_vec_push(infos, info);
        } else if (next < ex->g->n_inputs) {
            const tg_node *node = ex->g->nodes[ex->g->inputs[next]];
            if (strcmp(node->name, info->name) != 0) continue;
            tg_vec_push(infos, info_for(ex, info, info->name, &node->out[0]));
            next++;
        }
    }
    for (; next < ex->g->n_inputs; next++) {
        const tg_node *node = ex->g->nodes[ex->g->inputs[next]];
        Onnx__ValueInfoProto *info = make_info(ex->arena, node->name, &node->out[0]);
        name_dims(ex, info, next, false);
        tg_vec_push(infos, info);
    }
    for (size_t i = 0; ir_version < 4 && i < ex->tensor_list.n; i++) {
        const Onnx__TensorProto *t = ex->tensor_list.v[i];
        if (!*tg_strmap_find(&tensors, t->name)) continue;
        tg_type type = {(tg_dtype)t->data_type, tg_shape_from(t->dims, (int)t->n_dims)};
        tg_vec_push(infos, make_info(ex->arena, t->name, &type));
    }
    tg_strmap_free(&tensors);
}

/* Of a body: those that are not captured. */
static void fill_formals(tg_exporter *ex, info_vec *infos)
{
    const Onnx__GraphProto *old = old_graph(ex);
    for (int i = 0; i < tg_export_formals(ex); i++) {
        const tg_node *node = ex->g->nodes[ex->g->inputs[i]];
        const char *name = tg_export_name(ex, tg_value_of(node->id, 0));
        const Onnx__ValueInfoProto *was = NULL;
        for (size_t k = 0; old && k < old->n_input && !was; k++)
            if (strcmp(old->input[k]->name, name) == 0) was = old->input[k];
        tg_vec_push(infos, info_for(ex, was, name, &node->out[0]));
    }
}

static void fill_outputs(tg_exporter *ex, info_vec *infos)
{
    const tg_node *sink = tg_graph_sink(ex->g);
    const Onnx__GraphProto *old = old_graph(ex);
    for (int i = 0; i < sink->n_in; i++) {
        const Onnx__ValueInfoProto *was = old && (size_t)i < old->n_output ? old->output[i] : NULL;
        if (was && strcmp(was->name, ex->output_names[i]) != 0) was = NULL;
        const tg_type *type = tg_graph_type(ex->g, sink->in[i]);
        Onnx__ValueInfoProto *info = info_for(ex, was, ex->output_names[i], type);
        if (!was) name_dims(ex, info, (uint32_t)i, true);
        tg_vec_push(infos, info);
    }
}

/* Types that the file states, of values that are still there. */
static void fill_value_info(tg_exporter *ex, info_vec *infos)
{
    const Onnx__GraphProto *old = old_graph(ex);
    if (!old || !old->n_value_info) return;
    tg_strmap at = {0};
    for (size_t i = 0; i < old->n_value_info; i++)
        if (old->value_info[i]->name) *tg_strmap_put(&at, old->value_info[i]->name, NULL) = i + 1;
    for (uint32_t i = 0; i < ex->g->n_nodes; i++) {
        const tg_node *node = ex->g->nodes[ex->g->order[i]];
        for (int k = 0; ex->emitted[node->id] && k < node->n_out; k++) {
            const char *name = tg_export_name(ex, tg_value_of(node->id, (uint32_t)k));
            const uint64_t *was = name[0] ? tg_strmap_find(&at, name) : NULL;
            if (!was || (!ex->keep_dims && !tg_type_complete(&node->out[k]))) continue;
            tg_vec_push(infos, info_for(ex, old->value_info[*was - 1], name, &node->out[k]));
        }
    }
    tg_strmap_free(&at);
}

static void fill_annotations(tg_exporter *ex, Onnx__GraphProto *g)
{
    const Onnx__GraphProto *old = old_graph(ex);
    g->n_quantization_annotation = 0;
    if (!old || !old->n_quantization_annotation) return;
    g->quantization_annotation =
        TG_NEW_ARRAY(ex->arena, Onnx__TensorAnnotation *, old->n_quantization_annotation);
    for (size_t i = 0; i < old->n_quantization_annotation; i++) {
        const char *name = old->quantization_annotation[i]->tensor_name;
        if (name && tg_strmap_find(&ex->used, name))
            g->quantization_annotation[g->n_quantization_annotation++] =
                old->quantization_annotation[i];
    }
}

static void give_infos(tg_arena *arena, info_vec *infos, size_t *n, Onnx__ValueInfoProto ***list)
{
    *n = infos->n;
    *list = tg_arena_dup(arena, infos->v, infos->n * sizeof *infos->v);
    tg_vec_free(infos);
}

static Onnx__GraphProto *make_graph(tg_exporter *ex, int64_t ir_version)
{
    Onnx__GraphProto *g = TG_NEW(ex->arena, Onnx__GraphProto);
    info_vec inputs = {0}, outputs = {0}, infos = {0};
    if (old_graph(ex)) *g = *old_graph(ex);
    else onnx__graph_proto__init(g);
    if (!g->name || !g->name[0])
        g->name =
            (char *)(uintptr_t)(ex->g->origin->graph_name[0] ? ex->g->origin->graph_name : "graph");
    g->n_node = ex->nodes.n;
    g->node = ex->nodes.v;
    g->n_initializer = ex->tensor_list.n;
    g->initializer = ex->tensor_list.v;
    g->n_sparse_initializer = 0;
    if (ex->outer) fill_formals(ex, &inputs);
    else fill_inputs(ex, &inputs, ir_version);
    fill_outputs(ex, &outputs);
    fill_value_info(ex, &infos);
    fill_annotations(ex, g);
    give_infos(ex->arena, &inputs, &g->n_input, &g->input);
    give_infos(ex->arena, &outputs, &g->n_output, &g->output);
    give_infos(ex->arena, &infos, &g->n_value_info, &g->value_info);
    return g;
}

/* ---- the model ---- */

static void add_opset(tg_exporter *ex, Onnx__ModelProto *m, const char *domain, int64_t version)
{
    bool there = false; /* some files say it twice */
    for (size_t i = 0; i < m->n_opset_import; i++) {
        const char *known = m->opset_import[i]->domain ? m->opset_import[i]->domain : "";
        if (strcmp(known, domain) != 0 && (domain[0] || strcmp(known, "ai.onnx") != 0)) continue;
        if (!domain[0]) m->opset_import[i]->version = version;
        there = true;
    }
    if (there) return;
    Onnx__OperatorSetIdProto *set = TG_NEW(ex->arena, Onnx__OperatorSetIdProto);
    onnx__operator_set_id_proto__init(set);
    set->domain = (char *)(uintptr_t)domain;
    set->has_version = 1;
    set->version = version;
    m->opset_import[m->n_opset_import++] = set;
}

/* Of a domain that the graph did not import when it was loaded: the first. */
static int64_t version_of(const tg_exporter *ex, const char *domain)
{
    const tg_origin *o = ex->g->origin;
    for (uint32_t i = 0; i < o->n_opsets; i++)
        if (strcmp(o->opsets[i].domain, domain) == 0) return o->opsets[i].version;
    return 1;
}

static size_t count_domains(const tg_exporter *ex)
{
    size_t n = 0;
    for (size_t i = 0; i < ex->nodes.n; i++) n += ex->nodes.v[i]->domain != NULL;
    for (size_t i = 0; i < ex->bodies.n; i++) n += count_domains(ex->bodies.v[i]);
    return n;
}

static void add_domains(tg_exporter *ex, const tg_exporter *from, Onnx__ModelProto *m)
{
    for (size_t i = 0; i < from->nodes.n; i++) {
        const char *domain = from->nodes.v[i]->domain;
        if (domain && domain[0]) add_opset(ex, m, domain, version_of(ex, domain));
    }
    for (size_t i = 0; i < from->bodies.n; i++) add_domains(ex, from->bodies.v[i], m);
}

static void fill_opsets(tg_exporter *ex, Onnx__ModelProto *m)
{
    size_t n = m->n_opset_import;
    Onnx__OperatorSetIdProto **old = m->opset_import;
    m->opset_import =
        TG_NEW_ARRAY(ex->arena, Onnx__OperatorSetIdProto *, n + count_domains(ex) + 1);
    for (size_t i = 0; i < n; i++)
        m->opset_import[i] = tg_arena_dup(ex->arena, old[i], sizeof *old[i]);
    add_opset(ex, m, "", ex->opset);
    add_domains(ex, ex, m);
}

/* All but the graph; returns the IR version. */
static int64_t start_model(tg_exporter *ex, Onnx__ModelProto **out)
{
    Onnx__ModelProto *m = TG_NEW(ex->arena, Onnx__ModelProto);
    if (ex->frame) *m = *ex->frame->model;
    else {
        onnx__model_proto__init(m);
        m->producer_name = "regraft";
    }
    if (!m->has_ir_version) {
        m->has_ir_version = 1;
        m->ir_version = ex->g->origin->ir_version ? ex->g->origin->ir_version : USUAL_IR;
    }
    if (m->n_training_info) tg_log(TG_LOG_WARN, "training information is not saved");
    m->n_training_info = 0; /* it trains weights by name, which are not the same any more */
    if (ex->frame && !ex->frame->keeps_functions) m->n_functions = 0; /* no node calls them */
    *out = m;
    return m->ir_version;
}

static tg_status reserve_names(tg_exporter *ex)
{
    for (uint32_t i = 0; i < ex->g->n_nodes; i++) {
        const tg_node *node = ex->g->nodes[ex->g->order[i]];
        if (node->op == TG_OP_OPAQUE) TG_TRY(tg_carried_reserve(ex, node, &ex->used));
    }
    return TG_OK;
}

tg_status tg_export_graph(tg_exporter *ex, int64_t ir_version, Onnx__GraphProto **g)
{
    TG_TRY(reserve_names(ex));
    tg_export_names(ex);
    TG_TRY(tg_export_nodes(ex));
    *g = make_graph(ex, ir_version);
    return TG_OK;
}

static tg_status export_model(tg_exporter *ex, Onnx__ModelProto **m)
{
    Onnx__GraphProto *g;
    TG_TRY(tg_export_plan(ex));
    int64_t ir_version = start_model(ex, m);
    TG_TRY(tg_export_graph(ex, ir_version, &g));
    (*m)->graph = g;
    fill_opsets(ex, *m);
    return TG_OK;
}

void tg_exporter_done(tg_exporter *ex)
{
    for (size_t i = 0; i < ex->bodies.n; i++) tg_exporter_done(ex->bodies.v[i]);
    tg_vec_free(&ex->bodies);
    tg_map_free(&ex->body_of);
    tg_strmap_free(&ex->inside);
    tg_map_free(&ex->wanted);
    tg_map_free(&ex->names);
    tg_map_free(&ex->tensors);
    tg_strmap_free(&ex->used);
    tg_strmap_free(&ex->node_names);
    tg_strmap_free(&ex->written);
    tg_vec_free(&ex->nodes);
    tg_vec_free(&ex->tensor_list);
}

static void exporter_done(tg_exporter *ex)
{
    tg_exporter_done(ex);
    tg_arena_free(ex->arena);
}

static tg_exporter exporter_start(const tg_graph *g)
{
    return (tg_exporter){.g = g, .frame = g->origin->frame, .arena = tg_arena_new()};
}

/* A message of more bytes is read by no library. */
static const size_t MOST = ((size_t)1 << 31) - 1;

tg_status tg_onnx_save_split(const tg_graph *g, const char *path, size_t most)
{
    Onnx__ModelProto *m;
    tg_exporter ex = exporter_start(g);
    tg_status status = export_model(&ex, &m);
    if (status != TG_OK) status = tg_wrap_file(status, path);
    else status = tg_export_write(&ex, m, path, most);
    exporter_done(&ex);
    return status;
}

tg_status tg_onnx_save(const tg_graph *g, const char *path)
{
    return tg_onnx_save_split(g, path, MOST);
}

tg_status tg_onnx_save_memory(const tg_graph *g, void **bytes, size_t *n)
{
    Onnx__ModelProto *m;
    tg_exporter ex = exporter_start(g);
    tg_status status = export_model(&ex, &m);
    if (status == TG_OK) {
        *n = onnx__model_proto__get_packed_size(m);
        *bytes = tg_malloc(*n + 1);
        onnx__model_proto__pack(m, *bytes);
    }
    exporter_done(&ex);
    return status;
}
