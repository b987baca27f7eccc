/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The tree of states as rows: a picture of the branches, then every step in a list. */
#ifndef TUI_HISTORY_TREE_H
#define TUI_HISTORY_TREE_H

#include "diff.h"

/*
 * A way from a fork (or the root) to a leaf; every state that is not pruned lies on exactly one.
 * Branches follow the one that they fork from, those that fork further to the right first.
 */
typedef struct ui_branch {
    int first, leaf; /* states */
    int fork;        /* state that it leaves; -1: the main branch */
    int depth;       /* of `first` */
} ui_branch;

typedef enum ui_tree_kind {
    UI_TREE_LEGEND,
    UI_TREE_BRANCH,
    UI_TREE_TITLE,
    UI_TREE_STEP
} ui_tree_kind;

typedef struct ui_tree_row {
    ui_tree_kind kind;
    int branch, state; /* state: of a step; of other rows -1 */
} ui_tree_row;

/* Invariant: branch 0 goes through HEAD. */
typedef struct ui_tree {
    TG_VEC(ui_branch) branches;
    TG_VEC(ui_tree_row) rows;
    int best;    /* the cheapest state by the analytic cost, the first of equals */
    int deepest; /* most steps from the root */
    int hidden;  /* branches that the picture leaves out */
} ui_tree;

/* Makes the rows; `most` branches are drawn in the picture. O(states log states). */
void ui_tree_make(tg_history *h, int most, ui_tree *tree);
void ui_tree_done(ui_tree *tree);
/* The row of a state in the list, or -1. */
int ui_tree_row_of(const ui_tree *tree, int state);

/* The picture of a branch from column 0, steps from `from` on, in `width` columns. */
void ui_tree_draw_branch(tg_history *h, const ui_tree *tree, int branch, int from, int selected,
                         int width, ui_line *line);
/* The state that is drawn in a column of a branch's row, or -1. */
int ui_tree_state_at(tg_history *h, const ui_tree *tree, int branch, int from, int column);
/* A step of the list. `marked`: it is to be compared. */
void ui_tree_draw_step(ui_session *s, const ui_tree *tree, int state, bool marked, int width,
                       ui_line *line);
void ui_tree_draw_header(int width, ui_line *line);

/* ---- modes/history.c */
ui_buffer *ui_history_buffer(ui_app *ui);
/* Puts point on a state's line; false if it has none. */
bool ui_history_point_to(ui_app *ui, int state);
/* The two states marked for comparison; -1: none. */
int *ui_history_marks(ui_app *ui);

#endif
