/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Kernel IR: what one generated kernel computes, the same description for every code generator (LLVM now, OpenCL later).
 *
 * In: clusters of graph nodes, lowered by passes/lower_*.c.  Out: codegen/ emits functions from it; ir/kernel_interpret.c runs
 * it directly (tests).  Read this file, then ir/kernel.c.
 *
 * A kernel is an iteration space and a DAG of scalar expressions over it:
 *
 *   - Variables.  PARALLEL ones span the space (every point is independent); REDUCED ones are looped over inside a point by
 *     phases; DERIVED ones are computed from other variables: (affine / divide) % modulo, where a reshape cannot be said by
 *     strides, or the value of an expression clamped to [0, size-1] (an index that is data: gathers).
 *   - Affine forms: offset + sum of coefficient * variable.  They address tensors (in elements), feed derived variables and
 *     guards, and may be used as values (INDEX).  Broadcast is coefficient 0, a transpose permuted coefficients, a slice an
 *     offset, a reverse a negative coefficient.
 *   - Expressions, in SSA order.  An expression that depends on no REDUCED variable is computed once per point; one that does is
 *     computed in the loops of the phases that need it.
 *   - REDUCE expressions consume an expression over all REDUCED variables and are one value per point.  An expression whose
 *     operands include a REDUCE belongs to a later phase: softmax is three phases over a row (maximum; sum of exponentials;
 *     scaled store), layer normalisation three, a reduction or a pooling one, a purely element-wise kernel none.
 *     kernel_finish computes the phases.  The order in which a REDUCE adds is the code generator's (several accumulators).
 *   - SCAN expressions are running sums along the REDUCED variables, in order; they vary and start no new phase.
 *   - Stores, each at an affine address, possibly guarded.  A store whose address or value depends on a REDUCED variable
 *     happens in the loop of the phase in which its value is ready; others once per point, after all phases.  Within one
 *     iteration all loads come before all stores.  Iterations of a phase's loop are ordered unless vector_var is REDUCED,
 *     which kernel_finish avoids where order matters (scans; stores at addresses that are data).
 *
 * Float16: tensors may be float16, expressions never are.  A LOAD of float16 yields float32, a STORE into float16 rounds, and
 * ROUND_F16 rounds in between (every float16 operator's result is rounded, fused or not).  Bfloat16 likewise, with ROUND_BF16.
 *
 * Stages.  A kernel may be an ordered list of stages instead: kernels of their own that agree on their first few PARALLEL
 * variables, the chunk.  A unit of work is one chunk: for it all stages run, one after the other, and what they hand over lies
 * in LOCAL tensors, in the thread's scratch, so that it stays in a core's cache however large the tensors are.  A stage may
 * run only for chunks in which an earlier one left a number below a limit, or only for the others.
 *
 * Sizes and coefficients are data, not structure: kernel_structure() prints the kernel with every number that need not be known
 * at compile time replaced by a parameter slot.  Kernels with equal structure share code and differ in their parameters.
 */
#ifndef WEBNN_IR_KERNEL_H_
#define WEBNN_IR_KERNEL_H_

#include "ir/ir.h"

enum {
    KERNEL_VARS_MAX = 48,    /* all variables of a kernel */
    KERNEL_TENSORS_MAX = 64, /* tensor arguments */
    KERNEL_STAGES_MAX = 8,   /* stages of a kernel */
    KERNEL_LOCALS_MAX = 8,   /* local tensors */
    KERNEL_UNROLL_MAX = 8,   /* sizes up to this are immediate (compile-time) numbers for REDUCED variables */
    KERNEL_LANES = 16        /* most lanes along a PARALLEL vector variable in a kernel that keeps rows */
};

/* ---- affine forms ---- */

struct kterm {
    uint32_t var;
    int64_t coefficient; /* never 0 */
};

/** offset + sum of terms; terms sorted by variable, each variable once. */
struct kaffine {
    int64_t offset;
    uint32_t count;
    const struct kterm *terms;
};

/** True at a point when 0 <= form < bound. */
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
};

/* ---- expressions ---- */

/** The type of an expression's value. */
enum ktype { KT_BOOL, KT_F32, KT_I8, KT_U8, KT_I32, KT_U32, KT_I64, KT_U64, KT_COUNT };

/**
 * Scalar operations.  Unless said otherwise operands and result have the node's type.  Floats follow IEEE 754 without
 * reassociation or contraction; NaN and signed zeros are kept.  Integers wrap; division by 0 gives 0; INT_MIN / -1 is INT_MIN.
 */
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
    K_FLOOR, K_CEIL, K_ROUND_EVEN, K_SQRT, K_RECIPROCAL,
    K_EXP, K_EXPM1, K_LOG, K_LOG1P, K_SIN, K_COS, K_TAN, K_TANH, K_ERF, K_SIGMOID,
    K_FMA,       /* args[0] * args[1] + args[2], rounded once; only inside one operator (accumulations) */
    K_ROUND_F16, /* KT_F32 rounded to float16 and back */
    K_ROUND_BF16,
    K_CAST,      /* from the operand's type: float to integer truncates, saturates, NaN to 0; integer to integer low bits;
                    KT_BOOL to 0 or 1; never to KT_BOOL */
    K_EQ, K_NE, K_LT, K_LE, /* operands of one type, result KT_BOOL; ordered (NaN: false), NE true on NaN */
    K_IS_NAN, K_IS_INFINITE, /* result KT_BOOL */
    K_AND, K_OR, K_XOR, K_NOT, /* KT_BOOL */
    K_SELECT,    /* args[0] (KT_BOOL) ? args[1] : args[2] */
    K_OP_COUNT
};

enum kreduce {
    /* sums start at +0, products at 1 */
    KR_SUM, KR_PRODUCT, KR_MIN, KR_MAX, /* min and max: NaN wins */
    KR_ARG_MIN, KR_ARG_MAX,            /* KT_I64: row-major index over the REDUCED variables of the first extreme; NaN wins */
    KR_DOT,                            /* sum of args[0] * args[1], each step one fused multiply-add (integers: wrapping) */
    KR_COUNT_ /* number of kinds */
};

enum { KEXPR_NONE = UINT32_MAX };

struct kexpr {
    enum kop op;
    enum ktype type;
    uint32_t args[3]; /* KEXPR_NONE where unused */
    union scalar bits; /* K_CONST (KT_F32: f32; KT_BOOL: u8); K_LOAD with guards: the fill value */
    uint32_t tensor;   /* K_LOAD */
    struct kaffine index; /* K_LOAD, K_INDEX */
    uint32_t guard_count; /* K_LOAD */
    const struct kguard *guards;
    enum kreduce reduce; /* K_REDUCE */
    /* computed by kernel_finish: */
    uint32_t phase;  /* the first phase in which it can be computed (a REDUCE: in which its loop runs; a kept one: in which
                        it is computed and put into its row, while later phases read the row) */
    bool varying;    /* depends on a REDUCED variable */
    int32_t keep;    /* >= 0: computed in its first phase, kept in that scratch row for later phases; -1: not kept */
};

struct kstore {
    uint32_t tensor;
    struct kaffine index;
    uint32_t expr;
    uint32_t guard_count;
    const struct kguard *guards;
    /* computed by kernel_finish: */
    uint32_t phase;
    bool varying;
};

struct ktensor {
    dtype type;
    bool written;
    int64_t elements; /* of the whole buffer; every address is below it (kernel_verify proves it where it can) */
    void *user;       /* the lowering's: which graph value this is */
};

/** A tensor that stages hand each other: of the chunk that is being computed, in scratch. */
struct klocal {
    dtype type;
    int64_t elements;
    int64_t offset; /* in scratch, bytes; computed by kernel_finish */
};

/** Whether a stage runs for a chunk: what a float32 local's first element, the judge, has to do with the limit. */
enum kstage_when { KSTAGE_ALWAYS, KSTAGE_BELOW, KSTAGE_NOT_BELOW /* or NaN */ };

struct kstage {
    struct kernel *kernel; /* finished, without stages; owned */
    /* By tensor of the stage: which tensor of the kernel it is, or KERNEL_TENSORS_MAX + which local. */
    uint32_t tensors[KERNEL_TENSORS_MAX];
    enum kstage_when when;
    uint32_t judge; /* local */
    float limit;
};

struct kernel {
    struct arena arena;
    uint32_t var_count;
    struct kvar vars[KERNEL_VARS_MAX]; /* PARALLEL outermost first, then REDUCED outermost first, then DERIVED */
    uint32_t tensor_count;
    struct ktensor tensors[KERNEL_TENSORS_MAX];
    uint32_t expr_count, expr_capacity;
    struct kexpr *exprs;
    uint32_t store_count, store_capacity;
    struct kstore *stores;
    struct error error; /* sticky */
    char name[64];      /* for profiles, dumps and symbols: "softmax_3" or so */
    char label[48];     /* of the node that it is named after, cut short if need be; "" if it has none */
    uint32_t chunk_vars; /* of a stage: so many first variables are the chunk and stay as they are */
    bool fixed_lanes;    /* the vector variable's size is part of the code and no REDUCED one's is: the former are few by design */
    uint32_t tile_rows;  /* blocked: tiles have that many rows, however many there are; 0: as many as are best */
    bool plain;          /* never blocked: little code for what seldom runs */
    /* Of a kernel of stages, which has no variables, expressions and stores itself: */
    uint32_t stage_count, local_count;
    struct kstage *stages;
    struct klocal locals[KERNEL_LOCALS_MAX];
    /* computed by kernel_finish: */
    uint32_t parallel_count, reduced_count;
    uint32_t phase_count;     /* loops over the REDUCED variables; at least 1 if there are any */
    uint32_t vector_var;      /* a PARALLEL variable or the last REDUCED one, that vectors run along; KEXPR_NONE: none */
    bool blocked;             /* one sum of products, to be computed in tiles of accumulators (docs/products.md) */
    uint32_t row_var;         /* blocked: the PARALLEL variable whose points share what depends on the vector variable only;
                                 KEXPR_NONE: none, tiles of one row */
    int64_t row_block;        /* blocked: how many points of row_var a unit has at most */
    bool rows_outer;          /* blocked: blocks of rows vary slowest, since all rows' factors are more than the cache holds */
    /* Kept rows: row s starts at s * (scratch_bytes / scratch_slots).  A row has the REDUCED points in row-major order, each
     * KERNEL_LANES elements wide if vector_var is PARALLEL (lane by lane), else one.  Rows are 64-byte aligned. */
    uint32_t scratch_slots;
    int64_t scratch_bytes;    /* per thread */
    double flops, bytes;      /* estimates for scheduling */
    /* builder's state */
    uint32_t hash_capacity;
    uint32_t *hash;           /* value numbering: expression + 1, open addressing */
    bool finished;
};

/* ---- building ---- */

struct kernel *kernel_create(void);
void kernel_free(struct kernel *k);

uint32_t kernel_tensor(struct kernel *k, dtype type, int64_t elements, bool written, void *user);
uint32_t kernel_var(struct kernel *k, enum kvar_kind kind, int64_t size); /* PARALLEL or REDUCED, in order */
/** (base / divide) % modulo as an affine form: simplified where it divides evenly, else a new DERIVED variable. */
struct kaffine kernel_divmod(struct kernel *k, struct kaffine base, int64_t divide, int64_t modulo);
/** A variable that is the (clamped) value of an integer expression. */
struct kaffine kernel_loaded_var(struct kernel *k, uint32_t expr, int64_t size);

struct kaffine kaffine_const(int64_t offset);
struct kaffine kaffine_var(struct kernel *k, uint32_t var);
struct kaffine kaffine_add(struct kernel *k, struct kaffine a, struct kaffine b);
struct kaffine kaffine_scale(struct kernel *k, struct kaffine a, int64_t factor);
struct kaffine kaffine_add_const(struct kaffine a, int64_t offset);
bool kaffine_equal(struct kaffine a, struct kaffine b);
/** Of a variable's term; 0 if there is none. */
int64_t kaffine_coefficient(struct kaffine a, uint32_t var);
/** The smallest and largest value over the iteration space. */
void kaffine_range(const struct kernel *k, struct kaffine a, int64_t *low, int64_t *high);

/** Expressions are value-numbered: the same one twice gives the same id.  Constants fold.  KEXPR_NONE: out of memory. */
uint32_t kernel_const(struct kernel *k, enum ktype type, union scalar bits);
uint32_t kernel_f32(struct kernel *k, float value);
uint32_t kernel_load(struct kernel *k, uint32_t tensor, struct kaffine index, uint32_t guard_count, const struct kguard *guards,
                     union scalar fill);
uint32_t kernel_index(struct kernel *k, struct kaffine form);
uint32_t kernel_op1(struct kernel *k, enum kop op, uint32_t a);
uint32_t kernel_op2(struct kernel *k, enum kop op, uint32_t a, uint32_t b);
uint32_t kernel_op3(struct kernel *k, enum kop op, uint32_t a, uint32_t b, uint32_t c);
uint32_t kernel_cast(struct kernel *k, enum ktype to, uint32_t a);
uint32_t kernel_reduce(struct kernel *k, enum kreduce kind, uint32_t a);
uint32_t kernel_dot(struct kernel *k, uint32_t a, uint32_t b);
uint32_t kernel_scan(struct kernel *k, uint32_t a, bool exclusive);
void kernel_store(struct kernel *k, uint32_t tensor, struct kaffine index, uint32_t expr, uint32_t guard_count,
                  const struct kguard *guards);
/** A local tensor: number for kernel_stage. */
uint32_t kernel_local(struct kernel *k, dtype type, int64_t elements);
/**
 * Appends a stage, takes it over and finishes it; tensors as in struct kstage.  NULL: k->error, and the stage is freed.  The
 * result's condition may be set.
 */
struct kstage *kernel_stage(struct kernel *k, struct kernel *stage, const uint32_t *tensors);

/**
 * Normalises and completes a kernel: drops dead expressions, merges adjacent loop variables that every form treats as one,
 * drops variables of size 1, drops guards that always hold, computes phases, kept rows, the vector variable and the cost.
 * A finished kernel without REDUCED variables has no REDUCE and no phases.  Call it once.  False: k->error.
 */
bool kernel_finish(struct kernel *k);
/** Checks the invariants (types, SSA order, address ranges); violations go to out.  False if there was one. */
bool kernel_verify(const struct kernel *k, FILE *out);
void kernel_print(const struct kernel *k, FILE *out);
/**
 * Runs a finished kernel on buffers, one scalar at a time.  What codegen is tested against.  Element-wise float operations are
 * exactly rounded as generated code's are; transcendental functions are double's, rounded; sums accumulate in double.
 * False: out of memory.
 */
bool kernel_interpret(const struct kernel *k, void *const *tensors);
/** One scalar operation on values of type `from` (K_CAST) or `type`: what folds constants and what kernel_interpret runs. */
union scalar kernel_scalar(enum kop op, enum ktype type, enum ktype from, const union scalar args[3]);
/** Whether an output may lie in the same memory as an input: every load of it happens before the store to the same address. */
bool kernel_may_share(const struct kernel *k, uint32_t input, uint32_t output);

enum ktype ktype_of(dtype t);   /* of a load: float16 gives KT_F32 */
enum kop kop_round(dtype t);    /* to a narrow float type */
size_t ktype_size(enum ktype t);
const char *ktype_name(enum ktype t);
const char *kop_name(enum kop op);
const char *kreduce_name(enum kreduce r);
uint32_t kop_arity(enum kop op); /* operands; K_REDUCE 1, though KR_DOT has 2 */
/** Whether an affine form depends on a REDUCED variable, derived ones included. */
bool kaffine_varying(const struct kernel *k, struct kaffine a);

/* ---- parameters ---- */

/**
 * Which numbers of a kernel are parameters and which are part of the code.  Immediate: coefficients and offsets that are -1, 0 or
 * 1, dividers, modulos, small REDUCED sizes (under fixed_lanes the vector variable's instead), guards' bounds up to KERNEL_UNROLL_MAX.  Everything else is a parameter.  Equal
 * coefficients of one variable share a slot (so that equal addresses stay visibly equal), and so do equal offsets, bounds and
 * sizes of LOADED variables; other equal numbers do not, lest chance makes different structures.  Slots are numbered by first visit.
 */
struct knumber {
    int64_t value;
    int32_t slot; /* -1: immediate */
};

/**
 * Visits every number of the kernel in a fixed order.  Of a kernel of stages there are parameters only: the locals' offsets, where
 * the scratch of the stages themselves begins, each stage's units per chunk, then each stage's parameters.  The emitter must read them in the same order:
 *   for each variable: PARALLEL, REDUCED, LOADED: size;  DIVMOD: form(base), divide, modulo;
 *   for each expression: K_LOAD: form(index), guards;  K_INDEX: form(index);
 *   for each store: form(index), guards;
 * where form is the offset, then each term's coefficient; guards are, one by one, form, then bound.
 */
struct knumbers {
    uint32_t count; /* all numbers */
    struct knumber *items;
    uint32_t param_count;
    int64_t *params; /* values by slot: what kernel_args.params points at */
};
bool kernel_numbers(const struct kernel *k, struct arena *a, struct knumbers *out);
/** The structure as text: equal text means equal code.  In the arena; NULL: out of memory. */
char *kernel_structure(const struct kernel *k, struct arena *a);
/** What the structure of a kernel of stages says of a stage besides the stage's own. */
char *kernel_stage_structure(const struct kernel *k, uint32_t stage, struct arena *a);

/* ---- units of parallel work ---- */

/** Elements of the vector variable that one unit covers at most, if the vector variable is PARALLEL. */
enum { KERNEL_BLOCK = 4096 };
/** Points of the row variable that one unit covers at most (kernel.row_block): a multiple of the rows that tiles usually have. */
enum { KERNEL_ROWS = 84, KERNEL_ROWS_EVEN = 96, KERNEL_ROWS_TILED = 112 /* where kernel.tile_rows says 4, 7 or 8 */ };
/** Products of so few rows are about reading weights: their panels are wide, and the choice of the library is another. */
enum { KERNEL_FEW_ROWS = 6 };
/** Consecutive elements that are worth a vector, or a panel of weights. */
enum { KERNEL_RUN_MIN = 8 };
/**
 * The work of a kernel is cut into units 0 .. n-1: every combination of the PARALLEL variables other than the vector
 * variable and the row variable, times ceil(size / KERNEL_BLOCK) blocks of the vector variable if that is PARALLEL (blocks vary
 * fastest), times ceil(size / row_block) blocks of the row variable.  Of a kernel of stages units are chunks; of a stage, a
 * chunk's units follow each other.
 */
int64_t kernel_units(const struct kernel *k);

#endif
