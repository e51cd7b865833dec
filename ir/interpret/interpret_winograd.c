/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Says how far from the exact sums a 3x3 convolution may lie that an implementation computes by Winograd's transforms
 * (winograd.h), as passes/cluster/winograd.c has it done.
 *
 * Every aligned tile of results is Y = A^T [ sum over inputs of U (.)  V ] A, with U = G g G^T, V = B^T d B and (.)  element by
 * element; d is the tile of inputs that the results need.  In exact arithmetic these are the sums of products of a convolution,
 * so what operands' own bounds do to the result is the same for both.  Rounding is not.  It is relative to the magnitudes of
 * what is rounded, which go from step to step of the transforms with the errors (winograd_propagate), from |d| and no error on.
 * With u = 2^-24:
 *
 *   - each step of B^T and B, and of A^T and A, is off by u times what its result may be;
 *   - U is computed in double and rounded once: u |U|, half the smallest subnormal where it is tiny, and what double loses
 * where terms cancel;
 *   - a sum of n products in any order, each step a fused multiply-add or a product and an addition: gamma_(n + 1) times the
 * sum of |U||V|, with gamma_k = k u / (1 - k u); if it is split into blocks of s: gamma_(s + n / s - 1).
 *
 * What second-order terms add is within 1 / (1 - k u) for all roundings that follow each other.  Products that underflow are
 * off by half the smallest subnormal each, and a result has as many sums as A's elements add up to.  What underflows before is
 * covered by 2^-126 that is added to |U|, which u times |V| makes more of than 2^-150 |V|, and to |V|.
 *
 * Tiles with an input that is not finite or not below the limit are computed directly: for them W is 0.
 */
#include "ir/interpret/interpret.h"

/* Computes |U| at most, with the weights' bounds, of which point k is at u[k].  Adds it up over the filter's input channels. */
static void magnitudes_of_weights(const struct interpret_winograd *w, const struct winograd_tile *tile, int64_t pair, double *u)
{
    double g[9][WINOGRAD_LANES], far[9][WINOGRAD_LANES], exact[WINOGRAD_POINTS_MAX][WINOGRAD_LANES],
        uncertain[WINOGRAD_POINTS_MAX][WINOGRAD_LANES];

    for (int i = 0; i < 9; i++) {
        const double value = w->filter[9 * pair + i], bound = w->filter_bounds ? w->filter_bounds[9 * pair + i] : 0;
        g[i][0] = isfinite(value) ? value : 0;
        far[i][0] = bound + 0x1p-26 * fabs(g[i][0]);
    }
    for (uint32_t y = 0, k = 0; k < (uint32_t)tile->points; k += tile->side[1]->input.results, y++) {
        winograd_transform_weights(tile, y, g, exact + k, 1, false);
        winograd_transform_weights(tile, y, far, uncertain + k, 1, true);
    }
    for (int64_t k = 0; k < tile->points; k++)
        u[k] = fabs(exact[k][0]) + uncertain[k][0] + 0x1p-126;
}

/* Takes a tile of a plane.  Returns false if some input makes an implementation compute it directly. */
static bool take_tile(const struct interpret_winograd *w, const struct winograd_tile *tile, const double *plane,
                      const bool *direct, int64_t y, int64_t x, struct winograd_error *d)
{
    for (int64_t i = 0; i < tile->side[0]->input.inputs; i++)
        for (int64_t j = 0; j < tile->side[1]->input.inputs; j++) {
            const int64_t row = y * tile->stride + i - w->padding[0], column = x * tile->stride + j - w->padding[1];
            const bool inside = row >= 0 && row < w->in[0] && column >= 0 && column < w->in[1];

            *d++ = (struct winograd_error){inside ? plane[row * w->in[1] + column] : 0, 0};
            if (inside && direct[row * w->in[1] + column])
                return false;
        }
    return true;
}

/* Computes the results of the tile at (y, x). */
static void do_tile(const struct interpret_winograd *w, const struct winograd_tile *tile, int64_t n, int64_t y, int64_t x,
                    const bool *direct, const double *u, struct winograd_error *v, double *out)
{
    const int64_t in_plane = w->in[0] * w->in[1], points = tile->points;
    const double roundings = winograd_sum_roundings(tile, w->in_channels);

    for (int64_t i = 0; i < w->in_channels; i++, v += points) {
        const int64_t plane = (n * w->in_channels + i) * in_plane;
        if (!take_tile(w, tile, w->input + plane, direct + plane, y, x, v))
            return;
        winograd_propagate(tile, false, v);
        for (int64_t k = 0; k < points; k++)
            v[k].roundings += roundings * (v[k].most > 0 ? v[k].most + 0x1p-126 : 0);
    }
    v -= w->in_channels * points;
    for (int64_t o = 0; o < w->out_channels; o++) {
        double *plane = out + (n * w->out_channels + o) * w->out[0] * w->out[1];
        struct winograd_error m[WINOGRAD_POINTS_MAX] = {{0, 0}};
        for (int64_t i = 0; i < w->in_channels; i++)
            for (int64_t k = 0; k < points; k++) {
                m[k].most += u[(o * w->in_channels + i) * points + k] * v[i * points + k].most;
                m[k].roundings += u[(o * w->in_channels + i) * points + k] * v[i * points + k].roundings;
            }
        winograd_propagate(tile, true, m);
        for (int64_t r = 0; r < tile->results[0] && y + r < w->out[0]; r++)
            for (int64_t c = 0; c < tile->results[1] && x + c < w->out[1]; c++) {
                const struct winograd_error *result = &m[r * tile->side[1]->input.inputs + c];
                plane[(y + r) * w->out[1] + x + c] = result->roundings + result->most; /* adding the bias rounds, too */
            }
    }
}

/* Returns whether an implementation may use such tiles, which it decides by the weights before it knows inputs. */
static bool is_used(const struct interpret_winograd *w, const struct winograd_tile *tile, const double *u)
{
    enum { PERCENT = 1 }; /* what its weights may differ in */

    for (int64_t o = 0; o < w->out_channels; o++) {
        double sums[WINOGRAD_POINTS_MAX] = {0}, weights = 0;
        for (int64_t i = o * w->in_channels; i < (o + 1) * w->in_channels; i++) {
            for (int64_t k = 0; k < tile->points; k++)
                sums[k] += u[i * tile->points + k];
            for (int64_t k = 9 * i; k < 9 * (i + 1); k++)
                weights += fabs(w->filter[k]) + (w->filter_bounds ? w->filter_bounds[k] : 0);
        }
        if (weights == 0) /* nothing is rounded, and what is added to magnitudes against underflow counts for nothing */
            continue;
        if (!winograd_is_accurate(tile, w->in_channels, sums, weights, 1 + PERCENT / 100.0))
            return false;
    }
    return true;
}

bool interpret_winograd(struct interpretation *t, const struct interpret_winograd *w, const struct winograd_tile *tile,
                        const double *values, const double *input_bounds, double **roundings)
{
    const int64_t inputs = w->batches * w->in_channels * w->in[0] * w->in[1], pairs = w->out_channels * w->in_channels;
    double *u = interpret_memory(t, pairs * tile->points, sizeof *u);

    *roundings = NULL;
    if (!u)
        return false;
    for (int64_t k = 0; k < pairs; k++)
        magnitudes_of_weights(w, tile, k, u + tile->points * k);
    if (!is_used(w, tile, u))
        return true;
    struct winograd_error *v = interpret_memory(t, w->in_channels * tile->points, sizeof *v);
    double *out = interpret_memory(t, w->batches * w->out_channels * w->out[0] * w->out[1], sizeof *out);
    bool *direct = interpret_memory(t, inputs, sizeof *direct);
    if (!v || !out || !direct)
        return false;
    for (int64_t k = 0; k < inputs; k++)
        direct[k] = !isfinite(values[k]) || fabs(values[k]) - (input_bounds ? input_bounds[k] : 0) >= INTERPRET_WINOGRAD_LIMIT;
    for (int64_t n = 0; n < w->batches; n++)
        for (int64_t y = 0; y < w->out[0]; y += tile->results[0])
            for (int64_t x = 0; x < w->out[1]; x += tile->results[1])
                do_tile(w, tile, n, y, x, direct, u, v, out);
    *roundings = out;
    return true;
}

double interpret_winograd_bound(const struct winograd_tile *tile, double roundings, int64_t in_channels, double bias)
{
    enum { AFTER = 16 }; /* roundings of the transforms, or more, and that of the bias */
    const double n = winograd_sum_roundings(tile, in_channels) + AFTER, u = n < 0x1p22 ? 0x1p-24 / (1 - n * 0x1p-24) : 1;
    const double sums = tile->side[0]->underflow * tile->side[1]->underflow;

    return roundings == 0 ? 0 : u * (roundings + bias) + sums * ((double)in_channels + 9) * 0x1p-150;
}
