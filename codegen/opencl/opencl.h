/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Prints kernels as OpenCL C 1.2.
 *
 * The printer takes a finished kernel and its GPU schedule (ir/schedule/schedule_gpu.h).  It gives the source of one __kernel
 * function, and the numbers that the function takes as parameters.  Sizes and strides are parameters, so that kernels of one
 * structure share a program.
 *
 * The function has these arguments, in this order:
 *   for every tensor of the kernel a __global buffer and a byte offset into it (ulong);
 *   of a kernel of stages the same for its scratch memory of schedule.scratch_bytes;
 *   the parameters, as int, or as long where the schedule is wide.
 *
 * The text needs no OpenCL header and no device: it depends on the kernel and its schedule alone.
 */
#pragma once

#include "ir/schedule/schedule_gpu.h"

/** This is what opencl_print gives.  The caller frees it with opencl_source_free. */
struct opencl_source {
    char *text; /* one __kernel function of the given name; opencl_prelude goes before it */
    uint32_t param_count;
    int64_t *params; /* values of this kernel's parameters */
};

/** Every program begins with these functions and macros, which all kernels use. */
extern const char opencl_prelude[];
/** A program has to be built with these options, so that its results are as exact as those of the CPU. */
extern const char opencl_options[];

/** Says which operations OpenCL C has: codegen/lower expands all others. */
extern const struct isa opencl_isa;

/** Kernels whose tiles are of matrix instructions begin with this text.  It has the instructions, in macros:
 *    MATRIX_LOAD(f, p), MATRIX_LOAD_TRANSPOSED(f, p)  f, a uint4, becomes four matrices of 8 x 8 halves from local memory, p
 * being the item's row MATRIX_MULTIPLY(c, a, b0, b1)                    c += a b, of 16 x 8 sums in c, a float4; a is a uint4
 *    MATRIX_MEMORY                                    what they need in local memory, as a declaration
 * Tests define MATRIX_MULTIPLY and the others before, by functions that do the same. */
extern const char opencl_matrix_functions[];

/**
 * A kernel, to follow opencl_matrix_functions, of one group of 32 items, webnn_probe(in, out), by which a device shows what its
 * matrix instructions do (matrix_probe.c).  `in` is what opencl_matrix_probe_fill makes.
 */
extern const char opencl_matrix_probe[];
enum { OPENCL_PROBE_HALVES = 384, OPENCL_PROBE_SUMS = 256 };
void opencl_matrix_probe_fill(uint16_t in[OPENCL_PROBE_HALVES]);
/** Returns whether what a device computed is right, and sums are as exact as those of float32. */
bool opencl_matrix_probe_right(const float out[OPENCL_PROBE_SUMS]);

/** Prints a kernel as a function of the given name into *out, which the caller frees.  k is finished, and s is its schedule.
 * Returns false after an error in *e, which only a lack of memory causes; *out then holds nothing. */
bool opencl_print(const struct kernel *k, const struct gpu_schedule *s, const char *name, struct opencl_source *out,
                  struct error *e);
/** Frees the text and the parameters of s, but not s itself. */
void opencl_source_free(struct opencl_source *s);
