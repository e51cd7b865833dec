/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * TopK on models made here.
 */
#include <math.h>

#include "frontend/builder/builder.h"
#include "readers/onnx/net.h"
#include "support/random.h"

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

/* Fills rows: with few different numbers, the first ones in order among many equal ones; with infinities; with whole numbers;
 * with numbers of all sizes, subnormal ones too. */
static void fill_rows(const struct top_k_case *c, float *x, size_t rows)
{
    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < c->count; i++) {
            float *y = &x[in_row(c, c->count, r, i)];
            const float sign = c->largest ? 1 : -1;
            if ((r + c->count) % 4 == 0)
                *y = sign * (i % 61 == 60 ? (float)(2 + i % 3) : (float)random_below(2));
            else if ((r + c->count) % 4 == 1)
                *y = i ? -sign * INFINITY : 1;
            else if ((r + c->count) % 4 == 2)
                *y = (float)random_below(100000);
            else
                *y = ldexpf((float)random_below(1 << 20) - (1 << 19), (int)random_below(250) - 150);
        }
}

/* Returns whether element i of row r comes before element j. */
static bool comes_before(const struct top_k_case *c, const float *x, size_t r, size_t i, size_t j)
{
    const float a = x[in_row(c, c->count, r, i)], b = x[in_row(c, c->count, r, j)];

    return a == b ? i < j : c->largest ? a > b : a < b;
}

/* The results are in order, and none of the others comes before the last one. */
static void check_row(const struct top_k_case *c, size_t r, const float *x, const float *y, const int64_t *indices)
{
    const size_t k = (size_t)c->k, last = (size_t)indices[in_row(c, k, r, k - 1)];
    size_t before = 0;

    for (size_t i = 0; i < k; i++) {
        const size_t at = (size_t)indices[in_row(c, k, r, i)];

        assert_in_range(at, 0, c->count - 1);
        assert_true(y[in_row(c, k, r, i)] == x[in_row(c, c->count, r, at)]);
        assert_true(i == 0 || comes_before(c, x, r, (size_t)indices[in_row(c, k, r, i - 1)], at));
    }
    for (size_t i = 0; i < c->count; i++)
        before += comes_before(c, x, r, i, last);
    assert_int_equal(before, k - 1);
}

static void check_top_k(const struct top_k_case *c)
{
    const size_t rows = (size_t)c->outer * c->inner, k = (size_t)c->k;
    OWNED(memory) float *x = calloc(rows * c->count, sizeof *x), *y = calloc(rows * k, sizeof *y);
    OWNED(memory) int64_t *indices = calloc(rows * k, sizeof *indices);
    char dims[48];

    assert_true(x && y && indices);
    start(t, 13);
    snprintf(dims, sizeof dims, "%u %u %u", c->outer, c->count, c->inner);
    input(t, "x", F32, dims);
    integers(t, "k", 1, &c->k);
    Onnx__NodeProto *n = nodes_in(t, &t->graph, "y i = TopK x k, axis 1");
    attribute_int(t, n, "largest", c->largest);
    output(t, "y i");
    fill_rows(c, x, rows);
    run(t, (void *[]){x}, (void *[]){y, indices}, (size_t[]){rows * k * sizeof *y, rows * k * sizeof *indices});
    for (size_t r = 0; r < rows; r++)
        check_row(c, r, x, y, indices);
}

TEST(top_k_orders_and_breaks_ties_by_index)
{
    static const struct top_k_case cases[] = {
        {1, 7, 2, 7, true},        {2, 7, 1, 3, false},       {3, 7, 5, 1, true},        {1, 100, 2, 60, true},
        {3, 1000, 1, 5, true},     {1, 1000, 3, 5, false},    {20, 300, 1, 4, false},    {4, 300, 6, 4, true},
        {3, 8400, 1, 100, true},   {1, 5003, 3, 9, false},    {1, 5003, 1, 9, true},     {2, 77777, 1, 1, true},
        {2, 1203, 3, 200, true},   {3, 2001, 1, 150, false},  {3, 8411, 1, 77, true},    {3, 3001, 1, 200, true},
        {1, 5000, 1, 5000, true},  {1, 2049, 3, 2000, false}, {2, 600, 20, 600, true},   {4, 20000, 1, 2000, true},
        {2, 9000, 2, 4000, false}, {4, 6000, 5, 500, true},   {20, 3000, 1, 400, false}, {4, 40000, 1, 40000, false},
        {2, 5000, 2, 5000, true},  {70, 4000, 1, 4000, true},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_top_k(&cases[i]);
}

/* Makes TopK of a row of so many elements. */
static void make_row(struct net *t, int64_t count, int64_t k)
{
    char dims[16];

    start(t, 13);
    snprintf(dims, sizeof dims, "%d", (int)count);
    input(t, "x", F32, dims);
    integers(t, "k", 1, &k);
    node(t, "TopK", "x k", "y i");
    output(t, "y i");
}

/* Both ways to sort count NaN as the largest number of the row. */
TEST(nan_is_as_large_as_the_largest)
{
    enum { MOST = 3000 };
    static float x[MOST], y[MOST];
    static int64_t indices[MOST];

    for (size_t count = 40; count <= MOST; count += MOST - 40) {
        static const float numbers[] = {9, 1, 0, -9};
        size_t at = 0;

        for (size_t i = 0; i < count; i++)
            x[i] = i % 7 == 3 ? NAN : i % 11 == 2 ? -0.0f : numbers[i * i % 13 % 4];
        make_row(t, (int64_t)count, (int64_t)count);
        run(t, (void *[]){x}, (void *[]){y, indices}, (size_t[]){count * sizeof *y, count * sizeof *indices});
        for (size_t k = 0; k < sizeof numbers / sizeof *numbers; k++)
            for (size_t i = 0; i < count; i++)
                if (x[i] == numbers[k] || (k == 0 && isnan(x[i]))) {
                    assert_int_equal(indices[at], i);
                    assert_memory_equal(&y[at++], &x[i], sizeof *y);
                }
        assert_int_equal(at, count);
    }
}

/* Blocks with NaN are looked at. */
TEST(nan_is_found_among_many)
{
    enum { COUNT = 5000, K = 9 };
    static float x[COUNT], y[K];
    static int64_t indices[K];

    for (size_t i = 0; i < COUNT; i++)
        x[i] = i % 700 == 3 ? NAN : -(float)i;
    make_row(t, COUNT, K);
    run(t, (void *[]){x}, (void *[]){y, indices}, (size_t[]){sizeof y, sizeof indices});
    for (size_t i = 0; i < K; i++) /* the largest number comes before the others */
        assert_true(i ? isnan(y[i]) && indices[i] == (int64_t)(700 * i - 697) : y[i] == 0 && indices[i] == 0);
}

static int64_t elements(const struct node *n)
{
    int64_t product = 1;

    for (uint32_t d = 0; d < n->results[0]->type.rank; d++)
        product *= n->results[0]->type.dims[d];
    return product;
}

/* Only the stages whose elements lie far apart see a whole row; the k first of many are found without comparing all pairs. */
TEST(long_rows_are_sorted_piece_by_piece)
{
    static const int64_t k[] = {100000, 10000};

    for (int part = 0; part < 2; part++) {
        uint32_t exchanges = 0;

        make_row(t, 100000, k[part]);
        reads(t, NULL);
        graph_for_each (t->read.builder->graph, n) {
            assert_true(elements(n) <= 131072);
            exchanges += n->op == OP_WHERE && elements(n) == 131072;
        }
        assert_int_equal(exchanges, part ? 0 : 2 * (1 + 2 + 3)); /* two for a stage: keys and places */
    }
}

/* Twice the elements take a few stages more, of a dozen nodes each. */
TEST(a_longer_row_takes_a_few_nodes_more)
{
    uint32_t nodes[2];

    for (int longer = 0; longer < 2; longer++) {
        make_row(t, longer ? 65536 : 32768, longer ? 65536 : 32768);
        reads(t, NULL);
        nodes[longer] = t->read.builder->graph->node_count;
    }
    assert_true(nodes[0] < 3000 && nodes[1] - nodes[0] < 16 * 20);
}

TEST_GROUP(create_context, release_context)
