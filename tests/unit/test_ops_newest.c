/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The operators of the newest opsets, and the rarer ones, against values worked out by hand. */
#include "tests/unit/again.h"
#include "tests/unit/op_run.h"

#include "engine/onnx/onnx.h"

#define I64(shape, ...) INPUT(TG_I64, shape, __VA_ARGS__)
#define L3 1.0986122886681098 /* log 3 */

/* One head of size 1: the key that scores log 3 weighs three times as much as the one that scores
 * 0. */
static void attention_weighs_values(void **state)
{
    (void)state;
    op_input q = F(SHAPE(1, 1, 1, 1), L3), k = F(SHAPE(1, 1, 2, 1), 0, 1);
    op_input v = F(SHAPE(1, 1, 2, 1), 8, 4);
    CHECK1("Attention", INS(q, k, v), NO_ATTRS, SHAPE(1, 1, 1, 1), 5);
    CHECK1("Attention", INS(q, k, v), ATTRS(REAL("scale", 0)), SHAPE(1, 1, 1, 1), 6);
    CHECK1("Attention", INS(q, k, v, INPUT(TG_BOOL, SHAPE(1, 2), 1, 0)), NO_ATTRS,
           SHAPE(1, 1, 1, 1), 8);
    CHECK1("Attention", INS(q, k, v, F(SHAPE(2), L3, 0)), NO_ATTRS, SHAPE(1, 1, 1, 1), 6);
    CHECK1("Attention", INS(q, k, v, F(SHAPE(1), 0)), NO_ATTRS, SHAPE(1, 1, 1, 1), 8);
    op_refused("Attention", INS(q, k, v, F(SHAPE(3), 0, 0, 0)), NO_ATTRS, TG_SHAPE, "the mask");
}

/* Two queries and three keys that all score 0: a result is the mean of the values that are seen. */
static void attention_sees_what_it_may(void **state)
{
    (void)state;
    op_input q = F(SHAPE(1, 1, 2, 1), 0, 0), k = F(SHAPE(1, 1, 3, 1), 1, 2, 3);
    op_input v = F(SHAPE(1, 1, 3, 1), 6, 12, 30);
    CHECK1("Attention", INS(q, k, v), ATTRS(INT("is_causal", 1)), SHAPE(1, 1, 2, 1), 6, 9);
    CHECK1("Attention", INS(q, k, v, ABSENT, ABSENT, ABSENT, I64(SHAPE(1), 2)), NO_ATTRS,
           SHAPE(1, 1, 2, 1), 9, 9);
    CHECK1("Attention", INS(q, k, v, ABSENT, ABSENT, ABSENT, I64(SHAPE(1), 3)),
           ATTRS(INT("is_causal", 1)), SHAPE(1, 1, 2, 1), 9, 16);
    /* Of one valid key the first query sees none. */
    CHECK1("Attention", INS(q, k, v, ABSENT, ABSENT, ABSENT, I64(SHAPE(1), 1)),
           ATTRS(INT("is_causal", 1)), SHAPE(1, 1, 2, 1), 0, 6);
    CHECK1("Attention", INS(q, k, v), ATTRS(INT("left_window_size", 0)), SHAPE(1, 1, 2, 1), 16, 21);
    CHECK1("Attention", INS(q, k, v),
           ATTRS(INT("left_window_size", 0), INT("right_window_size", 0)), SHAPE(1, 1, 2, 1), 6,
           12);
}

/* More queries than are worked on at once: with equal scores, query i sees the mean of 0 to i. */
static void attention_of_many_queries(void **state)
{
    (void)state;
    enum { N = 150 };
    static double zero[N], v[N], want[N];
    for (int i = 0; i < N; i++) v[i] = i, want[i] = i / 2.0;
    op_input x = {.dtype = TG_F32, .shape = SHAPE(1, 1, N, 1), .v = zero, .n = N}, value = x;
    op_result r;
    value.v = v;
    op_run(&r, "Attention", INS(x, x, value), ATTRS(INT("is_causal", 1)), 1);
    op_expect(&r, 0, TG_F32, SHAPE(1, 1, N, 1), want, N);
    op_done(&r);
}

static void attention_keeps_keys_and_values(void **state)
{
    (void)state;
    op_result r;
    op_input q = F(SHAPE(1, 1, 2, 1), 0, 0), k = F(SHAPE(1, 1, 1, 1), 7),
             v = F(SHAPE(1, 1, 1, 2), 4, 2);
    op_run(&r, "Attention",
           INS(q, k, v, ABSENT, F(SHAPE(1, 1, 1, 1), 5), F(SHAPE(1, 1, 1, 2), 8, 6)), NO_ATTRS, 4);
    op_expect(&r, 0, TG_F32, SHAPE(1, 1, 2, 2), VALUES(6, 4, 6, 4));
    op_expect(&r, 1, TG_F32, SHAPE(1, 1, 2, 1), VALUES(5, 7));
    op_expect(&r, 2, TG_F32, SHAPE(1, 1, 2, 2), VALUES(8, 6, 4, 2));
    op_expect(&r, 3, TG_F32, SHAPE(1, 1, 2, 2), VALUES(0, 0, 0, 0));
    op_done(&r);
    op_refused("Attention", INS(q, k, v, ABSENT, F(SHAPE(1, 1, 1, 1), 5)), NO_ATTRS, TG_INVALID,
               "come together");
}

/* Four heads of the query share two of key and value, all of size 1, in the last of three axes. */
static void attention_heads_share_keys(void **state)
{
    (void)state;
    op_input q = F(SHAPE(1, 1, 4), 0, 0, 0, 0), k = F(SHAPE(1, 2, 2), 1, 2, 3, 4);
    op_input v = F(SHAPE(1, 2, 2), 2, 20, 4, 40);
    CHECK1("Attention", INS(q, k, v), ATTRS(INT("q_num_heads", 4), INT("kv_num_heads", 2)),
           SHAPE(1, 1, 4), 3, 3, 30, 30);
    op_refused("Attention", INS(q, k, v), NO_ATTRS, TG_INVALID, "q_num_heads");
    op_refused("Attention", INS(q, k, v), ATTRS(INT("q_num_heads", 3), INT("kv_num_heads", 2)),
               TG_SHAPE, "no multiple");
}

/* Scores 0 and 2, capped to 0 and tanh(2), biased to log 3 and tanh(2), then weighed. */
static void attention_shows_its_scores(void **state)
{
    (void)state;
    op_input q = F(SHAPE(1, 1, 1, 1), 2), k = F(SHAPE(1, 1, 2, 1), 0, 1);
    op_input v = F(SHAPE(1, 1, 2, 1), 1, 0), mask = F(SHAPE(2), L3, 0);
    double sum = 3 + exp(tanh(2));
    double want[4][2] = {{0, 2}, {0, tanh(2)}, {L3, tanh(2)}, {3 / sum, exp(tanh(2)) / sum}};
    for (int mode = 0; mode < 4; mode++) {
        op_result r;
        op_run(&r, "Attention", INS(q, k, v, mask),
               ATTRS(INT("qk_matmul_output_mode", mode), REAL("softcap", 1)), 4);
        op_expect(&r, 3, TG_F32, SHAPE(1, 1, 1, 2), want[mode], 2);
        op_expect(&r, 0, TG_F32, SHAPE(1, 1, 1, 1), VALUES(3 / sum));
        op_done(&r);
    }
}

/* A quarter turn for the second token, none for the first. */
static void rotary_turns_pairs(void **state)
{
    (void)state;
    op_input x = F(SHAPE(1, 1, 2, 4), 1, 2, 3, 4, 5, 6, 7, 8);
    op_input c = F(SHAPE(1, 2, 2), 1, 1, 0, 0), s = F(SHAPE(1, 2, 2), 0, 0, 1, 1);
    CHECK1("RotaryEmbedding", INS(x, c, s), NO_ATTRS, SHAPE(1, 1, 2, 4), 1, 2, 3, 4, -7, -8, 5, 6);
    CHECK1("RotaryEmbedding", INS(x, c, s), ATTRS(INT("interleaved", 1)), SHAPE(1, 1, 2, 4), 1, 2,
           3, 4, -6, 5, -8, 7);
    op_input c1 = F(SHAPE(2, 1), 1, 0), s1 = F(SHAPE(2, 1), 0, 1), ids = I64(SHAPE(1, 2), 1, 0);
    CHECK1("RotaryEmbedding", INS(x, c1, s1, ids), ATTRS(INT("rotary_embedding_dim", 2)),
           SHAPE(1, 1, 2, 4), -2, 1, 3, 4, 5, 6, 7, 8);
    CHECK1("RotaryEmbedding", INS(F(SHAPE(1, 1, 4), 1, 2, 3, 4), c1, s1, I64(SHAPE(1, 1), 1)),
           ATTRS(INT("num_heads", 2)), SHAPE(1, 1, 4), -2, 1, -4, 3);
    op_refused("RotaryEmbedding", INS(x, c, s), ATTRS(INT("rotary_embedding_dim", 3)), TG_INVALID,
               "in pairs");
    op_result r;
    assert_ok(op_build(&r, "RotaryEmbedding",
                       INS(F(SHAPE(1, 1, 1, 2), 1, 2), c1, s1, I64(SHAPE(1, 1), 2)), NO_ATTRS, 1));
    assert_status(op_eval(&r), TG_INVALID);
    op_done(&r);
}

/* One head of size 1: the state is a number. */
static void linear_attention_updates_its_state(void **state)
{
    (void)state;
    op_result r;
    op_input q = F(SHAPE(1, 2, 1), 1, 10), k = F(SHAPE(1, 2, 1), 2, 1), v = F(SHAPE(1, 2, 1), 3, 4);
    op_input past = F(SHAPE(1, 1, 1, 1), 1), half = F(SHAPE(1, 2, 1), log(0.5), log(0.5));
    op_input beta = F(SHAPE(1, 2, 1), 0.5, 1);
#define HEADS INT("q_num_heads", 1), INT("kv_num_heads", 1)
    op_run(&r, "LinearAttention", INS(q, k, v, past), ATTRS(HEADS, TEXT("update_rule", "linear")),
           2);
    op_expect(&r, 0, TG_F32, SHAPE(1, 2, 1), VALUES(7, 110)); /* 1 + 6, + 4 */
    op_expect(&r, 1, TG_F32, SHAPE(1, 1, 1, 1), VALUES(11));
    op_done(&r);
    op_run(&r, "LinearAttention", INS(q, k, v, past, half),
           ATTRS(HEADS, TEXT("update_rule", "gated"), REAL("scale", 2)), 2);
    op_expect(&r, 0, TG_F32, SHAPE(1, 2, 1), VALUES(13, 145)); /* 0.5 + 6, 3.25 + 4 */
    op_done(&r);
    op_run(&r, "LinearAttention", INS(q, k, v, past, ABSENT, beta),
           ATTRS(HEADS, TEXT("update_rule", "delta")), 2);
    op_expect(&r, 0, TG_F32, SHAPE(1, 2, 1), VALUES(2, 40)); /* 1 + 2 (3 - 2) / 2, then 2 + 4 - 2 */
    op_done(&r);
    op_run(&r, "LinearAttention", INS(q, k, v, past, half, beta), ATTRS(HEADS), 2);
    op_expect(&r, 0, TG_F32, SHAPE(1, 2, 1), VALUES(2.5, 40)); /* 0.5 + 2 (3 - 1) / 2; then v */
    op_done(&r);
    op_refused("LinearAttention", INS(q, k, v), ATTRS(HEADS), TG_INVALID, "needs a decay");
    op_refused("LinearAttention", INS(q, k, v, past, half),
               ATTRS(HEADS, TEXT("update_rule", "linear")), TG_INVALID, "has no decay");
}

static void causal_convolution_hands_on_its_end(void **state)
{
    (void)state;
    op_result r;
    op_input x = F(SHAPE(1, 2, 3), 1, 2, 3, 4, 5, 6), w = F(SHAPE(2, 1, 2), 10, 1, 0, 2);
    op_run(&r, "CausalConvWithState", INS(x, w), NO_ATTRS, 2);
    op_expect(&r, 0, TG_F32, SHAPE(1, 2, 3), VALUES(1, 12, 23, 8, 10, 12));
    op_expect(&r, 1, TG_F32, SHAPE(1, 2, 1), VALUES(3, 6));
    op_done(&r);
    op_run(&r, "CausalConvWithState", INS(x, w, F(SHAPE(2), 0, -8), F(SHAPE(1, 2, 1), 9, 9)),
           ATTRS(TEXT("activation", "silu")), 2);
    op_expect(&r, 0, TG_F32, SHAPE(1, 2, 3),
              VALUES(91, 12 / (1 + exp(-12)), 23, 0, 2 / (1 + exp(-2)), 4 / (1 + exp(-4))));
    op_done(&r);
    op_refused("CausalConvWithState", INS(x, w), ATTRS(TEXT("activation", "relu")), TG_INVALID,
               "relu");
}

/* What the operator itself activates with is written as its attribute, not as a node behind it. */
static void causal_convolution_keeps_its_activation(void **state)
{
    (void)state;
    op_result r;
    op_run(&r, "CausalConvWithState", INS(F(SHAPE(1, 1, 1), 1), FIXED(TG_F32, SHAPE(1, 1, 1), 1)),
           ATTRS(TEXT("activation", "swish")), 1);
    tg_graph *again = graph_again(r.graph);
    assert_true(again->hash == r.graph->hash);
    assert_int_equal(tg_origin_opset(again->origin), 27);
    tg_graph_unref(again);
    op_done(&r);
}

/* The opset that a model of this one node is saved in; only one input is no constant. */
static int64_t saved_opset(const char *op, const op_input *in, size_t n_in,
                           const tg_named_attr *attrs, size_t n_attrs)
{
    op_result r;
    assert_ok(op_build(&r, op, in, n_in, attrs, n_attrs, 1));
    tg_graph *again = graph_again(r.graph);
    assert_true(again->hash == r.graph->hash);
    int64_t opset = tg_origin_opset(again->origin);
    tg_graph_unref(again);
    op_done(&r);
    return opset;
}

static void newer_forms_raise_the_opset(void **state)
{
    (void)state;
    op_input q = F(SHAPE(1, 1, 1, 1), 1), k = FIXED(TG_F32, SHAPE(1, 1, 1, 1), 1);
    op_input valid = FIXED(TG_I64, SHAPE(1), 1), x = F(SHAPE(1, 1, 2, 2), 1, 2, 3, 4);
    op_input one = FIXED(TG_F16, SCALAR, 1), like = FIXED(TG_E5M2, SCALAR, 1);
    assert_int_equal(saved_opset("Attention", INS(q, k, k), NO_ATTRS), 23);
    assert_int_equal(
        saved_opset("Attention", INS(q, k, k, ABSENT, ABSENT, ABSENT, valid), NO_ATTRS), 24);
    assert_int_equal(saved_opset("Attention", INS(q, k, k), ATTRS(INT("left_window_size", 1))), 25);
    assert_int_equal(saved_opset("SpaceToDepth", INS(x), ATTRS(INT("blocksize", 2))), 17);
    assert_int_equal(
        saved_opset("SpaceToDepth", INS(x), ATTRS(INT("blocksize", 2), TEXT("mode", "CRD"))), 28);
    assert_int_equal(saved_opset("CastLike", INS(x, like), ATTRS(INT("saturate", 0))), 19);
    assert_int_equal(
        saved_opset("Range", INS(INPUT(TG_F16, SCALAR, 1), one, one), ATTRS(INT("stash_type", 10))),
        27);
    assert_int_equal(
        saved_opset("Dropout", INS(x, ABSENT, FIXED(TG_BOOL, SCALAR, 1)), ATTRS(INT("seed", 3))),
        17);
}

static void gates_multiply(void **state)
{
    (void)state;
    op_input a = F(SHAPE(3), 0, 2, -2), b = F(SHAPE(3), 5, 3, 1);
    CHECK1("SwiGLU", INS(a, b), NO_ATTRS, SHAPE(3), 0, 6 / (1 + exp(-2)), -2 / (1 + exp(2)));
    CHECK1("SwiGLU", INS(a, b), ATTRS(REAL("alpha", 0)), SHAPE(3), 0, 3, -1);
    op_refused("SwiGLU", INS(a, F(SHAPE(1), 1)), NO_ATTRS, TG_SHAPE, "differ in shape");
}

static void caches_are_written_from_an_index_on(void **state)
{
    (void)state;
    op_input cache = F(SHAPE(2, 3, 1), 1, 2, 3, 4, 5, 6), update = F(SHAPE(2, 2, 1), 7, 8, 9, 10);
    op_result r;
    CHECK1("TensorScatter", INS(cache, update), NO_ATTRS, SHAPE(2, 3, 1), 7, 8, 3, 9, 10, 6);
    CHECK1("TensorScatter", INS(cache, update, I64(SHAPE(2), 1, 0)), NO_ATTRS, SHAPE(2, 3, 1), 1, 7,
           8, 9, 10, 6);
    CHECK1("TensorScatter", INS(cache, update, I64(SHAPE(2), 2, 4)),
           ATTRS(TEXT("mode", "circular")), SHAPE(2, 3, 1), 8, 2, 7, 4, 9, 10);
    assert_ok(op_build(&r, "TensorScatter", INS(cache, update, I64(SHAPE(2), 2, 0)), NO_ATTRS, 1));
    assert_status(op_eval(&r), TG_INVALID);
    op_done(&r);
    op_refused("TensorScatter", INS(cache, update), ATTRS(INT("axis", 0)), TG_INVALID, "batch");
}

static void products_run_on(void **state)
{
    (void)state;
    op_input x = F(SHAPE(2, 3), 1, 2, 3, 4, 5, 6), axis = FIXED(TG_I64, SCALAR, 1);
    CHECK1("CumProd", INS(x, axis), NO_ATTRS, SHAPE(2, 3), 1, 2, 6, 4, 20, 120);
    CHECK1("CumProd", INS(x, axis), ATTRS(INT("exclusive", 1), INT("reverse", 1)), SHAPE(2, 3), 6,
           3, 1, 30, 6, 1);
    CHECK1("CumProd", INS(INPUT(TG_I32, SHAPE(3), 3, -2, 5), FIXED(TG_I64, SCALAR, 0)), NO_ATTRS,
           SHAPE(3), 3, -6, -30);
}

static void bits_are_kept(void **state)
{
    (void)state;
    op_result r;
    op_run(&r, "BitCast", INS(F(SHAPE(2), 1, -2)), ATTRS(INT("to", TG_I32)), 1);
    op_expect(&r, 0, TG_I32, SHAPE(2), VALUES(0x3f800000, -0x40000000));
    op_done(&r);
    op_refused("BitCast", INS(F(SHAPE(1), 1)), ATTRS(INT("to", TG_F64)), TG_TYPE, "width");
    op_refused("BitCast", INS(F(SHAPE(1), 1)), ATTRS(INT("to", 99)), TG_UNSUPPORTED, "99");
}

static void signed_numbers_are_shifted(void **state)
{
    (void)state;
    op_input x = INPUT(TG_I8, SHAPE(5), -7, 7, -1, 65, -128);
    op_input by = INPUT(TG_I8, SHAPE(5), 1, 1, 9, 1, -1);
    CHECK1("BitShift", INS(x, by), ATTRS(TEXT("direction", "RIGHT")), SHAPE(5), -4, 3, -1, 32, -1);
    CHECK1("BitShift", INS(x, by), ATTRS(TEXT("direction", "LEFT")), SHAPE(5), -14, 14, 0, -126, 0);
}

static void remainders_of_floats_have_the_sign_of_the_divisor(void **state)
{
    (void)state;
    op_input a = F(SHAPE(5), 5.5, -5.5, 5.5, -5.5, 1), b = F(SHAPE(5), 2, 2, -2, -2, -INFINITY);
    CHECK1("Mod", INS(a, b), NO_ATTRS, SHAPE(5), 1.5, 0.5, -0.5, -1.5, -INFINITY);
    CHECK1("Mod", INS(a, b), ATTRS(INT("fmod", 1)), SHAPE(5), 1.5, -1.5, 1.5, -1.5, 1);
}

static void the_middle_is_cropped_or_padded(void **state)
{
    (void)state;
    op_input x = F(SHAPE(3, 4), 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12);
    CHECK1("CenterCropPad", INS(x, FIXED(TG_I64, SHAPE(2), 2, 1)), NO_ATTRS, SHAPE(2, 1), 2, 6);
    CHECK1("CenterCropPad", INS(x, FIXED(TG_I64, SHAPE(1), 5)), ATTRS(INTS("axes", -1)),
           SHAPE(3, 5), 1, 2, 3, 4, 0, 5, 6, 7, 8, 0, 9, 10, 11, 12, 0);
    CHECK1("CenterCropPad", INS(x, FIXED(TG_I64, SHAPE(2), 6, 1)), ATTRS(INTS("axes", 1, 0)),
           SHAPE(1, 6), 0, 5, 6, 7, 8, 0);
    op_refused("CenterCropPad", INS(x, FIXED(TG_I64, SHAPE(1), 6)), NO_ATTRS, TG_SHAPE, "1 sizes");
}

/* Two blocks of two elements that overlap in the middle of three, for two channels. */
static void columns_are_added(void **state)
{
    (void)state;
    op_input x = F(SHAPE(1, 4, 2), 1, 2, 3, 4, 10, 20, 30, 40);
    CHECK1("Col2Im", INS(x, FIXED(TG_I64, SHAPE(2), 1, 3), FIXED(TG_I64, SHAPE(2), 1, 2)), NO_ATTRS,
           SHAPE(1, 2, 1, 3), 1, 5, 4, 10, 50, 40);
    CHECK1(
        "Col2Im",
        INS(F(SHAPE(1, 2, 2), 1, 2, 3, 4), FIXED(TG_I64, SHAPE(1), 3), FIXED(TG_I64, SHAPE(1), 2)),
        ATTRS(INTS("dilations", 2), INTS("pads", 1, 0)), SHAPE(1, 1, 3), 2, 3, 4);
    op_refused("Col2Im", INS(x, FIXED(TG_I64, SHAPE(2), 1, 4), FIXED(TG_I64, SHAPE(2), 1, 2)),
               NO_ATTRS, TG_SHAPE, "do not fit");
}

static void grids_follow_maps(void **state)
{
    (void)state;
    op_input turn = F(SHAPE(1, 2, 3), 0, -1, 0.5, 1, 0, 0); /* x' = 0.5 - y, y' = x */
    op_input size = FIXED(TG_I64, SHAPE(4), 1, 1, 2, 3);
    CHECK1("AffineGrid", INS(turn, size), ATTRS(INT("align_corners", 1)), SHAPE(1, 2, 3, 2), 1.5,
           -1, 1.5, 0, 1.5, 1, -0.5, -1, -0.5, 0, -0.5, 1);
    CHECK1("AffineGrid", INS(turn, size), NO_ATTRS, SHAPE(1, 2, 3, 2), 1, -2.0 / 3, 1, 0, 1,
           2.0 / 3, 0, -2.0 / 3, 0, 0, 0, 2.0 / 3);
    op_refused("AffineGrid", INS(turn, FIXED(TG_I64, SHAPE(4), 2, 1, 2, 3)), NO_ATTRS, TG_SHAPE,
               "does not fit theta");
}

/* A filter of one tap: the result is the input, read half a pixel on, doubled, and masked. */
static void windows_are_moved(void **state)
{
    (void)state;
    op_input x = F(SHAPE(1, 1, 2, 2), 1, 2, 3, 4), w = F(SHAPE(1, 1, 1, 1), 2);
    op_input still = F(SHAPE(1, 2, 2, 2), 0, 0, 0, 0, 0, 0, 0, 0);
    op_input right = F(SHAPE(1, 2, 2, 2), 0, 0, 0, 0, 0.5, 0.5, 0.5, 1);
    op_input down = F(SHAPE(1, 2, 2, 2), 1, 1, -0.5, 5, 0, 0, 0, 0);
    CHECK1("DeformConv", INS(x, w, still), NO_ATTRS, SHAPE(1, 1, 2, 2), 2, 4, 6, 8);
    CHECK1("DeformConv", INS(x, w, right, F(SHAPE(1), 1)), NO_ATTRS, SHAPE(1, 1, 2, 2), 4, 3, 8, 1);
    CHECK1("DeformConv", INS(x, w, down, ABSENT, F(SHAPE(1, 1, 2, 2), 1, 0.5, 1, 1)), NO_ATTRS,
           SHAPE(1, 1, 2, 2), 6, 4, 4, 0);
    op_refused("DeformConv", INS(x, w, F(SHAPE(1, 1, 2, 2), 0, 0, 0, 0)), NO_ATTRS, TG_SHAPE,
               "the offset");
}

static void the_greatest_of_regions(void **state)
{
    (void)state;
    op_input x = F(SHAPE(1, 1, 3, 3), 1, 2, 3, 4, 5, 6, 7, 8, 9);
    CHECK1("MaxRoiPool", INS(x, F(SHAPE(2, 5), 0, 0, 0, 2, 2, 0, 1, 1, 1, 1)),
           ATTRS(INTS("pooled_shape", 1, 1)), SHAPE(2, 1, 1, 1), 9, 5);
    CHECK1("MaxRoiPool", INS(x, F(SHAPE(1, 5), 0, 0, 0, 4, 4)),
           ATTRS(INTS("pooled_shape", 1, 2), REAL("spatial_scale", 0.5)), SHAPE(1, 1, 1, 2), 8, 9);
    CHECK1("MaxRoiPool", INS(x, F(SHAPE(1, 5), 0, 5, 5, 6, 6)), ATTRS(INTS("pooled_shape", 1, 1)),
           SHAPE(1, 1, 1, 1), 0);
    op_refused("MaxRoiPool", INS(x, F(SHAPE(1, 4), 0, 0, 0, 1)), ATTRS(INTS("pooled_shape", 1, 1)),
               TG_SHAPE, "5 numbers");
}

/* One side of a spectrum becomes the signal again: 1, 2, 3, 6 have bins 12, -2+4j, -4. */
static void one_side_is_turned_back(void **state)
{
    (void)state;
    op_input bins = F(SHAPE(1, 3, 2), 12, 0, -2, 4, -4, 0);
    CHECK1("DFT", INS(bins), ATTRS(INT("inverse", 1), INT("onesided", 1)), SHAPE(1, 4, 1), 1, 2, 3,
           6);
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(attention_weighs_values),
    cmocka_unit_test(attention_sees_what_it_may),
    cmocka_unit_test(attention_of_many_queries),
    cmocka_unit_test(attention_keeps_keys_and_values),
    cmocka_unit_test(attention_heads_share_keys),
    cmocka_unit_test(attention_shows_its_scores),
    cmocka_unit_test(rotary_turns_pairs),
    cmocka_unit_test(linear_attention_updates_its_state),
    cmocka_unit_test(causal_convolution_hands_on_its_end),
    cmocka_unit_test(causal_convolution_keeps_its_activation),
    cmocka_unit_test(newer_forms_raise_the_opset),
    cmocka_unit_test(gates_multiply),
    cmocka_unit_test(caches_are_written_from_an_index_on),
    cmocka_unit_test(products_run_on),
    cmocka_unit_test(bits_are_kept),
    cmocka_unit_test(signed_numbers_are_shifted),
    cmocka_unit_test(remainders_of_floats_have_the_sign_of_the_divisor),
    cmocka_unit_test(the_middle_is_cropped_or_padded),
    cmocka_unit_test(columns_are_added),
    cmocka_unit_test(grids_follow_maps),
    cmocka_unit_test(windows_are_moved),
    cmocka_unit_test(the_greatest_of_regions),
    cmocka_unit_test(one_side_is_turned_back)};
UNIT_MAIN(tests)
