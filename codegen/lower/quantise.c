/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits the division by a scale, rounding and conversion of quantizeLinear.
 *
 * With r = 1 / scale, rounded, q = x * r is the quotient but for one and a half units in the last place.  What it leaves,
 * e = x - q * scale, is computed with one rounding, and q + e * r is so near the quotient that it rounds to the same whole
 * number, be the quotient a tie or next to one.  No operation depends on exponents as long as nothing overflows or becomes
 * subnormal that counts, so that whole numbers up to 2^9 and mantissas of the scale are all there is to it.  Three operations
 * take less time than a division.  Scales for which it may be otherwise are divided by.
 */
#include "codegen/lower/scalar.h"

#include "ir/schedule/schedule.h"

#define QUOTIENT_MOST 0x1p10 /* larger ones saturate, too */
#define SCALE_LEAST 0x1p-64
#define SCALE_MOST 0x1p64

/** Holds vectors of values that are the same for all lanes. */
struct divisor {
    V scale, reciprocal, most, minus_zero_point;
};

bool quantise_has(const struct build *m, uint32_t lanes, const struct kexpr *scale)
{
    const bool usual = !scale || (scale->op == K_CONST && scale->bits.f32 >= SCALE_LEAST && scale->bits.f32 <= SCALE_MOST);
    const uint32_t vector = m->isa->vector_bits / 32;

    return m->isa->fma && m->isa->permutes && m->isa->vector_bits >= 256 &&
           (lanes == QUANTISED_VECTORS * vector || (usual && lanes == vector));
}

/* Returns the whole numbers next to x / scale, of two the even one, as int32; the least of all for NaN, and for numbers far
 * below. */
static V whole_quotient(const struct build *m, V x, const struct divisor *d, bool is_signed, bool fits)
{
    const uint32_t lanes = lanes_of(x);
    /* a comparison with this order lets NaN through */
    V q = fits ? x : op_select(m, op_lt(m, d->most, x), d->most, x);

    if (d->scale) {
        V least = q;
        q = op_mul(m, least, d->reciprocal);
        V rest = op_mad(m, op_neg(m, q), d->scale, least);
        q = op_mad(m, rest, d->reciprocal, q);
    }
    q = op_convert(m, LOOP_TO_NEAREST, q, type_lanes(type_i32, lanes));
    return is_signed && !fits ? op_select(m, op_unordered(m, x, x), d->minus_zero_point, q) : q;
}

static struct divisor divisor_of(const struct build *m, V x, V scale, V whole)
{
    const uint32_t lanes = lanes_of(x);

    if (!scale)
        return (struct divisor){.most = const_f_like(m, x, QUOTIENT_MOST),
                                .minus_zero_point = splat(m, op_neg(m, whole), lanes)};
    return (struct divisor){
        .scale = splat(m, scale, lanes),
        .reciprocal = splat(m, op_div(m, const_f_like(m, scale, 1), scale), lanes),
        .most = splat(m, op_mul(m, scale, const_f_like(m, scale, QUOTIENT_MOST)), lanes),
        .minus_zero_point = splat(m, op_neg(m, whole), lanes),
    };
}

/* Returns the bytes of one vector, as a tile has them. */
static V divide_one(const struct build *m, V x, V scale, V zero_point, bool is_signed, bool fits)
{
    const uint32_t lanes = lanes_of(x);
    V whole = zero_point ? op_fptosi(m, zero_point, type_i32) : const_int(m, 32, 0);
    const struct divisor d = divisor_of(m, x, scale, whole);
    V q = whole_quotient(m, x, &d, is_signed, fits);

    if (is_signed) /* values far below must not wrap */
        q = op_smax(m, q, const_int_like(m, q, INT16_MIN));
    q = op_add(m, q, splat(m, whole, lanes));
    q = op_smax(m, q, const_int_like(m, q, is_signed ? INT8_MIN : 0));
    q = op_smin(m, q, const_int_like(m, q, is_signed ? INT8_MAX : UINT8_MAX));
    return op_trunc(m, q, type_lanes(type_i8, lanes));
}

V emit_quantised_vectors(const struct build *m, const V *x, V scale, V zero_point, bool is_signed, bool fits)
{
    const uint32_t lanes = lanes_of(x[0]), blocks = lanes / 4;
    V whole = zero_point ? op_fptosi(m, zero_point, type_i32) : const_int(m, 32, 0), parts[QUANTISED_VECTORS], bytes;
    const struct divisor d = divisor_of(m, x[0], scale, whole);
    uint8_t order[LANES_MAX];

    for (uint32_t i = 0; i < QUANTISED_VECTORS; i++)
        parts[i] = whole_quotient(m, x[i], &d, is_signed, fits);
    whole = splat(m, op_trunc(m, whole, type_i16), 2 * lanes);
    for (uint32_t i = 0; i < QUANTISED_VECTORS; i += 2)
        parts[i] =
            op_add_saturated(m, op2_typed(m, LOOP_PACK_S16, type_lanes(type_i16, 2 * lanes), parts[i], parts[i + 1]), whole);
    bytes = op2_typed(m, is_signed ? LOOP_PACK_S8 : LOOP_PACK_U8, type_lanes(type_i8, QUANTISED_VECTORS * lanes), parts[0],
                      parts[2]);
    /* Each part of 128 bits has four lanes of each of the vectors. */
    for (uint32_t i = 0; i < lanes; i++)
        order[i] = i % blocks * QUANTISED_VECTORS + i / blocks;
    bytes = op_bitcast(m, bytes, type_lanes(type_i32, lanes));
    bytes = op_shuffle(m, bytes, bytes, order, lanes);
    return op_bitcast(m, bytes, type_lanes(type_i8, QUANTISED_VECTORS * lanes));
}

static V one_by_one(const struct build *m, V x, V scale, V zero_point, bool is_signed)
{
    V q = emit_operation(m, K_DIV, KT_F32, KT_F32, x, splat(m, scale, lanes_of(x)), NULL);

    q = emit_operation(m, K_ROUND_EVEN, KT_F32, KT_F32, q, NULL, NULL);
    if (zero_point)
        q = emit_operation(m, K_ADD, KT_F32, KT_F32, q, splat(m, zero_point, lanes_of(x)), NULL);
    return emit_operation(m, K_CAST, is_signed ? KT_I8 : KT_U8, KT_F32, q, NULL, NULL);
}

V emit_quantised(const struct build *m, V x, V scale, V zero_point, bool is_signed, bool fits)
{
    if (lanes_of(x) == m->isa->vector_bits / 32)
        return divide_one(m, x, scale, zero_point, is_signed, fits);
    V parts[QUANTISED_VECTORS];
    for (uint32_t i = 0, lanes = lanes_of(x) / QUANTISED_VECTORS; i < QUANTISED_VECTORS; i++)
        parts[i] = op_lanes(m, x, NULL, lanes * i, lanes);
    if (!scale)
        return emit_quantised_vectors(m, parts, scale, zero_point, is_signed, fits);
    V result = loop_slot(m->b, type_lanes(type_i8, lanes_of(x)));
    V large = op_ge(m, scale, const_f_like(m, scale, SCALE_LEAST));
    V small = op_le(m, scale, const_f_like(m, scale, SCALE_MOST));

    loop_if_begin(m->b, op_and(m, large, small));
    op_set(m, result, emit_quantised_vectors(m, parts, scale, zero_point, is_signed, fits));
    loop_else(m->b);
    op_set(m, result, one_by_one(m, x, scale, zero_point, is_signed));
    loop_end(m->b);
    return op_get(m, result);
}
