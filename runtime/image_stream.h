/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The plan of an image as a stream of numbers: writing, and reading what may be damaged.
 *
 * In: numbers and bytes one after the other.  Out: the same ones in the same order.  Neither side fails in the middle: a writer
 * without memory and a reader past the end say so at last (failed), and a reader gives zeros until then.  Bulk (constants,
 * packed weights) does not go through the stream: it is named by offset and size in the image's data.
 */
#ifndef WEBNN_RUNTIME_IMAGE_STREAM_H_
#define WEBNN_RUNTIME_IMAGE_STREAM_H_

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

/** Bytes of the data section that lie somewhere in memory. */
struct image_piece {
    const void *data;
    size_t bytes;
    uint64_t offset; /* a multiple of 64 */
};

struct image_out {
    unsigned char *bytes;
    size_t size, capacity;
    struct image_piece *pieces;
    uint32_t piece_count, piece_capacity;
    uint64_t data_bytes;
    bool failed;
};

void out_bytes(struct image_out *o, const void *data, size_t bytes);
/** A block of data, once however often it is named: its offset and size go into the stream. */
void out_data(struct image_out *o, const void *data, size_t bytes);
void out_free(struct image_out *o);

static inline void out_u32(struct image_out *o, uint32_t v)
{
    out_bytes(o, &v, sizeof v);
}
static inline void out_i64(struct image_out *o, int64_t v)
{
    out_bytes(o, &v, sizeof v);
}
static inline void out_f32(struct image_out *o, float v)
{
    out_bytes(o, &v, sizeof v);
}
static inline void out_f64(struct image_out *o, double v)
{
    out_bytes(o, &v, sizeof v);
}
/** Length, then bytes. */
static inline void out_text(struct image_out *o, const char *text, size_t length)
{
    out_u32(o, (uint32_t)length);
    out_bytes(o, text, length);
}

/* ---- reading ---- */

struct image_in {
    const unsigned char *at, *end;
    const unsigned char *data; /* the data section */
    size_t data_bytes;
    bool failed;
};

/** bytes bytes of the stream where they lie (at any alignment); NULL: there are not as many. */
const void *in_take(struct image_in *i, size_t bytes);
void in_bytes(struct image_in *i, void *to, size_t bytes);
/** A block of data: its bytes where they lie and their number.  NULL: it is outside. */
const void *in_data(struct image_in *i, size_t *bytes);
/** Text that belongs to the stream, no longer than most.  NULL: failed. */
const char *in_text(struct image_in *i, size_t most, size_t *length);
/** A count of things that take up at least each bytes of the stream: so allocations stay below the file's size. */
uint32_t in_count(struct image_in *i, size_t each);

static inline uint32_t in_u32(struct image_in *i)
{
    uint32_t v;
    in_bytes(i, &v, sizeof v);
    return v;
}
static inline int64_t in_i64(struct image_in *i)
{
    int64_t v;
    in_bytes(i, &v, sizeof v);
    return v;
}
static inline float in_f32(struct image_in *i)
{
    float v;
    in_bytes(i, &v, sizeof v);
    return v;
}
static inline double in_f64(struct image_in *i)
{
    double v;
    in_bytes(i, &v, sizeof v);
    return v;
}
/** Fails the reader; returns false. */
static inline bool in_fail(struct image_in *i)
{
    i->failed = true;
    return false;
}

#endif
