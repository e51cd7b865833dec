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

/* Returns whether the code of k has prefetch instructions. */
static bool prefetches(struct kernel *k)
{
    char dir[] = "/tmp/webnn-prefetch-XXXXXX", text[64], path[128], line[1000];
    struct debug_options debug = {0};
    struct machine_under_test *m = machine_get(0);
    struct codegen_kernels *unit = NULL;
    kernel_function function;
    struct error e = {0};
    bool found = false;

    assert_non_null(mkdtemp(dir));
    snprintf(text, sizeof text, "dump-llvm,dump=%s", dir);
    assert_true(debug_parse(&debug, text, strlen(text), &e));
    struct codegen *c = codegen_create(&m->target, &debug, &e);
    assert_non_null(c);
    struct schedule *s = schedule_of(k, &m->target.isa);
    assert_true(s->tiled && codegen_compile(c, 1, &s, &unit, &function, &e));
    schedule_free(s);
    codegen_kernels_free(unit);
    kernel_free(k);
    codegen_free(c);
    debug_free(&debug);
    static const char *const suffixes[] = {"ll", "opt.ll"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/k0_windows.%s", dir, suffixes[i]);
        FILE *f = fopen(path, "r");
        assert_non_null(f);
        while (fgets(line, sizeof line, f))
            found |= strstr(line, "call void @llvm.prefetch") != NULL;
        fclose(f);
        remove(path);
    }
    assert_int_equal(remove(dir), 0);
    return found;
}

/* The next panel is prefetched during the work on one where that is several tiles, of one line of an image or of many, and
 * where weights are more than stays in the cache. */
TEST(weights_are_prefetched)
{
    assert_true(prefetches(windows(5, 400)));
    assert_true(prefetches(windows(20, 400)));
    assert_false(prefetches(windows(5, 40)));
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
    struct error e = {0};

    for (int i = 0; i <= ROWS; i++) {
        kernels[i] = i < ROWS ? matrices(i + 2, 40, 64) : matrices(84, 90, 64);
        schedules[i] = schedule_of(kernels[i], &m->target.isa);
        const struct register_tile *t = &schedules[i]->tile;
        const int64_t rows = kernels[i]->vars[t->m_var].size, tiles = ceil_div(rows, t->mr);
        assert_true(rows >= tiles * (t->mr - t->shorter));
    }
    codegen_get_times(m->codegen, &before);
    assert_true(codegen_compile(m->codegen, ROWS + 1, schedules, &unit, functions, &e));
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

TEST_GROUP(NULL, machines_free)
