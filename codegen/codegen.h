/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Native code from kernel IR, through LLVM's C API.  The only folder that includes LLVM headers; this header includes none.
 *
 * In: finished kernels (ir/kernel.h).  Out: kernel_function pointers (JIT), later objects and assembly (AOT); both share
 * everything up to the finished module.  Read codegen/emit.c first.
 */
#ifndef WEBNN_CODEGEN_CODEGEN_H_
#define WEBNN_CODEGEN_CODEGEN_H_

#include "codegen/kernel_abi.h"
#include "ir/debug.h"
#include "ir/kernel.h"
#include "ir/target.h"

/** A compiler for one target, with its JIT and its cache of compiled structures.  Thread-safe.  One per context. */
struct codegen;
/** References to the code of one graph's kernels; code goes when the last graph that uses it does. */
struct codegen_unit;

/** Fills triple, cpu, features and vector_bits with the host's, capped by isa ("baseline", "avx2", "avx512", NULL or "native").
 * Strings live in a.  TypeError for an unknown isa. */
bool codegen_host_target(struct target *t, const char *isa, struct arena *a, struct error *e);

/** t and d must outlive the result.  NULL: e. */
struct codegen *codegen_create(const struct target *t, const struct debug_options *d, struct error *e);
void codegen_free(struct codegen *c);

/** Compiles kernels: each distinct structure once, structures compiled before not at all.  functions[i] runs kernels[i] with
 * the parameters of kernel_numbers.  False: e, and nothing is kept. */
bool codegen_compile(struct codegen *c, uint32_t count, struct kernel *const *kernels, struct codegen_unit **unit,
                     kernel_function *functions, struct error *e);
void codegen_unit_free(struct codegen_unit *u);

/**
 * The machine code of a unit as bytes that run wherever they are mapped at a multiple of 4096 (codegen/flatten.h): of its
 * kernels which[0..count-1], offsets[i] being where the i-th one's function starts.  kernels: the unit's, needed only under the
 * sanitize switch, where code is compiled anew without it; else NULL.  *bytes is for free().  False: e.
 */
bool codegen_unit_flatten(struct codegen_unit *u, struct kernel *const *kernels, uint32_t count, const uint32_t *which,
                          void **bytes, size_t *size, uint64_t *offsets, struct error *e);

/** Milliseconds spent so far: emitting IR, LLVM passes, instruction selection and linking; and modules compiled. */
struct codegen_times {
    double emit_ms, passes_ms, codegen_ms;
    uint32_t structures, kernels;
};
void codegen_get_times(struct codegen *c, struct codegen_times *out);

/**
 * What a kernel's expressions take of the vector units, summed over all elements that they are computed for: an instruction on
 * a vector of 32-bit lanes counts as one for each lane.  A lower bound (codegen/work.c); 0 where nothing is known (no x86,
 * vectors of 128 bits).
 */
struct codegen_work {
    double instructions; /* but divisions and square roots: */
    double divisions;
};
/** For tools: compiles small functions, which takes milliseconds.  False: e. */
bool codegen_count_work(struct codegen *c, const struct kernel *k, struct codegen_work *work, struct error *e);

#endif
