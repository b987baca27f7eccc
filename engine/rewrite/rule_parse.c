/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The paragraphs of a rule file. */
#include "parse.h"
#include "rule_set.h"

#include "func.h"

#include <stdlib.h>
#include <string.h>

tg_status parse_fail(const parser *p, place at, const char *fmt, ...)
{
    tg_str words = {0};
    va_list ap;
    va_start(ap, fmt);
    tg_str_vaddf(&words, fmt, ap);
    va_end(ap);
    tg_status status = lex_fail(p->lx.src, at, "%s", tg_str_text(&words));
    tg_str_free(&words);
    return status;
}

bool parse_accept(parser *p, char sym, tg_status *status)
{
    if (!lex_is(&p->lx, sym)) return false;
    *status = lex_next(&p->lx);
    return true;
}

tg_status parse_expect(parser *p, char sym, const char *where)
{
    if (lex_is(&p->lx, sym)) return lex_next(&p->lx);
    return parse_fail(p, p->lx.now.at, "'%c' is missing after %s", sym, where);
}

tg_status parse_name(parser *p, const char *what, const char **name, place *at)
{
    const token *t = &p->lx.now;
    *at = t->at;
    if (t->kind != TOKEN_NAME) return parse_fail(p, t->at, "%s is missing here", what);
    *name = tg_arena_strndup(p->arena, t->p, (size_t)t->n);
    return lex_next(&p->lx);
}

int parse_find_value(const parser *p, const char *name)
{
    for (int i = 0; i < p->n_values; i++)
        if (strcmp(p->values[i].name, name) == 0) return i;
    return -1;
}

int parse_find_param(const parser *p, const char *name)
{
    for (int i = 0; i < p->n_params; i++)
        if (strcmp(p->params[i].name, name) == 0) return i;
    return -1;
}

tg_status parse_add_value(parser *p, const char *name, place at, int *slot)
{
    if (p->n_values == RULE_VALUES) return parse_fail(p, at, "more than %d names", RULE_VALUES);
    if (name[0] && parse_find_param(p, name) >= 0)
        return parse_fail(p, at, "%s is a value here and a number elsewhere", name);
    *slot = p->n_values++;
    p->values[*slot] = (rule_value){.name = name, .at = at, .node = -1, .param = -1};
    return TG_OK;
}

tg_status parse_add_param(parser *p, const char *name, bool list, place at, int *slot)
{
    if (p->n_params == RULE_PARAMS) return parse_fail(p, at, "more than %d names", RULE_PARAMS);
    if (parse_find_value(p, name) >= 0)
        return parse_fail(p, at, "%s is a number here and a value elsewhere", name);
    *slot = p->n_params++;
    p->params[*slot] = (rule_param){name, list};
    p->param_at[*slot] = at;
    return TG_OK;
}

/* ---- given --------------------------------------------------------------------------------- */

static tg_status parse_dim(parser *p, rule_dim *dim)
{
    tg_status status = TG_OK;
    const token *t = &p->lx.now;
    const char *name = NULL;
    place at;
    if (t->kind == TOKEN_INT) {
        *dim = (rule_dim){.kind = DIM_INT, .i = t->i};
        return lex_next(&p->lx);
    }
    if (lex_is_word(&p->lx, "_")) {
        *dim = (rule_dim){.kind = DIM_ANY};
        return lex_next(&p->lx);
    }
    bool list = parse_accept(p, '*', &status);
    TG_TRY(status);
    TG_TRY(parse_name(p, "a dimension", &name, &at));
    int slot = parse_find_param(p, name);
    if (slot < 0) TG_TRY(parse_add_param(p, name, list, at, &slot));
    else if (p->params[slot].list != list)
        return parse_fail(p, at, "%s is one dimension here and several elsewhere", name);
    *dim = (rule_dim){.kind = list ? DIM_SPLICE : DIM_PARAM, .slot = slot};
    return TG_OK;
}

/* "[n,c,*s]"; the bracket is taken. */
static tg_status parse_shape(parser *p, rule_dim *dims, int *n)
{
    tg_status status = TG_OK;
    int splices = 0;
    *n = 0;
    if (parse_accept(p, ']', &status)) return status;
    do {
        place at = p->lx.now.at;
        if (*n == TG_MAX_RANK) return parse_fail(p, at, "more than %d dimensions", TG_MAX_RANK);
        TG_TRY(parse_dim(p, &dims[*n]));
        splices += dims[*n].kind == DIM_SPLICE;
        if (splices > 1) return parse_fail(p, at, "only one * fits in a shape");
        (*n)++;
    } while (parse_accept(p, ',', &status) && status == TG_OK);
    TG_TRY(status);
    return parse_expect(p, ']', "the dimensions");
}

static tg_status given_type(parser *p, const int *slots, int n)
{
    tg_status status = TG_OK;
    rule_dim dims[TG_MAX_RANK];
    int n_dims;
    if (lex_is_word(&p->lx, "number")) {
        TG_TRY(lex_next(&p->lx));
        for (int i = 0; i < n; i++) {
            rule_value *v = &p->values[slots[i]];
            v->number = true;
            v->param = p->n_params;
            if (p->n_params == RULE_PARAMS) return parse_fail(p, v->at, "too many names");
            p->param_at[p->n_params] = v->at;
            p->params[p->n_params++] = (rule_param){v->name, false};
        }
        return TG_OK;
    }
    TG_TRY(parse_expect(p, '[', "':'"));
    TG_TRY(parse_shape(p, dims, &n_dims));
    bool optional = parse_accept(p, '?', &status), zero = false;
    TG_TRY(status);
    if (optional && p->lx.now.kind == TOKEN_INT && p->lx.now.i == 0) {
        zero = true;
        TG_TRY(lex_next(&p->lx));
    }
    rule_dim *kept = tg_arena_dup(p->arena, dims, sizeof *dims * (size_t)n_dims);
    for (int i = 0; i < n; i++) {
        rule_value *v = &p->values[slots[i]];
        v->shaped = true;
        v->dims = kept;
        v->n_dims = n_dims;
        v->optional = optional;
        v->zero = zero;
    }
    return TG_OK;
}

/* "x,y:[n,c]", "*k:[_,c]", "b:[m]?0", "e:number", "x". */
static tg_status parse_declaration(parser *p)
{
    int slots[RULE_VALUES], n = 0;
    tg_status status = TG_OK;
    do {
        const char *name = NULL;
        place at;
        bool list = parse_accept(p, '*', &status);
        TG_TRY(status);
        TG_TRY(parse_name(p, "a name", &name, &at));
        if (parse_find_value(p, name) >= 0) return parse_fail(p, at, "%s is given twice", name);
        TG_TRY(parse_add_value(p, name, at, &slots[n]));
        p->values[slots[n]].list = list;
        p->values[slots[n++]].given = true;
    } while (parse_accept(p, ',', &status) && status == TG_OK);
    TG_TRY(status);
    if (!parse_accept(p, ':', &status)) return status;
    TG_TRY(status);
    return given_type(p, slots, n);
}

/* ---- from and to --------------------------------------------------------------------------- */

typedef struct out_name {
    const char *name; /* NULL: _ */
    place at;
    bool list;
} out_name;

static tg_status parse_outs(parser *p, out_name *outs, int *n)
{
    tg_status status = TG_OK;
    *n = 0;
    do {
        out_name *o = &outs[*n];
        if (*n == RULE_INPUTS) return parse_fail(p, p->lx.now.at, "too many results");
        bool list = parse_accept(p, '*', &status);
        TG_TRY(status);
        TG_TRY(parse_name(p, "a result", &o->name, &o->at));
        o->list = list;
        if (strcmp(o->name, "_") == 0) o->name = NULL;
        (*n)++;
    } while (parse_accept(p, ',', &status) && status == TG_OK);
    TG_TRY(status);
    for (int i = 0; i < *n; i++)
        if (outs[i].list && *n > 1)
            return parse_fail(p, outs[i].at, "a list of results stands alone");
    return parse_expect(p, '=', "the results");
}

static tg_status define_value(parser *p, const out_name *o, int node, int port, int *slot)
{
    *slot = parse_find_value(p, o->name);
    if (*slot >= 0 && (p->values[*slot].node >= 0 || p->values[*slot].number))
        return parse_fail(p, o->at, "%s is made twice", o->name);
    if (*slot < 0) {
        TG_TRY(parse_add_value(p, o->name, o->at, slot));
        p->values[*slot].list = o->list;
    }
    rule_value *v = &p->values[*slot];
    if (v->list != o->list) return parse_fail(p, o->at, "%s is a list in one place only", o->name);
    v->each |= p->in_each && o->list;
    v->node = node;
    v->port = port;
    return TG_OK;
}

static tg_status from_line(parser *p, const out_name *outs, int n_outs)
{
    int index;
    if (!(p->lx.now.kind == TOKEN_NAME && *p->lx.p == '('))
        return parse_fail(p, p->lx.now.at, "an operator is missing here");
    TG_TRY(parse_call(p, &index));
    rule_node *node = &p->from[index];
    node->out = TG_NEW_ARRAY(p->arena, int, n_outs);
    node->n_out = n_outs;
    node->out_list = outs[0].list && !p->in_each;
    for (int i = 0; i < n_outs; i++) {
        node->out[i] = -1;
        if (outs[i].name) TG_TRY(define_value(p, &outs[i], index, i, &node->out[i]));
    }
    return TG_OK;
}

static tg_status to_alias(parser *p, const out_name *o, term *t)
{
    const char *name = NULL;
    place at;
    tg_status status = TG_OK;
    bool starred = parse_accept(p, '*', &status);
    TG_TRY(status);
    TG_TRY(parse_name(p, "a value", &name, &at));
    int slot = parse_find_value(p, name);
    if (slot < 0) return parse_fail(p, at, "%s is not bound", name);
    if (starred != o->list || starred != p->values[slot].list)
        return parse_fail(p, at, "one value and a list cannot be equal");
    *t = (term){.kind = starred ? TERM_LIST : TERM_VALUE, .at = at, .slot = slot};
    return TG_OK;
}

static tg_status to_line(parser *p, const out_name *outs, int n_outs)
{
    term as = {0};
    if (p->lx.now.kind == TOKEN_NAME && *p->lx.p == '(') {
        int index;
        TG_TRY(parse_call(p, &index));
        p->to[index].n_out = n_outs;
        p->to[index].out_list = outs[0].list;
        as = (term){.kind = outs[0].list ? TERM_NEWS : TERM_NEW, .node = index};
    } else {
        if (n_outs > 1) return parse_fail(p, outs[1].at, "one name stands before a name");
        TG_TRY(to_alias(p, &outs[0], &as));
    }
    for (int i = 0; i < n_outs; i++) {
        if (!outs[i].name) continue;
        for (int k = 0; k < p->n_names; k++)
            if (strcmp(p->names[k].name, outs[i].name) == 0)
                return parse_fail(p, outs[i].at, "%s is made twice", outs[i].name);
        if (p->n_names == RULE_VALUES) return parse_fail(p, outs[i].at, "too many names");
        int slot = parse_find_value(p, outs[i].name);
        if (slot >= 0 && p->values[slot].list != outs[i].list)
            return parse_fail(p, outs[i].at, "%s is a list in one place only", outs[i].name);
        as.port = as.kind == TERM_NEW ? i : 0;
        p->names[p->n_names++] = (to_name){outs[i].name, outs[i].at, outs[i].list, as};
    }
    return TG_OK;
}

static tg_status parse_let(parser *p)
{
    out_name outs[RULE_INPUTS];
    int n;
    p->in_each = lex_is_word(&p->lx, "each");
    if (p->side != SIDE_TO && lex_is_word(&p->lx, "apart")) {
        p->rule->scattered = true;
        TG_TRY(lex_next(&p->lx));
    }
    if (p->in_each) TG_TRY(lex_next(&p->lx));
    place at = p->lx.now.at;
    TG_TRY(parse_outs(p, outs, &n));
    if (p->in_each && (n != 1 || !outs[0].list))
        return parse_fail(p, at, "an each line makes one list: each *name = ...");
    tg_status status = p->side == SIDE_TO ? to_line(p, outs, n) : from_line(p, outs, n);
    p->in_each = false;
    return status;
}

/* ---- conditions ---------------------------------------------------------------------------- */

static bool is_sound(const expr *e)
{
    if (e->kind == EXPR_NOT) return is_sound(e->args[0]);
    if (e->kind == EXPR_OR) return is_sound(e->args[0]) || is_sound(e->args[1]);
    return e->kind != EXPR_FACT || fact_rows[e->fn].sound;
}

static bool mentions_element(const parser *p, const expr *e)
{
    if (e->kind == EXPR_VALUE) return p->values[e->slot].each;
    for (int i = 0; i < e->n_args; i++)
        if (mentions_element(p, e->args[i])) return true;
    return false;
}

static tg_status parse_fact(parser *p, bool pays)
{
    expr *e;
    if (p->n_facts == RULE_NODES) return parse_fail(p, p->lx.now.at, "too many conditions");
    TG_TRY(parse_expr(p, &e));
    rule_fact *fact = &p->facts[p->n_facts++];
    *fact = (rule_fact){e, !pays && is_sound(e), mentions_element(p, e)};
    tg_status status = TG_OK;
    parse_accept(p, ',', &status);
    return status;
}

/* ---- a rule -------------------------------------------------------------------------------- */

static bool at_section_end(const parser *p)
{
    return p->lx.now.kind == TOKEN_KEYWORD || p->lx.now.kind == TOKEN_END;
}

static tg_status parse_section(parser *p, const char *word)
{
    bool pays = strcmp(word, "pays") == 0;
    while (!at_section_end(p)) {
        switch (p->side) {
        case SIDE_GIVEN: TG_TRY(parse_declaration(p)); break;
        case SIDE_IF: TG_TRY(parse_fact(p, pays)); break;
        default: TG_TRY(parse_let(p));
        }
    }
    return TG_OK;
}

static side side_of(const char *word)
{
    if (strcmp(word, "given") == 0) return SIDE_GIVEN;
    if (strcmp(word, "from") == 0) return SIDE_FROM;
    return strcmp(word, "to") == 0 ? SIDE_TO : SIDE_IF;
}

static bool is_keyword(const parser *p, const char *word)
{
    const token *t = &p->lx.now;
    return t->kind == TOKEN_KEYWORD && (int)strlen(word) == t->n &&
           strncmp(t->p, word, (size_t)t->n) == 0;
}

/* The sections in their order; `to` must be the last and be there. */
static tg_status parse_sections(parser *p)
{
    static const char *const order[] = {"given", "from", "if", "pays", "to"};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        if (!is_keyword(p, order[i])) {
            if (i == 1 || i == 4)
                return parse_fail(p, p->lx.now.at, "the section %s is missing here", order[i]);
            continue;
        }
        p->side = side_of(order[i]);
        TG_TRY(lex_next(&p->lx));
        TG_TRY(parse_section(p, order[i]));
    }
    if (p->lx.now.kind == TOKEN_END || is_keyword(p, "rule")) return TG_OK;
    return parse_fail(p, p->lx.now.at,
                      "sections stand in the order given, from, if, pays, to, each once");
}

static void collect_results(parser *p, rule_result *results)
{
    for (int i = 0; i < p->n_names; i++) {
        int slot = parse_find_value(p, p->names[i].name);
        if (slot < 0 || p->values[slot].node < 0) continue;
        results[p->rule->n_results++] = (rule_result){slot, p->names[i].list, p->names[i].as};
    }
}

#define KEEP(field, count)                                                                         \
    (r->n_##field = (count),                                                                       \
     r->field = tg_arena_dup(p->arena, p->field, sizeof *p->field * (size_t)(count)))

static void keep(parser *p)
{
    tg_rule *r = p->rule;
    rule_result results[RULE_VALUES];
    KEEP(values, p->n_values);
    KEEP(params, p->n_params);
    KEEP(from, p->n_from);
    KEEP(to, p->n_to);
    KEEP(facts, p->n_facts);
    r->n_rests = p->n_rests;
    collect_results(p, results);
    r->results = tg_arena_dup(p->arena, results, sizeof *results * (size_t)r->n_results);
}

/* The paragraph's text from `start` to the current token, without blanks at its end. */
static const char *paragraph(const parser *p, const char *start)
{
    const char *end = p->lx.now.kind == TOKEN_END ? p->lx.p : p->lx.now.p;
    /* comments before the next rule belong to that one */
    const char *blank = start;
    for (const char *at = start; at < end; at += strcspn(at, "\n") + 1) {
        size_t n = strspn(at, " \t\r");
        if (at[n] != '\n' && at[n] != '#' && at[n]) blank = at + strcspn(at, "\n");
        if (!at[strcspn(at, "\n")]) break;
    }
    return tg_arena_strndup(p->arena, start, (size_t)(blank - start));
}

static tg_status parse_rule(parser *p)
{
    tg_rule *r = p->rule;
    const char *start = p->lx.now.p;
    place at = p->lx.now.at;
    if (!is_keyword(p, "rule")) return parse_fail(p, at, "a rule begins with the word rule");
    r->info.line = at.line;
    r->info.file = p->lx.src->file;
    TG_TRY(lex_rule_name(&p->lx, p->arena, &r->info.name));
    r->info.about = "";
    if (is_keyword(p, "about")) TG_TRY(lex_words(&p->lx, p->arena, &r->info.about));
    TG_TRY(parse_sections(p));
    keep(p);
    r->info.text = paragraph(p, start);
    if (!r->n_results) return parse_fail(p, at, "no name of `from` is made again in `to`");
    TG_TRY(rule_check(p->lx.src, r));
    return rule_plan_make(p->lx.src, r, p->arena);
}

tg_status rule_parse_text(tg_arena *arena, const char *text, const char *file, bool scattered,
                          rule_vec *rules)
{
    const char *slash = strrchr(file, '/');
    const char *base = slash ? slash + 1 : file;
    size_t n = strcspn(base, ".");
    rule_source src = {tg_arena_strdup(arena, file), text};
    parser *p = TG_NEW(arena, parser);
    lexer lx;
    lex_start(&lx, &src);
    TG_TRY(lex_next(&lx));
    while (lx.now.kind != TOKEN_END) {
        memset(p, 0, sizeof *p);
        p->lx = lx;
        p->arena = arena;
        p->rule = TG_NEW(arena, tg_rule);
        p->rule->scattered = scattered;
        p->rule->info.family = tg_arena_strndup(arena, base, n);
        p->rule->never_grows = strcmp(p->rule->info.family, "cancel") == 0 ||
                               strcmp(p->rule->info.family, "fuse") == 0;
        TG_TRY(parse_rule(p));
        for (size_t i = 0; i < rules->n; i++)
            if (strcmp(rules->v[i]->info.name, p->rule->info.name) == 0)
                return lex_fail(&src, (place){p->rule->info.line, 1},
                                "a rule of that name is on line %d of %s", rules->v[i]->info.line,
                                rules->v[i]->info.file);
        tg_vec_push(rules, p->rule);
        lx = p->lx;
    }
    return TG_OK;
}
