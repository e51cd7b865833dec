/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Finds contractions whose operands are integers of 8 bits or fewer before they are scaled: what struct byte_products says
 * about the two operands, which is read off the expressions that make floats of them.  bytes_choose fills tile.blocks.bytes of
 * a schedule with a register tile.
 */
#include "ir/schedule/schedule_internal.h"

enum { BYTES_PER_PAIR = 2 };

/* Returns the largest of B's packed numbers. */
static int most_of(const struct byte_products *p)
{
    return (1 << p->bits) - 1;
}

/* Returns the numbers of a word along the last REDUCED variable.  Only operands of words of two have 16 bits. */
static int64_t word_of(const struct kernel *k)
{
    for (uint32_t i = 0; i < k->expr_count; i++)
        if (k->exprs[i].op == K_LOAD && k->exprs[i].type == KT_I16)
            return BYTE_WIDE_WORD;
    return BYTE_WORD;
}

bool tile_loads_words(const struct kernel *k, const struct kexpr *x, uint32_t var)
{
    const uint32_t last = k->parallel_count + k->reduced_count - 1;
    const struct kexpr *dot = x->op == K_LOAD && (x->type == KT_I16 || x->type == KT_I8) ? find_dot(k) : NULL;

    return dot && x->type == (dot->type == KT_I32 ? KT_I16 : KT_I8) && !x->guard_count && k->vars[last].size == word_of(k) &&
           !k->vars[last].bounded && kaffine_coefficient(x->index, last) == 1 &&
           kaffine_coefficient(x->index, var) == k->vars[last].size && !kaffine_derives(k, x->index, var) &&
           !kaffine_derives(k, x->index, last);
}

/* Returns what x casts to the type of sums, or NULL if it casts nothing. */
static const struct kexpr *cast_from(const struct kernel *k, const struct kexpr *x)
{
    return x->op == K_CAST && (x->type == KT_F32 || x->type == KT_I32) ? &k->exprs[x->args[0]] : NULL;
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

/* Finds the words of numbers of b bits, of which b * (n j + i) belong to step (i, j) of the two innermost loops. */
static bool find_words(const struct kernel *k, const struct kexpr *x, uint32_t column, struct byte_products *p)
{
    const uint32_t i = k->parallel_count + k->reduced_count - 2, j = i + 1;
    const struct kexpr *shift, *place;

    if (!x || x->op != K_AND || x->type != KT_U32)
        return false;
    const bool swapped = k->exprs[x->args[0]].op == K_CONST;
    const struct kexpr *mask = &k->exprs[x->args[!swapped]], *shifted = &k->exprs[x->args[swapped]];
    if (mask->op != K_CONST || shifted->op != K_SHR)
        return false;
    p->bits = mask->bits.u32 == 15 ? 4 : mask->bits.u32 == 3 ? 2 : 1;
    p->words = shifted->args[0];
    const struct kexpr *words = &k->exprs[p->words];
    shift = &k->exprs[shifted->args[1]];
    if (mask->bits.u32 != (uint32_t)most_of(p) || words->op != K_LOAD || words->guard_count)
        return false;
    if (p->bits > 1) {
        const struct kexpr *twice = &k->exprs[shift->args[1]];
        if (shift->op != K_SHL || twice->op != K_CONST || twice->bits.u32 != p->bits / 2)
            return false;
        shift = &k->exprs[shift->args[0]];
    }
    place = shift->op == K_CAST ? &k->exprs[shift->args[0]] : shift;
    return place->op == K_INDEX && place->index.count == 2 && !place->index.offset &&
           kaffine_coefficient(place->index, i) == 1 && kaffine_coefficient(place->index, j) == byte_products_parts(p) &&
           kaffine_coefficient(words->index, column) == 1 && kernel_depth(k, words->vars) <= k->reduced_count - 2 &&
           k->vars[i].size == byte_products_parts(p);
}

static uint32_t place_of(const struct kernel *k, const struct kexpr *x)
{
    return (uint32_t)(x - k->exprs);
}

/* Finds the number subtracted from A's bytes, a whole one or a byte of data.  Returns the rest, or NULL if it is neither. */
static const struct kexpr *find_a_zero(const struct kernel *k, const struct kexpr *x, struct byte_products *p)
{
    const struct kexpr *zero, *byte;

    p->a_zero = KEXPR_NONE;
    p->a_number = 0;
    if (x->op != K_SUB)
        return x;
    zero = &k->exprs[x->args[1]];
    byte = cast_from(k, zero);
    if (zero->op == K_CONST && zero->bits.f32 >= INT8_MIN && zero->bits.f32 <= UINT8_MAX) {
        p->a_number = (int32_t)zero->bits.f32;
        return (float)p->a_number == zero->bits.f32 ? &k->exprs[x->args[0]] : NULL;
    }
    if (!byte || byte->op != K_LOAD || (byte->type != KT_U8 && byte->type != KT_I8) || byte->index.count)
        return NULL;
    p->a_zero = place_of(k, byte);
    return &k->exprs[x->args[0]];
}

static bool find_a(const struct kernel *k, const struct kexpr *x, uint32_t column, struct byte_products *p)
{
    const uint32_t last = k->parallel_count + k->reduced_count - 1;

    x = find_a_zero(k, x, p);
    const struct kexpr *load = x ? cast_from(k, x) : NULL;
    if (!load || load->op != K_LOAD || ktype_size(load->type) > 2 || depends_on(load->vars, column) ||
        kaffine_coefficient(load->index, last) != 1 || kaffine_derives(k, load->index, last))
        return false;
    if (guards_depth(k, load) == k->reduced_count) /* a word is inside as a whole, and then all columns read it */
        return false;
    p->a = place_of(k, load);
    p->a_signed = ktype_is_signed(load->type);
    p->wide = load->type == KT_I16;
    return p->a_zero == KEXPR_NONE || k->exprs[p->a_zero].type == load->type;
}

/* Returns whether A's bytes less their zero point are all signed bytes: it is 128. */
static bool a_is_signed(const struct byte_products *p)
{
    return p->a_zero == KEXPR_NONE && p->a_number == (p->a_signed ? 0 : 128);
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
    p->bits = 8;
    if (p->whole)
        p->words = place_of(k, numbers);
    return p->whole || (k->reduced_count >= 2 && a_is_signed(p) && find_words(k, numbers, column, p) &&
                        kaffine_coefficient(k->exprs[p->a].index, second) == BYTE_WORD);
}

/* Returns x without a factor that changes only from block to block of K, or x itself. */
static const struct kexpr *unscaled(const struct kernel *k, const struct kexpr *x, uint32_t depth_most, uint32_t *factor)
{
    *factor = KEXPR_NONE;
    if (split_product(k, x, depth_most, factor, &x) && k->exprs[*factor].op == K_CONST && k->exprs[*factor].bits.f32 == 1)
        *factor = KEXPR_NONE;
    return x;
}

/* Returns how many REDUCED variables, the innermost ones, run over the numbers of a word of B, of which a step takes all. */
static uint32_t word_vars(const struct byte_products *p)
{
    return p->a == KEXPR_NONE || p->own ? 0 : p->whole ? 1 : 2;
}

bool byte_products_find(const struct kernel *k, const struct kexpr *dot, uint32_t column, struct byte_products *out,
                        uint32_t *depth)
{
    struct byte_products p = {.zero = KEXPR_NONE};

    *out = (struct byte_products){.a = KEXPR_NONE};
    if (!k->reduced_count || k->vars[k->parallel_count + k->reduced_count - 1].size != word_of(k))
        return false;
    /* Words are found with the most loops over their numbers that there may be, and then it is known how many there are. */
    const uint32_t depth_most = k->reduced_count > 1 ? k->reduced_count - 2 : 0;
    if (!find_a(k, unscaled(k, &k->exprs[dot->args[0]], depth_most, &p.a_factor), column, &p) ||
        !find_b(k, unscaled(k, &k->exprs[dot->args[1]], depth_most, &p.b_factor), column, &p))
        return false;
    const uint32_t outside[3] = {p.a_factor, p.b_factor, p.zero};
    *depth = 0;
    for (uint32_t i = 0; i < 3; i++)
        *depth = max_u32(*depth, outside[i] == KEXPR_NONE ? 0 : expr_depth(k, outside[i]));
    if (iterations_of(k, *depth, k->reduced_count) > BYTE_SUM_STEPS)
        return false;
    *out = p;
    return true;
}

/*
 * Determines whether every column multiplies its own bytes: those of A and of B are neighbours along the columns.
 */
static bool own_products_find(const struct kernel *k, const struct kexpr *dot, uint32_t column, struct byte_products *out)
{
    struct byte_products p = {.zero = KEXPR_NONE, .own = true, .bits = 8, .whole = true};
    const struct kexpr *bytes[2];

    for (uint32_t i = 0; i < 2; i++) {
        const struct kexpr *x = unscaled(k, &k->exprs[dot->args[i]], 0, i ? &p.b_factor : &p.a_factor);
        x = i ? x : find_a_zero(k, x, &p);
        bytes[i] = x ? cast_from(k, x) : NULL;
        if (!bytes[i] || bytes[i]->op != K_LOAD || ktype_size(bytes[i]->type) != 1 ||
            kaffine_coefficient(bytes[i]->index, column) != 1 || kaffine_derives(k, bytes[i]->index, column))
            return false;
    }
    if (bytes[1]->type != KT_I8 || bytes[1]->guard_count || iterations_of(k, 0, k->reduced_count) > BYTE_SUM_STEPS ||
        (p.a_zero != KEXPR_NONE && k->exprs[p.a_zero].type != bytes[0]->type))
        return false;
    p.a = place_of(k, bytes[0]);
    p.words = place_of(k, bytes[1]);
    p.a_signed = bytes[0]->type == KT_I8;
    *out = p;
    return true;
}

/* Returns whether B has no zero point, or one that is a constant and that leaves signed bytes of packed numbers. */
static bool zero_is_small(const struct kernel *k, const struct byte_products *p)
{
    const struct kexpr *zero = p->zero != KEXPR_NONE ? &k->exprs[p->zero] : NULL;

    return !zero || (zero->op == K_CONST && zero->bits.f32 >= 0 && zero->bits.f32 <= (float)most_of(p) &&
                     (float)(int)zero->bits.f32 == zero->bits.f32);
}

/* ---- register tiles ---- */

/* Returns whether columns of B are better summed than rows of A: there are fewer of them in a tile. */
static bool sums_columns(const struct schedule *s, const struct byte_products *p)
{
    /* With another zero point than 128 the bytes of A less it may be no signed bytes. */
    return zero_is_small(s->kernel, p) && (s->tile.mr >= s->tile.vectors || (p->whole && !a_is_signed(p)));
}

static bool multiplies_signed(enum byte_arithmetic bytes, const struct byte_products *p)
{
    /* Pairs of unsigned bytes times signed ones do not fit 16 bits: all are multiplied as numbers of 16 bits, which unsigned
     * bytes are made by the fewest instructions. */
    return bytes == BYTES_SIGNED || bytes == BYTES_SIGNED_PAIRS ||
           (bytes == BYTES_MIXED_PAIRS && p->whole && !p->fits && (p->a_signed || !p->columns));
}

static bool adds_pairs(enum byte_arithmetic bytes)
{
    return bytes == BYTES_MIXED_PAIRS || bytes == BYTES_SIGNED_PAIRS;
}

/* Returns whether all sums of a block of packed numbers, inside of `depth` loops, fit 16 bits, to be added up by twos. */
static bool fits_pairs(const struct kernel *k, enum byte_arithmetic bytes, const struct byte_products *p, uint32_t depth)
{
    const int zero = p->columns && p->zero != KEXPR_NONE ? (int)k->exprs[p->zero].bits.f32 : 0;
    const int b = zero > most_of(p) - zero ? zero : most_of(p) - zero,
              a = p->columns && !p->both_signed ? UINT8_MAX : -INT8_MIN;
    const int64_t words = byte_products_parts(p) * iterations_of(k, depth, k->reduced_count - word_vars(p));

    return !p->whole && adds_pairs(bytes) && words * BYTES_PER_PAIR * a * b <= INT16_MAX;
}

/* Unrolls the loops inside of `depth` others whose body has so many points at most; the innermost ones are over a word. */
static void unroll_words(struct schedule *s, uint32_t word_vars, uint32_t depth, int64_t points)
{
    const struct kernel *k = s->kernel;
    struct register_tile *t = &s->tile;

    for (t->unroll_from = k->reduced_count - word_vars; t->unroll_from > depth; t->unroll_from--) {
        const uint32_t var = k->parallel_count + t->unroll_from - 1;
        points *= k->vars[var].size;
        if (!kernel_sums_unroll(k, var) || points * t->mr * t->vectors > s->facts->contraction.unrolled_steps)
            break;
    }
}

/* Returns the only number that x is computed of, with constants, or NULL. */
static const struct kexpr *only_number(const struct kernel *k, const struct kexpr *x)
{
    if (x->op == K_AND)
        return x;
    if (x->op == K_CAST)
        return only_number(k, &k->exprs[x->args[0]]);
    for (uint32_t i = 0; i < 2 && (x->op == K_ADD || x->op == K_SUB || x->op == K_MUL); i++)
        if (k->exprs[x->args[!i]].op == K_CONST)
            return only_number(k, &k->exprs[x->args[i]]);
    return NULL;
}

void lookups_choose(struct schedule *s, const struct target *target)
{
    const struct kernel *k = s->kernel;
    struct register_tile *t = &s->tile;
    const struct kexpr *dot = find_dot(k), *a = &k->exprs[dot->args[0]];
    const uint32_t b = t->blocks.factor != KEXPR_NONE ? t->blocks.unscaled : dot->args[1];
    const uint32_t word_vars = 2, depth = t->split == KEXPR_NONE ? 0 : t->split + 1;
    struct byte_products p = {.a = KEXPR_NONE};

    t->blocks.words = KEXPR_NONE;
    if (!target->isa.scaling || s->lanes != LOOKUP_ENTRIES || t->guarded || t->blocks.bytes.a != KEXPR_NONE ||
        k->reduced_count < word_vars || depth > k->reduced_count - word_vars || kernel_sizes_are_chosen(k) ||
        k->vars[k->parallel_count + k->reduced_count - 1].size != BYTE_WORD)
        return;
    if (a->op != K_LOAD || a->guard_count || depends_on(a->vars, s->vector_var) ||
        !find_words(k, only_number(k, &k->exprs[b]), s->vector_var, &p) || p.bits == 4 || t->mr * p.bits > LOOKUP_BITS)
        return;
    t->blocks.words = p.words;
    unroll_words(s, word_vars, depth, 2 * BYTE_WORD);
}

uint32_t tile_word_vars(const struct schedule *s)
{
    return word_vars(&s->tile.blocks.bytes);
}

void bytes_choose(struct schedule *s, const struct target *target)
{
    const struct kernel *k = s->kernel;
    struct register_tile *t = &s->tile;
    struct byte_products *p = &t->blocks.bytes;
    uint32_t depth;

    *p = (struct byte_products){.a = KEXPR_NONE};
    if (!target->isa.byte_products)
        return;
    if (own_products_find(k, find_dot(k), s->vector_var, p)) {
        /* Numbers of 32 bits are multiplied, and where only products of unsigned bytes are, the others of their words are 0. */
        p->columns = target->isa.byte_products == BYTES_MIXED;
        p->both_signed = !p->columns && p->a_signed;
        t->blocks.factor = t->blocks.unscaled = t->split = KEXPR_NONE;
        return;
    }
    if (!byte_products_find(k, find_dot(k), s->vector_var, p, &depth))
        return;
    if (!p->whole && p->a_zero == KEXPR_NONE && !a_is_signed(p)) { /* the lowering knows no other number */
        p->a = KEXPR_NONE;
        return;
    }
    const struct kexpr *a = &k->exprs[p->a];
    /* Loops inside of which rows in the padding are told from others are not unrolled. */
    const uint32_t guarded = guards_depth(k, a);
    if (guarded && !tile_zeros(s, a, guarded)) {
        p->a = KEXPR_NONE;
        return;
    }
    p->columns = sums_columns(s, p);
    p->fits = !p->whole || (k->tensors[k->exprs[p->words].tensor].pairs_fit && p->columns && !p->wide);
    p->both_signed = p->wide || multiplies_signed(target->isa.byte_products, p);
    p->narrow = fits_pairs(k, target->isa.byte_products, p, depth);
    t->blocks.factor = t->blocks.unscaled = KEXPR_NONE;
    t->split = depth ? depth - 1 : KEXPR_NONE;
    t->split_steps = 1;
    /* LLVM adds up products of several steps before it adds them to a sum, where these are instructions apart, and keeps
     * what they are of all the while: for several rows that is more than there are registers.  So it does with A's words of
     * many steps, which it loads long before they are multiplied.  Products of whole bytes gain nothing by more steps. */
    const bool one_step = p->whole || (adds_pairs(target->isa.byte_products) && t->mr > 1);
    unroll_words(s, tile_word_vars(s), one_step ? k->reduced_count : max_u32(depth, guarded), byte_products_parts(p));
}
