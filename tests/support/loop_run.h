/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lowers kernels to the loop language and runs the result in its interpreter, without LLVM.
 */
#pragma once

#include "codegen/lower/lower.h"
#include "support/loop_text.h"

static inline bool loop_has(const struct loop_region *region, enum loop_op op)
{
    for (const struct loop_value *v = region->first; v; v = v->next) {
        if (v->op == op)
            return true;
        for (uint32_t i = 0; i < v->region_count; i++)
            if (loop_has(&v->regions[i], op))
                return true;
    }
    return false;
}

/** Returns whether all operations of a module have one result only, on a processor with these features. */
static inline bool loop_is_exact(const struct loop_module *m, const struct isa *isa)
{
    for (const struct loop_function *f = m->first; f; f = f->next)
        if (loop_has(&f->body, LOOP_ESTIMATE) || (!isa->fma && loop_has(&f->body, LOOP_RELAXED_FMA)))
            return false;
    return true;
}

/** Runs all units of a scheduled kernel on its tensors, the last two thirds first.  Returns whether machine code for such a
 * processor computes the same bits.  The test fails if the kernel's loop IR is not valid, or violates its rules. */
static inline bool loop_run(const struct schedule *s, const struct isa *isa, void *const *tensors)
{
    const struct kernel *k = s->kernel;
    struct loop_module m = {0};
    struct error e = {0};
    struct loop_memory memory[KERNEL_TENSORS_MAX];
    const size_t scratch_bytes = (size_t)s->scratch_bytes, room = (scratch_bytes + 127) / 64 * 64;
    struct loop_launch launch = {.tensors = memory,
                                 .tensor_count = k->tensor_count,
                                 .numbers = s->numbers.params,
                                 .number_count = s->numbers.param_count,
                                 .scratch = {aligned_alloc(64, room), scratch_bytes, false}};
    bool good = lower_kernel(&m, isa, s, "kernel", &e);

    assert_non_null(launch.scratch.bytes);
    memset(launch.scratch.bytes, 0xFF, room);
    for (uint32_t i = 0; i < k->tensor_count; i++)
        memory[i] = (struct loop_memory){tensors[i], (size_t)k->tensors[i].elements * dtype_size(k->tensors[i].type),
                                         !k->tensors[i].written};
    for (int part = 0; good && part < 2; part++) {
        launch.begin = part ? 0 : s->units / 3;
        launch.end = part ? s->units / 3 : s->units;
        good = loop_interpret(&m, "kernel", &launch, &e);
    }
    if (!good) {
        kernel_print(k, stderr);
        loop_print(&m, stderr);
        fail_msg("loop IR: %s", e.message);
    }
    assert_loop_reads_back(&m);
    const bool is_exact = loop_is_exact(&m, isa);
    loop_module_free(&m);
    free(launch.scratch.bytes);
    return is_exact;
}
