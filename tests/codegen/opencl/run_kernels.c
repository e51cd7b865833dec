/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Printed kernels on the first OpenCL device, against the reference interpreter: every shape of schedule in sizes that leave
 * something over at every edge, whatever the device would choose, and small random graphs.  A failure of the latter prints its
 * seed: OPENCL_SEED=n runs that graph alone, OPENCL_COUNT=n as many from there.
 *
 * With the argument `shapes` only a few kernels of each shape run, for Oclgrind, which interprets them (tests/CMakeLists.txt).
 */
#include "support/attention_bounds.h"
#include "support/byte_graphs.h"
#include "support/compact_graphs.h"
#include "support/opencl.h"
#include "support/small_graphs.h"
#include "support/winograd.h"

/** A graph and the schedules in which it has to come out right. */
struct shape_case {
    const char *name, *body;
    enum gpu_shape shape;
    struct gpu_choice choices[3]; /* all 0 after the first: unused */
    bool brief;                   /* runs under Oclgrind, too */
};

static const struct shape_case cases[] = {
    {"matmul with an epilogue",
     "inputs { a: f32[11, 37]; b: f32[37, 29]; c: f32[29]; } nodes { d = matmul(a, b); e = add(d, c); y = sigmoid(e); } "
     "outputs { y; }",
     GPU_TILES,
     {GLOBAL_TILE(3, 2, 4), LOCAL_TILE(2, 2)},
     true},
    {"batches, long sums",
     "inputs { a: f32[2, 5, 600]; b: f32[2, 600, 21]; } nodes { y = matmul(a, b); } outputs { y; }",
     GPU_TILES,
     {GLOBAL_TILE(4, 1, 16), LOCAL_TILE(1, 2), {.tile_memory = GPU_MEMORY_GLOBAL, .lanes = 4, .vectors = 1, .k_items = 2}},
     false},
    {"few rows, K shared by items",
     "inputs { a: f32[2, 530]; b: f32[530, 7]; } nodes { y = matmul(a, b); } outputs { y; }",
     GPU_TILES,
     {{.tile_memory = GPU_MEMORY_GLOBAL, .rows = 2, .vectors = 1, .lanes = 4, .k_items = 2},
      {.tile_memory = GPU_MEMORY_LOCAL, .rows = 2, .vectors = 4, .k_items = 2}},
     true},
    {"transposed operands of float16",
     "inputs { a: f16[19, 6]; b: f16[23, 19]; c: f16[6, 1]; } nodes { y = gemm(a, b, c=c, aTranspose=true, bTranspose=true, "
     "alpha=0.5); } outputs { y; }",
     GPU_TILES,
     {GLOBAL_TILE(2, 1, 8), LOCAL_TILE(2, 2)},
     false},
    {"operands of 8 bits",
     "inputs { a: i8[5, 40]; b: u8[40, 18]; s: f32[1, 1]; z: i8[1, 1]; t: f32[1, 18]; n: u8[1, 18]; } nodes { c = "
     "dequantizeLinear(a, s, z); d = dequantizeLinear(b, t, n); y = matmul(c, d); } outputs { y; }",
     GPU_TILES,
     {GLOBAL_TILE(5, 1, 16), LOCAL_TILE(2, 1)},
     false},
    {"convolution in nchw",
     "inputs { x: f32[2, 3, 7, 11]; w: f32[5, 3, 3, 2]; } nodes { y = conv2d(x, w, padding=[1, 2, 1, 0], strides=[2, 1], "
     "dilations=[1, 2]); } outputs { y; }",
     GPU_TILES,
     {GLOBAL_TILE(2, 1, 8), LOCAL_TILE(2, 2)},
     true},
    {"convolution in nhwc",
     "inputs { x: f32[1, 6, 5, 9]; w: f32[3, 2, 9, 13]; b: f32[13]; } nodes { c = conv2d(x, w, bias=b, padding=[1, 1, 1, 0], "
     "inputLayout=\"nhwc\", filterLayout=\"hwio\"); y = relu(c); } outputs { y; }",
     GPU_TILES,
     {GLOBAL_TILE(4, 2, 4), LOCAL_TILE(4, 1)},
     true},
    {"convolution of groups",
     "inputs { x: f32[1, 5, 5, 6]; w: f32[3, 3, 3, 10]; } nodes { y = conv2d(x, w, padding=[1, 1, 1, 1], groups=2, "
     "inputLayout=\"nhwc\", filterLayout=\"hwio\"); } outputs { y; }",
     GPU_TILES,
     {GLOBAL_TILE(3, 1, 4), LOCAL_TILE(2, 1)},
     false},
    {"depthwise convolution in nhwc",
     "inputs { x: f32[1, 6, 7, 18]; w: f32[1, 3, 3, 18]; } nodes { y = conv2d(x, w, padding=[1, 1, 1, 1], groups=18, "
     "inputLayout=\"nhwc\", filterLayout=\"ihwo\"); } outputs { y; }",
     GPU_TILES,
     {GLOBAL_TILE(3, 1, 8)},
     true},
    {"depthwise convolution in nchw",
     "inputs { x: f32[1, 3, 9, 19]; w: f32[3, 1, 3, 3]; } nodes { y = conv2d(x, w, padding=[1, 1, 1, 1], groups=3); } outputs "
     "{ y; "
     "}",
     GPU_TILES,
     {GLOBAL_TILE(2, 1, 8)},
     false},
    {"transposed convolution",
     "inputs { x: f32[1, 4, 5, 3]; w: f32[3, 3, 9, 3]; } nodes { y = convTranspose2d(x, w, strides=[2, 2], padding=[1, 0, 1, "
     "0], "
     "inputLayout=\"nhwc\", filterLayout=\"hwoi\"); } outputs { y; }",
     GPU_TILES,
     {GLOBAL_TILE(3, 1, 4), LOCAL_TILE(2, 1)},
     false},
    {"a convolution that sees nothing but padding, with the same result everywhere",
     "inputs { x: f32[1, 2, 2, 1]; w: f32[2, 1, 1, 1]; z: i32[1, 1, 1, 1]; } consts { s: f32[1, 1, 1, 1] @scalar(3); } "
     "nodes { c = conv2d(x, w, padding=[0, 2, 1, 0], strides=[1, 3], filterLayout=\"ihwo\"); "
     "i = cast(c, int32); y = dequantizeLinear(i, s, z); } outputs { y; }",
     GPU_POINTS,
     {{.lanes = 4}, {.no_lanes = true}},
     false},
    {"vectors along columns",
     "inputs { x: f32[3, 4, 37]; y: f32[37]; z: f16[3, 1, 37]; } nodes { a = mul(x, y); b = exp(a); c = cast(z, float32); d = "
     "max(b, "
     "c); e = reduceSum(d, axes=[1]); } outputs { d; e; }",
     GPU_POINTS,
     {{.lanes = 8}, {.no_lanes = true}},
     true},
    {"vectors along rows",
     "inputs { x: f32[5, 77]; s: f32[77]; } nodes { a = softmax(x, 1); b = mul(a, s); c = layerNormalization(b, axes=[1]); } "
     "outputs { c; }",
     GPU_POINTS,
     {{.lanes = 16}, {.lanes = 4}},
     true},
    {"vectors of integers along rows",
     "inputs { x: u32[5, 77]; y: i32[5, 77]; z: i32[5, 8]; } nodes { a = reduceSumSquare(x, axes=[1]); b = reduceSum(y, "
     "axes=[1]); "
     "c = reduceProduct(z, axes=[1]); } outputs { a; b; c; }",
     GPU_POINTS,
     {{.lanes = 16}, {.lanes = 4}},
     true},
    {"a float64 number for every element of a row, which is stored without vectors",
     "inputs { x: f32[5, 1]; y: f32[37]; } nodes { a = cast(x, float64); b = expand(a, [5, 37]); c = exp(y); "
     "d = cast(b, float32); e = add(c, d); } outputs { b; e; }",
     GPU_POINTS,
     {{.lanes = 8}, {.no_lanes = true}},
     false},
    {"a transpose of two sides with a rest, of each of several matrices",
     "inputs { x: f32[3, 37, 21]; s: f32[37]; } nodes { t = transpose(x, permutation=[0, 2, 1]); y = mul(t, s); } outputs { y; "
     "}",
     GPU_BLOCKS,
     {{.tile_memory = GPU_MEMORY_GLOBAL, .lanes = 16},
      {.tile_memory = GPU_MEMORY_LOCAL},
      {.tile_memory = GPU_MEMORY_GLOBAL, .lanes = 4}},
     true},
    {"a transpose of whole blocks",
     "inputs { x: f16[2, 32, 48]; } nodes { y = transpose(x, permutation=[2, 0, 1]); } outputs { y; }",
     GPU_BLOCKS,
     {{.tile_memory = GPU_MEMORY_GLOBAL, .lanes = 8}, {.tile_memory = GPU_MEMORY_LOCAL}},
     false},
    {"a transpose of bytes, which are added to others",
     "inputs { x: u8[40, 33]; y: u8[33, 40]; } nodes { t = transpose(x); z = add(t, y); } outputs { z; }",
     GPU_BLOCKS,
     {{.tile_memory = GPU_MEMORY_GLOBAL, .lanes = 16}, {.tile_memory = GPU_MEMORY_LOCAL}},
     true},
    {"windows that move by two elements, with padding",
     "inputs { x: f32[2, 3, 9, 41]; } nodes { y = maxPool2d(x, windowDimensions=[3, 3], strides=[2, 2], padding=[1, 1, 1, 1]); "
     "} "
     "outputs { y; }",
     GPU_POINTS,
     {{.lanes = 16}, {.lanes = 8, .no_repeats = true}, {.no_lanes = true}},
     true},
    {"windows that move by three and by one, of half numbers",
     "inputs { x: f16[1, 2, 8, 47]; } nodes { a = averagePool2d(x, windowDimensions=[2, 3], strides=[1, 3], padding=[0, 1, 2, "
     "1]); "
     "b = maxPool2d(x, windowDimensions=[3, 2], dilations=[2, 3], strides=[1, 2]); } outputs { a; b; }",
     GPU_POINTS,
     {{.lanes = 4}, {.lanes = 16}},
     false},
    {"windows of bytes that move by four",
     "inputs { x: u8[1, 3, 9, 70]; } nodes { c = cast(x, \"float32\"); y = maxPool2d(c, windowDimensions=[2, 5], strides=[3, "
     "4], "
     "padding=[1, 0, 3, 2]); } outputs { y; }",
     GPU_POINTS,
     {{.lanes = 16}, {.lanes = 4}},
     true},
    {"rows that groups share",
     "inputs { x: f32[5, 77]; } nodes { a = softmax(x, 1); b = reduceMax(a, axes=[1]); } outputs { a; b; }",
     GPU_ROWS,
     {{.rows_shape = true}},
     true},
};

/* Whether a case comes out right with one choice. */
static bool agrees(const struct shape_case *c, const struct gpu_choice *choice)
{
    struct graph *g = parse_body(c->body);

    kernels_cluster_nodes(g, kernels_can_join_all(g, NULL));
    random_seed(42);
    opencl.choice = *choice;
    bool good = kernels_check_graph(g, NULL, false, opencl_run) != 0;
    if (good && opencl.last != c->shape) {
        print_error("its shape is %s, not %s\n", gpu_shape_name(opencl.last), gpu_shape_name(c->shape));
        good = false;
    }
    opencl.choice = (struct gpu_choice){0};
    graph_free(g);
    return good;
}

static uint32_t failed_cases(bool brief)
{
    uint32_t failed = 0;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        static const struct gpu_choice none;
        for (int j = 0; j < 3 && (!brief || cases[i].brief); j++) {
            if (j && !memcmp(&cases[i].choices[j], &none, sizeof none))
                break;
            if (!agrees(&cases[i], &cases[i].choices[j])) {
                print_error("%s, choice %d\n", cases[i].name, j);
                failed++;
            }
        }
    }
    return failed;
}

/* Counts the tiles from local memory that come out wrong in groups of many items: ones that share rows, and ones that get
 * numbers dealt out one by one, with iterations that end in the middle of what is brought at once, and of 16 x 16 items.
 * Oclgrind computes few of them. */
static uint32_t failed_shared_tiles(bool brief)
{
    static const struct {
        const char *body;
        uint32_t items, rows, vectors;
    } shared[] = {
        {"inputs { a: f32[37, 40]; b: f32[40, 45]; c: f32[45]; } nodes { d = matmul(a, b); y = add(d, c); } outputs { y; }", 4,
         4, 8},
        {"inputs { a: f32[37, 43]; b: f32[43, 45]; } nodes { y = matmul(a, b); } outputs { y; }", 4, 3, 6},
        {"inputs { a: f32[2, 21, 77]; b: f32[2, 77, 45]; } nodes { y = matmul(a, b); } outputs { y; }", 8, 2, 4},
        {"inputs { a: f16[40, 37]; b: f16[45, 40]; } nodes { y = gemm(a, b, aTranspose=true, bTranspose=true); } outputs { y; "
         "}",
         4, 8, 2},
        {"inputs { x: f32[1, 9, 11, 16]; w: f32[21, 3, 3, 16]; } nodes { y = conv2d(x, w, padding=[1, 0, 1, 2], strides=[1, "
         "2], "
         "inputLayout=\"nhwc\", filterLayout=\"ohwi\"); } outputs { y; }",
         4, 4, 4},
        {"inputs { x: f32[2, 3, 9, 11]; w: f32[21, 3, 3, 3]; } nodes { c = conv2d(x, w, padding=[1, 0, 1, 2]); y = relu(c); } "
         "outputs { y; }",
         8, 1, 2},
        {"inputs { a: f32[150, 37]; b: f32[37, 140]; } nodes { y = matmul(a, b); } outputs { y; }", 16, 8, 8},
    };

    const struct gpu_facts own = opencl.facts;
    uint32_t failed = 0;

    opencl.facts = *target_gpu_facts(false);
    for (size_t i = 0; i < sizeof shared / sizeof *shared; i++) {
        const struct shape_case c = {.body = shared[i].body, .shape = GPU_TILES};
        const struct gpu_choice choice = LOCAL_TILE(shared[i].rows, shared[i].vectors);
        opencl.facts.tile_items = shared[i].items;
        if ((!brief || shared[i].items <= 4) && !agrees(&c, &choice)) {
            print_error("%s\n", c.body);
            failed++;
        }
    }
    opencl.facts = own;
    return failed;
}

/** So are vectors whose addresses are looked at, as GPUs have them: kernels get aligned ones, and others by rows of odd
 * lengths. */
TEST(checked_vectors_agree)
{
    static const struct shape_case checked[] = {
        {"aligned vectors",
         "inputs { x: f32[5, 32]; h: f16[5, 32]; } nodes { a = exp(x); b = sqrt(h); } outputs { a; b; }",
         GPU_POINTS,
         {{.lanes = 4}},
         false},
        {"vectors of rows of odd lengths",
         "inputs { x: f32[5, 33]; h: f16[5, 33]; i: u8[33]; } nodes { a = exp(x); b = sqrt(h); c = cast(i, float32); } outputs "
         "{ a; b; c; "
         "}",
         GPU_POINTS,
         {{.lanes = 4}},
         false},
        {"rows of tiles",
         "inputs { a: f32[11, 37]; b: f32[37, 29]; } nodes { y = matmul(a, b); } outputs { y; }",
         GPU_TILES,
         {GLOBAL_TILE(3, 2, 4)},
         false},
    };
    uint32_t failed = 0;

    opencl.before = "#define CHECKED_VECTORS\n";
    for (size_t i = 0; i < sizeof checked / sizeof *checked; i++)
        if (!agrees(&checked[i], &checked[i].choices[0])) {
            print_error("%s\n", checked[i].name);
            failed++;
        }
    opencl.before = NULL;
    assert_int_equal(failed, 0);
}

/** Every shape is right at its edges. */
TEST(shapes_agree)
{
    assert_int_equal(failed_cases(false), 0);
    assert_int_equal(failed_shared_tiles(false), 0);
}

/* Returns the target of the device as if it were a GPU, or a processor that poses as one. */
static struct target stages_target(bool is_processor)
{
    opencl.facts = *target_gpu_facts(is_processor);
    return (struct target){.isa.vector_bits = 32,
                           .facts = target_device_facts(is_processor),
                           .thread_count = 1,
                           .cache_bytes = 1 << 20,
                           .device = &opencl.facts};
}

/** Attentions are right in kernels of stages: in tiles and vectors of one item, and of many items that share tiles and rows,
 * with local tensors in local memory and in scratch.  Each text takes the device's compiler a second. */
TEST(attentions_agree)
{
    struct target t = stages_target(true);

    attention_check_every(&t, 0, 3, opencl_run);
    attention_check_every(&t, 1, 3, opencl_run);
    attention_check_unread(&attention_spellings[12], 3, 170, false, &t, opencl_run);
    attention_check_unread(&attention_spellings[13], 40, 110, false, &t, opencl_run);
    t = stages_target(false);
    attention_check_every(&t, 2, 3, opencl_run);
    attention_check_every(&t, 4, 6, opencl_run);
    attention_check_unread(&attention_spellings[16], 40, 170, false, &t, opencl_run);
    opencl.choice.scratch = true;
    attention_check_every(&t, 3, 9, opencl_run);
    opencl.choice = (struct gpu_choice){0};
    assert_int_equal(opencl.last, GPU_STAGES);
}

/** So are convolutions that are transformed, whose stages run for some macro-tiles only. */
TEST(transformed_convolutions_agree)
{
    for (int i = 0; i < WINOGRAD_BODIES; i += 4) {
        const struct target t = stages_target(i % 8 == 0);
        for (int nasty = 0; nasty < 2; nasty++)
            winograd_check(winograd_bodies[i], &t, nasty, true, opencl_run);
    }
}

/* Runs some attentions in groups of a few items, which share everything: few, because Oclgrind interprets them. */
static void run_brief_attentions(void)
{
    for (int rows_shape = 0; rows_shape < 2; rows_shape++) {
        const struct target t = stages_target(false);
        opencl.facts.stage_items = 8;
        opencl.choice.rows_shape = rows_shape;
        for (int i = 0; i < 2; i++)
            attention_check(attention_bodies[i], &t, false, 0, opencl_run);
        attention_check(bounded_attention_bodies[1], &t, false, 1, opencl_run);
    }
    opencl.choice = (struct gpu_choice){0};
}

/* ---- compact weights ---- */

/** Weights of a matmul as they are stored. */
struct compact_form {
    const char *name, *type;
    int least;
    uint32_t range;
    bool words, zeros; /* 4 bits in the graph; zero points differ */
    bool brief;
};

static const struct compact_form compact_forms[] = {
    {"4 bits around 8", "u8", 0, 16, true, false, false},          {"4 bits with zero points", "u8", 0, 16, true, true, true},
    {"8 bits that fit into 4", "i8", -9, 16, false, true, false},  {"8 bits, signed", "i8", -128, 256, false, false, true},
    {"8 bits with zero points", "u8", 0, 256, false, true, false}, {"float16", "f16", 0, 1, false, false, true},
};

/** Sizes of a matmul, and the schedule in which it has to come out right. */
struct compact_size {
    uint32_t rows, k, n, blocks, panel; /* blocks: of K with a scale each; panel: columns of a panel at most */
    struct gpu_choice choice;
    bool brief;
};

static const struct compact_size compact_sizes[] = {
    /* one row, whose sums items share; whole words of blocks, and a rest of columns */
    {1, 640, 37, 20, UINT32_MAX, {.tile_memory = GPU_MEMORY_GLOBAL, .lanes = 4, .vectors = 1, .k_items = 4}, true},
    {1, 96, 64, 4, 32, GLOBAL_TILE(1, 2, 16), false},
    {1, 1040, 48, 1, 16, GLOBAL_TILE(1, 1, 16), false},        /* one scale for all of a long sum */
    {2, 1200, 24, 2, UINT32_MAX, GLOBAL_TILE(2, 1, 8), false}, /* blocks longer than what an accumulator takes */
    {3, 56, 21, 7, UINT32_MAX, GLOBAL_TILE(2, 2, 4), false},
    {5, 72, 40, 1, UINT32_MAX, {.no_lanes = true, .rows = 4, .vectors = 2, .tile_memory = GPU_MEMORY_GLOBAL}, false},
    {19, 64, 48, 2, 16, GLOBAL_TILE(8, 1, 16), false},
    /* many rows, through local memory */
    {35, 72, 37, 3, UINT32_MAX, LOCAL_TILE(2, 2), true},
    {35, 640, 19, 20, UINT32_MAX, LOCAL_TILE(1, 4), false},
};

/* Returns a matmul of such weights, packed as for a device; without a scale of its own every block has the same. */
static struct graph *compact_graph(const struct compact_form *f, const struct compact_size *z, struct target *t)
{
    char body[600];

    *t = (struct target){.isa = {.vector_bits = 32, .registers = 16},
                         .thread_count = 1,
                         .compact = {.unpacks = true, .small = true, .panel_columns = z->panel}};
    if (!strcmp(f->type, "f16"))
        snprintf(
            body, sizeof body,
            "inputs { x: f32[%u, %u]; c: f32[%u]; } consts { h: f16[%u, %u] @scalar(1); } nodes { w = cast(h, \"float32\"); "
            "m = matmul(x, w); y = add(m, c); } outputs { y; }",
            z->rows, z->k, z->n, z->k, z->n);
    else
        snprintf(
            body, sizeof body,
            "inputs { x: f32[%u, %u]; c: f32[%u]; } consts { q: %s[%u, %u] @scalar(1); s: f32[%u, %u] @scalar(1); z: %s[%u, "
            "%u] @scalar(1); } nodes { w = dequantizeLinear(q, s, z); m = matmul(x, w); y = add(m, c); } outputs { y; }",
            z->rows, z->k, z->n, f->type, z->k, z->n, z->blocks, z->n, f->type, z->blocks, z->n);
    struct graph *g = compact_parse(body, f->least, f->range);
    for (const struct value *v = g->first_constant; v && !f->zeros; v = v->next_constant)
        if (v->name && !strcmp(v->name, "z"))
            memset((void *)(uintptr_t)v->constant->data, f->words ? 8 : 0, v->constant->bytes);
    if (f->words)
        compact_narrow(g, 0);
    compact_cluster(g, t);
    return g;
}

static uint32_t failed_compact_cases(bool brief)
{
    uint32_t failed = 0;

    for (size_t f = 0; f < sizeof compact_forms / sizeof *compact_forms; f++)
        for (size_t z = 0; z < sizeof compact_sizes / sizeof *compact_sizes; z++) {
            const struct compact_size *size = &compact_sizes[z];
            struct target t;
            if (brief && !(compact_forms[f].brief && size->brief))
                continue;
            struct graph *g = compact_graph(&compact_forms[f], size, &t);
            random_seed(42);
            opencl.choice = size->choice;
            /* one kernel unpacks and multiplies */
            if (kernels_check_graph(g, &t, false, opencl_run) != 1 || opencl.last != GPU_TILES) {
                print_error("%s: %u rows, K %u, N %u, choice %zu\n", compact_forms[f].name, size->rows, size->k, size->n, z);
                failed++;
            }
            opencl.choice = (struct gpu_choice){0};
            graph_free(g);
        }
    return failed;
}

/** Weights of all forms are unpacked right in every kind of tile. */
TEST(compact_weights_agree)
{
    assert_int_equal(failed_compact_cases(false), 0);
}

/* ---- products of bytes ---- */

/* Returns whether one of them is right, in one kernel of tiles that multiply bytes. */
static bool bytes_agree(const struct bytes_case *z)
{
    struct target t;
    struct graph *g = bytes_graph(z, &t);

    opencl.choice = z->choice;
    const bool good = kernels_check_graph(g, &t, false, opencl_run) == 1 && opencl.last_bytes;
    opencl.choice = (struct gpu_choice){0};
    graph_free(g);
    return good;
}

/* Tiles from local memory run in groups of one item and of many. */
static uint32_t failed_bytes_cases(bool brief)
{
    const struct gpu_facts facts = opencl.facts;
    uint32_t failed = 0;

    for (size_t i = 0; i < sizeof bytes_cases / sizeof *bytes_cases; i++) {
        const struct bytes_case *z = &bytes_cases[i];
        const bool local = z->choice.tile_memory == GPU_MEMORY_LOCAL;
        for (int group = 0; group <= local && (z->brief || !brief); group++) {
            random_seed(42 + i);
            opencl.facts = group ? *target_gpu_facts(false) : facts;
            opencl.facts.dots = GPU_DOTS_PLAIN;
            if (!bytes_agree(z)) {
                print_error("%s: %u rows, K %u, N %u, case %zu, group %d\n", z->form, z->rows, z->k, z->n, i, group);
                failed++;
            }
        }
    }
    opencl.facts = facts;
    return failed;
}

/** Matmuls of networks of 8 bits multiply bytes, too, with whatever zero point: of one row and many, one scale for each column
 * and one for all. */
TEST(networks_of_bytes_agree)
{
    static const struct gpu_choice choices[] = {{.tile_memory = GPU_MEMORY_GLOBAL},
                                                {.no_lanes = true, .rows = 3, .vectors = 2, .tile_memory = GPU_MEMORY_GLOBAL},
                                                LOCAL_TILE(2, 2)};
    const struct gpu_facts facts = opencl.facts;

    for (uint32_t i = 0; i < 12; i++) {
        const uint32_t rows = i % 4 == 0 ? 1 : 35;
        struct target t;
        struct graph *g;

        opencl.facts = i % 2 ? *target_gpu_facts(false) : facts;
        opencl.facts.dots = GPU_DOTS_PLAIN;
        g = network_graph(rows, i % 3 ? 104 : 640, 37, i % 5 == 4 ? 128 : i * 23, i % 2 ? "37" : "1", &opencl.facts, &t);
        opencl.choice = choices[i / 4];
        random_seed(42 + i);
        if (kernels_check_graph(g, &t, false, opencl_run) != 2 || !opencl.last_bytes)
            fail_msg("case %u", i);
        opencl.choice = (struct gpu_choice){0};
        opencl.facts = facts;
        graph_free(g);
    }
}

/** Bytes times bytes are right in every kind of tile. */
TEST(products_of_bytes_agree)
{
    assert_int_equal(failed_bytes_cases(false), 0);
}

/* ---- random graphs ---- */

TEST(random_graphs_agree)
{
    const char *seed_text = getenv("OPENCL_SEED"), *count_text = getenv("OPENCL_COUNT");
    const uint64_t first = seed_text ? strtoull(seed_text, NULL, 0) : 1;
    const uint64_t count = count_text ? strtoull(count_text, NULL, 0) : seed_text ? 1 : 3;
    uint32_t failed = 0;

    for (uint64_t seed = first; seed < first + count; seed++) {
        for (int mode = 0; mode < 2; mode++) {
            random_seed(seed);
            opencl.facts = *target_gpu_facts(mode == 0); /* a GPU's schedules have to be right on any device */
            struct graph *g = random_graph();
            if (mode)
                cluster_greedily(g);
            else
                kernels_cluster_nodes(g, false);
            if (!kernels_check_graph(g, NULL, seed % 3 == 0, opencl_run)) {
                print_error("OPENCL_SEED=%llu (mode %d)\n", (unsigned long long)seed, mode);
                failed++;
            }
            graph_free(g);
        }
    }
    assert_int_equal(failed, 0);
}

int main(int argc, char **argv)
{
    int result;

    if (!opencl_start()) {
        puts("skipped: there is no OpenCL device");
        return 77;
    }
    if (argc > 1 && !strcmp(argv[1], "shapes")) {
        result = failed_cases(true) + failed_shared_tiles(true) + failed_compact_cases(true) + failed_bytes_cases(true) != 0;
        run_brief_attentions();
    } else {
        result = tests_run();
    }
    opencl_end();
    return result;
}
