/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Trials of threads, with times that are made up: which way is taken, when it is tried again, what is never tried; and a graph
 * whose results keep their bits whichever way a run takes.
 */
#include <webnn/webnn.h>

#include "ir/graph/ir.h"
#include "ir/text/text.h"
#include "runtime/api/runtime.h"
#include "runtime/engine/cpu/thread_trial.h"
#include "support/test.h"

/* Runs so often, and returns how many runs were the caller's alone. */
static uint32_t run(struct thread_trial *t, uint32_t runs, uint64_t together, uint64_t alone)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < runs; i++) {
        const bool a = thread_trial_begin(t);

        thread_trial_end(t, a, a ? alone : together);
        count += a;
    }
    return count;
}

enum { TRIAL = 2 * (TRIAL_RUNS + 1), FIRST_INTERVAL = 64 };

TEST(the_faster_way_is_taken)
{
    struct thread_trial t;

    thread_trial_init(&t, false);
    assert_int_equal(run(&t, TRIAL, 17000, 12000), TRIAL / 2);
    assert_int_equal(run(&t, FIRST_INTERVAL, 17000, 12000), FIRST_INTERVAL);
    thread_trial_destroy(&t);

    thread_trial_init(&t, true);
    assert_true(thread_trial_begin(&t));
    assert_int_equal(run(&t, TRIAL, 12000, 17000), TRIAL / 2);
    assert_int_equal(run(&t, FIRST_INTERVAL, 12000, 17000), 0);
    thread_trial_destroy(&t);
}

/** Threads come to be worth it, or cease to be, while a program runs. */
TEST(it_is_tried_again)
{
    SCOPED(thread_trial_destroy) struct thread_trial t = {0};

    thread_trial_init(&t, false);
    run(&t, TRIAL, 17000, 12000);
    uint32_t alone = run(&t, 20000, 9000, 12000);
    assert_true(alone < 300); /* an interval, and a part of each trial after it */
    alone = run(&t, 20000, 17000, 12000);
    assert_true(alone > 15000); /* the longest interval has passed, then everything but trials */
    /* Confirmed choices are tried ever more seldom. */
    thread_trial_init(&t, false);
    alone = run(&t, 100000, 9000, 12000);
    assert_true(alone >= 6 * (TRIAL_RUNS + 1) && alone < 300);
}

/** A run that takes milliseconds is never tried the slow way, and a difference that noise explains changes nothing. */
TEST(what_is_not_tried)
{
    struct thread_trial t;

    thread_trial_init(&t, false);
    assert_int_equal(run(&t, 10000, 5000000, 1000), 0);
    thread_trial_destroy(&t);
    thread_trial_init(&t, false);
    run(&t, TRIAL, 12000, 11900);
    assert_int_equal(run(&t, FIRST_INTERVAL, 12000, 11900), 0);
    thread_trial_destroy(&t);
}

/** Runs that overlap, of which some began before the phase did that they end in, count where they belong. */
TEST(runs_may_overlap)
{
    SCOPED(thread_trial_destroy) struct thread_trial t = {0};

    thread_trial_init(&t, false);
    for (int i = 0; i < 200; i++) {
        const bool a = thread_trial_begin(&t), b = thread_trial_begin(&t);

        thread_trial_end(&t, a, a ? 12000 : 17000);
        thread_trial_end(&t, b, b ? 12000 : 17000);
    }
    assert_true(t.settled_alone);
}

enum { ROWS = 96, COLUMNS = 320 };

/* A step of the library and a generated kernel, both cut into parts. */
static WNNGraph build(WNNContext c)
{
    static const char text[] = "webnn_graph \"g\" v1 { inputs { x: f32[96, 320]; w: f32[320, 320]; } nodes { m = matmul(x, w); "
                               "y = softmax(m, 1); } outputs { y; } }";
    struct error e = {0};
    struct graph *graph = graph_parse(text, sizeof text - 1, NULL, NULL, &e);
    WNNGraph g = NULL;

    assert_works(graph && !runtime_build(c, graph, &g, &e), &e);
    return g;
}

TEST(bits_stay_the_same)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;
    static float x[ROWS * COLUMNS], w[COLUMNS * COLUMNS], first[ROWS * COLUMNS], y[ROWS * COLUMNS];
    OWNED(context) WNNContext c = NULL;

    o.accelerated = false;
    o.threadCount = 3;
    assert_int_equal(wnnCreateContext(&o, &c), WNNStatus_Success);
    OWNED(compiled) WNNGraph g = build(c);
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        x[i] = (float)(i % 97) / 97 - 0.5F;
    for (size_t i = 0; i < COLUMNS * COLUMNS; i++)
        w[i] = (float)(i % 89) / 89 - 0.5F;
    for (int i = 0; i < 3 * TRIAL; i++) {
        WNNNamedBuffer inputs[] = {{WNN_STR("x"), x, sizeof x}, {WNN_STR("w"), w, sizeof w}};
        float *out = i ? y : first;

        assert_int_equal(wnnGraphCompute(g, 2, inputs, 1, &(WNNNamedBuffer){WNN_STR("y"), out, sizeof y}), WNNStatus_Success);
        if (i)
            assert_memory_equal(y, first, sizeof y);
    }
}
