/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares how operand A of a matmul with compact weights is rounded to 8 bits, where the precision allows it
 * (docs/compact-weights.md).
 */
#pragma once

#include "passes/support.h"

enum { ROUNDED_KEPT = 4 };

/** The operand rounded last, for further matmuls that read it. */
struct rounded_operands {
    struct rounded {
        const struct value *x;
        int64_t inner;
        struct value *bytes, *scale;
    } kept[ROUNDED_KEPT];
    uint32_t next;
};

/**
 * Makes, before n, operand A of the matmul n as bytes times a scale for each `inner` neighbours along K, and returns it as
 * float32 in A's shape: the result of a cast, a subtraction, a multiplication and a reshape right before n, which a kernel of
 * n computes in registers.  Returns NULL after an error in g->error.
 */
struct value *round_operand(struct graph *g, struct node *n, int64_t inner, struct rounded_operands *kept);
