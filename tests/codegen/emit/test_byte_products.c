/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Dot products of bytes (codegen/emit/byte_products.c, byte_words.c): operands of 8 bits, and of 4, on every instruction
 * set.  What kernel_interpret computes of them is exact, and so must be all code, for numbers at the ends of their ranges
 * most of all: instructions that saturate would show there.
 */
#include "codegen/kernels.h"

/* What operands are filled with. */
enum fill { RANDOM, LEAST, LARGEST, ENDS, FILLS };

/* The ends of a row are in turn the one and the other, or each of them twice, so that pairs of either sign meet. */
static void fill_bytes(void *data, int64_t n, enum fill fill, uint8_t least, uint8_t largest)
{
    uint8_t *to = data;

    for (int64_t i = 0; i < n; i++) {
        const bool odd = random_bits() & 1;
        to[i] = fill == RANDOM ? (uint8_t)random_bits() : fill == LEAST || (fill == ENDS && odd) ? least : largest;
    }
}

/* Returns whether every instruction set that multiplies bytes computes the kernel so. */
static bool multiplies_bytes(const struct kernel *k, bool whole)
{
    bool all = true;

    for (int i = 0; i < ISA_COUNT; i++) {
        const bool has = machine_get(i)->target.isa.byte_products != BYTES_NONE;
        struct schedule *s = schedule_of(k, &machine_get(i)->target.isa);

        all = all && (s->tiled && s->tile.blocks.bytes.a != KEXPR_NONE && s->tile.blocks.bytes.whole == whole) == has;
        schedule_free(s);
    }
    return all;
}

/* The sizes of a matmul whose K is in blocks, of words that hold 4 or 8 numbers of a column. */
struct sizes {
    int64_t m, blocks, words, n, panel;
};

/* Tensors: A's bytes, B's, the result, A's zero point, the scales of A and of B. */
enum { A, B, RESULT, ZERO, A_SCALES, B_SCALES, TENSORS };

/* Scales of blocks along K are powers of two, so that sums are exact. */
static void make_tensors(struct kernel *k, const struct sizes *z, int64_t depth, dtype of_b, int64_t b_count,
                         void *tensors[TENSORS])
{
    const dtype u8 = WNNOperandDataType_Uint8, f32 = WNNOperandDataType_Float32;
    const dtype types[TENSORS] = {u8, of_b, f32, u8, f32, f32};
    const int64_t counts[TENSORS] = {z->m * depth, b_count, z->m * z->n, z->n * z->blocks, z->m * z->blocks, z->blocks * z->n};

    for (int t = 0; t < TENSORS; t++) {
        tensors[t] = buffer_create((size_t)counts[t] * dtype_size(types[t]));
        kernel_tensor(k, types[t], counts[t], t == RESULT, NULL);
        memset(tensors[t], 0, (size_t)counts[t] * dtype_size(types[t]));
        for (int64_t i = 0; t >= A_SCALES && i < counts[t]; i++)
            ((float *)tensors[t])[i] = ldexpf(1, (int)(random_bits() % 4));
    }
}

static void check_and_free(struct kernel *k, void *tensors[TENSORS], bool whole)
{
    assert_true(kernel_finish(k));
    assert_true(multiplies_bytes(k, whole));
    check_kernel(k, tensors, exact);
    for (int t = 0; t < TENSORS; t++)
        buffer_free(tensors[t]);
}

/* Unsigned bytes less a zero point times signed bytes in words, as weights of 8 bits are packed: with one zero point that is
 * data, or with 128 and scales of blocks. */
static void bytes(const struct sizes *z, bool scaled, enum fill of_a, enum fill of_b)
{
    const int64_t depth = z->blocks * z->words * 4, panel = z->panel;
    struct kernel *k = kernel_create();
    void *tensors[TENSORS];

    make_tensors(k, z, depth, WNNOperandDataType_Int8, depth * z->n, tensors);
    fill_bytes(tensors[A], z->m * depth, of_a, 0, 255);
    fill_bytes(tensors[B], depth * z->n, of_b, 0x80, 0x7f);
    *(uint8_t *)tensors[ZERO] = of_a == LEAST ? 255 : of_a == LARGEST ? 0 : 201;
    uint32_t i = kernel_var(k, KVAR_PARALLEL, z->m), p = kernel_var(k, KVAR_PARALLEL, z->n / panel),
             j = kernel_var(k, KVAR_PARALLEL, panel), b = kernel_var(k, KVAR_REDUCED, z->blocks),
             w = kernel_var(k, KVAR_REDUCED, z->words), r = kernel_var(k, KVAR_REDUCED, 4);
    struct kaffine row = kaffine_add(k, strided(k, i, depth, 0), strided(k, b, z->words * 4, 0));
    struct kaffine column = kaffine_add(k, strided(k, p, depth * panel, 0), strided(k, b, z->words * 4 * panel, 0));
    row = kaffine_add(k, kaffine_add(k, row, strided(k, w, 4, 0)), kaffine_var(k, r));
    column = kaffine_add(k, kaffine_add(k, column, strided(k, w, 4 * panel, 0)), strided(k, j, 4, 0));
    uint32_t x = kernel_cast(k, KT_F32, load(k, A, row)),
             y = kernel_cast(k, KT_F32, load(k, B, kaffine_add(k, column, kaffine_var(k, r))));
    uint32_t zero = scaled ? kernel_f32(k, 128) : kernel_cast(k, KT_F32, load(k, ZERO, kaffine_const(0)));
    struct kaffine at = kaffine_add(k, strided(k, p, panel, 0), kaffine_var(k, j));
    x = kernel_op2(k, K_SUB, x, zero);
    if (scaled) {
        struct kaffine scale = kaffine_add(k, strided(k, p, z->blocks * panel, 0), strided(k, b, panel, 0));
        x = kernel_op2(k, K_MUL, x, load(k, A_SCALES, kaffine_add(k, strided(k, i, z->blocks, 0), kaffine_var(k, b))));
        y = kernel_op2(k, K_MUL, y, load(k, B_SCALES, kaffine_add(k, scale, kaffine_var(k, j))));
    }
    kernel_store(k, RESULT, kaffine_add(k, strided(k, i, z->n, 0), at), kernel_dot(k, x, y), 0, NULL);
    check_and_free(k, tensors, true);
}

/* Unsigned bytes less 128 times numbers of 4 bits less a zero point, as weights of 4 bits are packed.  The zero point is a
 * constant, or, if it is negative, data: one for each block of a column. */
static void nibbles(const struct sizes *z, int constant_zero, enum fill of_a, enum fill of_b)
{
    const int64_t depth = z->blocks * z->words * 8, panel = z->panel;
    struct kernel *k = kernel_create();
    void *tensors[TENSORS];

    make_tensors(k, z, depth, WNNOperandDataType_Uint32, depth / 8 * z->n, tensors);
    fill_bytes(tensors[A], z->m * depth, of_a, 0, 255);
    fill_bytes(tensors[B], depth / 2 * z->n, of_b, 0, 255);
    for (int64_t i = 0; i < z->n * z->blocks; i++)
        ((uint8_t *)tensors[ZERO])[i] = of_b == LEAST ? 15 : of_b == LARGEST ? 0 : random_bits() & 15;
    uint32_t i = kernel_var(k, KVAR_PARALLEL, z->m), p = kernel_var(k, KVAR_PARALLEL, z->n / panel),
             j = kernel_var(k, KVAR_PARALLEL, panel), b = kernel_var(k, KVAR_REDUCED, z->blocks),
             w = kernel_var(k, KVAR_REDUCED, z->words), h = kernel_var(k, KVAR_REDUCED, 2), r = kernel_var(k, KVAR_REDUCED, 4);
    struct kaffine row = kaffine_add(k, strided(k, i, depth, 0), strided(k, b, z->words * 8, 0));
    struct kaffine of_block = kaffine_add(k, strided(k, p, z->blocks * panel, 0), strided(k, b, panel, 0));
    struct kaffine word = kaffine_add(k, strided(k, p, depth / 8 * panel, 0), strided(k, b, z->words * panel, 0));
    row = kaffine_add(k, kaffine_add(k, row, strided(k, w, 8, 0)), kaffine_add(k, strided(k, h, 4, 0), kaffine_var(k, r)));
    word = kaffine_add(k, kaffine_add(k, word, strided(k, w, panel, 0)), kaffine_var(k, j));
    of_block = kaffine_add(k, of_block, kaffine_var(k, j));
    uint32_t place = kernel_cast(k, KT_U32, kernel_index(k, kaffine_add(k, kaffine_var(k, h), strided(k, r, 2, 0))));
    uint32_t shift = kernel_op2(k, K_SHL, place, kernel_const(k, KT_U32, (union scalar){.u32 = 2}));
    uint32_t y = kernel_op2(k, K_SHR, load(k, B, word), shift), x = kernel_cast(k, KT_F32, load(k, A, row));
    y = kernel_cast(k, KT_F32, kernel_op2(k, K_AND, y, kernel_const(k, KT_U32, (union scalar){.u32 = 15})));
    y = kernel_op2(k, K_SUB, y,
                   constant_zero < 0 ? kernel_cast(k, KT_F32, load(k, ZERO, of_block)) : kernel_f32(k, (float)constant_zero));
    y = kernel_op2(k, K_MUL, y, load(k, B_SCALES, of_block));
    x = kernel_op2(k, K_SUB, x, kernel_f32(k, 128));
    x = kernel_op2(k, K_MUL, x, load(k, A_SCALES, kaffine_add(k, strided(k, i, z->blocks, 0), kaffine_var(k, b))));
    struct kaffine at = kaffine_add(k, strided(k, p, panel, 0), kaffine_var(k, j));
    kernel_store(k, RESULT, kaffine_add(k, strided(k, i, z->n, 0), at), kernel_dot(k, x, y), 0, NULL);
    check_and_free(k, tensors, false);
}

TEST(products_of_bytes_are_exact)
{
    static const struct sizes sizes[] = {
        {1, 4, 8, 128, 64}, {1, 1, 9, 48, 48}, {29, 3, 5, 48, 24}, {40, 1, 24, 40, 40}, {17, 2, 8, 96, 32}};

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int scaled = 0; scaled < 2; scaled++) {
            bytes(&sizes[s], scaled, RANDOM, RANDOM);
            for (int f = LEAST; f < FILLS * FILLS; f++)
                if (f / FILLS != RANDOM && f % FILLS != RANDOM && (s == 0 || s == 4))
                    bytes(&sizes[s], scaled, f / FILLS, f % FILLS);
        }
}

/* Blocks of 4 words are the longest whose sums fit 16 bits with a zero point in the middle, and of 2 with one at an end. */
TEST(products_of_nibbles_are_exact)
{
    static const struct sizes sizes[] = {{1, 3, 4, 64, 64}, {9, 2, 4, 48, 48},  {1, 2, 5, 32, 32}, {12, 2, 2, 32, 16},
                                         {7, 2, 3, 24, 24}, {1, 1, 16, 32, 32}, {10, 2, 8, 32, 32}};
    static const int zeros[] = {-1, 8, 0, 15, 7};

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t zero = 0; zero < sizeof zeros / sizeof *zeros; zero++) {
            nibbles(&sizes[s], zeros[zero], RANDOM, RANDOM);
            for (int f = 0; f < FILLS * FILLS; f++)
                if (f / FILLS != RANDOM && f % FILLS != RANDOM && zero < 4)
                    nibbles(&sizes[s], zeros[zero], f / FILLS, f % FILLS);
        }
}

TEST_GROUP(NULL, machines_free)
