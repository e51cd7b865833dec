/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Expressions of named dimensions (ir/graph/dims.h): normal forms, proofs, ranges, values for sizes, and what has no normal
 * form. */
#include "ir/graph/dims.h"

#include "support/test.h"

static struct graph *g;
static uint32_t n, m; /* named dimensions, m from 4 to 8 */

static int start(__attribute__((unused)) void **state)
{
    struct error e = {0};

    g = graph_create();
    n = dims_name(g, "n", 1, 0, 0, "x", &e);
    m = dims_name(g, "m", 1, 4, 8, "x", &e);
    assert_int_equal(e.status, WNNStatus_Success);
    return 0;
}

static int finish(__attribute__((unused)) void **state)
{
    graph_free(g);
    return 0;
}

static dim_expr number(int64_t value)
{
    return dims_constant(g, value);
}

static dim_expr sum(dim_expr a, dim_expr b)
{
    return dims_sum(g, 1, a, 1, b);
}

static void assert_prints(dim_expr e, const char *wanted)
{
    char text[128];

    assert_string_equal(dim_print(g, DIM_OPEN | e, text, sizeof text), wanted);
}

TEST_EACH(start, finish)

TEST(equal_expressions_are_one)
{
    const dim_expr a = dims_of(g, n), b = dims_of(g, m);

    assert_int_equal(dims_name(g, "n", 1, 0, 0, "y", &g->error), n);
    assert_int_equal(sum(a, b), sum(b, a));
    assert_int_equal(dims_product(g, sum(a, number(1)), sum(a, number(-1))), sum(dims_product(g, a, a), number(-1)));
    assert_int_equal(dims_sum(g, 2, a, -2, a), number(0));
    assert_int_equal(dims_divide(g, dims_product(g, number(8), a), number(4)), dims_sum(g, 2, a, 0, a));
    assert_int_equal(dims_divide(g, dims_product(g, a, b), b), a);
    assert_int_equal(dims_divide(g, sum(a, number(3)), number(4)), dims_divide_up(g, a, 4));
    assert_int_equal(dims_extreme(g, a, b, true), dims_extreme(g, b, a, true));
    assert_int_equal(dims_extreme(g, b, number(9), true), number(9));
    assert_int_equal(dims_extreme(g, b, number(4), true), b);
    assert_prints(sum(dims_product(g, dims_product(g, a, b), number(3)), number(-7)), "3 * n * m - 7");
    assert_prints(dims_divide_up(g, a, 4), "floor((n + 3) / (4))");
    assert_prints(dims_extreme(g, a, b, false), "min(n, m)");
}

TEST(questions_have_three_answers)
{
    const dim_expr a = dims_of(g, n), b = dims_of(g, m);

    assert_int_equal(dims_equal(g, a, b), ANSWER_UNKNOWN);
    assert_int_equal(dims_equal(g, b, number(9)), ANSWER_NO);
    assert_int_equal(dims_equal(g, dims_product(g, a, number(8)), number(20)), ANSWER_NO); /* no multiple */
    assert_int_equal(dims_equal(g, dims_product(g, a, number(8)), number(24)), ANSWER_UNKNOWN);
    assert_int_equal(dims_at_least(g, sum(a, b), number(5)), ANSWER_YES);
    assert_int_equal(dims_at_least(g, b, sum(b, number(1))), ANSWER_NO);
    assert_int_equal(dims_at_least(g, b, number(5)), ANSWER_UNKNOWN);
    assert_true(dim_differs(g, 3, 4) && !dim_differs(g, n, 4) && dim_below(g, m, 9));
}

TEST(sizes_give_values)
{
    const dim_expr a = dims_of(g, n), b = dims_of(g, m);
    const dim_expr all = sum(dims_product(g, dims_divide_up(g, a, 4), b), dims_extreme(g, a, b, true)),
                   lost = sum(all, dims_unknown(g, 1, 9));

    for (uint32_t x = 1; x < 20; x++)
        for (uint32_t y = 4; y <= 8; y++) {
            struct dim_number atoms[16];

            assert_in_range(dims_atom_count(g), 5, 16);
            dims_evaluate_atoms(g, (uint32_t[]){x, y}, atoms);
            const struct dim_number value = dims_evaluate(g, DIM_OPEN | all, atoms);
            assert_true(value.known);
            assert_int_equal(value.value, (x + 3) / 4 * y + (x > y ? x : y));
            assert_false(dims_evaluate(g, DIM_OPEN | lost, atoms).known);
        }
}

/* Numbers that leave 64 bits, and polynomials with too many terms, become unknowns. */
TEST(what_is_too_large_is_unknown)
{
    dim_expr power = dims_of(g, n), huge = number(INT64_MAX), many = number(0);
    struct error e = {0};
    char name[16], text[64];

    for (int i = 0; i < 20; i++)
        power = dims_product(g, power, power);
    assert_non_null(strchr(dim_print(g, DIM_OPEN | power, text, sizeof text), '?'));
    assert_int_equal(dims_equal(g, sum(huge, huge), number(-2)), ANSWER_NO);
    assert_int_equal(dims_equal(g, dims_product(g, number(INT64_MIN), number(INT64_MIN)), number(0)), ANSWER_NO);
    assert_int_equal(dims_equal(g, number(INT64_MIN), dims_sum(g, -1, dims_of(g, n), 0, huge)), ANSWER_NO);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "d%d", i);
        many = sum(many, dims_of(g, dims_name(g, name, strlen(name), 2, 3, "x", &e)));
    }
    assert_int_equal(dims_at_least(g, many, number(80)), ANSWER_YES);
    assert_int_equal(dims_at_least(g, number(120), many), ANSWER_YES);
    for (int i = 0; i < 1000; i++) /* nested deeper than a stack should be */
        many = dims_extreme(g, dims_divide(g, sum(many, dims_of(g, n)), number(2)), dims_of(g, n), i % 2);
    assert_int_equal(e.status | g->error.status, WNNStatus_Success);
    assert_true(strlen(dim_print(g, DIM_OPEN | many, text, sizeof text)) < sizeof text);
}
