/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * Small expressions over a few variables, no two of which compute the same, each with what it
 * computes in the lab. For the files of generate/ only.
 */
#ifndef TG_GENERATE_BANK_H
#define TG_GENERATE_BANK_H

#include "engine/base/hash.h"
#include "engine/base/vec.h"
#include "lab.h"

/* A form applied to terms. */
typedef struct application {
    int8_t form;
    uint32_t arg[2];
    uint32_t term[2]; /* its outputs, or NO_TERM where the bank has an equal one */
} application;

#define NO_TERM UINT32_MAX

/* An expression that the bank keeps: a variable, or output `port` of an application. */
typedef struct term {
    uint64_t print; /* hash of its shape and elements */
    packed_shape shape;
    uint32_t op;              /* the application, or NO_TERM: variable number `port` */
    uint8_t port, size, vars; /* size: applications, shared ones once; vars: a bit a variable */
    uint32_t ops[MOST_NODES]; /* the applications in it, ascending */
    double *value;            /* residues; owned by the bank */
} term;

/* Terms no two of which compute the same; smaller ones first. */
typedef struct bank {
    const world *world;
    TG_VEC(term) terms;
    TG_VEC(application) ops;
    tg_map by_print; /* print -> term number */
    uint64_t seed;
} bank;

void bank_init(bank *b, const world *w, uint64_t seed);
void bank_done(bank *b);

/* The applications in both, ascending; their count, or -1 if there are more than MOST_NODES. */
int bank_union(const term *a, const term *b, uint32_t *out);

/* The output of an application that the bank does not have, as a new term of it. */
uint32_t bank_add(bank *b, const term *t);

/*
 * Every application of a form to terms of the bank that has exactly `size` operators:
 * each(ctx, form, a, b), with b NO_TERM for one input; those whose larger operand is term `first`
 * ... `end` - 1. Each pair of operands of a form that commutes comes once.
 */
typedef void each_fn(void *ctx, const form *f, uint32_t a, uint32_t b);
void bank_each(const bank *b, int size, uint32_t first, uint32_t end, each_fn *each, void *ctx);

#endif
