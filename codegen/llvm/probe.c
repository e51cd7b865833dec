/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Asks LLVM itself what a processor offers: small functions are compiled for it and their assembly is searched for what gives
 * the answer away (a call of a library function, a vector instruction).  It takes a target machine for any triple, processor
 * name and feature list, and fills struct isa.  LLVM's C API has no list of the features that a processor name implies, and a
 * table of ours would be wrong with the next processor.
 */
#include "codegen/llvm/llvm.h"

#include <llvm-c/IRReader.h>
#include <string.h>

#define WIDE "attributes #0 = { \"min-legal-vector-width\"=\"512\" \"prefer-vector-width\"=\"512\" }\n"

/* The sum of 16 products of bytes, of which LLVM makes dot products where there are any. */
#define BYTES(a)                                                                                                               \
    "define i32 @f(ptr %p, ptr %q) {\n"                                                                                        \
    "  %a = load <16 x i8>, ptr %p\n  %b = load <16 x i8>, ptr %q\n"                                                           \
    "  %c = " a " <16 x i8> %a to <16 x i32>\n  %d = sext <16 x i8> %b to <16 x i32>\n  %e = mul <16 x i32> %c, %d\n"          \
    "  %r = call i32 @llvm.vector.reduce.add.v16i32(<16 x i32> %e)\n  ret i32 %r\n}\n"                                         \
    "declare i32 @llvm.vector.reduce.add.v16i32(<16 x i32>)\n"

enum question {
    CALLS_ADD,
    CALLS_DOUBLE,
    CALLS_DIVISION,
    CALLS_FMA,
    CALLS_HALF,
    CALLS_ROUND,
    ADD,
    MASKS,
    MASKS32,
    MIXED_BYTES,
    SIGNED_BYTES,
    QUESTIONS
};

static const char *const questions[QUESTIONS] = {
    [CALLS_ADD] = "define float @f(float %a, float %b) {\n  %r = fadd float %a, %b\n  ret float %r\n}\n",
    [CALLS_DOUBLE] = "define double @f(double %a, double %b) {\n  %r = fadd double %a, %b\n  ret double %r\n}\n",
    [CALLS_DIVISION] = "define i64 @f(i64 %a, i64 %b) {\n  %r = udiv i64 %a, %b\n  ret i64 %r\n}\n",
    [CALLS_FMA] = "define float @f(float %a, float %b, float %c) {\n"
                  "  %r = call float @llvm.fma.f32(float %a, float %b, float %c)\n  ret float %r\n}\n"
                  "declare float @llvm.fma.f32(float, float, float)\n",
    [CALLS_HALF] = "define float @f(i16 %h) {\n"
                   "  %b = bitcast i16 %h to half\n  %r = fpext half %b to float\n  ret float %r\n}\n",
    [CALLS_ROUND] = "define float @f(float %a) {\n  %r = call float @llvm.roundeven.f32(float %a)\n  ret float %r\n}\n"
                    "declare float @llvm.roundeven.f32(float)\n",
    [ADD] = "define void @f(ptr %p) #0 {\n"
            "  %a = load <16 x float>, ptr %p\n  %r = fadd <16 x float> %a, %a\n  store <16 x float> %r, ptr %p\n  ret "
            "void\n}\n" WIDE,
    [MASKS] = "define void @f(ptr %p, ptr %q) #0 {\n"
              "  %a = load <16 x i8>, ptr %q\n  %m = icmp ne <16 x i8> %a, zeroinitializer\n"
              "  %r = call <16 x i8> @llvm.masked.load.v16i8.p0(ptr %p, i32 1, <16 x i1> %m, <16 x i8> zeroinitializer)\n"
              "  store <16 x i8> %r, ptr %q\n  ret void\n}\n"
              "declare <16 x i8> @llvm.masked.load.v16i8.p0(ptr, i32, <16 x i1>, <16 x i8>)\n" WIDE,
    [MASKS32] = "define void @f(ptr %p, ptr %q) #0 {\n"
                "  %a = load <8 x i32>, ptr %q\n  %m = icmp ne <8 x i32> %a, zeroinitializer\n"
                "  %r = call <8 x i32> @llvm.masked.load.v8i32.p0(ptr %p, i32 4, <8 x i1> %m, <8 x i32> zeroinitializer)\n"
                "  store <8 x i32> %r, ptr %q\n  ret void\n}\n"
                "declare <8 x i32> @llvm.masked.load.v8i32.p0(ptr, i32, <8 x i1>, <8 x i32>)\n" WIDE,
    [MIXED_BYTES] = BYTES("zext"),
    [SIGNED_BYTES] = BYTES("sext"),
};

/** Compiles one question to assembly; *out is NULL when the machine cannot compile it. */
static bool assembly_of(LLVMTargetMachineRef machine, const char *triple, const char *text, LLVMMemoryBufferRef *out,
                        struct error *e)
{
    LLVMContextRef context = LLVMContextCreate();
    LLVMModuleRef module = NULL;
    char *message = NULL;
    bool ok = false;

    /* The reader takes the buffer over. */
    if (LLVMParseIRInContext(context, LLVMCreateMemoryBufferWithMemoryRangeCopy(text, strlen(text), "probe"), &module,
                             &message)) {
        error_set(e, WNNStatus_UnknownError, "asking LLVM about %s: %s", triple, message);
        LLVMDisposeMessage(message);
    } else {
        LLVMTargetDataRef layout = LLVMCreateTargetDataLayout(machine);
        LLVMSetTarget(module, triple);
        LLVMSetModuleDataLayout(module, layout);
        LLVMDisposeTargetData(layout);
        ok = !LLVMTargetMachineEmitToMemoryBuffer(machine, module, LLVMAssemblyFile, &message, out);
        if (!ok) {
            error_set(e, WNNStatus_NotSupportedError, "no code generator for %s: %s", triple, message);
            LLVMDisposeMessage(message);
        }
        LLVMDisposeModule(module);
    }
    LLVMContextDispose(context);
    return ok;
}

struct probe {
    LLVMTargetMachineRef machine;
    const char *triple;
    LLVMMemoryBufferRef answers[QUESTIONS];
    struct error *e;
};

static bool ask_all(void *user)
{
    struct probe *p = user;

    for (int i = 0; i < QUESTIONS; i++)
        if (!assembly_of(p->machine, p->triple, questions[i], &p->answers[i], p->e))
            return false;
    return true;
}

/* LLVM ends a buffer of text with a NUL. */
static bool says(const struct probe *p, enum question q, const char *mark)
{
    return strstr(LLVMGetBufferStart(p->answers[q]), mark) != NULL;
}

/* Returns whether there is AVX2, on x86-64: masked loads of integers are its own. */
static bool has_avx2(const struct probe *p)
{
    return says(p, MASKS32, "vpmaskmovd") || says(p, MASKS32, "{%k");
}

static enum byte_arithmetic bytes_of_answers(const struct probe *p)
{
    if (!strncmp(p->triple, "aarch64", 7))
        return says(p, SIGNED_BYTES, "sdot") ? BYTES_SIGNED : BYTES_SIGNED_PAIRS;
    if (strncmp(p->triple, "x86_64", 6) != 0 || !has_avx2(p))
        return BYTES_NONE;
    return says(p, MIXED_BYTES, "vpdpbusd") ? BYTES_MIXED : BYTES_MIXED_PAIRS;
}

static void describe(const struct probe *p, struct isa *isa)
{
    bool x86 = !strncmp(p->triple, "x86_64", 6), riscv = !strncmp(p->triple, "riscv", 5), wasm = !strncmp(p->triple, "wasm", 4);
    bool riscv_vectors = riscv && says(p, ADD, "vfadd.vv");
    bool arm = !strncmp(p->triple, "arm", 3) || !strncmp(p->triple, "thumb", 5); /* of 32 bits */
    bool arm_vectors = arm && says(p, ADD, "vadd.f32\tq"), helium = arm_vectors && says(p, ADD, "vldrw");

    *isa = (struct isa){
        .fma = !says(p, CALLS_FMA, "fmaf"),
        .relaxed_fma = wasm && says(p, ADD, "\"relaxed-simd\"") && says(p, ADD, "f32x4"), /* it lists its features */
        .f16 = !says(p, CALLS_HALF, "hfsf2") && !says(p, CALLS_HALF, "h2f"),
        .rounding = !says(p, CALLS_ROUND, "roundeven"),
        .masks = (x86 && says(p, MASKS, "{%k")) || riscv_vectors,
        .masks32 = x86 && has_avx2(p),
        .permutes = x86 && has_avx2(p),
        .wide_division = !says(p, CALLS_DIVISION, "uldivmod") && !says(p, CALLS_DIVISION, "udivdi3"),
        .f64 = !says(p, CALLS_DOUBLE, "__aeabi_dadd") && !says(p, CALLS_DOUBLE, "__adddf3"),
        .f64_extremes = !arm && !x86,
        .registers = wasm                              ? 15 /* it has none: those of x86-64 but one, which V8 needs */
                     : helium                          ? 8
                     : arm                             ? 16 /* of NEON, or pairs of floats */
                     : x86 && !(says(p, MASKS, "{%k")) ? 16
                                                       : 32,
        .loads_first = wasm,
        .select_extremes = x86 || (wasm && says(p, ADD, "f32x4")),
        .ternary_shuffles = x86 && says(p, ADD, "%zmm"),
        .scaling = x86 && says(p, MASKS, "{%k") && says(p, ADD, "%zmm"),
        .byte_products = bytes_of_answers(p),
        .vector_bits = 128,
    };
    isa->extremes_by_keys = x86 && isa->masks32 && !isa->scaling;
    if (isa->scaling) {
        char *cpu = LLVMGetTargetMachineCPU(p->machine);
        isa->slow_division = isa_divides_slowly(cpu);
        LLVMDisposeMessage(cpu);
    }
    if (x86 && isa->masks32)
        isa->vector_bits = isa->masks && says(p, ADD, "%zmm") ? 512 : 256;
    if ((riscv && !riscv_vectors) || (arm && !arm_vectors) || (wasm && !says(p, ADD, "f32x4")))
        isa->vector_bits = 64; /* no vectors at all: the lowering wants two lanes at least, LLVM makes them scalars again */
}

bool isa_probe(struct machine *m, const char *triple, struct isa *isa, struct error *e)
{
    struct probe p = {.machine = m->tm, .triple = triple, .e = e};
    bool ok = machine_protect(LLVM_COMPILE, &m->abandoned, ask_all, &p, e);

    if (ok && (says(&p, CALLS_ADD, "__aeabi_fadd") || says(&p, CALLS_ADD, "__addsf3"))) {
        char *cpu = LLVMGetTargetMachineCPU(m->tm);
        ok = error_set(e, WNNStatus_NotSupportedError,
                       "the processor \"%.60s\" of %.60s adds floats by calling a function: kernels need a floating-point "
                       "unit; name a processor that has one (--cpu cortex-m4, cortex-a9, ...)",
                       cpu, triple);
        LLVMDisposeMessage(cpu);
    }
    if (ok)
        describe(&p, isa);
    for (int i = 0; i < QUESTIONS; i++)
        if (p.answers[i] && !m->abandoned)
            LLVMDisposeMemoryBuffer(p.answers[i]);
    return ok;
}
