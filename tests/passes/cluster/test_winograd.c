/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * winograd: which convolutions are chosen, how they are cut into macro-tiles, and what is fused with them.  Results are tested
 * where kernels are made (tests/passes/lower/test_lower_winograd.c).
 */
#include "support/winograd.h"

/* Multiplies a tile by a transform's matrices in double, in place. */
static void multiply_all(const struct winograd_steps *columns, const struct winograd_steps *rows, double *values, int64_t wide)
{
    for (int64_t i = 0; i < wide + columns->results; i++) {
        const struct winograd_steps *m = i < wide ? columns : rows;
        double *at = i < wide ? values + i : values + (i - wide) * wide, v[WINOGRAD_REGISTERS];
        const int64_t step = i < wide ? wide : 1;

        for (uint32_t j = 0; j < m->inputs; j++)
            v[j] = at[j * step];
        for (uint32_t j = 0; j < m->count; j++)
            v[m->steps[j].to] = (double)m->steps[j].factor * v[m->steps[j].from] + v[m->steps[j].plus];
        for (uint32_t j = 0; j < m->results; j++)
            at[j * step] = v[WINOGRAD_SIDE_MAX + j];
    }
}

/* What cannot be transformed is not, though it is wished: strides, dilations, groups, other windows, weights at run time,
 * weights that are not finite or huge. */
TEST(what_cannot_be_transformed_stays)
{
    static const char *const others[] = {
        "inputs { x: f32[1, 9, 9, 16]; } consts { w: f32[16, 16, 3, 3] @scalar(1); }"
        "nodes { y = conv2d(x, w, strides=[2, 1]" NHWC "); } outputs { y; }",
        "inputs { x: f32[1, 9, 9, 16]; } consts { w: f32[16, 16, 3, 3] @scalar(1); }"
        "nodes { y = conv2d(x, w, dilations=[1, 2]" NHWC "); } outputs { y; }",
        "inputs { x: f32[1, 9, 9, 16]; } consts { w: f32[16, 8, 3, 3] @scalar(1); }"
        "nodes { y = conv2d(x, w, groups=2" NHWC "); } outputs { y; }",
        "inputs { x: f32[1, 9, 9, 16]; } consts { w: f32[16, 16, 3, 1] @scalar(1); }"
        "nodes { y = conv2d(x, w" NHWC "); } outputs { y; }",
        "inputs { x: f32[1, 9, 9, 4]; w: f32[4, 4, 3, 3]; } nodes { y = conv2d(x, w" NHWC "); } outputs { y; }",
    };
    const struct pass_options o = {.target = &plain_target, .debug = &prefer_winograd};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        winograd_check(others[i], &plain_target, false, false, kernel_interpret);
    for (int i = 0; i < 2; i++) {
        OWNED(graph) struct graph *g = parse_random(winograd_bodies[0]);
        ((float *)(uintptr_t)g->first_constant->constant->data)[7] = i ? NAN : 1e12f;
        assert_false(pass_winograd(g, &o));
    }
}

/* Returns whether a convolution of an image of size x size, and of as many channels before as after it, is transformed for a
 * device. */
static bool is_chosen(uint32_t size, uint32_t channels, bool planar, bool is_processor)
{
    const struct gpu_facts *device = target_gpu_facts(is_processor);
    const struct target t = {.isa = {.vector_bits = 32, .registers = 16},
                             .facts = target_device_facts(is_processor),
                             .thread_count = 1,
                             .cache_bytes = 1 << 20,
                             .device = device};
    const struct pass_options o = {.target = &t};
    char body[300];

    if (planar)
        snprintf(body, sizeof body,
                 "inputs { x: f32[1, %u, %u, %u]; } consts { w: f32[%u, %u, 3, 3] @scalar(1); } "
                 "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1]); } outputs { y; }",
                 channels, size, size, channels, channels);
    else
        snprintf(body, sizeof body,
                 "inputs { x: f32[1, %u, %u, %u]; } consts { w: f32[%u, %u, 3, 3] @scalar(1); } "
                 "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); } outputs { y; }",
                 size, size, channels, channels, channels);
    OWNED(graph) struct graph *g = parse_body(body);
    const bool chosen = pass_winograd(g, &o);
    if (chosen) /* contiguous vectors of columns, as wide as the device reads panels */
        assert_int_equal(g->first->transformed->type.dims[3], schedule_device_panel(channels, channels, device->panel_columns));
    return chosen;
}

/* On PoCL nearly all of them gain, but not large images whose channels are planes.  Nothing is expected to gain
 * on a GPU. */
TEST(devices_have_costs_of_their_own)
{
    static const struct {
        uint32_t size, channels;
        bool chosen, planar;
    } cases[] = {{56, 64, true, true},   {28, 128, true, true},  {14, 256, true, true},
                 {112, 32, true, false}, {224, 32, true, false}, {224, 3, false, false}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(is_chosen(cases[i].size, cases[i].channels, false, true), cases[i].chosen);
        assert_int_equal(is_chosen(cases[i].size, cases[i].channels, true, true), cases[i].planar);
        for (int planar = 0; planar < 2; planar++)
            assert_false(is_chosen(cases[i].size, cases[i].channels, planar, false));
    }
}

/* In exact arithmetic transforms give the sums of the definition. */
TEST(transforms_are_exact)
{
    for (uint32_t kind = 0; kind < WINOGRAD_TILES; kind++) {
        const struct winograd_tile *tile = winograd_tile(kind);
        const int64_t high = tile->side[0]->input.inputs, wide = tile->side[1]->input.inputs;
        double g[9][WINOGRAD_LANES], u[WINOGRAD_POINTS_MAX][WINOGRAD_LANES], d[WINOGRAD_POINTS_MAX], v[WINOGRAD_POINTS_MAX];

        assert_ptr_equal(winograd_tile_of(high * wide), tile);
        for (int i = 0; i < 9; i++)
            g[i][0] = random_in_range(-1, 1);
        for (int64_t i = 0; i < high * wide; i++)
            d[i] = v[i] = random_in_range(-1, 1);
        for (uint32_t y = 0; y < high; y++)
            winograd_transform_weights(tile, y, g, u + y * wide, 1, false);
        multiply_all(&tile->side[0]->input, &tile->side[1]->input, v, wide);
        for (int64_t i = 0; i < high * wide; i++)
            v[i] *= u[i][0];
        multiply_all(&tile->side[0]->output, &tile->side[1]->output, v, wide);
        for (int64_t y = 0; y < tile->results[0]; y++)
            for (int64_t x = 0; x < tile->results[1]; x++) {
                double sum = 0;
                for (int i = 0; i < 9; i++)
                    sum += g[i][0] * d[(tile->stride * y + i / 3) * wide + tile->stride * x + i % 3];
                assert_true(fabs(v[y * wide + x] - sum) < 1e-12);
            }
    }
}

/* Returns the points of the tiles that a convolution of an image gets, whose weights are random, or only those of the window's
 * first element. */
static int64_t points_of(uint32_t size, uint32_t channels, bool random, bool sizes_vary)
{
    const struct target t = {.isa.vector_bits = 512, .thread_count = 1, .cache_bytes = 2 << 20, .sizes_vary = sizes_vary};
    char body[256];

    snprintf(body, sizeof body,
             "inputs { x: f32[1, %u, %u, %u]; } consts { w: f32[64, %u, 3, 3] @scalar(1); }"
             "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); } outputs { y; }",
             size, size, channels, channels);
    OWNED(graph) struct graph *g = parse_random(body);
    float *w = (float *)(uintptr_t)g->first_constant->constant->data;
    for (uint32_t i = 0; !random && i < 64 * channels * 9; i++)
        w[i] = i % 9 ? 0 : w[i];
    assert_true(pass_winograd(g, &(struct pass_options){.target = &t}));
    const int64_t points = g->first->transformed->type.dims[0];
    return points;
}

/* Larger tiles are taken only where their error bound is within that of a direct sum: with many channels, by the weights. */
TEST(accuracy_goes_first)
{
    assert_int_equal(points_of(64, 16, true, false), 16);
    assert_int_equal(points_of(64, 32, true, false), 24);
    assert_int_equal(points_of(64, 64, true, false), 24);
    assert_int_equal(points_of(64, 256, true, false), 36);
    assert_int_equal(points_of(64, 64, false, false), 16);
    assert_int_equal(points_of(64, 512, false, false), 24);
}

/* Where sizes vary they do not decide. */
TEST(other_sizes_have_the_same_tiles)
{
    assert_int_equal(points_of(10, 256, true, false), 24);
    for (uint32_t size = 5; size < 40; size += 17)
        assert_int_equal(points_of(size, 256, true, true), 36);
}

/* Returns the interpreter's bound of the last of four results in a row, of which only the first sees an input that is not 0. */
static double bound_beside(uint32_t channels)
{
    static float x[8 * 256], y[4 * 16];
    static double bounds[4 * 16];
    char body[256];

    snprintf(body, sizeof body,
             "inputs { x: f32[1, 1, 4, %u]; } consts { w: f32[16, %u, 3, 3] @scalar(1); }"
             "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); } outputs { y; }",
             channels, channels);
    OWNED(graph) struct graph *g = parse_random(body);
    x[0] = 1e6f;
    assert_done(graph_interpret_bounds(g, (const void *[]){x}, (void *[]){y}, (double *[]){bounds}, &e));
    return bounds[3 * 16];
}

/* An implementation's tiles reach as far as the widest that the weights allow, and so do bounds. */
TEST(bounds_cover_the_tiles_that_are_used)
{
    assert_true(bound_beside(16) < 1e-30);
    assert_true(bound_beside(32) > 0.01);
}

/* The cost model: images of many tiles and channels, but not few channels, nor weights that are large relative to the image.
 * Transforms take less next to direct sums with vectors of 256 bits.  The benchmark networks' come first. */
TEST(the_cost_model_chooses)
{
    static const struct {
        uint32_t size, inputs, outputs;
        int64_t points[2]; /* of a tile, with vectors of 512 and of 256 bits; 0: none */
    } cases[] = {{56, 64, 64, {24, 24}},   {28, 128, 128, {36, 36}}, {14, 256, 256, {36, 36}}, {7, 512, 512, {16, 24}},
                 {64, 320, 320, {36, 36}}, {256, 3, 32, {0, 0}},     {256, 32, 32, {24, 24}},  {64, 384, 128, {36, 36}},
                 {128, 192, 64, {36, 36}}, {256, 96, 32, {24, 24}},  {32, 128, 256, {36, 36}}, {128, 64, 64, {24, 24}},
                 {4, 256, 256, {0, 0}},    {64, 16, 16, {0, 16}},    {56, 16, 64, {16, 16}}};
    const struct debug_options none = {0}, library = {.flags = DEBUG_PREFER_LIBRARY};

    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        const struct target t = {.isa.vector_bits = i % 2 ? 256 : 512, .thread_count = 1, .cache_bytes = 1 << 20};
        const uint32_t size = cases[i / 2].size, in = cases[i / 2].inputs, out = cases[i / 2].outputs;
        char body[256];

        snprintf(body, sizeof body,
                 "inputs { x: f32[1, %u, %u, %u]; } consts { w: f32[%u, %u, 3, 3] @scalar(1); }"
                 "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); } outputs { y; }",
                 size, size, in, out, in);
        OWNED(graph) struct graph *g = parse_random(body);
        assert_false(pass_winograd(g, &(struct pass_options){.target = &t, .debug = &library}));
        const bool chosen = pass_winograd(g, &(struct pass_options){.target = &t, .debug = &none});
        if ((chosen ? g->first->transformed->type.dims[0] : 0) != cases[i / 2].points[i % 2])
            fail_msg("case %zu: %s", i, chosen ? "transformed" : "direct");
    }
}

/* Returns whether the kernel of the convolution or the transforms writes nchw itself, with an L2 of so many bytes. */
static bool transposes(int64_t cache_bytes, bool transformed)
{
    const struct target t = {.thread_count = 1, .cache_bytes = cache_bytes};
    const struct pass_options o = {.target = &t, .debug = &prefer_winograd};
    OWNED(graph) struct graph *g =
        parse_body("inputs { x: f32[1, 16, 32, 32]; } consts { w: f32[16, 16, 3, 3] @scalar(1); }"
                   "nodes { a = transpose(x, permutation=[0, 2, 3, 1]); c = conv2d(a, w, inputLayout=\"nhwc\");"
                   "  r = relu(c); y = transpose(r, permutation=[0, 3, 1, 2]); } outputs { y; }");
    bool in, out;

    assert_true(!transformed || pass_winograd(g, &o));
    pass_fuse_kernels(g, &o);
    pass_finish_clusters(g, &o);
    assert_int_equal(g->error.status, WNNStatus_Success);
    assert_ptr_equal(value_named(g, "r")->producer->cluster, value_named(g, "c")->producer->cluster);
    in = value_named(g, "a")->producer->cluster == value_named(g, "c")->producer->cluster;
    out = value_named(g, "y")->producer->cluster == value_named(g, "c")->producer->cluster;
    assert_true(in == out || !transformed);
    return out;
}

/* What the cache does not hold is not gathered from far apart, once for each tile. */
TEST(images_beyond_the_cache_are_not_scattered)
{
    for (int transformed = 0; transformed < 2; transformed++) {
        assert_true(transposes(1 << 20, transformed));
        assert_false(transposes(32 << 10, transformed));
    }
}

/* Images of 7, 14 and 28 results leave nothing of tiles of accumulators empty, nor do powers of two; whole images are one
 * macro-tile if that fits: weights are read once then. */
TEST(macro_tiles_waste_nothing)
{
    static const struct {
        int size, channels;
        int64_t macro_tiles, rows;
    } cases[] = {{14, 256, 1, 49}, {28, 128, 2, 98}, {56, 64, 14, 56}, {64, 64, 16, 64}};
    const struct target t = {.isa.vector_bits = 512, .thread_count = 1, .cache_bytes = 2 << 20};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct winograd_shape s;
        char body[256];

        snprintf(body, sizeof body,
                 "inputs { x: f32[1, %d, %d, %d]; } consts { w: f32[%d, %d, 3, 3] @scalar(1); }"
                 "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); } outputs { y; }",
                 cases[i].size, cases[i].size, cases[i].channels, cases[i].channels, cases[i].channels);
        OWNED(graph) struct graph *g = parse_body(body);
        assert_true(winograd_shape(g->first, &t, 0, &s));
        assert_int_equal(s.count[0] * s.count[1], cases[i].macro_tiles);
        assert_int_equal(s.rows, cases[i].rows);
    }
}
