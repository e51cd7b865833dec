/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the steps of register tiles whose accumulators have operands of their own.
 */
#pragma once

#include "codegen/lower/emitter.h"

/** These are the accumulators of a tile, by copy, on the stack. */
struct sums {
    uint32_t reduce;                        /* the REDUCE that they are of */
    V partial[TILE_CHAINS_MAX][COPIES_MAX]; /* partial sums that take turns */
    uint32_t chain;                         /* whose turn it is */
    V total[COPIES_MAX];                    /* of a sum that is split: what earlier blocks added up to */
    uint32_t correction_count;
    V corrections[COPIES_MAX]; /* of products of bytes (byte_products.h) */
    bool columns_only;         /* nothing else is summed */
};

/** Returns whether all steps of the loops over REDUCED variables from r on are emitted by emit_window. */
bool window_begins(const struct emitter *e, uint32_t r);
/** Emits them. */
void emit_window(struct emitter *e, const struct context *cx, struct sums *t, uint32_t r);
