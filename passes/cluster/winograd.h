/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares Winograd convolutions for pass winograd and the lowering.  docs/winograd.md explains
 * the method.
 */
#pragma once

#include <math.h>

#include "ir/interpret/interpret.h"
#include "passes/passes.h"

/** Tiles whose sum of squares of inputs is not below WINOGRAD_SQUARES_LIMIT are computed by direct summation, and so are
 * convolutions with weights from WINOGRAD_WEIGHT_LIMIT on: sums of sums might overflow.  An input of INTERPRET_WINOGRAD_LIMIT,
 * 2^64, has a square beyond float32. */
#define WINOGRAD_SQUARES_LIMIT INFINITY
#define WINOGRAD_WEIGHT_LIMIT 0x1p32f

/** The tiling of a convolution. */
struct winograd_shape {
    int64_t batch, in[2], out[2], padding[2]; /* height and width; padding before */
    int64_t in_channels, out_channels;
    bool planar;  /* channels are not contiguous: the image is in nchw */
    bool numbers; /* inputs are bytes less their zero point, and transforms exact, in integers of 16 and 32 bits */
    const struct winograd_tile *tile;
    int64_t block;         /* input channels that are transformed at a time */
    int64_t panel;         /* contiguous output channels in the transformed weights [points][out / panel][in][panel] */
    int64_t tiles[2];      /* of the image */
    int64_t macro_tile[2]; /* tiles of a macro-tile */
    int64_t count[2];      /* macro-tiles of an image */
    int64_t mr;            /* rows of the register tiles of the matmuls, whose rows are tiles of the image */
    int64_t rows;          /* M of the matmuls: the macro-tile's tiles, rounded up to a multiple of mr */
};

/** Transformed weights of bytes are so many times those of the method, which makes them whole numbers. */
enum { WINOGRAD_NUMBERS_SCALE = 4 };

/** Returns whether n is a convolution that can be computed with such tiles, for any values of the weights; if so, it fills
 * *s. */
bool winograd_shape(const struct node *n, const struct target *t, uint32_t kind, struct winograd_shape *s);
/** Does the same for the tiles that n's weights are transformed for. */
bool winograd_shape_of(const struct node *n, const struct target *t, struct winograd_shape *s);
/** Returns how often tiles read an input of a convolution with transformed weights. */
double winograd_reads(const struct node *n);
