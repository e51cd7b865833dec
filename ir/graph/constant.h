/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares constants. */
#pragma once

#include <stdatomic.h>

#include "webnn/webnn.h"

/** Says that no number of a constant is NaN or larger in magnitude. */
enum constant_magnitude { MAGNITUDE_UNKNOWN, MAGNITUDE_1, MAGNITUDE_2_24 };

/** The bytes of a constant, which are copied or lent, and shared by an atomic reference count. */
struct constant {
    atomic_uint references;
    bool ours;                  /* constant_create or constant_pool_place allocated the bytes */
    atomic_uchar refused_tiles; /* kinds of Winograd tiles that lose too much accuracy with these weights, by bit */
    bool pairs_fit;             /* signed bytes: products of two neighbours with unsigned ones have a sum of 16 bits */
    uint8_t magnitude;          /* of float32 numbers; an enum constant_magnitude */
    size_t bytes;
    const void *data;                     /* row-major; aligned to 64 bytes when owned, as the lender has it when lent */
    WNNBufferReleaseCallbackInfo release; /* callback NULL: the bytes are in one block with this */
    struct constant_entry *entry;         /* in the pool that knows the constant (constant_pool.h), or NULL */
    uint64_t id;                          /* no other constant of the process ever has it */
};

/** Creates a constant of so many bytes, aligned to 64, which are copied from data, or uninitialised if that is NULL.  Its
 * reference count is 1.  Returns NULL if memory runs out. */
struct constant *constant_create(const void *data, size_t bytes);
/** Creates a constant of lent data; release runs when the last reference goes, and before this returns NULL. */
struct constant *constant_lend(const void *data, size_t bytes, WNNBufferReleaseCallbackInfo release);
/** Adds a reference and returns c. */
struct constant *constant_retain(struct constant *c);
/** Drops a reference; the last one frees the constant, or gives the bytes back to their lender. */
void constant_release(struct constant *c);
