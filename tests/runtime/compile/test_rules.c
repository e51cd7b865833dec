/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The rules of createTensor, createConstantTensor, readTensor, writeTensor, dispatch, compute, destroy: every step that can
 * refuse, in the specification's order, with its kind of error and a message that names what disagrees.
 */
#include <time.h>

#include "runtime/engine/fake_engine.h"

static const float values[4] = {1, 2, 3, 4};

TEST(context_options_are_checked)
{
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;
    WNNContext c = (WNNContext)1;

    o.powerPreference = (WNNPowerPreference)7;
    assert_int_equal(wnnCreateContext(&o, &c), WNNStatus_TypeError);
    assert_null(c);
    MESSAGE_HAS("powerPreference", "7");
    o = WNN_CONTEXT_OPTIONS_INIT;
    o.threadCount = 5000;
    REFUSED(wnnCreateContext(&o, &c), WNNStatus_TypeError, "threadCount", "5000", "1024");
    o = WNN_CONTEXT_OPTIONS_INIT;
    o.precision = (WNNPrecision)4;
    assert_int_equal(wnnCreateContext(&o, &c), WNNStatus_TypeError);
    assert_null(c);
    MESSAGE_HAS("precision", "4");
    o = WNN_CONTEXT_OPTIONS_INIT;
    o.debug = WNN_STR("no-such-switch");
    REFUSED(wnnCreateContext(&o, &c), WNNStatus_TypeError, "no-such-switch");
    o.debug = WNN_STR("isa=pentium");
    REFUSED(wnnCreateContext(&o, &c), WNNStatus_TypeError, "pentium");

    o = WNN_CONTEXT_OPTIONS_INIT;
    o.powerPreference = WNNPowerPreference_LowPower;
    o.accelerated = false;
    o.precision = WNNPrecision_Bf16x2;
    assert_int_equal(wnnCreateContext(&o, &c), WNNStatus_Success);
    assert_int_equal(wnnContextGetPowerPreference(c), WNNPowerPreference_LowPower);
    assert_int_equal(wnnContextGetPrecision(c), WNNPrecision_Bf16x2);
    assert_false(wnnContextGetAccelerated(c));
    assert_false(wnnContextIsLost(c));
    wnnContextAddRef(c);
    wnnContextRelease(c);
    wnnContextRelease(c);
    assert_int_equal(wnnCreateContext(NULL, &c), WNNStatus_Success);
    assert_false(wnnContextGetAccelerated(c));
    assert_int_equal(wnnContextGetPowerPreference(c), WNNPowerPreference_Default);
    assert_int_equal(wnnContextGetPrecision(c), WNNPrecision_Float32);
    wnnContextRelease(c);
    wnnContextRelease(NULL);
}

TEST(tensors_are_checked)
{
    OWNED(context) WNNContext c = fake_context(NULL);
    WNNTensor t = (WNNTensor)1;
    WNNTensorDescriptor d = {
        .dataType = WNNOperandDataType_Int8, .rank = 2, .shape = (uint32_t[]){3, 5}, .readable = true, .writable = false};

    assert_int_equal(wnnContextCreateTensor(c, &d, NULL), WNNStatus_TypeError);
    assert_int_equal(wnnContextCreateTensor(c, NULL, &t), WNNStatus_TypeError);
    assert_null(t);
    d.dataType = (WNNOperandDataType)99;
    assert_int_equal(wnnContextCreateTensor(c, &d, &t), WNNStatus_TypeError);
    d.dataType = WNNOperandDataType_Int8;
    d.shape = (uint32_t[]){3, 0};
    REFUSED(wnnContextCreateTensor(c, &d, &t), WNNStatus_TypeError, "createTensor", "dimension 1", "0");
    d.shape = (uint32_t[]){65536, 32768}; /* 2^31 elements: one more than allowed */
    assert_int_equal(wnnContextCreateTensor(c, &d, &t), WNNStatus_TypeError);
    d.shape = NULL;
    assert_int_equal(wnnContextCreateTensor(c, &d, &t), WNNStatus_TypeError);
    d.rank = 13;
    d.shape = (uint32_t[]){1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    REFUSED(wnnContextCreateTensor(c, &d, &t), WNNStatus_TypeError, "rank 13", "12");

    d = (WNNTensorDescriptor){
        .dataType = WNNOperandDataType_Int8, .rank = 2, .shape = (uint32_t[]){3, 5}, .readable = true, .writable = false};
    atomic_store(&fake_out_of_memory, true);
    REFUSED(wnnContextCreateTensor(c, &d, &t), WNNStatus_UnknownError, "15 bytes");
    atomic_store(&fake_out_of_memory, false);
    assert_int_equal(wnnContextCreateTensor(c, &d, &t), WNNStatus_Success);
    assert_int_equal(wnnTensorGetDataType(t), WNNOperandDataType_Int8);
    assert_int_equal(wnnTensorGetRank(t), 2);
    assert_int_equal(wnnTensorGetShape(t)[0], 3);
    assert_int_equal(wnnTensorGetShape(t)[1], 5);
    assert_int_equal(wnnTensorGetByteLength(t), 15);
    assert_true(wnnTensorGetReadable(t));
    assert_false(wnnTensorGetWritable(t));
    assert_false(wnnTensorGetConstant(t));
    char bytes[15], zeros[15] = {0};
    memset(bytes, 1, sizeof bytes);
    assert_int_equal(wnnContextReadTensor(c, t, bytes, 15), WNNStatus_Success);
    assert_memory_equal(bytes, zeros, 15);
    wnnTensorRelease(t);

    d.rank = 0;
    d.shape = NULL;
    assert_int_equal(wnnContextCreateTensor(c, &d, &t), WNNStatus_Success);
    assert_int_equal(wnnTensorGetByteLength(t), 1);
    wnnTensorRelease(t);

    wnnContextDestroy(c);
    assert_int_equal(wnnContextCreateTensor(c, &d, &t), WNNStatus_InvalidStateError);
    /* The context's state comes before the descriptor. */
    d.rank = 9;
    assert_int_equal(wnnContextCreateTensor(c, &d, &t), WNNStatus_InvalidStateError);
}

TEST(constant_tensors_are_checked)
{
    OWNED(context) WNNContext other = fake_context(NULL);
    WNNOperandDescriptor d = {WNNOperandDataType_Float32, 1, (uint32_t[]){4}, NULL};
    WNNTensor t;
    struct tensor_type type;
    struct error e;
    float copy[4];

    assert_int_equal(wnnContextCreateConstantTensor(context, &d, values, 12, &t), WNNStatus_TypeError);
    MESSAGE_HAS("createConstantTensor", "12", "16");
    assert_int_equal(wnnContextCreateConstantTensor(context, &d, NULL, 16, &t), WNNStatus_TypeError);
    memcpy(copy, values, sizeof copy);
    assert_int_equal(wnnContextCreateConstantTensor(context, &d, copy, 16, &t), WNNStatus_Success);
    memset(copy, 0, sizeof copy); /* it was copied */
    assert_true(wnnTensorGetConstant(t));
    assert_false(wnnTensorGetReadable(t));
    assert_false(wnnTensorGetWritable(t));
    assert_int_equal(wnnContextReadTensor(context, t, copy, 16), WNNStatus_TypeError);
    assert_int_equal(wnnContextWriteTensor(context, t, copy, 16), WNNStatus_TypeError);

    error_clear(&e);
    struct constant *k = runtime_tensor_constant(context, t, &type, &e);
    assert_non_null(k);
    assert_memory_equal(k->data, values, 16);
    assert_int_equal(type.dims[0], 4);
    assert_null(runtime_tensor_constant(other, t, &type, &e));
    assert_int_equal(e.status, WNNStatus_TypeError);
    assert_false(runtime_tensor_is_destroyed(t));
    wnnTensorDestroy(t);
    assert_true(runtime_tensor_is_destroyed(t));
    error_clear(&e);
    assert_null(runtime_tensor_constant(context, t, &type, &e));
    assert_int_equal(e.status, WNNStatus_TypeError);
    assert_memory_equal(k->data, values, 16); /* graphs made from it keep it */
    constant_release(k);
    wnnTensorRelease(t);

    t = fake_tensor(context, true, true);
    error_clear(&e);
    assert_null(runtime_tensor_constant(context, t, &type, &e));
    assert_int_equal(e.status, WNNStatus_TypeError);
    wnnTensorRelease(t);
}

TEST(read_and_write)
{
    OWNED(context) WNNContext c = fake_context(NULL), other = fake_context(NULL);
    WNNTensor both = fake_tensor(c, true, true), neither = fake_tensor(c, false, false);
    float data[5] = {0};

    assert_int_equal(wnnContextReadTensor(c, NULL, data, 16), WNNStatus_TypeError);
    REFUSED(wnnContextReadTensor(other, both, data, 16), WNNStatus_TypeError, "readTensor", "another context");
    REFUSED(wnnContextReadTensor(c, neither, data, 16), WNNStatus_TypeError, "not readable");
    REFUSED(wnnContextReadTensor(c, both, data, 20), WNNStatus_TypeError, "20", "16");
    assert_int_equal(wnnContextReadTensor(c, both, NULL, 16), WNNStatus_TypeError);
    REFUSED(wnnContextWriteTensor(other, both, values, 16), WNNStatus_TypeError, "writeTensor", "another context");
    REFUSED(wnnContextWriteTensor(c, neither, values, 16), WNNStatus_TypeError, "not writable");
    REFUSED(wnnContextWriteTensor(c, both, values, 12), WNNStatus_TypeError, "12", "16");
    assert_int_equal(wnnContextWriteTensor(c, both, NULL, 16), WNNStatus_TypeError);

    assert_int_equal(wnnContextWriteTensor(c, both, values, 16), WNNStatus_Success);
    assert_int_equal(wnnContextReadTensor(c, both, data, 16), WNNStatus_Success);
    assert_memory_equal(data, values, 16);

    wnnTensorDestroy(both);
    wnnTensorDestroy(both); /* idempotent */
    REFUSED(wnnContextReadTensor(c, both, data, 16), WNNStatus_TypeError, "destroyed");
    assert_int_equal(wnnContextWriteTensor(c, both, data, 16), WNNStatus_TypeError);
    assert_int_equal(wnnTensorGetByteLength(both), 16);
    wnnTensorRelease(both);

    /* A lost context: InvalidStateError, not the TypeError of a destroyed tensor. */
    both = fake_tensor(c, true, true);
    wnnContextDestroy(c);
    assert_int_equal(wnnContextReadTensor(c, both, data, 16), WNNStatus_InvalidStateError);
    assert_int_equal(wnnContextWriteTensor(c, both, data, 16), WNNStatus_InvalidStateError);
    assert_int_equal(wnnContextReadTensor(other, both, data, 16), WNNStatus_TypeError);
    wnnTensorRelease(both);
    wnnTensorRelease(neither);
}

TEST(dispatches_are_checked)
{
    OWNED(context) WNNContext c = fake_context(NULL), other = fake_context(NULL);
    WNNGraph g = fake_graph(c, 2, 1, fake_double, NULL);
    WNNTensor a = fake_tensor(c, true, true), b = fake_tensor(c, true, true), x = fake_tensor(c, true, true);
    WNNTensor foreign = fake_tensor(other, true, true), constant, odd;
    WNNNamedTensor in[3] = {{WNN_STR("a"), a}, {WNN_STR("b"), b}, {WNN_STR("c"), x}},
                   out[2] = {{WNN_STR("x"), x}, {WNN_STR("y"), b}};
    WNNOperandDescriptor cd = {WNNOperandDataType_Float32, 1, (uint32_t[]){4}, NULL};
    WNNTensorDescriptor od = {
        .dataType = WNNOperandDataType_Float32, .rank = 2, .shape = (uint32_t[]){2, 2}, .readable = true, .writable = true};

    assert_int_equal(wnnContextCreateConstantTensor(c, &cd, values, 16, &constant), WNNStatus_Success);
    assert_int_equal(wnnContextCreateTensor(c, &od, &odd), WNNStatus_Success);

    assert_int_equal(wnnContextDispatch(c, NULL, 2, in, 1, out), WNNStatus_TypeError);
    assert_int_equal(wnnContextDispatch(c, g, 2, NULL, 1, out), WNNStatus_TypeError);
    REFUSED(wnnContextDispatch(other, g, 2, in, 1, out), WNNStatus_TypeError, "dispatch", "graph", "another context");

    out[0].tensor = a;
    REFUSED(wnnContextDispatch(c, g, 2, in, 1, out), WNNStatus_TypeError, "output \"x\"", "more than once");
    out[0].tensor = x;
    in[1].tensor = a;
    REFUSED(wnnContextDispatch(c, g, 2, in, 1, out), WNNStatus_TypeError, "input \"b\"", "more than once");
    in[1].tensor = foreign;
    REFUSED(wnnContextDispatch(c, g, 2, in, 1, out), WNNStatus_TypeError, "input \"b\"", "another context");
    in[1].tensor = NULL;
    assert_int_equal(wnnContextDispatch(c, g, 2, in, 1, out), WNNStatus_TypeError);
    in[1].tensor = constant;
    REFUSED(wnnContextDispatch(c, g, 2, in, 1, out), WNNStatus_TypeError, "input \"b\"", "constant");
    in[1].tensor = odd;
    REFUSED(wnnContextDispatch(c, g, 2, in, 1, out), WNNStatus_TypeError, "input \"b\"", "f32[2, 2]", "f32[4]");
    in[1].tensor = b;

    REFUSED(wnnContextDispatch(c, g, 1, in, 1, out), WNNStatus_TypeError, "1 input", "2");
    in[2].tensor = odd;
    REFUSED(wnnContextDispatch(c, g, 3, in, 1, out), WNNStatus_TypeError, "3 input", "2");
    REFUSED(wnnContextDispatch(c, g, 2, in, 0, out), WNNStatus_TypeError, "0 output", "1");
    in[2].tensor = (WNNTensor)8; /* of lists that are longer than the graph's nothing more is read */
    REFUSED(wnnContextDispatch(c, g, SIZE_MAX, in, 1, out), WNNStatus_TypeError, "inputs are given, the graph has 2");
    REFUSED(wnnContextDispatch(c, g, 2, in, SIZE_MAX, out), WNNStatus_TypeError, "outputs are given, the graph has 1");
    in[2].tensor = odd;
    in[1].name = WNN_STR("q\n");
    REFUSED(wnnContextDispatch(c, g, 2, in, 1, out), WNNStatus_TypeError, "inputs[1]", "no such input", "q\\u{");
    in[1].name = WNN_STR("a");
    REFUSED(wnnContextDispatch(c, g, 2, in, 1, out), WNNStatus_TypeError, "inputs[0]", "inputs[1]", "\"a\"");
    in[1].name = (WNNStringView){"bc", 1}; /* sized: only "b" counts */
    out[0].name = WNN_STR("y");
    REFUSED(wnnContextDispatch(c, g, 2, in, 1, out), WNNStatus_TypeError, "outputs[0]", "\"y\"");
    out[0].name = WNN_STR("x");

    /* Names in another order than the graph's, twice the same graph; tensors need neither flag to be bound. */
    WNNTensor plain = fake_tensor(c, false, false);
    assert_int_equal(wnnContextWriteTensor(c, a, values, 16), WNNStatus_Success);
    assert_success(wnnContextDispatch(c, g, 2, (WNNNamedTensor[]){{WNN_STR("b"), plain}, {WNN_STR("a"), a}}, 1, out));
    float data[4];
    assert_int_equal(wnnContextReadTensor(c, x, data, 16), WNNStatus_Success);
    for (int i = 0; i < 4; i++)
        assert_true(data[i] == 2 * values[i]);

    wnnTensorDestroy(b);
    REFUSED(wnnContextDispatch(c, g, 2, in, 1, out), WNNStatus_TypeError, "input \"b\"", "destroyed");
    /* The graph's state comes before the tensors, its context before its state. */
    wnnGraphDestroy(g);
    wnnGraphDestroy(g);
    REFUSED(wnnContextDispatch(c, g, 2, in, 1, out), WNNStatus_InvalidStateError, "graph is destroyed");
    assert_int_equal(wnnContextDispatch(other, g, 2, in, 1, out), WNNStatus_TypeError);
    wnnGraphRelease(g);

    g = fake_graph(c, 2, 1, fake_double, NULL);
    wnnContextDestroy(c);
    REFUSED(wnnContextDispatch(c, g, 2, in, 1, out), WNNStatus_InvalidStateError, "context is lost");
    wnnGraphRelease(g);
    WNNTensor all[] = {a, b, x, foreign, constant, odd, plain};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        wnnTensorRelease(all[i]);
}

TEST(computes_are_checked)
{
    WNNGraph g = fake_graph(context, 2, 2, fake_double, NULL);
    float a[4] = {1, 2, 3, 4}, b[8] = {0}, x[8], y[4];
    WNNNamedBuffer in[2] = {{WNN_STR("a"), a, 16}, {WNN_STR("b"), b, 16}},
                   out[2] = {{WNN_STR("x"), x, 16}, {WNN_STR("y"), y, 16}};

    REFUSED(wnnGraphCompute(g, 1, in, 2, out), WNNStatus_TypeError, "compute", "1 input", "2");
    assert_int_equal(wnnGraphCompute(g, 2, NULL, 2, out), WNNStatus_TypeError);
    assert_int_equal(wnnGraphCompute(g, 2, in, 0, out), WNNStatus_TypeError);
    in[1].byteLength = 20;
    REFUSED(wnnGraphCompute(g, 2, in, 2, out), WNNStatus_TypeError, "input \"b\"", "20", "16");
    in[1].byteLength = 16;
    in[1].data = NULL;
    REFUSED(wnnGraphCompute(g, 2, in, 2, out), WNNStatus_TypeError, "input \"b\"", "NULL");
    in[1].data = a; /* inputs may share memory */
    assert_int_equal(wnnGraphCompute(g, 2, in, 2, out), WNNStatus_Success);
    assert_true(x[3] == 8);
    in[1].data = b;
    out[1].data = x + 3; /* by one element */
    REFUSED(wnnGraphCompute(g, 2, in, 2, out), WNNStatus_TypeError, "outputs \"x\" and \"y\" overlap");
    out[1].data = x + 4; /* next to each other */
    assert_int_equal(wnnGraphCompute(g, 2, in, 2, out), WNNStatus_Success);
    out[1].data = (char *)b + 15; /* by one byte */
    REFUSED(wnnGraphCompute(g, 2, in, 2, out), WNNStatus_TypeError, "input \"b\" and output \"y\" overlap");
    out[1].data = y;
    out[1].name = WNN_STR("x");
    assert_int_equal(wnnGraphCompute(g, 2, in, 2, out), WNNStatus_TypeError);
    out[1].name = WNN_STR("y");
    /* Any order. */
    WNNNamedBuffer swapped[2] = {in[1], in[0]};
    memset(x, 0, sizeof x);
    assert_int_equal(wnnGraphCompute(g, 2, swapped, 2, out), WNNStatus_Success);
    assert_true(x[1] == 4);

    wnnGraphDestroy(g);
    assert_int_equal(wnnGraphCompute(g, 2, in, 2, out), WNNStatus_InvalidStateError);
    assert_int_equal(wnnGraphCompute(g, 0, NULL, 0, NULL), WNNStatus_InvalidStateError);
    wnnGraphRelease(g);
    g = fake_graph(context, 2, 2, fake_double, NULL);
    wnnContextDestroy(context);
    REFUSED(wnnGraphCompute(g, 2, in, 2, out), WNNStatus_InvalidStateError, "lost");
    wnnGraphRelease(g);
}

TEST(graphs_are_described)
{
    OWNED(compiled) WNNGraph g = fake_graph(context, 3, 2, fake_double, NULL);
    WNNNamedOperandDescriptor d;

    assert_int_equal(wnnGraphGetInputCount(g), 3);
    assert_int_equal(wnnGraphGetOutputCount(g), 2);
    assert_int_equal(wnnGraphGetInput(g, 1, &d), WNNStatus_Success);
    assert_int_equal(d.name.length, 1);
    assert_string_equal(d.name.data, "b");
    assert_int_equal(d.descriptor.dataType, WNNOperandDataType_Float32);
    assert_int_equal(d.descriptor.rank, 1);
    assert_int_equal(d.descriptor.shape[0], 4);
    assert_int_equal(wnnGraphGetOutput(g, 1, &d), WNNStatus_Success);
    assert_string_equal(d.name.data, "y");
    REFUSED(wnnGraphGetInput(g, 3, &d), WNNStatus_TypeError, "input 3", "3");
    assert_int_equal(wnnGraphGetOutput(g, 2, &d), WNNStatus_TypeError);
    assert_int_equal(wnnGraphGetOutput(g, 0, NULL), WNNStatus_TypeError);
    wnnGraphDestroy(g);
    assert_int_equal(wnnGraphGetInput(g, 0, &d), WNNStatus_Success);
}

/* Inputs that no output depends on are no inputs of the graph; the others keep their order. */
TEST(unreachable_inputs_are_none)
{
    struct tensor_type type = {.type = WNNOperandDataType_Float32, .rank = 0};
    struct graph *g = graph_create();
    struct error e;
    WNNNamedOperandDescriptor d;

    error_clear(&e);
    struct value *a = graph_add_input(g, "a", 1, &type), *b = graph_add_input(g, "b\0c", 3, &type);
    struct node *used = node_create(g, NULL, OP_NEG, "", 1, &b, NULL, NULL, &e);
    struct node *unused = node_create(g, NULL, OP_ADD, "", 2, (struct value *[]){a, b}, NULL, NULL, &e);
    assert_non_null(unused);
    assert_true(graph_add_output(g, "o", 1, used->results[0]));
    OWNED(compiled) WNNGraph graph = graph_create_object(context, g, &e);
    graph_free(g);
    assert_non_null(graph);
    assert_int_equal(wnnGraphGetInputCount(graph), 1);
    assert_int_equal(wnnGraphGetInput(graph, 0, &d), WNNStatus_Success);
    assert_int_equal(d.name.length, 3);
    assert_memory_equal(d.name.data, "b\0c", 4);
    assert_int_equal(graph->inputs[0].slot, 1);
}

TEST(supported_types_are_told)
{
    assert_int_equal(runtime_supported_types(context, OP_RELU, 0), op_infos[OP_RELU].ins[0].types);
    /* add: b has the type of a, and so has the result. */
    assert_int_equal(runtime_supported_types(context, OP_ADD, 1), runtime_supported_types(context, OP_ADD, 0));
    assert_int_equal(runtime_supported_types(context, OP_ADD, OP_OPERANDS_MAX), runtime_supported_types(context, OP_ADD, 0));
    assert_int_equal(runtime_supported_types(context, OP_ADD, 0) & DT_AS_FLAG, 0);
}

/* ---- many names ---- */

enum { MANY = 40000 };

static struct graph_binding many_bindings[2][MANY];
static WNNNamedBuffer many_buffers[2][MANY];
static char many_names[2][MANY][8];
static float many_values[2][MANY];

/** A graph that is only asked whether a call fits it: i0, i1, ... and o0, o1, ..., all scalars.  Buffers come in reverse. */
static WNNGraph graph_of_many(WNNContext c)
{
    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < MANY; i++) {
            int length = snprintf(many_names[k][i], sizeof many_names[k][i], "%c%u", k ? 'o' : 'i', i);

            many_bindings[k][i] = (struct graph_binding){.name = many_names[k][i],
                                                         .name_length = (size_t)length,
                                                         .type = {.type = WNNOperandDataType_Float32},
                                                         .slot = i};
            many_buffers[k][MANY - 1 - i] =
                (WNNNamedBuffer){{many_names[k][i], (size_t)length}, &many_values[k][i], sizeof(float)};
        }
    WNNGraph g = graph_create_described(c, MANY, MANY, many_bindings[0], MANY, many_bindings[1], &(struct error){0});
    assert_non_null(g);
    assert_true(graph_publish(g));
    wnnContextAddRef(c);
    g->holds_context = true;
    return g;
}

/* Names come in any order, and buffers lie anywhere: the time does not grow with the square of their number. */
TEST(many_names_and_buffers)
{
    OWNED(compiled) WNNGraph g = graph_of_many(context);
    clock_t start = clock();

    many_buffers[1][7].data = &many_values[1][9]; /* of o39992, which o9 has, too */
    assert_int_equal(wnnGraphCompute(g, MANY, many_buffers[0], MANY, many_buffers[1]), WNNStatus_TypeError);
    MESSAGE_HAS("outputs", "\"o39992\"", "\"o9\"", "overlap");
    many_buffers[1][7].data = &many_values[0][MANY - 1];
    assert_int_equal(wnnGraphCompute(g, MANY, many_buffers[0], MANY, many_buffers[1]), WNNStatus_TypeError);
    MESSAGE_HAS("input \"i39999\" and output \"o39992\" overlap");
    many_buffers[1][0].data = &many_values[0][0];
    many_buffers[1][7].data = &many_values[1][MANY - 8];
    assert_int_equal(wnnGraphCompute(g, MANY, many_buffers[0], MANY, many_buffers[1]), WNNStatus_TypeError);
    MESSAGE_HAS("input \"i0\" and output \"o39999\" overlap");
    many_buffers[0][5].name = many_buffers[0][MANY - 1].name;
    assert_int_equal(wnnGraphCompute(g, MANY, many_buffers[0], MANY, many_buffers[1]), WNNStatus_TypeError);
    MESSAGE_HAS("inputs[5] and inputs[39999] are both named \"i0\"");
    many_buffers[0][5].name = WNN_STR("i40000");
    assert_int_equal(wnnGraphCompute(g, MANY, many_buffers[0], MANY, many_buffers[1]), WNNStatus_TypeError);
    MESSAGE_HAS("inputs[5]", "\"i40000\"", "no such input");
    assert_true((double)(clock() - start) / CLOCKS_PER_SEC < 2); /* comparing all pairs takes eight seconds */

    /* Of lists that are longer than the graph's nothing is read. */
    assert_int_equal(wnnGraphCompute(g, SIZE_MAX, many_buffers[0], MANY, many_buffers[1]), WNNStatus_TypeError);
    MESSAGE_HAS("inputs are given, the graph has 40000");
    assert_int_equal(wnnGraphCompute(g, MANY, many_buffers[0], SIZE_MAX, many_buffers[1]), WNNStatus_TypeError);
}

TEST_EACH(create_fake_context, release_fake_context)
