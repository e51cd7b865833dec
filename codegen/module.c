/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Kernel to object file: LLVM module, passes, machine code, and the dumps in between.  What JIT and ahead-of-time share.
 *
 * The emitter writes explicit vectors and keeps loop-carried values in stack slots, so the pipeline is short: slots to
 * registers, common subexpressions, peepholes, branches.  A loop vectoriser and the rest of O2 bring nothing and cost as much
 * again.
 */
#include "codegen/llvm.h"

#include <errno.h>
#include <llvm-c/Analysis.h>
#include <llvm-c/Error.h>
#include <llvm-c/ErrorHandling.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "ir/clock.h"

/* The one pass string; docs/debugging.md shows how to replay it with opt on a dumped module. */
#define PASSES "function(mem2reg,early-cse,instcombine<no-verify-fixpoint>,simplifycfg,early-cse)"

/* ---- LLVM's fatal errors ---- */

/* LLVM ends the process after a fatal error ("cannot select ...") unless its handler does not return.  Such an error is a bug
 * of ours, but it must not take the user's program with it: the handler jumps back.  What LLVM had allocated by then is lost.
 */
static _Thread_local jmp_buf *fatal_return;
static _Thread_local char fatal_text[512];

static void fatal_error(const char *reason)
{
    if (!fatal_return)
        return; /* not in our code: LLVM's default */
    snprintf(fatal_text, sizeof fatal_text, "%s", reason);
    longjmp(*fatal_return, 1);
}

bool machine_protect(bool (*work)(void *user), void *user, struct error *e)
{
    jmp_buf here, *before = fatal_return;

    fatal_return = &here;
    if (!setjmp(here)) {
        bool ok = work(user);
        fatal_return = before;
        return ok;
    }
    fatal_return = before;
    return error_set(e, WNNStatus_UnknownError, "LLVM: %s", fatal_text);
}

static pthread_once_t once = PTHREAD_ONCE_INIT, all_once = PTHREAD_ONCE_INIT;

static void initialize_llvm(void)
{
    LLVMInitializeNativeTarget();
    LLVMInitializeNativeAsmPrinter();
    LLVMInstallFatalErrorHandler(fatal_error);
}

static void initialize_all(void)
{
    pthread_once(&once, initialize_llvm);
    LLVMInitializeAllTargetInfos();
    LLVMInitializeAllTargets();
    LLVMInitializeAllTargetMCs();
    LLVMInitializeAllAsmPrinters();
    LLVMInitializeAllAsmParsers();
}

void machine_initialize_all(void)
{
    pthread_once(&all_once, initialize_all);
}

/* ---- machine ---- */

static bool create_machine(struct machine *m, const struct target *t, const struct debug_options *d, LLVMCodeGenOptLevel level,
                           struct error *e)
{
    *m = (struct machine){.target = t, .debug = d};
    LLVMTargetRef target = NULL;
    char *text = NULL;
    if (LLVMGetTargetFromTriple(t->triple, &target, &text)) {
        error_set(e, WNNStatus_NotSupportedError, "no code generator for %s: %s", t->triple, text);
        LLVMDisposeMessage(text);
        return false;
    }
    /* Position-independent code links into everything, but in WebAssembly, where it is for dynamic linking alone. */
    LLVMRelocMode relocation = strncmp(t->triple, "wasm", 4) ? LLVMRelocPIC : LLVMRelocStatic;
    m->tm = LLVMCreateTargetMachine(target, t->triple, t->cpu ? t->cpu : "", t->features ? t->features : "",
                                    level, relocation, LLVMCodeModelSmall);
    if (!m->tm)
        return error_set(e, WNNStatus_NotSupportedError, "no code generator for %s", t->triple);
    LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(m->tm);
    m->data_layout = LLVMCopyStringRepOfTargetData(layout);
    LLVMDisposeTargetData(layout);
    return true;
}

bool machine_create(struct machine *m, const struct target *t, const struct debug_options *d, struct error *e)
{
    pthread_once(&once, initialize_llvm);
    /* A tenth less time than the next level, and kernels as fast: their loops are as they shall be before LLVM sees them. */
    if (!create_machine(m, t, d, LLVMCodeGenLevelLess, e))
        return false;
    isa_of_target(t, &m->isa);
    return true;
}

bool machine_create_ahead(struct machine *m, const struct target *t, const struct debug_options *d, struct error *e)
{
    machine_initialize_all();
    if (!create_machine(m, t, d, LLVMCodeGenLevelDefault, e))
        return false;
    if (isa_probe(m->tm, t->triple, &m->isa, e))
        return true;
    machine_destroy(m);
    return false;
}

void machine_destroy(struct machine *m)
{
    if (m->tm)
        LLVMDisposeTargetMachine(m->tm);
    if (m->data_layout)
        LLVMDisposeMessage(m->data_layout);
    m->tm = NULL;
    m->data_layout = NULL;
}

/* ---- dumps ---- */

static void dump_text(const struct machine *m, const struct kernel *k, const char *symbol, const char *suffix, const char *text)
{
    if (m->debug->dump_dir) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s_%s%s", m->debug->dump_dir, symbol, k->name[0] ? k->name : "kernel", suffix);
        FILE *f = fopen(path, "w");
        if (f) {
            fputs(text, f);
            fclose(f);
        } else {
            fprintf(stderr, "cannot write %s: %s\n", path, strerror(errno));
        }
        return;
    }
    flockfile(stderr); /* whole modules, not lines of several threads */
    fprintf(stderr, "; ---- %s %s%s\n%s", symbol, k->name, suffix, text);
    funlockfile(stderr);
}

static void dump_kernel(const struct machine *m, const struct kernel *k, const char *symbol)
{
    if (!m->debug || !(m->debug->flags & DEBUG_DUMP_KERNELS))
        return;
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    if (f) {
        kernel_print(k, f);
        if (fclose(f) == 0)
            dump_text(m, k, symbol, ".kernel", text);
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

static void dump_assembly(const struct machine *m, const struct kernel *k, const char *symbol, LLVMModuleRef module)
{
    if (!m->debug || !(m->debug->flags & DEBUG_DUMP_ASM))
        return;
    LLVMModuleRef copy = LLVMCloneModule(module); /* code generation changes a module */
    LLVMMemoryBufferRef buffer = NULL;
    char *text = NULL;
    if (!LLVMTargetMachineEmitToMemoryBuffer(m->tm, copy, LLVMAssemblyFile, &text, &buffer)) {
        dump_text(m, k, symbol, ".s", LLVMGetBufferStart(buffer));
        LLVMDisposeMemoryBuffer(buffer);
    } else {
        LLVMDisposeMessage(text);
    }
    LLVMDisposeModule(copy);
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

static bool run_passes(struct machine *m, LLVMModuleRef module, const char *passes, struct error *e)
{
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef error = LLVMRunPasses(module, passes, m->tm, options);
    LLVMDisposePassBuilderOptions(options);
    if (!error)
        return true;
    char *text = LLVMGetErrorMessage(error);
    error_set(e, WNNStatus_UnknownError, "LLVM passes: %s", text);
    LLVMDisposeErrorMessage(text);
    return false;
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

/*
 * The sanitizer's pass registers a module's global variables in a constructor.  Kernels have none, the JIT runs no
 * constructors, and the section bounds that this one names exist in linked images only.
 */
static void drop_sanitizer_constructor(LLVMModuleRef module)
{
    static const char *const names[] = {"llvm.global_ctors", "llvm.used", "___asan_globals_registered", "__start_asan_globals",
                                        "__stop_asan_globals"};
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
        V global = LLVMGetNamedGlobal(module, names[i]);
        V constructor = i == 1 ? LLVMGetNamedFunction(module, "asan.module_ctor") : NULL;
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

    if (!verify(m, module, e) || !run_passes(m, module, PASSES, e) || (sanitize && !run_passes(m, module, "asan", e)))
        return false;
    if (sanitize)
        drop_sanitizer_constructor(module);
    m->times.passes_ms += milliseconds_now() - start;
    return true;
}

bool machine_generate(struct machine *m, LLVMModuleRef module, LLVMCodeGenFileType type, LLVMMemoryBufferRef *out,
                      struct error *e)
{
    double start = milliseconds_now();
    char *text = NULL;

    if (LLVMTargetMachineEmitToMemoryBuffer(m->tm, module, type, &text, out)) {
        error_set(e, WNNStatus_UnknownError, "generating code: %s", text);
        LLVMDisposeMessage(text);
        *out = NULL;
        return false;
    }
    m->times.codegen_ms += milliseconds_now() - start;
    if (!e->status)
        return true;
    LLVMDisposeMemoryBuffer(*out); /* a diagnostic of severity error, after which LLVM went on */
    *out = NULL;
    return false;
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

/* One kernel on its way to an object. */
struct compilation {
    struct machine *m;
    const struct kernel *k;
    const char *symbol;
    LLVMMemoryBufferRef *object;
    struct error *e;
};

static bool compile_module(const struct compilation *c, LLVMContextRef context, LLVMModuleRef module)
{
    struct machine *m = c->m;
    dump_kernel(m, c->k, c->symbol);
    double start = milliseconds_now();
    struct build b = {.context = context, .module = module, .isa = &m->isa, .target = m->target};
    b.sanitize = m->debug && m->debug->flags & DEBUG_SANITIZE;
    b.b = LLVMCreateBuilderInContext(context);
    bool ok = emit_kernel(&b, c->k, c->symbol, c->e);
    LLVMDisposeBuilder(b.b);
    if (!ok)
        return false;
    dump_module(m, c->k, c->symbol, ".ll", module);
    m->times.emit_ms += milliseconds_now() - start;
    if (!machine_optimize(m, module, c->e))
        return false;
    dump_module(m, c->k, c->symbol, ".opt.ll", module);
    dump_assembly(m, c->k, c->symbol, module);
    m->times.structures++;
    double optimized = milliseconds_now();
    ok = machine_generate(m, module, LLVMObjectFile, c->object, c->e);
    if (ok && m->debug && m->debug->flags & DEBUG_TIME_PASSES)
        fprintf(stderr, "# kernel %-32s emit and passes %8.3f ms, code %8.3f ms\n", c->k->name[0] ? c->k->name : c->symbol,
                optimized - start, milliseconds_now() - optimized);
    return ok;
}

static bool compile(void *user)
{
    const struct compilation *c = user;
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = machine_module(c->m, context, c->k->name[0] ? c->k->name : c->symbol, c->e);
    bool ok = compile_module(c, context, module);
    LLVMDisposeModule(module);
    LLVMContextDispose(context);
    return ok;
}

bool machine_compile(struct machine *m, const struct kernel *k, const char *symbol, LLVMMemoryBufferRef *object,
                     struct error *e)
{
    *object = NULL;
    return machine_protect(compile, &(struct compilation){m, k, symbol, object, e}, e);
}
