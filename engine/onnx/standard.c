/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "standard.h"

#include <stdlib.h>
#include <string.h>

enum { VERSIONS = 15 };

typedef struct standard {
    const char *name;
    int since[VERSIONS + 1]; /* ascending, ends with 0 */
} standard;

static const standard rows[] = {
#define STANDARD(name, ...) {#name, {__VA_ARGS__}},
#include "standard.def"
#undef STANDARD
};

static int compare(const void *name, const void *row)
{
    return strcmp(name, ((const standard *)row)->name);
}

static const standard *find(const char *name)
{
    return bsearch(name, rows, sizeof rows / sizeof *rows, sizeof *rows, compare);
}

bool tg_standard_knows(const char *op_type)
{
    return find(op_type) != NULL;
}

int tg_standard_version(const char *op_type, int opset)
{
    const standard *row = find(op_type);
    int version = 0;
    for (const int *since = row ? row->since : (const int[]){0}; *since && *since <= opset; since++)
        version = *since;
    return version;
}
