/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes of the file: rows of the table, constants, and operators that are only carried. */
#include "attribute.h"
#include "engine/base/intern.h"
#include "engine/ir/value.h"
#include "import.h"
#include "standard.h"

#include <string.h>

const char *tg_item_label(tg_importer *im, const tg_item *item)
{
    const char *op = item->proto->op_type ? item->proto->op_type : "?";
    if (item->proto->name && item->proto->name[0])
        return tg_arena_printf(im->arena, "node %s (%s)", item->proto->name, op);
    return tg_arena_printf(im->arena, "node %d (%s)", item->number, op);
}

static bool in_standard(const Onnx__NodeProto *proto)
{
    const char *domain = proto->domain;
    return !domain || !domain[0] || strcmp(domain, "ai.onnx") == 0;
}

void tg_import_name(tg_importer *im, const char *name, tg_value v)
{
    if (name && name[0]) *tg_strmap_put(&im->values, name, NULL) = v;
}

tg_value tg_import_find(const tg_importer *im, const char *name)
{
    const uint64_t *at = name[0] ? tg_strmap_find(&im->values, name) : NULL;
    return at ? (tg_value)*at : TG_NO_VALUE;
}

/* ---- carried nodes ---- */

static void count_carried(tg_importer *im, const char *domain, const char *op_type)
{
    bool fresh;
    while (im->outer) im = im->outer;
    const char *name =
        domain && domain[0] ? tg_arena_printf(im->arena, "%s.%s", domain, op_type) : op_type;
    ++*tg_strmap_put(&im->carried, name, &fresh);
    if (fresh) tg_vec_push(&im->carried_names, tg_arena_strdup(im->arena, name));
}

/* The node without its names, which the graph keeps. */
static tg_attr pack_node(tg_arena *arena, const Onnx__NodeProto *proto)
{
    Onnx__NodeProto bare = *proto;
    bare.n_input = bare.n_output = 0;
    bare.name = NULL;
    size_t n = onnx__node_proto__get_packed_size(&bare);
    uint8_t *bytes = tg_arena_alloc(arena, n + 1);
    onnx__node_proto__pack(&bare, bytes);
    return (tg_attr){.kind = TG_ATTR_BYTES, .n = (uint32_t)n, .bytes = bytes};
}

static const tg_type *declared_types(tg_importer *im, const Onnx__NodeProto *proto)
{
    tg_type *types = TG_NEW_ARRAY(im->arena, tg_type, proto->n_output + 1);
    for (size_t i = 0; i < proto->n_output; i++) {
        const uint64_t *at = tg_strmap_find(&im->frame->types, proto->output[i]);
        types[i] = (tg_type){TG_DTYPE_NONE, TG_SHAPE_UNKNOWN};
        if (at) types[i] = tg_dims_type(im, (const Onnx__ValueInfoProto *)(uintptr_t)*at);
    }
    return types;
}

/* A node that is only carried cannot be brought from the opset of a function to the model's. */
static tg_status check_opset(const tg_importer *im, const Onnx__NodeProto *proto)
{
    int64_t model = tg_origin_opset(im->origin);
    if (!in_standard(proto) || strcmp(proto->op_type, "Constant") == 0 ||
        tg_standard_version(proto->op_type, (int)im->opset) ==
            tg_standard_version(proto->op_type, (int)model))
        return TG_OK;
    return tg_fail(TG_UNSUPPORTED,
                   "its function has opset %lld, the model %lld, and it is not the same there",
                   (long long)im->opset, (long long)model);
}

static tg_status carry(tg_importer *im, const tg_item *item)
{
    const Onnx__NodeProto *proto = item->proto;
    int n_in = (int)proto->n_input + item->n_captured;
    tg_value *in = TG_NEW_ARRAY(im->arena, tg_value, n_in + 1);
    for (size_t i = 0; i < proto->n_input; i++) in[i] = tg_import_find(im, proto->input[i]);
    for (int i = 0; i < item->n_captured; i++)
        in[(int)proto->n_input + i] = tg_import_find(im, item->captured[i]);
    TG_TRY(tg_scope_check(proto, &im->values));
    TG_TRY(check_opset(im, proto));
    if (n_in > UINT16_MAX || proto->n_output > TG_MAX_PORTS)
        return tg_fail(TG_LIMIT, "too many inputs or outputs");
    const char *domain = in_standard(proto) ? "" : proto->domain;
    tg_named_attr attrs[] = {{"op_type", tg_attr_str(proto->op_type)},
                             {"domain", tg_attr_str(domain)},
                             {"proto", pack_node(im->arena, proto)},
                             {"captured", TG_ATTR_OF_INT(item->n_captured)}};
    tg_node_spec spec = {.op = TG_OP_OPAQUE,
                         .in = in,
                         .n_in = n_in,
                         .n_out = (int)proto->n_output,
                         .attrs = attrs,
                         .n_attrs = 4,
                         .name = proto->name,
                         .out_names = (const char *const *)proto->output,
                         .out_types = declared_types(im, proto)};
    uint32_t id;
    TG_TRY(tg_build_node(im->b, &spec, &id));
    for (size_t i = 0; i < proto->n_output; i++)
        tg_import_name(im, proto->output[i], tg_value_of(id, (uint32_t)i));
    count_carried(im, domain, proto->op_type);
    return TG_OK;
}

/* ---- constants ---- */

/* A Constant node of one attribute, for what cannot be a constant of the graph. */
static tg_status carry_constant(tg_importer *im, Onnx__AttributeProto *value, const char *name,
                                tg_value *v)
{
    Onnx__NodeProto node;
    onnx__node_proto__init(&node);
    char *out = (char *)(uintptr_t)name;
    node.op_type = "Constant";
    node.n_output = 1;
    node.output = &out;
    node.n_attribute = 1;
    node.attribute = &value;
    tg_item item = {.proto = &node};
    TG_TRY(carry(im, &item));
    *v = tg_import_find(im, name);
    return TG_OK;
}

tg_status tg_import_tensor(tg_importer *im, const Onnx__TensorProto *t, const char *name,
                           tg_value *v)
{
    tg_type type;
    tg_weight *w;
    TG_TRY(tg_tensor_proto_type(t, &type));
    if (type.dtype == TG_DTYPE_NONE) {
        Onnx__AttributeProto a;
        onnx__attribute_proto__init(&a);
        a.name = "value";
        a.has_type = 1;
        a.type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__TENSOR;
        a.t = (Onnx__TensorProto *)(uintptr_t)t;
        return carry_constant(im, &a, name, v);
    }
    TG_TRY(tg_tensor_proto_weight(t, im->frame->unpacked->file, im->folder, &type, &w));
    *v = tg_build_const(im->b, type.dtype, &type.shape, w, name);
    tg_import_name(im, name, *v);
    return TG_OK;
}

tg_status tg_import_sparse(tg_importer *im, const Onnx__SparseTensorProto *t)
{
    tg_value v;
    Onnx__AttributeProto a;
    onnx__attribute_proto__init(&a);
    a.name = "sparse_value";
    a.has_type = 1;
    a.type = ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__SPARSE_TENSOR;
    a.sparse_tensor = (Onnx__SparseTensorProto *)(uintptr_t)t;
    const char *name = t->values && t->values->name ? t->values->name : "";
    if (!name[0]) return tg_fail(TG_INVALID, "a sparse initialiser has no name");
    if (tg_strmap_find(&im->values, name))
        return tg_fail(TG_INVALID, "the name %s is defined twice", name);
    return carry_constant(im, &a, name, &v);
}

static tg_tensor text_tensor(tg_arena *arena, const ProtobufCBinaryData *s, size_t n, int rank)
{
    tg_string *list = TG_NEW_ARRAY(arena, tg_string, n + 1);
    for (size_t i = 0; i < n; i++) list[i] = (tg_string){(const char *)s[i].data, s[i].len};
    tg_shape shape = {.rank = rank, .dim = {rank ? (int64_t)n : 0}};
    return (tg_tensor){TG_STR, shape, list};
}

/* The value of a Constant node whose attribute is no tensor, as one. False: another attribute. */
static bool plain_constant(tg_arena *arena, const Onnx__AttributeProto *a, tg_tensor *t)
{
    const char *name = a->name ? a->name : "";
    tg_shape scalar = {.rank = 0};
    if (strcmp(name, "value_float") == 0)
        *t = (tg_tensor){TG_F32, scalar, (void *)(uintptr_t)&a->f};
    else if (strcmp(name, "value_int") == 0)
        *t = (tg_tensor){TG_I64, scalar, (void *)(uintptr_t)&a->i};
    else if (strcmp(name, "value_floats") == 0)
        *t = (tg_tensor){TG_F32, tg_shape_of((int64_t)a->n_floats), a->floats};
    else if (strcmp(name, "value_ints") == 0)
        *t = (tg_tensor){TG_I64, tg_shape_of((int64_t)a->n_ints), a->ints};
    else if (strcmp(name, "value_string") == 0) *t = text_tensor(arena, &a->s, 1, 0);
    else if (strcmp(name, "value_strings") == 0)
        *t = text_tensor(arena, a->strings, a->n_strings, 1);
    else return false;
    return true;
}

static tg_status import_constant(tg_importer *im, const tg_item *item)
{
    const Onnx__NodeProto *proto = item->proto;
    tg_value v;
    tg_tensor t;
    if (proto->n_attribute != 1 || proto->n_output != 1 || proto->n_input)
        return tg_fail(TG_INVALID, "a constant has one attribute and one output");
    const Onnx__AttributeProto *a = proto->attribute[0];
    if (a->name && strcmp(a->name, "value") == 0 && a->t)
        return tg_import_tensor(im, a->t, proto->output[0], &v);
    if (!plain_constant(im->arena, a, &t)) {
        if (a->sparse_tensor) return carry(im, item);
        return tg_fail(TG_INVALID, "a constant cannot have the attribute %s",
                       a->name ? a->name : "");
    }
    Onnx__TensorProto as_tensor;
    tg_tensor_proto_fill(im->arena, &t, "", &as_tensor);
    return tg_import_tensor(im, &as_tensor, proto->output[0], &v);
}

/* ---- rows of the table ---- */

static void free_draft(tg_draft *d)
{
    tg_vec_free(&d->in);
    tg_vec_free(&d->attrs);
}

/* Errors: TG_UNSUPPORTED where an attribute is nothing that the row knows. */
static tg_status read_draft(tg_draft *d)
{
    tg_importer *im = d->im;
    const Onnx__NodeProto *proto = d->proto;
    d->slots = TG_NEW_ARRAY(im->origin->arena, int16_t, proto->n_input + 1);
    for (size_t i = 0; i < proto->n_input; i++) {
        d->slots[i] = (int16_t)i;
        tg_vec_push(&d->in, tg_import_find(im, proto->input[i]));
    }
    for (size_t i = 0; i < proto->n_attribute; i++) {
        tg_named_attr a = {.name = proto->attribute[i]->name};
        if (!a.name) return tg_fail(TG_INVALID, "an attribute has no name");
        TG_TRY(tg_attribute_read(proto->attribute[i], im->frame->unpacked->file, im->folder,
                                 im->arena, &a.value));
        if (strcmp(a.name, "auto_pad") == 0 && a.value.kind == TG_ATTR_STR &&
            tg_starts_with(a.value.s, "SAME"))
            im->frame->auto_pad = true;
        tg_vec_push(&d->attrs, a);
    }
    d->n_out = (int)proto->n_output;
    while (d->n_out > 1 && !proto->output[d->n_out - 1][0]) d->n_out--;
    d->out_names = TG_NEW_ARRAY(im->arena, const char *, d->n_out + 1);
    for (int i = 0; i < d->n_out; i++) d->out_names[i] = proto->output[i];
    return TG_OK;
}

static tg_status check_attrs_known(const tg_draft *d)
{
    for (size_t i = 0; i < d->attrs.n; i++)
        if (tg_op_attr_index(d->op, d->attrs.v[i].name) < 0)
            return tg_fail(TG_UNSUPPORTED, "unknown attribute %s", d->attrs.v[i].name);
    return TG_OK;
}

void tg_import_keep(tg_importer *im, const char *name, tg_value v)
{
    bool fresh;
    const tg_tensor *t = tg_build_value(im->b, v);
    if (!t) return;
    uint64_t *at = tg_strmap_put(&im->frame->const_of, name, &fresh);
    if (!fresh) return;
    *at = im->frame->consts.n;
    const tg_node *maker = tg_build_get(im->b, tg_value_node(v));
    tg_weight *w = maker->weight ? tg_weight_ref(maker->weight) : tg_tensor_weight(t);
    tg_vec_push(&im->frame->consts, (tg_frame_const){tg_intern(name), *tg_build_type(im->b, v), w});
    im->frame->consts.v[*at].type = (tg_type){t->dtype, t->shape};
}

void tg_import_record(tg_draft *d, uint32_t id)
{
    tg_frame *f = d->im->frame;
    const tg_node *node = tg_build_get(d->im->b, id);
    /* What was read in another opset is written as the table has it. */
    if (d->changed || node->op != d->op || tg_map_find(d->im->opset_of, (uintptr_t)d->proto))
        return;
    for (size_t i = 0; i < d->proto->n_input; i++) {
        int16_t slot = d->slots[i];
        if (slot >= 0 && slot < node->n_in && node->in[slot] != TG_NO_VALUE) continue;
        d->slots[i] = -1;
        tg_value v = tg_import_find(d->im, d->proto->input[i]);
        if (v != TG_NO_VALUE) tg_import_keep(d->im, d->proto->input[i], v);
    }
    tg_vec_push(&f->nodes, (tg_frame_node){id, tg_attrs_ref(node->attrs), d->proto, d->slots});
    *tg_map_put(&f->node_of, id, NULL) = f->nodes.n;
}

/* A shape read while dimensions are symbolic holds for this choice of them only. */
static void note_shape_read(tg_draft *d, uint32_t id)
{
    const char *name = tg_op_get(d->op)->name;
    bool reads = strcmp(name, "Shape") == 0 || strcmp(name, "Size") == 0;
    if (!reads || !d->im->frame->symbolic || tg_build_get(d->im->b, id)->op != TG_OP_CONST) return;
    if (!tg_build_get(d->im->b, tg_value_node(d->in.v[0]))->constant)
        d->im->origin->fixed_dims = true;
}

static tg_status build(tg_draft *d)
{
    tg_importer *im = d->im;
    TG_TRY(tg_upgrade(d));
    if (d->built) {
        for (int i = 0; i < d->n_out; i++) tg_import_name(im, d->out_names[i], d->out[i]);
        return TG_OK;
    }
    TG_TRY(check_attrs_known(d));
    tg_node_spec spec = {.op = d->op,
                         .in = d->in.v,
                         .n_in = (int)d->in.n,
                         .n_out = d->n_out,
                         .attrs = d->attrs.v,
                         .n_attrs = (int)d->attrs.n,
                         .name = d->proto->name,
                         .out_names = d->out_names};
    uint32_t id;
    TG_TRY(tg_build_node(im->b, &spec, &id));
    note_shape_read(d, id);
    tg_import_record(d, id);
    for (int i = 0; i < d->n_out; i++)
        tg_import_name(im, d->out_names[i], tg_value_of(id, (uint32_t)i));
    return TG_OK;
}

static tg_status import_row(tg_importer *im, const tg_item *item, tg_op op)
{
    tg_draft d = {.im = im, .proto = item->proto, .op = op};
    tg_status status = read_draft(&d);
    if (status == TG_OK) status = build(&d);
    free_draft(&d);
    return status == TG_UNSUPPORTED ? carry(im, item) : status;
}

static bool is_function(const tg_importer *im, const Onnx__NodeProto *proto)
{
    if (!im->functions.n) return false;
    const char *domain = in_standard(proto) ? "" : proto->domain;
    return tg_strmap_find(&im->functions,
                          tg_arena_printf(im->arena, "%s\n%s", domain, proto->op_type));
}

/* What cannot be read of a body, such as one that fits no sizes met here, is carried. */
static tg_status import_control(tg_importer *im, const tg_item *item, tg_op op)
{
    if (!im->outer) TG_TRY(tg_scope_check(item->proto, &im->values));
    if (tg_import_control(im, item, op) == TG_OK) return TG_OK;
    return carry(im, item);
}

static tg_status import_any(tg_importer *im, const tg_item *item)
{
    const Onnx__NodeProto *proto = item->proto;
    if (!proto->op_type || !proto->op_type[0]) return tg_fail(TG_INVALID, "it has no operator");
    if (proto->n_input > INT16_MAX) return tg_fail(TG_LIMIT, "it has %zu inputs", proto->n_input);
    bool standard = in_standard(proto), function = is_function(im, proto);
    if (standard && !function && strcmp(proto->op_type, "Constant") == 0)
        return import_constant(im, item);
    if (standard && !function && !tg_standard_knows(proto->op_type))
        return tg_fail(TG_INVALID, "the default domain has no operator %s", proto->op_type);
    if (standard && !im->opset) return tg_fail(TG_INVALID, "opset_import lacks the default domain");
    tg_op op = tg_upgrade_op(standard ? "" : proto->domain, proto->op_type);
    if (op < TG_OP_FIRST_REAL || function) return carry(im, item);
    if (tg_scope_has_graphs(proto)) return import_control(im, item, op);
    return import_row(im, item, op);
}

tg_status tg_import_node(tg_importer *im, const tg_item *item)
{
    const uint64_t *opset = tg_map_find(im->opset_of, (uintptr_t)item->proto);
    int64_t of_model = im->opset;
    if (opset) im->opset = (int64_t)*opset;
    tg_status status = import_any(im, item);
    im->opset = of_model;
    return status == TG_OK ? TG_OK : tg_wrap(status, "%s", tg_item_label(im, item));
}
