/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "diff.h"

#include "char.h"
#include "modes/graph.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MARK = 2, MS = 9, OP = 18, SHAPE = 18, FACT = 10, FEWEST = 24 };

char *ui_signed(char *buf, double x, int decimals)
{
    char digits[24];
    snprintf(digits, sizeof digits, "%.*f", decimals, fabs(x));
    bool zero = strspn(digits, "0.") == strlen(digits);
    snprintf(buf, 24, "%s%.19s", x < 0 && !zero ? "−" : "+", digits);
    return buf;
}

char *ui_ms(char *buf, double ms)
{
    snprintf(buf, 24, "%.*f", ms < 0.1 ? 4 : ms < 100 ? 3 : 1, ms);
    return buf;
}

/* ---- rails */

/* The end of a label is what tells nodes apart: the start is cut. */
static void add_tail(ui_line *line, ui_face face, const char *text, int cols)
{
    int width = ui_text_width(text, strlen(text));
    if (width <= cols) {
        ui_line_add(line, face, text);
        return;
    }
    while (*text && width > cols - 1) {
        text++;
        while ((*text & 0xc0) == 0x80) text++;
        width = ui_text_width(text, strlen(text));
    }
    ui_line_add(line, face, "…");
    ui_line_add(line, face, text);
}

/* The columns of a side; a part that gets no room is 0 wide. */
typedef struct columns {
    int start, rails, label, op, shape, ms;
} columns;

static columns share_columns(const tg_diff_side *side, int width)
{
    columns c = {.rails = side->width + 1};
    int left = width - MARK - c.rails, label = FEWEST;
    for (int i = 0; i < side->n; i++) {
        int w = ui_text_width(side->rows[i].label, strlen(side->rows[i].label)) + 2;
        if (w > label) label = w;
    }
    if (label > left / 2 && left / 2 > FEWEST) label = left / 2;
    if (left >= FEWEST - 8 + MS) left -= c.ms = MS;
    if (left >= label + OP) left -= c.op = OP;
    if (left >= label + SHAPE) left -= c.shape = SHAPE;
    c.label = left < label ? left : label;
    return c;
}

static void add_rails(ui_line *line, const char *rails)
{
    int lane = 0;
    for (const char *p = rails; *p;) {
        size_t n = 1;
        while ((p[n] & 0xc0) == 0x80) n++;
        ui_line_addn(line, (ui_face)(UI_FACE_rail_1 + lane / 2 % 6), p, n);
        p += n;
        lane++;
    }
}

static void draw_side(ui_line *line, const tg_diff_side *side, int row, const columns *c,
                      const char *mark, ui_face changed)
{
    if (row < 0) return;
    const tg_diff_row *r = &side->rows[row];
    ui_face face = r->changed ? changed : UI_FACE_plain;
    char shape[TG_SHAPE_TEXT + 64], ms[24];
    int at = c->start + MARK;
    ui_line_add(line, face, r->changed ? mark : " ");
    ui_line_pad(line, at);
    add_rails(line, r->rails);
    ui_line_pad(line, at += c->rails);
    add_tail(line, face, r->label, c->label - 1);
    ui_line_pad(line, at += c->label);
    if (c->op) ui_line_fit(line, face, r->op, c->op - 1);
    ui_line_pad(line, at += c->op);
    if (c->shape && r->type.dtype)
        ui_line_fit(line, UI_FACE_plain, ui_graph_shape(shape, sizeof shape, &r->type),
                    c->shape - 1);
    ui_line_pad(line, at += c->shape);
    bool runs = strcmp(r->op, tg_op_get(TG_OP_INPUT)->name) != 0;
    if (c->ms && runs) ui_line_addf(line, UI_FACE_predicted, "%8s", ui_ms(ms, r->cost_ms));
}

static ui_line *next_line(ui_text *out)
{
    ui_text_add(out, UI_FACE_plain, "\n");
    return &out->lines.v[out->lines.n - 2];
}

static void draw_beside(ui_text *out, const tg_diff *d, int width)
{
    int half = (width - 1) / 2;
    columns a = share_columns(&d->before, half), b = share_columns(&d->after, half);
    b.start = half + 1;
    ui_line *head = next_line(out);
    ui_line_add(head, UI_FACE_header, "  before");
    ui_line_pad(head, half);
    ui_line_add(head, UI_FACE_border, "│");
    ui_line_add(head, UI_FACE_header, "  after");
    for (int i = 0; i < d->n_lines; i++) {
        ui_line *line = next_line(out);
        draw_side(line, &d->before, d->lines[i].before, &a, "−", UI_FACE_removed);
        ui_line_pad(line, half);
        ui_line_add(line, UI_FACE_border, "│");
        draw_side(line, &d->after, d->lines[i].after, &b, "+", UI_FACE_new);
    }
}

static void draw_below(ui_text *out, const tg_diff *d, int width)
{
    const tg_diff_side *sides[] = {&d->before, &d->after};
    for (int k = 0; k < 2; k++) {
        columns c = share_columns(sides[k], width - 1);
        ui_line_add(next_line(out), UI_FACE_header, k ? "  after" : "  before");
        for (int i = 0; i < sides[k]->n; i++)
            draw_side(next_line(out), sides[k], i, &c, k ? "+" : "−",
                      k ? UI_FACE_new : UI_FACE_removed);
    }
}

void ui_diff_rails(ui_text *out, const tg_diff *d, const ui_diff_style *style)
{
    if (style->beside) draw_beside(out, d, style->width);
    else draw_below(out, d, style->width);
    if (d->left_out > 0)
        ui_text_addf(out, UI_FACE_stale, "  ⋮ %d more operator%s, unchanged\n", d->left_out,
                     d->left_out == 1 ? "" : "s");
}

/* ---- facts */

void ui_diff_fact(ui_text *out, const char *label, const char *words, int width)
{
    int col = FACT, room = width - 1 > FACT + 16 ? width - 1 : FACT + 16;
    ui_line *line = &tg_vec_last(&out->lines);
    ui_line_add(line, UI_FACE_header, label);
    ui_line_pad(line, FACT);
    while (*words) {
        size_t n = strcspn(words, " \n");
        int w = ui_text_width(words, n);
        if (col > FACT && col + w > room) {
            ui_text_add(out, UI_FACE_plain, "\n");
            line = &tg_vec_last(&out->lines);
            ui_line_pad(line, FACT);
            col = FACT;
        }
        ui_line_addn(line, UI_FACE_plain, words, n);
        words += n;
        col += w + 1;
        if (*words && n) ui_line_add(line, UI_FACE_plain, " ");
        while (*words == ' ' || *words == '\n') words++;
    }
    ui_text_add(out, UI_FACE_plain, "\n");
}

/* The lines of a rule's paragraph that belong to a word ("if"), joined by `between`. */
static void rule_part(const char *text, const char *word, const char *between, tg_str *out)
{
    bool inside = false;
    for (const char *p = text; *p;) {
        size_t n = strcspn(p, "\n"), lead = strspn(p, " "), len = strlen(word);
        if (lead == 0) inside = n > len && strncmp(p, word, len) == 0 && p[len] == ' ';
        const char *from = p + (lead ? lead : len);
        while (inside && from < p + n && *from == ' ') from++;
        if (inside && from < p + n) {
            if (out->n) tg_str_add(out, between);
            tg_str_addn(out, from, (size_t)(p + n - from));
        }
        p += n + (p[n] == '\n');
    }
}

/* The name on the left of a line of a rule's `from`; its length, 0 if there is no single one. */
static size_t bound_name(const char *line)
{
    size_t n = strspn(line, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_'");
    return n && line[n + strspn(line + n, " ")] == '=' ? n : 0;
}

/* "t = Conv_3, y = Relu_4" where each line of the rule stands for one node; else the nodes alone.
 */
static void bindings(const tg_rule_info *rule, const tg_graph *g, const tg_site *site, tg_str *out)
{
    char label[128];
    tg_str from = {0};
    rule_part(rule->text, "from", "\n", &from);
    const char *line = tg_str_text(&from);
    int lines = 0, named = 0;
    for (const char *p = line; *p; p += strcspn(p, "\n"), p += *p != '\0', lines++)
        named += bound_name(p) > 0;
    bool names = lines == site->n_nodes && named == lines;
    for (int i = 0; i < site->n_nodes; i++) {
        if (i) tg_str_add(out, ", ");
        if (names) tg_str_addf(out, "%.*s = ", (int)bound_name(line), line);
        line += strcspn(line, "\n");
        line += *line != '\0';
        tg_str_add(out, tg_graph_label(g, site->nodes[i], label, sizeof label));
    }
    tg_str_free(&from);
}

void ui_diff_rule(ui_text *out, const tg_rule_info *rule, const tg_graph *g, const tg_site *site,
                  int width)
{
    tg_str words = {0};
    ui_diff_fact(out, "about", rule->about, width);
    rule_part(rule->text, "if", "; ", &words);
    if (words.n) ui_diff_fact(out, "where", words.p, width);
    tg_str_clear(&words);
    rule_part(rule->text, "pays", "; ", &words);
    if (words.n) ui_diff_fact(out, "pays if", words.p, width);
    tg_str_clear(&words);
    if (site) bindings(rule, g, site, &words);
    if (words.n) ui_diff_fact(out, "matches", words.p, width);
    tg_str_free(&words);
}

ui_face ui_verdict_face(tg_verdict v)
{
    static const ui_face faces[] = {[TG_UNSURE] = UI_FACE_unsure,
                                    [TG_FASTER] = UI_FACE_faster,
                                    [TG_SLOWER] = UI_FACE_slower,
                                    [TG_SAME] = UI_FACE_same};
    return faces[v];
}

static void add_measured(ui_text *out, const ui_session *s, const tg_comparison *c)
{
    char a[24], b[24], p[24], low[24], high[24];
    bool model = strcmp(s->backend->name, "model") == 0;
    ui_line *line = &tg_vec_last(&out->lines);
    ui_line_add(line, UI_FACE_header, model ? "estimate" : "latency");
    ui_line_pad(line, FACT);
    ui_line_addf(line, UI_FACE_measured, "● %s → %s ms  %s%% [%s, %s]  ", ui_ms(a, c->before_ms),
                 ui_ms(b, c->after_ms), ui_signed(p, 100 * (c->ratio - 1), 1),
                 ui_signed(low, 100 * (c->ratio_low - 1), 1),
                 ui_signed(high, 100 * (c->ratio_high - 1), 1));
    ui_line_add(line, ui_verdict_face(c->verdict), tg_verdict_name(c->verdict));
    ui_line_addf(line, UI_FACE_plain, "  %s n=%d+%d", s->backend->name, c->n, c->n);
    if (c->more) ui_line_addf(line, UI_FACE_unsure, ", about %d more samples", c->more);
    ui_text_add(out, UI_FACE_plain, "\n");
}

static void add_predicted(ui_text *out, double before_ms, double delta_ms)
{
    char a[24], b[24], p[24];
    ui_line *line = &tg_vec_last(&out->lines);
    ui_line_add(line, UI_FACE_header, "predicted");
    ui_line_pad(line, FACT);
    ui_line_addf(line, UI_FACE_predicted, "○ %s → %s ms  %s%%  by the analytic model",
                 ui_ms(a, before_ms), ui_ms(b, before_ms + delta_ms),
                 ui_signed(p, before_ms > 0 ? 100 * delta_ms / before_ms : 0, 1));
    ui_text_add(out, UI_FACE_plain, "\n");
}

void ui_diff_latency(ui_text *out, const ui_session *s, const tg_candidate *c)
{
    const ui_measurement *m = ui_session_measured(s, s->view->state, c->site->key);
    const tg_state *state = tg_history_get(s->history, s->view->state);
    if (m && m->at == UI_MEASURE_DONE) add_measured(out, s, &m->result);
    else if (m)
        ui_diff_fact(out, "latency",
                     m->at == UI_MEASURE_QUEUED    ? "waits for its turn to be measured"
                     : m->at == UI_MEASURE_RUNNING ? "is being measured"
                                                   : m->why,
                     60);
    add_predicted(out, state->trail->cost_ms, c->preview.cost_delta_ms);
}

/* ---- candidates */

static tg_diff *preview_diff(const ui_session *s, const tg_candidate *c, int radius)
{
    const tg_preview *p = &c->preview;
    const tg_graph *g = tg_candidates_graph(s->view->candidates);
    tg_arena *arena = tg_arena_new();
    tg_diff_new *come = TG_NEW_ARRAY(arena, tg_diff_new, p->n_come + 1);
    tg_diff_redirect *redirects = TG_NEW_ARRAY(arena, tg_diff_redirect, p->n_redirects + 1);
    for (int i = 0; i < p->n_come; i++) {
        const tg_preview_node *n = &p->come[i];
        come[i] = (tg_diff_new){n->op, n->constant, n->n_in, n->n_out, n->in, n->out, n->cost_ms};
    }
    for (int i = 0; i < p->n_redirects; i++)
        redirects[i] = (tg_diff_redirect){p->redirects[i].from, p->redirects[i].to};
    tg_diff_change change = {p->gone, come, redirects, p->n_gone, p->n_come, p->n_redirects};
    tg_diff *d = tg_diff_of_change(g, &change, radius);
    tg_arena_free(arena);
    return d;
}

static int same_rule(const ui_session *s, const tg_candidate *c)
{
    int n = 0;
    for (int i = 0; i < tg_candidates_count(s->view->candidates); i++)
        n += tg_candidates_get(s->view->candidates, i)->site->rule == c->site->rule;
    return n;
}

/* The rule as written, and the nodes that go and come in words. */
static void add_paragraph(ui_text *out, const tg_rule_info *rule, const tg_diff *d)
{
    ui_text_addf(out, UI_FACE_plain, "%s\n", rule->text);
    if (rule->text[0] && rule->text[strlen(rule->text) - 1] != '\n')
        ui_text_add(out, UI_FACE_plain, "\n");
    const tg_diff_side *sides[] = {&d->before, &d->after};
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < sides[k]->n; i++) {
            const tg_diff_row *r = &sides[k]->rows[i];
            char shape[TG_SHAPE_TEXT + 64] = "";
            if (!r->changed) continue;
            if (r->type.dtype) ui_graph_shape(shape, sizeof shape, &r->type);
            ui_text_addf(out, k ? UI_FACE_new : UI_FACE_removed, "%s %s  %s  %s", k ? "+" : "−",
                         r->label, r->op, shape);
            if (r->n_weights) ui_text_addf(out, UI_FACE_plain, "  ◂W%d", r->n_weights);
            ui_text_add(out, UI_FACE_plain, "\n");
        }
}

static void add_pictures(ui_text *out, const tg_rule_info *rule, const tg_diff *d,
                         const ui_diff_style *style)
{
    if (style->text && rule) add_paragraph(out, rule, d);
    else ui_diff_rails(out, d, style);
}

void ui_diff_candidate(ui_text *out, const ui_session *s, const tg_candidate *c,
                       const ui_diff_style *style)
{
    const tg_rule_info *rule = tg_rules_get(s->rules, c->site->rule);
    tg_diff *d = preview_diff(s, c, style->radius);
    add_pictures(out, rule, d, style);
    tg_diff_free(d);
    ui_text_add(out, UI_FACE_plain, "\n");
    ui_diff_latency(out, s, c);
    ui_diff_rule(out, rule, tg_candidates_graph(s->view->candidates), c->site, style->width);
    int others = same_rule(s, c) - 1;
    if (others > 0) {
        tg_str words = {0};
        tg_str_addf(&words, "%d other site%s", others, others == 1 ? "" : "s");
        ui_diff_fact(out, "also at", words.p, style->width);
        tg_str_free(&words);
    }
}

/* ---- steps that were taken */

const tg_comparison *ui_step_measured(const ui_session *s, const tg_state *state)
{
    if (state->measured) return &state->against_parent;
    if (state->parent < 0) return NULL;
    const ui_measurement *m = ui_session_measured(s, state->parent, state->trail->taken.key);
    return m && m->at == UI_MEASURE_DONE && m->rule ? &m->result : NULL;
}

static void add_outcome(ui_text *out, const ui_session *s, const tg_state *state,
                        const tg_state *parent)
{
    const tg_comparison *measured = ui_step_measured(s, state);
    if (measured) add_measured(out, s, measured);
    add_predicted(out, parent->trail->cost_ms, state->trail->cost_ms - parent->trail->cost_ms);
    tg_str words = {0};
    if (isnan(state->max_abs_error)) tg_str_add(&words, "not run");
    else tg_str_addf(&words, "max|err| %.2g on random inputs", state->max_abs_error);
    ui_diff_fact(out, "checked", words.p, 60);
    tg_str_free(&words);
}

void ui_diff_step(ui_text *out, ui_session *s, int id, const ui_diff_style *style)
{
    tg_state *state = tg_history_get(s->history, id);
    if (state->parent < 0) {
        ui_text_addf(out, UI_FACE_plain, "The model as it was loaded: %u operators.\n",
                     tg_graph_op_count(state->trail->graph));
        return;
    }
    tg_state *parent = tg_history_get(s->history, state->parent);
    int r = tg_rules_find(s->rules, state->trail->taken.rule);
    const tg_rule_info *rule = r < 0 ? NULL : tg_rules_get(s->rules, r);
    tg_diff *d = tg_diff_of_graphs(parent->trail->graph, state->trail->graph, style->radius);
    add_pictures(out, rule, d, style);
    tg_diff_free(d);
    ui_text_add(out, UI_FACE_plain, "\n");
    add_outcome(out, s, state, parent);
    if (rule) ui_diff_rule(out, rule, NULL, NULL, style->width);
    ui_diff_fact(out, "matches", state->trail->taken.site, style->width);
}
