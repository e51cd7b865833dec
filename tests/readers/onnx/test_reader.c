/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The ONNX reader on models made here: shapes that are computed, dimensions that are bound, refusals, and numbers.
 * Control flow is in test_control.c, files in test_files.c.
 */
#include <math.h>

#include "readers/onnx/net.h"

/* ---- graphs ---- */

/** Shape -> Gather -> Concat -> Reshape, as exporters write a flatten. */
TEST(computed_shapes_become_numbers)
{
    static const float x[24] = {7};
    float y[24];

    input(t, "x", F32, "batch 3 4");
    integer(t, "zero", 0);
    integers(t, "minus", 1, (int64_t[]){-1});
    integers(t, "first", 1, (int64_t[]){0});
    nodes_in(t, &t->graph,
             "s = Shape x; b = Gather s zero; bs = Unsqueeze b first; shape = Concat bs minus, axis 0; y = Reshape x shape");
    refused(t, NULL, "dimension \"batch\" (of \"x\") has no size: give it by dimensions or shapes");
    refused(t, &(struct model_options){.command = true}, "give it by --dim or --shape");
    t->graph.input[0]->type->tensor_type->shape->dim[2]->has_dim_value = 0;
    refused(t, NULL, "input \"x\" has a dimension 2 of no fixed size"); /* all of them are named */
    t->graph.input[0]->type->tensor_type->shape->dim[2]->has_dim_value = 1;
    reads(t, &(struct model_options){.dim_count = 1, .dims = &(struct model_dim){"batch", 2}});
    expect_shape(t, SHAPE(2, 12));
    compute(t, x, sizeof x, y, sizeof y);
    assert_memory_equal(x, y, sizeof x);
}

/** Lists without elements, ranges, indices of elements that are not 0: none of them exists in WebNN. */
TEST(constants_without_operands_are_computed)
{
    input(t, "x", F32, "2 3");
    integers(t, "zero", 1, (int64_t[]){0});
    integer(t, "from", 2);
    integer(t, "to", 8);
    integer(t, "step", 2);
    nodes_in(t, &t->graph, /* r is 2 4 6, nz 0 1 2, one 1 */
             "s = Shape x; none = Slice s zero zero; r = Range from to step; nz = NonZero r; flat = Squeeze nz zero; one = "
             "ReduceProd none; three = ReduceSum flat; size = Mul one three; shape = Concat none size, axis 0; c = "
             "ConstantOfShape shape; y = Add x c");
    reads(t, NULL);
    expect_shape(t, SHAPE(2, 3));
}

TEST(nodes_are_taken_in_any_order)
{
    input(t, "x", F32, "2");
    nodes_in(t, &t->graph, "y = Relu b; b = Abs a; a = Neg x");
    reads(t, NULL);
    t->graph.node[2]->input[0] = text(t, "y");
    refused(t, NULL, "depends on its own result");
    t->graph.node[2]->input[0] = text(t, "nowhere");
    refused(t, NULL, "reads \"nowhere\", which is not an input");
    t->graph.node[2]->input[0] = text(t, "x");
    t->graph.node[2]->output[0] = text(t, "b");
    refused(t, NULL, "two nodes have a result \"b\", the second is \"n_a\" (Neg)");
}

TEST(outputs_may_be_inputs_or_constants)
{
    static const float x[2] = {1, -2};
    float y[2];

    net(17, "x 2", "i = Identity x; s = SequenceConstruct i; y = ConcatFromSequence s, axis 0");
    computes(x, y);
    assert_memory_equal(x, y, sizeof x);
    initializer(t, tensor(t, "c", F32, 1, (int64_t[]){2}, x, sizeof x));
    t->graph.output[0]->name = text(t, "c");
    computes(x, y);
    assert_memory_equal(x, y, sizeof x);
}

TEST(inputs_have_defaults_and_may_be_booleans)
{
    static const float w[2] = {1, 2};
    static float other[2] = {10, 20};
    const struct npy_array array = {WNNOperandDataType_Float32, 1, {2}, sizeof other, other, false};
    const struct model_constant constant = {"w", &array, false};
    const struct model_options options = {.constant_count = 1, .constants = &constant};
    float y[2];

    inputs_of(t, F32, "x 2; w 2");
    input(t, "m", BOOL, "2");
    initializer(t, tensor(t, "w", F32, 1, (int64_t[]){2}, w, sizeof w));
    nodes_in(t, &t->graph, "y = Where m x w; z = Not m");
    output(t, "y z");
    reads(t, NULL);
    assert_int_equal(t->read.input_count, 2); /* w has its value */
    assert_true(t->read.inputs[1].is_boolean);
    assert_false(t->read.outputs[0].is_boolean);
    assert_true(t->read.outputs[1].is_boolean);
    const struct model_shape unknown = {.name = "v", .rank = 1, .dims = {2}, .file = "v.npy"};
    refused(t, &(struct model_options){.shape_count = 1, .shapes = &unknown}, "there is no input 'v'; there are 'x', 'm'");
    /* Unless the caller has another value for it. */
    t->graph.n_node = 0;
    node(t, "Add", "x w", "y");
    t->graph.n_output = 1;
    reads(t, &options);
    compute(t, w, sizeof w, y, sizeof y);
    assert_true(y[0] == 11 && y[1] == 22);
}

TEST(inputs_become_constants)
{
    static int64_t shape[2] = {3, 2};
    struct npy_array array = {WNNOperandDataType_Int64, 1, {2}, sizeof shape, shape, false};
    struct model_constant constant = {"s", &array, false};
    struct model_options options = {.constant_count = 1, .constants = &constant};

    input(t, "x", F32, "6");
    input(t, "s", I64, "2");
    node(t, "Reshape", "x s", "y");
    refused(t, NULL,
            "input 1 depends on an input of the model, \"s\", but a static graph needs its value when it is built: the option "
            "constants gives it");
    reads(t, &options);
    expect_shape(t, SHAPE(3, 2));
    assert_int_equal(t->read.input_count, 1);
    array.dataType = WNNOperandDataType_Float32;
    array.byteLength = 2 * sizeof(float);
    refused(t, &options, "is of type float32, the input of type int64: float32 numbers are not converted to int64");
    constant.name = "missing";
    refused(t, &options, "there is no input 'missing'; there are 'x', 's'");
}

TEST(dimensions_are_bound_by_shapes)
{
    struct model_shape shape = {"x", 2, {5, 3}, NULL};
    struct model_dim dim = {"n", 5}, dims[] = {{"n", 5}, {"n", 6}};
    struct model_options options = {.shape_count = 1, .shapes = &shape};

    net(17, "x n 3; z n 1", "y = Add x z");
    reads(t, &options); /* n from x, so z is known, too */
    expect_shape(t, SHAPE(5, 3));
    shape.dims[1] = 0;
    refused(t, &options, "has the shape [n, 3], the shape given for it [5, 0]");
    shape.dims[1] = 3;
    options.dim_count = 1;
    options.dims = &dim;
    reads(t, &options);
    dim.size = 6;
    refused(t, &options, "dimension 'n' is given as 6 and as 5");
    refused(t, &(struct model_options){.dim_count = 2, .dims = dims}, "dimension 'n' is given as 5 and as 6");
    dim = (struct model_dim){"m", 6};
    refused(t, &options, "no dimension of an input is called 'm'; there are 'n'");
    assert_null(strstr(t->error.message, "did you mean"));
    shape.name = "q";
    options.dim_count = 0;
    refused(t, &options, "there is no input 'q'");
    refused(t, NULL, "\n  dimension \"n\" (of \"x\", \"z\") has no size"); /* one line for both inputs */
    assert_null(strstr(strstr(t->error.message, "dimension") + 1, "dimension \"n\""));
    net(17, "x 2", "y = Relu x");
    options = (struct model_options){.dim_count = 1, .dims = &dim};
    refused(t, &options, "no dimension of an input is called 'm'; there is none");
    net(17, "x batch sequence", "y = Relu x");
    dim = (struct model_dim){"sequense", 6};
    refused(t, &options,
            "no dimension of an input is called 'sequense'; did you mean 'sequence'?  There are 'batch', 'sequence'");
}

/* ---- what cannot be expressed ---- */

TEST(all_refusals_are_told_at_once)
{
    input(t, "x", F32, "2");
    nodes_in(t, &t->graph, /* Cast reads an absent value: not reported */
             "a = TfIdfVectorizer x; b = Cast a, to 1; c = Elu x, beta 1; d = NoSuchThing b; e = Relu x");
    output(t, "c d e");
    reads(t, &(struct model_options){.output_count = 1, .outputs = (const char *const[]){"e"}}); /* which needs none of them */
    refused(t, NULL, "3 nodes cannot be expressed");
    assert_non_null(strstr(t->error.message, "\"n_a\" (TfIdfVectorizer): WebNN does not count n-grams"));
    assert_non_null(strstr(t->error.message, "\"n_c\" (Elu): attribute beta has no meaning"));
    assert_non_null(strstr(t->error.message, "\"n_d\" (NoSuchThing): "));
    assert_null(strstr(t->error.message, "(Cast)"));
}

/** A message has room for some of many lines: those are whole, and the others are counted. */
TEST(many_refusals_are_counted)
{
    enum { NODES = 60 };
    const char *line, *end;
    unsigned listed = 0, more = 0;

    input(t, "x", F32, "2");
    for (int i = 0; i < NODES; i++) {
        char *name = keep(t, 16);

        snprintf(name, 16, "e%d", i);
        node(t, "Elu", "x", name);
        attribute_int(t, t->graph.node[i], "beta", 1);
        output(t, name);
    }
    refused(t, NULL, "60 nodes cannot be expressed");
    for (line = strstr(t->error.message, "\n  \""); line; line = strstr(end, "\n  \""), listed++) {
        end = line + 1 + strcspn(line + 1, "\n");
        assert_in_range((uintptr_t)strstr(line, "attribute beta has no meaning"), (uintptr_t)line, (uintptr_t)end);
    }
    assert_int_equal(sscanf(strstr(t->error.message, "  and "), "  and %u more", &more), 1);
    assert_true(listed > 3);
    assert_int_equal(listed + more, NODES);
}

TEST(inputs_left_out_are_refused)
{
    input(t, "x", F32, "2");
    node(t, "CastLike", "x x", "y");
    reads(t, NULL);
    t->graph.node[0]->input[0][0] = '\0'; /* an empty name is an input that is not there */
    refused(t, NULL, "input 0 is left out, it needs the first 2");
    t->graph.node[0]->op_type = text(t, "Add");
    refused(t, NULL, "input 0, a, is left out");
}

TEST(attributes_of_another_kind_are_refused)
{
    input(t, "x", F32, "2");
    node(t, "Elu", "x", "y");
    attribute_int(t, t->graph.node[0], "alpha", 1);
    refused(t, NULL, "attribute alpha is an integer, it must be a float");
    t->graph.node[0]->n_attribute = 0;
    attribute_float(t, t->graph.node[0], "alpha", 1);
    reads(t, NULL);
    attribute_float(t, t->graph.node[0], "alpha", 2);
    refused(t, NULL, "attribute alpha is given twice");

    Onnx__AttributeProto *mode;
    start(t, 17);
    input(t, "x", F32, "2");
    integers(t, "pads", 2, (int64_t[]){1, 1});
    mode = attribute(t, node(t, "Pad", "x pads", "y"), "mode", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING);
    mode->has_s = 1;
    mode->s = (ProtobufCBinaryData){4, (uint8_t *)text(t, "edge")};
    reads(t, NULL);
    mode->s = (ProtobufCBinaryData){5, memcpy(text(t, "edge "), "edge", 5)}; /* a NUL follows */
    refused(t, NULL, "attribute mode holds a NUL");
}

TEST(types_that_webnn_lacks_are_refused_where_read)
{
    static const double d[2] = {1.5, 2.5};
    static const float x[2] = {1, 1};
    float y[2];

    input(t, "x", F32, "2");
    initializer(t, tensor(t, "d", F64, 1, (int64_t[]){2}, d, sizeof d));
    initializer(t, tensor(t, "s", STRING, 1, (int64_t[]){2}, NULL, 0)); /* not read */
    node(t, "Add", "x d", "y");
    refused(t, NULL, "add [n_y]: b has data type float64, a has float32");
    node(t, "Cast", "d", "f");
    attribute_int(t, t->graph.node[1], "to", F32);
    t->graph.node[0]->input[1] = text(t, "f");
    computes(x, y);
    assert_true(y[0] == 2.5f && y[1] == 3.5f);
    t->graph.node[0]->input[1] = text(t, "s");
    refused(t, NULL, "is of type string, which WebNN does not have");
    /* Inputs and outputs of float64 are float32 to the program. */
    t->graph.node[0]->input[1] = text(t, "d");
    t->graph.input[0]->type->tensor_type->elem_type = F64;
    computes(x, y);
    assert_true(y[0] == 2.5f && y[1] == 3.5f);
    const struct npy_array array = {
        .dataType = WNNOperandDataType_Float32, .rank = 1, .shape = {2}, .data = (void *)(uintptr_t)x, .byteLength = sizeof x};
    const struct model_constant given = {"x", &array, false};
    reads(t, &(struct model_options){.constants = &given, .constant_count = 1});
    compute(t, NULL, 0, y, sizeof y);
    assert_true(y[0] == 2.5f && y[1] == 3.5f);
}

/* ---- numbers ---- */

/** Functions that WebNN does not have, over all of where they are defined, against the C library in double. */
TEST(composed_functions_are_accurate)
{
    static const struct {
        const char *type;
        double (*f)(double);
        double low, high;
    } functions[] = {
        {"Acos", acos, -1, 1},       {"Asin", asin, -1, 1},   {"Atan", atan, -1e6, 1e6}, {"Acosh", acosh, 1, 1e6},
        {"Asinh", asinh, -1e6, 1e6}, {"Atanh", atanh, -1, 1}, {"Cosh", cosh, -89, 89},   {"Sinh", sinh, -89, 89},
    };
    enum { COUNT = 4096 };
    static float x[COUNT], y[COUNT];

    for (size_t f = 0; f < sizeof functions / sizeof functions[0]; f++) {
        double low = functions[f].low, high = functions[f].high, worst = 0;

        /* Evenly spread, and towards 0 and both ends by powers of two. */
        for (int i = 0; i < COUNT; i++) {
            double step = ldexp(1, -(i / 4 % 40));

            x[i] = (float)(i % 4 == 0   ? low + (high - low) * i / COUNT
                           : i % 4 == 1 ? low + (high - low) * step / 2
                           : i % 4 == 2 ? high - (high - low) * step / 2
                                        : fmax(low, fmin(high, (i & 4 ? 1 : -1) * step)));
        }
        start(t, 17);
        input(t, "x", F32, "4096");
        node(t, functions[f].type, "x", "y");
        computes(x, y);
        for (int i = 0; i < COUNT; i++) {
            double e = functions[f].f((double)x[i]), error = fabs((double)y[i] - e) / fmax(fabs(e), 1e-30);

            if (isinf(e) ? isinf(y[i]) && (e > 0) == (y[i] > 0) : e == (double)y[i])
                continue;
            worst = fmax(worst, isnan(error) ? INFINITY : error);
        }
        /* A dozen operations of half a unit (6e-8) each; and exp of t / 2, squared, carries the error of t / 2 twice. */
        if (!(worst < 1e-6))
            fail_msg("%s: relative error %g", functions[f].type, worst);
    }
}

TEST(slices_of_every_kind_are_read)
{
    static const struct {
        int64_t start, end, step;
        size_t count;
        float first, last;
    } cases[] = {
        {0, 10, 1, 10, 0, 9},
        {2, -1, 3, 3, 2, 8},
        {-3, INT64_MAX, 1, 3, 7, 9},
        {INT64_MAX, INT64_MIN, -1, 10, 9, 0},
        {8, 1, -3, 3, 8, 2},
        {-1, -11, -4, 3, 9, 1},
        {INT64_MIN, INT64_MAX, INT64_MAX, 1, 0, 0},
        {4, INT64_MIN, INT64_MIN, 1, 4, 4},
        {3, 4, -1, 0, 0, 0},
        {5, 5, 1, 0, 0, 0},
    };
    static const float x[10] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        float y[10];

        net(17, "x 10", "y = Slice x start end axes step");
        integers(t, "start", 1, &cases[i].start);
        integers(t, "end", 1, &cases[i].end);
        integers(t, "axes", 1, (int64_t[]){-1});
        integers(t, "step", 1, &cases[i].step);
        if (!cases[i].count) {
            refused(t, NULL, "no elements");
        } else {
            reads(t, NULL);
            expect_shape(t, SHAPE((uint32_t)cases[i].count));
            compute(t, x, sizeof x, y, cases[i].count * sizeof *y);
            assert_true(y[0] == cases[i].first && y[cases[i].count - 1] == cases[i].last);
        }
    }
}

TEST_GROUP(create_context, release_context)
