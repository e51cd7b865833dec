/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds out what the machine is, for code generation: triple, processor, features, vector width, all capped on request.
 */
#include "codegen/llvm/llvm.h"

#include <string.h>

/* These are levels of the x86-64 psABI as LLVM processor names, with the features that the lowering asks about spelled out. */
static const struct level {
    const char *isa, *cpu, *features, *needs[6];
    uint32_t vector_bits;
} levels[] = {
    {"avx512",
     "x86-64-v4",
     "+avx2,+fma,+f16c,+avx512f,+avx512bw,+avx512cd,+avx512dq,+avx512vl",
     {"avx512f", "avx512bw", "avx512dq", "avx512vl", "fma", "f16c"},
     512},
    {"avx2", "x86-64-v3", "+avx2,+fma,+f16c", {"avx2", "fma", "f16c", "bmi2"}, 256},
    {"baseline", "x86-64", "", {NULL}, 128},
};
enum { LEVEL_COUNT = sizeof levels / sizeof *levels };

static bool has_feature(const char *features, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = features; p && *p; p = strchr(p, ',') ? strchr(p, ',') + 1 : NULL)
        if (p[0] == '+' && !strncmp(p + 1, name, n) && (p[1 + n] == ',' || !p[1 + n]))
            return true;
    return false;
}

static bool has_level(const char *features, const struct level *level)
{
    for (uint32_t i = 0; i < 6 && level->needs[i]; i++)
        if (!has_feature(features, level->needs[i]))
            return false;
    return true;
}

/* Returns whether a processor has AVX-512 but no two units for multiply-adds of 512 bits; cpu is LLVM's name of it. */
static bool has_half_rate(const char *cpu)
{
    static const char *const names[] = {"znver4", "cannonlake", "icelake-client", "tigerlake", "rocketlake"};

    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(cpu, names[i]))
            return true;
    return false;
}

static bool is_x86_64(const char *triple)
{
    return !strncmp(triple, "x86_64", 6);
}

/* A division of 16 lanes takes 16 cycles on Intel's processors and 7 on AMD's, which do other work meanwhile. */
bool isa_divides_slowly(const char *cpu)
{
    return !cpu || strncmp(cpu, "znver", 5) != 0;
}

/* Returns what multiplies bytes on a processor with these features, whose triple is t's. */
static enum byte_arithmetic bytes_of_features(const struct target *t, const char *f)
{
    const bool wide = has_feature(f, "avx512f") && has_feature(f, "avx512dq") && has_feature(f, "avx512vl");

    if (!strncmp(t->triple, "aarch64", 7))
        return has_feature(f, "dotprod") ? BYTES_SIGNED : BYTES_SIGNED_PAIRS;
    if (!is_x86_64(t->triple) || !has_feature(f, "avx2"))
        return BYTES_NONE;
    return (wide && has_feature(f, "avx512vnni")) || has_feature(f, "avxvnni") ? BYTES_MIXED : BYTES_MIXED_PAIRS;
}

static struct isa isa_of_features(const struct target *t, uint32_t vector_bits)
{
    bool x86 = is_x86_64(t->triple);
    const char *f = t->features ? t->features : "";
    bool scaling = x86 && has_feature(f, "avx512f") && has_feature(f, "avx512dq") && has_feature(f, "avx512vl");
    return (struct isa){
        .vector_bits = vector_bits,
        .fma = !x86 || has_feature(f, "fma"), /* the other targets that matter have both from the start */
        .f16 = !x86 || has_feature(f, "f16c"),
        .bf16 = scaling && has_feature(f, "avx512bf16"),
        .byte_products = bytes_of_features(t, f),
        .rounding = !x86 || has_feature(f, "f16c"),
        .masks = x86 && has_feature(f, "avx512bw") && has_feature(f, "avx512vl"),
        .masks32 = x86 && has_feature(f, "avx2"),
        .permutes = x86 && has_feature(f, "avx2"),
        .packs = x86 && has_feature(f, "avx2"),
        .wide_division = true,
        .f64 = true,
        .f64_extremes = !x86,
        .registers = x86 && !(has_feature(f, "avx512f") && has_feature(f, "avx512vl")) ? 16 : 32,
        .ternary_shuffles = x86 && has_feature(f, "avx512f"),
        .scaling = scaling,
        .slow_division = scaling && isa_divides_slowly(t->cpu),
    };
}

struct host {
    char *triple, *cpu, *features; /* NULL: out of memory */
};

static bool ask_host(void *user)
{
    *(struct host *)user = (struct host){LLVMGetDefaultTargetTriple(), LLVMGetHostCPUName(), LLVMGetHostCPUFeatures()};
    return true;
}

bool codegen_host_target(struct target *t, const char *isa, struct arena *a, struct error *e)
{
    uint32_t cap = LEVEL_COUNT, vector_bits = 128;
    if (isa && strcmp(isa, "native") != 0) {
        for (cap = 0; cap < LEVEL_COUNT && strcmp(isa, levels[cap].isa) != 0; cap++)
            ;
        if (cap == LEVEL_COUNT)
            return error_set(e, WNNStatus_TypeError, "unknown isa \"%.40s\": not baseline, avx2, avx512 or native", isa);
    }
    struct host host = {0};
    bool abandoned = false;
    if (!machine_protect(LLVM_SETUP, &abandoned, ask_host, &host, e))
        return error_out_of_memory(e);
    char *triple = host.triple, *cpu = host.cpu, *features = host.features;
    bool native = cap == LEVEL_COUNT;
    if (!triple || !cpu || !features) {
        *t = (struct target){0};
    } else if (!is_x86_64(triple)) {
        t->cpu = arena_string(a, cpu, strlen(cpu));
        t->features = arena_string(a, features, strlen(features));
    } else {
        uint32_t best = 0; /* what the host has */
        while (!has_level(features, &levels[best]))
            best++;
        const struct level *level = &levels[!native && cap > best ? cap : best];
        /* The name is often wrong in virtual machines; the explicit features override what it implies, on and off. */
        t->cpu = native ? arena_string(a, cpu, strlen(cpu)) : level->cpu;
        t->features = native ? arena_string(a, features, strlen(features)) : level->features;
        vector_bits = level->vector_bits;
        t->full_rate = vector_bits == 512 && !has_half_rate(cpu);
    }
    t->triple = triple ? arena_string(a, triple, strlen(triple)) : NULL;
    LLVMDisposeMessage(triple);
    LLVMDisposeMessage(cpu);
    LLVMDisposeMessage(features);
    if (!t->triple || !t->cpu || !t->features)
        return error_out_of_memory(e);
    t->isa = isa_of_features(t, vector_bits);
    return true;
}
