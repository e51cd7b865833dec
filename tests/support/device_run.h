/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lowers kernels by a device's schedule and runs them in the interpreter of the loop language, group by group, without a
 * device.
 */
#pragma once

#include "codegen/lower/lower.h"
#include "codegen/opencl/opencl.h"
#include "support/graphs.h"
#include "support/kernel_text.h"
#include "support/loop_text.h"

static struct {
    struct gpu_facts facts;
    struct gpu_choice choice;
    enum gpu_shape last; /* of the last kernel */
    bool last_matrix;    /* it multiplied matrices */
    bool literals;
    uint32_t kernels; /* that ran by their schedule */
} device;

/** Runs a kernel by the schedule of `device`.  Returns false if its loop IR is not valid, or does what it may not. */
GRAPHS_UNUSED static bool device_run(const struct kernel *k, void *const *tensors)
{
    struct gpu_schedule s;
    struct loop_module m = {0};
    struct error e = {0};
    struct opencl_source source;
    struct loop_memory memory[KERNEL_TENSORS_MAX];
    struct loop_launch launch = {.tensors = memory, .tensor_count = k->tensor_count};

    schedule_gpu_choose(k, &device.facts, &device.choice, &s);
    device.last = s.shape;
    device.last_matrix = s.shape == GPU_TILES && s.tile.matrix;
    device.kernels++;
    assert_done(opencl_print(k, &s, "kernel", &source, &e));
    if (!device.literals) {
        launch.numbers = source.params;
        launch.number_count = source.param_count;
    }
    launch.scratch =
        (struct loop_memory){s.scratch_bytes ? malloc((size_t)s.scratch_bytes) : NULL, (size_t)s.scratch_bytes, false};
    for (uint32_t i = 0; i < k->tensor_count; i++)
        memory[i] = (struct loop_memory){tensors[i], (size_t)k->tensors[i].elements * dtype_size(k->tensors[i].type),
                                         !k->tensors[i].written};
    for (uint32_t d = 0; d < LOOP_DIMENSIONS; d++)
        launch.groups[d] = s.global[d] / s.local[d];
    const bool good = lower_items(&m, &opencl_isa, &s, device.literals, "kernel") && loop_interpret(&m, "kernel", &launch, &e);
    if (!good) {
        kernel_print(k, stderr);
        loop_print(&m, stderr);
        print_error("loop IR: %s\n", e.message);
    } else {
        assert_loop_reads_back(&m);
    }
    loop_module_free(&m);
    opencl_source_free(&source);
    free(launch.scratch.bytes);
    return good;
}
