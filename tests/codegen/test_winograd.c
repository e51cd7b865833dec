/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Convolutions by Winograd's transforms: which ones are chosen, that the kernel is made, and that its results lie within the
 * interpreter's bounds, by kernel_interpret and by code of every instruction set: sizes, paddings, layouts, what is fused, and
 * inputs that are not finite.
 */
#include <unistd.h>

#include "codegen/codegen.h"
#include "passes/winograd.h"
#include "support/kernels.h"

static const char *const isas[] = {"native", "avx2", "baseline"};
enum { ISAS = sizeof isas / sizeof *isas };

static struct codegen *codegen;
static struct debug_options prefer = {.flags = DEBUG_PREFER_WINOGRAD};

static kernel_function compile(const struct kernel *k, struct codegen_unit **unit)
{
    struct kernel *kernels[1] = {(struct kernel *)(uintptr_t)k};
    struct error e = {0};
    kernel_function f;

    if (codegen_compile(codegen, 1, kernels, unit, &f, &e))
        return f;
    print_error("%s\n", e.message);
    return NULL;
}

static void call(const struct kernel *k, kernel_function f, void *const *tensors)
{
    struct knumbers numbers;
    struct arena a = {0};
    void *scratch = aligned_alloc(64, (size_t)(k->scratch_bytes + 127) / 64 * 64);

    memset(scratch, 0xFF, (size_t)(k->scratch_bytes + 127) / 64 * 64); /* NaN: what nobody wrote shows */
    assert_true(kernel_numbers(k, &a, &numbers));
    f(&(struct kernel_args){tensors, numbers.params, scratch}, 0, kernel_units(k));
    free(scratch);
    arena_free(&a);
}

static bool run_compiled(const struct kernel *k, void *const *tensors)
{
    struct codegen_unit *unit;
    kernel_function f = compile(k, &unit);

    if (!f)
        return false;
    call(k, f, tensors);
    codegen_unit_free(unit);
    return true;
}

static struct graph *parse_random(const char *body)
{
    struct graph *g = parse_body(body);

    for (const struct value *v = g->first_constant; v; v = v->next_constant)
        for (int64_t i = 0; i < type_elements(&v->type); i++)
            ((float *)(uintptr_t)v->constant->data)[i] = (float)kernels_uniform(-1, 1);
    return g;
}

/* Runs the passes that matter and all kernels; whether a convolution is transformed must be as expected. */
static void check(const char *body, const struct target *t, bool nasty, bool transformed, kernel_runner run)
{
    struct graph *g = parse_random(body);
    const struct pass_options o = {.target = t, .debug = &prefer};
    bool found = false;

    assert_int_equal(pass_winograd(g, &o), transformed);
    assert_false(pass_winograd(g, &o));
    pass_fuse_kernels(g, &o);
    pass_finish_clusters(g, &o);
    assert_int_equal(g->error.status, WNNStatus_Success);
    for (const struct cluster *c = g->first_cluster; c; c = c->next) {
        struct kernel_list list;
        struct error e = {0};

        if (c->kind != CLUSTER_KERNEL)
            continue;
        assert_true(lower_cluster(g, c, t, &list, &e));
        for (uint32_t i = 0; i < list.count; i++)
            found |= list.kernels[i]->stage_count > 0;
        kernel_list_free(&list);
    }
    assert_int_equal(found, transformed);
    assert_true(kernels_check_graph(g, t, nasty, run));
    graph_free(g);
}

#define NHWC ", inputLayout=\"nhwc\""
static const char *const bodies[] = {
    /* one tile, odd sizes, even sizes, wide ones, several batches */
    "inputs { x: f32[1, 4, 4, 16]; } consts { w: f32[16, 16, 3, 3] @scalar(1); }"
    "nodes { y = conv2d(x, w" NHWC "); } outputs { y; }",
    "inputs { x: f32[2, 7, 9, 32]; } consts { w: f32[64, 32, 3, 3] @scalar(1); b: f32[64] @scalar(1); }"
    "nodes { y = conv2d(x, w, bias=b, padding=[1, 1, 1, 1]" NHWC "); } outputs { y; }",
    "inputs { x: f32[1, 12, 30, 48]; } consts { w: f32[3, 3, 48, 32] @scalar(1); }"
    "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1], filterLayout=\"hwio\"" NHWC "); } outputs { y; }",
    "inputs { x: f32[1, 6, 700, 16]; } consts { w: f32[16, 16, 3, 3] @scalar(1); }"
    "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); } outputs { y; }",
    /* paddings that differ, are large, or leave nothing but padding in some tiles; channels that fill no vector */
    "inputs { x: f32[1, 5, 6, 5]; } consts { w: f32[7, 3, 3, 5] @scalar(1); b: f32[7] @scalar(1); }"
    "nodes { y = conv2d(x, w, bias=b, padding=[0, 2, 1, 0], filterLayout=\"ohwi\"" NHWC "); } outputs { y; }",
    "inputs { x: f32[1, 3, 2, 20]; } consts { w: f32[20, 3, 3, 37] @scalar(1); }"
    "nodes { y = conv2d(x, w, padding=[5, 4, 7, 3], filterLayout=\"ihwo\"" NHWC "); } outputs { y; }",
    "inputs { x: f32[3, 1, 1, 1]; } consts { w: f32[1, 1, 3, 3] @scalar(1); }"
    "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); } outputs { y; }",
    /* channels first */
    "inputs { x: f32[2, 17, 8, 11]; } consts { w: f32[33, 17, 3, 3] @scalar(1); b: f32[33] @scalar(1); }"
    "nodes { y = conv2d(x, w, bias=b, padding=[1, 1, 1, 1]); } outputs { y; }",
    /* swish; a residual and an activation; an intermediate result that is an output, too; another layout */
    "inputs { x: f32[1, 9, 8, 32]; } consts { w: f32[32, 32, 3, 3] @scalar(1); b: f32[32] @scalar(1); }"
    "nodes { c = conv2d(x, w, bias=b, padding=[1, 1, 1, 1]" NHWC "); s = sigmoid(c); y = mul(c, s); } outputs { y; }",
    "inputs { x: f32[1, 7, 7, 32]; r: f32[1, 7, 7, 32]; } consts { w: f32[32, 32, 3, 3] @scalar(1); }"
    "nodes { c = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); s = add(c, r); y = relu(s); } outputs { y; }",
    "inputs { x: f32[1, 7, 6, 16]; } consts { w: f32[16, 16, 3, 3] @scalar(1); }"
    "nodes { c = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); y = relu(c); } outputs { c; y; }",
    "inputs { x: f32[1, 7, 6, 16]; } consts { w: f32[32, 16, 3, 3] @scalar(1); }"
    "nodes { c = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); r = relu(c); y = transpose(r, permutation=[0, 3, 1, 2]); }"
    "outputs { y; }",
};
enum { BODIES = sizeof bodies / sizeof *bodies };

static const struct target plain_target = {.vector_bits = 256, .thread_count = 2, .cache_bytes = 1 << 20};

static void interpreted(void **state)
{
    (void)state;
    for (int i = 0; i < BODIES; i++)
        for (int nasty = 0; nasty < 2; nasty++)
            check(bodies[i], &plain_target, nasty, true, kernel_interpret);
}

static void compiled(void **state)
{
    (void)state;
    for (int isa = 0; isa < ISAS; isa++) {
        struct target t = {.thread_count = 1, .cache_bytes = 1 << 21};
        struct debug_options d = {0};
        struct arena a = {0};
        struct error e = {0};

        assert_true(codegen_host_target(&t, isas[isa], &a, &e));
        codegen = codegen_create(&t, &d, &e);
        assert_non_null(codegen);
        for (int i = 0; i < BODIES; i++)
            for (int nasty = 0; nasty < 2; nasty++)
                check(bodies[i], &t, nasty, true, run_compiled);
        codegen_free(codegen);
        arena_free(&a);
    }
}

/* One element that is not finite, or huge, makes of each result that it reaches its product with the weight, and nothing of
 * others, wherever it lies: chunks that are cut in one direction or in both may see it at one place of one tile only. */
static void check_leaks(int64_t cache_bytes, bool both)
{
    static const float odd[] = {INFINITY, -INFINITY, NAN, 3e38f, -2e30f};
    enum { HEIGHT = 15, WIDTH = 40, CHANNELS = 16, ALL = HEIGHT * WIDTH * CHANNELS };
    const char *body = "inputs { x: f32[1, 15, 40, 16]; } consts { w: f32[16, 16, 3, 3] @scalar(1); }"
                       "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); } outputs { y; }";
    struct target t = {.thread_count = 1, .cache_bytes = cache_bytes};
    const struct pass_options o = {.target = &t, .debug = &prefer};
    struct debug_options d = {0};
    struct arena a = {0};
    struct error e = {0};
    struct winograd_shape shape;
    struct codegen_unit *unit;
    struct kernel_list list;
    void *tensors[KERNEL_TENSORS_MAX];
    static float x[ALL], y[ALL], plain[ALL];

    assert_true(codegen_host_target(&t, "native", &a, &e));
    codegen = codegen_create(&t, &d, &e);
    assert_non_null(codegen);
    struct graph *g = parse_random(body);
    assert_true(pass_winograd(g, &o));
    assert_true(winograd_shape(g->first, &t, &shape));
    assert_int_equal(shape.count[0] > 1 && shape.count[1] > 1, both);
    pass_finish_clusters(g, &o);
    assert_true(lower_cluster(g, g->first_cluster, &t, &list, &e));
    assert_int_equal(list.count, 1);
    const struct kernel *k = list.kernels[0];
    const float *weights = g->first->inputs[1].value->constant->data;
    kernel_function f = compile(k, &unit);
    assert_non_null(f);
    for (uint32_t i = 0; i < k->tensor_count; i++) {
        const struct value *v = k->tensors[i].user;
        tensors[i] = v->constant ? (void *)(uintptr_t)v->constant->data : k->tensors[i].written ? (void *)y : (void *)x;
    }
    for (int i = 0; i < ALL; i++)
        x[i] = (float)kernels_uniform(-2, 2);
    call(k, f, tensors);
    memcpy(plain, y, sizeof y);
    for (int at = 0; at < HEIGHT * WIDTH; at++) {
        const int row = at / WIDTH, column = at % WIDTH;
        const int channel = (int)(kernels_random() % CHANNELS);
        float *element = &x[at * CHANNELS + channel], before = *element, value = odd[kernels_random() % 5];

        *element = value;
        call(k, f, tensors);
        *element = before;
        for (int i = 0; i < ALL; i++) {
            const int r = i / CHANNELS / WIDTH, c = i / CHANNELS % WIDTH;
            if (abs(r - row) <= 1 && abs(c - column) <= 1) {
                const int filter = i % CHANNELS * CHANNELS + channel;
                const float product = value * weights[9 * filter + 3 * (row - r + 1) + column - c + 1];
                if (isfinite(product))
                    assert_true(fabsf(y[i] - product) <= 1e-5f * fabsf(product));
                else
                    assert_true(isnan(product) ? isnan(y[i]) : y[i] == product);
            } else {
                assert_true(fabsf(y[i] - plain[i]) < 1e-3f);
            }
        }
    }
    codegen_unit_free(unit);
    kernel_list_free(&list);
    graph_free(g);
    codegen_free(codegen);
    arena_free(&a);
}

static void nothing_leaks(void **state)
{
    (void)state;
    check_leaks(1 << 21, false);
    check_leaks(1 << 12, true);
}

/* What cannot be transformed is not, though it is wished: strides, dilations, groups, other windows, weights at run time,
 * weights that are not finite or huge. */
static void not_transformed(void **state)
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
    const struct pass_options o = {.target = &plain_target, .debug = &prefer};

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        check(others[i], &plain_target, false, false, kernel_interpret);
    for (int i = 0; i < 2; i++) {
        struct graph *g = parse_random(bodies[0]);
        ((float *)(uintptr_t)g->first_constant->constant->data)[7] = i ? NAN : 1e12f;
        assert_false(pass_winograd(g, &o));
        graph_free(g);
    }
}

/* The cost model: images of many tiles and channels, but not few channels, nor weights that are large beside the image. */
static void chosen(void **state)
{
    static const struct {
        const char *body;
        bool chosen;
    } cases[] = {
        {"inputs { x: f32[1, 128, 128, 64]; } consts { w: f32[64, 64, 3, 3] @scalar(1); }"
         "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); } outputs { y; }",
         true},
        {"inputs { x: f32[1, 28, 28, 128]; } consts { w: f32[128, 128, 3, 3] @scalar(1); }"
         "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); } outputs { y; }",
         true},
        {"inputs { x: f32[1, 224, 224, 3]; } consts { w: f32[32, 3, 3, 3] @scalar(1); }"
         "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); } outputs { y; }",
         false},
        {"inputs { x: f32[1, 4, 4, 256]; } consts { w: f32[256, 256, 3, 3] @scalar(1); }"
         "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); } outputs { y; }",
         false},
    };
    const struct target t = {.vector_bits = 512, .thread_count = 1, .cache_bytes = 2 << 20};
    const struct debug_options none = {0}, library = {.flags = DEBUG_PREFER_LIBRARY};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct graph *g = parse_random(cases[i].body);
        assert_false(pass_winograd(g, &(struct pass_options){.target = &t, .debug = &library}));
        assert_int_equal(pass_winograd(g, &(struct pass_options){.target = &t, .debug = &none}), cases[i].chosen);
        graph_free(g);
    }
}

static double operations_of(int width, const struct target *t)
{
    const struct pass_options o = {.target = t, .debug = &prefer};
    struct kernel_list list;
    struct error e = {0};
    char body[256];
    double flops;

    snprintf(body, sizeof body,
             "inputs { x: f32[1, 4, %d, 16]; } consts { w: f32[16, 16, 3, 3] @scalar(1); }"
             "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); } outputs { y; }",
             width);
    struct graph *g = parse_body(body);
    assert_true(pass_winograd(g, &o));
    pass_finish_clusters(g, &o);
    assert_true(lower_cluster(g, g->first_cluster, t, &list, &e));
    assert_int_equal(list.count, 1);
    flops = list.kernels[0]->flops;
    kernel_list_free(&list);
    graph_free(g);
    return flops;
}

/* Work grows as images do, also where a chunk is a part of a row. */
static void wide_images(void **state)
{
    const struct target t = {.vector_bits = 512, .thread_count = 1, .cache_bytes = 2 << 20};
    const double one = operations_of(1600, &t), many = operations_of(16000, &t);

    (void)state;
    assert_true(many > 9.5 * one && many < 10.5 * one);
}

/* Whether the kernel of the transforms reads and writes nchw itself, next to a second cache of so many bytes. */
static bool transposes(int64_t cache_bytes)
{
    const struct target t = {.vector_bits = 512, .thread_count = 1, .cache_bytes = cache_bytes};
    const struct pass_options o = {.target = &t, .debug = &prefer};
    struct graph *g = parse_body("inputs { x: f32[1, 16, 32, 32]; } consts { w: f32[16, 16, 3, 3] @scalar(1); }"
                                 "nodes { a = transpose(x, permutation=[0, 2, 3, 1]); c = conv2d(a, w, inputLayout=\"nhwc\");"
                                 "  r = relu(c); y = transpose(r, permutation=[0, 3, 1, 2]); } outputs { y; }");
    bool in, out;

    assert_true(pass_winograd(g, &o));
    pass_fuse_kernels(g, &o);
    pass_finish_clusters(g, &o);
    assert_int_equal(g->error.status, WNNStatus_Success);
    assert_ptr_equal(value_named(g, "r")->producer->cluster, value_named(g, "c")->producer->cluster);
    in = value_named(g, "a")->producer->cluster == value_named(g, "c")->producer->cluster;
    out = value_named(g, "y")->producer->cluster == value_named(g, "c")->producer->cluster;
    assert_int_equal(in, out);
    graph_free(g);
    return in;
}

/* What the cache does not hold is not gathered from far apart, once for each tile. */
static void scattered_images(void **state)
{
    (void)state;
    assert_true(transposes(1 << 20));
    assert_false(transposes(32 << 10));
}

/* Images of 7, 14 and 28 results leave nothing of tiles of accumulators empty, nor do powers of two; whole images are one chunk
 * if that fits: weights are read once then. */
static void nothing_wasted(void **state)
{
    static const struct {
        int size, channels;
        int64_t chunks, rows;
    } cases[] = {{14, 256, 1, 49}, {28, 128, 2, 98}, {56, 64, 14, 56}, {64, 64, 16, 64}};
    const struct target t = {.vector_bits = 512, .thread_count = 1, .cache_bytes = 2 << 20};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct winograd_shape s;
        char body[256];

        snprintf(body, sizeof body,
                 "inputs { x: f32[1, %d, %d, %d]; } consts { w: f32[%d, %d, 3, 3] @scalar(1); }"
                 "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); } outputs { y; }",
                 cases[i].size, cases[i].size, cases[i].channels, cases[i].channels, cases[i].channels);
        struct graph *g = parse_body(body);
        assert_true(winograd_shape(g->first, &t, &s));
        assert_int_equal(s.count[0] * s.count[1], cases[i].chunks);
        assert_int_equal(s.rows, cases[i].rows);
        graph_free(g);
    }
}

/* perf (docs/debugging.md) names every stage beside the kernel's own function. */
static void stages_are_named(void **state)
{
    struct target t = {.thread_count = 1, .cache_bytes = 1 << 21};
    const struct pass_options o = {.target = &t, .debug = &prefer};
    struct debug_options d = {.flags = DEBUG_PERF};
    struct arena a = {0};
    struct error e = {0};
    struct kernel_list list;
    struct codegen_unit *unit;
    unsigned stages = 0, all = 0, stage;
    char path[64], line[256];

    (void)state;
    assert_true(codegen_host_target(&t, "native", &a, &e));
    codegen = codegen_create(&t, &d, &e);
    assert_non_null(codegen);
    struct graph *g = parse_random(bodies[0]);
    assert_true(pass_winograd(g, &o));
    pass_finish_clusters(g, &o);
    assert_true(lower_cluster(g, g->first_cluster, &t, &list, &e));
    assert_non_null(compile(list.kernels[0], &unit));
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (; fgets(line, sizeof line, file); all++)
        stages += sscanf(line, "%*x %*x webnn_k0.stage%u_winograd", &stage) == 1;
    fclose(file);
    unlink(path);
    assert_int_equal(stages, list.kernels[0]->stage_count);
    assert_int_equal(all, stages + 1);
    codegen_unit_free(unit);
    kernel_list_free(&list);
    graph_free(g);
    codegen_free(codegen);
    arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(interpreted),      cmocka_unit_test(compiled),       cmocka_unit_test(nothing_leaks),
        cmocka_unit_test(not_transformed),  cmocka_unit_test(chosen),         cmocka_unit_test(wide_images),
        cmocka_unit_test(scattered_images), cmocka_unit_test(nothing_wasted), cmocka_unit_test(stages_are_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
