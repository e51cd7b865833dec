/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Compact weights: which ones constant folding leaves, how pack-weights packs them, and that the packed graph means the same.
 */
#include "ir/graph/constant_pool.h"
#include "passes/pass_support.h"
#include "support/compact_graphs.h"
#include "support/kernels.h"
#include "support/schedules.h"

static bool takes_everything(void *user, const struct node *n)
{
    return op_infos[n->op].flags & OPF_LIBRARY;
}

static struct pass_options unpacking(struct target *t)
{
    *t = fake_target;
    t->isa = (struct isa){.vector_bits = 512, .fma = true, .masks = true, .masks32 = true, .registers = 32};
    t->compact.unpacks = true;
    t->takes_node = takes_everything;
    t->takes_epilogue = NULL;
    return (struct pass_options){.target = t};
}

/* Folding must leave the weights, and packing must make constants of this shape; NULL: folding must not leave them. */
static void check_graph(struct graph *g, const char *packed)
{
    struct target t;
    const struct pass_options o = unpacking(&t);
    uint32_t tiled = 0;

    check_pass_at(g, pass_canonicalize, &o, true, false, __FILE__, __LINE__);
    check_pass_at(g, pass_fold_constants, &o, true, false, __FILE__, __LINE__);
    assert_int_equal(check_pass_at(g, pass_pack_weights, &o, true, false, __FILE__, __LINE__), packed != NULL);
    if (packed) {
        assert_prints(g, packed);
        for (const struct value *v = g->first_constant; v; v = v->next_constant) /* what was packed is gone */
            assert_true(!v->constant || v->uses);
        pass_fuse_kernels(g, &o);
    }
    pass_finish_clusters(g, &o);
    assert_int_equal(g->error.status, WNNStatus_Success);
    for (const struct cluster *c = g->first_cluster; packed && c; c = c->next) {
        assert_int_equal(c->kind, CLUSTER_KERNEL);
        SCOPED(kernel_list_free) struct kernel_list list = kernels_lower(g, c, &t);
        for (uint32_t i = 0; i < list.count; i++) {
            OWNED(schedule) struct schedule *s = schedule_cpu(list.kernels[i], &t);
            assert_non_null(s);
            /* Words are unpacked first, if there are many rows. */
            const bool first = packed[0] == 'u' && packed[1] < '8' && g->inputs[0]->type.dims[0] >= 16;
            assert_int_equal(list.kernels[i]->stage_count, first ? 2 : 0);
            tiled += s->tiled || first;
        }
    }
    assert_int_equal(tiled, packed != NULL); /* one kernel unpacks and multiplies */
    graph_free(g);
}

static void check(const char *body, int least, uint32_t range, const char *packed)
{
    check_graph(compact_parse(body, least, range), packed);
}

#define MATMUL(rows, type, scale)                                                                                              \
    "inputs { x: f32[" rows ", 256]; } "                                                                                       \
    "consts { q: " type "[256, 128] @scalar(1); s: f32[" scale "] @scalar(1); z: " type "[" scale "] @scalar(1); } "           \
    "nodes { w = dequantizeLinear(q, s, z); y = matmul(x, w); } outputs { y; }"

TEST(values_within_16_are_packed_into_words)
{
    check(MATMUL("1", "i8", "8, 128"), -9, 16, "u4[2, 8, 4, 64, 8]");
    check(MATMUL("3", "u8", "8, 128"), 0, 16, "u4[2, 8, 4, 64, 8]");
    check(MATMUL("1", "u8", "1, 128"), 240, 16, "u4[2, 1, 32, 64, 8]");
    check(MATMUL("16", "u8", "32, 128"), 3, 9, "u4[2, 32, 1, 64, 8]"); /* whatever the rows are */
    check(MATMUL("1", "u8", "2, 4"), 3, 9, "u4[2, 2, 16, 64, 8]");     /* blocks along both dimensions */
    check(MATMUL("1", "u8", "1, 1"), 3, 9, "u4[2, 1, 32, 64, 8]");
    check(MATMUL("1", "i8", "8, 128"), -2, 4, "u2[2, 8, 2, 64, 4, 4]");
    check(MATMUL("3", "u8", "32, 128"), 7, 4, "u4[2, 32, 1, 64, 8]"); /* a word of 2 bits would span two blocks */
    check(MATMUL("1", "u8", "8, 128"), 1, 2, "u1[2, 8, 1, 64, 4, 8]");
    check(MATMUL("1", "u8", "16, 128"), 1, 2, "u2[2, 16, 1, 64, 4, 4]");
}

/* A graph for other rows that is made of the same constants finds the words and what applies to blocks of them. */
TEST(packed_weights_are_found)
{
    struct graph *g[] = {compact_parse(MATMUL("16", "u8", "32, 128"), 3, 9),
                         compact_parse(MATMUL("57", "u8", "32, 128"), 3, 9)};
    struct target t;
    const struct pass_options o = unpacking(&t);

    t.pool = constant_pool_create();
    for (struct value *a = g[0]->first_constant, *b = g[1]->first_constant; a; a = a->next_constant, b = b->next_constant) {
        constant_release(b->constant);
        b->constant = constant_retain(a->constant);
    }
    for (uint64_t i = 0; i < 2; i++) {
        assert_int_equal(check_pass_at(g[i], pass_pack_weights, &o, true, false, __FILE__, __LINE__), true);
        const struct constant_pool_counts counts = constant_pool_count(t.pool);
        assert_int_equal(counts.made, 3); /* words, scales and zero points */
        assert_int_equal(counts.found, 3 * i);
    }
    graph_free(g[0]);
    constant_pool_release(t.pool); /* lives on for the other graph's constants */
    graph_free(g[1]);
}

/* Panels of three vectors, where they fit, whatever the rows are. */
TEST(panels_do_not_depend_on_rows)
{
    static const char *const rows[] = {"1", "3", "16", "128"};

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char body[512];

        snprintf(body, sizeof body,
                 "inputs { x: f32[%s, 256]; } "
                 "consts { q: u8[256, 192] @scalar(1); s: f32[8, 192] @scalar(1); z: u8[8, 192] @scalar(1); } "
                 "nodes { w = dequantizeLinear(q, s, z); y = matmul(x, w); } outputs { y; }",
                 rows[i]);
        check(body, 0, 16, "u4[3, 8, 4, 64, 8]");
        check(body, 0, 17, "u8[4, 8, 32, 48]");
    }
}

TEST(other_values_stay_bytes)
{
    check(MATMUL("1", "i8", "8, 128"), -128, 256, "i8[2, 8, 32, 64]");
    check(MATMUL("1", "u8", "8, 128"), 0, 17, "u8[2, 8, 32, 64]");
    check(MATMUL("1", "u8", "64, 128"), 0, 16, "u8[2, 64, 4, 64]"); /* a word would span two blocks */
}

TEST(scales_and_zero_points_lie_like_the_weights)
{
    check(MATMUL("1", "i8", "8, 128"), -9, 16, "f32[2, 8, 1, 64, 1]");
    check(MATMUL("1", "u8", "8, 128"), 0, 256, "f32[2, 8, 1, 64]");
}

TEST(transposed_weights_and_halves_are_packed)
{
    check(
        "inputs { x: f32[1, 256]; } consts { q: u8[128, 256] @scalar(1); s: f32[128, 8] @scalar(1); z: u8[128, 8] @scalar(1); }"
        " nodes { w = dequantizeLinear(q, s, z); y = gemm(x, w, bTranspose=true); } outputs { y; }",
        0, 16, "u4[2, 8, 4, 64, 8]");
    /* signed ones, which are contiguous along K */
    check(
        "inputs { x: f32[1, 256]; } consts { q: i8[128, 256] @scalar(1); s: f32[128, 8] @scalar(1); z: i8[128, 8] @scalar(1); }"
        " nodes { w = dequantizeLinear(q, s, z); y = gemm(x, w, bTranspose=true); } outputs { y; }",
        -9, 16, "u4[2, 8, 4, 64, 8]");
    /* as exporters of language models write them */
    check("inputs { x: f32[1, 256]; } "
          "consts { q: u8[128, 8, 32] @scalar(1); s: f32[128, 8, 1] @scalar(1); z: u8[128, 8, 1] @scalar(1); } "
          "nodes { d = dequantizeLinear(q, s, z); r = reshape(d, newShape=[128, 256]); w = transpose(r); y = matmul(x, w); } "
          "outputs { y; }",
          0, 16, "u4[2, 8, 4, 64, 8]");
    check("inputs { x: f32[1, 256]; } consts { h: f16[256, 128] @scalar(1); } "
          "nodes { w = cast(h, \"float32\"); y = matmul(x, w); } outputs { y; }",
          0, 1, "f16[2, 1, 256, 64]");
    check("inputs { x: f32[1, 256]; } consts { h: bf16[256, 128] @scalar(1); } "
          "nodes { w = cast(h, \"float32\"); y = matmul(x, w); } outputs { y; }",
          0, 1, "bf16[2, 1, 256, 64]");
    check("inputs { x: f32[1, 256]; } consts { q: f8e4m3[256, 128] @scalar(1); s: f32[1, 128] @scalar(1); } "
          "nodes { f = cast(q, \"float32\"); w = mul(f, s); y = matmul(x, w); } outputs { y; }",
          0, 100, "f8e4m3[2, 1, 256, 64]");
    check("inputs { x: f32[1, 256]; } consts { q: f8e5m2[256, 128] @scalar(1); s: f32[8, 128] @scalar(1); z: f8e5m2[8, 128] "
          "@scalar(1); } nodes { w = dequantizeLinear(q, s, z); y = matmul(x, w); } outputs { y; }",
          0, 60, "f8e5m2[2, 8, 32, 64]"); /* numbers up to 1, whose differences are exact */
}

#define TRANSPOSED(type, k, blocks)                                                                                            \
    "inputs { x: f32[2, " k "]; } "                                                                                            \
    "consts { q: " type "[128, " k "] @scalar(1); s: f32[128, " blocks "] @scalar(1); z: " type "[128, " blocks                \
    "] @scalar(1); } nodes { d = dequantizeLinear(q, s, z); w = transpose(d); y = matmul(x, w); } outputs { y; }"

/* Numbers that are packed already are read where they lie. */
TEST(words_are_packed_of_words)
{
    static const struct {
        const char *body, *packed;
        uint32_t bits;
    } cases[] = {
        {TRANSPOSED("u8", "256", "8"), "u4[2, 8, 4, 64, 8]", 4},
        {TRANSPOSED("u8", "320", "1"), "u4[2, 1, 40, 64, 8]", 4}, /* words that are not taken sixteen at a time */
        {MATMUL("1", "u8", "8, 128"), "u4[2, 8, 4, 64, 8]", 4},
        {TRANSPOSED("u8", "260", "65"), "u8[2, 65, 4, 64]", 4}, /* a word would span two blocks */
        {TRANSPOSED("u8", "256", "8"), "u2[2, 8, 2, 64, 4, 4]", 2},
        {MATMUL("1", "u8", "8, 128"), "u2[2, 8, 2, 64, 4, 4]", 2},
        {TRANSPOSED("u8", "264", "33"), "u4[2, 33, 1, 64, 8]", 2},
        {TRANSPOSED("u8", "256", "8"), "u1[2, 8, 1, 64, 4, 8]", 1},
        {MATMUL("1", "u8", "16, 128"), "u2[2, 16, 1, 64, 4, 4]", 1},
        {TRANSPOSED("u8", "260", "65"), "u8[2, 65, 4, 64]", 1},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct graph *g = compact_parse(cases[i].body, 0, 1u << cases[i].bits);
        compact_narrow(g, 0, cases[i].bits);
        check_graph(g, cases[i].packed);
    }
    /* Zero points in 4 bits, too, become bytes; of weights in three dimensions the constant's shape changes. */
    struct graph *g = compact_parse(TRANSPOSED("u8", "256", "8"), 0, 16);
    compact_narrow(g, 2, 4);
    compact_narrow(g, 0, 4);
    check_graph(g, "u4[2, 8, 4, 64, 8]");
    g = compact_parse("inputs { x: f32[1, 256]; } "
                      "consts { q: u8[128, 8, 32] @scalar(1); s: f32[128, 8, 1] @scalar(1); z: u8[128, 8, 1] @scalar(1); } "
                      "nodes { d = dequantizeLinear(q, s, z); r = reshape(d, newShape=[128, 256]); w = transpose(r); "
                      "y = matmul(x, w); } outputs { y; }",
                      0, 16);
    compact_narrow(g, 0, 4);
    struct target t;
    const struct pass_options o = unpacking(&t);
    assert_true(pass_canonicalize(g, &o));
    pass_fold_constants(g, &o);
    assert_prints(g, "u4[128, 256]");
    check_graph(g, "u4[2, 8, 4, 64, 8]");
}

/* Transposes of weights and of scales are not folded, which would copy them; packing reads numbers in both orders. */
TEST(transposed_weights_are_packed_where_they_lie)
{
    for (int i = 0; i < 3; i++) {
        struct target t;
        const struct pass_options o = unpacking(&t);
        OWNED(graph) struct graph *g =
            compact_parse(i == 2 ? TRANSPOSED("i8", "256", "8") : TRANSPOSED("u8", "256", "8"), 0, i == 0 ? 16 : 256);
        if (i == 0)
            compact_narrow(g, 0, 4);
        assert_true(pass_canonicalize(g, &o));
        assert_false(pass_fold_constants(g, &o));
    }
    check(TRANSPOSED("u8", "256", "8"), 0, 256, "u8[2, 8, 32, 64]");
    check(TRANSPOSED("i8", "260", "1"), -128, 256, "i8[2, 1, 260, 64]"); /* no squares of bytes at the end */
    check("inputs { x: f32[1, 256]; } consts { h: f16[128, 256] @scalar(1); } "
          "nodes { c = transpose(h); w = cast(c, \"float32\"); y = matmul(x, w); } outputs { y; }",
          0, 1, "f16[2, 1, 256, 64]");
}

/* Weights that are rounded to float16, which matmuls read as they are or as float32 again. */
TEST(rounded_weights_stay_compact)
{
#define ROUNDED(type, scale, nodes)                                                                                            \
    "inputs { x: " type "[3, 256]; } "                                                                                         \
    "consts { q: i8[256, 128] @scalar(1); s: f16[" scale "] @scalar(1); z: i8[" scale "] @scalar(1); } nodes { " nodes         \
    " } outputs { y; }"
    check(ROUNDED("f16", "1, 128", "w = dequantizeLinear(q, s, z); y = matmul(x, w);"), -128, 256, "i8[2, 1, 256, 64]");
    check(ROUNDED("f32", "1, 128", "h = dequantizeLinear(q, s, z); w = cast(h, \"float32\"); y = matmul(x, w);"), -128, 256,
          "i8[2, 1, 256, 64]");
    check(ROUNDED("f32", "8, 128", "h = dequantizeLinear(q, s, z); w = cast(h, \"float32\"); y = matmul(x, w);"), -9, 16,
          "u4[2, 8, 4, 64, 8]");
}

/* Small weights, and those that something else reads, are unpacked when the graph is built. */
TEST(other_weights_are_folded)
{
    struct target t;
    const struct pass_options o = unpacking(&t);
    static const char *const bodies[] = {
        "inputs { x: f32[1, 64]; } consts { q: u8[64, 64] @scalar(1); s: f32[1, 64] @scalar(1); z: u8[1, 64] @scalar(1); } "
        "nodes { w = dequantizeLinear(q, s, z); y = matmul(x, w); } outputs { y; }",
        "inputs { x: f32[1, 256]; } consts { q: u8[256, 128] @scalar(1); s: f32[1, 128] @scalar(1); z: u8[1, 128] @scalar(1); "
        "} "
        "nodes { w = dequantizeLinear(q, s, z); y = matmul(x, w); r = relu(w); } outputs { y; r; }",
        "inputs { x: f32[256, 256]; } consts { q: u8[256, 256] @scalar(1); s: f32[1, 1] @scalar(1); z: u8[1, 1] @scalar(1); } "
        "nodes { w = dequantizeLinear(q, s, z); y = matmul(w, x); } outputs { y; }",
        ROUNDED("f16", "1, 128", "w = dequantizeLinear(q, s, z); v = matmul(x, w); u = reduceSum(w); y = add(u, v);"),
        ROUNDED("f32", "1, 128",
                "h = dequantizeLinear(q, s, z); w = cast(h, \"float32\"); v = matmul(x, w); u = reduceSum(w); y = add(u, v);"),
    };

    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        OWNED(graph) struct graph *g = compact_parse(bodies[i], 0, 16);
        assert_true(check_pass_at(g, pass_fold_constants, &o, true, false, __FILE__, __LINE__));
    }
    t.compact.panel_columns = 64; /* kernels for devices do not round */
    OWNED(graph) struct graph *on_device =
        compact_parse(ROUNDED("f16", "1, 128", "w = dequantizeLinear(q, s, z); y = matmul(x, w);"), 0, 16);
    assert_true(check_pass_at(on_device, pass_fold_constants, &o, true, false, __FILE__, __LINE__));
    t.compact.panel_columns = 0;
    OWNED(graph) struct graph *g =
        compact_parse(MATMUL("1", "u8", "8, 128"), 0, 16); /* nor does a target that cannot unpack them */
    t.compact.unpacks = false;
    assert_true(check_pass_at(g, pass_fold_constants, &o, true, false, __FILE__, __LINE__));
}

/* Makes kernels of the graph, and counts those that multiply bytes and those in no register tiles. */
static void count_kernels(struct graph *g, const struct pass_options *o, uint32_t *multiply, uint32_t *others)
{
    *multiply = *others = 0;
    pass_fuse_kernels(g, o);
    pass_finish_clusters(g, o);
    assert_int_equal(g->error.status, WNNStatus_Success);
    for (const struct cluster *c = g->first_cluster; c; c = c->next) {
        if (c->kind != CLUSTER_KERNEL)
            continue;
        SCOPED(kernel_list_free) struct kernel_list list = kernels_lower(g, c, o->target);
        for (uint32_t i = 0; i < list.count; i++) {
            OWNED(schedule) struct schedule *s = schedule_cpu(list.kernels[i], o->target);
            assert_non_null(s);
            *multiply += s->tiled && s->tile.blocks.bytes.a != KEXPR_NONE;
            *others += !s->tiled;
        }
    }
}

/* Operand A becomes bytes where the precision allows it, once for all matmuls that read it, and their kernels multiply bytes.
 */
TEST(the_other_operand_is_rounded_to_bytes)
{
    static const char body[] =
        "inputs { x: f32[4, 256]; } consts { q: u8[256, 128] @scalar(1); s: f32[8, 128] @scalar(1); z: u8[8, 128] @scalar(1); "
        "p: i8[256, 192] @scalar(1); t: f32[1, 192] @scalar(1); o: i8[1, 192] @scalar(0); } "
        "nodes { w = dequantizeLinear(q, s, z); y = matmul(x, w); v = dequantizeLinear(p, t, o); m = matmul(x, v); r = "
        "relu(m); "
        "} outputs { y; r; }";
    struct target t;
    struct pass_options o = unpacking(&t);
    OWNED(graph) struct graph *g = compact_parse(body, 0, 16);
    uint32_t multiply, round, bytes_made = 0;

    t.isa.byte_products = BYTES_MIXED;
    t.rounds_operands = true;
    check_pass_at(g, pass_fold_constants, &o, true, false, __FILE__, __LINE__);
    assert_true(pass_pack_weights(g, &o)); /* which changes results: tests of the whole library bound by how much */
    assert_prints(g, "u4[2, 8, 4, 64, 4, 2]");
    assert_prints(g, "u4[3, 8, 4, 64, 4, 2]"); /* one scale for all of K: A has blocks of 32 */
    graph_for_each (g, n)
        bytes_made += n->op == OP_CAST && n->results[0]->type.type == WNNOperandDataType_Uint8;
    assert_int_equal(bytes_made, 1);
    count_kernels(g, &o, &multiply, &round);
    assert_int_equal(multiply, 2);
    assert_int_equal(round, 1);
}

/* So it does next to weights of 8 bits that are signed numbers, or unsigned ones around 128: words of four neighbours. */
TEST(whole_bytes_are_multiplied)
{
    static const char body[] = "inputs { x: f32[4, 256]; } consts { q: u8[256, 128] @scalar(1); s: f32[8, 128] @scalar(1); "
                               "z: u8[8, 128] @scalar(128); } "
                               "nodes { w = dequantizeLinear(q, s, z); y = matmul(x, w); } outputs { y; }";
    struct target t;
    struct pass_options o = unpacking(&t);

    t.isa.byte_products = BYTES_MIXED;
    t.rounds_operands = true;
    for (int zero = 127; zero <= 128; zero++) {
        OWNED(graph) struct graph *g = compact_parse(body, 0, 256);
        uint32_t multiply, round;

        for (const struct value *v = g->first_constant; v; v = v->next_constant)
            if (v->type.type == WNNOperandDataType_Uint8 && v->type.dims[0] == 8)
                memset((void *)(uintptr_t)v->constant->data, zero, v->constant->bytes);
        check_pass_at(g, pass_fold_constants, &o, true, false, __FILE__, __LINE__);
        assert_true(pass_pack_weights(g, &o));
        assert_prints(g, zero == 128 ? "i8[2, 8, 8, 64, 4]" : "u8[2, 8, 32, 64]");
        count_kernels(g, &o, &multiply, &round);
        assert_int_equal(multiply, zero == 128);
        assert_int_equal(round, zero == 128);
    }
}

/* On a device all columns are contiguous, or panels of whole vectors that divide a head, whatever the rows are. */
TEST(devices_have_panels_of_their_own)
{
    static const struct {
        const char *body, *packed;
        uint32_t columns;
    } cases[] = {
        {MATMUL("1", "u8", "8, 128"), "u4[1, 8, 4, 128, 8]", UINT32_MAX},
        {MATMUL("200", "u8", "8, 128"), "u4[1, 8, 4, 128, 8]", UINT32_MAX},
        {MATMUL("1", "i8", "8, 128"), "u4[2, 8, 4, 64, 8]", 64},
        {MATMUL("9", "u8", "8, 128"), "u4[4, 8, 4, 32, 8]", 48},
        {"inputs { x: f32[1, 256]; } consts { q: u8[256, 136] @scalar(1); s: f32[8, 136] @scalar(1); z: u8[8, 136] @scalar(1); "
         "} "
         "nodes { w = dequantizeLinear(q, s, z); y = matmul(x, w); } outputs { y; }",
         "u4[1, 8, 4, 136, 8]", 64}, /* no whole vectors divide it */
        {"inputs { x: f32[1, 256]; } consts { q: u8[256, 192] @scalar(1); s: f32[8, 192] @scalar(1); z: u8[8, 192] @scalar(1); "
         "} "
         "nodes { w = dequantizeLinear(q, s, z); m = matmul(x, w); y = reshape(m, newShape=[1, 6, 32]); } outputs { y; }",
         "u4[6, 8, 4, 32, 8]", 64},
        {"inputs { x: f32[64, 256]; } consts { h: f16[256, 128] @scalar(1); } "
         "nodes { w = cast(h, \"float32\"); y = matmul(x, w); } outputs { y; }",
         "f16[2, 1, 256, 64]", 64},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct target t = {.isa = {.vector_bits = 32, .registers = 16},
                           .thread_count = 1,
                           .compact.unpacks = true,
                           .compact.panel_columns = cases[i].columns};
        const struct pass_options o = {.target = &t};
        OWNED(graph) struct graph *g = compact_parse(cases[i].body, 0, 16);

        check_pass_at(g, pass_canonicalize, &o, true, false, __FILE__, __LINE__);
        check_pass_at(g, pass_fold_constants, &o, true, false, __FILE__, __LINE__);
        assert_true(check_pass_at(g, pass_pack_weights, &o, true, false, __FILE__, __LINE__));
        assert_prints(g, cases[i].packed);
    }
}
