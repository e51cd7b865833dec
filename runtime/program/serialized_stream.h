/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes the steps of a serialized program as a stream of numbers, and reads what may be damaged.
 *
 * The reader gives the numbers and bytes that were written, in the same order.  Neither side fails in the middle: a writer
 * without memory and a reader past the end say so at last (failed), and a reader gives zeros until then.  Bulk (constants,
 * packed weights) does not go through the stream: it is named by offset and size in the serialized program's data.
 */
#pragma once

#include <stdlib.h>
#include <string.h>

#include "ir/support/table.h"

/* ---- writing ---- */

/** Names bytes of the data section that lie somewhere in memory. */
struct stream_piece {
    const void *data;
    size_t bytes;
    uint64_t offset; /* a multiple of 64 */
};

struct stream_writer {
    unsigned char *bytes;
    uint32_t size;
    size_t capacity;
    struct stream_piece *pieces;
    uint32_t piece_count;
    struct table known; /* pieces; an item is the number + 1 as an address */
    uint64_t data_bytes;
    bool failed;
};

/** Appends bytes to the stream. */
void out_bytes(struct stream_writer *o, const void *data, size_t bytes);
/** Adds a block of data, only once.  Its offset and size go into the stream. */
void out_data(struct stream_writer *o, const void *data, size_t bytes);
/** Frees what a writer holds and leaves it empty. */
void out_free(struct stream_writer *o);

#define OUT_NUMBER(name, type)                                                                                                 \
    static inline void name(struct stream_writer *o, type v)                                                                   \
    {                                                                                                                          \
        out_bytes(o, &v, sizeof v);                                                                                            \
    }
OUT_NUMBER(out_u32, uint32_t)
OUT_NUMBER(out_i64, int64_t)
OUT_NUMBER(out_f32, float)
OUT_NUMBER(out_f64, double)
#undef OUT_NUMBER

/** Appends a text: its length, then its bytes. */
static inline void out_text(struct stream_writer *o, const char *text, size_t length)
{
    out_u32(o, (uint32_t)length);
    out_bytes(o, text, length);
}

/* ---- reading ---- */

struct stream_reader {
    const unsigned char *at, *end;
    const unsigned char *data; /* the data section */
    size_t data_bytes;
    bool failed;
};

/** Returns `bytes` bytes of the stream where they are, at any alignment, or NULL if there are not as many. */
const void *in_take(struct stream_reader *i, size_t bytes);
/** Copies bytes of the stream, or zeros if there are not as many. */
void in_bytes(struct stream_reader *i, void *to, size_t bytes);
/** Returns a block of data where it is, and its size in *bytes, or NULL if it is not inside the data. */
const void *in_data(struct stream_reader *i, size_t *bytes);
/** Returns a text of at most `most` bytes, which belongs to the stream, or NULL if the reader failed. */
const char *in_text(struct stream_reader *i, size_t most, size_t *length);
/**
 * Returns a count of things that take up at least `each` bytes of the stream each, so that allocations stay below the file's
 * size.
 */
uint32_t in_count(struct stream_reader *i, size_t each);

#define IN_NUMBER(name, type)                                                                                                  \
    static inline type name(struct stream_reader *i)                                                                           \
    {                                                                                                                          \
        type v;                                                                                                                \
        in_bytes(i, &v, sizeof v);                                                                                             \
        return v;                                                                                                              \
    }
IN_NUMBER(in_u32, uint32_t)
IN_NUMBER(in_i64, int64_t)
IN_NUMBER(in_f32, float)
IN_NUMBER(in_f64, double)
#undef IN_NUMBER
