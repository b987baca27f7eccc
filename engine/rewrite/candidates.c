/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Sites that can be taken, each result once. */
#include "apply.h"
#include "preview.h"
#include "reuse.h"

#include "engine/base/hash.h"

#include <stdlib.h>

enum { POLLED = 64 };

struct tg_candidates {
    tg_arena *arena;
    tg_rules *rules;
    tg_graph *g;
    tg_sites *sites;
    TG_VEC(tg_candidate) list;
    tg_map by_key;
    int refused, merged;
    bool forgotten; /* previews are made again when they are needed */
};

/* What candidates are made of: the candidates of the graph before, if there were any. */
typedef struct making {
    previewer p;
    tg_map seen;
    const tg_candidates *old;
    reuser *reuse;
} making;

void tg_candidates_free(tg_candidates *c)
{
    if (!c) return;
    tg_vec_free(&c->list);
    tg_map_free(&c->by_key);
    tg_sites_free(c->sites);
    tg_arena_free(c->arena);
    tg_graph_unref(c->g);
    tg_rules_unref(c->rules);
    free(c);
}

static bool take_over(const making *m, const tg_site *site, tg_arena *arena, tg_preview *out)
{
    int i = m->old ? tg_candidates_find_key(m->old, site->key) : -1;
    return i >= 0 && reuse_preview(m->reuse, site, &m->old->list.v[i].preview, arena, out);
}

static void add_site(tg_candidates *c, making *m, const tg_site *site)
{
    tg_candidate candidate = {.site = site};
    bool fresh;
    if (!take_over(m, site, c->arena, &candidate.preview))
        preview_run(&m->p, site, c->arena, &candidate.preview);
    if (!candidate.preview.ok) {
        c->refused++;
        return;
    }
    tg_map_put(&m->seen, candidate.preview.change, &fresh);
    if (!fresh) {
        c->merged++;
        return;
    }
    *tg_map_put(&c->by_key, site->key, NULL) = c->list.n;
    tg_vec_push(&c->list, candidate);
}

static tg_status add_all(tg_candidates *c, const tg_candidates *old, const tg_job *job)
{
    making m = {.old = old && !old->forgotten ? old : NULL};
    tg_status status = TG_OK;
    if (m.old) m.reuse = reuse_new(old->g, c->g);
    preview_init(&m.p, c->rules, c->g);
    for (int i = 0; i < tg_sites_count(c->sites) && status == TG_OK; i++) {
        if (i % POLLED == 0) status = tg_job_poll(job);
        if (status == TG_OK) add_site(c, &m, tg_sites_get(c->sites, i));
    }
    preview_done(&m.p);
    reuse_free(m.reuse);
    tg_map_free(&m.seen);
    return status;
}

/* Takes over the sites. */
static tg_status candidates_of(tg_sites *sites, const tg_rules *rules, const tg_graph *g,
                               const tg_candidates *old, const tg_job *job, tg_candidates **out)
{
    tg_candidates *c = tg_calloc(1, sizeof *c);
    c->arena = tg_arena_new();
    c->rules = tg_rules_ref(rules);
    c->g = tg_graph_ref(g);
    c->sites = sites;
    tg_status status = add_all(c, old, job);
    if (status == TG_OK) *out = c;
    else tg_candidates_free(c);
    return status;
}

tg_status tg_candidates_find(const tg_rules *rules, const tg_graph *g, const tg_job *job,
                             tg_candidates **out)
{
    tg_sites *sites;
    TG_TRY(tg_sites_find(rules, g, job, &sites));
    return candidates_of(sites, rules, g, NULL, job, out);
}

tg_status tg_candidates_update(const tg_candidates *old, const tg_graph *next, const tg_job *job,
                               tg_candidates **out)
{
    tg_sites *sites;
    TG_TRY(tg_sites_update(old->sites, next, job, &sites));
    return candidates_of(sites, old->rules, next, old, job, out);
}

int tg_candidates_count(const tg_candidates *c)
{
    return (int)c->list.n;
}

const tg_candidate *tg_candidates_get(const tg_candidates *c, int i)
{
    return &c->list.v[i];
}

int tg_candidates_find_key(const tg_candidates *c, uint64_t key)
{
    const uint64_t *at = tg_map_find(&c->by_key, key);
    return at ? (int)*at : -1;
}

const tg_graph *tg_candidates_graph(const tg_candidates *c)
{
    return c->g;
}

const tg_rules *tg_candidates_rules(const tg_candidates *c)
{
    return c->rules;
}

void tg_candidates_tally(const tg_candidates *c, int *sites, int *refused, int *merged)
{
    *sites = tg_sites_count(c->sites);
    *refused = c->refused;
    *merged = c->merged;
}

void tg_candidates_forget(tg_candidates *c)
{
    tg_arena_free(c->arena);
    c->arena = NULL;
    c->forgotten = true;
    for (size_t i = 0; i < c->list.n; i++) c->list.v[i].preview = (tg_preview){0};
}

tg_status tg_candidates_apply(const tg_candidates *c, int i, tg_graph **out)
{
    const tg_candidate *candidate = &c->list.v[i];
    if (c->forgotten) return tg_site_apply(c->rules, c->g, candidate->site, out);
    return apply_preview(c->g, &candidate->preview,
                         tg_rules_get(c->rules, candidate->site->rule)->name, out);
}
