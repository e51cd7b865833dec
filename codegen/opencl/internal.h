/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares what the printer's files share.  Each file calls only those after it in this list: print.c (functions, index
 * spaces), print_stages.c, print_matrix.c, print_tile.c (with print_tile.h), print_block.c, print_point.c (phases, loops,
 * stores), print_window.c, print_reduce.c, print_value.c, print_operation.c and prelude.c.  Functions that begin with put_
 * write OpenCL C to p->out.  Functions that begin with need_ declare what an expression refers to, where that is not declared
 * yet.
 */
#pragma once

#include "codegen/opencl/opencl.h"
#include "ir/loop/loop.h"

/** Holds what the operations of a kernel became: functions of each, which are printed in place, and those that they call. */
struct operations {
    struct loop_module module;
    uint32_t values; /* that have a name so far */
};

/** This is the state of printing one kernel without stages, or one stage. */
struct printer {
    FILE *out;
    struct arena *arena;
    const struct kernel *k;
    const struct gpu_schedule *s;
    struct operations *operations;
    struct knumbers numbers;
    bool literals;                /* numbers are part of the text, because there are too many for arguments */
    uint32_t first_param;         /* where this stage's parameters begin: those of stages follow one another */
    const uint32_t *tensor_names; /* of a stage: each tensor's number in the kernel, or KERNEL_TENSORS_MAX + number of the local
                                     tensor; else NULL */
    bool *expr_known, *var_known; /* what is declared where code is being printed */
    /* lanes says how many lanes a value has here that differs along the lane variable; it is 1 where everything is scalar.
     * expr_lanes and var_lanes say which values differ.  lane_by_lane holds within a loop that computes one lane after the
     * other what vectors cannot. */
    uint32_t lanes;
    bool *expr_lanes, *var_lanes;
    bool lane_by_lane;
    bool inside;    /* all elements of the window pass the guards that have been tested for it (print_window.c) */
    uint32_t phase; /* that is being printed */
    bool failed;
};

/** Remembers what was declared before a block. */
struct scope {
    bool *exprs, *vars;
    uint32_t lanes;
    bool lane_by_lane;
};

/* ---- print_value.c: forms, variables, expressions ---- */

/** Returns how many numbers a form has: its offset and its coefficients. */
static inline uint32_t form_numbers(struct kaffine a)
{
    return 1 + a.count;
}
/** Fills p->numbers and what else depends on the kernel, from arena a.  Returns false if memory runs out. */
bool printer_number(struct printer *p, struct arena *a);
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
/** Declares the variables that a form refers to. */
void need_form(struct printer *p, struct kaffine form);
/** Returns a form, whose first number is numbers.items[start], as an expression. */
const char *form_text(struct printer *p, uint32_t start, struct kaffine form);
/** Declares the variables that guards refer to. */
void need_guards(struct printer *p, uint32_t count, const struct kguard *guards);
/** Returns the conjunction of guards, whose first number is numbers.items[start]. */
const char *guards_text(struct printer *p, uint32_t start, uint32_t count, const struct kguard *guards);
/** Returns whether a load's guards are tested once for all elements of a window, because they are sums of variables alone. */
bool has_window_guards(const struct kernel *k, const struct kexpr *e);
/** Declares v<expr>, and what it depends on, where they are not declared yet. */
void need_expr(struct printer *p, uint32_t expr);
/** Begins a scope, and remembers in *s what is declared; open_scope writes the line that ends with "{", too. */
void scope_enter(struct printer *p, struct scope *s);
void open_scope(struct printer *p, struct scope *s, const char *format, ...) __attribute__((format(printf, 3, 4)));
/** Ends a scope: what was declared in it is not known after it.  close_scope writes the "}". */
void scope_leave(struct printer *p, const struct scope *s);
void close_scope(struct printer *p, const struct scope *s);
/** Returns whether an expression's value is a vector here. */
bool has_lanes(const struct printer *p, uint32_t expr);
/** Returns the name of v<expr>.  If `lanes` holds and the value is a scalar, the text spreads it over the lanes. */
const char *operand_of(struct printer *p, uint32_t expr, bool lanes);
/** Writes a line that loads into a variable so many elements, from the one on that a load without guards reads. */
void put_loaded_vector(struct printer *p, uint32_t expr, uint32_t lanes, const char *name);
/** Opens a loop over the lanes, in which everything is scalar and x<lane variable> has its value in lane `lane`. */
void open_lanes(struct printer *p, struct scope *s);
/** Closes that loop. */
void close_lanes(struct printer *p, const struct scope *s);
/** Adds v<addend> to the running sum s<sum>.  Of a float, c<sum> keeps what rounding loses. */
void put_accumulate(struct printer *p, uint32_t sum, uint32_t addend);
/** Declares the array lanes<expr> and fills it from the vector v<expr>, so that loops over the lanes can read it. */
void put_spill(struct printer *p, uint32_t expr);
/** Returns whether a form contains a variable that differs between lanes.  If `derived` holds, the lane variable itself does
 * not count. */
bool form_has_lanes(const struct printer *p, struct kaffine form, bool derived);
/** Returns whether neighbouring lanes of a form are contiguous in memory. */
bool is_side_by_side(const struct printer *p, struct kaffine form);
/** Returns the name of a tensor's pointer: "t3", or "local2" for a local tensor of a stage. */
const char *tensor_text(struct printer *p, uint32_t tensor);
/** Returns the address space that a tensor lies in: "__local" for a local tensor in local memory, else "__global". */
const char *opencl_space_of(const struct printer *p, uint32_t tensor);
/** Returns the type of a tensor's elements in memory. */
const char *opencl_storage_type(struct printer *p, dtype t);
/** Returns the type of an expression's value; conditions are ints, float64 is f64 (float64.h). */
const char *opencl_value_type(struct printer *p, enum ktype t);
/** Returns how names of the prelude's functions of floats of so many lanes end. */
const char *lanes_suffix(struct printer *p, enum ktype t, uint32_t lanes);
/** Returns the type of an expression's value in so many lanes, such as "float8". */
const char *opencl_lane_type(struct printer *p, enum ktype t, uint32_t lanes);

/* ---- print_window.c ---- */

/** Returns whether an iteration has such loads. */
bool has_windows(const struct printer *p);
/** Sets `inside`: all lanes and iterations of a point pass those guards. */
void put_window_guards(struct printer *p);
/** Writes LOAD_EVERY_<n>_<lanes> for the loads of a kernel, or of its stages, that have strides along the lanes. */
void put_stride_functions(FILE *out, const struct kernel *k, const struct gpu_schedule *s);

/* ---- print_block.c ---- */

/** Writes what the body of a kernel of blocks calls, if it is one. */
void put_block_functions(struct printer *p);
/** Writes the body of a kernel of blocks. */
void put_transposed_blocks(struct printer *p);

/* ---- print_point.c ---- */

/** Declares the values that variables have at the row-major number `from`, as constants x<variable><suffix>. */
void put_decode(struct printer *p, const struct gpu_vars *vars, const char *from, const char *suffix);
/** Returns the product of the variables' sizes. */
const char *product_text(struct printer *p, const struct gpu_vars *vars);
/** Returns the size of one variable: of a bounded one, how many values count. */
const char *size_text(struct printer *p, uint32_t var);
/** Returns the first value of a variable that counts, and the one after the last. */
const char *first_text(const struct printer *p, uint32_t var);
const char *end_text(struct printer *p, uint32_t var);
/** Writes the stores of a phase that are varying, or those that are not, and declares first everything that they need. */
void put_stores(struct printer *p, bool varying, uint32_t phase);
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
/** Writes one step of a reduction; `iteration` names the iteration's row-major number. */
void put_step(struct printer *p, uint32_t expr, const char *iteration);
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
/** Writes the functions that operations call. */
void put_functions(struct printer *p);
/** Returns a constant as a literal that has exactly its bits. */
const char *constant_text(struct printer *p, enum ktype type, union scalar bits);

/* ---- prelude.c ---- */

/** Writes the prelude's functions for vectors of so many lanes, which a text of several kernels has once. */
void put_lane_functions(FILE *out, uint32_t lanes);
