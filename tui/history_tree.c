/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "history_tree.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TAIL = 26 }; /* columns behind the picture of a branch: depth, cost, name */

/* ---- branches */

static const tg_state *state_of(const tg_history *h, int id)
{
    return &h->states.v[id];
}

static int depth_of(const tg_history *h, int id)
{
    return state_of(h, id)->trail->depth;
}

/* Where the way goes on: where somebody went last, else the first child. */
static int next_of(const tg_history *h, int id)
{
    int c = state_of(h, id)->last_visited;
    if (c >= 0 && !state_of(h, c)->pruned) return c;
    for (c = state_of(h, id)->first_child; c >= 0; c = state_of(h, c)->next_sibling)
        if (!state_of(h, c)->pruned) return c;
    return -1;
}

static int leaf_of(const tg_history *h, int id)
{
    for (int next; (next = next_of(h, id)) >= 0;) id = next;
    return id;
}

/* Pushes the branches that leave the way from `leaf` up to `first`, the last to be drawn first. */
static void push_forks(const tg_history *h, int first, int leaf, ui_tree *waiting)
{
    TG_VEC(ui_branch) found = {0};
    for (int id = leaf; id >= 0; id = id == first ? -1 : state_of(h, id)->parent)
        for (int c = state_of(h, id)->first_child; c >= 0; c = state_of(h, c)->next_sibling)
            if (c != next_of(h, id) && !state_of(h, c)->pruned)
                tg_vec_push(&found, (ui_branch){c, leaf_of(h, c), id, depth_of(h, c)});
    while (found.n) tg_vec_push(&waiting->branches, tg_vec_pop(&found));
    tg_vec_free(&found);
}

static void find_branches(const tg_history *h, ui_tree *tree)
{
    ui_tree waiting = {0};
    tg_vec_push(&waiting.branches, (ui_branch){0, leaf_of(h, 0), -1, 0});
    while (waiting.branches.n) {
        ui_branch b = tg_vec_pop(&waiting.branches);
        tg_vec_push(&tree->branches, b);
        push_forks(h, b.first, b.leaf, &waiting);
    }
    tg_vec_free(&waiting.branches);
}

static void find_best(const tg_history *h, ui_tree *tree)
{
    tree->best = 0;
    for (int i = 0; i < (int)h->states.n; i++) {
        if (state_of(h, i)->pruned) continue;
        if (state_of(h, i)->trail->cost_ms < state_of(h, tree->best)->trail->cost_ms)
            tree->best = i;
        if (depth_of(h, i) > tree->deepest) tree->deepest = depth_of(h, i);
    }
}

void ui_tree_make(tg_history *h, int most, ui_tree *tree)
{
    tree->deepest = 0;
    tg_vec_clear(&tree->branches);
    tg_vec_clear(&tree->rows);
    find_branches(h, tree);
    find_best(h, tree);
    int n = (int)tree->branches.n, shown = n < most ? n : most;
    tree->hidden = n - shown;
    tg_vec_push(&tree->rows, (ui_tree_row){UI_TREE_LEGEND, 0, -1});
    for (int b = 0; b < shown; b++) tg_vec_push(&tree->rows, (ui_tree_row){UI_TREE_BRANCH, b, -1});
    for (int b = 0; b < n; b++) {
        const ui_branch *branch = &tree->branches.v[b];
        tg_vec_push(&tree->rows, (ui_tree_row){UI_TREE_TITLE, b, -1});
        for (int id = branch->leaf;; id = state_of(h, id)->parent) {
            tg_vec_push(&tree->rows, (ui_tree_row){UI_TREE_STEP, b, id});
            if (id == branch->first) break;
        }
    }
}

void ui_tree_done(ui_tree *tree)
{
    tg_vec_free(&tree->branches);
    tg_vec_free(&tree->rows);
}

int ui_tree_row_of(const ui_tree *tree, int state)
{
    for (size_t i = 0; i < tree->rows.n; i++)
        if (tree->rows.v[i].kind == UI_TREE_STEP && tree->rows.v[i].state == state) return (int)i;
    return -1;
}

/* ---- the picture: a step is two columns */

static bool forks(const tg_history *h, int id)
{
    int n = 0;
    for (int c = state_of(h, id)->first_child; c >= 0; c = state_of(h, c)->next_sibling)
        n += !state_of(h, c)->pruned;
    return n > 1;
}

static const char *glyph_of(const tg_history *h, const ui_tree *tree, int id, ui_face *face)
{
    *face = UI_FACE_plain;
    if (id == h->head) {
        *face = UI_FACE_marked;
        return "◉";
    }
    if (id == tree->best && id) {
        *face = UI_FACE_faster;
        return "★";
    }
    if (id == 0) return "0";
    if (forks(h, id)) return "◇";
    if (state_of(h, id)->info.who != TG_BY_YOU) return "●";
    *face = UI_FACE_prompt;
    return "■";
}

/* The states of a branch by depth, first to leaf. */
static int *way(const tg_history *h, const ui_branch *b, int *n)
{
    *n = depth_of(h, b->leaf) - b->depth + 1;
    int *ids = tg_malloc((size_t)*n * sizeof *ids);
    for (int i = *n - 1, id = b->leaf; i >= 0; i--, id = state_of(h, id)->parent) ids[i] = id;
    return ids;
}

/* A line of a branch further down passes between fork and row. */
static bool passes(const tg_history *h, const ui_tree *tree, int branch, int depth)
{
    for (size_t b = (size_t)branch + 1; b < tree->branches.n - (size_t)tree->hidden; b++) {
        int fork = tree->branches.v[b].fork;
        if (depth_of(h, fork) != depth) continue;
        for (int up = branch; up >= 0; up--) { /* it starts in this row or above */
            const ui_branch *from = &tree->branches.v[up];
            int id = fork;
            if (depth_of(h, from->leaf) < depth || from->depth > depth) continue;
            for (id = from->leaf; depth_of(h, id) > depth;) id = state_of(h, id)->parent;
            if (id == fork) return up < branch;
        }
    }
    return false;
}

/* What stands before the first step of a branch. */
static void draw_lead(const tg_history *h, const ui_tree *tree, int branch, int from, int width,
                      ui_line *line)
{
    const ui_branch *b = &tree->branches.v[branch];
    int fork = b->depth - 1;
    for (int d = from; d < fork && ui_line_width(line) + 2 <= width; d++)
        ui_line_add(line, UI_FACE_border, passes(h, tree, branch, d) ? "│ " : "  ");
    if (fork >= from && ui_line_width(line) + 2 <= width)
        ui_line_add(line, UI_FACE_border, passes(h, tree, branch, fork) ? "├─" : "└─");
}

static void draw_tail(const tg_history *h, const ui_branch *b, int width, ui_line *line)
{
    char ms[24];
    const tg_state *leaf = state_of(h, b->leaf);
    ui_line_pad(line, width - TAIL);
    ui_line_addf(line, UI_FACE_plain, "%4d ", depth_of(h, b->leaf));
    ui_line_addf(line, leaf->timed ? UI_FACE_measured : UI_FACE_predicted, "%8s ",
                 ui_ms(ms, leaf->timed ? leaf->latency.median_ms : leaf->trail->cost_ms));
    if (leaf->tag) ui_line_fit(line, UI_FACE_plain, leaf->tag, TAIL - 15);
    else if (b->fork < 0) ui_line_add(line, UI_FACE_plain, "main");
}

void ui_tree_draw_branch(tg_history *h, const ui_tree *tree, int branch, int from, int selected,
                         int width, ui_line *line)
{
    const ui_branch *b = &tree->branches.v[branch];
    int n, *ids = way(h, b, &n), room = width - TAIL - 2;
    ui_face face;
    draw_lead(h, tree, branch, from, room, line);
    for (int i = from > b->depth ? from - b->depth : 0; i < n; i++) {
        if (ui_line_width(line) + 2 > room) {
            ui_line_add(line, UI_FACE_stale, "…");
            break;
        }
        const char *glyph = glyph_of(h, tree, ids[i], &face);
        ui_line_add(line, ids[i] == selected ? UI_FACE_match : face, glyph);
        if (i + 1 < n) ui_line_add(line, UI_FACE_border, "─");
    }
    if (width > TAIL + 8) draw_tail(h, b, width, line);
    free(ids);
}

int ui_tree_state_at(tg_history *h, const ui_tree *tree, int branch, int from, int column)
{
    const ui_branch *b = &tree->branches.v[branch];
    int depth = from + column / 2, id = b->leaf;
    if (depth < b->depth) return b->fork >= 0 && depth == b->depth - 1 ? b->fork : b->first;
    while (depth_of(h, id) > depth) id = state_of(h, id)->parent;
    return id;
}

/* ---- the list */

enum { NUMBER = 6, WHO = 4, POLICY = 12, CHANGE = 9, INTERVAL = 16, ERROR = 9, VERSION = 7 };

typedef struct columns {
    int rule, site, policy, interval, error, version;
} columns;

static columns share_columns(int width)
{
    columns c = {.policy = POLICY};
    int left = width - NUMBER - WHO - CHANGE - POLICY - 1;
    if (left >= 48 + VERSION) left -= c.version = VERSION;
    if (left >= 60 + ERROR) left -= c.error = ERROR;
    if (left >= 60 + INTERVAL) left -= c.interval = INTERVAL;
    c.rule = left * 3 / 5;
    if (c.rule > 34) c.rule = 34;
    c.site = left - c.rule;
    return c;
}

void ui_tree_draw_header(int width, ui_line *line)
{
    columns c = share_columns(width);
    int at = NUMBER + WHO;
    ui_line_add(line, UI_FACE_header, "step  who");
    ui_line_pad(line, at);
    ui_line_add(line, UI_FACE_header, "rule");
    ui_line_pad(line, at += c.rule);
    ui_line_add(line, UI_FACE_header, "site");
    ui_line_pad(line, at += c.site);
    ui_line_add(line, UI_FACE_header, "π (rank)");
    ui_line_pad(line, at += c.policy);
    ui_line_add(line, UI_FACE_header, "change%");
    ui_line_pad(line, at += CHANGE);
    if (c.interval) ui_line_add(line, UI_FACE_header, "interval");
    ui_line_pad(line, at += c.interval);
    if (c.error) ui_line_add(line, UI_FACE_header, "max|err|");
    ui_line_pad(line, at += c.error);
    if (c.version) ui_line_add(line, UI_FACE_header, "policy");
}

static void add_change(const ui_session *s, const tg_state *state, const columns *c, ui_line *line)
{
    char p[24], low[24], high[24];
    const tg_state *parent = state_of(s->history, state->parent);
    double before = parent->trail->cost_ms, after = state->trail->cost_ms;
    int at = ui_line_width(line);
    const tg_comparison *m = ui_step_measured(s, state);
    if (m) {
        ui_line_addf(line, UI_FACE_measured, "● %s", ui_signed(p, 100 * (m->ratio - 1), 1));
        ui_line_pad(line, at + CHANGE);
        if (c->interval)
            ui_line_addf(line, UI_FACE_measured, "[%s,%s]",
                         ui_signed(low, 100 * (m->ratio_low - 1), 1),
                         ui_signed(high, 100 * (m->ratio_high - 1), 1));
    } else {
        double percent = before > 0 ? 100 * (after - before) / before : 0;
        ui_line_addf(line, UI_FACE_predicted, "○ %s", ui_signed(p, percent, 1));
    }
    ui_line_pad(line, at + CHANGE + c->interval);
}

static void add_policy(const tg_state *state, ui_line *line)
{
    if (isnan(state->info.probability) || state->info.rank <= 0) {
        ui_line_add(line, UI_FACE_plain, "  —");
        return;
    }
    ui_line_addf(line, state->info.override ? UI_FACE_marked : UI_FACE_plain, "%.2f (#%d)",
                 state->info.probability, state->info.rank);
}

static void add_tag(const tg_state *state, int width, ui_line *line)
{
    if (!state->tag) return;
    ui_line_add(line, UI_FACE_key, "[");
    ui_line_fit(line, UI_FACE_key, state->tag, width);
    ui_line_add(line, UI_FACE_key, "] ");
}

void ui_tree_draw_step(ui_session *s, const ui_tree *tree, int id, bool marked, int width,
                       ui_line *line)
{
    tg_history *h = s->history;
    const tg_state *state = state_of(h, id);
    columns c = share_columns(width);
    ui_face face;
    const char *glyph = glyph_of(h, tree, id, &face);
    bool you = state->info.who == TG_BY_YOU;
    ui_line_add(line, UI_FACE_marked, marked ? "*" : " ");
    ui_line_add(line, face, glyph);
    ui_line_addf(line, UI_FACE_plain, "%3d ", depth_of(h, id));
    if (id == 0) {
        char ms[24];
        ui_line_add(line, UI_FACE_plain, "    ");
        add_tag(state, 20, line);
        ui_line_addf(line, UI_FACE_plain, "the model as loaded, %s ms predicted",
                     ui_ms(ms, state->trail->cost_ms));
    } else {
        int at = NUMBER + WHO;
        ui_line_addf(line, you ? UI_FACE_prompt : UI_FACE_plain, "%s ",
                     tg_who_short_name(state->info.who));
        ui_line_pad(line, at);
        add_tag(state, c.rule / 2, line);
        ui_line_fit(line, UI_FACE_plain, state->trail->taken.rule,
                    at + c.rule - 1 - ui_line_width(line));
        ui_line_pad(line, at += c.rule);
        ui_line_fit(line, UI_FACE_plain, state->trail->taken.site, c.site - 1);
        ui_line_pad(line, at += c.site);
        add_policy(state, line);
        ui_line_pad(line, at + c.policy);
        add_change(s, state, &c, line);
        if (c.error && !isnan(state->max_abs_error))
            ui_line_addf(line, UI_FACE_plain, "%.1g", state->max_abs_error);
        ui_line_pad(line, at + c.policy + CHANGE + c.interval + c.error);
        if (c.version && state->info.version >= 0)
            ui_line_addf(line, UI_FACE_plain, "v%lld", (long long)state->info.version);
    }
}
