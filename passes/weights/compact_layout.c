/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Moves the numbers of compact weights into panels, and into words of eight numbers of 4 bits or four of 8.  A panel is written
 * from beginning to end.  Where the elements of an output channel are contiguous, a cache line brings several steps of
 * K; they are taken at once, since lines of channels whose distance is a power of two displace each other.
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

/*
 * Eight numbers of 4 bits, one in each byte, in a word.  Neighbours are pushed together by halves: two numbers to a byte, two
 * of those to 16 bits, and so on.  Paired words have the upper four numbers in the odd places.
 */
static uint32_t word_of_bytes(uint64_t bytes, bool paired)
{
    if (paired)
        return (uint32_t)(bytes | bytes >> 28);
    bytes = (bytes | bytes >> 4) & 0x00FF00FF00FF00FF;
    bytes = (bytes | bytes >> 8) & 0x0000FFFF0000FFFF;
    return (uint32_t)(bytes | bytes >> 16);
}

/* Eight numbers from neighbours along K, less the smallest, in a word. */
static uint32_t word_of(const uint8_t *q, int64_t stride, uint8_t low, bool paired)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < DTYPE_UINT4_PER_WORD; i++)
        bytes |= (uint64_t)(uint8_t)(q[i * stride] - low) << 8 * i;
    return word_of_bytes(bytes, paired);
}

/* The same of contiguous numbers.  `flip` makes signed ones unsigned, and none is less than the smallest, so that no
 * byte borrows from the next. */
static uint32_t word_of_neighbours(const uint8_t *q, uint64_t flip, uint64_t low, bool paired)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < DTYPE_UINT4_PER_WORD; i++) /* one load, where the lowest byte comes first in memory */
        bytes |= (uint64_t)q[i] << 8 * i;
    return word_of_bytes((bytes ^ flip) - low, paired);
}

/* Makes the constant of words. */
static struct value *add_words(struct graph *g, const struct compact_layout *p, struct compact_constant *c)
{
    const uint32_t dims[] = {(uint32_t)(p->n / p->panel),
                             (uint32_t)p->blocks,
                             (uint32_t)(p->inner / DTYPE_UINT4_PER_WORD),
                             (uint32_t)p->panel,
                             p->paired ? 4 : DTYPE_UINT4_PER_WORD,
                             2};
    return compact_constant_add(g, c, DTYPE_UINT4, p->paired ? 6 : 5, dims);
}

struct value *compact_nibbles(struct graph *g, const struct compact_layout *p, int low)
{
    const struct value *q = p->constant;
    const uint8_t *from = q->constant->data;
    struct compact_constant c = compact_constant_begin(p, q->constant, q->type.type, low);
    struct value *v = add_words(g, p, &c);
    const uint64_t each = UINT64_MAX / UINT8_MAX; /* times a byte: that byte eight times */
    const uint8_t sign = q->type.type == WNNOperandDataType_Int8 ? 0x80 : 0;
    const uint64_t flips = each * sign, lows = each * (uint8_t)(low + sign);
    uint32_t *to = c.data;

    for (int64_t panel = 0; to && panel < p->n; panel += p->panel)
        for (int64_t k = 0; k < p->k; k += DTYPE_UINT4_PER_WORD)
            for (int64_t i = 0; i < p->panel; i++) {
                const uint8_t *at = from + (panel + i) * p->n_stride + k * p->k_stride;
                *to++ = p->k_stride == 1 ? word_of_neighbours(at, flips, lows, p->paired)
                                         : word_of(at, p->k_stride, (uint8_t)low, p->paired);
            }
    return compact_constant_end(&c, v);
}

/* Returns the four numbers of 4 bits in the lower half of a word, which has nothing else, with a byte for each in eight. */
static uint64_t bytes_of_word(uint64_t word)
{
    word = (word | word << 16) & 0x0000FFFF0000FFFF;
    word = (word | word << 8) & 0x00FF00FF00FF00FF;
    return (word | word << 4) & 0x0F0F0F0F0F0F0F0F;
}

/* Eight numbers of 4 bits from neighbours along K in a word.  Contiguous ones begin with a byte. */
static uint32_t word_of_uint4(const uint8_t *from, int64_t at, int64_t stride, bool paired)
{
    uint64_t bytes = 0;

    if (stride == 1) {
        const uint8_t *b = from + at / 2;
        const uint32_t word = b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
        return paired ? word_of_bytes(bytes_of_word(word), true) : word;
    }
    for (uint32_t i = 0; i < DTYPE_UINT4_PER_WORD; i++, at += stride)
        bytes |= (uint64_t)(from[at / 2] >> at % 2 * 4 & 15) << 8 * i;
    return word_of_bytes(bytes, paired);
}

struct value *compact_uint4(struct graph *g, const struct compact_layout *p)
{
    enum { AT_ONCE = 16 };
    const uint8_t *from = p->constant->constant->data;
    const int64_t words = p->k / DTYPE_UINT4_PER_WORD, step = DTYPE_UINT4_PER_WORD * p->k_stride;
    struct compact_constant c = compact_constant_begin(p, p->constant->constant, p->constant->type.type, 0);
    struct value *v = add_words(g, p, &c);
    uint32_t *to = c.data;

    for (int64_t panel = 0; to && panel < p->n; panel += p->panel)
        for (int64_t first = 0; first < words; first += AT_ONCE) {
            const int64_t count = words - first < AT_ONCE ? words - first : AT_ONCE;
            for (int64_t i = 0; i < p->panel; i++) {
                const int64_t at = (panel + i) * p->n_stride + first * step;
                for (int64_t w = 0; w < count; w++)
                    to[w * p->panel + i] = word_of_uint4(from, at + w * step, p->k_stride, p->paired);
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
