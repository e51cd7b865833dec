/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Regions of a library that was compiled for OpenMP: they are led to teams on threads that have entered one, and stay libgomp's
 * on others; libraries that use more of libgomp than teams have are left alone.
 */
#include "runtime/host/team.h"
#include "runtime/host/threads.h"
#include "support/openmp_user.h"
#include "support/test.h"
#include "webnn/webnn_object.h"

int omp_get_max_threads(void);
void omp_set_num_threads(int count);

static void check_seen(const struct openmp_seen *s, int threads, int most)
{
    for (int i = 0; i < OPENMP_THREADS; i++) {
        assert_int_equal(s->parts[i], i < threads);
        if (i < threads) {
            assert_int_equal(s->threads[i], threads);
            assert_int_equal(s->most[i], most);
            assert_true(s->inside[i] != 0);
        }
    }
    assert_int_equal(s->inner, threads);
    assert_int_equal(s->early, 0);
    assert_int_equal(s->most_outside, most);
    assert_int_equal(s->inside_outside, 0);
}

TEST(other_libraries_are_left_alone)
{
    assert_false(threads_lead_here((const void *)share_loop));
}

static void run_backwards(void *user, uint32_t tasks, void (*task)(void *data, uint32_t i, uint32_t tasks), void *data)
{
    for (uint32_t i = tasks; i-- > 0;)
        task(data, i, tasks);
}

/* On a thread that has not entered regions are libgomp's. */
static void use_libgomp(void)
{
    struct openmp_seen s;

    memset(&s, 0, sizeof s);
    omp_set_num_threads(3);
    use_openmp(&s, 0);
    assert_int_equal(team_parts(), 1);
    check_seen(&s, 3, 3);
}

TEST(regions_are_led_to_teams)
{
    static const struct webnn_object_parallel parallel = {4, run_backwards, NULL};

    if (!threads_lead_here((const void *)use_openmp)) {
        print_message("there is no table of imports to replace entries in on this system\n");
        skip();
    }
    for (uint32_t i = 0; i < 8; i++) {
        const uint32_t threads = 2 + i / 2;
        struct openmp_seen s;
        struct threads_saved saved = threads_enter(threads, i % 2 ? &parallel : NULL);

        memset(&s, 0, sizeof s);
        use_openmp(&s, 0);
        threads_leave(saved);
        check_seen(&s, (int)threads, (int)threads);
        use_libgomp(); /* which does not take the table's entries back */
    }
}

TEST(other_threads_stay_with_libgomp)
{
    use_libgomp();
}
