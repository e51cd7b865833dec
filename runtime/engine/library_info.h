/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This header declares what an engine tells of its library for convolutions and matmuls, whichever library that is.
 */
#pragma once

#include "ir/graph/ir.h"

/** Says what a step's multiply-adds are made of: each kind has a rate of its own. */
enum arithmetic { ARITHMETIC_FLOAT32, ARITHMETIC_BFLOAT16, ARITHMETIC_INT8 };

/** Describes a step as storage assignment, executables and tools see it. */
struct library_step_info {
    uint32_t input_count; /* values the step reads at run time, each once; constants excluded */
    const struct value *const *inputs;
    const struct value *output;
    int32_t in_place;        /* index of the input that must lie in the output's memory (sum), or -1 */
    int64_t scratch_bytes;   /* of every invocation, 64-byte aligned */
    int64_t packed_bytes;    /* weights that the step holds for itself */
    uint32_t constant_count; /* of the graph, which the step reads where they are and keeps alive */
    struct constant *const *constants;
    double flops, bytes;    /* of one run: 2 per multiply-add; operands read once, output written once */
    WNNPrecision precision; /* that it computes with */
    enum arithmetic arithmetic;
    double operations;          /* what the arithmetic does for them: flops, and three times as many for bf16x2 */
    const char *implementation; /* the library's name of it, for profiles */
};

/** Says what packed weights depend on. */
struct library_facts {
    uint32_t version, isa;
    bool refuses; /* the library is not to be used: its process-wide instruction set is above the cap */
};
