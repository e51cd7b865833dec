/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Puts short names over the loop language: types and constants shaped like a value.
 *
 * Every function works on scalars and on vectors: the number of lanes comes from the operands.
 */
#include "codegen/lower/build.h"

#include <string.h>

T type_of(enum ktype type)
{
    if (ktype_is_float(type))
        return type == KT_F32 ? type_f32 : type_f64;
    return type_int(type == KT_BOOL ? 1 : 8 * (uint32_t)ktype_size(type));
}

/* ---- constants ---- */

V const_bits(const struct build *m, T type, uint64_t bits)
{
    const uint32_t count = loop_type_bits(type);
    uint64_t all[LANES_MAX];

    for (uint32_t i = 0; i < loop_type_lanes(type); i++)
        all[i] = count < 64 ? bits & ((UINT64_C(1) << count) - 1) : bits;
    return loop_const(m->b, type, all);
}

V const_float(const struct build *m, T type, double value)
{
    const float narrow = (float)value;
    uint64_t bits = 0;

    if (loop_type_element(type) == LOOP_F32)
        memcpy(&bits, &narrow, sizeof narrow);
    else
        memcpy(&bits, &value, sizeof value);
    return const_bits(m, type, bits);
}

V const_iota(const struct build *m, uint32_t bits, uint32_t lanes)
{
    uint64_t all[LANES_MAX];

    for (uint32_t i = 0; i < lanes; i++)
        all[i] = i;
    return loop_const(m->b, type_lanes(type_int(bits), lanes), all);
}

bool is_int_constant(V v, int64_t *value)
{
    const uint32_t above = 64 - loop_type_bits(v->type);

    if (v->op != LOOP_CONST)
        return false;
    *value = (int64_t)(v->bits[0] << above) >> above;
    return true;
}

/* ---- operations ---- */

V op_mad(const struct build *m, V a, V b, V c)
{
    if (m->isa->relaxed_fma && a->type == type_lanes(type_f32, 4)) /* there are no others */
        return op3(m, LOOP_RELAXED_FMA, a, b, c);
    if (!m->isa->fma || (!m->isa->f64 && element_type(a) == type_f64))
        return op_add(m, op_mul(m, a, b), c);
    return op3(m, LOOP_FMA, a, b, c);
}

V op_select(const struct build *m, V condition, V a, V b)
{
    const uint32_t lanes = lanes_of(condition);

    return op3(m, LOOP_SELECT, condition, splat(m, a, lanes), splat(m, b, lanes));
}

V op_lanes(const struct build *m, V x, V y, uint32_t first, uint32_t count)
{
    uint8_t at[LANES_MAX];

    for (uint32_t i = 0; i < count; i++)
        at[i] = (uint8_t)(first + i);
    return loop_shuffle(m->b, x, y, at, count);
}

V op_fence(const struct build *m, V x)
{
    /* devices' compilers choose by themselves; few integers have no register of their own everywhere */
    if (m->isa->address_spaces || (!is_float(x) && lanes_of(x) * loop_type_bits(x->type) < 128))
        return x;
    return op1(m, LOOP_FENCE, x);
}

V op_load_or(const struct build *m, T type, V pointer, V mask, V otherwise, uint32_t align)
{
    if (!mask)
        return loop_add(m->b, LOOP_LOAD, type, &pointer, 1, align);
    V args[3] = {pointer, mask, otherwise ? otherwise : const_zero(m, type)};
    return loop_add(m->b, LOOP_LOAD_MASKED, type, args, 3, align);
}

void op_store(const struct build *m, V value, V pointer, V mask, uint32_t align)
{
    loop_add(m->b, mask ? LOOP_STORE_MASKED : LOOP_STORE, 0, (V[]){value, pointer, mask}, mask ? 3 : 2, align);
}

/* ---- places ---- */

static V divide(const struct build *m, enum loop_op op, V a, V b)
{
    if (m->isa->wide_division || element_type(a) != type_i64)
        return op2(m, op, a, b);
    T narrow = type_like(type_i32, a);
    V narrow_a = op_trunc(m, a, narrow);
    return op_zext(m, op2(m, op, narrow_a, op_trunc(m, b, narrow)), a->type);
}

V op_divide_index(const struct build *m, V a, V b)
{
    return divide(m, LOOP_UDIV, a, b);
}

V op_modulo_index(const struct build *m, V a, V b)
{
    return divide(m, LOOP_UREM, a, b);
}
