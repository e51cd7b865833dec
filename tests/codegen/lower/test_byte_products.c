/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Dot products of bytes (codegen/lower/byte_products.c): operands of 8 bits, and of 4, on every instruction
 * set.  What kernel_interpret computes of them is exact, and so must be all code, for numbers at the ends of their ranges
 * most of all: instructions that saturate would show there.
 */
#include "codegen/kernels.h"
#include "support/kernel_text.h"

/* What operands are filled with. */
enum fill { RANDOM, LEAST, LARGEST, ENDS, FILLS };

/* The ends of a row are in turn the one and the other, or each of them twice, so that pairs of either sign meet. */
static void fill_bytes(void *data, int64_t n, enum fill fill, uint8_t least, uint8_t largest)
{
    uint8_t *to = data;

    for (int64_t i = 0; i < n; i++)
        to[i] = fill == RANDOM                                           ? (uint8_t)random_bits()
                : fill == LEAST || (fill == ENDS && (random_bits() & 1)) ? least
                                                                         : largest;
}

/* Returns whether every instruction set that multiplies bytes computes the kernel so. */
static bool multiplies_bytes(const struct kernel *k, bool whole)
{
    bool all = true;

    for (int i = 0; i < ISA_COUNT; i++) {
        const bool has = machine_get(i)->target.isa.byte_products != BYTES_NONE;
        OWNED(schedule) struct schedule *s = schedule_of(k, &machine_get(i)->target.isa);
        const struct byte_products *p = &s->tile.blocks.bytes;
        const enum byte_arithmetic by = machine_get(i)->target.isa.byte_products;

        all = all && (s->tiled && p->a != KEXPR_NONE && p->whole == whole) == has;
        /* Of unsigned bytes numbers of 16 bits are made as they are: none of them is changed into a signed one before. */
        if (by == BYTES_MIXED_PAIRS && p->columns && !p->own && whole)
            all = all && p->both_signed == p->a_signed && (!k->tensors[1].pairs_fit || p->fits);
        /* Bytes of each column less their zero point are 0 in the padding, lines of which are skipped. */
        if (p->own && s->tile.window.row.neighbours)
            all = all && s->tile.window.skips;
        if (has && s->tile.m_var == KEXPR_NONE) /* one row: packed numbers are prefetched, if there are several words */
            all = all && (s->tile.prefetch_var == s->vector_var) == (!whole && tile_b(s) != KEXPR_NONE);
        double operations = s->cost.operations; /* of a product: two, of integers */
        for (uint32_t v = 0; has && v < k->parallel_count + k->reduced_count; v++)
            operations /= (double)k->vars[v].size;
        all = all && operations < (has ? 3 : INFINITY);
    }
    return all;
}

/* The sizes of a matmul whose K is in blocks, of words that hold 4 or 8 numbers of a column. */
struct sizes {
    int m, blocks, words, n, panel;
};

/* Tensors: A's bytes, B's, the result, A's zero point, the scales of A and of B. */
enum { A, B, RESULT, ZERO, A_SCALES, B_SCALES, TENSORS };

/* Fills tensors whose scales of blocks along K are powers of two, so that sums are exact. */
static void make_tensors(const struct kernel *k, void *tensors[TENSORS])
{
    for (int t = 0; t < TENSORS; t++) {
        const int64_t count = k->tensors[t].elements;
        tensors[t] = buffer_create((size_t)count * dtype_size(k->tensors[t].type));
        memset(tensors[t], 0, (size_t)count * dtype_size(k->tensors[t].type));
        for (int64_t i = 0; t >= A_SCALES && i < count; i++)
            ((float *)tensors[t])[i] = ldexpf(1, (int)(random_bits() % 4));
    }
}

static void check_and_free(struct kernel *k, void *tensors[TENSORS], bool whole)
{
    assert_true(multiplies_bytes(k, whole));
    check_kernel(k, tensors, exact);
    for (int t = 0; t < TENSORS; t++)
        buffer_free(tensors[t]);
}

/* Tensors and variables of matmuls whose words have `per` numbers of a column; $x and $y are the operands. */
#define MATMUL(loops)                                                                                                          \
    "kernel bytes {"                                                                                                           \
    "  parallel i < $m, p < $n / $panel, j < $panel reduced b < $blocks, w < $words" loops " r < 4"                            \
    "  form of_block = $panel*($blocks*p + b) + j, word = $panel*(($blocks*p + b)*$words + w) + j"                             \
    "  tensor a: u8[], weights: $T[], y: f32[] written, zero: u8[$n*$blocks], a_scales: f32[$m*$blocks], b_scales: "           \
    "f32[$n*$blocks]"

/* Unsigned bytes less a zero point times signed bytes in words, as weights of 8 bits are packed: with one zero point that is
 * data, or with 128 and scales of blocks; or half as large ones, sums of whose products by twos fit 16 bits. */
static void bytes(const struct sizes *z, bool scaled, bool fit, enum fill of_a, enum fill of_b)
{
    struct kernel *k = kernel_of(MATMUL(",") "  u = f32(a[4*(($blocks*i + b)*$words + w) + r]) v = f32(weights[4*word + r])"
                                             "  store y[$n*i + $panel*p + j] = reduce.dot($x, $y) }",
                                 "m=%d n=%d panel=%d blocks=%d words=%d T=i8 x=%s y=%s", z->m, z->n, z->panel, z->blocks,
                                 z->words, scaled ? "mul(sub(u,128),a_scales[$blocks*i+b])" : "sub(u,f32(zero[0]))",
                                 scaled ? "mul(v,b_scales[of_block])" : "v");
    void *tensors[TENSORS];

    make_tensors(k, tensors);
    fill_bytes(tensors[A], k->tensors[A].elements, of_a, 0, 255);
    fill_bytes(tensors[B], k->tensors[B].elements, of_b, 0x80, 0x7f);
    k->tensors[B].pairs_fit = fit;
    for (int64_t i = 0; fit && i < k->tensors[B].elements; i++)
        ((int8_t *)tensors[B])[i] /= 2;
    *(uint8_t *)tensors[ZERO] = of_a == LEAST ? 255 : of_a == LARGEST ? 0 : 201;
    check_and_free(k, tensors, true);
}

/* Unsigned bytes less 128 times numbers of 4 bits less a zero point, as weights of 4 bits are packed.  The zero point is a
 * constant, or, if it is negative, data: one for each block of a column. */
static void nibbles(const struct sizes *z, int constant_zero, enum fill of_a, enum fill of_b)
{
    char zero[16] = "f32(zero[$of])";

    if (constant_zero >= 0)
        snprintf(zero, sizeof zero, "%d", constant_zero);
    struct kernel *k = kernel_of(
        MATMUL(", h < 2,") "  u = sub(f32(a[8*(($blocks*i + b)*$words + w) + 4*h + r]), 128)"
                           "  q = and(shr(weights[word], shl(u32(index h + 2*r), u32(2))), u32(15))"
                           "  v = mul(sub(f32(q), $zero), b_scales[of_block])"
                           "  store y[$n*i + $panel*p + j] = reduce.dot(mul(u, a_scales[$blocks*i + b]), v) }",
        "m=%d n=%d panel=%d blocks=%d words=%d T=u32 of=of_block zero=%s", z->m, z->n, z->panel, z->blocks, z->words, zero);
    void *tensors[TENSORS];

    make_tensors(k, tensors);
    fill_bytes(tensors[A], k->tensors[A].elements, of_a, 0, 255);
    fill_bytes(tensors[B], 4 * k->tensors[B].elements, of_b, 0, 255);
    for (int64_t i = 0; i < k->tensors[ZERO].elements; i++)
        ((uint8_t *)tensors[ZERO])[i] = of_b == LEAST ? 15 : of_b == LARGEST ? 0 : random_bits() & 15;
    check_and_free(k, tensors, false);
}

TEST(products_of_bytes_are_exact)
{
    static const struct sizes sizes[] = {
        {1, 4, 8, 128, 64}, {1, 1, 9, 48, 48}, {29, 3, 5, 48, 24}, {40, 1, 24, 40, 40}, {17, 2, 8, 96, 32}};

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int form = 0; form < 4; form++) {
            bytes(&sizes[s], form & 1, form & 2, RANDOM, RANDOM);
            for (int f = LEAST; f < FILLS * FILLS; f++)
                if (f / FILLS != RANDOM && f % FILLS != RANDOM && (s == 0 || s == 4))
                    bytes(&sizes[s], form & 1, form & 2, f / FILLS, f % FILLS);
        }
}

/* Blocks of 4 words are the longest whose sums fit 16 bits with a zero point in the middle, and of 2 with one at an end. */
TEST(products_of_nibbles_are_exact)
{
    static const struct sizes sizes[] = {{1, 3, 4, 64, 64}, {9, 2, 4, 48, 48},  {1, 2, 5, 32, 32},  {12, 2, 2, 32, 16},
                                         {7, 2, 3, 24, 24}, {1, 1, 16, 32, 32}, {10, 2, 8, 32, 32}, {1, 1, 1, 64, 64}};
    static const int zeros[] = {-1, 8, 0, 15, 7};

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (size_t zero = 0; zero < sizeof zeros / sizeof *zeros; zero++) {
            nibbles(&sizes[s], zeros[zero], RANDOM, RANDOM);
            for (int f = 0; f < FILLS * FILLS; f++)
                if (f / FILLS != RANDOM && f % FILLS != RANDOM && zero < 4)
                    nibbles(&sizes[s], zeros[zero], f / FILLS, f % FILLS);
        }
}

/* Numbers of 16 bits whose sums stay integers, as large as Winograd's transforms make those of bytes. */
TEST(products_of_transformed_numbers_are_exact)
{
    enum { INPUTS, WEIGHTS, TO, COUNT };
    for (int turn = 0; turn < 3; turn++) {
        struct kernel *k = kernel_of("kernel numbers { parallel i < $m, p < 3, j < $panel reduced w < $w, r < 2"
                                     "  tensor a: i16[2*$w*$m], b: i16[6*$w*$panel], y: i32[] written"
                                     "  store y[3*$panel*i + $panel*p + j] = reduce.dot(i32(a[2*($w*i + w) + r]), "
                                     "i32(b[2*($panel*($w*p + w) + j) + r])) }",
                                     "m=%d panel=%d w=%d", turn ? 19 : 1, turn < 2 ? 16 : 40, turn < 2 ? 454 : 8);
        void *tensors[COUNT];

        for (int t = 0; t < COUNT; t++) {
            const int most = t == INPUTS ? 4 * UINT8_MAX : -9 * INT8_MIN;
            tensors[t] = buffer_create((size_t)k->tensors[t].elements * dtype_size(k->tensors[t].type));
            for (int64_t i = 0; t < TO && i < k->tensors[t].elements; i++)
                ((int16_t *)tensors[t])[i] = (int16_t)(turn ? (int)random_in_range(-most, most) : most);
        }
        assert_true(multiplies_bytes(k, true));
        check_kernel(k, tensors, exact);
        for (int t = 0; t < COUNT; t++)
            buffer_free(tensors[t]);
    }
}

/* Windows over an image of bytes, in whose padding they are the zero point, or of int16, less it; by words or depthwise. */
static void windows(const char *sizes, bool depthwise, const char *type, int zero, enum fill of_a, enum fill of_b)
{
    enum { IMAGE, WEIGHTS, TO, COUNT };
    const bool is_signed = !strcmp(type, "i8"), wide = !strcmp(type, "i16");
    struct kernel *k = kernel_of(
        depthwise ? "kernel depthwise { parallel y < $H, x < $W, k < $n reduced i < $p, j < $p"
                    "  form v = $s*y + i - 1, u = $s*x + j - 1"
                    "  tensor image: $T[$h*$w*$n], weights: i8[$p*$p*$n], to: f32[] written"
                    "  e = load image[($w*v + u)*$n + k] if 0 <= v < $h if 0 <= u < $w else $fill"
                    "  store to[($W*y + x)*$n + k] = reduce.dot(sub(f32(e), $zero), f32(weights[($p*i + j)*$n + k])) }"
                  : "kernel windows { parallel y < $H, x < $W, k < $n reduced i < $p, j < $p, r < $c, b < $b"
                    "  form v = $s*y + i - 1, u = $s*x + j - 1"
                    "  tensor image: $T[$h*$w*$c*$b], weights: i8[$p*$p*$c*$n*$b], to: f32[] written"
                    "  e = load image[(($w*v + u)*$c + r)*$b + b] if 0 <= v < $h if 0 <= u < $w else $fill"
                    "  store to[($W*y + x)*$n + k] = reduce.dot(sub(f32(e), $zero), "
                    "f32(weights[((($p*i + j)*$c + r)*$n + k)*$b + b])) }",
        "%s b=%d T=%s zero=%d fill=%d", sizes, wide ? 2 : 4, type, zero * !wide,
        is_signed ? (int8_t)zero : (uint8_t)zero * !wide);
    void *tensors[COUNT];

    for (int t = 0; t < COUNT; t++)
        tensors[t] = buffer_create((size_t)k->tensors[t].elements * dtype_size(k->tensors[t].type));
    fill_bytes(tensors[IMAGE], k->tensors[IMAGE].elements, of_a, is_signed ? 0x80 : 0, is_signed ? 0x7f : 255);
    for (int64_t i = k->tensors[IMAGE].elements; wide && i-- > 0;)
        ((int16_t *)tensors[IMAGE])[i] = (int16_t)(((uint8_t *)tensors[IMAGE])[i] - zero);
    fill_bytes(tensors[WEIGHTS], k->tensors[WEIGHTS].elements, of_b, 0x80, 0x7f);
    if (wide || zero == (is_signed ? (int8_t)zero : (uint8_t)zero))
        assert_true(multiplies_bytes(k, true));
    check_kernel(k, tensors, exact);
    for (int t = 0; t < COUNT; t++)
        buffer_free(tensors[t]);
}

TEST(windows_of_bytes_are_exact)
{
    static const char *const sizes[] = {"h=7 w=17 H=7 W=17 c=4 n=40 p=3 s=1", "h=9 w=9 H=4 W=4 c=9 n=24 p=3 s=2",
                                        "h=5 w=30 H=3 W=28 c=1 n=16 p=5 s=1"},
                             *const types[] = {"u8", "i8", "i16"};

    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        for (int depthwise = 0; depthwise < 2; depthwise++)
            for (int t = 0; t < 3 - depthwise; t++) {
                windows(sizes[s], depthwise, types[t], 100, RANDOM, RANDOM);
                windows(sizes[s], depthwise, types[t], t ? 255 : -1, RANDOM, RANDOM); /* other than in the padding */
                windows(sizes[s], depthwise, types[t], t == 1 ? -128 : 255, ENDS, s ? RANDOM : ENDS);
            }
}

TEST_GROUP(NULL, machines_free)
