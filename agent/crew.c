/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "crew.h"

#include "engine/base/lock.h"

#include <stdbool.h>
#include <stdlib.h>

typedef struct member {
    ag_crew *crew;
    int worker;
    pthread_t thread;
} member;

struct ag_crew {
    int workers;
    member *members; /* of the workers but the caller */
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    void (*run)(void *ctx, int part, int worker);
    void *ctx;
    int next, parts, working;
    bool stop;
};

/* Takes parts until none is left. The lock is held before and after. */
static void take_parts(ag_crew *crew, int worker)
{
    while (crew->next < crew->parts) {
        int part = crew->next++;
        crew->working++;
        tg_unlock(&crew->lock);
        void *guard = tg_unprotected_begin(); /* the others would work on with what is gone */
        crew->run(crew->ctx, part, worker);
        tg_unprotected_end(guard);
        tg_lock(&crew->lock);
        crew->working--;
    }
    if (!crew->working) pthread_cond_broadcast(&crew->done);
}

static void *member_main(void *arg)
{
    member *m = arg;
    ag_crew *crew = m->crew;
    tg_lock(&crew->lock);
    while (!crew->stop) {
        if (crew->next < crew->parts) take_parts(crew, m->worker);
        else pthread_cond_wait(&crew->wake, &crew->lock);
    }
    tg_unlock(&crew->lock);
    return NULL;
}

ag_crew *ag_crew_new(int workers)
{
    ag_crew *crew = tg_calloc(1, sizeof *crew);
    crew->members = tg_calloc((size_t)workers, sizeof *crew->members);
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->wake, NULL);
    pthread_cond_init(&crew->done, NULL);
    crew->workers = 1;
    for (int i = 1; i < workers; i++) {
        member *m = &crew->members[i - 1];
        *m = (member){.crew = crew, .worker = i};
        /* Fewer workers do the same work. */
        if (pthread_create(&m->thread, NULL, member_main, m) != 0) break;
        crew->workers++;
    }
    return crew;
}

void ag_crew_free(ag_crew *crew)
{
    if (!crew) return;
    tg_lock(&crew->lock);
    crew->stop = true;
    pthread_cond_broadcast(&crew->wake);
    tg_unlock(&crew->lock);
    for (int i = 1; i < crew->workers; i++) pthread_join(crew->members[i - 1].thread, NULL);
    pthread_mutex_destroy(&crew->lock);
    pthread_cond_destroy(&crew->wake);
    pthread_cond_destroy(&crew->done);
    free(crew->members);
    free(crew);
}

int ag_crew_size(const ag_crew *crew)
{
    return crew ? crew->workers : 1;
}

void ag_crew_run(ag_crew *crew, void (*run)(void *ctx, int part, int worker), void *ctx, int parts)
{
    if (!crew) {
        for (int part = 0; part < parts; part++) run(ctx, part, 0);
        return;
    }
    tg_lock(&crew->lock);
    crew->run = run;
    crew->ctx = ctx;
    crew->next = 0;
    crew->parts = parts;
    pthread_cond_broadcast(&crew->wake);
    take_parts(crew, 0);
    while (crew->working) pthread_cond_wait(&crew->done, &crew->lock);
    crew->parts = 0;
    tg_unlock(&crew->lock);
}
