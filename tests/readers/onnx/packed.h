/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes constants for tests of quantised weights: random numbers, and numbers of a few bits that lie next to each other.
 */
#pragma once

#include "readers/onnx/net.h"
#include "support/random.h"

enum { U8 = 2, MOST = 8192 };

static inline void floats(struct net *t, const char *name, size_t rank, const int64_t *dims, float *data)
{
    size_t count = 1;

    for (size_t i = 0; i < rank; i++)
        count *= (size_t)dims[i];
    random_fill(data, count);
    initializer(t, tensor(t, name, F32, rank, dims, data, count * sizeof *data));
}

/** Numbers of 1, 2, 4 or 8 bits in rows, each of which begins a byte. */
struct packed {
    uint8_t bytes[MOST];
    size_t row_bytes;
    int bits;
};

static inline void draw(struct packed *p, int bits, size_t rows, size_t columns)
{
    p->bits = bits;
    p->row_bytes = (columns * (size_t)bits + 7) / 8;
    assert_true(rows * p->row_bytes <= MOST);
    for (size_t i = 0; i < rows * p->row_bytes; i++)
        p->bytes[i] = (uint8_t)random_below(256);
}

static inline int at(const struct packed *p, size_t row, size_t column)
{
    const size_t bit = column * (size_t)p->bits;

    return p->bytes[row * p->row_bytes + bit / 8] >> bit % 8 & ((1 << p->bits) - 1);
}
