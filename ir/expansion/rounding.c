/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Expands what some processors have instructions for: conversions between float32 and the bits of float16 and bfloat16, fused
 * multiply-add, division.  All are exact or correctly rounded.
 */
#include "ir/expansion/expander.h"

value expand_from_f16(struct expander *e, const value *args)
{
    value sign = shift_left(e, masked(e, args[0], 0x8000), 16), size = shift_left(e, masked(e, args[0], 0x7FFF), 13);
    /* The exponent moves by a multiplication by 2^112, which also normalises subnormals. */
    value f = bits_as(e, KT_F32, size);
    value bits = bits_as(e, KT_U32, mul(e, f, number(e, f, 0x1p112)));
    /* Infinity and NaN have the largest exponent, not one that is 112 larger; NaN becomes quiet. */
    value largest = integer(e, size, 0x0F800000);
    value special = step2(e, K_LE, largest, size), nan = step2(e, K_LT, largest, size);
    value large = either(e, size, integer(e, size, 0x7F800000));
    large = select_if(e, nan, either(e, large, integer(e, large, 0x400000)), large);
    bits = select_if(e, special, large, bits);
    return bits_as(e, KT_F32, either(e, bits, sign));
}

value expand_to_f16(struct expander *e, const value *args)
{
    value bits = bits_as(e, KT_U32, args[0]);
    value sign = masked(e, shift_right(e, bits, 16), 0x8000), size = masked(e, bits, 0x7FFFFFFF);
    /* Normal results are rounded to nearest even by adding half a unit in the last place less one, plus the last bit that
     * stays. */
    value last = masked(e, shift_right(e, size, 13), 1);
    value normal = add(e, size, integer(e, size, 0xFFF - (112 << 23)));
    normal = shift_right(e, add(e, normal, last), 13);
    /* For results below 2^-14, adding 0.5 leaves their 10 bits, rounded, at the end of the fraction. */
    value f = bits_as(e, KT_F32, size), small = bits_as(e, KT_U32, add(e, f, number(e, f, 0.5)));
    value subnormal = sub(e, small, integer(e, small, 0x3F000000));
    value is_small = step2(e, K_LT, size, integer(e, size, 0x38800000));
    value r = select_if(e, is_small, subnormal, normal);
    value is_large = step2(e, K_LE, integer(e, size, 0x477FF000), size); /* 65520 rounds up to infinity */
    r = select_if(e, is_large, integer(e, size, 0x7C00), r);
    value is_nan = step2(e, K_LT, integer(e, size, 0x7F800000), size);
    value payload = masked(e, shift_right(e, size, 13), 0x1FF);
    r = select_if(e, is_nan, either(e, payload, integer(e, size, 0x7E00)), r);
    return either(e, r, sign);
}

value expand_to_bf16(struct expander *e, const value *args)
{
    value bits = bits_as(e, KT_U32, args[0]), last = masked(e, shift_right(e, bits, 16), 1);
    value rounded = add(e, add(e, bits, integer(e, bits, 0x7FFF)), last);
    value quiet = either(e, bits, integer(e, bits, 0x400000));
    value r = select_if(e, step1(e, K_IS_NAN, args[0]), quiet, rounded);
    /* Subnormal float32 numbers become zeros, as by processors' instructions. */
    value size = masked(e, bits, 0x7FFFFFFF), subnormal = step2(e, K_LT, size, integer(e, size, 0x800000));
    r = select_if(e, subnormal, step2(e, K_XOR, bits, size), r);
    return shift_right(e, r, 16);
}

value expand_fma(struct expander *e, const value *args)
{
    /* The product is exact in double.  Its sum with c is rounded to odd (the last bit is set if anything was lost), so that the
     * second rounding, to float, comes out as if it were the only one. */
    value b = convert(e, KT_F64, args[1]), a = convert(e, KT_F64, args[0]), product = mul(e, a, b);
    value c = convert(e, KT_F64, args[2]), sum = add(e, product, c), back = sub(e, sum, product);
    value lost_c = sub(e, c, back), lost_product = sub(e, product, sub(e, sum, back)), lost = add(e, lost_product, lost_c);
    value bits = bits_as(e, KT_I64, sum), zero = integer(e, bits, 0), one = integer(e, bits, 1);
    value inexact = more(e, magnitude(e, lost), 0); /* false for NaN */
    value even = step2(e, K_EQ, both(e, bits, one), zero);
    /* The sum moves toward what was lost: away from zero if both have one sign, else toward it. */
    value toward = step2(e, K_LT, step2(e, K_XOR, bits, bits_as(e, KT_I64, lost)), zero);
    value moved = add(e, bits, select_if(e, toward, integer(e, bits, -1), one));
    bits = select_if(e, both(e, inexact, even), moved, bits);
    return convert(e, KT_F32, bits_as(e, KT_F64, bits));
}
