/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Choosing between the library's convolution and ours, by measuring. */
#include "engine/base/clock.h"
#include "engine/base/lock.h"
#include "winograd.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static _Atomic tg_winograd_use use = TG_WINOGRAD_MEASURED;

void tg_winograd_set(tg_winograd_use to)
{
    use = to;
}

/* Below this many operations, and above this many bytes of weights, it has never paid. */
enum { LEAST_FLOPS = 8000000, MOST_WEIGHTS = 4 << 20 };

static bool may_pay(const tg_winograd *w)
{
    double flops = 18.0 * (double)(w->n * w->c * w->m) * (double)(w->oh * w->ow);
    return flops >= LEAST_FLOPS &&
           tg_winograd_weights_count(w) * (int64_t)sizeof(float) <= MOST_WEIGHTS;
}

/* One number a channel, or one an element of the result. */
static bool op_of(const tg_prim_spec *s, const tg_post *post, tg_winograd_op *op)
{
    const tg_md *md = &post->md, *dst = &s->dst;
    *op = (tg_winograd_op){.kind = post->kind, .alpha = post->alpha, .beta = post->beta};
    if (post->kind == TG_POST_RELU || post->kind == TG_POST_LINEAR || post->kind == TG_POST_CLIP)
        return true;
    if (post->kind != TG_POST_ADD && post->kind != TG_POST_SUB && post->kind != TG_POST_MUL)
        return false;
    if (md->rank != 4 || md->dtype != TG_F32 || md->dim[1] != dst->dim[1]) return false;
    op->whole = memcmp(md->dim, dst->dim, sizeof md->dim) == 0;
    if (op->whole) return memcmp(md->stride, dst->stride, sizeof md->stride) == 0;
    return md->dim[0] == 1 && md->dim[2] == 1 && md->dim[3] == 1 && md->stride[1] == 1;
}

/* A bias is the first addition. */
static bool fill_ops(const tg_prim_spec *s, tg_winograd *w)
{
    if (s->bias.rank) w->ops[w->n_ops++] = (tg_winograd_op){.kind = TG_POST_ADD};
    for (int i = 0; i < s->n_post; i++)
        if (!op_of(s, &s->post[i], &w->ops[w->n_ops++])) return false;
    return true;
}

/* ---- measuring ---- */

typedef struct trial {
    const tg_prim *direct, *product;
    tg_winograd w;
    float *pixels; /* read and written: the numbers do not matter */
    float *other, *weights, *taken, *sums;
    tg_prim_call *direct_call, *product_call;
} trial;

static float *floats(int64_t n)
{
    float *p = tg_block_new((size_t)n * sizeof *p + 64);
    memset(p, 0, (size_t)n * sizeof *p + 64);
    return p;
}

static tg_status trial_bind(trial *t, void *scratch)
{
    tg_prim_args args = {t->pixels, t->weights, t->other, t->pixels, scratch, {0}};
    for (int i = 0; i < t->direct->spec.n_post; i++) args.post[i] = t->other;
    TG_TRY(tg_prim_bind(t->direct, &args, &t->direct_call));
    for (int i = 0; i < t->w.n_ops; i++) t->w.ops[i].other = t->other;
    args = (tg_prim_args){t->taken, t->weights, NULL, t->sums, scratch, {0}};
    return tg_prim_bind(t->product, &args, &t->product_call);
}

/* The shorter of `best` and one run's time. */
static double time_one(const trial *t, bool direct, double best)
{
    int64_t start = tg_clock_thread_ns();
    tg_status status =
        direct ? tg_prim_run(t->direct_call)
               : tg_winograd_run(&t->w, t->product_call, t->pixels, t->taken, t->sums, t->pixels);
    double took = (double)(tg_clock_thread_ns() - start);
    return status == TG_OK && took < best ? took : best;
}

/* In turn, until it is clear. */
static bool wins(const trial *t)
{
    enum { ROUNDS = 6 };
    double direct = 1e18, ours = 1e18;
    for (int i = 0; i < ROUNDS; i++) {
        direct = time_one(t, true, direct);
        ours = time_one(t, false, ours);
        if (i && (ours < 0.75 * direct || ours > 1.1 * direct)) break;
    }
    return ours < 0.9 * direct;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Numbers that the second operand of something that follows may have. */
static int64_t others(const tg_winograd *w)
{
    int64_t n = w->m;
    for (int i = 0; i < w->n_ops; i++)
        if (w->ops[i].whole) n = w->n * w->oh * w->ow * w->m;
    return n;
}

static bool measure(const tg_prim *direct, const tg_prim *product, const tg_winograd *w)
{
    enum { BUFFERS = 5 };
    trial t = {.direct = direct, .product = product, .w = *w};
    size_t scratch = direct->scratch_bytes + product->scratch_bytes;
    int64_t packed = (int64_t)(direct->weights_bytes / sizeof(float));
    const int64_t n[BUFFERS] = {w->n * most(w->h * w->w * w->c, w->oh * w->ow * w->m), others(w),
                                most(tg_winograd_weights_count(w), packed),
                                36 * w->chunk * (w->c + w->m),
                                (int64_t)(scratch / sizeof(float)) + 16};
    float *all[BUFFERS];
    for (int i = 0; i < BUFFERS; i++) all[i] = floats(n[i]);
    t.pixels = all[0], t.other = all[1], t.weights = all[2], t.taken = all[3];
    t.sums = t.taken + 36 * w->chunk * w->c;
    bool won = trial_bind(&t, all[4]) == TG_OK && wins(&t);
    tg_prim_unbind(t.direct_call);
    tg_prim_unbind(t.product_call);
    for (int i = 0; i < BUFFERS; i++) tg_block_drop(all[i], (size_t)n[i] * sizeof(float) + 64);
    return won;
}

/* Remembered by size; the kind of what follows matters little. */
static bool pays(const tg_prim *direct, const tg_prim *product, const tg_winograd *w)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static tg_map known;
    if (use == TG_WINOGRAD_ALWAYS) return true;
    const int64_t size[] = {w->n, w->c, w->m, w->h, w->w, w->oh, w->ow, w->n_ops};
    tg_lock(&lock);
    bool fresh;
    uint64_t *at = tg_map_put(&known, tg_hash_bytes(5, size, sizeof size), &fresh);
    if (fresh) *at = measure(direct, product, w);
    bool won = *at;
    tg_unlock(&lock);
    return won;
}

/* ---- planning ---- */

typedef struct filling {
    const tg_winograd *w;
    const float *from;
} filling;

static tg_status fill(void *ctx, void *data)
{
    const filling *f = ctx;
    tg_winograd_weights(f->w, f->from, data);
    return TG_OK;
}

/* The transformed weights, made once for all plans. */
static tg_status place_weights(tg_cpu_plan *p, const tg_winograd *w, const tg_operand *from,
                               tg_operand *to)
{
    const tg_cpu_buffer *source = &p->buffers.v[from->buffer];
    filling f = {w, tg_cpu_constant_data(p, from)};
    size_t size = (size_t)tg_winograd_weights_count(w) * sizeof(float);
    uint64_t form = tg_hash_add(tg_hash_add(19, (uint64_t)w->c), (uint64_t)from->layout.offset);
    tg_packed *pack;
    TG_TRY(tg_packed_get(source->hash, form, size, fill, &f, &pack));
    p->stats->weight_bytes += size;
    tg_cpu_buffer b = {.place = TG_PLACE_CONST,
                       .size = size,
                       .data = pack->data,
                       .pack = pack,
                       .hash = tg_hash_add(source->hash, form)};
    tg_vec_push(&p->buffers, b);
    *to = (tg_operand){(int)p->buffers.n - 1, TG_F32, {.rank = 0}, {0}};
    return TG_OK;
}

enum { X = TG_PRIM_FIRST_POST, Y, FIRST_OTHER };

static tg_status run(tg_cpu_plan *p, const tg_step *step, void *const *ptr)
{
    (void)p;
    tg_winograd w = *(const tg_winograd *)step->own;
    for (int i = 0; i < w.n_ops; i++) w.ops[i].other = ptr[FIRST_OTHER + i];
    return tg_winograd_run(&w, step->call, ptr[X], ptr[TG_PRIM_SRC], ptr[TG_PRIM_DST], ptr[Y]);
}

static tg_operand scratch(tg_cpu_plan *p, size_t bytes)
{
    tg_operand at = {.buffer = -1, .dtype = TG_U8};
    if (bytes) at.buffer = tg_cpu_scratch(p, bytes);
    return at;
}

static tg_status add_step(tg_cpu_plan *p, const tg_node *node, const tg_prim *product,
                          const tg_winograd *w, const tg_prim_operands *o)
{
    tg_operand all[FIRST_OTHER + TG_MAX_POSTS + 1];
    size_t place = 36 * sizeof(float) * (size_t)w->chunk;
    int n = FIRST_OTHER, bias = o->bias.buffer >= 0;
    TG_TRY(place_weights(p, w, &o->weights, &all[TG_PRIM_WEIGHTS]));
    all[TG_PRIM_SRC] = scratch(p, place * (size_t)w->c);
    all[TG_PRIM_BIAS] = scratch(p, 0);
    all[TG_PRIM_DST] = scratch(p, place * (size_t)w->m);
    all[TG_PRIM_SCRATCH] = scratch(p, product->scratch_bytes);
    all[X] = o->src;
    all[Y] = o->dst;
    if (bias) all[n++] = o->bias;
    for (int i = bias; i < w->n_ops; i++) all[n++] = o->post[i - bias];
    tg_step *step = tg_cpu_step(p, node, run, tg_arena_dup(p->memory, w, sizeof *w), all, n);
    step->prim = product;
    p->stats->primitives++;
    return TG_OK;
}

tg_status tg_winograd_plan(tg_cpu_plan *p, const tg_node *node, const tg_prim *direct,
                           const tg_prim_operands *o)
{
    tg_winograd w;
    tg_prim_spec spec;
    if (use == TG_WINOGRAD_NEVER || p->threads != 1 || direct->slow ||
        !tg_cpu_constant_data(p, &o->weights) || !tg_winograd_of(&direct->spec, &w) ||
        !fill_ops(&direct->spec, &w) || (use != TG_WINOGRAD_ALWAYS && !may_pay(&w)))
        return tg_fail(TG_UNSUPPORTED, "not by tiles");
    tg_winograd_product(&w, &spec);
    const tg_prim *product = tg_prim_get(&spec);
    if (!product->usable || product->slow || !pays(direct, product, &w))
        return tg_fail(TG_UNSUPPORTED, "direct sums are faster");
    return add_step(p, node, product, &w, o);
}
