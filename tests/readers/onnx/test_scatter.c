/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * ScatterElements and ScatterND with a reduction on models made here, against one update after the other.
 */
#include <math.h>

#include "readers/onnx/net.h"
#include "support/random.h"

static int64_t next(int64_t below)
{
    return random_below((uint32_t)below);
}

static float combine(const char *reduction, float a, float b)
{
    return !strcmp(reduction, "add")   ? a + b
           : !strcmp(reduction, "mul") ? a * b
           : !strcmp(reduction, "min") ? fminf(a, b)
                                       : fmaxf(a, b);
}

/** x is [places[0], places[1], rest]; indices are of `length` coordinates, or of ScatterElements (0) along axis 1. */
struct scatter_case {
    const char *reduction;
    int64_t length, places[2], rest, updates;
};

static void check_scatter(const struct scatter_case *c)
{
    const size_t rows = (size_t)c->places[0], columns = (size_t)c->places[1], rest = (size_t)c->rest,
                 all = rows * columns * rest;
    const size_t count = (size_t)c->updates, inner = c->length == 1 ? columns * rest : c->length == 2 ? rest : 1;
    /* ScatterElements has updates for the first half of the rows, and for all but one of the rest where there are several. */
    const size_t part[2] = {(rows + 1) / 2, rest > 1 ? rest - 1 : 1};
    const size_t values = c->length ? count * inner : part[0] * count * part[1];
    const size_t indices = c->length ? count * (size_t)c->length : values;
    OWNED(memory) float *x = calloc(all, sizeof *x), *u = calloc(values, sizeof *u), *y = calloc(all, sizeof *y);
    OWNED(memory) int64_t *at = calloc(indices, sizeof *at);
    char dims[3][64];

    assert_true(x && u && y && at);
    for (size_t i = 0; i < all; i++)
        x[i] = (float)next(1000) / 7;
    for (size_t i = 0; i < values; i++)
        u[i] = (float)next(1000) / 300 - 1;
    for (size_t i = 0; i < indices; i++) {
        const int64_t size = c->places[c->length ? (int64_t)i % c->length : 1];
        at[i] = next(2 * size) - size;
    }
    start(t, 18);
    snprintf(dims[0], sizeof dims[0], "%zu %zu %zu", rows, columns, rest);
    if (c->length) {
        snprintf(dims[1], sizeof dims[1], "%zu %d", count, (int)c->length);
        if (c->length == 1)
            snprintf(dims[2], sizeof dims[2], "%zu %zu %zu", count, columns, rest);
        else
            snprintf(dims[2], sizeof dims[2], "%zu %zu", count, rest);
    } else {
        snprintf(dims[1], sizeof dims[1], "%zu %zu %zu", part[0], count, part[1]);
        strcpy(dims[2], dims[1]);
    }
    input(t, "x", F32, dims[0]);
    input(t, "i", I64, dims[1]);
    input(t, "u", F32, dims[2]);
    Onnx__NodeProto *n = node(t, c->length ? "ScatterND" : "ScatterElements", "x i u", "y");
    attribute_text(t, n, "reduction", c->reduction);
    if (!c->length)
        attribute_int(t, n, "axis", 1);
    run(t, (void *[]){x, at, u}, (void *[]){y}, (size_t[]){all * sizeof *y});
    for (size_t i = 0; i < values; i++) {
        const size_t k = i / inner;
        size_t to = 0;
        if (!c->length)
            to = i / part[1] / count * columns * rest + (size_t)(at[i] < 0 ? at[i] + c->places[1] : at[i]) * rest + i % part[1];
        for (int64_t d = 0; d < c->length; d++) {
            const int64_t index = at[k * (size_t)c->length + (size_t)d];
            to = to * (size_t)c->places[d] + (size_t)(index < 0 ? index + c->places[d] : index);
        }
        if (c->length)
            to = to * inner + i % inner;
        x[to] = combine(c->reduction, x[to], u[i]);
    }
    for (size_t i = 0; i < all; i++)
        if (x[i] != y[i])
            fail_msg("%s with %d coordinates: element %zu is %g instead of %g", c->reduction, (int)c->length, i, (double)y[i],
                     (double)x[i]);
}

/* The last one has so many updates and places that comparing each of them with each would be refused. */
TEST(updates_are_combined_in_order)
{
    static const struct scatter_case cases[] = {
        {"add", 0, {3, 7}, 5, 40}, {"mul", 0, {2, 30}, 33, 9}, {"min", 0, {1, 9}, 1, 99},        {"max", 0, {4, 1}, 3, 8},
        {"add", 1, {6, 2}, 9, 50}, {"mul", 1, {1, 3}, 2, 20},  {"min", 2, {3, 5}, 17, 60},       {"max", 2, {3, 5}, 1, 60},
        {"add", 2, {3, 5}, 1, 60}, {"mul", 2, {3, 5}, 40, 7},  {"add", 1, {5000, 1}, 16, 20000},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_scatter(&cases[i]);
}

TEST_GROUP(create_context, release_context)
