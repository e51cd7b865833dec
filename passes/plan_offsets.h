/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Offsets for blocks of memory with lifetimes: those that are alive together must not overlap.
 */
#ifndef WEBNN_PASSES_PLAN_OFFSETS_H_
#define WEBNN_PASSES_PLAN_OFFSETS_H_

#include <stdbool.h>
#include <stdint.h>

#include "ir/ir.h"

enum { PLAN_ALIGN = 64 }; /* of every block: a cache line, and the widest vector */

struct plan_block {
    int64_t bytes;        /* rounded up to PLAN_ALIGN by plan_offsets */
    uint32_t first, last; /* steps, both included */
    int64_t offset;       /* result */
};

/** *total: bytes that the blocks span; *lower_bound: most bytes alive at one step.  False: out of memory. */
bool plan_offsets(struct plan_block *blocks, uint32_t count, int64_t *total, int64_t *lower_bound);

#endif
