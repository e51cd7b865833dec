/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Printing kernels as OpenCL C, without a device: the schedule that is chosen, and that sizes are parameters, so that kernels
 * of one structure have one text.  run_kernels.c runs printed kernels.
 */
#include "codegen/opencl/opencl.h"
#include "support/attention.h"
#include "support/compact_graphs.h"
#include "support/small_graphs.h"

/* Returns the only kernel of a graph, which this frees, printed for a GPU or for a processor that poses as a device. */
static char *print_cluster(struct graph *g, const struct target *t, bool processor, struct gpu_schedule *s, uint32_t *params)
{
    struct opencl_source source;

    struct kernel_list list = kernels_lower(g, g->first_cluster, t);
    assert_int_equal(list.count, 1);
    schedule_gpu(list.kernels[0], target_gpu_facts(processor), s);
    assert_done(opencl_print(list.kernels[0], s, "f", &source, &e));
    char *text = strdup(source.text);
    *params = source.param_count;
    opencl_source_free(&source);
    kernels_end(g, &list);
    return text;
}

/* Returns the only kernel of a graph without weights, printed for a GPU. */
static char *printed(const char *body, struct gpu_schedule *s, uint32_t *params)
{
    struct graph *g = parse_body(body);

    kernels_cluster_nodes(g, true);
    return print_cluster(g, NULL, false, s, params);
}

static void expect_shape(const char *body, enum gpu_shape shape)
{
    struct gpu_schedule s;
    uint32_t params;
    OWNED(memory) char *text = printed(body, &s, &params);

    if (s.shape != shape)
        fail_msg("shape %d, expected %d:\n%s", s.shape, shape, text);
}

/** Long contiguous rows are shared by a group's items; short ones, columns and running sums are one item's. */
TEST(schedules_follow_the_shape)
{
    expect_shape("inputs { x: f32[64, 64]; } nodes { y = exp(x); } outputs { y; }", GPU_POINTS);
    expect_shape("inputs { x: f32[64, 4096]; } nodes { y = softmax(x, 1); } outputs { y; }", GPU_ROWS);
    expect_shape("inputs { x: f32[64, 8]; } nodes { y = softmax(x, 1); } outputs { y; }", GPU_POINTS);
    expect_shape("inputs { x: f32[4096, 4096]; } nodes { y = reduceSum(x, axes=[0]); } outputs { y; }", GPU_POINTS);
    expect_shape("inputs { x: f32[64, 4096]; } nodes { y = cumulativeSum(x, 1); } outputs { y; }", GPU_POINTS);
}

/** Another size is another parameter, and indices have 64 bits where 32 would not do. */
TEST(sizes_are_parameters)
{
    struct gpu_schedule s;
    uint32_t params, others;
    char *a = printed("inputs { x: f32[96, 1024]; } nodes { y = softmax(x, 1); } outputs { y; }", &s, &params);
    OWNED(memory) char *b = printed("inputs { x: f32[33, 1024]; } nodes { y = softmax(x, 1); } outputs { y; }", &s, &others);

    assert_string_equal(a, b);
    assert_int_equal(params, others);
    assert_false(s.wide);
    free(a);
    a = printed("inputs { x: i8[40000, 40000]; } nodes { y = cast(x, uint8); } outputs { y; }", &s, &params);
    assert_true(s.wide);
    assert_non_null(strstr(a, "long p0"));
    free(a);
}

/** A processor that poses as a device keeps the exponentials of a softmax, in an array that its row fits; a GPU computes them
 * again. */
TEST(dear_values_are_kept_on_processors)
{
    for (int processor = 0; processor < 2; processor++) {
        struct graph *g = parse_body("inputs { x: f32[64, 40]; } nodes { y = softmax(x, 1); } outputs { y; }");
        struct opencl_source source;
        struct gpu_schedule s;

        kernels_cluster_nodes(g, true);
        struct kernel_list list = kernels_lower(g, g->first_cluster, NULL);
        schedule_gpu(list.kernels[0], target_gpu_facts(processor), &s);
        assert_done(opencl_print(list.kernels[0], &s, "f", &source, &e));
        assert_int_equal(strstr(source.text, "[64];") != NULL, processor);
        assert_int_equal(s.kept != KEXPR_NONE, processor);
        opencl_source_free(&source);
        kernels_end(g, &list);
    }
}

/* Prints a matmul of weights of 4 bits around 8, packed as for a GPU, with some rows, for free(). */
static char *printed_compact(uint32_t rows, bool processor, struct gpu_schedule *s)
{
    struct target t = {.isa = {.vector_bits = 32, .registers = 16},
                       .thread_count = 1,
                       .device = target_gpu_facts(processor),
                       .compact = {.unpacks = true, .small = true, .panel_columns = UINT32_MAX}};
    uint32_t params;
    char body[400];

    snprintf(
        body, sizeof body,
        "inputs { x: f32[%u, 64]; } consts { q: u8[64, 48] @scalar(1); s: f32[2, 48] @scalar(1); z: u8[2, 48] @scalar(8); } "
        "nodes { w = dequantizeLinear(q, s, z); y = matmul(x, w); } outputs { y; }",
        rows);
    struct graph *g = compact_parse(body, 8, 1);
    compact_narrow(g, 0, 4);
    compact_cluster(g, &t);
    return print_cluster(g, &t, processor, s, &params);
}

static uint32_t count(const char *text, const char *what)
{
    uint32_t n = 0;

    for (text = strstr(text, what); text; text = strstr(text + 1, what))
        n++;
    return n;
}

/** Numbers without a sign keep that, also next to constants. */
TEST(unsigned_numbers_are_no_indices)
{
    struct gpu_schedule s;
    uint32_t params;
    OWNED(memory) char *text =
        printed("inputs { x: u32[96]; } consts { c: u32[] @scalar(7); d: u32[] @scalar(3000000000); e: u32[] @scalar(5); }"
                " nodes { q = div(x, c); m = max(q, d); y = div(m, e); z = add(y, q); } outputs { y; z; }",
                &s, &params);

    assert_int_equal(count(strstr(text, "__kernel"), "const int op"), count(strstr(text, "__kernel"), "get_"));
    assert_null(strstr(strstr(text, "__kernel"), "(uint)op"));
}

/** Where a window crosses an edge of the padding, neighbouring elements are one masked load, and two numbers tell whether there
 * is any to load. */
TEST(edges_are_masked_loads)
{
    const char *body =
        "inputs { x: f32[1, 64, 1, 20]; } nodes { y = maxPool2d(x, windowDimensions=[1, 5], padding=[0, 0, 2, 2]); }"
        " outputs { y; }";
    struct graph *g = parse_body(body);
    struct gpu_schedule s;
    uint32_t params;

    kernels_cluster_nodes(g, true);
    char *text = print_cluster(g, NULL, true, &s, &params), *kernel = strstr(text, "__kernel");
    assert_non_null(kernel);
    assert_int_equal(count(kernel, "LANE_LOOP(16)"), 1);
    assert_int_equal(count(kernel, "any("), 0);
    free(text);
}

/** A word of weights is loaded once for its eight numbers, which become floats without a conversion, and the scale multiplies
 * the sum of a block: the only products are a multiply-add for each row, and one for the scale. */
TEST(weights_are_unpacked_in_registers)
{
    for (int processor = 0; processor < 2; processor++) {
        struct gpu_schedule s;
        char *text = printed_compact(3, processor, &s), *kernel = strstr(text, "__kernel");
        const uint32_t vectors = s.tile.vectors;

        assert_non_null(kernel);
        assert_false(s.tile.local_memory);
        assert_int_equal(count(kernel, "0x4b000000u"), vectors);
        assert_int_equal(count(kernel, "as_float(0x4b000008u)"), vectors); /* 2^23 + 8 */
        assert_int_equal(count(kernel, "uint, "), vectors);                /* the type of what LOAD_VECTOR loads */
        assert_int_equal(count(kernel, "fma("), 2 * s.tile.rows * vectors);
        assert_null(strstr(kernel, "convert_float"));
        free(text);
    }
}

/** Items bring whole words to local memory, before the loop and in it for the next iterations. */
TEST(words_come_to_local_memory)
{
    struct gpu_schedule s;
    OWNED(memory) char *text = printed_compact(64, false, &s);

    assert_true(s.tile.local_memory);
    assert_int_equal(count(text, "0x4b000000u"), 2 * 8);
    assert_int_equal(count(text, ">> 0x4u"), 2); /* of one word */
}

/** Matrix instructions stand once, before the kernel, whose loops call them; sizes are parameters there, too.  On a device
 * without them the text has none. */
TEST(matrix_instructions_are_printed)
{
    char *texts[3];

    for (int i = 0; i < 3; i++) {
        struct gpu_facts device = *target_gpu_facts(false);
        struct opencl_source source;
        struct gpu_schedule s;
        struct graph *g = parse_body(i == 1 ? "inputs { a: f16[1024, 512]; b: f16[512, 2048]; } nodes { y = matmul(a, b); } "
                                              "outputs { y; }"
                                            : "inputs { a: f16[2048, 256]; b: f16[256, 1024]; } nodes { y = matmul(a, b); } "
                                              "outputs { y; }");

        device.matrix_items = i < 2 ? 32 : 0;
        kernels_cluster_nodes(g, true);
        struct kernel_list list = kernels_lower(g, g->first_cluster, NULL);
        schedule_gpu(list.kernels[0], &device, &s);
        assert_int_equal(s.tile.matrix, i < 2);
        assert_done(opencl_print(list.kernels[0], &s, "f", &source, &e));
        texts[i] = strdup(source.text);
        opencl_source_free(&source);
        kernels_end(g, &list);
    }
    assert_int_equal(count(texts[0], "mma.sync"), 1);
    assert_int_equal(count(strstr(texts[0], "__kernel"), "MATRIX_MULTIPLY("), 2);
    assert_int_equal(count(strstr(texts[0], "__kernel"), "MATRIX_LOAD(") + count(strstr(texts[0], "__kernel"), "_TRANSPOSED("),
                     2);
    assert_string_equal(texts[0], texts[1]);
    assert_null(strstr(texts[2], "MATRIX_"));
    for (int i = 0; i < 3; i++)
        free(texts[i]);
}

/* Lowers an attention of 12 heads whose mask all heads share, for a device. */
static void lower_heads(const struct gpu_facts *device, bool is_processor, struct graph **g, struct kernel_list *list)
{
    const struct target t = {.isa.vector_bits = 32,
                             .facts = target_device_facts(is_processor),
                             .thread_count = 1,
                             .cache_bytes = 1 << 20,
                             .device = device};
    const struct pass_options o = {.target = &t, .debug = &prefer_attention};

    *g = parse_body("inputs { q: f32[12, 64, 32]; k: f32[12, 32, 512]; v: f32[12, 512, 32]; m: f32[64, 512]; } "
                    "nodes { s = matmul(q, k); a = add(s, m); p = softmax(a, 2); y = matmul(p, v); } outputs { y; }");
    assert_true(pass_fuse_attention(*g, &o));
    pass_finish_clusters(*g, &o);
    assert_done(lower_cluster(*g, (*g)->first_cluster, &t, list, &e));
    assert_int_equal(list->count, 1);
}

static const struct gpu_stage *stage_named(const struct kernel *k, const struct gpu_schedule *s, const char *name)
{
    for (uint32_t i = 0; i < k->stage_count; i++)
        if (!strncmp(k->stages[i].kernel->name, name, strlen(name)))
            return &s->stages[i];
    fail_msg("there is no stage %s", name);
    return NULL;
}

/** The contractions among stages are tiles, all else has vectors, and where groups have many items these share rows and keep
 * what fits in local memory.  The mask's stage runs when its macro-tiles begin. */
TEST(stages_are_scheduled)
{
    for (int processor = 0; processor < 2; processor++) {
        struct gpu_facts device = *target_gpu_facts(processor);
        struct opencl_source source;
        struct kernel_list list;
        struct gpu_schedule s;
        struct graph *g;

        lower_heads(&device, processor, &g, &list);
        const struct kernel *k = list.kernels[0];
        schedule_gpu(k, &device, &s);
        assert_int_equal(s.shape, GPU_STAGES);
        assert_int_equal(s.local[0], device.stage_items);
        for (int i = 0; i < 2; i++) {
            const struct gpu_stage *stage = stage_named(k, &s, i ? "product" : "scores");
            assert_int_equal(stage->shape, GPU_TILES);
            assert_int_equal(stage->lanes, device.vector_lanes);
            assert_true(stage->tile.rows * stage->tile.vectors > 1 && !stage->tile.local_memory);
            assert_int_equal(__builtin_popcountll(stage->tile.m), 1); /* keys or columns, and nothing of the macro-tile */
        }
        assert_int_equal(stage_named(k, &s, "softmax")->shape, processor ? GPU_POINTS : GPU_ROWS);
        assert_int_equal(stage_named(k, &s, "softmax")->lanes, processor ? device.vector_lanes : 1);
        assert_int_equal(stage_named(k, &s, "combine")->lanes, device.vector_lanes);
        int64_t in_scratch = 0;
        for (uint32_t i = 0; i < k->local_count; i++)
            in_scratch += s.locals[i].in_local_memory ? 0 : k->locals[i].elements * (int64_t)dtype_size(k->locals[i].type);
        assert_true(s.group_scratch_bytes >= in_scratch &&
                    s.scratch_bytes == s.group_scratch_bytes * (s.global[0] / s.local[0]));
        assert_int_equal(s.group_scratch_bytes < kernel_locals_bytes(k), !processor);
        assert_done(opencl_print(k, &s, "f", &source, &e));
        assert_int_equal(strstr(source.text, "barrier(") != NULL, !processor);
        assert_int_equal(strstr(source.text, "__local float op") != NULL, !processor);
        assert_non_null(strstr(source.text, " % 0xcu)"));
        opencl_source_free(&source);
        kernels_end(g, &list);
    }
}

/** Everything that small random graphs become can be printed. */
TEST(random_graphs_are_printed)
{
    uint32_t kernels = 0;

    for (uint64_t seed = 1; seed <= 200; seed++) {
        random_seed(seed);
        OWNED(graph) struct graph *g = random_graph();
        cluster_greedily(g);
        for (const struct cluster *c = g->first_cluster; c; c = c->next) {
            SCOPED(kernel_list_free) struct kernel_list list = kernels_lower(g, c, NULL);
            for (uint32_t i = 0; i < list.count; i++, kernels++) {
                SCOPED(opencl_source_free) struct opencl_source source = {0};
                struct gpu_schedule s;
                schedule_gpu(list.kernels[i], target_gpu_facts(false), &s);
                assert_done(opencl_print(list.kernels[i], &s, "f", &source, &e));
                assert_non_null(strstr(source.text, "__kernel"));
            }
        }
    }
    print_message("%u kernels\n", kernels);
}
