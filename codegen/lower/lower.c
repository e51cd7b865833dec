/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Lowers a kernel with its schedule to the loop language.  The function has this form:
 *
 *   for each unit: the PARALLEL variables other than the vector variable     units.c
 *     for each vector (or few vectors) of the vector variable, if that is PARALLEL     loop.c
 *       for each phase: loops over the REDUCED variables     phase.c, accumulate.c
 *       stores     memory.c, transpose.c
 *     or, of a contraction: for each register tile     microkernel.c, operand.c
 *
 * Only what schedule_structure shows may shape the code; all other numbers are the kernel's NUMBERs.
 *
 * The files have an order: each calls only those above it in this list (tests/structure/check_structure.sh).  Files that emit
 * things of one kind share a header.
 *
 *   build, induction                        types, constants, instructions, loops; addresses of innermost loops
 *   avx512, native                          scalar operations that are an instruction or a few
 *   expand, operation                       expansions (ir/expansion), low-precision floats, any scalar operation
 *   quantise                                operations that make bytes, together
 *   analysis                                facts about the kernel
 *   frame, context, emitter                 where code goes, for which elements, and what has been emitted
 *   loop                                    loops over one variable
 *   index, space                            numbers, variables, affine forms; a device's index space
 *   operand                                 the operands of a register tile
 *   guard, vector_loads                     conditions of loads and stores, and where windows need none; loads that are taken
 *                                           out of whole vectors
 *   memory, transpose, accumulate           loads and stores, in-register transposes, accumulators
 *   expression                              values of expressions
 *   window                                  steps of tiles whose windows overlap
 *   phase, microkernel                      all for one point or vector of points, and for one register tile
 *   units                                   all tiles of a unit, and loops over units
 *   item_tile, global_tile, local_tile,     register tiles of devices, and those of matrix instructions
 *   matrix_tile
 *   items                                   a device's schedule, and all that a work-item computes
 *   lower                                   the function of a kernel, kernels of stages
 */
#include "codegen/lower/lower.h"

#include "codegen/lower/values.h"
#include "codegen/lower/tile.h"
#include "codegen/lower/space.h"
#include "codegen/lower/point.h"

enum { INDEX_BITS = 64 }; /* of a processor's addresses */

static void emit_body(struct emitter *e)
{
    const struct context cx = {.lanes = 1, .copies = 1};
    V begin = loop_parameter(e->m.b, 0), end = loop_parameter(e->m.b, 1);

    frame_open(&e->frame, LEVEL_ENTRY);
    e->args.scratch = loop_add(e->m.b, LOOP_SCRATCH, type_ptr, NULL, 0, 0);
    microkernel_enter_function(e);
    emit_units(e, &cx, begin, end);
}

/* Adds the function of a kernel without stages.  Returns NULL if memory runs out. */
static struct loop_function *lower_function(struct loop_module *module, const struct isa *isa, const struct schedule *s,
                                            const char *name)
{
    struct arena arena = {0};
    struct emitter *e = arena_alloc(&arena, sizeof *e);
    struct loop_function *function = loop_function_add(module, name, NULL, 0, 0);
    struct loop_builder b;
    bool ok = e && loop_builder_begin(&b, module, function) && values_prepare(e, &(struct build){&b, isa, INDEX_BITS}, s);

    if (ok)
        emit_body(e);
    if (ok && s->tiled)
        reduce_addresses(&e->m, function);
    if (ok)
        loop_sweep(function);
    if (e)
        arena_free(&e->arena);
    arena_free(&arena);
    return ok && !module->failed ? function : NULL;
}

/*
 * Kernels of stages are one function per stage, like that of any kernel, and one that runs them macro-tile by macro-tile:
 *
 *   for each macro-tile
 *     stage 0 (its units of this macro-tile); if (its predicate is below the limit) stage 1; ...
 *
 * A stage with a period runs for the first macro-tile of a call and for those whose number is a multiple of the period.
 *
 * Each stage's struct kernel_args is made once per call, on the stack: its tensors are the kernel's or lie in scratch, its
 * parameters are a part of the kernel's.
 */

/* Holds what the function of all stages knows. */
struct stages_function {
    const struct build *m;
    const struct schedule *schedule;
    const struct kernel *k; /* schedule->kernel */
    V scratch;
    V args[KERNEL_STAGES_MAX], units[KERNEL_STAGES_MAX]; /* units: per macro-tile */
    V periods[KERNEL_STAGES_MAX];
    V locals[KERNEL_LOCALS_MAX];
};

static V number(const struct stages_function *s, uint32_t i)
{
    return loop_add(s->m->b, LOOP_NUMBER, type_index(s->m), NULL, 0, i);
}

static V scratch_at(const struct stages_function *s, uint32_t i)
{
    return op_address(s->m, type_i8, s->scratch, number(s, i));
}

static V make_args(const struct stages_function *s, const struct kstage *stage, struct loop_function *f, V own_scratch,
                   uint32_t first)
{
    const uint32_t count = stage->kernel->tensor_count;
    V args[KERNEL_TENSORS_MAX + 1];

    for (uint32_t t = 0; t < count; t++) {
        const uint32_t to = stage->tensors[t];
        args[t] = to < KERNEL_TENSORS_MAX ? loop_add(s->m->b, LOOP_TENSOR, type_ptr, NULL, 0, to)
                                          : s->locals[to - KERNEL_TENSORS_MAX];
    }
    args[count] = own_scratch;
    return loop_arguments(s->m->b, f, args, count + 1, first);
}

/* Emits everything that is the same for all macro-tiles. */
static void prepare_stages(struct stages_function *s, struct loop_function *const *functions)
{
    const struct kernel *k = s->k;
    uint32_t first = k->local_count + 1 + 2 * k->stage_count;

    s->scratch = loop_add(s->m->b, LOOP_SCRATCH, type_ptr, NULL, 0, 0);
    for (uint32_t i = 0; i < k->local_count; i++)
        s->locals[i] = scratch_at(s, i);
    V own_scratch = scratch_at(s, k->local_count);
    for (uint32_t i = 0; i < k->stage_count; i++) {
        s->units[i] = number(s, k->local_count + 1 + i);
        s->periods[i] = k->stages[i].period > 1 ? number(s, k->local_count + 1 + k->stage_count + i) : NULL;
        s->args[i] = make_args(s, &k->stages[i], functions[i], own_scratch, first);
        first += s->schedule->stages[i]->numbers.param_count;
    }
}

static void call_stage(const struct stages_function *s, uint32_t i, V macro_tile)
{
    const struct build *m = s->m;
    const struct kstage *stage = &s->k->stages[i];
    V runs = stage_runs(m, stage, stage->when ? s->locals[stage->predicate] : NULL, macro_tile, loop_parameter(m->b, 0),
                        s->periods[i]);

    if (runs)
        loop_if_begin(m->b, runs);
    V begin = op_mul(m, macro_tile, s->units[i]);
    op3(m, LOOP_CALL_KERNEL, s->args[i], begin, op_add(m, begin, s->units[i]));
    if (runs)
        loop_end(m->b);
}

static bool lower_stages(struct loop_module *module, const struct isa *isa, const struct schedule *schedule, const char *name)
{
    const struct kernel *k = schedule->kernel;
    struct loop_builder b;
    const struct build m = {&b, isa, INDEX_BITS};
    struct stages_function s = {.m = &m, .schedule = schedule, .k = k};
    struct loop_function *functions[KERNEL_STAGES_MAX];
    char symbol[160];

    for (uint32_t i = 0; i < k->stage_count; i++) {
        snprintf(symbol, sizeof symbol, "%s.stage%u", name, i);
        functions[i] = lower_function(module, isa, schedule->stages[i], symbol);
        if (!functions[i])
            return false;
        functions[i]->internal = true;
    }
    if (!loop_builder_begin(&b, module, loop_function_add(module, name, NULL, 0, 0)))
        return false;
    prepare_stages(&s, functions);
    V macro_tile = loop_for_begin(&b, loop_parameter(&b, 0), loop_parameter(&b, 1), 0);
    for (uint32_t i = 0; i < k->stage_count; i++)
        call_stage(&s, i, macro_tile);
    loop_for_end(&b, const_index(&m, 1));
    return !module->failed;
}

bool lower_kernel(struct loop_module *module, const struct isa *isa, const struct schedule *s, const char *name,
                  struct error *e)
{
    bool ok = s->kernel->stage_count ? lower_stages(module, isa, s, name) : lower_function(module, isa, s, name) != NULL;

    return ok || error_out_of_memory(e);
}
