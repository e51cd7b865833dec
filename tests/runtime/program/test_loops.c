/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Recurrent networks of several steps on the real CPU engine, as loops in programs: every option against the interpreter's
 * bounds, with one and more threads, without passes and without library, run again in the same invocation, and stopped.
 */
#include <math.h>

#include "ir/interpret/interpret.h"
#include "runtime/compile/compile.h"
#include "runtime/engine/cpu/engine_cpu.h"
#include "support/graphs.h"
#include "support/recurrent_cases.h"

static float noise(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(*state >> 8) / (float)(1 << 23) - 1;
}

static void *operand(const struct tensor_type *t, uint32_t *seed)
{
    char *data = malloc((size_t)type_bytes(t));

    assert_non_null(data);
    for (int64_t i = 0; i < type_elements(t); i++) {
        union scalar s = number_cast(wnnNumber(noise(seed)), t->type);
        memcpy(data + (size_t)i * dtype_size(t->type), &s, dtype_size(t->type));
    }
    return data;
}

static double number_at(const void *data, dtype t, int64_t i)
{
    union scalar s;

    memcpy(&s, (const char *)data + (size_t)i * dtype_size(t), dtype_size(t));
    return scalar_to_double(s, t);
}

struct built {
    struct graph *reference;
    struct executable *x;
    uint32_t loops, input_count, output_count;
    void *inputs[16], *want[4], *got[4];
    double *bounds[4];
    struct engine_binding in[16], out[4];
};

static void build(struct engine *en, const char *body, struct built *b)
{
    struct graph *g = parse_body(body);
    struct compile_times times;
    struct program p;
    struct error e = {0};

    memset(b, 0, sizeof *b);
    b->reference = parse_body(body);
    b->input_count = g->input_count;
    b->output_count = g->output_count;
    if (!compile_graph(en, g, NULL, NULL, &p, &times, &e))
        fail_msg("%s: %s", e.message, body);
    graph_free(g);
    b->loops = p.loop_count;
    b->x = en->functions->load(en, &p, &e);
    program_free(&p);
    if (!b->x)
        fail_msg("%s: %s", e.message, body);
    for (uint32_t i = 0; i < b->output_count; i++) {
        const struct tensor_type *t = &b->reference->outputs[i].value->type;
        b->want[i] = malloc((size_t)type_bytes(t));
        b->got[i] = malloc((size_t)type_bytes(t));
        b->bounds[i] = malloc((size_t)type_elements(t) * sizeof(double));
        b->out[i].host = b->got[i];
    }
}

static void built_free(struct engine *en, struct built *b)
{
    en->functions->unload(b->x);
    for (uint32_t i = 0; i < b->input_count; i++)
        free(b->inputs[i]);
    for (uint32_t i = 0; i < b->output_count; i++) {
        free(b->want[i]);
        free(b->got[i]);
        free(b->bounds[i]);
    }
    graph_free(b->reference);
}

/** Runs with new numbers and compares. */
static void check(struct engine *en, struct built *b, const char *body, uint32_t seed)
{
    struct error e = {0};

    for (uint32_t i = 0; i < b->input_count; i++) {
        free(b->inputs[i]);
        b->inputs[i] = operand(&b->reference->inputs[i]->type, &seed);
        b->in[i].host = b->inputs[i];
    }
    assert_true(graph_interpret_bounds(b->reference, (const void *const *)b->inputs, b->want, b->bounds, &e));
    for (uint32_t i = 0; i < b->output_count; i++)
        memset(b->got[i], 0xFF, (size_t)type_bytes(&b->reference->outputs[i].value->type));
    if (!en->functions->run(b->x, b->in, b->out, NULL, &e))
        fail_msg("%s: %s", e.message, body);
    for (uint32_t i = 0; i < b->output_count; i++) {
        const struct tensor_type *t = &b->reference->outputs[i].value->type;
        for (int64_t k = 0; k < type_elements(t); k++) {
            double want = number_at(b->want[i], t->type, k), got = number_at(b->got[i], t->type, k);
            if (b->bounds[i][k] != INFINITY && !(fabs(want - got) <= b->bounds[i][k]))
                fail_msg("output %u element %lld: %.9g, not %.9g (%.2g): %s", i, (long long)k, got, want, b->bounds[i][k],
                         body);
        }
    }
}

static void check_cases(uint32_t first, uint32_t step, uint32_t threads, uint32_t flags)
{
    struct debug_options debug = {.flags = flags};
    struct error e = {0};
    struct engine *en = engine_cpu_create(threads, &debug, &e);
    uint32_t loops = 0;

    assert_works(en, &e);
    for (uint32_t i = first; i < RECURRENT_CASES; i += step) {
        char text[RECURRENT_TEXT];
        struct built b;

        recurrent_case(i, text);
        build(en, text, &b);
        loops += b.loops;
        check(en, &b, text, i);
        check(en, &b, text, i + 1); /* the same invocation again: nothing is left moved */
        built_free(en, &b);
    }
    assert_true(loops * step > RECURRENT_CASES / 4);
    en->functions->free(en);
}

TEST(every_option_is_computed)
{
    check_cases(0, 5, 1, 0);
}

TEST(two_threads_compute_the_same)
{
    check_cases(1, 20, 2, 0);
}

TEST(loops_run_without_passes)
{
    check_cases(2, 15, 1, DEBUG_NO_PASSES);
}

TEST(loops_run_without_the_library)
{
    check_cases(3, 15, 1, DEBUG_NO_LIBRARY);
}

/** Large enough for several parts per kernel, blocks of every width, and layers that read each other's sequence. */
TEST(layers_read_each_others_sequence)
{
    static const char body[] =
        "inputs { x: f32[12, 1, 24]; h0: f32[1, 1, 96]; }"
        "consts { w: f32[1, 384, 24] @scalar(0.02); r: f32[1, 384, 96] @scalar(-0.01); w2: f32[2, 384, 96] @scalar(0.015);"
        " r2: f32[2, 384, 96] @scalar(0.005); b: f32[2, 384] @scalar(0.1); }"
        "nodes { [h, c, s] = lstm(x, w, r, 12, 96, returnSequence=true, initialHiddenState=h0);"
        " t = reshape(s, [12, 1, 96]); [h2, c2, s2] = lstm(t, w2, r2, 12, 96, direction=both, bias=b, returnSequence=true); "
        "u = tanh(s2); } outputs { h; c2; u; h2; }";

    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct debug_options debug = {.flags = 0};
        struct engine *en = engine_cpu_create(threads, &debug, &(struct error){0});
        struct built b;

        assert_non_null(en);
        build(en, body, &b);
        assert_int_equal(b.loops, 3);
        for (uint32_t i = 0; i < 3; i++)
            check(en, &b, body, i);
        built_free(en, &b);
        en->functions->free(en);
    }
}

TEST(a_stopped_run_does_no_harm)
{
    static const char body[] = "inputs { x: f32[6, 1, 4]; w: f32[1, 24, 4]; r: f32[1, 24, 8]; }"
                               "nodes { [h, s] = gru(x, w, r, 6, 8, returnSequence=true); } outputs { s; h; }";
    struct debug_options debug = {.flags = 0};
    struct error e = {0}, stopped = {0};
    struct engine *en = engine_cpu_create(1, &debug, &e);
    const atomic_bool flag = true;
    const struct engine_stop stop = {.cancelled = &flag};
    struct built b;

    assert_non_null(en);
    build(en, body, &b);
    check(en, &b, body, 1);
    assert_false(en->functions->run(b.x, b.in, b.out, &stop, &stopped));
    check(en, &b, body, 2);
    built_free(en, &b);
    en->functions->free(en);
}

/** What a step of a loop touches again in each iteration is there once, and what moves on is not. */
TEST(bytes_are_told_apart)
{
    static const char body[] = "inputs { x: f32[20, 1, 32]; }"
                               "consts { w: f32[1, 256, 32] @scalar(0.02); r: f32[1, 256, 64] @scalar(-0.01); }"
                               "nodes { [h, c, s] = lstm(x, w, r, 20, 64, returnSequence=true); } outputs { h; s; }";
    struct debug_options debug = {.flags = DEBUG_NO_LIBRARY};
    struct engine *en = engine_cpu_create(1, &debug, &(struct error){0});
    struct executable_facts facts;
    struct step_facts s;
    struct built b;
    double recurrent = 0;

    assert_non_null(en);
    build(en, body, &b);
    en->functions->optional.tools->facts(b.x, &facts);
    for (uint32_t i = 0; i < facts.step_count; i++) {
        en->functions->optional.tools->step_facts(b.x, i, &s);
        assert_true(s.weight_bytes <= s.distinct_bytes && s.distinct_bytes <= s.bytes);
        if (s.calls == 1)
            assert_true(s.distinct_bytes == s.bytes);
        if (s.weight_bytes == 0)
            continue;
        if (s.calls > 1)
            recurrent = s.distinct_bytes - s.weight_bytes;
        assert_true(s.weight_bytes >= (s.calls == 1 ? 256 * 32 * 4 : 256 * 64 * 4) && s.weight_bytes < 256 * 65 * 4);
        assert_true(s.operations >= 2.0 * 20 * 256 * (s.calls == 1 ? 32 : 64) && s.operations == s.flops);
    }
    /* The sequence that is read and that which is written, and read again as a state, move; the other state stays. */
    assert_true(recurrent >= 20 * (256 + 2 * 64) * 4 && recurrent < 20 * (256 + 3 * 64) * 4);
    built_free(en, &b);
    en->functions->free(en);
}
