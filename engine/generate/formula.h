/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Expressions that the bank need not have. For the files of generate/ only. */
#ifndef TG_GENERATE_FORMULA_H
#define TG_GENERATE_FORMULA_H

#include "bank.h"
#include "engine/base/str.h"

/* A term of the bank, or output `port` of an application that the bank need not have. */
typedef struct formula {
    uint32_t term;
    int8_t form;
    uint8_t port;
    uint32_t arg[2];
} formula;

/* "Add(x, MatMul(y, z))". */
void formula_words(const bank *b, const formula *f, tg_str *out);
/* The form and operands of what is not a variable. */
void formula_open(const bank *b, const formula *f, int *form, uint32_t *arg);
static inline formula formula_of(uint32_t term)
{
    return (formula){.term = term, .form = -1};
}
bool formula_is_variable(const bank *b, const formula *f);
/* Its number if it is a variable, else the output of the form. */
int formula_port(const bank *b, const formula *f);
unsigned formula_vars(const bank *b, const formula *f); /* a bit a variable */
/* The same for formulas that are equal but for the order of operands, if variable i is name[i]. */
uint64_t formula_hash(const bank *b, const formula *f, const uint8_t *name);

#endif
