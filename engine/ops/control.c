/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Operators that run graphs. A body is a graph of its own: its first inputs are the formal ones of
 * the standard, the others stand for captured values of the graph around it, which are the last
 * inputs of the node.
 */
#include "body.h"
#include "cost.h"

#include "engine/ir/eval.h"
#include "engine/ir/graph.h"
#include "engine/ir/list.h"

#include <stdlib.h>
#include <string.h>

/* ---- types --------------------------------------------------------------------------------- */

static const tg_type *input_type(const tg_graph *body, int i)
{
    return &body->nodes[body->inputs[i]]->out[0];
}

static const tg_type *output_type(const tg_graph *body, int i)
{
    return tg_graph_type(body, tg_graph_sink(body)->in[i]);
}

static int n_outputs(const tg_graph *body)
{
    return tg_graph_sink(body)->n_in;
}

/* Whether values of type t are what optionals of type `wide` hold: they are put into one. */
static bool holds(tg_dtype wide, tg_dtype t)
{
    return t && wide != t && wide == tg_dtype_opt(t);
}

/* Whether every value of type `t` may be given where `wide` is expected. */
static bool takes(const tg_type *wide, const tg_type *t)
{
    if (holds(wide->dtype, t->dtype)) return true;
    if (wide->dtype && wide->dtype != t->dtype) return false;
    if (wide->shape.rank < 0) return true;
    if (wide->shape.rank != t->shape.rank) return false;
    for (int i = 0; i < wide->shape.rank; i++)
        if (wide->shape.dim[i] >= 0 && wide->shape.dim[i] != t->shape.dim[i]) return false;
    return true;
}

tg_status tg_body_takes(const tg_graph *body, int i, const tg_type *t, const char *what)
{
    const tg_type *wide = input_type(body, i);
    char a[TG_SHAPE_TEXT], b[TG_SHAPE_TEXT];
    if (takes(wide, t)) return TG_OK;
    if (wide->dtype && wide->dtype != t->dtype)
        return tg_fail(TG_TYPE, "input %d of the body is %s, not %s as %s", i,
                       tg_dtype_name(wide->dtype), tg_dtype_name(t->dtype), what);
    return tg_fail(TG_SHAPE, "input %d of the body has shape %s, not %s as %s", i,
                   tg_shape_text(a, &wide->shape), tg_shape_text(b, &t->shape), what);
}

/* What is true of values of either type. */
static tg_status join_types(const tg_type *a, const tg_type *b, tg_type *out)
{
    if (a->dtype && b->dtype && a->dtype != b->dtype)
        return tg_fail(TG_TYPE, "an output is %s or %s", tg_dtype_name(a->dtype),
                       tg_dtype_name(b->dtype));
    *out = *a;
    if (!out->dtype) out->dtype = b->dtype;
    if (a->shape.rank != b->shape.rank) out->shape = TG_SHAPE_UNKNOWN;
    for (int i = 0; i < out->shape.rank; i++)
        if (a->shape.dim[i] != b->shape.dim[i]) out->shape.dim[i] = -1;
    return TG_OK;
}

/* The type of `count` (-1: unknown) values of type t along a new axis. */
static tg_status stack_type(const tg_type *t, int64_t count, int64_t axis, tg_type *out)
{
    *out = (tg_type){t->dtype, TG_SHAPE_UNKNOWN};
    if (tg_dtype_is_list(t->dtype))
        return tg_fail(TG_TYPE, "a %s cannot be stacked", tg_dtype_name(t->dtype));
    if (t->shape.rank < 0) return TG_OK;
    if (t->shape.rank >= TG_MAX_RANK)
        return tg_fail(TG_LIMIT, "outputs stacked have a rank above %d", TG_MAX_RANK);
    TG_TRY(tg_axis_normalise(axis, t->shape.rank + 1, &axis));
    out->shape = (tg_shape){.rank = t->shape.rank + 1};
    for (int i = 0; i < out->shape.rank; i++)
        out->shape.dim[i] = i == axis ? count : t->shape.dim[i - (i > axis)];
    return TG_OK;
}

tg_status tg_body_captured(const tg_infer *infer, const tg_graph *body, int from)
{
    int shift = (int)body->n_inputs - infer->n_in;
    for (int i = from; i < infer->n_in; i++)
        TG_TRY(tg_body_takes(body, i + shift, &infer->in[i], "the value captured"));
    return TG_OK;
}

tg_status tg_body_counts(const tg_graph *body, int in, int out, const char *name)
{
    if ((int)body->n_inputs != in)
        return tg_fail(TG_INVALID, "%s has %u inputs, not %d", name, body->n_inputs, in);
    if (n_outputs(body) != out)
        return tg_fail(TG_INVALID, "%s has %d outputs, not %d", name, n_outputs(body), out);
    return TG_OK;
}

/* ---- If ------------------------------------------------------------------------------------ */

/* Element types are guesses where shapes are not known; the kernel looks again. */
static tg_status check_truth(const tg_type *t, const char *what)
{
    if (tg_type_complete(t) && t->dtype != TG_BOOL)
        return tg_fail(TG_TYPE, "%s is %s, not bool", what, tg_dtype_name(t->dtype));
    if (tg_shape_complete(&t->shape) && tg_shape_count(&t->shape) != 1)
        return tg_fail(TG_SHAPE, "%s is not one value", what);
    return TG_OK;
}

tg_status infer_if(tg_infer *infer)
{
    const tg_graph *a = tg_infer_attr(infer, "then_branch")->graph;
    const tg_graph *b = tg_infer_attr(infer, "else_branch")->graph;
    TG_TRY(check_truth(&infer->in[0], "the condition"));
    TG_TRY(tg_body_counts(a, infer->n_in - 1, infer->n_out, "then_branch"));
    TG_TRY(tg_body_counts(b, infer->n_in - 1, infer->n_out, "else_branch"));
    TG_TRY(tg_body_captured(infer, a, 1));
    TG_TRY(tg_body_captured(infer, b, 1));
    for (int i = 0; i < infer->n_out; i++)
        TG_TRY(join_types(output_type(a, i), output_type(b, i), &infer->out[i]));
    return TG_OK;
}

/* The truth of a tensor of one element. */
static tg_status truth_of(const tg_tensor *t, bool *truth)
{
    if (t->dtype != TG_BOOL || tg_tensor_count(t) != 1)
        return tg_fail(TG_SHAPE, "the condition is not one bool");
    *truth = tg_tensor_i64(t, 0) != 0;
    return TG_OK;
}

/* Hands a tensor over as output i; where memory is given, it is copied there. */
static tg_status give(tg_call *call, int i, tg_tensor *t)
{
    tg_tensor *out = &call->out[i];
    if (!out->data) {
        *out = *t;
        return TG_OK;
    }
    bool fits = out->dtype == t->dtype && tg_shape_equal(&out->shape, &t->shape);
    if (fits) memcpy(out->data, t->data, tg_tensor_bytes(t));
    tg_tensor_free(t);
    return fits ? TG_OK : tg_fail(TG_SHAPE, "output %d has another type than the body says", i);
}

static tg_status give_all(tg_call *call, tg_tensor *out, int n)
{
    tg_status status = TG_OK;
    for (int i = 0; i < n; i++) {
        if (status == TG_OK) status = give(call, i, &out[i]);
        else tg_tensor_free(&out[i]);
    }
    return status;
}

tg_status kernel_if(tg_call *call)
{
    bool truth = false;
    TG_TRY(truth_of(&call->in[0], &truth));
    const tg_graph *body = call_attr(call, truth ? "then_branch" : "else_branch")->graph;
    tg_tensor *out = TG_NEW_ARRAY(call->arena, tg_tensor, call->n_out + 1);
    TG_TRY(tg_call_run(call, body, call->in + 1, out));
    return give_all(call, out, call->n_out);
}

void tg_body_work(const tg_graph *body, double times, tg_work *work)
{
    float ms = 0;
    for (uint32_t i = 0; i < body->n_nodes; i++) {
        const tg_node *node = body->nodes[body->order[i]];
        tg_work w = tg_node_work(body, node);
        ms += (float)tg_work_ms(&w, node->op, node->rule != NULL);
        work->flops += times * w.flops;
        work->bytes += times * w.bytes;
        work->kernels += w.kernels;
    }
    work->ms += times * (double)ms;
}

void work_if(const tg_attr *attr, const tg_type *in, int n_in, const tg_type *out, int n_out,
             tg_work *work)
{
    (void)in, (void)n_in, (void)out, (void)n_out;
    *work = (tg_work){0};
    tg_body_work(attr[0].graph, 0.5, work);
    tg_body_work(attr[1].graph, 0.5, work);
}

/* ---- Loop ---------------------------------------------------------------------------------- */

/* A body that never ends is told from one that takes long by this many rounds. */
enum { MOST_ROUNDS = 1 << 24 };

static int64_t captured_of(const tg_op_row *row, const tg_attr *attr)
{
    return tg_row_int(row, attr, "captured");
}

/* Whether the body's condition is true whenever the one that it is given is. */
static bool stays_true(const tg_graph *body)
{
    tg_value v = tg_graph_sink(body)->in[0];
    const tg_node *maker = tg_graph_maker(body, v);
    while (maker->op == TG_OP(Identity)) maker = tg_graph_maker(body, v = maker->in[0]);
    if (maker->op == TG_OP_INPUT) return maker->id == body->inputs[1];
    if (maker->op != TG_OP_CONST) return false;
    tg_tensor t = tg_node_tensor(maker);
    return t.dtype == TG_BOOL && tg_tensor_count(&t) == 1 && tg_tensor_i64(&t, 0);
}

/* How often the body runs; -1: it depends on what it computes. */
static int64_t rounds_known(tg_infer *infer, const tg_graph *body)
{
    const tg_tensor *most = tg_infer_value(infer, 0), *cond = tg_infer_value(infer, 1);
    bool truth = true;
    if (has_type(infer, 1) && (!cond || truth_of(cond, &truth) != TG_OK)) return -1;
    if (!truth) return 0;
    if (!most || most->dtype != TG_I64 || tg_tensor_count(most) != 1 || !stays_true(body))
        return -1;
    int64_t n = tg_tensor_i64(most, 0);
    return n > 0 ? n : 0;
}

tg_status infer_loop(tg_infer *infer)
{
    const tg_graph *body = tg_infer_attr(infer, "body")->graph;
    int captured = (int)captured_of(infer->row, infer->attr);
    int carried = infer->n_in > 2 ? infer->n_in - 2 - captured : 0;
    if (captured < 0 || carried < 0 || carried > infer->n_out)
        return tg_fail(TG_INVALID, "its inputs and outputs do not fit each other");
    TG_TRY(tg_body_counts(body, 2 + carried + captured, 1 + infer->n_out, "the body"));
    if (has_type(infer, 1)) TG_TRY(check_truth(&infer->in[1], "the condition"));
    TG_TRY(check_truth(output_type(body, 0), "the condition of the body"));
    TG_TRY(tg_body_captured(infer, body, 2 + carried));
    for (int i = 0; i < carried; i++) {
        TG_TRY(tg_body_takes(body, 2 + i, &infer->in[2 + i], "the value given"));
        TG_TRY(tg_body_takes(body, 2 + i, output_type(body, 1 + i), "what the body makes"));
        const tg_type *made = output_type(body, 1 + i);
        if (holds(infer->in[2 + i].dtype, made->dtype)) infer->out[i] = *made;
        else TG_TRY(join_types(&infer->in[2 + i], made, &infer->out[i]));
    }
    int64_t rounds = rounds_known(infer, body);
    if (rounds > MOST_ROUNDS) rounds = -1;
    for (int i = carried; i < infer->n_out; i++)
        TG_TRY(stack_type(output_type(body, 1 + i), rounds, 0, &infer->out[i]));
    *tg_infer_attr(infer, "rounds") =
        rounds < 0 ? (tg_attr){.kind = TG_ATTR_NONE} : TG_ATTR_OF_INT(rounds);
    return TG_OK;
}

/* Values of one type, one after the other. */
typedef struct pile {
    tg_type type;
    char *data;
    size_t n, room; /* bytes */
    int64_t count;
} pile;

/* Takes over the tensor. */
static tg_status pile_add(pile *p, tg_tensor *t)
{
    size_t size = tg_tensor_bytes(t);
    bool fits =
        !p->count || (p->type.dtype == t->dtype && tg_shape_equal(&p->type.shape, &t->shape));
    if (!fits) {
        tg_tensor_free(t);
        return tg_fail(TG_SHAPE, "a scan output changes its shape");
    }
    if (p->n + size > p->room) {
        p->room = 2 * (p->n + size);
        p->data = tg_realloc(p->data, p->room);
    }
    if (size) memcpy(p->data + p->n, t->data, size);
    p->n += size;
    p->type = (tg_type){t->dtype, t->shape};
    p->count++;
    tg_tensor_free(t);
    return TG_OK;
}

/* A Loop on its way. */
typedef struct loop {
    tg_call *call;
    const tg_graph *body;
    int carried, stacked;
    tg_tensor *in, *out; /* of the body */
    pile *piles;
    int64_t round;
    bool go_on;
} loop;

/* Makes the pile an output: none at all has the shape that the body declares. */
static tg_status pile_give(loop *l, int i)
{
    pile *p = &l->piles[i];
    tg_type stacked;
    if (!p->count) {
        p->type = *output_type(l->body, 1 + l->carried + i);
        if (p->type.shape.rank < 0) p->type.shape.rank = 0;
        for (int k = 0; k < p->type.shape.rank; k++)
            if (p->type.shape.dim[k] < 0) p->type.shape.dim[k] = 0;
    }
    TG_TRY(stack_type(&p->type, p->count, 0, &stacked));
    tg_tensor t = {stacked.dtype, stacked.shape, p->data ? p->data : tg_calloc(1, 1)};
    p->data = NULL;
    return give(l->call, l->carried + i, &t);
}

/* Puts a value into an optional where one is expected. */
static void hold(tg_tensor *t, tg_dtype want)
{
    if (!holds(want, t->dtype)) return;
    tg_list *list = tg_list_new(1);
    tg_list_give(list, 0, *t);
    *t = tg_list_value(want, list);
}

/* And takes it out where the body makes what the optional holds. */
static tg_status release(tg_tensor *t, tg_dtype want)
{
    if (!holds(t->dtype, want)) return TG_OK;
    const tg_list *list = tg_list_of(t);
    if (!list->n) return tg_fail(TG_INVALID, "an optional that holds nothing is carried out");
    tg_tensor held = tg_tensor_copy(&list->item[0].tensor);
    tg_tensor_free(t);
    *t = held;
    return TG_OK;
}

static tg_status loop_round(loop *l)
{
    memcpy(l->in[0].data, &l->round, sizeof l->round);
    *(bool *)l->in[1].data = true;
    TG_TRY(tg_call_run(l->call, l->body, l->in, l->out));
    tg_status status = truth_of(&l->out[0], &l->go_on);
    tg_tensor_free(&l->out[0]);
    for (int i = 0; i < l->carried; i++) {
        tg_tensor_free(&l->in[2 + i]);
        l->in[2 + i] = l->out[1 + i];
        hold(&l->in[2 + i], input_type(l->body, 2 + i)->dtype);
    }
    for (int i = 0; i < l->stacked; i++) {
        tg_tensor *t = &l->out[1 + l->carried + i];
        if (status == TG_OK) status = pile_add(&l->piles[i], t);
        else tg_tensor_free(t);
    }
    l->round++;
    return status;
}

static tg_status loop_rounds(loop *l)
{
    int64_t most = INT64_MAX;
    if (has_input(l->call, 0)) {
        if (tg_tensor_count(&l->call->in[0]) != 1)
            return tg_fail(TG_SHAPE, "the trip count is not one number");
        most = tg_tensor_i64(&l->call->in[0], 0);
    }
    l->go_on = true;
    if (has_input(l->call, 1)) TG_TRY(truth_of(&l->call->in[1], &l->go_on));
    while (l->go_on && l->round < most) {
        if (l->round == MOST_ROUNDS)
            return tg_fail(TG_LIMIT, "the body runs more than %d times", MOST_ROUNDS);
        TG_TRY(loop_round(l));
    }
    return TG_OK;
}

/* A formal input of one element, with the shape that the body declares for it. */
static tg_tensor one_element(const tg_call *call, const tg_graph *body, int i, tg_dtype dtype)
{
    tg_tensor t = {dtype, {.rank = 0}, tg_arena_alloc(call->arena, 8)};
    const tg_shape *s = &input_type(body, i)->shape;
    if (tg_shape_complete(s) && tg_shape_count(s) == 1) t.shape = *s;
    return t;
}

static void loop_start(loop *l, tg_call *call)
{
    int captured = (int)captured_of(call->row, call->attr);
    *l = (loop){.call = call, .body = call_attr(call, "body")->graph};
    l->carried = call->n_in > 2 ? call->n_in - 2 - captured : 0;
    l->stacked = call->n_out - l->carried;
    l->in = TG_NEW_ARRAY(call->arena, tg_tensor, l->body->n_inputs + 1);
    l->out = TG_NEW_ARRAY(call->arena, tg_tensor, call->n_out + 1);
    l->piles = TG_NEW_ARRAY(call->arena, pile, l->stacked + 1);
    l->in[0] = one_element(call, l->body, 0, TG_I64);
    l->in[1] = one_element(call, l->body, 1, TG_BOOL);
    for (int i = 2; i < call->n_in; i++) {
        l->in[i] = call->in[i];
        if (i < 2 + l->carried) l->in[i] = tg_tensor_copy(&call->in[i]);
    }
}

tg_status kernel_loop(tg_call *call)
{
    loop l;
    loop_start(&l, call);
    tg_status status = loop_rounds(&l);
    for (int i = 0; i < l.carried; i++) {
        if (status == TG_OK) status = release(&l.in[2 + i], output_type(l.body, 1 + i)->dtype);
        if (status == TG_OK) status = give(call, i, &l.in[2 + i]);
        else tg_tensor_free(&l.in[2 + i]);
    }
    for (int i = 0; i < l.stacked; i++) {
        if (status == TG_OK) status = pile_give(&l, i);
        free(l.piles[i].data);
    }
    return status;
}

void work_loop(const tg_attr *attr, const tg_type *in, int n_in, const tg_type *out, int n_out,
               tg_work *work)
{
    (void)in, (void)n_in, (void)out, (void)n_out;
    int rounds = tg_op_attr_index(TG_OP(Loop), "rounds");
    *work = (tg_work){0};
    tg_body_work(attr[0].graph, attr[rounds].kind == TG_ATTR_INT ? (double)attr[rounds].i : 1,
                 work);
}

/* ---- Scan ---------------------------------------------------------------------------------- */

/* The parts of a Scan, from its row and attributes. */
typedef struct scan {
    const tg_graph *body;
    int states, scanned, captured, stacked;
    const tg_attr *in_axes, *in_back, *out_axes, *out_back;
} scan;

static tg_status scan_parts(const tg_op_row *row, const tg_attr *attr, int n_in, int n_out, scan *s)
{
    s->body = tg_row_attr(row, attr, "body")->graph;
    int64_t scanned = tg_row_int(row, attr, "num_scan_inputs"), captured = captured_of(row, attr);
    if (scanned < 1 || captured < 0 || scanned > n_in || captured > n_in - scanned ||
        n_in - scanned - captured > n_out)
        return tg_fail(TG_INVALID, "its inputs and outputs do not fit each other");
    s->scanned = (int)scanned;
    s->captured = (int)captured;
    s->states = n_in - s->scanned - s->captured;
    s->stacked = n_out - s->states;
    s->in_axes = tg_row_attr(row, attr, "scan_input_axes");
    s->in_back = tg_row_attr(row, attr, "scan_input_directions");
    s->out_axes = tg_row_attr(row, attr, "scan_output_axes");
    s->out_back = tg_row_attr(row, attr, "scan_output_directions");
    return TG_OK;
}

/* Element i of a list that may be left out. */
static int64_t item(const tg_attr *list, int i)
{
    return list->kind == TG_ATTR_INTS && (uint32_t)i < list->n ? list->ints[i] : 0;
}

static tg_status check_list(const tg_infer *infer, const char *name, int n)
{
    const tg_attr *a = tg_row_attr(infer->row, infer->attr, name);
    if (a->kind == TG_ATTR_INTS && a->n && a->n != (uint32_t)n)
        return tg_fail(TG_INVALID, "%s has %u entries, not %d", name, a->n, n);
    return TG_OK;
}

/* A list of zeros says nothing: it is left out. */
static void drop_zeros(tg_infer *infer, const char *name)
{
    tg_attr *a = tg_infer_attr(infer, name);
    for (uint32_t i = 0; a->kind == TG_ATTR_INTS && i < a->n; i++)
        if (a->ints[i]) return;
    *a = (tg_attr){.kind = TG_ATTR_NONE};
}

/* The type of one step's part of scan input i; the length joins *length. */
static tg_status slice_type(const tg_type *whole, int64_t axis, int64_t *length, tg_type *out)
{
    *out = (tg_type){whole->dtype, TG_SHAPE_UNKNOWN};
    if (whole->shape.rank < 0) return TG_OK;
    TG_TRY(tg_axis_normalise(axis, whole->shape.rank, &axis));
    int64_t n = whole->shape.dim[axis];
    if (n >= 0 && *length >= 0 && n != *length)
        return tg_fail(TG_SHAPE, "scan inputs have lengths %lld and %lld", (long long)*length,
                       (long long)n);
    if (n >= 0) *length = n;
    out->shape = (tg_shape){.rank = whole->shape.rank - 1};
    for (int i = 0; i < out->shape.rank; i++) out->shape.dim[i] = whole->shape.dim[i + (i >= axis)];
    return TG_OK;
}

static tg_status check_lists(tg_infer *infer, const scan *s)
{
    TG_TRY(check_list(infer, "scan_input_axes", s->scanned));
    TG_TRY(check_list(infer, "scan_input_directions", s->scanned));
    TG_TRY(check_list(infer, "scan_output_axes", s->stacked));
    TG_TRY(check_list(infer, "scan_output_directions", s->stacked));
    drop_zeros(infer, "scan_input_axes");
    drop_zeros(infer, "scan_input_directions");
    drop_zeros(infer, "scan_output_axes");
    drop_zeros(infer, "scan_output_directions");
    return TG_OK;
}

tg_status infer_scan(tg_infer *infer)
{
    scan s;
    int64_t length = -1;
    TG_TRY(scan_parts(infer->row, infer->attr, infer->n_in, infer->n_out, &s));
    TG_TRY(tg_body_counts(s.body, infer->n_in, infer->n_out, "the body"));
    TG_TRY(tg_body_captured(infer, s.body, s.states + s.scanned));
    TG_TRY(check_lists(infer, &s));
    for (int i = 0; i < s.states; i++) {
        TG_TRY(tg_body_takes(s.body, i, &infer->in[i], "the state given"));
        TG_TRY(tg_body_takes(s.body, i, output_type(s.body, i), "what the body makes"));
        TG_TRY(join_types(&infer->in[i], output_type(s.body, i), &infer->out[i]));
    }
    for (int i = 0; i < s.scanned; i++) {
        tg_type slice;
        TG_TRY(slice_type(&infer->in[s.states + i], item(s.in_axes, i), &length, &slice));
        TG_TRY(tg_body_takes(s.body, s.states + i, &slice, "a part of the scan input"));
    }
    for (int i = s.states; i < infer->n_out; i++)
        TG_TRY(stack_type(output_type(s.body, i), length, item(s.out_axes, i - s.states),
                          &infer->out[i]));
    return TG_OK;
}

/* Copies between one position on an axis and a plain block; `put`: the block is the source. */
static void move_slice(const tg_tensor *whole, int64_t axis, int64_t at, void *block, bool put)
{
    size_t inner = tg_dtype_size(whole->dtype);
    int64_t outer = 1;
    for (int64_t i = 0; i < axis; i++) outer *= whole->shape.dim[i];
    for (int64_t i = axis + 1; i < whole->shape.rank; i++) inner *= (size_t)whole->shape.dim[i];
    size_t stride = inner * (size_t)whole->shape.dim[axis];
    for (int64_t o = 0; inner && o < outer; o++) {
        char *a = (char *)whole->data + (size_t)o * stride + (size_t)at * inner;
        char *b = (char *)block + (size_t)o * inner;
        memcpy(put ? a : b, put ? b : a, inner);
    }
}

/* A Scan on its way. */
typedef struct scanning {
    tg_call *call;
    scan s;
    int64_t length;
    tg_tensor *in, *out; /* of the body */
    tg_tensor *stacks;
} scanning;

/* The parts of the scan inputs have memory of their own, filled anew in each step. */
static tg_status scan_start(scanning *r)
{
    const tg_call *call = r->call;
    r->length = -1;
    for (int i = 0; i < call->n_in; i++) {
        r->in[i] = call->in[i];
        if (i < r->s.states) r->in[i] = tg_tensor_copy(&call->in[i]);
    }
    for (int i = 0; i < r->s.scanned; i++) {
        const tg_tensor *whole = &call->in[r->s.states + i];
        tg_type t = {whole->dtype, whole->shape}, slice;
        TG_TRY(slice_type(&t, item(r->s.in_axes, i), &r->length, &slice));
        tg_tensor *part = &r->in[r->s.states + i];
        *part = (tg_tensor){slice.dtype, slice.shape, NULL};
        part->data = tg_arena_alloc(call->arena, tg_tensor_bytes(part) + 1);
    }
    return TG_OK;
}

/* The stack for output i, made when the type of its parts is known. */
static tg_status stack_for(scanning *r, int i, const tg_type *part)
{
    tg_type t;
    tg_tensor *out = &r->call->out[r->s.states + i], *stack = &r->stacks[i];
    TG_TRY(stack_type(part, r->length, item(r->s.out_axes, i), &t));
    TG_TRY(tg_type_limit(&t));
    if (out->data && (out->dtype != t.dtype || !tg_shape_equal(&out->shape, &t.shape)))
        return tg_fail(TG_SHAPE, "scan output %d has another type than the body says", i);
    if (!out->data) tg_call_alloc(r->call, r->s.states + i, t.dtype, t.shape);
    *stack = *out;
    return TG_OK;
}

static tg_status keep_part(scanning *r, int i, int64_t step, const tg_tensor *part)
{
    tg_type t = {part->dtype, part->shape};
    tg_tensor *stack = &r->stacks[i];
    int64_t axis = item(r->s.out_axes, i), at = step;
    if (!stack->data) TG_TRY(stack_for(r, i, &t));
    tg_type want;
    TG_TRY(stack_type(&t, r->length, axis, &want));
    if (!tg_shape_equal(&want.shape, &stack->shape) || t.dtype != stack->dtype)
        return tg_fail(TG_SHAPE, "a scan output changes its shape");
    TG_TRY(tg_axis_normalise(axis, want.shape.rank, &axis));
    if (item(r->s.out_back, i)) at = r->length - 1 - step;
    move_slice(stack, axis, at, part->data, true);
    return TG_OK;
}

static tg_status scan_step(scanning *r, int64_t step)
{
    const scan *s = &r->s;
    for (int i = 0; i < s->scanned; i++) {
        const tg_tensor *whole = &r->call->in[s->states + i];
        int64_t axis, at = item(s->in_back, i) ? r->length - 1 - step : step;
        TG_TRY(tg_axis_normalise(item(s->in_axes, i), whole->shape.rank, &axis));
        move_slice(whole, axis, at, r->in[s->states + i].data, false);
    }
    TG_TRY(tg_call_run(r->call, s->body, r->in, r->out));
    for (int i = 0; i < s->states; i++) {
        tg_tensor_free(&r->in[i]);
        r->in[i] = r->out[i];
    }
    tg_status status = TG_OK;
    for (int i = 0; i < s->stacked; i++) {
        if (status == TG_OK) status = keep_part(r, i, step, &r->out[s->states + i]);
        tg_tensor_free(&r->out[s->states + i]);
    }
    return status;
}

static tg_status scan_all(scanning *r)
{
    TG_TRY(scan_start(r));
    for (int64_t step = 0; step < r->length; step++) TG_TRY(scan_step(r, step));
    for (int i = 0; i < r->s.stacked; i++) {
        if (r->stacks[i].data) continue;
        tg_type t = *output_type(r->s.body, r->s.states + i);
        if (t.shape.rank < 0) t.shape.rank = 0;
        for (int k = 0; k < t.shape.rank; k++)
            if (t.shape.dim[k] < 0) t.shape.dim[k] = 0;
        TG_TRY(stack_for(r, i, &t));
    }
    return TG_OK;
}

tg_status kernel_scan(tg_call *call)
{
    scanning r = {.call = call};
    TG_TRY(scan_parts(call->row, call->attr, call->n_in, call->n_out, &r.s));
    r.in = TG_NEW_ARRAY(call->arena, tg_tensor, call->n_in + 1);
    r.out = TG_NEW_ARRAY(call->arena, tg_tensor, call->n_out + 1);
    r.stacks = TG_NEW_ARRAY(call->arena, tg_tensor, r.s.stacked + 1);
    tg_status status = scan_all(&r);
    for (int i = 0; i < r.s.states; i++) {
        if (status == TG_OK) status = give(call, i, &r.in[i]);
        else tg_tensor_free(&r.in[i]);
    }
    return status;
}

void work_scan(const tg_attr *attr, const tg_type *in, int n_in, const tg_type *out, int n_out,
               tg_work *work)
{
    scan s;
    int64_t length = -1;
    tg_type slice;
    *work = (tg_work){0};
    if (scan_parts(tg_op_get(TG_OP(Scan)), attr, n_in, n_out, &s) != TG_OK) return;
    (void)out;
    for (int i = 0; i < s.scanned; i++)
        if (slice_type(&in[s.states + i], item(s.in_axes, i), &length, &slice) != TG_OK) return;
    tg_body_work(s.body, length < 0 ? 1 : (double)length, work);
}
