/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "events.h"

#include "engine/base/crc.h"
#include "engine/base/str.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

struct ag_events {
    FILE *records, *csv;
    char *folder;
    bool headed;
};

static void put_varint(tg_str *s, uint64_t v)
{
    for (; v >= 128; v >>= 7) tg_str_addc(s, (char)(v | 128));
    tg_str_addc(s, (char)v);
}

/* Little-endian, whatever the machine. */
static void put_fixed(tg_str *s, uint64_t v, int bytes)
{
    for (int i = 0; i < bytes; i++) tg_str_addc(s, (char)(v >> 8 * i));
}

static void put_bytes(tg_str *s, int field, const char *bytes, size_t n)
{
    put_varint(s, (uint64_t)field << 3 | 2);
    put_varint(s, n);
    tg_str_addn(s, bytes, n);
}

static void put_double(tg_str *s, int field, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_varint(s, (uint64_t)field << 3 | 1);
    put_fixed(s, bits, 8);
}

static void put_float(tg_str *s, int field, float v)
{
    uint32_t bits;
    memcpy(&bits, &v, sizeof bits);
    put_varint(s, (uint64_t)field << 3 | 5);
    put_fixed(s, bits, 4);
}

static uint32_t masked(const void *bytes, size_t n)
{
    uint32_t c = tg_crc32c(0, bytes, n);
    return (c >> 15 | c << 17) + 0xa282ead8u;
}

static tg_status write_record(ag_events *events, const tg_str *event)
{
    tg_str record = {0};
    put_fixed(&record, event->n, 8);
    put_fixed(&record, masked(record.p, 8), 4);
    tg_str_addn(&record, event->p, event->n);
    put_fixed(&record, masked(event->p, event->n), 4);
    bool ok =
        fwrite(record.p, 1, record.n, events->records) == record.n && fflush(events->records) == 0;
    tg_str_free(&record);
    return ok ? TG_OK : tg_fail(TG_IO, "%s: %s", events->folder, strerror(errno));
}

static tg_status write_version(ag_events *events)
{
    tg_str event = {0};
    put_double(&event, 1, (double)time(NULL));
    put_bytes(&event, 3, "brain.Event:2", 13);
    tg_status status = write_record(events, &event);
    tg_str_free(&event);
    return status;
}

static FILE *open_in(const char *folder, const char *name, const char *mode)
{
    tg_str path = {0};
    tg_str_addf(&path, "%s/%s", folder, name);
    FILE *file = fopen(tg_str_text(&path), mode);
    tg_str_free(&path);
    return file;
}

static void close_events(void *events)
{
    ag_events_close(events);
}

tg_status ag_events_open(const char *folder, ag_events **out)
{
    char host[64] = "host", name[160];
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return tg_fail(TG_IO, "%s: %s", folder, strerror(errno));
    gethostname(host, sizeof host - 1);
    snprintf(name, sizeof name, "events.out.tfevents.%lld.%s.%d", (long long)time(NULL), host,
             (int)getpid());
    ag_events *events = tg_calloc(1, sizeof *events);
    tg_unwind_push(close_events, events);
    events->folder = tg_strdup(folder);
    events->records = open_in(folder, name, "wb");
    events->csv = events->records ? open_in(folder, "training.csv", "ab") : NULL;
    tg_status status =
        events->csv ? write_version(events) : tg_fail(TG_IO, "%s: %s", folder, strerror(errno));
    tg_unwind_pop(events);
    if (status != TG_OK) {
        ag_events_close(events);
        return status;
    }
    fseek(events->csv, 0, SEEK_END);
    events->headed = ftell(events->csv) > 0;
    *out = events;
    return TG_OK;
}

void ag_events_close(ag_events *events)
{
    if (!events) return;
    if (events->records) fclose(events->records);
    if (events->csv) fclose(events->csv);
    free(events->folder);
    free(events);
}

static void write_csv(ag_events *events, double seconds, int64_t step, int n,
                      const char *const *names, const double *values)
{
    if (!events->headed) {
        fputs("time_s,step", events->csv);
        for (int i = 0; i < n; i++) fprintf(events->csv, ",%s", names[i]);
        fputc('\n', events->csv);
        events->headed = true;
    }
    fprintf(events->csv, "%.3f,%lld", seconds, (long long)step);
    for (int i = 0; i < n; i++) fprintf(events->csv, ",%.9g", values[i]);
    fputc('\n', events->csv);
}

tg_status ag_events_write(ag_events *events, double seconds, int64_t step, int n,
                          const char *const *names, const double *values)
{
    tg_str event = {0}, summary = {0}, value = {0};
    for (int i = 0; i < n; i++) {
        tg_str_clear(&value);
        put_bytes(&value, 1, names[i], strlen(names[i]));
        put_float(&value, 2, (float)values[i]);
        put_bytes(&summary, 1, value.p, value.n);
    }
    put_double(&event, 1, seconds);
    put_varint(&event, 2 << 3);
    put_varint(&event, (uint64_t)step);
    put_bytes(&event, 5, tg_str_text(&summary), summary.n);
    tg_status status = write_record(events, &event);
    tg_str_free(&event);
    tg_str_free(&summary);
    tg_str_free(&value);
    if (status != TG_OK) return status;
    write_csv(events, seconds, step, n, names, values);
    return fflush(events->csv) == 0 ? TG_OK
                                    : tg_fail(TG_IO, "%s: %s", events->folder, strerror(errno));
}
