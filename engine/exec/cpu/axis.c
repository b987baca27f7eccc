/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What runs along one axis: norms, running sums, the greatest and where they are. */
#include "eltwise.h"
#include "loop.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct along {
    tg_fold3 s;
    int64_t k, p; /* how many of the greatest; which norm */
    bool least, last, exclusive, reverse;
} along;

static int64_t axis_of(const tg_node *node, int64_t rank)
{
    const tg_attr *axis = tg_cpu_attr(node, "axis");
    int64_t at = axis ? axis->i : 0;
    return at < 0 ? at + rank : at;
}

static bool flag(const tg_node *node, const char *name)
{
    const tg_attr *a = tg_cpu_attr(node, name);
    return a && a->i;
}

/* Other types are left to the reference kernel's loop. */
static tg_status plan_along(tg_cpu_plan *p, const tg_node *node, tg_step_fn run, along k,
                            size_t scratch_a_row)
{
    const tg_type *type = tg_cpu_type(p, node->in[0]);
    if (!tg_cpu_is_float(p, node->in[0]) || type->shape.rank == 0)
        return tg_cpu_plan_kernel(p, node);
    k.s = tg_cpu_fold3(&type->shape, axis_of(node, type->shape.rank));
    return tg_cpu_loop(p, node, run, &k, sizeof k, scratch_a_row * (size_t)k.s.inner);
}

/* ---- norms ---- */

/* Side by side, the lines that lie next to each other. sum: one number a line. */
static void norm_lines(const along *k, const float *x, float *y, float *sum)
{
    int64_t n = k->s.dim, m = k->s.inner;
    memset(sum, 0, sizeof *sum * (size_t)m);
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) {
            float v = x[i * m + j];
            sum[j] += k->p == 1 ? fabsf(v) : v * v;
        }
    for (int64_t j = 0; j < m; j++) {
        float norm = k->p == 1 ? sum[j] : sqrtf(sum[j]);
        sum[j] = norm == 0 ? 0 : 1 / norm;
    }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < m; j++) y[i * m + j] = x[i * m + j] * sum[j];
}

typedef float lanes __attribute__((vector_size(64), aligned(4), may_alias));
typedef int32_t masks __attribute__((vector_size(64), aligned(4), may_alias));

static void norm_row(const along *k, const float *x, float *y)
{
    int64_t n = k->s.dim, i = 0;
    lanes part = {0};
    double sum = 0;
    for (; i + 16 <= n; i += 16) {
        lanes v = *(const lanes *)(x + i);
        if (k->p == 1) part += (lanes)((masks)v & 0x7fffffff);
        else part += v * v;
    }
    for (int j = 0; j < 16; j++) sum += (double)part[j];
    for (; i < n; i++) sum += (double)(k->p == 1 ? fabsf(x[i]) : x[i] * x[i]);
    double norm = k->p == 1 ? sum : sqrt(sum);
    float gain = norm == 0 ? 0 : (float)(1 / norm);
    for (i = 0; i + 16 <= n; i += 16) *(lanes *)(y + i) = *(const lanes *)(x + i) * gain;
    for (; i < n; i++) y[i] = x[i] * gain;
}

static tg_status run_norm(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const along *k = step->own;
    int64_t size = k->s.dim * k->s.inner;
    for (int64_t o = 0; o < k->s.outer; o++) {
        const float *x = (const float *)ptr[0] + o * size;
        float *y = (float *)ptr[1] + o * size;
        if (k->s.inner == 1) norm_row(k, x, y);
        else norm_lines(k, x, y, ptr[2]);
    }
    return TG_OK;
}

tg_status tg_cpu_plan_lp_norm(tg_cpu_plan *p, const tg_node *node)
{
    return plan_along(p, node, run_norm, (along){.p = tg_node_attr(node, "p")->i}, sizeof(float));
}

/* ---- running sums ---- */

static void sum_row(const along *k, const float *x, float *y)
{
    double sum = 0;
    for (int64_t i = 0; i < k->s.dim; i++) {
        int64_t at = k->reverse ? k->s.dim - 1 - i : i;
        double before = sum;
        sum += (double)x[at];
        y[at] = (float)(k->exclusive ? before : sum);
    }
}

/* Lines side by side; sums in double, as a long line needs. */
static tg_status run_sums(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const along *k = step->own;
    int64_t n = k->s.dim, m = k->s.inner;
    double *sum = ptr[step->node->n_in + 1];
    for (int64_t o = 0; o < k->s.outer; o++) {
        const float *x = (const float *)ptr[0] + o * n * m;
        float *y = (float *)ptr[step->node->n_in] + o * n * m;
        if (m == 1) {
            sum_row(k, x, y);
            continue;
        }
        memset(sum, 0, sizeof *sum * (size_t)m);
        for (int64_t i = 0; i < n; i++) {
            int64_t at = (k->reverse ? n - 1 - i : i) * m;
            for (int64_t j = 0; j < m; j++) {
                double before = sum[j];
                sum[j] += (double)x[at + j];
                y[at + j] = (float)(k->exclusive ? before : sum[j]);
            }
        }
    }
    return TG_OK;
}

tg_status tg_cpu_plan_cum_sum(tg_cpu_plan *p, const tg_node *node)
{
    if (node->n_in != 1) return tg_fail(TG_UNSUPPORTED, "the axis varies");
    along k = {.exclusive = flag(node, "exclusive"), .reverse = flag(node, "reverse")};
    return plan_along(p, node, run_sums, k, sizeof(double));
}

/* ---- the greatest ---- */

/* Whole numbers in the order of the floats, both zeros being one; NaN is the greatest. */
static inline int32_t rank_of(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if ((bits & 0x7fffffff) > 0x7f800000) return INT32_MAX;
    if (bits == INT32_MIN) bits = 0;
    return bits ^ (bits >> 31 & 0x7fffffff);
}

/* Of the least, too, NaN counts as the best. */
static inline int32_t merit(float x, bool least)
{
    int32_t rank = rank_of(x);
    return least && rank != INT32_MAX ? ~rank : rank;
}

static int64_t best_of_row(const along *k, const float *x, int64_t step)
{
    int64_t best = 0;
    int32_t most = merit(x[0], k->least);
    for (int64_t i = 1; i < k->s.dim; i++) {
        int32_t now = merit(x[i * step], k->least);
        if (now > most || (k->last && now == most)) {
            best = i;
            most = now;
        }
    }
    return best;
}

/* Lines side by side; most: one number a line. */
static void best_of_lines(const along *k, const float *x, int32_t *most, int64_t *best)
{
    int64_t m = k->s.inner;
    for (int64_t j = 0; j < m; j++) {
        most[j] = merit(x[j], k->least);
        best[j] = 0;
    }
    for (int64_t i = 1; i < k->s.dim; i++)
        for (int64_t j = 0; j < m; j++) {
            int32_t now = merit(x[i * m + j], k->least);
            bool better = now > most[j] || (k->last && now == most[j]);
            most[j] = better ? now : most[j];
            best[j] = better ? i : best[j];
        }
}

static tg_status run_best(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const along *k = step->own;
    for (int64_t o = 0; o < k->s.outer; o++) {
        const float *x = (const float *)ptr[0] + o * k->s.dim * k->s.inner;
        int64_t *best = (int64_t *)ptr[1] + o * k->s.inner;
        if (k->s.inner == 1) *best = best_of_row(k, x, 1);
        else best_of_lines(k, x, ptr[2], best);
    }
    return TG_OK;
}

tg_status tg_cpu_plan_arg(tg_cpu_plan *p, const tg_node *node)
{
    along k = {.least = tg_cpu_named(node, "ArgMin"), .last = flag(node, "select_last_index")};
    return plan_along(p, node, run_best, k, sizeof(int32_t));
}

static tg_status run_hardmax(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const along *k = step->own;
    int64_t n = k->s.dim, m = k->s.inner;
    for (int64_t o = 0; o < k->s.outer; o++) {
        const float *x = (const float *)ptr[0] + o * n * m;
        float *y = (float *)ptr[1] + o * n * m;
        memset(y, 0, sizeof *y * (size_t)(n * m));
        for (int64_t j = 0; j < m; j++) {
            int64_t best = 0;
            for (int64_t i = 1; i < n; i++)
                if (x[i * m + j] > x[best * m + j]) best = i;
            y[best * m + j] = 1;
        }
    }
    return TG_OK;
}

tg_status tg_cpu_plan_hardmax(tg_cpu_plan *p, const tg_node *node)
{
    return plan_along(p, node, run_hardmax, (along){0}, 0);
}

/* ---- the k greatest ---- */

/* Merit above, place below, the earlier the better: all entries differ. */
static inline uint64_t entry_of(float x, bool least, int64_t at)
{
    int32_t rank = rank_of(x);
    uint32_t high = (uint32_t)(least ? ~rank : rank) ^ 0x80000000u;
    return (uint64_t)high << 32 | (uint32_t) ~(uint32_t)at;
}

/* Puts an entry at the root of a heap whose root is its least. */
static void sift(uint64_t *heap, int64_t n, int64_t at)
{
    uint64_t entry = heap[at];
    for (;;) {
        int64_t child = 2 * at + 1;
        if (child >= n) break;
        if (child + 1 < n && heap[child + 1] < heap[child]) child++;
        if (heap[child] >= entry) break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = entry;
}

static int descending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? 1 : x > y ? -1 : 0;
}

static void top_of_line(const along *k, const float *x, uint64_t *heap, float *y, int64_t *index)
{
    int64_t n = k->s.dim, step = k->s.inner;
    for (int64_t i = 0; i < k->k; i++) heap[i] = entry_of(x[i * step], k->least, i);
    for (int64_t i = k->k / 2; i--;) sift(heap, k->k, i);
    for (int64_t i = k->k; i < n; i++) {
        uint64_t entry = entry_of(x[i * step], k->least, i);
        if (entry <= heap[0]) continue;
        heap[0] = entry;
        sift(heap, k->k, 0);
    }
    qsort(heap, (size_t)k->k, sizeof *heap, descending);
    for (int64_t i = 0; i < k->k; i++) {
        int64_t at = (int64_t)(uint32_t) ~(uint32_t)heap[i];
        y[i * step] = x[at * step];
        if (index) index[i * step] = at;
    }
}

static tg_status run_top(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    const along *k = step->own;
    int64_t m = k->s.inner;
    int outs = step->node->n_out;
    for (int64_t o = 0; o < k->s.outer; o++)
        for (int64_t j = 0; j < m; j++)
            top_of_line(k, (const float *)ptr[0] + o * k->s.dim * m + j, ptr[1 + outs],
                        (float *)ptr[1] + o * k->k * m + j,
                        outs > 1 ? (int64_t *)ptr[2] + o * k->k * m + j : NULL);
    return TG_OK;
}

tg_status tg_cpu_plan_top_k(tg_cpu_plan *p, const tg_node *node)
{
    const tg_shape *s = &tg_cpu_type(p, node->in[0])->shape;
    if (node->n_in != 1) return tg_fail(TG_UNSUPPORTED, "k varies");
    along k = {.k = tg_node_attr(node, "k")->i, .least = !flag(node, "largest")};
    if (k.k == 0 || !tg_cpu_is_float(p, node->in[0]) || tg_shape_count(s) >= UINT32_MAX)
        return tg_cpu_plan_kernel(p, node);
    k.s = tg_cpu_fold3(s, axis_of(node, s->rank));
    return tg_cpu_loop(p, node, run_top, &k, sizeof k, sizeof(uint64_t) * (size_t)k.k);
}
