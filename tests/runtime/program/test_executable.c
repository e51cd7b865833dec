/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Executables of the CPU, with kernels written by hand: bindings, arena, constants, copies, splitting over threads, scratch,
 * concurrent runs, stopping.
 */
#include <sys/wait.h>
#include <unistd.h>

#include "ir/schedule/program_schedule.h"
#include "runtime/engine/cpu/cpu_executable.h"
#include "runtime/program/invocation.h"
#include "support/schedules.h"
#include "support/test.h"

/* ---- programs by hand ---- */

/* A location outside of loops. */
#define AT(KIND, SLOT, OFFSET, BYTES) {.kind = KIND, .slot = SLOT, .offset = OFFSET, .bytes = BYTES}

static struct program new_program(uint32_t steps, uint32_t constants, int64_t arena_bytes)
{
    struct program p = {.arena_bytes = arena_bytes, .arena_lower_bound = arena_bytes};

    p.steps = arena_array(&p.arena, steps, sizeof *p.steps);
    p.constants = arena_array(&p.arena, constants, sizeof *p.constants);
    assert_true(p.steps && p.constants);
    return p;
}

static struct program_step *add(struct program *p, enum step_kind kind, uint32_t count, const struct location *locations)
{
    struct program_step *s = &p->steps[p->step_count++];

    s->kind = kind;
    snprintf(s->name, sizeof s->name, "step%u", p->step_count - 1);
    s->location_count = count;
    s->locations = arena_copy(&p->arena, locations, count * sizeof *locations);
    return s;
}

/* n of at least 2: a variable of size 1 is no variable, and no parameter. */
/* The element-wise kernel out[i] = in[i] op constant over n elements; the function that stands in for its code is given apart.
 */
static struct kernel *elementwise(int64_t n)
{
    struct kernel *k = kernel_create();
    uint32_t i = kernel_var(k, KVAR_PARALLEL, n);
    uint32_t in = kernel_tensor(k, WNNOperandDataType_Float32, n, false, NULL);
    uint32_t out = kernel_tensor(k, WNNOperandDataType_Float32, n, true, NULL);
    uint32_t load = kernel_load(k, in, kaffine_var(k, i), 0, NULL, (union scalar){0});

    kernel_store(k, out, kaffine_var(k, i), kernel_op1(k, K_NEG, load), 0, NULL);
    assert_true(kernel_finish(k));
    return k;
}

/* Makes it the step's, with a schedule that asks for so much scratch. */
static void set_kernel(struct program_step *s, struct kernel *k, int64_t scratch)
{
    struct schedule *schedule = schedule_of(k, NULL);

    schedule->scratch_bytes = scratch;
    s->kernel = k;
    step_set_schedule(s, schedule);
}

static void negate(const struct kernel_args *args, int64_t begin, int64_t end)
{
    const float *in = args->tensors[0];
    float *out = args->tensors[1];
    int64_t n = args->params[0], last = end * UNIT_ELEMENTS < n ? end * UNIT_ELEMENTS : n;

    for (int64_t i = begin * UNIT_ELEMENTS; i < last; i++)
        out[i] = -in[i];
}

static void add_one(const struct kernel_args *args, int64_t begin, int64_t end)
{
    const float *in = args->tensors[0];
    float *out = args->tensors[1];
    int64_t n = args->params[0], last = end * UNIT_ELEMENTS < n ? end * UNIT_ELEMENTS : n;

    for (int64_t i = begin * UNIT_ELEMENTS; i < last; i++)
        out[i] = in[i] + 1;
}

static const struct debug_options no_debug;

static const struct engine_functions memory_functions = {
    .name = "by hand",
    .host_memory = true,
    .buffer_create = cpu_buffer_create,
    .buffer_free = cpu_buffer_free,
};

/* An executable with an engine of its own, which has nothing but memory. */
struct made {
    struct engine engine;
    struct cpu_executable x;
};

static struct made *make_with(struct program *p, const kernel_function *functions, uint32_t threads,
                              const struct debug_options *debug)
{
    struct made *m = calloc(1, sizeof *m);

    assert_non_null(m);
    m->engine = (struct engine){.functions = &memory_functions, .debug = debug, .thread_count = threads};
    assert_done(cpu_executable_init(&m->x, &m->engine, p, functions, &e));
    program_free(p); /* nothing of it is needed any more */
    return m;
}

static struct made *make(struct program *p, const kernel_function *functions, uint32_t threads)
{
    return make_with(p, functions, threads, &no_debug);
}

static void made_free(struct made *m)
{
    cpu_executable_clear(&m->x);
    free(m);
}
DROPS(made, struct made *, made_free)

static bool run(struct made *m, const float *in, float *out)
{
    struct engine_binding input = {.host = (void *)in}, output = {.host = out};

    return executable_run(&m->x.base, &input, &output, NULL, &(struct error){0});
}

/* input -> -x (arena at 64) -> x + 1 (in place) -> copy to the output, plus a constant copied after it. */
static struct made *chain(int64_t n, uint32_t threads)
{
    int64_t bytes = n * 4;
    struct program p = new_program(4, 1, 64 + bytes);
    const struct location input = AT(LOCATION_INPUT, 0, 0, bytes), arena = AT(LOCATION_ARENA, 0, 64, bytes),
                          output = AT(LOCATION_OUTPUT, 0, 0, bytes);
    const kernel_function functions[] = {negate, add_one};

    p.constants[p.constant_count++] = constant_create((float[]){7, 8}, 8);
    set_kernel(add(&p, STEP_KERNEL, 2, (struct location[]){input, arena}), elementwise(n), 0);
    set_kernel(add(&p, STEP_KERNEL, 2, (struct location[]){arena, arena}), elementwise(n), 0);
    add(&p, STEP_COPY, 2, (struct location[]){arena, output});
    add(&p, STEP_COPY, 2, (struct location[]){AT(LOCATION_CONSTANT, 0, 4, 4), AT(LOCATION_OUTPUT, 0, bytes, 4)});
    return make(&p, functions, threads);
}

static void check_chain(struct made *m, int64_t n, float first)
{
    OWNED(memory) float *in = calloc((size_t)n, 4), *out = calloc((size_t)(n + 1), 4);

    for (int64_t i = 0; i < n; i++)
        in[i] = first + (float)(i % 1000);
    assert_true(run(m, in, out));
    for (int64_t i = 0; i < n; i++)
        assert_true(in[i] == first + (float)(i % 1000) && out[i] == 1 - in[i]);
    assert_true(out[n] == 8);
}

TEST(steps_in_order)
{
    const int64_t sizes[] = {2, 5, UNIT_ELEMENTS, UNIT_ELEMENTS + 1, 300000};

    for (int i = 0; i < 5; i++)
        for (uint32_t threads = 1; threads <= 4; threads++) {
            OWNED(made) struct made *m = chain(sizes[i], threads);
            check_chain(m, sizes[i], 3);
            check_chain(m, sizes[i], -5); /* the same invocation again */
        }
}

/* Buffers of the engine's are bound like host memory. */
TEST(buffers_are_bound_like_host_memory)
{
    OWNED(made) struct made *m = chain(4, 1);
    float in[4] = {1, 2, 3, 4}, out[5];
    struct engine_buffer input = {(engine_address)in, 16, 0}, output = {(engine_address)out, 20, 0};

    assert_done(executable_run(&m->x.base, &(struct engine_binding){.buffer = &input},
                               &(struct engine_binding){.buffer = &output}, NULL, &e));
    assert_true(out[2] == -2);
}

/* ---- splitting ---- */

TEST(work_decides_the_number_of_parts)
{
    assert_int_equal(program_kernel_parts(1e3, 1e3, 100, 8), 1); /* not worth waking anyone */
    assert_int_equal(program_kernel_parts(1e9, 1e3, 100, 8), 8); /* worth everyone */
    assert_int_equal(program_kernel_parts(1e3, 1e9, 100, 8), 8);
    assert_int_equal(program_kernel_parts(1e9, 1e9, 3, 8), 3); /* not more than there are units */
    assert_int_equal(program_kernel_parts(1e9, 1e9, 1, 8), 1);
    assert_int_equal(program_kernel_parts(1e9, 1e9, 100, 1), 1);
    uint32_t some = program_kernel_parts(8e3 * 60, 0, 1000, 64); /* 60 us: a few */
    assert_true(some >= 2 && some <= 10);
}

static atomic_int split_calls;
static atomic_llong split_units;

static void split_kernel(const struct kernel_args *args, int64_t begin, int64_t end)
{
    unsigned char *scratch = args->scratch;

    atomic_fetch_add(&split_calls, 1);
    atomic_fetch_add(&split_units, end - begin);
    /* Scratch is this thread's alone and as large as promised. */
    if (((uintptr_t)scratch & 63) != 0)
        abort();
    for (int round = 0; round < 50; round++) {
        memset(scratch, (int)begin & 0xFF, 1000);
        for (int i = 0; i < 1000; i++)
            if (scratch[i] != ((int)begin & 0xFF))
                abort();
    }
    negate(args, begin, end);
}

TEST(units_are_split)
{
    enum { N = 37 * UNIT_ELEMENTS + 11 };
    struct program p = new_program(1, 0, 0);
    const kernel_function functions[] = {split_kernel};
    struct kernel *k = elementwise(N);

    set_kernel(add(&p, STEP_KERNEL, 2, (struct location[]){AT(LOCATION_INPUT, 0, 0, N * 4), AT(LOCATION_OUTPUT, 0, 0, N * 4)}),
               k, 1000);
    ((struct schedule *)p.steps[0].schedule)->cost.operations = 1e9;
    ((struct schedule *)p.steps[0].schedule)->cost.bytes = 1e6; /* more than L2 holds: odd iterations go backward in pieces */
    p.loops = arena_copy(&p.arena, &(struct program_loop){.count = 1, .iterations = 2}, sizeof *p.loops);
    p.loop_count = 1;
    OWNED(made) struct made *m = make(&p, functions, 3);
    OWNED(memory) float *in = malloc(N * 4), *out = calloc(N, 4);
    for (int i = 0; i < N; i++)
        in[i] = (float)i;
    assert_true(run(m, in, out));
    assert_int_equal(split_calls, 3 + 38);
    assert_int_equal(split_units, 2 * 38);
    for (int i = 0; i < N; i++)
        assert_true(out[i] == -(float)i);
}

/* ---- warming ---- */

static atomic_int warm_calls;

static void warm_kernel(const struct kernel_args *args, int64_t begin, int64_t end)
{
    for (int64_t i = begin; i < end; i++)
        assert_true(((const float *)args->tensors[0])[i] == 0); /* inputs are zeros */
    atomic_fetch_add(&warm_calls, 1);
    negate(args, begin, end);
}

/* An executable is run once before anybody asks for it, unless what it would be given takes too much memory. */
TEST(executables_are_warmed)
{
    enum { N = 1000 };
    struct program p = new_program(1, 0, 0);
    const kernel_function functions[] = {warm_kernel};

    set_kernel(add(&p, STEP_KERNEL, 2, (struct location[]){AT(LOCATION_INPUT, 0, 0, N * 4), AT(LOCATION_OUTPUT, 0, 0, N * 4)}),
               elementwise(N), 0);
    OWNED(made) struct made *m = make(&p, functions, 1);
    executable_warm(&m->x.base, 2 * N * 4 - 1);
    assert_int_equal(warm_calls, 0);
    executable_warm(&m->x.base, 4 * N * 4);
    assert_int_equal(warm_calls, 1);
    cpu_executable_warm(&m->x);
    assert_int_equal(warm_calls, 2);
}

/* ---- concurrency ---- */

static void *compute_many(void *data)
{
    for (int i = 0; i < 200; i++)
        check_chain(data, 2000, (float)i);
    return NULL;
}

TEST(concurrent_runs)
{
    OWNED(made) struct made *m = chain(2000, 1);

    run_on_threads(8, compute_many, m, 0); /* more than invocations that are kept */
}

static atomic_bool stop_flag;

static void stop_kernel(const struct kernel_args *args, int64_t begin, int64_t end)
{
    atomic_store(&stop_flag, true);
    negate(args, begin, end);
}

TEST(stops_between_steps)
{
    struct program p = new_program(2, 0, 0);
    const struct location input = AT(LOCATION_INPUT, 0, 0, 16), output = AT(LOCATION_OUTPUT, 0, 0, 16);
    const kernel_function functions[] = {stop_kernel, add_one};
    float in[4] = {1, 2, 3, 4}, out[4] = {0};
    struct error e = {0};

    set_kernel(add(&p, STEP_KERNEL, 2, (struct location[]){input, output}), elementwise(4), 0);
    set_kernel(add(&p, STEP_KERNEL, 2, (struct location[]){output, output}), elementwise(4), 0);
    OWNED(made) struct made *m = make(&p, functions, 1);
    assert_false(executable_run(&m->x.base, &(struct engine_binding){.host = in}, &(struct engine_binding){.host = out},
                                &(struct engine_stop){.lost = &stop_flag}, &e));
    assert_int_equal(e.status, WNNStatus_InvalidStateError);
    assert_true(out[1] == -2);
}

/* ---- checking ---- */

#if defined(WEBNN_SANITIZE)

/* Writes one element too many: past its own value, but still inside the arena. */
static void write_beyond(const struct kernel_args *args, int64_t begin, int64_t end)
{
    negate(args, begin, end);
    ((float *)args->tensors[1])[args->params[0]] = 0;
}

TEST(gaps_are_poisoned)
{
    struct program p = new_program(2, 0, 4096);
    const struct location input = AT(LOCATION_INPUT, 0, 0, 24), arena = AT(LOCATION_ARENA, 0, 64, 24),
                          output = AT(LOCATION_OUTPUT, 0, 0, 24);
    const kernel_function functions[] = {write_beyond, negate};
    float in[6] = {0}, out[6];
    int status;

    set_kernel(add(&p, STEP_KERNEL, 2, (struct location[]){input, arena}), elementwise(6), 0);
    set_kernel(add(&p, STEP_KERNEL, 2, (struct location[]){arena, output}), elementwise(6), 0);
    OWNED(made) struct made *m = make(&p, functions, 1);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) /* the report that is wanted */
            _exit(0);
        run(m, in, out);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

#else

TEST(gaps_are_poisoned)
{
    skip(); /* only sanitizer builds do */
}

#endif

/* ---- printing ---- */

TEST(programs_are_printed)
{
    struct program p = new_program(2, 1, 128);
    char text[1000] = {0};
    FILE *f = fmemopen(text, sizeof text - 1, "w");

    p.constants[p.constant_count++] = constant_create(NULL, 12);
    set_kernel(add(&p, STEP_KERNEL, 2, (struct location[]){AT(LOCATION_INPUT, 1, 0, 16), AT(LOCATION_ARENA, 0, 64, 16)}),
               elementwise(4), 0);
    add(&p, STEP_COPY, 2, (struct location[]){AT(LOCATION_CONSTANT, 0, 4, 8), AT(LOCATION_OUTPUT, 0, 8, 8)});
    program_print(&p, f);
    fclose(f);
    assert_string_equal(text, "program: 2 steps, arena 128 bytes (lower bound 128), 1 constants with 12 bytes\n"
                              "    0 kernel step0: input1+0:16 -> arena+64:16\n"
                              "      # 16 lanes along v0, 1 units, scratch 0 bytes\n"
                              "    1 copy step1: constant0+4:8 -> output0+8:8\n");

    const struct debug_options profile = {.flags = DEBUG_PROFILE};
    float in[4] = {0}, out[4];
    p.steps[0].locations[0].slot = 0;
    p.steps[1].locations[0].bytes = 8;
    OWNED(made) struct made *m = make_with(&p, (const kernel_function[]){negate}, 1, &profile);
    assert_true(run(m, in, out));
    f = fmemopen(text, sizeof text - 1, "w");
    executable_print_profile(&m->x.base, f);
    fclose(f);
    assert_non_null(strstr(text, "1 run(s) of 2 steps"));
    assert_non_null(strstr(text, "step0"));
    assert_non_null(strstr(text, "memcpy"));
}
