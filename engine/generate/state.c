/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "state.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

static void add_head(const tg_generate_options *o, tg_str *out)
{
    tg_str_add(out, "regraft rules generate 1");
    for (int i = 0; i < o->n_operators; i++) tg_str_addf(out, " %s", o->operators[i]);
    tg_str_addf(out, " %d %d %" PRIu64 "\n", o->max_nodes, o->variables, o->seed);
}

static void learn(state *s, uint64_t key, decision d)
{
    uint64_t *slot = tg_map_put(&s->by_key, key, NULL);
    tg_vec_push(&s->known, d);
    *slot = s->known.n;
}

/* Lines up to the first that is not whole: a run may have been cut off while it wrote. */
static long read_lines(state *s, FILE *f)
{
    char line[128];
    long end = ftell(f);
    while (fgets(line, sizeof line, f)) {
        uint64_t key;
        int kind, any, group, plain, used = 0;
        unsigned same;
        if (sscanf(line, "%" SCNx64 " %d %d %d %d %u\n%n", &key, &kind, &any, &group, &plain, &same,
                   &used) != 6 ||
            !strchr(line, '\n') || kind < KEPT || kind > WRONG || group < 0 || group >= GROUP_WAYS)
            break;
        learn(s, key, (decision){(decision_kind)kind, {any, (group_way)group, plain, same}});
        end = ftell(f);
    }
    return end;
}

static long read_known(state *s, FILE *f, const char *head)
{
    char *line = NULL;
    size_t size = 0;
    long end = -1;
    if (getline(&line, &size, f) > 0 && strcmp(line, head) == 0) end = read_lines(s, f);
    free(line);
    return end;
}

tg_status state_open(state *s, const tg_generate_options *o)
{
    *s = (state){.path = o->state};
    if (!o->state) return TG_OK;
    tg_str head = {0};
    add_head(o, &head);
    long end = -1;
    s->file = fopen(o->state, "r+");
    if (s->file) end = read_known(s, s->file, tg_str_text(&head));
    bool ok = true;
    if (end >= 0) {
        ok = fseek(s->file, end, SEEK_SET) == 0 && ftruncate(fileno(s->file), end) == 0;
    } else {
        if (s->file) fclose(s->file);
        s->file = fopen(o->state, "w");
        ok = s->file && fputs(tg_str_text(&head), s->file) >= 0;
    }
    tg_str_free(&head);
    return ok ? TG_OK : tg_fail(TG_IO, "%s: %s", o->state, strerror(errno));
}

decision state_find(const state *s, uint64_t key)
{
    const uint64_t *slot = tg_map_find(&s->by_key, key);
    return slot ? s->known.v[*slot - 1] : (decision){.kind = UNDECIDED};
}

tg_status state_add(state *s, uint64_t key, decision d)
{
    if (!s->file) return TG_OK;
    fprintf(s->file, "%016" PRIx64 " %d %d %d %d %u\n", key, d.kind, d.way.any_axis, d.way.group,
            d.way.plain, d.way.same);
    if (fflush(s->file) == 0) return TG_OK;
    return tg_fail(TG_IO, "%s: %s", s->path, strerror(errno));
}

void state_close(state *s)
{
    if (s->file) fclose(s->file);
    tg_map_free(&s->by_key);
    tg_vec_free(&s->known);
    *s = (state){.file = NULL};
}
