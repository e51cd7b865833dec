/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Plans, with kernels written by hand: bindings, arena, constants, copies, splitting over threads, scratch, concurrent runs,
 * stopping.
 */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "runtime/compile.h"
#include "runtime/plan.h"

/* ---- programs by hand ---- */

/* A place outside of loops. */
#define AT(KIND, SLOT, OFFSET, BYTES) {.kind = KIND, .slot = SLOT, .offset = OFFSET, .bytes = BYTES}

static struct program new_program(uint32_t steps, uint32_t constants, int64_t arena_bytes)
{
    struct program p = {.arena_bytes = arena_bytes, .arena_lower_bound = arena_bytes};

    p.steps = arena_array(&p.arena, steps, sizeof *p.steps);
    p.constants = arena_array(&p.arena, constants, sizeof *p.constants);
    assert_true(p.steps && p.constants);
    return p;
}

static struct program_step *add(struct program *p, enum step_kind kind, uint32_t count, const struct place *places)
{
    struct program_step *s = &p->steps[p->step_count++];

    s->kind = kind;
    snprintf(s->name, sizeof s->name, "step%u", p->step_count - 1);
    s->place_count = count;
    s->places = arena_copy(&p->arena, places, count * sizeof *places);
    return s;
}

/* n of at least 2: a variable of size 1 is no variable, and no parameter. */
/* The element-wise kernel out[i] = in[i] op constant over n elements; the function that stands in for its code is given apart.
 */
static struct kernel *elementwise(int64_t n, int64_t scratch)
{
    struct kernel *k = kernel_create();
    uint32_t i = kernel_var(k, KVAR_PARALLEL, n);
    uint32_t in = kernel_tensor(k, WNNOperandDataType_Float32, n, false, NULL);
    uint32_t out = kernel_tensor(k, WNNOperandDataType_Float32, n, true, NULL);
    uint32_t load = kernel_load(k, in, kaffine_var(k, i), 0, NULL, (union scalar){0});

    kernel_store(k, out, kaffine_var(k, i), kernel_op1(k, K_NEG, load), 0, NULL);
    assert_true(kernel_finish(k));
    k->scratch_bytes = scratch;
    return k;
}

static void negate(const struct kernel_args *args, int64_t begin, int64_t end)
{
    const float *in = args->tensors[0];
    float *out = args->tensors[1];
    int64_t n = args->params[0], last = end * KERNEL_BLOCK < n ? end * KERNEL_BLOCK : n;

    for (int64_t i = begin * KERNEL_BLOCK; i < last; i++)
        out[i] = -in[i];
}

static void add_one(const struct kernel_args *args, int64_t begin, int64_t end)
{
    const float *in = args->tensors[0];
    float *out = args->tensors[1];
    int64_t n = args->params[0], last = end * KERNEL_BLOCK < n ? end * KERNEL_BLOCK : n;

    for (int64_t i = begin * KERNEL_BLOCK; i < last; i++)
        out[i] = in[i] + 1;
}

static const struct debug_options no_debug;

static struct plan *make(struct program *p, const kernel_function *functions, uint32_t threads)
{
    struct error e = {0};
    struct plan *plan = plan_create(p, functions, threads, &no_debug, &e);

    assert_non_null(plan);
    program_free(p); /* nothing of it is needed any more */
    return plan;
}

static bool run(struct plan *plan, const float *in, float *out)
{
    struct error e = {0};
    struct engine_binding input = {NULL, (void *)in}, output = {NULL, out};

    return plan_run(plan, &input, &output, NULL, &e);
}

/* input -> -x (arena at 64) -> x + 1 (in place) -> copy to the output, plus a constant copied behind it. */
static struct plan *chain(int64_t n, uint32_t threads)
{
    int64_t bytes = n * 4;
    struct program p = new_program(4, 1, 64 + bytes);
    const struct place input = AT(PLACE_INPUT, 0, 0, bytes), arena = AT(PLACE_ARENA, 0, 64, bytes),
                       output = AT(PLACE_OUTPUT, 0, 0, bytes);
    const kernel_function functions[] = {negate, add_one};

    p.constants[p.constant_count++] = constant_create((float[]){7, 8}, 8);
    add(&p, STEP_KERNEL, 2, (struct place[]){input, arena})->kernel = elementwise(n, 0);
    add(&p, STEP_KERNEL, 2, (struct place[]){arena, arena})->kernel = elementwise(n, 0);
    add(&p, STEP_COPY, 2, (struct place[]){arena, output});
    add(&p, STEP_COPY, 2, (struct place[]){AT(PLACE_CONSTANT, 0, 4, 4), AT(PLACE_OUTPUT, 0, bytes, 4)});
    return make(&p, functions, threads);
}

static void check_chain(struct plan *plan, int64_t n, float first)
{
    float *in = calloc((size_t)n, 4), *out = calloc((size_t)(n + 1), 4);

    for (int64_t i = 0; i < n; i++)
        in[i] = first + (float)(i % 1000);
    assert_true(run(plan, in, out));
    for (int64_t i = 0; i < n; i++)
        assert_true(in[i] == first + (float)(i % 1000) && out[i] == 1 - in[i]);
    assert_true(out[n] == 8);
    free(in);
    free(out);
}

static void steps_in_order(void **state)
{
    (void)state;
    const int64_t sizes[] = {2, 5, KERNEL_BLOCK, KERNEL_BLOCK + 1, 300000};

    for (int i = 0; i < 5; i++)
        for (uint32_t threads = 1; threads <= 4; threads++) {
            struct plan *plan = chain(sizes[i], threads);
            check_chain(plan, sizes[i], 3);
            check_chain(plan, sizes[i], -5); /* the same execution again */
            plan_free(plan);
        }
}

/* Buffers of the engine's are bound like host memory. */
static void buffers(void **state)
{
    (void)state;
    struct plan *plan = chain(4, 1);
    float in[4] = {1, 2, 3, 4}, out[5];
    struct engine_buffer input = {16, in}, output = {20, out};
    struct error e = {0};

    assert_true(plan_run(plan, &(struct engine_binding){&input, NULL}, &(struct engine_binding){&output, NULL}, NULL, &e));
    assert_true(out[2] == -2);
    plan_free(plan);
}

/* ---- splitting ---- */

static void parts(void **state)
{
    (void)state;
    assert_int_equal(plan_kernel_parts(1e3, 1e3, 100, 8), 1); /* not worth waking anyone */
    assert_int_equal(plan_kernel_parts(1e9, 1e3, 100, 8), 8); /* worth everyone */
    assert_int_equal(plan_kernel_parts(1e3, 1e9, 100, 8), 8);
    assert_int_equal(plan_kernel_parts(1e9, 1e9, 3, 8), 3); /* not more than there are units */
    assert_int_equal(plan_kernel_parts(1e9, 1e9, 1, 8), 1);
    assert_int_equal(plan_kernel_parts(1e9, 1e9, 100, 1), 1);
    uint32_t some = plan_kernel_parts(8e3 * 60, 0, 1000, 64); /* 60 us: a few */
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

static void units_are_split(void **state)
{
    (void)state;
    enum { N = 37 * KERNEL_BLOCK + 11 };
    struct program p = new_program(1, 0, 0);
    const kernel_function functions[] = {split_kernel};
    struct kernel *k = elementwise(N, 1000);

    k->flops = 1e9;
    add(&p, STEP_KERNEL, 2, (struct place[]){AT(PLACE_INPUT, 0, 0, N * 4), AT(PLACE_OUTPUT, 0, 0, N * 4)})->kernel = k;
    struct plan *plan = make(&p, functions, 3);
    float *in = malloc(N * 4), *out = calloc(N, 4);
    for (int i = 0; i < N; i++)
        in[i] = (float)i;
    assert_true(run(plan, in, out));
    assert_int_equal(split_calls, 3);
    assert_int_equal(split_units, 38);
    for (int i = 0; i < N; i++)
        assert_true(out[i] == -(float)i);
    free(in);
    free(out);
    plan_free(plan);
}

/* ---- concurrency ---- */

static void *compute_many(void *data)
{
    for (int i = 0; i < 200; i++)
        check_chain(data, 2000, (float)i);
    return NULL;
}

static void concurrent_runs(void **state)
{
    (void)state;
    struct plan *plan = chain(2000, 1);
    pthread_t threads[8]; /* more than executions that are kept */

    for (int i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, compute_many, plan), 0);
    for (int i = 0; i < 8; i++)
        pthread_join(threads[i], NULL);
    plan_free(plan);
}

static atomic_bool stop_flag;

static void stop_kernel(const struct kernel_args *args, int64_t begin, int64_t end)
{
    atomic_store(&stop_flag, true);
    negate(args, begin, end);
}

static void stops_between_steps(void **state)
{
    (void)state;
    struct program p = new_program(2, 0, 0);
    const struct place input = AT(PLACE_INPUT, 0, 0, 16), output = AT(PLACE_OUTPUT, 0, 0, 16);
    const kernel_function functions[] = {stop_kernel, add_one};
    float in[4] = {1, 2, 3, 4}, out[4] = {0};
    struct error e = {0};

    add(&p, STEP_KERNEL, 2, (struct place[]){input, output})->kernel = elementwise(4, 0);
    add(&p, STEP_KERNEL, 2, (struct place[]){output, output})->kernel = elementwise(4, 0);
    struct plan *plan = make(&p, functions, 1);
    assert_false(plan_run(plan, &(struct engine_binding){NULL, in}, &(struct engine_binding){NULL, out}, &stop_flag, &e));
    assert_int_equal(e.status, WNNStatus_InvalidStateError);
    assert_true(out[1] == -2);
    plan_free(plan);
}

/* ---- checking ---- */

#if defined(WEBNN_SANITIZE)

/* Writes one element too many: past its own value, but still inside the arena. */
static void write_beyond(const struct kernel_args *args, int64_t begin, int64_t end)
{
    negate(args, begin, end);
    ((float *)args->tensors[1])[args->params[0]] = 0;
}

static void gaps_are_poisoned(void **state)
{
    (void)state;
    struct program p = new_program(2, 0, 4096);
    const struct place input = AT(PLACE_INPUT, 0, 0, 24), arena = AT(PLACE_ARENA, 0, 64, 24),
                       output = AT(PLACE_OUTPUT, 0, 0, 24);
    const kernel_function functions[] = {write_beyond, negate};
    float in[6] = {0}, out[6];
    int status;

    add(&p, STEP_KERNEL, 2, (struct place[]){input, arena})->kernel = elementwise(6, 0);
    add(&p, STEP_KERNEL, 2, (struct place[]){arena, output})->kernel = elementwise(6, 0);
    struct plan *plan = make(&p, functions, 1);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) /* the report that is wanted */
            _exit(0);
        run(plan, in, out);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_false(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    plan_free(plan);
}

#else

static void gaps_are_poisoned(void **state)
{
    (void)state;
    skip(); /* only sanitizer builds do */
}

#endif

/* ---- printing ---- */

static void printing(void **state)
{
    (void)state;
    struct program p = new_program(2, 1, 128);
    char text[1000] = {0};
    FILE *f = fmemopen(text, sizeof text - 1, "w");

    p.constants[p.constant_count++] = constant_create(NULL, 12);
    add(&p, STEP_KERNEL, 2, (struct place[]){AT(PLACE_INPUT, 1, 0, 16), AT(PLACE_ARENA, 0, 64, 16)})->kernel =
        elementwise(4, 0);
    add(&p, STEP_COPY, 2, (struct place[]){AT(PLACE_CONSTANT, 0, 4, 8), AT(PLACE_OUTPUT, 0, 8, 8)});
    program_print(&p, f);
    fclose(f);
    assert_string_equal(text, "plan: 2 steps, arena 128 bytes (lower bound 128), 1 constants with 12 bytes\n"
                              "    0 kernel step0: input1+0:16 -> arena+64:16\n"
                              "    1 copy step1: constant0+4:8 -> output0+8:8\n");

    const struct debug_options profile = {.flags = DEBUG_PROFILE};
    struct error e = {0};
    float in[4] = {0}, out[4];
    p.steps[0].places[0].slot = 0;
    p.steps[1].places[0].bytes = 8;
    struct plan *plan = plan_create(&p, (const kernel_function[]){negate}, 1, &profile, &e);
    assert_non_null(plan);
    program_free(&p);
    assert_true(run(plan, in, out));
    f = fmemopen(text, sizeof text - 1, "w");
    plan_print_profile(plan, f);
    fclose(f);
    assert_non_null(strstr(text, "1 runs, 2 steps"));
    assert_non_null(strstr(text, "step0"));
    assert_non_null(strstr(text, "memcpy"));
    plan_free(plan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_in_order),    cmocka_unit_test(buffers),         cmocka_unit_test(parts),
        cmocka_unit_test(units_are_split),   cmocka_unit_test(concurrent_runs), cmocka_unit_test(stops_between_steps),
        cmocka_unit_test(gaps_are_poisoned), cmocka_unit_test(printing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
