/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Printing kernels as OpenCL C, without a device: the schedule that is chosen, and that sizes are parameters, so that kernels
 * of one structure have one text.  run_kernels.c runs what is printed.
 */
#include "codegen/opencl/opencl.h"
#include "support/small_graphs.h"

/* Returns the only kernel of a graph, printed. */
static char *printed(const char *body, struct gpu_schedule *s, uint32_t *params)
{
    struct graph *g = parse_body(body);
    struct opencl_source source;
    struct kernel_list list;
    struct error e = {0};
    char *text;

    kernels_cluster_nodes(g, true);
    assert_true(lower_cluster(g, g->first_cluster, NULL, &list, &e));
    assert_int_equal(list.count, 1);
    schedule_gpu(list.kernels[0], target_gpu_facts(false), s);
    assert_true(opencl_print(list.kernels[0], s, "f", &source, &e));
    text = strdup(source.text);
    *params = source.param_count;
    opencl_source_free(&source);
    kernel_list_free(&list);
    graph_free(g);
    return text;
}

static void expect_shape(const char *body, enum gpu_shape shape)
{
    struct gpu_schedule s;
    uint32_t params;
    char *text = printed(body, &s, &params);

    if (s.shape != shape)
        fail_msg("shape %d, expected %d:\n%s", s.shape, shape, text);
    free(text);
}

/** Long contiguous rows are shared by a group's items; short ones, columns and running sums are one item's. */
static void schedules_follow_the_shape(void **state)
{
    (void)state;
    expect_shape("inputs { x: f32[64, 64]; } nodes { y = exp(x); } outputs { y; }", GPU_POINTS);
    expect_shape("inputs { x: f32[64, 4096]; } nodes { y = softmax(x, 1); } outputs { y; }", GPU_ROWS);
    expect_shape("inputs { x: f32[64, 8]; } nodes { y = softmax(x, 1); } outputs { y; }", GPU_POINTS);
    expect_shape("inputs { x: f32[4096, 4096]; } nodes { y = reduceSum(x, axes=[0]); } outputs { y; }", GPU_POINTS);
    expect_shape("inputs { x: f32[64, 4096]; } nodes { y = cumulativeSum(x, 1); } outputs { y; }", GPU_POINTS);
}

/** Another size is another parameter, and indices have 64 bits where 32 would not do. */
static void sizes_are_parameters(void **state)
{
    struct gpu_schedule s;
    uint32_t params, others;
    char *a = printed("inputs { x: f32[96, 1024]; } nodes { y = softmax(x, 1); } outputs { y; }", &s, &params);
    char *b = printed("inputs { x: f32[33, 1024]; } nodes { y = softmax(x, 1); } outputs { y; }", &s, &others);

    (void)state;
    assert_string_equal(a, b);
    assert_int_equal(params, others);
    assert_false(s.wide);
    free(a);
    free(b);
    a = printed("inputs { x: i8[40000, 40000]; } nodes { y = cast(x, uint8); } outputs { y; }", &s, &params);
    assert_true(s.wide);
    assert_non_null(strstr(a, "long p0"));
    free(a);
}

/** A processor that poses as a device keeps the exponentials of a softmax, in an array that its row fits; a GPU computes them
 * again. */
static void dear_values_are_kept_on_processors(void **state)
{
    (void)state;
    for (int processor = 0; processor < 2; processor++) {
        struct graph *g = parse_body("inputs { x: f32[64, 40]; } nodes { y = softmax(x, 1); } outputs { y; }");
        struct opencl_source source;
        struct kernel_list list;
        struct gpu_schedule s;
        struct error e = {0};

        kernels_cluster_nodes(g, true);
        assert_true(lower_cluster(g, g->first_cluster, NULL, &list, &e));
        schedule_gpu(list.kernels[0], target_gpu_facts(processor), &s);
        assert_true(opencl_print(list.kernels[0], &s, "f", &source, &e));
        assert_int_equal(strstr(source.text, "float kept[64];") != NULL, processor);
        assert_int_equal(s.kept != KEXPR_NONE, processor);
        opencl_source_free(&source);
        kernel_list_free(&list);
        graph_free(g);
    }
}

/** Everything that small random graphs become can be printed. */
static void random_graphs_are_printed(void **state)
{
    uint32_t kernels = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        kernels_state = seed * 1000003;
        struct graph *g = random_graph();
        cluster_greedily(g);
        for (const struct cluster *c = g->first_cluster; c; c = c->next) {
            struct kernel_list list;
            struct error e = {0};
            assert_true(lower_cluster(g, c, NULL, &list, &e));
            for (uint32_t i = 0; i < list.count; i++, kernels++) {
                struct opencl_source source;
                struct gpu_schedule s;
                schedule_gpu(list.kernels[i], target_gpu_facts(false), &s);
                assert_true(opencl_print(list.kernels[i], &s, "f", &source, &e));
                assert_non_null(strstr(source.text, "__kernel"));
                opencl_source_free(&source);
            }
            kernel_list_free(&list);
        }
        graph_free(g);
    }
    print_message("%u kernels\n", kernels);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(schedules_follow_the_shape),
        cmocka_unit_test(sizes_are_parameters),
        cmocka_unit_test(dear_values_are_kept_on_processors),
        cmocka_unit_test(random_graphs_are_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
