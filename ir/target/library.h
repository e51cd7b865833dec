/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares the speeds of the library for convolutions and matmuls, and of generated kernels. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** Describes a way to compute matrix multiplications and convolutions (runtime/engine/onednn/onednn_choose.c says how time is
 * estimated). */
struct multiplication_cost {
    double call;       /* microseconds, whatever the size */
    double matrix;     /* microseconds for each matrix of a batch */
    double alone;      /* microseconds of work up to which one thread does it */
    double operations; /* float32 operations per microsecond of one thread */
    double speed;      /* share of the bandwidths that reading weights reaches */
    double exposed;    /* share of the lesser of arithmetic and memory that the other does not hide */
};

/** Costs for choosing between the library and a generated kernel. */
struct multiplication_facts {
    struct multiplication_cost library, packed, unpacked; /* packed, unpacked: generated kernels with and without packed B */
    double worth; /* share of the time that a kernel may take, since it takes longer to compile than a primitive to create */
    double worth_tall;     /* microseconds that a kernel of many rows, which is long code, must save */
    double worth_bfloat16; /* share of the time that multiplying in bfloat16 may take */
    /* The library's kernels for few channels take filters up to long_filter_width.  It is slow at wider ones that have padding
     * and fewer input channels than long_filter_channels. */
    int64_t long_filter_width, long_filter_channels;
    int64_t late_filter_results; /* pixels of results for which filters of bytes that are computed are worth being packed */
    bool convolutions;           /* ungrouped convolutions were measured, too */
    bool depthwise;              /* generated depthwise convolutions are faster than the library's */
    bool dense_batches;          /* the library is slow at batches of matrices that are not contiguous */
    bool fixed_sizes;            /* the library gains nothing with float32 where sizes vary */
    bool bytes;                  /* generated products of constant weights of bytes are faster; false: slower, or unmeasured */
};
