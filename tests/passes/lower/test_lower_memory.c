/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Every allocation of the lowering fails once: it reports that, or answers "no", and frees everything.
 */
#include "support/failing_allocator.h"
#include "support/kernels.h"

static const char *const bodies[] = {
    "inputs { x: f32[3, 40]; m: f32[40]; } nodes { a = add(x, m); s = softmax(a, 1); y = mul(s, m); } outputs { a; y; }",
    "inputs { x: f32[2, 3]; z: f32[2, 4]; } nodes { a = neg(x); y = concat([a, z], 1); } outputs { y; }",
    "inputs { x: f32[4]; i: i32[2]; u: f32[2]; } nodes { y = scatterElements(x, i, u); } outputs { y; }",
    "inputs { x: f16[24]; } nodes { r = reshape(x, [3, 8]); t = transpose(r); a = reduceSum(x); b = exp(a); } outputs {t; b;}",
};

TEST(every_allocation_may_fail)
{
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        OWNED(graph) struct graph *g = parse_body(bodies[i]);
        bool done = false;

        kernels_cluster_nodes(g, true);
        for (long n = 0; !done; n++) {
            struct kernel_list list;
            struct error e = {0};

            allocations_fail_after(n);
            bool good = lower_cluster(g, g->first_cluster, NULL, &list, &e);
            done = allocations_stop_failing();
            if (good) {
                assert_true(done);
                kernel_list_free(&list);
            } else {
                assert_false(done);
                assert_int_equal(e.status, WNNStatus_UnknownError);
                assert_int_equal(list.count, 0);
            }
            allocations_fail_after(n);
            kernels_can_join_all(g, NULL);
            allocations_stop_failing();
            assert_true(n < 10000);
        }
    }
}
