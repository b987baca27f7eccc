/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "lex.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const keywords[] = {"rule", "about", "given", "from", "if", "pays", "to"};

/* Length of the line that `at` is on, and its start. */
static const char *line_text(const char *text, int line, int *n)
{
    while (line-- > 1 && *text) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    *n = (int)strcspn(text, "\n");
    return text;
}

tg_status lex_fail(const rule_source *src, place at, const char *fmt, ...)
{
    tg_str words = {0}, caret = {0};
    va_list ap;
    va_start(ap, fmt);
    tg_str_vaddf(&words, fmt, ap);
    va_end(ap);
    int n;
    const char *line = line_text(src->text, at.line, &n);
    for (int i = 0; i + 1 < at.column; i++)
        tg_str_addc(&caret, i < n && line[i] == '\t' ? '\t' : ' ');
    tg_status status = tg_fail(TG_RULE, "%s:%d:%d: %s\n%.*s\n%s^", src->file, at.line, at.column,
                               tg_str_text(&words), n > 160 ? 160 : n, line, tg_str_text(&caret));
    tg_str_free(&words);
    tg_str_free(&caret);
    return status;
}

void lex_start(lexer *lx, const rule_source *src)
{
    *lx = (lexer){.src = src, .p = src->text, .line_start = src->text, .line = 1};
}

static void skip_space(lexer *lx)
{
    for (;; lx->p++) {
        if (*lx->p == '#') lx->p += strcspn(lx->p, "\n");
        if (*lx->p == '\n') {
            lx->line++;
            lx->line_start = lx->p + 1;
        } else if (!isspace((unsigned char)*lx->p)) {
            return;
        }
    }
}

static bool is_word_start(char c)
{
    return isalpha((unsigned char)c) || c == '_';
}

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '\'';
}

static bool is_keyword(const token *t)
{
    if (t->at.column != 1) return false;
    for (size_t i = 0; i < sizeof keywords / sizeof *keywords; i++)
        if ((int)strlen(keywords[i]) == t->n && strncmp(t->p, keywords[i], (size_t)t->n) == 0)
            return true;
    return false;
}

static void lex_number(lexer *lx, token *t)
{
    char *end, *float_end;
    t->i = strtoll(lx->p, &end, 10);
    t->f = strtod(lx->p, &float_end);
    t->kind = float_end > end ? TOKEN_FLOAT : TOKEN_INT;
    t->n = (int)((t->kind == TOKEN_FLOAT ? float_end : end) - lx->p);
}

static tg_status lex_string(lexer *lx, token *t)
{
    size_t n = strcspn(lx->p + 1, "\"\n");
    if (lx->p[1 + n] != '"') return lex_fail(lx->src, t->at, "the text has no closing quote");
    t->kind = TOKEN_STR;
    t->p = lx->p + 1;
    t->n = (int)n;
    lx->p += n + 2;
    return TG_OK;
}

static tg_status lex_symbol(lexer *lx, token *t)
{
    char c = *lx->p, next = lx->p[1];
    if (!strchr("()[],;:=*+-/%<>!.?", c))
        return lex_fail(lx->src, t->at, "a rule has no use for '%c'",
                        isprint((unsigned char)c) ? c : '?');
    t->kind = TOKEN_SYMBOL;
    t->sym = c;
    t->twice = (strchr("=!<>", c) && next == '=') || (c == '.' && next == '.');
    t->n = t->twice ? 2 : 1;
    lx->p += t->n;
    return TG_OK;
}

tg_status lex_next(lexer *lx)
{
    skip_space(lx);
    token t = {.p = lx->p, .at = {lx->line, (int)(lx->p - lx->line_start) + 1}};
    tg_status status = TG_OK;
    if (!*lx->p) {
        t.kind = TOKEN_END;
    } else if (is_word_start(*lx->p)) {
        while (is_word(lx->p[t.n])) t.n++;
        t.kind = is_keyword(&t) ? TOKEN_KEYWORD : TOKEN_NAME;
        lx->p += t.n;
    } else if (isdigit((unsigned char)*lx->p)) {
        lex_number(lx, &t);
        lx->p += t.n;
    } else {
        status = *lx->p == '"' ? lex_string(lx, &t) : lex_symbol(lx, &t);
    }
    lx->now = t;
    return status;
}

bool lex_is_word(const lexer *lx, const char *word)
{
    return lx->now.kind == TOKEN_NAME && (int)strlen(word) == lx->now.n &&
           strncmp(lx->now.p, word, strlen(word)) == 0;
}

static void next_line(lexer *lx)
{
    lx->p += strcspn(lx->p, "\n");
    if (!*lx->p) return;
    lx->p++;
    lx->line++;
    lx->line_start = lx->p;
}

tg_status lex_words(lexer *lx, tg_arena *arena, const char **text)
{
    tg_str words = {0};
    do {
        const char *from = lx->p;
        size_t n = strcspn(from, "\n");
        while (n && isspace((unsigned char)*from)) from++, n--;
        while (n && isspace((unsigned char)from[n - 1])) n--;
        if (n && words.n) tg_str_addc(&words, ' ');
        tg_str_addn(&words, from, n);
        next_line(lx);
    } while (*lx->p == ' ' || *lx->p == '\t');
    *text = tg_arena_strdup(arena, tg_str_text(&words));
    tg_str_free(&words);
    return lex_next(lx);
}

tg_status lex_rule_name(lexer *lx, tg_arena *arena, const char **name)
{
    while (*lx->p == ' ' || *lx->p == '\t') lx->p++;
    place at = {lx->line, (int)(lx->p - lx->line_start) + 1};
    size_t n = strspn(lx->p, "abcdefghijklmnopqrstuvwxyz0123456789-");
    char after = lx->p[n];
    if (!n || (after && !isspace((unsigned char)after)))
        return lex_fail(lx->src, at, "a rule's name is made of small letters, digits and hyphens");
    *name = tg_arena_strndup(arena, lx->p, n);
    lx->p += n;
    return lex_next(lx);
}
