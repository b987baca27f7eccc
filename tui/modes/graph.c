/* SPDX-License-Identifier: GPL-3.0-or-later */
/* *graph*: the rails of HEAD. Commands are in commands/graph.c. */
#include "graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BAR = 7, NOTE = 22, SHORT_NOTE = 10, MAP = 2 };

static tg_state *shown_state(ui_session *s)
{
    return tg_history_get(s->history, s->view->state);
}

/* ---- what is worked out once a view */

char *ui_graph_shape(char *out, size_t size, const tg_type *type)
{
    tg_str s = {0};
    const tg_shape *shape = &type->shape;
    if (tg_dtype_is_list(type->dtype)) tg_str_add(&s, tg_dtype_name(type->dtype));
    else if (shape->rank < 0) tg_str_add(&s, "?");
    if (shape->rank == 0) tg_str_add(&s, "scalar");
    for (int i = 0; i < shape->rank; i++) {
        if (i) tg_str_add(&s, "×");
        if (shape->dim[i] < 0) tg_str_addc(&s, '?');
        else tg_str_addf(&s, "%lld", (long long)shape->dim[i]);
    }
    snprintf(out, size, "%s", tg_str_text(&s));
    tg_str_free(&s);
    return out;
}

/* "Conv", "12 ops"; of an output nothing. */
static const char *op_words(const tg_row *row, char *buf, size_t size)
{
    if (!row->fold) return row->op;
    snprintf(buf, size, "%u op%s", row->n_ops, row->n_ops == 1 ? "" : "s");
    return buf;
}

static int wider(int most, const char *text)
{
    int width = ui_text_width(text, strlen(text));
    return width > most ? width : most;
}

static void measure_texts(ui_graph_rows *r, const tg_drawing *d)
{
    char shape[TG_SHAPE_TEXT], op[32];
    r->name = 10;
    r->op = 4;
    r->shape = 6;
    for (uint32_t i = 0; i < d->n_rows; i++) {
        const tg_row *row = &d->rows[i];
        r->name = wider(r->name, row->label);
        r->op = wider(r->op, op_words(row, op, sizeof op));
        if (row->type.dtype)
            r->shape = wider(r->shape, ui_graph_shape(shape, sizeof shape, &row->type));
    }
}

static void sum_rows(ui_graph_rows *r, const ui_view *v)
{
    const tg_drawing *d = v->drawing;
    r->sum = tg_calloc(d->n_rows + 1, sizeof *r->sum);
    for (uint32_t i = 0; i < d->n_rows; i++) {
        double ms = 0;
        for (uint32_t k = 0; k < d->rows[i].n_nodes; k++) ms += v->node_ms[d->rows[i].nodes[k]];
        if (ms > r->most_ms) r->most_ms = ms;
        r->sum[i + 1] = r->sum[i] + ms;
    }
}

static void tag_rows(ui_graph_rows *r, const ui_session *s)
{
    const tg_drawing *d = s->view->drawing;
    r->tag = tg_malloc((d->n_rows + 1) * sizeof *r->tag);
    for (uint32_t i = 0; i < d->n_rows; i++) r->tag[i] = -1;
    for (int c = s->view->n_rows; c-- > 0;) {
        const tg_candidate *candidate = ui_session_candidate(s, c);
        for (int k = 0; candidate && k < candidate->site->n_nodes; k++) {
            int32_t row = d->row_of[candidate->site->nodes[k]];
            if (row >= 0) r->tag[row] = c;
        }
    }
}

static void forget(ui_graph_rows *r)
{
    free(r->tag);
    free(r->sum);
    *r = (ui_graph_rows){0};
}

const ui_graph_rows *ui_graph_rows_of(ui_app *ui, ui_buffer *buffer)
{
    ui_session *s = ui_session_get(ui);
    ui_graph_rows *r = buffer->data;
    if (!s || !s->view) return NULL;
    if (r->serial == s->view->serial) return r;
    forget(r);
    r->serial = s->view->serial;
    measure_texts(r, s->view->drawing);
    sum_rows(r, s->view);
    tag_rows(r, s);
    return r;
}

bool ui_graph_in_site(const tg_drawing *d, const tg_candidate *c, size_t row)
{
    for (int k = 0; c && k < c->site->n_nodes; k++)
        if (d->row_of[c->site->nodes[k]] == (int32_t)row) return true;
    return false;
}

/* Ids are given in rising order, so a step's nodes are those from the end of its parent's ids. */
int ui_graph_made_at(const tg_trail *trail, uint32_t node)
{
    while (trail->parent && node < trail->parent->graph->n_ids) trail = trail->parent;
    return trail->depth;
}

/* ---- columns */

/* Widths; 0: the column is left out. `name` begins at column `at`. */
typedef struct columns {
    int tag, at, name, op, shape, ms, bar, note, map;
} columns;

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int total(const columns *c)
{
    return c->at + c->name + (c->op ? c->op + 1 : 0) + (c->shape ? c->shape + 1 : 0) +
           (c->ms ? c->ms + 1 : 0) + (c->bar ? c->bar + 1 : 0) + (c->note ? c->note + 1 : 0) +
           c->map;
}

static void shrink(int *column, int to, int *over)
{
    int by = least(*column - to, *over);
    if (by <= 0) return;
    *column -= by;
    *over -= by;
}

static void drop(const columns *c, int *column, int width)
{
    if (total(c) > width) *column = 0;
}

/* Note, shape and bar go first, the name last. */
static columns plan_columns(const ui_session *s, const ui_graph_rows *r, int width)
{
    char last[16];
    int rails = s->view->drawing->width;
    columns c = {.name = least(r->name, 36), .op = least(r->op, 20), .shape = least(r->shape, 18)};
    c.tag = snprintf(last, sizeof last, "[%d]", s->view->n_rows);
    c.at = (rails > 3 ? rails : 3) + 1 + c.tag + 1;
    bool latency = ui_opt_flag(UI_OPT_latency_overlay);
    c.ms = latency ? 6 : 0;
    c.bar = latency ? BAR : 0;
    c.note = NOTE;
    c.map = width >= 60 && ui_opt_flag(UI_OPT_minimap) ? MAP : 0;
    int over = total(&c) - width;
    shrink(&c.note, SHORT_NOTE, &over);
    shrink(&c.name, 16, &over);
    shrink(&c.op, 10, &over);
    shrink(&c.name, 13, &over);
    drop(&c, &c.note, width);
    drop(&c, &c.shape, width);
    drop(&c, &c.bar, width);
    drop(&c, &c.op, width);
    drop(&c, &c.ms, width);
    int room = width - total(&c);
    if (room > 0) c.name += least(room, r->name > c.name ? r->name - c.name : 0);
    room = width - total(&c);
    if (room > 0 && c.note) c.note += room;
    if (room < 0) c.name = c.name + room > 4 ? c.name + room : 4;
    return c;
}

int ui_graph_name_column(ui_app *ui, ui_buffer *buffer, int width)
{
    ui_session *s = ui_session_get(ui);
    const ui_graph_rows *r = ui_graph_rows_of(ui, buffer);
    return r ? plan_columns(s, r, width).at : 0;
}

/* ---- a row */

static ui_face class_face(const tg_node *node)
{
    static const struct {
        const char *name;
        ui_face face;
    } faces[] = {
        {"conv", UI_FACE_op_conv},       {"matmul", UI_FACE_op_matmul},
        {"eltwise", UI_FACE_op_eltwise}, {"norm", UI_FACE_op_norm},
        {"pool", UI_FACE_op_pool},       {"layout", UI_FACE_op_layout},
        {"reduce", UI_FACE_op_reduce},   {"const", UI_FACE_op_const},
        {"opaque", UI_FACE_op_opaque},
    };
    const char *name = tg_op_class(node);
    for (size_t i = 0; i < sizeof faces / sizeof *faces; i++)
        if (strcmp(faces[i].name, name) == 0) return faces[i].face;
    return UI_FACE_plain;
}

/* Each lane has a colour; the dot is in that of its operator. */
static void draw_rails(ui_line *line, const char *rails, ui_face dot)
{
    int column = 0;
    for (size_t n = strlen(rails); n; column++) {
        ui_cluster c = ui_cluster_read(rails, n);
        bool is_dot = c.cp[0] == 0x25cf;
        ui_face lane = (ui_face)(UI_FACE_rail_1 + (column / 2) % 6);
        ui_line_addn(line, is_dot ? dot : lane, rails, c.bytes);
        rails += c.bytes;
        n -= c.bytes;
    }
}

/* Eighths of cells; anything above 0 shows. */
static void draw_bar(ui_line *line, double part)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int n = (int)lround(part * BAR * 8);
    if (n < 1 && part > 0) n = 1;
    ui_face face = (ui_face)(UI_FACE_heat_1 + least((int)(part * 8), 7));
    for (int i = 0; i < n / 8; i++) ui_line_add(line, face, "█");
    ui_line_add(line, face, eighths[n % 8]);
}

static void draw_ms(ui_line *line, const ui_view *v, double ms)
{
    ui_face face = v->node_measured ? UI_FACE_measured : UI_FACE_predicted;
    if (ms <= 0) return;
    if (ms < 0.0005) ui_line_add(line, face, "<0.001");
    else if (ms < 9.9995) ui_line_addf(line, face, "%6.3f", ms);
    else ui_line_addf(line, face, "%6.1f", ms);
}

/* The last step that made a node of the row, 0: none; *n counts its nodes. */
static int newest_in_row(const tg_trail *trail, const tg_row *row, uint32_t *n)
{
    int newest = 0;
    *n = 0;
    for (uint32_t i = 0; i < row->n_nodes; i++) {
        int at = ui_graph_made_at(trail, row->nodes[i]);
        if (at > newest) {
            newest = at;
            *n = 0;
        }
        *n += at && at == newest;
    }
    return newest;
}

static void draw_note(ui_line *line, const tg_trail *trail, const tg_row *row, int site, int ops,
                      int cols)
{
    bool brief = cols < NOTE;
    char words[64] = "", weights[16] = "";
    ui_face face = UI_FACE_plain;
    uint32_t made;
    int newest = newest_in_row(trail, row, &made);
    if (site >= 0) {
        face = UI_FACE_marked;
        if (brief) snprintf(words, sizeof words, "◂ cand %d", site + 1);
        else snprintf(words, sizeof words, "◂ candidate %d (%d ops)", site + 1, ops);
    } else if (newest) {
        face = newest == trail->depth ? UI_FACE_new : UI_FACE_plain;
        if (row->fold) snprintf(words, sizeof words, "◂ +%u new @%d", made, newest);
        else snprintf(words, sizeof words, brief ? "◂ new @%d" : "◂ new at step %d", newest);
    } else if (row->repeat > 1) {
        snprintf(words, sizeof words, brief ? "×%u" : "folded, %u identical", row->repeat);
    }
    if (row->n_weights) snprintf(weights, sizeof weights, "◂W%d", row->n_weights);
    int left = cols - ui_text_width(words, strlen(words)) - (words[0] ? 1 : 0);
    ui_line_fit(line, face, words, cols);
    if (!weights[0] || left < ui_text_width(weights, strlen(weights))) return;
    ui_line_addf(line, UI_FACE_op_const, "%s%s", words[0] ? " " : "", weights);
}

/* The window whose minimap this row is part of. */
static const ui_window *map_window(ui_app *ui, const ui_buffer *buffer, size_t row)
{
    const ui_window *any = NULL;
    for (ui_window *w = ui_window_first(ui); w; w = ui_window_after(ui, w)) {
        if (w->buffer != buffer) continue;
        any = w;
        if (row >= w->top && row < w->top + (size_t)w->rows) return w;
    }
    return any;
}

/* One cell for k rows: share of latency by heat, candidates, the part that the window shows. */
static void draw_map(ui_app *ui, ui_buffer *buffer, const ui_session *s, const ui_graph_rows *r,
                     size_t row, ui_line *line)
{
    const ui_window *w = map_window(ui, buffer, row);
    size_t n = s->view->drawing->n_rows, body = w ? (size_t)w->rows - 2 : n;
    if (!w || row < w->top) return;
    size_t cells = body < n ? body : n, y = row - w->top;
    if (y >= cells) return;
    size_t from = y * n / cells, to = (y + 1) * n / cells;
    double mean = r->sum[n] / (double)cells, here = r->sum[to] - r->sum[from];
    int heat = mean > 0 ? least((int)(here / mean * 2), 7) : 0;
    bool candidate = false;
    for (size_t i = from; i < to; i++) candidate = candidate || r->tag[i] >= 0;
    ui_face face = (ui_face)(UI_FACE_heat_1 + heat);
    if (cells < n && to > w->top && from < w->top + body) face = UI_FACE_mode_line;
    ui_line_add(line, face, candidate ? "◆" : heat >= 3 ? "█" : "▒");
}

/* Goes to the next column; false if it is left out. */
static bool cell(ui_line *line, int *x, int cols)
{
    if (!cols) return false;
    ui_line_pad(line, *x + 1);
    *x += cols + 1;
    return true;
}

/* Rails, fold marker, tag and name. */
static void draw_left(ui_line *line, const tg_row *row, const columns *c, ui_face face, int tag,
                      bool lit)
{
    ui_face name = row->fold ? UI_FACE_header : UI_FACE_plain;
    draw_rails(line, row->rails, face);
    ui_line_pad(line, c->at - c->tag - 2);
    ui_line_add(line, UI_FACE_plain, row->fold ? "⊞" : " ");
    if (tag >= 0) ui_line_addf(line, lit ? UI_FACE_marked : UI_FACE_predicted, "[%d]", tag + 1);
    ui_line_pad(line, c->at);
    if (strchr(row->label, '/')) ui_line_fit_end(line, name, row->label, c->name);
    else ui_line_fit(line, name, row->label, c->name);
}

static void draw_right(ui_line *line, const ui_session *s, const ui_graph_rows *r, size_t at,
                       const columns *c, ui_face face)
{
    const tg_row *row = &s->view->drawing->rows[at];
    double ms = r->sum[at + 1] - r->sum[at];
    char text[TG_SHAPE_TEXT];
    int x = c->at + c->name;
    if (cell(line, &x, c->op)) ui_line_fit(line, face, op_words(row, text, sizeof text), c->op);
    if (cell(line, &x, c->shape) && row->type.dtype)
        ui_line_fit(line, UI_FACE_plain, ui_graph_shape(text, sizeof text, &row->type), c->shape);
    if (cell(line, &x, c->ms)) draw_ms(line, s->view, ms);
    if (cell(line, &x, c->bar)) draw_bar(line, r->most_ms > 0 ? ms / r->most_ms : 0);
    (void)cell(line, &x, c->note);
}

static void graph_draw(ui_app *ui, ui_buffer *buffer, size_t at, int width, ui_line *line)
{
    ui_session *s = ui_session_get(ui);
    const ui_graph_rows *r = ui_graph_rows_of(ui, buffer);
    if (!r) return;
    const tg_drawing *d = s->view->drawing;
    const tg_row *row = &d->rows[at];
    const tg_graph *g = tg_candidates_graph(s->view->candidates);
    columns c = plan_columns(s, r, width);
    int chosen = ui_session_row_at_point(s);
    const tg_candidate *candidate = chosen >= 0 ? ui_session_candidate(s, chosen) : NULL;
    bool lit = ui_graph_in_site(d, candidate, at);
    ui_face face = row->n_nodes == 1 ? class_face(g->nodes[row->nodes[0]]) : UI_FACE_plain;
    if (lit) line->over = UI_FACE_site;
    draw_left(line, row, &c, face, lit ? chosen : r->tag[at], lit);
    draw_right(line, s, r, at, &c, face);
    if (c.note)
        draw_note(line, shown_state(s)->trail, row, lit ? chosen : -1,
                  candidate ? candidate->site->n_nodes : 0, c.note);
    if (!c.map) return;
    ui_line_pad(line, width - 1);
    draw_map(ui, buffer, s, r, at, line);
}

/* ---- the mode */

static size_t graph_rows(ui_app *ui, ui_buffer *buffer)
{
    ui_session *s = ui_session_get(ui);
    (void)buffer;
    return s && s->view ? s->view->drawing->n_rows : 0;
}

/* Latencies say whether a clock or the model of the cost gave them. */
static void add_latency(const ui_session *s, tg_state *head, ui_line *line)
{
    tg_state *root = tg_history_get(s->history, 0);
    bool timed = head->timed && root->timed;
    double now = timed ? head->latency.median_ms : head->trail->cost_ms;
    double first = timed ? root->latency.median_ms : root->trail->cost_ms;
    if (head->timed) {
        double half = (head->latency.high_ms - head->latency.low_ms) / 2;
        ui_line_addf(line, UI_FACE_header, "   %.3g ms ±%.2g %s", head->latency.median_ms, half,
                     tg_backend_name(s->backend));
    }
    if (!timed)
        ui_line_addf(line, UI_FACE_header, "   %s%.3g ms predicted", head->timed ? "" : "○ ", now);
    ui_line_addf(line, UI_FACE_header, "   %s%.1f%% vs root %.3g",
                 now < first   ? "−"
                 : now > first ? "+"
                               : "",
                 first > 0 ? 100 * fabs(now / first - 1) : 0, first);
}

static bool graph_header(ui_app *ui, ui_buffer *buffer, int width, ui_line *line)
{
    ui_session *s = ui_session_get(ui);
    (void)buffer;
    ui_line_clear(line);
    if (!s || !s->view) return false;
    tg_state *state = shown_state(s);
    const char *slash = strrchr(s->path, '/');
    ui_line_addf(line, UI_FACE_header, "%s   step %d", slash ? slash + 1 : s->path,
                 tg_history_depth(s->history, state->id));
    add_latency(s, state, line);
    if (ui_line_width(line) + 9 > width) return true;
    ui_line_pad(line, width - 7);
    ui_line_addf(line, UI_FACE_header, "fold %d",
                 s->draw.level             ? s->draw.level
                 : s->view->drawing->level ? s->view->drawing->level
                                           : 3);
    return true;
}

static tg_status graph_refresh(ui_app *ui, ui_buffer *buffer)
{
    ui_session *s;
    (void)buffer;
    TG_TRY(ui_session_need(ui, &s));
    ui_session_adopt(s);
    return TG_OK;
}

static void graph_status(ui_app *ui, ui_buffer *buffer, tg_str *out)
{
    ui_session *s = ui_session_get(ui);
    (void)buffer;
    if (s) ui_session_status(s, out);
}

static void graph_open(ui_app *ui, ui_buffer *buffer)
{
    (void)ui;
    buffer->data = tg_calloc(1, sizeof(ui_graph_rows));
}

static void graph_close(ui_app *ui, ui_buffer *buffer)
{
    (void)ui;
    forget(buffer->data);
    free(buffer->data);
}

const ui_mode ui_mode_graph = {
    .name = "graph-mode",
    .label = "Graph",
    .doc = "The graph of the present state, one operator a row. The lines at the left are the\n"
           "values that are alive; [3] is the site of candidate 3. TAB opens and folds a block,\n"
           "1 to 4 fold it here, M-1 to M-4 everywhere; a takes the candidate at point.",
    .parent = &ui_mode_special,
    .hl_line = true,
    .keys =
        (const ui_key_row[]){
            {"TAB", "toggle-fold"},
            {"S-TAB", "cycle-folds"},
            {"RET", "graph-visit"},
            {"1", "fold-here"},
            {"2", "fold-here"},
            {"3", "open-here"},
            {"4", "open-here"},
            {"M-1", "fold-stages"},
            {"M-2", "fold-blocks"},
            {"M-3", "show-operators"},
            {"M-4", "show-constants"},
            {"W", "toggle-weights"},
            {"M-m", "graph-name"},
            {"M-n", "next-along-value"},
            {"M-p", "previous-along-value"},
            {"M-g n", "next-site"},
            {"M-g p", "previous-site"},
            {"C-x `", "next-site"},
            {"j", "jump-to-name"},
            {"a", "accept"},
            {"=", "measure"},
            {"w", "copy-name"},
            {NULL, NULL},
        },
    .open = graph_open,
    .close = graph_close,
    .rows = graph_rows,
    .draw = graph_draw,
    .header = graph_header,
    .refresh = graph_refresh,
    .status = graph_status,
};
