/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Functions and facts of attribute expressions, by number. For the files of rewrite/ only. */
#ifndef TG_REWRITE_FUNC_H
#define TG_REWRITE_FUNC_H

#include "match.h"

typedef struct func_row {
    const char *name;
    int min_args, max_args;
    const char *doc;
    tg_status (*call)(eval *ev, const operand *arg, int n, tg_attr *out);
} func_row;

typedef struct fact_row {
    const char *name;
    int min_args, max_args; /* -1: any number */
    bool sound;             /* needed for the answer; else it only pays */
    const char *doc;
    bool (*holds)(eval *ev, const operand *arg, int n);
} fact_row;

extern const func_row func_rows[];
extern const int func_row_count;
extern const fact_row fact_rows[];
extern const int fact_row_count;

int func_named(const char *name); /* -1: none */
int fact_named(const char *name);

#endif
