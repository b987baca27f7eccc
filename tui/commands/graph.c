/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Moving in *graph* and folding it. */
#include "tui/modes/graph.h"
#include "tui/prompt.h"

#include <stdlib.h>
#include <string.h>

UI_FAMILY(graph);

/* The session with a view, and the row at point of *graph*. */
static tg_status need_row(ui_app *ui, ui_session **s, const tg_row **row)
{
    const ui_window *w = ui->selected;
    TG_TRY(ui_session_need(ui, s));
    if (!ui_mode_derives(w->buffer->mode, &ui_mode_graph) || !(*s)->view ||
        w->point.row >= (*s)->view->drawing->n_rows)
        return tg_fail(TG_NOTFOUND, "No row of a graph here");
    *row = &(*s)->view->drawing->rows[w->point.row];
    return TG_OK;
}

static void go_to_row(ui_app *ui, size_t row)
{
    ui->selected->point.row = row;
    ui_touch(ui);
}

/* ---- folds */

/* Turns a block over: open where the level folds it, or the reverse. */
static void flip(ui_session *s, uint64_t block)
{
    size_t i = 0;
    while (i < s->flipped.n && s->flipped.v[i] < block) i++;
    if (i < s->flipped.n && s->flipped.v[i] == block) {
        tg_vec_remove(&s->flipped, i);
    } else {
        tg_vec_push(&s->flipped, block);
        for (size_t k = s->flipped.n - 1; k > i; k--) s->flipped.v[k] = s->flipped.v[k - 1];
        s->flipped.v[i] = block;
    }
    ui_session_redraw(s);
}

static tg_status set_level(ui_app *ui, int level)
{
    ui_session *s;
    static const char *const words[] = {"", "stages", "blocks", "operators",
                                        "operators, constants and shape arithmetic"};
    TG_TRY(ui_session_need(ui, &s));
    s->draw.level = level;
    tg_vec_clear(&s->flipped);
    ui_session_redraw(s);
    ui_message(ui, "Fold level %d: %s", level, words[level]);
    return TG_OK;
}

static tg_status fold_here(ui_app *ui, bool fold, bool toggle)
{
    ui_session *s;
    const tg_row *row;
    TG_TRY(need_row(ui, &s, &row));
    if (row->output >= 0) return tg_fail(TG_NOTFOUND, "An output does not fold");
    if (!toggle && row->fold == fold) return TG_OK;
    flip(s, row->block);
    return TG_OK;
}

DEFCMD(toggle_fold, "toggle-fold", "", "Open the fold at point, or fold the block around it.")
{
    return fold_here(ui, false, true);
}

DEFCMD(visit, "graph-visit", "",
       "Open the fold at point, or show what there is to know of the operator.")
{
    static const char *const none[] = {NULL};
    ui_session *s;
    const tg_row *row;
    TG_TRY(need_row(ui, &s, &row));
    return row->fold ? fold_here(ui, false, false) : ui_command_run(ui, "describe-node", none);
}

DEFCMD(fold_block, "fold-here", "", "Fold the block around point.")
{
    return fold_here(ui, true, false);
}

DEFCMD(open_block, "open-here", "", "Open the fold at point.")
{
    return fold_here(ui, false, false);
}

DEFCMD(fold_stages, "fold-stages", "", "Fold the whole graph to stages (level 1).")
{
    return set_level(ui, 1);
}

DEFCMD(fold_blocks, "fold-blocks", "", "Fold the whole graph to blocks (level 2).")
{
    return set_level(ui, 2);
}

DEFCMD(show_operators, "show-operators", "", "Show every operator of the graph (level 3).")
{
    return set_level(ui, 3);
}

DEFCMD(show_constants, "show-constants", "",
       "Show every operator with constants and shape arithmetic (level 4).")
{
    return set_level(ui, 4);
}

static int present_level(const ui_session *s)
{
    return s->draw.level ? s->draw.level : s->view ? s->view->drawing->level : 3;
}

DEFCMD(cycle_folds, "cycle-folds", "", "Go on to the next fold level: stages, blocks, operators.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    return set_level(ui, present_level(s) % 3 + 1);
}

DEFCMD(toggle_weights, "toggle-weights", "",
       "Show constants and weights as rows, or hide them again behind their badge.")
{
    ui_session *s;
    TG_TRY(ui_session_need(ui, &s));
    return set_level(ui, present_level(s) == 4 ? 3 : 4);
}

/* ---- along values */

typedef TG_VEC(int32_t) rows;

static void add_row(rows *list, int32_t row, int32_t self)
{
    if (row < 0 || row == self) return;
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i] == row) return;
    tg_vec_push(list, row);
}

static int32_t output_row(const tg_drawing *d, int slot)
{
    for (uint32_t r = d->n_rows; r-- > 0;)
        if (d->rows[r].output == slot) return (int32_t)r;
    return -1;
}

/* Rows that read what this row makes, in row order as far as uses have it. */
static void consumers(const tg_graph *g, const tg_drawing *d, const tg_row *row, rows *out)
{
    int32_t self = (int32_t)(row - d->rows);
    for (uint32_t i = 0; i < row->n_nodes; i++) {
        uint32_t n;
        const tg_use *use = tg_graph_uses(g, row->nodes[i], &n);
        for (uint32_t u = 0; u < n; u++)
            add_row(out, use[u].node ? d->row_of[use[u].node] : output_row(d, use[u].slot), self);
    }
}

static void producers(const tg_graph *g, const tg_drawing *d, const tg_row *row, rows *out)
{
    int32_t self = (int32_t)(row - d->rows);
    if (row->output >= 0)
        add_row(out, d->row_of[tg_value_node(tg_graph_sink(g)->in[row->output])], self);
    for (uint32_t i = 0; i < row->n_nodes; i++) {
        const tg_node *node = g->nodes[row->nodes[i]];
        for (int k = 0; k < node->n_in; k++)
            if (node->in[k] != TG_NO_VALUE)
                add_row(out, d->row_of[tg_value_node(node->in[k])], self);
    }
}

/* At a fork a digit picks. */
static tg_status pick(ui_app *ui, const tg_drawing *d, const rows *list, size_t *which)
{
    tg_str text = {0};
    char keys[10] = "", key;
    *which = 0;
    if (list->n < 2) return TG_OK;
    for (size_t i = 0; i < list->n && i < 9; i++) {
        keys[i] = (char)('1' + i);
        tg_str_addf(&text, "%s%zu %s", i ? "  " : "", i + 1, d->rows[list->v[i]].label);
    }
    tg_status status = ui_ask_key(ui, tg_str_text(&text), keys, &key);
    tg_str_free(&text);
    if (status == TG_OK) *which = (size_t)(key - '1');
    return status;
}

static tg_status along(ui_app *ui, const ui_args *args, bool forward)
{
    ui_session *s;
    const tg_row *row;
    rows list = {0};
    size_t which = args->prefix.given && args->prefix.n > 0 ? (size_t)args->prefix.n - 1 : 0;
    TG_TRY(need_row(ui, &s, &row));
    const tg_graph *g = tg_candidates_graph(s->view->candidates);
    const tg_drawing *d = s->view->drawing;
    (forward ? consumers : producers)(g, d, row, &list);
    tg_status status = TG_OK;
    uint64_t serial = s->view->serial;
    if (!list.n)
        status = tg_fail(TG_NOTFOUND, forward ? "Nothing reads this" : "Nothing drawn makes this");
    else if (!args->prefix.given) status = pick(ui, d, &list, &which);
    else if (which >= list.n) status = tg_fail(TG_NOTFOUND, "There are only %zu", list.n);
    /* the graph may have changed while the question stood */
    if (status == TG_OK && ui_session_get(ui) == s && s->view->serial == serial)
        go_to_row(ui, (size_t)list.v[which]);
    tg_vec_free(&list);
    return status;
}

DEFCMD(next_along, "next-along-value", "N",
       "Go along the value made here to the row that reads it.\n\nWhere several do, a digit picks "
       "one; a prefix argument N takes the Nth.")
{
    return along(ui, args, true);
}

DEFCMD(previous_along, "previous-along-value", "N",
       "Go along a value to the row that makes it.\n\nWhere several are read here, a digit picks "
       "one; a prefix argument N takes the Nth.")
{
    return along(ui, args, false);
}

DEFCMD(graph_name, "graph-name", "", "Move point to the name in its row.")
{
    ui_window *w = ui->selected;
    ui_line line = {0};
    ui_buffer_draw(ui, w->buffer, w->point.row, w->cols, &line);
    w->point.col = ui_text_at_column(tg_str_text(&line.text), line.text.n,
                                     ui_graph_name_column(ui, w->buffer, w->cols));
    ui_line_done(&line);
    return TG_OK;
}

static tg_status next_tagged(ui_app *ui, int n)
{
    ui_session *s;
    const tg_row *row;
    TG_TRY(need_row(ui, &s, &row));
    const ui_graph_rows *r = ui_graph_rows_of(ui, ui->selected->buffer);
    long at = (long)ui->selected->point.row, count = s->view->drawing->n_rows;
    int step = n < 0 ? -1 : 1;
    for (n = abs(n); n; n--) {
        for (at += step; at >= 0 && at < count && r->tag[at] < 0; at += step) {}
        if (at < 0 || at >= count)
            return tg_fail(TG_LIMIT, step > 0 ? "No more sites" : "No earlier site");
        go_to_row(ui, (size_t)at);
    }
    return TG_OK;
}

DEFCMD(next_site, "next-site", "N",
       "Go to the next row with the site of a candidate.\n\nWith a prefix argument N, over that "
       "many.")
{
    return next_tagged(ui, args->prefix.n);
}

DEFCMD(previous_site, "previous-site", "N",
       "Go to the row before with the site of a candidate.\n\nWith a prefix argument N, over that "
       "many.")
{
    return next_tagged(ui, -args->prefix.n);
}

static void source_names(ui_app *ui, void *ctx, const char *input, ui_choices *out)
{
    ui_session *s = ui_session_get(ui);
    (void)ctx, (void)input;
    for (uint32_t r = 0; s && s->view && r < s->view->drawing->n_rows; r++)
        ui_choices_add(out, s->view->drawing->rows[r].label, s->view->drawing->rows[r].op);
}

DEFCMD(jump, "jump-to-name", "", "Go to a row by its name, with completion.")
{
    ui_session *s;
    const tg_row *row;
    char *name;
    TG_TRY(need_row(ui, &s, &row));
    ui_prompt prompt = {.text = "Jump to", .history = "node", .source = source_names};
    TG_TRY(ui_ask(ui, &prompt, &name));
    size_t at = SIZE_MAX;
    for (uint32_t r = 0; s->view && r < s->view->drawing->n_rows && at == SIZE_MAX; r++)
        if (strcmp(s->view->drawing->rows[r].label, name) == 0) at = r;
    tg_status status = at == SIZE_MAX ? tg_fail(TG_NOTFOUND, "No row is called `%s'", name) : TG_OK;
    free(name);
    if (status == TG_OK) go_to_row(ui, at);
    return status;
}
