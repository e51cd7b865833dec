/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Short names for LLVM's C API, for the printer of the loop language and the writer of objects.
 */
#pragma once

#include <llvm-c/Core.h>
#include "ir/loop/loop.h"
#include "ir/target/target.h"

/** A position in a function under construction. */
struct llvm_build {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    bool sanitize;
    bool for_size;               /* small code rather than fast code */
    const struct target *target; /* attributes of every function */
    const char *suffix;          /* of names of functions that kernels share, if a module has several targets; else NULL */
    LLVMValueRef function;
};

static inline LLVMTypeRef llvm_int(const struct llvm_build *m, uint32_t bits)
{
    return LLVMIntTypeInContext(m->context, bits);
}
static inline LLVMTypeRef llvm_ptr(const struct llvm_build *m)
{
    return LLVMPointerTypeInContext(m->context, 0);
}
static inline LLVMValueRef llvm_number(const struct llvm_build *m, uint32_t bits, int64_t value)
{
    return LLVMConstInt(llvm_int(m, bits), (unsigned long long)value, true);
}

/** Emits a call of LLVM's intrinsic of that name, which is overloaded on those types. */
LLVMValueRef call_intrinsic(const struct llvm_build *m, const char *name, LLVMTypeRef *overloads, uint32_t overload_count,
                            LLVMValueRef *args, uint32_t arg_count);
/** Adds the attributes that every function needs. */
void function_set_attributes(const struct llvm_build *m, LLVMValueRef function);
/** Appends an empty block to the function; the position stays. */
LLVMBasicBlockRef block_append(const struct llvm_build *m, const char *name);

/** Adds the functions of a module of the loop language (print_loop.c). */
void print_loop(const struct llvm_build *m, struct loop_module *loops);
