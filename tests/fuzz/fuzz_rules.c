/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Rule texts: what is accepted has names, keeps its own text, finds sites in a small graph of its
 * own drawing and takes them; anything else is told with a place.
 */
#include "fuzz.h"

#include "engine/engine.h"

#include <string.h>

enum { LONGEST = 8192 };

static void apply(const tg_rules *rules, int i)
{
    tg_graph *g, *next;
    tg_candidates *c;
    if (tg_rule_draw(rules, i, 1, &g) != TG_OK) return;
    fuzz_must(tg_check(g) == TG_OK);
    fuzz_must(tg_candidates_find(rules, g, NULL, &c) == TG_OK);
    if (tg_candidates_count(c) && tg_candidates_apply(c, 0, &next) == TG_OK) {
        fuzz_must(tg_check(next) == TG_OK);
        tg_graph_unref(next);
    }
    tg_candidates_free(c);
    tg_graph_unref(g);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tg_rules *rules;
    if (size > LONGEST || memchr(data, 0, size)) return 0; /* loading refuses a NUL */
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    if (tg_rules_parse(text, "fuzz.rules", &rules) == TG_OK) {
        int n = tg_rules_count(rules);
        for (int i = 0; i < n; i++) {
            const tg_rule_info *info = tg_rules_get(rules, i);
            fuzz_must(info->name[0] && strstr(text, info->text));
            fuzz_must(tg_rules_find(rules, info->name) == i);
        }
        for (int i = 0; i < n && i < 2; i++) apply(rules, i);
        tg_rules_unref(rules);
    } else {
        fuzz_must(strncmp(tg_message(), "fuzz.rules:", 11) == 0);
    }
    free(text);
    return 0;
}

/* Lines and words of the text trade places: bytes alone rarely make another rule. */
static size_t move_piece(uint8_t *data, size_t size, unsigned seed, const char *ends)
{
    size_t at = seed % size, to = (seed / 7919u) % size, end;
    while (at > 0 && !strchr(ends, data[at - 1])) at--;
    for (end = at; end < size && data[end] && !strchr(ends, data[end]);) end++;
    size_t n = end - at;
    while (to > 0 && !strchr(ends, data[to - 1])) to--;
    if (!n || to + n > size) return size;
    memmove(data + to, data + at, n);
    return size;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    if (size > 1 && seed % 4 == 0) return move_piece(data, size, seed / 4, " \n(),;=");
    if (size > 1 && seed % 16 == 1) return move_piece(data, size, seed / 16, "\n");
    return LLVMFuzzerMutate(data, size, most);
}
