/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Has the prices of contractions, in nanoseconds (struct contraction_prices), for the table of ir/target/target.c.
 * `bench/fit_cost.py --write ir/target/prices.h` measures and fits those of its machine's kind; a comment says on which
 * processor, and how far estimates are from measured times.
 */
#pragma once

/* FULL_RATE: Intel Emerald Rapids, Zen 5.  Not fitted: by hand, from single cases. */
#define FULL_RATE_PRICES                                                                                                       \
    .library = {.call = 600, .matrix = 150, .product = 12.27, .near = 11.38, .far = 48.76},                                    \
    .packed = {.call = 100, .product = 12.12, .near = 1.707, .far = 7.314},                                                    \
    .unpacked = {.call = 100, .product = 133.3, .near = 11.38, .far = 48.76}

/* HALF_RATE: processors with one such unit.  Not fitted: by hand, from single cases. */
#define HALF_RATE_PRICES SLOWER_PRICES(1, 1)

/* AVX2: AMD EPYC, family 25, model 1.
 * Errors, and what a tenth exceeds: library 13 % (29 %), packed 5 % (17 %), unpacked 2 % (17 %). */
#define AVX2_PRICES                                                                                                            \
    .library = {.call = 458, .matrix = 249, .product = 23, .window = 2.88, .near = 5.44, .far = 11.6},                         \
    .packed = {.product = 19.4, .ragged = 5.72, .window = 44.6, .near = 2.72, .far = 7.11},                                    \
    .unpacked = {.product = 20.6, .ragged = 7.51, .near = 3.98, .far = 16.2}

/* Kinds of which nothing was measured: shares of the speed of HALF_RATE. */
#define SLOWER_PRICES(share, library_share)                                                                                    \
    .library = {.call = 600, .matrix = 150, .product = 17.09 / (library_share), .near = 9.1, .far = 24.1},                     \
    .packed = {.call = 100, .product = 18.02 / (share), .near = 2.844, .far = 7.529},                                          \
    .unpacked = {.call = 100, .product = 200 / (share), .near = 15.17, .far = 40.16}
