/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Declares features of instruction sets. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/** The instructions for dot products of bytes, four products to a lane of 32 bits. */
enum byte_arithmetic {
    BYTES_NONE,        /* none: bytes are multiplied as floats */
    BYTES_MIXED,       /* unsigned times signed, added to a lane (vpdpbusd of AVX512_VNNI and AVX-VNNI) */
    BYTES_SIGNED,      /* signed times signed, added to a lane (sdot of Arm's dotprod) */
    BYTES_MIXED_PAIRS, /* unsigned times signed, added up by twos to 16 bits, where they may saturate (vpmaddubsw of AVX2);
                          numbers of 16 bits, added up by twos to 32 (vpmaddwd) */
    BYTES_SIGNED_PAIRS /* signed times signed to 16 bits, and those by twos to 32 (smull, sadalp of AArch64) */
};

/** The features of an instruction set that schedules and code generators use. */
struct isa {
    uint32_t vector_bits; /* preferred width */
    bool fma;             /* llvm.fma is one instruction */
    bool relaxed_fma;     /* there is an instruction for multiply-adds which may round once or twice (relaxed SIMD) */
    bool f16;             /* conversions between half and float are instructions */
    bool bf16;            /* rounding vectors of 8 and 16 floats to bfloat16 is an instruction (AVX512_BF16) */
    enum byte_arithmetic byte_products;
    bool rounding;         /* rounding to whole numbers is an instruction */
    bool masks;            /* masked loads and stores of every element size are cheap (AVX-512) */
    bool masks32;          /* those of 32- and 64-bit elements are instructions (AVX2) */
    bool permutes;         /* choosing lanes by another vector and halving integers, saturated, are instructions (AVX2) */
    uint32_t registers;    /* vector registers */
    bool loads_first;      /* all loads of a block of code come before its arithmetic, as engines of WebAssembly place them */
    bool ternary_shuffles; /* any two-vector shuffle is one instruction (AVX-512) */
    bool select_extremes;  /* choosing the smaller or larger is an instruction, keeping NaN takes several (x86, WebAssembly) */
    bool scaling;          /* multiplying by a power of two and extremes of signed zeros are instructions (AVX-512) */
    bool wide_division;    /* dividing integers of 64 bits is an instruction, or WebAssembly's; else a function divides them */
    bool f64;              /* arithmetic of float64 is instructions; else functions compute it */
    bool f64_extremes;     /* LLVM can generate llvm.maximum and llvm.minimum of all vectors of float64 (not for Arm of 32 bits,
                              nor for x86, where AVX-512 splits some) */
    bool address_spaces;   /* addresses of tensors and of a call's own memory are of two kinds, as in OpenCL C */
    bool slow_conversions; /* small whole numbers become floats faster as the last bits of 2^23 (devices) */
    bool sums_in_f32; /* running sums carry what rounding loses instead of being float64, which functions may compute (devices)
                       */
    bool extremes_by_keys; /* integers that are ordered like float32 are compared faster, as vectors (AVX2, devices) */
    bool slow_division;    /* vectors are divided faster by an estimate and its correction (AVX-512 of Intel) */
};
