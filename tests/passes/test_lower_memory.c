/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Every allocation of the lowering fails once: it reports that, or answers "no", and leaves nothing behind.  Works by putting
 * malloc's functions before the C library's, which the sanitizers do themselves: there the test is skipped.
 */
#include "support/kernels.h"

#if defined(__GLIBC__) && !defined(WEBNN_SANITIZE)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *p, size_t size);

static int64_t allocations_left = INT64_MAX; /* until one fails */

static bool fails_now(void)
{
    return allocations_left != INT64_MAX && allocations_left-- == 0;
}

void *malloc(size_t size)
{
    return fails_now() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *p, size_t size)
{
    return fails_now() ? NULL : __libc_realloc(p, size);
}

static const char *const bodies[] = {
    "inputs { x: f32[3, 40]; m: f32[40]; } nodes { a = add(x, m); s = softmax(a, 1); y = mul(s, m); } outputs { a; y; }",
    "inputs { x: f32[2, 3]; z: f32[2, 4]; } nodes { a = neg(x); y = concat([a, z], 1); } outputs { y; }",
    "inputs { x: f32[4]; i: i32[2]; u: f32[2]; } nodes { y = scatterElements(x, i, u); } outputs { y; }",
    "inputs { x: f16[4, 6]; } nodes { r = reshape(x, [2, 3, 4]); t = transpose(r); a = reduceSum(x); b = exp(a); } outputs { t; b; }",
};

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct graph *g = parse_body(bodies[i]);
        bool done = false;

        kernels_cluster_nodes(g, true);
        for (int64_t n = 0; !done; n++) {
            struct kernel_list list;
            struct error e = {0};
            bool good;

            allocations_left = n;
            good = lower_cluster(g, g->first_cluster, NULL, &list, &e);
            done = allocations_left >= 0; /* nothing failed any more */
            allocations_left = INT64_MAX;
            if (good) {
                assert_true(done);
                kernel_list_free(&list);
            } else {
                assert_false(done);
                assert_int_equal(e.status, WNNStatus_UnknownError);
                assert_int_equal(list.count, 0);
            }
            allocations_left = n;
            kernels_can_join_all(g, NULL);
            allocations_left = INT64_MAX;
            assert_true(n < 10000);
        }
        graph_free(g);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_allocation_may_fail),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void)
{
    puts("skipped: allocations cannot be made to fail here");
    return 77;
}

#endif
