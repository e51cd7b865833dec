/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Compiled graphs (runtime/program/serialized.h), with their checksums put right so that what follows them is reached.
 * What loads is also run, on buffers of exactly its sizes: with kernels that do nothing, since code is trusted, but with
 * oneDNN's primitives, copies and loops as they are.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz/serialized.h"
#include "runtime/api/context.h"
#include "runtime/engine/cpu/cpu_executable.h"
#include "runtime/program/invocation.h"

/* Runs cost no more than this. */
enum { BYTES_MAX = 1 << 20, ITERATIONS_MAX = 64, SLOTS_MAX = 64 };

void fuzz_seeds(void)
{
    fuzz_serialized_seeds(false);
}

/* ---- one serialized program ---- */

static void no_kernel(const struct kernel_args *args, int64_t begin, int64_t end)
{
}

static bool is_small(const struct program *p, const struct serialized_facts *f)
{
    bool small =
        p->arena_bytes <= BYTES_MAX && p->input_count <= SLOTS_MAX && p->output_count <= SLOTS_MAX && p->step_count < 256;

    for (uint32_t i = 0; small && i < f->input_count; i++)
        small = type_bytes(&f->inputs[i].type) <= BYTES_MAX;
    for (uint32_t i = 0; small && i < f->output_count; i++)
        small = type_bytes(&f->outputs[i].type) <= BYTES_MAX;
    for (uint32_t i = 0; small && i < p->loop_count; i++)
        small = p->loops[i].iterations <= ITERATIONS_MAX;
    for (uint32_t i = 0; small && i < p->step_count; i++)
        small = p->steps[i].kind != STEP_KERNEL || p->steps[i].run.scratch_bytes <= BYTES_MAX;
    return small;
}

static void run(struct engine *en, struct program *p, const struct serialized_facts *f)
{
    static const struct debug_options no_debug;
    struct engine_functions host = *en->functions;
    struct engine one = {.functions = &host, .debug = &no_debug, .thread_count = 1};
    struct cpu_executable x = {0};
    struct engine_binding in[SLOTS_MAX] = {{.host = NULL}}, out[SLOTS_MAX] = {{.host = NULL}};
    struct error e = {.status = WNNStatus_Success};
    kernel_function *functions = calloc(p->step_count + 1u, sizeof *functions);

    host.buffer_create = cpu_buffer_create; /* which needs no struct engine_cpu */
    for (uint32_t i = 0; functions && i < p->step_count; i++)
        functions[i] = no_kernel;
    bool loaded = functions && cpu_executable_init(&x, &one, p, functions, &e);
    for (uint32_t i = 0; i < f->input_count; i++)
        in[f->inputs[i].slot].host = calloc(1, (size_t)type_bytes(&f->inputs[i].type));
    for (uint32_t i = 0; i < f->output_count; i++)
        out[f->outputs[i].slot].host = calloc(1, (size_t)type_bytes(&f->outputs[i].type));
    if (loaded)
        executable_run(&x.base, in, out, NULL, &e);
    cpu_executable_clear(&x);
    free(functions);
    for (uint32_t i = 0; i < SLOTS_MAX; i++) {
        free(in[i].host);
        free(out[i].host);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct engine *en = fuzz_context()->engine;
    unsigned char *copy = aligned_alloc(SERIALIZED_ALIGN, (size + SERIALIZED_ALIGN) / SERIALIZED_ALIGN * SERIALIZED_ALIGN);
    struct error e = {.status = WNNStatus_Success};
    struct serialized_view view;
    struct program p;

    if (!copy)
        return 0;
    if (size)
        memcpy(copy, data, size);
    serialized_sign(copy, size);
    struct serialized_source source = {.program = copy, .bytes = size, .file = -1};
    if (serialized_load(&source, en, NULL, NULL, &p, &view, &e)) {
        if (is_small(&p, &view.facts))
            run(en, &p, &view.facts);
        program_free(&p);
        serialized_view_free(&view);
    } else if (e.status == WNNStatus_Success || !*e.message || p.step_count || view.kernel_count) {
        abort();
    }
    free(copy);
    return 0;
}
