/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Journals: read as they are, and once more with sums that fit, because hardly a change gets past
 * them; what can be read is replayed on a small graph.
 */
#include "fuzz.h"

#include "engine/base/crc.h"
#include "engine/engine.h"
#include "samples/samples.h"
#include "tui/journal.pb-c.h"
#include "tui/replay.h"

#include <string.h>

enum { HEAD = 8 };
static const char magic[] = "regraft journal 1\n";

static void replay(const ui_journal_log *log)
{
    static tg_graph *root;
    static tg_rules *rules;
    if (!root) fuzz_must(tg_sample_build("branches", 1, false, &root) == TG_OK);
    if (!rules) fuzz_must(tg_rules_load(NULL, 0, &rules) == TG_OK);
    ui_replay_options options = {.to = -1};
    ui_replay_report report;
    tg_history *history;
    if (ui_replay(log, root, rules, &options, &history, &report) != TG_OK) {
        fuzz_must(strncmp(tg_message(), "record ", 7) == 0);
        return;
    }
    tg_history_free(history);
}

static void read_journal(const void *bytes, size_t size)
{
    ui_journal_log log;
    if (ui_journal_read(fuzz_file(bytes, size), &log) != TG_OK) {
        fuzz_message();
        return;
    }
    fuzz_must(log.good_size + log.lost == size && log.entries.n > 0);
    replay(&log);
    ui_journal_log_done(&log);
}

static size_t length_at(const uint8_t *p)
{
    return (size_t)p[0] | (size_t)p[1] << 8 | (size_t)p[2] << 16 | (size_t)p[3] << 24;
}

static void put_u32(uint8_t *p, uint32_t v)
{
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(v >> 8 * i);
}

/* Gives each whole record the sum of its bytes. */
static void mend(uint8_t *bytes, size_t size)
{
    for (size_t at = sizeof magic - 1; at + HEAD <= size;) {
        size_t n = length_at(bytes + at);
        if (n > size - at - HEAD) return;
        put_u32(bytes + at + 4, tg_crc32c(0, bytes + at + HEAD, n));
        at += HEAD + n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    read_journal(data, size);
    uint8_t *copy = tg_memdup(data, size);
    if (size >= sizeof magic - 1) memcpy(copy, magic, sizeof magic - 1);
    mend(copy, size);
    read_journal(copy, size);
    free(copy);
    return 0;
}

/* Changes one record as a message, or the bytes of the file. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    size_t at = sizeof magic - 1, record = 0, n;
    if (seed % 8 == 0 || size < at + HEAD) return LLVMFuzzerMutate(data, size, most);
    for (unsigned i = 0; at + HEAD <= size; i++, at += HEAD + n) {
        n = length_at(data + at);
        if (n > size - at - HEAD) break;
        if (!record || (seed >> 3) % (i + 1) == 0) record = at;
    }
    if (!record) return LLVMFuzzerMutate(data, size, most);
    n = length_at(data + record);
    size_t rest = size - record - HEAD - n, room = n + most - size;
    uint8_t *body = calloc(1, room + 1);
    memcpy(body, data + record + HEAD, n);
    size_t now =
        fuzz_mutate_message(&regraft__journal_record__descriptor, body, n, room, seed, NULL);
    memmove(data + record + HEAD + now, data + record + HEAD + n, rest);
    memcpy(data + record + HEAD, body, now);
    put_u32(data + record, (uint32_t)now);
    free(body);
    return size - n + now;
}
