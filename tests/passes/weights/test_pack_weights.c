/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* pack-weights: which weights are packed, that results keep every bit, and that one kernel reads the panels where they lie.
 */
#include "ir/graph/constant_pool.h"
#include "passes/pass_support.h"
#include "support/kernels.h"
#include "support/schedules.h"

static bool takes_nothing(void *user, const struct node *n)
{
    return false;
}

static struct pass_options no_library(struct target *t, uint32_t vector_bits)
{
    *t = fake_target;
    t->isa.vector_bits = vector_bits;
    t->takes_node = takes_nothing;
    return (struct pass_options){.target = t};
}

/* Constants of the text are splats; here every element differs. */
static struct graph *parse_numbered(const char *body)
{
    struct graph *g = parse_body(body);
    for (const struct value *v = g->first_constant; v; v = v->next_constant)
        for (int64_t i = 0; i < type_elements(&v->type); i++)
            ((float *)(uintptr_t)v->constant->data)[i] = (float)random_float(false);
    return g;
}

/* After packing and fusing, the contraction reads a constant of the shape `packed`, vectors of whose last dimension lie side by
 * side. */
static void check_for(uint32_t vector_bits, const char *body, const char *packed)
{
    struct target t;
    const struct pass_options o = no_library(&t, vector_bits);
    OWNED(graph) struct graph *g = parse_numbered(body);
    uint32_t contractions = 0;

    assert_int_equal(check_pass_at(g, pass_pack_weights, &o, true, true, __FILE__, __LINE__), packed != NULL);
    if (packed)
        assert_prints(g, packed);
    assert_true(!packed || pass_fuse_kernels(g, &o));
    pass_finish_clusters(g, &o);
    assert_int_equal(g->error.status, WNNStatus_Success);
    for (const struct cluster *c = g->first_cluster; packed && c; c = c->next) {
        if (c->kind != CLUSTER_KERNEL)
            continue;
        SCOPED(kernel_list_free) struct kernel_list list = kernels_lower(g, c, &t);
        for (uint32_t i = 0; i < list.count; i++) {
            const struct kernel *k = list.kernels[i];
            OWNED(schedule) struct schedule *s = schedule_of(k, &t.isa);
            contractions += s->tiled || k->vars[s->vector_var].kind == KVAR_REDUCED;
            /* no gathers: what depends on the vector variable does so with stride 1 */
            for (uint32_t x = 0; s->tiled && x < k->expr_count; x++)
                for (uint32_t j = 0; k->exprs[x].op == K_LOAD && j < k->exprs[x].index.count; j++)
                    if (k->exprs[x].index.terms[j].var == s->vector_var)
                        assert_int_equal(k->exprs[x].index.terms[j].coefficient, 1);
        }
    }
    assert_int_equal(contractions, packed != NULL);
}

static void check(const char *body, const char *packed)
{
    check_for(256, body, packed);
}

#define CONV(filter, options)                                                                                                  \
    "inputs { x: f32[1, 6, 7, 8]; } consts { w: f32[" filter "] @scalar(1); } nodes { y = conv2d(x, w" options                 \
    ", inputLayout=\"nhwc\"); z = relu(y); } outputs { z; }"
#define TRANSPOSED(filter, options)                                                                                            \
    "inputs { x: f32[1, 6, 7, 8]; } consts { w: f32[" filter "] @scalar(1); } nodes { y = convTranspose2d(x, w" options        \
    ", inputLayout=\"nhwc\"); z = relu(y); } outputs { z; }"

TEST(weights_are_packed)
{
    check(CONV("24, 8, 3, 3", ""), "f32[3, 3, 8, 24]");
    check(CONV("64, 8, 3, 3", ", padding=[1, 1, 1, 1], strides=[2, 1]"), "f32[4, 3, 3, 8, 16]");
    check(CONV("3, 3, 8, 64", ", filterLayout=\"hwio\""), "f32[4, 3, 3, 8, 16]");
    check(CONV("64, 3, 3, 8", ", filterLayout=\"ohwi\""), "f32[4, 3, 3, 8, 16]");
    check(CONV("8, 3, 3, 64", ", filterLayout=\"ihwo\""), "f32[4, 3, 3, 8, 16]");
    check(CONV("96, 4, 1, 1", ", groups=2"), "f32[6, 1, 1, 4, 16]");
    check(CONV("8, 1, 3, 3", ", groups=8"), "f32[3, 3, 1, 8]");
    check(TRANSPOSED("8, 16, 3, 3", ", strides=[2, 2], outputPadding=[1, 1]"), "f32[3, 3, 8, 16]");
    check(TRANSPOSED("8, 48, 4, 4", ", strides=[2, 2], padding=[1, 1, 1, 1]"), "f32[3, 4, 4, 8, 16]");
    check(TRANSPOSED("3, 3, 48, 8", ", filterLayout=\"hwoi\""), "f32[3, 3, 3, 8, 16]");
    check(TRANSPOSED("48, 3, 3, 8", ", filterLayout=\"ohwi\""), "f32[3, 3, 3, 8, 16]");
    /* three vectors rather than one or five; at least a line of the cache */
    check(CONV("120, 8, 3, 3", ""), "f32[5, 3, 3, 8, 24]");
    check(CONV("24, 8, 1, 1", ""), "f32[1, 1, 8, 24]");
    check_for(128, CONV("64, 8, 3, 3", ""), "f32[4, 3, 3, 8, 16]");
    check("inputs { a: f32[5, 9]; } consts { b: f32[9, 64] @scalar(1); } nodes { y = matmul(a, b); } outputs { y; }",
          "f32[2, 9, 32]");
    /* a panel is as wide as a tile: with more rows narrower; several tiles wide where that fills vectors */
    check("inputs { a: f32[4, 3, 9]; } consts { b: f32[9, 64] @scalar(1); } nodes { y = matmul(a, b); } outputs { y; }",
          "f32[4, 9, 16]");
    check("inputs { a: f32[9, 9]; } consts { b: f32[9, 126] @scalar(1); } nodes { y = matmul(a, b); } outputs { y; }",
          "f32[2, 9, 63]");
    /* one row, and columns that nothing divides, or two columns: each is a run */
    check(CONV("2, 8, 3, 3", ""), "f32[2, 3, 3, 8]");
    check("inputs { a: f32[1, 513]; } consts { b: f32[513, 67] @scalar(1); } nodes { y = matmul(a, b); } outputs { y; }",
          "f32[67, 513]");
    check("inputs { a: f32[3, 5, 9]; } consts { b: f32[3, 9, 48] @scalar(1); } nodes { y = matmul(a, b); } outputs { y; }",
          "f32[2, 3, 9, 24]");
    check("inputs { a: f32[5, 9]; } consts { b: f32[10, 9] @scalar(1); } nodes { y = gemm(a, b, bTranspose=true, alpha=2); }"
          " outputs { y; }",
          "f32[9, 10]");
}

#define MATMUL(rows, columns, after)                                                                                           \
    "inputs { a: f32[" rows ", 9]; } consts { b: f32[9, " columns "] @scalar(1); } nodes { m = matmul(a, b); " after           \
    " } outputs { y; }"

/* Tiles of many rows are two vectors wide, of few rows four; 1x1 convolutions are like contractions. */
TEST(wide_tiles_are_chosen)
{
    check_for(512, MATMUL("64", "96", "y = relu(m);"), "f32[3, 9, 32]");
    check_for(256, MATMUL("64", "96", "y = relu(m);"), "f32[6, 9, 16]");
    check_for(512, MATMUL("64", "144", "y = relu(m);"), "f32[3, 9, 48]");
    check_for(512, MATMUL("4", "192", "y = relu(m);"), "f32[3, 9, 64]");
    check_for(512, CONV("96, 8, 1, 1", ""), "f32[3, 1, 1, 8, 32]");
    check_for(512, CONV("96, 8, 1, 1", ", strides=[2, 2]"), "f32[3, 1, 1, 8, 32]");
    /* several tiles wide only if the panel stays in the cache */
    check_for(512,
              "inputs { a: f32[32, 512]; } consts { b: f32[512, 1000] @scalar(1); } "
              "nodes { y = matmul(a, b); } outputs { y; }",
              "f32[8, 512, 125]");
    check_for(512,
              "inputs { a: f32[32, 513]; } consts { b: f32[513, 1000] @scalar(1); } "
              "nodes { y = matmul(a, b); } outputs { y; }",
              "f32[25, 513, 40]");
    /* a head's results are not cut by the end of a panel */
    check_for(512, MATMUL("64", "192", "r = relu(m); y = reshape(r, [64, 3, 64]);"), "f32[6, 9, 32]");
    check_for(512, MATMUL("64", "192", "y = reshape(m, [64, 96, 2]);"), "f32[6, 9, 32]");
}

TEST(other_weights_are_left_alone)
{
    /* in order already; given at run time; channels first, where vectors run along the image; nothing divides 37 */
    check(CONV("3, 3, 8, 24", ", filterLayout=\"hwio\""), NULL);
    check("inputs { a: f32[5, 9]; b: f32[9, 64]; } nodes { y = matmul(a, b); } outputs { y; }", NULL);
    check("inputs { x: f32[1, 8, 6, 7]; } consts { w: f32[64, 8, 3, 3] @scalar(1); } nodes { y = conv2d(x, w); } outputs "
          "{ y; }",
          NULL);
    check("inputs { a: f32[5, 9]; } consts { b: f32[9, 37] @scalar(1); } nodes { y = matmul(a, b); } outputs { y; }", NULL);
    /* the library packs for itself */
    OWNED(graph) struct graph *g = parse_body(CONV("64, 8, 3, 3", ""));
    assert_false(check_pass(g, pass_pack_weights, true));
}

/* A graph for other rows that is made of the same constants finds the panels, and packs nothing. */
static void check_found(const char *inputs, const char *rest)
{
    struct graph *g[2];
    char body[512];
    struct target t;
    const struct pass_options o = no_library(&t, 256);

    t.pool = constant_pool_create();
    t.isa.byte_products = BYTES_MIXED_PAIRS;
    t.compact.unpacks = true;
    for (uint64_t i = 0; i < 2; i++) {
        snprintf(body, sizeof body, "inputs { a: %s[%d, 64]; %s", inputs, i ? 57 : 40, rest);
        g[i] = parse_body(body);
        for (struct value *of = g[0]->first_constant, *v = g[i]->first_constant; i && v;
             of = of->next_constant, v = v->next_constant) {
            constant_release(v->constant);
            v->constant = constant_retain(of->constant);
        }
    }
    for (uint64_t i = 0; i < 2; i++) {
        assert_int_equal(check_pass_at(g[i], pass_pack_weights, &o, true, true, __FILE__, __LINE__), true);
        const struct constant_pool_counts counts = constant_pool_count(t.pool);
        assert_int_equal(counts.made, 1);
        assert_int_equal(counts.found, i);
    }
    constant_pool_release(t.pool);
    graph_free(g[0]);
    graph_free(g[1]);
}

TEST(packed_weights_are_found)
{
    check_found("f32", "} consts { b: f32[64, 96] @scalar(1); } nodes { y = matmul(a, b); } outputs { y; }");
    check_found("u8",
                "z: u8[1, 1]; } consts { b: i8[64, 512] @scalar(60); s: f32[1, 1] @scalar(1); o: i8[1, 1] @scalar(0); }"
                "nodes { x = dequantizeLinear(a, s, z); w = dequantizeLinear(b, s, o); y = matmul(x, w); } outputs { y; }");
}

/* ---- the schedule's MR x NR and the panels ---- */

static const struct isa isa_levels[] = {
    {.vector_bits = 512, .fma = true, .f16 = true, .rounding = true, .masks = true, .masks32 = true, .registers = 32},
    {.vector_bits = 256, .fma = true, .f16 = true, .rounding = true, .masks32 = true, .registers = 16},
    {.vector_bits = 128, .registers = 16},                                             /* x86-64 */
    {.vector_bits = 128, .fma = true, .f16 = true, .rounding = true, .registers = 32}, /* aarch64 */
    {.vector_bits = 128, .rounding = true, .registers = 15, .loads_first = true},      /* WebAssembly */
    {.vector_bits = 128, .rounding = true, .registers = 15, .loads_first = true, .relaxed_fma = true},
};

/* Returns the schedule of the contraction that reads a packed constant, which *panel tells the width of. */
static struct schedule *schedule_packed(struct graph *g, const struct target *t, struct kernel_list *list, int64_t *panel)
{
    const struct pass_options o = {.target = t};

    assert_true(pass_pack_weights(g, &o));
    pass_fuse_kernels(g, &o);
    pass_finish_clusters(g, &o);
    assert_int_equal(g->error.status, WNNStatus_Success);
    for (const struct value *v = g->first_constant; v; v = v->next_constant)
        if (v->uses && v->type.rank >= 3)
            *panel = v->type.dims[v->type.rank - 1];
    for (const struct cluster *c = g->first_cluster; c; c = c->next) {
        if (c->kind != CLUSTER_KERNEL)
            continue;
        assert_done(lower_cluster(g, c, t, list, &e));
        for (uint32_t i = 0; i < list->count; i++) {
            struct schedule *s = schedule_cpu(list->kernels[i], t);

            assert_non_null(s);
            if (s->tiled)
                return s;
            schedule_free(s);
        }
        kernel_list_free(list);
    }
    fail_msg("no contraction is tiled");
    return NULL;
}

/* The columns of a panel are the schedule's N; the tile's NR divides a panel of whole vectors, unless it is several tiles wide.
 */
static void check_agreement(const struct isa *isa, int64_t m, int64_t k, int64_t n)
{
    struct target t;
    struct kernel_list list;
    int64_t panel = 0;
    char body[256];

    no_library(&t, isa->vector_bits);
    t.isa = *isa;
    snprintf(body, sizeof body,
             "inputs { a: f32[%d, %d]; } consts { b: f32[%d, %d] @scalar(1); } nodes { y = matmul(a, b); } outputs { y; }",
             (int)m, (int)k, (int)k, (int)n);
    struct graph *g = parse_numbered(body);
    OWNED(schedule) struct schedule *s = schedule_packed(g, &t, &list, &panel);
    const struct register_tile *tile = &s->tile;
    const int64_t nr = (int64_t)tile->vectors * s->lanes;
    const struct kexpr *b = &s->kernel->exprs[tile_b(s)];

    assert_int_equal(panel, schedule_panel(&t, &(struct contraction){.m = m, .n = n, .k = k, .group = n}));
    assert_int_equal(s->kernel->vars[s->vector_var].size, panel);
    assert_true(nr - panel < s->lanes); /* no tile is wider than a panel */
    /* few sums take turns, in blocks of a long sum, too */
    assert_int_equal(tile->chains, k % TILE_CHAINS_MAX == 0 && tile->mr * tile->vectors <= 4 ? TILE_CHAINS_MAX : 1);
    if (panel % s->lanes == 0 && panel <= 4 * s->lanes && m >= target_facts(&t)->contraction.tall_rows)
        assert_int_equal(panel % nr, 0);
    /* the next step of the sum reads the next row of the panel */
    assert_int_equal(kaffine_coefficient(b->index, s->kernel->parallel_count), panel);
    /* MR x NR fits into registers, with a row of B, elements of A and a product, and hides latency where there are rows for
     * it */
    const uint32_t product = isa->fma || isa->relaxed_fma ? 0 : 1;
    const uint32_t fixed = tile->vectors + product + (isa->loads_first ? 0 : 1), by_row = tile->vectors + isa->loads_first;
    assert_true(tile->mr * by_row + fixed <= isa->registers || tile->mr == 1);
    assert_true(tile->mr - tile->shorter <= m);
    if (m >= target_facts(&t)->contraction.tall_rows && panel >= 2 * s->lanes)
        assert_true(tile->mr * tile->vectors >= target_facts(&t)->contraction.chains ||
                    (tile->mr + 1) * by_row + fixed > isa->registers); /* or one row more does not fit */
    kernels_end(g, &list);
}

/* K of bytes quantised by data is put in an order in which no pair of weights adds up to more than 128, as two that are left
 * get by dividing an earlier pair; where there is none, or only half as many columns repay it, numbers of 16 bits are
 * multiplied.  Images are padded by their zero point in that order, too. */
TEST(pairs_of_bytes_fit)
{
    static const struct {
        int8_t of_even[4], of_odd[4];
        const char *columns, *prints;
        bool image;
    } cases[] = {{{100, 60, -99, 6}, {1, 2, 1, 127}, "512", "= gather(x, ", false},
                 {{100, 60, -99, 6}, {1, 2, 1, 127}, "512", "= gather(x, ", true},
                 {{100, 60, -99, 6}, {1, 2, 1, 127}, "256", "i8[8, 2, 32, 2]", false},
                 {{127, 1, -128, 0}, {-64, -64, 5, -128}, "256", "i8[8, 1, 32, 4]", false},
                 {{100, 60, 50, 6}, {30, 2, 1, 127}, "512", "i8[16, 2, 32, 2]", false}};

    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        char body[400];
        struct target t;
        const struct pass_options o = no_library(&t, 256);
        const char *ones = cases[c].image ? "1, 1, " : "";
        snprintf(body, sizeof body,
                 "inputs { x: u8[%s2, 4]; z: u8[%s1, 1]; } consts { w: i8[%s4, %s] @scalar(0); s: f32[%s1, 1] @scalar(1); "
                 "o: i8[%s1, 1] @scalar(0); } nodes { a = dequantizeLinear(x, s, z); b = dequantizeLinear(w, s, o); y = %s; } "
                 "outputs { y; }",
                 ones, ones, ones, cases[c].columns, ones, ones,
                 cases[c].image ? "conv2d(a, b, padding=[1, 0, 0, 2], inputLayout=\"nhwc\", filterLayout=\"hwio\")"
                                : "matmul(a, b)");
        OWNED(graph) struct graph *g = parse_body(body);
        struct value *w = g->first_constant;
        for (int64_t i = 0, n = type_elements(&w->type) / 4; i < 4 * n; i++)
            ((int8_t *)(uintptr_t)w->constant->data)[i] = (i % n % 2 ? cases[c].of_odd : cases[c].of_even)[i / n];
        t.isa.byte_products = BYTES_MIXED_PAIRS;
        t.compact.unpacks = true;
        assert_true(check_pass_at(g, pass_pack_weights, &o, true, true, __FILE__, __LINE__));
        assert_prints(g, cases[c].prints);
    }
}

/* A search for pairs that takes long ends without one: each row fits only those half of K away. */
TEST(pairs_of_bytes_are_not_looked_for_long)
{
    struct target t;
    const struct pass_options o = no_library(&t, 256);
    OWNED(graph) struct graph *g =
        parse_body("inputs { x: u8[2, 256]; z: u8[1, 1]; } consts { w: i8[256, 512] @scalar(100); s: f32[1, 1] @scalar(1); "
                   "o: i8[1, 1] @scalar(0); } nodes { a = dequantizeLinear(x, s, z); b = dequantizeLinear(w, s, o); "
                   "y = matmul(a, b); } outputs { y; }");

    memset((int8_t *)(uintptr_t)g->first_constant->constant->data + 128 * 512, -100, 128 * 512);
    t.isa.byte_products = BYTES_MIXED_PAIRS;
    t.compact.unpacks = true;
    assert_true(check_pass_at(g, pass_pack_weights, &o, true, true, __FILE__, __LINE__));
    assert_prints(g, "i8[16, 128, 32, 2]");
}

TEST(tiles_fit_panels)
{
    static const int64_t sizes[][2] = {{64, 96},   {64, 128},   {384, 768}, {512, 1000},
                                       {100, 120}, {768, 3072}, {9, 144},   {1024, 1000}};

    for (uint32_t i = 0; i < sizeof isa_levels / sizeof *isa_levels; i++)
        for (uint32_t j = 0; j < sizeof sizes / sizeof *sizes; j++)
            for (int64_t m = 1; m <= 128; m = m * 3 + 1)
                check_agreement(&isa_levels[i], m, sizes[j][0], sizes[j][1]);
}

/* Where a lowering pads M, the schedule takes the MR that it padded to. */
TEST(padded_rows_are_the_tiles)
{
    const union scalar zero = {.u64 = 0};

    for (uint32_t i = 0; i < sizeof isa_levels / sizeof *isa_levels; i++) {
        const struct target t = {.isa = isa_levels[i], .thread_count = 1};
        uint32_t mr[2];
        const uint32_t count = schedule_padded_rows(&t, mr);

        for (uint32_t c = 0; c < count; c++) {
            const int64_t m = 6 * mr[c], k = 64;
            const int64_t n = schedule_padded_panel(&t, &(struct contraction){.m = m, .n = 256, .k = k, .group = 256});
            OWNED(kernel) struct kernel *kernel = kernel_create();
            const uint32_t a = kernel_tensor(kernel, WNNOperandDataType_Float32, m * k, false, NULL);
            const uint32_t b = kernel_tensor(kernel, WNNOperandDataType_Float32, k * n, false, NULL);
            const uint32_t y = kernel_tensor(kernel, WNNOperandDataType_Float32, m * n, true, NULL);
            const struct kaffine row = kaffine_var(kernel, kernel_var(kernel, KVAR_PARALLEL, m));
            const struct kaffine column = kaffine_var(kernel, kernel_var(kernel, KVAR_PARALLEL, n));
            const struct kaffine step = kaffine_var(kernel, kernel_var(kernel, KVAR_REDUCED, k));
            const uint32_t left =
                kernel_load(kernel, a, kaffine_add(kernel, kaffine_scale(kernel, row, k), step), 0, NULL, zero);
            const uint32_t right =
                kernel_load(kernel, b, kaffine_add(kernel, kaffine_scale(kernel, step, n), column), 0, NULL, zero);

            kernel->contraction.m_multiple = mr[c];
            kernel_store(kernel, y, kaffine_add(kernel, kaffine_scale(kernel, row, n), column), kernel_dot(kernel, left, right),
                         0, NULL);
            assert_true(kernel_finish(kernel));
            OWNED(schedule) struct schedule *s = schedule_cpu(kernel, &t);
            assert_non_null(s);
            assert_true(s->tiled);
            assert_int_equal(s->tile.mr, mr[c]);
            assert_int_equal(n % (s->tile.vectors * s->lanes), 0);
        }
    }
}
