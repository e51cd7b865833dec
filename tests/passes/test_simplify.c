/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* canonicalize, fold-constants, merge-common: what they change, what they must not, and that results keep every bit. */
#include "pass_support.h"

/* ---- canonicalize, rule by rule ---- */

struct rule {
    const char *body;
    bool changes;
    const char *wanted;   /* in the printed graph; NULL: nothing to look for */
    const char *unwanted; /* not in it */
};

#define X "inputs { x: f32[2, 3]; y: f32[2, 3]; } "

static const struct rule rules[] = {
    /* nothing moves */
    {X "nodes { a = identity(x); z = exp(a); } outputs { z; }", true, "exp(x)", "identity"},
    {X "nodes { a = reshape(x, newShape=[2, 3]); z = exp(a); } outputs { z; }", true, "exp(x)", "reshape"},
    {X "nodes { a = expand(x, newShape=[2, 3]); z = exp(a); } outputs { z; }", true, "exp(x)", "expand"},
    {X "nodes { a = tile(x, repetitions=[1, 1]); z = exp(a); } outputs { z; }", true, "exp(x)", "tile"},
    {X "nodes { a = cast(x, dataType=\"float32\"); z = exp(a); } outputs { z; }", true, "exp(x)", "cast"},
    {X "nodes { a = slice(x, starts=[0, 0], sizes=[2, 3]); z = exp(a); } outputs { z; }", true, "exp(x)", "slice"},
    {X "nodes { a = pad(x, beginningPadding=[0, 0], endingPadding=[0, 0]); z = exp(a); } outputs { z; }", true, "exp(x)",
     "pad"},
    {X "nodes { a = concat([x], axis=1); z = exp(a); } outputs { z; }", true, "exp(x)", "concat"},
    {X "nodes { a = transpose(x, permutation=[0, 1]); z = exp(a); } outputs { z; }", true, "exp(x)", "transpose"},
    {X "nodes { a = identity(x); } outputs { a; }", true, NULL, "identity"},
    /* pairs of movements */
    {X "nodes { a = reshape(x, newShape=[6]); b = reshape(a, newShape=[3, 2]); z = exp(b); } outputs { z; }", true,
     "reshape(x, [3, 2])", "[6])"},
    {X "nodes { a = transpose(x); b = transpose(a); z = exp(b); } outputs { z; }", true, "exp(x)", "transpose"},
    {"inputs { x: f32[2, 3, 4]; } nodes { a = transpose(x, permutation=[2, 0, 1]); b = transpose(a, permutation=[0, 2, 1]);"
     " z = exp(b); } outputs { z; }",
     true, "transpose(x", "permutation=[2, 0, 1]"},
    {"inputs { x: f32[2, 1, 4]; } nodes { a = transpose(x, permutation=[1, 0, 2]); z = exp(a); } outputs { z; }", true,
     "reshape(x, [1, 2, 4])", "transpose"},
    {"inputs { x: f32[5, 6]; } nodes { a = slice(x, starts=[1, 2], sizes=[3, 4]); b = slice(a, starts=[1, 0], sizes=[2, 3]);"
     " z = exp(b); } outputs { z; }",
     true, "slice(x, [2, 2], [2, 3])", "[3, 4])"},
    {X "nodes { a = concat([x, y], axis=0); b = concat([a, x], axis=0); z = exp(b); } outputs { z; }", true, "concat([x, y, x]",
     "concat([x, y],"},
    {X "nodes { a = concat([x, y], axis=0); b = concat([a, x], axis=0); z = exp(b); } outputs { z; a; }", false, NULL, NULL},
    {X "nodes { [a, b] = split(x, splits=[1, 2], axis=1); c = concat([a, b], axis=1); z = exp(c); } outputs { z; }", true,
     "exp(x)", "split"},
    {X "nodes { [a, b] = split(x, splits=[1, 2], axis=1); c = concat([b, a], axis=1); z = exp(c); } outputs { z; }", false,
     NULL, NULL},
    /* casts */
    {"inputs { x: f16[4]; } nodes { a = cast(x, dataType=\"float32\"); b = cast(a, dataType=\"int32\"); } outputs { b; }", true,
     "cast(x, ", "a ="},
    {"inputs { x: f16[4]; } nodes { a = cast(x, dataType=\"float32\"); b = cast(a, dataType=\"float16\"); z = neg(b); }"
     " outputs { z; }",
     true, "neg(x)", "cast"},
    {"inputs { x: f32[4]; } nodes { a = cast(x, dataType=\"float16\"); b = cast(a, dataType=\"float32\"); } outputs { b; }",
     false, NULL, NULL},
    {"inputs { x: u8[4]; } nodes { a = cast(x, dataType=\"float32\"); b = cast(a, dataType=\"int8\"); } outputs { b; }", false,
     NULL, NULL}, /* 200 saturates through a float, wraps directly */
    {"inputs { x: i8[4]; } nodes { a = cast(x, dataType=\"int32\"); b = cast(a, dataType=\"uint8\"); } outputs { b; }", true,
     NULL, "a ="},
    {"inputs { x: i8[4]; } nodes { a = cast(x, dataType=\"uint32\"); b = cast(a, dataType=\"int64\"); } outputs { b; }", false,
     NULL, NULL}, /* -1 becomes 4294967295 */
    /* neutral numbers */
    {X "consts { k: f32[] @scalar(0); } nodes { z = add(x, k); } outputs { z; }", false, NULL, NULL}, /* -0 + 0 */
    {X "consts { k: f32[] @scalar(-0); } nodes { a = add(x, k); z = exp(a); } outputs { z; }", true, "exp(x)", "add"},
    {"inputs { x: i32[4]; } consts { k: i32[] @scalar(0); } nodes { a = add(k, x); z = neg(a); } outputs { z; }", true,
     "neg(x)", "add"},
    {X "consts { k: f32[] @scalar(0); } nodes { a = sub(x, k); z = exp(a); } outputs { z; }", true, "exp(x)", "sub"},
    {X "consts { k: f32[3] @scalar(1); } nodes { a = mul(k, x); z = exp(a); } outputs { z; }", true, "exp(x)", "mul"},
    {X "consts { k: f32[5, 2, 3] @scalar(1); } nodes { z = mul(k, x); } outputs { z; }", true, "mul(x, k)", NULL}, /* widens */
    {X "consts { k: f32[] @scalar(1); } nodes { a = div(x, k); z = exp(a); } outputs { z; }", true, "exp(x)", "div"},
    {X "consts { k: f32[] @scalar(8); } nodes { z = div(x, k); } outputs { z; }", true, "mul(x", "div"},
    {X "consts { k: f32[] @scalar(3); } nodes { z = div(x, k); } outputs { z; }", false, NULL, NULL},
    {X "consts { k: f32[] @scalar(1); } nodes { z = div(k, x); } outputs { z; }", true, "reciprocal(x)", "div"},
    {X "consts { k: f32[] @scalar(-1); } nodes { z = mul(x, k); } outputs { z; }", true, "neg(x)", "mul"},
    {X "consts { k: f32[] @scalar(1); } nodes { a = pow(x, k); z = exp(a); } outputs { z; }", true, "exp(x)", "pow"},
    {X "consts { k: f32[] @scalar(2); } nodes { z = pow(x, k); } outputs { z; }", true, "mul(x, x)", "pow"},
    {X "consts { k: f32[] @scalar(-1); } nodes { z = pow(x, k); } outputs { z; }", true, "reciprocal(x)", "pow"},
    {X "consts { k: f32[] @scalar(0.5); } nodes { z = pow(x, k); } outputs { z; }", false, NULL, NULL},
    {"inputs { x: f16[9]; } consts { k: f16[] @scalar(2); l: f16[] @scalar(-1); m: f16[] @scalar(4); }"
     " nodes { a = pow(x, k); b = pow(x, l); c = div(x, m); } outputs { a; b; c; }",
     true, "mul(x, x)", "pow"},
    {"inputs { x: i8[40]; } consts { k: i8[] @scalar(2); } nodes { a = pow(x, k); } outputs { a; }", true, "mul(x, x)", "pow"},
    /* clamps */
    {X "nodes { z = clamp(x, minValue=0); } outputs { z; }", true, "relu(x)", "clamp"},
    {X "nodes { a = clamp(x); z = exp(a); } outputs { z; }", true, "exp(x)", "clamp"},
    {X "nodes { a = clamp(x, minValue=-Infinity, maxValue=Infinity); z = exp(a); } outputs { z; }", true, "exp(x)", "clamp"},
    {X "consts { k: f32[] @scalar(6); } nodes { a = relu(x); z = min(a, k); } outputs { z; }", true,
     "clamp(x, minValue=0.0, maxValue=6.0)", "relu"},
    {X "nodes { a = clamp(x, minValue=-1, maxValue=1); b = clamp(a, minValue=2, maxValue=3); z = exp(b); } outputs { z; }",
     true, "minValue=2.0, maxValue=2.0", NULL},
    {X "nodes { a = clamp(x, minValue=0.0, maxValue=6.0); z = relu(a); } outputs { z; }", true, "clamp(x", "relu"},
    {X "nodes { z = clamp(x, minValue=-0); } outputs { z; }", false, NULL, NULL},
    {X "consts { k: f32[] @scalar(NaN); } nodes { z = max(x, k); } outputs { z; }", false, NULL, NULL},
    {"inputs { x: u8[9]; } nodes { a = clamp(x, minValue=0, maxValue=300); z = cast(a, dataType=\"int32\"); } outputs { z; }",
     true, "cast(x", "clamp"},
    {"inputs { x: i8[9]; } consts { k: i8[] @scalar(3); } nodes { z = max(k, x); } outputs { z; }", true, "clamp(x, minValue=3",
     "max("},
    /* pairs */
    {X "nodes { a = neg(x); b = neg(a); z = exp(b); } outputs { z; }", true, "exp(x)", "neg"},
    {X "nodes { a = floor(x); z = ceil(a); } outputs { z; }", true, NULL, "ceil"},
    {X "nodes { a = neg(x); z = abs(a); } outputs { z; }", true, "abs(x)", "neg"},
    {X "nodes { a = neg(y); z = add(x, a); } outputs { z; }", true, "sub(x, y)", "neg"},
    {X "nodes { a = neg(x); z = add(a, y); } outputs { z; }", true, "sub(y, x)", "neg"},
    {X "nodes { a = neg(y); z = sub(x, a); } outputs { z; }", true, "add(x, y)", "neg"},
    {X "nodes { a = equal(x, y); z = logicalNot(a); } outputs { z; }", true, "notEqual(x, y)", "logicalNot"},
    {X "nodes { a = lesser(x, y); z = logicalNot(a); } outputs { z; }", false, NULL, NULL}, /* NaN */
    {X "consts { k: f32[2, 3] @values([1, 2, 3, 4, 5, 6]); } nodes { z = add(k, x); } outputs { z; }", true, "add(x, k)", NULL},
    {X "consts { k: f32[2, 3] @values([1, 2, 3, 4, 5, 6]); } nodes { z = sub(k, x); } outputs { z; }", false, NULL, NULL},
    {X "consts { k: u8[2, 3] @scalar(1); } nodes { a = where(k, x, y); z = exp(a); } outputs { z; }", true, "exp(x)", "where"},
    {X "consts { k: f32[3] @scalar(0.25); } nodes { z = prelu(x, k); } outputs { z; }", true, "leakyRelu(x", "prelu"},
    /* operands of broadcasting */
    {"inputs { x: f32[2, 3]; y: f32[3]; } nodes { a = expand(y, newShape=[2, 3]); z = mul(x, a); } outputs { z; }", true,
     "mul(x, y)", "expand"},
    {"inputs { x: f32[1, 3]; y: f32[3]; } nodes { a = expand(y, newShape=[2, 3]); z = mul(x, a); } outputs { z; }", false, NULL,
     NULL}, /* the result's shape comes from the expand */
    {X "consts { k: f32[2, 3] @scalar(7); } nodes { z = mul(x, k); } outputs { z; }", true, "f32[] @scalar(7)", "f32[2, 3] @"},
    /* padding of convolutions */
    {"inputs { x: f32[1, 2, 5, 5]; } consts { w: f32[3, 2, 3, 3] @scalar(0.5); }"
     " nodes { a = pad(x, beginningPadding=[0, 0, 0, 1], endingPadding=[0, 0, 1, 2]);"
     " z = conv2d(a, w, padding=[1, 1, 0, 0], strides=[2, 2]); } outputs { z; }",
     true, "padding=[1, 2, 1, 2]", "pad("},
    {"inputs { x: f32[1, 2, 5, 5]; } consts { w: f32[3, 2, 3, 3] @scalar(Infinity); }"
     " nodes { a = pad(x, beginningPadding=[0, 0, 0, 1], endingPadding=[0, 0, 1, 2]); z = conv2d(a, w); } outputs { z; }",
     false, NULL, NULL},
    {"inputs { x: f32[1, 2, 5, 5]; } consts { w: f32[3, 2, 3, 3] @scalar(1); }"
     " nodes { a = pad(x, beginningPadding=[0, 0, 0, 1], endingPadding=[0, 0, 1, 2], value=1); z = conv2d(a, w); } outputs { "
     "z; }",
     false, NULL, NULL},
};

static void every_rule_is_exact(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        const struct rule *r = &rules[i];
        struct graph *g = parse_body(r->body);
        bool changed = check_pass(g, pass_canonicalize, true);

        if (changed != r->changes) {
            char *text = print_to_string(g);
            print_error("%s\n%s, and should%s:\n%s", r->body, changed ? "changed" : "did not change", r->changes ? "" : " not",
                        text);
            free(text);
            fail();
        }
        if (r->wanted)
            assert_prints(g, r->wanted);
        if (r->unwanted)
            assert_prints_not(g, r->unwanted);
        graph_free(g);
    }
}

static void long_chains_collapse(void **state)
{
    (void)state;
    struct graph *g = parse_body("inputs { x: f32[2, 3]; } nodes { z = identity(x); } outputs { z; }");
    struct value *v = g->inputs[0];
    enum { LENGTH = 20000 };

    for (int i = 0; i < LENGTH; i++)
        v = node_create(g, NULL, i % 2 ? OP_NEG : OP_IDENTITY, "", 1, &v, NULL, NULL, &g->error)->results[0];
    graph_add_output(g, "v", 1, v);
    assert_true(pass_canonicalize(g, &fake_options));
    assert_int_equal(count_nodes(g, OP_NEG) + count_nodes(g, OP_IDENTITY), 0);
    assert_false(pass_canonicalize(g, &fake_options));
    graph_free(g);
}

/* ---- fold-constants ---- */

static void folds_what_is_derived_from_constants(void **state)
{
    (void)state;
    struct graph *g =
        parse_body("inputs { x: f32[2]; } consts { p: f32[2] @values([1, 2]); q: f32[2] @scalar(2); }"
                   "nodes { s = add(p, q); t = mul(s, q); [u, v] = split(t, splits=[1, 1]); w = concat([v, u], axis=0);"
                   "  y = mul(x, w); } outputs { y; u; }");

    assert_true(check_pass(g, pass_fold_constants, true));
    assert_int_equal(count_nodes(g, OP_MUL), 1);
    assert_int_equal(count_nodes(g, OP_ADD) + count_nodes(g, OP_SPLIT) + count_nodes(g, OP_CONCAT), 0);
    assert_int_equal(g->outputs[1].value->kind, VALUE_CONSTANT);
    graph_free(g);
}

static void does_not_fold_what_would_outgrow_the_model(void **state)
{
    (void)state;
    struct graph *g = parse_body("inputs { x: f32[100, 100]; } consts { p: f32[100] @scalar(2); q: u8[1000] @scalar(2); }"
                                 "nodes { e = expand(p, newShape=[100, 100]); y = mul(x, e); c = cast(q, dataType=\"float32\");"
                                 "  z = mul(x, x); } outputs { y; c; z; }");

    assert_true(check_pass(g, pass_fold_constants, true)); /* the cast */
    assert_int_equal(count_nodes(g, OP_EXPAND), 1);
    assert_int_equal(count_nodes(g, OP_CAST), 0);
    graph_free(g);
}

static void a_folded_reshape_shares_its_bytes(void **state)
{
    (void)state;
    struct graph *g = parse_body("inputs { x: f32[6]; } consts { p: f32[2, 3] @scalar(2); }"
                                 "nodes { r = reshape(p, newShape=[6]); y = mul(x, r); } outputs { y; }");
    const struct constant *before = value_named(g, "p")->constant;

    assert_true(check_pass(g, pass_fold_constants, true));
    assert_ptr_equal(g->first->inputs[1].value->constant, before);
    graph_free(g);
}

/* ---- merge-common ---- */

static void merges_equal_nodes_and_constants(void **state)
{
    (void)state;
    struct graph *g =
        parse_body("inputs { x: f32[2]; y: f32[2]; } consts { p: f32[2] @values([1, 2]); q: f32[2] @values([1, 2]); n: f32[2] "
                   "@values([1, -2]); }"
                   "nodes { a = add(x, y); b = add(y, x); c = exp(a); d = exp(b); e = mul(c, p); f = mul(d, q); h = mul(d, n);"
                   "  i = sub(x, y); j = sub(y, x); } outputs { e; f; h; i; j; }");

    assert_true(check_pass(g, pass_merge_common, true));
    assert_int_equal(count_nodes(g, OP_ADD), 1);
    assert_int_equal(count_nodes(g, OP_EXP), 1);
    assert_int_equal(count_nodes(g, OP_MUL), 2);
    assert_int_equal(count_nodes(g, OP_SUB), 2);
    graph_free(g);
}

static void attributes_tell_nodes_apart(void **state)
{
    (void)state;
    struct graph *g =
        parse_body("inputs { x: f32[2, 2, 2, 2]; }"
                   "nodes { a = elu(x, alpha=1); b = elu(x, alpha=2); c = softmax(x, axis=1); d = softmax(x, axis=2);"
                   "  e = clamp(x, minValue=1); f = clamp(x, minValue=2); h = resample2d(x, sizes=[4, 4]);"
                   "  i = resample2d(x, sizes=[4, 4], mode=\"linear\"); j = cast(x, dataType=\"float16\");"
                   "  k = cast(x, dataType=\"int32\"); } outputs { a; b; c; d; e; f; h; i; j; k; }");

    assert_false(check_pass(g, pass_merge_common, true));
    graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_rule_is_exact),
        cmocka_unit_test(long_chains_collapse),
        cmocka_unit_test(folds_what_is_derived_from_constants),
        cmocka_unit_test(does_not_fold_what_would_outgrow_the_model),
        cmocka_unit_test(a_folded_reshape_shares_its_bytes),
        cmocka_unit_test(merges_equal_nodes_and_constants),
        cmocka_unit_test(attributes_tell_nodes_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
