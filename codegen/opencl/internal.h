/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares what the printer's files share.  Each file calls only those after it in this list: print.c (functions, index
 * spaces), print_stages.c, print_matrix.c, print_tile.c (with print_tile.h), print_block.c, print_point.c (phases, loops),
 * print_reduce.c, print_value.c, print_operation.c and prelude.c; named_value is print_value.c's.  Functions that begin with
 * put_ write OpenCL C to p->out.  need_expr declares an expression where that is not declared yet.
 */
#pragma once

#include "codegen/lower/emitter.h"
#include "codegen/opencl/opencl.h"

/** Holds what the operations of a kernel became: functions of each, which are printed in place, and those that they call. */
struct operations {
    struct loop_module module;
    uint32_t values; /* that have a name so far */
};

/** What a value's serial says of its name: whether integers have a sign, and whether it is an index (print_operation.c). */
enum { UNSIGNED_NAME, SIGNED_NAME, INDEX_NAME };

/** This is a value whose name is declared where code is being printed. */
struct printed {
    struct loop_value *value;
    struct printed *before;
};

/** This is the state of printing one kernel without stages, or one stage. */
struct printer {
    FILE *out;
    struct arena *arena;
    const struct kernel *k;
    const struct gpu_schedule *s;
    struct operations *operations;
    struct emitter *e;            /* emits values */
    struct loop_builder builder;  /* of the function that they are in */
    struct loop_value *effects;   /* its last operation that was looked at for effects */
    struct printed *printed;      /* the last one */
    bool literals;                /* numbers are part of the text, because there are too many for arguments */
    uint32_t first_param;         /* where this stage's parameters begin: those of stages follow one another */
    const uint32_t *tensor_names; /* of a stage: each tensor's number in the kernel, or KERNEL_TENSORS_MAX + number of the local
                                     tensor; else NULL */
    bool *expr_known;             /* v<expression> is declared where code is being printed */
    uint32_t lanes;               /* that a value has here that differs along the lane variable; 1: everything is scalar */
    bool inside;                  /* all elements of the window pass the guards */
    uint32_t phase;               /* that is being printed */
    bool failed;
};

/** Remembers what was declared before a block, and the values of variables. */
struct scope {
    bool *exprs;
    struct cached *values;
    struct loop_value *vars[KERNEL_VARS_MAX];
    struct printed *printed;
    uint32_t serial, lanes;
};

/* ---- print_value.c ---- */

/** Fills in what depends on the kernel, from arena a.  Returns false if memory runs out.  printer_end frees the rest. */
bool printer_number(struct printer *p, struct arena *a);
void printer_end(struct printer *p);
/** Appends a kernel's parameters to the source's.  Returns false if memory runs out. */
bool printer_append_params(struct opencl_source *out, const struct knumbers *numbers);

/** The printer's own text: "$i" in it means the type of indices.  put_line ends the line; indentation comes last (print.c). */
void put(struct printer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
void put_line(struct printer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Writes that a group's items wait for each other to see what they wrote to local memory. */
void put_barrier(struct printer *p);
/** Returns such text, which lives as long as the printer.  If memory runs out it is "" and p->failed is set. */
const char *text_of(struct printer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Returns a number: itself where it is known, else the name of its parameter. */
const char *number_text(struct printer *p, uint32_t number);
/** Return the index of a load, and whether its guards hold, for one element. */
const char *index_text(struct printer *p, uint32_t load);
const char *guards_text(struct printer *p, uint32_t load);
/** Returns the row-major number of an iteration over the REDUCED variables. */
const char *iteration_text(struct printer *p);
/** Returns so many elements, from the one on that a load without guards reads. */
struct loop_value *loaded_vector(struct printer *p, uint32_t load, uint32_t lanes);
/** Says what a variable is called in this scope: not x<var>. */
void set_variable(struct printer *p, uint32_t var, const char *name);
/** Returns a value that is declared already, by a name of that kind. */
struct loop_value *named_value(struct printer *p, loop_type type, uint32_t kind, const char *name);
/** Declares v<expr>, and what it depends on, where they are not declared yet. */
void need_expr(struct printer *p, uint32_t expr);
/** Declares an expression's value by a name. */
void put_expr(struct printer *p, uint32_t expr, const char *name);
/** Returns the value of an expression that is declared already, by a name. */
struct loop_value *named_expr(struct printer *p, uint32_t expr, const char *name);
/** Says that v<expr> has been declared; know_value says what an expression's value is. */
void know_expr(struct printer *p, uint32_t expr);
void know_value(struct printer *p, uint32_t expr, struct loop_value *value);
/** Stores in an iteration what later phases find in the item's array (gpu_schedule.kept). */
void put_kept(struct printer *p);
/** Sets `inside`: all lanes and iterations of a point pass the guards of its windows (window_is_guarded). */
void put_window_guards(struct printer *p);
/** Writes the stores of a phase that are varying, or those that are not, and declares first everything that they need. */
void put_stores(struct printer *p, bool varying, uint32_t phase);
/** Begins a scope, and remembers in *s what is declared; open_scope writes the line that ends with "{", too. */
void scope_enter(struct printer *p, struct scope *s);
void open_scope(struct printer *p, struct scope *s, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** Ends a scope: what was declared in it is not known after it.  close_scope writes the "}". */
void scope_leave(struct printer *p, const struct scope *s);
void close_scope(struct printer *p, const struct scope *s);
/** Returns whether an expression's value is a vector here. */
bool has_lanes(const struct printer *p, uint32_t expr);
/** Returns an expression's value as an operand, declared where it is not yet.  If `lanes` holds it has the lanes of vectors. */
const char *operand_of(struct printer *p, uint32_t expr, bool lanes);
/** Returns the name of a tensor's pointer: "t3", or "local2" for a local tensor of a stage. */
const char *tensor_text(struct printer *p, uint32_t tensor);
/** Returns the address space that a tensor lies in: "__local" for a local tensor in local memory, else "__global". */
const char *opencl_space_of(const struct printer *p, uint32_t tensor);
/** Returns the type of a tensor's elements in memory; integers have no sign. */
const char *opencl_storage_type(struct printer *p, dtype t);
/** Returns how names of the prelude's functions of floats of so many lanes end. */
const char *lanes_suffix(struct printer *p, enum ktype t, uint32_t lanes);

/* ---- print_block.c ---- */

/** Writes the body of a kernel of blocks. */
void put_transposed_blocks(struct printer *p);

/* ---- print_point.c ---- */

/** Declares the values that variables have at the row-major number `from`, as constants x<variable><suffix>. */
void put_decode(struct printer *p, const struct gpu_vars *vars, const char *from, const char *suffix);
/** Returns the product of the variables' sizes. */
const char *product_text(struct printer *p, const struct gpu_vars *vars);
/** Returns the size of one variable: of a bounded one, how many values count. */
const char *size_text(struct printer *p, uint32_t var);
/** Declares everything that does not vary and is known in this phase, for the loops that come. */
void put_invariants(struct printer *p, uint32_t phase);
/** Writes everything of a point whose PARALLEL variables are declared, or of as many points as there are lanes. */
void put_point(struct printer *p);
/** Writes the points of an item that has vectors along a PARALLEL variable, the first of which is id0: one vector, or the last
 * few points of a row one by one.  `next` is the statement that goes on to what comes after the item. */
void put_vector_point(struct printer *p, const char *next);

/* ---- print_matrix.c ---- */

/** Writes the body of a kernel whose tiles are of matrix instructions. */
void put_matrix_tiles(struct printer *p);

/* ---- print_tile.c ---- */

/** Declares rows and columns, the sizes of a contraction. */
void put_tile_sizes(struct printer *p);
/** Writes everything of a vector of points, or of one point, that comes after its sum. */
void put_points(struct printer *p, const char *sum, uint32_t lanes);

/** Writes the body of a kernel whose schedule has the shape GPU_TILES. */
void put_tiles(struct printer *p);
/** Writes the tiles of a stage, which the items of a group share.  `fixed` are the variables of the macro-tile. */
void put_stage_tiles(struct printer *p, const struct gpu_vars *fixed);

/* ---- print_stages.c ---- */

/** Writes the body of a kernel of stages, and appends the parameters of its stages to the source's.  p is of the kernel itself.
 * Returns false if memory runs out. */
bool put_stages(struct printer *p, struct opencl_source *out);

/* ---- print_reduce.c ---- */

/** Returns whether a reduction is a sum of floats, which is added up in blocks. */
bool is_float_sum(const struct kexpr *e);
/** Declares the accumulators of a reduction or a running sum: s, and of a float sum c for what rounding loses of it. */
void put_initial(struct printer *p, uint32_t expr);
/** Writes one step of a reduction. */
void put_step(struct printer *p, uint32_t expr);
/** Declares the accumulators a of a block, for all float sums of a phase, if `open` holds; else adds them to s. */
void put_block(struct printer *p, uint32_t phase, bool open);
/** Declares v<expr> after the loop: combines the lanes along a REDUCED variable, and the items that share a row. */
void put_result(struct printer *p, uint32_t expr);

/* ---- print_operation.c ---- */

/**
 * Writes the assignment of an operation's value to a target, such as "const float4 v7", or a variable's name.  Operands are
 * scalars or, if there is more than one lane, vectors.  type is that of the result, from that of the first operand.
 */
void put_operation(struct printer *p, const char *target, uint32_t lanes, enum kop op, enum ktype type, enum ktype from,
                   const char *const args[3]);
/** Writes the effects that were added to the printer's function: stores, and what they depend on. */
void put_effects(struct printer *p);
/** Declares a value by a name, with a sign of its integers, and what it depends on. */
void put_declaration(struct printer *p, struct loop_value *v, const char *name, bool is_signed);
/** Returns a value as an operand, after it has declared what it depends on. */
const char *text_of_value(struct printer *p, struct loop_value *v, bool is_signed);
/** Forgets the names of values that were printed after one. */
void forget_printed(struct printer *p, struct printed *last);
/** Returns the type of a value, such as "float8"; integers have no sign. */
const char *opencl_element_type(struct printer *p, loop_type type);
/** Returns the type of an expression's value; conditions are ints, float64 is f64 (float64.h). */
const char *opencl_value_type(struct printer *p, enum ktype t);
/** Returns the type of an expression's value in so many lanes, such as "float8". */
const char *opencl_lane_type(struct printer *p, enum ktype t, uint32_t lanes);
/** Writes the functions that operations call. */
void put_functions(struct printer *p);
/** Returns a constant as a literal that has exactly its bits. */
const char *constant_text(struct printer *p, enum ktype type, union scalar bits);

/* ---- prelude.c ---- */

/** Writes the prelude's functions for vectors of so many lanes, which a text of several kernels has once. */
void put_lane_functions(FILE *out, uint32_t lanes);
