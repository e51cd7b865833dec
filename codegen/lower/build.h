/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Short names for the loop language, for values of any number of lanes.  This is the lowest layer of the lowering (lower.c
 * lists the layers).
 */
#pragma once

#include "ir/kernel/kernel.h"
#include "ir/loop/loop.h"
#include "ir/target/target.h"

enum { LANES_MAX = LOOP_LANES_MAX };

typedef struct loop_value *V;
typedef loop_type T;

/** A position in a function under construction. */
struct build {
    struct loop_builder *b;
    const struct isa *isa;
    uint32_t index_bits; /* of indices that are the same for all lanes: 64, or 32 if that is enough for a device's launch */
};

/** Returns how many lanes a value has; a scalar has 1. */
static inline uint32_t lanes_of(V v)
{
    return loop_type_lanes(v->type);
}
/** Returns the type of a value's elements. */
static inline T element_type(V v)
{
    return loop_type_make(loop_type_element(v->type), 1);
}
static inline bool is_float(V v)
{
    return loop_element_is_float(loop_type_element(v->type));
}
/** The functions that begin with type_ return types. */
enum {
    type_i1 = LOOP_I1 << 8 | 1,
    type_i8 = LOOP_I8 << 8 | 1,
    type_i16 = LOOP_I16 << 8 | 1,
    type_i32 = LOOP_I32 << 8 | 1,
    type_i64 = LOOP_I64 << 8 | 1,
    type_f32 = LOOP_F32 << 8 | 1,
    type_f64 = LOOP_F64 << 8 | 1,
    type_ptr = LOOP_PTR << 8 | 1
};
static inline T type_int(uint32_t bits)
{
    return bits == 1 ? type_i1 : bits == 8 ? type_i8 : bits == 16 ? type_i16 : bits == 32 ? type_i32 : type_i64;
}
static inline T type_lanes(T element, uint32_t lanes) /* of an element's type */
{
    return loop_type_make(loop_type_element(element), lanes);
}
static inline T type_like(T element, V like) /* with as many lanes as like */
{
    return type_lanes(element, lanes_of(like));
}
static inline T type_index(const struct build *m)
{
    return type_int(m->index_bits);
}
/** Returns the type of a value in registers: a truth value is an i1, low-precision floats are float32. */
T type_of(enum ktype type);
/** Returns the type of an element in memory: low-precision floats have 16 bits. */
static inline T storage_type(dtype type)
{
    return dtype_is_low_precision(type) ? type_i16 : type_of(ktype_of(type));
}

/** The functions that begin with const_ return constants; those with `like` have its type and its lanes. */
V const_bits(const struct build *m, T type, uint64_t bits); /* all lanes; bits above the type's are ignored */
static inline V const_int(const struct build *m, uint32_t bits, int64_t value)
{
    return const_bits(m, type_int(bits), (uint64_t)value);
}
static inline V const_index(const struct build *m, int64_t value)
{
    return const_int(m, m->index_bits, value);
}
static inline V const_zero(const struct build *m, T type)
{
    return const_bits(m, type, 0);
}
static inline V const_ones(const struct build *m, T type) /* all bits */
{
    return const_bits(m, type, UINT64_MAX);
}
V const_float(const struct build *m, T type, double value);
static inline V const_int_like(const struct build *m, V like, int64_t value) /* like's integer type */
{
    return const_bits(m, like->type, (uint64_t)value);
}
static inline V const_f_like(const struct build *m, V like, double value) /* like's floating-point type */
{
    return const_float(m, like->type, value);
}
V const_iota(const struct build *m, uint32_t bits, uint32_t lanes);
/** Returns a constant of the type with those bits. */
static inline V const_scalar(const struct build *m, enum ktype type, union scalar bits)
{
    return const_bits(m, type_of(type), type == KT_BOOL ? bits.u8 != 0 : bits.u64);
}
/** Emits a vector whose lanes all have the value of a scalar; what has so many lanes stays, and one lane is no vector. */
static inline V splat(const struct build *m, V v, uint32_t lanes)
{
    return lanes == 1 || lanes_of(v) == lanes ? v : loop_add(m->b, LOOP_SPLAT, type_lanes(v->type, lanes), &v, 1, 0);
}
/** Returns whether a value is a scalar constant, and its value as a signed number. */
bool is_int_constant(V v, int64_t *value);

/** The functions that begin with op emit an operation (ir/loop/loop_ops.def) at the position and return its value. */
static inline V op1(const struct build *m, enum loop_op op, V a)
{
    return loop_add(m->b, op, 0, &a, 1, 0);
}
static inline V op2(const struct build *m, enum loop_op op, V a, V b)
{
    return loop_add(m->b, op, 0, (V[]){a, b}, 2, 0);
}
static inline V op3(const struct build *m, enum loop_op op, V a, V b, V c)
{
    return loop_add(m->b, op, 0, (V[]){a, b, c}, 3, 0);
}
/** Emits a conversion of one operand, which is nothing if it has the type already. */
static inline V op_convert(const struct build *m, enum loop_op op, V a, T type)
{
    return a->type == type ? a : loop_add(m->b, op, type, &a, 1, 0);
}
/** Emits an operation of two operands of another type. */
static inline V op2_typed(const struct build *m, enum loop_op op, T type, V a, V b)
{
    return loop_add(m->b, op, type, (V[]){a, b}, 2, 0);
}
#define OP1(NAME, name)                                                                                                        \
    static inline V op_##name(const struct build *m, V a)                                                                      \
    {                                                                                                                          \
        return op1(m, LOOP_##NAME, a);                                                                                         \
    }
#define OP2(NAME, name)                                                                                                        \
    static inline V op_##name(const struct build *m, V a, V b)                                                                 \
    {                                                                                                                          \
        return op2(m, LOOP_##NAME, a, b);                                                                                      \
    }
#define CONVERT(NAME, name)                                                                                                    \
    static inline V op_##name(const struct build *m, V a, T type)                                                              \
    {                                                                                                                          \
        return op_convert(m, LOOP_##NAME, a, type);                                                                            \
    }
OP2(ADD, add)
OP2(SUB, sub)
OP2(MUL, mul)
OP2(DIV, div)
OP2(UDIV, udiv)
OP2(SDIV, sdiv)
OP2(AND, and)
OP2(OR, or)
OP2(XOR, xor)
OP2(SHL, shl)
OP2(LSHR, lshr)
OP2(ASHR, ashr)
OP2(SMIN, smin)
OP2(SMAX, smax)
OP2(UMIN, umin)
OP2(ADD_SATURATED, add_saturated)
OP2(COPY_SIGN, copy_sign)
OP2(EQ, eq)
OP2(NE, ne)
OP2(LT, lt)
OP2(LE, le)
OP2(GT, gt)
OP2(GE, ge)
OP2(ULT, ult)
OP2(UGE, uge)
OP2(UNORDERED, unordered)
OP2(EXTRACT, extract)
OP1(NEG, neg)
OP1(ABS, abs)
/* Loop strength reduction takes longer than all other passes together where an address in a loop is a sum of several
 * loop-invariant terms, because it tries the ways to add them up. */
OP1(OPAQUE, opaque)
OP1(PREFETCH, prefetch)
CONVERT(TRUNC, trunc)
CONVERT(ZEXT, zext)
CONVERT(SEXT, sext)
CONVERT(FPTRUNC, fptrunc)
CONVERT(FPEXT, fpext)
CONVERT(SITOFP, sitofp)
CONVERT(UITOFP, uitofp)
CONVERT(FPTOSI, fptosi)
CONVERT(FPTOUI, fptoui)
CONVERT(BITCAST, bitcast)
#undef OP1
#undef OP2
#undef CONVERT
/** Returns the lanes of a condition that do not hold. */
static inline V op_not(const struct build *m, V a)
{
    return op_xor(m, a, const_ones(m, a->type));
}
/** Returns a * b + c, fused if that is an instruction, else with two roundings.  For approximations only. */
V op_mad(const struct build *m, V a, V b, V c);
V op_select(const struct build *m, V condition, V a, V b);
static inline V op_bits(const struct build *m, V v, T element) /* bitcast, lanes kept */
{
    return op_bitcast(m, v, type_like(element, v));
}
/** Returns `count` lanes of x, or of x and y one after the other (y may be NULL), from `first` on. */
V op_lanes(const struct build *m, V x, V y, uint32_t first, uint32_t count);
/** Returns n lanes of x and y (which may be NULL) one after the other, those with the given numbers. */
static inline V op_shuffle(const struct build *m, V x, V y, const uint8_t *numbers, uint32_t n)
{
    return loop_shuffle(m->b, x, y, numbers, n);
}
/** Returns the same vector, opaque to passes.  Instruction selection tries to combine every shuffle with those before it, which
 * takes most of the time for code with many, and rarely helps. */
V op_fence(const struct build *m, V x);
/** Loads the elements at a pointer for which the mask holds (NULL: all of them); lanes for which it does not hold are those of
 * `otherwise` (NULL: 0).  align is in bytes. */
V op_load_or(const struct build *m, T type, V pointer, V mask, V otherwise, uint32_t align);
static inline V op_load(const struct build *m, T type, V pointer, V mask, uint32_t align)
{
    return op_load_or(m, type, pointer, mask, NULL, align);
}
/** Stores the lanes of a value for which the mask holds (NULL: all of them). */
void op_store(const struct build *m, V value, V pointer, V mask, uint32_t align);
/** Returns the address of an element at an index from a pointer. */
static inline V op_address(const struct build *m, T element, V pointer, V index)
{
    return loop_address(m->b, element, pointer, index);
}
/** Returns a slot's value. */
static inline V op_get(const struct build *m, V slot)
{
    return loop_add(m->b, LOOP_GET, slot->type, &slot, 1, 0);
}
/** Gives a slot a value. */
static inline void op_set(const struct build *m, V slot, V value)
{
    op2(m, LOOP_SET, slot, value);
}
/** Waits for all items of a group. */
static inline void op_barrier(const struct build *m)
{
    loop_add(m->b, LOOP_BARRIER, 0, NULL, 0, 0);
}
/** Returns an i1 that says whether any lane of a condition holds. */
static inline V op_any(const struct build *m, V condition)
{
    return lanes_of(condition) == 1 ? condition : op1(m, LOOP_ANY, condition);
}
/** Divide indices and counts: a and b are not negative, b is not 0.  If 64-bit division is a call, addresses have 32 bits, and
 * so have these. */
V op_divide_index(const struct build *m, V a, V b);
V op_modulo_index(const struct build *m, V a, V b);
/** Do the same, or add and multiply, with a number. */
static inline V op_plus(const struct build *m, V index, int64_t number)
{
    return op_add(m, index, const_index(m, number));
}
static inline V op_times(const struct build *m, V index, int64_t number)
{
    return op_mul(m, index, const_index(m, number));
}
static inline V op_over(const struct build *m, V index, int64_t number)
{
    return number == 1 ? index : op_divide_index(m, index, const_index(m, number));
}
static inline V op_modulo(const struct build *m, V index, int64_t number)
{
    return op_modulo_index(m, index, const_index(m, number));
}
/** Returns how many parts of so many each a number has; the last one may have fewer. */
static inline V op_parts(const struct build *m, V number, int64_t each)
{
    return op_over(m, op_plus(m, number, each - 1), each);
}

/** Makes the addresses of a function's innermost loops of pointers and sums that grow with the loops' variables (induction.c).
 */
void reduce_addresses(const struct build *m, struct loop_function *f);
