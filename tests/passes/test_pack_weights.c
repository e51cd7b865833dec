/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* pack-weights: what is packed, what is not, that results keep every bit, and that one kernel reads the panels where they lie.
 */
#include "pass_support.h"

static bool takes_nothing(void *user, const struct node *n)
{
    (void)user;
    (void)n;
    return false;
}

static struct pass_options no_library(struct target *t, uint32_t vector_bits)
{
    *t = fake_target;
    t->vector_bits = vector_bits;
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

/* After packing and fusing, the product reads a constant of the shape `packed`, vectors of whose last dimension lie side by
 * side. */
static void check_for(uint32_t vector_bits, const char *body, const char *packed)
{
    struct target t;
    const struct pass_options o = no_library(&t, vector_bits);
    struct graph *g = parse_numbered(body);
    struct error e = {0};
    uint32_t products = 0;

    assert_int_equal(check_pass_at(g, pass_pack_weights, &o, true, true, __FILE__, __LINE__), packed != NULL);
    if (packed)
        assert_prints(g, packed);
    assert_true(!packed || pass_fuse_kernels(g, &o));
    pass_finish_clusters(g, &o);
    assert_int_equal(g->error.status, WNNStatus_Success);
    for (const struct cluster *c = g->first_cluster; packed && c; c = c->next) {
        struct kernel_list list;
        if (c->kind != CLUSTER_KERNEL)
            continue;
        assert_true(lower_cluster(g, c, &t, &list, &e));
        for (uint32_t i = 0; i < list.count; i++) {
            const struct kernel *k = list.kernels[i];
            products += k->blocked;
            /* no gathers: what depends on the vector variable does so with stride 1 */
            for (uint32_t x = 0; k->blocked && x < k->expr_count; x++)
                for (uint32_t j = 0; k->exprs[x].op == K_LOAD && j < k->exprs[x].index.count; j++)
                    if (k->exprs[x].index.terms[j].var == k->vector_var)
                        assert_int_equal(k->exprs[x].index.terms[j].coefficient, 1);
        }
        kernel_list_free(&list);
    }
    assert_int_equal(products, packed != NULL);
    graph_free(g);
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

static void packed(void **state)
{
    (void)state;
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
    check("inputs { a: f32[1, 9]; } consts { b: f32[9, 126] @scalar(1); } nodes { y = matmul(a, b); } outputs { y; }",
          "f32[6, 9, 21]");
    check("inputs { a: f32[3, 5, 9]; } consts { b: f32[3, 9, 48] @scalar(1); } nodes { y = matmul(a, b); } outputs { y; }",
          "f32[2, 3, 9, 24]");
    check("inputs { a: f32[5, 9]; } consts { b: f32[10, 9] @scalar(1); } nodes { y = gemm(a, b, bTranspose=true, alpha=2); }"
          " outputs { y; }",
          "f32[9, 10]");
}

#define MATMUL(rows, columns, after)                                                                                           \
    "inputs { a: f32[" rows ", 9]; } consts { b: f32[9, " columns "] @scalar(1); } nodes { m = matmul(a, b); " after           \
    " } outputs { y; }"

/* With 32 registers of 512 bits tiles of many rows are three vectors wide, if that leaves no rest; 1x1 convolutions are like
 * products. */
static void wide_tiles(void **state)
{
    (void)state;
    check_for(512, MATMUL("64", "96", "y = relu(m);"), "f32[2, 9, 48]");
    check_for(256, MATMUL("64", "96", "y = relu(m);"), "f32[6, 9, 16]");
    check_for(512, MATMUL("64", "128", "y = relu(m);"), "f32[4, 9, 32]");
    check_for(512, MATMUL("4", "192", "y = relu(m);"), "f32[3, 9, 64]");
    check_for(512, CONV("96, 8, 1, 1", ""), "f32[2, 1, 1, 8, 48]");
    check_for(512, CONV("96, 8, 1, 1", ", strides=[2, 2]"), "f32[2, 1, 1, 8, 48]");
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
    check_for(512, MATMUL("64", "192", "y = reshape(m, [64, 96, 2]);"), "f32[4, 9, 48]");
}

static void not_packed(void **state)
{
    (void)state;
    /* in order already; given at run time; channels first, where vectors run along the image; nothing divides 37 */
    check(CONV("3, 3, 8, 24", ", filterLayout=\"hwio\""), NULL);
    check("inputs { a: f32[5, 9]; b: f32[9, 64]; } nodes { y = matmul(a, b); } outputs { y; }", NULL);
    check("inputs { x: f32[1, 8, 6, 7]; } consts { w: f32[64, 8, 3, 3] @scalar(1); } nodes { y = conv2d(x, w); } outputs "
          "{ y; }",
          NULL);
    check("inputs { a: f32[5, 9]; } consts { b: f32[9, 37] @scalar(1); } nodes { y = matmul(a, b); } outputs { y; }", NULL);
    /* the library packs for itself */
    struct graph *g = parse_body(CONV("64, 8, 3, 3", ""));
    assert_false(check_pass(g, pass_pack_weights, true));
    graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(packed),
        cmocka_unit_test(wide_tiles),
        cmocka_unit_test(not_packed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
