/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Random numbers that are the same from run to run. */
#pragma once

#include <stddef.h>
#include <stdint.h>

static uint64_t random_state = 88172645463325252u;

/** Begins another series. */
static inline void random_seed(uint64_t number)
{
    random_state = (number + 1) * 0x9E3779B97F4A7C15u;
}

/** Returns 64 random bits (Marsaglia's xorshift). */
static inline uint64_t random_bits(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    return random_state ^= random_state << 17;
}

/** Returns a number from 0 to n - 1. */
static inline uint32_t random_below(uint32_t n)
{
    return (uint32_t)(random_bits() >> 16) % n;
}

/** Returns a number from 0 to 1, which is excluded. */
static inline double random_unit(void)
{
    return (double)(random_bits() >> 11) * 0x1p-53;
}

/** Returns a number from low to high. */
static inline double random_in_range(double low, double high)
{
    return low + (high - low) * random_unit();
}

/** Fills an array with multiples of 1/1000 from -1 to 1. */
static inline void random_fill(float *x, size_t count)
{
    for (size_t i = 0; i < count; i++)
        x[i] = (float)random_below(2001) / 1000 - 1;
}
