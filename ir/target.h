/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What passes and codegen know about the machine and the library, as facts and function pointers.  The runtime fills it in, so that
 * neither includes oneDNN, OpenCL or LLVM headers to decide anything.
 */
#ifndef WEBNN_IR_TARGET_H_
#define WEBNN_IR_TARGET_H_

#include "ir/ir.h"

struct target {
    /* the processor, for codegen: an LLVM triple, CPU name and feature string; NULL: the host's */
    const char *triple, *cpu, *features;
    uint32_t vector_bits;      /* preferred vector width: 128, 256 or 512 */
    bool full_rate;            /* two multiply-adds of 512 bits start every cycle */
    double bfloat16_rate;      /* how many times as many numbers of bfloat16 as of float32 are multiplied; 0: none */
    uint32_t thread_count;     /* threads that one computation uses */
    int64_t cache_bytes;       /* of one core, for deciding what is worth keeping in scratch rows */

    /* the library for convolutions and matrix products; functions that are NULL take nothing */
    bool prefers_nhwc;         /* convolutions want channels-last */
    /** Whether a primitive exists that computes node n itself right and fast (no reference implementation).  user is below. */
    bool (*takes_node)(void *user, const struct node *n);
    /** Whether it computes n, a node it takes, from narrower numbers than n's, which was asked for and is faster. */
    bool (*narrows_node)(void *user, const struct node *n);
    /**
     * Whether it then reads input `slot`, which is computed while the graph runs, as bfloat16, so that the input may lie in
     * memory like that: as the operand of a cast to float32 that n reads, which takes_operand accepts.
     */
    bool (*narrows_input)(void *user, const struct node *n, uint32_t slot);
    /**
     * Whether the library reads input `slot` of n, a node it takes, through these nodes (transposes, by strides; a cast that
     * narrows_input asked for; in execution order, the last one is the producer of that input), so that they may join n's
     * cluster.
     */
    bool (*takes_operand)(void *user, const struct node *n, uint32_t slot, struct node *const *movements, uint32_t count);
    /**
     * Whether `next`, an element-wise node, can become an epilogue of library cluster `c` whose nodes (anchor first) are
     * nodes[0..count-1]; carried is the input slot of `next` that receives the cluster's result so far.
     */
    bool (*takes_epilogue)(void *user, struct node *const *nodes, uint32_t count, const struct node *next, uint32_t carried);
    /**
     * Whether the library computes these nodes in integer arithmetic that is exact: dequantizeLinear of an 8-bit input and of
     * constant 8-bit weights, the node that multiplies them, what follows element by element, and perhaps a quantizeLinear at
     * the end; in execution order.
     */
    bool (*takes_quantized)(void *user, struct node *const *nodes, uint32_t count);
    void *user;
};

#endif
