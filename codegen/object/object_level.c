/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes one x86-64 object run well on every x86-64 processor: it holds the kernels for several levels of the architecture
 * (x86-64, x86-64-v2 ...), and looks at the processor, once, which of them to call (runtime/runtime.c).
 *
 * A level is a set of instructions that the System V ABI for x86-64 names.
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
    uint32_t masks[OBJECT_LEVEL_WORDS]; /* of leaf 1's ECX, leaf 7's EBX, leaf 0x80000001's ECX, XCR0 */
} levels[] = {
    {"x86-64", {0}},
    /* SSE3, SSSE3, CMPXCHG16B, SSE4.1, SSE4.2, POPCNT; LAHF */
    {"x86-64-v2", {BIT(0) | BIT(9) | BIT(13) | BIT(19) | BIT(20) | BIT(23), 0, BIT(0), 0}},
    /* FMA, MOVBE, OSXSAVE, AVX, F16C; BMI1, AVX2, BMI2; LZCNT */
    {"x86-64-v3", {BIT(12) | BIT(22) | BIT(27) | BIT(28) | BIT(29), BIT(3) | BIT(5) | BIT(8), BIT(5), SAVES_YMM}},
    /* AVX512F, AVX512DQ, AVX512CD, AVX512BW, AVX512VL */
    {"x86-64-v4", {0, BIT(16) | BIT(17) | BIT(28) | BIT(30) | BIT(31), 0, SAVES_ZMM}},
};
enum { LEVEL_COUNT = sizeof levels / sizeof *levels };

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

void object_level_masks(const struct object_program *p, int64_t *masks)
{
    struct level all = {0};

    for (uint32_t i = 0, row = 0; i < p->level_count; i++) {
        const char *cpu = p->levels[i].target->cpu;
        for (const int last = p->level_count > 1 ? level_find(cpu, strlen(cpu)) : -1; (int)row <= last; row++)
            for (uint32_t word = 0; word < OBJECT_LEVEL_WORDS; word++)
                all.masks[word] |= levels[row].masks[word];
        for (uint32_t word = 0; word < OBJECT_LEVEL_WORDS; word++)
            masks[i * OBJECT_LEVEL_WORDS + word] = all.masks[word];
    }
}
