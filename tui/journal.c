/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "journal.h"

#include "engine/base/crc.h"
#include "engine/base/lock.h"
#include "tui/journal.pb-c.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char magic[] = "regraft journal 1\n";

enum { MAGIC = sizeof magic - 1, HEAD = 8, LARGEST = 1 << 20, LARGEST_FILE = 1 << 30 };

/*
 * Records are encoded by the caller and written by a thread of the journal's own, in order: the
 * interface must not wait for a disk. Invariant: what is in `waiting` belongs to the caller's side,
 * under the lock.
 */
struct ui_journal {
    int fd;
    char *path;
    pthread_t writer;
    pthread_mutex_t lock;
    pthread_cond_t change;
    tg_str waiting;  /* whole records */
    bool busy, stop; /* the writer writes; it shall end */
    int error;       /* errno of a write that failed, else 0 */
};

static int write_all(int fd, const char *p, size_t n)
{
    while (n) {
        ssize_t done = write(fd, p, n);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return errno ? errno : EIO;
        p += done;
        n -= (size_t)done;
    }
    return 0;
}

static void *write_records(void *arg)
{
    ui_journal *j = arg;
    tg_lock(&j->lock);
    while (!j->stop || j->waiting.n) {
        if (!j->waiting.n) {
            pthread_cond_wait(&j->change, &j->lock);
            continue;
        }
        tg_str now = j->waiting;
        j->waiting = (tg_str){0};
        j->busy = true;
        tg_unlock(&j->lock);
        int error = write_all(j->fd, now.p, now.n);
        tg_str_free(&now);
        tg_lock(&j->lock);
        j->busy = false;
        if (error) j->error = error;
        pthread_cond_broadcast(&j->change);
    }
    tg_unlock(&j->lock);
    return NULL;
}

static void put_u32(unsigned char *p, uint32_t x)
{
    for (int i = 0; i < 4; i++) p[i] = (unsigned char)(x >> 8 * i);
}

static uint32_t get_u32(const unsigned char *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static unsigned char *encode(const Regraft__JournalRecord *record, size_t *size)
{
    size_t n = regraft__journal_record__get_packed_size(record);
    unsigned char *bytes = tg_malloc(HEAD + n);
    regraft__journal_record__pack(record, bytes + HEAD);
    put_u32(bytes, (uint32_t)n);
    put_u32(bytes + 4, tg_crc32c(0, bytes + HEAD, n));
    *size = HEAD + n;
    return bytes;
}

/* Hands bytes to the writer. Errors: TG_IO, of an earlier record. */
static tg_status hand_over(ui_journal *j, const void *bytes, size_t n)
{
    tg_lock(&j->lock);
    int error = j->error;
    tg_str_addn(&j->waiting, bytes, n);
    pthread_cond_broadcast(&j->change);
    tg_unlock(&j->lock);
    return error ? tg_fail(TG_IO, "%s: %s", j->path, strerror(error)) : TG_OK;
}

static tg_status write_record(ui_journal *j, const Regraft__JournalRecord *record)
{
    size_t size;
    if (!j) return TG_OK;
    unsigned char *bytes = encode(record, &size);
    tg_status status = hand_over(j, bytes, size);
    free(bytes);
    return status;
}

tg_status ui_journal_flush(ui_journal *j)
{
    tg_lock(&j->lock);
    while ((j->waiting.n || j->busy) && !j->error) pthread_cond_wait(&j->change, &j->lock);
    int error = j->error;
    tg_unlock(&j->lock);
    return error ? tg_fail(TG_IO, "%s: %s", j->path, strerror(error)) : TG_OK;
}

static tg_status open_file(const char *path, int flags, ui_journal **journal)
{
    int fd = open(path, flags | O_WRONLY | O_CLOEXEC, 0666);
    if (fd < 0) return tg_fail(TG_IO, "%s: %s", path, strerror(errno));
    ui_journal *j = tg_calloc(1, sizeof *j);
    j->fd = fd;
    j->path = tg_strdup(path);
    pthread_mutex_init(&j->lock, NULL);
    pthread_cond_init(&j->change, NULL);
    if (pthread_create(&j->writer, NULL, write_records, j) != 0) abort();
    *journal = j;
    return TG_OK;
}

static void keep_old(const char *path)
{
    tg_str old = {0};
    tg_str_addf(&old, "%s~", path);
    (void)!rename(path, old.p);
    tg_str_free(&old);
}

tg_status ui_journal_create(const char *path, const char *model, uint64_t model_hash, uint64_t seed,
                            const char *const *dims, int n_dims, ui_journal **journal)
{
    ui_journal *j;
    keep_old(path);
    TG_TRY(open_file(path, O_CREAT | O_TRUNC | O_APPEND, &j));
    Regraft__JournalRecord record = REGRAFT__JOURNAL_RECORD__INIT;
    Regraft__JournalRecord__Start start = REGRAFT__JOURNAL_RECORD__START__INIT;
    start.model = (char *)(uintptr_t)model;
    start.model_hash = model_hash;
    start.has_seed = true;
    start.seed = seed;
    start.n_dims = (size_t)n_dims;
    start.dims = (char **)(uintptr_t)dims;
    record.start = &start;
    tg_status status = hand_over(j, magic, MAGIC);
    if (status == TG_OK) status = write_record(j, &record);
    if (status == TG_OK) status = ui_journal_flush(j);
    if (status == TG_OK) *journal = j;
    else ui_journal_close(j);
    return status;
}

tg_status ui_journal_append(const char *path, size_t size, ui_journal **journal)
{
    ui_journal *j;
    TG_TRY(open_file(path, O_APPEND, &j));
    if (ftruncate(j->fd, (off_t)size) != 0) {
        tg_status status = tg_fail(TG_IO, "%s: %s", path, strerror(errno));
        ui_journal_close(j);
        return status;
    }
    *journal = j;
    return TG_OK;
}

void ui_journal_close(ui_journal *j)
{
    if (!j) return;
    tg_lock(&j->lock);
    j->stop = true;
    pthread_cond_broadcast(&j->change);
    tg_unlock(&j->lock);
    pthread_join(j->writer, NULL);
    pthread_mutex_destroy(&j->lock);
    pthread_cond_destroy(&j->change);
    close(j->fd);
    tg_str_free(&j->waiting);
    free(j->path);
    free(j);
}

const char *ui_journal_path(const ui_journal *j)
{
    return j->path;
}

int ui_journal_fd(const ui_journal *j)
{
    return j->fd;
}

const void *ui_journal_crash_mark(size_t *size)
{
    static unsigned char *bytes;
    static size_t n;
    if (!bytes) {
        Regraft__JournalRecord record = REGRAFT__JOURNAL_RECORD__INIT;
        record.mark = (char *)(uintptr_t) "crashed";
        bytes = encode(&record, &n);
    }
    *size = n;
    return bytes;
}

tg_status ui_journal_step(ui_journal *j, const tg_state *s)
{
    Regraft__JournalRecord record = REGRAFT__JOURNAL_RECORD__INIT;
    Regraft__JournalRecord__Step step = REGRAFT__JOURNAL_RECORD__STEP__INIT;
    const tg_taken *taken = &s->trail->taken;
    step.parent = s->parent;
    step.state = s->id;
    step.rule = (char *)(uintptr_t)taken->rule;
    step.site = taken->key;
    step.words = (char *)(uintptr_t)taken->site;
    step.hash = taken->hash;
    step.who = s->info.who;
    step.has_probability = step.has_rank = step.has_version = step.has_value = true;
    step.probability = s->info.probability;
    step.rank = s->info.rank;
    step.version = s->info.version;
    step.value = s->info.value;
    step.has_override = step.has_predicted_ms = step.has_max_abs_error = true;
    step.override = s->info.override;
    step.predicted_ms = taken->predicted_ms;
    step.max_abs_error = s->max_abs_error;
    record.step = &step;
    return write_record(j, &record);
}

tg_status ui_journal_head(ui_journal *j, int state)
{
    Regraft__JournalRecord record = REGRAFT__JOURNAL_RECORD__INIT;
    Regraft__JournalRecord__Head head = REGRAFT__JOURNAL_RECORD__HEAD__INIT;
    head.state = state;
    record.head = &head;
    return write_record(j, &record);
}

tg_status ui_journal_tag(ui_journal *j, int state, const char *name)
{
    Regraft__JournalRecord record = REGRAFT__JOURNAL_RECORD__INIT;
    Regraft__JournalRecord__Tag tag = REGRAFT__JOURNAL_RECORD__TAG__INIT;
    tag.state = state;
    tag.name = (char *)(uintptr_t)name;
    record.tag = &tag;
    return write_record(j, &record);
}

tg_status ui_journal_measure(ui_journal *j, const tg_state *s, const char *backend)
{
    Regraft__JournalRecord record = REGRAFT__JOURNAL_RECORD__INIT;
    Regraft__JournalRecord__Measure m = REGRAFT__JOURNAL_RECORD__MEASURE__INIT;
    m.state = s->id;
    m.backend = (char *)(uintptr_t)backend;
    m.before_ms = s->against_parent.before_ms;
    m.after_ms = s->against_parent.after_ms;
    m.ratio = s->against_parent.ratio;
    m.ratio_low = s->against_parent.ratio_low;
    m.ratio_high = s->against_parent.ratio_high;
    m.samples = s->against_parent.n;
    record.measure = &m;
    return write_record(j, &record);
}

tg_status ui_journal_veto(ui_journal *j, const char *rule, const uint64_t *site, bool lifted)
{
    Regraft__JournalRecord record = REGRAFT__JOURNAL_RECORD__INIT;
    Regraft__JournalRecord__Veto veto = REGRAFT__JOURNAL_RECORD__VETO__INIT;
    veto.rule = (char *)(uintptr_t)rule;
    veto.has_site = site != NULL;
    veto.site = site ? *site : 0;
    veto.lifted = lifted;
    record.veto = &veto;
    return write_record(j, &record);
}

tg_status ui_journal_prune(ui_journal *j, int state)
{
    Regraft__JournalRecord record = REGRAFT__JOURNAL_RECORD__INIT;
    Regraft__JournalRecord__Prune prune = REGRAFT__JOURNAL_RECORD__PRUNE__INIT;
    prune.state = state;
    record.prune = &prune;
    return write_record(j, &record);
}

/* ---- reading */

static void read_start(ui_journal_log *log, ui_journal_entry *e,
                       const Regraft__JournalRecord__Start *s)
{
    char **dims = TG_NEW_ARRAY(log->arena, char *, s->n_dims + 1);
    for (size_t i = 0; i < s->n_dims; i++) dims[i] = tg_arena_strdup(log->arena, s->dims[i]);
    e->kind = UI_J_START;
    e->text = tg_arena_strdup(log->arena, s->model);
    e->hash = s->model_hash;
    e->seed = s->seed;
    e->dims = dims;
    e->n_dims = (int)s->n_dims;
}

static void read_step(ui_journal_log *log, ui_journal_entry *e,
                      const Regraft__JournalRecord__Step *s)
{
    e->kind = UI_J_STEP;
    e->parent = s->parent;
    e->state = s->state;
    e->text = tg_arena_strdup(log->arena, s->rule);
    e->words = tg_arena_strdup(log->arena, s->words ? s->words : "");
    e->site = s->site;
    e->has_site = true;
    e->hash = s->hash;
    bool known = s->who >= TG_BY_AGENT && s->who <= TG_BY_SEARCH;
    e->info = (tg_step_info){known ? (tg_who)s->who : TG_BY_YOU,
                             s->probability,
                             s->rank,
                             s->override,
                             s->version,
                             s->value};
    e->predicted_ms = s->predicted_ms;
    e->max_abs_error = s->max_abs_error;
}

static void read_measure(ui_journal_log *log, ui_journal_entry *e,
                         const Regraft__JournalRecord__Measure *m)
{
    e->kind = UI_J_MEASURE;
    e->state = m->state;
    e->text = tg_arena_strdup(log->arena, m->backend);
    e->comparison = (tg_comparison){.before_ms = m->before_ms,
                                    .after_ms = m->after_ms,
                                    .ratio = m->ratio,
                                    .ratio_low = m->ratio_low,
                                    .ratio_high = m->ratio_high,
                                    .n = m->samples};
}

/* False if the record holds nothing that this version knows. */
static bool read_entry(ui_journal_log *log, ui_journal_entry *e, const Regraft__JournalRecord *r)
{
    if (r->start) read_start(log, e, r->start);
    else if (r->step) read_step(log, e, r->step);
    else if (r->measure) read_measure(log, e, r->measure);
    else if (r->head) *e = (ui_journal_entry){.kind = UI_J_HEAD, .state = r->head->state};
    else if (r->prune) *e = (ui_journal_entry){.kind = UI_J_PRUNE, .state = r->prune->state};
    else if (r->tag)
        *e = (ui_journal_entry){.kind = UI_J_TAG,
                                .state = r->tag->state,
                                .text = tg_arena_strdup(log->arena, r->tag->name)};
    else if (r->veto)
        *e = (ui_journal_entry){.kind = UI_J_VETO,
                                .text = tg_arena_strdup(log->arena, r->veto->rule),
                                .site = r->veto->site,
                                .has_site = r->veto->has_site,
                                .lifted = r->veto->lifted};
    else if (r->mark)
        *e = (ui_journal_entry){.kind = UI_J_MARK, .text = tg_arena_strdup(log->arena, r->mark)};
    else return false;
    return true;
}

/* The whole record at `at`, or 0 if there is none: its size with the head. */
static size_t record_at(const unsigned char *bytes, size_t size, size_t at)
{
    if (size - at < HEAD) return 0;
    size_t n = get_u32(bytes + at);
    if (n > LARGEST || n > size - at - HEAD) return 0;
    return tg_crc32c(0, bytes + at + HEAD, n) == get_u32(bytes + at + 4) ? HEAD + n : 0;
}

static tg_status read_records(const char *path, const unsigned char *bytes, size_t size,
                              ui_journal_log *log)
{
    if (size < MAGIC || memcmp(bytes, magic, MAGIC) != 0)
        return tg_fail(TG_FORMAT, "%s: not a regraft journal", path);
    size_t at = MAGIC, n;
    for (; at < size && (n = record_at(bytes, size, at)); at += n) {
        Regraft__JournalRecord *r =
            regraft__journal_record__unpack(NULL, n - HEAD, bytes + at + HEAD);
        if (!r)
            return tg_fail(TG_FORMAT, "%s: record %zu at byte %zu is broken", path, log->entries.n,
                           at);
        ui_journal_entry e = {0};
        if (read_entry(log, &e, r)) tg_vec_push(&log->entries, e);
        regraft__journal_record__free_unpacked(r, NULL);
    }
    log->good_size = at;
    log->lost = size - at;
    if (!log->entries.n || log->entries.v[0].kind != UI_J_START)
        return tg_fail(TG_FORMAT, "%s: the journal has no start record", path);
    return TG_OK;
}

tg_status ui_journal_read(const char *path, ui_journal_log *log)
{
    char *bytes;
    size_t size;
    TG_TRY(tg_read_file(path, LARGEST_FILE, &bytes, &size));
    *log = (ui_journal_log){.arena = tg_arena_new()};
    tg_status status = read_records(path, (unsigned char *)bytes, size, log);
    free(bytes);
    if (status != TG_OK) ui_journal_log_done(log);
    return status;
}

void ui_journal_log_done(ui_journal_log *log)
{
    tg_arena_free(log->arena);
    tg_vec_free(&log->entries);
    *log = (ui_journal_log){0};
}
