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
#include "codegen/emit/quantise.h"

#include <stdio.h>

#include "codegen/emit/operation.h"

enum { PARTS = 4 }; /* vectors of 32 bits that make one of bytes */

#define SCALE_LEAST 0x1p-64
#define SCALE_MOST 0x1p64
#define QUOTIENT_MOST 0x1p10 /* larger ones saturate like it */

/** Holds vectors of what is the same for all lanes. */
struct divisor {
    V scale, reciprocal, most, minus_zero_point;
};

bool quantise_has(const struct build *m, uint32_t lanes)
{
    return m->isa->fma && m->isa->packs && m->isa->vector_bits >= 256 && lanes == PARTS * m->isa->vector_bits / 32;
}

/* Returns the whole numbers next to x / scale, of two the even one, as int32; the least of all for NaN, and for what is far
 * below. */
static V whole_quotient(const struct build *m, V x, const struct divisor *d, bool is_signed)
{
    const uint32_t lanes = lanes_of(x);
    /* a comparison with this order lets NaN through */
    V least = LLVMBuildSelect(m->b, LLVMBuildFCmp(m->b, LLVMRealOLT, d->most, x, ""), d->most, x, "");
    V q = LLVMBuildFMul(m->b, least, d->reciprocal, ""), rest = op_mad(m, LLVMBuildFNeg(m->b, q, ""), d->scale, least);

    q = op_mad(m, rest, d->reciprocal, q);
    if (lanes == 16) {
        V args[4] = {q, LLVMConstNull(type_lanes(type_int(m, 32), lanes)), const_int(m, 16, -1), const_int(m, 32, 4)};
        q = call_intrinsic(m, "llvm.x86.avx512.mask.cvtps2dq.512", NULL, 0, args, 4);
    } else {
        q = call_intrinsic(m, "llvm.x86.avx.cvt.ps2dq.256", NULL, 0, &q, 1);
    }
    return is_signed ? LLVMBuildSelect(m->b, LLVMBuildFCmp(m->b, LLVMRealUNO, x, x, ""), d->minus_zero_point, q, "") : q;
}

/* Packs two vectors to one of half as many bits, with saturation; in every part of 128 bits by itself. */
static V pack(const struct build *m, const char *kind, V a, V b)
{
    const bool avx512 = m->isa->vector_bits == 512;
    V args[2] = {a, b};
    char name[48];

    snprintf(name, sizeof name, "llvm.x86.%s.%s%s", avx512 ? "avx512" : "avx2", kind, avx512 ? ".512" : "");
    return call_intrinsic(m, name, NULL, 0, args, 2);
}

static V divide_and_pack(const struct build *m, V x, V scale, V zero_point, bool is_signed)
{
    const uint32_t lanes = lanes_of(x) / PARTS, blocks = lanes / 4;
    const T i32 = type_int(m, 32), i16 = type_int(m, 16);
    V whole = zero_point ? LLVMBuildFPToSI(m->b, zero_point, i32, "") : const_int(m, 32, 0), parts[PARTS], bytes;
    const struct divisor d = {
        .scale = splat(m, scale, lanes),
        .reciprocal = splat(m, LLVMBuildFDiv(m->b, const_f_like(m, scale, 1), scale, ""), lanes),
        .most = splat(m, LLVMBuildFMul(m->b, scale, const_f_like(m, scale, QUOTIENT_MOST), ""), lanes),
        .minus_zero_point = splat(m, LLVMBuildNeg(m->b, whole, ""), lanes),
    };
    uint32_t order[LANES_MAX];

    for (uint32_t i = 0; i < PARTS; i++)
        parts[i] = whole_quotient(m, op_lanes(m, x, NULL, lanes * i, lanes), &d, is_signed);
    whole = splat(m, LLVMBuildTrunc(m->b, whole, i16, ""), 2 * lanes);
    for (uint32_t i = 0; i < PARTS; i += 2)
        parts[i] = op_intrinsic2(m, "llvm.sadd.sat", pack(m, "packssdw", parts[i], parts[i + 1]), whole);
    bytes = pack(m, is_signed ? "packsswb" : "packuswb", parts[0], parts[2]);
    /* Each part of 128 bits has four lanes of each of the vectors. */
    for (uint32_t i = 0; i < lanes; i++)
        order[i] = i % blocks * PARTS + i / blocks;
    bytes = LLVMBuildBitCast(m->b, bytes, type_lanes(i32, lanes), "");
    bytes = op_shuffle(m, bytes, bytes, order, lanes);
    return LLVMBuildBitCast(m->b, bytes, type_lanes(type_int(m, 8), PARTS * lanes), "");
}

static V one_by_one(const struct build *m, V x, V scale, V zero_point, bool is_signed)
{
    V q = emit_operation(m, K_DIV, KT_F32, KT_F32, x, splat(m, scale, lanes_of(x)), NULL);

    q = emit_operation(m, K_ROUND_EVEN, KT_F32, KT_F32, q, NULL, NULL);
    if (zero_point)
        q = emit_operation(m, K_ADD, KT_F32, KT_F32, q, splat(m, zero_point, lanes_of(x)), NULL);
    return emit_operation(m, K_CAST, is_signed ? KT_I8 : KT_U8, KT_F32, q, NULL, NULL);
}

V emit_quantised(const struct build *m, V x, V scale, V zero_point, bool is_signed)
{
    LLVMBasicBlockRef usual = block_append(m, "usual"), other = block_append(m, "other"), join = block_append(m, "join");
    LLVMBasicBlockRef from[2];
    V large = LLVMBuildFCmp(m->b, LLVMRealOGE, scale, const_f_like(m, scale, SCALE_LEAST), "");
    V small = LLVMBuildFCmp(m->b, LLVMRealOLE, scale, const_f_like(m, scale, SCALE_MOST), ""), both[2];

    LLVMBuildCondBr(m->b, LLVMBuildAnd(m->b, large, small, ""), usual, other);
    LLVMPositionBuilderAtEnd(m->b, usual);
    both[0] = divide_and_pack(m, x, scale, zero_point, is_signed);
    from[0] = LLVMGetInsertBlock(m->b);
    LLVMBuildBr(m->b, join);
    LLVMPositionBuilderAtEnd(m->b, other);
    both[1] = one_by_one(m, x, scale, zero_point, is_signed);
    from[1] = LLVMGetInsertBlock(m->b);
    LLVMBuildBr(m->b, join);
    LLVMPositionBuilderAtEnd(m->b, join);
    V result = LLVMBuildPhi(m->b, LLVMTypeOf(both[0]), "");
    LLVMAddIncoming(result, both, from, 2);
    return result;
}
