/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes an object file of a kernel: the LLVM module, its passes, machine code, and the dumps in between.  Compiling in this
 * process and ahead of time share this.
 *
 * The lowering writes explicit vectors, folds constants, shares common subexpressions and keeps loop-carried values in stack
 * slots, so only those slots are left to LLVM's passes.  Peepholes (instcombine) and common subexpressions alone take a tenth
 * of a build; the machine code is as long and as fast without them.
 */
#include "codegen/llvm/llvm.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/llvm/llvm_build.h"
#include "codegen/lower/lower.h"
#include "ir/support/clock.h"
#include "ir/support/guard.h"
#include "ir/support/text.h"

/* The passes of every module, which opt-19 -passes=... replays on a dumped one; PEEPHOLES (llvm.h) follow for some. */
#define PASSES "function(mem2reg)"

/* ---- LLVM's fatal errors ---- */

/*
 * LLVM ends the process after a fatal error ("cannot select ...") and when it gets no memory, unless it is made to throw
 * (codegen/llvm/handlers.cc).  Neither may take the user's program with it: the call is abandoned in the middle.  What it
 * worked on is lost.
 *
 * The first time that LLVM does something, it also fills tables of the process, under locks that would stay locked: passes are
 * registered, static objects created.  So the first call of each part runs alone, and if it is abandoned, LLVM is not called
 * any more.
 */
struct protected_work {
    bool (*work)(void *user);
    void *user;
    bool ok;
};

static pthread_mutex_t first_lock = PTHREAD_MUTEX_INITIALIZER; /* held by calls of parts that are not known_good */
static atomic_bool known_good[LLVM_PARTS];
static atomic_bool unusable; /* a first call was abandoned */

static void run_protected(void *user)
{
    struct protected_work *p = user;

    p->ok = p->work(p->user);
}

static bool protect(bool *abandoned, bool (*work)(void *user), void *user, struct error *e)
{
    struct protected_work p = {work, user, false};
    char text[256];

    switch (guard_run(run_protected, &p, text, sizeof text)) {
    case GUARD_RETURNED:
        return p.ok;
    case GUARD_OUT_OF_MEMORY:
        *abandoned = true;
        return error_set(e, WNNStatus_UnknownError, "out of memory inside of LLVM");
    case GUARD_FAILED:
        *abandoned = true;
        return error_set(e, WNNStatus_UnknownError, "LLVM: %s", text);
    }
    return false;
}

bool machine_protect(enum llvm_part part, bool *abandoned, bool (*work)(void *user), void *user, struct error *e)
{
    if (*abandoned) /* what it works on is in no state to go on */
        return error_set(e, WNNStatus_UnknownError, "LLVM was abandoned in another kernel");
    if (atomic_load(&known_good[part]) && !atomic_load(&unusable))
        return protect(abandoned, work, user, e);
    pthread_mutex_lock(&first_lock);
    bool ok = !atomic_load(&unusable);
    if (!ok) {
        *abandoned = true;
        error_set(
            e, WNNStatus_UnknownError,
            "LLVM ran out of memory when this process used it for the first time, and cannot be used until the process is "
            "started again; graphs that were saved can be loaded");
    } else {
        bool now_abandoned = false;

        ok = protect(&now_abandoned, work, user, e);
        if (now_abandoned)
            *abandoned = true;
        atomic_store(&unusable, now_abandoned);
        if (ok)
            atomic_store(&known_good[part], true);
    }
    pthread_mutex_unlock(&first_lock);
    return ok;
}

static void initialize_llvm(void)
{
    handlers_install();
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
}

void machine_initialize_host(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, initialize_llvm);
}

/* ---- machine ---- */

struct creation {
    struct machine *m;
    LLVMCodeGenOptLevel level;
    void (*initialize)(void);
    struct error *e;
};

static bool create_protected(void *user)
{
    const struct creation *c = user;
    struct machine *m = c->m;
    const struct target *t = m->target;
    struct error *e = c->e;
    LLVMTargetRef target = NULL;
    char *text = NULL;

    c->initialize();
    if (LLVMGetTargetFromTriple(t->triple, &target, &text)) {
        error_set(e, WNNStatus_NotSupportedError, "no code generator for %s: %s", t->triple, text);
        LLVMDisposeMessage(text);
        return false;
    }
    /* Position-independent code links into everything except into WebAssembly, where it is for dynamic linking alone. */
    LLVMRelocMode relocation = strncmp(t->triple, "wasm", 4) ? LLVMRelocPIC : LLVMRelocStatic;
    m->tm = LLVMCreateTargetMachine(target, t->triple, t->cpu ? t->cpu : "", t->features ? t->features : "", c->level,
                                    relocation, LLVMCodeModelSmall);
    if (!m->tm)
        return error_set(e, WNNStatus_NotSupportedError, "no code generator for %s", t->triple);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(m->tm);
    m->data_layout = LLVMCopyStringRepOfTargetData(layout);
    LLVMDisposeTargetData(layout);
    return m->data_layout ? true : error_out_of_memory(e);
}

bool machine_create_at(struct machine *m, const struct target *t, const struct debug_options *d, LLVMCodeGenOptLevel level,
                       void (*initialize)(void), struct error *e)
{
    *m = (struct machine){.target = t, .debug = d};
    if (machine_protect(LLVM_SETUP, &m->abandoned, create_protected, &(struct creation){m, level, initialize, e}, e))
        return true;
    machine_destroy(m);
    return false;
}

bool machine_create(struct machine *m, const struct target *t, const struct debug_options *d, struct error *e)
{
    /* This level takes a tenth less time than the next one, and kernels are as fast: their loops are as they shall be before
     * LLVM sees them. */
    const bool sanitize = d && d->flags & DEBUG_SANITIZE; /* whose code is three times as long, and is to be compiled soon */

    return machine_create_at(m, t, d, sanitize ? LLVMCodeGenLevelNone : LLVMCodeGenLevelLess, machine_initialize_host, e);
}

static bool destroy_protected(void *user)
{
    struct machine *m = user;

    for (uint32_t i = 0; i < sizeof m->pipelines / sizeof(void *); i++)
        pipeline_free(((void **)m->pipelines)[i]);
    if (m->tm)
        LLVMDisposeTargetMachine(m->tm);
    if (m->data_layout)
        LLVMDisposeMessage(m->data_layout);
    return true;
}

void machine_destroy(struct machine *m)
{
    struct error ignored = {0};

    if (!m->abandoned)
        machine_protect(LLVM_SETUP, &m->abandoned, destroy_protected, m, &ignored);
    m->tm = NULL;
    memset(m->pipelines, 0, sizeof m->pipelines);
    m->data_layout = NULL;
}

/* ---- dumps ---- */

static void dump_text(const struct machine *m, const struct kernel *k, const char *symbol, const char *suffix, const char *text)
{
    struct debug_dump dump;

    if (!debug_dump_begin(&dump, m->debug, "%s_%s%s", symbol, k->name[0] ? k->name : "kernel", suffix))
        fprintf(dump.out, "; ---- %s %s%s\n", symbol, k->name, suffix);
    fputs(text, dump.out);
    debug_dump_end(&dump, m->debug);
}

/* Prints a schedule, or the loop language of one. */
static void dump_kernel(const struct machine *m, const struct schedule *s, const struct loop_module *loops, const char *symbol)
{
    if (!m->debug || !(m->debug->flags & DEBUG_DUMP_KERNELS))
        return;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (f) {
        if (loops)
            loop_print(loops, f);
        else
            schedule_print(s, f);
        if (memory_stream_close(f, &text))
            dump_text(m, s->kernel, symbol, loops ? ".loop" : ".kernel", text);
    }
    free(text);
}

static void dump_module(const struct machine *m, const struct kernel *k, const char *symbol, const char *suffix,
                        LLVMModuleRef module)
{
    if (!m->debug || !(m->debug->flags & DEBUG_DUMP_LLVM))
        return;
    char *text = LLVMPrintModuleToString(module);
    dump_text(m, k, symbol, suffix, text);
    LLVMDisposeMessage(text);
}

/* ---- compiling ---- */

static void note_diagnostic(LLVMDiagnosticInfoRef info, void *user)
{
    struct error *e = user;
    if (LLVMGetDiagInfoSeverity(info) != LLVMDSError)
        return;
    char *text = LLVMGetDiagInfoDescription(info);
    error_set(e, WNNStatus_UnknownError, "LLVM: %s", text);
    LLVMDisposeMessage(text);
}

bool machine_run_passes(const struct machine *m, LLVMModuleRef module, const char *passes, struct error *e)
{
    char text[256];

    return pipeline_run(module, m->tm, passes, text, sizeof text) ||
           error_set(e, WNNStatus_UnknownError, "LLVM passes: %s", text);
}

static bool wants_verifier(const struct machine *m)
{
#ifdef NDEBUG
    return m->debug && m->debug->flags & DEBUG_VERIFY;
#else
    (void)m;
    return true;
#endif
}

static bool verify(const struct machine *m, LLVMModuleRef module, struct error *e)
{
    char *text = NULL;
    if (!wants_verifier(m))
        return true;
    bool broken = LLVMVerifyModule(module, LLVMReturnStatusAction, &text);
    if (broken)
        error_set(e, WNNStatus_UnknownError, "generated code is malformed: %s", text);
    LLVMDisposeMessage(text);
    return !broken;
}

bool machine_lower(const struct machine *m, const struct llvm_build *b, const struct schedule *s, const char *symbol,
                   struct error *e)
{
    struct loop_module loops = {0};

    dump_kernel(m, s, NULL, symbol);
    bool ok = lower_kernel(&loops, &b->target->isa, s, symbol, e);
    if (ok)
        dump_kernel(m, s, &loops, symbol);
    ok = ok && (!wants_verifier(m) || loop_verify(&loops, e));
    if (ok)
        print_loop(b, &loops);
    loop_module_free(&loops);
    return ok;
}

/*
 * Removes a constructor in which the sanitizer's pass registers a module's global variables.  Kernels have none, the JIT runs
 * no constructors, and the section bounds that this one names exist in linked images only.
 */
static void drop_sanitizer_constructor(LLVMModuleRef module)
{
    static const char *const names[] = {"llvm.global_ctors", "llvm.used", "___asan_globals_registered", "__start_asan_globals",
                                        "__stop_asan_globals"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        LLVMValueRef global = LLVMGetNamedGlobal(module, names[i]);
        LLVMValueRef constructor = i == 1 ? LLVMGetNamedFunction(module, "asan.module_ctor") : NULL;
        if (global && !LLVMGetFirstUse(global))
            LLVMDeleteGlobal(global);
        if (constructor) /* after what names it, before what it uses */
            LLVMDeleteFunction(constructor);
    }
}

bool machine_optimize(struct machine *m, LLVMModuleRef module, struct error *e)
{
    bool sanitize = m->debug && m->debug->flags & DEBUG_SANITIZE;
    double start = milliseconds_now();

    if (!verify(m, module, e) || !machine_run_passes(m, module, PASSES, e) ||
        (sanitize && !machine_run_passes(m, module, "asan", e)))
        return false;
    if (sanitize)
        drop_sanitizer_constructor(module);
    m->times.passes_ms += milliseconds_now() - start;
    return true;
}

bool machine_generate(struct machine *m, LLVMModuleRef module, LLVMCodeGenFileType type, struct code_traits t,
                      LLVMMemoryBufferRef *out, struct error *e)
{
    double start = milliseconds_now();
    void **pipeline = &m->pipelines[t.strided][t.ordered][type];

    if (!*pipeline)
        *pipeline = pipeline_create(m->tm, type, t.strided, t.ordered);
    *out = *pipeline ? pipeline_generate(*pipeline, module, t.fast) : NULL;
    if (!*out)
        return error_set(e, WNNStatus_UnknownError, "generating code: LLVM has no such output for %s", m->target->triple);
    m->times.codegen_ms += milliseconds_now() - start;
    if (!e->status)
        return true;
    LLVMDisposeMemoryBuffer(*out); /* a diagnostic of severity error, after which LLVM went on */
    *out = NULL;
    return false;
}

static void dump_assembly(struct machine *m, const struct kernel *k, const char *symbol, struct code_traits t,
                          LLVMModuleRef module)
{
    if (!m->debug || !(m->debug->flags & DEBUG_DUMP_ASM))
        return;
    LLVMModuleRef copy = LLVMCloneModule(module); /* code generation changes a module */
    LLVMMemoryBufferRef buffer;
    struct error ignored = {0};
    if (machine_generate(m, copy, LLVMAssemblyFile, t, &buffer, &ignored)) {
        dump_text(m, k, symbol, ".s", LLVMGetBufferStart(buffer));
        LLVMDisposeMemoryBuffer(buffer);
    }
    LLVMDisposeModule(copy);
}

LLVMModuleRef machine_module(const struct machine *m, LLVMContextRef context, const char *name, struct error *e)
{
    LLVMContextSetDiagnosticHandler(context, note_diagnostic, e);
    LLVMContextSetDiscardValueNames(context, !(m->debug && m->debug->flags & DEBUG_DUMP_LLVM));
    LLVMModuleRef module = LLVMModuleCreateWithNameInContext(name, context);
    LLVMSetTarget(module, m->target->triple);
    LLVMSetDataLayout(module, m->data_layout);
    return module;
}

/* This is what the compilation of one kernel works on. */
struct compilation {
    struct machine *m;
    const struct schedule *s;
    const char *symbol;
    LLVMMemoryBufferRef *object;
    struct error *e;
};

/* Returns whether a kernel has a loop whose strides LLVM shall reduce: along a REDUCED variable that vectors do not run along,
 * or of a transpose in registers.  Other loops go through memory element by element, and the lowering reduces the addresses of
 * register tiles and stages (lower/induction.c, lower/index.c). */
static bool is_strided(const struct schedule *s)
{
    const struct kernel *k = s->kernel;
    bool strided = s->transpose.var != KEXPR_NONE;

    for (uint32_t i = 0; i < k->var_count; i++)
        strided |= k->vars[i].kind == KVAR_REDUCED && i != s->vector_var;
    return strided && !s->tiled && !s->stages;
}

/* Returns whether code by FastISel is as fast with 32 registers: that of register tiles, and of stages without long
 * straight-line code, as Winograd's transforms have. */
static bool is_selected_quickly(const struct schedule *s)
{
    bool quick = s->stages || s->tiled;

    for (uint32_t i = 0; i < s->kernel->stage_count; i++)
        quick &= s->stages[i]->kernel->expr_count <= 32;
    return quick;
}

static bool compile_module(const struct compilation *c, LLVMContextRef context, LLVMModuleRef module)
{
    struct machine *m = c->m;
    const struct kernel *k = c->s->kernel;
    double start = milliseconds_now();
    struct llvm_build b = {.context = context, .module = module, .target = m->target};
    b.sanitize = m->debug && m->debug->flags & DEBUG_SANITIZE;
    b.b = LLVMCreateBuilderInContext(context);
    bool ok = machine_lower(m, &b, c->s, c->symbol, c->e);
    LLVMDisposeBuilder(b.b);
    if (!ok)
        return false;
    dump_module(m, k, c->symbol, ".ll", module);
    m->times.emit_ms += milliseconds_now() - start;
    const bool many_registers = m->target->isa.vector_bits == 512;
    const struct code_traits t = {is_strided(c->s), many_registers, many_registers && is_selected_quickly(c->s)};
    if (!machine_optimize(m, module, c->e) || (t.strided && !machine_run_passes(m, module, PEEPHOLES, c->e)))
        return false;
    dump_module(m, k, c->symbol, ".opt.ll", module);
    dump_assembly(m, k, c->symbol, t, module);
    m->times.structures++;
    double optimized = milliseconds_now();
    ok = machine_generate(m, module, LLVMObjectFile, t, c->object, c->e);
    if (ok && m->debug && m->debug->flags & DEBUG_TIME_PASSES)
        fprintf(stderr, "# kernel %-32s emit and passes %8.3f ms, code %8.3f ms\n", k->name[0] ? k->name : c->symbol,
                optimized - start, milliseconds_now() - optimized);
    return ok;
}

static bool compile(void *user)
{
    const struct compilation *c = user;
    const char *name = c->s->kernel->name;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = machine_module(c->m, context, name[0] ? name : c->symbol, c->e);
    bool ok = compile_module(c, context, module);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return ok;
}

bool machine_compile(struct machine *m, const struct schedule *s, const char *symbol, LLVMMemoryBufferRef *object,
                     struct error *e)
{
    *object = NULL;
    return machine_protect(LLVM_COMPILE, &m->abandoned, compile, &(struct compilation){m, s, symbol, object, e}, e);
}
