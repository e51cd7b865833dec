/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Emits dot products of bytes. */
#include "codegen/emit/byte_products.h"

#include "codegen/emit/byte_words.h"
#include "codegen/emit/expression.h"
#include "codegen/emit/memory.h"
#include "codegen/emit/type.h"

enum {
    BYTES = 4,                /* of a word: products that an instruction adds to a lane */
    BYTE_MIDDLE = 128,        /* what unsigned bytes are more than signed ones */
    HALVES = BYTE_WORDS_MOST, /* a word of B has as many 4-bit numbers above those of the first four steps */
    LOW_NIBBLES = 0x0f0f0f0f, /* of the bytes of a word */
    ONES = 0x01010101,        /* a word of four times 1 */
    SIGNS = (int)0x80808080   /* of the bytes of a word */
};

/* Says how the kernel's words are multiplied.  Pairs of numbers of 4 bits times bytes fit 16 bits. */
static struct byte_form form_of(const struct emitter *e, const struct context *cx)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;

    return byte_form_of(&e->m, cx->lanes, p->both_signed, !p->whole, p->narrow);
}

static uint32_t halves_of(const struct byte_products *p)
{
    return p->whole ? 1 : HALVES;
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

/* Returns whether signed bytes of B are multiplied as unsigned ones. */
static bool is_flipped(const struct byte_products *p)
{
    return p->whole && !p->columns && !p->both_signed;
}

uint32_t byte_products_corrections(const struct emitter *e, const struct context *cx)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;

    if (p->columns)
        return p->both_signed && p->a_zero == KEXPR_NONE ? 0 : cx->tile->vectors;
    return p->zero != KEXPR_NONE || is_flipped(p) ? cx->tile->rows : 0;
}

/* Makes the numbers of a vector of B's words ready, by halves of 4-bit numbers. */
static void load_b(struct emitter *e, const struct context *cx, const struct byte_form *f, uint32_t vector,
                   struct byte_words *b)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;
    const struct context of = context_of_copy(cx, vector);
    const struct build *m = &e->m;
    V words = p->whole ? emit_load_words(e, &of, p->words) : expr_value_lanes(e, &of, p->words, cx->lanes);

    frame_here(&e->frame);
    if (is_flipped(p)) /* more 128 the bytes are unsigned */
        words = LLVMBuildXor(m->b, words, splat(m, const_int(m, 32, SIGNS), cx->lanes), "");
    for (uint32_t h = 0; h < halves_of(p); h++)
        b[h] = byte_words_of(m, f, p->whole ? words : numbers_of(e, words, h));
}

/* Makes the bytes of a row of A ready that belong to these. */
static void load_a(struct emitter *e, const struct context *cx, const struct byte_form *f, uint32_t row, struct byte_words *a)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;
    const struct context of = context_of_copy(cx, row * cx->tile->vectors);
    const struct build *m = &e->m;

    for (uint32_t h = 0; h < halves_of(p); h++) {
        V bytes = emit_load_word(e, &of, p->a, (int64_t)h * BYTES);
        frame_here(&e->frame);
        bytes = splat(m, bytes, cx->lanes);
        if (f->by == BYTES_MIXED_PAIRS) /* one load fills a vector, which takes longer of a register */
            bytes = op_fence(m, bytes);
        if (p->both_signed || !p->columns) /* less 128 they are signed */
            bytes = LLVMBuildXor(m->b, bytes, splat(m, const_int(m, 32, SIGNS), cx->lanes), "");
        a[h] = byte_words_of(m, f, bytes);
    }
}

void byte_products_step(struct emitter *e, const struct context *cx, const V *sums, const V *corrections)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;
    const struct build *m = &e->m;
    const struct byte_form f = form_of(e, cx);
    const uint32_t vectors = cx->tile->vectors, halves = halves_of(p);
    const bool corrects = byte_products_corrections(e, cx) != 0;
    struct byte_words ones[HALVES], a[HALVES], b[COPIES_MAX][HALVES];

    open_word(e);
    frame_here(&e->frame);
    for (uint32_t h = 0; h < HALVES; h++)
        ones[h] = byte_words_of(m, &f, splat(m, const_int(m, 32, ONES), cx->lanes));
    for (uint32_t v = 0; v < vectors; v++) {
        load_b(e, cx, &f, v, b[v]);
        if (p->columns && corrects)
            byte_words_add(m, &f, corrections[v], ones, b[v], halves);
    }
    for (uint32_t row = 0; row < cx->tile->rows; row++) {
        load_a(e, cx, &f, row, a);
        if (!p->columns && corrects)
            byte_words_add(m, &f, corrections[row], ones, a, halves);
        for (uint32_t v = 0; v < vectors; v++)
            byte_words_add(m, &f, sums[row * vectors + v], p->columns ? a : b[v], p->columns ? b[v] : a, halves);
    }
}

/* Returns what a block's sum of B's column is multiplied by: A's zero point, or what is left of it if A became signed. */
static V column_factor(struct emitter *e, const struct context *cx)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;
    const struct build *m = &e->m;
    V zero;

    if (p->a_zero == KEXPR_NONE)
        return const_int(m, 32, BYTE_MIDDLE);
    zero = expr_value(e, cx, p->a_zero);
    frame_here(&e->frame);
    zero = LLVMBuildZExt(m->b, zero, type_int(m, 32), "");
    return p->both_signed ? LLVMBuildSub(m->b, zero, const_int(m, 32, BYTE_MIDDLE), "") : zero;
}

V byte_products_value(struct emitter *e, const struct context *cx, uint32_t copy, V sum, const V *corrections)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;
    const struct context of = context_of_copy(cx, copy);
    const struct build *m = &e->m;
    const struct byte_form f = form_of(e, cx);
    const T floats = type_lanes(type_f32(m), cx->lanes);
    const bool corrects = byte_products_corrections(e, cx) != 0;
    V zero = p->zero != KEXPR_NONE && !p->columns ? expr_value_lanes(e, &of, p->zero, cx->lanes) : NULL;
    V factor = p->columns && corrects ? column_factor(e, &of) : NULL;

    frame_here(&e->frame);
    V value = byte_sum_value(m, &f, sum);
    if (factor) {
        V column = byte_sum_value(m, &f, corrections[copy % cx->tile->vectors]);
        value = LLVMBuildSub(m->b, value, LLVMBuildMul(m->b, column, splat(m, factor, cx->lanes), ""), "");
    }
    if (is_flipped(p)) {
        V row = byte_sum_value(m, &f, corrections[copy / cx->tile->vectors]);
        V middle = splat(m, const_int(m, 32, BYTE_MIDDLE), cx->lanes); /* of B */
        value = LLVMBuildSub(m->b, value, LLVMBuildMul(m->b, row, middle, ""), "");
    }
    value = LLVMBuildSIToFP(m->b, value, floats, "");
    if (zero) {
        V row = byte_sum_value(m, &f, corrections[copy / cx->tile->vectors]);
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
