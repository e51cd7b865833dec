/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The CPU engine's executable: an array of steps in a fixed order over one arena, and the executions that run it.
 *
 * In: a program (runtime/engine.h), and for each of its kernels a function.  Out: plan_run, which allocates, locks and looks up
 * nothing per step.  Knows nothing of LLVM or contexts: tests give it hand-written kernel functions.
 */
#ifndef WEBNN_RUNTIME_PLAN_H_
#define WEBNN_RUNTIME_PLAN_H_

#include "codegen/kernel_abi.h"
#include "runtime/engine.h"

struct plan;

/** Where bound memory lies: engine buffers as the CPU engine has them, or host memory. */
struct engine_buffer {
    size_t bytes;
    void *data;
};

/**
 * Makes a plan of p with functions[i] for its i-th STEP_KERNEL (in step order).  Takes over library steps and references to
 * constants; the kernels stay p's.  NULL: e, and p keeps everything.
 */
struct plan *plan_create(struct program *p, const kernel_function *functions, uint32_t thread_count,
                         const struct debug_options *debug, struct error *e);
/** No run may be under way. */
void plan_free(struct plan *plan);

/** See engine_functions.run. */
bool plan_run(struct plan *plan, const struct engine_binding *inputs, const struct engine_binding *outputs,
              const atomic_bool *stop, struct error *e);

/** See engine_functions.is_brief. */
bool plan_is_brief(const struct plan *plan);

/** See engine_functions.measure, facts and step_facts. */
void plan_measure(struct plan *plan);
void plan_facts(const struct plan *plan, struct executable_facts *out);
void plan_step_facts(const struct plan *plan, uint32_t step, struct step_facts *out);
/** Which of the plan's kernels a step is, in step order; UINT32_MAX: none. */
uint32_t plan_step_kernel(const struct plan *plan, uint32_t step);

/** Into how many parts a kernel's units are cut: 1 unless the work outweighs waking threads. */
uint32_t plan_kernel_parts(double flops, double bytes, int64_t units, uint32_t thread_count);

void plan_print_profile(const struct plan *plan, FILE *out);

#endif
