/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Tensors of strings: operators that move them, make them, and read them. */
#include "tests/unit/again.h"
#include "tests/unit/op_run.h"

#include "engine/exec/backend.h"
#include "engine/exec/verify.h"
#include "engine/ops/regex.h"
#include "tests/unit/onnx_bytes.h"

/* One output of strings, run and compared. */
#define CHECK_WORDS(op, ins, attrs, shape, ...)                                                    \
    do {                                                                                           \
        op_result r_;                                                                              \
        op_run(&r_, op, ins, attrs, 1);                                                            \
        op_expect_words(&r_, 0, shape, WORDS(__VA_ARGS__));                                        \
        op_done(&r_);                                                                              \
    } while (0)

#define ALL(list) list, sizeof(list) / sizeof *(list)
#define AB TEXTS(SHAPE(2), "a", "b")
#define SIX TEXTS(SHAPE(2, 3), "a", "b", "c", "d", "e", "f")

static void strings_are_moved(void **state)
{
    (void)state;
    op_input index = INPUT(TG_I64, SHAPE(2), 1, 0), yes = INPUT(TG_BOOL, SHAPE(2), 1, 0);
    CHECK_WORDS("Identity", INS(AB), NO_ATTRS, SHAPE(2), "a", "b");
    CHECK_WORDS("Reshape", INS(SIX), ATTRS(INTS("shape", 3, 2)), SHAPE(3, 2), "a", "b", "c", "d",
                "e", "f");
    CHECK_WORDS("Transpose", INS(SIX), NO_ATTRS, SHAPE(3, 2), "a", "d", "b", "e", "c", "f");
    CHECK_WORDS("Concat", INS(AB, TEXTS(SHAPE(1), "")), ATTRS(INT("axis", 0)), SHAPE(3), "a", "b",
                "");
    CHECK_WORDS("Gather", INS(SIX, index), ATTRS(INT("axis", 0)), SHAPE(2, 3), "d", "e", "f", "a",
                "b", "c");
    CHECK_WORDS("Slice", INS(SIX),
                ATTRS(INTS("starts", 1), INTS("ends", 3), INTS("axes", 1), INTS("steps", 1)),
                SHAPE(2, 2), "b", "c", "e", "f");
    CHECK_WORDS("Expand", INS(AB), ATTRS(INTS("shape", 2, 2)), SHAPE(2, 2), "a", "b", "a", "b");
    CHECK_WORDS("Tile", INS(AB), ATTRS(INTS("repeats", 2)), SHAPE(4), "a", "b", "a", "b");
    CHECK_WORDS("Where", INS(yes, AB, TEXTS(SHAPE(1), "zz")), NO_ATTRS, SHAPE(2), "a", "zz");
    CHECK_WORDS("Compress", INS(AB, yes), ATTRS(INT("axis", 0)), SHAPE(1), "a");
    CHECK_WORDS("ScatterElements", INS(AB, INPUT(TG_I64, SHAPE(1), 1), TEXTS(SHAPE(1), "new")),
                NO_ATTRS, SHAPE(2), "a", "new");
    CHECK_WORDS("Pad", INS(AB), ATTRS(INTS("pads", 1, 0)), SHAPE(3), "", "a", "b");
    CHECK_WORDS("Unsqueeze", INS(AB), ATTRS(INTS("axes", 0)), SHAPE(1, 2), "a", "b");
}

/* A constant of strings must not turn into a number where an operator takes one as attribute. */
static void padding_with_a_string(void **state)
{
    (void)state;
    op_input pads = FIXED(TG_I64, SHAPE(2), 0, 1);
    op_result r;
    op_run(&r, "Pad", INS(AB, pads, FIXED_TEXTS(SCALAR, "pad")), NO_ATTRS, 1);
    op_expect_words(&r, 0, SHAPE(3), WORDS("a", "b", "pad"));
    op_done(&r);
}

static void splitting_and_comparing(void **state)
{
    op_result r;
    (void)state;
    op_run(&r, "Split", INS(SIX), ATTRS(INT("axis", 1), INTS("split", 1, 2)), 2);
    op_expect_words(&r, 0, SHAPE(2, 1), WORDS("a", "d"));
    op_expect_words(&r, 1, SHAPE(2, 2), WORDS("b", "c", "e", "f"));
    op_done(&r);
    CHECK_AS(TG_BOOL, "Equal", INS(SIX, TEXTS(SHAPE(3), "a", "b", "f")), NO_ATTRS, SHAPE(2, 3), 1,
             1, 0, 0, 0, 1);
    op_run(&r, "Unique", INS(TEXTS(SHAPE(5), "b", "", "ab", "b", "a")), NO_ATTRS, 4);
    op_expect_words(&r, 0, SHAPE(4), WORDS("", "a", "ab", "b"));
    op_expect(&r, 2, TG_I64, SHAPE(5), VALUES(3, 0, 2, 3, 1));
    op_expect(&r, 3, TG_I64, SHAPE(4), VALUES(1, 1, 1, 2));
    op_done(&r);
    op_refused("Concat", INS(AB, F(SHAPE(1), 1)), ATTRS(INT("axis", 0)), TG_TYPE, "differ");
}

static void casting(void **state)
{
    (void)state;
    op_input third = INPUT(TG_F64, SCALAR, 1.0 / 3), bytes = INPUT(TG_U8, SCALAR, 200);
    CHECK_WORDS("Cast", INS(F(SHAPE(6), 0.1f, -1, 1e-5f, NAN, INFINITY, -INFINITY)),
                ATTRS(INT("to", TG_STR)), SHAPE(6), "0.1", "-1", "1e-05", "NaN", "INF", "-INF");
    CHECK_WORDS("Cast", INS(third), ATTRS(INT("to", TG_STR)), SCALAR, "0.3333333333333333");
    CHECK_WORDS("Cast", INS(bytes), ATTRS(INT("to", TG_STR)), SCALAR, "200");
    CHECK_WORDS("Cast", INS(INPUT(TG_F16, SHAPE(2), 0.1, 2)), ATTRS(INT("to", TG_STR)), SHAPE(2),
                "0.1", "2");
    CHECK_AS(TG_F32, "Cast", INS(TEXTS(SHAPE(4), "3.5", "1e-3", "-inf", "NaN")),
             ATTRS(INT("to", TG_F32)), SHAPE(4), 3.5, 1e-3, -INFINITY, NAN);
    CHECK_AS(TG_I32, "Cast", INS(TEXTS(SHAPE(3), "-7", "2.9", "1e3")), ATTRS(INT("to", TG_I32)),
             SHAPE(3), -7, 2, 1000);
    CHECK_AS(TG_U64, "Cast", INS(TEXTS(SCALAR, "9223372036854775808")), ATTRS(INT("to", TG_U64)),
             SCALAR, 0x1p63);
    const char *const wrong[] = {"", "x", "1x", "0x10", "nan(1)", "1 "};
    for (int i = 0; i < 6; i++) {
        op_result r;
        assert_ok(
            op_build(&r, "Cast", INS(TEXTS(SHAPE(1), wrong[i])), ATTRS(INT("to", TG_F64)), 1));
        assert_status(op_eval(&r), TG_INVALID);
        assert_contains(tg_message(), "is no number");
        op_done(&r);
    }
}

static void concatenating(void **state)
{
    (void)state;
    CHECK_WORDS("StringConcat", INS(TEXTS(SHAPE(2, 1), "x", ""), TEXTS(SHAPE(2), "1", "")),
                NO_ATTRS, SHAPE(2, 2), "x1", "x", "1", "");
    op_refused("StringConcat", INS(AB, F(SHAPE(2), 1, 2)), NO_ATTRS, TG_TYPE, "not string");
    op_refused("StringConcat", INS(AB, TEXTS(SHAPE(3), "", "", "")), NO_ATTRS, TG_SHAPE,
               "do not broadcast");
}

static void check_split(const char *text, const char *delimiter, int most, const char *const *want,
                        size_t n)
{
    op_result r;
    tg_named_attr attrs[2];
    size_t n_attrs = 0;
    if (delimiter) attrs[n_attrs++] = (tg_named_attr)TEXT("delimiter", delimiter);
    if (most >= 0) attrs[n_attrs++] = (tg_named_attr)INT("maxsplit", most);
    op_run(&r, "StringSplit", INS(TEXTS(SHAPE(1), text)), attrs, n_attrs, 2);
    op_expect_words(&r, 0, SHAPE(1, (int64_t)n), want, n);
    op_expect(&r, 1, TG_I64, SHAPE(1), VALUES((double)n));
    op_done(&r);
}

/* As Python's str.split does. */
static void cutting_strings(void **state)
{
    op_result r;
    (void)state;
    check_split("a,b,,c", ",", -1, WORDS("a", "b", "", "c"));
    check_split(",", ",", -1, WORDS("", ""));
    check_split("", ",", -1, WORDS(""));
    check_split("a--b-c", "--", -1, WORDS("a", "b-c"));
    check_split("a b  c", NULL, 1, WORDS("a", "b  c"));
    check_split("  a \t b\n", NULL, -1, WORDS("a", "b"));
    check_split(" a b ", "", 1, WORDS("a", "b "));
    check_split(" \n", NULL, -1, NULL, 0);
    check_split("a,b,c", ",", 0, WORDS("a,b,c"));
    op_run(&r, "StringSplit", INS(TEXTS(SHAPE(2, 1), "a b c", "d")), NO_ATTRS, 2);
    op_expect_words(&r, 0, SHAPE(2, 1, 3), WORDS("a", "b", "c", "d", "", ""));
    op_expect(&r, 1, TG_I64, SHAPE(2, 1), VALUES(3, 1));
    op_done(&r);
    op_refused("StringSplit", INS(AB), ATTRS(INT("maxsplit", -1)), TG_INVALID, "maxsplit");
    op_refused("StringSplit", INS(F(SHAPE(1), 1)), NO_ATTRS, TG_TYPE, "not string");
}

#define STOPWORDS(...)                                                                             \
    {                                                                                              \
        "stopwords",                                                                               \
        {                                                                                          \
            .kind = TG_ATTR_STRS,                                                                  \
            .n = sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *),                      \
            .strs = (const char *const[])                                                          \
            {                                                                                      \
                __VA_ARGS__                                                                        \
            }                                                                                      \
        }                                                                                          \
    }

static void normalising(void **state)
{
    (void)state;
    op_input days = TEXTS(SHAPE(3), "Monday", "tuesday", "MONDAY");
    CHECK_WORDS("StringNormalizer", INS(days), ATTRS(STOPWORDS("monday")), SHAPE(1), "tuesday");
    CHECK_WORDS("StringNormalizer", INS(days),
                ATTRS(STOPWORDS("Monday"), INT("is_case_sensitive", 1),
                      TEXT("case_change_action", "UPPER")),
                SHAPE(2), "TUESDAY", "MONDAY");
    CHECK_WORDS("StringNormalizer", INS(TEXTS(SHAPE(1, 2), "a", "a")), ATTRS(STOPWORDS("A")),
                SHAPE(1, 1), "");
    CHECK_WORDS("StringNormalizer",
                INS(TEXTS(SHAPE(3), "\xc3\x84pfel", "\xc3\xa9\xff", "\xe2\x82")),
                ATTRS(TEXT("case_change_action", "LOWER"), TEXT("locale", "en_US")), SHAPE(3),
                "\xc3\xa4pfel", "\xc3\xa9\xff", "\xe2\x82");
    op_refused("StringNormalizer", INS(days), ATTRS(TEXT("locale", "tr_TR")), TG_UNSUPPORTED,
               "tr_TR");
    op_refused("StringNormalizer", INS(days), ATTRS(TEXT("case_change_action", "MIXED")),
               TG_INVALID, "MIXED");
    op_refused("StringNormalizer", INS(SIX), NO_ATTRS, TG_SHAPE, "2x3");
}

static void counting_ngrams_of_words(void **state)
{
    (void)state;
    tg_named_attr pool = {
        "pool_strings",
        {.kind = TG_ATTR_STRS, .n = 4, .strs = (const char *const[]){"a", "b", "b", "a"}}};
    tg_named_attr attrs[] = {INT("max_gram_length", 2),
                             INT("max_skip_count", 0),
                             INT("min_gram_length", 1),
                             TEXT("mode", "TF"),
                             INTS("ngram_counts", 0, 2),
                             INTS("ngram_indexes", 0, 1, 2),
                             pool};
    CHECK_AS(TG_F32, "TfIdfVectorizer", INS(TEXTS(SHAPE(5), "a", "b", "c", "b", "a")), ALL(attrs),
             SHAPE(3), 2, 2, 1);
}

/* ---- regular expressions ---- */

typedef struct regex_case {
    const char *pattern, *yes, *no; /* texts, cut at '|' */
} regex_case;

static bool matches(const char *pattern, const char *text, size_t n)
{
    tg_regex *regex;
    assert_ok(tg_regex_new(pattern, strlen(pattern), &regex));
    bool found = tg_regex_matches(regex, text, n);
    tg_regex_free(regex);
    return found;
}

static void check_texts(const char *pattern, const char *texts, bool want)
{
    for (const char *at = texts; at;) {
        size_t n = strcspn(at, "|");
        if (matches(pattern, at, n) != want)
            fail_msg("%s: %.*s %s", pattern, (int)n, at, want ? "does not match" : "matches");
        at = at[n] ? at + n + 1 : NULL;
    }
}

static void patterns_match(void **state)
{
    static const regex_case cases[] = {
        {"abc", "abc", "ab|abcd|xabc|"},
        {"a|bc|", "a|bc|", "b|abc"},
        {"a*", "|a|aaaa", "b|ab"},
        {"(ab)+c?", "ab|abab|ababc", "|c|aba"},
        {"a{2}", "aa", "a|aaa"},
        {"a{2,}b", "aab|aaaab", "ab"},
        {"a{1,3}?", "a|aa|aaa", "|aaaa"},
        {"a{,3}", "a{,3}", "a|aa"},
        {"[a-c]+", "abc|c", "d|"},
        {"[^a-c]", "d|\xc3\xa4", "a|dd|\xff"},
        {"[]a]+", "]a", "b"},
        {"[a\\-z]+", "-az", "m"},
        {"[[:alpha:][:^ascii:]]+", "aZ\xc3\xa4", "1"},
        {"\\d{3}-\\d+", "123-4", "12-4|abc-4"},
        {"\\D\\S\\W", "a!.|x5 ", "1a.|a 1"},
        {"[\\D]", "x", "1"},
        {".", "a|\xc3\xa4|\xf0\x9f\x98\x80", "|ab|\n"},
        {"(?s).", "\n", ""},
        {"(?i)stra\xc3\x9f"
         "e[x-z]",
         "STRA\xc3\x9f"
         "EY|stra\xc3\x9f"
         "ez",
         "strasse"},
        {"(?i:a)b", "Ab|ab", "aB"},
        {"(?P<user>\\w+)@(?<host>\\w+)\\.com", "a_1@b.com", "a@b.org|@b.com"},
        {"^a$", "a", "a\n"},
        {"(?m)a$\\n^b", "a\nb", "ab"},
        {"\\bfoo\\b.*", "foo bar", "foobar"},
        {"fo\\Bo", "foo", "fo o"},
        {"\\Aa\\z", "a", "b"},
        {"\\x41\\x{1F600}\\101\\t",
         "A\xf0\x9f\x98\x80"
         "A\t",
         "A"},
        {"(\\Qa)*\\E)?c\\Q\\E", "a)*c|c", "ac"},
        {"\\Qa.b*\\E+", "a.b*|a.b***", "axb|a.b*+"},
        {"\\Qa.b\\E", "a.b", "axb"},
        {"(a*)*b", "aaab|b", "aaa"},
        {"(|a)+", "|aa", "b"},
        {"a\\.b\\\\c\\[", "a.b\\c[", "axb\\c["},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_texts(cases[i].pattern, cases[i].yes, true);
        check_texts(cases[i].pattern, cases[i].no, false);
    }
}

/* The time that backtracking takes for this grows as 2^n. */
static void matching_takes_no_longer_than_pattern_by_text(void **state)
{
    char text[4001];
    (void)state;
    memset(text, 'a', sizeof text);
    assert_false(matches("((a+)+)+b", text, sizeof text));
    assert_true(matches("((a?){50}a{50})*a?", text, sizeof text));
}

static void bad_patterns_are_refused(void **state)
{
    static const struct {
        const char *pattern;
        tg_status status;
        const char *words;
    } cases[] = {{"(a", TG_INVALID, ") is missing"},
                 {"a)", TG_INVALID, ") without ("},
                 {"[a", TG_INVALID, "] is missing"},
                 {"[b-a]", TG_INVALID, "goes down"},
                 {"[[:none:]]", TG_INVALID, "no such class"},
                 {"*a", TG_INVALID, "nothing to repeat"},
                 {"a**", TG_INVALID, "a repeat of a repeat"},
                 {"a{3,2}", TG_INVALID, "repeat of no such number"},
                 {"a{1001}", TG_INVALID, "repeat of no such number"},
                 {"(a)\\1", TG_INVALID, "references"},
                 {"(?=a)", TG_INVALID, "no such group"},
                 {"\\pL", TG_UNSUPPORTED, "\\p"},
                 {"\\y", TG_INVALID, "no such escape"},
                 {"a\\", TG_INVALID, "too early"},
                 {"\\x{110000}", TG_INVALID, "no such character"},
                 {"\xff", TG_INVALID, "not UTF-8"},
                 {"((a{1000}){1000}){1000}", TG_LIMIT, "too large"},
                 {"((((){1000}){1000}){1000}){1000}", TG_LIMIT, "too large"}};
    tg_regex *regex;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *p = cases[i].pattern;
        assert_status(tg_regex_new(p, strlen(p), &regex), cases[i].status);
        assert_contains(tg_message(), cases[i].words);
    }
    char deep[1000];
    memset(deep, '(', sizeof deep);
    assert_status(tg_regex_new(deep, sizeof deep, &regex), TG_LIMIT);
    op_refused("RegexFullMatch", INS(AB), ATTRS(TEXT("pattern", "(")), TG_INVALID, "is missing");
}

static void full_matches(void **state)
{
    (void)state;
    CHECK_AS(TG_BOOL, "RegexFullMatch",
             INS(TEXTS(SHAPE(2, 2), "www.google.com", "www.facebook.com", "www.bbc.co.uk", "")),
             ATTRS(TEXT("pattern", "www\\.[\\w.-]+\\.\\bcom\\b")), SHAPE(2, 2), 1, 1, 0, 0);
}

/* Any bytes are either a pattern or refused, and either match or not. */
static void drawn_patterns_are_safe(void **state)
{
    static const char parts[] = "aab(()|*+?{2}{1,3}[]^$.\\dwsDbB-z:i?P<>,x{41}QE\xc3\xa4\xff";
    uint64_t seed = 1;
    int made = 0;
    (void)state;
    for (int i = 0; i < 20000; i++) {
        char text[24];
        size_t n = 0;
        for (seed = seed * 6364136223846793005u + 1442695040888963407u; n < (seed >> 60) + 3; n++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            text[n] = parts[(seed >> 33) % (sizeof parts - 1)];
        }
        tg_regex *regex;
        if (tg_regex_new(text, n, &regex) != TG_OK) continue;
        made++;
        tg_regex_matches(regex, text, n);
        tg_regex_matches(regex, "aabab", 5);
        tg_regex_free(regex);
    }
    assert_true(made > 1000);
}

/* ---- models ---- */

/* y = StringConcat(x, c) with a constant of strings; z = the constant itself. */
static tg_graph *model_with_strings(void)
{
    tg_graph *g;
    uint32_t id;
    tg_origin *origin = tg_origin_new();
    tg_builder *b = tg_builder_new(origin);
    tg_type type = {TG_STR, SHAPE(2)};
    tg_tensor c = {TG_STR, SHAPE(2), (tg_string[]){{"-end", 4}, {NULL, 0}}};
    tg_value v[2] = {tg_build_input(b, "x", &type)};
    v[1] = tg_build_const(b, TG_STR, &c.shape, tg_tensor_weight(&c), "z");
    tg_node_spec spec = {.op = tg_op_find("", "StringConcat"), .in = v, .n_in = 2};
    assert_ok(tg_build_node(b, &spec, &id));
    tg_build_outputs(b, (tg_value[]){tg_value_of(id, 0), v[1]}, (const char *const[]){"y", "z"}, 2);
    assert_ok(tg_build_done(b, &g));
    tg_origin_unref(origin);
    assert_ok(tg_check(g));
    return g;
}

static void run_model(const tg_graph *g, const char *backend)
{
    tg_tensor out[2], x = {TG_STR, SHAPE(2), (tg_string[]){{"a\0b", 3}, {"q", 1}}};
    tg_plan *plan;
    assert_ok(tg_plan_new(tg_backend_find(backend), g, NULL, &plan));
    assert_ok(tg_plan_run(plan, &x, out));
    tg_string want[] = {{"a\0b-end", 7}, {"q", 1}}, *got = out[0].data;
    assert_true(tg_string_equal(&got[0], &want[0]) && tg_string_equal(&got[1], &want[1]));
    got = out[1].data;
    assert_true(tg_string_equal(&got[0], &(tg_string){"-end", 4}) && got[1].n == 0);
    tg_tensor_free(&out[0]);
    tg_tensor_free(&out[1]);
    tg_plan_free(plan);
}

static void models_with_strings_run_and_go_round(void **state)
{
    tg_graph *g = model_with_strings();
    tg_verify_report report;
    (void)state;
    run_model(g, "cpu");
    tg_graph *back = graph_again(g);
    assert_true(back->hash == g->hash);
    run_model(back, "cpu");
    assert_ok(tg_verify(g, back, 1, NULL, &report));
    assert_int_equal(report.compared, 2);
    tg_graph_unref(back);
    tg_graph_unref(g);
}

static void differing_strings_are_told(void **state)
{
    (void)state;
    tg_tensor a = {TG_STR, SHAPE(2), (tg_string[]){{"a", 1}, {"b", 1}}};
    tg_tensor b = {TG_STR, SHAPE(2), (tg_string[]){{"a", 1}, {NULL, 0}}};
    double x, y;
    assert_ok(tg_tensor_compare(&a, &a, 1, &x, &y));
    assert_status(tg_tensor_compare(&a, &b, 1, &x, &y), TG_DIFFERS);
    assert_contains(tg_message(), "element 1 is '', not 'b'");
    assert_true(tg_tensor_hash(0, &a) != tg_tensor_hash(0, &b));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(strings_are_moved),
    cmocka_unit_test(padding_with_a_string),
    cmocka_unit_test(splitting_and_comparing),
    cmocka_unit_test(casting),
    cmocka_unit_test(concatenating),
    cmocka_unit_test(cutting_strings),
    cmocka_unit_test(normalising),
    cmocka_unit_test(counting_ngrams_of_words),
    cmocka_unit_test(patterns_match),
    cmocka_unit_test(matching_takes_no_longer_than_pattern_by_text),
    cmocka_unit_test(bad_patterns_are_refused),
    cmocka_unit_test(full_matches),
    cmocka_unit_test(drawn_patterns_are_safe),
    cmocka_unit_test(models_with_strings_run_and_go_round),
    cmocka_unit_test(differing_strings_are_told),
};
UNIT_MAIN(tests)
