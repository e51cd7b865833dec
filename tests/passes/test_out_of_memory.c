/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Every allocation of the pipeline and of storage assignment fails once: the error is reported, and nothing else happens.
 */
#include "passes/nets.h"
#include "passes/pass_support.h"
#include "support/failing_allocator.h"

static bool never_share(void *user, const struct cluster *c, const struct value *input, const struct value *output)
{
    return false;
}

TEST(every_allocation_may_fail)
{
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        bool done = false;
        for (long n = 0; !done; n++) {
            OWNED(graph) struct graph *g = parse_body(nets[i].body);
            struct storage_assignment assigned;

            allocations_fail_after(n);
            done = passes_run(g, &fake_options) && storage_assign(g, NULL, &g->arena, 0, never_share, NULL, NULL, &assigned);
            /* The lowering that fusion asks may fail and answer "no", too: then nothing is left to fail, and the build
             * succeeds. */
            bool all_made = allocations_stop_failing();
            if (!done) {
                assert_int_equal(g->error.status, WNNStatus_UnknownError);
                /* In debug builds the verifier runs out of memory, too; it has no other way to say so. */
                assert_true(strstr(g->error.message, "out of memory") || strstr(g->error.message, "invalid after pass"));
            }
            done = done && all_made;
            assert_true(n < 100000);
        }
    }
}

/* A Winograd convolution allocates its weights and the kernel of stages. */
TEST(winograd_may_fail)
{
    static const struct debug_options prefer = {.flags = DEBUG_PREFER_WINOGRAD};
    const struct pass_options o = {.target = &fake_target, .debug = &prefer};
    bool done = false;

    for (long n = 0; !done; n++) {
        OWNED(graph) struct graph *g = parse_body(
            "inputs { x: f32[1, 5, 6, 8]; } consts { w: f32[8, 8, 3, 3] @scalar(0.5); b: f32[8] @scalar(1); }"
            "nodes { c = conv2d(x, w, bias=b, inputLayout=\"nhwc\"); s = sigmoid(c); y = mul(c, s); } outputs { y; }");
        struct error e = {0};
        uint32_t stages = 0;

        allocations_fail_after(n);
        done = passes_run(g, &o);
        for (const struct cluster *c = g->first_cluster; done && c; c = c->next) {
            struct kernel_list list;
            done = lower_cluster(g, c, &fake_target, &list, &e);
            for (uint32_t i = 0; done && i < list.count; i++)
                stages += list.kernels[i]->stage_count;
            if (done)
                kernel_list_free(&list);
        }
        bool all_made = allocations_stop_failing();
        assert_true(done || g->error.status || e.status);
        done = done && all_made;
        assert_true(!done || stages > 1);
        assert_true(n < 100000);
    }
}

/* Compact weights, rounded to float16, become floats where the question whether one kernel unpacks them fails. */
TEST(compact_weights_may_fail)
{
    struct target t = fake_target;
    const struct debug_options none = {0};
    const struct pass_options o = {.target = &t, .debug = &none};
    bool done = false;

    t.compact.unpacks = t.compact.small = true;
    for (long n = 0; !done; n++) {
        OWNED(graph) struct graph *g =
            parse_body("inputs { x: f16[4, 64]; } consts { w: i8[64, 48] @scalar(3); s: f16[2, 48] @scalar(0.5); "
                       "z: i8[2, 48] @scalar(1); } nodes { b = dequantizeLinear(w, s, z); y = matmul(x, b); } "
                       "outputs { y; }");

        allocations_fail_after(n);
        done = passes_run(g, &o);
        bool all_made = allocations_stop_failing();
        assert_true(done || g->error.status);
        done = done && all_made;
        assert_true(n < 100000);
    }
}
