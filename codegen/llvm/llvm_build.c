/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Puts short names over LLVM's C API.
 */
#include "codegen/llvm/llvm_build.h"

#include <string.h>

LLVMValueRef call_intrinsic(const struct llvm_build *m, const char *name, LLVMTypeRef *overloads, uint32_t overload_count,
                            LLVMValueRef *args, uint32_t arg_count)
{
    unsigned id = LLVMLookupIntrinsicID(name, strlen(name));
    LLVMValueRef function = LLVMGetIntrinsicDeclaration(m->module, id, overloads, overload_count);
    LLVMTypeRef type = LLVMIntrinsicGetType(m->context, id, overloads, overload_count);
    return LLVMBuildCall2(m->b, type, function, args, arg_count, "");
}

static void add_attribute(const struct llvm_build *m, LLVMValueRef function, const char *name, const char *value)
{
    LLVMAttributeRef a = LLVMCreateStringAttribute(m->context, name, (unsigned)strlen(name), value, (unsigned)strlen(value));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex, a);
}

static void add_flag(const struct llvm_build *m, LLVMValueRef function, const char *name)
{
    unsigned kind = LLVMGetEnumAttributeKindForName(name, strlen(name));
    LLVMAddAttributeAtIndex(function, (LLVMAttributeIndex)LLVMAttributeFunctionIndex,
                            LLVMCreateEnumAttribute(m->context, kind, 0));
}

void function_set_attributes(const struct llvm_build *m, LLVMValueRef function)
{
    char bits[16];
    snprintf(bits, sizeof bits, "%u", m->target->isa.vector_bits);
    add_flag(m, function, "nounwind");
    if (m->sanitize)
        add_flag(m, function, "sanitize_address");
    if (m->for_size)
        add_flag(m, function, "optsize");
    /* No loop of ours may become a call of memset or memcpy: code must link into bare objects. */
    add_attribute(m, function, "no-builtins", "");
    if (m->target->cpu)
        add_attribute(m, function, "target-cpu", m->target->cpu);
    if (m->target->features)
        add_attribute(m, function, "target-features", m->target->features);
    /* Without these two, explicit 512-bit vectors are split. */
    add_attribute(m, function, "prefer-vector-width", bits);
    add_attribute(m, function, "min-legal-vector-width", bits);
    if (m->target->isa.vector_bits > 128) /* stacks of x86 are aligned to 16 bytes: vectors kept there would cross lines */
        add_attribute(m, function, "stackrealign", "");
}

LLVMBasicBlockRef block_append(const struct llvm_build *m, const char *name)
{
    return LLVMAppendBasicBlockInContext(m->context, m->function, name);
}
