/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares the speeds of the library for convolutions and matmuls, and of generated kernels. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** Prices of what a way to compute a matrix multiplication or convolution takes, in nanoseconds.  A time is their sum
 * (ir/target/prices.h, runtime/engine/onednn/onednn_choose.c). */
struct contraction_prices {
    double call;    /* whatever the size */
    double matrix;  /* of a batch */
    double product; /* of a thousand multiply-adds of float32 */
    double ragged;  /* in addition, if the columns fill no lines of the cache */
    double window;  /* in addition, of a thousand runs of channels under windows of more than one element */
    double near;    /* of a KiB of weights that stay in the L2 cache from one run to the next */
    double far;     /* of one of others */
};

/** Prices of a convolution by Winograd, in nanoseconds of one thread.  A direct one takes what contraction_prices says of
 * packed weights, and `memory`.  Numbers of channels fill whole vectors. */
struct winograd_prices {
    double macro_tile;  /* whatever its size */
    double product;     /* of a thousand multiply-adds of transformed tiles, rows that fill register tiles included */
    double read;        /* of a thousand elements of the image, of which neighbouring macro-tiles share some */
    double input;       /* of a thousand points of inputs that are transformed, */
    double output;      /* and of products that are transformed back */
    double planar;      /* in addition, of a thousand channels of tiles of images in nchw, both ways */
    double memory;      /* of a KiB of weights, for the first macro-tile */
    double near, far;   /* of one for each further macro-tile, if they stay in the L2 cache, and if not */
    double interleaved; /* of a thousand multiply-adds of direct convolutions, in addition, if channels are innermost */
};

/** Prices of register tiles, in nanoseconds: of one step of the sum. */
struct tile_prices {
    double work; /* of each multiply-add or load of a vector, whichever are more */
    double step; /* in addition, whatever the tile */
    double split_near,
        split_far; /* in addition, of a multiply-add in a panel that several tiles share, from L2 and from beyond */
    double apart;  /* in addition, of one whose A lies apart along the sum: each step reads another line */
};

/** Costs for choosing between the library, a generated kernel and Winograd. */
struct multiplication_facts {
    struct contraction_prices library, packed, unpacked; /* packed, unpacked: generated kernels with and without packed B */
    struct winograd_prices winograd;
    struct tile_prices tile;
    double worth;   /* share of the time that a kernel may take, since it takes longer to compile than a primitive to create */
    double compile; /* the same in nanoseconds of a run, of a kernel of many rows, which is long code */
    double compile_shared; /* the same where others in a graph, as a rule, have the same code */
    double worth_bfloat16; /* share of the time that multiplying in bfloat16 may take */
    /* The library's kernels for few channels take filters up to long_filter_width.  It is slow at wider ones that have padding
     * and fewer input channels than long_filter_channels. */
    int64_t long_filter_width, long_filter_channels;
    double one_channel;          /* nanoseconds that it loses at a pixel and weight with one input channel and few results */
    int64_t library_results;     /* of a window that the library computes at least; 0: not measured */
    int64_t ordered_columns;     /* columns of bytes for which A's are worth being put in another order
                                    (passes/weights/byte_operands.c) */
    int64_t late_filter_results; /* pixels of results for which filters of bytes that are computed are worth being packed */
    bool convolutions, groups;   /* ungrouped convolutions were measured, too, and grouped ones */
    bool depthwise;              /* generated depthwise convolutions are faster than the library's */
    bool dense_batches;          /* the library is slow at batches of matrices that are not contiguous */
    bool fixed_sizes;            /* the library gains nothing with float32 where sizes vary */
    bool bytes;                  /* generated products of constant weights of bytes are faster; false: slower, or unmeasured */
};
