/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nodes with bodies: each body becomes a graph of its own, by the importer that reads the model. */
#include "attribute.h"
#include "engine/ir/value.h"
#include "engine/ops/ops.h"
#include "import.h"

#include <string.h>

/*
 * A body is read again when what it makes does not fit what it is given, or when it does not fit
 * the sizes known; nested ones again in each try. From KEEN on shapes are not tried, and ENOUGH are
 * read.
 */
enum { KEEN = 2000, ENOUGH = 20000, TRIES = 3 };

/* A constant of this size that is computed is copied into the bodies that read it. */
enum { SMALL = 1024 };

/* What a body is given. */
typedef struct tg_body {
    const tg_item *item;
    const tg_type *formals;
    int n_formals;
    bool shapes; /* shapes of captured values are believed */
} tg_body;

/* A value that bodies read from outside. constant: they have it themselves. */
static tg_value captured_value(const tg_importer *im, const tg_item *item, int i, bool *constant)
{
    tg_value v = tg_import_find(im, item->captured[i]);
    *constant = false;
    if (v == TG_NO_VALUE) return v;
    const tg_node *maker = tg_build_get(im->b, tg_value_node(v));
    const tg_type *type = tg_build_type(im->b, v);
    *constant =
        maker->op == TG_OP_CONST || (maker->constant && tg_type_complete(type) &&
                                     tg_type_bytes(type) <= SMALL && tg_build_value(im->b, v));
    return v;
}

static tg_value copy_constant(tg_importer *im, tg_value v, const char *name)
{
    const tg_node *maker = tg_build_get(im->outer->b, tg_value_node(v));
    const tg_tensor *t = tg_build_value(im->outer->b, v);
    tg_weight *w = maker->op == TG_OP_CONST ? tg_weight_ref(maker->weight) : tg_tensor_weight(t);
    return tg_build_const(im->b, t->dtype, &t->shape, w, name);
}

static tg_status import_captured(tg_importer *im)
{
    const tg_item *item = im->body->item;
    for (int i = 0; i < item->n_captured; i++) {
        bool constant;
        const char *name = item->captured[i];
        tg_value v = captured_value(im->outer, item, i, &constant);
        if (v == TG_NO_VALUE) return tg_fail(TG_INVALID, "nothing produces the value %s", name);
        tg_type type = *tg_build_type(im->outer->b, v);
        if (!im->body->shapes) type.shape = TG_SHAPE_UNKNOWN;
        tg_value mine = constant ? copy_constant(im, v, name) : tg_build_input(im->b, name, &type);
        tg_import_name(im, name, mine);
    }
    return TG_OK;
}

tg_status tg_import_formals(tg_importer *im)
{
    int n = 0;
    for (size_t i = 0; i < im->graph->n_input; i++) {
        const char *name = im->graph->input[i]->name;
        if (!name || !name[0]) return tg_fail(TG_INVALID, "input %zu of a body has no name", i);
        if (tg_strmap_find(&im->frame->initialisers, name)) continue;
        if (tg_import_find(im, name) != TG_NO_VALUE)
            return tg_fail(TG_INVALID, "the input %s of a body is listed twice", name);
        if (n < im->body->n_formals)
            tg_import_name(im, name, tg_build_input(im->b, name, &im->body->formals[n]));
        n++;
    }
    if (n != im->body->n_formals)
        return tg_fail(TG_INVALID, "a body has %d inputs, not %d", n, im->body->n_formals);
    return import_captured(im);
}

static void copy_origin(const tg_origin *from, tg_origin *to, const char *name)
{
    tg_opset *opsets = TG_NEW_ARRAY(to->arena, tg_opset, from->n_opsets + 1);
    for (uint32_t i = 0; i < from->n_opsets; i++)
        opsets[i] =
            (tg_opset){tg_arena_strdup(to->arena, from->opsets[i].domain), from->opsets[i].version};
    to->opsets = opsets;
    to->n_opsets = from->n_opsets;
    to->path = tg_arena_strdup(to->arena, from->path);
    to->ir_version = from->ir_version;
    to->graph_name = tg_arena_strdup(to->arena, name ? name : "");
}

static tg_status finish_graph(tg_importer *im, tg_graph **g)
{
    im->b = tg_builder_new(im->origin);
    tg_status status = tg_import_body(im);
    if (status != TG_OK) {
        tg_builder_free(im->b);
        return status;
    }
    TG_TRY(tg_build_done(im->b, g));
    tg_import_prune(im->frame, *g);
    im->origin->hash = (*g)->hash;
    im->outer->origin->fixed_dims |= im->origin->fixed_dims;
    return TG_OK;
}

static tg_status import_graph(tg_importer *outer, const Onnx__GraphProto *proto,
                              const tg_body *body, tg_graph **g)
{
    tg_importer im = {.outer = outer,
                      .body = body,
                      .graph = proto,
                      .folder = outer->folder,
                      .arena = outer->arena,
                      .dims = outer->dims,
                      .functions = outer->functions,
                      .opset = outer->opset,
                      .opset_of = outer->opset_of,
                      .origin = tg_origin_new()};
    im.frame = tg_frame_new(tg_unpacked_ref(outer->frame->unpacked));
    im.frame->graph = proto;
    im.frame->symbolic = outer->frame->symbolic;
    copy_origin(outer->origin, im.origin, proto->name);
    im.origin->frame = im.frame;
    tg_arena_hold(im.origin->arena, tg_frame_free, im.frame);
    tg_status status = finish_graph(&im, g);
    tg_importer_done(&im);
    return status;
}

static tg_importer *outermost(tg_importer *im)
{
    while (im->outer) im = im->outer;
    return im;
}

/* In two tries: with the shapes of what it reads, and without. */
static tg_status import_either(tg_importer *im, const Onnx__GraphProto *proto, tg_body *body,
                               tg_graph **g)
{
    tg_importer *all = outermost(im);
    body->shapes = all->bodies < KEEN;
    if (++all->bodies > ENOUGH) return tg_fail(TG_UNSUPPORTED, "too many bodies");
    tg_status status = import_graph(im, proto, body, g);
    if (status == TG_OK || !body->shapes) return status;
    all->misfits++;
    body->shapes = false;
    tg_type *bare = TG_NEW_ARRAY(im->arena, tg_type, body->n_formals + 1);
    for (int i = 0; i < body->n_formals; i++)
        bare[i] = (tg_type){body->formals[i].dtype, TG_SHAPE_UNKNOWN};
    body->formals = bare;
    return import_graph(im, proto, body, g);
}

/* ---- the node ------------------------------------------------------------------------------ */

/* A node with bodies on its way. */
typedef struct control {
    tg_draft d;
    const tg_item *item;
    int n_captured; /* that are no constants */
    tg_graph *bodies[2];
    int n_bodies;
} control;

static void add_attr(control *c, const char *name, tg_attr value)
{
    tg_vec_push(&c->d.attrs, (tg_named_attr){name, value});
}

/* Whether a file may give the attribute. */
static bool is_of_file(const control *c, const char *name)
{
    return tg_op_attr_index(c->d.op, name) >= 0 && strcmp(name, "captured") != 0 &&
           strcmp(name, "rounds") != 0;
}

/* A Scan of opset 8, with a batch and lengths of its sequences. */
static bool is_old_scan(const control *c)
{
    return c->d.op == TG_OP(Scan) && c->d.im->opset < 9;
}

static const char *name_of_attr(const control *c, const Onnx__AttributeProto *a)
{
    bool old = is_old_scan(c) && a->name && strcmp(a->name, "directions") == 0;
    return old ? "scan_input_directions" : a->name ? a->name : "";
}

static tg_status read_plain_attrs(control *c)
{
    const Onnx__NodeProto *proto = c->d.proto;
    tg_importer *im = c->d.im;
    for (size_t i = 0; i < proto->n_attribute; i++) {
        const Onnx__AttributeProto *a = proto->attribute[i];
        const char *name = name_of_attr(c, a);
        tg_attr value;
        if (!is_of_file(c, name) || a->n_graphs)
            return tg_fail(TG_UNSUPPORTED, "unknown attribute %s", name);
        if (a->g) continue;
        TG_TRY(tg_attribute_read(a, im->frame->unpacked->file, im->folder, im->arena, &value));
        add_attr(c, name, value);
    }
    return TG_OK;
}

static void read_inputs(control *c)
{
    const Onnx__NodeProto *proto = c->d.proto;
    c->d.slots = TG_NEW_ARRAY(c->d.im->origin->arena, int16_t,
                              (int)proto->n_input + c->item->n_captured + 1);
    for (size_t i = 0; i < proto->n_input; i++) {
        c->d.slots[i] = (int16_t)i;
        tg_vec_push(&c->d.in, tg_import_find(c->d.im, proto->input[i]));
    }
}

/* Behind the formal inputs, which must all be there then. */
static void add_captured(control *c, int n_formal)
{
    const tg_item *item = c->item;
    while ((int)c->d.in.n < n_formal) tg_vec_push(&c->d.in, TG_NO_VALUE);
    for (int i = 0; i < item->n_captured; i++) {
        bool constant;
        tg_value v = captured_value(c->d.im, item, i, &constant);
        c->d.slots[item->proto->n_input + (size_t)i] = constant ? -1 : (int16_t)c->d.in.n;
        if (constant) continue;
        tg_vec_push(&c->d.in, v);
        c->n_captured++;
    }
}

static const Onnx__GraphProto *graph_of(const control *c, const char *name)
{
    const Onnx__AttributeProto *a = tg_attribute_find(c->d.proto, name);
    return a ? a->g : NULL;
}

static tg_status add_body(control *c, const char *name, tg_body *body)
{
    const Onnx__GraphProto *proto = graph_of(c, name);
    if (!proto) return tg_fail(TG_INVALID, "attribute %s is absent", name);
    tg_graph **g = &c->bodies[c->n_bodies];
    TG_TRY(import_either(c->d.im, proto, body, g));
    c->n_bodies++;
    c->d.n_out = tg_graph_sink(*g)->n_in;
    return TG_OK;
}

static tg_status import_if(control *c)
{
    tg_body first = {.item = c->item}, second = first;
    if (c->d.proto->n_input != 1) return tg_fail(TG_INVALID, "an If has one input");
    TG_TRY(add_body(c, "then_branch", &first));
    TG_TRY(add_body(c, "else_branch", &second));
    add_attr(c, "then_branch", TG_ATTR_OF_GRAPH(c->bodies[0]));
    add_attr(c, "else_branch", TG_ATTR_OF_GRAPH(c->bodies[1]));
    add_captured(c, 1);
    return TG_OK;
}

static tg_type type_of(const control *c, int i)
{
    tg_type unknown = {TG_DTYPE_NONE, TG_SHAPE_UNKNOWN};
    bool there = i < (int)c->d.in.n && c->d.in.v[i] != TG_NO_VALUE;
    return there ? *tg_build_type(c->d.im->b, c->d.in.v[i]) : unknown;
}

/* The shape of a formal input that is one element: as the body declares it. */
static tg_type one_type(const control *c, const Onnx__GraphProto *g, size_t i, tg_dtype dtype)
{
    tg_type type = {dtype, {.rank = 0}};
    if (i >= g->n_input) return type;
    tg_type declared = tg_dims_type(c->d.im, g->input[i]);
    if (tg_shape_complete(&declared.shape) && tg_shape_count(&declared.shape) == 1)
        type.shape = declared.shape;
    return type;
}

/* Makes formal input types such that they hold in every round; false: they did. */
static bool widen(tg_type *formals, const tg_type *made, int try)
{
    tg_shape *s = &formals->shape;
    const tg_shape *m = &made->shape;
    bool wider = false;
    if (!formals->dtype && made->dtype) {
        formals->dtype = made->dtype;
        wider = true;
    }
    if (s->rank < 0) return wider;
    if (s->rank != m->rank || try + 2 >= TRIES) {
        wider |= !tg_shape_equal(s, m);
        if (wider) *s = TG_SHAPE_UNKNOWN;
        return wider;
    }
    for (int i = 0; i < s->rank; i++) {
        if (s->dim[i] < 0 || s->dim[i] == m->dim[i]) continue;
        s->dim[i] = -1;
        wider = true;
    }
    return wider;
}

/*
 * Reads a body that is given again what it makes: formals[from + i] is given output out + i, for n
 * of them.
 */
static tg_status add_repeated(control *c, tg_type *formals, int n_formals, int from, int out, int n)
{
    bool wider = true;
    for (int try = 0; wider && try < TRIES; try++) {
        tg_body body = {.item = c->item, .formals = formals, .n_formals = n_formals};
        if (try) {
            tg_graph_unref(c->bodies[0]);
            c->n_bodies = 0;
        }
        TG_TRY(add_body(c, "body", &body));
        const tg_graph *g = c->bodies[0];
        const tg_node *sink = tg_graph_sink(g);
        if (sink->n_in < out + n) return tg_fail(TG_INVALID, "a body has too few outputs");
        wider = false;
        for (int i = 0; body.shapes && i < n; i++)
            wider |= widen(&formals[from + i], tg_graph_type(g, sink->in[out + i]), try);
    }
    return TG_OK;
}

static tg_status import_loop(control *c)
{
    const Onnx__GraphProto *g = graph_of(c, "body");
    int carried = c->d.in.n > 2 ? (int)c->d.in.n - 2 : 0;
    if (!g) return tg_fail(TG_INVALID, "attribute body is absent");
    tg_type *formals = TG_NEW_ARRAY(c->d.im->arena, tg_type, 2 + carried);
    formals[0] = one_type(c, g, 0, TG_I64);
    formals[1] = one_type(c, g, 1, TG_BOOL);
    for (int i = 0; i < carried; i++) formals[2 + i] = type_of(c, 2 + i);
    TG_TRY(add_repeated(c, formals, 2 + carried, 2, 1, carried));
    c->d.n_out--;
    add_attr(c, "body", TG_ATTR_OF_GRAPH(c->bodies[0]));
    add_captured(c, 2);
    add_attr(c, "captured", TG_ATTR_OF_INT(c->n_captured));
    return TG_OK;
}

static tg_status drop_axis(tg_type *type, int64_t axis)
{
    if (type->shape.rank < 0) return TG_OK;
    TG_TRY(tg_axis_normalise(axis, type->shape.rank, &axis));
    for (int64_t k = axis; k + 1 < type->shape.rank; k++)
        type->shape.dim[k] = type->shape.dim[k + 1];
    type->shape.dim[--type->shape.rank] = 0;
    return TG_OK;
}

/* The type of one step's part of a scan input. */
static tg_status part_type(const control *c, int i, int64_t axis, tg_type *type)
{
    *type = type_of(c, i);
    return drop_axis(type, axis);
}

static void name_outputs(control *c)
{
    const Onnx__NodeProto *proto = c->d.proto;
    c->d.out_names = TG_NEW_ARRAY(c->d.im->arena, const char *, c->d.n_out + 1);
    for (int i = 0; i < c->d.n_out; i++)
        c->d.out_names[i] = (size_t)i < proto->n_output ? proto->output[i] : "";
}

/* How many of `n` inputs are scanned. */
static tg_status scanned_of(const control *c, int n, int *scanned)
{
    const Onnx__AttributeProto *count = tg_attribute_find(c->d.proto, "num_scan_inputs");
    if (!count || count->i < 1 || count->i > n)
        return tg_fail(TG_INVALID, "num_scan_inputs does not fit its inputs");
    *scanned = (int)count->i;
    return TG_OK;
}

/* Behind the lengths, each input has the batch as axis 0, and what is scanned the steps as 1. */
static tg_status import_old_scan(control *c)
{
    int n = (int)c->d.in.n - 1, scanned;
    TG_TRY(scanned_of(c, n, &scanned));
    tg_type *formals = TG_NEW_ARRAY(c->d.im->arena, tg_type, n + 1);
    for (int i = 0; i < n; i++) {
        TG_TRY(part_type(c, 1 + i, 0, &formals[i]));
        if (i >= n - scanned) TG_TRY(drop_axis(&formals[i], 0));
    }
    TG_TRY(add_repeated(c, formals, n, 0, 0, n - scanned));
    add_captured(c, n + 1);
    add_attr(c, "captured", TG_ATTR_OF_INT(c->n_captured));
    name_outputs(c);
    return tg_import_old_scan(&c->d, &c->bodies[0], scanned, c->n_captured);
}

static tg_status import_scan(control *c)
{
    const Onnx__AttributeProto *axes = tg_attribute_find(c->d.proto, "scan_input_axes");
    int n = (int)c->d.in.n, scanned;
    if (is_old_scan(c)) return import_old_scan(c);
    TG_TRY(scanned_of(c, n, &scanned));
    int states = n - scanned;
    tg_type *formals = TG_NEW_ARRAY(c->d.im->arena, tg_type, n + 1);
    for (int i = 0; i < n; i++) {
        size_t k = (size_t)(i - states);
        if (i < states) formals[i] = type_of(c, i);
        else TG_TRY(part_type(c, i, axes && k < axes->n_ints ? axes->ints[k] : 0, &formals[i]));
    }
    TG_TRY(add_repeated(c, formals, n, 0, 0, states));
    add_attr(c, "body", TG_ATTR_OF_GRAPH(c->bodies[0]));
    add_captured(c, n);
    add_attr(c, "captured", TG_ATTR_OF_INT(c->n_captured));
    return TG_OK;
}

/* Of sequences the body is given a tensor each time. */
static tg_status import_sequence_map(control *c)
{
    int n = (int)c->d.in.n;
    tg_type *formals = TG_NEW_ARRAY(c->d.im->arena, tg_type, n + 1);
    for (int i = 0; i < n; i++) {
        formals[i] = type_of(c, i);
        if (tg_dtype_is_list(formals[i].dtype)) formals[i].dtype = tg_dtype_item(formals[i].dtype);
    }
    tg_body body = {.item = c->item, .formals = formals, .n_formals = n};
    TG_TRY(add_body(c, "body", &body));
    add_attr(c, "body", TG_ATTR_OF_GRAPH(c->bodies[0]));
    add_captured(c, n);
    add_attr(c, "captured", TG_ATTR_OF_INT(c->n_captured));
    return TG_OK;
}

/* Whether some node in the bodies is of another opset than the model. */
static bool has_foreign(const tg_importer *im, const Onnx__NodeProto *proto)
{
    if (tg_map_find(im->opset_of, (uintptr_t)proto)) return true;
    for (size_t i = 0; i < proto->n_attribute; i++) {
        const Onnx__GraphProto *g = proto->attribute[i]->g;
        for (size_t k = 0; g && k < g->n_node; k++)
            if (has_foreign(im, g->node[k])) return true;
    }
    return false;
}

/* Constants that the bodies read from outside are known by their names there. */
static void keep_captured(control *c)
{
    for (int i = 0; i < c->item->n_captured; i++) {
        const char *name = c->item->captured[i];
        if (c->d.slots[c->d.proto->n_input + (size_t)i] < 0)
            tg_import_keep(c->d.im, name, tg_import_find(c->d.im, name));
    }
}

typedef tg_status (*reader)(control *c);

static reader reader_of(const char *op)
{
    static const struct {
        const char *op;
        reader read;
    } readers[] = {{"If", import_if}, {"Loop", import_loop}, {"SequenceMap", import_sequence_map}};
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (strcmp(readers[i].op, op) == 0) return readers[i].read;
    return import_scan;
}

static tg_status build_node(control *c)
{
    name_outputs(c);
    tg_node_spec spec = {.op = c->d.op,
                         .in = c->d.in.v,
                         .n_in = (int)c->d.in.n,
                         .n_out = c->d.n_out,
                         .attrs = c->d.attrs.v,
                         .n_attrs = (int)c->d.attrs.n,
                         .name = c->d.proto->name,
                         .out_names = c->d.out_names};
    uint32_t id;
    TG_TRY(tg_build_node(c->d.im->b, &spec, &id));
    if (!has_foreign(c->d.im, c->d.proto)) tg_import_record(&c->d, id);
    c->d.out = TG_NEW_ARRAY(c->d.im->arena, tg_value, c->d.n_out + 1);
    for (int i = 0; i < c->d.n_out; i++) c->d.out[i] = tg_value_of(id, (uint32_t)i);
    return TG_OK;
}

static tg_status build(control *c)
{
    tg_importer *im = c->d.im;
    TG_TRY(read_plain_attrs(c));
    read_inputs(c);
    TG_TRY(reader_of(tg_op_get(c->d.op)->name)(c));
    if ((size_t)c->d.n_out < c->d.proto->n_output || c->d.in.n > INT16_MAX)
        return tg_fail(TG_INVALID, "it has more outputs than its body");
    if (!c->d.built) TG_TRY(build_node(c));
    if (!has_foreign(im, c->d.proto)) keep_captured(c);
    for (int i = 0; i < c->d.n_out; i++) tg_import_name(im, c->d.out_names[i], c->d.out[i]);
    return TG_OK;
}

tg_status tg_import_control(tg_importer *im, const tg_item *item, tg_op op)
{
    control c = {.d = {.im = im, .proto = item->proto, .op = op}, .item = item};
    if (!(tg_op_get(op)->flags & TG_BODIES))
        return tg_fail(TG_UNSUPPORTED, "operator %s has no bodies here", tg_op_get(op)->name);
    tg_status status = build(&c);
    for (int i = 0; i < c.n_bodies; i++) tg_graph_unref(c.bodies[i]);
    tg_vec_free(&c.d.in);
    tg_vec_free(&c.d.attrs);
    return status;
}
