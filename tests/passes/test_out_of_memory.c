/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Every allocation of the pipeline and of storage planning fails once: the error is reported, and nothing else happens.  Works by
 * putting malloc's functions before the C library's, which the sanitizers do themselves: there the test is skipped.
 */
#include "nets.h"
#include "pass_support.h"

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

static bool never_share(void *user, const struct cluster *c, const struct value *input, const struct value *output)
{
    (void)user;
    (void)c;
    (void)input;
    (void)output;
    return false;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof nets / sizeof *nets; i++) {
        bool done = false;
        for (int64_t n = 0; !done; n++) {
            struct graph *g = parse_body(nets[i].body);
            struct storage_plan plan;

            allocations_left = n;
            done = passes_run(g, &fake_options) && storage_plan_create(g, never_share, NULL, &plan);
            /* The lowering that fusion asks may fail and answer "no", too: then nothing is left to fail, and the build succeeds. */
            bool all_made = allocations_left >= 0;
            allocations_left = INT64_MAX;
            if (!done) {
                assert_int_equal(g->error.status, WNNStatus_UnknownError);
                /* In debug builds the verifier runs out of memory, too; it has no other way to say so. */
                assert_true(strstr(g->error.message, "out of memory") || strstr(g->error.message, "invalid after pass"));
            }
            done = done && all_made;
            graph_free(g);
            assert_true(n < 100000);
        }
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
    puts("skipped: the allocator cannot be replaced here");
    return 77;
}

#endif
