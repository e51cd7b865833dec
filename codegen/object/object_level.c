/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes one x86-64 object run well on every x86-64 processor: it holds the kernels for several levels of the architecture
 * (x86-64, x86-64-v2 ...), and looks at the processor, once, which of them to call.
 *
 * A level is a set of instructions that the System V ABI for x86-64 names.  What a processor has is read with CPUID, and
 * whether the operating system saves its wider registers with XGETBV, so that nothing of the C library is needed.
 */
#include <stdlib.h>
#include <string.h>

#include "codegen/object/object_module.h"
#include "ir/support/text.h"

enum { SAVES_YMM = 0x6, SAVES_ZMM = 0xE6 }; /* bits of XCR0: SSE and AVX; those, masks, and both halves of ZMM */

#define BIT(n) (UINT32_C(1) << (n))

/* What CPUID and XGETBV must say of a processor besides what the lower rows ask for. */
static const struct level {
    const char *cpu;
    uint32_t leaf1_ecx, leaf7_ebx, extended_ecx, xcr0;
} levels[] = {
    {"x86-64", 0, 0, 0, 0},
    /* SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT; LAHF */
    {"x86-64-v2", BIT(0) | BIT(9) | BIT(13) | BIT(19) | BIT(20) | BIT(23), 0, BIT(0), 0},
    /* FMA, MOVBE, OSXSAVE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT */
    {"x86-64-v3", BIT(12) | BIT(22) | BIT(27) | BIT(28) | BIT(29), BIT(3) | BIT(5) | BIT(8), BIT(5), SAVES_YMM},
    /* AVX512F, AVX512DQ, AVX512CD, AVX512BW, AVX512VL */
    {"x86-64-v4", 0, BIT(16) | BIT(17) | BIT(28) | BIT(30) | BIT(31), 0, SAVES_ZMM},
};
enum { LEVEL_COUNT = sizeof levels / sizeof *levels };
enum { LEAF1_ECX_OSXSAVE = BIT(27), LEAF_EXTENDED = 0x80000001 }; /* these do not fit into int */

#define DEFAULT_LEVELS "x86-64,x86-64-v3,x86-64-v4"

/* ---- which levels an object has ---- */

static int level_find(const char *name, size_t length)
{
    for (int i = 0; i < LEVEL_COUNT; i++)
        if (strlen(levels[i].cpu) == length && !memcmp(levels[i].cpu, name, length))
            return i;
    return -1;
}

static bool is_x86_64(const char *triple)
{
    char *own = triple ? NULL : LLVMGetDefaultTargetTriple(), *text = LLVMNormalizeTargetTriple(own ? own : triple);
    bool is = text && !strncmp(text, "x86_64-", 7);

    LLVMDisposeMessage(own);
    LLVMDisposeMessage(text);
    return is;
}

/* Takes the levels out of a list, which ascends.  Returns 0 after an error in *e. */
static uint32_t split(const char *list, const char *names[OBJECT_LEVELS_MAX], struct error *e)
{
    uint32_t count = 0;
    int last = -1;

    for (const char *p = list;; p++) {
        const size_t length = strcspn(p, ",");
        const int level = level_find(p, length);
        char name[64], shown[100];
        if (level <= last) {
            error_set(e, WNNStatus_TypeError, "processors \"%s\": \"%s\" %s",
                      escape_text(shown, sizeof shown, list, strlen(list)), escape_text(name, sizeof name, p, length),
                      level < 0 ? "is not a level of x86-64; a list is of x86-64, x86-64-v2, x86-64-v3 and x86-64-v4"
                                : "does not come after a lower level; name each once, the lowest first");
            return 0;
        }
        names[count++] = levels[level].cpu;
        last = level;
        p += length;
        if (!*p)
            return count;
    }
}

uint32_t object_levels(const char *triple, const char *cpu, const char *features, const char *names[OBJECT_LEVELS_MAX],
                       struct error *e)
{
    const bool several = cpu ? strchr(cpu, ',') != NULL : !features && is_x86_64(triple);

    if (!several) {
        names[0] = cpu;
        return 1;
    }
    if (cpu && (features || !is_x86_64(triple))) {
        const char *text = features ? features : triple ? triple : "this machine";
        char shown[100], other[100];
        error_set(e, WNNStatus_TypeError, "processors \"%s\": %s \"%s\"; name one processor",
                  escape_text(shown, sizeof shown, cpu, strlen(cpu)),
                  features ? "a list does not go with the features"
                           : "only objects for x86-64 hold code for several, not those for",
                  escape_text(other, sizeof other, text, strlen(text)));
        return 0;
    }
    return split(cpu ? cpu : DEFAULT_LEVELS, names, e);
}

/* ---- what the processor has ---- */

/* Emits an instruction that takes and gives 32-bit registers, and returns a struct of the latter. */
static V emit_instruction(const struct object_module *o, const char *text, const char *constraints, uint32_t results, V *args,
                          uint32_t count)
{
    T types[4] = {o->i32, o->i32, o->i32, o->i32};
    T type = LLVMFunctionType(LLVMStructTypeInContext(o->m.context, types, results, false), types, count, false);
    V code = LLVMGetInlineAsm(type, (char *)text, strlen(text), (char *)constraints, strlen(constraints), true, false,
                              LLVMInlineAsmDialectATT, false);

    return LLVMBuildCall2(o->m.b, type, code, args, count, "");
}

enum cpuid_register { CPUID_EAX, CPUID_EBX, CPUID_ECX };

/* Emits CPUID for a leaf and returns one of its registers. */
static V emit_cpuid(const struct object_module *o, uint32_t leaf, enum cpuid_register which, const char *name)
{
    V all = emit_instruction(o, "cpuid", "={ax},={bx},={cx},={dx},{ax},{cx},~{dirflag},~{fpsr},~{flags}", 4,
                             (V[]){object_number(o, leaf), object_number(o, 0)}, 2);

    return LLVMBuildExtractValue(o->m.b, all, which, name);
}

/* Emits XGETBV and returns the lower half of XCR0. */
static V emit_xcr0(const struct object_module *o)
{
    V zero = object_number(o, 0);
    V all = emit_instruction(o, "xgetbv", "={ax},={dx},{cx},~{dirflag},~{fpsr},~{flags}", 2, &zero, 1);

    return LLVMBuildExtractValue(o->m.b, all, 0, "");
}

/* Returns whether all bits of a mask are set. */
static V has_bits(const struct object_module *o, V word, uint32_t mask)
{
    V bits = object_number(o, mask);

    return LLVMBuildICmp(o->m.b, LLVMIntEQ, LLVMBuildAnd(o->m.b, word, bits, ""), bits, "");
}

struct words {
    V leaf1_ecx, leaf7_ebx, extended_ecx, xcr0;
};

/* Emits the instructions that ask.  XGETBV exists where the operating system has switched it on. */
static struct words emit_ask(struct object_module *o)
{
    LLVMBuilderRef b = o->m.b;
    LLVMBasicBlockRef saved = block_append(&o->m, "saved"), asked = block_append(&o->m, "asked");
    struct words w;

    V most = emit_cpuid(o, 0, CPUID_EAX, "most");
    w.leaf1_ecx = emit_cpuid(o, 1, CPUID_ECX, "leaf1");
    V leaf7 = emit_cpuid(o, 7, CPUID_EBX, "leaf7"); /* of an older processor: another leaf's */
    V has_leaf7 = LLVMBuildICmp(b, LLVMIntUGE, most, object_number(o, 7), "");
    w.leaf7_ebx = LLVMBuildSelect(b, has_leaf7, leaf7, object_number(o, 0), "");
    w.extended_ecx = emit_cpuid(o, LEAF_EXTENDED, CPUID_ECX, "extended"); /* whatever is 64-bit has it */
    LLVMBasicBlockRef before = LLVMGetInsertBlock(b);
    object_branch(o, has_bits(o, w.leaf1_ecx, LEAF1_ECX_OSXSAVE), saved, asked);
    V xcr0 = emit_xcr0(o), none = object_number(o, 0);
    LLVMBuildBr(b, asked);
    LLVMPositionBuilderAtEnd(b, asked);
    w.xcr0 = LLVMBuildPhi(b, o->i32, "xcr0");
    LLVMAddIncoming(w.xcr0, &none, &before, 1);
    LLVMAddIncoming(w.xcr0, &xcr0, &saved, 1);
    return w;
}

/* Emits and returns how many of the object's levels the processor has; the lowest one is taken for granted. */
static V emit_count(struct object_module *o)
{
    LLVMBuilderRef b = o->m.b;
    const struct words w = emit_ask(o);
    V all = LLVMConstInt(llvm_int(&o->m, 1), 1, false), count = object_number(o, 1);

    for (uint32_t i = 1, row = 0; i < o->p->level_count; i++) {
        const char *cpu = o->p->levels[i].target->cpu;
        for (const uint32_t last = (uint32_t)level_find(cpu, strlen(cpu)); row <= last; row++) {
            all = LLVMBuildAnd(b, all, has_bits(o, w.leaf1_ecx, levels[row].leaf1_ecx), "");
            all = LLVMBuildAnd(b, all, has_bits(o, w.leaf7_ebx, levels[row].leaf7_ebx), "");
            all = LLVMBuildAnd(b, all, has_bits(o, w.extended_ecx, levels[row].extended_ecx), "");
            all = LLVMBuildAnd(b, all, has_bits(o, w.xcr0, levels[row].xcr0), "");
        }
        count = LLVMBuildAdd(b, count, LLVMBuildZExt(b, all, o->i32, ""), "");
    }
    return count;
}

/*
 * Writes uint32_t level(void), which returns the index of the level to be used.  A virtual machine leaves to its host at each
 * CPUID, which takes longer than a small model: the answer is kept in a variable, plus 1.  Threads that find none ask
 * themselves, and all store the same number.
 */
void object_emit_level(struct object_module *o)
{
    LLVMBuilderRef b = o->m.b;
    V kept = object_global(o, "levels_found", object_number(o, 0), 4, true);

    o->level = object_internal(o, "level", o->i32, NULL, 0);
    LLVMBasicBlockRef entry = LLVMGetInsertBlock(b), ask = block_append(&o->m, "ask"), done = block_append(&o->m, "done");
    V known = LLVMBuildLoad2(b, o->i32, kept, "");
    LLVMSetOrdering(known, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(known, 4);
    object_branch(o, LLVMBuildIsNull(b, known, ""), ask, done);
    V found = emit_count(o), store = LLVMBuildStore(b, found, kept);
    LLVMSetOrdering(store, LLVMAtomicOrderingMonotonic);
    LLVMSetAlignment(store, 4);
    LLVMBasicBlockRef asked = LLVMGetInsertBlock(b);
    LLVMBuildBr(b, done);
    LLVMPositionBuilderAtEnd(b, done);
    V count = LLVMBuildPhi(b, o->i32, "count");
    LLVMAddIncoming(count, &known, &entry, 1);
    LLVMAddIncoming(count, &found, &asked, 1);
    LLVMBuildRet(b, LLVMBuildSub(b, count, object_number(o, 1), ""));
}

V object_row(struct object_module *o, V table)
{
    V level = LLVMBuildZExt(o->m.b, object_call(o, o->level, NULL, 0), o->i64, "");

    return LLVMBuildInBoundsGEP2(o->m.b, LLVMGetElementType(LLVMGlobalGetValueType(table)), table, &level, 1, "row");
}
