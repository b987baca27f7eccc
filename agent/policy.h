/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The policy: a logit for each candidate and one for STOP, and a value for the current graph.
 *
 *   candidate  two tanh layers on (difference of sums, mean, rule embedding, candidate features)
 *   STOP       one tanh layer on (mean, globals)
 *   value      two tanh layers on (mean, sum / 64, globals)
 *
 * and to the logits a linear term of the candidate features and of the globals, zero at first,
 * where a caller may put what it knows beforehand. Sums and means are over a graph's encoded nodes.
 * The candidate head is shared, so the order of the list does not matter and its length is free
 * (X-RLflow, first version of its network).
 */
#ifndef AG_POLICY_H
#define AG_POLICY_H

#include "gnn.h"

typedef struct ag_shape {
    int hidden, heads, layers; /* of the encoder: 32, 4, 5 */
    int rule, head;            /* rule embedding, width of the heads: 16, 64 */
} ag_shape;

#define AG_SHAPE_DEFAULT ((ag_shape){.hidden = 32, .heads = 4, .layers = 5, .rule = 16, .head = 64})

/* What all policies of one architecture and vocabulary share. Reference-counted, immutable. */
typedef struct ag_net {
    atomic_int refs;
    tg_arena *arena;
    const ag_spec *spec;
    ag_shape shape;
    ag_layout layout;
    ag_gnn gnn;
    size_t rule; /* [rules, shape.rule] */
    size_t c_diff, c_mean, c_rule, c_x, c_b, c_w2, c_b2, c_w3, c_b3, c_skip; /* candidate head */
    size_t s_mean, s_x, s_b, s_w2, s_b2, s_skip;                             /* STOP head */
    size_t v_mean, v_sum, v_x, v_b, v_w2, v_b2, v_w3, v_b3;                  /* value head */
} ag_net;

/* Copies the spec. Errors: TG_INVALID (hidden not a multiple of heads, sizes out of range). */
tg_status ag_net_new(const ag_spec *spec, ag_shape shape, ag_net **net) TG_MUST_USE;
ag_net *ag_net_ref(ag_net *net);
void ag_net_unref(ag_net *net); /* NULL is fine */

/* A snapshot: parameters that never change. Reference-counted. */
typedef struct ag_policy {
    atomic_int refs;
    ag_net *net;
    uint64_t version; /* counts updates */
    ag_real *value;   /* [net->layout.n] */
} ag_policy;

ag_policy *ag_policy_new(ag_net *net, tg_rng *rng); /* drawn at random, version 0 */
ag_policy *ag_policy_copy(ag_net *net, const ag_real *value, uint64_t version);
ag_policy *ag_policy_ref(ag_policy *policy);
void ag_policy_unref(ag_policy *policy); /* NULL is fine */

/* Scratch of one thread. Zero-initialise; free with ag_work_done. */
typedef struct ag_work {
    ag_gnn_work gnn;
    int n;                           /* candidates of the last forward */
    ag_real *logits;                 /* [n + 1], STOP last */
    ag_real value;                   /* of the current graph, in scaled reward, see ag_ppo_config */
    ag_real *diff, *mean, *rule, *x; /* inputs of the candidate head, [n, ...] */
    ag_real *c1, *c2;                /* its hidden layers */
    ag_real *now, *sum, *global, *s1, *v1, *v2; /* inputs and hidden layers of the other heads */
    ag_real *d_read;
    ag_buffer buffers[24];
} ag_work;

void ag_work_done(ag_work *work);

/* Fills work->logits and work->value. Masks are not looked at. */
void ag_policy_forward(const ag_net *net, const ag_real *value, const ag_state *state,
                       ag_work *work);

/* Adds to grad the gradient of a loss with d_logits[n + 1] and d_value, after that forward. */
void ag_policy_backward(const ag_net *net, const ag_real *value, const ag_state *state,
                        ag_work *work, const ag_real *d_logits, ag_real d_value, ag_real *grad);

#endif
