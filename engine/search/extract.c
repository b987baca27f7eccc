/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * The programme, over classes c and operators e that make them:
 *
 *   minimise  sum of cost(e) x(e)
 *   y(c) = 1                                    for classes of outputs
 *   sum of z(e, c) over e that make c = y(c)    one operator makes a class that is used
 *   sum of z(e, c) over e that use d <= y(d)    for each c and d: its inputs are used
 *   z(e, c) <= x(e)                             an operator is paid for once
 *   y(d) >= y(c)                                for d that every way of making c needs
 *   sum of z(e, c) over e that make c from the next class, over the classes of a cycle of k
 *     <= k - 1                                  for pairs of a knot, and cycles that turn up
 *
 * The third line sums over the operators of a class, as only one of them is chosen; with a line an
 * operator the relaxation would thin out from class to class; the fifth line keeps it from thinning
 * out where ways part and meet again. A knot is a set of classes that feed each other. The last
 * line keeps a cycle from being chosen: each of its classes has one operator, and not all of these
 * may go round. Those of two classes are there from the beginning, longer ones are added when a
 * solution has them, and it is solved again.
 */
#include "extract.h"

#include "engine/base/clock.h"
#include "knots.h"
#include "needs.h"

#include <glpk.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

/* A way to make a class: a node, and the variable that says that it is the way. */
typedef struct way {
    uint32_t number;
    int column;
} way;

typedef TG_VEC(way) way_vec;

/* Invariants: arrays are by canonical class, paid by node. Free classes cost nothing to have. */
typedef struct extraction {
    egraph *e;
    const extract_limits *limits;
    way_vec *ways;
    bool *is_free;
    int *used;               /* the variable y; 0: the class is not in the programme */
    int *paid;               /* the variable x; 0: none yet */
    TG_VEC(uint32_t) wanted; /* classes of the programme */
    const uint32_t *outputs;
    int n_outputs;
    glp_prob *lp;
    int64_t begun_ns;
    int branches, newest; /* of all runs before, of this one */
    bool cancelled, limited;
} extraction;

static const egraph_node *node_at(const extraction *x, uint32_t number)
{
    return &x->e->nodes.v[number];
}

static uint32_t input(extraction *x, const egraph_node *n, int i)
{
    return egraph_find(x->e, n->in[i]);
}

/* A class that has to be made for the node: not absent, not free, not among earlier inputs. */
static bool is_needed(extraction *x, const egraph_node *n, int i)
{
    uint32_t class = input(x, n, i);
    if (class == EGRAPH_ABSENT || x->is_free[class]) return false;
    for (int j = 0; j < i; j++)
        if (input(x, n, j) == class) return false;
    return true;
}

static bool uses(extraction *x, const egraph_node *n, uint32_t class)
{
    for (int i = 0; i < n->n_in; i++)
        if (input(x, n, i) == class) return true;
    return false;
}

static bool is_source(const egraph_node *n)
{
    return n->constant || n->op == TG_OP_INPUT;
}

static void list_ways(extraction *x)
{
    for (uint32_t i = 0; i < x->e->nodes.n; i++) {
        const egraph_node *n = node_at(x, i);
        for (int port = 0; port < n->n_out && !n->merged; port++) {
            uint32_t class = egraph_find(x->e, n->out[port]);
            way_vec *ways = &x->ways[class];
            if (uses(x, n, class) || (ways->n && tg_vec_last(ways).number == i)) continue;
            tg_vec_push(ways, ((way){i, 0}));
            x->is_free[class] |= is_source(n);
        }
    }
}

/* Every input that `b` needs, `a` needs as well. */
static bool needs_no_more(extraction *x, const egraph_node *b, const egraph_node *a)
{
    for (int i = 0; i < b->n_in; i++)
        if (is_needed(x, b, i) && !uses(x, a, input(x, b, i))) return false;
    return true;
}

/* Another way does as well: its operator costs no more and needs no more. */
static bool is_dominated(extraction *x, uint32_t number, uint32_t class)
{
    const egraph_node *a = node_at(x, number);
    if (a->n_out != 1) return false;
    for (size_t i = 0; i < x->ways[class].n; i++) {
        uint32_t other = x->ways[class].v[i].number;
        const egraph_node *b = node_at(x, other);
        if (other == number || b->cost_ms > a->cost_ms || !needs_no_more(x, b, a)) continue;
        if (b->cost_ms < a->cost_ms || !needs_no_more(x, a, b) || other < number) return true;
    }
    return false;
}

static int new_column(extraction *x)
{
    int column = glp_add_cols(x->lp, 1);
    glp_set_col_bnds(x->lp, column, GLP_DB, 0, 1);
    return column;
}

static void want(extraction *x, uint32_t class)
{
    if (class == EGRAPH_ABSENT || x->is_free[class] || x->used[class]) return;
    x->used[class] = new_column(x);
    tg_vec_push(&x->wanted, class);
}

/* Gives a way its variable; an operator of one output needs no other. */
static void enter_way(extraction *x, way *w)
{
    const egraph_node *n = node_at(x, w->number);
    w->column = new_column(x);
    glp_set_col_kind(x->lp, w->column, GLP_BV);
    if (n->n_out == 1) x->paid[w->number] = w->column;
    else if (!x->paid[w->number]) x->paid[w->number] = new_column(x);
    glp_set_obj_coef(x->lp, x->paid[w->number], n->cost_ms);
    for (int i = 0; i < n->n_in; i++) want(x, input(x, n, i));
}

/* A row in the making: least <= sum of value[k] * column[k], k from 1 as GLPK counts. */
typedef struct row {
    int *column;
    double *value;
    int n;
} row;

static row row_new(const extraction *x)
{
    size_t most = (size_t)glp_get_num_cols(x->lp) + 2;
    return (row){tg_calloc(most, sizeof(int)), tg_calloc(most, sizeof(double)), 0};
}

static void row_free(row *r)
{
    free(r->column);
    free(r->value);
}

static void row_term(row *r, int column, double value)
{
    r->column[++r->n] = column;
    r->value[r->n] = value;
}

static void row_add(extraction *x, row *r, int kind, double bound)
{
    int at = glp_add_rows(x->lp, 1);
    glp_set_row_bnds(x->lp, at, kind, bound, bound);
    glp_set_mat_row(x->lp, at, r->n, r->column, r->value);
    r->n = 0;
}

static void rows_of_class(extraction *x, uint32_t class, row *r)
{
    const way_vec *ways = &x->ways[class];
    for (size_t i = 0; i < ways->n; i++)
        if (ways->v[i].column) row_term(r, ways->v[i].column, 1);
    row_term(r, x->used[class], -1);
    row_add(x, r, GLP_FX, 0);
    for (size_t i = 0; i < ways->n; i++) {
        int paid = x->paid[ways->v[i].number];
        if (!ways->v[i].column || paid == ways->v[i].column) continue;
        row_term(r, paid, 1);
        row_term(r, ways->v[i].column, -1);
        row_add(x, r, GLP_LO, 0);
    }
}

/* The first way of the class, with a variable, that uses `d`. */
static bool is_first_to_use(extraction *x, uint32_t class, size_t way, uint32_t d)
{
    for (size_t i = 0; i < way; i++) {
        const struct way *w = &x->ways[class].v[i];
        if (w->column && uses(x, node_at(x, w->number), d)) return false;
    }
    return true;
}

static void rows_of_inputs(extraction *x, uint32_t class, row *r)
{
    const way_vec *ways = &x->ways[class];
    for (size_t i = 0; i < ways->n; i++) {
        const egraph_node *n = node_at(x, ways->v[i].number);
        for (int k = 0; k < n->n_in && ways->v[i].column; k++) {
            uint32_t d = input(x, n, k);
            if (!is_needed(x, n, k) || !is_first_to_use(x, class, i, d)) continue;
            row_term(r, x->used[d], 1);
            for (size_t j = i; j < ways->n; j++)
                if (ways->v[j].column && uses(x, node_at(x, ways->v[j].number), d))
                    row_term(r, ways->v[j].column, -1);
            row_add(x, r, GLP_LO, 0);
        }
    }
}

/* The edges between classes that ways with variables make. */
static void link_classes(extraction *x, knots *knots)
{
    for (size_t i = 0; i < x->wanted.n; i++) {
        const way_vec *ways = &x->ways[x->wanted.v[i]];
        for (size_t k = 0; k < ways->n; k++) {
            const egraph_node *n = node_at(x, ways->v[k].number);
            for (int j = 0; j < n->n_in && ways->v[k].column; j++)
                if (is_needed(x, n, j)) knots_link(knots, x->wanted.v[i], input(x, n, j));
        }
    }
}

static bool goes_round(extraction *x, const way *w, uint32_t to)
{
    return w->column && uses(x, node_at(x, w->number), to);
}

/* Not all classes of a cycle are made from the next one. */
static void row_of_cycle(extraction *x, const uint32_t *cycle, int n, row *r)
{
    for (int i = 0; i < n; i++) {
        const way_vec *ways = &x->ways[cycle[i]];
        for (size_t k = 0; k < ways->n; k++)
            if (goes_round(x, &ways->v[k], cycle[(i + 1) % n])) row_term(r, ways->v[k].column, 1);
    }
    row_add(x, r, GLP_UP, n - 1);
}

static bool feeds(extraction *x, uint32_t from, uint32_t to)
{
    for (size_t k = 0; k < x->ways[to].n; k++)
        if (goes_round(x, &x->ways[to].v[k], from)) return true;
    return false;
}

/* Cycles of two classes. */
static void rows_of_pairs(extraction *x, row *r)
{
    knots knots;
    tg_map met = {0};
    knots_init(&knots, (uint32_t)x->e->parent.n);
    link_classes(x, &knots);
    knots_find(&knots);
    for (size_t i = 0; i < x->wanted.n; i++) {
        uint32_t c = x->wanted.v[i];
        if (knots_size(&knots, c) < 2) continue;
        for (size_t k = 0; k < knots.next[c].n; k++) {
            bool fresh;
            uint32_t pair[] = {c, knots.next[c].v[k]};
            if (pair[1] <= c || !knots_together(&knots, c, pair[1])) continue;
            tg_map_put(&met, (uint64_t)c << 32 | pair[1], &fresh);
            if (fresh && feeds(x, c, pair[1])) row_of_cycle(x, pair, 2, r);
        }
    }
    tg_map_free(&met);
    knots_done(&knots);
}

/* What outputs need is used; else what a class needs is used if it is. */
static void rows_of_needs(extraction *x, row *r)
{
    uint32_t n = (uint32_t)x->wanted.n, *place = tg_calloc(x->e->parent.n + 1, sizeof *place);
    needs needs;
    needs_init(&needs, n);
    for (uint32_t i = 0; i < n; i++) place[x->wanted.v[i]] = i;
    for (uint32_t i = n; i--;) {
        const way_vec *ways = &x->ways[x->wanted.v[i]];
        for (size_t k = 0; k < ways->n; k++) {
            const egraph_node *node = node_at(x, ways->v[k].number);
            if (!ways->v[k].column) continue;
            needs_way_begin(&needs, i);
            for (int j = 0; j < node->n_in; j++)
                if (is_needed(x, node, j)) needs_input(&needs, place[input(x, node, j)]);
        }
    }
    needs_find(&needs);
    bool *fixed = tg_calloc((size_t)n + 1, sizeof *fixed);
    for (int i = 0; i < x->n_outputs; i++)
        for (uint32_t j = 0; j < n && x->used[x->outputs[i]]; j++)
            fixed[j] |= needs_has(&needs, place[x->outputs[i]], j);
    for (uint32_t i = 0; i < n; i++) {
        if (fixed[i]) glp_set_col_bnds(x->lp, x->used[x->wanted.v[i]], GLP_FX, 1, 1);
        for (uint32_t j = 0; j < n && !fixed[i]; j++) {
            if (i == j || fixed[j] || !needs_has(&needs, i, j)) continue;
            row_term(r, x->used[x->wanted.v[j]], 1);
            row_term(r, x->used[x->wanted.v[i]], -1);
            row_add(x, r, GLP_LO, 0);
        }
    }
    free(fixed);
    free(place);
    needs_done(&needs);
}

static void formulate(extraction *x)
{
    glp_set_obj_dir(x->lp, GLP_MIN);
    for (int i = 0; i < x->n_outputs; i++) want(x, x->outputs[i]);
    for (size_t i = 0; i < x->wanted.n; i++) {
        uint32_t class = x->wanted.v[i];
        for (size_t k = 0; k < x->ways[class].n; k++)
            if (!is_dominated(x, x->ways[class].v[k].number, class))
                enter_way(x, &x->ways[class].v[k]);
    }
    row r = row_new(x);
    for (size_t i = 0; i < x->wanted.n; i++) {
        rows_of_class(x, x->wanted.v[i], &r);
        rows_of_inputs(x, x->wanted.v[i], &r);
    }
    rows_of_pairs(x, &r);
    rows_of_needs(x, &r);
    row_free(&r);
}

static void watch(glp_tree *tree, void *info)
{
    extraction *x = info;
    int active, all, total;
    glp_ios_tree_size(tree, &active, &all, &total);
    if (tg_job_poll(x->limits->job) != TG_OK) x->cancelled = true;
    x->newest = total;
    if (x->branches + total > x->limits->branches) x->limited = true;
    if (x->cancelled || x->limited) glp_ios_terminate(tree);
}

static double seconds_left(const extraction *x)
{
    double left = x->limits->seconds - (double)(tg_clock_ns() - x->begun_ns) / 1e9;
    return left > 0.001 ? left : 0.001;
}

static tg_status solve(extraction *x)
{
    glp_iocp how;
    glp_init_iocp(&how);
    how.msg_lev = GLP_MSG_OFF;
    how.presolve = GLP_ON;
    how.gmi_cuts = how.mir_cuts = how.clq_cuts = GLP_ON;
    how.mip_gap = 1e-7;
    how.tm_lim = (int)(seconds_left(x) * 1000);
    how.cb_func = watch;
    how.cb_info = x;
    if (glp_get_num_rows(x->lp) && glp_intopt(x->lp, &how)) x->limited = true;
    x->branches += x->newest;
    x->newest = 0;
    int status = glp_mip_status(x->lp);
    if (x->cancelled) return tg_fail(TG_CANCELLED, "cancelled");
    if (!glp_get_num_rows(x->lp) || status == GLP_OPT || status == GLP_FEAS) return TG_OK;
    return tg_fail(TG_NOTFOUND, "no graph was taken within the limits");
}

/* The node that makes a class: as the solution says, or a source. */
static uint32_t maker_of(const extraction *x, uint32_t class)
{
    const way_vec *ways = &x->ways[class];
    for (size_t i = 0; i < ways->n; i++) {
        bool chosen = x->is_free[class]
                          ? is_source(node_at(x, ways->v[i].number))
                          : ways->v[i].column && glp_mip_col_val(x->lp, ways->v[i].column) > 0.5;
        if (chosen) return ways->v[i].number;
    }
    return EGRAPH_ABSENT;
}

/* A walk over the classes that a solution uses. Iterative: graphs are deep. */
typedef struct walk {
    extraction *x;
    unsigned char *state; /* by class */
    TG_VEC(uint32_t) stack, path;
    extract_choice *out;
    unsigned char *listed; /* by node */
    int cycles;
    row row;
} walk;

enum { NEW, OPEN, DONE };

/* Cuts off the cycle that the path closes at the class. */
static void cut(walk *w, uint32_t class)
{
    size_t from = w->path.n;
    while (from && w->path.v[from - 1] != class) from--;
    w->cycles++;
    row_of_cycle(w->x, &w->path.v[from - 1], (int)(w->path.n - from + 1), &w->row);
}

static void leave(walk *w, uint32_t class)
{
    uint32_t number = maker_of(w->x, class);
    w->path.n--;
    w->stack.n--;
    w->state[class] = DONE;
    if (!w->listed[number]) tg_vec_push(&w->out->order, number);
    w->listed[number] = 1;
}

static tg_status enter(walk *w, uint32_t class)
{
    uint32_t number = maker_of(w->x, class);
    if (number == EGRAPH_ABSENT)
        return tg_fail(TG_NOTFOUND, "a class of the e-graph has no operator");
    const egraph_node *n = node_at(w->x, number);
    w->state[class] = OPEN;
    tg_vec_push(&w->path, class);
    for (int k = n->n_in; k--;) {
        uint32_t from = input(w->x, n, k);
        if (from == EGRAPH_ABSENT || w->state[from] == DONE) continue;
        if (w->state[from] == OPEN) cut(w, from);
        else tg_vec_push(&w->stack, from);
    }
    return TG_OK;
}

/* Lists makers of the outputs and what they use, producers first; or adds rows against cycles. */
static tg_status list_makers(extraction *x, extract_choice *out, int *cycles)
{
    walk w = {.x = x,
              .state = tg_calloc(x->e->parent.n + 1, 1),
              .listed = tg_calloc(x->e->nodes.n + 1, 1),
              .out = out,
              .row = row_new(x)};
    tg_status status = TG_OK;
    out->order.n = 0;
    for (int i = x->n_outputs; i--;) tg_vec_push(&w.stack, x->outputs[i]);
    while (w.stack.n && status == TG_OK) {
        uint32_t class = tg_vec_last(&w.stack);
        if (w.state[class] == NEW) status = enter(&w, class);
        else if (w.state[class] == OPEN && tg_vec_last(&w.path) == class) leave(&w, class);
        else w.stack.n--;
    }
    *cycles = w.cycles;
    tg_vec_free(&w.stack);
    tg_vec_free(&w.path);
    free(w.state);
    free(w.listed);
    row_free(&w.row);
    return status;
}

static tg_status run(extraction *x, extract_choice *out)
{
    list_ways(x);
    formulate(x);
    for (int cycles = 1; cycles;) {
        TG_TRY(solve(x));
        out->cost_ms = glp_get_num_rows(x->lp) ? glp_mip_obj_val(x->lp) : 0;
        out->proved = !x->limited && glp_mip_status(x->lp) != GLP_FEAS;
        TG_TRY(list_makers(x, out, &cycles));
        if (cycles && x->limited)
            return tg_fail(TG_NOTFOUND, "what was taken from the e-graph has a cycle");
    }
    return TG_OK;
}

/* Says to GLPK that its words have been printed. */
static int keep_quiet(void *info, const char *words)
{
    (void)info;
    (void)words;
    return 1;
}

static void give_up(void *jump)
{
    longjmp(*(jmp_buf *)jump, 1);
}

/* GLPK would end the process where it gets no memory. */
static tg_status run_guarded(extraction *x, extract_choice *out)
{
    jmp_buf jump;
    if (setjmp(jump)) {
        x->lp = NULL; /* it goes with GLPK's environment */
        return tg_fail(TG_NOMEM, "the integer programme ran out of memory");
    }
    glp_term_hook(keep_quiet, NULL);
    glp_error_hook(give_up, &jump);
    tg_status status = run(x, out);
    glp_error_hook(NULL, NULL);
    return status;
}

tg_status extract_cheapest(egraph *e, const uint32_t *outputs, int n_outputs,
                           const extract_limits *limits, extract_choice *out)
{
    size_t classes = e->parent.n + 1;
    glp_term_out(GLP_OFF);
    extraction x = {.e = e,
                    .limits = limits,
                    .ways = tg_calloc(classes, sizeof *x.ways),
                    .is_free = tg_calloc(classes, sizeof *x.is_free),
                    .used = tg_calloc(classes, sizeof *x.used),
                    .paid = tg_calloc(e->nodes.n + 1, sizeof *x.paid),
                    .outputs = outputs,
                    .n_outputs = n_outputs,
                    .lp = glp_create_prob(),
                    .begun_ns = tg_clock_ns()};
    tg_status status = run_guarded(&x, out);
    if (x.lp) glp_delete_prob(x.lp);
    glp_free_env();
    for (size_t i = 0; i < classes; i++) tg_vec_free(&x.ways[i]);
    free(x.ways);
    free(x.is_free);
    free(x.used);
    free(x.paid);
    tg_vec_free(&x.wanted);
    return status;
}
