/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits kernels of stages: one function per stage, like that of any kernel, and one that runs them macro-tile by macro-tile.
 *
 *   for each macro-tile
 *     stage 0 (its units of this macro-tile); if (its predicate is below the limit) stage 1; ...
 *
 * A stage with a period runs for the first macro-tile of a call and for those whose number is a multiple of the period.
 *
 * Each stage's struct kernel_args is made once per call, on the stack: its tensors are the kernel's or lie in scratch, its
 * parameters are a part of the kernel's.
 */
#include "codegen/emit/stages.h"

#include <stdio.h>

#include "codegen/emit/function.h"

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

/* Returns the arguments of a stage whose parameters begin at `first`. */
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
static bool prepare(struct stages_function *s)
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

/* Returns whether a stage runs for a macro-tile, or NULL if it does so for all. */
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

bool emit_stages(const struct build *m, const struct schedule *schedule, const char *name, struct error *error)
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
    if (!prepare(&s))
        return error_out_of_memory(error);
    run_macro_tiles(&s);
    return true;
}
