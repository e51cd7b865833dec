/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Mixtures of experts, MoE and QMoE of the domain com.microsoft, on models made here, against plain loops in double.
 */
#include <math.h>

#include "readers/onnx/packed.h"
#include "support/close.h"

/** Three experts of one number each, of which each token takes two: with few tokens their weights are gathered. */
TEST(mixtures_of_experts_take_those_with_the_greatest_scores)
{
    static float first[] = {2, 3, 5, -1, 1, 4}, second[] = {1, 10, 100}, bias[] = {1, 2, 3};
    float x[2] = {1.5F, -0.25F}, scores[2][3] = {{-9, 2, 1}, {0, -7, 0}}, y[2];

    for (int form = 0; form < 4; form++) {
        const int tokens = 1 + form / 2, rows = 1 + form % 2;

        start(t, 17);
        inputs_of(t, F32, form < 2 ? "x 1 1; scores 1 3" : "x 2 1; scores 2 3");
        initializer(t, tensor(t, "first", F32, 3, (int64_t[]){3, rows, 1}, first, (size_t)rows * 12));
        initializer(t, tensor(t, "second", F32, 3, (int64_t[]){3, 1, 1}, second, sizeof second));
        initializer(t, tensor(t, "bias", F32, 2, (int64_t[]){3, 1}, bias, sizeof bias));
        Onnx__NodeProto *n = nodes_in(t, &t->graph, "y = ms:MoE x scores first - second bias, k 2");
        attribute_text(t, n, "activation_type", rows == 2 ? "swiglu" : "relu");
        attribute_int(t, n, rows == 2 ? "swiglu_fusion" : "normalize_routing_weights", 1);
        run(t, (void *[]){x, scores}, (void *[]){y}, (size_t[]){(size_t)tokens * sizeof *y});
        for (int i = 0; i < tokens; i++) {
            double want = 0, total = 0, all = 0;
            for (int e = 0; e < 3; e++) {
                const double weight = exp((double)scores[i][e]), a = (double)(x[i] * first[e * rows]);
                const double u = rows == 2 ? a / (1 + exp(-a)) * (double)(x[i] * first[2 * e + 1]) : fmax(a, 0);
                const double kept = e == i ? 0 : weight; /* the lowest score of token i is that of expert i */
                all += weight;
                total += kept;
                want += kept * (u * (double)second[e] + (double)bias[e]);
            }
            assert_close(y[i], want / (rows == 2 ? all : total), 1e-4);
        }
    }
}

/* ---- random weights ---- */

enum { EXPERTS = 9, CHOSEN = 3, SIZE = 32, INNER = 16 };

struct experts_case {
    int bits, block; /* 0: numbers; 0: a scale for each row */
    bool zeros, shares;
    int tokens;
};

/** Matrices of the experts, one after the other, and what stands for their elements. */
struct matrices {
    struct packed numbers, zeros;
    float weights[EXPERTS * SIZE * INNER], scales[EXPERTS * SIZE * 2], bias[EXPERTS * SIZE];
    int rows, columns;
};

static const char letters[] = "123";

static char *named(char name[4], char first, int which)
{
    snprintf(name, 4, "%c%c", first, letters[which]);
    return name;
}

static void add_matrices(const struct experts_case *c, struct matrices *m, int which)
{
    const int blocks = c->block ? m->columns / c->block : 1, size = m->columns / blocks;
    char name[4];

    floats(t, named(name, 'b', which), 2, (int64_t[]){EXPERTS, m->rows}, m->bias);
    if (!c->bits) {
        floats(t, named(name, 'w', which), 3, (int64_t[]){EXPERTS, m->rows, m->columns}, m->weights);
        return;
    }
    draw(&m->numbers, c->bits, (size_t)(EXPERTS * m->rows), (size_t)m->columns);
    /* Without blocks the zero points of neighbouring rows share a byte. */
    draw(&m->zeros, c->bits, (size_t)(c->block ? EXPERTS * m->rows : EXPERTS), (size_t)(c->block ? blocks : m->rows));
    initializer(t, tensor(t, named(name, 'w', which), U8, 3, (int64_t[]){EXPERTS, m->rows, m->columns * c->bits / 8},
                          m->numbers.bytes, (size_t)(EXPERTS * m->rows) * m->numbers.row_bytes));
    random_fill(m->scales, (size_t)(EXPERTS * m->rows * blocks));
    for (int i = 0; i < EXPERTS * m->rows * blocks; i++)
        m->scales[i] /= (float)(1 << (c->bits - 1));
    initializer(t, tensor(t, named(name, 's', which), F32, c->block ? 3 : 2, (int64_t[]){EXPERTS, m->rows, blocks}, m->scales,
                          (size_t)(EXPERTS * m->rows * blocks) * sizeof *m->scales));
    if (c->zeros)
        initializer(t, tensor(t, named(name, 'z', which), U8, c->block ? 3 : 2,
                              (int64_t[]){EXPERTS, c->block ? m->rows : m->rows * c->bits / 8, (int64_t)m->zeros.row_bytes},
                              m->zeros.bytes, (size_t)(EXPERTS * (c->block ? m->rows : 1)) * m->zeros.row_bytes));
    for (int r = 0; r < EXPERTS * m->rows; r++)
        for (int i = 0; i < m->columns; i++) {
            const int b = i / size, zero = c->block ? at(&m->zeros, (size_t)r, (size_t)b)
                                                    : at(&m->zeros, (size_t)(r / m->rows), (size_t)(r % m->rows));
            m->weights[r * m->columns + i] =
                (float)(at(&m->numbers, (size_t)r, (size_t)i) - (c->zeros ? zero : 1 << (c->bits - 1))) *
                m->scales[r * blocks + b];
        }
}

static double row_of(const struct matrices *m, int expert, int row, const double *x)
{
    double sum = (double)m->bias[expert * m->rows + row];

    for (int i = 0; i < m->columns; i++)
        sum += (double)m->weights[(expert * m->rows + row) * m->columns + i] * x[i];
    return sum;
}

/** Adds the result of one expert, whose three matrices are m, times its share. */
static void add_expert(const struct matrices *m, int expert, const float *x, double share, double *y)
{
    double in[SIZE], u[INNER];

    for (int i = 0; i < SIZE; i++)
        in[i] = (double)x[i];
    for (int i = 0; i < INNER; i++) {
        const double a = row_of(&m[0], expert, i, in);
        u[i] = a / (1 + exp(-a)) * row_of(&m[2], expert, i, in);
    }
    for (int i = 0; i < SIZE; i++)
        y[i] += share * row_of(&m[1], expert, i, u);
}

static void check_experts(const struct experts_case *c)
{
    static struct matrices m[3] = {
        {.rows = INNER, .columns = SIZE}, {.rows = SIZE, .columns = INNER}, {.rows = INNER, .columns = SIZE}};
    static float x[MOST], scores[MOST], shares[MOST], y[MOST];
    char dims[64];

    start(t, 17);
    random_fill(x, (size_t)(c->tokens * SIZE));
    random_fill(scores, (size_t)(c->tokens * EXPERTS));
    random_fill(shares, (size_t)(c->tokens * EXPERTS));
    snprintf(dims, sizeof dims, "x 1 %d %d; scores %d %d; shares %d %d", c->tokens, SIZE, c->tokens, EXPERTS, c->tokens,
             EXPERTS);
    inputs_of(t, F32, dims);
    for (int i = 0; i < 3; i++)
        add_matrices(c, &m[i], i);
    Onnx__NodeProto *n = c->bits ? microsoft(t, "QMoE",
                                             c->zeros    ? "x scores w1 s1 b1 w2 s2 b2 w3 s3 b3 z1 z2 z3 shares"
                                             : c->shares ? "x scores w1 s1 b1 w2 s2 b2 w3 s3 b3 - - - shares"
                                                         : "x scores w1 s1 b1 w2 s2 b2 w3 s3 b3",
                                             "y")
                                 : microsoft(t, "MoE", "x scores w1 b1 w2 b2 w3 b3", "y");
    attribute_int(t, n, "k", CHOSEN);
    attribute_text(t, n, "activation_type", "silu");
    if (c->bits)
        attribute_int(t, n, "expert_weight_bits", c->bits);
    run(t, (void *[]){x, scores, shares}, (void *[]){y}, (size_t[]){(size_t)(c->tokens * SIZE) * sizeof *y});
    for (int i = 0; i < c->tokens; i++) {
        const float *s = &scores[i * EXPERTS];
        double want[SIZE] = {0}, all = 0;
        for (int e = 0; e < EXPERTS; e++)
            all += exp((double)s[e]);
        for (int e = 0; e < EXPERTS; e++) {
            int better = 0;
            for (int o = 0; o < EXPERTS; o++)
                better += s[o] > s[e] || (s[o] == s[e] && o < e);
            if (better < CHOSEN)
                add_expert(m, e, &x[i * SIZE], c->shares ? (double)shares[i * EXPERTS + e] : exp((double)s[e]) / all, want);
        }
        for (int k = 0; k < SIZE; k++)
            assert_close(y[i * SIZE + k], want[k], 1e-4);
    }
}

/** One token gathers its experts' weights, some take all of them, many blocks of one expert each. */
TEST(experts_of_few_and_of_many_tokens_are_right)
{
    static const struct experts_case cases[] = {{0, 0, false, false, 2},  {0, 0, false, false, 37}, {0, 0, false, false, 90},
                                                {8, 0, false, true, 1},   {8, 16, true, true, 37},  {4, 0, true, true, 2},
                                                {4, 0, false, false, 20}, {4, 8, true, true, 1},    {4, 16, true, true, 64},
                                                {2, 0, true, true, 1},    {2, 0, false, true, 9}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_experts(&cases[i]);
}

static void refuse_experts(const char *inputs, const char *name, int64_t value, const char *reason)
{
    start(t, 17);
    inputs_of(t, F32, "x 2 32; scores 2 3; s 3 32; uneven 3 31");
    input(t, "w", U8, "3 32 16");
    Onnx__NodeProto *n = microsoft(t, "QMoE", inputs, "y");
    if (name)
        attribute_int(t, n, name, value);
    refused(t, NULL, reason);
}

TEST(experts_that_do_not_fit_are_refused)
{
    refuse_experts("x scores w - - w s", NULL, 0, "scales are left out");
    refuse_experts("x scores w s - w uneven", NULL, 0, "do not fit 3 experts of 32 x 32");
    refuse_experts("x scores w s - w s", "k", 4, "k is 4, for 3 experts");
    refuse_experts("x scores w s - w s", "expert_weight_bits", 3, "expert_weight_bits 3");
    refuse_experts("x scores w s - w s", "weights_prepacked", 1, "weights_prepacked is 1");
}

TEST_GROUP(create_context, release_context)
