/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The ONNX reader on models made here: functions that are inlined, branches, loops and scans that are unrolled. */
#include <math.h>

#include "readers/onnx/net.h"
#include "support/close.h"

/** f(x; slope) = Elu(x, alpha = slope) + x */
static Onnx__FunctionProto *function(struct net *t, const char *name)
{
    Onnx__FunctionProto *f = keep(t, sizeof *f);

    onnx__function_proto__init(f);
    f->name = text(t, name);
    f->domain = text(t, "local");
    f->n_input = words(t, "x", &f->input);
    f->n_output = words(t, "y", &f->output);
    f->n_attribute = words(t, "slope", &f->attribute);
    f->node = keep(t, LIST * sizeof *f->node);
    f->opset_import = t->opsets;
    f->n_opset_import = 1;
    t->functions[t->model.n_functions++] = f;
    return f;
}

TEST(functions_are_inlined)
{
    static const float x[2] = {-1, 3};
    float y[2], e = expm1f(-1);

    Onnx__FunctionProto *f = function(t, "f");
    f->node[f->n_node++] = make_node(t, "Elu", "x", "e");
    attribute(t, f->node[0], "alpha", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT)->ref_attr_name = text(t, "slope");
    f->node[f->n_node++] = make_node(t, "Add", "e x", "y");
    input(t, "x", F32, "2");
    Onnx__NodeProto *call = node(t, "f", "x", "y");
    call->domain = text(t, "local");
    computes(x, y); /* without the attribute: Elu's own default */
    assert_close(y[0], e - 1, 1e-6);
    attribute_float(t, call, "slope", 2);
    computes(x, y);
    assert_close(y[0], 2 * e - 1, 1e-6);
    assert_close(y[1], 6, 0);
    /* A function that calls itself. */
    f->node[1]->op_type = text(t, "f");
    f->node[1]->domain = text(t, "local");
    f->node[1]->n_input = 1;
    refused(t, NULL, "more than 32 deep");
}

/** Functions that call the one before them 60 times each: a small file for a graph without end. */
TEST(unrolled_nodes_are_limited)
{
    enum { CALLS = 27 };

    for (int level = 0; level < 4; level++) {
        const char *names[] = {"f0", "f1", "f2", "f3"};
        Onnx__FunctionProto *f = function(t, names[level]);

        for (int i = 0; i < CALLS; i++) {
            char result[16];

            snprintf(result, sizeof result, i ? "r%d" : "y", i);
            f->node[f->n_node] = make_node(t, level ? names[level - 1] : "Neg", "x", result);
            f->node[f->n_node++]->domain = text(t, level ? "local" : "");
        }
    }
    input(t, "x", F32, "1");
    node(t, "f2", "x", "y")->domain = text(t, "local");
    reads(t, NULL); /* 27^3 + 27^2 + 27 + 1 nodes */
    t->graph.node[0]->op_type = text(t, "f3");
    refused(t, NULL, " operations, and 67"); /* for one more node, or for the steps of many, whichever passes the limit */
}

TEST(if_takes_a_branch)
{
    static const float x[2] = {-1, 3};
    static const unsigned char yes = 1;
    float y[2];
    Onnx__GraphProto *a, *b;

    net(17, "x 2", "y = If c");
    initializer(t, tensor(t, "c", BOOL, 0, NULL, &yes, 1));
    a = attribute_graph(t, t->graph.node[0], "then_branch");
    node_in(t, a, "Neg", "x", "r"); /* x from outside */
    outputs_in(t, a, "r");
    b = attribute_graph(t, t->graph.node[0], "else_branch");
    node_in(t, b, "NoSuchThing", "x", "r");
    outputs_in(t, b, "r");
    computes(x, y);
    assert_true(y[0] == 1 && y[1] == -3);
    /* A condition that is computed: both branches, then. */
    t->graph.n_initializer = 0;
    integer(t, "zero", 0);
    nodes_in(t, &t->graph, "m = ReduceMax x, keepdims 0; c = Cast m, to 9");
    refused(t, NULL,
            "\"n_y\" (If): its condition depends on an input of the model, \"x\", so that both branches would be built, and "
            "else_branch cannot be: the value of x, given by constants, says which branch is taken: \"n_y/n_r\" (NoSuchThing)");
    b->node[0]->op_type = text(t, "Relu");
    computes(x, y);
    assert_true(y[0] == 1 && y[1] == -3);
}

/** Large branches are loops that do not begin where the other one is taken (pass separate-branches), also where a result has no
 * elements in one of them, or is not wanted. */
TEST(an_if_takes_one_of_two_large_branches)
{
    enum { SIZE = 256 };
    float x[SIZE] = {0}, y[SIZE], z[SIZE], *w = keep(t, sizeof(float[SIZE * SIZE]));
    void *const in[] = {x}, *const out[] = {y, z};
    Onnx__GraphProto *branch;

    for (int i = 0; i < SIZE; i++)
        w[i * SIZE + i] = 2;
    initializer(t, tensor(t, "w", F32, 2, (int64_t[]){SIZE, SIZE}, w, sizeof(float[SIZE * SIZE])));
    initializer(t, tensor(t, "none", F32, 2, (int64_t[]){0, 1}, NULL, 0));
    input(t, "x", F32, "1 256");
    output(t, "y z");
    nodes_in(t, &t->graph, "m = ReduceMax x, keepdims 0; c = Cast m, to 9; y z = If c");
    branch = attribute_graph(t, t->graph.node[2], "then_branch");
    nodes_in(t, branch, "r = MatMul x w; e = Identity none");
    outputs_in(t, branch, "r e");
    branch = attribute_graph(t, t->graph.node[2], "else_branch");
    nodes_in(t, branch, "q = MatMul x w; r = Neg q; p = MatMul q w; e = Abs p");
    outputs_in(t, branch, "r e");
    for (int taken = 0; taken < 2; taken++) {
        x[1] = taken ? 1 : -1;
        run(t, in, out, (size_t[]){sizeof y, sizeof z});
        assert_true(y[1] == 2 && (taken || z[1] == 4));
        y[1] = 0;
        computes(x, y);
        assert_true(y[0] == 0 && y[1] == 2);
    }
    /* What has no elements in both is nothing to select, of one shape. */
    initializer(t, tensor(t, "nil", F32, 2, (int64_t[]){0, 2}, NULL, 0));
    branch->node[3] = make_node(t, "Identity", "nil", "e");
    refused(
        t, NULL,
        "\"n_y z\" (If): its condition depends on an input of the model, \"x\", and output 1, float32 [0, 1] in then_branch "
        "and "
        "float32 [0, 2] in else_branch, has no elements in either: the value of x, given by constants, says which branch is");
    branch->node[3] = make_node(t, "Identity", "none", "e");
    computes(x, y);
    assert_true(y[1] == 2);
}

/** A rate decides between networks of other shapes, as published networks of speech have it. */
TEST(an_if_between_shapes_says_which_constant_decides)
{
    static int64_t rate = 16000;
    struct npy_array array = {WNNOperandDataType_Int64, 0, {0}, sizeof rate, &rate, false};
    struct model_constant constant = {"sr", &array, true};
    struct model_options options = {.constant_count = 1, .constants = &constant};
    Onnx__GraphProto *a, *b;

    input(t, "x", F32, "2 3");
    input(t, "sr", I64, "1");
    integer(t, "fast", 16000);
    nodes_in(t, &t->graph, "c = Equal sr fast; y = If c");
    a = attribute_graph(t, t->graph.node[1], "then_branch");
    node_in(t, a, "Neg", "x", "r");
    outputs_in(t, a, "r");
    b = attribute_graph(t, t->graph.node[1], "else_branch");
    node_in(t, b, "Transpose", "x", "r");
    outputs_in(t, b, "r");
    refused(
        t, NULL,
        "\"n_y\" (If): its condition depends on an input of the model, \"sr\", and output 0 is float32 [2, 3] in "
        "then_branch and "
        "float32 [3, 2] in else_branch, which may differ in one size only: the value of sr, given by constants, says which");
    reads(t, &options);
    expect_shape(t, SHAPE(2, 3));
    rate = 8000;
    reads(t, &options);
    expect_shape(t, SHAPE(3, 2));
}

/** What a program does with lists of rows, taken apart by a split and put together again. */
TEST(sequences_of_known_length_leave_no_trace)
{
    static const float x[6] = {1, 2, 3, 4, 5, 6};
    float y[6];

    input(t, "x", F32, "3 2");
    integer(t, "zero", 0);
    integer(t, "last", -1);
    nodes_in(t, &t->graph,
             "rows = SplitToSequence x; rest = SequenceErase rows zero; row = SequenceAt rows last; inserted "
             "= SequenceInsert rest row zero; optional = Optional inserted; list = OptionalGetElement optional");
    Onnx__NodeProto *map = node(t, "SequenceMap", "list row", "mapped");
    Onnx__GraphProto *body = attribute_graph(t, map, "body");
    body->input[body->n_input++] = port(t, "item", F32, "1 2");
    body->input[body->n_input++] = port(t, "other", F32, "1 2");
    node_in(t, body, "Add", "item other", "sum");
    outputs_in(t, body, "sum");
    attribute_int(t, node(t, "ConcatFromSequence", "mapped", "y"), "axis", 0);
    computes(x, y);
    assert_memory_equal(y, ((float[]){10, 12, 8, 10, 10, 12}), sizeof y);
    *(int64_t *)t->graph.initializer[1]->raw_data.data = 3;
    refused(t, NULL, "\"n_row\" (SequenceAt): the position is 3");
    *(int64_t *)t->graph.initializer[1]->raw_data.data = -1;
    map->input[0] = text(t, "row");
    refused(t, NULL, "\"n_mapped\" (SequenceMap): input 0 is not a sequence of tensors");
    map->op_type = text(t, "SequenceEmpty");
    map->n_input = map->n_attribute = 0;
    refused(t, NULL, "\"n_y\" (ConcatFromSequence): its sequence has no elements");
    t->graph.output[0]->name = text(t, "rows");
    refused(t, NULL, "\"rows\" (output of the model): an input is a sequence of tensors");
    net(15, "x 1", "y = SequenceConstruct x - x");
    refused(t, NULL, "input 1 is left out; a sequence has all of its tensors");
}

/** list = []; for (i = 0; i < 20; i++) list.append(x * i); y = stack(list), if an absent value is not there */
TEST(loops_that_append_are_unrolled)
{
    static const float x[2] = {1, 2};
    float y[40];

    net(17, "x 2", "empty = SequenceEmpty; list = Loop trips - empty");
    integer(t, "trips", 20);
    Onnx__GraphProto *body = loop_body(t, t->graph.node[1], "list_in", "");
    attribute_int(t, node_in(t, body, "Cast", "i", "number"), "to", F32);
    nodes_in(t, body, "row = Mul x number; list_out = SequenceInsert list_in row");
    outputs_in(t, body, "go list_out");
    nodes_in(t, &t->graph, "absent = Optional; has = OptionalHasElement absent; y = If has");
    outputs_in(t, attribute_graph(t, t->graph.node[4], "then_branch"), "x");
    body = attribute_graph(t, t->graph.node[4], "else_branch");
    Onnx__NodeProto *stack = node_in(t, body, "ConcatFromSequence", "list", "r");
    attribute_int(t, stack, "axis", 0);
    attribute_int(t, stack, "new_axis", 1);
    outputs_in(t, body, "r");
    computes(x, y);
    for (int i = 0; i < 40; i++)
        assert_true(y[i] == x[i % 2] * (float)(i / 2));
}

/** for (i = 0; i < 4 && i < limit; i++) { s = s + x; collected: s } */
TEST(loops_are_unrolled)
{
    static const float x[2] = {1, 2};
    float y[8];

    net(17, "x 2", "s y = Loop trips - x");
    integer(t, "trips", 4);
    integer(t, "last", 3);
    Onnx__GraphProto *body = loop_body(t, t->graph.node[0], "s_in", "2");
    nodes_in(t, body, "go_on = Less i last; s_out = Add s_in x");
    outputs_in(t, body, "go_on s_out s_out");
    reads(t, NULL);
    expect_shape(t, SHAPE(4, 2));
    compute(t, x, sizeof x, y, sizeof y);
    assert_memory_equal(y, ((float[]){2, 4, 3, 6, 4, 8, 5, 10}), sizeof y);
    *(int64_t *)t->graph.initializer[1]->raw_data.data = 1; /* the condition ends it after i = 1 */
    reads(t, NULL);
    expect_shape(t, SHAPE(2, 2));
    *(int64_t *)t->graph.initializer[0]->raw_data.data = INT64_MAX;
    *(int64_t *)t->graph.initializer[1]->raw_data.data = INT64_MAX;
    refused(t, NULL, "more than 1024 iterations");
}

/** Makes the body of the first node: s = s + x, and it goes on while max(s) < limit. */
static Onnx__GraphProto *body_with_limit(struct net *t)
{
    Onnx__GraphProto *body = loop_body(t, t->graph.node[0], "s_in", "2");
    nodes_in(t, body, "s_out = Add s_in x; m = ReduceMax s_out, keepdims 0; go_on = Less m limit");
    outputs_in(t, body, "go_on s_out");
    return body;
}

/** for (i = 0; i < 5 && max(s) < 4; i++) s = s + x, with the condition known at run time only. */
TEST(loops_with_computed_conditions_are_read)
{
    static const unsigned char yes = 1;
    static const float four = 4;
    float x[2] = {1, 0.5f}, y[2];

    net(17, "x 2", "y = Loop trips yes x");
    integer(t, "trips", 5);
    initializer(t, tensor(t, "yes", BOOL, 0, NULL, &yes, 1));
    initializer(t, tensor(t, "limit", F32, 0, NULL, &four, sizeof four));
    Onnx__GraphProto *body = body_with_limit(t);
    output(t, "y");
    computes(x, y);
    assert_true(y[0] == 4 && y[1] == 2); /* 2, 3, 4: and then no more */
    x[0] = 10;
    computes(x, y);
    assert_true(y[0] == 20 && y[1] == 1); /* once at least */
    x[0] = 0.5f;
    computes(x, y);
    assert_true(y[0] == 3 && y[1] == 3);      /* five times */
    t->graph.node[0]->input[0] = text(t, ""); /* as often as it takes */
    x[0] = x[1] = 1 / 1024.F;
    reads(t, NULL);
    assert_non_null(strstr(t->read.notes, "or after 65536 iterations"));
    compute(t, x, sizeof x, y, sizeof y);
    assert_true(y[0] == 4 && y[1] == 4); /* after 4095 times */
    t->graph.node[0]->input[0] = text(t, "trips");
    outputs_in(t, body, "s_out"); /* all states are an output */
    t->graph.node[0]->output[t->graph.node[0]->n_output++] = text(t, "collected");
    output(t, "collected");
    x[0] = 1;
    float all[5][2];
    int32_t count;
    const WNNNamedBuffer in = {WNN_STR("x"), x, sizeof x}, out[] = {{WNN_STR("y"), y, sizeof y},
                                                                    {WNN_STR("collected"), all, sizeof all},
                                                                    {WNN_STR("collected.shape[0]"), &count, sizeof count}};
    WNNGraph graph;
    reads(t, NULL);
    assert_int_equal(model_build(&t->read, &graph, &t->error), WNNStatus_Success);
    assert_int_equal(wnnGraphCompute(graph, 1, &in, 3, out), WNNStatus_Success);
    wnnGraphRelease(graph);
    assert_int_equal(count, 3);
    for (int i = 0; i < 3; i++)
        assert_true(all[i][0] == (float)(i + 2) && y[0] == 4);
}

TEST(scans_are_unrolled)
{
    static const float x[6] = {1, 2, 3, 4, 5, 6};
    float y[6];
    static const float zero[2];

    net(17, "x 3 2", "s y = Scan s0 x");
    initializer(t, tensor(t, "s0", F32, 1, (int64_t[]){2}, zero, sizeof zero));
    attribute_int(t, t->graph.node[0], "num_scan_inputs", 1);
    Onnx__GraphProto *body = attribute_graph(t, t->graph.node[0], "body");
    body->input[body->n_input++] = port(t, "s_in", F32, "2");
    body->input[body->n_input++] = port(t, "row", F32, "2");
    node_in(t, body, "Add", "s_in row", "s_out");
    outputs_in(t, body, "s_out s_out");
    computes(x, y);
    assert_memory_equal(y, ((float[]){1, 2, 4, 6, 9, 12}), sizeof y);
}

/** Makes a body of the first node: y = 2 * the last input (x if there is none) + 1, with the names of later values around it.
 */
static void body_of_names(struct net *t, const char *name, const char *inputs, const char *outputs)
{
    Onnx__GraphProto *body = attribute_graph(t, t->graph.node[0], name);
    char **names;
    size_t count = words(t, inputs, &names);

    for (size_t i = 0; i < count; i++)
        body->input[body->n_input++] = port(t, names[i], F32, NULL);
    body->initializer[body->n_initializer++] = tensor(t, "later", F32, 0, NULL, &(float){2}, sizeof(float));
    node_in(t, body, "Mul", "later x", "last");
    if (count)
        body->node[0]->input[1] = names[count - 1];
    node_in(t, body, "If", "yes", "y");
    for (int b = 0; b < 2; b++) {
        Onnx__GraphProto *inner = attribute_graph(t, body->node[1], b ? "then_branch" : "else_branch");

        node_in(t, inner, "Add", "last early", "y");
        outputs_in(t, inner, "y");
    }
    count = words(t, outputs, &names);
    for (size_t i = 0; i < count; i++)
        body->output[body->n_output++] = port(t, names[i], F32, NULL);
}

/** Inputs, initializers and results of bodies may have the names of what nodes around them compute later. */
TEST(names_of_bodies_are_their_own)
{
    static const struct {
        const char *type, *inputs, *body, *body_inputs, *body_outputs;
    } cases[] = {
        {"If", "yes", "then_branch", "", "y"},
        {"If", "at_run_time", "then_branch", "", "y"},
        {"Loop", "one - x", "body", "i z rows", "z y"},
        {"Scan", "x", "body", "rows", "y"},
    };
    static const float x[2] = {1, 2};
    float y[2];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        start(t, 17);
        input(t, "x", F32, "2");
        initializer(t, tensor(t, "yes", BOOL, 0, NULL, &(char){1}, 1));
        integer(t, "one", 1);
        node(t, cases[i].type, cases[i].inputs, "y");
        body_of_names(t, cases[i].body, cases[i].body_inputs, cases[i].body_outputs);
        if (!strcmp(cases[i].type, "If"))
            body_of_names(t, "else_branch", "", "y");
        else if (!strcmp(cases[i].type, "Scan"))
            attribute_int(t, t->graph.node[0], "num_scan_inputs", 1);
        node(t, "Sub", "x x", "zeros"); /* comes after the body that reads its result */
        nodes_in(t, &t->graph,
                 "zero = ReduceMax zeros, keepdims 0; early = Cos zero; at_run_time = Cast early, to 9; "
                 "last = Neg y; later = Add last early; z = Sub later early; rows = Neg z");
        output(t, "rows");
        computes(x, y);
        assert_true(y[0] == 3 && y[1] == 5);
    }
}

enum { MANY = 100000 };

/** for (i = 0; i < 100000 && go; i++) { s = s * 0.5 + x + i; collected: s } */
TEST(many_turns_are_a_loop)
{
    static const float half = 0.5f, x[2] = {1, 2};
    static float y[2 * MANY];
    float want[2] = {1, 2};

    net(17, "x 2", "s y = Loop trips - x");
    integer(t, "trips", MANY);
    initializer(t, tensor(t, "half", F32, 0, NULL, &half, sizeof half));
    Onnx__GraphProto *body = loop_body(t, t->graph.node[0], "s_in", "2");
    attribute_int(t, node_in(t, body, "Cast", "i", "f"), "to", F32);
    nodes_in(t, body, "h = Mul s_in half; hx = Add h x; s_out = Add hx f; go_on = Identity go");
    outputs_in(t, body, "go_on s_out s_out");
    reads(t, NULL);
    expect_shape(t, SHAPE(MANY, 2));
    compute(t, x, sizeof x, y, sizeof y);
    for (int i = 0; i < MANY; i++)
        for (int k = 0; k < 2; k++) {
            want[k] = want[k] * half + x[k] + (float)i;
            assert_true(fabsf(y[2 * i + k] - want[k]) <= 1e-6f * (want[k] + 1));
        }
    body->output[2]->name = text(t, "h"); /* of an iteration, and not of the loop */
    reads(t, NULL);
    node_in(t, body, "Concat", "s_in s_in", "s_out2");
    attribute_int(t, body->node[body->n_node - 1], "axis", 0);
    body->output[1]->name = text(t, "s_out2");
    refused(t, NULL, "too many to be unrolled, and value 0 changes its shape");
}

/** A computed condition stops what a loop of many iterations changes. */
TEST(many_turns_with_computed_conditions_are_a_loop)
{
    static const float most = 5000;
    const float x[2] = {1, 0.5f};
    float y[2];

    net(17, "x 2", "y = Loop trips - x");
    integer(t, "trips", MANY);
    initializer(t, tensor(t, "limit", F32, 0, NULL, &most, sizeof most));
    body_with_limit(t);
    computes(x, y);
    assert_true(y[0] == 5000 && y[1] == 2500);
}

enum { STEPS = 3000 };

/** s = s - a[:, t] * 0.25 + b[last - t]; y[last - t] = s, z[:, t] = a[:, t] - s; the sums of s are exact. */
static void scan_of_directions(int backward)
{
    static float x[2 * STEPS], y[STEPS * 2], a[2][STEPS];
    static const float quarter = 0.25f, zero[2];
    float s[2] = {0, 0};

    for (int i = 0; i < STEPS; i++)
        for (int k = 0; k < 2; k++)
            x[k * STEPS + i] = a[k][i] = (float)((i * 7 + k * 3) % 16) - 8;
    net(17, "x 2 3000", "b = Transpose x");
    initializer(t, tensor(t, "s0", F32, 1, (int64_t[]){2}, zero, sizeof zero));
    initializer(t, tensor(t, "quarter", F32, 0, NULL, &quarter, sizeof quarter));
    Onnx__NodeProto *scan =
        nodes_in(t, &t->graph, "s y z = Scan s0 x b, num_scan_inputs 2, scan_input_axes [1 0], scan_output_axes [0 -1]");
    INTS(t, scan, "scan_input_directions", 0, backward);
    INTS(t, scan, "scan_output_directions", backward, 0);
    Onnx__GraphProto *body = attribute_graph(t, scan, "body");
    body->input[body->n_input++] = port(t, "s_in", F32, "2");
    body->input[body->n_input++] = port(t, "at", F32, "2");
    body->input[body->n_input++] = port(t, "bt", F32, "2");
    nodes_in(t, body, "q = Mul at quarter; u = Sub s_in q; s_out = Add u bt; zt = Sub at s_out");
    outputs_in(t, body, "s_out s_out zt");
    node(t, "Transpose", "z", "zy");
    node(t, "Add", "y zy", "r"); /* y[t'] + a[:, t'] - s of another iteration: both directions are seen */
    output(t, "r");
    reads(t, NULL);
    expect_shape(t, SHAPE(STEPS, 2));
    compute(t, x, sizeof x, y, sizeof y);
    for (int k = 0; k < 2; k++) {
        static float states[STEPS];
        for (int i = 0; i < STEPS; i++)
            states[i] = s[k] = s[k] - a[k][i] * 0.25f + a[k][backward ? STEPS - 1 - i : i];
        for (int i = 0; i < STEPS; i++)
            assert_true(y[2 * i + k] == states[backward ? STEPS - 1 - i : i] + (a[k][i] - states[i]));
    }
}

TEST(long_scans_are_loops)
{
    scan_of_directions(0);
    scan_of_directions(1);
}

enum { TURNS = 1000, WIDE = 128 };

/** Starts a model with x [1000, 1, 128], weights w [128, 128] and a state s0, zeros. */
static void start_wide(struct net *t)
{
    start(t, 17);
    float *w = keep(t, sizeof(float[WIDE * WIDE]));
    input(t, "x", F32, "1000 1 128");
    for (int i = 0; i < WIDE * WIDE; i++)
        w[i] = (float)((i * 7 + i / WIDE) % 16 - 8) / 512;
    initializer(t, tensor(t, "w", F32, 2, (int64_t[]){WIDE, WIDE}, w, sizeof(float[WIDE * WIDE])));
    initializer(t, tensor(t, "s0", F32, 2, (int64_t[]){1, WIDE}, keep(t, sizeof(float[WIDE])), sizeof(float[WIDE])));
}

/** Builds and computes t, whose output y has as many elements as x. */
static void compute_wide(struct net *t)
{
    static float x[TURNS * WIDE], y[TURNS * WIDE];

    for (int i = 0; i < TURNS * WIDE; i++)
        x[i] = (float)(i % 13 - 6) / 8;
    computes(x, y);
}

/** What a body makes of constants is computed once: the default budget would not do for as many times as there are iterations.
 */
TEST(loops_compute_constants_once)
{
    start_wide(t);
    integer(t, "trips", TURNS);
    node(t, "Loop", "trips - s0", "s y");
    Onnx__GraphProto *body = loop_body(t, t->graph.node[0], "s_in", "1 128");
    nodes_in(t, body, "wt = Transpose w; p = MatMul s_in wt; xi = Gather x i; q = Add p xi; s_out = Tanh q");
    outputs_in(t, body, "go s_out s_out");
    compute_wide(t);
}

/** So is what the steps of a layer with lengths make of its weights. */
TEST(layers_compute_constants_once)
{
    start_wide(t);
    float *w = keep(t, sizeof(float[3 * WIDE * WIDE]));
    initializer(t, tensor(t, "r", F32, 3, (int64_t[]){1, 3 * WIDE, WIDE}, w, sizeof(float[3 * WIDE * WIDE])));
    node(t, "Shape", "x", "sizes");
    attribute_int(t, t->graph.node[0], "start", 1);
    attribute_int(t, t->graph.node[0], "end", 2);
    nodes_in(t, &t->graph, "length = Cast sizes, to 6; y = GRU x r r - length");
    compute_wide(t);
}

TEST_GROUP(create_context, release_context)
