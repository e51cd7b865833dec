/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits expansions of elementary functions (ir/expansion) as instructions.
 */
#include "codegen/emit/expand.h"

#include <stdio.h>

#include "codegen/emit/avx512.h"
#include "codegen/emit/native.h"

struct expansion_target expansion_target_of(const struct build *m, V like)
{
    return (struct expansion_target){.fma = m->isa->fma,
                                     .ldexp = avx512_has_scale(m, like),
                                     .div_approx = avx512_has_divide(m, like),
                                     .no_f64_fma = !m->isa->f64};
}

static V emit_step(const struct build *m, const struct expansion *x, const struct expansion_step *s, const V *values,
                   uint32_t lanes)
{
    V args[3] = {NULL, NULL, NULL};

    if (s->op == K_CONST)
        return const_splat(const_scalar(m, s->type, s->bits), lanes);
    for (uint32_t a = 0; a < 3 && s->args[a] != EXPANSION_NONE; a++)
        args[a] = values[s->args[a]];
    return emit_native(m, s->op, s->type, x->steps[s->args[0]].type, args[0], args[1], args[2]);
}

/* Emits what comes after the rare steps: a block that is entered from them and, where they are left out, from before them. */
static void merge_rare(const struct build *m, const struct expansion *x, V *values, LLVMBasicBlockRef before,
                       LLVMBasicBlockRef join)
{
    LLVMBasicBlockRef from[2] = {before, LLVMGetInsertBlock(m->b)};

    LLVMBuildBr(m->b, join);
    LLVMPositionBuilderAtEnd(m->b, join);
    for (uint32_t i = x->rare_end - x->rare_merged; i < x->rare_end; i++) {
        V both[2] = {values[x->steps[i].args[2]], values[i]};
        values[i] = LLVMBuildPhi(m->b, LLVMTypeOf(both[0]), "");
        LLVMAddIncoming(values[i], both, from, 2);
    }
}

static V emit_steps(const struct build *m, const struct expansion *x, const V *args)
{
    const uint32_t lanes = lanes_of(args[0]);
    LLVMBasicBlockRef before = NULL, join = NULL;
    V values[EXPANSION_VALUES_MAX];

    for (uint32_t i = 0; i < x->value_count; i++) {
        if (x->rare_end && i == x->rare_first) {
            LLVMBasicBlockRef rare = block_append(m, "rare");
            before = LLVMGetInsertBlock(m->b);
            join = block_append(m, "join");
            LLVMBuildCondBr(m->b, op_any(m, values[x->rare_condition]), rare, join);
            LLVMPositionBuilderAtEnd(m->b, rare);
        }
        values[i] = i < x->argument_count ? args[i] : emit_step(m, x, &x->steps[i], values, lanes);
        if (x->rare_end && i + 1u == x->rare_end)
            merge_rare(m, x, values, before, join);
    }
    return values[x->result];
}

/* Returns a function of the module with an expansion's steps; what calls them spends its time elsewhere. */
static V function_of(const struct build *m, const struct expansion *x, T signature, const char *name)
{
    V function = LLVMAddFunction(m->module, name, signature), args[EXPANSION_ARGUMENTS_MAX];
    struct build inside = *m;

    LLVMSetLinkage(function, LLVMInternalLinkage);
    function_set_attributes(m, function);
    for (uint32_t i = 0; i < x->argument_count; i++)
        args[i] = LLVMGetParam(function, i);
    inside.function = function;
    inside.b = LLVMCreateBuilderInContext(m->context);
    LLVMPositionBuilderAtEnd(inside.b, block_append(&inside, "entry"));
    LLVMBuildRet(inside.b, emit_steps(&inside, x, args));
    LLVMDisposeBuilder(inside.b);
    return function;
}

static V call_function(const struct build *m, const struct expansion *x, const V *args)
{
    T type = type_like(type_of(m, x->steps[x->result].type), args[0]), types[EXPANSION_ARGUMENTS_MAX];
    V all[EXPANSION_ARGUMENTS_MAX];
    char name[48];

    for (uint32_t i = 0; i < x->argument_count; i++) {
        all[i] = args[i];
        types[i] = LLVMTypeOf(args[i]);
    }
    T signature = LLVMFunctionType(type, types, x->argument_count, false);
    snprintf(name, sizeof name, "%s.v%u%s", kop_name(x->op), lanes_of(args[0]), m->suffix ? m->suffix : "");
    V function = LLVMGetNamedFunction(m->module, name);
    if (!function)
        function = function_of(m, x, signature, name);
    return LLVMBuildCall2(m->b, signature, function, all, x->argument_count, "");
}

V emit_expansion(const struct build *m, enum kop op, const V *args)
{
    const struct expansion_target target = expansion_target_of(m, args[0]);
    struct expansion x;

    expansion_build(op, &target, &x);
    return x.long_code ? call_function(m, &x, args) : emit_steps(m, &x, args);
}
