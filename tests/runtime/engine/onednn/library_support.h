/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * What the test_library_*.c programs share: graphs of one library cluster with random operands, run by the library and compared
 * with the reference interpreter within the interpreter's own error bounds.
 *
 * Every program runs three times: as the machine is, and, in processes of their own since the cap is one per process, capped to
 * AVX2 and to the baseline (main_library).
 */
#pragma once

#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/interpret/interpret.h"
#include "ir/graph/ir.h"
#include "ir/text/text.h"
#include "runtime/engine/onednn/cpu/library_cpu.h"
#include "runtime/engine/onednn/onednn.h"
#include "runtime/host/threads.h"
#include "support/processor.h"
#include "support/random.h"
#include "support/test.h"

enum { TEST_THREADS = 2, NODES_MAX = 32, VALUES_MAX = 64, GUARD = 16 };

static struct library *library;

/** low..high, both included. */
static inline uint32_t random_between(uint32_t low, uint32_t high)
{
    return low + random_below(high - low + 1);
}

static inline bool random_chance(uint32_t percent)
{
    return random_below(100) < percent;
}

/* ---- graphs of one cluster ---- */

struct subject {
    struct graph *g;
    float *data[VALUES_MAX]; /* of inputs, by value index; offset into blocks so that some are barely aligned */
    void *blocks[VALUES_MAX];
    uint32_t count;
    struct node *nodes[NODES_MAX];
    bool to_be_stored; /* subject_end runs it once more: check_stored */
};

static inline struct subject subject_begin(void)
{
    const struct subject s = {.g = graph_create()};

    assert_non_null(s.g);
    return s;
}

static inline void check_stored(struct subject *s);

static inline void subject_end(struct subject *s)
{
    if (s->to_be_stored)
        check_stored(s);
    for (uint32_t i = 0; i < VALUES_MAX; i++)
        free(s->blocks[i]);
    graph_free(s->g);
}

static inline void fail_with_graph(struct subject *s, const char *what)
{
    fprintf(stderr, "%s\n", what);
    graph_print(s->g, stderr, &(struct print_options){0});
    fail();
}

static inline void *aligned_block(int64_t bytes)
{
    void *p = aligned_alloc(64, (size_t)(bytes / 64 + 1) * 64);

    assert_non_null(p);
    return p;
}

/** Returns an operand, an input of the graph or a constant, whose memory is *data; float32 of an input is aligned as floats
 * only. */
static inline struct value *operand_of(struct subject *s, bool constant, dtype type, uint32_t rank, const uint32_t *dims,
                                       void **data)
{
    struct tensor_type t = {.type = type, .rank = rank};
    struct value *v;

    if (rank)
        memcpy(t.dims, dims, rank * sizeof *dims);
    if (constant) {
        struct constant *c = constant_create(NULL, (size_t)type_bytes(&t));

        assert_non_null(c);
        *data = (void *)c->data;
        v = graph_add_constant(s->g, &t, c);
    } else {
        char name[16];
        int length = snprintf(name, sizeof name, "i%u", s->g->value_count);
        char *block = aligned_block(type_bytes(&t) + 64);

        v = graph_add_input(s->g, name, (size_t)length, &t);
        *data = block + (type == WNNOperandDataType_Float32 ? random_between(0, 3) * sizeof(float) : 0);
        assert_true(v && v->index < VALUES_MAX);
        s->blocks[v->index] = block;
        s->data[v->index] = *data;
    }
    assert_non_null(v);
    return v;
}

/** Returns one of float32, filled with numbers between -1 and 1. */
static inline struct value *operand_dims(struct subject *s, bool constant, uint32_t rank, const uint32_t *dims)
{
    void *data;
    struct value *v = operand_of(s, constant, WNNOperandDataType_Float32, rank, dims, &data);

    for (int64_t i = 0; i < type_elements(&v->type); i++)
        ((float *)data)[i] = (float)(int32_t)random_bits() / 2147483648.0f;
    return v;
}

#define OPERAND(s, constant, ...)                                                                                              \
    operand_dims(s, constant, sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (uint32_t[]){__VA_ARGS__})

/** Appends a node to the cluster; absent operands NULL. */
static inline struct value *apply(struct subject *s, enum op op, const void *options, struct value *a, struct value *b,
                                  struct value *c)
{
    struct value *inputs[] = {a, b, c};
    struct error e = {0};
    struct node *n = node_create(s->g, NULL, op, "", op_input_slots(op), inputs, options, NULL, &e);

    if (!n)
        fail_with_graph(s, e.message);
    assert_true(s->count < NODES_MAX);
    s->nodes[s->count++] = n;
    return n->results[0];
}

/** Returns whether the library takes the cluster, asked as passes do. */
static inline bool subject_taken(struct subject *s)
{
    uint32_t anchor = 0;

    while (s->nodes[anchor]->op == OP_TRANSPOSE)
        anchor++;
    if (!library_takes_node(library, s->nodes[anchor]))
        return false;
    for (uint32_t i = 0; i < anchor; i++) {
        uint32_t slot = 0;

        while (s->nodes[anchor]->inputs[slot].value != s->nodes[i]->results[0])
            slot++;
        if (!library_takes_operand(library, s->nodes[anchor], slot, s->nodes + i, 1))
            return false;
    }
    for (uint32_t i = anchor + 1; i < s->count; i++) {
        const struct node *n = s->nodes[i];

        if (!library_takes_epilogue(library, s->nodes, i, n, n->inputs[0].value != s->nodes[i - 1]->results[0]))
            return false;
    }
    return true;
}

static inline bool shares_this(void *user, const struct value *v)
{
    return v == user;
}

/** One run of a step. */
struct test_run {
    struct library_bindings *bindings;
    void *scratch;
    float *output;
    int64_t elements;
    bool low_precision; /* the output is bfloat16, until assert_as_expected widens it */
    const void *inputs[16];
};

/** Bfloat16 numbers at the beginning of an array of as many float32 ones as these. */
static inline void widen_numbers(float *x, int64_t count)
{
    for (int64_t i = count; i-- > 0;)
        x[i] = bf16_to_f32(((uint16_t *)x)[i]);
}

static inline void step_run_begin(struct subject *s, const struct library_step *step, struct test_run *x)
{
    struct library_step_info info;

    library_step_info(step, &info);
    assert_true(info.input_count <= 16);
    x->elements = type_elements(&info.output->type);
    x->low_precision = info.output->type.type == DTYPE_BFLOAT16;
    x->bindings = library_bindings_create(step, &(struct error){0});
    x->scratch = aligned_block(info.scratch_bytes);
    x->output = aligned_block((x->elements + GUARD) * (int64_t)sizeof(float));
    assert_non_null(x->bindings);
    for (int64_t i = 0; i < x->elements + GUARD; i++)
        x->output[i] = i < x->elements ? NAN : 12345.0f;
    memset(x->scratch, 0xFF, (size_t)info.scratch_bytes); /* NaN: nothing may be read before it is written */
    for (uint32_t i = 0; i < info.input_count; i++) {
        x->inputs[i] = s->data[info.inputs[i]->index];
        assert_non_null(x->inputs[i]);
        if ((int32_t)i == info.in_place) {
            memcpy(x->output, x->inputs[i], (size_t)x->elements * sizeof(float));
            x->inputs[i] = x->output;
        }
    }
}

static inline void step_run_end(struct test_run *x)
{
    library_bindings_free(x->bindings);
    free(x->scratch);
    free(x->output);
}

static inline bool guard_intact(const struct test_run *x)
{
    for (int64_t i = x->elements; i < x->elements + GUARD; i++)
        if (x->output[i] != 12345.0f)
            return false;
    for (int64_t i = (x->elements + 1) / 2; x->low_precision && i < x->elements; i++)
        if (!isnan(x->output[i]))
            return false;
    return true;
}

/** What the interpreter says. */
struct expectation {
    float *values;
    double *bounds;
};

static inline struct expectation subject_expect(struct subject *s)
{
    struct value *out = s->nodes[s->count - 1]->results[0];
    int64_t n = type_elements(&out->type);
    struct expectation x = {malloc((size_t)n * sizeof(float)), malloc((size_t)n * sizeof(double))};
    const void **inputs = calloc(s->g->input_count + 1, sizeof *inputs);
    struct error e = {0};

    assert_true(x.values && x.bounds && inputs);
    if (!s->g->output_count)
        assert_true(graph_add_output(s->g, "out", 3, out));
    else if (s->g->outputs[0].value != out) { /* a node was added since */
        s->g->outputs[0].value->output_uses--;
        s->g->outputs[0].value = out;
        out->output_uses++;
    }
    for (uint32_t i = 0; i < s->g->input_count; i++)
        inputs[i] = s->data[s->g->inputs[i]->index];
    if (!graph_interpret_bounds(s->g, inputs, (void *[]){x.values}, (double *[]){x.bounds}, &e))
        fail_with_graph(s, e.message);
    if (out->type.type == DTYPE_BFLOAT16)
        widen_numbers(x.values, n);
    free(inputs);
    return x;
}

static inline void expectation_free(struct expectation *x)
{
    free(x->values);
    free(x->bounds);
}

static inline void assert_as_expected(struct subject *s, const struct expectation *want, struct test_run *x,
                                      const char *implementation)
{
    char text[256];

    if (!guard_intact(x))
        fail_with_graph(s, "wrote beyond its output");
    if (x->low_precision)
        widen_numbers(x->output, x->elements);
    for (int64_t i = 0; i < x->elements; i++) {
        float w = want->values[i], got = x->output[i];

        bool same = w == got && !signbit(w) == !signbit(got);
        if ((isnan(w) && isnan(got)) || same || (want->bounds[i] > 0 && fabs((double)w - got) <= want->bounds[i]))
            continue;
        snprintf(text, sizeof text, "element %lld is %.9g, not %.9g within %g (%s)", (long long)i, got, w, want->bounds[i],
                 implementation);
        fail_with_graph(s, text);
    }
}

/* ---- bfloat16 ---- */

/** The precision that the library of this process was told, by TEST_LIBRARY_PRECISION. */
static WNNPrecision test_precision;
static uint32_t low_precision_runs;

static inline float round_to_bits(float x, int dropped)
{
    uint32_t bits, half = 1u << (dropped - 1);

    memcpy(&bits, &x, sizeof bits);
    if (!isfinite(x))
        return x;
    bits += half - 1 + (bits >> dropped & 1);
    bits &= ~(2 * half - 1);
    memcpy(&x, &bits, sizeof x);
    return x;
}

/** Operand `slot` of the anchor, before the transposes that it is read through. */
static inline struct value *anchor_value(struct subject *s, uint32_t slot)
{
    uint32_t anchor = 0;

    while (s->nodes[anchor]->op == OP_TRANSPOSE || s->nodes[anchor]->op == OP_CAST)
        anchor++;
    struct value *v = s->nodes[anchor]->inputs[slot].value;
    while (v->producer)
        v = v->producer->inputs[0].value;
    return v;
}

static inline float *anchor_operand(struct subject *s, uint32_t slot, int64_t *count)
{
    const struct value *v = anchor_value(s, slot);

    *count = type_elements(&v->type);
    return v->constant ? (float *)v->constant->data : s->data[v->index];
}

static inline void round_operand(struct subject *s, uint32_t slot, int dropped)
{
    int64_t count;
    float *data = anchor_operand(s, slot, &count);

    if (anchor_value(s, slot)->type.type == DTYPE_BFLOAT16)
        return;
    for (int64_t i = 0; i < count; i++)
        data[i] = round_to_bits(data[i], dropped);
}

/** Returns what the interpreter says of the cluster if the operands of its contraction are rounded to bfloat16. */
static inline struct expectation expect_rounded(struct subject *s)
{
    float *was[2];
    int64_t count;

    for (uint32_t slot = 0; slot < 2; slot++) {
        float *data = anchor_operand(s, slot, &count);

        count = type_bytes(&anchor_value(s, slot)->type);
        was[slot] = malloc((size_t)count);
        assert_non_null(was[slot]);
        memcpy(was[slot], data, (size_t)count);
    }
    for (uint32_t slot = 0; slot < 2; slot++)
        round_operand(s, slot, 16);
    struct expectation x = subject_expect(s);
    for (uint32_t slot = 2; slot-- > 0;) {
        float *data = anchor_operand(s, slot, &count);

        memcpy(data, was[slot], (size_t)type_bytes(&anchor_value(s, slot)->type));
        free(was[slot]);
    }
    return x;
}

/**
 * Returns what a step of that precision is to give.  Of two bfloat16 numbers: one operand has no more bits than these hold, the
 * other as many as one holds, so that the only difference is that the sum has three times as many terms.
 */
static inline struct expectation expect_of(struct subject *s, const struct library_step_info *info)
{
    struct expectation x = info->precision == WNNPrecision_Bf16 ? expect_rounded(s) : subject_expect(s);

    low_precision_runs += info->precision != WNNPrecision_Float32;
    for (int64_t i = 0; info->precision == WNNPrecision_Bf16x2 && i < type_elements(&info->output->type); i++)
        x.bounds[i] *= 3;
    return x;
}

/** Runs the cluster, with `shared` (may be NULL) lying in the output's memory, and compares. */
static inline void subject_run(struct subject *s, const struct value *shared)
{
    struct error e = {0};
    struct library_step_info info;
    struct test_run x;

    for (uint32_t slot = 0; test_precision != WNNPrecision_Float32 && slot < 2; slot++)
        if (test_precision == WNNPrecision_Bf16x2)
            round_operand(s, slot, slot == s->g->value_count % 2 ? 8 : 16);
        else if (value_use_count(anchor_value(s, slot)) > 1)
            round_operand(s, slot, 16); /* what else reads it is not rounded */
    struct library_step *step = library_step_create(library, s->nodes, s->count, shares_this, (void *)shared, &e);
    if (!step)
        fail_with_graph(s, e.message);
    library_step_info(step, &info);
    struct expectation want = expect_of(s, &info);
    assert_null(strstr(info.implementation, "ref"));
    assert_true(info.flops > 0 && info.bytes > 0);
    assert_ptr_equal(info.output, s->nodes[s->count - 1]->results[0]);
    if (shared)
        assert_ptr_equal(info.inputs[info.in_place], shared);
    else
        assert_int_equal(info.in_place, -1);
    step_run_begin(s, step, &x);
    threads_leave(threads_enter(1, NULL)); /* settings of the caller do not matter */
    struct threads_saved saved = threads_enter(TEST_THREADS, NULL);
    for (int i = 0; i < (shared ? 1 : 2); i++)
        assert_true(library_step_run(step, x.bindings, x.inputs, x.output, x.scratch));
    threads_leave(saved);
    assert_as_expected(s, &want, &x, info.implementation);
    step_run_end(&x);
    expectation_free(&want);
    library_step_free(step);
}

/** Lets an operand of the contraction, if it is an input of the graph, lie in memory as bfloat16. */
static inline bool store_operand(struct subject *s, uint32_t slot)
{
    struct value *v = anchor_value(s, slot), *stored, *inputs[1];
    struct tensor_type t = v->type;
    union op_args args = {.cast = {WNNOperandDataType_Float32}};
    char name[16];
    int length = snprintf(name, sizeof name, "s%u", s->g->value_count);

    if (v->kind == VALUE_CONSTANT || t.type != WNNOperandDataType_Float32 || value_use_count(v) != 1 || s->count == NODES_MAX)
        return false;
    t.type = DTYPE_BFLOAT16;
    stored = inputs[0] = graph_add_input(s->g, name, (size_t)length, &t);
    assert_true(stored && stored->index < VALUES_MAX);
    uint16_t *data = s->blocks[stored->index] = malloc((size_t)type_bytes(&t) + 1);
    assert_non_null(data);
    for (int64_t i = 0; i < type_elements(&t); i++)
        data[i] = f64_to_bf16((double)s->data[v->index][i]);
    s->data[stored->index] = (float *)data;
    struct node *n = node_create(s->g, s->g->first, OP_CAST, "", 1, inputs, NULL, &args, &(struct error){0});
    assert_non_null(n);
    value_replace_uses(v, n->results[0]);
    memmove(s->nodes + 1, s->nodes, s->count++ * sizeof *s->nodes);
    s->nodes[0] = n;
    return true;
}

/** Appends the cast that lets the result lie in memory as bfloat16. */
static inline void store_result(struct subject *s)
{
    union op_args args = {.cast = {DTYPE_BFLOAT16}};
    struct node *n = node_create(s->g, NULL, OP_CAST, "", 1, s->nodes[s->count - 1]->results, NULL, &args, &(struct error){0});

    assert_true(n && s->count < NODES_MAX);
    s->nodes[s->count++] = n;
}

static uint32_t stored_runs, stored_results;

/** The cluster again with what may be in memory as bfloat16, which changes the graph. */
static inline void check_stored(struct subject *s)
{
    struct dnn_cluster c;
    uint32_t stored = store_operand(s, 0);

    stored += store_operand(s, 1);
    if (!dnn_describe(&library->machine, s->nodes, s->count, NULL, &c) || !dnn_resolve(library, &c))
        return; /* another shape of problem, which it need not take */
    if (stored)
        assert_int_equal(c.problem.parts, 1);
    subject_run(s, NULL);
    stored_runs += stored;
    store_result(s);
    if (!dnn_describe(&library->machine, s->nodes, s->count, NULL, &c) || !dnn_resolve(library, &c))
        return;
    subject_run(s, NULL);
    stored_results++;
}

/** Asks, runs in every way that sharing allows, compares.  False: the library does not take it. */
static inline bool subject_check(struct subject *s)
{
    if (!subject_taken(s))
        return false;
    subject_run(s, NULL);
    for (uint32_t i = 0; i < s->g->input_count; i++)
        if (library_may_share(library, s->nodes, s->count, s->g->inputs[i]))
            subject_run(s, s->g->inputs[i]);
    s->to_be_stored = test_precision == WNNPrecision_Bf16 && library_bfloat16_rate(library) > 0;
    return true;
}

/* ---- programs ---- */

/** "native", "avx2" or "baseline". */
static inline const char *test_isa(void)
{
    const char *isa = getenv("TEST_LIBRARY_ISA");

    return isa ? isa : "native";
}

/** Returns whether the library has instructions of AVX-512: the processor has, and no cap takes them away. */
static inline bool has_avx512(void)
{
    return !strcmp(test_isa(), "native") && processor_supports("avx512bw");
}

/** Returns whether convolutions add residuals at the end, so that these can lie in the output's memory: AVX-512 only. */
static inline bool convolutions_sum_in_place(void)
{
    return has_avx512();
}

/** Runs this program again; false: it failed. */
static inline bool run_again(char **argv, const char *name, const char *value)
{
    int status = 1;

    setenv("TEST_LIBRARY_ISA", "native", 1);
    setenv(name, value, 1);
    pid_t child = fork();
    if (!child) {
        execv("/proc/self/exe", argv);
        _exit(127);
    }
    return child >= 0 && waitpid(child, &status, 0) == child && !status;
}

/** More multiply-adds of bfloat16 than this, for one of float32, only tiles do. */
enum { RATE_WITHOUT_TILES = 2 };

static inline bool has_bfloat16(void)
{
    return !strcmp(test_isa(), "native") && processor_supports("avx512bf16");
}

/** Runs the tests at the machine's own instruction set, then this program again under each cap. */
static inline int main_library(char **argv)
{
    static const char *const caps[] = {"avx2", "baseline"};
    const char *precision = getenv("TEST_LIBRARY_PRECISION");
    struct error e = {0};

    if (!library_has_code()) {
        puts("skipped: the library has portable code only for this processor");
        return 77;
    }
    library = library_create(test_isa(), TEST_THREADS, NULL, &e);
    if (!library) {
        fprintf(stderr, "%s\n", e.message);
        return 1;
    }
    if (precision)
        test_precision = !strcmp(precision, "bf16") ? WNNPrecision_Bf16 : WNNPrecision_Bf16x2;
    library_allow(library, test_precision, true);
    int failed = tests_run_as(precision ? precision : test_isa());
    /* With tiles that are emulated, all of this must have been a test of them. */
    if (getenv("AMX_EMULATOR_REQUIRED") && !strcmp(test_isa(), "native") && library->bfloat16 <= RATE_WITHOUT_TILES) {
        fprintf(stderr, "no tiles are emulated\n");
        failed++;
    }
    library_free(library);
    if (getenv("TEST_LIBRARY_ISA"))
        return failed;
    for (size_t i = 0; i < sizeof caps / sizeof *caps; i++)
        failed += !run_again(argv, "TEST_LIBRARY_ISA", caps[i]);
    return failed;
}

/** And then in bfloat16, of one and of two numbers. */
static inline int main_precisions(char **argv)
{
    static const char *const precisions[] = {"bf16", "bf16x2"};
    bool inner = getenv("TEST_LIBRARY_ISA") != NULL;
    int failed = main_library(argv);

    unsetenv("TEST_LIBRARY_ISA");
    if (!inner && !has_bfloat16())
        printf("skipped: this processor has no contractions of bfloat16\n");
    for (size_t i = 0; !inner && has_bfloat16() && i < sizeof precisions / sizeof *precisions; i++) {
        failed += !run_again(argv, "TEST_LIBRARY_PRECISION", precisions[i]);
        unsetenv("TEST_LIBRARY_ISA");
    }
    if (test_precision != WNNPrecision_Float32)
        printf("%u runs were of bfloat16, %u with operands and %u with results stored so\n", low_precision_runs, stored_runs,
               stored_results);
    failed += test_precision == WNNPrecision_Bf16 && (!stored_runs || !stored_results);
    return failed + (test_precision != WNNPrecision_Float32 && !low_precision_runs);
}
