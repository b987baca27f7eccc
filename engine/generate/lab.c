/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lab.h"

#include "engine/base/hash.h"
#include "engine/base/vec.h"
#include "engine/ir/build.h"
#include "engine/rewrite/field.h"

#include <string.h>

/* A form over inputs of some shapes: a graph of one node, kept. */
typedef struct prototype {
    tg_graph *g;
    const tg_node *node; /* NULL: the form does not take them */
    packed_shape out;
} prototype;

struct lab {
    const world *world;
    uint64_t seed;
    tg_origin *origin;
    tg_map by_key; /* -> 1 + number of a prototype */
    TG_VEC(prototype) prototypes;
};

lab *lab_new(const world *w, uint64_t seed)
{
    lab *l = tg_calloc(1, sizeof *l);
    l->world = w;
    l->seed = seed;
    l->origin = tg_origin_new();
    return l;
}

void lab_free(lab *l)
{
    for (size_t i = 0; i < l->prototypes.n; i++) tg_graph_unref(l->prototypes.v[i].g);
    tg_vec_free(&l->prototypes);
    tg_map_free(&l->by_key);
    tg_origin_unref(l->origin);
    free(l);
}

/* Shapes that make sense in the world though operators would take others, too. */
static bool fits(const world *w, const form *f, const packed_shape *shape)
{
    if (f->n_in == 2 && f->axis < 0 && f->pointwise) return shape[0] == shape[1];
    if (strcmp(f->name, "Split") == 0)
        return shape_dim(shape[0], f->axis) == 2 * shape_dim(w->variable, f->axis);
    if (strcmp(f->name, "Conv") == 0)
        return shape_dim(shape[0], 1) % shape_dim(shape[1], 1) == 0 &&
               shape_dim(shape[1], 0) % (shape_dim(shape[0], 1) / shape_dim(shape[1], 1)) == 0;
    return true;
}

static tg_status add_prototype(lab *l, tg_builder *b, const form *f, const packed_shape *shape,
                               uint32_t *id)
{
    static const int64_t ones[] = {1, 1, 1, 1}, swap[] = {1, 0};
    tg_value in[2];
    tg_named_attr attr[4];
    int n = 0;
    for (int i = 0; i < f->n_in; i++) {
        tg_type type = {TG_F32, world_shape(l->world, shape[i])};
        in[i] = tg_build_input(b, i ? "b" : "a", &type);
    }
    if (f->axis >= 0) attr[n++] = (tg_named_attr){"axis", TG_ATTR_OF_INT(f->axis)};
    if (strcmp(f->name, "Transpose") == 0)
        attr[n++] = (tg_named_attr){"perm", TG_ATTR_OF_INTS(swap, 2)};
    if (strcmp(f->name, "Conv") == 0) {
        attr[n++] = (tg_named_attr){"pads", TG_ATTR_OF_INTS(ones, 4)};
        attr[n++] = (tg_named_attr){
            "group", TG_ATTR_OF_INT(shape_dim(shape[0], 1) / shape_dim(shape[1], 1))};
        if (f->relu) attr[n++] = (tg_named_attr){"activation", tg_attr_str("Relu")};
    }
    tg_node_spec spec = {
        .op = f->op, .in = in, .n_in = f->n_in, .n_out = f->n_out, .attrs = attr, .n_attrs = n};
    return tg_build_node(b, &spec, id);
}

static packed_shape packed(const tg_shape *s)
{
    packed_shape out = 0;
    for (int i = 0; i < s->rank; i++) out |= (packed_shape)(s->dim[i] & 0xff) << 8 * i;
    return out;
}

static prototype make_prototype(lab *l, const form *f, const packed_shape *shape)
{
    prototype p = {0};
    uint32_t id;
    if (!fits(l->world, f, shape)) return p;
    tg_builder *b = tg_builder_new(l->origin);
    if (add_prototype(l, b, f, shape, &id) != TG_OK) {
        tg_builder_free(b);
        return p;
    }
    tg_value outs[] = {tg_value_of(id, 0), tg_value_of(id, 1)};
    const char *names[] = {"u", "v"};
    tg_build_outputs(b, outs, names, f->n_out);
    if (tg_build_done(b, &p.g) != TG_OK) return (prototype){0};
    p.node = tg_graph_node(p.g, id);
    p.out = packed(&p.node->out[0].shape);
    return p;
}

static const prototype *prototype_of(lab *l, const form *f, const packed_shape *shape)
{
    bool fresh;
    uint64_t key = tg_hash_add((uint64_t)(f - l->world->forms), shape[0]);
    if (f->n_in == 2) key = tg_hash_add(key, shape[1]);
    uint64_t *slot = tg_map_put(&l->by_key, key, &fresh);
    if (fresh) {
        tg_vec_push(&l->prototypes, make_prototype(l, f, shape));
        *slot = l->prototypes.n;
    }
    return &l->prototypes.v[*slot - 1];
}

bool lab_run(lab *l, const form *f, const packed_shape *shape, const double *const *in,
             packed_shape *out_shape, double **value)
{
    const prototype *p = prototype_of(l, f, shape);
    if (!p->node) return false;
    *out_shape = p->out;
    if (!value) return true;
    tg_tensor x[2], y[2];
    for (int i = 0; i < f->n_in; i++)
        x[i] = (tg_tensor){TG_F64, world_shape(l->world, shape[i]), (void *)in[i]};
    if (field_eval(p->node, l->seed, x, y) != TG_OK) return false;
    for (int i = 0; i < f->n_out; i++) value[i] = y[i].data;
    return true;
}

uint64_t lab_print(const world *w, packed_shape shape, const double *value)
{
    uint64_t h = tg_mix(shape);
    for (int64_t i = 0, n = world_count(w, shape); i < n; i++)
        h = tg_hash_add(h, (uint64_t)value[i]);
    return h;
}
