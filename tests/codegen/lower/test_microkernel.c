/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Code of contractions in register tiles: what is prefetched, and which sizes share code.
 * tests/codegen/lower/microkernel.kernels has what it computes.
 */
#include "codegen/kernels.h"
#include "support/kernel_text.h"

/* Returns a padded 3x3 convolution of images size x size, whose weights are three panels of 16 results. */
static struct kernel *windows(int size, int inputs)
{
    return kernel_of(
        "kernel windows {"
        "  parallel y < $size, x < $size, p < 3, j < 16 reduced h < 3, w < 3, r < $inputs"
        "  form v = y + h - 1, u = x + w - 1"
        "  tensor image: f32[$size*$size*$inputs], weights: f32[], to: f32[] written"
        "  e = load image[$inputs*($size*v + u) + r] if 0 <= v < $size if 0 <= u < $size"
        "  store to[48*($size*y + x) + 16*p + j] = reduce.dot(e, weights[16*(((3*p + h)*3 + w)*$inputs + r) + j]) }",
        "size=%d inputs=%d", size, inputs);
}

static bool prefetches(struct kernel *k)
{
    return lowered_has(k, &machine_get(0)->target.isa, LOOP_PREFETCH);
}

/* The next panel is prefetched during the work on one where that is several tiles, of one line of an image or of many, and
 * where weights are more than stays in the cache. */
TEST(weights_are_prefetched)
{
    assert_true(prefetches(windows(5, 400)));
    assert_true(prefetches(windows(20, 400)));
    assert_false(prefetches(windows(5, 40)));
}

/* What is the same in all steps of an innermost loop is a pointer, which nothing else makes there. */
TEST(innermost_loops_have_pointers)
{
    assert_true(lowered_has(windows(5, 40), &machine_get(0)->target.isa, LOOP_OPAQUE));
}

static struct kernel *matrices(int m, int d, int n)
{
    return kernel_of("kernel matrices { parallel i < $m, j < $n reduced r < $d tensor a: f32[], b: f32[], y: f32[] written"
                     "  store y[$n*i + j] = reduce.dot(a[$d*i + r], b[$n*r + j]) }",
                     "m=%d d=%d n=%d", m, d, n);
}

/* Code is shared between numbers of rows that tiles of MR rows and of one less make, which are all but some small ones, and
 * whatever strides there are. */
TEST(sizes_of_the_same_tiles_share_code)
{
    enum { ROWS = 120, KINDS_MOST = 9 };
    struct machine_under_test *m = machine_get(0);
    struct kernel *kernels[ROWS + 1];
    struct schedule *schedules[ROWS + 1];
    kernel_function functions[ROWS + 1];
    struct codegen_kernels *unit;
    struct codegen_times before, after;

    for (int i = 0; i <= ROWS; i++) {
        kernels[i] = i < ROWS ? matrices(i + 2, 40, 64) : matrices(84, 90, 64);
        schedules[i] = schedule_of(kernels[i], &m->target.isa);
        const struct register_tile *t = &schedules[i]->tile;
        const int64_t rows = kernels[i]->vars[t->m_var].size, tiles = ceil_div(rows, t->mr);
        assert_true(rows >= tiles * (t->mr - t->shorter));
    }
    codegen_get_times(m->codegen, &before);
    assert_done(codegen_compile(m->codegen, ROWS + 1, schedules, NULL, NULL, &unit, functions, &e));
    codegen_get_times(m->codegen, &after);
    assert_in_range(after.structures - before.structures, 1, KINDS_MOST);
    for (int i = 55; i <= ROWS; i++)
        assert_ptr_equal(functions[i], functions[ROWS]);
    codegen_kernels_free(unit);
    for (int i = 0; i <= ROWS; i++) {
        schedule_free(schedules[i]);
        kernel_free(kernels[i]);
    }
}

/* Returns 3x3 windows over an image of so many channels of bytes, each of which has weights of its own. */
static struct kernel *channels(int count)
{
    return kernel_of("kernel channels { parallel y < 9, x < 9, k < $n reduced i < 3, j < 3 form v = y + i - 1, u = x + j - 1"
                     "  tensor image: u8[81*$n], weights: i8[], to: f32[] written"
                     "  e = load image[(9*v + u)*$n + k] if 0 <= v < 9 if 0 <= u < 9 else 7"
                     "  store to[(9*y + x)*$n + k] = reduce.dot(sub(f32(e), 7), f32(weights[(3*i + j)*$n + k])) }",
                     "n=%d", count);
}

/* Returns a product of matrices of bytes, whose sums are of so many words. */
static struct kernel *words(int count)
{
    return kernel_of("kernel words { parallel i < 64, j < 32 reduced r < $n, b < 4"
                     "  tensor a: u8[], w: i8[], y: f32[] written"
                     "  store y[32*i + j] = reduce.dot(f32(a[4*$n*i + 4*r + b]), f32(w[4*(32*r + j) + b])) }",
                     "n=%d", count);
}

/* Returns whether two kernels share code after schedules_join; *shorter: whether the first has tiles of one row less. */
static bool share_code(struct kernel *one, struct kernel *other, bool *shorter)
{
    SCOPED(arena_free) struct arena a = {0};
    struct schedule *s[2] = {schedule_of(one, &machine_get(0)->target.isa), schedule_of(other, &machine_get(0)->target.isa)};

    schedules_join(s, 2);
    *shorter = s[0]->tile.shorter;
    const bool same = !strcmp(schedule_structure(s[0], &a), schedule_structure(s[1], &a));
    for (int i = 0; i < 2; i++)
        schedule_free(s[i]);
    kernel_free(one);
    kernel_free(other);
    return same;
}

/* Tiles of one row less are no code where no number of rows in a graph needs them.  Sums of any length are alike.  Strides are
 * none where rows have addresses of their own, and where columns have bytes of their own. */
TEST(graphs_share_code_of_few_tiles)
{
    bool shorter;

    assert_true(share_code(matrices(840, 40, 64), matrices(1680, 80, 64), &shorter));
    assert_false(shorter);
    assert_true(share_code(matrices(840, 40, 64), matrices(839, 40, 64), &shorter));
    assert_true(shorter);
    assert_true(share_code(matrices(84, 40, 64), matrices(96, 900, 64), &shorter));
    assert_true(share_code(windows(20, 400), windows(20, 440), &shorter));
    assert_true(!machine_get(0)->target.isa.byte_products || share_code(channels(64), channels(96), &shorter));
    assert_true(share_code(words(5), words(99), &shorter));
}

TEST_GROUP(NULL, machines_free)
