/* SPDX-License-Identifier: GPL-3.0-or-later */
/* TASO's rule file: read, made sound, and refused where TASO would be wrong. */
#include "tests/unit/unit.h"

#include "engine/base/hash.h"
#include "engine/engine.h"
#include "engine/rewrite/prove.h"
#include "engine/rewrite/rule_taso.h"
#include "samples/maker.h"
#include "samples/samples.h"

#define RULE_FILE "rules/graph_subst.pb"

typedef struct bytes {
    char *p;
    size_t n;
} bytes;

static bytes read_rules(void)
{
    bytes b;
    assert_ok(tg_read_file(unit_shared(RULE_FILE), 1 << 20, &b.p, &b.n));
    return b;
}

static tg_rules *load(void)
{
    const char *path = unit_shared(RULE_FILE);
    tg_rules *rules;
    assert_ok(tg_rules_load(&path, 1, &rules));
    return rules;
}

/* ---- the file ------------------------------------------------------------------------------- */

static void the_file_holds_what_it_should(void **state)
{
    (void)state;
    static const struct {
        int rule;
        const char *words;
    } rows[] = {
        {0, "mm(mm(x,y),z) => mm(x,mm(y,z))"},
        {38, "add(mul(x,y),mul(z,mul(x,y))) => mul(y,add(x,mul(x,z)))"},
        {63, "relu(conv(x,y)) ; convR(z,w) => convR(x,y) ; relu(conv(z,w))"},
        {84, "cat0/2(cat1/2(x,y),cat1/2(z,w)) => cat1/2(cat0/2(x,z),cat0/2(y,w))"},
        {118, "relu(conv(x,y)) ; convR(z,y) => spl0.0(convR(cat0/4(x,z),y)) ; "
              "spl0.1(convR(cat0/4(x,z),y))"},
        {132, "cat0/4(cat1/4(x,y),cat1/4(y,z)) => cat1/4(cat0/4(x,y),cat0/4(y,z))"},
    };
    tg_arena *arena = tg_arena_new();
    bytes b = read_rules();
    taso_rules rules;
    assert_ok(taso_decode(b.p, b.n, "x.pb", arena, &rules));
    assert_int_equal(rules.n, 133);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_str words = {0};
        taso_rule_words(&rules.v[rows[i].rule], &words);
        assert_string_equal(words.p, rows[i].words);
        tg_str_free(&words);
    }
    free(b.p);
    tg_arena_free(arena);
}

static void rules_that_are_the_same_are_known(void **state)
{
    (void)state;
    tg_arena *arena = tg_arena_new();
    bytes b = read_rules();
    taso_rules rules;
    int distinct = 0, dead = 0, live = 0;
    tg_map seen = {0};
    assert_ok(taso_decode(b.p, b.n, "x.pb", arena, &rules));
    for (int i = 0; i < rules.n; i++) {
        tg_str text = {0};
        bool fresh;
        taso_rule_identity(&rules.v[i], &text);
        tg_map_put(&seen, tg_hash_str(1, text.p), &fresh);
        dead += taso_rule_dead(&rules.v[i]);
        distinct += fresh;
        live += fresh && !taso_rule_dead(&rules.v[i]);
        tg_str_free(&text);
    }
    assert_int_equal(dead, 14);
    assert_int_equal(distinct, 93);
    assert_int_equal(live, 83);
    tg_map_free(&seen);
    free(b.p);
    tg_arena_free(arena);
}

static void bad_bytes_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        size_t n;
        const char *words;
    } rows[] = {
        {"", 0, "byte 0: the file holds no rule"},
        {"\x0a", 1, "byte 1: a number is cut off"},
        {"\x0a\x05\x0a", 3, "a message is longer than the file"},
        {"\x0b\x00", 2, "byte 1: field 1 has the wrong kind"},
        {"\x12\x00", 2, "byte 0: an unknown field"},
        {"\x0a\x00", 2, "a rule has no result"},
        {"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12, "more than 10 bytes"},
        {"\x0a\x04\x0a\x02\x08\x63", 6, "an operator has 0 inputs"},
        {"\x0a\x0a\x0a\x08\x08\x08\x12\x04\x08\x05\x10\x00", 12,
         "operator 5 is not an earlier one"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_arena *arena = tg_arena_new();
        taso_rules rules;
        assert_status(taso_decode(rows[i].bytes, rows[i].n, "x.pb", arena, &rules), TG_RULE);
        assert_contains(tg_message(), rows[i].words);
        tg_arena_free(arena);
    }
}

static void mutate(bytes *b, tg_rng *rng)
{
    for (int n = 1 + (int)tg_rng_below(rng, 2); n > 0; n--) {
        size_t at = tg_rng_below(rng, b->n);
        switch (tg_rng_below(rng, 4)) {
        case 0: b->p[at] = (char)tg_rng_below(rng, 256); break;
        case 1: b->p[at] ^= (char)(1 << tg_rng_below(rng, 8)); break;
        case 2: memmove(b->p + at, b->p + at + 1, --b->n - at); break;
        default: b->n = at + 1;
        }
    }
}

/* Whatever the bytes: rules, or one line; and what is read can be written and parsed. */
static void any_bytes_are_rules_or_one_line(void **state)
{
    (void)state;
    bytes whole = read_rules();
    tg_rng *rng = tg_rng_new(5);
    int good = 0, bad = 0;
    for (int i = 0; i < 1500; i++) {
        bytes b = {malloc(whole.n), whole.n};
        memcpy(b.p, whole.p, whole.n);
        mutate(&b, rng);
        tg_arena *arena = tg_arena_new();
        taso_rules rules;
        tg_status status = taso_decode(b.p, b.n, "x.pb", arena, &rules);
        if (status == TG_OK) {
            if (good++ < 40) {
                const char *path = unit_temporary("mutated.pb");
                tg_rules *loaded;
                assert_ok(tg_write_file(path, b.p, b.n));
                assert_ok(tg_rules_load(&path, 1, &loaded));
                tg_rules_unref(loaded);
            }
        } else {
            bad++;
            assert_int_equal(status, TG_RULE);
            assert_null(strchr(tg_message(), '\n'));
            assert_contains(tg_message(), "x.pb: byte ");
        }
        tg_arena_free(arena);
        free(b.p);
    }
    assert_true(good > 10 && bad > 1000);
    tg_rng_free(rng);
    free(whole.p);
}

/* ---- as ordinary rules ---------------------------------------------------------------------- */

static void all_sound_rules_are_there_and_proved(void **state)
{
    (void)state;
    tg_rules *rules = load();
    assert_int_equal(tg_rules_count(rules), 83 + 14);
    for (int i = 0; i < tg_rules_count(rules); i++) {
        tg_rule_report report;
        assert_ok(tg_rule_prove(rules, i, 7, 12, &report));
        assert_int_equal(report.earned, report.conditions);
        assert_int_equal(report.samples, 12);
    }
    tg_rules_unref(rules);
}

static void the_rule_that_drops_a_factor_is_not_loaded(void **state)
{
    (void)state;
    static const char *const names[] = {"taso-b2", "taso-b5", "taso-b8", "taso-b11"};
    tg_rules *rules = load();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(tg_rules_find(rules, names[i]), -1);
    assert_true(tg_rules_find(rules, "taso-b17") >= 0);
    tg_rules_unref(rules);
}

/* ---- unsound places ------------------------------------------------------------------------- */

static tg_value outs[4];
static int n_outs;

static tg_value filter(maker *m, int64_t o, int64_t i, int64_t k)
{
    return make_weight(m, DIMS(o, i, k, k), 0.1);
}

static tg_value conv_of(maker *m, tg_value x, tg_value w, int64_t group, bool relu)
{
    tg_named_attr attrs[] = {{"group", TG_ATTR_OF_INT(group)},
                             {"auto_pad", tg_attr_str("SAME_UPPER")},
                             {"activation", tg_attr_str(relu ? "Relu" : "")}};
    return make_op(m, TG_OP(Conv), (tg_value[]){x, w}, 2, attrs, 3);
}

static tg_value image(maker *m, const char *name, int64_t channels)
{
    return make_input(m, name, DIMS(1, channels, 5, 5));
}

static void out(tg_value v)
{
    outs[n_outs++] = v;
}

static tg_value join(maker *m, tg_value a, tg_value b, int64_t axis)
{
    return make_concat(m, (tg_value[]){a, b}, 2, axis);
}

/* Each case: `wrong` is where TASO would be wrong, else its sound twin. */
static void two_kernels(maker *m, bool wrong)
{
    int64_t g = wrong ? 2 : 1;
    tg_value x = image(m, "x", 4);
    out(conv_of(m, x, filter(m, 4, 4 / g, 1), g, false));
    out(conv_of(m, x, filter(m, 4, 4 / g, 3), g, false));
}

static void two_like_kernels(maker *m, bool wrong)
{
    int64_t g = wrong ? 4 : 1;
    tg_value x = image(m, "x", 4);
    out(conv_of(m, x, filter(m, 4, 4 / g, 3), g, false));
    out(conv_of(m, x, filter(m, 4, 4 / g, 3), g, false));
}

static void added_convs(maker *m, bool wrong)
{
    int64_t g = wrong ? 2 : 1;
    tg_value a = conv_of(m, image(m, "x", 4), filter(m, 4, 4 / g, 3), g, false);
    tg_value b = conv_of(m, image(m, "z", 4), filter(m, 4, 4 / g, 3), g, false);
    out(make_binary(m, TG_OP(Add), a, b));
}

static void joined_convs(maker *m, bool wrong)
{
    tg_value a = conv_of(m, image(m, "x", 2), filter(m, 2, 2, 3), 1, false);
    tg_value b = conv_of(m, image(m, "z", 4), filter(m, wrong ? 10 : 4, 2, 3), 2, false);
    out(join(m, a, b, 1));
}

static void added_filters(maker *m, bool wrong)
{
    tg_value a = make_input(m, "y", DIMS(4, 2, 3, 3));
    tg_value b = make_input(m, "z", DIMS(wrong ? 1 : 4, 2, 3, 3));
    out(conv_of(m, image(m, "x", 2), make_binary(m, TG_OP(Add), a, b), 1, false));
}

static void added_images(maker *m, bool wrong)
{
    tg_value b = make_input(m, "z", DIMS(1, 2, wrong ? 1 : 5, 5));
    tg_value t = make_binary(m, TG_OP(Add), image(m, "x", 2), b);
    out(conv_of(m, t, filter(m, 4, 2, 3), 1, false));
}

static void joined_sums(maker *m, bool wrong)
{
    tg_value x = make_input(m, "x", DIMS(2, 3)), z = make_input(m, "z", DIMS(2, 3));
    tg_value y = make_input(m, "y", DIMS(2, wrong ? 1 : 3));
    tg_value a = make_binary(m, TG_OP(Add), x, y), b = make_binary(m, TG_OP(Add), y, z);
    out(join(m, a, b, 1));
}

static void joined_products(maker *m, bool wrong)
{
    tg_value v[4];
    for (int i = 0; i < 4; i++)
        v[i] = make_input(m, &"a\0b\0c\0d"[2 * i], DIMS(wrong && i == 1 ? 1 : 2, 3));
    tg_value a = make_binary(m, TG_OP(Mul), v[0], v[1]), b = make_binary(m, TG_OP(Mul), v[2], v[3]);
    out(join(m, a, b, 0));
}

static void conv_then_relu(maker *m, bool wrong)
{
    tg_value t = conv_of(m, image(m, "x", 2), filter(m, 4, 2, 3), 1, false);
    if (wrong) out(t);
    out(make_unary(m, TG_OP(Relu), t));
}

static const struct {
    const char *rule;
    void (*build)(maker *m, bool wrong);
} unsound[] = {
    {"taso-b12", two_kernels},     {"taso-pb127", two_like_kernels}, {"taso-pb98", added_convs},
    {"taso-pb99", joined_convs},   {"taso-pb59", added_filters},     {"taso-pb60", added_images},
    {"taso-pb71", joined_sums},    {"taso-pb83", joined_products},   {"taso-b0", conv_then_relu},
    {"taso-pb64", conv_then_relu},
};

static tg_graph *build(void (*case_of)(maker *m, bool wrong), bool wrong)
{
    static const char *const names[] = {"o0", "o1", "o2", "o3"};
    tg_origin *origin = tg_origin_new();
    maker m = {.b = tg_builder_new(origin), .rng = tg_rng_new(1)};
    tg_graph *g;
    n_outs = 0;
    case_of(&m, wrong);
    assert_ok(m.status);
    tg_build_outputs(m.b, outs, names, n_outs);
    assert_ok(tg_build_done(m.b, &g));
    tg_rng_free(m.rng);
    tg_origin_unref(origin);
    return g;
}

static int offered(const tg_rules *rules, const tg_graph *g, const char *rule)
{
    tg_candidates *c;
    int n = 0;
    assert_ok(tg_candidates_find(rules, g, NULL, &c));
    for (int i = 0; i < tg_candidates_count(c); i++)
        n += strcmp(tg_rules_get(rules, tg_candidates_get(c, i)->site->rule)->name, rule) == 0;
    tg_candidates_free(c);
    return n;
}

static bool is_rule(void *name, const tg_rule_info *info)
{
    return strcmp(info->name, name) == 0;
}

static void unsound_rewrites_are_refused(void **state)
{
    (void)state;
    tg_rules *all = load();
    for (size_t i = 0; i < sizeof unsound / sizeof *unsound; i++) {
        tg_rules *rules = tg_rules_select(all, is_rule, (void *)(uintptr_t)unsound[i].rule);
        tg_graph *wrong = build(unsound[i].build, true), *right = build(unsound[i].build, false);
        if (offered(rules, wrong, unsound[i].rule)) fail_msg("%s is offered", unsound[i].rule);
        if (!offered(rules, right, unsound[i].rule)) fail_msg("%s is lost", unsound[i].rule);
        tg_graph_unref(wrong);
        tg_graph_unref(right);
        tg_rules_unref(rules);
    }
    tg_rules_unref(all);
}

static void gate(maker *m, bool wrong)
{
    (void)wrong;
    tg_value t = conv_of(m, image(m, "x", 2), filter(m, 4, 2, 3), 1, false);
    out(make_binary(m, TG_OP(Mul), t, make_input(m, "y", DIMS(1, 4, 1, 1))));
}

static void a_gate_stays(void **state)
{
    (void)state;
    tg_rules *rules = load();
    tg_graph *g = build(gate, false);
    tg_candidates *c;
    assert_ok(tg_candidates_find(rules, g, NULL, &c));
    assert_int_equal(tg_candidates_count(c), 0);
    tg_candidates_free(c);
    tg_graph_unref(g);
    tg_rules_unref(rules);
}

/* ---- after steps ---------------------------------------------------------------------------- */

/* Patterns that are not connected pair what changed with nodes far away. */
static void sites_after_a_step_are_those_found_afresh(void **state)
{
    (void)state;
    static const char *const names[] = {"taso-nasrnnx1", "taso-squeezenet", "taso-bertx2"};
    tg_rules *rules = load();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        tg_graph *g, *next;
        tg_candidates *c, *updated, *fresh;
        tg_rng *rng = tg_rng_new(i);
        assert_ok(tg_sample_build(names[i], 1, true, &g));
        assert_ok(tg_candidates_find(rules, g, NULL, &c));
        for (int step = 0; step < 6 && tg_candidates_count(c); step++) {
            int n = tg_candidates_count(c);
            assert_ok(tg_candidates_apply(c, (int)tg_rng_below(rng, (uint64_t)n), &next));
            assert_ok(tg_candidates_update(c, next, NULL, &updated));
            assert_ok(tg_candidates_find(rules, next, NULL, &fresh));
            assert_int_equal(tg_candidates_count(updated), tg_candidates_count(fresh));
            for (int k = 0; k < tg_candidates_count(fresh); k++) {
                const tg_candidate *a = tg_candidates_get(updated, k);
                const tg_candidate *b = tg_candidates_get(fresh, k);
                assert_true(a->site->key == b->site->key);
                assert_true(a->preview.change == b->preview.change);
                assert_true(tg_preview_hash(next, &a->preview) ==
                            tg_preview_hash(next, &b->preview));
            }
            tg_candidates_free(fresh);
            tg_candidates_free(c);
            tg_graph_unref(g);
            c = updated;
            g = next;
        }
        tg_candidates_free(c);
        tg_graph_unref(g);
        tg_rng_free(rng);
    }
    tg_rules_unref(rules);
}

/* The costs that TASO's own search reaches with the rules that are sound, or less. */
static void backtracking_reaches_published_costs(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        int budget;
        double ms;
    } rows[] = {
        {"taso-squeezenet", 101, 0.2941}, {"taso-resnet18bn", 101, 0.7256},
        {"taso-resnet50", 1001, 1.8103},  {"taso-bert", 101, 0.7456},
        {"taso-resnext50", 101, 1.9398},  {"taso-inceptionv3", 31, 2.2903},
        {"taso-nasrnn", 101, 1.0072},     {"taso-nasnet_a", 101, 7.3709},
    };
    tg_rules *rules = load();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_search_options o = {.alpha = 1.05, .budget = rows[i].budget};
        tg_search_report r;
        tg_graph *g;
        tg_trail *best;
        assert_ok(tg_sample_build(rows[i].name, 1, true, &g));
        assert_ok(tg_search_run(tg_search_find("taso"), rules, g, &o, &r, &best));
        if (best->cost_ms > rows[i].ms + 0.00005)
            fail_msg("%s: %.4f ms, not %.4f", rows[i].name, best->cost_ms, rows[i].ms);
        tg_trail_unref(best);
        tg_graph_unref(g);
    }
    tg_rules_unref(rules);
}

/*
 * What saturation finds with the same rules. Where `less` is not set, no graph brings its
 * e-graph anything new, and the integer programme proves that nothing in it is cheaper: there, what
 * backtracking finds is the best that the rules lead to.
 */
static void saturation_beats_backtracking_or_proves_it_best(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool less;
        double ms;
        int budget;
    } rows[] = {
        {"taso-squeezenet", true, 0.2807, 0},   {"taso-nasrnn", true, 0.8568, 240},
        {"taso-nasnet_a", true, 7.2000, 240},   {"taso-bert", false, 0.5932, 0},
        {"taso-resnet18bn", false, 0.7256, 0},  {"taso-resnet50", false, 1.8103, 0},
        {"taso-inceptionv3", false, 2.2903, 0}, {"taso-resnext50", false, 1.9398, 0},
    };
    tg_rules *rules = load();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tg_search_options o = {.budget = rows[i].budget}, taso = {.alpha = 1.05, .budget = 101};
        tg_search_report r, other;
        tg_graph *g;
        tg_trail *best, *back;
        assert_ok(tg_sample_build(rows[i].name, 1, true, &g));
        assert_ok(tg_search_run(tg_search_find("saturate"), rules, g, &o, &r, &best));
        assert_ok(tg_search_run(tg_search_find("taso"), rules, g, &taso, &other, &back));
        print_message("%s: %.4f ms, taso %.4f, %s, %d operators%s\n", rows[i].name, best->cost_ms,
                      back->cost_ms, r.stop, r.equal_nodes, r.proved ? ", proved" : "");
        assert_ok(tg_check(best->graph));
        assert_true(best->cost_ms < rows[i].ms + 0.00005);
        if (rows[i].less) assert_true(best->cost_ms < 0.98 * back->cost_ms);
        if (!rows[i].less) assert_true(best->cost_ms > back->cost_ms * (1 - 1e-6));
        if (!rows[i].less) assert_true(r.proved && strcmp(r.stop, "saturated") == 0);
        tg_trail_unref(best);
        tg_trail_unref(back);
        tg_graph_unref(g);
    }
    tg_rules_unref(rules);
}

/* Those that the file holds, not those that TASO has built in: these need other operators. */
static void generated_rules_cover_the_file(void **state)
{
    (void)state;
    const char *path = unit_source("rules/generated.rules");
    tg_rules *generated, *taso = load();
    assert_ok(tg_rules_load(&path, 1, &generated));
    int n = tg_rules_count(taso), found = 0, *steps = tg_calloc((size_t)n, sizeof *steps);
    assert_ok(tg_rules_cover(generated, taso, 5, NULL, steps));
    for (int i = 0; i < n; i++) {
        const char *name = tg_rules_get(taso, i)->name;
        if (strncmp(name, "taso-pb", 7) != 0) continue;
        if (steps[i] < 0) fail_msg("%s is not covered", name);
        found++;
    }
    assert_int_equal(found, 83);
    free(steps);
    tg_rules_unref(taso);
    tg_rules_unref(generated);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(the_file_holds_what_it_should),
    cmocka_unit_test(rules_that_are_the_same_are_known),
    cmocka_unit_test(bad_bytes_are_named),
    cmocka_unit_test(any_bytes_are_rules_or_one_line),
    cmocka_unit_test(all_sound_rules_are_there_and_proved),
    cmocka_unit_test(the_rule_that_drops_a_factor_is_not_loaded),
    cmocka_unit_test(unsound_rewrites_are_refused),
    cmocka_unit_test(a_gate_stays),
    cmocka_unit_test(sites_after_a_step_are_those_found_afresh),
    cmocka_unit_test(backtracking_reaches_published_costs),
    cmocka_unit_test(saturation_beats_backtracking_or_proves_it_best),
    cmocka_unit_test(generated_rules_cover_the_file),
};

static const char *why_not(void)
{
    return unit_shared(RULE_FILE) ? NULL : "TASO's rule file is not beside the checkout";
}

UNIT_MAIN_IF(tests, why_not())
