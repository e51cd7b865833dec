/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes with sizes from files.  Attributes and dimensions are any 64-bit numbers until they are checked,
 * so their sums and products are computed here, and so are conversions to smaller types.  All functions return false, and leave
 * the result alone, if it does not fit.
 *
 * Sums and products of two 32-bit numbers in 64 bits need no check: they always fit.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Computes a + b. */
static inline bool checked_add(int64_t a, int64_t b, int64_t *sum)
{
    int64_t result;

    if (__builtin_add_overflow(a, b, &result))
        return false;
    *sum = result;
    return true;
}

/** Computes a * b. */
static inline bool checked_mul(int64_t a, int64_t b, int64_t *product)
{
    int64_t result;

    if (__builtin_mul_overflow(a, b, &result))
        return false;
    *product = result;
    return true;
}

/** Computes count * size, for bytes of memory. */
static inline bool checked_bytes(size_t count, size_t size, size_t *bytes)
{
    size_t result;

    if (__builtin_mul_overflow(count, size, &result) || result > PTRDIFF_MAX)
        return false;
    *bytes = result;
    return true;
}

/** Converts a number to a size as builder calls take it: 0 to 2^31 - 1. */
static inline bool checked_size(int64_t number, uint32_t *size)
{
    if (number < 0 || number > INT32_MAX)
        return false;
    *size = (uint32_t)number;
    return true;
}

/**
 * Converts a floating-point number to an integer without its fraction, if that is in low to high; NaN and infinities are not.
 */
static inline bool checked_whole(double number, int64_t low, int64_t high, int64_t *whole)
{
    if (!(number >= -0x1p63 && number < 0x1p63))
        return false;
    int64_t result = (int64_t)number;
    if (result < low || result > high)
        return false;
    *whole = result;
    return true;
}
