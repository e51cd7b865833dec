/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* fuse-epilogues and fuse-kernels: who joins whom, and that clusters can be put in order afterwards. */
#include <time.h>

#include "pass_support.h"

static struct cluster *cluster_of(struct graph *g, const char *name)
{
    struct value *v = value_named(g, name);

    assert_non_null(v);
    return v->producer->cluster;
}

/* The names in one string, separated by spaces, are one cluster of that kind. */
static void assert_together(struct graph *g, enum cluster_kind kind, const char *names)
{
    char copy[256], *rest = copy, *name;
    struct cluster *c = NULL;

    snprintf(copy, sizeof copy, "%s", names);
    while ((name = strtok_r(rest, " ", &rest))) {
        struct cluster *own = cluster_of(g, name);
        if (!own || own->kind != kind || (c && own != c)) {
            char *text = print_to_string(g);
            print_error("%s is not where \"%s\" are:\n%s", name, names, text);
            free(text);
            fail();
        }
        c = own;
    }
}

static void assert_apart(struct graph *g, const char *a, const char *b)
{
    if (cluster_of(g, a) && cluster_of(g, a) == cluster_of(g, b)) {
        char *text = print_to_string(g);
        print_error("%s and %s are together:\n%s", a, b, text);
        free(text);
        fail();
    }
}

/* Both fusing passes, then the order: fails if clusters need each other. */
static struct graph *fuse(const char *body)
{
    struct graph *g = parse_body(body);

    check_pass_tame(g, pass_fuse_epilogues, true);
    check_pass_tame(g, pass_fuse_kernels, true);
    pass_finish_clusters(g, &fake_options);
    assert_int_equal(g->error.status, WNNStatus_Success);
    assert_verifies(g);
    return g;
}

/* ---- epilogues ---- */

static void epilogues_follow_their_product(void **state)
{
    (void)state;
    struct graph *g =
        fuse("inputs { x: f32[1, 4, 4, 4]; res: f32[1, 4, 4, 4]; }"
             "consts { w: f32[4, 4, 1, 1] @scalar(1); k: f32[4] @scalar(2); }"
             "nodes { c = conv2d(x, w, inputLayout=\"nhwc\"); b = add(c, k); r = relu(b); e = exp(res); s = add(e, r);"
             "  t = clamp(s, maxValue=3); u = neg(t); } outputs { u; }");

    assert_together(g, CLUSTER_LIBRARY, "c b r s t");
    assert_ptr_equal(cluster_of(g, "c")->anchor, value_named(g, "c")->producer);
    assert_apart(g, "e", "c");
    assert_apart(g, "u", "t"); /* neg is nothing the target takes */
    graph_free(g);
}

static void a_result_read_twice_ends_the_epilogue(void **state)
{
    (void)state;
    struct graph *g =
        fuse("inputs { x: f32[8, 4]; w: f32[4, 4]; } consts { k: f32[4] @scalar(2); }"
             "nodes { m = matmul(x, w); b = add(m, k); r = relu(b); s = mul(r, b); q = matmul(x, w); h = mul(q, q);"
             "  p = gemm(x, w); o = relu(p); z = exp(o); } outputs { s; h; z; p; }");

    assert_together(g, CLUSTER_LIBRARY, "m b");
    assert_apart(g, "r", "b");
    assert_apart(g, "h", "q");
    assert_apart(g, "o", "p");
    graph_free(g);
}

static void shapes_must_stay(void **state)
{
    (void)state;
    struct graph *g = fuse("inputs { x: f32[1, 4]; w: f32[4, 4]; big: f32[6, 4]; }"
                           "nodes { m = matmul(x, w); a = add(m, big); } outputs { a; }");

    assert_apart(g, "a", "m");
    graph_free(g);
}

static void transposes_join_where_the_library_reads_through_them(void **state)
{
    (void)state;
    struct graph *g = fuse("inputs { x: f32[5, 4]; y: f32[6, 4]; z: f32[4, 6]; }"
                           "nodes { t = transpose(y); m = matmul(x, t); u = transpose(z); n = matmul(z, u); o = neg(u); }"
                           "outputs { m; n; o; }");

    assert_together(g, CLUSTER_LIBRARY, "t m");
    assert_apart(g, "u", "n"); /* read elsewhere, too */
    graph_free(g);
}

/* Two convolutions added: one takes the other's result as its residual, whichever comes first. */
static void two_products_added(void **state)
{
    (void)state;
    struct graph *g = fuse("inputs { x: f32[8, 4]; w: f32[4, 4]; } nodes { a = matmul(x, w); b = gemm(x, w); c = add(a, b);"
                           "  d = relu(c); } outputs { d; }");

    assert_together(g, CLUSTER_LIBRARY, "a c d");
    assert_true(cluster_of(g, "b")->index < cluster_of(g, "a")->index);
    graph_free(g);
}

/* ---- kernels ---- */

static void chains_and_diamonds_become_one_kernel(void **state)
{
    (void)state;
    struct graph *g = fuse("inputs { x: f32[64, 64]; y: f32[64]; }"
                           "nodes { a = exp(x); b = neg(a); c = mul(a, y); d = add(b, c); e = cast(d, dataType=\"float16\");"
                           "  f = sqrt(a); } outputs { e; f; }");

    assert_together(g, CLUSTER_KERNEL, "a b c d e f");
    assert_int_equal(g->cluster_count, 1);
    graph_free(g);
}

static void movement_joins_through_index_maps(void **state)
{
    (void)state;
    struct graph *g = fuse("inputs { x: f32[16, 64]; }"
                           "nodes { a = exp(x); r = reshape(a, newShape=[4, 4, 64]); t = transpose(r, permutation=[2, 0, 1]);"
                           "  s = slice(t, starts=[0, 0, 0], sizes=[32, 4, 4]); b = neg(s); } outputs { b; }");

    assert_together(g, CLUSTER_KERNEL, "a r t s b");
    graph_free(g);
}

static void a_view_alone_costs_nothing(void **state)
{
    (void)state;
    struct graph *g = fuse("inputs { x: f32[16, 64]; w: f32[64, 64]; }"
                           "nodes { m = matmul(x, w); r = reshape(m, newShape=[1024]); b = exp(r); a = sin(x);"
                           "  v = reshape(a, newShape=[64, 16]); n = matmul(v, x); } outputs { b; n; }");

    assert_int_equal(cluster_of(g, "r")->kind, CLUSTER_VIEW);
    assert_int_equal(cluster_of(g, "v")->kind, CLUSTER_VIEW);
    graph_free(g);
}

static void expensive_work_is_not_repeated(void **state)
{
    (void)state;
    struct graph *g = fuse("inputs { x: f32[64, 64]; y: f32[1, 64]; i: i32[500]; }"
                           "nodes { e = sigmoid(y); a = mul(x, e); s = exp(x); q = gather(s, i); b = neg(y); c = add(x, b); }"
                           "outputs { a; q; c; }");

    assert_apart(g, "e", "a"); /* would be computed for each of 64 rows */
    assert_apart(g, "s", "q"); /* rows would be computed several times */
    graph_free(g);
}

static void pools_do_not_repeat_what_comes_before(void **state)
{
    (void)state;
    struct graph *g = fuse("inputs { x: f32[1, 32, 32, 8]; }"
                           "nodes { s = sigmoid(x); p = maxPool2d(s, layout=\"nhwc\", windowDimensions=[3, 3]); r = relu(p); }"
                           "outputs { r; }");

    assert_apart(g, "s", "p");
    assert_together(g, CLUSTER_KERNEL, "p r");
    graph_free(g);
}

static void a_decomposed_softmax_is_one_kernel(void **state)
{
    (void)state;
    struct graph *g = fuse("inputs { x: f32[64, 100]; }"
                           "nodes { m = reduceMax(x, axes=[1], keepDimensions=true); d = sub(x, m); e = exp(d);"
                           "  s = reduceSum(e, axes=[1], keepDimensions=true); y = div(e, s); } outputs { y; }");

    assert_together(g, CLUSTER_KERNEL, "m d e s y");
    graph_free(g);
}

static void normalizations_take_their_neighbours(void **state)
{
    (void)state;
    struct graph *g =
        fuse("inputs { x: f32[64, 100]; y: f32[64, 100]; k: f32[100]; }"
             "nodes { a = add(x, y); n = layerNormalization(a, scale=k, axes=[1]); r = relu(n); } outputs { r; a; }");

    assert_together(g, CLUSTER_KERNEL, "a n r");
    graph_free(g);
}

/* Outputs of one value: written twice by the kernel that computes it. */
static void copies_for_outputs_join(void **state)
{
    (void)state;
    struct graph *g = parse_body("inputs { x: f32[64]; } nodes { y = exp(x); } outputs { y; \"again\" = y; }");

    pass_separate_outputs(g, &fake_options);
    pass_fuse_kernels(g, &fake_options);
    pass_finish_clusters(g, &fake_options);
    assert_int_equal(g->cluster_count, 1);
    graph_free(g);
}

/* a -> matmul -> c and a -> c: a and c in one kernel would have to run before and after the product. */
static void no_cycles_through_the_library(void **state)
{
    (void)state;
    struct graph *g = fuse("inputs { x: f32[64, 64]; w: f32[64, 64]; }"
                           "nodes { a = exp(x); m = matmul(a, w); n = neg(m); c = sub(n, a); d = sin(a); e = mul(d, c); }"
                           "outputs { e; }");

    assert_apart(g, "a", "c");
    assert_together(g, CLUSTER_KERNEL, "n c e");
    graph_free(g);
}

/* A concat that is no view: what computes one input only writes it where it belongs. */
static void concat_inputs_are_computed_in_place(void **state)
{
    (void)state;
    struct graph *g =
        fuse("inputs { x: f32[1, 4, 4, 8]; y: f32[1, 8, 8, 8]; i: i32[1, 8, 8, 8]; }"
             "nodes { r = resample2d(x, axes=[1, 2], sizes=[8, 8]); a = neg(r); b = exp(y);"
             "  s = scatterElements(y, i, y, axis=3); c = concat([a, y, b, s], axis=3);"
             "  d = sin(b); e = relu(c); } outputs { e; d; }");

    assert_together(g, CLUSTER_KERNEL, "r a c");
    assert_apart(g, "b", "c"); /* read by sin, too */
    assert_apart(g, "s", "c"); /* two kernels */
    graph_free(g);
}

/* More operations than one kernel should have: several kernels, not none. */
static void large_groups_are_split(void **state)
{
    (void)state;
    struct graph *g = parse_body("inputs { x: f32[64, 64]; } nodes { y = gelu(x); } outputs { y; }");
    struct value *v = g->inputs[0];

    for (int i = 0; i < 256; i++)
        v = node_create(g, NULL, OP_GELU, "", 1, &v, NULL, NULL, &g->error)->results[0];
    graph_add_output(g, "v", 1, v);
    pass_fuse_kernels(g, &fake_options);
    assert_false(pass_fuse_kernels(g, &fake_options));
    pass_finish_clusters(g, &fake_options);
    assert_true(g->cluster_count >= 256 / 64 && g->cluster_count <= 256 / 8);
    graph_free(g);
}

/* ---- random graphs: the order exists ---- */

static void random_graphs_have_an_order(void **state)
{
    (void)state;
    for (int round = 0; round < 200; round++) {
        struct graph *g = graph_create();
        struct value *values[128];
        uint32_t count = 0;
        struct tensor_type t = {WNNOperandDataType_Float32, 2, {16, 16}};

        values[count++] = graph_add_input(g, "x", 1, &t);
        values[count++] = graph_add_input(g, "y", 1, &t);
        while (count < 100) {
            struct value *in[2] = {values[count - 1 - random_bits() % (count < 8 ? count : 8)],
                                   values[count - 1 - random_bits() % (count < 30 ? count : 30)]};
            static const enum op ops[] = {OP_ADD, OP_MUL, OP_SUB, OP_EXP, OP_TRANSPOSE, OP_SOFTMAX, OP_MATMUL, OP_ADD};
            enum op op = ops[random_bits() % 8];
            union op_args args;
            struct node *n;

            memset(&args, 0, sizeof args);
            n = node_create(g, NULL, op, "", op_positional_inputs(op), in, NULL, &args, &g->error);
            assert_non_null(n);
            values[count++] = n->results[0];
        }
        for (uint32_t i = 0; i < 3; i++)
            graph_add_output(g, &"abc"[i], 1, values[count - 1 - random_bits() % 20]);
        pass_drop_dead(g, &fake_options);
        pass_separate_outputs(g, &fake_options);
        pass_fuse_epilogues(g, &fake_options);
        assert_false(pass_fuse_epilogues(g, &fake_options));
        pass_fuse_kernels(g, &fake_options);
        assert_false(pass_fuse_kernels(g, &fake_options));
        pass_finish_clusters(g, &fake_options);
        if (g->error.status)
            fail_msg("%s", g->error.message);
        assert_verifies(g);
        graph_free(g);
    }
}

/* ---- speed ---- */

static double seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void large_graphs_take_linear_time(void **state)
{
    double times[2];

    (void)state;
    for (int k = 0; k < 2; k++) {
        struct graph *g = graph_create();
        struct tensor_type t = {WNNOperandDataType_Float32, 1, {1 << 16}};
        struct value *v = graph_add_input(g, "x", 1, &t), *skip = v;
        double start;

        for (int i = 0; i < 5000 << 2 * k; i++) {
            struct value *inputs[2] = {v, skip};
            v = node_create(g, NULL, i % 7 == 6 ? OP_ADD : OP_NEG, "", i % 7 == 6 ? 2 : 1, inputs, NULL, NULL, &g->error)
                    ->results[0];
            if (i % 50 == 0)
                skip = v;
        }
        graph_add_output(g, "y", 1, v);
        start = seconds();
        assert_true(pass_fuse_kernels(g, &fake_options));
        times[k] = seconds() - start;
        pass_finish_clusters(g, &fake_options);
        assert_int_equal(g->error.status, WNNStatus_Success);
        graph_free(g);
    }
    print_message("5000 nodes: %.0f ms, 20000 nodes: %.0f ms\n", times[0] * 1e3, times[1] * 1e3);
    assert_true(times[1] < 10 * times[0] + 0.1); /* 4 times, plus whatever the machine does meanwhile; quadratic would be 16 */
}

/* Vectors run along the channels of its result, which in nchw lie apart; what the kernel reads its weights through is no such
 * order. */
static void transposed_convolutions_leave_other_layouts_alone(void **state)
{
    static const struct target t = {.vector_bits = 512, .thread_count = 1, .cache_bytes = 1 << 20};
    const struct pass_options o = {.target = &t};
    (void)state;
    struct graph *g = parse_body(
        "inputs { x: f32[1, 32, 8, 8]; } consts { w: f32[2, 32, 2, 2, 32] @scalar(1); }"
        "nodes { a = transpose(x, permutation=[0, 2, 3, 1]); v = transpose(w, permutation=[1, 0, 4, 2, 3]);"
        "  f = reshape(v, [32, 64, 2, 2]); c = convTranspose2d(a, f, strides=[2, 2], inputLayout=\"nhwc\"); r = relu(c);"
        "  y = transpose(r, permutation=[0, 3, 1, 2]); } outputs { y; }");

    pass_fuse_kernels(g, &o);
    pass_finish_clusters(g, &o);
    assert_int_equal(g->error.status, WNNStatus_Success);
    assert_together(g, CLUSTER_KERNEL, "v f c r");
    assert_apart(g, "a", "c");
    assert_apart(g, "y", "c");
    graph_free(g);
}

/* To mirror an index for every product of a sum costs more than storing the padded image; a guard costs a tile nothing. */
static void products_do_not_look_up_what_they_read(void **state)
{
    static const struct target t = {.vector_bits = 512, .thread_count = 1, .cache_bytes = 1 << 20};
    static const struct {
        const char *mode;
        bool together;
    } cases[] = {{"constant", true}, {"reflection", false}, {"edge", false}};
    const struct pass_options o = {.target = &t};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char body[512];

        snprintf(body, sizeof body,
                 "inputs { x: f32[1, 1, 576, 1]; } consts { w: f32[256, 1, 1, 256] @scalar(1); }"
                 "nodes { p = pad(x, [0, 0, 0, 0], [0, 0, 64, 0], mode=\"%s\");"
                 "  c = conv2d(p, w, strides=[1, 128], inputLayout=\"nhwc\"); } outputs { c; }",
                 cases[i].mode);
        struct graph *g = parse_body(body);
        pass_fuse_kernels(g, &o);
        pass_finish_clusters(g, &o);
        assert_int_equal(g->error.status, WNNStatus_Success);
        if (cases[i].together)
            assert_together(g, CLUSTER_KERNEL, "p c");
        else
            assert_apart(g, "p", "c");
        graph_free(g);
    }
}

/* They read an element four times at most, for tiles that overlap. */
static void transforms_look_up_what_they_read(void **state)
{
    static const struct target t = {.vector_bits = 512, .thread_count = 1, .cache_bytes = 1 << 20};
    static const struct debug_options prefer = {.flags = DEBUG_PREFER_WINOGRAD};
    const struct pass_options o = {.target = &t, .debug = &prefer};
    (void)state;
    struct graph *g = parse_body("inputs { x: f32[1, 28, 28, 32]; } consts { w: f32[32, 32, 3, 3] @scalar(1); }"
                                 "nodes { p = pad(x, [0, 1, 1, 0], [0, 1, 1, 0], mode=\"reflection\");"
                                 "  c = conv2d(p, w, inputLayout=\"nhwc\"); } outputs { c; }");

    assert_true(pass_winograd(g, &o));
    pass_fuse_kernels(g, &o);
    pass_finish_clusters(g, &o);
    assert_int_equal(g->error.status, WNNStatus_Success);
    assert_together(g, CLUSTER_KERNEL, "p c");
    graph_free(g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(transposed_convolutions_leave_other_layouts_alone),
        cmocka_unit_test(transforms_look_up_what_they_read),
        cmocka_unit_test(products_do_not_look_up_what_they_read),
        cmocka_unit_test(epilogues_follow_their_product),
        cmocka_unit_test(a_result_read_twice_ends_the_epilogue),
        cmocka_unit_test(shapes_must_stay),
        cmocka_unit_test(transposes_join_where_the_library_reads_through_them),
        cmocka_unit_test(two_products_added),
        cmocka_unit_test(chains_and_diamonds_become_one_kernel),
        cmocka_unit_test(movement_joins_through_index_maps),
        cmocka_unit_test(a_view_alone_costs_nothing),
        cmocka_unit_test(expensive_work_is_not_repeated),
        cmocka_unit_test(pools_do_not_repeat_what_comes_before),
        cmocka_unit_test(a_decomposed_softmax_is_one_kernel),
        cmocka_unit_test(normalizations_take_their_neighbours),
        cmocka_unit_test(copies_for_outputs_join),
        cmocka_unit_test(no_cycles_through_the_library),
        cmocka_unit_test(concat_inputs_are_computed_in_place),
        cmocka_unit_test(large_groups_are_split),
        cmocka_unit_test(random_graphs_have_an_order),
        cmocka_unit_test(large_graphs_take_linear_time),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
