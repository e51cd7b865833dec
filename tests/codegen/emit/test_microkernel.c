/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Contractions in register tiles (codegen/emit/microkernel.c, register_tiles.c): matrix multiplications and convolutions as
 * kernels, with tiles left over in every dimension, padding, strides, dilations, weights in panels, and what follows the sum,
 * on every instruction set against kernel_interpret.
 */
#include "codegen/kernels.h"

/* Operands lie in [-3, 3].  No accumulator takes more than 512 additions in a row, and totals take one per 256. */
static struct tolerance sum_tolerance(int64_t depth)
{
    double chain = (double)(depth < 512 ? depth : 512) + (double)depth / 256 + 2;
    return (struct tolerance){0, chain * 0x1p-24 * 9 * (double)depth, true};
}

static void *random_buffer(dtype type, int64_t n)
{
    void *data = buffer_create((size_t)n * dtype_size(type));
    fill_plain(type, data, n);
    return data;
}

/* Returns whether every instruction set under test computes the kernel in register tiles, of several rows if there are any. */
static bool is_tiled(const struct kernel *k, bool rows)
{
    bool tiled = true;

    for (int i = 0; i < ISA_COUNT; i++) {
        struct schedule *s = schedule_of(k, &machine_get(i)->target.isa);

        tiled = tiled && s->tiled && (!rows || s->tile.m_var != KEXPR_NONE);
        schedule_free(s);
    }
    return tiled;
}

/* ---- matmuls ---- */

enum form { PLAIN, PANELS, EPILOGUE, HALVES };

static void matmul(int64_t m, int64_t depth, int64_t n, enum form form)
{
    const dtype type = form == HALVES ? WNNOperandDataType_Float16 : WNNOperandDataType_Float32;
    const int64_t panel = form == PANELS ? 16 : n, offset = form == EPILOGUE ? 3 : 0;
    const dtype f32 = WNNOperandDataType_Float32;
    struct kernel *k = kernel_create();
    void *tensors[5] = {random_buffer(type, m * depth), random_buffer(type, depth * n), random_buffer(f32, m * n + offset),
                        random_buffer(f32, n), random_buffer(f32, m * n)};

    kernel_tensor(k, type, m * depth, false, NULL);
    kernel_tensor(k, type, depth * n, false, NULL);
    kernel_tensor(k, f32, m * n + offset, true, NULL);
    kernel_tensor(k, f32, n, false, NULL);
    kernel_tensor(k, f32, m * n, false, NULL);
    uint32_t i = kernel_var(k, KVAR_PARALLEL, m), j = kernel_var(k, KVAR_PARALLEL, n), r = kernel_var(k, KVAR_REDUCED, depth);
    struct kaffine column = kaffine_var(k, j), within = column, panels = kaffine_const(0);
    if (form == PANELS) {
        panels = kaffine_scale(k, kernel_divmod(k, column, panel, 0), depth * panel);
        within = kernel_divmod(k, column, 1, panel);
    }
    uint32_t x = load(k, 0, kaffine_add(k, strided(k, i, depth, 0), kaffine_var(k, r)));
    uint32_t y = load(k, 1, kaffine_add(k, kaffine_add(k, panels, strided(k, r, panel, 0)), within));
    uint32_t z = kernel_dot(k, x, y);
    struct kaffine at = kaffine_add(k, strided(k, i, n, 0), column);
    if (form == EPILOGUE) { /* a bias per column, a residual, an activation; and something per row */
        z = kernel_op2(k, K_ADD, kernel_op2(k, K_ADD, z, load(k, 3, column)), load(k, 4, at));
        z = kernel_op2(k, K_ADD, z, load(k, 4, strided(k, i, n, 0)));
        z = kernel_op2(k, K_MAX, z, kernel_f32(k, 0));
    }
    kernel_store(k, 2, kaffine_add_const(at, offset), z, 0, NULL);
    assert_true(kernel_finish(k));
    if (depth > 1) /* else there is nothing to sum up */
        assert_true(is_tiled(k, m > 1));
    check_kernel(k, tensors, sum_tolerance(depth + 4));
    for (int t = 0; t < 5; t++)
        buffer_free(tensors[t]);
}

TEST(matmuls_are_computed)
{
    static const int64_t sizes[][3] = {{1, 33, 16},   {1, 70, 300},  {2, 3, 17},  {5, 7, 8},     {7, 64, 49},   {13, 20, 33},
                                       {14, 600, 32}, {15, 9, 31},   {84, 5, 16}, {85, 12, 20},  {99, 1100, 7}, {171, 2, 65},
                                       {3, 5, 4100},  {30, 513, 64}, {28, 1, 40}, {6, 2000, 130}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        matmul(sizes[s][0], sizes[s][1], sizes[s][2], PLAIN);
}

TEST(matmuls_of_panels_are_computed)
{
    /* 1100: large enough for the next panel to be prefetched, the last one's next lies behind the end; 1400: more rows than the
     * cache holds, blocks of which vary slowest */
    static const int64_t sizes[][3] = {{1, 50, 64},  {9, 31, 48},     {86, 600, 32},  {20, 4, 160},
                                       {96, 40, 48}, {19, 1100, 128}, {1400, 200, 32}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        matmul(sizes[s][0], sizes[s][1], sizes[s][2], PANELS);
}

/* Rows of several pieces (heads) make two loops, and the next panel is prefetched in the inner one. */
TEST(matmuls_of_heads_are_computed)
{
    enum { ROWS = 21, HEADS = 9, WIDTH = 64, PANEL = 16, PANELS = 16, COLUMNS = PANEL * PANELS, DEPTH = HEADS * WIDTH };
    const dtype f32 = WNNOperandDataType_Float32;
    struct kernel *k = kernel_create();
    void *tensors[3] = {random_buffer(f32, ROWS * DEPTH), random_buffer(f32, DEPTH * COLUMNS),
                        random_buffer(f32, ROWS * COLUMNS)};

    kernel_tensor(k, f32, ROWS * DEPTH, false, NULL);
    kernel_tensor(k, f32, DEPTH * COLUMNS, false, NULL);
    kernel_tensor(k, f32, ROWS * COLUMNS, true, NULL);
    uint32_t i = kernel_var(k, KVAR_PARALLEL, ROWS), p = kernel_var(k, KVAR_PARALLEL, PANELS),
             j = kernel_var(k, KVAR_PARALLEL, PANEL), h = kernel_var(k, KVAR_REDUCED, HEADS),
             r = kernel_var(k, KVAR_REDUCED, WIDTH);
    struct kaffine a = kaffine_add(k, strided(k, i, WIDTH, 0), strided(k, h, ROWS * WIDTH, 0));
    struct kaffine b = kaffine_add(k, strided(k, p, DEPTH * PANEL, 0), strided(k, h, WIDTH * PANEL, 0));
    b = kaffine_add(k, kaffine_add(k, b, strided(k, r, PANEL, 0)), kaffine_var(k, j));
    uint32_t z = kernel_dot(k, load(k, 0, kaffine_add(k, a, kaffine_var(k, r))), load(k, 1, b));
    struct kaffine at = kaffine_add(k, strided(k, i, COLUMNS, 0), strided(k, p, PANEL, 0));
    kernel_store(k, 2, kaffine_add(k, at, kaffine_var(k, j)), z, 0, NULL);
    assert_true(kernel_finish(k));
    assert_true(is_tiled(k, true) && k->reduced_count == 2);
    check_kernel(k, tensors, sum_tolerance(DEPTH));
    for (int t = 0; t < 3; t++)
        buffer_free(tensors[t]);
}

TEST(epilogues_are_computed)
{
    static const int64_t sizes[][3] = {{1, 50, 35}, {9, 31, 16}, {16, 20, 27}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        matmul(sizes[s][0], sizes[s][1], sizes[s][2], EPILOGUE);
}

TEST(halves_are_computed)
{
    static const int64_t sizes[][3] = {{1, 20, 35}, {17, 31, 24}};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
        matmul(sizes[s][0], sizes[s][1], sizes[s][2], HALVES);
}

/* ---- convolutions ---- */

struct convolution {
    int64_t batch, height, width, inputs, results, window[2], stride[2], dilation[2], before[2], after[2];
    bool depthwise; /* a result per input */
    bool planes;    /* channels first: vectors run along the image */
};

static int64_t output_size(const struct convolution *c, int i, int64_t size)
{
    return (size + c->before[i] + c->after[i] - (c->window[i] - 1) * c->dilation[i] - 1) / c->stride[i] + 1;
}

static void convolve(const struct convolution *c)
{
    const int64_t sizes[2] = {c->height, c->width}, out[2] = {output_size(c, 0, sizes[0]), output_size(c, 1, sizes[1])};
    const int64_t depth = c->depthwise ? 1 : c->inputs, results = c->depthwise ? c->inputs : c->results;
    const int64_t elements[3] = {c->batch * sizes[0] * sizes[1] * c->inputs, c->window[0] * c->window[1] * depth * results,
                                 c->batch * out[0] * out[1] * results};
    struct kernel *k = kernel_create();
    void *tensors[3];
    uint32_t p[4] = {0}, r[3];
    struct kguard guards[2];
    struct kaffine place[2], x_at, y_at, w_at;

    for (int t = 0; t < 3; t++) {
        tensors[t] = random_buffer(WNNOperandDataType_Float32, elements[t]);
        kernel_tensor(k, WNNOperandDataType_Float32, elements[t], t == 2, NULL);
    }
    /* batch, height, width, results */
    const int64_t extents[4] = {c->batch, out[0], out[1], results};
    static const int orders[2][4] = {{0, 1, 2, 3}, {0, 3, 1, 2}};
    for (int i = 0; i < 4; i++)
        p[orders[c->planes][i]] = kernel_var(k, KVAR_PARALLEL, extents[orders[c->planes][i]]);
    for (int i = 0; i < 2; i++)
        r[i] = kernel_var(k, KVAR_REDUCED, c->window[i]);
    r[2] = kernel_var(k, KVAR_REDUCED, depth);
    for (int i = 0; i < 2; i++) {
        place[i] = kaffine_add(k, strided(k, p[1 + i], c->stride[i], -c->before[i]), strided(k, r[i], c->dilation[i], 0));
        guards[i] = (struct kguard){place[i], sizes[i]};
    }
    const int64_t row = c->planes ? c->width : c->width * c->inputs, pixel = c->planes ? 1 : c->inputs;
    const int64_t plane = c->planes ? c->width * c->height : 1;
    x_at = kaffine_add(k, strided(k, p[0], sizes[0] * sizes[1] * c->inputs, 0), kaffine_scale(k, place[0], row));
    x_at = kaffine_add(k, x_at, kaffine_scale(k, place[1], pixel));
    x_at = kaffine_add(k, x_at, strided(k, c->depthwise ? p[3] : r[2], plane, 0));
    w_at = kaffine_add(k, strided(k, r[0], c->window[1] * depth * results, 0), strided(k, r[1], depth * results, 0));
    w_at = kaffine_add(k, w_at, kaffine_add(k, strided(k, r[2], results, 0), kaffine_var(k, p[3])));
    y_at = kaffine_add(k, strided(k, p[0], out[0] * out[1] * results, 0),
                       strided(k, p[1], c->planes ? out[1] : out[1] * results, 0));
    y_at = kaffine_add(k, y_at, strided(k, p[2], c->planes ? 1 : results, 0));
    y_at = kaffine_add(k, y_at, strided(k, p[3], c->planes ? out[0] * out[1] : 1, 0));
    uint32_t x = kernel_load(k, 0, x_at, 2, guards, (union scalar){.u64 = 0});
    kernel_store(k, 2, y_at, kernel_dot(k, x, load(k, 1, w_at)), 0, NULL);
    assert_true(kernel_finish(k));
    assert_true(is_tiled(k, false));
    check_kernel(k, tensors, sum_tolerance(c->window[0] * c->window[1] * depth));
    for (int t = 0; t < 3; t++)
        buffer_free(tensors[t]);
}

TEST(convolutions_are_computed)
{
    static const struct convolution cases[] = {
        {1, 9, 20, 12, 20, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, false, false}, /* several tiles, edges on both sides */
        {2, 7, 7, 16, 33, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, false, false},  /* every tile has an edge */
        {1, 17, 30, 3, 8, {7, 7}, {2, 2}, {1, 1}, {3, 3}, {3, 3}, false, false},  /* few inputs: unrolled */
        {1, 10, 11, 5, 16, {3, 2}, {1, 2}, {2, 3}, {4, 3}, {0, 5}, false, false}, /* uneven padding, dilations */
        {1, 4, 5, 6, 10, {2, 2}, {1, 1}, {1, 1}, {5, 6}, {6, 7}, false, false},   /* tiles that see no image at all */
        {1, 6, 3, 300, 17, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, false, false}, /* sums in blocks */
        {3, 1, 40, 7, 9, {1, 5}, {1, 1}, {1, 1}, {0, 2}, {0, 2}, false, false},   /* one dimension */
        {1, 12, 33, 20, 0, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, true, false},  /* depthwise */
        {1, 15, 16, 33, 0, {5, 5}, {2, 2}, {1, 1}, {2, 2}, {2, 2}, true, false},
        {1, 9, 9, 16, 0, {3, 3}, {1, 1}, {2, 2}, {2, 2}, {2, 2}, true, false},
        {1, 9, 40, 4, 13, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, false, true}, /* channels first */
        {2, 5, 18, 3, 3, {3, 5}, {2, 1}, {1, 1}, {1, 2}, {1, 2}, false, true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        convolve(&cases[i]);
}

/* Where padding is read the operand is zero, whatever lies next to the image. */
TEST(padding_is_zero)
{
    enum { WIDTH = 20, INPUTS = 3, RESULTS = 16 };
    struct kernel *k = kernel_create();
    void *tensors[3] = {random_buffer(WNNOperandDataType_Float32, 2 * WIDTH * INPUTS),
                        random_buffer(WNNOperandDataType_Float32, 3 * INPUTS * RESULTS),
                        random_buffer(WNNOperandDataType_Float32, WIDTH * RESULTS)};
    for (int i = 0; i < INPUTS; i++) /* the second row of the image, just behind the first one's last pixel */
        ((float *)tensors[0])[WIDTH * INPUTS + i] = NAN;
    kernel_tensor(k, WNNOperandDataType_Float32, 2 * WIDTH * INPUTS, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, 3 * INPUTS * RESULTS, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, WIDTH * RESULTS, true, NULL);
    uint32_t p = kernel_var(k, KVAR_PARALLEL, WIDTH), c = kernel_var(k, KVAR_PARALLEL, RESULTS);
    uint32_t w = kernel_var(k, KVAR_REDUCED, 3), r = kernel_var(k, KVAR_REDUCED, INPUTS);
    struct kaffine at = kaffine_add_const(kaffine_add(k, kaffine_var(k, p), kaffine_var(k, w)), -1);
    struct kguard guard = {at, WIDTH};
    uint32_t x =
        kernel_load(k, 0, kaffine_add(k, kaffine_scale(k, at, INPUTS), kaffine_var(k, r)), 1, &guard, (union scalar){.u64 = 0});
    struct kaffine weight = kaffine_add(k, strided(k, w, INPUTS * RESULTS, 0), strided(k, r, RESULTS, 0));
    uint32_t y = load(k, 1, kaffine_add(k, weight, kaffine_var(k, c)));
    kernel_store(k, 2, kaffine_add(k, strided(k, p, RESULTS, 0), kaffine_var(k, c)), kernel_dot(k, x, y), 0, NULL);
    check_kernel(k, tensors, sum_tolerance(3 * INPUTS));
    for (int t = 0; t < 3; t++)
        buffer_free(tensors[t]);
}

/* ---- prefetching ---- */

/* A padded 3x3 convolution of images size x size, whose weights are three panels of 16 results. */
static struct kernel *windows(int64_t size, int64_t inputs)
{
    enum { PANELS = 3, PANEL = 16 };
    const int64_t results = PANELS * PANEL;
    struct kernel *k = kernel_create();

    kernel_tensor(k, WNNOperandDataType_Float32, size * size * inputs, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, 9 * inputs * results, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, size * size * results, true, NULL);
    uint32_t y = kernel_var(k, KVAR_PARALLEL, size), x = kernel_var(k, KVAR_PARALLEL, size),
             p = kernel_var(k, KVAR_PARALLEL, PANELS), j = kernel_var(k, KVAR_PARALLEL, PANEL),
             h = kernel_var(k, KVAR_REDUCED, 3), w = kernel_var(k, KVAR_REDUCED, 3), r = kernel_var(k, KVAR_REDUCED, inputs);
    struct kaffine line = kaffine_add_const(kaffine_add(k, kaffine_var(k, y), kaffine_var(k, h)), -1);
    struct kaffine column = kaffine_add_const(kaffine_add(k, kaffine_var(k, x), kaffine_var(k, w)), -1);
    struct kaffine image = kaffine_add(k, kaffine_scale(k, line, size * inputs), kaffine_scale(k, column, inputs));
    const struct kguard guards[] = {{line, size}, {column, size}};
    struct kaffine panel = kaffine_add(k, strided(k, p, 9 * inputs * PANEL, 0), strided(k, h, 3 * inputs * PANEL, 0));
    panel = kaffine_add(k, panel, kaffine_add(k, strided(k, w, inputs * PANEL, 0), strided(k, r, PANEL, 0)));
    uint32_t pixel = kernel_load(k, 0, kaffine_add(k, image, kaffine_var(k, r)), 2, guards, (union scalar){.u64 = 0});
    uint32_t sum = kernel_dot(k, pixel, load(k, 1, kaffine_add(k, panel, kaffine_var(k, j))));
    struct kaffine at = kaffine_add(k, strided(k, y, size * results, 0), strided(k, x, results, 0));
    at = kaffine_add(k, at, kaffine_add(k, strided(k, p, PANEL, 0), kaffine_var(k, j)));
    kernel_store(k, 2, at, sum, 0, NULL);
    assert_true(kernel_finish(k));
    struct schedule *s = schedule_of(k, NULL);
    assert_true(s->tiled && s->tile.m_var != KEXPR_NONE);
    schedule_free(s);
    return k;
}

/* Returns whether the code of k has prefetch instructions. */
static bool prefetches(struct kernel *k)
{
    char dir[] = "/tmp/webnn-prefetch-XXXXXX", text[64], path[128], line[1000];
    struct debug_options debug = {0};
    struct machine_under_test *m = machine_get(0);
    struct codegen_kernels *unit;
    kernel_function function;
    struct error e = {0};
    bool found = false;

    assert_non_null(mkdtemp(dir));
    snprintf(text, sizeof text, "dump-llvm,dump=%s", dir);
    assert_true(debug_parse(&debug, text, strlen(text), &e));
    struct codegen *c = codegen_create(&m->target, &debug, &e);
    assert_non_null(c);
    struct schedule *s = schedule_of(k, &m->target.isa);
    assert_true(codegen_compile(c, 1, &s, &unit, &function, &e));
    schedule_free(s);
    codegen_kernels_free(unit);
    kernel_free(k);
    codegen_free(c);
    debug_free(&debug);
    static const char *const suffixes[] = {"ll", "opt.ll"};
    for (int i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/k0_kernel.%s", dir, suffixes[i]);
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

/* The next panel is prefetched beside the work on one where that is several tiles, of one line of an image or of many, and
 * where weights are more than stays in the cache. */
TEST(weights_are_prefetched)
{
    assert_true(prefetches(windows(5, 400)));
    assert_true(prefetches(windows(20, 400)));
    assert_false(prefetches(windows(5, 40)));
}

/* ---- sharing ---- */

static struct kernel *matrices(int64_t m, int64_t depth, int64_t n)
{
    struct kernel *k = kernel_create();
    kernel_tensor(k, WNNOperandDataType_Float32, m * depth, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, depth * n, false, NULL);
    kernel_tensor(k, WNNOperandDataType_Float32, m * n, true, NULL);
    uint32_t i = kernel_var(k, KVAR_PARALLEL, m), j = kernel_var(k, KVAR_PARALLEL, n), r = kernel_var(k, KVAR_REDUCED, depth);
    uint32_t x = load(k, 0, kaffine_add(k, strided(k, i, depth, 0), kaffine_var(k, r)));
    uint32_t y = load(k, 1, kaffine_add(k, strided(k, r, n, 0), kaffine_var(k, j)));
    kernel_store(k, 2, kaffine_add(k, strided(k, i, n, 0), kaffine_var(k, j)), kernel_dot(k, x, y), 0, NULL);
    assert_true(kernel_finish(k));
    return k;
}

/* Code is shared between sizes that need the same tiles, and not between others, whose tensors would be overrun. */
TEST(sizes_of_the_same_tiles_share_code)
{
    struct machine_under_test *m = machine_get(0);
    struct kernel *kernels[] = {matrices(84, 40, 64), matrices(168, 40, 64), matrices(85, 40, 64), matrices(84, 90, 64)};
    struct codegen_kernels *unit;
    kernel_function functions[4];
    struct error e = {0};

    struct schedule *schedules[4];

    for (int i = 0; i < 4; i++)
        schedules[i] = schedule_of(kernels[i], &m->target.isa);
    assert_true(codegen_compile(m->codegen, 4, schedules, &unit, functions, &e));
    assert_ptr_equal(functions[0], functions[1]);
    assert_ptr_not_equal(functions[0], functions[2]);
    assert_ptr_equal(functions[0], functions[3]); /* other strides of rows */
    codegen_kernels_free(unit);
    for (int i = 0; i < 4; i++) {
        schedule_free(schedules[i]);
        kernel_free(kernels[i]);
    }
}

TEST_GROUP(NULL, machines_free)
