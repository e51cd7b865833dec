/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Emits dot products of bytes, by the instructions that a processor has for them (enum byte_arithmetic in
 * ir/target/target.h), all of which are exact.
 *
 * Where products are added up by twos, a sum of pairs of 16 bits stays one as long as that fits: such sums are `narrow`.  Bytes
 * whose pairs do not fit are multiplied as numbers of 16 bits on x86, and on AArch64 pairs become 32 bits at once.
 */
#include "codegen/lower/tile.h"

#include "codegen/lower/values.h"
#include "codegen/lower/access.h"

/* So many vectors at most hold a vector of words in the form in which they are multiplied, and so many words of each operand
 * are multiplied together. */
enum { BYTE_PARTS = 2, BYTE_WORDS_MOST = 8 };

/* Says how words are multiplied. */
struct byte_form {
    enum byte_arithmetic by; /* BYTES_NONE: by shifts and multiplications of 32 bits */
    uint32_t lanes;
    bool both_signed; /* the first operand is signed, too */
    bool pairs_fit;   /* two products and the two of the other word fit 16 bits */
    bool wide;        /* words are two numbers of 16 bits */
    bool narrow;      /* sums have twice as many lanes of 16 bits, in vectors of the same size */
};

/* Words as they are multiplied. */
struct byte_words {
    V part[BYTE_PARTS];
};

enum { BYTES = 4, PAIRS = 2 };

static bool adds_pairs(const struct byte_form *f)
{
    return f->by == BYTES_MIXED_PAIRS || f->by == BYTES_SIGNED_PAIRS;
}

static V as_lanes(const struct build *m, const struct byte_form *f, V x, uint32_t bits)
{
    return op_bitcast(m, x, type_lanes(type_int(bits), f->lanes * 32 / bits));
}

/* Returns sums of two products of neighbouring bytes, unsigned ones of u and signed ones of s, as 16 bits: exact if they fit.
 */
static V madd_bytes(const struct build *m, const struct byte_form *f, V u, V s)
{
    V unsigned_bytes = as_lanes(m, f, u, 8);

    return op2_typed(m, LOOP_PAIRS_U8_S8, type_lanes(type_i16, PAIRS * f->lanes), unsigned_bytes, as_lanes(m, f, s, 8));
}

/* Returns sums of two products of neighbouring numbers of 16 bits. */
static V madd_words(const struct build *m, const struct byte_form *f, V a, V b)
{
    return op2_typed(m, LOOP_PAIRS_S16, type_lanes(type_i32, f->lanes), a, b);
}

/* Returns the sums of neighbouring numbers of 16 bits. */
static V add_neighbours(const struct build *m, const struct byte_form *f, V pairs)
{
    if (f->by == BYTES_MIXED_PAIRS)
        return madd_words(m, f, pairs, const_int_like(m, pairs, 1));
    return op_convert(m, LOOP_ADD_PAIRS, pairs, type_lanes(type_i32, f->lanes));
}

/* ---- words ---- */

/* Returns the even bytes of words, or the odd ones, as numbers of 16 bits. */
static V bytes_by_twos(const struct build *m, const struct byte_form *f, V words, bool is_signed, bool odd)
{
    V pairs = as_lanes(m, f, words, 16), eight = const_int_like(m, pairs, 8);

    if (!is_signed)
        return odd ? op_lshr(m, pairs, eight) : op_and(m, pairs, const_int_like(m, pairs, UINT8_MAX));
    return op_ashr(m, odd ? pairs : op_shl(m, pairs, eight), eight);
}

/* Returns the first two bytes of all words, or the last two, as signed numbers of 16 bits. */
static V half_words(const struct build *m, const struct byte_form *f, V words, uint32_t half)
{
    V bytes = as_lanes(m, f, words, 8);
    uint8_t numbers[LANES_MAX];

    for (uint32_t i = 0; i < f->lanes * PAIRS; i++)
        numbers[i] = i / PAIRS * BYTES + half * PAIRS + i % PAIRS;
    V two = op_shuffle(m, bytes, bytes, numbers, f->lanes * PAIRS);
    return op_sext(m, two, type_lanes(type_i16, f->lanes * PAIRS));
}

static uint32_t part_count(const struct byte_form *f)
{
    return f->by == BYTES_SIGNED_PAIRS || (f->by == BYTES_MIXED_PAIRS && !f->pairs_fit && !f->wide) ? BYTE_PARTS : 1;
}

/* Emits what makes words of a vector of 32-bit lanes ready to be multiplied. */
static struct byte_words byte_words_of(const struct build *m, const struct byte_form *f, V lanes, bool is_signed)
{
    struct byte_words w = {{lanes}};

    for (uint32_t i = 0; part_count(f) > 1 && i < BYTE_PARTS; i++)
        w.part[i] = f->by == BYTES_SIGNED_PAIRS ? half_words(m, f, lanes, i) : bytes_by_twos(m, f, lanes, is_signed, i);
    return w;
}

/* ---- sums ---- */

/* Returns number i of a word's, which fill it. */
static V byte_of(const struct build *m, V words, uint32_t i, uint32_t count, bool is_signed)
{
    const uint32_t lanes = lanes_of(words), bits = 32 / count;
    V left = splat(m, const_int(m, 32, bits * (count - 1 - i)), lanes), right = splat(m, const_int(m, 32, 32 - bits), lanes);
    V high = op_shl(m, words, left);

    return is_signed ? op_ashr(m, high, right) : op_lshr(m, high, right);
}

static V add_products(const struct build *m, const struct byte_form *f, V sum, V a, V b)
{
    if (f->by == BYTES_MIXED || f->by == BYTES_SIGNED)
        return op3(m, f->by == BYTES_MIXED ? LOOP_DOT_U8_S8 : LOOP_DOT_S8, sum, a, b);
    for (uint32_t i = 0, count = f->wide ? PAIRS : BYTES; i < count; i++)
        sum = op_add(m, sum, op_mul(m, byte_of(m, a, i, count, f->both_signed), byte_of(m, b, i, count, true)));
    return sum;
}

/* Returns the products of two words, by twos and those of their parts added up. */
static V pairs_of(const struct build *m, const struct byte_form *f, const struct byte_words *a, const struct byte_words *b,
                  V sum)
{
    if (f->by == BYTES_MIXED_PAIRS) {
        V pairs = madd_bytes(m, f, a->part[0], b->part[0]);
        return sum ? op_add(m, sum, pairs) : pairs;
    }
    for (uint32_t i = 0; i < BYTE_PARTS; i++) {
        V pairs = op_mul(m, a->part[i], b->part[i]);
        sum = sum ? op_add(m, sum, pairs) : pairs;
    }
    return sum;
}

/* Adds to each lane of sum the products of words in parts, whose pairs have 32 bits. */
static V add_parts(const struct build *m, const struct byte_form *f, V sum, const struct byte_words *a,
                   const struct byte_words *b)
{
    for (uint32_t i = 0; i < part_count(f); i++) {
        V pairs = f->by == BYTES_MIXED_PAIRS ? madd_words(m, f, as_lanes(m, f, a->part[i], 16), as_lanes(m, f, b->part[i], 16))
                                             : add_neighbours(m, f, op_mul(m, a->part[i], b->part[i]));
        sum = op_add(m, sum, pairs);
    }
    return sum;
}

/* Emits the addition of products of a's bytes and b's, which are signed, to a sum: vectors of 32-bit lanes in a slot. */
static void byte_words_add(const struct build *m, const struct byte_form *f, V slot, const struct byte_words *a,
                           const struct byte_words *b, uint32_t count)
{
    V sum = op_get(m, slot);
    V pairs = f->narrow ? as_lanes(m, f, sum, 16) : NULL;

    for (uint32_t i = 0; i < count; i++)
        if (f->pairs_fit)
            pairs = pairs_of(m, f, &a[i], &b[i], pairs);
        else if (adds_pairs(f))
            sum = add_parts(m, f, sum, &a[i], &b[i]);
        else
            sum = add_products(m, f, sum, a[i].part[0], b[i].part[0]);
    if (f->narrow)
        sum = op_bitcast(m, pairs, sum->type);
    else if (pairs)
        sum = op_add(m, sum, add_neighbours(m, f, pairs));
    op_set(m, slot, sum);
}

/* Emits and returns a sum's 32-bit lanes. */
static V byte_sum_value(const struct build *m, const struct byte_form *f, V slot)
{
    V sum = op_get(m, slot);

    return f->narrow ? add_neighbours(m, f, as_lanes(m, f, sum, 16)) : sum;
}

enum {
    BYTE_MIDDLE = 128,      /* what unsigned bytes are more than signed ones */
    SIGNS = (int)0x80808080 /* of the bytes of a word */
};

/* Says how the kernel's words are multiplied.  Pairs of packed numbers times bytes fit 16 bits. */
static struct byte_form form_of(const struct emitter *e, const struct context *cx)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;
    const enum byte_arithmetic by = e->m.isa->byte_products;
    const bool arm = by == BYTES_SIGNED || by == BYTES_SIGNED_PAIRS, has = !p->wide || by == BYTES_MIXED_PAIRS;
    struct byte_form f = {.by = by, .lanes = cx->lanes, .both_signed = p->both_signed, .wide = p->wide};

    if (!has || (arm ? f.lanes != 4 : f.lanes != 4 && f.lanes != 8 && f.lanes != 16))
        f.by = BYTES_NONE;
    f.pairs_fit = p->fits && adds_pairs(&f) && (!p->whole || by == BYTES_MIXED_PAIRS);
    f.narrow = p->narrow && f.pairs_fit;
    return f;
}

/* The loops over the steps of a word are not emitted: their variables are 0. */
static void open_word(struct emitter *e)
{
    for (uint32_t r = e->k->reduced_count - tile_word_vars(e->s); r < e->k->reduced_count; r++) {
        frame_open(&e->frame, e->info.point_level + r + 1);
        e->frame.var_value[e->k->parallel_count + r] = const_index(&e->m, 0);
    }
}

/* Returns the packed numbers at bits p->bits * h of every byte, as bytes; in a kernel that sums columns less the zero point. */
static V numbers_of(const struct emitter *e, V words, uint32_t h)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;
    const struct build *m = &e->m;
    const uint32_t lanes = lanes_of(words);
    const T bytes = type_lanes(type_i8, BYTES * lanes);
    V part = h ? op_lshr(m, words, splat(m, const_int(m, 32, p->bits * h), lanes)) : words;

    part = op_and(m, part, splat(m, const_int(m, 32, ((1 << p->bits) - 1) * BYTE_ONES), lanes));
    if (!p->columns || p->zero == KEXPR_NONE)
        return part;
    V zero = const_int(m, 8, (int64_t)e->k->exprs[p->zero].bits.f32);
    part = op_sub(m, op_bitcast(m, part, bytes), splat(m, zero, BYTES * lanes));
    return op_bitcast(m, part, words->type);
}

static bool is_flipped(const struct byte_products *p)
{
    return p->whole && !p->columns && !p->both_signed && !p->own;
}

/* Returns whether A's multiplied bytes are signed. */
static bool takes_signed_a(const struct byte_products *p)
{
    return p->both_signed || !p->columns;
}

/* Returns the number added to A's bytes before they are multiplied. */
static int32_t shift_of_a(const struct byte_products *p)
{
    if (byte_products_are_less_zero(p))
        return 0;
    return (takes_signed_a(p) ? -BYTE_MIDDLE : 0) + (p->a_signed ? BYTE_MIDDLE : 0);
}

/* Returns whether sums of B's columns count: they are multiplied by column_factor. */
static bool corrects_columns(const struct byte_products *p)
{
    return p->columns && (p->a_zero != KEXPR_NONE || p->a_number + shift_of_a(p) != 0);
}

bool byte_products_share_columns(const struct emitter *e)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;

    return p->a != KEXPR_NONE && corrects_columns(p) && e->s->tile.split == KEXPR_NONE && e->s->tile.m_var != KEXPR_NONE &&
           !e->s->tile.window.row.neighbours;
}

uint32_t byte_products_corrections(const struct emitter *e, const struct context *cx)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;

    if (p->columns)
        return byte_products_share_columns(e) || !corrects_columns(p)
                   ? 0
                   : cx->tile->vectors * (e->s->tile.window.skips ? cx->tile->lines : 1);
    return p->zero != KEXPR_NONE || is_flipped(p) ? cx->tile->rows : 0;
}

/* Makes the numbers of a vector of B's words ready, four of each word at a time. */
static void load_b(struct emitter *e, const struct context *cx, const struct byte_form *f, uint32_t vector,
                   struct byte_words *b)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;
    const struct context of = context_of_copy(cx, vector);
    const struct build *m = &e->m;
    const bool widens = p->wide && e->k->exprs[p->words].type == KT_I8;
    const T type = type_lanes(widens ? type_i16 : type_i32, cx->lanes);
    struct context first = context_of_copy(cx, 0); /* from whose first lane on words follow each other */

    first.lanes = 1;
    const int64_t at = (int64_t)(vector * cx->lanes * (widens ? PAIRS : BYTES));
    V words = p->whole ? emit_load_word(e, &first, p->words, at, type, of.mask) : expr_value_lanes(e, &of, p->words, cx->lanes);

    if (widens) {
        words = op_bitcast(m, words, type_lanes(type_i8, PAIRS * cx->lanes));
        words = as_lanes(m, f, op_sext(m, words, type_lanes(type_i16, PAIRS * cx->lanes)), 32);
    }
    if (is_flipped(p)) /* more 128 the bytes are unsigned */
        words = op_xor(m, words, splat(m, const_int(m, 32, SIGNS), cx->lanes));
    for (uint32_t h = 0; h < byte_products_parts(p); h++)
        b[h] = byte_words_of(m, f, p->whole ? words : numbers_of(e, words, h), true);
}

/* Makes the bytes of a row of A ready that belong to these. */
static void load_a(struct emitter *e, const struct context *cx, const struct byte_form *f, uint32_t row, struct byte_words *a)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;
    const struct context of = context_of_copy(cx, row * cx->tile->vectors);
    const struct build *m = &e->m;

    for (uint32_t h = 0; h < byte_products_parts(p); h++) {
        V bytes = emit_load_word(e, &of, p->a, (int64_t)h * BYTES, type_i32, NULL);
        bytes = splat(m, bytes, cx->lanes);
        if (f->by == BYTES_MIXED_PAIRS) /* one load fills a vector, which takes longer of a register */
            bytes = op_fence(m, bytes);
        if (shift_of_a(p)) /* by 128, either way: the highest bit is flipped */
            bytes = op_xor(m, bytes, splat(m, const_int(m, 32, SIGNS), cx->lanes));
        a[h] = byte_words_of(m, f, bytes, takes_signed_a(p));
    }
}

/* Returns what a block's sum of B's column is multiplied by: A's zero point, or the rest of it if A became signed. */
static V column_factor(struct emitter *e, const struct context *cx)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;
    const struct build *m = &e->m;
    V zero;

    if (p->a_zero == KEXPR_NONE)
        return const_int(m, 32, p->a_number + shift_of_a(p));
    zero = expr_value(e, cx, p->a_zero);
    zero = p->a_signed ? op_sext(m, zero, type_i32) : op_zext(m, zero, type_i32);
    return op_add(m, zero, const_int(m, 32, shift_of_a(p)));
}

/* ---- columns with bytes of their own ---- */

/* Returns bytes as numbers of 32 bits. */
static V wide_bytes(struct emitter *e, const struct context *cx, uint32_t load, int32_t shift, bool is_signed)
{
    const struct build *m = &e->m;
    V bytes = expr_value_lanes(e, cx, load, cx->lanes);
    const T wide = type_lanes(type_i32, cx->lanes);

    if (shift)
        bytes = op_xor(m, bytes, const_int_like(m, bytes, INT8_MIN));
    return is_signed ? op_sext(m, bytes, wide) : op_zext(m, bytes, wide);
}

V byte_products_own_a(struct emitter *e, const struct context *cx)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;
    V a = wide_bytes(e, cx, p->a, shift_of_a(p), p->both_signed);

    if (!byte_products_are_less_zero(p) || (p->a_zero == KEXPR_NONE && !p->a_number))
        return a;
    V zero = column_factor(e, cx);
    frame_here(&e->frame);
    return op_sub(&e->m, a, splat(&e->m, zero, cx->lanes));
}

V byte_products_own_b(struct emitter *e, const struct context *cx)
{
    return wide_bytes(e, cx, e->s->tile.blocks.bytes.words, 0, true);
}

bool byte_products_own_words(const struct emitter *e, const struct context *cx)
{
    return e->s->tile.blocks.bytes.own && form_of(e, cx).by == BYTES_MIXED;
}

V byte_products_add_own(struct emitter *e, const struct context *cx, V sum, V a, V b)
{
    const struct byte_form f = form_of(e, cx);
    const struct build *m = &e->m;

    if (f.by == BYTES_MIXED)
        return op3(m, LOOP_DOT_U8_S8, sum, a, b);
    if (f.by != BYTES_MIXED_PAIRS)
        return op_add(m, sum, op_mul(m, a, b));
    b = op_and(m, b, const_int_like(m, b, UINT16_MAX)); /* the upper halves of two negative numbers have a product, too */
    return op_add(m, sum, madd_words(m, &f, as_lanes(m, &f, a, 16), as_lanes(m, &f, b, 16)));
}

/* ---- tiles ---- */

void byte_products_step(struct emitter *e, const struct context *cx, const V *sums, const V *corrections)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;
    const struct build *m = &e->m;
    const struct byte_form f = form_of(e, cx);
    const uint32_t vectors = cx->tile->vectors, parts = byte_products_parts(p);
    const bool corrects = corrections && (!sums || byte_products_corrections(e, cx) != 0);
    struct byte_words ones[BYTE_WORDS_MOST], a[BYTE_WORDS_MOST], b[COPIES_MAX][BYTE_WORDS_MOST];

    open_word(e);
    if (sums)
        operand_prefetch(e, cx); /* first, as in step */
    for (uint32_t h = 0; h < BYTE_WORDS_MOST; h++)
        ones[h] = byte_words_of(m, &f, splat(m, const_int(m, 32, BYTE_ONES), cx->lanes), true);
    for (uint32_t v = 0; v < vectors; v++) {
        load_b(e, cx, &f, v, b[v]);
        if (p->columns && corrects)
            byte_words_add(m, &f, corrections[v], ones, b[v], parts);
    }
    for (uint32_t row = 0; sums && row < cx->tile->rows; row++) {
        load_a(e, cx, &f, row, a);
        if (!p->columns && corrects)
            byte_words_add(m, &f, corrections[row], ones, a, parts);
        for (uint32_t v = 0; v < vectors; v++)
            byte_words_add(m, &f, sums[row * vectors + v], p->columns ? a : b[v], p->columns ? b[v] : a, parts);
    }
}

void byte_products_start(struct emitter *e, const struct context *cx, V slot)
{
    const struct build *m = &e->m;
    V factor = column_factor(e, cx);

    op_set(m, slot, op_neg(m, op_mul(m, op_get(m, slot), splat(m, factor, cx->lanes))));
}

V byte_products_value(struct emitter *e, const struct context *cx, uint32_t copy, V sum, const V *corrections)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;
    const struct context of = context_of_copy(cx, copy);
    const struct build *m = &e->m;
    const struct byte_form f = form_of(e, cx);
    const T floats = type_lanes(type_f32, cx->lanes);
    const bool corrects = byte_products_corrections(e, cx) != 0;
    V zero = p->zero != KEXPR_NONE && !p->columns ? expr_value_lanes(e, &of, p->zero, cx->lanes) : NULL;
    V factor = p->columns && corrects ? column_factor(e, &of) : NULL;

    V value = byte_sum_value(m, &f, sum);
    if (factor) {
        const uint32_t line = e->s->tile.window.skips ? copy / (cx->tile->rows * cx->tile->vectors) : 0;
        V column = byte_sum_value(m, &f, corrections[line * cx->tile->vectors + copy % cx->tile->vectors]);
        value = op_sub(m, value, op_mul(m, column, splat(m, factor, cx->lanes)));
    }
    if (is_flipped(p)) {
        V row = byte_sum_value(m, &f, corrections[copy / cx->tile->vectors]);
        V middle = splat(m, const_int(m, 32, BYTE_MIDDLE), cx->lanes); /* of B */
        value = op_sub(m, value, op_mul(m, row, middle));
    }
    if (e->k->exprs[p->words].type == KT_I16)
        return value;
    value = op_sitofp(m, value, floats);
    if (zero) {
        V row = byte_sum_value(m, &f, corrections[copy / cx->tile->vectors]);
        value = op_mad(m, op_neg(m, zero), op_sitofp(m, row, floats), value);
    }
    return value;
}

V byte_products_factor(struct emitter *e, const struct context *cx, uint32_t copy)
{
    const struct byte_products *p = &e->s->tile.blocks.bytes;
    const struct context of = context_of_copy(cx, copy);
    V a = p->a_factor != KEXPR_NONE ? expr_value_lanes(e, &of, p->a_factor, cx->lanes) : NULL;
    V b = p->b_factor != KEXPR_NONE ? expr_value_lanes(e, &of, p->b_factor, cx->lanes) : NULL;

    return a && b ? op_mul(&e->m, a, b) : a ? a : b;
}
