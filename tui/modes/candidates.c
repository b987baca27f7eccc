/* SPDX-License-Identifier: GPL-3.0-or-later */
/* *candidates*: what may be done next, ranked. Commands are in commands/candidates.c and step.c. */
#include "tui/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANK = 5, PI = 3, PREDICTED = 6, MEASURED = 17, POINT_ONLY = 6, FOREST = 14, VERDICT = 7 };

/* Worked out once a view. The axis is in per cent. */
typedef struct list {
    uint64_t serial;
    double low, high;
} list;

static double per_cent(const ui_session *s, const tg_candidate *c)
{
    double now = tg_history_get(s->history, s->view->state)->trail->cost_ms;
    return now > 0 ? 100 * c->preview.cost_delta_ms / now : 0;
}

/* From the largest gain to the largest loss; both ends are whole numbers at most 50 off 0. */
static const list *axis(ui_session *s, ui_buffer *buffer)
{
    list *l = buffer->data;
    if (l->serial == s->view->serial) return l;
    *l = (list){.serial = s->view->serial, .low = -1, .high = 1};
    for (int row = 0; row < s->view->n_rows; row++) {
        const tg_candidate *c = ui_session_candidate(s, row);
        double x = c ? per_cent(s, c) : 0;
        l->low = fmin(l->low, floor(x));
        l->high = fmax(l->high, ceil(x));
    }
    l->low = fmax(l->low, -50);
    l->high = fmin(l->high, 50);
    return l;
}

/* ---- columns */

/* Widths; 0: left out. */
typedef struct columns {
    int rule, site, pi, predicted, measured, forest, verdict;
} columns;

static int total(const columns *c)
{
    int all[] = {c->site, c->pi, c->predicted, c->measured, c->forest, c->verdict};
    int sum = RANK + c->rule;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) sum += all[i] ? all[i] + 1 : 0;
    return sum;
}

static columns plan_columns(const ui_session *s, int width)
{
    columns c = {17, 9, PI, PREDICTED, MEASURED, FOREST, VERDICT};
    if (s->backend->exact) c.measured = POINT_ONLY;
    if (total(&c) > width) c.forest = 9;
    if (total(&c) > width) c.forest = 0;
    if (total(&c) > width) c.measured = POINT_ONLY;
    if (total(&c) > width) c.site = 0;
    if (total(&c) > width) c.verdict = 0;
    if (total(&c) > width) c.measured = 0;
    if (total(&c) > width) c.predicted = 0;
    int room = width - total(&c);
    if (room > 0 && c.site) {
        int more = room / 3 < 14 ? room / 3 : 14;
        c.site += more;
        room -= more;
    }
    if (room < 0) c.rule = c.rule + room > 4 ? c.rule + room : 4;
    else c.rule += room < 24 ? room : 24;
    room = width - total(&c);
    if (room > 0 && c.forest) c.forest += room < 16 ? room : 16;
    return c;
}

/* ---- cells */

/* Numbers with the minus sign of print. */
static void put_signed(ui_line *line, ui_face face, double x, int cols)
{
    char text[32];
    double r = fabs(x) < 0.05 ? 0 : x;
    snprintf(text, sizeof text, fabs(r) < 99.95 ? "%s%.1f" : "%s%.0f", r < 0 ? "−" : "+", fabs(r));
    int width = ui_text_width(text, strlen(text));
    for (; width < cols; width++) ui_line_add(line, face, " ");
    ui_line_add(line, face, text);
}

static void put_probability(ui_line *line, double p)
{
    char text[16];
    snprintf(text, sizeof text, "%.2f", p);
    ui_line_addf(line, UI_FACE_plain, "%*s", PI, p < 0.995 ? text + 1 : "1.0");
}

static void put_measured(ui_line *line, const ui_session *s, const ui_measurement *m, int cols)
{
    if (!m || m->at != UI_MEASURE_DONE) {
        ui_line_addf(line, UI_FACE_plain, "%*s—", POINT_ONLY - 2, "");
        return;
    }
    ui_face face = s->backend->exact ? UI_FACE_predicted : UI_FACE_measured;
    put_signed(line, face, 100 * (m->result.ratio - 1), 5);
    if (cols < MEASURED) return;
    ui_line_add(line, face, " [");
    put_signed(line, face, 100 * (m->result.ratio_low - 1), 0);
    ui_line_add(line, face, ",");
    put_signed(line, face, 100 * (m->result.ratio_high - 1), 0);
    ui_line_add(line, face, "]");
}

static int cell_of(const list *l, double x, int cols)
{
    int at = (int)lround((x - l->low) / (l->high - l->low) * (cols - 1));
    return at < 0 ? 0 : at >= cols ? cols - 1 : at;
}

/* ○ is predicted, ● measured with its interval, ┊ no change. */
static void put_forest(ui_line *line, const ui_session *s, const list *l, const ui_measurement *m,
                       double predicted, int cols)
{
    bool measured = m && m->at == UI_MEASURE_DONE && !s->backend->exact;
    double at = measured ? 100 * (m->result.ratio - 1) : predicted;
    double low = measured ? 100 * (m->result.ratio_low - 1) : at;
    double high = measured ? 100 * (m->result.ratio_high - 1) : at;
    int dot = cell_of(l, at, cols), from = cell_of(l, low, cols), to = cell_of(l, high, cols);
    int zero = cell_of(l, 0, cols);
    ui_face face = measured ? UI_FACE_measured : UI_FACE_predicted;
    for (int i = 0; i < cols; i++) {
        if (i == dot) ui_line_add(line, face, measured ? "●" : "○");
        else if (i == from && from < dot) ui_line_add(line, face, "├");
        else if (i == to && to > dot) ui_line_add(line, face, "┤");
        else if (i > from && i < to) ui_line_add(line, face, "─");
        else ui_line_add(line, UI_FACE_plain, i == zero ? "┊" : " ");
    }
}

static ui_face verdict_face(tg_verdict v)
{
    switch (v) {
    case TG_FASTER: return UI_FACE_faster;
    case TG_SLOWER: return UI_FACE_slower;
    case TG_SAME: return UI_FACE_same;
    default: return UI_FACE_unsure;
    }
}

static const ui_flag *flag_of(const ui_session *s, uint64_t key)
{
    for (size_t i = 0; i < s->flags.n; i++)
        if (s->flags.v[i].key == key) return &s->flags.v[i];
    return NULL;
}

static bool marked(const ui_session *s, uint64_t key)
{
    for (size_t i = 0; i < s->marks.n; i++)
        if (s->marks.v[i] == key) return true;
    return false;
}

static void put_verdict(ui_line *line, const ui_session *s, const ui_measurement *m,
                        const ui_flag *flag, bool vetoed)
{
    static const char *const scopes[] = {"veto?", "veto?", "veto *?"};
    if (vetoed) ui_line_add(line, UI_FACE_vetoed, "vetoed");
    else if (flag) ui_line_add(line, UI_FACE_vetoed, scopes[flag->scope]);
    else if (!m) return;
    else if (m->at == UI_MEASURE_QUEUED) ui_line_add(line, UI_FACE_plain, "queued");
    else if (m->at == UI_MEASURE_RUNNING) ui_line_add(line, UI_FACE_plain, "runs…");
    else if (m->at == UI_MEASURE_FAILED) ui_line_add(line, UI_FACE_error, "failed");
    else ui_line_add(line, verdict_face(m->result.verdict), tg_verdict_name(m->result.verdict));
    (void)s;
}

/* "↑3": the rank rose by three when the policy was adopted. Returns its columns. */
static int moved_words(const ui_session *s, int row, uint64_t key, char *out, size_t size)
{
    *out = '\0';
    if (s->was_typed != s->ui->typed) return 0;
    for (size_t i = 0; i < s->was.n; i++)
        if (s->was.v[i] == key && (int)i != row)
            return snprintf(out, size, "%s%d", (int)i > row ? "↑" : "↓", abs((int)i - row)) - 2;
    return 0;
}

static void put_rule(ui_line *line, const ui_session *s, ui_face face, const char *rule, int row,
                     uint64_t key, int cols)
{
    char moved[24];
    int width = moved_words(s, row, key, moved, sizeof moved);
    ui_line_addf(line, face, "%*d ", RANK - 2, row + 1);
    ui_line_fit(line, face, rule, width ? cols - width - 1 : cols);
    if (!width) return;
    ui_line_pad(line, RANK + cols - width);
    ui_line_add(line, UI_FACE_new, moved);
}

/* ---- rows */

static void draw_stop(ui_line *line, const ui_session *s, const list *l, const columns *c, int row)
{
    put_rule(line, s, UI_FACE_plain, "STOP", row, 0, c->rule);
    ui_line_pad(line, RANK + c->rule + (c->site ? c->site + 1 : 0) + 1);
    if (s->view->p) put_probability(line, s->view->p[s->view->scores.n]);
    int x = RANK + c->rule + (c->site ? c->site + 1 : 0) + (c->pi ? c->pi + 1 : 0);
    ui_line_pad(line, x + 1);
    if (c->predicted) put_signed(line, UI_FACE_predicted, 0, PREDICTED);
    x += (c->predicted ? c->predicted + 1 : 0) + (c->measured ? c->measured + 1 : 0);
    ui_line_pad(line, x + 1);
    if (c->forest) put_forest(line, s, l, NULL, 0, c->forest);
}

static void draw_numbers(ui_line *line, const ui_session *s, const list *l, const columns *c,
                         int row, const tg_candidate *candidate, int x)
{
    const ui_measurement *m = ui_session_measured(s, s->view->state, candidate->site->key);
    double predicted = per_cent(s, candidate);
    if (c->pi) {
        ui_line_pad(line, x + 1);
        if (s->view->p) put_probability(line, s->view->p[s->view->order[row]]);
        x += c->pi + 1;
    }
    if (c->predicted) {
        ui_line_pad(line, x + 1);
        put_signed(line, UI_FACE_predicted, predicted, PREDICTED);
        x += c->predicted + 1;
    }
    if (c->measured) {
        ui_line_pad(line, x + 1);
        put_measured(line, s, m, c->measured);
        x += c->measured + 1;
    }
    if (c->forest) {
        ui_line_pad(line, x + 1);
        put_forest(line, s, l, m, predicted, c->forest);
        x += c->forest + 1;
    }
    if (c->verdict) {
        const char *rule = tg_rules_get(s->rules, candidate->site->rule)->name;
        ui_line_pad(line, x + 1);
        put_verdict(line, s, m, flag_of(s, candidate->site->key),
                    ui_session_vetoed(s, rule, candidate->site->key));
    }
}

/* All nodes where they fit, else the first and how many more: "Conv_3 +2"; inside a body, the end.
 */
static void put_site(ui_line *line, ui_face face, const tg_graph *g, const tg_site *site, int cols)
{
    char label[128], more[16] = "";
    const char *words = tg_site_words(g, site);
    if (ui_text_width(words, strlen(words)) <= cols || !site->n_nodes) {
        ui_line_fit(line, face, words, cols);
        return;
    }
    if (site->n_nodes == 1) {
        ui_line_fit_end(line, face, words, cols);
        return;
    }
    snprintf(more, sizeof more, " +%d", site->n_nodes - 1);
    tg_graph_label(g, site->nodes[0], label, sizeof label);
    int room = cols - (int)strlen(more);
    if (room < 4) ui_line_fit_end(line, face, label, cols);
    else ui_line_fit_end(line, face, label, room);
    if (room >= 4) ui_line_add(line, face, more);
}

static void draw_candidate(ui_line *line, ui_session *s, const list *l, const columns *c, int row)
{
    const tg_candidate *candidate = ui_session_candidate(s, row);
    uint64_t key = candidate->site->key;
    const char *rule = tg_rules_get(s->rules, candidate->site->rule)->name;
    bool vetoed = ui_session_vetoed(s, rule, key);
    ui_face face = marked(s, key) ? UI_FACE_marked : vetoed ? UI_FACE_vetoed : UI_FACE_plain;
    tg_str_clear(&line->text);
    tg_vec_clear(&line->spans);
    ui_line_add(line, face,
                marked(s, key)                      ? "*"
                : flag_of(s, key)                   ? "D"
                : vetoed                            ? "!"
                : row == ui_session_row_at_point(s) ? "▸"
                                                    : " ");
    put_rule(line, s, face, rule, row, key, c->rule);
    int x = RANK + c->rule;
    if (c->site) {
        ui_line_pad(line, x + 1);
        put_site(line, face, tg_candidates_graph(s->view->candidates), candidate->site, c->site);
        x += c->site + 1;
    }
    draw_numbers(line, s, l, c, row, candidate, x);
}

/* ---- the foot: what the policy thinks, when there is room for it */

enum { FOOT_ROWS = 6 };

static void foot_policy(const ui_session *s, ui_line *line)
{
    const ag_scores *scores = &s->view->scores;
    double top = 0;
    if (!scores->n) return;
    for (int row = 0; row < s->view->n_rows && row < 3; row++) {
        int c = s->view->order[row];
        top += scores->p[c < 0 ? scores->n : c];
    }
    ui_line_addf(line, UI_FACE_plain,
                 "entropy %.2f nats   V(s) %+.2f%%   top-3 mass %.0f%%   agent would take #%d",
                 scores->entropy, scores->value, 100 * top, ui_session_choice(s) + 1);
}

/* Who took the last five steps, and what the last override gained. */
static void foot_steps(ui_session *s, ui_line *line)
{
    int agent = 0, you = 0;
    for (const tg_state *at = tg_history_get(s->history, s->view->state);
         at->parent >= 0 && agent + you < 5; at = tg_history_get(s->history, at->parent)) {
        agent += at->info.who == TG_BY_AGENT;
        you += at->info.who == TG_BY_YOU;
    }
    if (!agent && !you) return;
    ui_line_addf(line, UI_FACE_plain, "last %d step%s: agent %d, you %d", agent + you,
                 agent + you == 1 ? "" : "s", agent, you);
    for (const tg_state *at = tg_history_get(s->history, s->view->state); at->parent >= 0;
         at = tg_history_get(s->history, at->parent)) {
        const tg_state *parent = tg_history_get(s->history, at->parent);
        if (!at->info.override) continue;
        const tg_comparison *m = &at->against_parent;
        if (at->measured)
            ui_line_addf(line, UI_FACE_plain, "; last override %+.1f%% [%+.1f, %+.1f] %s",
                         100 * (m->ratio - 1), 100 * (m->ratio_low - 1), 100 * (m->ratio_high - 1),
                         tg_verdict_name(m->verdict));
        else
            ui_line_addf(line, UI_FACE_plain, "; last override %+.1f%% predicted",
                         100 * (at->trail->cost_ms / parent->trail->cost_ms - 1));
        break;
    }
}

static void draw_foot(ui_session *s, ui_line *line, int i)
{
    switch (i) {
    case 0:
        ui_line_add(line, UI_FACE_predicted,
                    s->backend->exact
                        ? "  ○ predicted by the model of the cost   ┊ no change"
                        : "  ● measured, bar = interval   ○ predicted, not measured   ┊ no change");
        break;
    case 2: foot_policy(s, line); break;
    case 3: foot_steps(s, line); break;
    case 4:
        ui_line_addf(line, UI_FACE_plain, "* marked %zu   D flagged %zu   ! vetoes %zu", s->marks.n,
                     s->flags.n, s->vetoes.n);
        break;
    case 5:
        if (s->pin && s->newest > s->pin->version)
            ui_line_addf(line, UI_FACE_plain,
                         "policy v%llu pinned while you look; v%llu is there: g adopts it",
                         (unsigned long long)s->pin->version, (unsigned long long)s->newest);
        break;
    default: break;
    }
}

/* ---- the mode */

static size_t list_rows(ui_app *ui, ui_buffer *buffer)
{
    ui_session *s = ui_session_get(ui);
    if (!s || !s->view) return 0;
    const ui_window *w = ui_window_showing(ui, buffer);
    size_t n = (size_t)s->view->n_rows;
    return w && (size_t)w->rows >= n + FOOT_ROWS + 2 ? n + FOOT_ROWS : n;
}

static void list_draw(ui_app *ui, ui_buffer *buffer, size_t row, int width, ui_line *line)
{
    ui_session *s = ui_session_get(ui);
    if (!s || !s->view) return;
    const list *l = axis(s, buffer);
    columns c = plan_columns(s, width);
    if (row >= (size_t)s->view->n_rows) {
        draw_foot(s, line, (int)(row - (size_t)s->view->n_rows));
    } else if (s->view->order[row] < 0) {
        ui_line_add(line, UI_FACE_plain, (int)row == ui_session_row_at_point(s) ? "▸" : " ");
        draw_stop(line, s, l, &c, (int)row);
    } else {
        draw_candidate(line, s, l, &c, (int)row);
    }
}

static void title(ui_line *line, int *x, int cols, const char *text)
{
    if (!cols) return;
    ui_line_pad(line, *x + 1);
    ui_line_fit(line, UI_FACE_header, text, cols);
    *x += cols + 1;
}

/* The ends of the axis and its 0 over the column. */
static void axis_title(ui_line *line, const list *l, int *x, int cols)
{
    char low[16], high[16];
    int start = *x + 1, zero = start + cell_of(l, 0, cols);
    if (!cols) return;
    snprintf(low, sizeof low, "−%.0f", -l->low);
    snprintf(high, sizeof high, "+%.0f", l->high);
    int width = (int)strlen(high);
    ui_line_pad(line, start);
    if (zero - start > 3) ui_line_add(line, UI_FACE_header, low);
    ui_line_pad(line, zero);
    if (ui_line_width(line) == zero) ui_line_add(line, UI_FACE_header, "0");
    if (start + cols - width > zero + 1) {
        ui_line_pad(line, start + cols - width);
        ui_line_add(line, UI_FACE_header, high);
    }
    *x += cols + 1;
}

static bool list_header(ui_app *ui, ui_buffer *buffer, int width, ui_line *line)
{
    ui_session *s = ui_session_get(ui);
    ui_line_clear(line);
    if (!s || !s->view) return false;
    const list *l = axis(s, buffer);
    columns c = plan_columns(s, width);
    int x = RANK + c.rule;
    char meas[48];
    ui_line_add(line, UI_FACE_header, "   # ");
    ui_line_fit(line, UI_FACE_header, "rule", c.rule);
    title(line, &x, c.site, "site");
    title(line, &x, c.pi, " π");
    title(line, &x, c.predicted, "○pred%");
    snprintf(meas, sizeof meas, c.measured == MEASURED ? " meas%% [%g%% CI]" : " meas%%",
             ui_opt_real(UI_OPT_confidence));
    title(line, &x, c.measured, s->backend->exact ? "  est%" : meas);
    axis_title(line, l, &x, c.forest);
    title(line, &x, c.verdict, "verdict");
    return true;
}

static tg_status list_refresh(ui_app *ui, ui_buffer *buffer)
{
    ui_session *s;
    (void)buffer;
    TG_TRY(ui_session_need(ui, &s));
    ui_session_adopt(s);
    return TG_OK;
}

static void list_status(ui_app *ui, ui_buffer *buffer, tg_str *out)
{
    ui_session *s = ui_session_get(ui);
    if (!s || !s->view) return;
    tg_str_addf(out, "%zu/%d", ui_buffer_point(ui, buffer).row + 1, s->view->n_rows);
    if (s->pin) tg_str_addf(out, " pinned v%llu", (unsigned long long)s->pin->version);
    if (s->pin && s->newest > s->pin->version)
        tg_str_addf(out, " now v%llu", (unsigned long long)s->newest);
    if (s->viewing) tg_str_add(out, " ranking…");
}

static void list_open(ui_app *ui, ui_buffer *buffer)
{
    (void)ui;
    buffer->data = tg_calloc(1, sizeof(list));
}

static void list_close(ui_app *ui, ui_buffer *buffer)
{
    (void)ui;
    free(buffer->data);
}

/* The graph shows the site of the candidate at point. */
static void list_moved(ui_app *ui, ui_window *window)
{
    ui_session *s = ui_session_get(ui);
    ui_buffer *graph = ui_buffer_find(ui, "*graph*");
    if (!s || !s->view || !graph) return;
    const tg_candidate *c = ui_session_candidate(s, (int)window->point.row);
    for (int k = 0; c && k < c->site->n_nodes; k++) {
        int32_t row = s->view->drawing->row_of[c->site->nodes[k]];
        if (row < 0) continue;
        ui_buffer_set_point(ui, graph, (size_t)row, 0);
        return;
    }
}

const ui_mode ui_mode_candidates = {
    .name = "candidates-mode",
    .label = "Cand",
    .doc = "The rewrites that may be done next, ranked by the pinned policy; STOP is the last.\n"
           "SPC lets the agent take its choice, a or RET takes the row at point. m and u mark and\n"
           "unmark, d flags for a veto and x carries it out, = measures, g adopts the newest\n"
           "policy. ○ is predicted, ● measured.",
    .parent = &ui_mode_special,
    .hl_line = true,
    .keys =
        (const ui_key_row[]){
            {"SPC", "step"},
            {"a", "accept"},
            {"RET", "accept"},
            {"=", "measure"},
            {"m", "mark-row"},
            {"u", "unmark-row"},
            {"U", "unmark-all"},
            {"t", "toggle-marks"},
            {"% m", "mark-rows-by-regexp"},
            {"DEL", "unmark-backward"},
            {"d", "veto"},
            {"x", "execute-vetoes"},
            {"w", "copy-name"},
            {"o", "diff"},
            {NULL, NULL},
        },
    .open = list_open,
    .close = list_close,
    .rows = list_rows,
    .draw = list_draw,
    .header = list_header,
    .refresh = list_refresh,
    .moved = list_moved,
    .status = list_status,
};
