/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Moves the numbers of compact weights into panels, and into words of 32, 16 or eight numbers of 1, 2 or 4 bits, or four of 8.
 * A panel is written from beginning to end.  Where the elements of an output channel are contiguous, a cache line brings
 * several steps of K; they are taken at once, since lines of channels whose distance is a power of two displace each other.
 */
#include "passes/weights/compact_layout.h"

#include <string.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "bytes are moved by words");

struct compact_constant compact_constant_begin(const struct compact_layout *p, const struct constant *of, dtype type,
                                               int64_t number)
{
    const int64_t numbers[] = {p->n, p->k, p->panel, p->blocks, p->inner, p->n_stride, p->k_stride, p->paired, type, number};
    struct compact_constant c = {.pool = p->pool, .recipe = constant_recipe_begin(CONSTANT_COMPACT, of)};

    for (uint32_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        constant_recipe_add(&c.recipe, (uint64_t)numbers[i]);
    return c;
}

struct value *compact_constant_add(struct graph *g, struct compact_constant *c, dtype type, uint32_t rank, const uint32_t *dims)
{
    struct tensor_type t = {.type = type, .rank = rank};

    memcpy(t.dims, dims, rank * sizeof *dims);
    constant_recipe_add(&c->recipe, type);
    for (uint32_t i = 0; i < rank; i++)
        constant_recipe_add(&c->recipe, dims[i]);
    struct constant *found = constant_pool_find(c->pool, &c->recipe);
    struct constant *made = found ? NULL : constant_pool_place(c->pool, (size_t)type_bytes(&t));
    c->data = made ? (void *)made->data : NULL; /* ours alone so far */
    return graph_add_constant(g, &t, found ? found : made);
}

struct value *compact_constant_end(const struct compact_constant *c, struct value *v)
{
    if (v && c->data)
        v->constant = constant_pool_keep(c->pool, &c->recipe, v->constant);
    return v;
}

void compact_range(const struct value *q, int *low, int *high)
{
    const size_t count = q->constant->bytes;
    const uint8_t *u = q->constant->data;
    const uint8_t sign = q->type.type == WNNOperandDataType_Int8 ? 0x80 : 0;
    uint8_t least = UINT8_MAX, most = 0; /* of the numbers above the smallest one */

    for (size_t i = 0; i < count; i++) {
        const uint8_t x = u[i] ^ sign;
        least = x < least ? x : least;
        most = x > most ? x : most;
    }
    *low = least - sign;
    *high = most - sign;
}

enum { AT_A_TIME = 8 }; /* numbers that a register holds, with a byte for each */

/* Reads eight neighbours along K from a constant of bytes, less the smallest number, or of a packed type.  Contiguous ones are
 * loaded at once, where the lowest byte comes first in memory: numbers that are packed begin with a byte then. */
struct number_reader {
    const uint8_t *from;
    int64_t stride; /* of the constant, in numbers */
    uint32_t bits;  /* of a number in the constant */
    uint64_t flip;  /* makes signed bytes unsigned */
    uint64_t low;   /* of each byte, which is less than none: no byte borrows from the next */
};

static struct number_reader reader_of(const struct compact_layout *p, int low)
{
    const dtype type = p->constant->type.type;
    const uint64_t each = UINT64_MAX / UINT8_MAX; /* times a byte: that byte eight times */
    const uint8_t sign = type == WNNOperandDataType_Int8 ? 0x80 : 0;
    const uint32_t bits = dtype_packed_bits(type);

    return (struct number_reader){p->constant->constant->data, p->k_stride, bits ? bits : 8, each * sign,
                                  each * (uint8_t)(low + sign)};
}

/* Pushes eight numbers of so many bits, one in each byte, together: two, then four, then all. */
static inline uint32_t squeeze(uint64_t bytes, uint32_t bits)
{
    const uint64_t pairs = 0x00FF00FF00FF00FF, fours = 0x0000FFFF0000FFFF;

    bytes = (bytes | bytes >> (8 - bits)) & pairs;
    bytes = (bytes | bytes >> (16 - 2 * bits)) & fours;
    return (uint32_t)(bytes | bytes >> (32 - 4 * bits)) & (UINT32_MAX >> (32 - 8 * bits));
}

/* Does the opposite. */
static inline uint64_t spread(uint64_t word, uint32_t bits)
{
    const uint64_t each = UINT64_MAX / UINT8_MAX;
    const uint64_t fours = (1u << 4 * bits) - 1, pairs = (1u << 2 * bits) - 1;

    word = (word | word << (32 - 4 * bits)) & (fours | fours << 32);
    word = (word | word << (16 - 2 * bits)) & (pairs | pairs << 16 | pairs << 32 | pairs << 48);
    return (word | word << (8 - bits)) & each * ((1u << bits) - 1);
}

/* Returns eight numbers from number `at` on, a byte for each. */
static inline uint64_t read_numbers(const struct number_reader *r, int64_t at)
{
    const uint32_t mask = (1u << r->bits) - 1;
    uint64_t bytes = 0;

    if (r->stride == 1) {
        const uint8_t *b = r->from + at * r->bits / 8;
        for (uint32_t i = 0; i < r->bits; i++)
            bytes |= (uint64_t)b[i] << 8 * i;
        return r->bits == 8 ? (bytes ^ r->flip) - r->low : spread(bytes, r->bits);
    }
    for (uint32_t i = 0; i < AT_A_TIME; i++, at += r->stride)
        bytes |= (uint64_t)(r->from[at * r->bits / 8] >> (at * r->bits % 8) & mask) << 8 * i;
    return (bytes ^ r->flip) - r->low;
}

/* Returns the word of a packed type whose first number is number `at`.  In pairs number 4 i + j is in bits b * i of byte j. */
static inline uint32_t word_of(const struct number_reader *r, int64_t at, uint32_t bits, bool paired)
{
    uint32_t word = 0;

    for (uint32_t i = 0; i < 4 / bits; i++, at += AT_A_TIME * r->stride) {
        const uint64_t bytes = read_numbers(r, at);
        word |= paired ? (uint32_t)(bytes | bytes >> (32 - bits)) << 2 * bits * i : squeeze(bytes, bits) << 8 * bits * i;
    }
    return word;
}

struct value *compact_packed(struct graph *g, const struct compact_layout *p, dtype type, int low)
{
    enum { AT_ONCE = 16 };
    const uint32_t bits = dtype_packed_bits(type), per_word = dtype_per_word(type);
    const bool paired = p->paired || bits < 4; /* the loops over a word are short then, and can be unrolled */
    const uint32_t dims[] = {(uint32_t)(p->n / p->panel), (uint32_t)p->blocks,   (uint32_t)(p->inner / per_word),
                             (uint32_t)p->panel,          paired ? 4 : per_word, per_word / 4};
    struct compact_constant c = compact_constant_begin(p, p->constant->constant, p->constant->type.type, low);
    struct value *v = compact_constant_add(g, &c, type, paired ? 6 : 5, dims);
    const struct number_reader r = reader_of(p, low);
    const int64_t words = p->k / per_word, step = per_word * p->k_stride;
    uint32_t *to = c.data;

    for (int64_t panel = 0; to && panel < p->n; panel += p->panel)
        for (int64_t first = 0; first < words; first += AT_ONCE) {
            const int64_t count = words - first < AT_ONCE ? words - first : AT_ONCE;
            for (int64_t i = 0; i < p->panel; i++) {
                const int64_t at = (panel + i) * p->n_stride + first * step;
                for (int64_t w = 0; w < count; w++)
                    to[w * p->panel + i] = word_of(&r, at + w * step, bits, paired);
            }
            to += count * p->panel;
        }
    return compact_constant_end(&c, v);
}

enum { BYTES_PER_WORD = 4 }; /* of K, where kernels multiply bytes */

struct value *compact_words(struct graph *g, const struct compact_layout *p, uint8_t flip)
{
    const uint32_t dims[] = {(uint32_t)(p->n / p->panel), (uint32_t)p->blocks, (uint32_t)(p->inner / BYTES_PER_WORD),
                             (uint32_t)p->panel, BYTES_PER_WORD};
    const uint8_t *bytes = p->constant->constant->data;
    struct compact_constant c = compact_constant_begin(p, p->constant->constant, p->constant->type.type, flip);
    struct value *v = compact_constant_add(g, &c, WNNOperandDataType_Int8, 5, dims);
    const uint32_t flips = UINT32_MAX / UINT8_MAX * flip; /* in each of four bytes */
    uint32_t *to = c.data;

    for (int64_t panel = 0; to && panel < p->n; panel += p->panel)
        for (int64_t k = 0; k < p->k; k += BYTES_PER_WORD)
            for (int64_t i = 0; i < p->panel; i++, to++) {
                const uint8_t *at = bytes + (panel + i) * p->n_stride + k * p->k_stride;
                if (p->k_stride == 1)
                    memcpy(to, at, BYTES_PER_WORD);
                else
                    for (int64_t j = 0; j < BYTES_PER_WORD; j++)
                        ((uint8_t *)to)[j] = at[j * p->k_stride];
                *to ^= flips;
            }
    return compact_constant_end(&c, v);
}

enum { SQUARE = 8 }; /* rows and columns of bytes that are transposed in registers */

/* Transposes a square of bytes, from which `flips` is flipped: eight words of eight bytes change halves, pairs and bytes. */
static void transpose_square(uint8_t *to, int64_t to_stride, const uint8_t *from, int64_t from_stride, uint64_t flips)
{
    static const uint64_t masks[] = {0x00FF00FF00FF00FF, 0x0000FFFF0000FFFF, 0x00000000FFFFFFFF};
    uint64_t words[SQUARE];

    for (int i = 0; i < SQUARE; i++)
        memcpy(&words[i], from + i * from_stride, SQUARE);
    for (int level = 0; level < 3; level++)
        for (int i = 0, bits = SQUARE << level; i < SQUARE; i++)
            if (!(i >> level & 1)) {
                uint64_t *other = &words[i + (1 << level)], change = (words[i] >> bits ^ *other) & masks[level];
                words[i] ^= change << bits;
                *other ^= change;
            }
    for (int i = 0; i < SQUARE; i++) {
        words[i] ^= flips;
        memcpy(to + i * to_stride, &words[i], SQUARE);
    }
}

/* Packs so many bytes along K of each output channel of a panel. */
static void pack_bytes(const struct compact_layout *p, uint8_t *to, const uint8_t *from, int64_t count, uint8_t flip)
{
    const bool squares = p->k_stride == 1 && count % SQUARE == 0 && p->panel % SQUARE == 0;

    for (int64_t i = 0; squares && i < p->panel; i += SQUARE)
        for (int64_t k = 0; k < count; k += SQUARE)
            transpose_square(to + k * p->panel + i, p->panel, from + i * p->n_stride + k, p->n_stride,
                             UINT64_MAX / UINT8_MAX * flip);
    for (int64_t k = 0; !squares && k < count; k++)
        for (int64_t i = 0; i < p->panel; i++)
            to[k * p->panel + i] = from[i * p->n_stride + k * p->k_stride] ^ flip;
}

static void pack_halves(const struct compact_layout *p, char *to, const char *from, int64_t count)
{
    enum { SIZE = 2 };

    for (int64_t i = 0; p->k_stride == 1 && i < p->panel; i++)
        for (int64_t k = 0; k < count; k++)
            memcpy(to + (k * p->panel + i) * SIZE, from + (i * p->n_stride + k) * SIZE, SIZE);
    for (int64_t k = 0; p->k_stride != 1 && k < count; k++)
        for (int64_t i = 0; i < p->panel; i++)
            memcpy(to + (k * p->panel + i) * SIZE, from + (i * p->n_stride + k * p->k_stride) * SIZE, SIZE);
}

struct value *compact_elements(struct graph *g, const struct compact_layout *p, dtype type, uint8_t flip)
{
    const uint32_t dims[] = {(uint32_t)(p->n / p->panel), (uint32_t)p->blocks, (uint32_t)p->inner, (uint32_t)p->panel};
    const int64_t size = (int64_t)dtype_size(type), at_once = TARGET_LINE_BYTES / size;
    const char *from = p->constant->constant->data;
    struct compact_constant c = compact_constant_begin(p, p->constant->constant, p->constant->type.type, flip);
    struct value *v = compact_constant_add(g, &c, type, 4, dims);
    char *to = c.data;

    for (int64_t panel = 0; to && panel < p->n; panel += p->panel)
        for (int64_t first = 0; first < p->k; first += at_once) {
            const int64_t count = p->k - first < at_once ? p->k - first : at_once;
            const char *at = from + (panel * p->n_stride + first * p->k_stride) * size;
            if (size == 1)
                pack_bytes(p, (uint8_t *)to, (const uint8_t *)at, count, flip);
            else
                pack_halves(p, to, at, count);
            to += count * p->panel * size;
        }
    return compact_constant_end(&c, v);
}
