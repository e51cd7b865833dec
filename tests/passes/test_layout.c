/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* propagate-layout, and the minimum cut under it. */
#include "nets.h"
#include "pass_support.h"
#include "passes/layout.h"

/* ---- the cut, against trying everything ---- */

static void cuts_are_minimal(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        enum { VARIABLES = 8, COSTS = 24 };
        struct {
            uint32_t a, b;
            int64_t cost;
        } costs[COSTS];
        struct cut *c = cut_create(VARIABLES);
        int64_t least = INT64_MAX, found, check = 0;
        uint32_t ones_least = UINT32_MAX;

        for (int i = 0; i < VARIABLES; i++)
            assert_int_equal(cut_variable(c), 2 + i);
        for (int i = 0; i < COSTS; i++) {
            costs[i].a = (uint32_t)(random_bits() % (VARIABLES + 2));
            costs[i].b = (uint32_t)(random_bits() % (VARIABLES + 2));
            costs[i].cost = (int64_t)(random_bits() % 20);
            cut_cost(c, costs[i].a, costs[i].b, costs[i].cost);
        }
        for (uint32_t bits = 0; bits < 1u << VARIABLES; bits++) {
            int64_t sum = 0;
            uint32_t all = bits << 2 | 2; /* variable 1 is one */
            for (int i = 0; i < COSTS; i++)
                if (!(all >> costs[i].a & 1) && all >> costs[i].b & 1)
                    sum += costs[i].cost;
            if (sum < least || (sum == least && (uint32_t)__builtin_popcount(bits) < ones_least)) {
                least = sum;
                ones_least = (uint32_t)__builtin_popcount(bits);
            }
        }
        assert_true(cut_solve(c, &found));
        assert_int_equal(found, least);
        uint32_t ones = 0;
        for (int i = 0; i < COSTS; i++)
            if ((costs[i].a != 1 && !(costs[i].a >= 2 && cut_is_one(c, costs[i].a))) &&
                (costs[i].b == 1 || (costs[i].b >= 2 && cut_is_one(c, costs[i].b))))
                check += costs[i].cost;
        assert_int_equal(check, least);
        for (uint32_t i = 2; i < VARIABLES + 2; i++)
            ones += cut_is_one(c, i);
        assert_int_equal(ones, ones_least);
        cut_free(c);
    }
}

/* ---- networks ---- */

static uint32_t moving_transposes(const struct graph *g)
{
    uint32_t count = 0;

    graph_for_each (g, n)
        count += n->op == OP_TRANSPOSE &&
                 permutation_moves(&n->inputs[0].value->type, NODE_OPTIONS(n, WNNTransposeOptions)->permutation);
    return count;
}

static void simplify(struct graph *g)
{
    pass_canonicalize(g, &fake_options);
    pass_fold_constants(g, &fake_options);
    pass_merge_common(g, &fake_options);
    pass_drop_dead(g, &fake_options);
    assert_int_equal(g->error.status, WNNStatus_Success);
}

static void networks_keep_their_results(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        struct graph *g = parse_body(nets[i].body);

        check_pass_tame(g, pass_propagate_layout, false);
        graph_for_each (g, n)
            if (n->op == OP_CONV2D)
                assert_int_equal(NODE_OPTIONS(n, WNNConv2dOptions)->inputLayout, WNNInputOperandLayout_Nhwc);
        simplify(g);
        if (moving_transposes(g) > nets[i].transposes) {
            char *text = print_to_string(g);
            print_error("%s: %u transposes, at most %u expected\n%s", nets[i].name, moving_transposes(g), nets[i].transposes,
                        text);
            free(text);
            fail();
        }
        graph_free(g);
    }
}

static void a_lone_convolution(void **state)
{
    (void)state;
    struct graph *g = parse_body("inputs { x: f32[1, 3, 4, 4]; w: f32[4, 3, 1, 1]; b: f32[4]; }"
                                 "nodes { a = exp(x); c = conv2d(a, w, bias=b); y = neg(c); } outputs { y; }");

    assert_true(check_pass_tame(g, pass_propagate_layout, false));
    assert_int_equal(moving_transposes(g), 2);
    /* After the kernel before, after the kernel behind: both can store permuted. */
    assert_ptr_equal(g->first->results[0], value_named(g, "a"));
    assert_int_equal(g->last->op, OP_TRANSPOSE);
    graph_free(g);
}

static void leaves_alone_what_it_cannot_improve(void **state)
{
    (void)state;
    static const char *const bodies[] = {
        "inputs { x: f32[1, 4, 4, 4]; } consts { w: f32[4, 4, 1, 1] @scalar(1); }"
        "nodes { y = conv2d(x, w, inputLayout=\"nhwc\"); } outputs { y; }",
        "inputs { x: f32[4, 6]; } nodes { t = transpose(x); y = exp(t); } outputs { y; }",
        "inputs { x: f32[1, 2, 4, 4]; } nodes { p = maxPool2d(x, windowDimensions=[2, 2]); y = relu(p); } outputs { y; }",
        "inputs { x: f32[2, 3]; y: f32[3, 2]; } nodes { t = transpose(x); m = matmul(x, t); z = softmax(m, axis=0); } outputs "
        "{ z; }",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        struct graph *g = parse_body(bodies[i]);
        assert_false(check_pass(g, pass_propagate_layout, true));
        graph_free(g);
    }
}

static void without_a_preference_convolutions_stay(void **state)
{
    (void)state;
    struct target indifferent = fake_target;
    struct pass_options o = {.target = &indifferent};
    struct graph *g =
        parse_body("inputs { x: f32[1, 3, 4, 4]; w: f32[4, 3, 1, 1]; } nodes { y = conv2d(x, w); } outputs { y; }");

    indifferent.prefers_nhwc = false;
    assert_false(pass_propagate_layout(g, &o));
    graph_free(g);
}

/* Every operator that can follow, between two transposes that then cancel; exact, or within bounds where sums are reordered. */
static void operators_follow(void **state)
{
    static const struct {
        const char *nodes;
        bool exact;
    } cases[] = {
        {"a = relu(t);", true},
        {"a = add(t, full);", true},
        {"a = add(t, row);", true},
        {"a = mul(t, lower);", true},
        {"a = where(cond, t, row);", true},
        {"a = prelu(t, row);", true},
        {"a = concat([t, full], axis=3);", true},
        {"[s0, a] = split(t, splits=[1, 3], axis=1);", true},
        {"a = slice(t, starts=[0, 1, 0, 1], sizes=[1, 3, 2, 4], strides=[1, 2, 1, 3]);", true},
        {"a = pad(t, beginningPadding=[0, 1, 2, 0], endingPadding=[0, 0, 1, 3], mode=\"edge\");", true},
        {"a = tile(t, repetitions=[1, 2, 1, 3]);", true},
        {"a = reverse(t, axes=[1, 3]);", true},
        {"m = reduceMax(t, axes=[2], keepDimensions=true); a = sub(t, m);", true},
        {"a = reduceMin(t, axes=[0, 1], keepDimensions=true);", true},
        {"m = reduceSum(t, axes=[1, 2], keepDimensions=true); a = sub(t, m);", false},
        {"m = argMin(t, axis=3, keepDimensions=true); a = cast(m, dataType=\"float32\");", true},
        {"a = cumulativeSum(t, axis=1, reversed=true);", false},
        {"a = softmax(t, axis=3);", false},
        {"a = batchNormalization(t, five, five, scale=five, axis=3);", false},
        {"a = layerNormalization(t, axes=[3], scale=five);", false},
        {"a = instanceNormalization(t, layout=\"nhwc\", scale=five);", false},
        {"a = averagePool2d(t, layout=\"nhwc\", windowDimensions=[2, 2], padding=[1, 0, 0, 1]);", false},
        {"a = maxPool2d(t, layout=\"nhwc\", windowDimensions=[3, 2], strides=[2, 1]);", true},
        {"a = resample2d(t, axes=[1, 2], sizes=[8, 9], mode=\"linear\");", false},
        {"a = resample2d(t, axes=[1, 2], scales=[2, 3]);", true},
        {"a = quantizeLinear(t, qs, qz);", true},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[1024];
        struct graph *g;

        snprintf(body, sizeof body,
                 "inputs { x: f32[1, 5, 4, 3]; y: f32[1, 5, 4, 3]; }"
                 "consts { row: f32[5] @values([1, 2, 3, 4, 5]); lower: f32[3, 5] @values([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, "
                 "12, 13, 14, 15]);"
                 "  cond: u8[4, 1, 5] @values([0, 1, 0, 1, 1, 0, 1, 1, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 1, 1]);"
                 "  five: f32[5] @values([1, 2, 3, 4, 5]); qs: f32[1, 1, 1, 5] @values([1, 0.5, 0.25, 2, 4]); qz: i8[1, 1, 1, "
                 "5] @scalar(3); }"
                 "nodes { t = transpose(x, permutation=[0, 2, 3, 1]); full = transpose(y, permutation=[0, 2, 3, 1]); %s"
                 "  u = transpose(a, permutation=[0, 3, 1, 2]); }"
                 "outputs { u; }",
                 cases[i].nodes);
        g = parse_body(body);
        pass_drop_dead(g, &fake_options);
        if (!check_pass_at(g, pass_propagate_layout, &fake_options, cases[i].exact, cases[i].exact, __FILE__, __LINE__))
            fail_msg("nothing was done for %s", cases[i].nodes);
        simplify(g);
        if (moving_transposes(g) != 0) {
            char *text = print_to_string(g);
            print_error("%s", text);
            free(text);
            fail_msg("transposes are left around %s", cases[i].nodes);
        }
        graph_free(g);
    }
}

/* Reshapes between channels-last forms: merging and splitting dimensions that stay together. */
static void reshapes_follow(void **state)
{
    static const struct {
        const char *shape, *back;
        bool follows;
    } cases[] = {
        {"[2, 12, 20]", "permutation=[0, 2, 1]", true}, /* height and width merge */
        {"[2, 6, 2, 5, 4]", "permutation=[0, 3, 4, 1, 2]",
         false}, /* splits width, which was last in memory of the other form */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[512];
        struct graph *g;

        snprintf(body, sizeof body,
                 "inputs { x: f32[2, 20, 3, 4]; } nodes { t = transpose(x, permutation=[0, 2, 3, 1]); e = exp(t);"
                 " r = reshape(e, newShape=%s); u = transpose(r, %s); } outputs { u; }",
                 cases[i].shape, cases[i].back);
        g = parse_body(body);
        check_pass(g, pass_propagate_layout, true);
        simplify(g);
        if (cases[i].follows)
            assert_int_equal(moving_transposes(g), 0);
        graph_free(g);
    }
}

static void long_chains_are_quick(void **state)
{
    (void)state;
    struct graph *g =
        parse_body("inputs { x: f32[1, 2, 4, 4]; w: f32[2, 2, 1, 1]; } nodes { y = conv2d(x, w); } outputs { y; }");
    struct value *v = g->outputs[0].value;
    enum { LENGTH = 20000 };

    for (int i = 0; i < LENGTH; i++) {
        struct value *inputs[2] = {v, i % 100 == 99 ? g->inputs[1] : v};
        v = node_create(g, NULL, i % 100 == 99 ? OP_CONV2D : OP_ADD, "", 2, inputs, NULL, NULL, &g->error)->results[0];
    }
    graph_add_output(g, "v", 1, v);
    assert_true(pass_propagate_layout(g, &fake_options));
    assert_int_equal(count_nodes(g, OP_TRANSPOSE), 3); /* the input, two outputs */
    graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_are_minimal),
        cmocka_unit_test(networks_keep_their_results),
        cmocka_unit_test(a_lone_convolution),
        cmocka_unit_test(leaves_alone_what_it_cannot_improve),
        cmocka_unit_test(without_a_preference_convolutions_stay),
        cmocka_unit_test(operators_follow),
        cmocka_unit_test(reshapes_follow),
        cmocka_unit_test(long_chains_are_quick),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
