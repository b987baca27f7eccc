/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Latencies of operators, kept between runs: an SQLite file in the user's cache folder, shared by
 * many processes. A broken file is set aside with a message and begun anew; where nothing can be
 * written, all still works and nothing is kept.
 */
#ifndef TG_MEASURE_LATENCY_DB_H
#define TG_MEASURE_LATENCY_DB_H

#include "engine/base/status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct tg_latency_db tg_latency_db;

/* What a latency holds for. */
typedef struct tg_latency_key {
    const char *backend;
    const char *device; /* with the version of the library (tg_backend.identity) */
    int threads;
    uint64_t operator_hash; /* of operator, attributes and types (bench.h: tg_measure_signature) */
} tg_latency_key;

/*
 * Opens $XDG_CACHE_HOME/regraft/latency.sqlite (~/.cache/regraft without it), or `path`. Never
 * fails: at worst nothing is found and nothing kept. Any thread may use it.
 */
tg_latency_db *tg_latency_db_open(const char *path);
void tg_latency_db_close(tg_latency_db *db); /* NULL is fine */

/* The latency kept for the key, in ms, and how many samples it rests on; false if there is none. */
bool tg_latency_db_find(tg_latency_db *db, const tg_latency_key *key, double *ms, int *n);
void tg_latency_db_put(tg_latency_db *db, const tg_latency_key *key, double ms, int n);
/* True if what is put will be found by the next process. */
bool tg_latency_db_keeps(const tg_latency_db *db);

#endif
