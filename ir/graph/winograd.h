/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares Winograd's transforms of 3x3 convolutions, which the compiler uses and the interpreter bounds: a table for each
 * number of results along a dimension, and the tiles that are made of them.  docs/winograd.md explains the method.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum {
    WINOGRAD_TILES = 4,                                          /* kinds: 2x2, 2x4 and 4x4 results; 2x2 of stride 2 */
    WINOGRAD_SIDE_MAX = 6,                                       /* points along a dimension, at most */
    WINOGRAD_POINTS_MAX = WINOGRAD_SIDE_MAX * WINOGRAD_SIDE_MAX, /* of a tile */
    WINOGRAD_TEMPORARY = 2 * WINOGRAD_SIDE_MAX,                  /* registers of a transform: its inputs, its results, others */
    WINOGRAD_REGISTERS = 3 * WINOGRAD_SIDE_MAX,
    WINOGRAD_LANES = 32 /* filters that are transformed at a time */
};

/** Is register[to] = factor * register[from] + register[plus], with one rounding: factors are powers of two, or 0. */
struct winograd_step {
    uint8_t to, from, plus;
    float factor;
};

/** Is multiplication with a constant matrix: results are from register WINOGRAD_SIDE_MAX on. */
struct winograd_steps {
    uint32_t inputs, results, count;
    struct winograd_step steps[12];
};

/** Is F(m, 3): m results of a sum over three neighbours from m + 2 points. */
struct winograd_transform {
    struct winograd_steps input, output;  /* B^T and A^T */
    double weights[WINOGRAD_SIDE_MAX][3]; /* G */
    double underflow;                     /* the largest sum of a row of |A^T|, or more */
};

/** Describes a kind of tile. */
struct winograd_tile {
    const struct winograd_transform *side[2]; /* along height and width */
    int64_t results[2], points, stride;
};

/** Returns a kind of tile, in that order. */
const struct winograd_tile *winograd_tile(uint32_t kind);
/** Returns the tile with that many points, or NULL. */
const struct winograd_tile *winograd_tile_of(int64_t points);

/** Returns the limit on consecutive additions of the matmuls of such a tile; 0: no limit but that of other contractions. */
uint32_t winograd_sum_steps(const struct winograd_tile *tile, int64_t in_channels);

/** Computes row y of G g G^T, or |G| g |G^T|, of `count` filters in double: g[3 * row + column][filter], u[column][filter]. */
void winograd_transform_weights(const struct winograd_tile *tile, uint32_t y, double g[9][WINOGRAD_LANES],
                                double u[][WINOGRAD_LANES], int64_t count, bool magnitudes);

/** Bounds of a number's magnitude, and of its error: in roundings of numbers of magnitude 1. */
struct winograd_error {
    double most, roundings;
};

/** Computes B^T v B in place, or, if `output`, A^T v A, whose rows stay a tile's points apart; every step rounds. */
void winograd_propagate(const struct winograd_tile *tile, bool output, struct winograd_error *values);
/** Returns the most roundings of a product of transformed numbers until it is in their sum, with that of its weight. */
double winograd_sum_roundings(const struct winograd_tile *tile, int64_t in_channels);
/**
 * Returns whether the error bound of a result with such tiles is within `slack` times the bound of the direct sum, if all
 * inputs are of one magnitude.  Over the input channels, sums are those of the magnitudes of the transformed weights by point,
 * and weights is the sum of the magnitudes of weights.  2x2 results always are.
 */
bool winograd_is_accurate(const struct winograd_tile *tile, int64_t in_channels, const double *sums, double weights,
                          double slack);
