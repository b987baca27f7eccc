/* SPDX-License-Identifier: GPL-3.0-or-later */
/* SequenceMap: a graph for each tensor of a sequence. */
#include "body.h"

#include "engine/ir/list.h"
#include "engine/ir/value.h"

static tg_dtype made_by(const tg_graph *body, int i)
{
    return tg_graph_type(body, tg_graph_sink(body)->in[i])->dtype;
}

/* What the body is given of an input: of a sequence, a tensor of it. */
static tg_type mapped_type(const tg_type *t)
{
    if (!tg_dtype_is_list(t->dtype)) return *t;
    return (tg_type){tg_dtype_item(t->dtype), TG_SHAPE_UNKNOWN};
}

tg_status infer_sequence_map(tg_infer *infer)
{
    const tg_graph *body = tg_infer_attr(infer, "body")->graph;
    int formal = infer->n_in - (int)tg_row_int(infer->row, infer->attr, "captured");
    if (formal < 1 || formal > infer->n_in)
        return tg_fail(TG_INVALID, "its inputs do not fit its body");
    if (infer->in[0].dtype && !tg_dtype_is_list(infer->in[0].dtype))
        return tg_fail(TG_TYPE, "input 0 is %s, not a sequence", tg_dtype_name(infer->in[0].dtype));
    TG_TRY(tg_body_counts(body, infer->n_in, infer->n_out, "the body"));
    TG_TRY(tg_body_captured(infer, body, formal));
    for (int i = 0; i < formal; i++) {
        tg_type item = mapped_type(&infer->in[i]);
        if (tg_dtype_is_list(item.dtype))
            return tg_fail(TG_TYPE, "input %d is %s", i, tg_dtype_name(infer->in[i].dtype));
        if (item.dtype) TG_TRY(tg_body_takes(body, i, &item, "an item"));
    }
    for (int i = 0; i < infer->n_out; i++) {
        tg_dtype made = made_by(body, i);
        if (tg_dtype_is_list(made))
            return tg_fail(TG_TYPE, "a sequence of %s", tg_dtype_name(made));
        infer->out[i].dtype = tg_dtype_seq(made);
    }
    return TG_OK;
}

/* A SequenceMap on its way: `formal` inputs are mapped, lists among them item by item. */
typedef struct mapping {
    tg_call *call;
    const tg_graph *body;
    int formal;
    int64_t n;
    tg_tensor *in, *out; /* of the body */
    tg_list **lists;     /* to become the outputs */
    tg_dtype *dtypes;    /* of their items */
} mapping;

static tg_status map_lengths(mapping *m)
{
    if (!tg_dtype_is_list(m->call->in[0].dtype))
        return tg_fail(TG_TYPE, "input 0 is %s, not a sequence",
                       tg_dtype_name(m->call->in[0].dtype));
    m->n = tg_list_of(&m->call->in[0])->n;
    for (int i = 1; i < m->formal; i++) {
        if (!tg_dtype_is_list(m->call->in[i].dtype)) continue;
        int64_t n = tg_list_of(&m->call->in[i])->n;
        if (n != m->n)
            return tg_fail(TG_INVALID, "sequences of %lld and %lld items", (long long)m->n,
                           (long long)n);
    }
    return TG_OK;
}

static tg_status map_item(mapping *m, int64_t at)
{
    for (int i = 0; i < m->call->n_in; i++) {
        const tg_tensor *t = &m->call->in[i];
        bool listed = i < m->formal && tg_dtype_is_list(t->dtype);
        m->in[i] = listed ? tg_list_of(t)->item[at].tensor : *t;
    }
    TG_TRY(tg_call_run(m->call, m->body, m->in, m->out));
    tg_status status = TG_OK;
    for (int i = 0; i < m->call->n_out; i++) {
        tg_dtype made = m->out[i].dtype;
        tg_list_give(m->lists[i], at, m->out[i]);
        if (!m->dtypes[i]) m->dtypes[i] = made;
        if (made != m->dtypes[i] || tg_dtype_is_list(made))
            status = tg_fail(TG_TYPE, "item %lld is %s in a sequence of %s", (long long)at,
                             tg_dtype_name(made), tg_dtype_name(m->dtypes[i]));
    }
    return status;
}

static tg_status map_all(mapping *m)
{
    for (int64_t at = 0; at < m->n; at++) TG_TRY(map_item(m, at));
    for (int i = 0; i < m->call->n_out; i++)
        if (!m->dtypes[i])
            return tg_fail(TG_UNSUPPORTED, "an empty sequence of a type that is not known");
    return TG_OK;
}

tg_status kernel_sequence_map(tg_call *call)
{
    mapping m = {.call = call, .body = call_attr(call, "body")->graph};
    m.formal = call->n_in - (int)call_attr(call, "captured")->i;
    TG_TRY(map_lengths(&m));
    m.in = TG_NEW_ARRAY(call->arena, tg_tensor, call->n_in + 1);
    m.out = TG_NEW_ARRAY(call->arena, tg_tensor, call->n_out + 1);
    m.lists = TG_NEW_ARRAY(call->arena, tg_list *, call->n_out + 1);
    m.dtypes = TG_NEW_ARRAY(call->arena, tg_dtype, call->n_out + 1);
    for (int i = 0; i < call->n_out; i++) {
        m.lists[i] = tg_list_new(m.n);
        m.dtypes[i] = made_by(m.body, i);
    }
    tg_status status = map_all(&m);
    for (int i = 0; i < call->n_out; i++) {
        if (status != TG_OK) tg_list_unref(m.lists[i]);
        else tg_call_put(call, i, tg_list_value(tg_dtype_seq(m.dtypes[i]), m.lists[i]));
    }
    return status;
}

void work_sequence_map(const tg_attr *attr, const tg_type *in, int n_in, const tg_type *out,
                       int n_out, tg_work *work)
{
    (void)in, (void)n_in, (void)out, (void)n_out;
    *work = (tg_work){0};
    tg_body_work(attr[0].graph, 1, work);
}
