/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The emitter's state, shared by emit*.c.  Read emit.c first.
 *
 * Levels.  A kernel becomes a nest of loops: 0 the function's entry, 1 a unit, then (vectors along a PARALLEL variable) the
 * vectors of that variable, then one level per REDUCED variable.  Every variable, form and expression has the level of the
 * innermost variable that it depends on, and is emitted there: before the loops further in.  That is done on demand: the first
 * use of a value emits it at the end of its level's straight-line code, just before the branch (`child`) into the loop that is
 * being filled.  A level's serial number changes with every new iteration that code is emitted for, which makes cached values
 * of the level and of the levels inside it invalid.  Expressions are emitted without control flow of their own, so that this
 * works.
 *
 * Lanes.  A value depends on the vector variable (then it has `lanes` lanes) or not (then it is a scalar, made a vector where
 * it meets one).  Loops may do several vectors per iteration: `copies`, each with its own values.
 */
#ifndef WEBNN_CODEGEN_EMIT_H_
#define WEBNN_CODEGEN_EMIT_H_

#include "codegen/llvm.h"

enum {
    COPIES_MAX = 32,          /* vectors per iteration: as many as a tile of accumulators has */
    SUM_COPIES = 4,           /* at most where there are accumulators */
    PART_SCALAR = SUM_COPIES, /* accumulators: one per copy, and one for single elements */
    PARTS = SUM_COPIES + 1,
    LEVELS_MAX = KERNEL_VARS_MAX + 3,
    ROW_GROUPS = 4, /* of four rows or lines of a tile */
    LEVEL_ENTRY = 0,
    LEVEL_UNIT = 1
};

/** An affine form of the kernel. */
struct form {
    const struct kaffine *affine;
    uint32_t number;     /* of its offset; those of its coefficients follow */
    uint8_t level;       /* of the whole form */
    bool lanes;          /* depends on the vector variable */
    bool derived_lanes;  /* through a derived variable */
    int32_t vector_term; /* index of the vector variable's term, -1: none */
};

struct cached {
    V value;
    uint32_t serial; /* of its level; 0: empty */
};

/** A form's part without the vector variable, added to a tensor's address. */
struct row_pointer {
    V tensor, row, pointer;
    uint32_t serial;      /* of the level that it was emitted at; 0: empty */
    V groups[ROW_GROUPS]; /* in a whole tile: of every fourth row */
    uint32_t groups_serial;
};

struct level {
    V child; /* the branch into the loop that is being filled; NULL: code goes to the end */
    uint32_t serial;
};

/** Accumulators of one REDUCE or SCAN: stack slots, by part. */
struct accumulator {
    V value[PARTS], index[PARTS]; /* index: of arg-min and arg-max */
    V total[PARTS], rest[PARTS];  /* long float sums: what earlier blocks added up to, and what rounding lost of it */
};

/** How a blocked kernel is computed (emit_block.c).  All of it is part of the key under which code is shared. */
struct block_shape {
    uint32_t rows, vectors;        /* of a tile */
    bool full_rows, full;          /* there are tiles of that many rows, of that many vectors */
    uint32_t tail_count, tails[2]; /* rows left over */
    uint32_t rest;                 /* vectors left over */
    bool masked, scalars;          /* the last of them masked; single elements left over */
    uint32_t unroll_from;          /* REDUCED variables from here on are unrolled */
    uint32_t fold;                 /* REDUCED variable whose loop is cut into blocks of fold_steps; KEXPR_NONE: none */
    int64_t fold_steps;
    bool guarded;    /* some factor has guards */
    bool ranged;     /* that can be tested for a whole tile, */
    uint32_t branch; /* inside of as many loops */
    uint32_t zeros;  /* elements that a row outside reads instead of its own; 0: it is masked */
    bool wide_outer; /* the operand read by vectors is large: it is walked once, slowest */
    bool strided;    /* a matrix product: strides of rows are parameters, so that sizes share code */
    uint32_t ahead;  /* PARALLEL variable that counts panels, the next of which is fetched meanwhile; KEXPR_NONE: none */
};

struct tiling {
    uint32_t var;   /* emit_tile.c: the other variable, KEXPR_NONE: no tiles */
    uint32_t woven; /* its size, where all its values are a tile and lie side by side in memory; 0: tiles of lines */
};

struct emitter {
    struct build m;
    const struct kernel *k;
    struct arena arena;
    struct knumbers numbers;

    /* what the kernel is like */
    struct form *forms;
    uint32_t form_count;
    uint32_t var_form[KERNEL_VARS_MAX], var_number[KERNEL_VARS_MAX]; /* DIVMOD: form; others: number of the size */
    uint32_t *expr_form, *store_form;                                /* guards' forms follow */
    uint8_t var_level[KERNEL_VARS_MAX], *expr_level;
    bool var_lanes[KERNEL_VARS_MAX], *expr_lanes, *expr_rows; /* rows: depends on the row variable of a blocked kernel */
    bool vector_parallel, vector_reduced;                     /* what the vector variable is */
    uint32_t point_level, reduced_level, inner_level, vector_level;
    uint32_t width;                           /* lanes of a full vector */
    uint32_t copies_parallel, copies_reduced; /* the latter: of the current phase */
    uint32_t wide_lanes;                      /* element-wise loops take so many vectors as one with all their lanes */
    bool masked_tail;                         /* the rest of a row by a masked vector, else one by one */
    uint32_t unroll_from;                     /* REDUCED variables from here on are unrolled */
    size_t row_element;                       /* bytes of the largest kept type */

    /* where we are */
    LLVMBasicBlockRef tail; /* the block at whose end code of the innermost open level goes */
    struct level levels[LEVELS_MAX];
    uint32_t serial;
    uint32_t lanes, copies, copy;
    V mask; /* lanes that exist, NULL: all */
    V vector_base[COPIES_MAX];
    struct tiling tiling;
    bool tile_twice;          /* whole tiles and parts of them have code of their own */
    bool tile;                /* copies are along tiling.var */
    V tile_base;              /* its first value */
    V tile_rows, tile_lanes;  /* how many rows and lanes exist; NULL: all */
    struct block_shape block; /* emit_block.c */
    bool blocked;             /* in a tile: copies are its rows times its vectors */
    bool guards_hold;         /* of the factors */
    V zeros;                  /* block.zeros of them */
    V *edge_pointers;    /* [expr * COPIES_MAX + row]: where a factor's row begins, zeros if it is outside; NULL: no row's */
    bool edge;           /* those are to be used */
    V ahead, ahead_step; /* block.ahead: where the tile fetches from, and how many bytes that moves in a step */
    uint32_t tile_vectors, tile_rows_count;
    V tile_mask; /* lanes of the last vector that exist, NULL: all */
    uint32_t phase;

    /* values */
    V args_tensors, args_params, scratch, dummy;
    V *params;
    V tensors[KERNEL_TENSORS_MAX];
    struct cached *form_cache;                             /* [form * LEVELS_MAX + level] */
    struct row_pointer *row_cache;                         /* by form */
    struct cached *expr_cache, *splat_cache;               /* [expr * COPIES_MAX + copy] */
    V var_value[KERNEL_VARS_MAX];                          /* loop variables */
    struct cached var_cache[KERNEL_VARS_MAX * COPIES_MAX]; /* derived ones */
    struct accumulator *accumulators;                      /* by expression */
    bool *counted;                                         /* marks, by expression */
};

/* ---- emit.c ---- */

/** Moves the position to the end of a level's straight-line code. */
void emit_at(struct emitter *e, uint32_t level);
/** Moves the position to the end of the innermost code. */
void emit_here(struct emitter *e);
/** Starts a block: it becomes the innermost one. */
void emit_block(struct emitter *e, LLVMBasicBlockRef block);
/** Opens a level for new iterations. */
void emit_open(struct emitter *e, uint32_t level);
/** Ends the straight-line code of a level by a branch into a loop; emit_leave after the loop goes on with it. */
void emit_enter(struct emitter *e, uint32_t level, const char *name);
void emit_leave(struct emitter *e, uint32_t level);

typedef void (*loop_body)(struct emitter *e, void *user);
/** for (var = low; var < high; var++) body, at level; the caller has entered from the parent level. */
void emit_loop(struct emitter *e, uint32_t level, uint32_t var, V low, V high, loop_body body, void *user);
/** The vector variable from low to high in vectors, copies of them at a time, and the rest masked or one by one. */
void emit_vector_loop(struct emitter *e, V low, V high, uint32_t copies, loop_body body, void *user);

/** Rough number of instructions per vector of an operation. */
uint32_t emit_weight(const struct kexpr *x);
/** How many vectors along a REDUCED variable a phase takes at a time. */
uint32_t emit_phase_copies(struct emitter *e, uint32_t phase);

/* ---- emit_index.c: numbers, variables, forms ---- */

bool emit_analyze(struct emitter *e, struct error *error);
V number_value(struct emitter *e, uint32_t number);
bool number_is(const struct emitter *e, uint32_t number, int64_t value);
/** The part of a form that is the same for all lanes, without the vector variable: i64. */
V form_uniform(struct emitter *e, uint32_t form);
V var_scalar(struct emitter *e, uint32_t var); /* i64 */

enum form_kind { FORM_UNIFORM, FORM_UNIT, FORM_REVERSE, FORM_LANES };
/** A form for the current lanes and copy: base + 0, lane, -lane or lanes[lane]. */
struct place {
    enum form_kind kind;
    V base;       /* i64 */
    V lanes;      /* FORM_LANES: <lanes x i32> */
    V tile_step;  /* from row to row of a tile, NULL: it is the same for all */
    V row, along; /* base in two parts: without the vector variable, and what that adds; NULL: it has none */
};
struct place form_place(struct emitter *e, uint32_t form);
/** tensor + row as a pointer that is computed outside of the vectors' loop.  NULL: p has no row. */
V place_row(struct emitter *e, uint32_t form, struct place *p, T element, V tensor);
/** The level at which the part of a form is known that does not have the vector variable. */
uint32_t row_level(const struct emitter *e, const struct form *f);
/** The i-th of pointers that are `step` elements apart.  groups[0] is the first; every fourth is added as needed. */
V stepped_pointer(struct emitter *e, T element, V groups[ROW_GROUPS], V step, uint32_t i);
/** base plus lanes in i64 lanes (one lane: a scalar). */
V place_value(struct emitter *e, const struct place *p);
/** Row-major index over the REDUCED variables, i64, without the lanes of a REDUCED vector variable. */
V reduced_index(struct emitter *e);

/* ---- emit_memory.c: tensors and kept rows ---- */

V emit_load(struct emitter *e, uint32_t expr);
void emit_store(struct emitter *e, uint32_t store, V value);
V emit_row_load(struct emitter *e, uint32_t expr);
void emit_row_store(struct emitter *e, uint32_t expr, V value);
T storage_type(const struct emitter *e, dtype type); /* of an element in memory: float16 as 16 bits */
V tensor_pointer(struct emitter *e, uint32_t tensor);
V masked_load(struct emitter *e, T vector, V pointer, V mask, uint32_t align);
V load_vector(struct emitter *e, T vector, V pointer, uint32_t align);
void store_row(struct emitter *e, V value, V address, V mask, uint32_t align);
V const_scalar(const struct emitter *e, enum ktype type, union scalar bits);
T type_of(const struct emitter *e, enum ktype type);
T row_type(const struct emitter *e, enum ktype type);

/* ---- emit_expr.c: expressions ---- */

/** The value of an expression in the current phase and copy. */
V expr_value(struct emitter *e, uint32_t expr);
/** The same with as many lanes as asked for. */
V expr_value_lanes(struct emitter *e, uint32_t expr, uint32_t lanes);
bool expr_is_vector(const struct emitter *e, uint32_t expr);
bool ktype_is_signed(enum ktype t);
/** One operation on equally wide operands. */
V emit_operation(const struct build *m, enum kop op, enum ktype type, enum ktype from, V a, V b, V c);

/* ---- emit_tile.c: tensors that are contiguous along another variable than the vectors' ---- */

enum { TILE_FEW_ROWS = 4 }; /* too few for lines: woven, or gathered and scattered instead */
/** The tiles that pay. */
struct tiling tile_find(const struct kernel *k);
/** Prints what of that depends on sizes and strides, which are no part of kernel_structure; nothing if nothing does. */
void tile_print(const struct kernel *k, FILE *out);
bool tile_turns_load(const struct emitter *e, uint32_t expr);
bool tile_turns_store(const struct emitter *e, uint32_t store);
/** Values of all copies at once. */
void tile_load(struct emitter *e, uint32_t expr, V values[COPIES_MAX]);
void tile_store(struct emitter *e, uint32_t store, const V *values);
/** The tile's row that the current copy is for: in a partial tile rows that do not exist are the last one that does. */
V tile_row(struct emitter *e);

/* ---- emit_block_shape.c: how sums of products are cut into tiles ---- */

void block_choose(const struct kernel *k, const struct isa *isa, struct block_shape *s);
/** Whether the operand that is read by vectors depends on a variable. */
bool block_is_outer(const struct kernel *k, uint32_t var);
/** Whether the points of a PARALLEL variable, the row variable for one, read that operand again. */
bool block_is_repeat(const struct kernel *k, uint32_t var);
/** Whether an expression is a load of a factor, or part of one. */
bool block_is_load(const struct kexpr *x);
/** How many zeros stand for a row of factor x that is outside: what loops inside of `branch` ones read of it; 0: cannot be. */
uint32_t block_zeros_of(const struct kernel *k, const struct kexpr *x, uint32_t branch);
/** Whether x is a factor that a tile of a strided kernel reads one number of per row. */
bool block_is_row_factor(const struct kernel *k, const struct kexpr *x);
/** The factor that is loaded by vectors and the same for all rows: KEXPR_NONE: none. */
uint32_t block_wide_factor(const struct kernel *k);
/** Whether a factor's guards are the same for a whole tile and it is zero where they fail: the loops are skipped there. */
bool block_guards_are_common(const struct kernel *k, uint32_t expr, uint32_t branch);

/* ---- emit_block.c: tiles of accumulators ---- */

/** Chooses the shape and makes strides of rows immediate numbers.  False: out of memory. */
bool block_prepare(struct emitter *e);
/** In the function's first block: what tiles need. */
void block_enter_function(struct emitter *e);
/** All tiles of rows [first_row, first_row + rows) (NULL: no row variable) and elements [low, high) of the vector variable. */
void block_range(struct emitter *e, V first_row, V rows, V low, V high, V *store_values);

/* ---- emit_stage.c: kernels of stages ---- */

/** emit_kernel of such a kernel. */
bool emit_stages(const struct build *m, const struct kernel *k, const char *name, struct error *error);

/* ---- emit_block_rows.c: addresses of a tile's rows ---- */

/** Where the rows of guarded factors begin with `depth` loops open: at zeros if they are outside. */
void block_set_edge_pointers(struct emitter *e, uint32_t depth);
/** Where the rows of a strided kernel begin: one address each, which passes do not take apart. */
void block_set_row_pointers(struct emitter *e);
/** What the tile whose first row is `row` fetches of the next panel: the share of its rows. */
void block_set_ahead(struct emitter *e, V row);
/** In a step of the sum: asks for the next line. */
void block_fetch(struct emitter *e);
/** Whether a load's guards are known to hold where the tile's loops are. */
bool block_guards_hold(const struct emitter *e, uint32_t expr);
/** A factor's address by edge_pointers, at its level. */
V block_edge_address(struct emitter *e, uint32_t expr, T element);

/* ---- emit_reduce.c: phases ---- */

/** All phases and all stores of the current point (or points: lanes, copies). */
void emit_point(struct emitter *e, void *unused);
/** A SCAN at the current point. */
V emit_scan(struct emitter *e, uint32_t expr);

#endif
