/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The journal of a session: an append-only file of records, each with its length and a CRC-32C,
 * flushed as things happen, so that a kill loses nothing that was on the screen. A file whose end
 * was cut off is read up to the last whole record.
 *
 *     "regraft journal 1\n" { u32 length, u32 crc of the payload, payload }*     little-endian
 */
#ifndef TUI_JOURNAL_H
#define TUI_JOURNAL_H

#include "engine/engine.h"

typedef struct ui_journal ui_journal;

/* Starts a new file (an old one of that name is kept as NAME~). Errors: TG_IO. */
tg_status ui_journal_create(const char *path, const char *model, uint64_t model_hash, uint64_t seed,
                            const char *const *dims, int n_dims, ui_journal **journal) TG_MUST_USE;
/* Opens one to go on writing; what follows `size` bytes (a torn record) is cut off. Errors: TG_IO.
 */
tg_status ui_journal_append(const char *path, size_t size, ui_journal **journal) TG_MUST_USE;
void ui_journal_close(ui_journal *journal); /* NULL is fine */
const char *ui_journal_path(const ui_journal *journal);

/* Waits until all records are in the file. Errors: TG_IO. */
tg_status ui_journal_flush(ui_journal *journal) TG_MUST_USE;

/*
 * Each is handed to the journal's own thread, which writes it at once, in order; returns without
 * waiting. A NULL journal takes everything. Errors: TG_IO of an earlier record (disk full ...); the
 * session goes on.
 */
tg_status ui_journal_step(ui_journal *journal, const tg_state *state) TG_MUST_USE;
tg_status ui_journal_head(ui_journal *journal, int state) TG_MUST_USE;
tg_status ui_journal_tag(ui_journal *journal, int state, const char *name) TG_MUST_USE;
tg_status ui_journal_measure(ui_journal *journal, const tg_state *state,
                             const char *backend) TG_MUST_USE;
tg_status ui_journal_veto(ui_journal *journal, const char *rule, const uint64_t *site,
                          bool lifted) TG_MUST_USE;
tg_status ui_journal_prune(ui_journal *journal, int state) TG_MUST_USE;

/* The file descriptor, for the crash handler, and the bytes of a record that says "crashed". */
int ui_journal_fd(const ui_journal *journal);
const void *ui_journal_crash_mark(size_t *size);

/* What a journal holds. Strings live as long as it. */
typedef struct ui_journal_entry {
    enum {
        UI_J_START,
        UI_J_STEP,
        UI_J_HEAD,
        UI_J_TAG,
        UI_J_MEASURE,
        UI_J_VETO,
        UI_J_PRUNE,
        UI_J_MARK
    } kind;
    int state, parent;
    const char *text;    /* model, rule, tag name, mark, backend */
    const char *words;   /* of a step's site */
    uint64_t site, hash; /* START: hash of the root */
    bool has_site, lifted;
    uint64_t seed;
    tg_step_info info;
    double predicted_ms, max_abs_error;
    tg_comparison comparison;
    char *const *dims;
    int n_dims;
} ui_journal_entry;

typedef struct ui_journal_log {
    tg_arena *arena;
    TG_VEC(ui_journal_entry) entries;
    size_t good_size; /* bytes up to the last whole record */
    size_t lost;      /* bytes behind it */
} ui_journal_log;

/* Errors: TG_IO, TG_FORMAT (no journal, a broken record that is not the last: record and offset).
 */
tg_status ui_journal_read(const char *path, ui_journal_log *log) TG_MUST_USE;
void ui_journal_log_done(ui_journal_log *log);

#endif
