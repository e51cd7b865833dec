/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Has the prices of contractions, in nanoseconds (struct contraction_prices, struct winograd_prices), for the table of
 * ir/target/target.c.  `bench/fit_cost.py --write ir/target/prices.h` measures and fits those of its machine's kind; a comment
 * says on which processor, and how far estimates are from measured times.
 */
#pragma once

/* FULL_RATE: Intel Emerald Rapids, Zen 5.  Not fitted: by hand, from single cases. */
#define FULL_RATE_PRICES                                                                                                       \
    .library = {.call = 600, .matrix = 150, .product = 12.27, .near = 11.38, .far = 48.76},                                    \
    .packed = {.call = 100, .product = 12.12, .near = 1.707, .far = 7.314},                                                    \
    .unpacked = {.call = 100, .product = 133.3, .near = 11.38, .far = 48.76}, .winograd = {WINOGRAD_SHARES(12.12, 16)},        \
    .tile = {TILE_SHARES(0.194)}

/* HALF_RATE: processors with one such unit.  Not fitted: by hand, from single cases. */
#define HALF_RATE_PRICES SLOWER_PRICES(1, 1)

/* AVX2: AMD EPYC, family 25, model 1.
 * Errors, and what a tenth exceeds: library 12 % (27 %), packed 5 % (15 %), unpacked 2 % (18 %), winograd 2 % (6 %), tile 3 %
 * (7 %). */
#define AVX2_PRICES                                                                                                            \
    .library = {.call = 438, .matrix = 236, .product = 22.8, .window = 2.63, .near = 5.72, .far = 11.1},                       \
    .packed = {.product = 19.6, .ragged = 4.04, .window = 9.15, .near = 2.74, .far = 6.57},                                    \
    .unpacked = {.product = 20.3, .ragged = 7.85, .near = 3.88, .far = 13.9},                                                  \
    .winograd = {.product = 21.5, .read = 383, .output = 133, .memory = 51.7, .far = 0.0233},                                  \
    .tile = {.work = 0.152, .step = 0.0901, .split_near = 0.00475, .split_far = 0.0304, .apart = 0.02}

/* Kinds of which nothing was measured: shares of the speed of HALF_RATE. */
#define SLOWER_CONTRACTIONS(share, library_share)                                                                              \
    .library = {.call = 600, .matrix = 150, .product = 17.09 / (library_share), .near = 9.1, .far = 24.1},                     \
    .packed = {.call = 100, .product = 18.02 / (share), .near = 2.844, .far = 7.529},                                          \
    .unpacked = {.call = 100, .product = 200 / (share), .near = 15.17, .far = 40.16}
#define SLOWER_PRICES(share, library_share)                                                                                    \
    SLOWER_CONTRACTIONS(share, library_share), .winograd = {WINOGRAD_SHARES(18.02 / (share), 16 * (share))},                   \
        .tile = {TILE_SHARES(0.288)}
/* Winograd: shares of the price of a direct product, with so many lanes.  Not fitted: cases of Emerald Rapids and Zen 5. */
#define WINOGRAD_SHARES(direct, lanes)                                                                                         \
    .macro_tile = 2.76 * (direct) * (lanes), .product = 1.02 * (direct), .read = 4.6 * (direct), .input = 11 * (direct),       \
    .output = 7 * (direct), .memory = 3.77 * (direct), .near = 0.2 * (direct), .far = 0.25 * (direct)

/* Tiles, as shares of a multiply-add of a vector.  Not fitted. */
#define TILE_SHARES(work_)                                                                                                     \
    .work = work_, .step = 0.5 * work_, .split_near = 0.12 * work_, .split_far = 0.3 * work_, .apart = 0.13 * work_

/* Devices: not fitted.  Winograd's are expectations of a GPU, and single cases of PoCL. */
#define DEVICE_PRICES SLOWER_CONTRACTIONS(0.25, 0.25), .winograd = {DEVICE_WINOGRAD}, .tile = {TILE_SHARES(0.288)}
#define DEVICE_WINOGRAD                                                                                                        \
    .macro_tile = 692, .product = 144, .read = 288, .input = 2310, .output = 2310, .memory = 236, .near = 44.3, .far = 103
#define DEVICE_PROCESSOR_PRICES                                                                                                \
    SLOWER_CONTRACTIONS(0.25, 0.25), .winograd = {DEVICE_PROCESSOR_WINOGRAD}, .tile = {TILE_SHARES(0.288)}
#define DEVICE_PROCESSOR_WINOGRAD                                                                                              \
    .macro_tile = 2076, .product = 48.1, .read = 216, .input = 622, .output = 514, .planar = 32400, .memory = 177,             \
    .near = 33.2, .far = 77.5, .interleaved = 67.4
