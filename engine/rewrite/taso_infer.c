/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shapes as TASO infers them, with strides and boundaries. */
#include "taso_view.h"

#include "engine/base/hash.h"

#include <string.h>

/* ---- dimensions ----------------------------------------------------------------------------- */

static bool same_rank(const taso_shape *a, const taso_shape *b)
{
    return a->rank == b->rank;
}

static int64_t window(int64_t in, int64_t kernel, const taso_op *op)
{
    if (op->pad == TASO_SAME) return (in + op->stride - 1) / op->stride;
    int64_t room = in - kernel;
    return (room < 0 ? -1 : room / op->stride) + 1;
}

static bool infer_conv(const taso_op *op, const taso_shape *x, const taso_shape *w, taso_shape *out)
{
    if (x->rank != 4 || w->rank != 4 || !w->dim[1] || x->dim[1] % w->dim[1]) return false;
    int64_t groups = x->dim[1] / w->dim[1];
    if (!groups || w->dim[0] % groups) return false;
    *out = (taso_shape){.rank = 4, .dim = {x->dim[0], w->dim[0]}};
    for (int i = 2; i < 4; i++) out->dim[i] = window(x->dim[i], w->dim[i], op);
    return true;
}

/* The middle test is right for matrices only; TASO makes it at every rank. */
static bool infer_matmul(const taso_shape *a, const taso_shape *b, taso_shape *out)
{
    int r = a->rank;
    if (r < 2 || !same_rank(a, b)) return false;
    if (b->dim[0] != a->dim[1] || b->dim[r - 2] != a->dim[r - 1]) return false;
    *out = (taso_shape){.rank = r};
    for (int i = 0; i < r - 2; i++) {
        if (a->dim[i] != b->dim[i]) return false;
        out->dim[i] = a->dim[i];
    }
    out->dim[r - 2] = a->dim[r - 2];
    out->dim[r - 1] = b->dim[r - 1];
    return true;
}

/* A dimension counted from the right, 1 where there is none. */
static int64_t dim_at(const taso_shape *s, int from_right)
{
    return from_right < s->rank ? s->dim[s->rank - 1 - from_right] : 1;
}

static bool infer_sum(const taso_shape *a, const taso_shape *b, taso_shape *out)
{
    *out = (taso_shape){.rank = a->rank > b->rank ? a->rank : b->rank};
    for (int i = 0; i < out->rank; i++) {
        int64_t x = dim_at(a, i), y = dim_at(b, i);
        if (x != y && x != 1 && y != 1) return false;
        out->dim[out->rank - 1 - i] = x > y ? x : y;
    }
    return true;
}

static bool infer_concat(const taso_op *op, const taso_shape *const *in, taso_shape *out)
{
    *out = (taso_shape){.rank = in[0]->rank};
    memcpy(out->dim, in[0]->dim, sizeof out->dim);
    if (in[0]->rank != op->rank) return false;
    for (int k = 1; k < op->n_in; k++) {
        if (!same_rank(in[0], in[k])) return false;
        for (int i = 0; i < out->rank; i++)
            if (i != op->axis && in[k]->dim[i] != out->dim[i]) return false;
        out->dim[op->axis] += in[k]->dim[op->axis];
    }
    return true;
}

/* At the last boundary. */
static bool infer_split(const taso_op *op, const taso_shape *x, taso_shape *out)
{
    int axis = op->axis, n = axis < x->rank ? x->n_cut[axis] : 0;
    if (!n) return false;
    for (int i = 0; i < 2; i++) {
        out[i] = (taso_shape){.rank = x->rank};
        memcpy(out[i].dim, x->dim, sizeof x->dim);
    }
    out[0].dim[axis] = x->cut[axis][n - 1];
    out[1].dim[axis] -= out[0].dim[axis];
    return true;
}

static void same_dims(const taso_shape *x, taso_shape *out)
{
    *out = (taso_shape){.rank = x->rank};
    memcpy(out->dim, x->dim, sizeof out->dim);
}

static bool infer_enlarge(const taso_shape *a, const taso_shape *b, taso_shape *out)
{
    same_dims(a, out);
    if (a->rank != 4 || b->rank != 4) return false;
    for (int i = 2; i < 4; i++) {
        if (a->dim[i] > b->dim[i]) return false;
        out->dim[i] = b->dim[i];
    }
    return true;
}

static bool infer_dims(const taso_op *op, const taso_shape *const *in, taso_shape *out)
{
    switch (op->kind) {
    case TASO_CONV: return infer_conv(op, in[0], in[1], out);
    case TASO_MATMUL: return infer_matmul(in[0], in[1], out);
    case TASO_ADD:
    case TASO_MUL: return infer_sum(in[0], in[1], out);
    case TASO_CONCAT: return infer_concat(op, in, out);
    case TASO_SPLIT: return infer_split(op, in[0], out);
    case TASO_ENLARGE: return infer_enlarge(in[0], in[1], out);
    case TASO_MERGE_GCONV:
        same_dims(in[0], out);
        out->dim[1] *= 2;
        return in[0]->rank == 4;
    default: same_dims(in[0], out); return true;
    }
}

bool taso_infer(tg_arena *arena, const taso_op *op, const taso_shape *const *in, taso_shape *out)
{
    if (!infer_dims(op, in, out)) return false;
    taso_infer_cuts(arena, op, in, op->n_in, NULL, out, taso_out_count(op));
    return true;
}

/* ---- strides and boundaries ----------------------------------------------------------------- */

static void row_major(taso_shape *s)
{
    int64_t n = 1;
    for (int i = s->rank - 1; i >= 0; i--) {
        s->stride[i] = n;
        n *= s->dim[i];
    }
}

static void take_cut(taso_shape *to, int i, const taso_shape *from, int k)
{
    to->cut[i] = from->cut[k];
    to->n_cut[i] = from->n_cut[k];
}

static void clear_cut(taso_shape *s, int i)
{
    s->cut[i] = NULL;
    s->n_cut[i] = 0;
}

static bool same_cut(const taso_shape *a, int i, const taso_shape *b, int k)
{
    return a->n_cut[i] == b->n_cut[k] &&
           (!a->n_cut[i] || memcmp(a->cut[i], b->cut[k], a->n_cut[i] * sizeof *a->cut[i]) == 0);
}

static void copy_view(const taso_shape *x, taso_shape *out)
{
    memcpy(out->stride, x->stride, sizeof x->stride);
    for (int i = 0; i < x->rank; i++) take_cut(out, i, x, i);
}

static void put_cuts(tg_arena *arena, taso_shape *s, int i, const int64_t *cut, int n)
{
    s->cut[i] = n ? tg_arena_dup(arena, cut, (size_t)n * sizeof *cut) : NULL;
    s->n_cut[i] = (uint8_t)n;
}

/* The first input's boundaries, then for each further one its own, moved, and where it begins. */
static void cuts_concat(tg_arena *arena, int axis, const taso_shape *const *in, int n_in,
                        taso_shape *out)
{
    int64_t cut[TASO_CUTS], length = 0;
    int n = 0;
    for (int i = 0; i < out->rank; i++) {
        bool agree = i != axis;
        for (int k = 1; k < n_in; k++) agree &= same_cut(in[0], i, in[k], i);
        if (agree) take_cut(out, i, in[0], i);
    }
    for (int k = 0; k < n_in; k++) {
        for (int i = 0; i < in[k]->n_cut[axis] && n < TASO_CUTS; i++)
            cut[n++] = length + in[k]->cut[axis][i];
        if (k && n < TASO_CUTS) cut[n++] = length;
        length += in[k]->dim[axis];
    }
    put_cuts(arena, out, axis, cut, n);
}

/* Views: the parent's strides; each part has the boundaries inside it. */
static void cuts_split(tg_arena *arena, int axis, const taso_shape *x, taso_shape *out, int n_out)
{
    int64_t begin = 0;
    for (int p = 0; p < n_out; p++) {
        int64_t cut[TASO_CUTS], end = begin + out[p].dim[axis];
        int n = 0;
        copy_view(x, &out[p]);
        for (int i = 0; i < x->n_cut[axis]; i++)
            if (x->cut[axis][i] > begin && x->cut[axis][i] < end)
                cut[n++] = x->cut[axis][i] - begin;
        put_cuts(arena, &out[p], axis, cut, n);
        begin = end;
    }
}

static void cuts_matmul(const taso_shape *a, const taso_shape *b, taso_shape *out)
{
    int r = out->rank;
    if (r < 2 || !same_rank(a, b)) return;
    for (int i = 0; i < r - 2; i++)
        if (same_cut(a, i, b, i)) take_cut(out, i, a, i);
    take_cut(out, r - 2, a, r - 2);
    take_cut(out, r - 1, b, r - 1);
}

static void cuts_sum(const taso_shape *a, const taso_shape *b, taso_shape *out)
{
    for (int i = 0; i < out->rank; i++) {
        int at = out->rank - 1 - i, x = a->rank - 1 - i, y = b->rank - 1 - i;
        bool left = dim_at(a, i) > 1, right = dim_at(b, i) > 1;
        if (left && (!right || same_cut(a, x, b, y))) take_cut(out, at, a, x);
        else if (right && !left) take_cut(out, at, b, y);
    }
}

static void cuts_transpose(const taso_shape *x, const int64_t *perm, taso_shape *out)
{
    for (int i = 0; i < out->rank; i++) {
        take_cut(out, i, x, (int)perm[i]);
        out->stride[i] = x->stride[perm[i]];
    }
}

void taso_infer_cuts(tg_arena *arena, const taso_op *op, const taso_shape *const *in, int n_in,
                     const int64_t *perm, taso_shape *out, int n_out)
{
    for (int i = 0; i < n_out; i++) row_major(&out[i]);
    switch (op->kind) {
    case TASO_CONCAT: cuts_concat(arena, op->axis, in, n_in, out); break;
    case TASO_SPLIT: cuts_split(arena, op->axis, in[0], out, n_out); break;
    case TASO_CONV:
        take_cut(out, 0, in[0], 0);
        take_cut(out, 1, in[1], 0);
        break;
    case TASO_MATMUL: cuts_matmul(in[0], in[1], out); break;
    case TASO_ADD:
    case TASO_MUL: cuts_sum(in[0], in[1], out); break;
    case TASO_TRANSPOSE: cuts_transpose(in[0], perm, out); break;
    case TASO_RELU:
    case TASO_SIGMOID:
    case TASO_TANH:
    case TASO_BATCHNORM:
    case TASO_FOLD_WEIGHT:
    case TASO_BROADCAST_ADD: copy_view(in[0], out); break;
    case TASO_MERGE_GCONV:
        for (int i = 0; i < out->rank; i++) take_cut(out, i, in[0], i);
        clear_cut(out, 1);
        break;
    case TASO_POOL:
    case TASO_ENLARGE:
        for (int i = 0; i < 2 && i < out->rank; i++) take_cut(out, i, in[0], i);
        break;
    default: break;
    }
}

/* ---- identity ------------------------------------------------------------------------------- */

static uint64_t add_shape(uint64_t h, const taso_shape *s)
{
    h = tg_hash_add(h, (uint64_t)s->rank);
    for (int i = 0; i < s->rank; i++) {
        h = tg_hash_add(h, (uint64_t)s->dim[i]);
        h = tg_hash_add(h, (uint64_t)s->stride[i]);
        h = tg_hash_add(h, s->n_cut[i]);
        for (int k = 0; k < s->n_cut[i]; k++) h = tg_hash_add(h, (uint64_t)s->cut[i][k]);
    }
    return h;
}

static bool reads_first_only(taso_kind kind)
{
    return kind == TASO_POOL || kind == TASO_BATCHNORM || kind == TASO_FOLD_WEIGHT ||
           kind == TASO_FOLD_BIAS || kind == TASO_BROADCAST_ADD;
}

uint64_t taso_object(const taso_op *op, const taso_shape *const *in, int n_in, bool made)
{
    const int params[] = {(int)op->kind, n_in,     op->stride,
                          op->pad,       op->acti, op->kind == TASO_CONCAT && made};
    uint64_t h = 0x7a50;
    for (size_t i = 0; i < sizeof params / sizeof *params; i++)
        h = tg_hash_add(h, (uint64_t)params[i]);
    if (op->kind == TASO_CONCAT || op->kind == TASO_SPLIT) h = tg_hash_add(h, (uint64_t)op->axis);
    for (int i = 0; i < n_in && !(i && reads_first_only(op->kind)); i++) h = add_shape(h, in[i]);
    return h;
}
