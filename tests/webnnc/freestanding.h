/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What programs without a C library need to say what a network computes (bare.c, firmware.c).
 */
#pragma once

/* Writes a number's digits before end, and returns where they begin. */
static inline char *digits_before(char *end, unsigned long n)
{
    do
        *--end = (char)('0' + n % 10);
    while (n /= 10);
    return end;
}

/* Returns the largest difference of two tensors' elements, in units of the largest that is expected; NaN if one is NaN. */
static inline float largest_difference(const float *got, const float *expected, int count)
{
    float largest = 0, scale = 0;

    for (int i = 0; i < count; i++) {
        float difference = got[i] - expected[i], size = expected[i];
        difference = difference < 0 ? -difference : difference;
        size = size < 0 ? -size : size;
        scale = size > scale ? size : scale;
        if (!(difference <= largest) && largest == largest) /* NaN stays */
            largest = difference;
    }
    return largest / scale;
}
