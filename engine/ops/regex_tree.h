/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A parsed regular expression: for regex_parse.c, which makes it, and regex.c, which runs it. */
#ifndef TG_OPS_REGEX_TREE_H
#define TG_OPS_REGEX_TREE_H

#include "engine/base/arena.h"
#include "engine/base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* Repeats of more are refused, as RE2 does; groups nest no deeper. */
enum { TG_REGEX_TIMES = 1000, TG_REGEX_DEPTH = 200, TG_REGEX_LAST = 0x10ffff };

typedef struct tg_char_range {
    int32_t from, to;
} tg_char_range;

/* Characters in any of the ranges, or in none of them; with fold, in either case. */
typedef struct tg_char_set {
    tg_char_range *range;
    size_t n;
    bool negated, fold;
} tg_char_set;

typedef enum tg_regex_kind {
    TG_REGEX_EMPTY,
    TG_REGEX_SET,
    TG_REGEX_CAT,    /* left, then right */
    TG_REGEX_ALT,    /* left or right */
    TG_REGEX_REPEAT, /* left, least to most times; most -1: any number */
    TG_REGEX_ASSERT  /* a place: what is one of the letters below */
} tg_regex_kind;

/* what: A begin of the text, z end, ^ begin of a line, $ end of a line, b word boundary, B none */
typedef struct tg_regex_node {
    tg_regex_kind kind;
    struct tg_regex_node *left, *right;
    int least, most;
    char what;
    tg_char_set set;
} tg_regex_node;

/* Errors: as tg_regex_new. The tree lies in the arena. */
tg_status tg_regex_parse(tg_arena *arena, const char *pattern, size_t n,
                         tg_regex_node **tree) TG_MUST_USE;

#endif
