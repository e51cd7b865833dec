/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Every allocation of the pipeline and of storage planning fails once: the error is reported, and nothing else happens.
 */
#include "nets.h"
#include "pass_support.h"
#include "support/failing_allocator.h"

#ifdef CAN_FAIL_ALLOCATIONS

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
        for (long n = 0; !done; n++) {
            struct graph *g = parse_body(nets[i].body);
            struct storage_plan plan;

            allocations_fail_after(n);
            done = passes_run(g, &fake_options) && storage_plan_create(g, never_share, NULL, &plan);
            /* The lowering that fusion asks may fail and answer "no", too: then nothing is left to fail, and the build
             * succeeds. */
            bool all_made = allocations_stop_failing();
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
    return skip_failing_allocations();
}

#endif
