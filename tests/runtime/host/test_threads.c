/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Parallel regions: every part once, on the team asked for, with the caller's settings as they were afterwards.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "runtime/host/threads.h"

int omp_get_max_threads(void);
int omp_get_num_threads(void);
void omp_set_num_threads(int count);
int omp_get_dynamic(void);
void omp_set_dynamic(int dynamic);
void GOMP_parallel(void (*body)(void *data), void *data, unsigned count, unsigned flags);

enum { PARTS_MAX = 64 };

struct seen {
    atomic_int times[PARTS_MAX];
    atomic_int team;
    pthread_t caller;
    atomic_int part0_elsewhere;
};

static void see(void *user, uint32_t part, uint32_t parts)
{
    struct seen *s = user;

    atomic_fetch_add(&s->times[part], 1);
    atomic_store(&s->team, omp_get_num_threads());
    if (part == 0 && !pthread_equal(s->caller, pthread_self()))
        atomic_store(&s->part0_elsewhere, 1);
    if (parts > PARTS_MAX)
        atomic_store(&s->part0_elsewhere, 1);
}

static void check_region(uint32_t threads, uint32_t parts, int team)
{
    struct seen s;

    memset(&s, 0, sizeof s);
    s.caller = pthread_self();
    int saved = threads_enter(threads);
    threads_run(parts, see, &s);
    threads_leave(saved);
    for (uint32_t i = 0; i < PARTS_MAX; i++)
        assert_int_equal(s.times[i], i < parts);
    assert_int_equal(s.part0_elsewhere, 0);
    if (parts > 1)
        assert_int_equal(s.team, team);
}

static void every_part_runs_once(void **state)
{
    (void)state;
    for (uint32_t threads = 1; threads <= 4; threads++)
        for (uint32_t parts = 1; parts <= 9; parts++)
            check_region(threads, parts, (int)threads);
}

static void settings_are_restored(void **state)
{
    (void)state;
    omp_set_num_threads(3);
    omp_set_dynamic(1);
    int saved = threads_enter(2);
    assert_int_equal(omp_get_max_threads(), 2);
    assert_int_equal(omp_get_dynamic(), 0);
    threads_leave(saved);
    assert_int_equal(omp_get_max_threads(), 3);
    assert_int_equal(omp_get_dynamic(), 1);
    omp_set_dynamic(0);
    saved = threads_enter(3); /* nothing to change */
    threads_leave(saved);
    assert_int_equal(omp_get_max_threads(), 3);
    saved = threads_enter(0); /* no regions */
    assert_int_equal(omp_get_max_threads(), 3);
    threads_leave(saved);
    assert_int_equal(threads_default_count(false), 3);
}

static void inside_region(void *data)
{
    atomic_int *wrong = data;

    if (!threads_in_region())
        atomic_fetch_add(wrong, 1);
    check_region(2, 5, 1); /* a region in a region has one thread, and still does every part */
}

static void a_region_in_a_region_has_one_thread(void **state)
{
    (void)state;
    atomic_int wrong = 0;

    assert_false(threads_in_region());
    GOMP_parallel(inside_region, &wrong, 2, 0);
    assert_int_equal(wrong, 0);
}

#if defined(__x86_64__)

static void halve(void *user, uint32_t part, uint32_t parts)
{
    volatile float *v = user;

    (void)parts;
    v[part] = v[part] / 2;
}

/* A caller that flushes subnormals and rounds upwards: parts on all threads compute as if it did not, and it keeps its mode. */
static void the_callers_floating_point_mode_stays_the_callers(void **state)
{
    (void)state;
    volatile float v[8], third;
    unsigned before = _mm_getcsr(), strange = before | 0x8040 | 0x4000;

    for (int i = 0; i < 8; i++)
        v[i] = 0x1p-126f; /* half of it is subnormal */
    _mm_setcsr(strange);
    int saved = threads_enter(4); /* these four threads come into being with the strange mode */
    threads_run(8, halve, (void *)v);
    third = 1.0f;
    third = third / 3;
    threads_leave(saved);
    assert_int_equal(_mm_getcsr() & 0xE040, strange & 0xE040);
    _mm_setcsr(before);
    for (int i = 0; i < 8; i++)
        assert_true(v[i] == 0x1p-127f);
    assert_true(third == 1.0f / 3);
}

#else

static void the_callers_floating_point_mode_stays_the_callers(void **state)
{
    (void)state;
    skip();
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_callers_floating_point_mode_stays_the_callers), /* first: it wants to create the team */
        cmocka_unit_test(every_part_runs_once),
        cmocka_unit_test(settings_are_restored),
        cmocka_unit_test(a_region_in_a_region_has_one_thread),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
