/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "fold.h"

#include "engine/base/hash.h"
#include "engine/base/vec.h"
#include "engine/ir/eval.h"
#include "engine/ir/hash.h"

#include <pthread.h>
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
    uint64_t *at = tg_map_put(&index_of, key, NULL);
    if (*at || weight->size > limit / 4) return;
    *at = (uint64_t)(uintptr_t)tg_weight_ref(weight);
    tg_vec_push(&ring, (entry){key, weight});
    bytes += weight->size;
    shrink();
}

tg_status tg_fold_value(const tg_graph *g, tg_value v, tg_weight **weight)
{
    const tg_node *node = tg_graph_maker(g, v);
    if (node->op == TG_OP_CONST) {
        *weight = tg_weight_ref(node->weight);
        return TG_OK;
    }
    uint64_t key = tg_fold_hash(g, v);
    pthread_mutex_lock(&lock);
    tg_weight *found = find(key);
    pthread_mutex_unlock(&lock);
    if (!found) {
        TG_TRY(tg_const_eval(g, v, &found));
        pthread_mutex_lock(&lock);
        keep(key, found);
        pthread_mutex_unlock(&lock);
    }
    *weight = found;
    return TG_OK;
}

void tg_fold_limit(size_t to)
{
    pthread_mutex_lock(&lock);
    limit = to;
    shrink();
    pthread_mutex_unlock(&lock);
}

size_t tg_fold_bytes(void)
{
    pthread_mutex_lock(&lock);
    size_t n = bytes;
    pthread_mutex_unlock(&lock);
    return n;
}
