/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Progress of programs that are built for a device, over an OpenCL without one (support/fake_opencl.h), and that builds end
 * when the program or the loss of the context says so: between programs, and while another thread builds.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "runtime/engine/opencl/opencl_support.h"

/* A program has fewer kernels than MANY, and FEW are one program. */
enum { FEW = 5, MANY = 150 };

/* Returns a graph of `count` kernels.  Sizes are parameters, so that only computations tell kernels apart. */
static char *chains(int count)
{
    char *body = NULL;
    size_t size;
    FILE *out = open_memstream(&body, &size);

    assert_non_null(out);
    fprintf(out, "inputs { ");
    for (int i = 0; i < count; i++)
        fprintf(out, "x%d: f32[%d]; ", i, i + 1);
    fprintf(out, "} nodes { ");
    for (int i = 0; i < count; i++)
        fprintf(out, "a%d = linear(x%d, alpha=%d, beta=2); y%d = sin(a%d); ", i, i, i + 3, i, i);
    fprintf(out, "} outputs { ");
    for (int i = 0; i < count; i++)
        fprintf(out, "y%d; ", i);
    fprintf(out, "}");
    assert_int_equal(fclose(out), 0);
    return body;
}

/* ---- what a callback sees and does ---- */

struct watch {
    atomic_uint calls; /* in the stage Code */
    uint32_t first, last, total, end_at;
    bool keeps_others; /* from the first call to the last one threads that help are held, so that there are more calls */
    WNNContext lose;   /* at the call `end_at`, instead of ending the build */
    bool wrong;
    pthread_t thread;
};

static bool on_progress(WNNBuildStage stage, uint32_t done, uint32_t total, void *user, void *unused)
{
    struct watch *w = user;

    if (stage != WNNBuildStage_Code)
        return true;

    const unsigned call = atomic_fetch_add(&w->calls, 1) + 1;
    if (call == 1)
        w->first = done;
    w->wrong = w->wrong || !total || done > total || done < w->last || (w->total && total != w->total) ||
               !pthread_equal(w->thread, pthread_self());
    w->last = done;
    w->total = total;
    if (w->keeps_others && call <= w->end_at)
        fake->hold_compiler(call < w->end_at);
    if (call == w->end_at && w->lose)
        wnnContextDestroy(w->lose);
    return call != w->end_at || w->lose;
}

static WNNStatus build_watched(WNNContext context, const char *body, struct watch *w, WNNGraph *graph, struct error *e)
{
    struct graph *g = parse_body(body);

    w->thread = pthread_self();
    *e = (struct error){.status = WNNStatus_Success};
    g->progress = (WNNBuildProgressCallbackInfo){on_progress, w, NULL};
    return runtime_build(context, g, graph, e);
}

static void await_compiling(unsigned threads)
{
    for (int i = 0; fake->compiling() < threads && i < 10000; i++)
        usleep(1000);
    assert_true(fake->compiling() >= threads);
}

static void await_calls(struct watch *w, unsigned calls)
{
    for (int i = 0; atomic_load(&w->calls) < calls && i < 10000; i++)
        usleep(1000);
    assert_true(atomic_load(&w->calls) >= calls);
}

/* ---- between programs ---- */

TEST(test_programs_are_told)
{
    OWNED(memory) char *body = chains(MANY), *part = chains(FEW);
    WNNContext context = new_context();
    struct watch w = {0}, again = {0};
    struct error e;
    WNNGraph graph;

    wnnGraphRelease(new_graph(context, part));
    const unsigned before = fake->calls("BuildProgram");
    assert_int_equal(build_watched(context, body, &w, &graph, &e), WNNStatus_Success);
    assert_true(fake->calls("BuildProgram") - before > 1);
    assert_false(w.wrong);
    assert_int_equal(w.first, FEW); /* which the other graph has, too */
    assert_int_equal(w.total, MANY);
    wnnGraphRelease(graph);
    /* Nothing is left to build, and the callback is not called. */
    assert_int_equal(build_watched(context, body, &again, &graph, &e), WNNStatus_Success);
    assert_int_equal(again.calls, 0);
    release_graph(context, graph);
    assert_nothing_is_left("");
}

/* At the first question nothing is built, and later no further program.  What was built serves the next build. */
TEST(test_the_callback_ends_a_build)
{
    OWNED(memory) char *body = chains(MANY);

    for (uint32_t call = 1; call <= 3; call++) {
        WNNContext context = new_context();
        const unsigned before = fake->calls("BuildProgram");
        struct watch w = {.end_at = call, .keeps_others = call > 1};
        struct error e;
        WNNGraph graph;

        assert_int_equal(build_watched(context, body, &w, &graph, &e), WNNStatus_OperationError);
        assert_null(graph);
        assert_string_equal(e.message, "build: the build was cancelled");
        assert_int_equal(w.calls, call); /* the callback is not called again */
        assert_false(w.wrong);
        assert_false(wnnContextIsLost(context));
        const unsigned built = fake->calls("BuildProgram") - before;
        wnnGraphRelease(new_graph(context, body));
        assert_true(call == 1 ? built == 0 && w.last == 0 : call == 2 || (built > 0 && w.last > 0));
        wnnContextRelease(context);
        assert_nothing_is_left("");
    }
}

TEST(test_losing_the_context_ends_a_build)
{
    OWNED(memory) char *body = chains(MANY);
    WNNContext context = new_context();
    struct watch w = {.end_at = 1, .lose = context};
    struct error e;
    WNNGraph graph;

    assert_int_equal(build_watched(context, body, &w, &graph, &e), WNNStatus_InvalidStateError);
    assert_null(graph);
    assert_non_null(strstr(e.message, "the context was destroyed"));
    assert_int_equal(w.calls, 1);
    wnnContextRelease(context);
    assert_nothing_is_left("");
}

/* A program that the compiler refuses is built kernel by kernel, which ends as well. */
TEST(test_a_search_for_the_kernel_ends)
{
    OWNED(memory) char *body = chains(FEW);
    WNNContext context = new_context();
    struct watch w = {.end_at = 3}; /* before anything, before the program, before its first kernel alone */
    struct error e;
    WNNGraph graph;

    fake->break_compiler(true);
    assert_int_equal(build_watched(context, body, &w, &graph, &e), WNNStatus_OperationError);
    fake->break_compiler(false);
    assert_non_null(strstr(e.message, "cancelled"));
    wnnGraphRelease(new_graph(context, body));
    wnnContextRelease(context);
    assert_nothing_is_left("");
}

/* ---- while another thread builds ---- */

struct build {
    WNNContext context;
    const char *body;
    struct watch watch;
    WNNStatus status;
    WNNGraph graph;
    struct error e;
};

static void *build_main(void *user)
{
    struct build *b = user;

    b->status = build_watched(b->context, b->body, &b->watch, &b->graph, &b->e);
    return NULL;
}

/* The second build needs the kernel that the first one builds: it asks while it waits, and ends before the first. */
TEST(test_waiting_for_another_thread_ends)
{
    WNNContext context = new_context();
    struct build first = {.context = context, .body = one_step}, second = {.context = context, .body = one_step};
    pthread_t thread;

    second.watch.end_at = 3;
    fake->hold_compiler(true);
    assert_int_equal(pthread_create(&thread, NULL, build_main, &first), 0);
    await_compiling(1);
    build_main(&second);
    assert_int_equal(second.status, WNNStatus_OperationError);
    assert_non_null(strstr(second.e.message, "cancelled"));
    assert_int_equal(second.watch.calls, 3);
    assert_int_equal(second.watch.last, 0);
    assert_int_equal(fake->compiling(), 1); /* the first one still does */
    fake->hold_compiler(false);
    pthread_join(thread, NULL);
    assert_int_equal(first.status, WNNStatus_Success);
    assert_true(first.watch.calls >= 1);
    assert_false(first.watch.wrong || second.watch.wrong);
    release_graph(context, first.graph);
}

/* A thread that gives up leaves the kernel to a thread that waits for it. */
TEST(test_another_thread_takes_over)
{
    WNNContext context = new_context();
    struct build first = {.context = context, .body = one_step}, second = {.context = context, .body = one_step};
    pthread_t threads[2];

    fake->fail_next("BuildProgram", CL_OUT_OF_HOST_MEMORY);
    fake->hold_compiler(true);
    assert_int_equal(pthread_create(&threads[0], NULL, build_main, &first), 0);
    await_compiling(1);
    assert_int_equal(pthread_create(&threads[1], NULL, build_main, &second), 0);
    await_calls(&second.watch, 2);
    fake->hold_compiler(false);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert_int_equal(first.status, WNNStatus_OperationError);
    assert_int_equal(second.status, WNNStatus_Success);
    release_graph(context, second.graph);
}

TEST_EACH(NULL, nothing_is_left)
TEST_GROUP(start, NULL)
