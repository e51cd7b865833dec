/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Convolutions by Winograd's transforms, lowered: results of kernel_interpret lie within the interpreter's bounds, inputs that
 * are not finite included, and the work grows as images do.
 */
#include "support/winograd.h"

TEST(results_are_within_bounds)
{
    for (int i = 0; i < WINOGRAD_BODIES; i++)
        for (int nasty = 0; nasty < 2; nasty++)
            winograd_check(winograd_bodies[i], &plain_target, nasty, true, kernel_interpret);
    struct target t = plain_target;
    t.isa.byte_products = BYTES_MIXED_PAIRS;
    winograd_check_bytes(t, kernel_interpret);
}

TEST(larger_tiles_are_within_bounds)
{
    winograd_check_wide(plain_target, kernel_interpret);
}

/* The bound of larger tiles rests on sums in short blocks, whose length is a parameter of the code.  Images that tiles do not
 * divide evenly have the same kernels as others. */
TEST(sums_are_split_into_blocks)
{
    enum { MATMUL = 2 }; /* the stage */
    const struct target t = {.isa = {.vector_bits = 512, .registers = 32}, .thread_count = 1, .cache_bytes = 2 << 20};
    const struct pass_options o = {.target = &t, .debug = &prefer_winograd};
    SCOPED(arena_free) struct arena a = {0};
    char body[256], *text[3], *all[3];

    for (int i = 0; i < 3; i++) {
        const int channels = i == 1 ? 48 : 64;

        snprintf(body, sizeof body,
                 "inputs { x: f32[1, %d, 64, %d]; } consts { w: f32[64, %d, 3, 3] @scalar(1); }"
                 "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); } outputs { y; }",
                 i ? 61 : 64, channels, channels);
        struct graph *g = parse_random(body);
        assert_true(pass_winograd(g, &o));
        pass_finish_clusters(g, &o);
        struct kernel_list list = kernels_lower(g, g->first_cluster, &t);
        struct schedule *s = schedule_cpu(list.kernels[0], &t), *matmul = s->stages[MATMUL];
        assert_true(matmul->tiled);
        assert_int_equal(matmul->tile.split_steps, winograd_sum_steps(winograd_tile_of(24), channels));
        text[i] = schedule_structure(matmul, &a);
        all[i] = schedule_structure(s, &a);
        schedule_free(s);
        kernels_end(g, &list);
    }
    assert_int_not_equal(winograd_sum_steps(winograd_tile_of(24), 64), winograd_sum_steps(winograd_tile_of(24), 48));
    assert_string_equal(text[0], text[1]);
    assert_string_equal(all[0], all[2]);
}

static double operations_of(int width, const struct target *t)
{
    const struct pass_options o = {.target = t, .debug = &prefer_winograd};
    char body[256];

    snprintf(body, sizeof body,
             "inputs { x: f32[1, 4, %d, 16]; } consts { w: f32[16, 16, 3, 3] @scalar(1); }"
             "nodes { y = conv2d(x, w, padding=[1, 1, 1, 1]" NHWC "); } outputs { y; }",
             width);
    struct graph *g = parse_body(body);
    assert_true(pass_winograd(g, &o));
    pass_finish_clusters(g, &o);
    struct kernel_list list = kernels_lower(g, g->first_cluster, t);
    assert_int_equal(list.count, 1);
    double operations = kernel_cost(list.kernels[0], target_facts(t)).operations;
    kernels_end(g, &list);
    return operations;
}

/* Work grows as images do, also where a macro-tile is a part of a row. */
TEST(work_grows_as_images_do)
{
    const struct target t = {.isa.vector_bits = 512, .thread_count = 1, .cache_bytes = 2 << 20};
    const double one = operations_of(1600, &t), many = operations_of(16000, &t);

    assert_true(many > 9.5 * one && many < 10.5 * one);
}

/* A part of a concat is the kernel of stages that it would be alone. */
TEST(parts_of_concats_have_stages)
{
    const struct target t = {.isa.vector_bits = 512, .thread_count = 1, .cache_bytes = 2 << 20};
    const struct pass_options o = {.target = &t, .debug = &prefer_winograd};
    OWNED(graph) struct graph *g = parse_body(
        "inputs { x: f32[1, 8, 8, 16]; } consts { a: f32[16, 16, 1, 1] @scalar(1); b: f32[16, 16, 3, 3] @scalar(2); }"
        "nodes { p = conv2d(x, a" NHWC "); q = conv2d(x, b, padding=[1, 1, 1, 1]" NHWC "); y = concat([p, q], 3); }"
        "outputs { y; }");
    uint32_t kernels = 0, staged = 0;

    assert_true(pass_winograd(g, &o));
    assert_true(pass_fuse_kernels(g, &o));
    pass_finish_clusters(g, &o);
    for (const struct cluster *c = g->first_cluster; c; c = c->next) {
        SCOPED(kernel_list_free) struct kernel_list list = kernels_lower(g, c, &t);
        kernels += list.count;
        for (uint32_t i = 0; i < list.count; i++)
            staged += list.kernels[i]->stage_count > 0;
    }
    assert_int_equal(kernels, 2);
    assert_int_equal(staged, 1);
}
