/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Kernels of stages, compiled and run, for tests of the code that computes them.
 */
#pragma once

#include "codegen/codegen.h"
#include "ir/target/processor.h"
#include "support/kernels.h"
#include "support/loop_run.h"
#include "support/schedules.h"

/* The address sanitizer instruments kernels, too, which takes one instruction set. */
#ifdef WEBNN_SANITIZE
static const char *const isas[] = {"native"};
enum { STAGES_DEBUG = DEBUG_SANITIZE };
#else
static const char *const isas[] = {"native", "avx2", "baseline"};
enum { STAGES_DEBUG = 0 };
#endif
enum { ISAS = sizeof isas / sizeof *isas };

static struct codegen *stages_codegen;
static const struct isa *stages_isa; /* that stages_codegen compiles for */
static struct debug_options stages_debug;

/** Makes stages_codegen for an instruction set and fills *t. */
static inline void stages_compile_for(struct target *t, const char *isa, uint32_t flags)
{
    struct error e = {0};

    stages_debug.flags = STAGES_DEBUG | flags;
    assert_true(processor_target(t, isa, &e));
    stages_codegen = codegen_create(t, &stages_debug, &e);
    stages_isa = &t->isa;
    assert_non_null(stages_codegen);
}

/** Returns the kernel's function, which *unit owns, or NULL. */
static inline kernel_function stages_compile(const struct kernel *k, struct codegen_kernels **unit)
{
    OWNED(schedule) struct schedule *s = schedule_of(k, stages_isa);
    struct error e = {0};
    kernel_function f = NULL;

    if (!codegen_compile(stages_codegen, 1, &s, NULL, NULL, unit, &f, &e))
        print_error("%s\n", e.message);
    return f;
}

/** Calls the function for all macro-tiles, in two parts, as threads do: each with scratch of its own. */
static inline void stages_call(const struct kernel *k, kernel_function f, void *const *tensors)
{
    OWNED(schedule) struct schedule *s = schedule_of(k, stages_isa);
    const int64_t middle = s->units / 2;

    for (int part = 0; part < 2; part++) {
        OWNED(memory) void *scratch = aligned_alloc(64, (size_t)(s->scratch_bytes + 127) / 64 * 64);

        memset(scratch, 0xFF, (size_t)(s->scratch_bytes + 127) / 64 * 64); /* NaN: unwritten memory shows */
        f(&(struct kernel_args){tensors, s->numbers.params, scratch}, part ? middle : 0, part ? s->units : middle);
    }
}

/* Runs the loop IR of a kernel on copies of the tensors, as they were before the kernel ran, and compares with the results of
 * machine code. */
static inline void stages_interpret(const struct kernel *k, void *const *before, void *const *after)
{
    OWNED(schedule) struct schedule *s = schedule_of(k, stages_isa);
    const bool is_exact = loop_run(s, stages_isa, before);

    for (uint32_t t = 0; is_exact && t < k->tensor_count; t++)
        for (int64_t i = 0; k->tensors[t].written && i < k->tensors[t].elements; i++) {
            const double x = kernels_element(k->tensors[t].type, before[t], i);
            const double y = kernels_element(k->tensors[t].type, after[t], i);
            if (x != y && !(isnan(x) && isnan(y)))
                fail_msg("tensor %u element %lld: %.9g by the loop IR, %.9g by machine code", t, (long long)i, x, y);
        }
}

/** Compiles a kernel and runs it: a kernel_runner. */
static inline bool stages_run_compiled(const struct kernel *k, void *const *tensors)
{
    struct codegen_kernels *unit;
    kernel_function f = stages_compile(k, &unit);

    if (!f)
        return false;
    stages_call(k, f, tensors);
    codegen_kernels_free(unit);
    return true;
}

/** Does the same, and interprets the loop IR of every eighth kernel, which takes longer. */
static inline bool stages_run_both(const struct kernel *k, void *const *tensors)
{
    static int turn;
    void *before[KERNEL_TENSORS_MAX];
    const uint32_t count = turn++ % 8 == 0 ? k->tensor_count : 0;

    for (uint32_t t = 0; t < count; t++) {
        const size_t bytes = (size_t)k->tensors[t].elements * dtype_size(k->tensors[t].type);
        before[t] = aligned_alloc(64, (bytes + 127) / 64 * 64);
        assert_non_null(before[t]);
        memcpy(before[t], tensors[t], bytes);
    }
    const bool good = stages_run_compiled(k, tensors);
    if (good && count)
        stages_interpret(k, before, tensors);
    for (uint32_t t = 0; t < count; t++)
        free(before[t]);
    return good;
}
