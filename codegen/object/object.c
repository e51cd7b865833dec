/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes the module of an object out of these parts, then runs the passes and writes it.
 *
 *   kernels      each distinct structure once (as in the JIT) for each level, internal functions
 *   level        object_level.c, if there are several: which of them this processor runs
 *   numbers      a constant array per step
 *   functions    object_run.c (the program as code) or object_describe.c (calls of libwebnn_rt)
 *   description  object_describe.c
 */
#include "codegen/object/object_module.h"

#include <llvm-c/BitWriter.h>
#include <stdlib.h>
#include <string.h>

#include "ir/support/clock.h"

/* ---- small things ---- */

/* Starts writing a function's body. */
static void object_begin(struct object_module *o, V function)
{
    function_set_attributes(&o->m, function);
    o->m.function = function;
    LLVMPositionBuilderAtEnd(o->m.b, block_append(&o->m, "entry"));
}

V object_function(struct object_module *o, const char *name, T result, T *params, uint32_t count)
{
    char symbol[320];

    snprintf(symbol, sizeof symbol, "%s_%s", o->p->prefix, name);
    V f = LLVMAddFunction(o->m.module, symbol, LLVMFunctionType(result, params, count, false));
    object_begin(o, f);
    return f;
}

V object_internal(struct object_module *o, const char *name, T result, T *params, uint32_t count)
{
    V f = LLVMAddFunction(o->m.module, name, LLVMFunctionType(result, params, count, false));
    LLVMSetLinkage(f, LLVMInternalLinkage);
    object_begin(o, f);
    return f;
}

V object_external(struct object_module *o, const char *name, T result, T *params, uint32_t count, bool variadic)
{
    V f = LLVMGetNamedFunction(o->m.module, name);
    return f ? f : LLVMAddFunction(o->m.module, name, LLVMFunctionType(result, params, count, variadic));
}

void object_branch(const struct object_module *o, V condition, LLVMBasicBlockRef yes, LLVMBasicBlockRef no)
{
    LLVMBuildCondBr(o->m.b, condition, yes, no);
    LLVMPositionBuilderAtEnd(o->m.b, yes);
}

void object_return(const struct object_module *o, LLVMBasicBlockRef block, uint32_t result)
{
    LLVMPositionBuilderAtEnd(o->m.b, block);
    LLVMBuildRet(o->m.b, object_number(o, result));
}

V object_call(const struct object_module *o, V function, V *args, uint32_t count)
{
    return LLVMBuildCall2(o->m.b, LLVMGlobalGetValueType(function), function, args, count, "");
}

V object_global(struct object_module *o, const char *name, V value, uint32_t align, bool writable)
{
    V g = LLVMAddGlobal(o->m.module, LLVMTypeOf(value), name);
    LLVMSetInitializer(g, value);
    LLVMSetLinkage(g, LLVMInternalLinkage);
    LLVMSetGlobalConstant(g, !writable);
    if (align)
        LLVMSetAlignment(g, align);
    return g;
}

V object_bytes(struct object_module *o, const char *name, const void *bytes, size_t length, uint32_t align)
{
    return object_global(o, name, LLVMConstStringInContext2(o->m.context, bytes, length, true), align, false);
}

V object_text(struct object_module *o, const char *text)
{
    V g = object_bytes(o, "text", text, strlen(text) + 1, 1);
    LLVMSetUnnamedAddress(g, LLVMGlobalUnnamedAddr); /* equal ones may be one */
    return g;
}

V object_offset(const struct object_module *o, V pointer, V bytes)
{
    return LLVMBuildGEP2(o->m.b, o->i8, pointer, &bytes, 1, "");
}

V object_element(const struct object_module *o, T element, V array, V index)
{
    return LLVMBuildInBoundsGEP2(o->m.b, element, array, &index, 1, "");
}

V object_size(const struct object_module *o, uint64_t value)
{
    return LLVMConstInt(o->size, value, false);
}

V object_number(const struct object_module *o, uint32_t value)
{
    return LLVMConstInt(o->i32, value, false);
}

V object_pointers(struct object_module *o, V function, uint32_t first, uint32_t count, V *missing)
{
    LLVMBuilderRef b = o->m.b;
    V array = LLVMBuildAlloca(b, LLVMArrayType2(o->ptr, count ? count : 1), "array");

    for (uint32_t i = 0; i < count; i++) {
        V pointer = LLVMGetParam(function, first + i);
        LLVMBuildStore(b, pointer, object_element(o, o->ptr, array, llvm_number(&o->m, 64, i)));
        *missing = LLVMBuildOr(b, *missing, LLVMBuildIsNull(b, pointer, ""), "");
    }
    return array;
}

T *object_run_params(struct object_module *o, uint32_t before, const T *types)
{
    uint32_t sizes = before + o->p->size_count, count = sizes + o->p->input_count + o->p->output_count;
    T *params = calloc(count + 1u, sizeof *params);
    for (uint32_t i = 0; params && i < count; i++)
        params[i] = i < before ? types[i] : i < sizes ? o->i32 : o->ptr;
    return params;
}

/* ---- kernels ---- */

struct structure {
    char *text;
    V function;
};

/* Makes a name that every assembler takes. */
static void kernel_symbol(char *out, size_t size, uint32_t number, const char *name)
{
    int n = snprintf(out, size, "k%u_%s", number, name);
    for (int i = 0; i < n && out[i]; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", out[i]))
            out[i] = '_';
}

static V params_of(struct object_module *o, const struct schedule *s, struct arena *scratch)
{
    struct knumbers numbers;

    if (!schedule_numbers(s, scratch, &numbers))
        return NULL;
    V *values = arena_array(scratch, numbers.param_count + 1, sizeof *values);
    if (!values)
        return NULL;
    for (uint32_t i = 0; i < numbers.param_count; i++)
        values[i] = llvm_number(&o->m, 64, numbers.params[i]);
    V g = object_global(o, "numbers", LLVMConstArray2(o->i64, values, numbers.param_count), 8, false);
    LLVMSetUnnamedAddress(g, LLVMGlobalUnnamedAddr);
    return g;
}

/* Knows the kernels' structures: those of the level at hand begin at `first`. */
struct structures {
    struct structure *known;
    uint32_t first, count;
};

/* Emits a kernel if no kernel of its level with its structure has been.  A hash would save nothing here: an object has tens of
 * structures, seldom hundreds. */
static bool emit_kernel_once(struct object_module *o, const struct schedule *s, uint32_t index, struct structures *all,
                             struct arena *a, struct error *e)
{
    char *text = schedule_structure(s, a), symbol[96];

    o->params[index] = text ? params_of(o, s, a) : NULL;
    if (!o->params[index])
        return error_out_of_memory(e);
    for (uint32_t i = all->first; i < all->count && !o->kernels[index]; i++)
        if (!strcmp(all->known[i].text, text))
            o->kernels[index] = all->known[i].function;
    if (o->kernels[index])
        return true;
    kernel_symbol(symbol, sizeof symbol, all->count, s->kernel->name);
    if (!machine_lower(o->machine, &o->m, s, symbol, e))
        return false;
    o->kernels[index] = LLVMGetNamedFunction(o->m.module, symbol);
    LLVMSetLinkage(o->kernels[index], LLVMInternalLinkage);
    all->known[all->count++] = (struct structure){text, o->kernels[index]};
    return true;
}

static bool emit_kernels(struct object_module *o, const struct object_options *options, struct error *e)
{
    struct arena a = {0};
    const struct object_program *p = o->p;
    const uint32_t total = p->level_count * p->kernel_count;
    struct structures all = {.known = arena_array(&a, total + 1, sizeof *all.known)};
    bool ok = all.known || error_out_of_memory(e);

    for (uint32_t i = 0; ok && i < total; i++) {
        const uint32_t kernel = i % p->kernel_count;
        const struct object_level *level = &p->levels[i / p->kernel_count];
        if (kernel == 0) {
            all.first = all.count;
            o->m.target = level->target;
            o->m.suffix = p->level_count > 1 ? level->target->cpu : NULL;
        }
        ok = emit_kernel_once(o, level->kernels[kernel], i, &all, &a, e);
        if (options->progress)
            options->progress(options->user, i + 1, total);
    }
    o->machine->times.kernels = total;
    o->machine->times.structures = all.count;
    o->m.target = o->machine->target; /* whatever calls kernels runs everywhere */
    arena_free(&a);
    return ok;
}

/* ---- the module ---- */

int64_t object_workspace_bytes(const struct object_program *p)
{
    int64_t most = 0;

    for (uint32_t v = 0; v < p->variant_count; v++)
        most = p->variants[v].program->arena_bytes > most ? p->variants[v].program->arena_bytes : most;
    return most;
}

struct object_workspace object_workspace(const struct object_program *p)
{
    /* This leaves room to align whatever address comes. */
    return (struct object_workspace){target_align(object_workspace_bytes(p)) + TARGET_ALIGNMENT,
                                     program_scratch_stride(object_scratch_bytes(p))};
}

int64_t object_scratch_bytes(const struct object_program *p)
{
    int64_t most = 0;

    for (uint32_t l = 0; p->variant_count && l < p->level_count; l++)
        for (uint32_t i = 0; i < p->kernel_count; i++)
            most = p->levels[l].kernels[i]->scratch_bytes > most ? p->levels[l].kernels[i]->scratch_bytes : most;
    return most;
}

/* Checks that the object is not too large: code of the small model reaches 2 GB, and a target with 32-bit pointers has no more
 * than 4. */
static bool check_sizes(const struct object_module *o, struct error *e)
{
    const struct object_program *p = o->p;
    const int64_t reach = INT64_C(0x7C000000);
    int64_t constants = p->weights_path ? 0 : (int64_t)p->constants.length;
    int64_t workspace = object_workspace_bytes(p), scratch = object_scratch_bytes(p);

    for (uint32_t l = 0; l < p->level_count; l++)
        constants += (int64_t)p->levels[l].serialized.length;
    if (constants > reach)
        return error_set(e, WNNStatus_NotSupportedError, "%lld bytes of constants do not fit an object: give them a file",
                         (long long)constants);
    if (LLVMGetIntTypeWidth(o->size) == 32 && (workspace > reach || scratch > reach - workspace))
        return error_set(e, WNNStatus_NotSupportedError, "a workspace of %lld bytes is too large for %s",
                         (long long)(workspace + scratch), o->machine->target->triple);
    return true;
}

static bool emit_all(struct object_module *o, const struct object_options *options, struct error *e)
{
    const struct object_program *p = o->p;
    const bool is_model = p->levels[0].serialized.bytes != NULL;
    const size_t kernels = (size_t)p->level_count * p->kernel_count;

    o->kernels = calloc(kernels + 1, sizeof(V));
    o->params = calloc(kernels + 1, sizeof(V));
    if (!o->kernels || !o->params)
        return error_out_of_memory(e);
    if (!emit_kernels(o, options, e))
        return false;
    if (p->constants.length && !p->weights_path)
        o->constants = object_bytes(o, "constants", p->constants.bytes, p->constants.length, TARGET_ALIGNMENT);
    if (p->level_count > 1)
        object_emit_level(o);
    if (p->weights_path && !is_model)
        object_emit_weights(o);
    if (!(is_model ? object_emit_library(o) : object_emit_run(o)) || !object_emit_description(o))
        return error_out_of_memory(e);
    return true;
}

struct writing {
    struct object_module o;
    const struct object_options *options;
    LLVMMemoryBufferRef out;
    struct error *e;
};

/* LLVM IR is written as the passes leave it, like everything else. */
static bool write_module(struct writing *w)
{
    LLVMModuleRef module = w->o.m.module;
    char *text;

    switch (w->options->kind) {
    case OBJECT_CODE:
        return machine_generate(w->o.machine, module, LLVMObjectFile, &w->out, w->e);
    case OBJECT_ASSEMBLY:
        return machine_generate(w->o.machine, module, LLVMAssemblyFile, &w->out, w->e);
    case OBJECT_BITCODE:
        w->out = LLVMWriteBitcodeToMemoryBuffer(module);
        return true;
    case OBJECT_LLVM_IR:
        text = LLVMPrintModuleToString(module);
        w->out = LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "module");
        LLVMDisposeMessage(text);
        return true;
    }
    return false;
}

static bool make_module(struct writing *w)
{
    struct object_module *o = &w->o;
    struct machine *machine = o->machine;
    double start = milliseconds_now();
    struct llvm_build *m = &o->m;

    m->context = LLVMContextCreate();
    m->module = machine_module(machine, m->context, o->p->prefix, w->e);
    LLVMContextSetDiscardValueNames(m->context, false); /* globals need theirs in every kind of output */
    m->b = LLVMCreateBuilderInContext(m->context);
    m->for_size = w->options->for_size;
    m->target = machine->target;
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine->tm);
    o->size = LLVMIntPtrTypeInContext(m->context, layout);
    LLVMDisposeTargetData(layout);
    o->ptr = llvm_ptr(m);
    o->i8 = llvm_int(m, 8);
    o->i32 = llvm_int(m, 32);
    o->i64 = llvm_int(m, 64);
    bool ok = check_sizes(o, w->e) && emit_all(o, w->options, w->e);
    LLVMDisposeBuilder(m->b);
    machine->times.emit_ms += milliseconds_now() - start;
    ok = ok && machine_optimize(machine, m->module, w->e) && write_module(w);
    LLVMDisposeModule(m->module);
    LLVMContextDispose(m->context);
    return ok;
}

static bool make_protected(void *user)
{
    return make_module(user);
}

bool object_create(const struct debug_options *d, const struct object_program *p, const struct object_options *options,
                   void **bytes, size_t *length, struct error *e)
{
    struct machine machine;
    struct writing w = {.o = {.p = p, .machine = &machine}, .options = options, .e = e};
    struct debug_options unsanitized = d ? *d : (struct debug_options){0};

    *bytes = NULL;
    *length = 0;
    unsanitized.flags &= ~(uint32_t)DEBUG_SANITIZE; /* objects go into programs that have no sanitizer */
    if (!machine_create_ahead(&machine, p->levels[0].target, &unsanitized, e))
        return false;
    bool ok = machine_protect(LLVM_COMPILE, &machine.abandoned, make_protected, &w, e);
    if (ok) {
        *length = LLVMGetBufferSize(w.out);
        *bytes = malloc(*length ? *length : 1);
        if (*bytes)
            memcpy(*bytes, LLVMGetBufferStart(w.out), *length);
        else
            ok = error_out_of_memory(e);
    }
    if (w.out && !machine.abandoned)
        LLVMDisposeMemoryBuffer(w.out);
    if (options->times)
        *options->times = machine.times;
    free(w.o.kernels);
    free(w.o.params);
    machine_destroy(&machine);
    return ok;
}
