/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* propagate-layout on whole networks and long chains, and the minimum cut under it (tests/passes/layout/propagate-layout has
 * the rest).
 */
#include "passes/nets.h"
#include "passes/pass_support.h"
#include "passes/layout/layout.h"

/* ---- the cut, against trying everything ---- */

TEST(cuts_are_minimal)
{
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

TEST(networks_keep_their_results)
{
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        OWNED(graph) struct graph *g = parse_body(nets[i].body);

        check_pass_tame(g, pass_propagate_layout, false);
        graph_for_each (g, n)
            if (n->op == OP_CONV2D)
                assert_int_equal(NODE_OPTIONS(n, WNNConv2dOptions)->inputLayout, WNNInputOperandLayout_Nhwc);
        simplify(g);
        if (moving_transposes(g) > nets[i].transposes) {
            OWNED(memory) char *text = print_to_string(g);
            print_error("%s: %u transposes, at most %u expected\n%s", nets[i].name, moving_transposes(g), nets[i].transposes,
                        text);
            fail();
        }
    }
}

TEST(long_chains_are_quick)
{
    OWNED(graph) struct graph *g =
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
}
