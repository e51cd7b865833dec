/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The kernel IR describes what one generated kernel computes, for every code generator (LLVM, OpenCL C).
 *
 * The files of passes/lower lower clusters of graph nodes to kernels, for which codegen/ emits functions.  Tests run them
 * directly (tests/support/kernel_interpret.c).  Read this file, then ir/kernel/kernel.c.
 *
 * A kernel is an iteration space and a DAG of scalar expressions over it:
 *
 *   - Variables are of three kinds.  PARALLEL ones span the space (every point is independent); REDUCED ones are looped over
 *     inside a point by phases; DERIVED ones are computed from other variables: (affine / divide) % modulo, for reshapes that
 *     strides cannot express, or the value of an expression clamped to [0, size-1] (a gather's index).
 *   - Affine forms are offset + sum of coefficient * variable.  They address tensors (in elements), feed derived variables and
 *     guards, and may be used as values (INDEX).  Broadcast is coefficient 0, a transpose permuted coefficients, a slice an
 *     offset, a reverse a negative coefficient.
 *   - Expressions come in SSA order.  An expression that depends on no REDUCED variable is computed once per point; one that
 *     does is computed in the loops of the phases that need it.
 *   - REDUCE expressions consume an expression over all REDUCED variables and are one value per point.  An expression whose
 *     operands include a REDUCE belongs to a later phase: softmax is three phases over a row (maximum; sum of exponentials;
 *     scaled store), layer normalisation three, a reduction or a pooling one, a purely element-wise kernel none.  kernel_finish
 *     computes the phases.  The code generator chooses the order in which a REDUCE adds (several accumulators).
 *   - SCAN expressions are running sums along the REDUCED variables, in order; they vary and start no new phase.
 *   - A LOAD of a tensor that is written reads the element that a store of the same iteration overwrites: an update.  It
 *     varies.
 *   - Stores go to an affine address each, and may be guarded.  A store whose address or value depends on a REDUCED variable
 *     happens in the loop of the phase in which its value is ready; others once per point, after all phases.  Within one
 *     iteration all loads come before all stores.  Iterations of a phase's loop may run concurrently, but not where order
 *     matters (scans; stores at addresses that are data, or at one address).
 *
 * Tensors may be float16, expressions never are.  A LOAD of float16 yields float32, a STORE into float16 rounds, and ROUND_F16
 * rounds in between (every float16 operator's result is rounded, fused or not).  Bfloat16 is treated likewise, with ROUND_BF16.
 *
 * Small recurrent operators are computed in float64: arithmetic and sums are float64's, all other functions are those of
 * float32, of the rounded argument.
 *
 * A kernel may be an ordered list of stages instead: kernels of their own that agree on their first few PARALLEL variables, the
 * macro-tile.  A unit of work is one macro-tile: all stages run for it, one after the other, and pass data in LOCAL tensors, in
 * the thread's scratch, so that it stays in a core's cache for tensors of any size.  A stage may run only for macro-tiles in
 * which an earlier one stored a number below a limit, or only for the others.  One that depends on the slowest variables of the
 * macro-tile alone need not run again until they change.  A variable of a stage may be BOUNDED: its range [first, end) is read
 * from a local of an earlier stage.  Points outside may or may not be computed.
 *
 * Sizes and coefficients are data, not structure: kernel_structure() prints the kernel with parameter slots for all numbers
 * that are not needed at compile time.  Kernels with equal structure share code and differ in their parameters.
 */
#pragma once

#include <stdatomic.h>
#include <stdio.h>

#include "ir/graph/type.h"
#include "ir/support/arena.h"
#include "ir/support/number.h"
#include "ir/support/table.h"

enum {
    KERNEL_VARS_MAX = 48,     /* all variables of a kernel */
    KERNEL_TENSORS_MAX = 64,  /* tensor arguments */
    KERNEL_STAGES_MAX = 12,   /* stages of a kernel */
    KERNEL_LOCALS_MAX = 10,   /* local tensors */
    KERNEL_IMMEDIATE_MAX = 8, /* sizes of REDUCED variables up to this are part of a kernel's structure, not parameters */
    KERNEL_RUN_LEAST = 8      /* least consecutive elements for a vector; the same for all machines, like kernels */
};

/* ---- affine forms ---- */

struct kterm {
    uint32_t var;
    int64_t coefficient; /* never 0 */
};

/** Stands for offset + sum of terms.  Terms are sorted by variable, and each variable occurs once. */
struct kaffine {
    int64_t offset;
    uint32_t count;
    const struct kterm *terms;
};

/** Holds at a point when 0 <= form < bound. */
struct kguard {
    struct kaffine form;
    int64_t bound;
};

/* ---- variables ---- */

enum kvar_kind { KVAR_PARALLEL, KVAR_REDUCED, KVAR_DIVMOD, KVAR_LOADED };

struct kvar {
    enum kvar_kind kind;
    int64_t size;        /* values are 0 .. size-1 */
    struct kaffine base; /* DIVMOD: (base / divide) % modulo, base >= 0; modulo 0: no modulo */
    int64_t divide, modulo;
    uint32_t expr; /* LOADED: integer expression; negative values count from the end after clamping to [-size, size-1] */
    bool bounded;  /* PARALLEL, REDUCED: only values within the kernel's bound are needed */
};

/* ---- expressions ---- */

/** An expression's value has one of these types. */
enum ktype { KT_BOOL, KT_F32, KT_F64, KT_I8, KT_U8, KT_I16, KT_I32, KT_U32, KT_I64, KT_U64, KT_COUNT };

/**
 * These are the scalar operations.  Unless said otherwise, operands and result have the expression's type.  Floats follow
 * IEEE 754 without reassociation or contraction; NaN and signed zeros are kept.  Integers wrap; division by 0 gives 0, and
 * INT_MIN / -1 is INT_MIN.
 */
/* clang-format off */
enum kop {
    K_CONST,     /* bits */
    K_LOAD,      /* tensor[index], or fill where a guard fails */
    K_INDEX,     /* KT_I64: the affine form index */
    K_REDUCE,    /* reduce kind over all REDUCED variables of args[0] (KR_DOT: and args[1]) */
    K_SCAN,      /* args[0] summed over the REDUCED points up to this one, in order; bits.u8 1: without this one (exclusive) */
    K_ADD, K_SUB, K_MUL, K_DIV,
    K_MIN, K_MAX, /* NaN if either operand is; -0 < +0 */
    K_POW,       /* floats: IEEE pow; integers: see the specification notes in docs/semantics.md */
    K_NEG, K_ABS, K_SIGN, /* sign(NaN) is NaN, sign(-0) is -0 */
    K_COPY_SIGN, /* floats: args[0] with the sign of args[1] */
    K_FLOOR, K_CEIL, K_ROUND_EVEN, K_SQRT, K_RECIPROCAL,
    K_EXP, K_EXP2, K_EXPM1, K_LOG, K_LOG1P, K_SIN, K_COS, K_TAN, K_TANH, K_ERF, K_SIGMOID,
    K_FMA,       /* args[0] * args[1] + args[2], rounded once; only inside one operator (accumulations) */
    K_ROUND_F16, /* KT_F32 rounded to float16 and back */
    K_ROUND_BF16,
    K_CAST,      /* from the operand's type: float to integer truncates, saturates, NaN to 0; integer to integer low bits;
                    KT_BOOL to 0 or 1; never to KT_BOOL */
    K_BITCAST,   /* the operand's bits as another type of the same size */
    K_SHL, K_SHR, /* integers of 32 or 64 bits, by 0 <= args[1] < their bits; SHR repeats the sign bit of signed types */
    K_EQ, K_NE, K_LT, K_LE, /* operands of one type, result KT_BOOL; ordered (NaN: false), NE true on NaN */
    K_IS_NAN, K_IS_INFINITE, /* result KT_BOOL */
    K_AND, K_OR, K_XOR, /* KT_BOOL, integers by bits */
    K_NOT,       /* KT_BOOL */
    K_SELECT,    /* args[0] (KT_BOOL) ? args[1] : args[2] */
    /* Only expansions (ir/expansion/expansion.h) have these; in kernels loads and stores convert 16-bit floats. */
    K_TO_F16, K_TO_BF16, /* KT_F32 to the bits of the rounded number, in the low half of a KT_U32 */
    K_FROM_F16, K_FROM_BF16, /* and back; the high half is 0 */
    K_LDEXP,     /* KT_F32: args[0] * 2^n, rounded once; whole n: args[1] as KT_I32, saturated, args[2] as KT_F32 */
    K_FRACTION,  /* KT_F32: args[0] less the nearest whole number, which is even where two are; of infinity: 0 */
    K_DIV_APPROX, /* KT_F32: args[0] / args[1] within 0.6 ulp, for |args[0]| <= 1 (or NaN) and 2^-100 <= args[1] <= 2^100 */
    K_CAST_IN_RANGE, /* KT_F32 to KT_I32, truncated; the result fits */
    K_OP_COUNT
};

enum kreduce {
    /* Sums start at +0, products at 1. */
    KR_SUM, KR_PRODUCT, KR_MIN, KR_MAX, /* min and max: NaN wins */
    KR_ARG_MIN, KR_ARG_MAX,            /* KT_I64: row-major index over the REDUCED variables of the first extreme; NaN wins */
    KR_DOT,                            /* sum of args[0] * args[1], each step one fused multiply-add (integers: wrapping) */
    KR_COUNT_ /* number of kinds */
};
/* clang-format on */

enum { KEXPR_NONE = UINT32_MAX };

struct kexpr { /* small, since kernels have hundreds of them */
    enum kop op : 8;
    enum ktype type : 8;
    enum kreduce reduce : 8; /* K_REDUCE */
    bool varying;            /* depends on a REDUCED variable */
    uint32_t args[3];        /* KEXPR_NONE where unused */
    union scalar bits;       /* K_CONST (KT_F32: f32; KT_F64: f64; KT_BOOL: u8); K_LOAD with guards: the fill value */
    struct kaffine index;    /* K_LOAD, K_INDEX */
    const struct kguard *guards;
    uint32_t guard_count; /* K_LOAD */
    uint32_t tensor;      /* K_LOAD */
    /* kernel_finish computes these: */
    uint64_t vars;  /* a bit for each PARALLEL or REDUCED variable that it depends on; a REDUCE has one value for a point */
    uint32_t phase; /* the first phase in which it can be computed (a REDUCE: in which its loop runs) */
};

/** Returns whether a reduction finds the index of an extreme. */
static inline bool kexpr_is_place(const struct kexpr *e)
{
    return e->reduce == KR_ARG_MIN || e->reduce == KR_ARG_MAX;
}

struct kstore {
    uint32_t tensor;
    struct kaffine index;
    uint32_t expr;
    uint32_t guard_count;
    const struct kguard *guards;
    /* kernel_finish computes these: */
    uint32_t phase;
    bool varying;
};

struct ktensor {
    dtype type;
    bool written;
    bool unaligned;    /* its elements may lie at any address: bytes that were lent, often of a mapped file */
    bool pairs_fit;    /* as of struct constant */
    uint8_t magnitude; /* likewise */
    int64_t elements;  /* of the whole buffer; every address is below it (kernel_verify proves it where it can) */
    void *user;        /* the lowering's: which graph value this is */
};

/** A tensor in scratch that passes data between stages.  It holds data of the macro-tile that is being computed. */
struct klocal {
    dtype type;
    int64_t elements;
    int64_t offset; /* in scratch, bytes; computed by kernel_finish */
};

/** Describes when a stage runs for a macro-tile: it depends on how the first element of a float32 local, the stage predicate,
 * compares with the limit. */
enum kstage_when { KSTAGE_ALWAYS, KSTAGE_BELOW, KSTAGE_NOT_BELOW /* or NaN */ };

struct kstage {
    struct kernel *kernel; /* finished, without stages; owned, or shared (kernel_retain) */
    /* tensors[i] is the number of the kernel's tensor that the stage's tensor i is, or KERNEL_TENSORS_MAX + that of a local. */
    uint32_t tensors[KERNEL_TENSORS_MAX];
    enum kstage_when when;
    uint32_t predicate; /* local */
    float limit;
    /* kernel_finish computes this: of that many macro-tiles that follow each other the first one's results serve all. */
    int64_t period;
};

/** State of the functions that build a kernel. */
struct kernel_builder {
    struct arena arena; /* of expressions and the table, freed by kernel_finish: the next kernel reuses the memory */
    size_t expr_capacity, store_capacity;
    bool finished;          /* by kernel_finish */
    bool keeps_guards;      /* whether one always holds depends on sizes that vary, and is to make no other structure */
    struct table table;     /* value numbering; an item is the expression + 1 as an address */
    uint32_t constants[16]; /* the last one of each kind, by its hash: most are met again and again */
};

/** Requirements of a contraction's lowering on its schedule. */
struct kcontraction {
    uint32_t m_multiple; /* M is padded to a multiple of this, so that tiles of as many rows leave no remainder; 0: it is not */
    uint32_t sum_steps;  /* sums are split into blocks of that many products; 0: as the schedule chooses */
};

struct kernel {
    struct arena arena;
    uint32_t var_count, tensor_count, expr_count;
    struct kexpr *exprs;
    uint32_t store_count;
    struct kstore *stores;
    atomic_uint users;        /* besides one: kernel_retain */
    struct error error;       /* sticky */
    char name[64];            /* for profiles, dumps and symbols: "softmax_3" or so */
    char label[48];           /* of the node that it is named after, cut short if need be; "" if it has none */
    uint32_t macro_tile_vars; /* of a stage: so many first variables are the macro-tile and stay as they are */
    struct kcontraction contraction;
    bool rare;      /* a stage that rarely runs (KSTAGE_NOT_BELOW): code size matters more than speed */
    uint32_t bound; /* of a stage with a bounded variable: the int32 tensor whose elements 0 <= first < end <= size bound it */
    /* A kernel of stages has these, and no variables, expressions and stores itself: */
    uint32_t stage_count, local_count;
    struct kstage *stages;
    struct klocal locals[KERNEL_LOCALS_MAX];
    /* kernel_finish computes these: */
    uint32_t parallel_count, reduced_count;
    uint32_t phase_count; /* loops over the REDUCED variables; at least 1 if there are any */
    struct kernel_builder builder;
    /* kernel_create does not clear these, which takes longer than lowering a small kernel: */
    struct kvar vars[KERNEL_VARS_MAX]; /* PARALLEL outermost first, then REDUCED outermost first, then DERIVED */
    struct ktensor tensors[KERNEL_TENSORS_MAX];
};

/* ---- building ---- */

/** Makes an empty kernel, which the caller frees.  Returns NULL if memory runs out. */
struct kernel *kernel_create(void);
/** Returns a stage that is not changed any more with one more user, who frees it, too. */
struct kernel *kernel_retain(struct kernel *stage);
/** Frees a kernel and its stages, unless others use it.  NULL does nothing. */
void kernel_free(struct kernel *k);

/** Adds a tensor argument and returns its number.  `written` says whether stores go to it; user is the caller's.  Returns 0
 * after an error in k->error if there are too many. */
uint32_t kernel_tensor(struct kernel *k, dtype type, int64_t elements, bool written, void *user);
/** Adds a variable, PARALLEL ones outermost first, then REDUCED ones, and returns its number.  Returns 0 after an error in
 * k->error if there are too many. */
uint32_t kernel_var(struct kernel *k, enum kvar_kind kind, int64_t size);
/** Adds a bounded variable to a stage, as kernel_var does.  It is the first after the macro-tile's, or the first REDUCED one,
 * and the only one that is bounded; the tensor is a local. */
uint32_t kernel_bounded_var(struct kernel *k, enum kvar_kind kind, int64_t size, uint32_t bound);
/** Returns the bounded variable of a finished kernel, or KEXPR_NONE if it has none. */
uint32_t kernel_find_bounded(const struct kernel *k);
/** Returns (base / divide) % modulo as an affine form: simplified where it divides evenly, else a new DERIVED variable. */
struct kaffine kernel_divmod(struct kernel *k, struct kaffine base, int64_t divide, int64_t modulo);
/** Makes a variable whose value is that of an integer expression, clamped. */
struct kaffine kernel_loaded_var(struct kernel *k, uint32_t expr, int64_t size);

/**
 * These functions return affine forms in the kernel's arena: a number, a variable, a sum of multiples, a + factor * b, a sum, a
 * multiple.  If memory runs out they set k->error, and the result must not be used.
 */
struct kaffine kaffine_const(int64_t offset);
struct kaffine kaffine_var(struct kernel *k, uint32_t var);
struct kaffine kaffine_sum(struct kernel *k, uint32_t count, const struct kaffine *forms, const int64_t *factors);
struct kaffine kaffine_add_scaled(struct kernel *k, struct kaffine a, struct kaffine b, int64_t factor);
static inline struct kaffine kaffine_add(struct kernel *k, struct kaffine a, struct kaffine b)
{
    return kaffine_add_scaled(k, a, b, 1);
}
static inline struct kaffine kaffine_scale(struct kernel *k, struct kaffine a, int64_t factor)
{
    return kaffine_add_scaled(k, kaffine_const(0), a, factor);
}
struct kaffine kaffine_add_const(struct kaffine a, int64_t offset);
/** Returns whether two forms have the same offset and terms. */
bool kaffine_equal(struct kaffine a, struct kaffine b);
/** Adds a form to a hash. */
uint64_t kaffine_hash(uint64_t h, struct kaffine a);
/** Returns whether two lists of n guards are the same. */
bool kguards_equal(uint32_t n, const struct kguard *a, const struct kguard *b);
/** Drops guards that always hold and repeated ones, and returns how many are left in *out (in the arena).  *never becomes true
 * if one of them never holds. */
uint32_t kguards_simplify(struct kernel *k, uint32_t count, const struct kguard *guards, const struct kguard **out,
                          bool *never);
/** Returns the coefficient of a variable's term, 0 if there is none. */
int64_t kaffine_coefficient(struct kaffine a, uint32_t var);
/** Finds the smallest and largest value over the iteration space. */
void kaffine_range(const struct kernel *k, struct kaffine a, int64_t *low, int64_t *high);

/** These functions add an expression and return its id, or KEXPR_NONE if memory runs out.  Expressions are value-numbered: the
 * same one twice gives the same id.  Constants fold. */
uint32_t kernel_const(struct kernel *k, enum ktype type, union scalar bits);
uint32_t kernel_f32(struct kernel *k, float value);
uint32_t kernel_load(struct kernel *k, uint32_t tensor, struct kaffine index, uint32_t guard_count, const struct kguard *guards,
                     union scalar fill);
uint32_t kernel_index(struct kernel *k, struct kaffine form);
/** Adds a number that depends on a size, like kernel_index: a parameter, so that sizes share code. */
uint32_t kernel_size(struct kernel *k, int64_t size);
uint32_t kernel_op1(struct kernel *k, enum kop op, uint32_t a);
uint32_t kernel_op2(struct kernel *k, enum kop op, uint32_t a, uint32_t b);
uint32_t kernel_op3(struct kernel *k, enum kop op, uint32_t a, uint32_t b, uint32_t c);
uint32_t kernel_cast(struct kernel *k, enum ktype to, uint32_t a);
uint32_t kernel_bitcast(struct kernel *k, enum ktype to, uint32_t a);
uint32_t kernel_reduce(struct kernel *k, enum kreduce kind, uint32_t a);
uint32_t kernel_dot(struct kernel *k, uint32_t a, uint32_t b);
uint32_t kernel_scan(struct kernel *k, uint32_t a, bool exclusive);
/** Adds a store of an expression at an address, which happens where all guards hold. */
void kernel_store(struct kernel *k, uint32_t tensor, struct kaffine index, uint32_t expr, uint32_t guard_count,
                  const struct kguard *guards);
/** Adds a local tensor and returns its number, which kernel_stage takes. */
uint32_t kernel_local(struct kernel *k, dtype type, int64_t elements);
/**
 * Appends a stage, takes it over and finishes it; tensors are as in struct kstage.  Returns NULL after an error in k->error;
 * then the stage is freed.  The result's condition may be set.
 */
struct kstage *kernel_stage(struct kernel *k, struct kernel *stage, const uint32_t *tensors);

/**
 * Normalises and completes a kernel: drops dead expressions, merges adjacent loop variables that every form treats as one,
 * drops variables of size 1, drops guards that always hold, computes phases.  A finished kernel without REDUCED variables has
 * no REDUCE and no phases.  Call it once.  Returns false after an error in k->error.
 */
bool kernel_finish(struct kernel *k);
/** Checks the invariants (types, SSA order, address ranges); violations go to out.  Returns false if there was one. */
bool kernel_verify(const struct kernel *k, FILE *out);
/** Prints a kernel for humans. */
void kernel_print(const struct kernel *k, FILE *out);
/** Computes one scalar operation on values of type `from` (conversions, comparisons) or `type`. */
union scalar kernel_scalar(enum kop op, enum ktype type, enum ktype from, const union scalar args[3]);
/** Returns whether an output may share the memory of an input: every load of it happens before the store to the same address.
 */
bool kernel_may_share(const struct kernel *k, uint32_t input, uint32_t output);

/** Returns whether a finished kernel copies all of tensor 0 to tensor 1, and does nothing else. */
bool kernel_copies(const struct kernel *k);
/** Returns the type of a load of t: float16 gives KT_F32. */
enum ktype ktype_of(dtype t);
/** Returns the operation that rounds to t, a 16-bit float type. */
static inline enum kop kop_round(dtype t)
{
    return t == DTYPE_BFLOAT16 ? K_ROUND_BF16 : K_ROUND_F16;
}
/** Returns whether values of a type are floats. */
static inline bool ktype_is_float(enum ktype t)
{
    return t == KT_F32 || t == KT_F64;
}
/** Returns whether integers of a type have a sign. */
static inline bool ktype_is_signed(enum ktype t)
{
    return t == KT_I8 || t == KT_I16 || t == KT_I32 || t == KT_I64;
}
/** Returns the bytes of a value of that type. */
size_t ktype_size(enum ktype t);
/** These functions return the names that kernel_print writes. */
const char *ktype_name(enum ktype t);
const char *kop_name(enum kop op);
const char *kreduce_name(enum kreduce r);
/** Returns the number of operands; K_REDUCE has 1, though KR_DOT has 2. */
uint32_t kop_arity(enum kop op);
/** Returns whether an operation on KT_F64 is computed in float64.  All others are float32's, of the rounded operands. */
bool kop_has_f64(enum kop op);
/** Returns whether an operation (not K_LOAD, K_REDUCE) takes these types.  KT_COUNT stands for operands that it does not have.
 */
bool kop_types_fit(enum kop op, enum ktype result, enum ktype a, enum ktype b, enum ktype c);
/** Return whether an affine form, or that of a guard, depends on a REDUCED variable, directly or through derived ones. */
bool kaffine_varying(const struct kernel *k, struct kaffine a);
bool kguards_varying(const struct kernel *k, uint32_t count, const struct kguard *guards);
/** Returns whether derived variables in a form may depend on var (KEXPR_NONE: on data alone); those that are data are assumed
 * to depend on all. */
bool kaffine_may_derive(const struct kernel *k, struct kaffine a, uint32_t var);

/** Return the PARALLEL and REDUCED variables of a finished kernel that a variable is or depends on, a form does, or guards do.
 */
uint64_t kvar_vars(const struct kernel *k, uint32_t var);
uint64_t kaffine_vars(const struct kernel *k, struct kaffine a);
uint64_t kguards_vars(const struct kernel *k, uint32_t count, const struct kguard *guards);
/** Returns whether they have a variable among them; KEXPR_NONE is in none. */
static inline bool depends_on(uint64_t vars, uint32_t var)
{
    return var != KEXPR_NONE && vars >> var & 1;
}
/** Returns so many variables, which are neighbours. */
static inline uint64_t kvars_from(uint32_t first, uint32_t count)
{
    return (((uint64_t)1 << count) - 1) << first;
}
/** Returns the last one of variables. */
static inline uint32_t kvars_last(uint64_t vars)
{
    return 63 - (uint32_t)__builtin_clzll(vars);
}
/** Returns whether derived variables in a form depend on a variable. */
bool kaffine_derives(const struct kernel *k, struct kaffine a, uint32_t var);
/** Returns how many loops over REDUCED variables, from the outermost on, must be open before such a value can be computed. */
uint32_t kernel_depth(const struct kernel *k, uint64_t vars);

/* ---- parameters ---- */

/**
 * A number of a kernel is a parameter or a part of the code, immediate.  Immediate are coefficients and offsets that are -1, 0
 * or 1, bounds of 1, dividers, modulos and small REDUCED sizes (with kernel_sizes_are_chosen the immediate variable's instead).
 * Equal coefficients of one variable share a slot (so that equal addresses remain recognisable), and so do equal offsets and
 * bounds of forms that begin with one variable; other equal numbers do not, so that coincidences do not change the structure.
 * Slots are numbered by first visit.
 */
struct knumber {
    int64_t value;
    int32_t slot; /* -1: immediate */
};

/**
 * Holds every number of a kernel without stages.  Those of
 *   a variable are: PARALLEL, REDUCED, LOADED: size;  DIVMOD: form(base), divide, modulo;
 *   an expression: K_LOAD: form(index), guards;  K_INDEX: form(index);
 *   a store: form(index), guards;
 * where form is the offset, then each term's coefficient; guards are, one by one, form, then bound.
 */
struct knumbers {
    uint32_t count; /* all numbers */
    struct knumber *items;
    uint32_t *vars, *exprs, *stores; /* where the numbers of each variable, expression and store begin in items */
    uint32_t param_count;
    int64_t *params; /* values by slot: what kernel_args.params points at */
};
/** Fills *out, in the arena.  immediate_var is a PARALLEL or REDUCED variable whose size is part of the code, or KEXPR_NONE.
 * Returns false if memory runs out. */
bool kernel_numbers(const struct kernel *k, uint32_t immediate_var, struct arena *a, struct knumbers *out);
/** Prints a stageless kernel's structure, with parameters for its numbers. */
void kernel_structure(const struct kernel *k, const struct knumbers *numbers, FILE *out);
/** Prints the part of a stage in the structure of a kernel of stages, without the stage's own structure. */
void kernel_stage_structure(const struct kernel *k, uint32_t stage, FILE *out);

/* ---- kernels of stages ---- */

/**
 * Returns whether the lowering chose the sizes of a stage's innermost PARALLEL variables, so that there are few of them by
 * design: they may be part of the code, and REDUCED sizes are parameters.  Stages that rarely run have the graph's sizes.
 */
static inline bool kernel_sizes_are_chosen(const struct kernel *k)
{
    return k->macro_tile_vars && !k->rare;
}
/** Returns whether the size of a REDUCED variable is a part of the code, which may be as many times as it says: it is small,
 * and no number of words of bytes, of which networks have several small ones and each takes as long as a loop over them. */
bool kernel_sums_unroll(const struct kernel *k, uint32_t var);
/** Returns the number of macro-tiles that a stage is computed for. */
int64_t kernel_macro_tiles(const struct kernel *stage);
/** Returns the bytes of all locals of a kernel of stages, each of which begins at a multiple of TARGET_ALIGNMENT. */
int64_t kernel_locals_bytes(const struct kernel *k);
