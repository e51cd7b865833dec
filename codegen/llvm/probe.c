/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Says what a processor offers, by the features that LLVM knows of it.  It takes a target machine for any triple, processor
 * name and feature list, and fills struct isa.  A new processor has features that are listed already.
 */
#include "codegen/llvm/llvm.h"

#include <string.h>

enum fact {
    FLOATS = 1, /* instructions for arithmetic of float32 */
    FLOAT64 = 2,
    FMA = 4,
    HALF = 8,      /* conversions of float16 */
    ROUNDING = 16, /* to whole numbers */
    DIVISION = 32, /* of integers of 64 bits */
    VECTORS = 64,
    MASKS = 128, /* of all elements */
    DOT = 256,   /* sums of products of bytes */
    AVX2 = 512,
    AVX512 = 1024,
    RELAXED = 2048, /* multiply-adds that may round twice */
    HELIUM = 4096
};

/* The features that give facts, of triples that begin so.  Of others there are FACTS_ANYWHERE. */
static const struct row {
    const char *arch, *features;
    uint32_t facts;
} rows[] = {
    {"x86_64", "+sse2,-soft-float", FLOATS | FLOAT64 | DIVISION | VECTORS},
    {"x86_64", "+fma", FMA},
    {"x86_64", "+fma4", FMA},
    {"x86_64", "+f16c", HALF},
    {"x86_64", "+sse4.1", ROUNDING},
    {"x86_64", "+avx2", AVX2},
    {"x86_64", "+avx512f,+evex512", AVX512},
    {"x86_64", "+avx512bw,+avx512vl", MASKS},
    {"x86_64", "+avx512vnni,+avx512vl", DOT},
    {"x86_64", "+avxvnni", DOT},
    {"aarch64", "+fp-armv8", FLOATS | FLOAT64 | DIVISION | FMA | HALF | ROUNDING | VECTORS},
    {"aarch64", "+dotprod", DOT},
    {"riscv", "+f", FLOATS | FMA | ROUNDING},
    {"riscv", "+zfinx", FLOATS | FMA | ROUNDING},
    {"riscv", "+d", FLOAT64},
    {"riscv", "+zdinx", FLOAT64},
    {"riscv", "+zfhmin", HALF},
    {"riscv", "+zhinxmin", HALF},
    {"riscv64", "+m", DIVISION},
    {"riscv", "+zve32f", VECTORS | MASKS},
    {"arm", "+vfp2sp,-soft-float", FLOATS},
    {"arm", "+fp64", FLOAT64},
    {"arm", "+vfp4d16sp", FMA},
    {"arm", "+fp16", HALF},
    {"arm", "+neon,+fp-armv8", VECTORS},
    {"arm", "+mve.fp", VECTORS | HELIUM},
    {"wasm", "", FLOATS | FLOAT64 | DIVISION | ROUNDING},
    {"wasm", "+simd128", VECTORS},
    {"wasm", "+relaxed-simd", RELAXED | VECTORS},
    {"i", "", FLOATS | FLOAT64 | VECTORS}, /* i386 to i686 */
    {"i", "+fma", FMA},
    {"i", "+f16c", HALF},
    {"i", "+sse4.1", ROUNDING},
    {"powerpc64", "", FLOATS | FLOAT64 | DIVISION | FMA | VECTORS},
    {"loongarch64", "+f", FLOATS | DIVISION | FMA | VECTORS},
    {"loongarch64", "+d", FLOAT64},
};

enum { FACTS_ANYWHERE = FLOATS | FLOAT64 | VECTORS };

struct question {
    struct machine *m;
    const char *triple;
    uint32_t facts;
};

static bool begins_with(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static bool find_facts(void *user)
{
    struct question *q = user;
    bool known = false;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (begins_with(q->triple, rows[i].arch)) {
            known = true;
            q->facts |= processor_has(q->m->tm, rows[i].features) ? rows[i].facts : 0;
        }
    q->facts |= known ? 0 : FACTS_ANYWHERE;
    return true;
}

static enum byte_arithmetic bytes_of(uint32_t facts, const char *arch)
{
    if (begins_with(arch, "aarch64"))
        return facts & DOT ? BYTES_SIGNED : BYTES_SIGNED_PAIRS;
    return !(facts & AVX2) ? BYTES_NONE : facts & DOT ? BYTES_MIXED : BYTES_MIXED_PAIRS;
}

static void describe(uint32_t facts, const char *arch, struct isa *isa)
{
    const bool x86 = begins_with(arch, "x86_64"), wasm = begins_with(arch, "wasm"), arm = begins_with(arch, "arm");

    *isa = (struct isa){
        .fma = facts & FMA,
        .relaxed_fma = facts & RELAXED,
        .f16 = facts & HALF,
        .rounding = facts & ROUNDING,
        .masks = facts & MASKS,
        .masks32 = facts & AVX2,
        .permutes = facts & AVX2,
        .wide_division = facts & DIVISION,
        .f64 = facts & FLOAT64,
        .f64_extremes = !arm && !x86,
        .registers = wasm                      ? 15 /* it has none: those of x86-64 but one, which V8 needs */
                     : facts & HELIUM          ? 8
                     : arm                     ? 16 /* of NEON, or pairs of floats */
                     : x86 && !(facts & MASKS) ? 16
                                               : 32,
        .loads_first = wasm,
        .select_extremes = x86 || (wasm && facts & VECTORS),
        .ternary_shuffles = facts & AVX512,
        .scaling = facts & AVX512 && facts & MASKS,
        .byte_products = bytes_of(facts, arch),
        /* Without any vectors the lowering still wants two lanes at least; LLVM makes them scalars again. */
        .vector_bits = facts & AVX512 && facts & MASKS ? 512
                       : facts & AVX2                  ? 256
                       : facts & VECTORS               ? 128
                                                       : 64,
    };
    isa->extremes_by_keys = isa->masks32 && !isa->scaling;
}

bool isa_probe(struct machine *m, const char *triple, struct isa *isa, struct error *e)
{
    const bool arm64 = begins_with(triple, "arm64"); /* Apple's name of AArch64; features of Thumb are those of Arm */
    struct question q = {.m = m, .triple = arm64 ? "aarch64" : begins_with(triple, "thumb") ? "arm" : triple};
    bool ok = machine_protect(LLVM_TARGETS, &m->abandoned, find_facts, &q, e);
    char *cpu = ok ? LLVMGetTargetMachineCPU(m->tm) : NULL;

    if (ok && !(q.facts & FLOATS))
        ok = error_set(e, WNNStatus_NotSupportedError,
                       "the processor \"%.60s\" of %.60s adds floats by calling a function: kernels need a floating-point "
                       "unit; name a processor that has one (--cpu cortex-m4, cortex-a9, ...)",
                       cpu, triple);
    if (ok) {
        describe(q.facts, q.triple, isa);
        isa->slow_division = isa->scaling && (!cpu || !begins_with(cpu, "znver"));
    }
    LLVMDisposeMessage(cpu);
    return ok;
}
