/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Printed kernels on the first OpenCL device, against the reference interpreter: every shape of schedule in sizes that leave
 * something over at every edge, whatever the device would choose, and small random graphs.  A failure of the latter prints its
 * seed: OPENCL_SEED=n runs that graph alone, OPENCL_COUNT=n as many from there.
 *
 * With the argument `shapes` only a few kernels of each shape run, for Oclgrind, which interprets them (tests/CMakeLists.txt).
 */
#include "support/attention_bounds.h"
#include "support/compact_graphs.h"
#include "support/help.h"
#include "support/opencl.h"
#include "support/shape_cases.h"
#include "support/small_graphs.h"
#include "support/winograd.h"

static const struct shape_runner runner = {opencl_run, &opencl.choice, &opencl.last};

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
         "{ a; b; c; }",
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
        if (!shape_agrees(&runner, &checked[i], &checked[i].choices[0])) {
            print_error("%s\n", checked[i].name);
            failed++;
        }
    opencl.before = NULL;
    assert_int_equal(failed, 0);
}

/** Every shape is right at its edges. */
TEST(shapes_agree)
{
    assert_int_equal(shapes_failed(&runner, false), 0);
    assert_int_equal(shared_tiles_failed(&runner, &opencl.facts, false), 0);
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
    {"4 bits around 8", "u8", 0, 16, true, false, false},
    {"4 bits with zero points", "u8", 0, 16, true, true, true},
    {"2 bits", "i8", -2, 4, false, true, true},
    {"1 bit", "u8", 0, 2, false, true, false},
    {"8 bits that fit into 4", "i8", -9, 16, false, true, false},
    {"8 bits, signed", "i8", -128, 256, false, false, true},
    {"8 bits with zero points", "u8", 0, 256, false, true, false},
    {"float16", "f16", 0, 1, false, false, true},
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
                         .device = target_gpu_facts(false),
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
        compact_narrow(g, 0, 4);
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
            OWNED(graph) struct graph *g = compact_graph(&compact_forms[f], size, &t);
            random_seed(42);
            opencl.choice = size->choice;
            /* one kernel unpacks and multiplies */
            if (kernels_check_graph(g, &t, false, opencl_run) != 1 || opencl.last != GPU_TILES) {
                print_error("%s: %u rows, K %u, N %u, choice %zu\n", compact_forms[f].name, size->rows, size->k, size->n, z);
                failed++;
            }
            opencl.choice = (struct gpu_choice){0};
        }
    return failed;
}

/** Weights of all forms are unpacked right in every kind of tile. */
TEST(compact_weights_agree)
{
    assert_int_equal(failed_compact_cases(false), 0);
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
            OWNED(graph) struct graph *g = random_graph();
            if (mode)
                cluster_greedily(g);
            else
                kernels_cluster_nodes(g, false);
            if (!kernels_check_graph(g, NULL, seed % 3 == 0, opencl_run)) {
                print_error("OPENCL_SEED=%llu (mode %d)\n", (unsigned long long)seed, mode);
                failed++;
            }
        }
    }
    assert_int_equal(failed, 0);
}

static int shapes(void)
{
    const uint32_t failed =
        shapes_failed(&runner, true) + shared_tiles_failed(&runner, &opencl.facts, true) + failed_compact_cases(true);

    run_brief_attentions();
    return failed != 0;
}

PROGRAM_HELP("usage: test-opencl-kernels [shapes]   run all kernels, or those of many shapes, on an OpenCL device\n")
int main(int argc, char **argv)
{
    return opencl_main(argc, argv, shapes);
}
