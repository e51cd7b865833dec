/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Convolutions by the transforms of Winograd, F(2x2, 3x3): what pass winograd and the lowering agree on.  docs/winograd.md
 * explains the method.
 */
#ifndef WEBNN_PASSES_WINOGRAD_H_
#define WEBNN_PASSES_WINOGRAD_H_

#include <math.h>

#include "ir/interpret.h"
#include "passes/passes.h"

enum {
    WINOGRAD_POINTS = 16, /* of a tile, transformed: as many products of matrices */
    WINOGRAD_RESULTS = 4  /* that become of them */
};

/** Tiles whose inputs' squares have no sum below this are left to direct summation, as are weights from there on: sums of sums
 * might overflow.  An input of INTERPRET_WINOGRAD_LIMIT, 2^64, has a square beyond float32. */
#define WINOGRAD_SQUARES_LIMIT INFINITY
#define WINOGRAD_WEIGHT_LIMIT 0x1p32f

/** How a convolution is cut. */
struct winograd_shape {
    int64_t batch, in[2], out[2], padding[2]; /* height and width; padding before */
    int64_t in_channels, out_channels;
    int64_t block;     /* input channels that are transformed side by side */
    int64_t panel;     /* output channels side by side in the transformed weights [16][out / panel][in][panel] */
    int64_t tiles[2];  /* of the image: of 2x2 outputs each */
    int64_t chunk[2];  /* tiles of a chunk */
    int64_t count[2];  /* chunks of an image */
    int64_t tile_rows; /* of the products' tiles, tiles of the image being their rows */
    int64_t rows;      /* of the products: the chunk's tiles and what is missing to a multiple of tile_rows */
};

/** Whether n is a convolution that can be computed so, weights' values aside; then *s. */
bool winograd_shape(const struct node *n, const struct target *t, struct winograd_shape *s);
/** Whether that is faster than the library or a direct kernel, by a cost model. */
bool winograd_is_faster(const struct winograd_shape *s, const struct target *t);

#endif
