/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Computations that leave outputs and their inputs out: the others are as ever, bit by bit, and a message names what lacks. */
#include <unistd.h>

#include "support/api.h"
#include "support/context.h"

enum { N = 40, ELEMENTS = N * N, OUTPUTS = 3, ALL = (1 << OUTPUTS) - 1 };

static const uint32_t shape[2] = {N, N};
static const WNNOperandDescriptor square = {WNNOperandDataType_Float32, 2, shape, NULL};
static const char *const names[OUTPUTS] = {"a", "b", "c"};

/* ---- graphs: each makes three outputs of x, its input p ---- */

/* One output is made of another, and memory is used again in between. */
static void chain(WNNGraphBuilder b, WNNOperand x, WNNOperand *y)
{
    y[0] = wnnGraphBuilderSoftmax(b, wnnGraphBuilderMatmul(b, x, x, NULL), 1, NULL);
    y[1] = wnnGraphBuilderMatmul(b, wnnGraphBuilderCumulativeSum(b, y[0], 1, NULL), x, NULL);
    y[2] = wnnGraphBuilderTranspose(b, wnnGraphBuilderSoftmax(b, wnnGraphBuilderMatmul(b, y[0], y[1], NULL), 0, NULL), NULL);
}

/* Three heads on one trunk. */
static void heads(WNNGraphBuilder b, WNNOperand x, WNNOperand *y)
{
    WNNOperand trunk = wnnGraphBuilderSoftmax(b, wnnGraphBuilderMatmul(b, x, x, NULL), 1, NULL);

    for (int i = 0; i < OUTPUTS; i++) {
        y[i] = wnnGraphBuilderMatmul(b, trunk, wnnGraphBuilderCumulativeSum(b, x, (uint32_t)i % 2, NULL), NULL);
        for (int k = 0; k < 3; k++)
            y[i] = wnnGraphBuilderMatmul(b, wnnGraphBuilderSoftmax(b, y[i], (uint32_t)k % 2, NULL), trunk, NULL);
    }
}

/* A scatter writes a part of what another step has made; a loop reads what it wrote in the turn before. */
static void scatter_and_loop(WNNGraphBuilder b, WNNOperand x, WNNOperand *y)
{
    static const int32_t rows[2] = {3, 1};
    const WNNOperandDescriptor i = {WNNOperandDataType_Int32, 2, (uint32_t[]){2, 1}, NULL};
    WNNOperand updates = wnnGraphBuilderSlice(b, x, 2, (uint32_t[]){5, 0}, 2, (uint32_t[]){2, N}, NULL);
    WNNOperand base = wnnGraphBuilderCumulativeSum(b, wnnGraphBuilderSoftmax(b, x, 0, NULL), 1, NULL), turn;

    y[0] = wnnGraphBuilderScatterND(b, base, wnnGraphBuilderConstant(b, &i, rows, sizeof rows), updates, NULL);
    assert_success(wnnGraphBuilderBeginLoop(b, 5, 1, &base, 0, NULL, &turn));
    turn = wnnGraphBuilderSoftmax(b, wnnGraphBuilderMatmul(b, turn, x, NULL), 1, NULL);
    assert_success(wnnGraphBuilderEndLoop(b, WNN_STR("loop"), 1, &turn, 0, NULL, &y[1]));
    y[2] = wnnGraphBuilderMatmul(b, y[0], wnnGraphBuilderSoftmax(b, y[1], 0, NULL), NULL);
}

/* Views and copies: one operand as two outputs, and pieces of one that was put together. */
static void pieces(WNNGraphBuilder b, WNNOperand x, WNNOperand *y)
{
    WNNOperand half[2], parts[2] = {wnnGraphBuilderSoftmax(b, x, 0, NULL), wnnGraphBuilderMatmul(b, x, x, NULL)};
    WNNOperand both = wnnGraphBuilderConcat(b, 2, parts, 0, NULL);

    assert_success(wnnGraphBuilderSplit(b, both, 2, (uint32_t[]){N, N}, NULL, half));
    y[0] = wnnGraphBuilderRelu(b, half[1], NULL);
    y[1] = half[0];
    y[2] = wnnGraphBuilderReshape(b, half[0], 2, shape, NULL);
}

typedef void (*making)(WNNGraphBuilder b, WNNOperand x, WNNOperand *y);
static const making makings[] = {chain, heads, scatter_and_loop, pieces};

static WNNGraph make_graph(making make)
{
    WNNGraphBuilder b = builder_of(context);
    WNNNamedOperand outputs[OUTPUTS];
    WNNOperand y[OUTPUTS];
    WNNStringView message;

    make(b, wnnGraphBuilderInput(b, WNN_STR("p"), &square), y);
    if (wnnGraphBuilderGetError(b, &message))
        fail_msg("%s", message.data);
    for (int i = 0; i < OUTPUTS; i++)
        outputs[i] = (WNNNamedOperand){WNN_STR(names[i]), y[i]};
    return build(b, OUTPUTS, outputs);
}

/** Computes outputs a, b and c, of a mask, on inputs p, q, r and s, of another one; the last ones come first. */
static WNNStatus compute_some(WNNGraph g, int inputs, int outputs, float (*y)[ELEMENTS])
{
    static const char *const in_names[] = {"p", "q", "r", "s"};
    static float x[3][ELEMENTS];
    static int32_t rows[N];
    WNNNamedBuffer in[4], out[OUTPUTS];
    size_t in_count = 0, out_count = 0;

    for (int i = 0; i < 3 * ELEMENTS; i++)
        x[i / ELEMENTS][i % ELEMENTS] = (float)(i * 7 % 23) / 11 - 1;
    for (int i = 0; i < N; i++)
        rows[i] = (i * 3 + 1) % N;
    for (int i = 3; i >= 0; i--)
        if (inputs & 1 << i)
            in[in_count++] = i == 3 ? (WNNNamedBuffer){WNN_STR("s"), rows, sizeof rows}
                                    : (WNNNamedBuffer){WNN_STR(in_names[i]), x[i], sizeof x[i]};
    for (int i = OUTPUTS - 1; i >= 0; i--)
        if (outputs & 1 << i)
            out[out_count++] = (WNNNamedBuffer){WNN_STR(names[i]), y[i], sizeof y[i]};
    return wnnGraphCompute(g, in_count, in, out_count, out);
}

/** Computes some outputs, each of which must be as expected, bit by bit. */
static void check_some(WNNGraph g, int inputs, int outputs, float (*expected)[ELEMENTS])
{
    static float got[OUTPUTS][ELEMENTS];

    memset(got, 0xFF, sizeof got);
    assert_success(compute_some(g, inputs, outputs, got));
    for (int i = 0; i < OUTPUTS; i++)
        if (outputs & 1 << i)
            assert_memory_equal(got[i], expected[i], sizeof got[i]);
}

TEST(chosen_outputs_are_bit_equal)
{
    static const int masks[] = {1, 1, 2, 4, 3, 5, 6, ALL, 2, 2, 4, 1};
    static float expected[OUTPUTS][ELEMENTS];

    for (size_t m = 0; m < sizeof makings / sizeof *makings; m++) {
        OWNED(compiled) WNNGraph g = make_graph(makings[m]);

        assert_success(compute_some(g, 1, ALL, expected));
        for (size_t k = 0; k < sizeof masks / sizeof *masks; k++)
            check_some(g, 1, masks[k], expected);
    }
}

static void refused(WNNGraph g, size_t inputs, WNNNamedBuffer const *in, size_t outputs, WNNNamedBuffer const *out,
                    const char *message)
{
    assert_int_equal(wnnGraphCompute(g, inputs, in, outputs, out), WNNStatus_TypeError);
    assert_string_equal(wnnGetLastErrorMessage().data, message);
}

TEST(what_lacks_is_named)
{
    WNNGraphBuilder b = builder_of(context);
    WNNOperand sum = NULL;
    float data[ELEMENTS] = {0}, y[ELEMENTS];
    WNNNamedBuffer in[7], out[2] = {{WNN_STR("y"), y, sizeof y}, {WNN_STR("y"), data, sizeof data}};

    for (int i = 0; i < 7; i++) {
        static const char *const inputs[7] = {"p", "q", "r", "s", "t", "u", "v"};
        WNNOperand x = wnnGraphBuilderInput(b, WNN_STR(inputs[i]), &square);

        sum = sum ? wnnGraphBuilderAdd(b, sum, x, NULL) : x;
        in[i] = (WNNNamedBuffer){WNN_STR(inputs[i]), data, sizeof data};
    }
    OWNED(compiled) WNNGraph g = build_y(b, sum);
    refused(g, 6, in, 1, out, "compute: 6 inputs are given, the graph has 7; missing: \"v\"");
    refused(g, 1, in + 2, 1, out,
            "compute: 1 inputs are given, the graph has 7; missing: \"p\", \"q\", \"s\", \"t\", \"u\", \"v\"");
    refused(g, 0, NULL, 1, out,
            "compute: 0 inputs are given, the graph has 7; missing: \"p\", \"q\", \"r\", \"s\", \"t\", \"u\", \"v\"");
    refused(g, 7, in, 0, NULL, "compute: 0 outputs are given, the graph has 1; missing: \"y\"");
    refused(g, 7, in, 2, out, "compute: outputs[0] and outputs[1] are both named \"y\"");
    in[3].name = WNN_STR("w");
    refused(g, 6, in, 1, out,
            "compute: inputs[3] is named \"w\", the graph has no such input; there are 'p', 'q', 'r', 's', 't', 'u', 'v'");
}

TEST(inputs_of_outputs_that_are_left_out_may_be_left_out)
{
    static const struct {
        int outputs, inputs; /* what they need */
        const char *without_the_first;
    } rows[] = {{1, 1, "0 inputs are given, the graph has 4; missing: \"p\""},
                {2, 6, "1 inputs are given, the graph has 4; missing: \"q\""},
                {4, 12, "1 inputs are given, the graph has 4; missing: \"r\""},
                {3, 7, "2 inputs are given, the graph has 4; missing: \"p\""},
                {6, 14, "2 inputs are given, the graph has 4; missing: \"q\""},
                {5, 13, "2 inputs are given, the graph has 4; missing: \"p\""},
                {7, 15, "3 inputs are given, the graph has 4; missing: \"p\""}};
    static float expected[OUTPUTS][ELEMENTS], got[OUTPUTS][ELEMENTS];
    const WNNOperandDescriptor row = {WNNOperandDataType_Int32, 1, shape, NULL};
    char path[] = "/tmp/webnn-outputs-XXXXXX", message[100];
    WNNGraphBuilder b = builder_of(context);
    WNNOperand p = wnnGraphBuilderInput(b, WNN_STR("p"), &square), q = wnnGraphBuilderInput(b, WNN_STR("q"), &square),
               r = wnnGraphBuilderInput(b, WNN_STR("r"), &square), s = wnnGraphBuilderInput(b, WNN_STR("s"), &row);
    WNNGraph graphs[2] = {
        build(b, OUTPUTS,
              (WNNNamedOperand[]){{WNN_STR("a"), wnnGraphBuilderMatmul(b, wnnGraphBuilderSoftmax(b, p, 1, NULL), p, NULL)},
                                  {WNN_STR("b"), wnnGraphBuilderAdd(b, wnnGraphBuilderSoftmax(b, q, 0, NULL), r, NULL)},
                                  {WNN_STR("c"), wnnGraphBuilderNeg(b, wnnGraphBuilderGather(b, r, s, NULL), NULL)}})};

    make_file(path);
    assert_success(wnnGraphSave(graphs[0], path));
    assert_success(wnnContextLoadGraph(context, path, &graphs[1]));
    unlink(path);
    for (size_t g = 0; g < 2; g++) {
        assert_success(compute_some(graphs[g], 15, ALL, expected));
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            check_some(graphs[g], rows[k].inputs, rows[k].outputs, expected);
            snprintf(message, sizeof message, "compute: %s", rows[k].without_the_first);
            assert_int_equal(compute_some(graphs[g], rows[k].inputs & (rows[k].inputs - 1), rows[k].outputs, got),
                             WNNStatus_TypeError);
            assert_string_equal(wnnGetLastErrorMessage().data, message);
        }
        wnnGraphRelease(graphs[g]);
    }
}

TEST(of_many_outputs_neighbours_count_as_one)
{
    enum { MANY = 130 }; /* the last two are one of 64 groups */
    static char text[MANY][16];
    const WNNOperandDescriptor one = {WNNOperandDataType_Float32, 0, NULL, NULL};
    WNNGraphBuilder b = builder_of(context);
    WNNNamedOperand outputs[MANY];
    float x = 3, y = 0;

    for (int i = 0; i < MANY; i++) {
        snprintf(text[i], sizeof text[i], "x%d", i);
        outputs[i] =
            (WNNNamedOperand){WNN_STR(text[i]), wnnGraphBuilderNeg(b, wnnGraphBuilderInput(b, WNN_STR(text[i]), &one), NULL)};
    }
    OWNED(compiled) WNNGraph g = build(b, MANY, outputs);
    WNNNamedBuffer in[] = {{WNN_STR("x129"), &x, sizeof x}, {WNN_STR("x128"), &x, sizeof x}},
                   out = {WNN_STR("x129"), &y, sizeof y};
    refused(g, 1, in, 1, &out, "compute: 1 inputs are given, the graph has 130; missing: \"x128\"");
    assert_success(wnnGraphCompute(g, 2, in, 1, &out));
    assert_true(y == -3);
}

TEST(descriptors_know_their_bytes)
{
    WNNOperandDescriptor d = {WNNOperandDataType_Float16, 2, shape, NULL};

    assert_int_equal(wnnOperandDescriptorGetByteLength(&d), 2 * ELEMENTS);
    d.rank = 0;
    assert_int_equal(wnnOperandDescriptorGetByteLength(&d), 2);
    d.shape = NULL;
    d.rank = 1;
    assert_int_equal(wnnOperandDescriptorGetByteLength(&d), 0);
    assert_int_equal(wnnOperandDescriptorGetByteLength(&(WNNOperandDescriptor){WNNOperandDataType_Undefined, 0, NULL, NULL}),
                     0);
    assert_int_equal(
        wnnOperandDescriptorGetByteLength(&(WNNOperandDescriptor){WNNOperandDataType_Int8, 1, (uint32_t[]){0}, NULL}), 0);
    assert_int_equal(wnnOperandDescriptorGetByteLength(NULL), 0);
}

TEST_GROUP(create_context, release_context)
