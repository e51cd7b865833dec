/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Which steps the CPU engine leaves out where outputs are not wanted; tests/api/test_outputs.c compares results. */
#include "runtime/compile/compile.h"
#include "runtime/engine/cpu/engine_cpu.h"
#include "support/graphs.h"

/* A trunk of three steps, a head of two steps for y, and one of three for z. */
static const char body[] = "inputs { x: f32[96, 96]; }"
                           "nodes { a = matmul(x, x); b = softmax(a, 1); c = matmul(b, x);"
                           "        p = softmax(c, 0); y = matmul(p, c);"
                           "        q = cumulativeSum(c, 1); r = matmul(q, c); z = softmax(r, 1); }"
                           "outputs { y; z; }";

enum { ELEMENTS = 96 * 96 };

struct fixture {
    struct engine *en;
    struct executable *x;
    struct engine_binding in, out[2];
    float input[ELEMENTS], output[2][ELEMENTS];
};

static void create(struct fixture *f, const struct debug_options *debug)
{
    struct graph *g = parse_body(body);
    struct compile_times times;
    struct error e = {0};
    struct program p;

    f->en = engine_cpu_create(1, debug, &e);
    assert_non_null(f->en);
    assert_true(compile_graph(f->en, g, NULL, NULL, &p, &times, &e));
    graph_free(g);
    f->x = f->en->functions->load(f->en, &p, &e);
    program_free(&p);
    assert_non_null(f->x);
    for (int i = 0; i < ELEMENTS; i++)
        f->input[i] = (float)(i % 7) / 96;
    f->in = (struct engine_binding){.host = f->input};
    for (int k = 0; k < 2; k++)
        f->out[k] = (struct engine_binding){.host = f->output[k]};
}

/** Returns how many steps ran. */
static uint32_t run(struct fixture *f, bool y, bool z)
{
    const struct engine_tools *tools = f->en->functions->optional.tools;
    struct executable_facts facts;
    uint32_t ran = 0;

    f->out[0].is_unwanted = !y;
    f->out[1].is_unwanted = !z;
    tools->measure(f->x);
    assert_done(f->en->functions->run(f->x, &f->in, f->out, NULL, &e));
    tools->facts(f->x, &facts);
    for (uint32_t s = 0; s < facts.step_count; s++) {
        struct step_facts step;

        tools->step_facts(f->x, s, &step);
        ran += step.nanoseconds > 0;
    }
    return ran;
}

TEST(steps_of_unwanted_outputs_do_not_run)
{
    static const unsigned flags[] = {DEBUG_PREFER_LIBRARY, DEBUG_NO_LIBRARY};

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        const struct debug_options debug = {.flags = flags[i]};
        static struct fixture f;

        create(&f, &debug);
        const uint32_t all = run(&f, true, true), y = run(&f, true, false);

        assert_true(all >= 6);
        assert_true(y <= all - 2); /* the last steps are z's alone */
        assert_int_equal(run(&f, true, false), y);
        assert_true(run(&f, false, true) <= all - (flags[i] == DEBUG_PREFER_LIBRARY)); /* kernels keep those in the middle */
        assert_int_equal(run(&f, true, true), all);
        assert_int_equal(run(&f, true, false), y);
        f.en->functions->unload(f.x);
        f.en->functions->free(f.en);
    }
}

TEST_GROUP(NULL, NULL)
