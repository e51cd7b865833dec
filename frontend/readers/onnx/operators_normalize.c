/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports normalisations and softmaxes: as WebNN's batchNormalization, instanceNormalization, layerNormalization and softmax
 * where one of them is meant, else as means and what is done with them.
 */
#include "frontend/readers/onnx/operators.h"
#include "frontend/readers/onnx/compose.h"

static bool import_batch_normalization(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), y;
    WNNOperandDataType type = wnnOperandGetDataType(x), compute = type;
    WNNBatchNormalizationOptions o = WNN_BATCH_NORMALIZATION_OPTIONS_INIT;
    WNNOperand parameters[4];

    onnx_ignore(n, "momentum");
    if (n->version < 7) {
        onnx_ignore(n, "consumed_inputs");
        if (!onnx_int(n, "is_test", 0))
            return onnx_refuse(n, "is_test is 0: training cannot be expressed");
    }
    if (onnx_int(n, "training_mode", 0))
        return onnx_refuse(n, "training_mode is 1: training cannot be expressed");
    if (n->version < 9 && !onnx_int(n, "spatial", 1))
        return onnx_refuse(n, "spatial is 0: statistics per element");
    for (size_t i = 0; i < 4; i++) {
        parameters[i] = onnx_operand(n, i + 1);
        if (wnnOperandGetDataType(parameters[i]) == WNNOperandDataType_Float32)
            compute = WNNOperandDataType_Float32;
    }
    for (size_t i = 0; i < 4; i++)
        parameters[i] = onnx_cast(n, parameters[i], compute);
    o.label = n->label;
    o.scale = parameters[0];
    o.bias = parameters[1];
    o.epsilon = onnx_float(n, "epsilon", 1e-5);
    y = wnnGraphBuilderBatchNormalization(n->builder, onnx_cast(n, x, compute), parameters[2], parameters[3], &o);
    return onnx_output(n, 0, onnx_cast(n, y, type));
}

/* Applies instanceNormalization to x in the given shape (of rank 4), and returns the result in its own. */
static WNNOperand normalize_instances(struct onnx_node *n, WNNOperand x, struct onnx_dims shape, WNNOperand scale,
                                      WNNOperand bias, double epsilon)
{
    WNNInstanceNormalizationOptions o = WNN_INSTANCE_NORMALIZATION_OPTIONS_INIT;
    struct onnx_dims dims = onnx_dims_of(x);

    o.label = n->label;
    o.scale = scale;
    o.bias = bias;
    o.epsilon = epsilon;
    if (dims.rank == 4 && shape.at[1] == dims.at[1])
        return wnnGraphBuilderInstanceNormalization(n->builder, x, &o);
    return onnx_reshape_to(n, wnnGraphBuilderInstanceNormalization(n->builder, onnx_reshape_to(n, x, shape), &o), dims);
}

static bool import_instance_normalization(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0);
    struct onnx_dims dims = onnx_dims_of(x), shape = {4, {dims.at[0], dims.at[1], 1, 1}};

    onnx_ignore(n, "consumed_inputs"); /* of version 1 */
    if (n->refused)
        return false;
    if (dims.rank < 3)
        return onnx_refuse(n, "its input has %zu dimensions", dims.rank);
    shape.at[3] = onnx_dims_product(n, &dims, 2, dims.rank);
    return onnx_output(
        n, 0, normalize_instances(n, x, shape, onnx_operand(n, 1), onnx_operand(n, 2), onnx_float(n, "epsilon", 1e-5)));
}

/*
 * Reads stash_type, which says in what type the statistics are computed.  Half precision is computed in single inside one
 * operator anyway.
 */
static bool read_stash_type(struct onnx_node *n)
{
    int64_t type = onnx_int(n, "stash_type", ONNX_FLOAT);

    return type == ONNX_FLOAT || type == ONNX_FLOAT16 || onnx_refuse(n, "stash_type %s", onnx_type_name((enum onnx_type)type));
}

static bool import_group_normalization(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), scale = onnx_operand(n, 1), bias = onnx_operand(n, 2), y;
    int64_t groups = onnx_int(n, "num_groups", 0);
    double epsilon = onnx_float(n, "epsilon", 1e-5);
    struct onnx_dims dims = onnx_dims_of(x), shape = {4, {dims.at[0], 1, 1, 1}};

    if (!read_stash_type(n) || n->refused)
        return false;
    if (dims.rank < 2 || groups < 1 || groups > dims.at[1] || dims.at[1] % groups)
        return onnx_refuse(n, "%lld groups of %u channels", (long long)groups, dims.at[1]);
    shape.at[1] = (uint32_t)groups;
    shape.at[2] = dims.at[1] / shape.at[1];
    shape.at[3] = onnx_dims_product(n, &dims, 2, dims.rank);
    if (n->version < 21) /* scale and bias per group; later per channel */
        return onnx_output(n, 0, normalize_instances(n, x, shape, scale, bias, epsilon));
    y = normalize_instances(n, x, shape, NULL, NULL, epsilon);
    return onnx_output(n, 0,
                       onnx_scale_bias(n, y, onnx_along_axis(n, scale, dims.rank, 1), onnx_along_axis(n, bias, dims.rank, 1)));
}

/* Returns the axes from `axis` on. */
static const uint32_t *read_axes(struct onnx_node *n, WNNOperand x, size_t *count)
{
    size_t rank = onnx_dims_of(x).rank;
    uint32_t first, *axes = onnx_alloc(n, ONNX_RANK_MAX, sizeof *axes);
    int64_t axis = onnx_int(n, "axis", -1);

    if (n->refused || !onnx_axis(n, axis, rank, &first))
        return NULL;
    for (uint32_t i = first; i < rank; i++)
        axes[i - first] = i;
    *count = rank - first;
    return axes;
}

/* Returns whether a scale or bias has just the sizes of the axes, as layerNormalization wants it. */
static bool fits_axes(WNNOperand x, WNNOperand parameter, size_t count)
{
    struct onnx_dims dims = onnx_dims_of(x), have = onnx_dims_of(parameter);
    bool fits = have.rank == count;

    for (size_t i = 0; fits && i < count; i++)
        fits = have.at[i] == dims.at[dims.rank - count + i];
    return fits;
}

static bool import_layer_normalization(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), scale = onnx_operand(n, 1), bias = onnx_operand_optional(n, 2), y, mean, deviation;
    WNNLayerNormalizationOptions o = WNN_LAYER_NORMALIZATION_OPTIONS_INIT;
    WNNOperandDataType type = wnnOperandGetDataType(x);
    size_t count = 0;
    bool direct;

    o.label = n->label;
    o.epsilon = onnx_float(n, "epsilon", 1e-5);
    o.axes = read_axes(n, x, &count);
    o.axesCount = count;
    if (!o.axes || !read_stash_type(n))
        return false;
    direct = fits_axes(x, scale, count) && (!bias || fits_axes(x, bias, count));
    if (direct) {
        o.scale = scale;
        o.bias = bias;
    }
    y = wnnGraphBuilderLayerNormalization(n->builder, x, &o);
    if (!direct)
        y = onnx_scale_bias(n, y, scale, bias);
    if (onnx_wants(n, 1) || onnx_wants(n, 2)) {
        x = onnx_cast(n, x, WNNOperandDataType_Float32);
        mean = onnx_reduce(n, wnnGraphBuilderReduceMean, x, count, o.axes);
        deviation = onnx_sub(n, x, mean);
        deviation = onnx_reduce(n, wnnGraphBuilderReduceMean, onnx_mul(n, deviation, deviation), count, o.axes);
        deviation = onnx_sqrt(n, onnx_add(n, deviation, onnx_scalar(n, WNNOperandDataType_Float32, o.epsilon)));
        onnx_output(n, 1, mean);
        onnx_output(n, 2, onnx_reciprocal(n, deviation));
    }
    return onnx_output(n, 0, onnx_cast(n, y, type));
}

static bool import_rms_normalization(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), scale = onnx_operand(n, 1), single, square;
    WNNOperandDataType type = wnnOperandGetDataType(x);
    double epsilon = onnx_float(n, "epsilon", 1e-5);
    size_t count = 0;
    const uint32_t *axes = read_axes(n, x, &count);

    if (!axes || !read_stash_type(n))
        return false;
    single = onnx_cast(n, x, WNNOperandDataType_Float32);
    square = onnx_reduce(n, wnnGraphBuilderReduceMean, onnx_mul(n, single, single), count, axes);
    square = onnx_sqrt(n, onnx_add(n, square, onnx_scalar(n, WNNOperandDataType_Float32, epsilon)));
    return onnx_output(n, 0, onnx_mul(n, onnx_cast(n, onnx_div(n, single, square), type), scale));
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static bool import_lrn(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), sum;
    double alpha = onnx_float(n, "alpha", 1e-4), beta = onnx_float(n, "beta", 0.75), bias = onnx_float(n, "bias", 1);
    int64_t size = onnx_int(n, "size", 0);
    struct onnx_dims dims = onnx_dims_of(x), plane = {4, {dims.at[0], 1, dims.at[1], 1}}, before = {4, {0}}, after = {4, {0}};
    WNNPool2dOptions o = WNN_POOL2D_OPTIONS_INIT;
    uint32_t window[2] = {1, 1};

    if (n->refused)
        return false;
    if (dims.rank < 2 || size < 1 || size > INT32_MAX / 2)
        return onnx_refuse(n, "size %lld on an input of %zu dimensions", (long long)size, dims.rank);
    plane.at[3] = onnx_dims_product(n, &dims, 2, dims.rank);
    /* What lies further away than all channels are zeros of the padding: the window need not reach there. */
    before.at[2] = smaller((uint32_t)(size - 1) / 2, dims.at[1] - 1);
    after.at[2] = smaller((uint32_t)(size - 1) - (uint32_t)(size - 1) / 2, dims.at[1] - 1);
    window[0] = before.at[2] + 1 + after.at[2];
    o.label = n->label;
    o.windowDimensionsCount = 2;
    o.windowDimensions = window;
    /* Zeros around the channels count in the mean, whose size times alpha / size is what is wanted. */
    alpha *= (double)window[0] / (double)size;
    sum = onnx_pad(n, onnx_reshape_to(n, onnx_mul(n, x, x), plane), before, after, 0);
    sum = onnx_reshape_to(n, wnnGraphBuilderAveragePool2d(n->builder, sum, &o), dims);
    sum = onnx_pow(n, onnx_linear(n, sum, alpha, bias), onnx_scalar_like(n, x, beta));
    return onnx_output(n, 0, onnx_div(n, x, sum));
}

static bool import_lp_normalization(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), norm, zero;
    int64_t order = onnx_int(n, "p", 2), along = onnx_int(n, "axis", -1);
    uint32_t axis;

    if (n->refused || !onnx_axis(n, along, onnx_dims_of(x).rank, &axis))
        return false;
    if (order != 1 && order != 2)
        return onnx_refuse(n, "p is %lld", (long long)order);
    norm = onnx_reduce_axis(n, order == 1 ? wnnGraphBuilderReduceL1 : wnnGraphBuilderReduceL2, x, axis);
    zero = onnx_scalar_like(n, x, 0);
    return onnx_output(n, 0, onnx_where(n, onnx_equal(n, norm, zero), zero, onnx_div(n, x, norm)));
}

static bool import_mean_variance_normalization(struct onnx_node *n)
{
    static const int64_t usual[] = {0, 2, 3};
    WNNOperand x = onnx_operand(n, 0), mean, centred, deviation;
    size_t count;
    const int64_t *given = onnx_ints(n, "axes", &count);
    const uint32_t *axes = onnx_axes(n, given ? given : usual, given ? count : 3, onnx_dims_of(x).rank);

    if (!axes || n->refused)
        return false;
    count = given ? count : 3;
    mean = onnx_reduce(n, wnnGraphBuilderReduceMean, x, count, axes);
    centred = onnx_sub(n, x, mean);
    deviation = onnx_sqrt(n, onnx_reduce(n, wnnGraphBuilderReduceMean, onnx_mul(n, centred, centred), count, axes));
    return onnx_output(n, 0, onnx_div(n, centred, onnx_add(n, deviation, onnx_scalar_like(n, x, 1e-9))));
}

/* ---- softmax ---- */

/* Makes two dimensions for version 12 and below, where everything from the axis on counts as one dimension. */
static WNNOperand flat_from_axis(struct onnx_node *n, WNNOperand x, uint32_t *axis)
{
    struct onnx_dims dims = onnx_dims_of(x), flat = {2, {1, 1}};
    int64_t along = onnx_int(n, "axis", n->version < 13 ? 1 : -1);

    if (n->refused || !onnx_axis(n, along, dims.rank, axis))
        return onnx_error_operand(n);
    if (n->version >= 13 || *axis + 1 == dims.rank)
        return x;
    flat.at[0] = onnx_dims_product(n, &dims, 0, *axis);
    flat.at[1] = onnx_dims_product(n, &dims, *axis, dims.rank);
    *axis = 1;
    return onnx_reshape_to(n, x, flat);
}

static bool import_softmax(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), flat;
    uint32_t axis;

    flat = flat_from_axis(n, x, &axis);
    if (n->refused)
        return false;
    return onnx_output(n, 0, onnx_reshape_to(n, wnnGraphBuilderSoftmax(n->builder, flat, axis, n->options), onnx_dims_of(x)));
}

static bool import_log_softmax(struct onnx_node *n)
{
    WNNOperand x = onnx_operand(n, 0), flat;
    uint32_t axis;

    flat = flat_from_axis(n, x, &axis);
    if (n->refused)
        return false;
    flat = onnx_sub(n, flat, onnx_reduce_axis(n, wnnGraphBuilderReduceMax, flat, axis)); /* differences stay exact */
    flat = onnx_sub(n, flat, onnx_reduce_axis(n, wnnGraphBuilderReduceLogSumExp, flat, axis));
    return onnx_output(n, 0, onnx_reshape_to(n, flat, onnx_dims_of(x)));
}

static const struct onnx_operator rows[] = {
    {"BatchNormalization", 1, 0, 5, 5, 5, 0, import_batch_normalization, "inference; training refused", NULL},
    {"InstanceNormalization", 1, 0, 3, 3, 1, 0, import_instance_normalization, "other ranks than 4 reshaped", NULL},
    {"GroupNormalization", 18, 0, 3, 3, 1, 0, import_group_normalization, "instanceNormalization of the groups", NULL},
    {"LayerNormalization", 1, 0, 2, 3, 3, 0, import_layer_normalization,
     "its statistics by reduceMean; before version 17 ONNX Runtime's", NULL},
    {"RMSNormalization", 23, 0, 2, 2, 1, 0, import_rms_normalization, "mul, reduceMean, sqrt, div, mul", NULL},
    {"LRN", 1, 0, 1, 1, 1, 0, import_lrn, "averagePool2d over channels, pow, div", NULL},
    {"LpNormalization", 1, 0, 1, 1, 1, 0, import_lp_normalization, "reduceL1 or reduceL2, div; 0 where the norm is 0", NULL},
    {"MeanVarianceNormalization", 9, 0, 1, 1, 1, 0, import_mean_variance_normalization, "reduceMean, sqrt, div", NULL},
    {"Softmax", 1, 0, 1, 1, 1, 0, import_softmax, "before version 13 of the flattened dimensions", NULL},
    {"LogSoftmax", 1, 0, 1, 1, 1, 0, import_log_softmax, "reduceMax, reduceLogSumExp, sub", NULL},
};

ONNX_TABLE(onnx_normalize_operators, rows);
