/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Backends: what can run a graph, or say how long it takes. A backend is a record; a plan is a
 * graph made runnable by one of them.
 *
 *     tg_plan *plan;
 *     TG_TRY(tg_plan_new(tg_backend_find("cpu"), graph, NULL, &plan));
 *     TG_TRY(tg_plan_run(plan, in, out));
 *
 * Backends and graphs may be used by any thread at once; a plan belongs to one thread at a time.
 */
#ifndef TG_EXEC_BACKEND_H
#define TG_EXEC_BACKEND_H

#include "engine/base/job.h"
#include "engine/ir/interpret.h"

typedef struct tg_plan tg_plan;

/* What the backend `command` needs to know (command.c). */
typedef struct tg_command {
    const char *line; /* program and arguments, cut into words as a shell does; no shell runs;
                         outlives the plan */
    double timeout_s; /* of one run of it; 0: 60 */
    tg_status (*save)(const tg_graph *g, const char *path); /* writes an ONNX file: tg_onnx_save */
} tg_command;

typedef struct tg_plan_options {
    int threads;        /* of the library; 0 means 1 */
    tg_command command; /* of the backend "command" */
    const tg_job *job;  /* may end planning and runs, between operators; outlives the plan; NULL:
                           nobody does */
} tg_plan_options;

/* What a plan is made of. */
typedef struct tg_plan_stats {
    size_t peak_bytes;   /* of activations and scratch space, at most, at one time */
    size_t weight_bytes; /* of packed weights, some of them shared with other plans */
    int steps;           /* things that run, reorders included */
    int primitives;      /* of them, run by the vendor's library */
    int loops;           /* of them, loops of our own */
    int reorders;        /* of them, changes of layout or copies of a part */
    int views;           /* nodes that cost nothing */
    int absorbed;        /* nodes that became part of another node's step */
    int reference;       /* nodes that run by their reference kernel */
    int slow;            /* primitives for which the library has scalar code only */
    char slow_names[96]; /* operators of the last two, each once, with commas, "..." if too many */
} tg_plan_stats;

/* One timed run. cpu_ns is the time of the calling thread; the model's two times are equal. */
typedef struct tg_sample {
    int64_t wall_ns, cpu_ns;
} tg_sample;

/*
 * Invariants: name is unique. `state` is what plan made; run and time may be called any number of
 * times until close.
 */
typedef struct tg_backend {
    const char *name;
    bool exact;   /* times are computed, not measured: no noise */
    bool outside; /* another program measures: no inputs, no values, no operators alone */
    const char *doc;
    /* Device and library version, for the keys of caches. Into buf; returns buf. */
    char *(*identity)(char *buf, size_t size);
    tg_status (*plan)(const tg_graph *g, const tg_plan_options *options, tg_plan_stats *stats,
                      void **state);
    /* Puts inputs where `time` finds them. */
    tg_status (*load)(void *state, const tg_tensor *in);
    tg_status (*run)(void *state, tg_tensor *out);
    tg_status (*time)(void *state, tg_sample *sample);
    int (*ready)(void *state); /* samples that `time` has already; NULL: none ever */
    tg_status (*profile)(void *state, double *ms);
    void (*close)(void *state);
} tg_backend;

/* The backend of that name, or NULL; number i of all, or NULL. */
const tg_backend *tg_backend_find(const char *name);
const tg_backend *tg_backend_at(int i);
const char *tg_backend_name(const tg_backend *backend);

/*
 * Plans a graph; takes a reference. `options` NULL: the defaults. Errors: TG_UNSUPPORTED naming the
 * operator, TG_BACKEND, TG_CANCELLED, those of constant folding.
 */
tg_status tg_plan_new(const tg_backend *backend, const tg_graph *g, const tg_plan_options *options,
                      tg_plan **plan) TG_MUST_USE;
void tg_plan_free(tg_plan *plan); /* NULL is fine */

/*
 * Runs. in: one tensor a graph input, in the model's order, of the graph's types; out: one a graph
 * output, allocated by the call (tg_tensor_free). Errors: TG_SHAPE, TG_TYPE (inputs), those of
 * kernels. On failure nothing is allocated.
 */
tg_status tg_plan_run(tg_plan *plan, const tg_tensor *in, tg_tensor *out) TG_MUST_USE;

/* Copies inputs into the plan for tg_plan_time. Errors: as tg_plan_run. */
tg_status tg_plan_load(tg_plan *plan, const tg_tensor *in) TG_MUST_USE;
/* One timed run on the inputs loaded last; outputs stay inside. */
tg_status tg_plan_time(tg_plan *plan, tg_sample *sample) TG_MUST_USE;
/* How many of the next runs cost nothing, because a program has told their times already. */
int tg_plan_ready(const tg_plan *plan);

/*
 * One run, each step timed: adds to ms[id] the wall time of the step that node `id` of the graph
 * began. Nodes that were absorbed get nothing, nor do changes of layout. ms has n_ids entries.
 */
tg_status tg_plan_profile(tg_plan *plan, double *ms) TG_MUST_USE;

const tg_plan_stats *tg_plan_stats_of(const tg_plan *plan);
const tg_graph *tg_plan_graph(const tg_plan *plan);
const tg_backend *tg_plan_backend(const tg_plan *plan);

#endif
