/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * This is the last step of just-in-time compilation: it links objects into this process with ORC's LLJIT, one resource tracker
 * each.
 *
 * The symbol table is a bare one: nothing of the process can be found from it, so code that refers to anything outside itself
 * fails to link.  Under the address sanitizer alone the process is searched, for the sanitizer's run-time.
 */
#include "codegen/llvm/llvm.h"

#include <llvm-c/Error.h>
#include <llvm-c/ExecutionEngine.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Object.h>
#include <llvm-c/Orc.h>
#include <llvm-c/OrcEE.h>
#include <llvm-c/Support.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/support/new_file.h"

struct jit {
    LLVMOrcLLJITRef lljit;
    LLVMOrcExecutionSessionRef session;
    LLVMOrcJITDylibRef library;
    const struct debug_options *debug;
    bool abandoned; /* in the middle of a call of LLVM: to be used no more */
};

struct jit_code {
    LLVMOrcResourceTrackerRef tracker;
};

static bool llvm_failed(LLVMErrorRef error, const char *what, struct error *e)
{
    if (!error)
        return false;
    char *text = LLVMGetErrorMessage(error);
    error_set(e, WNNStatus_UnknownError, "%s: %s", what, text);
    LLVMDisposeErrorMessage(text);
    return true;
}

/* What fails comes back from the call that failed, too; the session's own reporter would print it. */
static void report_nothing(void *user, LLVMErrorRef error)
{
    (void)user;
    LLVMConsumeError(error);
}

/* Links by RuntimeDyld, whose listener is what the C API has for debuggers. */
static LLVMOrcObjectLayerRef create_object_layer(void *user, LLVMOrcExecutionSessionRef session, const char *triple)
{
    const struct jit *j = user;
    (void)triple;
    LLVMOrcObjectLayerRef layer = LLVMOrcCreateRTDyldObjectLinkingLayerWithSectionMemoryManager(session);
    if (j->debug && j->debug->flags & DEBUG_GDB)
        LLVMOrcRTDyldObjectLinkingLayerRegisterJITEventListener(layer, LLVMCreateGDBRegistrationListener());
    return layer;
}

/* Defines what the sanitizer's constructor needs.  Nothing calls it here (the run-time is up already), but it names the bounds
 * of a table of globals that a linker would define. */
static bool define_sanitizer_symbols(struct jit *j, struct error *e)
{
    static char none[2];
    static const char *const names[] = {"__start_asan_globals", "__stop_asan_globals"};
    LLVMOrcCSymbolMapPair symbols[2];
    for (int i = 0; i < 2; i++) {
        symbols[i].Name = LLVMOrcLLJITMangleAndIntern(j->lljit, names[i]);
        symbols[i].Sym =
            (LLVMJITEvaluatedSymbol){(LLVMOrcExecutorAddress)(uintptr_t)&none[i], {LLVMJITSymbolGenericFlagsExported, 0}};
    }
    LLVMOrcMaterializationUnitRef unit = LLVMOrcAbsoluteSymbols(symbols, 2);
    LLVMErrorRef error = LLVMOrcJITDylibDefine(j->library, unit);
    if (error)
        LLVMOrcDisposeMaterializationUnit(unit);
    return !llvm_failed(error, "defining symbols", e);
}

/* Checks are calls: spelled out, they make code of every access, and LLVM takes two to three times as long.  The C API has no
 * other way to say so, and LLVM takes its options once in a process. */
static void call_checks(void)
{
    static const char *const arguments[] = {"", "-asan-instrumentation-with-call-threshold=0"};

    LLVMParseCommandLineOptions(2, arguments, NULL);
}

/* The search knows the process only once somebody has opened it; that NULL does. */
static bool prepare_sanitizer(struct error *e)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    if (LLVMLoadLibraryPermanently(NULL) || !LLVMSearchForAddressOfSymbol("__asan_init"))
        return error_set(e, WNNStatus_NotSupportedError,
                         "debug switch sanitize: the program is not built with the address sanitizer");
    pthread_once(&once, call_checks);
    return true;
}

struct creation {
    struct jit *j;
    struct error *e;
};

static bool create_protected(void *user)
{
    struct jit *j = ((struct creation *)user)->j;
    struct error *e = ((struct creation *)user)->e;
    const struct debug_options *d = j->debug;

    if (d && d->flags & DEBUG_SANITIZE && !prepare_sanitizer(e))
        return false;
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    LLVMOrcLLJITBuilderSetObjectLinkingLayerCreator(builder, create_object_layer, j);
    LLVMErrorRef error = LLVMOrcCreateLLJIT(&j->lljit, builder);
    if (llvm_failed(error, "creating the JIT", e))
        return false;
    j->session = LLVMOrcLLJITGetExecutionSession(j->lljit);
    LLVMOrcExecutionSessionSetErrorReporter(j->session, report_nothing, NULL);
    j->library = LLVMOrcExecutionSessionCreateBareJITDylib(j->session, "kernels");
    if (d && d->flags & DEBUG_SANITIZE) {
        LLVMOrcDefinitionGeneratorRef process = NULL;
        error =
            LLVMOrcCreateDynamicLibrarySearchGeneratorForProcess(&process, LLVMOrcLLJITGetGlobalPrefix(j->lljit), NULL, NULL);
        bool ok = !llvm_failed(error, "searching the process", e);
        if (ok)
            LLVMOrcJITDylibAddGenerator(j->library, process);
        return ok && define_sanitizer_symbols(j, e);
    }
    return true;
}

struct jit *jit_create(const struct debug_options *d, struct error *e)
{
    struct jit *j = calloc(1, sizeof *j);
    if (!j) {
        error_out_of_memory(e);
        return NULL;
    }
    j->debug = d;
    if (machine_protect(LLVM_SETUP, &j->abandoned, create_protected, &(struct creation){j, e}, e))
        return j;
    jit_free(j);
    return NULL;
}

static bool dispose_protected(void *user)
{
    llvm_failed(LLVMOrcDisposeLLJIT(((struct jit *)user)->lljit), "", &(struct error){0});
    return true;
}

void jit_free(struct jit *j)
{
    struct error ignored = {0};

    if (!j)
        return;
    if (j->lljit && !j->abandoned)
        machine_protect(LLVM_SETUP, &j->abandoned, dispose_protected, j, &ignored);
    free(j);
}

bool jit_is_abandoned(const struct jit *j)
{
    return j->abandoned;
}

static void each_symbol(LLVMBinaryRef object, void (*visit)(LLVMSymbolIteratorRef s, const char *name, void *user), void *user)
{
    LLVMSymbolIteratorRef s = LLVMObjectFileCopySymbolIterator(object);
    for (; !LLVMObjectFileIsSymbolIteratorAtEnd(object, s); LLVMMoveToNextSymbol(s))
        if (LLVMGetSymbolName(s))
            visit(s, LLVMGetSymbolName(s), user);
    LLVMDisposeSymbolIterator(s);
}

struct perf_map {
    FILE *f;
    const char *symbol, *name;
    uint64_t from, address; /* of the function: in its section, in memory */
};

static void perf_find(LLVMSymbolIteratorRef s, const char *name, void *user)
{
    struct perf_map *p = user;
    if (!strcmp(name, p->symbol))
        p->from = LLVMGetSymbolAddress(s);
}

/* Writes the function itself and those of its stages, whose names begin like its own. */
static void perf_write(LLVMSymbolIteratorRef s, const char *name, void *user)
{
    const struct perf_map *p = user;
    const size_t length = strlen(p->symbol);
    if (!strncmp(name, p->symbol, length) && (!name[length] || name[length] == '.'))
        fprintf(p->f, "%llx %llx webnn_%s_%s\n", (unsigned long long)(p->address + LLVMGetSymbolAddress(s) - p->from),
                (unsigned long long)LLVMGetSymbolSize(s), name, p->name);
}

/* Appends "start size name" in hexadecimal to /tmp/perf-<pid>.map, which perf reads to name samples. */
static void perf_note(LLVMMemoryBufferRef object, const char *symbol, const char *name, uint64_t address)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct perf_map p = {.symbol = symbol, .name = name, .address = address};
    char *text = NULL, path[64];
    LLVMBinaryRef binary = LLVMCreateBinary(object, NULL, &text);

    if (!binary) {
        LLVMDisposeMessage(text);
        return;
    }
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    pthread_mutex_lock(&lock);
    int why;
    p.f = own_file_append(path, &why);
    if (p.f) {
        each_symbol(binary, perf_find, &p);
        each_symbol(binary, perf_write, &p);
        fclose(p.f);
    } else {
        fprintf(stderr, "debug switch perf: %s: %s\n", path, strerror(why));
    }
    pthread_mutex_unlock(&lock);
    LLVMDisposeBinary(binary);
}

struct found {
    struct error *error;
    uint64_t address;
};

static void found_symbol(LLVMErrorRef error, LLVMOrcCSymbolMapPairs result, size_t count, void *user)
{
    struct found *f = user;
    if (!llvm_failed(error, "linking a kernel", f->error) && count == 1)
        f->address = result[0].Sym.Address;
}

struct linking {
    struct jit *j;
    struct jit_code *c;
    LLVMMemoryBufferRef object;
    const char *symbol, *name;
    uint64_t address;
    struct error *e;
};

static bool link_protected(void *user)
{
    struct linking *l = user;
    struct jit *j = l->j;
    LLVMMemoryBufferRef copy = NULL;

    if (j->debug && j->debug->flags & DEBUG_PERF)
        copy =
            LLVMCreateMemoryBufferWithMemoryRangeCopy(LLVMGetBufferStart(l->object), LLVMGetBufferSize(l->object), l->symbol);
    l->c->tracker = LLVMOrcJITDylibCreateResourceTracker(j->library);
    struct found found = {.error = l->e};
    LLVMErrorRef error = LLVMOrcLLJITAddObjectFileWithRT(j->lljit, l->c->tracker, l->object);
    if (!llvm_failed(error, "adding a kernel", l->e)) {
        LLVMOrcCJITDylibSearchOrderElement order = {j->library, LLVMOrcJITDylibLookupFlagsMatchAllSymbols};
        LLVMOrcCLookupSetElement wanted = {LLVMOrcLLJITMangleAndIntern(j->lljit, l->symbol),
                                           LLVMOrcSymbolLookupFlagsRequiredSymbol};
        LLVMOrcExecutionSessionLookup(j->session, LLVMOrcLookupKindStatic, &order, 1, &wanted, 1, found_symbol, &found);
    }
    if (copy) {
        if (found.address)
            perf_note(copy, l->symbol, l->name, found.address);
        LLVMDisposeMemoryBuffer(copy);
    }
    l->address = found.address;
    return found.address != 0;
}

struct jit_code *jit_link(struct jit *j, LLVMMemoryBufferRef object, const char *symbol, const char *name,
                          kernel_function *function, struct error *e)
{
    *function = NULL;
    struct jit_code *c = calloc(1, sizeof *c);
    if (!c) {
        error_out_of_memory(e);
        LLVMDisposeMemoryBuffer(object);
        return NULL;
    }
    struct linking l = {j, c, object, symbol, name, 0, e};
    if (!machine_protect(LLVM_LINK, &j->abandoned, link_protected, &l, e)) {
        error_set(e, WNNStatus_UnknownError, "linking a kernel: its function is missing");
        jit_unlink(j, c);
        return NULL;
    }
    *function = (kernel_function)(uintptr_t)l.address;
    return c;
}

static bool unlink_protected(void *user)
{
    struct jit_code *c = user;

    llvm_failed(LLVMOrcResourceTrackerRemove(c->tracker), "", &(struct error){0});
    LLVMOrcReleaseResourceTracker(c->tracker);
    return true;
}

void jit_unlink(struct jit *j, struct jit_code *c)
{
    struct error ignored = {0};

    if (!c)
        return;
    if (!j->abandoned)
        machine_protect(LLVM_LINK, &j->abandoned, unlink_protected, c, &ignored);
    free(c);
}
