/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Emits sums of products of bytes. */
#include "codegen/emit/byte_products.h"

#include <stdio.h>

#include "codegen/emit/expression.h"
#include "codegen/emit/memory.h"
#include "codegen/emit/type.h"

enum {
    BYTES = 4,                /* of a word: products that an instruction adds to a lane */
    HALVES = 2,               /* a word of B has as many 4-bit numbers above those of the first four steps */
    LOW_NIBBLES = 0x0f0f0f0f, /* of the bytes of a word */
    ONES = 0x01010101,        /* a word of four times 1 */
    SIGNS = (int)0x80808080   /* of the bytes of a word */
};

/* Returns the i-th byte of every word. */
static V byte_of(const struct build *m, V words, uint32_t i, bool is_signed)
{
    const uint32_t lanes = lanes_of(words);
    V left = splat(m, const_int(m, 32, 8 * (BYTES - 1 - i)), lanes), right = splat(m, const_int(m, 32, 8 * (BYTES - 1)), lanes);
    V high = LLVMBuildShl(m->b, words, left, "");

    return is_signed ? LLVMBuildAShr(m->b, high, right, "") : LLVMBuildLShr(m->b, high, right, "");
}

/* Adds to each lane of sum the four products of unsigned bytes of u and signed bytes of s. */
static V add_products(const struct build *m, V sum, V u, V s)
{
    const uint32_t lanes = lanes_of(sum);
    char name[48];

    if (m->isa->byte_products && (lanes == 4 || lanes == 8 || lanes == 16)) {
        V args[3] = {sum, u, s};

        snprintf(name, sizeof name, "llvm.x86.avx512.vpdpbusd.%u", 32 * lanes);
        return call_intrinsic(m, name, NULL, 0, args, 3);
    }
    for (uint32_t i = 0; i < BYTES; i++)
        sum = LLVMBuildAdd(m->b, sum, LLVMBuildMul(m->b, byte_of(m, u, i, false), byte_of(m, s, i, true), ""), "");
    return sum;
}

static void add_to(const struct build *m, V slot, T type, V u, V s)
{
    LLVMBuildStore(m->b, add_products(m, LLVMBuildLoad2(m->b, type, slot, ""), u, s), slot);
}

/* The loops over the steps of a word are not emitted: their variables are 0. */
static void open_word(struct emitter *e)
{
    for (uint32_t r = e->k->reduced_count - tile_word_vars(e->s); r < e->k->reduced_count; r++) {
        frame_open(&e->frame, e->info.point_level + r + 1);
        e->frame.var_value[e->k->parallel_count + r] = const_int(&e->m, 64, 0);
    }
}

/* Returns the numbers of 4 bits at bits 4 * h of every byte, as bytes; in a kernel that sums columns less the zero point. */
static V numbers_of(const struct emitter *e, V words, uint32_t h)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;
    const struct build *m = &e->m;
    const uint32_t lanes = lanes_of(words);
    const T bytes = type_lanes(type_int(m, 8), BYTES * lanes);
    V half = h ? LLVMBuildLShr(m->b, words, splat(m, const_int(m, 32, BYTES * h), lanes), "") : words;

    half = LLVMBuildAnd(m->b, half, splat(m, const_int(m, 32, LOW_NIBBLES), lanes), "");
    if (!p->columns || p->zero == KEXPR_NONE)
        return half;
    V zero = const_int(m, 8, (int64_t)e->k->exprs[p->zero].bits.f32);
    half = LLVMBuildSub(m->b, LLVMBuildBitCast(m->b, half, bytes, ""), const_splat(zero, BYTES * lanes), "");
    return LLVMBuildBitCast(m->b, half, LLVMTypeOf(words), "");
}

uint32_t byte_products_corrections(const struct emitter *e, const struct context *cx)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;

    return p->columns ? cx->tile->vectors : p->zero != KEXPR_NONE || p->whole ? cx->tile->rows : 0;
}

void byte_products_step(struct emitter *e, const struct context *cx, const V *sums, const V *corrections)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;
    const struct build *m = &e->m;
    const uint32_t vectors = cx->tile->vectors;
    const T type = type_lanes(type_int(m, 32), cx->lanes);
    const V ones = splat(m, const_int(m, 32, ONES), cx->lanes), signs = splat(m, const_int(m, 32, SIGNS), cx->lanes);
    const uint32_t halves = p->whole ? 1 : HALVES;
    V b[COPIES_MAX][HALVES];

    open_word(e);
    for (uint32_t v = 0; v < vectors; v++) {
        const struct context of = context_of_copy(cx, v);
        V words = p->whole ? emit_load_words(e, &of, p->words) : expr_value_lanes(e, &of, p->words, cx->lanes);

        frame_here(&e->frame);
        for (uint32_t h = 0; h < halves; h++) {
            b[v][h] = p->whole ? words : numbers_of(e, words, h);
            if (p->whole && !p->columns) /* more 128 the bytes are unsigned */
                b[v][h] = LLVMBuildXor(m->b, words, signs, "");
            if (p->columns)
                add_to(m, corrections[v], type, ones, b[v][h]);
        }
    }
    for (uint32_t row = 0; row < cx->tile->rows; row++) {
        const struct context of = context_of_copy(cx, row * vectors);

        for (uint32_t h = 0; h < halves; h++) {
            V a = emit_load_word(e, &of, p->a, (int64_t)h * BYTES);
            frame_here(&e->frame);
            a = splat(m, a, cx->lanes);
            if (!p->columns) { /* less 128 the bytes are signed */
                a = LLVMBuildXor(m->b, a, signs, "");
                if (p->zero != KEXPR_NONE || p->whole)
                    add_to(m, corrections[row], type, ones, a);
            }
            for (uint32_t v = 0; v < vectors; v++)
                add_to(m, sums[row * vectors + v], type, p->columns ? a : b[v][h], p->columns ? b[v][h] : a);
        }
    }
}

V byte_products_value(struct emitter *e, const struct context *cx, uint32_t copy, V sum, const V *corrections)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;
    const struct context of = context_of_copy(cx, copy);
    const struct build *m = &e->m;
    const T integers = type_lanes(type_int(m, 32), cx->lanes), floats = type_lanes(type_f32(m), cx->lanes);
    V zero = p->zero != KEXPR_NONE && !p->columns ? expr_value_lanes(e, &of, p->zero, cx->lanes) : NULL;
    V a_zero = p->a_zero != KEXPR_NONE ? expr_value(e, &of, p->a_zero) : NULL;

    frame_here(&e->frame);
    if (a_zero)
        a_zero = LLVMBuildZExt(m->b, a_zero, type_int(m, 32), "");
    V value = LLVMBuildLoad2(m->b, integers, sum, "");
    if (p->columns) {
        V column = LLVMBuildLoad2(m->b, integers, corrections[copy % cx->tile->vectors], "");
        column = a_zero ? LLVMBuildMul(m->b, column, splat(m, a_zero, cx->lanes), "")
                        : LLVMBuildShl(m->b, column, splat(m, const_int(m, 32, 7), cx->lanes), ""); /* times 128 */
        return LLVMBuildSIToFP(m->b, LLVMBuildSub(m->b, value, column, ""), floats, "");
    }
    if (p->whole) {
        V row = LLVMBuildLoad2(m->b, integers, corrections[copy / cx->tile->vectors], "");
        row = LLVMBuildShl(m->b, row, splat(m, const_int(m, 32, 7), cx->lanes), ""); /* times the 128 of B */
        value = LLVMBuildSub(m->b, value, row, "");
    }
    value = LLVMBuildSIToFP(m->b, value, floats, "");
    if (zero) {
        V row = LLVMBuildLoad2(m->b, integers, corrections[copy / cx->tile->vectors], "");
        value = op_mad(m, LLVMBuildFNeg(m->b, zero, ""), LLVMBuildSIToFP(m->b, row, floats, ""), value);
    }
    return value;
}

V byte_products_factor(struct emitter *e, const struct context *cx, uint32_t copy)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;
    const struct context of = context_of_copy(cx, copy);
    V a = p->a_factor != KEXPR_NONE ? expr_value_lanes(e, &of, p->a_factor, cx->lanes) : NULL;
    V b = p->b_factor != KEXPR_NONE ? expr_value_lanes(e, &of, p->b_factor, cx->lanes) : NULL;

    frame_here(&e->frame);
    return a && b ? LLVMBuildFMul(e->m.b, a, b, "") : a ? a : b;
}
