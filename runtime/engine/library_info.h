/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This header declares an engine's description of its library for convolutions and matmuls.
 */
#pragma once

#include "ir/graph/ir.h"

/** The arithmetic of a step's multiply-adds: each kind has its own rate. */
enum arithmetic { ARITHMETIC_FLOAT32, ARITHMETIC_BFLOAT16, ARITHMETIC_INT8 };

/** Describes a step as storage assignment, executables and tools see it. */
struct library_step_info {
    uint32_t input_count; /* values the step reads at run time, each once; constants excluded */
    const struct value *const *inputs;
    const struct value *output;
    int32_t in_place;        /* index of the input that must be in the output's memory (sum), or -1 */
    int64_t scratch_bytes;   /* of every invocation, 64-byte aligned */
    int64_t packed_bytes;    /* weights that the step holds for itself */
    uint32_t constant_count; /* of the graph, which the step reads where they are and keeps alive */
    struct constant *const *constants;
    double flops, bytes;    /* of one run: 2 per multiply-add; operands read once, output written once */
    WNNPrecision precision; /* that it computes with */
    enum arithmetic arithmetic;
    double operations;          /* operations of the arithmetic: flops, and three times as many for bf16x2 */
    const char *implementation; /* the library's name of it, for profiles */
};

/** Describes the dependences of packed weights. */
struct library_facts {
    uint32_t version, isa;
    bool refuses; /* the library is not to be used: its process-wide instruction set is above the cap */
};
