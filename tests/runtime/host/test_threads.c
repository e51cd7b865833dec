/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Parallel regions: every part once, on at most the threads asked for, with the caller's settings as they were afterwards; on
 * teams, and with the argument "libgomp" on libgomp's pool.
 */
#include <math.h>
#include <stdatomic.h>

#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "runtime/host/team.h"
#include "runtime/host/threads.h"
#include "support/help.h"
#include "support/test.h"
#include "webnn/webnn_object.h"

int omp_get_max_threads(void);
void omp_set_num_threads(int count);
int omp_get_dynamic(void);
void omp_set_dynamic(int dynamic);
void GOMP_parallel(void (*body)(void *data), void *data, unsigned count, unsigned flags);

enum { PARTS_MAX = 64 };

struct seen {
    atomic_int times[PARTS_MAX];
    atomic_int inside;
    pthread_t caller;
    atomic_int wrong;
};

static bool on_libgomp;

static void see(void *user, uint32_t part, uint32_t parts)
{
    struct seen *s = user;

    atomic_fetch_add(&s->times[part < PARTS_MAX ? part : 0], 1);
    if ((part == 0 && !pthread_equal(s->caller, pthread_self())) || parts > PARTS_MAX)
        atomic_store(&s->wrong, 1);
    if (parts > 1 && threads_in_region())
        atomic_fetch_add(&s->inside, 1);
}

static void check_region(uint32_t threads, uint32_t parts)
{
    struct seen s;

    memset(&s, 0, sizeof s);
    s.caller = pthread_self();
    struct threads_saved saved = threads_enter(threads, NULL);
    threads_run(parts, see, &s);
    assert_int_equal(threads_team(), threads);
    threads_leave(saved);
    for (uint32_t i = 0; i < PARTS_MAX; i++)
        assert_int_equal(s.times[i], i < parts);
    assert_int_equal(s.wrong, 0);
    if (parts > 1 && threads > 1)
        assert_int_equal(s.inside, parts);
}

#if defined(__x86_64__)

static void halve(void *user, uint32_t part, uint32_t parts)
{
    volatile float *v = user;

    v[part] = v[part] / 2;
}

/*
 * A caller that flushes subnormals and rounds upwards: parts on all threads compute as if it did not, and it keeps its mode.
 * It is the first test, since it is to create the threads.
 */
TEST(the_callers_floating_point_mode_stays_the_callers)
{
    volatile float v[8], third;
    unsigned before = _mm_getcsr(), strange = before | 0x8040 | 0x4000;

    for (int i = 0; i < 8; i++)
        v[i] = 0x1p-126f; /* half of it is subnormal */
    _mm_setcsr(strange);
    struct threads_saved saved = threads_enter(4, NULL); /* these four threads come into being with the strange mode */
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

#endif

TEST(every_part_runs_once)
{
    for (uint32_t threads = 1; threads <= 4; threads++)
        for (uint32_t parts = 1; parts <= 9; parts++)
            check_region(threads, parts);
}

TEST(settings_are_restored)
{
    omp_set_num_threads(3);
    omp_set_dynamic(1);
    struct threads_saved saved = threads_enter(2, NULL);
    assert_int_equal(omp_get_max_threads(), on_libgomp ? 2 : 3); /* teams leave libgomp's settings alone */
    assert_int_equal(omp_get_dynamic(), !on_libgomp);
    assert_int_equal(threads_entered(), on_libgomp ? 0 : 2);
    threads_leave(saved);
    assert_int_equal(threads_entered(), 0);
    assert_int_equal(omp_get_max_threads(), 3);
    assert_int_equal(omp_get_dynamic(), 1);
    omp_set_dynamic(0);
    saved = threads_enter(3, NULL); /* nothing to change */
    threads_leave(saved);
    assert_int_equal(omp_get_max_threads(), 3);
    saved = threads_enter(0, NULL); /* no regions */
    assert_int_equal(omp_get_max_threads(), 3);
    threads_leave(saved);
    assert_int_equal(threads_default_count(false), 3);
}

static void inside_region(void *data)
{
    atomic_int *wrong = data;

    if (!threads_in_region())
        atomic_fetch_add(wrong, 1);
    /* The parts of a region in a region are all computed. */
    struct seen s;

    memset(&s, 0, sizeof s);
    s.caller = pthread_self();
    struct threads_saved saved = threads_enter(2, NULL);
    threads_run(5, see, &s);
    threads_leave(saved);
    for (uint32_t i = 0; i < PARTS_MAX; i++)
        if (s.times[i] != (i < 5))
            atomic_fetch_add(wrong, 1);
}

TEST(a_region_in_a_region_computes_every_part)
{
    atomic_int wrong = 0;

    assert_false(threads_in_region());
    GOMP_parallel(inside_region, &wrong, 2, 0);
    assert_int_equal(wrong, 0);
}

/* ---- teams ---- */

static void skip_on_libgomp(void)
{
    if (on_libgomp)
        skip();
}

static void wait_for_each_other(void *user, uint32_t part, uint32_t parts)
{
    atomic_int *arrived = user;

    for (int round = 1; round <= 20; round++) {
        atomic_fetch_add(arrived, 1);
        team_barrier();
        if (atomic_load(arrived) < round * (int)parts || team_part() != part || team_parts() != parts)
            atomic_fetch_add(arrived, 1 << 20);
        team_barrier();
    }
}

/* Parts that wait for each other need a thread each: a caller must not take two of them. */
TEST(a_barrier_waits_for_every_part)
{
    skip_on_libgomp();
    for (uint32_t threads = 2; threads <= 5; threads++)
        for (int i = 0; i < 20; i++) {
            atomic_int arrived = 0;
            struct threads_saved saved = threads_enter(threads, NULL);

            threads_run_synchronized(threads, wait_for_each_other, &arrived);
            threads_leave(saved);
            assert_int_equal(arrived, 20 * threads);
        }
}

struct held {
    atomic_int begun, open, finished;
};

static void hold(void *user, uint32_t part, uint32_t parts)
{
    struct held *h = user;

    if (part == 0) {
        while (!atomic_load(&h->begun)) /* by the worker */
            ;
        return;
    }
    if (part == 1) {
        atomic_store(&h->begun, 1);
        while (!atomic_load(&h->open))
            ;
    }
    atomic_fetch_add(&h->finished, 1);
    if (part == 2)
        atomic_store(&h->open, 1);
}

/* The worker is held up in part 1; the caller computes part 2, which no thread has begun, instead of waiting for the worker. */
TEST(a_caller_computes_parts_that_have_not_begun)
{
    skip_on_libgomp();
    struct team *larger[8], *g; /* released ones may have more workers, which could compute part 2 */
    struct held h = {0};
    int count = 0;

    while (team_workers(g = team_acquire(1, NULL)) > 1 && count < 8)
        larger[count++] = g;
    assert_int_equal(team_workers(g), 1);
    team_run(g, 3, false, false, hold, &h);
    assert_int_equal(h.finished, 2);
    team_release(g);
    while (count > 0)
        team_release(larger[--count]);
}

static void count_up(void *user, uint32_t part, uint32_t parts)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

static void *use_teams(void *data)
{
    atomic_int *sum = data;

    for (int i = 0; i < 2000; i++) {
        struct threads_saved saved = threads_enter(2 + i % 3, NULL);

        threads_run(2 + i % 3, count_up, sum);
        threads_leave(saved);
    }
    return NULL;
}

/* Many regions of many threads, with teams of several sizes that go from thread to thread. */
TEST(teams_go_from_thread_to_thread)
{
    skip_on_libgomp();
    atomic_int sums[6] = {0};

    run_on_threads(6, use_teams, sums, sizeof *sums);
    for (int i = 0; i < 6; i++)
        assert_int_equal(sums[i], 5999); /* 667 times 2, 667 times 3, 666 times 4 */
}

/* ---- an application's parallel-for ---- */

enum way { IN_SEQUENCE, BACKWARDS, ON_THREADS, ONLY_ONE, NONE, WAYS };

struct task {
    void (*function)(void *data, uint32_t i, uint32_t tasks);
    void *data;
    uint32_t i, tasks;
};

static void *run_task(void *user)
{
    struct task *t = user;

    t->function(t->data, t->i, t->tasks);
    return NULL;
}

static atomic_int calls; /* of run_tasks */

static void run_tasks(void *user, uint32_t tasks, void (*function)(void *data, uint32_t i, uint32_t tasks), void *data)
{
    const enum way way = *(enum way *)user;
    struct task all[PARTS_MAX];
    pthread_t threads[PARTS_MAX];
    uint32_t count = way == NONE ? 0 : way == ONLY_ONE ? 1 : tasks;

    atomic_fetch_add(&calls, 1);
    for (uint32_t i = 0; i < count; i++) {
        all[i] = (struct task){function, data, way == BACKWARDS ? tasks - 1 - i : i, tasks};
        if (way != ON_THREADS)
            run_task(&all[i]);
        else if (pthread_create(&threads[i], NULL, run_task, &all[i]) != 0)
            abort();
    }
    for (uint32_t i = 0; way == ON_THREADS && i < count; i++)
        pthread_join(threads[i], NULL);
}

/* However few threads there are, and whichever tasks are left out, parts may wait for each other. */
TEST(a_parallel_for_may_run_tasks_in_any_way)
{
    enum way ways[WAYS] = {IN_SEQUENCE, BACKWARDS, ON_THREADS, ONLY_ONE, NONE};

    for (int w = 0; w < WAYS; w++)
        for (uint32_t tasks = 1; tasks <= 4; tasks++)
            for (uint32_t parts = 2; parts <= 7; parts++) {
                const struct webnn_object_parallel parallel = {tasks, run_tasks, &ways[w]};
                struct threads_saved saved = threads_enter(parts, &parallel);
                atomic_int arrived = 0, sum = 0;

                assert_int_equal(threads_team(), parts);
                threads_run_synchronized(parts, wait_for_each_other, &arrived);
                threads_run(parts, count_up, &sum);
                threads_run(3 * parts, count_up, &sum); /* more than there are threads */
                threads_stay();
                threads_run_synchronized(parts, wait_for_each_other, &arrived);
                threads_leave(saved);
                assert_int_equal(arrived, 40 * parts);
                assert_int_equal(sum, 4 * parts);
            }
}

static void *use_parallel(void *data)
{
    enum way way = ON_THREADS;
    const struct webnn_object_parallel parallel = {2, run_tasks, &way};

    for (int i = 0; i < 50; i++) {
        struct threads_saved saved = threads_enter(4, &parallel);
        atomic_int arrived = 0;

        threads_run_synchronized(4, wait_for_each_other, &arrived);
        threads_leave(saved);
        if (arrived != 80)
            atomic_store((atomic_int *)data, 1);
    }
    return NULL;
}

TEST(several_threads_use_a_parallel_for)
{
    atomic_int wrong = 0;

    run_on_threads(4, use_parallel, &wrong, 0);
    assert_int_equal(wrong, 0);
}

/* Fewer threads for one step, as oneDNN's gemm needs them, take no other team, which there might be no memory for. */
TEST(fewer_threads_use_the_same_team_and_stay)
{
    enum way way = IN_SEQUENCE;
    const struct webnn_object_parallel parallel = {4, run_tasks, &way};
    const int before = calls;
    atomic_int sum = 0;
    struct threads_saved saved = threads_enter(4, &parallel);

    threads_stay();
    struct threads_saved inner = threads_enter(2, &parallel);
    assert_false(inner.acquired);
    threads_run_synchronized(2, count_up, &sum);
    threads_leave(inner);
    threads_leave(saved);
    assert_int_equal(sum, 2);
    assert_int_equal(calls, before);
}

/* Threads stay for the next computation, however many teams of parallel-fors were released before. */
TEST(released_teams_without_threads_end_no_threads)
{
    skip_on_libgomp();
    enum way way = NONE;
    const struct webnn_object_parallel parallel = {2, run_tasks, &way};
    struct team *others[8], *own = team_acquire(1, NULL);
    struct stat before, after;

    for (int i = 0; i < 8; i++)
        assert_non_null(others[i] = team_acquire(1, &parallel));
    for (int i = 0; i < 8; i++)
        team_release(others[i]);
    assert_int_equal(stat("/proc/self/task", &before), 0);
    team_release(own);
    assert_int_equal(stat("/proc/self/task", &after), 0);
    assert_int_equal(after.st_nlink, before.st_nlink); /* one for each thread, and two */
}

/* A child has none of its parent's workers. */
TEST(a_child_has_threads_of_its_own)
{
    skip_on_libgomp();
#if defined(__SANITIZE_THREAD__) /* its run-time library refuses threads in a child */
    skip();
#endif
    check_region(3, 3);
    pid_t child = fork();

    if (child == 0) {
        atomic_int arrived = 0;
        struct threads_saved saved = threads_enter(3, NULL);

        alarm(20);
        threads_run_synchronized(3, wait_for_each_other, &arrived);
        threads_leave(saved);
        _exit(arrived == 60 ? 0 : 1);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* This library has no OpenMP regions that could be led anywhere, so that regions stay on libgomp's pool. */
static void regions_go_to_libgomp(void)
{
    on_libgomp = !threads_lead_here((const void *)_cmocka_run_group_tests);
}

PROGRAM_HELP("usage: test-runtime-threads [libgomp]   run the tests, or those of regions that go to libgomp\n")
int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "libgomp"))
        regions_go_to_libgomp();
    return tests_run();
}
