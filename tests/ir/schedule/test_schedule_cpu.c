/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What schedule_cpu chooses for characteristic kernels, on a processor of every row of the table of facts: the vector variable,
 * lanes, MR x NR, MC, units, row buffers, and transposes.  Speed depends on these choices, and no test of results sees them.
 */
#include <inttypes.h>

#include "support/schedules.h"
#include "support/test.h"

/** Processors as codegen/llvm finds them. */
static const struct isa avx2 = {
    .vector_bits = 256, .fma = true, .f16 = true, .rounding = true, .masks32 = true, .registers = 16};
static const struct isa baseline = {.vector_bits = 128, .registers = 16};
static const struct isa neon = {.vector_bits = 128, .fma = true, .f16 = true, .rounding = true, .registers = 32};

/** What is expected with AVX-512 (isa_of_tests), AVX2, on the first x86-64, and with NEON. */
struct expected {
    const char *avx512, *avx2, *baseline, *neon;
};

static uint32_t load(struct kernel *k, uint32_t tensor, struct kaffine index)
{
    return kernel_load(k, tensor, index, 0, NULL, (union scalar){0});
}

/* row * stride + column */
static struct kaffine at(struct kernel *k, uint32_t row, int64_t stride, uint32_t column)
{
    return kaffine_add(k, kaffine_scale(k, kaffine_var(k, row), stride), kaffine_var(k, column));
}

/* Frees k. */
static void expect(struct kernel *k, const struct expected *want)
{
    const struct isa *const isas[] = {&isa_of_tests, &avx2, &baseline, &neon};
    const char *const texts[] = {want->avx512, want->avx2, want->baseline, want->neon};

    assert_true(kernel_finish(k));
    for (int i = 0; i < 4; i++) {
        struct schedule *s = schedule_of(k, isas[i]);
        char text[256] = {0};
        FILE *f = fmemopen(text, sizeof text - 1, "w");

        assert_non_null(f);
        schedule_print_short(s, f);
        fclose(f);
        if (strcmp(text, texts[i]))
            fail_msg("processor %d: \"%s\" instead of \"%s\"", i, text, texts[i]);
        schedule_free(s);
    }
    kernel_free(k);
}

TEST(elementwise_kernels_have_vectors_of_blocks)
{
    enum { N = 10000 };
    struct kernel *k = kernel_create();
    const uint32_t i = kernel_var(k, KVAR_PARALLEL, N);

    kernel_tensor(k, WNNOperandDataType_Float32, N, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, N, true, NULL);
    kernel_store(k, 1, kaffine_var(k, i), kernel_op1(k, K_NEG, load(k, 0, kaffine_var(k, i))), 0, NULL);
    expect(k, &(struct expected){"16 lanes along v0, 3 units, scratch 0 bytes", "8 lanes along v0, 3 units, scratch 0 bytes",
                                 "4 lanes along v0, 3 units, scratch 0 bytes", "4 lanes along v0, 3 units, scratch 0 bytes"});
}

/* y[i][j] = exp(x[i][j]) / sum over j of exp(x[i][j]): exp is computed once and kept in a row buffer. */
TEST(rows_that_are_used_twice_are_kept)
{
    enum { ROWS = 12, WIDTH = 100 };
    struct kernel *k = kernel_create();
    const uint32_t i = kernel_var(k, KVAR_PARALLEL, ROWS), j = kernel_var(k, KVAR_REDUCED, WIDTH);

    kernel_tensor(k, WNNOperandDataType_Float32, ROWS * WIDTH, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, ROWS * WIDTH, true, NULL);
    const uint32_t e = kernel_op1(k, K_EXP, load(k, 0, at(k, i, WIDTH, j)));
    kernel_store(k, 1, at(k, i, WIDTH, j), kernel_op2(k, K_DIV, e, kernel_reduce(k, KR_SUM, e)), 0, NULL);
    expect(k, &(struct expected){
                  "16 lanes along v1, 12 units, scratch 448 bytes", "8 lanes along v1, 12 units, scratch 448 bytes",
                  "4 lanes along v1, 12 units, scratch 448 bytes", "4 lanes along v1, 12 units, scratch 448 bytes"});
}

/* y[i] = sum over j of exp(x[j][i]): few columns and much work, hence blocks of columns small enough for units_wanted units. */
TEST(few_columns_make_enough_units)
{
    enum { ROWS = 512, COLUMNS = 1024 };
    struct kernel *k = kernel_create();
    const uint32_t i = kernel_var(k, KVAR_PARALLEL, COLUMNS), j = kernel_var(k, KVAR_REDUCED, ROWS);

    kernel_tensor(k, WNNOperandDataType_Float32, ROWS * COLUMNS, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, COLUMNS, true, NULL);
    const uint32_t e = kernel_op1(k, K_EXP, load(k, 0, at(k, j, COLUMNS, i)));
    kernel_store(k, 1, kaffine_var(k, i), kernel_reduce(k, KR_SUM, e), 0, NULL);
    expect(k, &(struct expected){"16 lanes along v0, 16 units, scratch 0 bytes", "8 lanes along v0, 16 units, scratch 0 bytes",
                                 "4 lanes along v0, 16 units, scratch 0 bytes", "4 lanes along v0, 16 units, scratch 0 bytes"});
}

static void matmul(int64_t m, int64_t depth, int64_t n, const struct expected *want)
{
    struct kernel *k = kernel_create();
    const uint32_t i = kernel_var(k, KVAR_PARALLEL, m), j = kernel_var(k, KVAR_PARALLEL, n);
    const uint32_t r = kernel_var(k, KVAR_REDUCED, depth);

    kernel_tensor(k, WNNOperandDataType_Float32, m * depth, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, depth * n, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, m * n, true, NULL);
    kernel_store(k, 2, at(k, i, n, j), kernel_dot(k, load(k, 0, at(k, i, depth, r)), load(k, 1, at(k, r, n, j))), 0, NULL);
    expect(k, want);
}

TEST(contractions_are_register_tiled)
{
    matmul(96, 64, 96,
           &(struct expected){"16 lanes along v1, tiles of 8 rows x 3 vectors, 1 units, scratch 0 bytes",
                              "8 lanes along v1, tiles of 6 rows x 2 vectors, 1 units, scratch 0 bytes",
                              "4 lanes along v1, tiles of 6 rows x 2 vectors, 1 units, scratch 0 bytes",
                              "4 lanes along v1, tiles of 8 rows x 3 vectors, 1 units, scratch 0 bytes"});
    matmul(200, 64, 32,
           &(struct expected){
               "16 lanes along v1, tiles of 8 rows x 2 vectors, 3 units, scratch 0 bytes",
               "8 lanes along v1, tiles of 4 rows x 2 vectors, 3 units, scratch 0 bytes",
               "4 lanes along v1, tiles of 4 rows x 2 vectors, 3 units, scratch 0 bytes",
               "4 lanes along v1, tiles of 8 rows x 2 vectors, 3 units, scratch 0 bytes"}); /* more rows than a unit has */
    matmul(1, 64, 512,
           &(struct expected){
               "16 lanes along v0, tiles of 1 rows x 8 vectors, 1 units, scratch 0 bytes",
               "8 lanes along v0, tiles of 1 rows x 8 vectors, 1 units, scratch 0 bytes",
               "4 lanes along v0, tiles of 1 rows x 8 vectors, 1 units, scratch 0 bytes",
               "4 lanes along v0, tiles of 1 rows x 8 vectors, 1 units, scratch 0 bytes"}); /* one row: wide tiles */
    matmul(
        49, 64, 33,
        &(struct expected){"16 lanes along v1, tiles of 7 rows x 3 vectors, 1 units, scratch 0 bytes",
                           "8 lanes along v1, tiles of 4 rows x 3 vectors, 1 units, scratch 0 bytes",
                           "4 lanes along v1, tiles of 5 rows x 2 vectors, 1 units, scratch 0 bytes",
                           "4 lanes along v1, tiles of 7 rows x 2 vectors, 1 units, scratch 0 bytes"}); /* what is left over */
}

/* y[i][j] = sum over r and s of x[r][i + s] * w[r][s][j]: a convolution with a small window */
static struct kernel *create_window(void)
{
    enum { M = 96, N = 32, R = 3, S = 3 };
    struct kernel *k = kernel_create();
    const uint32_t i = kernel_var(k, KVAR_PARALLEL, M), j = kernel_var(k, KVAR_PARALLEL, N);
    const uint32_t r = kernel_var(k, KVAR_REDUCED, R), s = kernel_var(k, KVAR_REDUCED, S);
    const struct kaffine pixel = kaffine_add(k, at(k, r, M + S - 1, s), kaffine_var(k, i));

    kernel_tensor(k, WNNOperandDataType_Float32, R * (M + S - 1), false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, R * S * N, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, M * N, true, NULL);
    const uint32_t w = load(k, 1, kaffine_add(k, kaffine_scale(k, at(k, r, S, s), N), kaffine_var(k, j)));
    kernel_store(k, 2, at(k, i, N, j), kernel_dot(k, load(k, 0, pixel), w), 0, NULL);
    assert_true(kernel_finish(k));
    return k;
}

/* Where all loads of a block come first, unrolled steps would keep their operands on the stack. */
TEST(unrolled_steps_fit_into_registers)
{
    static const struct isa webassembly = {.vector_bits = 128, .rounding = true, .registers = 15, .loads_first = true};
    const struct isa *const isas[] = {&baseline, &webassembly};
    struct kernel *k = create_window();

    for (int i = 0; i < 2; i++) {
        struct schedule *s = schedule_of(k, isas[i]);

        assert_true(s->tiled);
        assert_int_equal(s->tile.unroll_from, i ? k->reduced_count : 0);
        schedule_free(s);
    }
    kernel_free(k);
}

TEST(transposes_are_in_registers)
{
    enum { ROWS = 64, WIDTH = 48 };
    struct kernel *k = kernel_create();
    const uint32_t i = kernel_var(k, KVAR_PARALLEL, ROWS), j = kernel_var(k, KVAR_PARALLEL, WIDTH);

    kernel_tensor(k, WNNOperandDataType_Float32, ROWS * WIDTH, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, ROWS * WIDTH, true, NULL);
    kernel_store(k, 1, at(k, j, ROWS, i), load(k, 0, at(k, i, WIDTH, j)), 0, NULL);
    expect(k, &(struct expected){"16 lanes along v1, transposed along v0, 64 units, scratch 0 bytes",
                                 "8 lanes along v1, transposed along v0, 64 units, scratch 0 bytes",
                                 "4 lanes along v1, transposed along v0, 64 units, scratch 0 bytes",
                                 "4 lanes along v1, transposed along v0, 64 units, scratch 0 bytes"});
}

/* Returns how often vectors repeat what a kernel loads that makes each element `times` elements, from element `offset` on. */
static uint32_t repeat_of(int64_t width, int64_t times, int64_t offset, const struct isa *isa)
{
    enum { ROWS = 3 };
    struct kernel *k = kernel_create();
    const uint32_t i = kernel_var(k, KVAR_PARALLEL, ROWS), j = kernel_var(k, KVAR_PARALLEL, width);
    const struct kaffine column = kernel_divmod(k, kaffine_add_const(kaffine_var(k, j), offset), times, 0);
    uint32_t repeat = 0;

    kernel_tensor(k, WNNOperandDataType_Float32, ROWS * (width + offset), false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, ROWS * width, true, NULL);
    kernel_store(k, 1, at(k, i, width, j),
                 load(k, 0, kaffine_add(k, kaffine_scale(k, kaffine_var(k, i), width + offset), column)), 0, NULL);
    assert_true(kernel_finish(k));
    struct schedule *s = schedule_of(k, isa);
    for (uint32_t e = 0; e < k->expr_count; e++)
        repeat += s->exprs[e].repeat;
    schedule_free(s);
    kernel_free(k);
    return repeat;
}

TEST(enlarged_rows_are_loaded_once)
{
    assert_int_equal(repeat_of(64, 2, 0, &isa_of_tests), 2);
    assert_int_equal(repeat_of(64, 4, 8, &isa_of_tests), 4);
    assert_int_equal(repeat_of(64, 2, 0, &baseline), 2);
    assert_int_equal(repeat_of(64, 4, 0, &baseline), 0); /* all lanes are one element */
    assert_int_equal(repeat_of(64, 4, 2, &isa_of_tests), 0);
    assert_int_equal(repeat_of(63, 2, 0, &isa_of_tests), 0);
    assert_int_equal(repeat_of(66, 3, 0, &isa_of_tests), 0);
}

/* Returns the size of the short rows of a kernel with rows of so many elements less their largest one, which it also stores. */
static uint32_t short_row_of(int64_t points, int64_t size, bool stored, dtype type, const struct isa *isa)
{
    struct kernel *k = kernel_create();
    const uint32_t i = kernel_var(k, KVAR_PARALLEL, points), r = kernel_var(k, KVAR_REDUCED, size);
    uint32_t loads = 0;

    kernel_tensor(k, type, points * size, false, NULL);
    kernel_tensor(k, type, points * (stored ? size : 1), true, NULL);
    const uint32_t x = load(k, 0, at(k, i, size, r)), most = kernel_reduce(k, KR_MAX, x);
    if (stored)
        kernel_store(k, 1, at(k, i, size, r), kernel_op2(k, K_SUB, x, most), 0, NULL);
    else
        kernel_store(k, 1, kaffine_var(k, i), most, 0, NULL);
    assert_true(kernel_finish(k));
    struct schedule *s = schedule_of(k, isa);
    const uint32_t short_row = s->row_buffers.short_rows.size;
    for (uint32_t e = 0; e < k->expr_count; e++)
        loads += s->exprs[e].short_row;
    assert_int_equal(loads, short_row > 0);
    assert_true((s->row_buffers.short_rows.stores[0] >= 0) == (short_row && stored));
    assert_int_equal(s->row_buffers.count, short_row ? 1 + stored : 0);
    schedule_free(s);
    kernel_free(k);
    return short_row;
}

TEST(short_rows_are_transposed)
{
    const dtype f32 = WNNOperandDataType_Float32;
    struct isa avx512 = isa_of_tests, permutes = avx2;

    avx512.ternary_shuffles = avx512.permutes = permutes.permutes = true;
    assert_int_equal(short_row_of(100, 10, true, f32, &avx512), 10);
    assert_int_equal(short_row_of(100, 8, false, f32, &avx512), 8);
    assert_int_equal(short_row_of(100, 8, false, WNNOperandDataType_Float16, &avx512), 8);
    assert_int_equal(short_row_of(100, 3, true, f32, &avx512), 3);
    assert_int_equal(short_row_of(100, 3, false, f32, &avx512), 0); /* a load of every third element */
    assert_int_equal(short_row_of(100, 17, true, f32, &avx512), 0);
    assert_int_equal(short_row_of(10, 10, true, f32, &avx512), 0); /* not as many rows as lanes */
    assert_int_equal(short_row_of(100, 10, true, WNNOperandDataType_Int8, &avx512), 0);
    assert_int_equal(short_row_of(100, 10, true, WNNOperandDataType_Int64, &avx512), 0);
    assert_int_equal(short_row_of(100, 12, true, f32, &avx512), 12);
    assert_int_equal(short_row_of(100, 8, true, f32, &permutes), 8);
    assert_int_equal(short_row_of(100, 13, true, f32, &permutes), 0);                       /* too many shuffles */
    assert_int_equal(short_row_of(100, 8, true, WNNOperandDataType_Float16, &permutes), 0); /* no masks for such elements */
    assert_int_equal(short_row_of(100, 10, true, f32, &baseline), 0);
}

/* Returns how many vectors are one where elements of rows are divided by a scale, which each row or each column has, and made
 * bytes. */
static uint32_t quantised_of(bool by_column, const struct isa *isa)
{
    enum { ROWS = 3, COLUMNS = 100 };
    struct kernel *k = kernel_create();
    const uint32_t i = kernel_var(k, KVAR_PARALLEL, ROWS), j = kernel_var(k, KVAR_PARALLEL, COLUMNS);
    uint32_t q;

    kernel_tensor(k, WNNOperandDataType_Float32, ROWS * COLUMNS, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, by_column ? COLUMNS : ROWS, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Uint8, ROWS * COLUMNS, true, NULL);
    q = kernel_op2(k, K_DIV, load(k, 0, at(k, i, COLUMNS, j)), load(k, 1, kaffine_var(k, by_column ? j : i)));
    q = kernel_cast(k, KT_U8, kernel_op2(k, K_ADD, kernel_op1(k, K_ROUND_EVEN, q), kernel_f32(k, 128)));
    kernel_store(k, 2, at(k, i, COLUMNS, j), q, 0, NULL);
    assert_true(kernel_finish(k));
    struct schedule *s = schedule_of(k, isa);
    const uint32_t vectors = s->wide_vectors;
    schedule_free(s);
    kernel_free(k);
    return vectors;
}

TEST(bytes_are_packed_of_four_vectors)
{
    struct isa avx512 = isa_of_tests, packs = avx2;

    assert_int_equal(quantised_of(false, &avx512), 1);
    avx512.packs = packs.packs = true;
    assert_int_equal(quantised_of(false, &avx512), 4);
    assert_int_equal(quantised_of(true, &avx512), 1); /* a scale for each lane */
    assert_int_equal(quantised_of(false, &packs), 4);
    assert_int_equal(quantised_of(false, &neon), 1);
}

/* Returns out of how many vectors a kernel's elements come, whose numbers grow by step / divide from result to result. */
static uint32_t permuted_of(int64_t step, int64_t divide, int64_t modulo, dtype type, const struct isa *isa)
{
    enum { ROWS = 3, WIDTH = 100 };
    struct kernel *k = kernel_create();
    const uint32_t i = kernel_var(k, KVAR_PARALLEL, ROWS), j = kernel_var(k, KVAR_PARALLEL, WIDTH);
    const struct kaffine column = kernel_divmod(k, kaffine_scale(k, kaffine_var(k, j), step), divide, modulo);
    uint32_t permuted = 0;

    kernel_tensor(k, type, ROWS * WIDTH * step, false, NULL);
    kernel_tensor(k, type, ROWS * WIDTH, true, NULL);
    kernel_store(k, 1, at(k, i, WIDTH, j),
                 load(k, 0, kaffine_add(k, kaffine_scale(k, kaffine_var(k, i), WIDTH * step), column)), 0, NULL);
    assert_true(kernel_finish(k));
    struct schedule *s = schedule_of(k, isa);
    for (uint32_t e = 0; e < k->expr_count; e++) {
        permuted += s->exprs[e].permuted;
        assert_int_equal(s->exprs[e].first, 0);
    }
    schedule_free(s);
    kernel_free(k);
    return permuted;
}

/* The same of two neighbours of which each is kept inside of the row, as linear resampling reads them. */
TEST(neighbours_are_permuted)
{
    enum { ROWS = 3, WIDTH = 100 };
    struct kernel *k = kernel_create();
    const uint32_t i = kernel_var(k, KVAR_PARALLEL, ROWS), j = kernel_var(k, KVAR_PARALLEL, WIDTH);
    const struct kaffine half = kernel_divmod(k, kaffine_add_const(kaffine_var(k, j), 1), 2, 0);
    const uint32_t zero = kernel_const(k, KT_I32, (union scalar){.i32 = 0}),
                   one = kernel_const(k, KT_I32, (union scalar){.i32 = 1});
    const uint32_t at_j = kernel_cast(k, KT_I32, kernel_index(k, kaffine_add_const(half, -1)));
    const uint32_t low = kernel_op2(k, K_MAX, zero, at_j), inside = kernel_op2(k, K_LT, zero, at_j);
    const uint32_t high = kernel_op3(k, K_SELECT, inside, kernel_op2(k, K_ADD, one, low), low);
    struct isa avx512 = isa_of_tests;
    uint32_t vectors = 0;
    int32_t first = 0;

    avx512.permutes = true;
    kernel_tensor(k, WNNOperandDataType_Float32, ROWS * WIDTH, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, ROWS * WIDTH, true, NULL);
    const struct kaffine row = kaffine_scale(k, kaffine_var(k, i), WIDTH);
    const uint32_t a = load(k, 0, kaffine_add(k, row, kernel_loaded_var(k, low, WIDTH / 2)));
    const uint32_t b = load(k, 0, kaffine_add(k, row, kernel_loaded_var(k, high, WIDTH / 2)));
    kernel_store(k, 1, at(k, i, WIDTH, j), kernel_op2(k, K_ADD, a, b), 0, NULL);
    assert_true(kernel_finish(k));
    struct schedule *s = schedule_of(k, &avx512);
    for (uint32_t e = 0; e < k->expr_count; e++) {
        vectors += s->exprs[e].permuted;
        first += s->exprs[e].first;
    }
    assert_int_equal(vectors, 2); /* a vector each, of 9 and 11 elements */
    assert_int_equal(first, -1);  /* the second one's lanes may be one before the first lane */
    schedule_free(s);
    kernel_free(k);
}

TEST(near_elements_are_permuted)
{
    const dtype f32 = WNNOperandDataType_Float32, u8 = WNNOperandDataType_Uint8, i64 = WNNOperandDataType_Int64;
    struct isa avx512 = isa_of_tests, permutes = avx2;

    avx512.permutes = permutes.permutes = true;
    assert_int_equal(permuted_of(2, 3, 0, f32, &avx512), 1);  /* 11 elements at most */
    assert_int_equal(permuted_of(4, 3, 0, f32, &avx512), 2);  /* 21 */
    assert_int_equal(permuted_of(10, 3, 0, f32, &avx512), 4); /* 51 */
    assert_int_equal(permuted_of(14, 3, 0, f32, &avx512), 0); /* 71 do not fit into four vectors */
    assert_int_equal(permuted_of(4, 3, 0, u8, &avx512), 2);
    assert_int_equal(permuted_of(4, 3, 0, i64, &avx512), 0);
    assert_int_equal(permuted_of(4, 3, 7, f32, &avx512), 0); /* remainders begin again at 0 */
    assert_int_equal(permuted_of(4, 3, 0, f32, &permutes), 2);
    assert_int_equal(permuted_of(4, 3, 0, u8, &permutes), 0); /* bytes have no masks there */
    assert_int_equal(permuted_of(4, 3, 0, f32, &baseline), 0);
}

/** What may keep the sums of a tile from taking turns. */
enum hindrance { NO_HINDRANCE, PADDING, BYTES, SCALED_BLOCKS };

/**
 * Returns how many sums take turns in the tiles of y[i][j] = sum over r and s of a[i][r][s] * b[r][s][j], or of bytes in words
 * of four.  With SCALED_BLOCKS b has a factor for every r.
 */
static uint32_t chains_of(int64_t m, int64_t blocks, int64_t depth, int64_t n, enum hindrance what, const struct isa *isa)
{
    struct kernel *k = kernel_create();
    const bool bytes = what == BYTES;
    const int64_t steps = bytes ? depth / 4 : depth, block = depth + 4, all = blocks * block; /* else r and s were one */
    const uint32_t i = kernel_var(k, KVAR_PARALLEL, m), j = kernel_var(k, KVAR_PARALLEL, n);
    const uint32_t r = kernel_var(k, KVAR_REDUCED, blocks);
    const uint32_t s = kernel_var(k, KVAR_REDUCED, steps);
    const uint32_t w = bytes ? kernel_var(k, KVAR_REDUCED, 4) : KEXPR_NONE;
    const struct kaffine step = bytes ? at(k, s, 4, w) : kaffine_var(k, s);
    const struct kaffine row = kaffine_add(k, kaffine_scale(k, kaffine_var(k, r), block), step);
    struct kaffine column = at(k, s, n, j);
    const struct kguard inside = {.form = kaffine_add_const(kaffine_add(k, kaffine_var(k, s), kaffine_var(k, i)), -1),
                                  .bound = depth};
    uint32_t a, b;

    kernel_tensor(k, bytes ? WNNOperandDataType_Uint8 : WNNOperandDataType_Float32, m * all, false, NULL);
    kernel_tensor(k, bytes ? WNNOperandDataType_Int8 : WNNOperandDataType_Float32, all * n, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, m * n, true, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, blocks, false, NULL);
    if (bytes)
        column = kaffine_add(k, kaffine_scale(k, at(k, s, n, j), 4), kaffine_var(k, w));
    column = kaffine_add(k, kaffine_scale(k, kaffine_var(k, r), depth * n), column);
    a = kernel_load(k, 0, kaffine_add(k, kaffine_scale(k, kaffine_var(k, i), all), row), what == PADDING, &inside,
                    (union scalar){0});
    b = load(k, 1, column);
    if (bytes) {
        const uint32_t zero = kernel_const(k, KT_F32, (union scalar){.f32 = 128});

        a = kernel_op2(k, K_SUB, kernel_cast(k, KT_F32, a), zero);
        b = kernel_cast(k, KT_F32, b);
    }
    if (what == SCALED_BLOCKS)
        b = kernel_op2(k, K_MUL, b, load(k, 3, kaffine_var(k, r)));
    kernel_store(k, 2, at(k, i, n, j), kernel_dot(k, a, b), 0, NULL);
    assert_true(kernel_finish(k));
    struct schedule *of = schedule_of(k, isa);
    assert_true(of->tiled);
    assert_int_equal(of->tile.blocks.bytes.a != KEXPR_NONE, bytes);
    assert_int_equal(of->tile.guarded, what == PADDING);
    const uint32_t chains = of->tile.chains;
    schedule_free(of);
    kernel_free(k);
    return chains;
}

/* Few sums would wait for their own additions, unless their loops are unrolled or cut otherwise. */
TEST(few_sums_take_turns)
{
    struct isa byte_products = isa_of_tests;

    byte_products.byte_products = true;
    assert_int_equal(chains_of(1, 1, 64, 64, NO_HINDRANCE, &isa_of_tests), 2); /* 1 row of 4 vectors */
    assert_int_equal(chains_of(2, 1, 64, 32, NO_HINDRANCE, &isa_of_tests), 2);
    assert_int_equal(chains_of(4, 1, 64, 16, NO_HINDRANCE, &isa_of_tests), 2);
    assert_int_equal(chains_of(1, 1, 64, 32, NO_HINDRANCE, &avx2), 2);
    assert_int_equal(chains_of(1, 1, 64, 512, NO_HINDRANCE, &isa_of_tests), 1); /* enough sums: 8 vectors, */
    assert_int_equal(chains_of(3, 1, 64, 32, NO_HINDRANCE, &isa_of_tests), 1);  /* 3 rows of 2, */
    assert_int_equal(chains_of(5, 1, 64, 16, NO_HINDRANCE, &isa_of_tests), 1);
    assert_int_equal(chains_of(1, 1, 64, 40, NO_HINDRANCE, &avx2), 1);
    assert_int_equal(chains_of(1, 1, 65, 64, NO_HINDRANCE, &isa_of_tests), 1);   /* an odd number of steps */
    assert_int_equal(chains_of(1, 1, 8, 64, NO_HINDRANCE, &isa_of_tests), 1);    /* unrolled */
    assert_int_equal(chains_of(1, 1, 1024, 64, NO_HINDRANCE, &isa_of_tests), 1); /* split, */
    assert_int_equal(chains_of(1, 16, 64, 64, NO_HINDRANCE, &isa_of_tests), 2);  /* but not along the innermost loop */
    assert_int_equal(chains_of(1, 4, 32, 64, SCALED_BLOCKS, &isa_of_tests), 2);
    assert_int_equal(chains_of(1, 1, 64, 64, PADDING, &isa_of_tests), 1);
    assert_int_equal(chains_of(1, 1, 64, 64, BYTES, &byte_products), 1);
}
