/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Kernels of stages, compiled: convolutions by Winograd's transforms in code of every instruction set, inputs that are not
 * finite, and the names of stages in profiles.
 */
#include <unistd.h>

#include "support/compiled_stages.h"
#include "support/winograd.h"

TEST(results_are_within_bounds)
{
    for (int isa = 0; isa < ISAS; isa++) {
        struct target t = {.thread_count = 1, .cache_bytes = 1 << 21};

        stages_compile_for(&t, isas[isa], 0);
        for (int i = 0; i < WINOGRAD_BODIES; i++)
            for (int nasty = 0; nasty < 2; nasty++)
                winograd_check(winograd_bodies[i], &t, nasty, true, stages_run_both);
        winograd_check_wide(t, stages_run_both);
        winograd_check_bytes(t, stages_run_both);
        codegen_free(stages_codegen);
    }
}

/* One element that is not finite, or huge, makes of each result that it reaches its product with the weight, and nothing of
 * others, wherever it lies: macro-tiles that are cut in one direction or in both may see it at one place of one tile only. */
static void check_leaks(int64_t cache_bytes, bool both)
{
    static const float odd[] = {INFINITY, -INFINITY, NAN, 3e38f, -2e30f};
    enum { HEIGHT = 15, WIDTH = 40, CHANNELS = 16, ALL = HEIGHT * WIDTH * CHANNELS };
    const char *body = "inputs { x: f32[1, 15, 40, 16]; } consts { w: f32[16, 16, 3, 3] @scalar(1); }"
                       "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); } outputs { y; }";
    struct target t = {.thread_count = 1, .cache_bytes = cache_bytes};
    const struct pass_options o = {.target = &t, .debug = &prefer_winograd};
    struct winograd_shape shape;
    struct codegen_kernels *unit;
    void *tensors[KERNEL_TENSORS_MAX];
    static float x[ALL], y[ALL], plain[ALL];

    stages_compile_for(&t, "native", 0);
    struct graph *g = parse_random(body);
    assert_true(pass_winograd(g, &o));
    assert_true(winograd_shape_of(g->first, &t, &shape));
    assert_int_equal(shape.count[0] > 1 && shape.count[1] > 1, both);
    pass_finish_clusters(g, &o);
    struct kernel_list list = kernels_lower(g, g->first_cluster, &t);
    assert_int_equal(list.count, 1);
    const struct kernel *k = list.kernels[0];
    const float *weights = g->first->inputs[1].value->constant->data;
    kernel_function f = stages_compile(k, &unit);
    assert_non_null(f);
    for (uint32_t i = 0; i < k->tensor_count; i++) {
        const struct value *v = k->tensors[i].user;
        tensors[i] = v->constant ? (void *)(uintptr_t)v->constant->data : k->tensors[i].written ? (void *)y : (void *)x;
    }
    for (int i = 0; i < ALL; i++)
        x[i] = (float)random_in_range(-2, 2);
    stages_call(k, f, tensors);
    memcpy(plain, y, sizeof y);
    for (int at = 0; at < HEIGHT * WIDTH; at++) {
        const int row = at / WIDTH, column = at % WIDTH;
        const int channel = (int)(random_bits() % CHANNELS);
        float *element = &x[at * CHANNELS + channel], before = *element, value = odd[random_bits() % 5];

        *element = value;
        stages_call(k, f, tensors);
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
    codegen_kernels_free(unit);
    kernels_end(g, &list);
    codegen_free(stages_codegen);
}

TEST(what_is_not_finite_reaches_its_neighbours_only)
{
    check_leaks(1 << 21, false);
    check_leaks(1 << 14, true);
}

/* Images need not lie in a cache, and perf (docs/debugging.md) names every stage next to the kernel's own function. */
TEST(images_are_prefetched_and_stages_named)
{
    struct target t = {.thread_count = 1, .cache_bytes = 1 << 21};
    const struct pass_options o = {.target = &t, .debug = &prefer_winograd};
    struct codegen_kernels *unit;
    struct loop_module loops = {0};
    struct error e = {0};
    unsigned stages = 0, all = 0, prefetching = 0, stage;
    char path[64], line[256];

    stages_compile_for(&t, "native", DEBUG_PERF);
    struct graph *g = parse_random(winograd_bodies[1]);
    assert_true(pass_winograd(g, &o));
    pass_finish_clusters(g, &o);
    struct kernel_list list = kernels_lower(g, g->first_cluster, &t);
    OWNED(schedule) struct schedule *s = schedule_of(list.kernels[0], stages_isa);
    assert_works(lower_kernel(&loops, stages_isa, s, "kernel", &e), &e);
    for (const struct loop_function *f = loops.first; f; f = f->next)
        prefetching += loop_has(&f->body, LOOP_PREFETCH);
    assert_int_equal(prefetching, 3); /* input, weights and output */
    loop_module_free(&loops);
    assert_non_null(stages_compile(list.kernels[0], &unit));
    snprintf(path, sizeof path, "/tmp/perf-%ld.map", (long)getpid());
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    for (; fgets(line, sizeof line, file); all++)
        stages += sscanf(line, "%*x %*x webnn_k0.stage%u_winograd", &stage) == 1;
    fclose(file);
    unlink(path);
    assert_int_equal(stages, list.kernels[0]->stage_count);
    assert_int_equal(all, stages + 1);
    codegen_kernels_free(unit);
    kernels_end(g, &list);
    codegen_free(stages_codegen);
}
