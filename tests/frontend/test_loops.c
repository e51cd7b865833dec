/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Loops of the builder.  Random bodies are built as a loop and unrolled.  The interpreter must make the same of both, bounds
 * included, and what is compiled must lie within them.
 */
#include <math.h>

#include "frontend/builder/builder.h"
#include "ir/interpret/interpret.h"
#include "support/context.h"
#include "support/help.h"

enum { VALUES_MAX = 24, LISTS_MAX = 3, ROWS = 3, COLUMNS = 5, SLICE = ROWS * COLUMNS, ITERATIONS_MAX = 7 };

static uint32_t seed, cases = 60;

static uint32_t pick(uint32_t below)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % below;
}

static float noise(void)
{
    return (float)pick(1 << 16) / (1 << 15) - 1;
}

static WNNStringView view(const char *text)
{
    return (WNNStringView){text, strlen(text)};
}

static WNNGraphBuilder new_builder(void)
{
    WNNGraphBuilder b;

    assert_int_equal(wnnContextCreateGraphBuilder(context, &b), WNNStatus_Success);
    return b;
}

static WNNOperand input(WNNGraphBuilder b, const char *name, size_t rank, const uint32_t *shape)
{
    const WNNOperandDescriptor d = {WNNOperandDataType_Float32, rank, shape, NULL};

    return wnnGraphBuilderInput(b, view(name), &d);
}

/* ---- random bodies ---- */

struct form {
    uint32_t iterations, carried, scanned, stacked, seed;
    uint32_t in_axes[LISTS_MAX], out_axes[LISTS_MAX];
    bool in_backward[LISTS_MAX], out_backward[LISTS_MAX];
};

/** Returns one of the operands made so far, or what two of them make. */
static WNNOperand grow(WNNGraphBuilder b, WNNOperand *values, uint32_t count)
{
    static const uint32_t swapped[2] = {COLUMNS, ROWS}, square[2] = {COLUMNS, COLUMNS}, slice[2] = {ROWS, COLUMNS};
    WNNOperand x = values[pick(count)], y = values[pick(count)], z;
    float data[COLUMNS * COLUMNS];

    switch (pick(9)) {
    case 0:
        return wnnGraphBuilderAdd(b, x, y, NULL);
    case 1:
        return wnnGraphBuilderMul(b, wnnGraphBuilderTanh(b, x, NULL), y, NULL);
    case 2:
        return wnnGraphBuilderSub(b, x, wnnGraphBuilderSigmoid(b, y, NULL), NULL);
    case 3:
        return wnnGraphBuilderSoftmax(b, x, pick(2), NULL);
    case 4:
        for (int i = 0; i < COLUMNS * COLUMNS; i++)
            data[i] = noise() / 2;
        z = wnnGraphBuilderConstant(b, &(WNNOperandDescriptor){WNNOperandDataType_Float32, 2, square, NULL}, data, sizeof data);
        return wnnGraphBuilderMatmul(b, x, z, NULL);
    case 5:
        z = wnnGraphBuilderReshape(b, wnnGraphBuilderTranspose(b, x, NULL), 2, slice, NULL);
        return wnnGraphBuilderMax(b, z, y, NULL);
    case 6:
        z = wnnGraphBuilderReshape(b, x, 2, swapped, NULL);
        return wnnGraphBuilderReshape(b, wnnGraphBuilderRelu(b, z, NULL), 2, slice, NULL);
    case 7:
        z = wnnGraphBuilderArgMax(b, y, 1, &(WNNArgMinMaxOptions){.keepDimensions = true});
        return wnnGraphBuilderScatterElements(
            b, x, z,
            wnnGraphBuilderReduceMax(b, y,
                                     &(WNNReduceOptions){.keepDimensions = true, .axesCount = 1, .axes = (uint32_t[]){1}}),
            &(WNNScatterOptions){.axis = 1});
    default:
        return wnnGraphBuilderMin(b, x, wnnGraphBuilderReduceMean(b, y, &(WNNReduceOptions){.keepDimensions = true}), NULL);
    }
}

/** Makes what an iteration makes of parameters and of an invariant: always the same for one seed. */
static void iteration(WNNGraphBuilder b, const struct form *f, WNNOperand invariant, const WNNOperand *parameters,
                      WNNOperand *next, WNNOperand *slices)
{
    WNNOperand values[VALUES_MAX] = {wnnGraphBuilderTanh(b, invariant, NULL)};
    uint32_t count = 1, more;

    seed = f->seed;
    for (uint32_t i = 0; i < f->carried + f->scanned; i++)
        values[count++] = parameters[i];
    more = count + 2 + pick(8);
    for (; count < more; count++)
        values[count] = grow(b, values, count);
    for (uint32_t i = 0; i < f->carried; i++)
        next[i] = values[pick(4) ? count - 1 - i : pick(count)];
    for (uint32_t i = 0; i < f->stacked; i++)
        slices[i] = values[pick(count)];
}

static void random_form(struct form *f, uint32_t i)
{
    seed = i * 7919 + 1;
    *f = (struct form){.iterations = 1 + pick(ITERATIONS_MAX), .carried = pick(LISTS_MAX + 1), .scanned = pick(LISTS_MAX + 1)};
    f->carried += f->carried + f->scanned == 0;
    f->stacked = pick(LISTS_MAX + 1);
    f->stacked += f->carried + f->stacked == 0;
    for (uint32_t k = 0; k < LISTS_MAX; k++) {
        f->in_axes[k] = pick(3);
        f->out_axes[k] = pick(3);
        f->in_backward[k] = pick(2);
        f->out_backward[k] = pick(2);
    }
    f->seed = seed;
}

/** Fills in the shape of slices concatenated along an axis. */
static void stacked_shape(uint32_t iterations, uint32_t axis, uint32_t shape[3])
{
    static const uint32_t slice[2] = {ROWS, COLUMNS};

    for (uint32_t d = 0, k = 0; d < 3; d++)
        shape[d] = d == axis ? iterations : slice[k++];
}

struct operands {
    WNNOperand invariant, carried[LISTS_MAX], scanned[LISTS_MAX];
};

static void make_inputs(WNNGraphBuilder b, const struct form *f, struct operands *o)
{
    static const uint32_t slice[2] = {ROWS, COLUMNS};
    char name[16];

    o->invariant = input(b, "invariant", 2, slice);
    for (uint32_t i = 0; i < f->carried; i++) {
        snprintf(name, sizeof name, "c%u", i);
        o->carried[i] = input(b, name, 2, slice);
    }
    for (uint32_t i = 0; i < f->scanned; i++) {
        uint32_t shape[3];
        stacked_shape(f->iterations, f->in_axes[i], shape);
        snprintf(name, sizeof name, "s%u", i);
        o->scanned[i] = input(b, name, 3, shape);
    }
}

/** Makes the loop.  Returns the number of outputs. */
static uint32_t as_loop(WNNGraphBuilder b, const struct form *f, WNNOperand *outputs)
{
    WNNOperand parameters[2 * LISTS_MAX], next[LISTS_MAX], slices[LISTS_MAX];
    WNNLoopSlices scanned[LISTS_MAX], stacked[LISTS_MAX];
    struct operands o;

    make_inputs(b, f, &o);
    for (uint32_t i = 0; i < f->scanned; i++)
        scanned[i] = (WNNLoopSlices){o.scanned[i], f->in_axes[i], f->in_backward[i]};
    assert_success(wnnGraphBuilderBeginLoop(b, f->iterations, f->carried, o.carried, f->scanned, scanned, parameters));
    iteration(b, f, o.invariant, parameters, next, slices);
    for (uint32_t i = 0; i < f->stacked; i++)
        stacked[i] = (WNNLoopSlices){slices[i], f->out_axes[i], f->out_backward[i]};
    assert_success(wnnGraphBuilderEndLoop(b, view("l"), f->carried, next, f->stacked, stacked, outputs));
    return f->carried + f->stacked;
}

static uint32_t unrolled(WNNGraphBuilder b, const struct form *f, WNNOperand *outputs)
{
    WNNOperand parameters[2 * LISTS_MAX], collected[LISTS_MAX][ITERATIONS_MAX], slices[LISTS_MAX];
    static const uint32_t slice[2] = {ROWS, COLUMNS};
    struct operands o;
    uint32_t shape[3];

    make_inputs(b, f, &o);
    memcpy(parameters, o.carried, f->carried * sizeof *parameters);
    for (uint32_t t = 0; t < f->iterations; t++) {
        for (uint32_t i = 0; i < f->scanned; i++) {
            uint32_t starts[3] = {0};
            stacked_shape(1, f->in_axes[i], shape);
            starts[f->in_axes[i]] = f->in_backward[i] ? f->iterations - 1 - t : t;
            parameters[f->carried + i] =
                wnnGraphBuilderReshape(b, wnnGraphBuilderSlice(b, o.scanned[i], 3, starts, 3, shape, NULL), 2, slice, NULL);
        }
        iteration(b, f, o.invariant, parameters, outputs, slices);
        memcpy(parameters, outputs, f->carried * sizeof *parameters);
        for (uint32_t i = 0; i < f->stacked; i++) {
            stacked_shape(1, f->out_axes[i], shape);
            collected[i][f->out_backward[i] ? f->iterations - 1 - t : t] = wnnGraphBuilderReshape(b, slices[i], 3, shape, NULL);
        }
    }
    for (uint32_t i = 0; i < f->carried; i++) /* an output must not be an input */
        outputs[i] = wnnGraphBuilderIdentity(b, outputs[i], NULL);
    for (uint32_t i = 0; i < f->stacked; i++)
        outputs[f->carried + i] = wnnGraphBuilderConcat(b, f->iterations, collected[i], f->out_axes[i], NULL);
    return f->carried + f->stacked;
}

/* ---- running ---- */

enum { SLOTS_MAX = 1 + 2 * LISTS_MAX };

struct data {
    WNNNamedOperand outputs[SLOTS_MAX];
    char names[SLOTS_MAX][16];
    float *values[SLOTS_MAX];
    double *bounds[SLOTS_MAX];
    size_t elements[SLOTS_MAX];
    uint32_t count;
};

static void name_outputs(struct data *d, uint32_t count, const WNNOperand *outputs)
{
    d->count = count;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(d->names[i], sizeof d->names[i], "o%u", i);
        d->outputs[i] = (WNNNamedOperand){view(d->names[i]), outputs[i]};
        d->elements[i] = 1;
        for (uint32_t k = 0; k < outputs[i]->type.rank; k++)
            d->elements[i] *= outputs[i]->type.dims[k];
        d->values[i] = calloc(d->elements[i], sizeof(float));
        d->bounds[i] = calloc(d->elements[i], sizeof(double));
    }
}

static void free_data(struct data *d)
{
    for (uint32_t i = 0; i < d->count; i++) {
        free(d->values[i]);
        free(d->bounds[i]);
    }
}

/** Finds the elements of an input by its name: the same for all forms of a case. */
static const float *data_of(const char *name, size_t length, float elements[ITERATIONS_MAX * SLICE])
{
    seed = 1;
    for (size_t i = 0; i < length; i++)
        seed = seed * 31 + (unsigned char)name[i];
    for (int i = 0; i < ITERATIONS_MAX * SLICE; i++)
        elements[i] = noise();
    return elements;
}

static void interpret(const struct form *f, struct data *d, bool loop)
{
    OWNED(builder) WNNGraphBuilder b = new_builder();
    WNNOperand outputs[SLOTS_MAX];
    static float elements[SLOTS_MAX][ITERATIONS_MAX * SLICE];
    const void *inputs[SLOTS_MAX];
    struct error e = {0};
    uint32_t loops = 0;

    name_outputs(d, loop ? as_loop(b, f, outputs) : unrolled(b, f, outputs), outputs);
    OWNED(graph) struct graph *g = builder_take_graph(b, d->count, d->outputs, &e);
    assert_works(g, &e);
    assert_true(graph_verify(g, stderr));
    graph_for_each (g, n)
        loops += n->op == OP_LOOP;
    assert_int_equal(loops, loop);
    for (uint32_t i = 0; i < g->input_count; i++)
        inputs[i] = data_of(g->inputs[i]->name, g->inputs[i]->name_length, elements[i]);
    assert_true(graph_interpret_bounds(g, inputs, (void **)d->values, d->bounds, &e));
}

/** Computes a graph's outputs. */
static void compute(WNNGraph graph, struct data *d)
{
    WNNNamedBuffer in[SLOTS_MAX], out[SLOTS_MAX];
    static float elements[SLOTS_MAX][ITERATIONS_MAX * SLICE];
    const size_t inputs = wnnGraphGetInputCount(graph);

    for (size_t i = 0; i < inputs; i++) {
        WNNNamedOperandDescriptor o;
        size_t bytes = sizeof(float);

        assert_int_equal(wnnGraphGetInput(graph, i, &o), WNNStatus_Success);
        for (size_t k = 0; k < o.descriptor.rank; k++)
            bytes *= o.descriptor.shape[k];
        data_of(o.name.data, o.name.length, elements[i]);
        in[i] = (WNNNamedBuffer){o.name, elements[i], bytes};
    }
    for (uint32_t i = 0; i < d->count; i++) {
        memset(d->values[i], 0xFF, d->elements[i] * sizeof(float));
        out[i] = (WNNNamedBuffer){view(d->names[i]), d->values[i], d->elements[i] * sizeof(float)};
    }
    assert_success(wnnGraphCompute(graph, inputs, in, d->count, out));
}

static void compare(const struct data *want, const struct data *got, uint32_t i)
{
    for (uint32_t o = 0; o < want->count; o++)
        for (size_t k = 0; k < want->elements[o]; k++) {
            const double a = want->values[o][k], b = got->values[o][k];
            if (!(a == b || fabs(a - b) <= 2 * want->bounds[o][k]))
                fail_msg("case %u, output %u, element %zu: %.9g, not %.9g within %g", i, o, k, b, a, want->bounds[o][k]);
        }
}

static void save(WNNGraph graph, struct data *d, const struct data *want, uint32_t i)
{
    char path[] = "/tmp/webnn-loops-XXXXXX";
    WNNGraph loaded;

    make_file(path);
    assert_int_equal(wnnGraphSave(graph, path), WNNStatus_Success);
    assert_int_equal(wnnContextLoadGraph(context, path, &loaded), WNNStatus_Success);
    compute(loaded, d);
    compare(want, d, i);
    wnnGraphRelease(loaded);
    remove(path);
}

TEST(random_bodies)
{
    for (uint32_t i = 0; i < cases; i++) {
        struct form f;
        struct data want = {.count = 0}, rolled = {.count = 0}, compiled = {.count = 0};
        WNNOperand outputs[SLOTS_MAX];
        WNNGraph graph;

        random_form(&f, i);
        interpret(&f, &want, false);
        interpret(&f, &rolled, true);
        for (uint32_t o = 0; o < want.count; o++) {
            assert_memory_equal(want.values[o], rolled.values[o], want.elements[o] * sizeof(float));
            assert_memory_equal(want.bounds[o], rolled.bounds[o], want.elements[o] * sizeof(double));
        }
        WNNGraphBuilder b = new_builder();
        name_outputs(&compiled, as_loop(b, &f, outputs), outputs);
        if (wnnGraphBuilderBuild(b, compiled.count, compiled.outputs, &graph) != WNNStatus_Success)
            fail_msg("case %u: %s", i, wnnGetLastErrorMessage().data);
        wnnGraphBuilderRelease(b);
        for (int run = 0; run < 2; run++) {
            compute(graph, &compiled);
            compare(&want, &compiled, i);
        }
        if (i % 8 == 0)
            save(graph, &compiled, &want, i);
        wnnGraphRelease(graph);
        free_data(&want);
        free_data(&rolled);
        free_data(&compiled);
    }
}

/* ---- weights ---- */

enum { WIDTH = 192 }; /* 144 KiB of float32, which is worth quantizing */

/** Builds carried = tanh(carried W) for two iterations, as a loop or unrolled, with weights of 8 bits, and computes it. */
static void multiply_by_quantized(bool loop, float out[WIDTH], WNNQuantizedWeights *counts)
{
    static const uint32_t shape[2] = {1, WIDTH}, square[2] = {WIDTH, WIDTH};
    static float weights[WIDTH * WIDTH], in[WIDTH];
    OWNED(builder) WNNGraphBuilder b = new_builder();
    WNNOperand x = input(b, "x", 2, shape), w, y = x, parameter;
    WNNNamedBuffer from = {view("x"), in, sizeof in}, to = {view("y"), out, sizeof in};
    OWNED(compiled) WNNGraph graph = NULL;

    seed = 5;
    for (int i = 0; i < WIDTH * WIDTH; i++)
        weights[i] = noise() / 16;
    for (int i = 0; i < WIDTH; i++)
        in[i] = noise();
    w = wnnGraphBuilderConstant(b, &(WNNOperandDescriptor){WNNOperandDataType_Float32, 2, square, NULL}, weights,
                                sizeof weights);
    if (loop)
        assert_int_equal(wnnGraphBuilderBeginLoop(b, 2, 1, &x, 0, NULL, &parameter), WNNStatus_Success);
    y = wnnGraphBuilderTanh(b, wnnGraphBuilderMatmul(b, loop ? parameter : y, w, NULL), NULL);
    if (loop)
        assert_int_equal(wnnGraphBuilderEndLoop(b, view("l"), 1, &y, 0, NULL, &y), WNNStatus_Success);
    else
        y = wnnGraphBuilderTanh(b, wnnGraphBuilderMatmul(b, y, w, NULL), NULL);
    assert_int_equal(wnnGraphBuilderQuantizeWeights(b, WNNWeightFormat_Int8), WNNStatus_Success);
    WNNNamedOperand output = (WNNNamedOperand){view("y"), y};
    assert_success(wnnGraphBuilderBuild(b, 1, &output, &graph));
    wnnGraphGetQuantizedWeights(graph, counts);
    assert_int_equal(wnnGraphCompute(graph, 1, &from, 1, &to), WNNStatus_Success);
}

TEST(weights_within_a_loop_are_quantized_if_that_is_asked_for)
{
    float rolled[WIDTH], unrolled_out[WIDTH];
    WNNQuantizedWeights in_loop, outside;

    multiply_by_quantized(true, rolled, &in_loop);
    multiply_by_quantized(false, unrolled_out, &outside);
    assert_int_equal(in_loop.matrices, 1);
    assert_int_equal(in_loop.bytesBefore, outside.bytesBefore);
    assert_int_equal(in_loop.bytesAfter, outside.bytesAfter);
    for (int i = 0; i < WIDTH; i++) /* sums of 192 products of the same numbers, each below 1 */
        assert_true(fabsf(rolled[i] - unrolled_out[i]) <= 192 * 1.2e-7f);
}

/* ---- errors ---- */

static void expect(WNNStatus status, const char *text)
{
    assert_int_equal(status, WNNStatus_TypeError);
    if (!strstr(wnnGetLastErrorMessage().data, text))
        fail_msg("\"%s\", not \"%s\"", wnnGetLastErrorMessage().data, text);
}

TEST(errors_say_what_is_wrong)
{
    static const uint32_t shape[2] = {4, 3}, row[1] = {3};
    OWNED(builder) WNNGraphBuilder b = new_builder();
    WNNOperand x = input(b, "x", 2, shape), y = input(b, "y", 1, row), p[2], next[2], out[2], used;
    WNNLoopSlices s = {x, 0, false};
    OWNED(compiled) WNNGraph graph = NULL;

    expect(wnnGraphBuilderBeginLoop(b, 4, 1, &y, 0, NULL, NULL), "parameters is NULL");
    expect(wnnGraphBuilderBeginLoop(b, 4, 1, NULL, 0, NULL, p), "carried is NULL");
    expect(wnnGraphBuilderBeginLoop(b, 0, 1, &y, 0, NULL, p), "iterations is 0");
    expect(wnnGraphBuilderBeginLoop(b, 4, 0, NULL, 0, NULL, p), "neither a carried nor a scanned operand");
    expect(wnnGraphBuilderBeginLoop(b, 5, 1, &y, 1, &s, p),
           "scanned[0] has 4 slices along axis 0, but the loop has 5 iterations");
    s.axis = 2;
    expect(wnnGraphBuilderBeginLoop(b, 4, 1, &y, 1, &s, p), "the axis of scanned[0] is 2, its rank is 2");
    s.axis = 0;
    expect(wnnGraphBuilderEndLoop(b, view(""), 1, &y, 0, NULL, out), "no loop has begun");
    assert_int_equal(wnnGraphBuilderBeginLoop(b, 4, 1, &y, 1, &s, p), WNNStatus_Success);
    expect(wnnGraphBuilderBeginLoop(b, 4, 1, &y, 1, &s, next), "loops cannot be nested");
    used = next[0] = wnnGraphBuilderAdd(b, p[0], p[1], NULL);
    WNNNamedOperand result = (WNNNamedOperand){view("o"), used};
    expect(wnnGraphBuilderBuild(b, 1, &result, &graph), "a loop has begun and not ended");
    expect(wnnGraphBuilderEndLoop(b, view(""), 0, NULL, 0, NULL, out), "0 carried values are given, the loop began with 1");
    expect(wnnGraphBuilderEndLoop(b, view(""), 1, &x, 0, NULL, out),
           "carried[0] is f32[4, 3] after an iteration, but f32[3] before");
    s = (WNNLoopSlices){used, 2, false};
    expect(wnnGraphBuilderEndLoop(b, view(""), 1, next, 1, &s, out), "the axis of stacked[0] is 2, at most 1 is possible");
    assert_int_equal(wnnGraphBuilderEndLoop(b, view(""), 1, next, 0, NULL, out), WNNStatus_Success);
    wnnGraphBuilderNeg(b, used, NULL);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "belongs to a loop that has ended"));
    wnnGraphBuilderNeg(b, p[0], NULL);
    assert_non_null(strstr(wnnGetLastErrorMessage().data, "belongs to a loop that has ended"));
    expect(wnnGraphBuilderBuild(b, 1, &result, &graph), "belongs to a loop that has ended");
    result.operand = out[0];
    assert_int_equal(wnnGraphBuilderBuild(b, 1, &result, &graph), WNNStatus_Success);
}

/** Computes the graph of one output, int32 n, which is released. */
static int32_t count_iterations(WNNGraph graph, int32_t last, uint8_t stopped)
{
    int32_t n = -1;
    const WNNNamedBuffer in[] = {{view("last"), &last, sizeof last}, {view("stopped"), &stopped, sizeof stopped}},
                         out = {view("n"), &n, sizeof n};

    assert_success(wnnGraphCompute(graph, 2, in, 1, &out));
    wnnGraphRelease(graph);
    return n;
}

/* The loop breaks its promise: a carried value changes also after it may have stopped, which tells that it has stopped. */
TEST(loops_stop_early)
{
    enum { ITERATIONS = 1000, START = -3 };
    char path[] = "/tmp/webnn-loops-XXXXXX";
    WNNContextOptions options = WNN_CONTEXT_OPTIONS_INIT;
    const WNNContext before = context;
    WNNOperand carried[2], p[2], next[2], out[2], last;
    WNNNamedOperand result = {view("n"), NULL};
    WNNGraphBuilder b;
    WNNGraph graph;

    make_file(path);
    options.engine = WNNEngine_Cpu;
    assert_int_equal(wnnCreateContext(&options, &context), WNNStatus_Success);
    for (int saved = 0; saved < 2; saved++) {
        b = new_builder();
        last = wnnGraphBuilderInput(b, view("last"), &(WNNOperandDescriptor){WNNOperandDataType_Int32, 0, NULL, NULL});
        carried[0] = wnnGraphBuilderConstantScalar(b, WNNOperandDataType_Int32, wnnNumberInt64(START));
        carried[1] = wnnGraphBuilderInput(b, view("stopped"), &(WNNOperandDescriptor){WNNOperandDataType_Uint8, 0, NULL, NULL});
        expect(wnnGraphBuilderStopLoop(b, 1), "no loop has begun");
        assert_int_equal(wnnGraphBuilderBeginLoop(b, ITERATIONS, 2, carried, 0, NULL, p), WNNStatus_Success);
        expect(wnnGraphBuilderStopLoop(b, 0), "carried value 0 must be a uint8 scalar");
        expect(wnnGraphBuilderStopLoop(b, 2), "carried value 2 is requested, the loop has 2");
        assert_int_equal(wnnGraphBuilderStopLoop(b, 1), WNNStatus_Success);
        next[0] =
            wnnGraphBuilderAdd(b, p[0], wnnGraphBuilderConstantScalar(b, WNNOperandDataType_Int32, wnnNumberInt64(1)), NULL);
        next[1] = wnnGraphBuilderGreaterOrEqual(b, next[0], last, NULL);
        assert_int_equal(wnnGraphBuilderEndLoop(b, view("stops"), 2, next, 0, NULL, out), WNNStatus_Success);
        result.operand = out[0];
        assert_int_equal(wnnGraphBuilderBuild(b, 1, &result, &graph), WNNStatus_Success);
        wnnGraphBuilderRelease(b);
        if (saved) {
            assert_int_equal(wnnGraphSave(graph, path), WNNStatus_Success);
            wnnGraphRelease(graph);
            assert_int_equal(wnnContextLoadGraph(context, path, &graph), WNNStatus_Success);
        }
        wnnGraphAddRef(graph);
        wnnGraphAddRef(graph);
        assert_int_equal(count_iterations(graph, 7, 0), 7);
        assert_int_equal(count_iterations(graph, 7, 1), START); /* before it begins */
        assert_int_equal(count_iterations(graph, ITERATIONS + 1, 0), START + ITERATIONS);
    }
    remove(path);
    wnnContextRelease(context);
    context = before;
}

/* The interpreter's bounds say so. */
TEST(slices_after_the_stop_are_undefined)
{
    const WNNOperandDescriptor scalar = {WNNOperandDataType_Uint8, 0, NULL, NULL};
    const uint8_t stopped = 1;
    uint8_t y[2];
    double bound[2] = {0};
    OWNED(builder) WNNGraphBuilder b = new_builder();
    WNNOperand carried = wnnGraphBuilderInput(b, view("stopped"), &scalar), p, out[2];

    assert_success(wnnGraphBuilderBeginLoop(b, 2, 1, &carried, 0, NULL, &p));
    assert_success(wnnGraphBuilderStopLoop(b, 0));
    assert_success(wnnGraphBuilderEndLoop(b, view("l"), 1, &p, 1, &(WNNLoopSlices){p, 0, false}, out));
    graph_add_output(b->graph, "y", 1, out[1]->value);
    assert_done(graph_interpret_bounds(b->graph, (const void *[]){&stopped}, (void *[]){y}, (double *[]){bound}, &e));
    assert_true(isinf(bound[0]) && isinf(bound[1]));
}

PROGRAM_HELP(
    "usage: test-frontend-loops [BODIES]   run the tests, with so many random bodies; on a device with WEBNN_ENGINE=gpu\n")
int main(int argc, char **argv)
{
    WNNDeviceInfo device;

    if (argc > 1)
        cases = (uint32_t)strtoul(argv[1], NULL, 10);
    if (create_context(NULL))
        return 1;
    wnnContextGetDevice(context, &device);
    printf("on %s (%s)\n", device.name, *device.platform ? device.platform : "the engine for processors");
    int result = tests_run();
    wnnContextRelease(context);
    return result;
}
