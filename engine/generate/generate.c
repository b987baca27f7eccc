/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "generate.h"

#include "engine/rewrite/prove.h"

#include "follow.h"
#include "library.h"
#include "paragraph.h"
#include "state.h"
#include "threads.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

/* Few samples find most mistakes; a rule that is kept has passed as many as `rules check` draws. */
enum { BATCH = 64, FEW_SAMPLES = 24, SAMPLES = 150, MOST_OPERANDS = 4 };

static const follow_limits for_cover = {5000, 10, 0, 20000, 3};

typedef struct task {
    const pair *pair;
    decision decision;
    tg_str text; /* of a rule that is kept */
} task;

typedef struct run {
    const tg_generate_options *o;
    const bank *b;
    library *lib;
    task *tasks;
    int n;
    atomic_int next;
} run;

/* ---- one pair ------------------------------------------------------------------------------- */

static bool write_rule(const bank *b, const pair *p, const way *way, tg_str *text, tg_rules **rules)
{
    char name[24];
    snprintf(name, sizeof name, "gen-%08x", (unsigned)(p->key >> 32));
    tg_str_clear(text);
    if (!paragraph_write(b, p, way, name, text)) return false;
    return tg_rules_parse(tg_str_text(text), "generated.rules", rules) == TG_OK;
}

static int bits(unsigned x)
{
    return __builtin_popcount(x);
}

/* The fewest conditions with which the rule is right; false: it is not. */
static bool prove_with(const run *r, const pair *p, way w, decision *d, tg_str *text)
{
    int n = paragraph_operand_pairs(r->b, p);
    if (n > MOST_OPERANDS) n = MOST_OPERANDS;
    for (int count = 0; count <= n; count++)
        for (w.same = 0; w.same < 1u << n; w.same++) {
            tg_rules *rules;
            tg_rule_report report;
            if (bits(w.same) != count || !write_rule(r->b, p, &w, text, &rules)) continue;
            tg_status status = tg_rule_prove(rules, 0, r->o->seed, FEW_SAMPLES, &report);
            bool none = status == TG_RULE && !report.samples;
            if (status == TG_OK) status = tg_rule_prove(rules, 0, r->o->seed + 1, SAMPLES, &report);
            tg_rules_unref(rules);
            if (none) return false; /* it fits nothing */
            if (status != TG_OK) continue;
            *d = (decision){KEPT, w};
            return true;
        }
    return false;
}

/* The most general way in which the rule is right. */
static bool prove_some_way(const run *r, const pair *p, decision *d, tg_str *text)
{
    bool conv = paragraph_has_conv(r->b, p), axis = paragraph_has_axis(r->b, p);
    for (int any = axis; any >= 0; any--)
        for (int plain = 0; plain <= conv; plain++)
            for (int group = 0; group < (conv ? GROUP_WAYS : 1); group++) {
                way w = {any, (group_way)group, plain, 0};
                if (prove_with(r, p, w, d, text)) return true;
            }
    return false;
}

static void decide(const run *r, task *t)
{
    way general = {paragraph_has_axis(r->b, t->pair), GROUP_ANY, false, 0};
    tg_rules *rules;
    if (write_rule(r->b, t->pair, &general, &t->text, &rules)) {
        bool follow = library_derives(r->lib, rules, t->pair->key);
        tg_rules_unref(rules);
        t->decision = (decision){FOLLOWS, general};
        if (follow) return;
    }
    t->decision = (decision){WRONG, general};
    (void)prove_some_way(r, t->pair, &t->decision, &t->text);
}

static void *work(void *ctx)
{
    run *r = ctx;
    for (int i; (i = atomic_fetch_add(&r->next, 1)) < r->n;) {
        if (tg_job_cancelled(r->o->job)) break;
        if (r->tasks[i].decision.kind == UNDECIDED) decide(r, &r->tasks[i]);
    }
    return NULL;
}

/* ---- all pairs ---------------------------------------------------------------------------- */

/* In the order of the pairs, so that threads do not matter: what others of the batch make follow.
 */
static void keep(run *r, task *t, int at_start)
{
    tg_rules *rules;
    library *lib = r->lib;
    if (t->decision.kind != KEPT) return;
    if (!write_rule(r->b, t->pair, &t->decision.way, &t->text, &rules)) {
        t->decision.kind = WRONG;
        return;
    }
    bool changed =
        lib->n > at_start || t->decision.way.same || t->decision.way.group || t->decision.way.plain;
    if (changed && library_derives(lib, rules, t->pair->key)) t->decision.kind = FOLLOWS;
    tg_rules_unref(rules);
    if (t->decision.kind != KEPT) return;
    library_add(lib, tg_str_text(&t->text), t->pair->to_size - t->pair->from_size);
}

static void count(tg_generate_progress *p, const task *t)
{
    p->done++;
    p->kept += t->decision.kind == KEPT;
    p->wrong += t->decision.kind == WRONG;
    p->followed += t->decision.kind == FOLLOWS;
}

static tg_status decide_all(const tg_generate_options *o, const pairs *pairs, library *lib,
                            state *state, tg_generate_progress *progress)
{
    task tasks[BATCH];
    run r = {.o = o, .b = &pairs->bank, .lib = lib, .tasks = tasks};
    tg_status status = TG_OK;
    progress->stage = "pairs";
    progress->of += pairs->v.n;
    for (size_t at = 0; at < pairs->v.n && status == TG_OK; at += (size_t)r.n) {
        int at_start = lib->n;
        r.n = pairs->v.n - at < BATCH ? (int)(pairs->v.n - at) : BATCH;
        for (int i = 0; i < r.n; i++) {
            const pair *p = &pairs->v.v[at + (size_t)i];
            tasks[i] = (task){.pair = p, .decision = state_find(state, p->key)};
        }
        atomic_store(&r.next, 0);
        threads_run(o->threads, work, &r);
        status = tg_job_poll(o->job);
        for (int i = 0; i < r.n; i++) {
            bool known = state_find(state, tasks[i].pair->key).kind != UNDECIDED;
            if (status == TG_OK && !known) keep(&r, &tasks[i], at_start);
            if (status == TG_OK && known && tasks[i].decision.kind == KEPT)
                keep(&r, &tasks[i], lib->n);
            if (status == TG_OK && !known)
                status = state_add(state, tasks[i].pair->key, tasks[i].decision);
            if (status == TG_OK) count(progress, &tasks[i]);
            tg_str_free(&tasks[i].text);
        }
        if (o->progress && status == TG_OK) o->progress(o->ctx, progress);
    }
    return status;
}

/* ---- what follows from all the others ------------------------------------------------------- */

typedef struct crew {
    const tg_generate_options *o;
    const library *lib;
    const bool *gone;
    int first, n;
    atomic_int next;
    bool follows[BATCH];
} crew;

static void *test_some(void *ctx)
{
    crew *c = ctx;
    for (int i; (i = atomic_fetch_add(&c->next, 1)) < c->n;)
        if (!tg_job_cancelled(c->o->job))
            c->follows[i] = library_can_spare(c->lib, c->gone, c->first - i);
    return NULL;
}

/*
 * From the last on, for larger rules and those of fewer variables stand behind. What threads find
 * on the rules as they were is looked at again where one before went.
 */
static tg_status reduce(const tg_generate_options *o, const library *lib, bool *gone,
                        tg_generate_progress *progress)
{
    tg_status status = TG_OK;
    progress->stage = "rules";
    progress->done = 0;
    progress->of = (size_t)lib->n;
    for (int last = lib->n - 1; last >= 0 && status == TG_OK; last -= BATCH) {
        crew c = {.o = o, .lib = lib, .gone = gone, .first = last};
        c.n = last + 1 < BATCH ? last + 1 : BATCH;
        threads_run(o->threads, test_some, &c);
        status = tg_job_poll(o->job);
        bool changed = false;
        for (int i = 0; i < c.n && status == TG_OK; i++) {
            if (changed && c.follows[i]) c.follows[i] = library_can_spare(lib, gone, last - i);
            changed |= gone[last - i] = c.follows[i];
            progress->kept -= c.follows[i];
            progress->followed += c.follows[i];
        }
        progress->done += (size_t)c.n;
        if (o->progress && status == TG_OK) o->progress(o->ctx, progress);
    }
    return status;
}

/* ---- all of it ------------------------------------------------------------------------------ */

typedef struct telling {
    const tg_generate_options *o;
    tg_generate_progress *progress;
    size_t before;
} telling;

static void tell(void *ctx, int size, size_t expressions, size_t pairs)
{
    telling *t = ctx;
    (void)pairs;
    t->progress->stage = "expressions";
    t->progress->size = size;
    t->progress->expressions = t->before + expressions;
    if (t->o->progress) t->o->progress(t->o->ctx, t->progress);
}

static tg_status in_world(const tg_generate_options *o, int kind, library *lib, state *state,
                          tg_generate_progress *progress)
{
    world w;
    pairs pairs;
    telling telling = {o, progress, progress->expressions};
    progress->world = kind == IMAGES ? "images" : "matrices";
    TG_TRY(world_make(&w, kind, o->variables, o->operators, o->n_operators));
    if (!w.n_forms) return TG_OK;
    TG_TRY(pairs_find(&pairs, &w, o->max_nodes, o->threads, o->job, tell, &telling));
    tg_status status = decide_all(o, &pairs, lib, state, progress);
    pairs_free(&pairs);
    return status;
}

static bool has_operator(const tg_generate_options *o, const char *name)
{
    for (int i = 0; i < o->n_operators; i++)
        if (strcmp(o->operators[i], name) == 0) return true;
    return false;
}

static tg_status check(const tg_generate_options *o)
{
    if (o->max_nodes < 1 || o->max_nodes >= MOST_NODES)
        return tg_fail(TG_USAGE, "rules have 1 to %d operators a side, not %d", MOST_NODES - 1,
                       o->max_nodes);
    if (o->variables < 1 || o->variables > MOST_VARS)
        return tg_fail(TG_USAGE, "rules have 1 to %d variables, not %d", MOST_VARS, o->variables);
    if (!o->n_operators) return tg_fail(TG_USAGE, "no operators to make rules of");
    world w;
    return world_make(&w, MATRICES, o->variables, o->operators, o->n_operators);
}

tg_status tg_generate(const tg_generate_options *o, tg_str *text, tg_generate_progress *last)
{
    library lib = {.n = 0};
    state state = {.file = NULL};
    *last = (tg_generate_progress){.stage = "expressions"};
    TG_TRY(check(o));
    tg_status status = state_open(&state, o);
    if (status == TG_OK) status = in_world(o, MATRICES, &lib, &state, last);
    if (status == TG_OK && has_operator(o, "Conv"))
        status = in_world(o, IMAGES, &lib, &state, last);
    bool *gone = tg_calloc((size_t)lib.n + 1, sizeof *gone);
    if (status == TG_OK && lib.n) status = reduce(o, &lib, gone, last);
    if (status == TG_OK && lib.n) library_write(&lib, gone, text);
    free(gone);
    state_close(&state);
    library_done(&lib);
    return status;
}

/* ---- what rules cover ----------------------------------------------------------------------- */

tg_status tg_rules_cover(const tg_rules *others, const tg_rules *rules, int most, const tg_job *job,
                         int *steps)
{
    follow_limits limits = for_cover;
    tg_status status = TG_OK;
    limits.steps = most;
    for (int i = 0; i < tg_rules_count(rules) && status == TG_OK; i++) {
        steps[i] = follow_steps(others, rules, i, 1, &limits);
        status = tg_job_poll(job);
    }
    return status;
}
