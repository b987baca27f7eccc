/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TASO's rules in short words, and when two are the same rule. */
#include "rule_taso.h"

#include "engine/base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { PERMUTED = 6 /* most variables whose names are tried in all orders */ };

/* Names of variables while one text is written; -1: not named yet. */
typedef struct naming {
    const taso_rule *rule;
    int number[TASO_VARS];
    int n;
    bool sorted; /* operands of sums and products */
} naming;

static const taso_op *op_at(const naming *x, bool to, int op)
{
    return to ? &x->rule->to[op] : &x->rule->from[op];
}

static void add_name(const taso_op *op, int port, bool exact, tg_str *out)
{
    static const char *const names[] = {
        [TASO_CONV] = "conv",         [TASO_RELU] = "relu",        [TASO_CONCAT] = "cat",
        [TASO_SPLIT] = "spl",         [TASO_ADD] = "add",          [TASO_MUL] = "mul",
        [TASO_MATMUL] = "mm",         [TASO_BATCHNORM] = "bn",     [TASO_ENLARGE] = "enlarge",
        [TASO_MERGE_GCONV] = "merge", [TASO_FOLD_WEIGHT] = "fold", [TASO_FOLD_BIAS] = "bias",
        [TASO_BROADCAST_ADD] = "add"};
    tg_str_add(out, names[op->kind]);
    if (op->kind == TASO_CONCAT) tg_str_addf(out, "%d/%d", op->axis, op->rank);
    if (op->kind == TASO_SPLIT) tg_str_addf(out, "%d.%d", op->axis, port);
    if (op->acti == TASO_ACTI_RELU) tg_str_add(out, "R");
    if (op->kind != TASO_CONV) return;
    if (exact || op->stride != 1) tg_str_addf(out, "/%d", op->stride);
    if (op->pad == TASO_VALID) tg_str_add(out, "V");
}

static void add_tensor(naming *x, bool to, taso_tensor t, tg_str *out);

/* The operands' texts in ascending order. */
static void add_sorted(naming *x, bool to, const taso_op *op, tg_str *out)
{
    tg_str a = {0}, b = {0};
    add_tensor(x, to, op->in[0], &a);
    add_tensor(x, to, op->in[1], &b);
    bool swap = strcmp(a.p, b.p) > 0;
    tg_str_addf(out, "%s,%s", swap ? b.p : a.p, swap ? a.p : b.p);
    tg_str_free(&a);
    tg_str_free(&b);
}

static void add_tensor(naming *x, bool to, taso_tensor t, tg_str *out)
{
    if (t.op < 0) {
        int *number = &x->number[~t.op];
        if (*number < 0) *number = x->n++;
        tg_str_addc(out, *number < 4 ? "xyzw"[*number] : (char)('a' + *number - 4));
        return;
    }
    const taso_op *op = op_at(x, to, t.op);
    add_name(op, t.port, x->sorted, out);
    tg_str_addc(out, '(');
    if (x->sorted && (op->kind == TASO_ADD || op->kind == TASO_MUL)) {
        add_sorted(x, to, op, out);
    } else {
        for (int i = 0; i < op->n_in; i++) {
            if (i) tg_str_addc(out, ',');
            add_tensor(x, to, op->in[i], out);
        }
    }
    tg_str_addc(out, ')');
}

void taso_rule_words(const taso_rule *rule, tg_str *out)
{
    naming x = {.rule = rule};
    for (int i = 0; i < TASO_VARS; i++) x.number[i] = -1;
    for (int to = 0; to < 2; to++) {
        if (to) tg_str_add(out, " => ");
        for (int i = 0; i < rule->n_results; i++) {
            const taso_result *r = &rule->results[i];
            if (i) tg_str_add(out, " ; ");
            add_tensor(
                &x, to,
                to ? (taso_tensor){r->op, r->port} : (taso_tensor){r->source, r->source_port}, out);
        }
    }
}

bool taso_rule_dead(const taso_rule *rule)
{
    for (int i = 0; i < rule->n_from; i++) {
        const taso_op *op = &rule->from[i];
        if (op->kind == TASO_CONV && op->in[0].op == op->in[1].op &&
            op->in[0].port == op->in[1].port)
            return true;
    }
    return false;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(((const tg_str *)a)->p, ((const tg_str *)b)->p);
}

/* The rule's text under one naming; results in ascending order. */
static void add_under(naming *x, tg_str *out)
{
    tg_str parts[TASO_RESULTS] = {{0}};
    int n = x->rule->n_results;
    for (int i = 0; i < n; i++) {
        const taso_result *r = &x->rule->results[i];
        add_tensor(x, false, (taso_tensor){r->source, r->source_port}, &parts[i]);
        tg_str_add(&parts[i], "=>");
        add_tensor(x, true, (taso_tensor){r->op, r->port}, &parts[i]);
    }
    qsort(parts, (size_t)n, sizeof *parts, by_text);
    for (int i = 0; i < n; i++) {
        tg_str_addf(out, "%s;", parts[i].p);
        tg_str_free(&parts[i]);
    }
}

/* Tries the names that are left for the variables from `at` on; keeps the least text. */
static void try_names(naming *x, int at, unsigned used, tg_str *best)
{
    int n = x->rule->n_vars;
    if (at == n) {
        tg_str text = {0};
        add_under(x, &text);
        if (!best->n || strcmp(text.p, best->p) < 0) {
            tg_str_clear(best);
            tg_str_add(best, text.p);
        }
        tg_str_free(&text);
        return;
    }
    for (int i = 0; i < n; i++) {
        if (used >> i & 1 || (n > PERMUTED && i != at)) continue;
        x->number[at] = i;
        try_names(x, at + 1, used | 1u << i, best);
    }
}

void taso_rule_identity(const taso_rule *rule, tg_str *out)
{
    naming x = {.rule = rule, .sorted = true};
    tg_str best = {0};
    try_names(&x, 0, 0, &best);
    tg_str_add(out, best.p);
    tg_str_free(&best);
}
