/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Latencies of operators, each in a graph of its own. */
#include "engine/base/clock.h"
#include "engine/base/hash.h"
#include "engine/base/lock.h"
#include "engine/exec/verify.h"
#include "engine/ir/build.h"
#include "latency_db.h"
#include "timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Rounds over the operators, each of which runs once in a round, so that its samples lie far apart.
 * It is done with when the interval of its median is narrow, or when the budget ends. FLUSH_BYTES
 * pushes the last one's data out of the second-level cache.
 */
enum { LEAST_ROUNDS = 5, MOST_ROUNDS = 100, FLUSH_BYTES = 16 << 20 };
#define NARROW 0.03 /* half of the interval, as a share of the median */

static uint64_t hash_type(uint64_t h, const tg_type *t)
{
    h = tg_hash_add(h, (uint64_t)t->dtype);
    return tg_hash_bytes(h, &t->shape, sizeof t->shape);
}

uint64_t tg_measure_signature(const tg_graph *g, const tg_node *node)
{
    const tg_op_row *row = tg_op_get(node->op);
    uint64_t h = tg_hash_str(tg_hash_str(17, row->domain), row->name);
    h = tg_hash_add(h, node->attrs->hash);
    for (int i = 0; i < node->n_in; i++) {
        if (node->in[i] == TG_NO_VALUE) {
            h = tg_hash_add(h, 1);
            continue;
        }
        h = tg_hash_add(h, tg_graph_maker(g, node->in[i])->constant ? 2 : 3);
        h = hash_type(h, tg_graph_type(g, node->in[i]));
    }
    for (int i = 0; i < node->n_out; i++) h = hash_type(h, &node->out[i]);
    return h;
}

static bool runs(const tg_node *node)
{
    return !node->constant && node->op != TG_OP_INPUT && node->op != TG_OP_SINK;
}

/* An operator to measure, and the nodes that are such ones. */
typedef struct entry {
    uint64_t signature;
    const tg_node *node;
    tg_plan *plan;
    uint32_t id; /* of the node in the plan's graph */
    TG_VEC(double) ms;
    bool narrow;
    double result;
} entry;

typedef struct work {
    const tg_backend *backend;
    const tg_graph *g;
    const tg_measure_options *o;
    TG_VEC(entry) entries;
    tg_map by_signature;
    char device[192];
    unsigned char *flush;
} work;

/* ---- a graph of one node ---- */

static tg_value copy_input(const tg_graph *g, tg_builder *b, tg_value v)
{
    const tg_node *maker = tg_graph_maker(g, v);
    const tg_type *type = tg_graph_type(g, v);
    if (maker->op == TG_OP_CONST)
        return tg_build_const(b, type->dtype, &type->shape, tg_weight_ref(maker->weight), NULL);
    if (!maker->constant) return tg_build_input(b, "", type);
    /* An expression's value does not matter to time, only that it is constant. */
    size_t size = (size_t)tg_type_bytes(type);
    return tg_build_const(b, type->dtype, &type->shape, tg_weight_own(tg_calloc(1, size), size),
                          NULL);
}

static tg_status alone(const tg_graph *g, const tg_node *node, tg_graph **out, uint32_t *id)
{
    tg_builder *b = tg_builder_new(g->origin);
    tg_value *in = tg_calloc((size_t)node->n_in + 1, sizeof *in);
    tg_status status = TG_OK;
    for (int i = 0; i < node->n_in && status == TG_OK; i++) {
        in[i] = TG_NO_VALUE;
        if (node->in[i] == TG_NO_VALUE) continue;
        if (!tg_type_complete(tg_graph_type(g, node->in[i])))
            status = tg_fail(TG_UNSUPPORTED, "a type is not known");
        else in[i] = copy_input(g, b, node->in[i]);
    }
    if (status == TG_OK)
        status = tg_build_copy(b, node->op, node->attrs->a, in, node->n_in, node->n_out, NULL, id);
    free(in);
    if (status != TG_OK) {
        tg_builder_free(b);
        return status;
    }
    tg_value v = tg_value_of(*id, 0);
    const char *name = "";
    tg_build_outputs(b, &v, &name, 1);
    return tg_build_done(b, out);
}

/* Plans what the database does not know; what cannot be run alone keeps no plan. */
static void prepare(work *w, entry *e)
{
    tg_graph *g;
    tg_tensor *in;
    if (e->node->op == TG_OP_OPAQUE || alone(w->g, e->node, &g, &e->id) != TG_OK) return;
    tg_plan_options options = {.threads = w->o->threads, .job = w->o->job};
    if (tg_plan_new(w->backend, g, &options, &e->plan) != TG_OK) e->plan = NULL;
    if (e->plan && tg_inputs_draw(g, w->o->seed, &in) == TG_OK) {
        if (tg_plan_load(e->plan, in) != TG_OK) {
            tg_plan_free(e->plan);
            e->plan = NULL;
        }
        tg_inputs_free(in, g->n_inputs);
    }
    tg_graph_unref(g);
}

/* ---- the database, open as long as the process ---- */

static tg_latency_db *shared_db(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static tg_latency_db *db;
    tg_lock(&lock);
    if (!db) db = tg_latency_db_open(NULL);
    tg_unlock(&lock);
    return db;
}

static tg_latency_key key_of(const work *w, const entry *e)
{
    return (tg_latency_key){w->backend->name, w->device, w->o->threads, e->signature};
}

static tg_status list_operators(work *w)
{
    for (uint32_t i = 0; i < w->g->n_nodes; i++) {
        const tg_node *node = w->g->nodes[w->g->order[i]];
        bool fresh;
        if (!runs(node)) continue;
        uint64_t signature = tg_measure_signature(w->g, node);
        uint64_t *at = tg_map_put(&w->by_signature, signature, &fresh);
        if (!fresh) continue;
        *at = w->entries.n;
        entry e = {.signature = signature, .node = node, .result = NAN};
        tg_vec_push(&w->entries, e);
    }
    for (size_t i = 0; i < w->entries.n; i++) {
        entry *e = &w->entries.v[i];
        tg_latency_key key = key_of(w, e);
        int n;
        TG_TRY(tg_job_poll(w->o->job));
        if (w->o->no_cache || !tg_latency_db_find(shared_db(), &key, &e->result, &n)) prepare(w, e);
    }
    return TG_OK;
}

static void flush_cache(work *w)
{
    for (size_t i = 0; i < FLUSH_BYTES; i += 64) w->flush[i]++;
}

static tg_status time_once(work *w, entry *e)
{
    double *ms = tg_calloc(tg_plan_graph(e->plan)->n_ids, sizeof *ms);
    flush_cache(w);
    tg_status status = tg_plan_profile(e->plan, ms);
    if (status == TG_OK) tg_vec_push(&e->ms, ms[e->id]);
    free(ms);
    return status;
}

/* The first run pays for what is set up once. */
static void look_at(entry *e, double confidence, tg_rng *rng)
{
    int n = (int)e->ms.n - 1;
    if (n < 1) return;
    tg_interval i = tg_stats_bootstrap(e->ms.v + 1, n, 0.5, 1, confidence, rng);
    e->result = i.estimate;
    e->narrow = n >= LEAST_ROUNDS && i.high - i.low <= 2 * NARROW * i.estimate;
}

/* What fails while running is left out as what cannot be planned; tells how many are left. */
static tg_status one_round(work *w, bool look, tg_rng *rng, int *left)
{
    *left = 0;
    for (size_t i = 0; i < w->entries.n; i++) {
        entry *e = &w->entries.v[i];
        TG_TRY(tg_job_poll(w->o->job));
        if (!e->plan || e->narrow) continue;
        if (time_once(w, e) != TG_OK) {
            tg_plan_free(e->plan);
            e->plan = NULL;
            continue;
        }
        if (look) look_at(e, w->o->confidence, rng);
        *left += !e->narrow;
    }
    return TG_OK;
}

/* Past the budget each operator still gets the samples that a median needs. */
static tg_status rounds(work *w)
{
    int left = 1;
    int64_t start = tg_clock_ns();
    tg_rng *rng = tg_rng_new(w->o->seed);
    tg_status status = TG_OK;
    for (int r = 0; r <= MOST_ROUNDS && left && status == TG_OK; r++) {
        if (r > LEAST_ROUNDS && tg_timing_since(start) > w->o->budget_ms) break;
        status = one_round(w, r >= LEAST_ROUNDS, rng, &left);
    }
    tg_rng_free(rng);
    return status;
}

/* What was taken in a noisy moment is not for ever. */
static void keep(work *w)
{
    for (size_t i = 0; i < w->entries.n; i++) {
        entry *e = &w->entries.v[i];
        tg_latency_key key = key_of(w, e);
        if (e->plan && e->narrow && !w->o->no_cache)
            tg_latency_db_put(shared_db(), &key, e->result, (int)e->ms.n - 1);
    }
}

static void work_done(work *w)
{
    for (size_t i = 0; i < w->entries.n; i++) {
        tg_plan_free(w->entries.v[i].plan);
        tg_vec_free(&w->entries.v[i].ms);
    }
    tg_vec_free(&w->entries);
    tg_map_free(&w->by_signature);
    free(w->flush);
}

static tg_status measure_exact(const tg_backend *backend, const tg_graph *g, const tg_job *job,
                               double *ms)
{
    tg_plan *plan;
    tg_plan_options options = {.job = job};
    TG_TRY(tg_plan_new(backend, g, &options, &plan));
    memset(ms, 0, sizeof *ms * g->n_ids);
    tg_status status = tg_plan_profile(plan, ms);
    tg_plan_free(plan);
    return status;
}

static void hand_out(work *w, double *ms)
{
    memset(ms, 0, sizeof *ms * w->g->n_ids);
    for (uint32_t i = 0; i < w->g->n_nodes; i++) {
        const tg_node *node = w->g->nodes[w->g->order[i]];
        if (!runs(node)) continue;
        uint64_t at = *tg_map_find(&w->by_signature, tg_measure_signature(w->g, node));
        ms[node->id] = w->entries.v[at].result;
    }
}

tg_status tg_measure_nodes(const tg_backend *backend, const tg_graph *g,
                           const tg_measure_options *options, double *ms)
{
    tg_measure_options o = tg_timing_options(options);
    if (backend->exact) return measure_exact(backend, g, o.job, ms);
    if (backend->outside)
        return tg_fail(TG_UNSUPPORTED, "the backend %s measures whole models, not operators",
                       backend->name);
    work w = {.backend = backend, .g = g, .o = &o};
    backend->identity(w.device, sizeof w.device);
    TG_TRY(tg_measure_turn_acquire(o.job));
    w.flush = tg_calloc(1, FLUSH_BYTES);
    tg_status status = list_operators(&w);
    if (status == TG_OK) status = rounds(&w);
    tg_measure_turn_release();
    if (status == TG_OK) {
        keep(&w);
        hand_out(&w, ms);
    }
    work_done(&w);
    return status;
}
