/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Seeded mistakes: every way of changing one thing in a rule's text, in a fixed order.
 *
 *   operands   the first two of a call exchanged (not of operators that commute)
 *   operator   another one in its place: Add for Sub, Max for Min ...
 *   number     a literal of `from` or `to` one larger, a float twice as large
 *   variable   a name in `to` replaced by the next of its kind
 *   call       of `to`, replaced by its first operand
 *   attribute  of a call in `to` left out
 *   condition  left out of `if`
 *   sign       + for -, * for /, a comparison turned round
 *   entry      of a list in `to` left out, or exchanged with its neighbour
 *   results    of a line of `to` exchanged
 */
#ifndef TESTS_UNIT_RULE_MUTANTS_H
#define TESTS_UNIT_RULE_MUTANTS_H

#include "engine/base/vec.h"
#include "engine/rewrite/lex.h"
#include "tests/unit/unit.h"

typedef struct mutant {
    const char *kind;
    char *text;    /* of the whole rule */
    int line;      /* in it, from 1 */
    char gone[60]; /* what stood there */
} mutant;

typedef TG_VEC(mutant) mutant_vec;

enum { MUTANT_TOKENS = 1024 };

typedef struct mutator {
    const tg_rule *rule;
    const char *text;
    token t[MUTANT_TOKENS];
    char section[MUTANT_TOKENS]; /* g f i p t: by the keyword before */
    int match[MUTANT_TOKENS];    /* of a bracket: its partner; else -1 */
    int n;
    mutant_vec *out;
} mutator;

/* ---- reading -------------------------------------------------------------------------------- */

UNIT_MAYBE bool is_sym(const mutator *m, int i, char c)
{
    return i >= 0 && i < m->n && m->t[i].kind == TOKEN_SYMBOL && m->t[i].sym == c && !m->t[i].twice;
}

UNIT_MAYBE tg_op op_at(const mutator *m, int i)
{
    char name[64];
    if (m->t[i].kind != TOKEN_NAME || !is_sym(m, i + 1, '(') || m->t[i].n > 63) return TG_OP_OPAQUE;
    snprintf(name, sizeof name, "%.*s", m->t[i].n, m->t[i].p);
    return tg_op_find("", name);
}

UNIT_MAYBE const char *start_of(const mutator *m, int i)
{
    return m->t[i].kind == TOKEN_STR ? m->t[i].p - 1 : m->t[i].p;
}
/* Just behind the token. */
UNIT_MAYBE const char *end_of(const mutator *m, int i)
{
    return m->t[i].p + m->t[i].n + (m->t[i].kind == TOKEN_STR);
}

UNIT_MAYBE void pair_brackets(mutator *m)
{
    int open[64], depth = 0;
    for (int i = 0; i < m->n; i++) {
        m->match[i] = -1;
        if ((is_sym(m, i, '(') || is_sym(m, i, '[')) && depth < 64) open[depth++] = i;
        if ((is_sym(m, i, ')') || is_sym(m, i, ']')) && depth) {
            m->match[i] = open[--depth];
            m->match[open[depth]] = i;
        }
    }
}

UNIT_MAYBE void read_tokens(mutator *m)
{
    const char *body = strstr(m->text, "\ngiven");
    if (!body) body = strstr(m->text, "\nfrom");
    const rule_source src = {"mutant", body + 1};
    lexer lx;
    char section = 'g';
    lex_start(&lx, &src);
    assert_ok(lex_next(&lx));
    for (m->n = 0; lx.now.kind != TOKEN_END && m->n < MUTANT_TOKENS; m->n++) {
        if (lx.now.kind == TOKEN_KEYWORD) section = lx.now.p[0];
        m->t[m->n] = lx.now;
        m->section[m->n] = section;
        assert_ok(lex_next(&lx));
    }
    pair_brackets(m);
}

/* The end of the operand or entry that begins at i: the token behind it. */
UNIT_MAYBE int end_of_item(const mutator *m, int i, int stop)
{
    while (i < stop && !is_sym(m, i, ',') && !is_sym(m, i, ';')) {
        if (m->match[i] > i) i = m->match[i];
        i++;
    }
    return i;
}

/* ---- writing -------------------------------------------------------------------------------- */

/* The text with [from, to) replaced. */
UNIT_MAYBE void put(mutator *m, const char *kind, const char *from, const char *to, const char *by,
                    size_t n)
{
    tg_str s = {0};
    int line = 1;
    for (const char *c = m->text; c < from; c++) line += *c == '\n';
    tg_str_addn(&s, m->text, (size_t)(from - m->text));
    tg_str_addn(&s, by, n);
    tg_str_add(&s, to);
    mutant made = {.kind = kind, .text = strdup(tg_str_text(&s)), .line = line};
    snprintf(made.gone, sizeof made.gone, "%.*s", (int)(to - from), from);
    for (char *c = made.gone; *c; c++)
        if (*c == '\n') *c = ' ';
    tg_vec_push(m->out, made);
    tg_str_free(&s);
}

/* Tokens [a, a2) and [b, b2) exchanged. */
UNIT_MAYBE void exchange(mutator *m, const char *kind, int a, int a2, int b, int b2)
{
    tg_str s = {0};
    const char *a0 = start_of(m, a), *a1 = end_of(m, a2 - 1);
    const char *b0 = start_of(m, b), *b1 = end_of(m, b2 - 1);
    if (a1 - a0 == b1 - b0 && strncmp(a0, b0, (size_t)(a1 - a0)) == 0) return;
    tg_str_addn(&s, b0, (size_t)(b1 - b0));
    tg_str_addn(&s, a1, (size_t)(b0 - a1));
    tg_str_addn(&s, a0, (size_t)(a1 - a0));
    put(m, kind, a0, b1, tg_str_text(&s), s.n);
    tg_str_free(&s);
}

/* ---- the mistakes --------------------------------------------------------------------------- */

UNIT_MAYBE void mutate_operands(mutator *m, int i)
{
    tg_op op = op_at(m, i);
    if (op == TG_OP_OPAQUE || tg_op_get(op)->flags & TG_COMMUTES) return;
    int close = m->match[i + 1], a = i + 2, a2 = end_of_item(m, a, close);
    if (!is_sym(m, a2, ',') || a2 == a) return;
    int b = a2 + 1, b2 = end_of_item(m, b, close);
    if (b2 > b) exchange(m, "operands", a, a2, b, b2);
}

UNIT_MAYBE void mutate_operator(mutator *m, int i)
{
    static const char *const pairs[][2] = {
        {"Add", "Sub"},
        {"Sub", "Add"},
        {"Mul", "Div"},
        {"Div", "Mul"},
        {"Max", "Min"},
        {"Min", "Max"},
        {"Relu", "Sigmoid"},
        {"Sigmoid", "Tanh"},
        {"Tanh", "Relu"},
        {"Neg", "Abs"},
        {"Abs", "Neg"},
        {"Exp", "Log"},
        {"Log", "Exp"},
        {"Sqrt", "Reciprocal"},
        {"Reciprocal", "Sqrt"},
        {"Erf", "Tanh"},
        {"ReduceSum", "ReduceMean"},
        {"ReduceMean", "ReduceSum"},
        {"ReduceMax", "ReduceMin"},
        {"ReduceMin", "ReduceMax"},
        {"Softmax", "LogSoftmax"},
        {"LogSoftmax", "Softmax"},
        {"GlobalAveragePool", "GlobalMaxPool"},
        {"GlobalMaxPool", "GlobalAveragePool"},
        {"Sum", "Mean"},
        {"Mean", "Sum"},
        {"Floor", "Ceil"},
        {"Ceil", "Floor"},
        {"Greater", "Less"},
        {"Less", "Greater"},
        {"Gelu", "Relu"},
        {"HardSwish", "Relu"},
        {"Squeeze", "Unsqueeze"},
        {"Unsqueeze", "Squeeze"},
        {"Identity", "Neg"},
        {"Not", "Identity"},
        {"And", "Or"},
        {"Or", "And"},
    };
    tg_op op = op_at(m, i);
    if (op == TG_OP_OPAQUE) return;
    for (size_t k = 0; k < sizeof pairs / sizeof *pairs; k++)
        if (strcmp(tg_op_get(op)->name, pairs[k][0]) == 0)
            put(m, "operator", start_of(m, i), end_of(m, i), pairs[k][1], strlen(pairs[k][1]));
}

UNIT_MAYBE void mutate_number(mutator *m, int i)
{
    char text[40];
    const token *t = &m->t[i];
    if (t->kind == TOKEN_INT) snprintf(text, sizeof text, "%lld", (long long)t->i + 1);
    else if (t->kind == TOKEN_FLOAT) snprintf(text, sizeof text, "%.9g", t->f * 2);
    else return;
    put(m, "number", start_of(m, i), end_of(m, i), text, strlen(text));
}

UNIT_MAYBE bool says(const mutator *m, int i, const char *word)
{
    return (int)strlen(word) == m->t[i].n && strncmp(m->t[i].p, word, strlen(word)) == 0;
}

/* The next value or number of the rule that is a list where the old one is; NULL: no other. */
UNIT_MAYBE const char *next_name(const mutator *m, int i)
{
    const tg_rule *r = m->rule;
    for (int k = 0; k < r->n_values; k++)
        for (int s = 1; says(m, i, r->values[k].name) && s < r->n_values; s++) {
            const rule_value *v = &r->values[(k + s) % r->n_values];
            if (v->list == r->values[k].list && v->name[0] && v->name[0] != '_') return v->name;
        }
    for (int k = 0; k < r->n_params; k++)
        for (int s = 1; says(m, i, r->params[k].name) && s < r->n_params; s++) {
            const rule_param *p = &r->params[(k + s) % r->n_params];
            if (p->list == r->params[k].list && p->name[0]) return p->name;
        }
    return NULL;
}

UNIT_MAYBE void mutate_variable(mutator *m, int i, bool used)
{
    if (!used || m->t[i].kind != TOKEN_NAME || is_sym(m, i + 1, '(') || is_sym(m, i + 1, '='))
        return;
    if (i > 1 && m->t[i - 1].kind == TOKEN_SYMBOL && m->t[i - 1].sym == '.') return;
    const char *name = next_name(m, i);
    if (name) put(m, "variable", start_of(m, i), end_of(m, i), name, strlen(name));
}

UNIT_MAYBE void mutate_call(mutator *m, int i)
{
    if (op_at(m, i) == TG_OP_OPAQUE) return;
    int close = m->match[i + 1], end = end_of_item(m, i + 2, close);
    if (end == i + 2) return;
    const char *from = start_of(m, i + 2), *to = end_of(m, end - 1);
    put(m, "call", start_of(m, i), end_of(m, close), from, (size_t)(to - from));
}

UNIT_MAYBE void mutate_attributes(mutator *m, int i)
{
    if (op_at(m, i) == TG_OP_OPAQUE) return;
    int close = m->match[i + 1], a = i + 2;
    while (a < close && !is_sym(m, a, ';')) a = m->match[a] > a ? m->match[a] + 1 : a + 1;
    int semicolon = a;
    for (a++; a < close;) {
        int end = end_of_item(m, a, close);
        const char *from = start_of(m, a), *to = end_of(m, end - 1);
        if (is_sym(m, end, ',')) to = start_of(m, end + 1);
        else if (a - 1 > semicolon) from = start_of(m, a - 1);
        else from = start_of(m, semicolon);
        put(m, "attribute", from, to, "", 0);
        a = end + 1;
    }
}

UNIT_MAYBE void mutate_sign(mutator *m, int i)
{
    static const struct {
        const char *from, *to;
    } signs[] = {{"+", "-"}, {"-", "+"}, {"/", "*"},   {">=", "<="}, {"<=", ">="},
                 {">", "<"}, {"<", ">"}, {"==", "!="}, {"!=", "=="}};
    const token *before = i ? &m->t[i - 1] : NULL;
    bool binary =
        before && (before->kind == TOKEN_INT || before->kind == TOKEN_FLOAT ||
                   before->kind == TOKEN_NAME || is_sym(m, i - 1, ')') || is_sym(m, i - 1, ']'));
    if (m->t[i].kind != TOKEN_SYMBOL) return;
    for (size_t k = 0; k < sizeof signs / sizeof *signs; k++)
        if (says(m, i, signs[k].from))
            put(m, "sign", start_of(m, i), end_of(m, i), signs[k].to, strlen(signs[k].to));
    if (binary && is_sym(m, i, '*')) put(m, "sign", start_of(m, i), end_of(m, i), "/", 1);
}

UNIT_MAYBE void mutate_entries(mutator *m, int i)
{
    if (!is_sym(m, i, '[') || m->match[i] < 0 || is_sym(m, i + 1, ']')) return;
    int a = i + 1, a2 = end_of_item(m, a, m->match[i]);
    const char *to = is_sym(m, a2, ',') ? start_of(m, a2 + 1) : end_of(m, a2 - 1);
    put(m, "entry", start_of(m, a), to, "", 0);
    if (!is_sym(m, a2, ',')) return;
    exchange(m, "entry", a, a2, a2 + 1, end_of_item(m, a2 + 1, m->match[i]));
}

/* "u, v = ...": at the first name of a line. */
UNIT_MAYBE void mutate_results(mutator *m, int i)
{
    if (m->t[i].kind != TOKEN_NAME || !is_sym(m, i + 1, ',') || m->t[i + 2].kind != TOKEN_NAME)
        return;
    if (m->t[i - 1].at.line == m->t[i].at.line && m->t[i - 1].kind != TOKEN_KEYWORD) return;
    exchange(m, "results", i, i + 1, i + 2, i + 3);
}

/* Conditions lie between commas outside brackets, or on lines of their own. */
UNIT_MAYBE int end_of_condition(const mutator *m, int i)
{
    int start = i;
    for (; i < m->n && m->section[i] == 'i'; i++) {
        if (is_sym(m, i, ',')) return i;
        bool joined = i > start && (says(m, i, "or") || says(m, i - 1, "or"));
        if (i > start && m->t[i].at.line != m->t[i - 1].at.line && !joined) return i;
        if (m->match[i] > i) i = m->match[i];
    }
    return i;
}

UNIT_MAYBE void mutate_conditions(mutator *m)
{
    int first = 0, last;
    while (first < m->n && m->section[first] != 'i') first++;
    for (last = first; last < m->n && m->section[last] == 'i'; last++) continue;
    if (first == last) return;
    for (int i = first + 1; i < last;) {
        int end = end_of_condition(m, i), next = end + is_sym(m, end, ',');
        bool only = i == first + 1 && end == last, tail = end == last && !only;
        int from = only ? first : tail && is_sym(m, i - 1, ',') ? i - 1 : i;
        const char *to = next < m->n && !tail ? start_of(m, next) : end_of(m, end - 1);
        put(m, "condition", start_of(m, from), to, "", 0);
        i = next;
    }
}

/* All of them; free with mutants_free. */
UNIT_MAYBE mutant_vec mutants_of(const tg_rule *rule)
{
    mutant_vec all = {0};
    mutator *m = calloc(1, sizeof *m);
    m->rule = rule;
    m->text = rule->info.text;
    m->out = &all;
    read_tokens(m);
    int depth = 0;
    for (int i = 0; i < m->n; i++) {
        char s = m->section[i];
        if (s == 'f' || s == 't') mutate_operands(m, i), mutate_operator(m, i);
        if (s == 'f' || s == 't') mutate_number(m, i);
        if (s == 't' || s == 'i') mutate_sign(m, i);
        depth +=
            (is_sym(m, i, '(') || is_sym(m, i, '[')) - (is_sym(m, i, ')') || is_sym(m, i, ']'));
        if (s != 't') continue;
        mutate_variable(m, i, depth > 0 || is_sym(m, i - 1, '='));
        mutate_call(m, i);
        mutate_attributes(m, i);
        mutate_entries(m, i);
        mutate_results(m, i);
    }
    mutate_conditions(m);
    free(m);
    return all;
}

UNIT_MAYBE void mutants_free(mutant_vec *all)
{
    for (size_t i = 0; i < all->n; i++) free(all->v[i].text);
    tg_vec_free(all);
}

#endif
