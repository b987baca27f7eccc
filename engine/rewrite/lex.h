/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words of a rule file, with their places. For the files of rewrite/ only. */
#ifndef TG_REWRITE_LEX_H
#define TG_REWRITE_LEX_H

#include "pattern.h"

/* A text being read; `file` is what messages call it. */
typedef struct rule_source {
    const char *file, *text;
} rule_source;

typedef enum token_kind {
    TOKEN_END,     /* of the text */
    TOKEN_KEYWORD, /* rule about given from if pays to, at the start of a line */
    TOKEN_NAME,    /* letters, digits, _ and ' */
    TOKEN_INT,
    TOKEN_FLOAT,
    TOKEN_STR,   /* "..." without the quotes */
    TOKEN_SYMBOL /* sym: a character, or '.' for .., '=' '!' '{' '}' for == != <= >=; see eq */
} token_kind;

typedef struct token {
    token_kind kind;
    place at;
    const char *p; /* in the text */
    int n;
    char sym;
    bool twice; /* ==, !=, <=, >=, .. */
    int64_t i;
    double f;
} token;

typedef struct lexer {
    const rule_source *src;
    const char *p;
    const char *line_start;
    int line;
    token now; /* the current token */
} lexer;

void lex_start(lexer *lx, const rule_source *src);
/* Moves to the next token. Errors: TG_RULE (a character that belongs to no word). */
tg_status lex_next(lexer *lx) TG_MUST_USE;
/* The rest of the lines of this section as one text; moves to the next keyword. */
tg_status lex_words(lexer *lx, tg_arena *arena, const char **text) TG_MUST_USE;
/* The word on the rest of this line (a rule's name); moves past the line. */
tg_status lex_rule_name(lexer *lx, tg_arena *arena, const char **name) TG_MUST_USE;

static inline bool lex_is(const lexer *lx, char sym)
{
    return lx->now.kind == TOKEN_SYMBOL && lx->now.sym == sym && !lx->now.twice;
}
bool lex_is_word(const lexer *lx, const char *word);

#endif
