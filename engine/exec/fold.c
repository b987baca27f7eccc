/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fold.h"

#include "engine/base/hash.h"
#include "engine/base/lock.h"
#include "engine/base/vec.h"
#include "engine/ir/eval.h"
#include "engine/ir/hash.h"

#include <stdlib.h>

/* Evaluated expressions, oldest first. Invariant: bytes is the sum of the weights' sizes. */
typedef struct entry {
    uint64_t key;
    tg_weight *weight;
} entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tg_map index_of; /* key -> weight as a number */
static TG_VEC(entry) ring;
static size_t bytes, oldest, limit = (size_t)256 << 20;

uint64_t tg_fold_hash(const tg_graph *g, tg_value v)
{
    return tg_hash_value(g->hashes[tg_value_node(v)], tg_value_port(v));
}

static tg_weight *find(uint64_t key)
{
    const uint64_t *at = tg_map_find(&index_of, key);
    return at && *at ? tg_weight_ref((tg_weight *)(uintptr_t)*at) : NULL;
}

static void shrink(void)
{
    while (bytes > limit && oldest < ring.n) {
        entry *e = &ring.v[oldest++];
        bytes -= e->weight->size;
        *tg_map_put(&index_of, e->key, NULL) = 0;
        tg_weight_unref(e->weight);
    }
    if (oldest > 1024 && oldest > ring.n / 2) {
        memmove(ring.v, ring.v + oldest, (ring.n - oldest) * sizeof *ring.v);
        ring.n -= oldest;
        oldest = 0;
    }
}

static void keep(uint64_t key, tg_weight *weight)
{
    tg_vec_reserve(&ring, ring.n + 1); /* from here on nothing can fail half-way */
    uint64_t *at = tg_map_put(&index_of, key, NULL);
    if (*at || weight->size > limit / 4) return;
    *at = (uint64_t)(uintptr_t)tg_weight_ref(weight);
    tg_vec_push(&ring, (entry){key, weight});
    bytes += weight->size;
    shrink();
}

static tg_weight *find_locked(uint64_t key)
{
    tg_lock(&lock);
    tg_weight *found = find(key);
    tg_unlock(&lock);
    return found;
}

/* What one evaluation holds: the weights of the values that it met, one reference each. */
typedef struct fold {
    const tg_graph *g;
    tg_map index; /* value -> place in `held` */
    TG_VEC(tg_weight *) held;
    TG_VEC(const tg_node *) stack;
} fold;

static tg_weight *held(const fold *f, tg_value v)
{
    const uint64_t *at = tg_map_find(&f->index, v);
    return at ? f->held.v[*at] : NULL;
}

static void hold(fold *f, tg_value v, tg_weight *weight)
{
    *tg_map_put(&f->index, v, NULL) = f->held.n;
    tg_vec_push(&f->held, weight);
}

/* Elements of other types have no bytes of their own. */
static bool has_bytes(const tg_type *t)
{
    return tg_type_complete(t) && t->dtype != TG_STR;
}

/* A value that is at hand; else its maker goes onto the stack. */
static void look_for(fold *f, tg_value v)
{
    const tg_node *maker = tg_graph_maker(f->g, v);
    if (held(f, v)) return;
    tg_weight *found = maker->op == TG_OP_CONST ? tg_weight_ref(maker->weight)
                                                : find_locked(tg_fold_hash(f->g, v));
    if (found) hold(f, v, found);
    else tg_vec_push(&f->stack, maker);
}

/* Runs a node whose inputs are held; each of its values goes into the cache of the process. */
static tg_status run_node(fold *f, const tg_node *node)
{
    tg_tensor in[TG_MAX_PORTS] = {{0}}, out[TG_MAX_PORTS];
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i] == TG_NO_VALUE) continue;
        const tg_type *t = tg_graph_type(f->g, node->in[i]);
        const void *data = held(f, node->in[i])->data;
        in[i] = (tg_tensor){t->dtype, t->shape, (void *)(uintptr_t)data};
    }
    TG_TRY(tg_node_eval(node, in, out));
    for (uint32_t i = 0; i < node->n_out; i++) {
        tg_value v = tg_value_of(node->id, i);
        tg_weight *weight = tg_weight_own(out[i].data, tg_tensor_bytes(&out[i]));
        tg_lock(&lock);
        keep(tg_fold_hash(f->g, v), weight);
        tg_unlock(&lock);
        if (held(f, v)) tg_weight_unref(weight);
        else hold(f, v, weight);
    }
    return TG_OK;
}

/* The node on top of the stack runs when its inputs are there. */
static tg_status step(fold *f)
{
    const tg_node *node = tg_vec_last(&f->stack);
    bool fits = node->n_in <= TG_MAX_PORTS && node->n_out <= TG_MAX_PORTS, done = true;
    for (uint32_t i = 0; i < node->n_out; i++) {
        fits = fits && has_bytes(&node->out[i]);
        done = done && held(f, tg_value_of(node->id, i));
    }
    size_t before = f->stack.n;
    for (int i = 0; i < node->n_in && fits && !done; i++) {
        if (node->in[i] == TG_NO_VALUE) continue;
        fits = has_bytes(tg_graph_type(f->g, node->in[i]));
        if (fits) look_for(f, node->in[i]);
    }
    if (!fits) return tg_fail(TG_UNSUPPORTED, "not one by one");
    if (f->stack.n > before) return TG_OK;
    if (!done) TG_TRY(run_node(f, node));
    f->stack.n--;
    return TG_OK;
}

static void fold_done(fold *f)
{
    for (size_t i = 0; i < f->held.n; i++) tg_weight_unref(f->held.v[i]);
    tg_vec_free(&f->held);
    tg_map_free(&f->index);
    tg_vec_free(&f->stack);
}

/*
 * Node by node, so that expressions which share parts, as those of the graphs of a search do, share
 * the work. What cannot be taken apart is evaluated whole.
 */
static tg_status evaluate(const tg_graph *g, tg_value v, tg_weight **weight)
{
    fold f = {.g = g};
    tg_status status = TG_OK;
    tg_vec_push(&f.stack, tg_graph_maker(g, v));
    while (f.stack.n && status == TG_OK) status = step(&f);
    if (status == TG_OK) *weight = tg_weight_ref(held(&f, v));
    fold_done(&f);
    return status == TG_UNSUPPORTED ? tg_const_eval(g, v, weight) : status;
}

tg_status tg_fold_value(const tg_graph *g, tg_value v, tg_weight **weight)
{
    const tg_node *node = tg_graph_maker(g, v);
    if (node->op == TG_OP_CONST) {
        *weight = tg_weight_ref(node->weight);
        return TG_OK;
    }
    tg_weight *found = find_locked(tg_fold_hash(g, v));
    if (!found) TG_TRY(node->constant ? evaluate(g, v, &found) : tg_const_eval(g, v, &found));
    *weight = found;
    return TG_OK;
}

void tg_fold_limit(size_t to)
{
    tg_lock(&lock);
    limit = to;
    shrink();
    tg_unlock(&lock);
}

size_t tg_fold_bytes(void)
{
    tg_lock(&lock);
    size_t n = bytes;
    tg_unlock(&lock);
    return n;
}
