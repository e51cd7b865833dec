/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Gives LLVM's C API short names, for values of any number of lanes.  This is the lowest layer of the emitter (emit.c lists the
 * layers).
 */
#ifndef WEBNN_CODEGEN_EMIT_BUILD_H_
#define WEBNN_CODEGEN_EMIT_BUILD_H_

#include <llvm-c/Core.h>
#include "ir/target/target.h"
#include "ir/kernel/kernel.h"

/** A vector has at most so many lanes: 512 bits of 8-bit elements. */
enum { LANES_MAX = 64 };

typedef LLVMValueRef V;
typedef LLVMTypeRef T;

/** This is a position in a function under construction. */
struct build {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef b;
    const struct isa *isa;
    bool sanitize;
    bool for_size;               /* small code rather than fast code */
    const struct target *target; /* attributes of every function */
    const char *suffix;          /* of names of functions that kernels share, where a module has several targets; else NULL */
    LLVMValueRef function;
};

/** Returns how many lanes a value has; a scalar has 1. */
uint32_t lanes_of(V v);
/** Returns the type of a value's elements. */
T element_type(V v);
/** The functions that begin with type_ return LLVM's types. */
T type_i1(const struct build *m);
T type_int(const struct build *m, uint32_t bits);
T type_f32(const struct build *m);
T type_f64(const struct build *m);
T type_ptr(const struct build *m);
T type_lanes(T element, uint32_t lanes); /* with lanes 1: the element type itself */
T type_like(T element, V like);          /* with as many lanes as like */

/** The functions that begin with const_ return constants; those with `like` have its type and its lanes. */
V const_int(const struct build *m, uint32_t bits, int64_t value);
V const_splat(V scalar, uint32_t lanes);
V const_int_like(const struct build *m, V like, int64_t value); /* like's integer type */
V const_f_like(const struct build *m, V like, double value);    /* like's floating-point type */
V const_i32_for(const struct build *m, V like, int64_t value);  /* i32 with like's lanes */
V const_iota(const struct build *m, uint32_t bits, uint32_t lanes);
/** Emits a vector whose lanes all have the value of a scalar. */
V splat(const struct build *m, V scalar, uint32_t lanes);

/** Emits a call of LLVM's intrinsic of that name, which is overloaded on those types. */
V call_intrinsic(const struct build *m, const char *name, T *overloads, uint32_t overload_count, V *args, uint32_t arg_count);
/** The functions that begin with op_ emit an operation at the position and return its value. */
V op_intrinsic1(const struct build *m, const char *name, V a); /* overloaded on a's type */
V op_intrinsic2(const struct build *m, const char *name, V a, V b);
/** Returns a * b + c, fused where that is an instruction, else with two roundings.  It serves the inside of approximations
 * only. */
V op_mad(const struct build *m, V a, V b, V c);
V op_select(const struct build *m, V condition, V a, V b);
V op_bits(const struct build *m, V v, T element); /* bitcast, lanes kept */
V op_fabs(const struct build *m, V x);
/** Returns `count` lanes of x, or of x and y one after the other (y may be NULL), from `first` on. */
V op_lanes(const struct build *m, V x, V y, uint32_t first, uint32_t count);
/** Returns n lanes of x and y one after the other, those with the given numbers. */
V op_shuffle(const struct build *m, V x, V y, const uint32_t *numbers, uint32_t n);
/** Returns the same vector, but no pass looks through it.  Instruction selection asks of every shuffle what it could be
 * together with those before it, which takes most of the time of code that has many, and seldom finds anything. */
V op_fence(const struct build *m, V x);
/** Returns the same pointer, in a way that passes do not look through.  Loop strength reduction takes longer than all other
 * passes together where an address in a loop is a sum of several loop-invariant terms, because it tries the ways to add them
 * up. */
V op_opaque(const struct build *m, V pointer);
/** Loads the elements from a pointer on for which the mask holds (NULL: all of them); lanes for which it does not hold are 0.
 * align is in bytes. */
V op_load(const struct build *m, T type, V pointer, V mask, uint32_t align);
/** Does the same; lanes for which the mask does not hold are those of `otherwise` (NULL: 0). */
V op_load_or(const struct build *m, T type, V pointer, V mask, V otherwise, uint32_t align);
/** Stores the lanes of a value for which the mask holds (NULL: all of them). */
void op_store(const struct build *m, V value, V pointer, V mask, uint32_t align);
/** Returns the address of an element, so many elements after a pointer. */
V op_address(const struct build *m, T element, V pointer, V index);
/** Asks for the line at an address, which need not exist. */
void op_prefetch(const struct build *m, V pointer);
/** Returns an i1 that says whether any lane of a condition holds. */
V op_any(const struct build *m, V condition);
/** Rounds floats of any size to whole numbers, to the nearest (of two the even one), toward -inf or toward +inf, without
 * library calls. */
V op_round_even(const struct build *m, V x);
V op_floor(const struct build *m, V x);
V op_ceil(const struct build *m, V x);
/** Divide places and counts: a and b are not negative, b is not 0.  Where dividing 64 bits is a call, addresses have 32, and so
 * has whatever counts what they hold. */
V op_divide_index(const struct build *m, V a, V b);
V op_modulo_index(const struct build *m, V a, V b);
/** Adds the attributes that every function needs. */
void function_set_attributes(const struct build *m, V function);
/** Appends an empty block to the function; the position stays. */
LLVMBasicBlockRef block_append(const struct build *m, const char *name);
/** Begins a new block, branches to it and moves the position there.  Returns the branch. */
V block_enter(const struct build *m, const char *name);
/** This is a loop that is being emitted, which has at least one iteration. */
struct loop {
    LLVMBasicBlockRef before, body;
    V from, at; /* its variable's first value, and the variable */
};
/** Begins for (at = from; ...), and moves the position into the body. */
struct loop build_loop_begin(const struct build *m, V from, const char *name);
/** Ends the body at the position: ... next < high; at = next).  The position moves to a new block after the loop. */
void build_loop_end(const struct build *m, const struct loop *l, V next, V high, LLVMIntPredicate less, const char *name);
/** Makes a stack slot in the function's first block, so that there is one of it however often the code runs. */
V alloca_entry(const struct build *m, T type, const char *name);

/** Returns the type of a value in registers: a truth value is an i1, low-precision floats are float32. */
T type_of(const struct build *m, enum ktype type);
/** Returns the type of an element in memory: low-precision floats have 16 bits. */
T storage_type(const struct build *m, dtype type);
/** Returns a constant of the type with those bits. */
V const_scalar(const struct build *m, enum ktype type, union scalar bits);

#endif
