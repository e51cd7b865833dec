/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits a kernel with its schedule as LLVM IR.  The function has this form:
 *
 *   for each unit: the PARALLEL variables other than the vector variable     units.c
 *     for each vector (or few vectors) of the vector variable, if that is PARALLEL     loop.c
 *       for each phase: loops over the REDUCED variables     phase.c, accumulate.c
 *       stores     memory.c, transpose.c
 *     or, of a contraction: for each register tile     microkernel.c, operand.c
 *
 * It takes a schedule and a module, and adds void name(const struct kernel_args *, int64_t begin, int64_t end) to it.  Only
 * what schedule_structure shows may shape the code; all other numbers are read from the parameters.
 *
 * The files have an order: each calls only those above it in this list (tests/structure/check_structure.sh), and includes only
 * their headers.
 *
 *   build                                   types, constants, instructions, loops
 *   avx512, native                          scalar operations that are an instruction or a few
 *   expand, operation                       expansions (ir/expansion), low-precision floats, any scalar operation
 *   quantise                                operations that make bytes, together
 *   analysis                                what is known of the kernel
 *   frame, context, emitter                 where code goes, for which elements, and what has been emitted
 *   loop                                    loops over one variable
 *   index                                   numbers, variables, affine forms
 *   operand                                 the operands of a register tile
 *   guard, vector_loads                     conditions of loads and stores, and where windows need none; loads that are taken
 *                                           out of whole vectors
 *   memory, transpose, accumulate           loads and stores, in-register transposes, accumulators
 *   expression                              values of expressions
 *   phase, microkernel                      all for one point or vector of points, and for one register tile
 *   units                                   all tiles of a unit, and loops over units
 *   emit                                    the function of a kernel, kernels of stages
 */
#include "codegen/emit/emit.h"

#include <stdio.h>

#include "codegen/emit/expression.h"
#include "codegen/emit/kernel_abi.h"
#include "codegen/emit/microkernel.h"
#include "codegen/emit/units.h"

/* Declares a kernel_function (kernel_abi.h) in the module. */
static V function_declare(const struct build *m, const char *name)
{
    T params[3] = {type_ptr(m), type_int(m, 64), type_int(m, 64)};
    V function = LLVMAddFunction(m->module, name, LLVMFunctionType(LLVMVoidTypeInContext(m->context), params, 3, false));
    function_set_attributes(m, function);
    return function;
}

/* Loads a member of struct kernel_args, whose members are pointers of the target's size. */
static V load_field(struct emitter *e, size_t offset, const char *name)
{
    const struct build *m = &e->m;
    V index = const_int(m, 64, (int64_t)(offset / sizeof(void *)));
    V address = LLVMBuildInBoundsGEP2(m->b, type_ptr(m), LLVMGetParam(m->function, 0), &index, 1, "");
    return LLVMBuildLoad2(m->b, type_ptr(m), address, name);
}

/* Finds out and allocates everything that is needed before code is emitted.  Returns false if memory runs out. */
static bool prepare(struct emitter *e, const struct build *m, const struct schedule *s)
{
    const struct kernel *k = s->kernel;
    struct arena *a = &e->arena;

    e->m = *m;
    e->s = s;
    e->k = k;
    e->expr_value = expr_value_lanes;
    if (!analyze(&e->info, s, a))
        return false;
    e->frame = (struct frame){.m = &e->m, .inner_level = e->info.inner_level};
    e->args.params = arena_array(a, e->info.numbers.param_count + 1, sizeof *e->args.params);
    e->cache.forms = arena_array(a, (size_t)(e->info.form_count + 1) * LEVELS_MAX, sizeof *e->cache.forms);
    e->cache.row_pointers = arena_array(a, e->info.form_count + 1, sizeof *e->cache.row_pointers);
    e->cache.exprs = arena_array(a, (size_t)(k->expr_count + 1) * COPIES_MAX, sizeof *e->cache.exprs);
    e->cache.splats = arena_array(a, (size_t)(k->expr_count + 1) * COPIES_MAX, sizeof *e->cache.splats);
    e->accumulators = arena_array(a, k->expr_count + 1, sizeof *e->accumulators);
    return e->args.params && e->cache.forms && e->cache.row_pointers && e->cache.exprs && e->cache.splats && e->accumulators &&
           (!s->tiled || microkernel_prepare(e));
}

static void emit_body(struct emitter *e, V *store_values)
{
    const struct build *m = &e->m;
    const struct context cx = {.lanes = 1, .copies = 1};

    frame_continue(&e->frame, LLVMAppendBasicBlockInContext(m->context, m->function, "entry"));
    frame_open(&e->frame, LEVEL_ENTRY);
    e->args.tensor_array = load_field(e, offsetof(struct kernel_args, tensors), "tensors");
    e->args.param_array = load_field(e, offsetof(struct kernel_args, params), "params");
    e->args.scratch = load_field(e, offsetof(struct kernel_args, scratch), "scratch");
    if (e->s->tiled)
        microkernel_enter_function(e);
    emit_units(e, &cx, LLVMGetParam(m->function, 1), LLVMGetParam(m->function, 2), store_values);
}

static bool emit_function(const struct build *m, const struct schedule *s, const char *name, struct error *error)
{
    struct arena arena = {0};
    struct emitter *e = arena_alloc(&arena, sizeof *e);
    V *store_values = arena_array(&arena, (size_t)s->kernel->store_count * COPIES_MAX + 1, sizeof *store_values);
    bool ok = e && store_values && prepare(e, m, s);

    if (ok) {
        e->m.function = function_declare(&e->m, name);
        emit_body(e, store_values);
    }
    if (e)
        arena_free(&e->arena);
    arena_free(&arena);
    return ok || error_out_of_memory(error);
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
    V tensors, params, scratch;
    V functions[KERNEL_STAGES_MAX], args[KERNEL_STAGES_MAX], units[KERNEL_STAGES_MAX]; /* units: per macro-tile */
    V periods[KERNEL_STAGES_MAX];
    V locals[KERNEL_LOCALS_MAX];
};

static V element(const struct stages_function *s, T type, V pointer, int64_t i)
{
    V index = const_int(s->m, 64, i);
    return LLVMBuildInBoundsGEP2(s->m->b, type, pointer, &index, 1, "");
}

static V load_pointer(const struct stages_function *s, V pointer, int64_t i)
{
    return LLVMBuildLoad2(s->m->b, type_ptr(s->m), element(s, type_ptr(s->m), pointer, i), "");
}

static V load_param(const struct stages_function *s, uint32_t i)
{
    return LLVMBuildLoad2(s->m->b, type_int(s->m, 64), element(s, type_int(s->m, 64), s->params, i), "");
}

static V scratch_at(const struct stages_function *s, uint32_t param)
{
    V offset = load_param(s, param);
    return LLVMBuildInBoundsGEP2(s->m->b, type_int(s->m, 8), s->scratch, &offset, 1, "");
}

static V make_args(const struct stages_function *s, const struct kstage *stage, V own_scratch, uint32_t first)
{
    const struct build *m = s->m;
    T pointer = type_ptr(m);
    const uint32_t count = stage->kernel->tensor_count;
    V tensors = alloca_entry(m, LLVMArrayType2(pointer, count ? count : 1), "tensors");
    V args = alloca_entry(m, LLVMArrayType2(pointer, 3), "args");

    for (uint32_t t = 0; t < count; t++) {
        const uint32_t to = stage->tensors[t];
        V tensor = to < KERNEL_TENSORS_MAX ? load_pointer(s, s->tensors, to) : s->locals[to - KERNEL_TENSORS_MAX];
        LLVMBuildStore(m->b, tensor, element(s, pointer, tensors, t));
    }
    LLVMBuildStore(m->b, tensors, element(s, pointer, args, 0));
    LLVMBuildStore(m->b, element(s, type_int(m, 64), s->params, first), element(s, pointer, args, 1));
    LLVMBuildStore(m->b, own_scratch, element(s, pointer, args, 2));
    return args;
}

/* Emits everything that is the same for all macro-tiles. */
static bool prepare_stages(struct stages_function *s)
{
    const struct kernel *k = s->k;
    uint32_t first = k->local_count + 1 + 2 * k->stage_count;
    struct arena a = {0};
    bool ok = true;

    s->tensors = load_pointer(s, LLVMGetParam(s->m->function, 0), 0);
    s->params = load_pointer(s, LLVMGetParam(s->m->function, 0), 1);
    s->scratch = load_pointer(s, LLVMGetParam(s->m->function, 0), 2);
    for (uint32_t i = 0; i < k->local_count; i++)
        s->locals[i] = scratch_at(s, i);
    V own_scratch = scratch_at(s, k->local_count);
    for (uint32_t i = 0; ok && i < k->stage_count; i++) {
        struct knumbers numbers;
        s->units[i] = load_param(s, k->local_count + 1 + i);
        s->periods[i] = k->stages[i].period > 1 ? load_param(s, k->local_count + 1 + k->stage_count + i) : NULL;
        s->args[i] = make_args(s, &k->stages[i], own_scratch, first);
        ok = schedule_numbers(s->schedule->stages[i], &a, &numbers);
        if (ok)
            first += numbers.param_count;
    }
    arena_free(&a);
    return ok;
}

static V condition(const struct stages_function *s, uint32_t i, V macro_tile)
{
    const struct build *m = s->m;
    const struct kstage *stage = &s->k->stages[i];

    if (s->periods[i]) {
        V first = LLVMBuildICmp(m->b, LLVMIntEQ, macro_tile, LLVMGetParam(m->function, 1), "");
        V rest = op_modulo_index(m, macro_tile, s->periods[i]);
        return LLVMBuildOr(m->b, first, LLVMBuildICmp(m->b, LLVMIntEQ, rest, const_int(m, 64, 0), ""), "");
    }
    if (!stage->when)
        return NULL;
    V value = LLVMBuildLoad2(m->b, type_f32(m), s->locals[stage->predicate], "predicate");
    V below = LLVMBuildFCmp(m->b, LLVMRealOLT, value, LLVMConstReal(type_f32(m), (double)stage->limit), "below");
    return stage->when == KSTAGE_BELOW ? below : LLVMBuildNot(m->b, below, "");
}

static void call_stage(const struct stages_function *s, uint32_t i, V macro_tile)
{
    const struct build *m = s->m;
    V runs = condition(s, i, macro_tile);
    LLVMBasicBlockRef after = NULL;

    if (runs) {
        LLVMBasicBlockRef then = block_append(m, "stage");
        after = block_append(m, "staged");
        LLVMBuildCondBr(m->b, runs, then, after);
        LLVMPositionBuilderAtEnd(m->b, then);
    }
    V begin = LLVMBuildMul(m->b, macro_tile, s->units[i], "");
    V args[3] = {s->args[i], begin, LLVMBuildAdd(m->b, begin, s->units[i], "")};
    LLVMBuildCall2(m->b, LLVMGlobalGetValueType(s->functions[i]), s->functions[i], args, 3, "");
    if (after) {
        LLVMBuildBr(m->b, after);
        LLVMPositionBuilderAtEnd(m->b, after);
    }
}

static void run_macro_tiles(const struct stages_function *s)
{
    const struct build *m = s->m;
    V begin = LLVMGetParam(m->function, 1), end = LLVMGetParam(m->function, 2);
    LLVMBasicBlockRef before = LLVMGetInsertBlock(m->b), loop = block_append(m, "macro.tile"), done = block_append(m, "return");

    LLVMBuildCondBr(m->b, LLVMBuildICmp(m->b, LLVMIntSLT, begin, end, ""), loop, done);
    LLVMPositionBuilderAtEnd(m->b, loop);
    V macro_tile = LLVMBuildPhi(m->b, type_int(m, 64), "macro.tile");
    for (uint32_t i = 0; i < s->k->stage_count; i++)
        call_stage(s, i, macro_tile);
    V next = LLVMBuildAdd(m->b, macro_tile, const_int(m, 64, 1), "");
    V values[2] = {begin, next};
    LLVMBasicBlockRef from[2] = {before, LLVMGetInsertBlock(m->b)};
    LLVMAddIncoming(macro_tile, values, from, 2);
    LLVMBuildCondBr(m->b, LLVMBuildICmp(m->b, LLVMIntSLT, next, end, ""), loop, done);
    LLVMPositionBuilderAtEnd(m->b, done);
    LLVMBuildRetVoid(m->b);
}

static bool emit_stages(const struct build *m, const struct schedule *schedule, const char *name, struct error *error)
{
    const struct kernel *k = schedule->kernel;
    struct build own = *m;
    struct stages_function s = {.m = &own, .schedule = schedule, .k = k};
    char symbol[160];

    for (uint32_t i = 0; i < k->stage_count; i++) {
        snprintf(symbol, sizeof symbol, "%s.stage%u", name, i);
        if (!emit_function(m, schedule->stages[i], symbol, error))
            return false;
        s.functions[i] = LLVMGetNamedFunction(m->module, symbol);
        LLVMSetLinkage(s.functions[i], LLVMInternalLinkage);
    }
    own.function = function_declare(m, name);
    LLVMPositionBuilderAtEnd(m->b, LLVMAppendBasicBlockInContext(m->context, own.function, "entry"));
    if (!prepare_stages(&s))
        return error_out_of_memory(error);
    run_macro_tiles(&s);
    return true;
}

bool emit_kernel(const struct build *m, const struct schedule *s, const char *name, struct error *error)
{
    return s->kernel->stage_count ? emit_stages(m, s, name, error) : emit_function(m, s, name, error);
}
