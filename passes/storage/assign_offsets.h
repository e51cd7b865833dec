/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds offsets for blocks of memory with lifetimes: those that are alive together must not overlap.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "passes/passes.h"

/** A block of memory. */
struct storage_block {
    int64_t bytes;        /* rounded up to TARGET_ALIGNMENT by assign_offsets */
    uint32_t first, last; /* steps, both included */
    int64_t offset;       /* result */
};

/** Sets the offset of every block.  *total becomes the bytes that the blocks span, and *lower_bound the most bytes alive at one
 * step.  `order` is as storage_assign's.  Returns false if memory runs out. */
bool assign_offsets(struct storage_block *blocks, uint32_t count, struct storage_order *order, int64_t *total,
                    int64_t *lower_bound);
