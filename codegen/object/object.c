/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes the module of an object out of these parts, then runs the passes and writes it.
 *
 *   kernels      each distinct structure once (as in the JIT) for each level
 *   runtime      runtime/runtime.c, compiled beforehand: runs the program, or calls libwebnn_rt
 *   the rest     object_text.c: each step's numbers, the program, functions for its tensors, the description
 */
#include "codegen/object/object_module.h"

#include <llvm-c/BitWriter.h>
#include <llvm-c/IRReader.h>
#include <llvm-c/Linker.h>
#include <stdlib.h>
#include <string.h>

#include "ir/support/clock.h"
#include "ir/support/text.h"

extern const char object_runtime32[], object_runtime64[]; /* runtime/update.sh */

/* ---- kernels ---- */

/* Makes a name that every assembler takes. */
static void kernel_symbol(char *out, size_t size, uint32_t number, const char *name)
{
    int n = snprintf(out, size, "k%u_%s", number, name);
    for (int i = 0; i < n && out[i]; i++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", out[i]))
            out[i] = '_';
}

static bool emit_kernels(struct object_module *o, const struct object_options *options, struct error *e)
{
    const struct object_table *t = o->p->table;
    char symbol[96];
    size_t length;

    for (uint32_t i = 0; i < t->structure_count; i++) {
        const struct object_structure *s = &t->structures[i];

        o->m.target = o->p->levels[s->level].target;
        o->m.suffix = o->p->level_count > 1 ? o->m.target->cpu : NULL;
        kernel_symbol(symbol, sizeof symbol, i, s->schedule->kernel->name);
        if (!machine_lower(o->machine, &o->m, s->schedule, symbol, e))
            return false;
        fprintf(o->text, "declare void @%s(ptr, i64, i64)\n", symbol);
        o->symbols[o->symbol_count++] = LLVMGetValueName2(LLVMGetNamedFunction(o->m.module, symbol), &length);
        if (options->progress)
            options->progress(options->user, i + 1, t->structure_count);
    }
    o->machine->times.structures = o->symbol_count;
    o->m.target = o->machine->target; /* whatever calls kernels runs everywhere */
    return true;
}

/* ---- the module ---- */

/* Returns the bytes of the values and the kernels' numbers of the class that has the most. */
static int64_t expanded_bytes(const struct object_table *t)
{
    int64_t most = 0;

    for (uint32_t i = 0; i < t->class_count; i++) {
        const struct object_class *c = &t->classes[i];
        int64_t count = c->word_count - c->code_count;

        for (uint32_t k = 0; k < c->column_count; k++)
            count += !object_column_is_fixed(c, k);
        most = count > most ? count : most;
    }
    return target_align(most * (int64_t)sizeof(int64_t));
}

struct object_workspace object_workspace(const struct object_program *p)
{
    const struct object_table *t = p->table;

    /* This leaves room to align whatever address comes. */
    return (struct object_workspace){target_align(t->arena_bytes) + (p->size_count ? expanded_bytes(t) : 0) + TARGET_ALIGNMENT,
                                     program_scratch_stride(t->scratch_bytes)};
}

/* Checks that the object is not too large: code of the small model reaches 2 GB, and a target with 32-bit pointers has no more
 * than 4. */
static bool check_sizes(const struct object_module *o, struct error *e)
{
    const struct object_program *p = o->p;
    const int64_t reach = INT64_C(0x7C000000);
    int64_t constants = p->weights_path ? 0 : (int64_t)p->constants.length;
    const struct object_workspace workspace = object_workspace(p);

    for (uint32_t l = 0; l < p->level_count; l++)
        constants += (int64_t)p->levels[l].serialized.length;
    if (constants > reach)
        return error_set(e, WNNStatus_NotSupportedError, "%lld bytes of constants do not fit an object: give them a file",
                         (long long)constants);
    if (o->size_bits == 32 && (workspace.fixed > reach || workspace.per_thread > reach - workspace.fixed))
        return error_set(e, WNNStatus_NotSupportedError, "a workspace of %lld bytes is too large for %s",
                         (long long)(workspace.fixed + workspace.per_thread), o->machine->target->triple);
    return true;
}

/* Adds bytes as a read-only global. */
static void put_bytes(const struct object_module *o, const char *name, const struct object_data *data)
{
    LLVMValueRef value = LLVMConstStringInContext2(o->m.context, data->bytes, data->length, true);
    LLVMValueRef global = LLVMAddGlobal(o->m.module, LLVMTypeOf(value), name);

    LLVMSetInitializer(global, value);
    LLVMSetGlobalConstant(global, true);
    LLVMSetAlignment(global, TARGET_ALIGNMENT);
}

/* Makes a module of the text and links it into that of the kernels. */
static bool link_text(struct object_module *o, const char *text, size_t length, struct error *e)
{
    LLVMModuleRef module = NULL;
    char *message = NULL;

    if (LLVMParseIRInContext(o->m.context, LLVMCreateMemoryBufferWithMemoryRangeCopy(text, length, "runtime"), &module,
                             &message)) {
        error_set(e, WNNStatus_UnknownError, "the object's runtime: %s", message);
        LLVMDisposeMessage(message);
        return false;
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f))
            function_set_attributes(&o->m, f);
    return !LLVMLinkModules2(o->m.module, module) || error_set(e, WNNStatus_UnknownError, "the object's runtime does not link");
}

/* Gives what the object exports its prefix, and makes the rest internal. */
static void name_exports(const struct object_module *o)
{
    LLVMModuleRef module = o->m.module;
    LLVMValueRef exports[OBJECT_EXPORTS] = {NULL};
    char symbol[320];

    for (uint32_t i = 0; i < OBJECT_EXPORTS; i++) {
        bool exported;
        const char *name = object_export(o, i, &exported);
        if (exported) {
            exports[i] = LLVMGetNamedFunction(module, name);
            const int length = snprintf(symbol, sizeof symbol, "%s_%s", o->p->prefix, name);
            LLVMSetValueName2(exports[i], symbol, (size_t)length);
        }
    }
    for (LLVMValueRef f = LLVMGetFirstFunction(module); f; f = LLVMGetNextFunction(f)) {
        bool internal = !LLVMIsDeclaration(f);
        for (uint32_t i = 0; i < OBJECT_EXPORTS; i++)
            internal = internal && f != exports[i];
        if (internal)
            LLVMSetLinkage(f, LLVMInternalLinkage);
    }
    snprintf(symbol, sizeof symbol, "%s_object", o->p->prefix);
    for (LLVMValueRef g = LLVMGetFirstGlobal(module); g; g = LLVMGetNextGlobal(g))
        if (LLVMGetLinkage(g) == LLVMExternalLinkage && g != LLVMGetNamedGlobal(module, symbol))
            LLVMSetLinkage(g, LLVMInternalLinkage);
    /* A program without malloc leaves out run, and the description which refers to it, by itself (--gc-sections), if they have
     * sections. */
    if (object_target_is_bare(o->p->levels[0].target) && !object_is_model(o->p)) {
        LLVMSetSection(exports[0], ".text.run");
        LLVMSetSection(LLVMGetNamedGlobal(module, symbol), ".data.rel.ro.object");
    }
}

static bool emit_all(struct object_module *o, const struct object_options *options, struct error *e)
{
    const struct object_program *p = o->p;
    char *text = NULL, symbol[32];
    size_t length;

    o->symbols = calloc(p->table->structure_count + 1u, sizeof *o->symbols);
    if (!o->symbols || !(o->text = open_memstream(&text, &length)))
        return error_out_of_memory(e);
    fprintf(o->text, "target datalayout = \"%s\"\n%s", o->machine->data_layout, /* the triple is that of the kernels */
            o->size_bits == 32 ? object_runtime32 : object_runtime64);
    bool ok = emit_kernels(o, options, e);
    if (ok && !object_put_all(o))
        ok = error_out_of_memory(e);
    if (p->constants.length && !p->weights_path)
        put_bytes(o, "constants", &p->constants);
    for (uint32_t l = 0; object_is_model(p) && l < p->level_count; l++) {
        snprintf(symbol, sizeof symbol, "serialized%u", l);
        put_bytes(o, symbol, &p->levels[l].serialized);
    }
    if (!memory_stream_close(o->text, &text) && ok)
        ok = error_out_of_memory(e);
    ok = ok && link_text(o, text, length, e);
    free(text);
    if (ok)
        name_exports(o);
    return ok;
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
        return machine_generate(w->o.machine, module, LLVMObjectFile, (struct code_traits){.strided = true}, &w->out, w->e);
    case OBJECT_ASSEMBLY:
        return machine_generate(w->o.machine, module, LLVMAssemblyFile, (struct code_traits){.strided = true}, &w->out, w->e);
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

static bool make_module(void *user)
{
    struct writing *w = user;
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
    o->size_bits = 8 * LLVMPointerSize(layout);
    LLVMDisposeTargetData(layout);
    bool ok = check_sizes(o, w->e) && emit_all(o, w->options, w->e);
    LLVMDisposeBuilder(m->b);
    machine->times.emit_ms += milliseconds_now() - start;
    /* PEEPHOLES fold conditions on the object's constants; what has no use then goes. */
    ok = ok && machine_run_passes(machine, m->module, "always-inline", w->e) && machine_optimize(machine, m->module, w->e) &&
         machine_run_passes(machine, m->module, PEEPHOLES ",globaldce", w->e) && write_module(w);
    LLVMDisposeModule(m->module);
    LLVMContextDispose(m->context);
    return ok;
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
    bool ok = machine_protect(LLVM_COMPILE, &machine.abandoned, make_module, &w, e);
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
    free(w.o.symbols);
    machine_destroy(&machine);
    return ok;
}
