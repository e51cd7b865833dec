/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the function of one kernel: its declaration, its arguments, and the state of emitting it.
 */
#include "codegen/emit/function.h"

#include "codegen/emit/expression.h"
#include "codegen/emit/kernel_abi.h"
#include "codegen/emit/microkernel.h"
#include "codegen/emit/units.h"

V function_declare(const struct build *m, const char *name)
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

bool emit_function(const struct build *m, const struct schedule *s, const char *name, struct error *error)
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
