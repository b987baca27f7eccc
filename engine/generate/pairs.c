/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "pairs.h"

#include "threads.h"

#include <stdatomic.h>
#include <string.h>

/* ---- identity ------------------------------------------------------------------------------- */

static uint64_t pair_under(const bank *b, const pair *p, const uint8_t *name)
{
    uint64_t sum = 0;
    for (int i = 0; i < p->n; i++) /* the order of results does not matter */
        sum += tg_hash_add(formula_hash(b, &p->from[i], name), formula_hash(b, &p->to[i], name));
    return tg_hash_add(sum, (uint64_t)b->world->kind);
}

/* Tries all names for the variables from `at` on. */
static uint64_t least_key(const bank *b, const pair *p, uint8_t *name, int at, unsigned used)
{
    if (at == b->world->vars) return pair_under(b, p, name);
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < b->world->vars; i++) {
        if (used >> i & 1) continue;
        name[at] = (uint8_t)i;
        uint64_t key = least_key(b, p, name, at + 1, used | 1u << i);
        if (key < least) least = key;
    }
    return least;
}

/* ---- what follows from a pair with a variable instead of a common part ------------------------
 */

/* Terms whose values are replaced. */
typedef struct swap {
    uint32_t term;
    const double *value;
} swap;

static bool run_formula(const bank *b, lab *l, const formula *f, const swap *s, packed_shape *shape,
                        double **value);

static bool run_form(const bank *b, lab *l, const formula *f, const swap *s, packed_shape *shape,
                     double **value)
{
    int form_number;
    uint32_t arg[2];
    packed_shape in_shape[2];
    double *in[2] = {0}, *out[2] = {0};
    formula_open(b, f, &form_number, arg);
    const form *m = &b->world->forms[form_number];
    bool ok = true;
    for (int i = 0; i < m->n_in && ok; i++) {
        formula part = formula_of(arg[i]);
        ok = run_formula(b, l, &part, s, &in_shape[i], &in[i]);
    }
    ok = ok && lab_run(l, m, in_shape, (const double *const *)in, shape, out);
    for (int i = 0; i < 2; i++) {
        free(in[i]);
        if (ok && i == formula_port(b, f)) *value = out[i];
        else free(out[i]);
    }
    return ok;
}

static bool run_formula(const bank *b, lab *l, const formula *f, const swap *s, packed_shape *shape,
                        double **value)
{
    if (f->term != NO_TERM && (f->term == s->term || formula_is_variable(b, f))) {
        *shape = b->terms.v[f->term].shape;
        const double *from = f->term == s->term ? s->value : b->terms.v[f->term].value;
        *value = tg_memdup(from, sizeof *from * (size_t)world_count(b->world, *shape));
        return true;
    }
    return run_form(b, l, f, s, shape, value);
}

/* Variables of a formula outside a term. */
static unsigned vars_beside(const bank *b, const formula *f, uint32_t term)
{
    int form_number;
    uint32_t arg[2];
    unsigned vars = 0;
    if (f->term == term) return 0;
    if (formula_is_variable(b, f)) return 1u << formula_port(b, f);
    formula_open(b, f, &form_number, arg);
    for (int i = 0; i < b->world->forms[form_number].n_in; i++) {
        formula part = formula_of(arg[i]);
        vars |= vars_beside(b, &part, term);
    }
    return vars;
}

static bool holds_with(const bank *b, lab *l, const pair *p, uint32_t term)
{
    unsigned vars = 0;
    for (int i = 0; i < p->n; i++)
        vars |= vars_beside(b, &p->from[i], term) | vars_beside(b, &p->to[i], term);
    if (__builtin_popcount(vars) >= b->world->vars) return false; /* it would not be found */
    swap s = {term, world_draw(b->world, b->terms.v[term].shape, b->seed + 1000 + term)};
    bool equal = true;
    for (int i = 0; i < p->n && equal; i++) {
        packed_shape shape[2];
        double *value[2] = {0};
        equal = run_formula(b, l, &p->from[i], &s, &shape[0], &value[0]) &&
                run_formula(b, l, &p->to[i], &s, &shape[1], &value[1]) && shape[0] == shape[1] &&
                lab_print(b->world, shape[0], value[0]) == lab_print(b->world, shape[1], value[1]);
        free(value[0]);
        free(value[1]);
    }
    free((void *)s.value);
    return equal;
}

/* A part of the formula that may be anything, the same on both sides. */
static bool has_idle_part(const bank *b, lab *l, const pair *p, const formula *f)
{
    int form_number;
    uint32_t arg[2];
    if (formula_is_variable(b, f)) return false;
    if (f->term != NO_TERM && holds_with(b, l, p, f->term)) return true;
    formula_open(b, f, &form_number, arg);
    for (int i = 0; i < b->world->forms[form_number].n_in; i++) {
        formula part = formula_of(arg[i]);
        if (has_idle_part(b, l, p, &part)) return true;
    }
    return false;
}

/* ---- collecting ----------------------------------------------------------------------------- */

/* What one part of the last size came to. */
typedef struct found {
    uint64_t print;
    formula f;
} found;

typedef struct part {
    TG_VEC(found) v;
    size_t tried;
} part;

typedef struct finder {
    pairs *out;
    lab *lab;
    tg_map keys; /* of pairs */
    int size;    /* of the applications at hand */
    tg_map last; /* print -> 1 + position in `kept` */
    TG_VEC(formula) kept;
} finder;

static int size_of(const bank *b, const formula *f, int n)
{
    term all = {0};
    for (int i = 0; i < n; i++) {
        uint32_t arg[2], ops[MOST_NODES];
        int form_number;
        if (f[i].term != NO_TERM) {
            int k = bank_union(&all, &b->terms.v[f[i].term], ops);
            if (k < 0) return MOST_NODES + 1;
            memcpy(all.ops, ops, sizeof ops);
            all.size = (uint8_t)k;
            continue;
        }
        formula_open(b, &f[i], &form_number, arg);
        for (int k = 0; k < b->world->forms[form_number].n_in; k++) {
            int m = bank_union(&all, &b->terms.v[arg[k]], ops);
            if (m < 0) return MOST_NODES + 1;
            memcpy(all.ops, ops, sizeof ops);
            all.size = (uint8_t)m;
        }
    }
    bool open = false;
    for (int i = 0; i < n; i++) open |= f[i].term == NO_TERM;
    return all.size + open;
}

static void add_pair(finder *fi, pair p)
{
    const bank *b = &fi->out->bank;
    unsigned from = 0, to = 0;
    uint8_t name[MOST_VARS];
    bool fresh;
    for (int i = 0; i < p.n; i++) {
        if (formula_is_variable(b, &p.from[i])) return;
        from |= formula_vars(b, &p.from[i]);
        to |= formula_vars(b, &p.to[i]);
    }
    if (to & ~from) return;
    p.vars = __builtin_popcount(from);
    p.from_size = size_of(b, p.from, p.n);
    p.to_size = size_of(b, p.to, p.n);
    if ((p.from_size > PAIRS_FULL || p.to_size > PAIRS_FULL) && p.from_size <= p.to_size) return;
    p.key = least_key(b, &p, name, 0, 0);
    tg_map_put(&fi->keys, p.key, &fresh);
    if (!fresh) return;
    for (int i = 0; i < p.n; i++)
        if (has_idle_part(b, fi->lab, &p, &p.from[i])) return;
    tg_vec_push(&fi->out->v, p);
}

static void add_both(finder *fi, const formula *a, const formula *b, int n)
{
    pair p = {.n = n};
    memcpy(p.from, a, sizeof *a * (size_t)n);
    memcpy(p.to, b, sizeof *b * (size_t)n);
    add_pair(fi, p);
    memcpy(p.from, b, sizeof *b * (size_t)n);
    memcpy(p.to, a, sizeof *a * (size_t)n);
    add_pair(fi, p);
}

/* The formula that computes the same already; false: this is the first, and it is kept. */
static bool equal_of(finder *fi, const found *f, bool last, formula *out)
{
    const uint64_t *term = tg_map_find(&fi->out->bank.by_print, f->print);
    bool fresh;
    if (term) {
        *out = formula_of((uint32_t)*term);
        return true;
    }
    if (!last) return false;
    uint64_t *slot = tg_map_put(&fi->last, f->print, &fresh);
    if (!fresh) {
        *out = fi->kept.v[*slot - 1];
        return true;
    }
    tg_vec_push(&fi->kept, f->f);
    *slot = fi->kept.n;
    return false;
}

/* Both outputs of one application are known otherwise. */
static void add_split(finder *fi, const found *f, const formula *equal)
{
    const bank *b = &fi->out->bank;
    formula made[2] = {f[0].f, f[1].f};
    bool plain = formula_is_variable(b, &equal[0]) || formula_is_variable(b, &equal[1]);
    if (equal[0].term == NO_TERM || equal[1].term == NO_TERM || equal[0].term == equal[1].term)
        return;
    if (size_of(b, equal, 2) > fi->size) return;
    pair p = {.n = 2};
    memcpy(p.from, made, sizeof made);
    memcpy(p.to, equal, sizeof p.to);
    add_pair(fi, p);
    if (plain) return;
    memcpy(p.from, equal, sizeof p.from);
    memcpy(p.to, made, sizeof p.to);
    add_pair(fi, p);
}

/* ---- sizes below the last ------------------------------------------------------------------- */

static term term_of(const bank *b, const form *f, uint32_t x, uint32_t y)
{
    static const term nothing;
    const term *a = &b->terms.v[x], *c = f->n_in > 1 ? &b->terms.v[y] : &nothing;
    term t = {.vars = a->vars | c->vars};
    t.size = (uint8_t)bank_union(a, c, t.ops);
    return t;
}

static void take_small(void *ctx, const form *f, uint32_t x, uint32_t y)
{
    finder *fi = ctx;
    bank *b = &fi->out->bank;
    packed_shape in[2] = {b->terms.v[x].shape, y == NO_TERM ? 0 : b->terms.v[y].shape}, shape;
    const double *const v[2] = {b->terms.v[x].value, y == NO_TERM ? NULL : b->terms.v[y].value};
    double *value[2];
    int8_t number = (int8_t)(f - b->world->forms);
    formula equal[2];
    found made[2];
    bool known[2] = {false, false};
    if (!lab_run(fi->lab, f, in, v, &shape, value)) return;
    uint32_t op = (uint32_t)b->ops.n;
    application a = {number, {x, y}, {NO_TERM, NO_TERM}};
    fi->out->tried++;
    for (int port = 0; port < f->n_out; port++) {
        made[port] = (found){lab_print(b->world, shape, value[port]),
                             {NO_TERM, number, (uint8_t)port, {x, y}}};
        known[port] = equal_of(fi, &made[port], false, &equal[port]);
        if (known[port]) {
            add_both(fi, &made[port].f, &equal[port], 1);
            free(value[port]);
            continue;
        }
        term t = term_of(b, f, x, y);
        t.ops[t.size++] = op;
        t.print = made[port].print;
        t.shape = shape;
        t.op = op;
        t.port = (uint8_t)port;
        t.value = value[port];
        a.term[port] = bank_add(b, &t);
    }
    if (a.term[0] != NO_TERM || a.term[1] != NO_TERM) tg_vec_push(&b->ops, a);
    if (known[0] && known[1]) add_split(fi, made, equal);
}

/*
 * New terms are those of the size at hand, so bank_each, which looks at smaller ones only, may run
 * while they are added; but its arrays move, so the applications are listed first.
 */
typedef struct listed {
    const form *f;
    uint32_t x, y;
} listed;
typedef TG_VEC(listed) listed_vec;

static void list(void *ctx, const form *f, uint32_t x, uint32_t y)
{
    listed_vec *v = ctx;
    tg_vec_push(v, (listed){f, x, y});
}

static void do_small(finder *fi)
{
    listed_vec v = {0};
    bank_each(&fi->out->bank, fi->size, 0, NO_TERM, list, &v);
    for (size_t i = 0; i < v.n; i++) take_small(fi, v.v[i].f, v.v[i].x, v.v[i].y);
    tg_vec_free(&v);
}

/* ---- the last size, on all threads ---------------------------------------------------------- */

enum { PARTS = 256 };

typedef struct crew {
    const bank *b;
    const tg_job *job;
    int size;
    atomic_int next;
    part parts[PARTS];
} crew;

typedef struct worker {
    crew *crew;
    lab *lab;
    part *at;
} worker;

static void take_last(void *ctx, const form *f, uint32_t x, uint32_t y)
{
    worker *w = ctx;
    const bank *b = w->crew->b;
    packed_shape in[2] = {b->terms.v[x].shape, y == NO_TERM ? 0 : b->terms.v[y].shape}, shape;
    const double *const v[2] = {b->terms.v[x].value, y == NO_TERM ? NULL : b->terms.v[y].value};
    double *value[2];
    if (tg_job_cancelled(w->crew->job) || !lab_run(w->lab, f, in, v, &shape, value)) return;
    w->at->tried++;
    for (int port = 0; port < f->n_out; port++) {
        found made = {lab_print(b->world, shape, value[port]),
                      {NO_TERM, (int8_t)(f - b->world->forms), (uint8_t)port, {x, y}}};
        tg_vec_push(&w->at->v, made);
        free(value[port]);
    }
}

static void *work(void *ctx)
{
    crew *c = ctx;
    worker w = {c, lab_new(c->b->world, c->b->seed), NULL};
    for (int i; (i = atomic_fetch_add(&c->next, 1)) < PARTS;) {
        w.at = &c->parts[i];
        uint64_t n = c->b->terms.n, k = (uint64_t)i;
        bank_each(c->b, c->size, (uint32_t)(n * k / PARTS), (uint32_t)(n * (k + 1) / PARTS),
                  take_last, &w);
    }
    lab_free(w.lab);
    return NULL;
}

static void merge(finder *fi, const part *at)
{
    const world *w = fi->out->bank.world;
    for (size_t i = 0; i < at->v.n;) {
        int n = w->forms[at->v.v[i].f.form].n_out;
        formula equal[2];
        bool known = true;
        for (int port = 0; port < n; port++) {
            bool k = equal_of(fi, &at->v.v[i + (size_t)port], true, &equal[port]);
            if (k) add_both(fi, &at->v.v[i + (size_t)port].f, &equal[port], 1);
            known &= k;
        }
        if (n == 2 && known) add_split(fi, &at->v.v[i], equal);
        i += (size_t)n;
    }
    fi->out->tried += at->tried;
}

static void do_last(finder *fi, int threads, const tg_job *job)
{
    crew *c = tg_calloc(1, sizeof *c);
    *c = (crew){.b = &fi->out->bank, .job = job, .size = fi->size};
    threads_run(threads, work, c);
    for (int i = 0; i < PARTS; i++) {
        merge(fi, &c->parts[i]);
        tg_vec_free(&c->parts[i].v);
    }
    free(c);
}

/* ---- all sizes ------------------------------------------------------------------------------ */

static int by_size(const void *x, const void *y)
{
    const pair *a = x, *b = y;
    int n = a->from_size + a->to_size - b->from_size - b->to_size;
    if (!n) n = b->vars - a->vars;
    if (!n) n = a->n - b->n;
    if (!n) n = a->to_size - b->to_size;
    if (n) return n;
    return a->key < b->key ? -1 : a->key > b->key;
}

tg_status pairs_find(pairs *p, const world *w, int most, int threads, const tg_job *job,
                     pairs_progress *progress, void *ctx)
{
    *p = (pairs){.tried = 0};
    bank_init(&p->bank, w, 0x7265677261667400u);
    finder fi = {.out = p, .lab = lab_new(w, p->bank.seed)};
    tg_status status = TG_OK;
    for (fi.size = 1; fi.size <= most && status == TG_OK; fi.size++) {
        if (fi.size < most) do_small(&fi);
        else do_last(&fi, threads, job);
        if (progress) progress(ctx, fi.size, p->tried, p->v.n);
        status = tg_job_poll(job);
    }
    if (p->v.n) qsort(p->v.v, p->v.n, sizeof *p->v.v, by_size);
    lab_free(fi.lab);
    tg_map_free(&fi.keys);
    tg_map_free(&fi.last);
    tg_vec_free(&fi.kept);
    if (status != TG_OK) pairs_free(p);
    return status;
}

void pairs_free(pairs *p)
{
    bank_done(&p->bank);
    tg_vec_free(&p->v);
}
