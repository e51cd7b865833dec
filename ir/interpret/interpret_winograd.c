/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Says how far from the exact sums a 3x3 convolution may lie that an implementation computes by Winograd's transforms F(2x2,
 * 3x3), as passes/cluster/winograd.c has it done.
 *
 * Every aligned tile of 2x2 results is Y = A^T [ sum over inputs of U (.)  V ] A, with U = G g G^T, V = B^T d B and (.)
 * element by element; d is the 4x4 tile of inputs that the results need.  In exact arithmetic these are the sums of products of
 * a convolution, so what operands' own bounds do to the result is the same for both.  Rounding is not: it is relative to
 *
 *   W = |A^T| [ sum over inputs of (|G||g||G^T|) (.) (|B^T||d||B|) ] |A|
 *
 * instead of to the sum of |g||d|, since the terms of a tile cancel.  With u = 2^-24 and gamma_k = k u / (1 - k u):
 *
 *   - V takes two additions one after the other for each element: it is off by gamma_2 |B^T||d||B| at most;
 *   - U is computed in double and rounded once: u |G||g||G^T|, and half the smallest subnormal where it is tiny;
 *   - a sum of n products in any order, each step a fused multiply-add or a product and an addition: gamma_(n + 1);
 *   - A^T and A are two additions each, one after the other: gamma_4.
 *
 * Together gamma_(n + 8) W.  Products that underflow are off by half the smallest subnormal each; a result has 9 of the 16
 * sums.  U's own underflow is in W: 2^-126 is added to |G||g||G^T|, which gamma times |V| makes more of than 2^-150 |V|.
 *
 * Tiles with an input that is not finite or not below the limit are computed directly: for them W is 0.
 */
#include "ir/interpret/interpret.h"


enum { POINTS = 16, STEPS = 8, SUMS = 9 };

/* Computes |B^T| d |B|. */
static void magnitudes_of_input(const double d[4][4], double v[POINTS])
{
    double rows[4][4];

    for (int x = 0; x < 4; x++) {
        rows[0][x] = d[0][x] + d[2][x];
        rows[1][x] = rows[2][x] = d[1][x] + d[2][x];
        rows[3][x] = d[1][x] + d[3][x];
    }
    for (int y = 0; y < 4; y++) {
        v[4 * y] = rows[y][0] + rows[y][2];
        v[4 * y + 1] = v[4 * y + 2] = rows[y][1] + rows[y][2];
        v[4 * y + 3] = rows[y][1] + rows[y][3];
    }
}

/* Computes |G| g |G^T|, and adds what stands for underflow. */
static void magnitudes_of_weights(const double *g, double u[POINTS])
{
    double rows[4][3];

    for (int x = 0; x < 3; x++) {
        rows[0][x] = g[x];
        rows[1][x] = rows[2][x] = (g[x] + g[3 + x] + g[6 + x]) / 2;
        rows[3][x] = g[6 + x];
    }
    for (int y = 0; y < 4; y++) {
        u[4 * y] = rows[y][0];
        u[4 * y + 1] = u[4 * y + 2] = (rows[y][0] + rows[y][1] + rows[y][2]) / 2;
        u[4 * y + 3] = rows[y][2];
    }
    for (int i = 0; i < POINTS; i++)
        u[i] += 0x1p-126;
}

/* Takes the 4x4 tile of a plane.  Returns false if some input makes an implementation compute it directly. */
static bool take_tile(const struct interpret_winograd *w, const double *plane, const bool *direct, int64_t y, int64_t x,
                      double d[4][4])
{
    for (int64_t i = 0; i < 4; i++)
        for (int64_t j = 0; j < 4; j++) {
            const int64_t row = 2 * y + i - w->padding[0], column = 2 * x + j - w->padding[1];
            const bool inside = row >= 0 && row < w->in[0] && column >= 0 && column < w->in[1];

            d[i][j] = inside ? plane[row * w->in[1] + column] : 0;
            if (inside && direct[row * w->in[1] + column])
                return false;
        }
    return true;
}

/* Adds what a tile's M has, |A^T| m |A|, to the results that exist. */
static void put_tile(const struct interpret_winograd *w, const double m[POINTS], int64_t y, int64_t x, double *plane)
{
    for (int64_t i = 0; i < 2; i++)
        for (int64_t j = 0; j < 2; j++) {
            double sum = 0;

            if (2 * y + i >= w->out[0] || 2 * x + j >= w->out[1])
                continue;
            for (int64_t r = i; r < i + 3; r++)
                for (int64_t c = j; c < j + 3; c++)
                    sum += m[4 * r + c];
            plane[(2 * y + i) * w->out[1] + 2 * x + j] = sum;
        }
}

static void do_tile(const struct interpret_winograd *w, int64_t n, int64_t y, int64_t x, const bool *direct, const double *u,
                    double *v, double *out)
{
    const int64_t in_plane = w->in[0] * w->in[1], out_plane = w->out[0] * w->out[1];
    double d[4][4];

    for (int64_t i = 0; i < w->in_channels; i++) {
        const int64_t plane = (n * w->in_channels + i) * in_plane;
        if (!take_tile(w, w->input + plane, direct + plane, y, x, d))
            return;
        magnitudes_of_input(d, v + i * POINTS);
    }
    for (int64_t o = 0; o < w->out_channels; o++) {
        double m[POINTS] = {0};
        for (int64_t i = 0; i < w->in_channels; i++)
            for (int k = 0; k < POINTS; k++)
                m[k] += u[(o * w->in_channels + i) * POINTS + k] * v[i * POINTS + k];
        put_tile(w, m, y, x, out + (n * w->out_channels + o) * out_plane);
    }
}

double *interpret_winograd_magnitudes(struct interpretation *t, const struct interpret_winograd *w, const double *values,
                                      const double *bounds)
{
    const int64_t inputs = w->batches * w->in_channels * w->in[0] * w->in[1], pairs = w->out_channels * w->in_channels;
    double *u = interpret_memory(t, pairs * POINTS, sizeof *u), *v = interpret_memory(t, w->in_channels * POINTS, sizeof *v);
    double *out = interpret_memory(t, w->batches * w->out_channels * w->out[0] * w->out[1], sizeof *out);
    bool *direct = interpret_memory(t, inputs, sizeof *direct);

    if (!u || !v || !out || !direct)
        return NULL;
    for (int64_t k = 0; k < inputs; k++)
        direct[k] = !isfinite(values[k]) || fabs(values[k]) - (bounds ? bounds[k] : 0) >= INTERPRET_WINOGRAD_LIMIT;
    for (int64_t k = 0; k < pairs; k++)
        magnitudes_of_weights(w->filter + 9 * k, u + POINTS * k);
    for (int64_t n = 0; n < w->batches; n++)
        for (int64_t y = 0; 2 * y < w->out[0]; y++)
            for (int64_t x = 0; 2 * x < w->out[1]; x++)
                do_tile(w, n, y, x, direct, u, v, out);
    return out;
}

double interpret_winograd_bound(double magnitude, int64_t in_channels, double bias)
{
    const double n = (double)in_channels + STEPS + 1, gamma = n < 0x1p22 ? n * 0x1p-24 / (1 - n * 0x1p-24) : 1;

    return magnitude == 0 ? 0 : gamma * (magnitude + bias) + SUMS * n * 0x1p-150;
}
