/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * The ONNX reader on models made here: shapes that are computed, dimensions that are bound, functions, control flow, external
 * data, and everything that a file can have wrong.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "frontend/io/file.h"
#include "onnx/net.h"

/* ---- graphs ---- */

/** Shape -> Gather -> Concat -> Reshape, as exporters write a flatten. */
static void computed_shapes_become_numbers(void **state)
{
    (void)state;
    static const float x[24] = {7};
    float y[24];
    struct net t;

    start(&t, 17);
    input(&t, "x", F32, "batch 3 4");
    integer(&t, "zero", 0);
    integers(&t, "minus", 1, (int64_t[]){-1});
    integers(&t, "first", 1, (int64_t[]){0});
    node(&t, "Shape", "x", "s");
    node(&t, "Gather", "s zero", "b");
    node(&t, "Unsqueeze", "b first", "bs");
    node(&t, "Concat", "bs minus", "shape");
    attribute_int(&t, t.graph.node[3], "axis", 0);
    node(&t, "Reshape", "x shape", "y");
    output(&t, "y");
    refused(&t, NULL, "input \"x\" has a dimension 0 called \"batch\"");
    t.graph.input[0]->type->tensor_type->shape->dim[2]->has_dim_value = 0;
    refused(&t, NULL, "input \"x\" has a dimension 2 of no fixed size"); /* all of them are named */
    t.graph.input[0]->type->tensor_type->shape->dim[2]->has_dim_value = 1;
    reads(&t, &(struct model_options){.dim_count = 1, .dims = &(struct model_dim){"batch", 2}});
    expect_shape(&t, SHAPE(2, 12));
    compute(&t, x, sizeof x, y, sizeof y);
    assert_memory_equal(x, y, sizeof x);
    free_net(&t);
}

/** Lists without elements, ranges, indices of what is not 0: none of them exists in WebNN. */
static void constants_without_operands(void **state)
{
    (void)state;
    struct net t;

    start(&t, 17);
    input(&t, "x", F32, "2 3");
    integers(&t, "zero", 1, (int64_t[]){0});
    integer(&t, "from", 2);
    integer(&t, "to", 8);
    integer(&t, "step", 2);
    node(&t, "Shape", "x", "s");
    node(&t, "Slice", "s zero zero", "none");
    node(&t, "Range", "from to step", "r"); /* 2 4 6 */
    node(&t, "NonZero", "r", "nz");         /* 0 1 2 */
    node(&t, "Squeeze", "nz zero", "flat");
    node(&t, "ReduceProd", "none", "one"); /* 1 */
    node(&t, "ReduceSum", "flat", "three");
    node(&t, "Mul", "one three", "size");
    node(&t, "Concat", "none size", "shape");
    attribute_int(&t, t.graph.node[8], "axis", 0);
    node(&t, "ConstantOfShape", "shape", "c");
    node(&t, "Add", "x c", "y");
    output(&t, "y");
    reads(&t, NULL);
    expect_shape(&t, SHAPE(2, 3));
    free_net(&t);
}

static void nodes_in_any_order(void **state)
{
    (void)state;
    struct net t;

    start(&t, 17);
    input(&t, "x", F32, "2");
    node(&t, "Relu", "b", "y");
    node(&t, "Abs", "a", "b");
    node(&t, "Neg", "x", "a");
    output(&t, "y");
    reads(&t, NULL);
    t.graph.node[2]->input[0] = text(&t, "y");
    refused(&t, NULL, "depends on its own result");
    t.graph.node[2]->input[0] = text(&t, "nowhere");
    refused(&t, NULL, "reads \"nowhere\", which is no input");
    t.graph.node[2]->input[0] = text(&t, "x");
    t.graph.node[2]->output[0] = text(&t, "b");
    refused(&t, NULL, "two nodes have a result \"b\", the second is \"n_a\" (Neg)");
    free_net(&t);
}

static void outputs_that_are_inputs_or_constants(void **state)
{
    (void)state;
    static const float x[2] = {1, -2};
    float y[2];
    struct net t;

    start(&t, 17);
    input(&t, "x", F32, "2");
    node(&t, "Identity", "x", "y");
    output(&t, "y");
    reads(&t, NULL);
    compute(&t, x, sizeof x, y, sizeof y);
    assert_memory_equal(x, y, sizeof x);
    initializer(&t, tensor(&t, "c", F32, 1, (int64_t[]){2}, x, sizeof x));
    t.graph.output[0]->name = text(&t, "c");
    reads(&t, NULL);
    compute(&t, x, sizeof x, y, sizeof y);
    assert_memory_equal(x, y, sizeof x);
    free_net(&t);
}

static void inputs_with_defaults_and_booleans(void **state)
{
    (void)state;
    static const float w[2] = {1, 2};
    static float other[2] = {10, 20};
    const struct npy_array array = {WNNOperandDataType_Float32, 1, {2}, sizeof other, other};
    const struct model_constant constant = {"w", &array};
    const struct model_options options = {.constant_count = 1, .constants = &constant};
    float y[2];
    struct net t;

    start(&t, 17);
    input(&t, "x", F32, "2");
    input(&t, "w", F32, "2");
    input(&t, "m", BOOL, "2");
    initializer(&t, tensor(&t, "w", F32, 1, (int64_t[]){2}, w, sizeof w));
    node(&t, "Where", "m x w", "y");
    node(&t, "Not", "m", "z");
    output(&t, "y");
    output(&t, "z");
    reads(&t, NULL);
    assert_int_equal(t.read.input_count, 2); /* w has its value */
    assert_true(t.read.inputs[1].is_boolean);
    assert_false(t.read.outputs[0].is_boolean);
    assert_true(t.read.outputs[1].is_boolean);
    /* Unless the caller has another value for it. */
    t.graph.n_node = 0;
    node(&t, "Add", "x w", "y");
    t.graph.n_output = 1;
    reads(&t, &options);
    compute(&t, w, sizeof w, y, sizeof y);
    assert_true(y[0] == 11 && y[1] == 22);
    free_net(&t);
}

static void inputs_that_become_constants(void **state)
{
    (void)state;
    static int64_t shape[2] = {3, 2};
    struct npy_array array = {WNNOperandDataType_Int64, 1, {2}, sizeof shape, shape};
    struct model_constant constant = {"s", &array};
    struct model_options options = {.constant_count = 1, .constants = &constant};
    struct net t;

    start(&t, 17);
    input(&t, "x", F32, "6");
    input(&t, "s", I64, "2");
    node(&t, "Reshape", "x s", "y");
    output(&t, "y");
    refused(&t, NULL, "input 1 depends on an input of the model");
    reads(&t, &options);
    expect_shape(&t, SHAPE(3, 2));
    assert_int_equal(t.read.input_count, 1);
    array.dataType = WNNOperandDataType_Uint64;
    refused(&t, &options, "is of type int64, the constant given for it of type uint64");
    constant.name = "nobody";
    refused(&t, &options, "\"nobody\", which is no input");
    free_net(&t);
}

static void dimensions_bound_by_shapes(void **state)
{
    (void)state;
    struct model_shape shape = {"x", 2, {5, 3}};
    struct model_dim dim = {"n", 5};
    struct model_options options = {.shape_count = 1, .shapes = &shape};
    struct net t;

    start(&t, 17);
    input(&t, "x", F32, "n 3");
    input(&t, "z", F32, "n 1");
    node(&t, "Add", "x z", "y");
    output(&t, "y");
    reads(&t, &options); /* n from x, so z is known, too */
    expect_shape(&t, SHAPE(5, 3));
    shape.dims[1] = 4;
    refused(&t, &options, "dimension 1 is 3, the shape given for it has 4");
    shape.dims[1] = 3;
    options.dim_count = 1;
    options.dims = &dim;
    reads(&t, &options);
    dim.size = 6;
    refused(&t, &options, "dimension \"n\" is 5 here and 6 elsewhere");
    dim = (struct model_dim){"m", 6};
    refused(&t, &options, "no dimension of an input is called \"m\": \"n\"");
    shape.name = "q";
    options.dim_count = 0;
    refused(&t, &options, "a shape is given for \"q\", which is no input");
    refused(&t, NULL, "input \"z\" has a dimension 0 called \"n\""); /* both inputs are named */
    assert_non_null(strstr(t.message, "input \"x\" has"));
    free_net(&t);
    start(&t, 17);
    input(&t, "x", F32, "2");
    node(&t, "Relu", "x", "y");
    output(&t, "y");
    options = (struct model_options){.dim_count = 1, .dims = &dim};
    refused(&t, &options, "no dimension of an input is called \"m\" (none has a name)");
    free_net(&t);
}

/* ---- what cannot be expressed ---- */

static void all_refusals_at_once(void **state)
{
    (void)state;
    struct net t;

    start(&t, 17);
    input(&t, "x", F32, "2");
    node(&t, "NonZero", "x", "a");
    node(&t, "Cast", "a", "b"); /* reads what is not there: not reported */
    attribute_int(&t, t.graph.node[1], "to", 1);
    node(&t, "Elu", "x", "c");
    attribute_int(&t, t.graph.node[2], "beta", 1);
    node(&t, "NoSuchThing", "b", "d");
    output(&t, "c");
    refused(&t, NULL, "3 nodes cannot be expressed");
    assert_non_null(strstr(t.message, "\"n_a\" (NonZero): input 0 depends on an input of the model"));
    assert_non_null(strstr(t.message, "\"n_c\" (Elu): attribute beta has no meaning"));
    assert_non_null(strstr(t.message, "\"n_d\" (NoSuchThing): "));
    assert_null(strstr(t.message, "(Cast)"));
    free_net(&t);
}

static void inputs_left_out(void **state)
{
    (void)state;
    struct net t;

    start(&t, 17);
    input(&t, "x", F32, "2");
    node(&t, "CastLike", "x x", "y");
    output(&t, "y");
    reads(&t, NULL);
    t.graph.node[0]->input[0][0] = '\0'; /* an empty name is an input that is not there */
    refused(&t, NULL, "input 0 is left out, it needs the first 2");
    free_net(&t);
}

static void attributes_of_another_kind(void **state)
{
    (void)state;
    struct net t;

    start(&t, 17);
    input(&t, "x", F32, "2");
    node(&t, "Elu", "x", "y");
    attribute_int(&t, t.graph.node[0], "alpha", 1);
    output(&t, "y");
    refused(&t, NULL, "attribute alpha is an integer, it must be a float");
    t.graph.node[0]->n_attribute = 0;
    attribute_float(&t, t.graph.node[0], "alpha", 1);
    reads(&t, NULL);
    attribute_float(&t, t.graph.node[0], "alpha", 2);
    refused(&t, NULL, "attribute alpha is given twice");
    free_net(&t);
}

static void types_that_webnn_lacks(void **state)
{
    (void)state;
    static const double d[2] = {1.5, 2.5};
    static const float x[2] = {1, 1};
    float y[2];
    struct net t;

    start(&t, 17);
    input(&t, "x", F32, "2");
    initializer(&t, tensor(&t, "d", F64, 1, (int64_t[]){2}, d, sizeof d));
    initializer(&t, tensor(&t, "s", STRING, 1, (int64_t[]){2}, NULL, 0)); /* nobody reads it */
    node(&t, "Add", "x d", "y");
    output(&t, "y");
    refused(&t, NULL, "an input is of type float64, which WebNN does not have");
    node(&t, "Cast", "d", "f");
    attribute_int(&t, t.graph.node[1], "to", F32);
    t.graph.node[0]->input[1] = text(&t, "f");
    reads(&t, NULL);
    compute(&t, x, sizeof x, y, sizeof y);
    assert_true(y[0] == 2.5f && y[1] == 3.5f);
    t.graph.node[0]->input[1] = text(&t, "s");
    refused(&t, NULL, "is of type string, which WebNN does not have");
    t.graph.input[0]->type->tensor_type->elem_type = F64;
    refused(&t, NULL, "input \"x\" is of type float64");
    free_net(&t);
}

/* ---- functions and control flow ---- */

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

static void functions_are_inlined(void **state)
{
    (void)state;
    static const float x[2] = {-1, 3};
    float y[2], e = expm1f(-1);
    Onnx__FunctionProto *f;
    Onnx__NodeProto *call;
    struct net t;

    start(&t, 17);
    f = function(&t, "f");
    f->node[f->n_node++] = make_node(&t, "Elu", "x", "e");
    attribute(&t, f->node[0], "alpha", ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT)->ref_attr_name = text(&t, "slope");
    f->node[f->n_node++] = make_node(&t, "Add", "e x", "y");
    input(&t, "x", F32, "2");
    call = node(&t, "f", "x", "y");
    call->domain = text(&t, "local");
    output(&t, "y");
    reads(&t, NULL); /* without the attribute: Elu's own default */
    compute(&t, x, sizeof x, y, sizeof y);
    assert_float_equal(y[0], e - 1, 1e-6);
    attribute_float(&t, call, "slope", 2);
    reads(&t, NULL);
    compute(&t, x, sizeof x, y, sizeof y);
    assert_float_equal(y[0], 2 * e - 1, 1e-6);
    assert_float_equal(y[1], 6, 0);
    /* A function that calls itself. */
    f->node[1]->op_type = text(&t, "f");
    f->node[1]->domain = text(&t, "local");
    f->node[1]->n_input = 1;
    refused(&t, NULL, "more than 32 deep");
    free_net(&t);
}

static void if_takes_a_branch(void **state)
{
    (void)state;
    static const float x[2] = {-1, 3};
    static const unsigned char yes = 1;
    float y[2];
    Onnx__GraphProto *a, *b;
    struct net t;

    start(&t, 17);
    input(&t, "x", F32, "2");
    initializer(&t, tensor(&t, "c", BOOL, 0, NULL, &yes, 1));
    node(&t, "If", "c", "y");
    a = attribute_graph(&t, t.graph.node[0], "then_branch");
    node_in(&t, a, "Neg", "x", "r"); /* x from outside */
    a->output[a->n_output++] = port(&t, "r", F32, NULL);
    b = attribute_graph(&t, t.graph.node[0], "else_branch");
    node_in(&t, b, "NoSuchThing", "x", "r");
    b->output[b->n_output++] = port(&t, "r", F32, NULL);
    output(&t, "y");
    reads(&t, NULL);
    compute(&t, x, sizeof x, y, sizeof y);
    assert_true(y[0] == 1 && y[1] == -3);
    /* A condition that is computed: both branches, then. */
    t.graph.n_initializer = 0;
    integer(&t, "zero", 0);
    node(&t, "ReduceMax", "x", "m");
    attribute_int(&t, t.graph.node[1], "keepdims", 0);
    node(&t, "Cast", "m", "c");
    attribute_int(&t, t.graph.node[2], "to", BOOL);
    refused(&t, NULL, "\"n_y/n_r\" (NoSuchThing)");
    b->node[0]->op_type = text(&t, "Relu");
    reads(&t, NULL);
    compute(&t, x, sizeof x, y, sizeof y);
    assert_true(y[0] == 1 && y[1] == -3);
    free_net(&t);
}

/** for (i = 0; i < 4 && i < limit; i++) { s = s + x; collected: s } */
static void loops_are_unrolled(void **state)
{
    (void)state;
    static const float x[2] = {1, 2};
    float y[8];
    Onnx__GraphProto *body;
    struct net t;

    start(&t, 17);
    input(&t, "x", F32, "2");
    integer(&t, "trips", 4);
    integer(&t, "last", 3);
    node(&t, "Loop", "trips - x", "s y");
    body = attribute_graph(&t, t.graph.node[0], "body");
    body->input[body->n_input++] = port(&t, "i", I64, "");
    body->input[body->n_input++] = port(&t, "go", BOOL, "");
    body->input[body->n_input++] = port(&t, "s_in", F32, "2");
    node_in(&t, body, "Less", "i last", "go_on");
    node_in(&t, body, "Add", "s_in x", "s_out");
    body->output[body->n_output++] = port(&t, "go_on", BOOL, NULL);
    body->output[body->n_output++] = port(&t, "s_out", F32, NULL);
    body->output[body->n_output++] = port(&t, "s_out", F32, NULL);
    output(&t, "y");
    reads(&t, NULL);
    expect_shape(&t, SHAPE(4, 2));
    compute(&t, x, sizeof x, y, sizeof y);
    assert_memory_equal(y, ((float[]){2, 4, 3, 6, 4, 8, 5, 10}), sizeof y);
    *(int64_t *)t.graph.initializer[1]->raw_data.data = 1; /* the condition ends it after i = 1 */
    reads(&t, NULL);
    expect_shape(&t, SHAPE(2, 2));
    *(int64_t *)t.graph.initializer[0]->raw_data.data = INT64_MAX;
    *(int64_t *)t.graph.initializer[1]->raw_data.data = INT64_MAX;
    refused(&t, NULL, "more than 1024 turns");
    free_net(&t);
}

/** for (i = 0; i < 5 && max(s) < 4; i++) s = s + x, with the condition known at run time only. */
static void loops_with_computed_conditions(void **state)
{
    (void)state;
    static const unsigned char yes = 1;
    static const float four = 4;
    Onnx__GraphProto *body;
    float x[2] = {1, 0.5f}, y[2];
    struct net t;

    start(&t, 17);
    input(&t, "x", F32, "2");
    integer(&t, "trips", 5);
    initializer(&t, tensor(&t, "yes", BOOL, 0, NULL, &yes, 1));
    initializer(&t, tensor(&t, "four", F32, 0, NULL, &four, sizeof four));
    node(&t, "Loop", "trips yes x", "y");
    body = attribute_graph(&t, t.graph.node[0], "body");
    body->input[body->n_input++] = port(&t, "i", I64, "");
    body->input[body->n_input++] = port(&t, "go", BOOL, "");
    body->input[body->n_input++] = port(&t, "s_in", F32, "2");
    node_in(&t, body, "Add", "s_in x", "s_out");
    attribute_int(&t, node_in(&t, body, "ReduceMax", "s_out", "m"), "keepdims", 0);
    node_in(&t, body, "Less", "m four", "go_on");
    body->output[body->n_output++] = port(&t, "go_on", BOOL, NULL);
    body->output[body->n_output++] = port(&t, "s_out", F32, NULL);
    output(&t, "y");
    reads(&t, NULL);
    compute(&t, x, sizeof x, y, sizeof y);
    assert_true(y[0] == 4 && y[1] == 2); /* 2, 3, 4: and then no more */
    x[0] = 10;
    reads(&t, NULL);
    compute(&t, x, sizeof x, y, sizeof y);
    assert_true(y[0] == 20 && y[1] == 1); /* once at least */
    x[0] = 0.5f;
    reads(&t, NULL);
    compute(&t, x, sizeof x, y, sizeof y);
    assert_true(y[0] == 3 && y[1] == 3); /* five times */
    body->output[body->n_output++] = port(&t, "s_out", F32, NULL);
    t.graph.node[0]->output[t.graph.node[0]->n_output++] = text(&t, "collected");
    refused(&t, NULL, "with it the size of an output");
    body->n_output--;
    t.graph.node[0]->n_output--;
    t.graph.node[0]->input[0] = text(&t, "");
    refused(&t, NULL, "its trip count is not small");
    free_net(&t);
}

static void scans_are_unrolled(void **state)
{
    (void)state;
    static const float x[6] = {1, 2, 3, 4, 5, 6};
    float y[6];
    Onnx__GraphProto *body;
    static const float zero[2];
    struct net t;

    start(&t, 17);
    input(&t, "x", F32, "3 2");
    initializer(&t, tensor(&t, "s0", F32, 1, (int64_t[]){2}, zero, sizeof zero));
    node(&t, "Scan", "s0 x", "s y");
    attribute_int(&t, t.graph.node[0], "num_scan_inputs", 1);
    body = attribute_graph(&t, t.graph.node[0], "body");
    body->input[body->n_input++] = port(&t, "s_in", F32, "2");
    body->input[body->n_input++] = port(&t, "row", F32, "2");
    node_in(&t, body, "Add", "s_in row", "s_out");
    body->output[body->n_output++] = port(&t, "s_out", F32, NULL);
    body->output[body->n_output++] = port(&t, "s_out", F32, NULL);
    output(&t, "y");
    reads(&t, NULL);
    compute(&t, x, sizeof x, y, sizeof y);
    assert_memory_equal(y, ((float[]){1, 2, 4, 6, 9, 12}), sizeof y);
    free_net(&t);
}

/* ---- numbers ---- */

/** Functions that WebNN does not have, over all of where they are defined, against the C library in double. */
static void composed_functions_are_accurate(void **state)
{
    (void)state;
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
        struct net t;

        /* Evenly spread, and towards 0 and both ends by powers of two. */
        for (int i = 0; i < COUNT; i++) {
            double step = ldexp(1, -(i / 4 % 40));

            x[i] = (float)(i % 4 == 0   ? low + (high - low) * i / COUNT
                           : i % 4 == 1 ? low + (high - low) * step / 2
                           : i % 4 == 2 ? high - (high - low) * step / 2
                                        : fmax(low, fmin(high, (i & 4 ? 1 : -1) * step)));
        }
        start(&t, 17);
        input(&t, "x", F32, "4096");
        node(&t, functions[f].type, "x", "y");
        output(&t, "y");
        reads(&t, NULL);
        compute(&t, x, sizeof x, y, sizeof y);
        for (int i = 0; i < COUNT; i++) {
            double e = functions[f].f((double)x[i]), error = fabs((double)y[i] - e) / fmax(fabs(e), 1e-30);

            if (isinf(e) ? isinf(y[i]) && (e > 0) == (y[i] > 0) : e == (double)y[i])
                continue;
            worst = fmax(worst, isnan(error) ? INFINITY : error);
        }
        /* A dozen operations of half a unit (6e-8) each; and exp of t / 2, squared, carries the error of t / 2 twice. */
        if (!(worst < 1e-6))
            fail_msg("%s: relative error %g", functions[f].type, worst);
        free_net(&t);
    }
}

static void slices_of_every_kind(void **state)
{
    (void)state;
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
        struct net t;

        start(&t, 17);
        input(&t, "x", F32, "10");
        integers(&t, "start", 1, &cases[i].start);
        integers(&t, "end", 1, &cases[i].end);
        integers(&t, "axes", 1, (int64_t[]){-1});
        integers(&t, "step", 1, &cases[i].step);
        node(&t, "Slice", "x start end axes step", "y");
        output(&t, "y");
        if (!cases[i].count) {
            refused(&t, NULL, "no elements");
        } else {
            reads(&t, NULL);
            expect_shape(&t, SHAPE((uint32_t)cases[i].count));
            compute(&t, x, sizeof x, y, cases[i].count * sizeof *y);
            assert_true(y[0] == cases[i].first && y[cases[i].count - 1] == cases[i].last);
        }
        free_net(&t);
    }
}

/* ---- files ---- */

static void external(struct net *t, Onnx__TensorProto *p, const char *location, const char *offset, const char *length)
{
    const char *entries[3][2] = {{"location", location}, {"offset", offset}, {"length", length}};

    p->has_raw_data = 0;
    p->has_data_location = 1;
    p->data_location = 1;
    p->n_external_data = 0;
    p->external_data = keep(t, 3 * sizeof *p->external_data);
    for (size_t i = 0; i < 3; i++)
        if (entries[i][1]) {
            Onnx__StringStringEntryProto *e = keep(t, sizeof *e);

            onnx__string_string_entry_proto__init(e);
            e->key = text(t, entries[i][0]);
            e->value = text(t, entries[i][1]);
            p->external_data[p->n_external_data++] = e;
        }
}

/* Of y = (x . w) . transpose(v) + c, in every way: packed, folded, read by a kernel. */
enum { LARGE_ROWS = 256, LARGE_IN = 64, LARGE_MIDDLE = 512 };

static void large_net(struct net *t, const char *name, const float *w, const float *v, const float *c)
{
    char product[80];

    start(t, 17);
    input(t, "x", F32, "256 64");
    initializer(t, tensor(t, name, F32, 2, (int64_t[]){LARGE_IN, LARGE_MIDDLE}, w, LARGE_IN * LARGE_MIDDLE * sizeof *w));
    initializer(t, tensor(t, "v", F32, 2, (int64_t[]){LARGE_IN, LARGE_MIDDLE}, v, LARGE_IN * LARGE_MIDDLE * sizeof *v));
    initializer(t, tensor(t, "c", F32, 2, (int64_t[]){LARGE_ROWS, LARGE_IN}, c, LARGE_ROWS * LARGE_IN * sizeof *c));
    snprintf(product, sizeof product, "x %s", name);
    node(t, "MatMul", product, "a");
    node(t, "Transpose", "v", "u");
    node(t, "MatMul", "a u", "b");
    node(t, "Add", "b c", "y");
    output(t, "y");
}

static void large_weights_stay_in_the_file(void **state)
{
    (void)state;
    static const char *const names[] = {"w", "ww", "www", "wwww"}; /* which moves the bytes behind it */
    static const char *const offsets[] = {"0", "1", "2", "3"};
    static float w[LARGE_IN * LARGE_MIDDLE], v[LARGE_IN * LARGE_MIDDLE], c[LARGE_ROWS * LARGE_IN], x[LARGE_ROWS * LARGE_IN];
    static float y[LARGE_ROWS * LARGE_IN], same[LARGE_ROWS * LARGE_IN];
    static char beside_bytes[sizeof w + 3];
    char folder[] = "/tmp/webnn-onnx-XXXXXX", path[60], beside[60];

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    snprintf(beside, sizeof beside, "%s/w.bin", folder);
    for (int i = 0; i < LARGE_IN * LARGE_MIDDLE; i++) { /* so small that sums are exact */
        w[i] = (float)(i * 7 % 5 - 2);
        v[i] = (float)(i * 11 % 7 - 3);
    }
    for (int i = 0; i < LARGE_ROWS * LARGE_IN; i++) {
        x[i] = (float)(i * 3 % 4 - 1);
        c[i] = (float)(i % 1000);
    }
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        uint8_t *bytes;
        size_t size;
        struct net t;

        large_net(&t, names[k], w, v, c);
        reads(&t, NULL); /* from memory that is gone afterwards */
        compute(&t, x, sizeof x, same, sizeof same);
        size = onnx__model_proto__get_packed_size(&t.model);
        bytes = malloc(size);
        assert_non_null(bytes);
        onnx__model_proto__pack(&t.model, bytes);
        assert_true(file_write(path, bytes, size, NULL, 0));
        free(bytes);
        model_free(&t.read);
        if (!model_read(context, path, NULL, &t.read, &t.message))
            fail_msg("%s", t.message);
        unlink(path); /* the mapping stays */
        memset(y, 0, sizeof y);
        compute(&t, x, sizeof x, y, sizeof y);
        assert_memory_equal(y, same, sizeof y);
        /* The first one in a file beside the model, at an odd place. */
        memcpy(beside_bytes + k, w, sizeof w);
        assert_true(file_write(beside, beside_bytes, sizeof beside_bytes, NULL, 0));
        t.path = path;
        t.graph.initializer[0]->has_raw_data = 0;
        external(&t, t.graph.initializer[0], "w.bin", offsets[k], NULL);
        reads(&t, NULL);
        unlink(beside);
        memset(y, 0, sizeof y);
        compute(&t, x, sizeof x, y, sizeof y);
        assert_memory_equal(y, same, sizeof y);
        for (int r = 0; r < LARGE_ROWS; r += 51)
            for (int o = 0; o < LARGE_IN; o += 9) {
                double want = c[r * LARGE_IN + o];

                for (int m = 0; m < LARGE_MIDDLE; m++) {
                    double a = 0;

                    for (int i = 0; i < LARGE_IN; i++)
                        a += (double)x[r * LARGE_IN + i] * w[i * LARGE_MIDDLE + m];
                    want += a * v[o * LARGE_MIDDLE + m];
                }
                assert_true(y[r * LARGE_IN + o] == want);
            }
        free_net(&t);
    }
    rmdir(folder);
}

static void weights_beside_the_model(void **state)
{
    (void)state;
    char base[] = "/tmp/webnn-onnx-XXXXXX", folder[80], file[100], model[100], outside[100], link[100];
    static const float numbers[4] = {1, 2, 3, 4}, x[2] = {10, 20};
    Onnx__TensorProto *w;
    float y[2];
    struct net t;

    assert_non_null(mkdtemp(base));
    snprintf(folder, sizeof folder, "%s/model", base);
    snprintf(file, sizeof file, "%s/w.bin", folder);
    snprintf(model, sizeof model, "%s/model.onnx", folder);
    snprintf(outside, sizeof outside, "%s/secret.bin", base);
    snprintf(link, sizeof link, "%s/link.bin", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_true(file_write(file, numbers, sizeof numbers, NULL, 0) && file_write(outside, numbers, sizeof numbers, NULL, 0));
    assert_int_equal(symlink("../secret.bin", link), 0);

    start(&t, 17);
    t.path = model;
    input(&t, "x", F32, "2");
    w = initializer(&t, tensor(&t, "w", F32, 1, (int64_t[]){2}, NULL, 0));
    node(&t, "Add", "x w", "y");
    output(&t, "y");
    external(&t, w, "w.bin", "8", "8");
    reads(&t, NULL);
    compute(&t, x, sizeof x, y, sizeof y);
    assert_true(y[0] == 13 && y[1] == 24);
    external(&t, w, "./../model/w.bin", NULL, NULL); /* odd, but inside */
    reads(&t, NULL);
    external(&t, w, "w.bin", "9", "8");
    refused(&t, NULL, "8 bytes at offset 9 of \"w.bin\", which has 16");
    external(&t, w, "w.bin", "18446744073709551615", NULL);
    refused(&t, NULL, "is no size");
    external(&t, w, "w.bin", "9223372036854775807", NULL);
    refused(&t, NULL, "8 bytes at offset");
    external(&t, w, "w.bin", "-8", NULL);
    refused(&t, NULL, "is no size");
    external(&t, w, "w.bin", "0", "12");
    refused(&t, NULL, "its shape asks for 8 bytes, external data have 12");
    external(&t, w, "../secret.bin", NULL, NULL);
    refused(&t, NULL, "leads out of the model's folder");
    external(&t, w, "link.bin", NULL, NULL);
    refused(&t, NULL, "leads out of the model's folder");
    external(&t, w, outside, NULL, NULL);
    refused(&t, NULL, "not relative");
    external(&t, w, ".", NULL, NULL);
    refused(&t, NULL, "external data \".\"");
    external(&t, w, "absent.bin", NULL, NULL);
    refused(&t, NULL, strerror(ENOENT));
    external(&t, w, NULL, NULL, NULL);
    refused(&t, NULL, "without a location");
    free_net(&t);
    unlink(link);
    unlink(file);
    unlink(outside);
    rmdir(folder);
    rmdir(base);
}

static void sizes_in_tensors_are_checked(void **state)
{
    (void)state;
    static const float w[4];
    Onnx__TensorProto *p;
    struct net t;

    start(&t, 17);
    input(&t, "x", F32, "2");
    p = initializer(&t, tensor(&t, "w", F32, 2, (int64_t[]){2, 2}, w, sizeof w));
    node(&t, "Add", "x w", "y");
    output(&t, "y");
    reads(&t, NULL);
    p->raw_data.len = 15;
    refused(&t, NULL, "initializer \"w\": its shape asks for 16 bytes, the file has 15");
    p->raw_data.len = 16;
    p->dims[0] = -2;
    refused(&t, NULL, "negative size");
    p->dims[0] = p->dims[1] = INT64_C(1) << 33;
    refused(&t, NULL, "2^31-1");
    p->dims[0] = p->dims[1] = 65536;
    refused(&t, NULL, "2^31-1");
    p->dims[0] = p->dims[1] = 2;
    p->has_raw_data = 0;
    refused(&t, NULL, "its shape asks for 4 elements, the file has 0");
    p->data_type = 99;
    refused(&t, NULL, "is of type an unknown type");
    t.graph.input[0]->type->tensor_type->shape->dim[0]->dim_value = INT64_MAX;
    refused(&t, NULL, "dimension 0 is 9223372036854775807");
    free_net(&t);
}

static void versions_are_checked(void **state)
{
    (void)state;
    struct net t;

    start(&t, 99);
    input(&t, "x", F32, "2");
    node(&t, "Relu", "x", "y");
    output(&t, "y");
    refused(&t, NULL, "operator set 99");
    t.opset.version = -1;
    refused(&t, NULL, "operator set -1");
    t.model.n_opset_import = 0;
    refused(&t, NULL, "does not say which operator set");
    t.model.n_opset_import = 1;
    t.opset.version = 17;
    t.graph.n_output = 0;
    refused(&t, NULL, "no outputs");
    t.model.graph = NULL;
    refused(&t, NULL, "holds no graph");
    free_net(&t);
}

/** A graph in an attribute in a node in a graph, and so on: protobuf-c would recurse as deep. */
static void deep_nesting_does_not_overflow(void **state)
{
    (void)state;
    enum { LEVELS = 300000 };
    /* From the inside out; lengths as varints of 4 bytes. */
    size_t size = 0, room = (size_t)LEVELS * 15 + 5;
    uint8_t *bytes = malloc(room), *at = bytes + room;
    static const uint8_t keys[] = {0x32, 0x2A, 0x0A}; /* attribute.g in node.attribute in graph.node */
    char *message = NULL;
    struct model m;

    assert_non_null(bytes);
    for (int i = 0; i <= LEVELS * 3; i++, size += 5) {
        *--at = (uint8_t)(size >> 21 & 0x7F);
        for (int shift = 14; shift >= 0; shift -= 7)
            *--at = (uint8_t)(size >> shift & 0x7F) | 0x80;
        *--at = i < LEVELS * 3 ? keys[i % 3] : 0x3A; /* model.graph */
    }
    assert_false(model_read_onnx(context, "deep.onnx", at, size, NULL, &m, &message));
    assert_non_null(strstr(message, "more than 100 deep"));
    free(message);
    free(bytes);
}

/** Every truncation and a flip of every byte of a file with a little of everything: an error or a model, never a crash. */
static void damaged_files(void **state)
{
    (void)state;
    static const float w[4] = {1, 2, 3, 4};
    uint8_t *bytes, *copy;
    size_t size;
    struct net t;

    start(&t, 17);
    input(&t, "x", F32, "2 2");
    initializer(&t, tensor(&t, "w", F32, 2, (int64_t[]){2, 2}, w, sizeof w));
    integers(&t, "shape", 2, (int64_t[]){4, -1});
    integer(&t, "trips", 2);
    node(&t, "Add", "x w", "a");
    node(&t, "Reshape", "a shape", "b");
    node(&t, "Loop", "trips - b", "y");
    {
        Onnx__GraphProto *body = attribute_graph(&t, t.graph.node[2], "body");

        body->input[body->n_input++] = port(&t, "i", I64, "");
        body->input[body->n_input++] = port(&t, "go", BOOL, "");
        body->input[body->n_input++] = port(&t, "s", F32, "4 1");
        node_in(&t, body, "Elu", "s", "s2");
        attribute_float(&t, body->node[0], "alpha", 2);
        body->output[body->n_output++] = port(&t, "go", BOOL, NULL);
        body->output[body->n_output++] = port(&t, "s2", F32, NULL);
    }
    output(&t, "y");
    reads(&t, NULL);
    size = onnx__model_proto__get_packed_size(&t.model);
    bytes = malloc(size);
    assert_non_null(bytes);
    onnx__model_proto__pack(&t.model, bytes);
    for (size_t i = 0; i < size * 9; i++) {
        size_t length = i < size ? i : size;
        char *message = NULL;
        struct model m;

        copy = malloc(length ? length : 1); /* of its own size, so that reading beyond it shows */
        assert_non_null(copy);
        memcpy(copy, bytes, length);
        if (i >= size)
            copy[(i - size) / 8] ^= (uint8_t)(1 << (i - size) % 8);
        if (model_read_onnx(context, "damaged.onnx", copy, length, NULL, &m, &message))
            model_free(&m);
        else
            assert_non_null(message);
        free(message);
        free(copy);
    }
    free(bytes);
    free_net(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(computed_shapes_become_numbers),
        cmocka_unit_test(constants_without_operands),
        cmocka_unit_test(nodes_in_any_order),
        cmocka_unit_test(outputs_that_are_inputs_or_constants),
        cmocka_unit_test(inputs_with_defaults_and_booleans),
        cmocka_unit_test(inputs_that_become_constants),
        cmocka_unit_test(dimensions_bound_by_shapes),
        cmocka_unit_test(all_refusals_at_once),
        cmocka_unit_test(inputs_left_out),
        cmocka_unit_test(attributes_of_another_kind),
        cmocka_unit_test(types_that_webnn_lacks),
        cmocka_unit_test(functions_are_inlined),
        cmocka_unit_test(if_takes_a_branch),
        cmocka_unit_test(loops_are_unrolled),
        cmocka_unit_test(loops_with_computed_conditions),
        cmocka_unit_test(scans_are_unrolled),
        cmocka_unit_test(composed_functions_are_accurate),
        cmocka_unit_test(slices_of_every_kind),
        cmocka_unit_test(weights_beside_the_model),
        cmocka_unit_test(large_weights_stay_in_the_file),
        cmocka_unit_test(sizes_in_tensors_are_checked),
        cmocka_unit_test(versions_are_checked),
        cmocka_unit_test(deep_nesting_does_not_overflow),
        cmocka_unit_test(damaged_files),
    };

    return cmocka_run_group_tests(tests, create_context, release_context);
}
