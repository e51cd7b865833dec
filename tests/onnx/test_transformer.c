/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Operators of transformers in the domain com.microsoft, on models made here, against plain loops in double:
 * MultiHeadAttention and RotaryEmbedding.
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

enum { I32 = 6, MOST = 1024, BATCH = 2, HEADS = 3, SIZE = 4, V_SIZE = 5, LENGTH = 3, WIDTH = HEADS * SIZE };

static uint32_t state = 1;

static void fill(float *x, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        x[i] = (float)((state >> 8) % 2001) / 1000 - 1;
    }
}

/* ---- MultiHeadAttention ---- */

enum padding { NO_PADDING, LENGTHS, KEYS, PAIRS };

struct attention_case {
    int fresh, past; /* keys that are an input, and before them */
    enum padding padding;
    bool bias, score_bias, causal, split; /* split: keys and values have heads already */
    float scale, filter;
};

static struct {
    float q[MOST], k[MOST], v[MOST], bias[MOST], scores[MOST], past_k[MOST], past_v[MOST], y[MOST], present[2][MOST];
    int32_t mask[MOST];
} d;

/* Returns number i of key (which 0) or value (which 1) p of a head. */
static double key_or_value(const struct attention_case *c, int which, int b, int h, int p, int i)
{
    const int size = which ? V_SIZE : SIZE, row = p - c->past;
    const float *past = which ? d.past_v : d.past_k, *fresh = which ? d.v : d.k;

    if (p < c->past)
        return (double)past[((b * HEADS + h) * c->past + p) * size + i];
    if (c->split)
        return (double)fresh[((b * HEADS + h) * c->fresh + row) * size + i];
    return (double)fresh[((b * c->fresh + row) * HEADS + h) * size + i] +
           (c->bias ? (double)d.bias[(1 + which) * WIDTH + h * size + i] : 0);
}

static double score_of(const struct attention_case *c, int b, int h, int s, int p)
{
    const int total = c->past + c->fresh;
    double score = 0;
    bool seen = true;

    for (int i = 0; i < SIZE; i++) {
        const double q = (double)d.q[((b * LENGTH + s) * HEADS + h) * SIZE + i] + (c->bias ? (double)d.bias[h * SIZE + i] : 0);
        score += q * key_or_value(c, 0, b, h, p, i);
    }
    score *= c->scale != 0 ? (double)c->scale : 1 / sqrt(SIZE);
    if (c->score_bias)
        score += (double)d.scores[(h * LENGTH + s) * total + p];
    if (c->padding == LENGTHS)
        seen = p < d.mask[b];
    else if (c->padding == KEYS)
        seen = d.mask[b * total + p] != 0;
    else if (c->padding == PAIRS)
        seen = d.mask[(b * LENGTH + s) * total + p] != 0;
    if (!seen)
        score += c->filter != 0 ? (double)c->filter : -10000;
    return c->causal && p > c->past + s ? -(double)INFINITY : score;
}

static void check_attention(const struct attention_case *c)
{
    const int total = c->past + c->fresh;

    for (int b = 0; b < BATCH; b++)
        for (int h = 0; h < HEADS; h++)
            for (int s = 0; s < LENGTH; s++) {
                double sum = 0, want[V_SIZE] = {0};
                for (int p = 0; p < total; p++) {
                    const double weight = exp(score_of(c, b, h, s, p));
                    sum += weight;
                    for (int i = 0; i < V_SIZE; i++)
                        want[i] += weight * key_or_value(c, 1, b, h, p, i);
                }
                for (int i = 0; i < V_SIZE; i++)
                    assert_float_equal(d.y[((b * LENGTH + s) * HEADS + h) * V_SIZE + i], want[i] / sum, 1e-5);
            }
    for (int which = 0; which < 2; which++)
        for (int row = 0; row < BATCH * HEADS * total; row++)
            for (int i = 0, size = which ? V_SIZE : SIZE; i < size; i++)
                assert_float_equal(d.present[which][row * size + i],
                                   key_or_value(c, which, row / total / HEADS, row / total % HEADS, row % total, i), 1e-6);
}

/* Adds an input and its buffer, if the case has it, and its name or "-" to the node's inputs. */
static void add_input(struct net *t, bool there, const char *name, int type, const char *dims, void *data, void **buffers,
                      char *inputs)
{
    const size_t end = strlen(inputs);

    if (there) {
        buffers[t->graph.n_input] = data;
        input(t, name, type, dims);
    }
    snprintf(inputs + end, 64 - end, "%s ", there ? name : "-");
}

static const char *dims_of(char *dims, int a, int b, int c, int e)
{
    const int sizes[4] = {a, b, c, e};

    dims[0] = 0;
    for (int i = 0; i < 4 && sizes[i]; i++)
        snprintf(dims + strlen(dims), 64 - strlen(dims), "%s%d", i ? " " : "", sizes[i]);
    return dims;
}

static Onnx__NodeProto *make_attention(struct net *t, const struct attention_case *c, void **buffers)
{
    const int total = c->past + c->fresh;
    char dims[64], inputs[64] = "";

    add_input(t, true, "q", F32, dims_of(dims, BATCH, LENGTH, WIDTH, 0), d.q, buffers, inputs);
    for (int i = 0; i < 2; i++) {
        const int size = i ? V_SIZE : SIZE;
        if (c->split)
            dims_of(dims, BATCH, HEADS, c->fresh, size);
        else
            dims_of(dims, BATCH, c->fresh, HEADS * size, 0);
        add_input(t, true, i ? "v" : "k", F32, dims, i ? d.v : d.k, buffers, inputs);
    }
    add_input(t, c->bias, "bias", F32, dims_of(dims, 2 * WIDTH + HEADS * V_SIZE, 0, 0, 0), d.bias, buffers, inputs);
    add_input(t, c->padding != NO_PADDING, "mask", I32,
              c->padding == PAIRS  ? dims_of(dims, BATCH, LENGTH, total, 0)
              : c->padding == KEYS ? dims_of(dims, BATCH, total, 0, 0)
                                   : dims_of(dims, BATCH, 0, 0, 0),
              d.mask, buffers, inputs);
    add_input(t, c->score_bias, "scores", F32, dims_of(dims, 1, HEADS, LENGTH, total), d.scores, buffers, inputs);
    add_input(t, c->past, "pk", F32, dims_of(dims, BATCH, HEADS, c->past, SIZE), d.past_k, buffers, inputs);
    add_input(t, c->past, "pv", F32, dims_of(dims, BATCH, HEADS, c->past, V_SIZE), d.past_v, buffers, inputs);
    return microsoft(t, "MultiHeadAttention", inputs, "y present_k present_v");
}

static void attend(const struct attention_case *c)
{
    const size_t total = (size_t)(c->past + c->fresh);
    float *const filled[] = {d.q, d.k, d.v, d.bias, d.scores, d.past_k, d.past_v};
    struct net *t = malloc(sizeof *t);
    void *buffers[PORTS] = {NULL};
    Onnx__NodeProto *n;

    assert_non_null(t);
    start(t, 17);
    for (size_t i = 0; i < sizeof filled / sizeof *filled; i++)
        fill(filled[i], MOST);
    for (int i = 0; i < MOST; i++)
        d.mask[i] = c->padding == LENGTHS ? 2 + i : i % 5 != 1;
    n = make_attention(t, c, buffers);
    attribute_int(t, n, "num_heads", HEADS);
    attribute_int(t, n, "unidirectional", c->causal);
    if (c->scale != 0)
        attribute_float(t, n, "scale", c->scale);
    if (c->filter != 0)
        attribute_float(t, n, "mask_filter_value", c->filter);
    output(t, "y");
    output(t, "present_k");
    output(t, "present_v");
    run(t, buffers, (void *[]){d.y, d.present[0], d.present[1]},
        (size_t[]){BATCH * LENGTH * HEADS * V_SIZE * sizeof(float), BATCH * HEADS * total * SIZE * sizeof(float),
                   BATCH * HEADS * total * V_SIZE * sizeof(float)});
    check_attention(c);
    free_net(t);
    free(t);
}

static void heads_attend_to_keys_and_their_past(void **unused)
{
    static const struct attention_case cases[] = {
        {.fresh = 3},
        {.fresh = 4, .bias = true, .padding = LENGTHS},
        {.fresh = 4, .padding = KEYS, .filter = -2}, /* what is left out still counts a little */
        {.fresh = 3, .past = 2, .padding = PAIRS, .score_bias = true},
        {.fresh = 3, .past = 4, .causal = true, .bias = true},
        {.fresh = 3, .causal = true, .scale = 0.75f},
        {.fresh = 5, .split = true, .bias = true}, /* keys of another sequence have their bias already */
    };
    (void)unused;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        attend(&cases[i]);
}

/* ---- RotaryEmbedding ---- */

struct rotary_case {
    bool split, interleaved, one_position; /* split: x is [batch, heads, length, size] */
    int rotated;                           /* 0: all of a head */
};

static void rotate(const struct rotary_case *c)
{
    enum { POSITIONS = 9 };
    static float x[BATCH * LENGTH * WIDTH], y[BATCH * LENGTH * WIDTH], caches[2][POSITIONS * SIZE / 2];
    int64_t positions[BATCH * LENGTH] = {4, 0, 7, 2, 8, 1};
    const int rotated = c->rotated ? c->rotated : SIZE, half = rotated / 2;
    struct net *t = malloc(sizeof *t);
    Onnx__NodeProto *n;
    char dims[64];

    assert_non_null(t);
    start(t, 17);
    fill(x, BATCH * LENGTH * WIDTH);
    input(t, "x", F32, c->split ? dims_of(dims, BATCH, HEADS, LENGTH, SIZE) : dims_of(dims, BATCH, LENGTH, WIDTH, 0));
    input(t, "positions", I64, c->one_position ? "1" : dims_of(dims, BATCH, LENGTH, 0, 0));
    for (int i = 0; i < 2; i++) {
        fill(caches[i], POSITIONS * SIZE / 2);
        initializer(t, tensor(t, i ? "sin" : "cos", F32, 2, (int64_t[]){POSITIONS, half}, caches[i],
                              (size_t)(POSITIONS * half) * sizeof(float)));
    }
    n = microsoft(t, "RotaryEmbedding", "x positions cos sin", "y");
    attribute_int(t, n, "interleaved", c->interleaved);
    if (c->rotated) {
        attribute_int(t, n, "rotary_embedding_dim", c->rotated);
        attribute_int(t, n, "num_heads", HEADS);
    }
    output(t, "y");
    run(t, (void *[]){x, positions}, (void *[]){y}, (size_t[]){sizeof y});
    for (int row = 0; row < BATCH * LENGTH * HEADS; row++) {
        const int s = c->split ? row % LENGTH : row / HEADS % LENGTH, b = row / LENGTH / HEADS;
        const int64_t position = c->one_position ? positions[0] + s : positions[b * LENGTH + s];
        double want[SIZE];
        for (int i = 0; i < SIZE; i++)
            want[i] = (double)x[row * SIZE + i];
        for (int i = 0; i < half; i++) {
            const int first = c->interleaved ? 2 * i : i, second = c->interleaved ? 2 * i + 1 : i + half;
            const double cosine = (double)caches[0][position * half + i], sine = (double)caches[1][position * half + i];
            want[first] = cosine * (double)x[row * SIZE + first] - sine * (double)x[row * SIZE + second];
            want[second] = sine * (double)x[row * SIZE + first] + cosine * (double)x[row * SIZE + second];
        }
        for (int i = 0; i < SIZE; i++)
            assert_float_equal(y[row * SIZE + i], want[i], 1e-6);
    }
    free_net(t);
    free(t);
}

static void pairs_are_turned_by_their_positions(void **unused)
{
    (void)unused;
    for (int bits = 0; bits < 16; bits++)
        rotate(&(struct rotary_case){bits & 1, bits & 2, bits & 4, bits & 8 ? 2 : 0});
}

/* ---- refusals ---- */

static void refuse_attention(const char *inputs, int64_t heads, const char *reason)
{
    struct net *t = malloc(sizeof *t);

    assert_non_null(t);
    start(t, 17);
    input(t, "q", F32, "2 3 12");
    input(t, "k", F32, "2 4 12");
    input(t, "packed", F32, "2 4 3 2 4");
    input(t, "short", F32, "35");
    input(t, "mask", I32, "8");
    input(t, "past", F32, "2 3 1 4");
    attribute_int(t, microsoft(t, "MultiHeadAttention", inputs, "y"), "num_heads", heads);
    output(t, "y");
    refused(t, NULL, reason);
    free_net(t);
    free(t);
}

static void what_does_not_fit_is_refused(void **unused)
{
    (void)unused;
    refuse_attention("q k k", 5, "num_heads is 5 for queries of rank 3, 12 numbers each");
    refuse_attention("q packed k", 3, "packed heads are not read");
    refuse_attention("q k k short", 3, "its bias has 35 numbers");
    refuse_attention("q k k - mask", 3, "key_padding_mask has rank 1 and sizes 8");
    refuse_attention("q k k - - - past", 3, "past_key and past_value are not both given");
    refuse_attention("q k q", 3, "do not fit a batch of 2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heads_attend_to_keys_and_their_past),
        cmocka_unit_test(pairs_are_turned_by_their_positions),
        cmocka_unit_test(what_does_not_fit_is_refused),
    };
    return cmocka_run_group_tests(tests, create_context, release_context);
}
