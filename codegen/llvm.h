/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the files of codegen/ share: LLVM's headers (here only), what the instruction set offers, short names for building
 * instructions, and the stages kernel -> module -> object -> code.
 *
 * In: a finished kernel.  Stages: emit_kernel (emit*.c) -> module_optimize, module_compile (module.c) -> jit_link (jit.c).
 */
#ifndef WEBNN_CODEGEN_LLVM_H_
#define WEBNN_CODEGEN_LLVM_H_

#include <llvm-c/Core.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>

#include "codegen/codegen.h"

typedef LLVMValueRef V;
typedef LLVMTypeRef T;

/** What the emitter may use, from the feature string.  Everything it asks of a target. */
struct isa {
    uint32_t vector_bits;  /* preferred width */
    bool fma;              /* llvm.fma is one instruction */
    bool f16;              /* conversions between half and float are instructions */
    bool bf16;             /* rounding vectors of 8 and 16 floats to bfloat16 is (AVX512_BF16) */
    bool rounding;         /* rounding to whole numbers is an instruction */
    bool masks;            /* masked loads and stores of every element size are cheap (AVX-512) */
    bool masks32;          /* those of 32- and 64-bit elements are instructions (AVX2) */
    uint32_t registers;    /* vector registers */
    bool ternary_shuffles; /* any two-vector shuffle is one instruction (AVX-512) */
    bool scaling;          /* multiplying by a power of two and extremes of signed zeros are instructions (AVX-512) */
    bool slow_division;    /* vectors are divided faster by an estimate and its correction (AVX-512 of Intel) */
};
void isa_of_target(const struct target *t, struct isa *isa);
/** Whether slow_division holds for a processor with AVX-512, by LLVM's name of it (NULL: unknown). */
bool isa_divides_slowly(const char *cpu);
/** The same for any processor that LLVM knows, by looking at the code that it generates.  False: e. */
bool isa_probe(LLVMTargetMachineRef machine, const char *triple, struct isa *isa, struct error *e);

/** A position in a function under construction. */
struct build {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    const struct isa *isa;
    bool sanitize;
    const struct target *target; /* attributes of every function */
    LLVMValueRef function;
};

/* ---- build.c: types, constants, instructions ---- */

uint32_t lanes_of(V v); /* 1: a scalar */
T element_type(V v);
T type_i1(const struct build *m);
T type_int(const struct build *m, uint32_t bits);
T type_f32(const struct build *m);
T type_f64(const struct build *m);
T type_ptr(const struct build *m);
T type_lanes(T element, uint32_t lanes); /* lanes 1: the element type itself */
T type_like(T element, V like);          /* with as many lanes as like */

V const_int(const struct build *m, uint32_t bits, int64_t value);
V const_splat(V scalar, uint32_t lanes);
V const_int_like(const struct build *m, V like, int64_t value); /* like's integer type */
V const_f_like(const struct build *m, V like, double value);    /* like's floating-point type */
V const_i32_for(const struct build *m, V like, int64_t value);  /* i32 with like's lanes */
V const_iota(const struct build *m, uint32_t bits, uint32_t lanes);
V splat(const struct build *m, V scalar, uint32_t lanes);

V call_intrinsic(const struct build *m, const char *name, T *overloads, uint32_t overload_count, V *args, uint32_t arg_count);
V op_intrinsic1(const struct build *m, const char *name, V a); /* overloaded on a's type */
V op_intrinsic2(const struct build *m, const char *name, V a, V b);
/** a * b + c: fused where that is an instruction, else two roundings.  For the inside of approximations only. */
V op_mad(const struct build *m, V a, V b, V c);
V op_select(const struct build *m, V condition, V a, V b);
V op_bits(const struct build *m, V v, T element); /* bitcast, lanes kept */
V op_fabs(const struct build *m, V x);
/** The largest or smallest of two, NaN if one is, where the instruction set has something better for that than LLVM: else false. */
bool op_extreme(const struct build *m, bool largest, V a, V b, V *out);
/** The same pointer, in a way that passes do not look through.  Loop strength reduction takes longer than all other passes
 * together where an address in a loop is a sum of several loop-invariant terms: it tries the ways to add them up. */
V op_opaque(const struct build *m, V pointer);
/** Asks for the line at an address, which need not exist. */
void op_prefetch(const struct build *m, V pointer);
/** Whether any lane of a condition holds: an i1. */
V op_any(const struct build *m, V condition);
/** Whole numbers: nearest even, toward -inf, toward +inf, on floats of any size, without library calls. */
V op_round_even(const struct build *m, V x);
V op_floor(const struct build *m, V x);
V op_ceil(const struct build *m, V x);
/** Adds the attributes that every function needs. */
void function_set_attributes(const struct build *m, V function);
LLVMBasicBlockRef block_append(const struct build *m, const char *name);
/** A new block after a branch to it; the position moves there.  Returns the branch. */
V block_enter(const struct build *m, const char *name);
V alloca_entry(const struct build *m, T type, const char *name);

/* ---- math.c, math_double.c: elementary functions of float32 values with any number of lanes ---- */

V math_exp(const struct build *m, V x);
V math_expm1(const struct build *m, V x);
V math_log(const struct build *m, V x);
V math_log1p(const struct build *m, V x);
V math_tanh(const struct build *m, V x);
V math_erf(const struct build *m, V x);
V math_sigmoid(const struct build *m, V x);
V math_sin(const struct build *m, V x);
V math_cos(const struct build *m, V x);
V math_tan(const struct build *m, V x);
V math_pow(const struct build *m, V x, V y);
/** Rounded once also where there is no such instruction. */
V math_fma(const struct build *m, V a, V b, V c);

/* ---- convert.c: integers and narrow floats ---- */

V int_divide(const struct build *m, V a, V b, bool is_signed);
V int_power(const struct build *m, V a, V b, bool is_signed);
/** i16 lanes holding numbers of a narrow float type to float and back (nearest even; a subnormal float becomes a zero of
 * bfloat16); lanes of any other type stay. */
V widen_float(const struct build *m, V x, dtype type);
V narrow_float(const struct build *m, V x, dtype type);
V float_to_int(const struct build *m, V f, uint32_t bits, bool is_signed); /* truncates, saturates, NaN to 0 */

/* ---- emit.c ---- */

/** Adds a kernel's function to the module.  False: out of memory or a kernel that is not finished. */
bool emit_kernel(const struct build *m, const struct kernel *k, const char *name, struct error *e);

/** kernel_structure, and what the emitter decides from other numbers: equal text means equal code.  NULL: out of memory. */
char *emit_structure(const struct kernel *k, const struct isa *isa, struct arena *a);

/* ---- module.c: one thread's compiler ---- */

/** A target machine: not to be shared between threads at the same time. */
struct machine {
    LLVMTargetMachineRef tm;
    char *data_layout;
    const struct target *target;
    const struct debug_options *debug;
    struct isa isa;
    struct codegen_times times;
};
bool machine_create(struct machine *m, const struct target *t, const struct debug_options *d, struct error *e);
/** The same for code that is not for this process: any target, its facts probed. */
bool machine_create_ahead(struct machine *m, const struct target *t, const struct debug_options *d, struct error *e);
void machine_destroy(struct machine *m);
/** Makes every target known that LLVM was built with. */
void machine_initialize_all(void);
/** Runs work; a fatal error of LLVM inside comes back as false with e, and what LLVM had allocated by then is lost. */
bool machine_protect(bool (*work)(void *user), void *user, struct error *e);
/** An empty module with the target's layout; LLVM's errors about it go to e. */
LLVMModuleRef machine_module(const struct machine *m, LLVMContextRef context, const char *name, struct error *e);
/** Verifies (if switched on) and optimises a module; then machine code or assembly of it.  False: e. */
bool machine_optimize(struct machine *m, LLVMModuleRef module, struct error *e);
bool machine_generate(struct machine *m, LLVMModuleRef module, LLVMCodeGenFileType type, LLVMMemoryBufferRef *out,
                      struct error *e);
/** Kernel to object file in memory; symbol names the function.  False: e. */
bool machine_compile(struct machine *m, const struct kernel *k, const char *symbol, LLVMMemoryBufferRef *object,
                     struct error *e);

/* ---- work.c ---- */

/** See codegen_count_work. */
bool work_count(struct machine *m, const struct kernel *k, struct codegen_work *work, struct error *e);

/* ---- jit.c ---- */

struct jit;
struct jit_code;
struct jit *jit_create(const struct target *t, const struct debug_options *d, struct error *e);
void jit_free(struct jit *j);
/** Takes the object over, also on failure.  NULL: e. */
struct jit_code *jit_link(struct jit *j, LLVMMemoryBufferRef object, const char *symbol, const char *name,
                          kernel_function *function, struct error *e);
void jit_unlink(struct jit *j, struct jit_code *c);

#endif
