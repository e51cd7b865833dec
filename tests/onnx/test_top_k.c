/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * TopK on models made here, against picking one element after the other.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "onnx/net.h"

static uint32_t state = 1;

static uint32_t next(uint32_t below)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % below;
}

/** Rows of `count` elements lie along axis 1 of [outer, count, inner]. */
struct top_k_case {
    uint32_t outer, count, inner;
    int64_t k;
    bool largest;
};

/* Returns the index of element i of row r. */
static size_t in_row(const struct top_k_case *c, size_t count, size_t r, size_t i)
{
    return (r / c->inner * count + i) * c->inner + r % c->inner;
}

/* Fills rows: with few different numbers, the first ones in order among many equal ones; with infinities; with any numbers. */
static void fill_rows(const struct top_k_case *c, float *x, size_t rows)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < c->count; i++) {
            float *y = &x[in_row(c, c->count, r, i)];
            const float sign = c->largest ? 1 : -1;
            if (r % 3 == 0)
                *y = sign * (i % 61 == 60 ? (float)(2 + i % 3) : (float)next(2));
            else if (r % 3 == 1)
                *y = i ? -sign * INFINITY : 1;
            else
                *y = (float)next(100000);
        }
}

static void check_top_k(const struct top_k_case *c)
{
    const size_t rows = (size_t)c->outer * c->inner, k = (size_t)c->k;
    float *x = calloc(rows * c->count, sizeof *x), *y = calloc(rows * k, sizeof *y);
    int64_t *indices = calloc(rows * k, sizeof *indices);
    struct net *t = malloc(sizeof *t);
    Onnx__NodeProto *n;
    char dims[48];

    assert_true(x && y && indices && t);
    start(t, 13);
    snprintf(dims, sizeof dims, "%u %u %u", c->outer, c->count, c->inner);
    input(t, "x", F32, dims);
    integers(t, "k", 1, &c->k);
    n = node(t, "TopK", "x k", "y i");
    attribute_int(t, n, "axis", 1);
    attribute_int(t, n, "largest", c->largest);
    output(t, "y");
    output(t, "i");
    fill_rows(c, x, rows);
    run(t, (void *[]){x}, (void *[]){y, indices}, (size_t[]){rows * k * sizeof *y, rows * k * sizeof *indices});
    for (size_t r = 0; r < rows; r++) {
        bool *taken = calloc(c->count, 1);
        assert_non_null(taken);
        for (size_t i = 0; i < k; i++) {
            size_t best = SIZE_MAX;
            for (size_t j = 0; j < c->count; j++) {
                const float a = x[in_row(c, c->count, r, j)], b = best == SIZE_MAX ? 0 : x[in_row(c, c->count, r, best)];
                if (!taken[j] && (best == SIZE_MAX || (c->largest ? a > b : a < b)))
                    best = j;
            }
            taken[best] = true;
            assert_int_equal(indices[in_row(c, k, r, i)], best);
            assert_true(y[in_row(c, k, r, i)] == x[in_row(c, c->count, r, best)]);
        }
        free(taken);
    }
    free_net(t);
    free(t);
    free(x);
    free(y);
    free(indices);
}

static void top_k_orders_and_breaks_ties_by_index(void **unused)
{
    static const struct top_k_case cases[] = {
        {1, 7, 2, 7, true},      {2, 7, 1, 3, false},      {3, 7, 5, 1, true},     {1, 100, 2, 60, true},
        {3, 1000, 1, 5, true},   {1, 1000, 3, 5, false},   {20, 300, 1, 4, false}, {4, 300, 6, 4, true},
        {3, 8400, 1, 100, true}, {1, 5003, 3, 9, false},   {1, 5003, 1, 9, true},  {2, 77777, 1, 1, true},
        {2, 1203, 3, 200, true}, {3, 2001, 1, 150, false}, {3, 8411, 1, 77, true}, {3, 3001, 1, 200, true},
    };
    (void)unused;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_top_k(&cases[i]);
}

static void top_k_that_compares_too_much_is_refused(void **unused)
{
    struct net *t = malloc(sizeof *t);
    (void)unused;

    assert_non_null(t);
    start(t, 13);
    input(t, "x", F32, "100000");
    integers(t, "k", 1, &(int64_t){30000});
    node(t, "TopK", "x k", "y i");
    output(t, "y");
    refused(t, NULL, "30000 elements of 100000 are found by more than 134217728 comparisons");
    free_net(t);
    free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(top_k_orders_and_breaks_ties_by_index),
        cmocka_unit_test(top_k_that_compares_too_much_is_refused),
    };
    return cmocka_run_group_tests(tests, create_context, release_context);
}
