/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "regex.h"

#include "regex_tree.h"
#include "utf8.h"

#include <stdlib.h>

enum { MOST_CODE = 1 << 17 };

typedef enum step { SET, SPLIT, JUMP, ASSERT, DONE } step;

/* One state: SPLIT goes on to both, JUMP to the first; the others to the next state. */
typedef struct state {
    step step;
    uint32_t to, other;
    char what;
    const tg_char_set *set;
} state;

struct tg_regex {
    tg_arena *arena;
    TG_VEC(state) code;
    size_t work; /* nodes walked: repeats of nothing make no code */
};

/* ---- the automaton ---- */

static tg_status emit(tg_regex *r, const tg_regex_node *node);

static tg_status too_large(void)
{
    return tg_fail(TG_LIMIT, "the pattern is too large");
}

static tg_status add(tg_regex *r, const state *s)
{
    if (r->code.n >= MOST_CODE) return too_large();
    tg_vec_push(&r->code, *s);
    return TG_OK;
}

static uint32_t here(const tg_regex *r)
{
    return (uint32_t)r->code.n;
}

typedef TG_VEC(const tg_regex_node *) nodes;

/* Lists lean to the left and may be long: they are walked, not called. The last one comes first. */
static nodes list_of(const tg_regex_node *node)
{
    nodes parts = {0};
    tg_regex_kind kind = node->kind;
    for (; node->kind == kind; node = node->left) tg_vec_push(&parts, node->right);
    tg_vec_push(&parts, node);
    return parts;
}

/* One of several, before the last of them: *jump leads behind them all. */
static tg_status emit_choice(tg_regex *r, const tg_regex_node *node, uint32_t *jump)
{
    uint32_t split = here(r);
    TG_TRY(add(r, &(state){.step = SPLIT, .to = split + 1}));
    TG_TRY(emit(r, node));
    *jump = here(r);
    TG_TRY(add(r, &(state){.step = JUMP}));
    r->code.v[split].other = here(r);
    return TG_OK;
}

static tg_status emit_alternatives(tg_regex *r, const tg_regex_node *node)
{
    nodes parts = list_of(node);
    TG_VEC(uint32_t) jumps = {0};
    tg_status status = TG_OK;
    while (parts.n > 1 && status == TG_OK) {
        uint32_t jump;
        status = emit_choice(r, tg_vec_pop(&parts), &jump);
        if (status == TG_OK) tg_vec_push(&jumps, jump);
    }
    if (status == TG_OK) status = emit(r, parts.v[0]);
    for (size_t i = 0; status == TG_OK && i < jumps.n; i++) r->code.v[jumps.v[i]].to = here(r);
    tg_vec_free(&jumps);
    tg_vec_free(&parts);
    return status;
}

static tg_status emit_optional(tg_regex *r, const tg_regex_node *node, bool again)
{
    uint32_t split = here(r);
    TG_TRY(add(r, &(state){.step = SPLIT, .to = split + 1}));
    TG_TRY(emit(r, node));
    if (again) TG_TRY(add(r, &(state){.step = JUMP, .to = split}));
    r->code.v[split].other = here(r);
    return TG_OK;
}

static tg_status emit_repeat(tg_regex *r, const tg_regex_node *node)
{
    for (int i = 0; i < node->least; i++) TG_TRY(emit(r, node->left));
    if (node->most < 0) return emit_optional(r, node->left, true);
    for (int i = node->least; i < node->most; i++) TG_TRY(emit_optional(r, node->left, false));
    return TG_OK;
}

static tg_status emit_sequence(tg_regex *r, const tg_regex_node *node)
{
    nodes parts = list_of(node);
    tg_status status = TG_OK;
    while (parts.n && status == TG_OK) status = emit(r, tg_vec_pop(&parts));
    tg_vec_free(&parts);
    return status;
}

static tg_status emit(tg_regex *r, const tg_regex_node *node)
{
    if (++r->work > MOST_CODE) return too_large();
    switch (node->kind) {
    case TG_REGEX_SET: return add(r, &(state){.step = SET, .set = &node->set});
    case TG_REGEX_CAT: return emit_sequence(r, node);
    case TG_REGEX_ALT: return emit_alternatives(r, node);
    case TG_REGEX_REPEAT: return emit_repeat(r, node);
    case TG_REGEX_ASSERT: return add(r, &(state){.step = ASSERT, .what = node->what});
    default: return TG_OK;
    }
}

static tg_status compile(tg_regex *r, const char *pattern, size_t n)
{
    tg_regex_node *tree;
    TG_TRY(tg_regex_parse(r->arena, pattern, n, &tree));
    TG_TRY(emit(r, tree));
    return add(r, &(state){.step = DONE});
}

tg_status tg_regex_new(const char *pattern, size_t n, tg_regex **regex)
{
    tg_regex *r = tg_calloc(1, sizeof *r);
    r->arena = tg_arena_new();
    tg_status status = compile(r, pattern, n);
    if (status == TG_OK) *regex = r;
    else tg_regex_free(r);
    return status;
}

void tg_regex_free(tg_regex *regex)
{
    if (!regex) return;
    tg_vec_free(&regex->code);
    tg_arena_free(regex->arena);
    free(regex);
}

/* ---- matching ---- */

/* States reached, each once: mark[s] == stamp. */
typedef struct states {
    uint32_t *list, *mark;
    size_t n;
} states;

typedef struct walk {
    const tg_regex *r;
    const char *text;
    size_t n, at;
    uint32_t stamp;
    states now, next;
    TG_VEC(uint32_t) stack;
} walk;

static bool in_ranges(const tg_char_set *set, int32_t c)
{
    for (size_t i = 0; i < set->n; i++)
        if (c >= set->range[i].from && c <= set->range[i].to) return true;
    return false;
}

static bool accepts(const tg_char_set *set, int32_t c)
{
    if (c < 0) return false;
    bool in = in_ranges(set, c) || (set->fold && in_ranges(set, tg_utf8_other_case(c)));
    return in != set->negated;
}

static bool is_word(char c)
{
    return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool holds(const walk *w, char what)
{
    bool first = w->at == 0, last = w->at == w->n;
    bool before = !first && is_word(w->text[w->at - 1]), after = !last && is_word(w->text[w->at]);
    switch (what) {
    case 'A': return first;
    case 'z': return last;
    case '^': return first || w->text[w->at - 1] == '\n';
    case '$': return last || w->text[w->at] == '\n';
    case 'b': return before != after;
    default: return before == after;
    }
}

/* Adds a state of w->next and all that it leads to without reading. */
static void reach(walk *w, uint32_t start)
{
    tg_vec_push(&w->stack, start);
    while (w->stack.n) {
        uint32_t s = tg_vec_pop(&w->stack);
        if (w->next.mark[s] == w->stamp) continue;
        w->next.mark[s] = w->stamp;
        const state *at = &w->r->code.v[s];
        if (at->step == SPLIT) tg_vec_push(&w->stack, at->other);
        if (at->step == SPLIT || at->step == JUMP) tg_vec_push(&w->stack, at->to);
        else if (at->step == ASSERT) {
            if (holds(w, at->what)) tg_vec_push(&w->stack, s + 1);
        } else w->next.list[w->next.n++] = s;
    }
}

static void swap(walk *w)
{
    states t = w->now;
    w->now = w->next;
    w->next = t;
    w->next.n = 0;
    w->stamp++;
}

static bool run(walk *w)
{
    reach(w, 0);
    while (w->at < w->n && w->next.n) {
        size_t size;
        int32_t c = tg_utf8_next(w->text + w->at, w->n - w->at, &size);
        swap(w);
        w->at += size;
        for (size_t i = 0; i < w->now.n; i++) {
            const state *s = &w->r->code.v[w->now.list[i]];
            if (s->step == SET && accepts(s->set, c)) reach(w, w->now.list[i] + 1);
        }
    }
    if (w->at < w->n) return false;
    for (size_t i = 0; i < w->next.n; i++)
        if (w->r->code.v[w->next.list[i]].step == DONE) return true;
    return false;
}

bool tg_regex_matches(const tg_regex *regex, const char *text, size_t n)
{
    size_t size = regex->code.n;
    uint32_t *block = tg_calloc(size * 4, sizeof *block);
    walk w = {.r = regex, .text = text, .n = n, .stamp = 1};
    w.now = (states){block, block + size, 0};
    w.next = (states){block + 2 * size, block + 3 * size, 0};
    bool matches = run(&w);
    tg_vec_free(&w.stack);
    free(block);
    return matches;
}
