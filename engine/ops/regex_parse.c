/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "regex_tree.h"
#include "utf8.h"

#include <string.h>

typedef struct flags {
    bool fold, dot_all, lines;
} flags;

typedef struct parser {
    tg_arena *arena;
    const char *p;
    size_t n, at;
    int depth;
    bool quoting; /* between \Q and \E */
    flags now;
} parser;

typedef TG_VEC(tg_char_range) ranges;

static tg_status bad(const parser *r, const char *what)
{
    return tg_fail(TG_INVALID, "pattern, place %zu: %s", r->at, what);
}

static bool more(const parser *r)
{
    return r->at < r->n;
}

static bool looks_at(const parser *r, const char *text)
{
    size_t n = strlen(text);
    return r->n - r->at >= n && memcmp(r->p + r->at, text, n) == 0;
}

static bool skip(parser *r, const char *text)
{
    if (!looks_at(r, text)) return false;
    r->at += strlen(text);
    return true;
}

static tg_status next_char(parser *r, int32_t *c)
{
    size_t size;
    if (!more(r)) return bad(r, "it ends too early");
    *c = tg_utf8_next(r->p + r->at, r->n - r->at, &size);
    if (*c < 0) return bad(r, "not UTF-8");
    r->at += size;
    return TG_OK;
}

static tg_regex_node *node(parser *r, tg_regex_kind kind, tg_regex_node *left, tg_regex_node *right)
{
    tg_regex_node *made = TG_NEW(r->arena, tg_regex_node);
    made->kind = kind;
    made->left = left;
    made->right = right;
    return made;
}

static tg_regex_node *place(parser *r, char what)
{
    tg_regex_node *made = node(r, TG_REGEX_ASSERT, NULL, NULL);
    made->what = what;
    return made;
}

static tg_regex_node *set_of(parser *r, const tg_char_range *list, size_t n, bool negated)
{
    tg_regex_node *made = node(r, TG_REGEX_SET, NULL, NULL);
    made->set =
        (tg_char_set){tg_arena_dup(r->arena, list, n * sizeof *list), n, negated, r->now.fold};
    return made;
}

static tg_regex_node *literal(parser *r, int32_t c)
{
    return set_of(r, &(tg_char_range){c, c}, 1, false);
}

/* ---- classes ---- */

typedef struct class
{
    const char *name;
    tg_char_range range[4]; /* ascending; ends with {0, 0} unless full */
} class;

static const class perl[] = {{"d", {{'0', '9'}}},
                             {"s", {{'\t', '\n'}, {'\f', '\r'}, {' ', ' '}}},
                             {"w", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}}};

static const class posix[] = {{"alnum", {{'0', '9'}, {'A', 'Z'}, {'a', 'z'}}},
                              {"alpha", {{'A', 'Z'}, {'a', 'z'}}},
                              {"ascii", {{0, 0x7f}}},
                              {"blank", {{'\t', '\t'}, {' ', ' '}}},
                              {"cntrl", {{0, 0x1f}, {0x7f, 0x7f}}},
                              {"digit", {{'0', '9'}}},
                              {"graph", {{'!', '~'}}},
                              {"lower", {{'a', 'z'}}},
                              {"print", {{' ', '~'}}},
                              {"punct", {{'!', '/'}, {':', '@'}, {'[', '`'}, {'{', '~'}}},
                              {"space", {{'\t', '\r'}, {' ', ' '}}},
                              {"upper", {{'A', 'Z'}}},
                              {"word", {{'0', '9'}, {'A', 'Z'}, {'_', '_'}, {'a', 'z'}}},
                              {"xdigit", {{'0', '9'}, {'A', 'F'}, {'a', 'f'}}}};

static void add_class(ranges *to, const class *c, bool negated)
{
    int32_t from = 0;
    for (size_t i = 0; i < 4 && (c->range[i].to || !i); i++) {
        if (!negated) tg_vec_push(to, c->range[i]);
        else if (c->range[i].from > from)
            tg_vec_push(to, (tg_char_range){from, c->range[i].from - 1});
        from = c->range[i].to + 1;
    }
    if (negated) tg_vec_push(to, (tg_char_range){from, TG_REGEX_LAST});
}

/* \d, \S ... */
static bool perl_class(parser *r, ranges *to)
{
    for (size_t i = 0; i < sizeof perl / sizeof *perl; i++) {
        char letter = perl[i].name[0];
        if (r->n - r->at < 2 || r->p[r->at] != '\\') return false;
        bool negated = r->p[r->at + 1] == letter - 32;
        if (!negated && r->p[r->at + 1] != letter) continue;
        r->at += 2;
        add_class(to, &perl[i], negated);
        return true;
    }
    return false;
}

/* [:alpha:], [:^alpha:] */
static tg_status posix_class(parser *r, ranges *to)
{
    r->at += 2;
    bool negated = skip(r, "^");
    for (size_t i = 0; i < sizeof posix / sizeof *posix; i++) {
        size_t n = strlen(posix[i].name);
        if (!looks_at(r, posix[i].name) || r->n - r->at < n + 2 ||
            memcmp(r->p + r->at + n, ":]", 2) != 0)
            continue;
        r->at += n + 2;
        add_class(to, &posix[i], negated);
        return TG_OK;
    }
    return bad(r, "no such class");
}

static int digit_of(int32_t c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

/* Digits to a base, at most `most` of them. */
static tg_status number(parser *r, int base, int most, int32_t *c)
{
    int n = 0;
    for (*c = 0; n < most && more(r) && digit_of(r->p[r->at]) < base; n++, r->at++) {
        *c = *c * base + digit_of(r->p[r->at]);
        if (*c > TG_REGEX_LAST) return bad(r, "no such character");
    }
    return n ? TG_OK : bad(r, "digits are missing");
}

/* What a backslash and what follows it stand for, as one character. */
static tg_status escaped(parser *r, int32_t *c)
{
    static const char letters[] = "afnrtv", meant[] = "\a\f\n\r\t\v";
    r->at++;
    TG_TRY(next_char(r, c));
    const char *at = *c < 0x80 && *c ? strchr(letters, (int)*c) : NULL;
    if (at) *c = meant[at - letters];
    else if (*c == 'p' || *c == 'P' || *c == 'C')
        return tg_fail(TG_UNSUPPORTED, "pattern, place %zu: \\%c", r->at, (int)*c);
    else if (*c == 'x' && skip(r, "{")) {
        TG_TRY(number(r, 16, 8, c));
        if (!skip(r, "}")) return bad(r, "} is missing");
    } else if (*c == 'x') {
        TG_TRY(number(r, 16, 2, c));
    } else if (*c >= '0' && *c <= '7') {
        if (*c != '0' && (!more(r) || digit_of(r->p[r->at]) > 7))
            return bad(r, "references to groups are no part of the syntax");
        r->at--;
        TG_TRY(number(r, 8, 3, c));
    } else if (*c >= 0x80 || digit_of(*c) < 10 || (*c >= 'A' && *c <= 'Z') ||
               (*c >= 'a' && *c <= 'z'))
        return bad(r, "no such escape");
    return TG_OK;
}

static tg_status class_char(parser *r, int32_t *c)
{
    return looks_at(r, "\\") ? escaped(r, c) : next_char(r, c);
}

static tg_status class_item(parser *r, ranges *to)
{
    int32_t from = 0, end;
    if (looks_at(r, "[:")) return posix_class(r, to);
    if (perl_class(r, to)) return TG_OK;
    TG_TRY(class_char(r, &from));
    end = from;
    if (looks_at(r, "-") && r->n - r->at > 1 && r->p[r->at + 1] != ']') {
        r->at++;
        TG_TRY(class_char(r, &end));
    }
    if (end < from) return bad(r, "a range that goes down");
    tg_vec_push(to, (tg_char_range){from, end});
    return TG_OK;
}

static tg_status bracket(parser *r, tg_regex_node **made)
{
    ranges list = {0};
    r->at++;
    bool negated = skip(r, "^");
    tg_status status = TG_OK;
    for (bool first = true; status == TG_OK && (first || !looks_at(r, "]")); first = false)
        status = more(r) ? class_item(r, &list) : bad(r, "] is missing");
    if (status == TG_OK) {
        r->at++;
        *made = set_of(r, list.v, list.n, negated);
    }
    tg_vec_free(&list);
    return status;
}

/* ---- what stands between repeats ---- */

static tg_status alternatives(parser *r, tg_regex_node **made);

/* The letters between (? and : or ); *group tells which it was. */
static tg_status read_flags(parser *r, bool *group)
{
    bool on = true;
    for (; more(r) && r->p[r->at] != ':' && r->p[r->at] != ')'; r->at++) {
        char c = r->p[r->at];
        if (c == 'i') r->now.fold = on;
        else if (c == 's') r->now.dot_all = on;
        else if (c == 'm') r->now.lines = on;
        else if (c == '-' && on) on = false;
        else if (c != 'U') return bad(r, "no such group");
    }
    if (!more(r)) return bad(r, ") is missing");
    *group = r->p[r->at++] == ':';
    return TG_OK;
}

/* (...), (?:...), (?P<name>...), (?i:...), and (?i), which holds to the end of its group. */
static tg_status group(parser *r, tg_regex_node **made)
{
    flags before = r->now;
    bool inside = true;
    r->at++;
    if (skip(r, "?P<") ||
        (looks_at(r, "?<") && !looks_at(r, "?<=") && !looks_at(r, "?<!") && skip(r, "?<"))) {
        while (more(r) && r->p[r->at] != '>') r->at++;
        if (!skip(r, ">")) return bad(r, "> is missing");
    } else if (skip(r, "?")) {
        TG_TRY(read_flags(r, &inside));
    }
    *made = node(r, TG_REGEX_EMPTY, NULL, NULL);
    if (!inside) return TG_OK;
    if (++r->depth > TG_REGEX_DEPTH)
        return tg_fail(TG_LIMIT, "pattern, place %zu: groups nest too deep", r->at);
    TG_TRY(alternatives(r, made));
    r->depth--;
    if (!skip(r, ")")) return bad(r, ") is missing");
    r->now = before;
    return TG_OK;
}

static tg_status backslash(parser *r, tg_regex_node **made)
{
    ranges list = {0};
    int32_t c;
    if (perl_class(r, &list)) {
        *made = set_of(r, list.v, list.n, false);
        tg_vec_free(&list);
        return TG_OK;
    }
    if (r->n - r->at > 1 && r->p[r->at + 1] && strchr("AzbB", r->p[r->at + 1])) {
        *made = place(r, r->p[r->at + 1]);
        r->at += 2;
        return TG_OK;
    }
    TG_TRY(escaped(r, &c));
    *made = literal(r, c);
    return TG_OK;
}

static tg_status atom(parser *r, tg_regex_node **made)
{
    const tg_char_range line_end = {'\n', '\n'};
    int32_t c;
    switch (r->quoting ? 0 : r->p[r->at]) {
    case '(': return group(r, made);
    case '[': return bracket(r, made);
    case '\\': return backslash(r, made);
    case '*':
    case '+':
    case '?': return bad(r, "nothing to repeat");
    case '.': *made = set_of(r, &line_end, !r->now.dot_all, true); break;
    case '^': *made = place(r, r->now.lines ? '^' : 'A'); break;
    case '$': *made = place(r, r->now.lines ? '$' : 'z'); break;
    default:
        TG_TRY(next_char(r, &c));
        *made = literal(r, c);
        return TG_OK;
    }
    r->at++;
    return TG_OK;
}

/* {n}, {n,}, {n,m}; anything else that begins with a brace is text. */
static bool counted(parser *r, int *least, int *most)
{
    size_t start = r->at++;
    int32_t a = 0, b = -1;
    bool fine = number(r, 10, 4, &a) == TG_OK;
    if (fine && skip(r, ",")) {
        if (!looks_at(r, "}")) fine = number(r, 10, 4, &b) == TG_OK;
    } else b = a;
    *least = a;
    *most = b;
    if (fine && skip(r, "}")) return true;
    r->at = start;
    return false;
}

static bool repeat_sign(parser *r, int *least, int *most)
{
    *least = 0;
    *most = -1;
    if (!more(r)) return false;
    char c = r->p[r->at];
    if (c == '{') return counted(r, least, most);
    if (c != '*' && c != '+' && c != '?') return false;
    if (c == '+') *least = 1;
    if (c == '?') *most = 1;
    r->at++;
    return true;
}

static tg_status repeated(parser *r, tg_regex_node **made)
{
    int least, most;
    TG_TRY(atom(r, made));
    if (r->quoting && skip(r, "\\E")) r->quoting = false;
    if (r->quoting || !repeat_sign(r, &least, &most)) return TG_OK;
    skip(r, "?");
    if (least > TG_REGEX_TIMES || most > TG_REGEX_TIMES || (most >= 0 && most < least))
        return bad(r, "a repeat of no such number");
    *made = node(r, TG_REGEX_REPEAT, *made, NULL);
    (*made)->least = least;
    (*made)->most = most;
    if (repeat_sign(r, &least, &most)) return bad(r, "a repeat of a repeat");
    return TG_OK;
}

static tg_status alternatives(parser *r, tg_regex_node **made)
{
    tg_regex_node *all = NULL, *line = node(r, TG_REGEX_EMPTY, NULL, NULL), *next;
    while (more(r) && (r->quoting || r->p[r->at] != ')')) {
        if (skip(r, r->quoting ? "\\E" : "\\Q")) {
            r->quoting = !r->quoting;
            continue;
        }
        if (!r->quoting && skip(r, "|")) {
            all = all ? node(r, TG_REGEX_ALT, all, line) : line;
            line = node(r, TG_REGEX_EMPTY, NULL, NULL);
            continue;
        }
        TG_TRY(repeated(r, &next));
        line = node(r, TG_REGEX_CAT, line, next);
    }
    *made = all ? node(r, TG_REGEX_ALT, all, line) : line;
    return TG_OK;
}

tg_status tg_regex_parse(tg_arena *arena, const char *pattern, size_t n, tg_regex_node **tree)
{
    parser r = {.arena = arena, .p = pattern, .n = n};
    TG_TRY(alternatives(&r, tree));
    return more(&r) ? bad(&r, ") without (") : TG_OK;
}
