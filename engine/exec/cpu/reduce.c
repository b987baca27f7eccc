/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reductions of floats, also pooling over everything. */
#include "eltwise.h"
#include "loop.h"

#include <math.h>
#include <string.h>

/* Vectors of 64 bytes never cross a call here: their passing does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"

typedef enum reduction {
    SUM,
    MEAN,
    MAX,
    MIN,
    PROD,
    L1,
    L2,
    SUM_SQUARE,
    LOG_SUM,
    LOG_SUM_EXP,
    NONE
} reduction;

static const struct {
    const char *name;
    reduction kind;
} kinds[] = {
    {"ReduceSum", SUM},
    {"ReduceMean", MEAN},
    {"ReduceMax", MAX},
    {"ReduceMin", MIN},
    {"ReduceProd", PROD},
    {"ReduceL1", L1},
    {"ReduceL2", L2},
    {"ReduceSumSquare", SUM_SQUARE},
    {"ReduceLogSum", LOG_SUM},
    {"ReduceLogSumExp", LOG_SUM_EXP},
    {"GlobalAveragePool", MEAN},
    {"GlobalMaxPool", MAX},
};

/* Axes in the order of the input's memory; `to` is 0 along a reduced one. Strides in elements. */
typedef struct plan_reduce {
    reduction kind;
    int rank;
    int64_t dim[TG_MAX_RANK], from[TG_MAX_RANK], to[TG_MAX_RANK];
    int64_t count; /* of outputs */
    double share;  /* 1 / elements that become one */
} plan_reduce;

typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t masks __attribute__((vector_size(64), aligned(4), may_alias));

static inline __attribute__((always_inline)) lanes choose(masks mask, lanes b, lanes a)
{
    return (lanes)((mask & (masks)b) | (~mask & (masks)a));
}

static float combine(reduction kind, float a, float x)
{
    switch (kind) {
    case MAX: return x > a || x != x ? x : a;
    case MIN: return x < a || x != x ? x : a;
    case PROD: return a * x;
    case L1: return a + fabsf(x);
    case L2:
    case SUM_SQUARE: return a + x * x;
    default: return a + x;
    }
}

/* to[i] = a combined with from[i], for as many whole vectors as there are; how many elements. */
#define EACH(expr)                                                                                 \
    for (; i + 16 <= n; i += 16) {                                                                 \
        lanes x = *(const lanes *)(from + i), a = *(const lanes *)(to + i * step);                 \
        *(lanes *)(to + i * step) = (expr);                                                        \
    }                                                                                              \
    break

/* step 0: into the same sixteen, which keeps rounding small as well as time. */
static inline __attribute__((always_inline)) int64_t combine_body(reduction kind, const float *from,
                                                                  int64_t n, float *to,
                                                                  int64_t step)
{
    int64_t i = 0;
    switch (kind) {
    case MAX: EACH(choose((x > a) | (x != x), x, a));
    case MIN: EACH(choose((x < a) | (x != x), x, a));
    case PROD: EACH(a * x);
    case L1: EACH(a + (lanes)((masks)x & 0x7fffffff));
    case L2:
    case SUM_SQUARE: EACH(a + x * x);
    default: EACH(a + x);
    }
    return i;
}
#undef EACH

/* Comparisons of vectors that the processor lacks would go element by element. */
#define COMBINE(name, target)                                                                      \
    target static int64_t name(reduction kind, const float *from, int64_t n, float *to,            \
                               int64_t step)                                                       \
    {                                                                                              \
        return combine_body(kind, from, n, to, step);                                              \
    }
#ifdef __x86_64__
COMBINE(combine_wide, __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,avx2,fma"))))
COMBINE(combine_middle, __attribute__((target("avx2,fma"))))
#endif
COMBINE(combine_base, )

static int64_t combine_vectors(reduction kind, const float *from, int64_t n, float *to,
                               int64_t step)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        return combine_wide(kind, from, n, to, step);
    if (__builtin_cpu_supports("avx2")) return combine_middle(kind, from, n, to, step);
#endif
    return combine_base(kind, from, n, to, step);
}

static float start_of(reduction kind)
{
    return kind == MAX ? -INFINITY : kind == MIN ? INFINITY : kind == PROD ? 1.0f : 0.0f;
}

/* Parts of what is combined are combined further as they are. */
static float combine_parts(reduction kind, float a, float x)
{
    return kind == MAX || kind == MIN || kind == PROD ? combine(kind, a, x) : a + x;
}

static float fold_row(reduction kind, const float *x, int64_t n, float a)
{
    float all[16];
    for (int k = 0; k < 16; k++) all[k] = start_of(kind);
    int64_t i = combine_vectors(kind, x, n, all, 0);
    if (i)
        for (int k = 0; k < 16; k++) a = combine_parts(kind, a, all[k]);
    for (; i < n; i++) a = combine(kind, a, x[i]);
    return a;
}

static void row_to_one(const plan_reduce *r, const float *from, int64_t stride, int64_t n,
                       float *to)
{
    if (stride == 1) {
        *to = fold_row(r->kind, from, n, *to);
        return;
    }
    float a = *to;
    for (int64_t i = 0; i < n; i++) a = combine(r->kind, a, from[i * stride]);
    *to = a;
}

static void row_to_row(const plan_reduce *r, const float *from, int64_t fs, int64_t n, float *to,
                       int64_t ts)
{
    int64_t i = fs == 1 && ts == 1 ? combine_vectors(r->kind, from, n, to, 1) : 0;
    for (; i < n; i++) to[i * ts] = combine(r->kind, to[i * ts], from[i * fs]);
}

static void reduce_axis(const plan_reduce *r, int axis, const float *from, float *to)
{
    if (axis == r->rank - 1) {
        if (r->to[axis] == 0) row_to_one(r, from, r->from[axis], r->dim[axis], to);
        else row_to_row(r, from, r->from[axis], r->dim[axis], to, r->to[axis]);
        return;
    }
    for (int64_t i = 0; i < r->dim[axis]; i++)
        reduce_axis(r, axis + 1, from + i * r->from[axis], to + i * r->to[axis]);
}

static tg_status run_reduce(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const plan_reduce *r = step->own;
    float *to = ptr[1];
    float start = start_of(r->kind);
    for (int64_t i = 0; i < r->count; i++) to[i] = start;
    reduce_axis(r, 0, ptr[0], to);
    if (r->kind == MEAN)
        for (int64_t i = 0; i < r->count; i++) to[i] = (float)(to[i] * r->share);
    if (r->kind == L2)
        for (int64_t i = 0; i < r->count; i++) to[i] = sqrtf(to[i]);
    if (r->kind == LOG_SUM)
        for (int64_t i = 0; i < r->count; i++) to[i] = logf(to[i]);
    return TG_OK;
}

/* The row's greatest is taken out of the exponentials. */
static float log_sum_exp(const float *x, int64_t n)
{
    enum { BLOCK = 256 };
    float part[BLOCK], most = fold_row(MAX, x, n, -INFINITY), sum = 0;
    if (isnan(most) || isinf(most)) return most;
    for (int64_t done = 0; done < n; done += BLOCK) {
        int64_t m = n - done < BLOCK ? n - done : BLOCK;
        for (int64_t i = 0; i < m; i++) part[i] = x[done + i] - most;
        tg_vector_map(TG_V_EXP, part, m);
        sum += fold_row(SUM, part, m, 0);
    }
    return most + logf(sum);
}

static tg_status run_rows(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const plan_reduce *r = step->own;
    int64_t n = (int64_t)(1 / r->share + 0.5);
    for (int64_t i = 0; i < r->count; i++)
        ((float *)ptr[1])[i] = log_sum_exp((const float *)ptr[0] + i * n, n);
    return TG_OK;
}

static void add_axis(plan_reduce *r, int64_t dim, int64_t from, int64_t to)
{
    int last = r->rank - 1;
    if (dim == 1) return;
    if (r->rank && r->from[last] == from * dim && r->to[last] == to * dim &&
        (to != 0) == (r->to[last] != 0)) {
        r->dim[last] *= dim;
        r->from[last] = from;
        r->to[last] = to;
        return;
    }
    r->dim[r->rank] = dim;
    r->from[r->rank] = from;
    r->to[r->rank++] = to;
}

/* Which axes are reduced; false if that is not known. */
static bool reduced_axes(const tg_node *node, int64_t rank, bool *reduced)
{
    int at = tg_op_attr_index(node->op, "axes");
    memset(reduced, 0, TG_MAX_RANK);
    if (at < 0) { /* pooling */
        for (int i = 2; i < rank; i++) reduced[i] = true;
        return true;
    }
    if (node->n_in != 1) return false;
    const tg_attr *axes = &node->attrs->a[at];
    bool none = axes->kind == TG_ATTR_NONE || axes->n == 0;
    if (none && tg_node_attr(node, "noop_with_empty_axes")->i) return false;
    for (int i = 0; i < rank; i++) reduced[i] = none;
    for (uint32_t i = 0; !none && i < axes->n; i++)
        reduced[axes->ints[i] < 0 ? axes->ints[i] + rank : axes->ints[i]] = true;
    return true;
}

static reduction kind_of(const tg_node *node)
{
    const tg_attr *power = tg_cpu_attr(node, "p"); /* GlobalLpPool */
    if (power) return power->i == 2 ? L2 : power->i == 1 ? L1 : NONE;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, tg_op_get(node->op)->name) == 0) return kinds[i].kind;
    return NONE;
}

/* The result as if all axes were kept: strides of the input's axes in the output's memory. */
static tg_layout kept_layout(const tg_operand *in, const bool *reduced, tg_layout *strides)
{
    tg_shape kept = in->shape;
    for (int i = 0; i < kept.rank; i++)
        if (reduced[i]) kept.dim[i] = 1;
    tg_layout l =
        tg_layout_is_last(&in->shape, &in->layout) ? tg_layout_last(&kept) : tg_layout_plain(&kept);
    *strides = l;
    for (int i = 0; i < kept.rank; i++)
        if (reduced[i]) strides->stride[i] = 0;
    return l;
}

/* Rows of what becomes one are laid behind each other. */
static tg_status plan_rows(tg_cpu_plan *p, const tg_node *node, const bool *reduced)
{
    tg_operand all[2];
    int order[TG_MAX_RANK], n = 0;
    TG_TRY(tg_cpu_value(p, node->in[0], &all[0]));
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < all[0].shape.rank; i++)
            if (reduced[i] == (pass == 1)) order[n++] = i;
    tg_layout layout = tg_layout_of_order(&all[0].shape, order);
    tg_layout plain = tg_layout_plain(&node->out[0].shape);
    plan_reduce r = {.count = tg_shape_count(&node->out[0].shape)};
    r.share = (double)r.count / (double)tg_shape_count(&all[0].shape);
    TG_TRY(tg_cpu_move(p, &all[0], &layout, &all[0]));
    all[1] = tg_cpu_new(p, &node->out[0], &plain);
    tg_cpu_set(p, node, 0, &all[1]);
    tg_cpu_step(p, node, run_rows, tg_arena_dup(p->memory, &r, sizeof r), all, 2);
    p->stats->loops++;
    return TG_OK;
}

/* Whole numbers are left to the reference kernel's loop. */
tg_status tg_cpu_plan_reduce(tg_cpu_plan *p, const tg_node *node)
{
    bool reduced[TG_MAX_RANK];
    plan_reduce r = {.kind = kind_of(node)};
    int axes[TG_MAX_RANK];
    tg_operand in;
    if (tg_dtype_kind(node->out[0].dtype) != 'f' && node->n_in == 1)
        return tg_cpu_plan_kernel(p, node);
    if (!tg_cpu_is_float(p, node->in[0]) || r.kind == NONE)
        return tg_fail(TG_UNSUPPORTED, "not of floats");
    const tg_shape *shape = &tg_cpu_type(p, node->in[0])->shape;
    if (!reduced_axes(node, shape->rank, reduced)) return tg_fail(TG_UNSUPPORTED, "axes vary");
    if (r.kind == LOG_SUM_EXP) return plan_rows(p, node, reduced);
    TG_TRY(tg_cpu_value(p, node->in[0], &in));
    bool keeps = node->out[0].shape.rank == shape->rank;
    tg_layout to, layout = kept_layout(&in, reduced, &to);
    if (!keeps) {
        layout = tg_layout_plain(&node->out[0].shape);
        for (int i = 0, k = 0; i < shape->rank; i++)
            to.stride[i] = reduced[i] ? 0 : layout.stride[k++];
    }
    tg_layout_order(&in.shape, &in.layout, axes);
    for (int k = 0; k < shape->rank; k++)
        add_axis(&r, shape->dim[axes[k]], in.layout.stride[axes[k]], to.stride[axes[k]]);
    if (!r.rank) r.dim[r.rank++] = 1;
    r.count = tg_shape_count(&node->out[0].shape);
    r.share = (double)r.count / (double)tg_shape_count(shape);
    tg_operand out = tg_cpu_new(p, &node->out[0], &layout), operands[] = {in, out};
    tg_cpu_set(p, node, 0, &out);
    tg_cpu_step(p, node, run_reduce, tg_arena_dup(p->memory, &r, sizeof r), operands, 2);
    p->stats->loops++;
    return TG_OK;
}

tg_status tg_cpu_plan_global_pool(tg_cpu_plan *p, const tg_node *node)
{
    return tg_cpu_plan_reduce(p, node);
}
