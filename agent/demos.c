/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "demos.h"

#include "engine/base/lock.h"

#include "engine/base/vec.h"


typedef struct record {
    ag_demo demo;
    bool returned, retracted;
} record;

struct ag_demos {
    pthread_mutex_t lock;
    ag_demo_mode mode;
    TG_VEC(record) records;
};

ag_demos *ag_demos_new(void)
{
    ag_demos *demos = tg_calloc(1, sizeof *demos);
    pthread_mutex_init(&demos->lock, NULL);
    return demos;
}

void ag_demos_free(ag_demos *demos)
{
    if (!demos) return;
    for (size_t i = 0; i < demos->records.n; i++) ag_state_unref(demos->records.v[i].demo.state);
    tg_vec_free(&demos->records);
    pthread_mutex_destroy(&demos->lock);
    free(demos);
}

void ag_demos_set_mode(ag_demos *demos, ag_demo_mode mode)
{
    tg_lock(&demos->lock);
    demos->mode = mode;
    tg_unlock(&demos->lock);
}

size_t ag_demos_add(ag_demos *demos, ag_state *state, int action)
{
    record r = {.demo = {ag_state_ref(state), action, 0}};
    tg_lock(&demos->lock);
    tg_vec_push(&demos->records, r);
    size_t number = demos->records.n - 1;
    tg_unlock(&demos->lock);
    return number;
}

void ag_demos_set_return(ag_demos *demos, size_t demo, double percent)
{
    tg_lock(&demos->lock);
    if (demo < demos->records.n) {
        demos->records.v[demo].demo.percent = percent;
        demos->records.v[demo].returned = true;
    }
    tg_unlock(&demos->lock);
}

void ag_demos_retract(ag_demos *demos, size_t demo, bool retracted)
{
    tg_lock(&demos->lock);
    if (demo < demos->records.n) demos->records.v[demo].retracted = retracted;
    tg_unlock(&demos->lock);
}

/* A mask needs no return; a loss does. */
static bool usable(const ag_demos *demos, const record *r)
{
    if (r->retracted || demos->mode == AG_DEMO_OFF) return false;
    return r->returned || demos->mode == AG_DEMO_MASK;
}

int ag_demos_in_use(ag_demos *demos)
{
    int n = 0;
    tg_lock(&demos->lock);
    for (size_t i = 0; i < demos->records.n; i++) n += usable(demos, &demos->records.v[i]);
    tg_unlock(&demos->lock);
    return n;
}

ag_demo *ag_demos_list(ag_demos *demos, int *n)
{
    tg_lock(&demos->lock);
    ag_demo *list = tg_calloc(demos->records.n + 1, sizeof *list);
    *n = 0;
    for (size_t i = 0; i < demos->records.n && demos->mode == AG_DEMO_IMITATE; i++) {
        const record *r = &demos->records.v[i];
        if (!usable(demos, r)) continue;
        list[*n] = r->demo;
        ag_state_ref(list[(*n)++].state);
    }
    tg_unlock(&demos->lock);
    return list;
}

void ag_demos_list_free(ag_demo *list, int n)
{
    for (int i = 0; i < n; i++) ag_state_unref(list[i].state);
    free(list);
}

static void leave_only(ag_state *state, const ag_demo *demo)
{
    bool stop = demo->action == demo->state->n_candidates;
    uint64_t key = stop ? 0 : demo->state->candidates[demo->action].key;
    int found = -1;
    for (int i = 0; i < state->n_candidates; i++) {
        if (!stop && state->candidates[i].key == key) found = i;
    }
    if (!stop && found < 0) return;
    for (int i = 0; i < state->n_candidates; i++) state->candidates[i].allowed = i == found;
    state->no_stop = !stop;
}

void ag_demos_mask(ag_demos *demos, ag_state *state)
{
    tg_lock(&demos->lock);
    for (size_t i = demos->records.n; i-- > 0 && demos->mode == AG_DEMO_MASK;) {
        const record *r = &demos->records.v[i];
        if (!usable(demos, r) || r->demo.state->key != state->key) continue;
        leave_only(state, &r->demo);
        break;
    }
    tg_unlock(&demos->lock);
}
