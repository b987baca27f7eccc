/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What *diff* says of a rewrite: for its mode and the mode of *history*. */
#ifndef TUI_DIFF_H
#define TUI_DIFF_H

#include "session.h"

/* Number with sign and a true minus, "−3.1"; into buf of 24 bytes; returns buf. */
char *ui_signed(char *buf, double x, int decimals);
ui_face ui_verdict_face(tg_verdict v);
/* Milliseconds with four digits, "3.420". */
char *ui_ms(char *buf, double ms);

/* How it is shown. */
typedef struct ui_diff_style {
    int radius, width; /* values around the change; columns */
    bool text;         /* the rule as written in place of rails */
    bool beside;       /* the pictures side by side, else one above the other */
} ui_diff_style;

void ui_diff_rails(ui_text *out, const tg_diff *diff, const ui_diff_style *style);
/* The words of a rule: about, where it applies, and what its names stand for. */
void ui_diff_rule(ui_text *out, const tg_rule_info *rule, const tg_graph *g, const tg_site *site,
                  int width);
/* What the clock says of a candidate, or the analytic cost. */
void ui_diff_latency(ui_text *out, const ui_session *s, const tg_candidate *c);
/* What the clock said of the step to a state, before or after it was taken; NULL: nothing. */
const tg_comparison *ui_step_measured(const ui_session *s, const tg_state *state);
/* "label   words", the words filled into `width` columns. */
void ui_diff_fact(ui_text *out, const char *label, const char *words, int width);

/* Everything about a candidate of the view. */
void ui_diff_candidate(ui_text *out, const ui_session *s, const tg_candidate *c,
                       const ui_diff_style *style);
/* Everything about the step that led to a state. */
void ui_diff_step(ui_text *out, ui_session *s, int state, const ui_diff_style *style);
/* Two states compared: steps, operators, costs, latencies. */
void ui_diff_states(ui_text *out, ui_session *s, int a, int b, const ui_diff_style *style);

/* Shows two states in *diff* from now on. */
void ui_diff_show_states(ui_app *ui, int a, int b);

/* The state at point in *history*, or -1. */
int ui_history_selected(ui_app *ui);

#endif
