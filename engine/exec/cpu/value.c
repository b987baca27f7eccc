/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where values lie, and bringing them into the layout that a step needs. */
#include "copy.h"
#include "engine/exec/fold.h"
#include "plan.h"
#include "quant.h"

#include <string.h>

/* Vector code may read this far past the end of a constant. */
enum { SPARE = 64 };

static int buffer_add(tg_cpu_plan *p, const tg_cpu_buffer *b)
{
    tg_vec_push(&p->buffers, *b);
    return (int)p->buffers.n - 1;
}

const tg_type *tg_cpu_type(const tg_cpu_plan *p, tg_value v)
{
    return tg_graph_type(p->g, v);
}

bool tg_cpu_is_float(const tg_cpu_plan *p, tg_value v)
{
    const tg_type *t = tg_cpu_type(p, v);
    return t->dtype == TG_F32 && tg_type_complete(t) && tg_shape_count(&t->shape) > 0;
}

static tg_status constant_value(tg_cpu_plan *p, tg_value v, tg_operand *out)
{
    tg_weight *weight;
    TG_TRY(tg_fold_value(p->g, v, &weight));
    const tg_type *type = tg_graph_type(p->g, v);
    tg_cpu_buffer b = {.place = TG_PLACE_CONST,
                       .size = weight->size,
                       .data = (void *)(uintptr_t)weight->data,
                       .weight = weight,
                       .hash = tg_fold_hash(p->g, v)};
    *out = (tg_operand){buffer_add(p, &b), type->dtype, type->shape, tg_layout_plain(&type->shape)};
    return TG_OK;
}

tg_status tg_cpu_value(tg_cpu_plan *p, tg_value v, tg_operand *out)
{
    tg_operand *at = &p->values[p->first[tg_value_node(v)] + tg_value_port(v)];
    const tg_node *maker = tg_graph_maker(p->g, v);
    if (at->buffer < 0 && maker->constant) TG_TRY(constant_value(p, v, at));
    else if (at->buffer < 0 && tg_quant_is_lazy(p->g, maker)) TG_TRY(tg_cpu_plan_node(p, maker));
    *out = *at;
    return TG_OK;
}

void tg_cpu_set(tg_cpu_plan *p, const tg_node *node, uint32_t port, const tg_operand *at)
{
    p->values[p->first[node->id] + port] = *at;
}

tg_operand tg_cpu_new(tg_cpu_plan *p, const tg_type *type, const tg_layout *layout)
{
    tg_cpu_buffer b = {.place = TG_PLACE_ARENA,
                       .size = (size_t)tg_type_bytes(type),
                       .first = INT32_MAX,
                       .last = -1};
    return (tg_operand){buffer_add(p, &b), type->dtype, type->shape, *layout};
}

int tg_cpu_scratch(tg_cpu_plan *p, size_t bytes)
{
    tg_cpu_buffer b = {.place = TG_PLACE_ARENA, .size = bytes, .first = INT32_MAX, .last = -1};
    return buffer_add(p, &b);
}

const void *tg_cpu_constant_data(const tg_cpu_plan *p, const tg_operand *at)
{
    if (at->buffer < 0 || p->buffers.v[at->buffer].place != TG_PLACE_CONST) return NULL;
    return (const char *)p->buffers.v[at->buffer].data +
           at->layout.offset * (int64_t)tg_dtype_size(at->dtype);
}

bool tg_cpu_is_scalar(const tg_cpu_plan *p, const tg_operand *at, float *x)
{
    const void *data = tg_cpu_constant_data(p, at);
    if (!data || at->dtype != TG_F32 || tg_shape_count(&at->shape) != 1) return false;
    memcpy(x, data, sizeof *x);
    return true;
}

/* What is copied when a constant is brought into another form. */
typedef struct repack {
    const tg_cpu_plan *p;
    const tg_operand *from, *to;
    const void *data;
    size_t size;
} repack;

static tg_status fill_moved(void *ctx, void *data)
{
    const repack *r = ctx;
    memset((char *)data + r->size, 0, SPARE);
    tg_copy_run(r->from->dtype, &r->from->shape, &r->from->layout,
                tg_cpu_constant_data(r->p, r->from), &r->to->layout, data);
    return TG_OK;
}

static tg_status move_constant(tg_cpu_plan *p, const tg_operand *from, const tg_layout *layout,
                               tg_operand *out)
{
    tg_packed *pack;
    tg_operand to = *from;
    to.layout = *layout;
    to.layout.offset = 0;
    tg_type type = {from->dtype, from->shape};
    size_t size = (size_t)tg_type_bytes(&type);
    uint64_t form =
        tg_hash_bytes(tg_hash_bytes(3, &to.shape, sizeof to.shape), &to.layout, sizeof to.layout);
    form = tg_hash_bytes(form, &from->layout, sizeof from->layout);
    repack r = {p, from, &to, NULL, size};
    TG_TRY(
        tg_packed_get(p->buffers.v[from->buffer].hash, form, size + SPARE, fill_moved, &r, &pack));
    tg_cpu_buffer b = {.place = TG_PLACE_CONST,
                       .size = size,
                       .data = pack->data,
                       .pack = pack,
                       .hash = tg_hash_add(p->buffers.v[from->buffer].hash, form)};
    to.buffer = buffer_add(p, &b);
    *out = to;
    return TG_OK;
}

/* Fills a constant that the plan itself computed. */
static tg_status fill_given(void *ctx, void *data)
{
    const repack *r = ctx;
    memcpy(data, r->data, r->size);
    memset((char *)data + r->size, 0, SPARE);
    return TG_OK;
}

tg_operand tg_cpu_constant(tg_cpu_plan *p, tg_dtype dtype, const tg_shape *shape, const void *data)
{
    tg_packed *pack;
    tg_type type = {dtype, *shape};
    repack r = {.data = data, .size = (size_t)tg_type_bytes(&type)};
    uint64_t hash = tg_hash_bytes(11, data, r.size);
    /* fill_given cannot fail. */
    if (tg_packed_get(hash, r.size, r.size + SPARE, fill_given, &r, &pack) != TG_OK) abort();
    tg_cpu_buffer b = {
        .place = TG_PLACE_CONST, .size = r.size, .data = pack->data, .pack = pack, .hash = hash};
    return (tg_operand){buffer_add(p, &b), dtype, *shape, tg_layout_plain(shape)};
}

static bool same_place(const tg_operand *a, const tg_operand *b)
{
    return a->buffer == b->buffer && a->layout.offset == b->layout.offset &&
           tg_shape_equal(&a->shape, &b->shape) &&
           tg_layout_same(&a->shape, &a->layout, &b->layout);
}

static const tg_cpu_copy *copy_find(const tg_cpu_plan *p, const tg_operand *from,
                                    const tg_layout *layout)
{
    for (size_t i = p->copies.n; i--;) {
        const tg_cpu_copy *c = &p->copies.v[i];
        if (same_place(&c->from, from) && tg_layout_same(&from->shape, &c->to.layout, layout))
            return c;
    }
    return NULL;
}

tg_status tg_cpu_move(tg_cpu_plan *p, const tg_operand *from, const tg_layout *layout,
                      tg_operand *out)
{
    if (tg_layout_same(&from->shape, &from->layout, layout)) {
        *out = *from;
        return TG_OK;
    }
    if (p->buffers.v[from->buffer].place == TG_PLACE_CONST)
        return move_constant(p, from, layout, out);
    const tg_cpu_copy *there = copy_find(p, from, layout);
    if (there) {
        *out = there->to;
        return TG_OK;
    }
    tg_type type = {from->dtype, from->shape};
    tg_layout dense = *layout;
    dense.offset = 0;
    tg_operand source = *from, to = tg_cpu_new(p, &type, &dense);
    TG_TRY(tg_copy_plan(p, NULL, &source, &to));
    tg_vec_push(&p->copies, (tg_cpu_copy){source, to});
    *out = to;
    return TG_OK;
}

tg_status tg_cpu_padded(tg_cpu_plan *p, const tg_operand *from, tg_operand *out)
{
    const tg_cpu_buffer *b = &p->buffers.v[from->buffer];
    tg_layout plain = tg_layout_plain(&from->shape);
    if (b->place != TG_PLACE_CONST || b->pack) {
        *out = *from;
        return TG_OK;
    }
    return move_constant(
        p, from, tg_layout_is_dense(&from->shape, &from->layout) ? &from->layout : &plain, out);
}

tg_status tg_cpu_plain(tg_cpu_plan *p, tg_value v, tg_operand *out)
{
    tg_operand at;
    TG_TRY(tg_cpu_value(p, v, &at));
    tg_layout plain = tg_layout_plain(&at.shape);
    return tg_cpu_move(p, &at, &plain, out);
}

tg_status tg_cpu_last(tg_cpu_plan *p, tg_value v, tg_operand *out)
{
    tg_operand at;
    TG_TRY(tg_cpu_value(p, v, &at));
    tg_layout last = tg_layout_last(&at.shape);
    return tg_cpu_move(p, &at, &last, out);
}

tg_status tg_cpu_dense(tg_cpu_plan *p, tg_value v, tg_operand *out)
{
    tg_operand at;
    TG_TRY(tg_cpu_value(p, v, &at));
    if (tg_layout_is_dense(&at.shape, &at.layout)) {
        *out = at;
        return TG_OK;
    }
    int axes[TG_MAX_RANK];
    tg_layout_order(&at.shape, &at.layout, axes);
    tg_layout dense = tg_layout_of_order(&at.shape, axes);
    return tg_cpu_move(p, &at, &dense, out);
}
