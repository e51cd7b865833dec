/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds contractions whose operands are integers of 8 bits, or 4, before they are scaled: what struct byte_products says about
 * the two operands, which is read off the expressions that make floats of them.  bytes_choose fills tile.blocks.bytes of a
 * schedule with a register tile.
 */
#include "ir/schedule/schedule_internal.h"

enum { BYTES_PER_PAIR = 2, NIBBLE_MOST = 15 };

bool tile_loads_words(const struct kernel *k, const struct kexpr *x, uint32_t var)
{
    const uint32_t last = k->parallel_count + k->reduced_count - 1;

    return x->op == K_LOAD && x->type == KT_I8 && !x->guard_count && k->reduced_count && k->vars[last].size == BYTE_WORD &&
           !k->vars[last].bounded && kaffine_coefficient(x->index, last) == 1 &&
           kaffine_coefficient(x->index, var) == BYTE_WORD && !form_derives_from(k, &x->index, var) &&
           !form_derives_from(k, &x->index, last);
}

/* Returns whether x casts what e is to float32, and finds e. */
static const struct kexpr *cast_from(const struct kernel *k, const struct kexpr *x)
{
    return x->op == K_CAST && x->type == KT_F32 ? &k->exprs[x->args[0]] : NULL;
}

/* Splits a product into a factor that changes only from block to block of K and the rest.  Returns false if it is none. */
static bool split_product(const struct kernel *k, const struct kexpr *x, uint32_t depth_most, uint32_t *factor,
                          const struct kexpr **rest)
{
    for (uint32_t i = 0; x->op == K_MUL && i < 2; i++)
        if (expr_depth(k, x->args[i]) <= depth_most && expr_depth(k, x->args[!i]) > depth_most) {
            *factor = x->args[i];
            *rest = &k->exprs[x->args[!i]];
            return true;
        }
    return false;
}

/* Finds the words of 4-bit numbers, whose bits 4 * (2 j + i) belong to step (i, j) of the two innermost loops. */
static bool find_words(const struct kernel *k, const struct kexpr *x, uint32_t column, uint32_t *words)
{
    const uint32_t i = k->parallel_count + k->reduced_count - 2, j = i + 1;
    const struct kexpr *shift, *four, *place;

    if (!x || x->op != K_AND || x->type != KT_U32)
        return false;
    const bool swapped = k->exprs[x->args[0]].op == K_CONST;
    const struct kexpr *mask = &k->exprs[x->args[!swapped]], *shifted = &k->exprs[x->args[swapped]];
    if (mask->op != K_CONST || mask->bits.u32 != 15 || shifted->op != K_SHR)
        return false;
    *words = shifted->args[0];
    shift = &k->exprs[shifted->args[1]];
    if (k->exprs[*words].op != K_LOAD || k->exprs[*words].guard_count || shift->op != K_SHL)
        return false;
    four = &k->exprs[shift->args[1]];
    place = &k->exprs[shift->args[0]];
    place = place->op == K_CAST ? &k->exprs[place->args[0]] : place;
    return four->op == K_CONST && four->bits.u32 == 2 && place->op == K_INDEX && place->index.count == 2 &&
           !place->index.offset && kaffine_coefficient(place->index, i) == 1 && kaffine_coefficient(place->index, j) == 2 &&
           kaffine_coefficient(k->exprs[*words].index, column) == 1 &&
           depth_of(k, &k->exprs[*words].index) <= k->reduced_count - 2;
}

static uint32_t place_of(const struct kernel *k, const struct kexpr *x)
{
    return (uint32_t)(x - k->exprs);
}

/* Finds out what is subtracted from A's bytes: a constant byte, or one that is data.  Returns the rest, or NULL if it is
 * neither. */
static const struct kexpr *find_a_zero(const struct kernel *k, const struct kexpr *x, struct byte_products *p)
{
    const struct kexpr *zero, *byte;

    p->a_zero = KEXPR_NONE;
    p->a_number = 0;
    if (x->op != K_SUB)
        return x;
    zero = &k->exprs[x->args[1]];
    byte = cast_from(k, zero);
    if (zero->op == K_CONST && zero->bits.f32 >= 0 && zero->bits.f32 <= UINT8_MAX) {
        p->a_number = (int32_t)zero->bits.f32;
        return (float)p->a_number == zero->bits.f32 ? &k->exprs[x->args[0]] : NULL;
    }
    if (!byte || byte->op != K_LOAD || byte->type != KT_U8 || byte->index.count)
        return NULL;
    p->a_zero = place_of(k, byte);
    return &k->exprs[x->args[0]];
}

static bool find_a(const struct kernel *k, const struct kexpr *x, uint32_t column, struct byte_products *p)
{
    const uint32_t last = k->parallel_count + k->reduced_count - 1;

    x = find_a_zero(k, x, p);
    const struct kexpr *load = x ? cast_from(k, x) : NULL;
    if (!load || load->op != K_LOAD || load->type != KT_U8 || load->guard_count || kaffine_coefficient(load->index, column) ||
        kaffine_coefficient(load->index, last) != 1)
        return false;
    p->a = place_of(k, load);
    return true;
}

static bool find_b(const struct kernel *k, const struct kexpr *x, uint32_t column, struct byte_products *p)
{
    const uint32_t second = k->parallel_count + k->reduced_count - 2;

    p->zero = KEXPR_NONE;
    if (k->reduced_count >= 2 && x->op == K_SUB && expr_depth(k, x->args[1]) <= k->reduced_count - 2) {
        p->zero = x->args[1];
        x = &k->exprs[x->args[0]];
    }
    const struct kexpr *numbers = cast_from(k, x);
    p->whole = numbers && p->zero == KEXPR_NONE && tile_loads_words(k, numbers, column);
    if (p->whole)
        p->words = place_of(k, numbers);
    return p->whole ||
           (k->reduced_count >= 2 && byte_products_a_is_signed(p) && k->vars[second].size == 2 &&
            find_words(k, numbers, column, &p->words) && kaffine_coefficient(k->exprs[p->a].index, second) == BYTE_WORD);
}

static bool is_one(const struct kexpr *x)
{
    return x->op == K_CONST && x->type == KT_F32 && x->bits.f32 == 1;
}

/* Returns what is multiplied by a factor that changes only from block to block of K, or x itself. */
static const struct kexpr *unscaled(const struct kernel *k, const struct kexpr *x, uint32_t depth_most, uint32_t *factor)
{
    *factor = KEXPR_NONE;
    if (split_product(k, x, depth_most, factor, &x) && is_one(&k->exprs[*factor]))
        *factor = KEXPR_NONE;
    return x;
}

bool byte_products_a_is_signed(const struct byte_products *p)
{
    return p->a_zero == KEXPR_NONE && p->a_number == 128;
}

uint32_t byte_products_word_vars(const struct byte_products *p)
{
    return p->a == KEXPR_NONE ? 0 : p->whole ? 1 : 2;
}

bool byte_products_find(const struct kernel *k, const struct kexpr *dot, uint32_t column, struct byte_products *out,
                        uint32_t *depth)
{
    struct byte_products p = {.zero = KEXPR_NONE};

    *out = (struct byte_products){.a = KEXPR_NONE};
    if (!k->reduced_count || k->vars[k->parallel_count + k->reduced_count - 1].size != BYTE_WORD)
        return false;
    /* Words are found with the most loops over their numbers that there may be, and then it is known how many there are. */
    const uint32_t depth_most = k->reduced_count > 1 ? k->reduced_count - 2 : 0;
    if (!find_a(k, unscaled(k, &k->exprs[dot->args[0]], depth_most, &p.a_factor), column, &p) ||
        !find_b(k, unscaled(k, &k->exprs[dot->args[1]], depth_most, &p.b_factor), column, &p))
        return false;
    const uint32_t outside[3] = {p.a_factor, p.b_factor, p.zero};
    *depth = 0;
    for (uint32_t i = 0; i < 3; i++) {
        const uint32_t d = outside[i] == KEXPR_NONE ? 0 : expr_depth(k, outside[i]);
        *depth = d > *depth ? d : *depth;
    }
    if (BYTE_WORD * iterations_of(k, *depth, k->reduced_count - 1) > BYTE_SUM_STEPS)
        return false;
    *out = p;
    return true;
}

bool byte_products_zero_is_small(const struct kernel *k, const struct byte_products *p)
{
    const struct kexpr *zero = p->zero != KEXPR_NONE ? &k->exprs[p->zero] : NULL;

    return !zero || (zero->op == K_CONST && zero->bits.f32 >= 0 && zero->bits.f32 <= NIBBLE_MOST);
}

/* ---- register tiles ---- */

/* Returns whether columns of B are better summed than rows of A: there are fewer of them in a tile. */
static bool sums_columns(const struct schedule *s, const struct byte_products *p)
{
    /* With another zero point than 128 the bytes of A less it may be no signed bytes. */
    return byte_products_zero_is_small(s->kernel, p) &&
           (s->tile.mr >= s->tile.vectors || (p->whole && p->a_zero != KEXPR_NONE));
}

static bool multiplies_signed(enum byte_arithmetic bytes, const struct byte_products *p)
{
    /* Unsigned bytes times signed ones do not fit pairs of 16 bits: they are multiplied as signed numbers of 16. */
    return bytes == BYTES_SIGNED || bytes == BYTES_SIGNED_PAIRS || (bytes == BYTES_MIXED_PAIRS && p->whole);
}

static bool adds_pairs(enum byte_arithmetic bytes)
{
    return bytes == BYTES_MIXED_PAIRS || bytes == BYTES_SIGNED_PAIRS;
}

/* Returns whether all sums of a block of 4-bit numbers, inside of `depth` loops, fit 16 bits, where they are added up by
 * twos. */
static bool fits_pairs(const struct kernel *k, enum byte_arithmetic bytes, const struct byte_products *p, uint32_t depth)
{
    const int zero = p->columns && p->zero != KEXPR_NONE ? (int)k->exprs[p->zero].bits.f32 : 0;
    const int b = zero > NIBBLE_MOST - zero ? zero : NIBBLE_MOST - zero,
              a = p->columns && !p->both_signed ? UINT8_MAX : -INT8_MIN;
    const int64_t words = 2 * iterations_of(k, depth, k->reduced_count - byte_products_word_vars(p));

    return !p->whole && adds_pairs(bytes) && words * BYTES_PER_PAIR * a * b <= INT16_MAX;
}

uint32_t tile_word_vars(const struct schedule *s)
{
    return byte_products_word_vars(&s->tile.blocks.bytes);
}

void bytes_choose(struct schedule *s, const struct target *target)
{
    const struct kernel *k = s->kernel;
    struct register_tile *t = &s->tile;
    struct byte_products *p = &t->blocks.bytes;
    uint32_t depth;

    *p = (struct byte_products){.a = KEXPR_NONE};
    if (!target->isa.byte_products || !byte_products_find(k, find_dot(k), s->vector_var, p, &depth))
        return;
    if (p->a_zero == KEXPR_NONE && !byte_products_a_is_signed(p)) { /* the lowering knows no other number */
        p->a = KEXPR_NONE;
        return;
    }
    p->columns = sums_columns(s, p);
    p->both_signed = multiplies_signed(target->isa.byte_products, p);
    p->narrow = fits_pairs(k, target->isa.byte_products, p, depth);
    t->blocks.factor = t->blocks.unscaled = KEXPR_NONE;
    t->split = depth ? depth - 1 : KEXPR_NONE;
    t->split_steps = 1;
    int64_t points = p->whole ? 1 : 2; /* steps of words */
    for (t->unroll_from = k->reduced_count - tile_word_vars(s); t->unroll_from > depth; t->unroll_from--) {
        const int64_t size = k->vars[k->parallel_count + t->unroll_from - 1].size;
        points *= size;
        /* LLVM adds up products of several steps before it adds them to a sum, where these are instructions apart, and keeps
         * what they are of all the while: for several rows that is more than there are registers. */
        if (adds_pairs(target->isa.byte_products) && t->mr > 1)
            break;
        if (!kernel_sums_unroll(k, size) || points * t->mr * t->vectors > s->facts->contraction.unrolled_steps)
            break;
    }
}
