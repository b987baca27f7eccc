/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree of windows and where each stands. Pop-ups are in display.c. */
#include "app.h"
#include "minibuf.h"

#include <stdlib.h>

static ui_window *leaf_new(ui_buffer *buffer)
{
    ui_window *w = tg_calloc(1, sizeof *w);
    w->share = 1;
    w->buffer = buffer;
    return w;
}

static void window_free(ui_window *w)
{
    for (size_t i = 0; i < w->kids.n; i++) window_free(w->kids.v[i]);
    tg_vec_free(&w->kids);
    free(w);
}

void ui_windows_init(ui_app *ui, ui_buffer *buffer)
{
    ui->root = ui->selected = leaf_new(buffer);
    ui->mini = leaf_new(NULL);
}

void ui_windows_done(ui_app *ui)
{
    if (ui->root) window_free(ui->root);
    if (ui->mini) window_free(ui->mini);
    ui->root = ui->mini = ui->selected = NULL;
}

/* The least size of a window along one axis. */
static int least(const ui_window *w, bool across)
{
    if (!w->kids.n) return across ? UI_MIN_COLS : UI_MIN_ROWS;
    int sum = 0, most = 0;
    for (size_t i = 0; i < w->kids.n; i++) {
        int n = least(w->kids.v[i], across);
        sum += n;
        if (n > most) most = n;
    }
    if (w->across != across) return most;
    return sum + (across ? (int)w->kids.n - 1 : 0);
}

/*
 * Divides `total` among the kids by share, none below its least: kids that would be too small get
 * their least and leave the division, until the rest fits; the remainder goes to the largest
 * fractions.
 */
static void divide(const ui_window *w, int total, int *size)
{
    size_t n = w->kids.n;
    double shares = 0, given[n];
    bool fixed[n], again = true;
    for (size_t i = 0; i < n; i++) fixed[i] = false;
    while (again) {
        int left = total;
        again = false;
        shares = 0;
        for (size_t i = 0; i < n; i++) {
            if (fixed[i]) left -= size[i];
            else shares += w->kids.v[i]->share;
        }
        for (size_t i = 0; i < n; i++) {
            if (fixed[i]) continue;
            given[i] = left * w->kids.v[i]->share / shares;
            size[i] = (int)given[i];
            int low = least(w->kids.v[i], w->across);
            if (given[i] < low) {
                size[i] = low;
                fixed[i] = again = true;
            }
        }
    }
    int left = total;
    for (size_t i = 0; i < n; i++) left -= size[i];
    for (; left > 0; left--) {
        size_t best = n;
        for (size_t i = 0; i < n; i++) {
            if (!fixed[i] && (best == n || given[i] - size[i] > given[best] - size[best])) best = i;
        }
        size[best == n ? n - 1 : best]++;
    }
}

static void place(ui_window *w, int y, int x, int rows, int cols)
{
    w->y = y;
    w->x = x;
    w->rows = rows;
    w->cols = cols;
    if (!w->kids.n) return;
    int size[w->kids.n];
    int total = w->across ? cols - (int)w->kids.n + 1 : rows;
    divide(w, total, size);
    for (size_t i = 0; i < w->kids.n; i++) {
        if (w->across) place(w->kids.v[i], y, x, rows, size[i]);
        else place(w->kids.v[i], y, x, size[i], cols);
        if (w->across) x += size[i] + 1;
        else y += size[i];
    }
}

ui_window *ui_window_ordinary(ui_app *ui)
{
    if (ui->selected != ui->mini) return ui->selected;
    return ui->minibuf ? ui->minibuf->from : ui_window_first(ui);
}

static bool fits(ui_app *ui)
{
    return least(ui->root, false) <= ui->rows - 1 && least(ui->root, true) <= ui->cols;
}

void ui_windows_layout(ui_app *ui)
{
    if (!fits(ui)) ui_windows_drop_popups(ui);
    ui->solo = !fits(ui);
    if (!ui->solo) {
        place(ui->root, 0, 0, ui->rows - 1, ui->cols);
    } else {
        ui_window *w = ui_window_ordinary(ui);
        w->y = w->x = 0;
        w->rows = ui->rows > 1 ? ui->rows - 1 : 1;
        w->cols = ui->cols;
    }
    ui->mini->y = ui->rows - 1;
    ui->mini->x = 0;
    ui->mini->rows = 1;
    ui->mini->cols = ui->cols;
}

static ui_window *first_leaf(ui_window *w)
{
    while (w->kids.n) w = w->kids.v[0];
    return w;
}

ui_window *ui_window_first(ui_app *ui)
{
    return first_leaf(ui->root);
}

static size_t kid_index(const ui_window *w)
{
    size_t i = 0;
    while (w->parent->kids.v[i] != w) i++;
    return i;
}

ui_window *ui_window_after(ui_app *ui, ui_window *w)
{
    if (w == ui->mini) return NULL;
    while (w->parent) {
        size_t i = kid_index(w);
        if (i + 1 < w->parent->kids.n) return first_leaf(w->parent->kids.v[i + 1]);
        w = w->parent;
    }
    return NULL;
}

int ui_window_count(ui_app *ui)
{
    int n = 0;
    for (ui_window *w = ui_window_first(ui); w; w = ui_window_after(ui, w)) n++;
    return n;
}

bool ui_window_live(ui_app *ui, const ui_window *window)
{
    for (ui_window *w = ui_window_first(ui); w; w = ui_window_after(ui, w)) {
        if (w == window) return true;
    }
    return window == ui->mini && ui->minibuf;
}

ui_window *ui_window_cycle(ui_app *ui, ui_window *window, int n)
{
    int count = ui_window_count(ui) + (ui->minibuf ? 1 : 0);
    n = ((n % count) + count) % count;
    while (n--) {
        if (window == ui->mini) window = ui_window_first(ui);
        else window = ui_window_after(ui, window);
        if (!window) window = ui->minibuf ? ui->mini : ui_window_first(ui);
    }
    return window;
}

ui_window *ui_window_showing(ui_app *ui, const ui_buffer *buffer)
{
    for (ui_window *w = ui_window_first(ui); w; w = ui_window_after(ui, w)) {
        if (w->buffer == buffer) return w;
    }
    return NULL;
}

int ui_window_body(ui_app *ui, const ui_window *w)
{
    if (w == ui->mini) return 1;
    bool (*header)(ui_app *, ui_buffer *, int, ui_line *);
    UI_MODE_CALL(header, w->buffer->mode, header);
    ui_line line = {0};
    int body = w->rows - 1;
    if (header && header(ui, w->buffer, w->cols, &line)) body--;
    ui_line_done(&line);
    return body > 1 ? body : 1;
}

/* Shares become the sizes on the screen, so that one of them can be changed by rows. */
static void shares_from_sizes(ui_window *w)
{
    for (size_t i = 0; i < w->kids.n; i++) {
        ui_window *kid = w->kids.v[i];
        kid->share = w->across ? kid->cols : kid->rows;
    }
}

/* Puts a node over the window, which becomes its only kid. */
static ui_window *wrap(ui_app *ui, ui_window *w, bool across)
{
    ui_window *node = tg_calloc(1, sizeof *node);
    node->across = across;
    node->share = w->share;
    node->parent = w->parent;
    node->y = w->y;
    node->x = w->x;
    node->rows = w->rows;
    node->cols = w->cols;
    if (w->parent) w->parent->kids.v[kid_index(w)] = node;
    else ui->root = node;
    w->parent = node;
    tg_vec_push(&node->kids, w);
    return node;
}

tg_status ui_window_split(ui_app *ui, ui_window *w, bool across, int size, ui_window **made)
{
    int have = across ? w->cols - 1 : w->rows, low = across ? UI_MIN_COLS : UI_MIN_ROWS;
    if (!size) size = (have + 1) / 2;
    if (size < 0) size += have;
    if (ui->solo || w == ui->mini || size < low || have - size < low) {
        return tg_fail(TG_LIMIT, "Window too small for splitting");
    }
    if (!w->parent || w->parent->across != across) wrap(ui, w, across);
    shares_from_sizes(w->parent);
    ui_window *kid = leaf_new(w->buffer);
    kid->parent = w->parent;
    kid->point = w->point;
    kid->top = w->top;
    w->share = size;
    kid->share = have - size;
    size_t at = kid_index(w) + 1;
    ui_window *parent = w->parent;
    tg_vec_push(&parent->kids, kid);
    for (size_t i = parent->kids.n - 1; i > at; i--) parent->kids.v[i] = parent->kids.v[i - 1];
    parent->kids.v[at] = kid;
    ui_windows_layout(ui);
    *made = kid;
    return TG_OK;
}

/* A node with one kid gives its place to the kid. */
static void unwrap(ui_app *ui, ui_window *node)
{
    ui_window *kid = node->kids.v[0];
    kid->share = node->share;
    kid->parent = node->parent;
    if (node->parent) node->parent->kids.v[kid_index(node)] = kid;
    else ui->root = kid;
    tg_vec_clear(&node->kids);
    window_free(node);
}

static void forget_window(ui_app *ui, const ui_window *gone)
{
    for (ui_window *w = ui_window_first(ui); w; w = ui_window_after(ui, w)) {
        if (w->quit_select == gone) w->quit_select = NULL;
    }
}

tg_status ui_window_delete(ui_app *ui, ui_window *w)
{
    ui_window *parent = w->parent;
    if (!parent) {
        return tg_fail(TG_LIMIT, "Attempt to delete %s window",
                       w == ui->mini ? "minibuffer" : "sole ordinary");
    }
    ui_window *next = ui_window_cycle(ui, w, 1);
    w->buffer->point = w->point;
    w->buffer->top = w->top;
    size_t i = kid_index(w);
    if (!ui->solo) shares_from_sizes(parent);
    parent->kids.v[i ? i - 1 : 1]->share += w->share + (parent->across ? 1 : 0);
    tg_vec_remove(&parent->kids, i);
    if (parent->kids.n == 1) unwrap(ui, parent);
    forget_window(ui, w);
    if (ui->selected == w) ui_window_select(ui, next);
    window_free(w);
    ui_windows_layout(ui);
    return TG_OK;
}

void ui_window_delete_others(ui_app *ui, ui_window *keep)
{
    if (keep == ui->mini) return;
    for (ui_window *w = ui_window_first(ui); w;) {
        ui_window *next = ui_window_after(ui, w);
        /* deleting only moves nodes, so `next` stays a leaf */
        if (w != keep && ui_window_delete(ui, w) != TG_OK) return;
        w = next;
    }
}

tg_status ui_window_grow(ui_app *ui, ui_window *w, bool across, int delta)
{
    while (w->parent && w->parent->across != across) w = w->parent;
    if (!w->parent || ui->solo) {
        return tg_fail(TG_LIMIT, "Cannot resize the sole window of a %s",
                       across ? "row" : "column");
    }
    ui_window *parent = w->parent;
    int others = 0, size = across ? w->cols : w->rows;
    for (size_t i = 0; i < parent->kids.n; i++) {
        ui_window *kid = parent->kids.v[i];
        if (kid != w) others += (across ? kid->cols : kid->rows) - least(kid, across);
    }
    if (delta > others) delta = others;
    if (size + delta < least(w, across)) delta = least(w, across) - size;
    shares_from_sizes(parent);
    int rest = 0;
    for (size_t i = 0; i < parent->kids.n; i++) {
        if (parent->kids.v[i] != w)
            rest += across ? parent->kids.v[i]->cols : parent->kids.v[i]->rows;
    }
    for (size_t i = 0; i < parent->kids.n; i++) {
        ui_window *kid = parent->kids.v[i];
        if (kid != w) kid->share *= (double)(rest - delta) / rest;
    }
    w->share += delta;
    ui_windows_layout(ui);
    return TG_OK;
}

static int leaves_along(const ui_window *w, bool across)
{
    int n = 0;
    if (!w->kids.n || w->across != across) return 1;
    for (size_t i = 0; i < w->kids.n; i++) n += leaves_along(w->kids.v[i], across);
    return n;
}

static void balance(ui_window *w)
{
    for (size_t i = 0; i < w->kids.n; i++) {
        w->kids.v[i]->share = leaves_along(w->kids.v[i], w->across);
        balance(w->kids.v[i]);
    }
}

void ui_windows_balance(ui_app *ui)
{
    balance(ui->root);
    ui_windows_layout(ui);
}

static bool tiles(const ui_window *w)
{
    if (!w->kids.n) return w->rows >= UI_MIN_ROWS && w->cols >= UI_MIN_COLS && w->buffer;
    int y = w->y, x = w->x;
    for (size_t i = 0; i < w->kids.n; i++) {
        const ui_window *k = w->kids.v[i];
        if (k->parent != w || k->y != y || k->x != x || !tiles(k)) return false;
        if (w->across ? k->rows != w->rows : k->cols != w->cols) return false;
        if (w->across) x += k->cols + 1;
        else y += k->rows;
    }
    return w->kids.n > 1 && (w->across ? x == w->x + w->cols + 1 : y == w->y + w->rows);
}

bool ui_windows_tile(ui_app *ui)
{
    if (ui->solo) return !fits(ui);
    const ui_window *r = ui->root;
    return r->y == 0 && r->x == 0 && r->rows == ui->rows - 1 && r->cols == ui->cols && tiles(r);
}
