/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the wrapper of LLVM for codegen/: features of a processor, one thread's compiler, and linking into this process.
 *
 * A schedule becomes a module (machine_lower: codegen/lower, print_loop.c), an object file in memory (machine_optimize,
 * machine_generate), and code in this process (jit_link).
 */
#pragma once

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include "codegen/codegen.h"

struct machine;
struct llvm_build;
/** Finds out what any processor that LLVM knows offers, by its features.  Returns false after an error in *e. */
bool isa_probe(struct machine *m, const char *triple, struct isa *isa, struct error *e);

/* ---- module.c: one thread's compiler ---- */

/** Says how code is generated. */
struct code_traits {
    bool strided; /* it may have loops whose strides LLVM shall reduce */
    bool ordered; /* it is as fast in its own order as in that of LLVM's scheduler */
    bool fast;    /* by FastISel: loops with little but addresses take up to twice as long, tiles in 16 registers 2 % longer */
};

/** A target machine.  Threads may not use one at the same time. */
struct machine {
    LLVMTargetMachineRef tm;
    void *pipelines[2][2][LLVMObjectFile + 1]; /* by strided, ordered and the type of file; NULL until one is needed */
    char *data_layout;
    const struct target *target;
    const struct debug_options *debug;
    struct codegen_times times;
    bool abandoned; /* a call of LLVM was abandoned (machine_protect): it must not be used any more */
};
/** Makes a machine whose code runs in this process.  t and d must outlive it; the caller destroys it.  Returns false after an
 * error in *e, and there is nothing to destroy. */
bool machine_create(struct machine *m, const struct target *t, const struct debug_options *d, struct error *e);
/** Makes one of a level, for a target that initialize() registers. */
bool machine_create_at(struct machine *m, const struct target *t, const struct debug_options *d, LLVMCodeGenOptLevel level,
                       void (*initialize)(void), struct error *e);
/** Does the same for code that does not run in this process, for any target (targets.c). */
bool machine_create_ahead(struct machine *m, const struct target *t, const struct debug_options *d, struct error *e);
/** Frees what a machine holds.  If it was abandoned, LLVM's objects leak. */
void machine_destroy(struct machine *m);
/** Registers this machine's target with LLVM. */
void machine_initialize_host(void);
/** Registers every target that LLVM was built with (targets.c). */
void machine_initialize_all(void);
/** Calls each() for every processor of a triple that LLVM knows, or for every feature, and for none if LLVM does not know the
 * triple (processors.cc).  machine_initialize_all has run. */
void processors_each(const char *triple, bool features, void (*each)(void *user, const char *name), void *user);
/** Returns whether a machine's processor has all of a list of features, "+a,+b", which LLVM knows for it, or none of those in
 * one like "-a" (processors.cc). */
bool processor_has(LLVMTargetMachineRef machine, const char *features);
/** Runs the passes that the text names on the module (pipeline.cc).  Returns false with a message in text[size] if LLVM does
 * not know one of them. */
bool pipeline_run(LLVMModuleRef module, LLVMTargetMachineRef machine, const char *passes, char *text, size_t size);
/** Makes the passes of code generation for files of a type, which for small kernels takes as long as running them
 * (pipeline.cc). Returns NULL if the target does not support the type. */
void *pipeline_create(LLVMTargetMachineRef machine, LLVMCodeGenFileType type, bool strided, bool ordered);
/** Makes a file of a module, which it changes, by FastISel if `fast`; any number of modules may follow. */
LLVMMemoryBufferRef pipeline_generate(void *pipeline, LLVMModuleRef module, bool fast);
/** Frees it.  NULL does nothing. */
void pipeline_free(void *pipeline);
/** The part of LLVM that a call uses; the first call of each part runs alone. */
enum llvm_part { LLVM_HOST, LLVM_TARGETS, LLVM_SETUP, LLVM_COMPILE, LLVM_PARTS };
/** Runs work, which uses `part`, and returns its result.  If LLVM has a fatal error inside, or gets no memory, this returns
 * false after an error in *e, and *abandoned becomes true.  LLVM's allocations leak, and the objects of LLVM that work changes
 * must be neither used again nor freed: if *abandoned is true before, work does not run. */
bool machine_protect(enum llvm_part part, bool *abandoned, bool (*work)(void *user), void *user, struct error *e);
/** Makes LLVM leave machine_protect instead of ending the process (handlers.cc). */
void handlers_install(void);
/** Makes an empty module with the target's layout, which the caller disposes of.  LLVM's errors for it are set in e. */
LLVMModuleRef machine_module(const struct machine *m, LLVMContextRef context, const char *name, struct error *e);
/** Adds a kernel's function, a kernel_function (codegen/kernel_abi.h), to the module of b under that name.  Returns false after
 * an error in *e; the module is then of no use. */
bool machine_lower(const struct machine *m, const struct llvm_build *b, const struct schedule *s, const char *symbol,
                   struct error *e);
/** These passes shorten objects, and flags for NaN in a maximum over a window, which takes a tenth longer without them.  Other
 * kernels are as fast without them. */
#define PEEPHOLES "function(early-cse,instcombine<no-verify-fixpoint>,simplifycfg,early-cse)"
/** Runs the passes that the text names on the module.  Returns false after an error in *e. */
bool machine_run_passes(const struct machine *m, LLVMModuleRef module, const char *passes, struct error *e);
/** Verifies a module (if that is switched on) and optimises it.  Returns false after an error in *e. */
bool machine_optimize(struct machine *m, LLVMModuleRef module, struct error *e);
/** Makes machine code or assembly of a module.  The caller disposes of *out.  Returns false after an error in *e, and *out is
 * NULL. */
bool machine_generate(struct machine *m, LLVMModuleRef module, LLVMCodeGenFileType type, struct code_traits t,
                      LLVMMemoryBufferRef *out, struct error *e);
/** Compiles a kernel to an object file in memory, in which symbol names its function.  The caller disposes of *object.  Returns
 * false after an error in *e. */
bool machine_compile(struct machine *m, const struct schedule *s, const char *symbol, LLVMMemoryBufferRef *object,
                     struct error *e);

/* ---- jit.c ---- */

/** The code of one object that was linked into this process. */
struct jit_code;
/** Prepares for code with those switches, before LLVM compiles any.  Returns false after an error in *e. */
bool jit_prepare(const struct debug_options *d, struct error *e);
/** Links an object and stores in *function where the function `symbol` is; name is the kernel's, for profilers.  Returns NULL
 * after an error in *e. */
struct jit_code *jit_link(const struct debug_options *d, const void *object, size_t bytes, const char *symbol, const char *name,
                          kernel_function *function, struct error *e);
/** Removes code that jit_link returned.  NULL does nothing. */
void jit_unlink(struct jit_code *c);

/* ---- flatten.c: position-independent machine code, which needs no linker ----
 *
 * Relocatable ELF objects of kernels become one block of code and constants in which every relocation is resolved, which runs
 * when mapped at any multiple of 4096.  That is possible because kernels have no external references, and only relative
 * internal ones.  Others are an error that names them. */

enum { FLAT_SECTIONS_MAX = 256 };
#define FLAT_NOT_PLACED UINT64_MAX

/** Holds the code that was appended so far.  One that is all 0 is empty. */
struct flat_code {
    unsigned char *bytes;
    size_t size;
    size_t capacity;
    void *(*find)(const char *name);      /* a function of this process that code may call; NULL: of none */
    uint64_t sections[FLAT_SECTIONS_MAX]; /* where the sections are of the object that was appended last; FLAT_NOT_PLACED */
};
/** Appends an object's code.  *offset becomes the start of its function `symbol`.  Returns false after an error in *e. */
bool flat_code_append(struct flat_code *f, const void *object, const char *symbol, uint64_t *offset, struct error *e);
/** Frees the bytes and empties f. */
void flat_code_free(struct flat_code *f);
