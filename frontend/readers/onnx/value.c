/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements values, and what importers do with them: inputs of a node become operands where the builder is called, and numbers
 * where shapes and axes are needed; then there are the node's outputs.
 *
 * A constant stays on the host until a builder call needs it: most of those that a file holds for shapes never become operands.
 */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "frontend/readers/files/element.h"
#include "frontend/readers/files/map.h"
#include "frontend/readers/onnx/compose.h"
#include "frontend/readers/onnx/internal.h"
#include "frontend/readers/onnx/open.h"
#include "ir/support/dtype.h"
#include "webnn/webnn_draft.h"

/* ---- refusing ---- */

const char *onnx_value_text(char text[ONNX_TEXT_MAX], const struct onnx_value *v)
{
    uint32_t dims[ONNX_RANK_MAX] = {0};
    const char *zeros[ONNX_RANK_MAX] = {NULL}; /* an open size is shown as a question mark */
    int length = snprintf(text, ONNX_TEXT_MAX, "%s ", onnx_type_name(v->type));

    for (size_t i = 0; i < v->rank; i++)
        if (!onnx_is_open(v->dims[i]) && !(dims[i] = (uint32_t)v->dims[i]))
            zeros[i] = "0";
    model_dims_text(text + length, ONNX_TEXT_MAX - (size_t)length, v->rank, dims, zeros);
    return text;
}

bool onnx_refuse(struct onnx_node *n, const char *format, ...)
{
    char text[700], input[ONNX_TEXT_MAX];

    if (n->refused || n->reader->failed) {
        n->refused = true;
        return false;
    }
    WITH_ARGUMENTS(format, vsnprintf(text, sizeof text, format, arguments));
    n->refused = true;
    for (size_t i = 0, at = strlen(text), given = 0; at && i < n->input_count && at < sizeof text; i++)
        if (n->inputs[i] && !n->inputs[i]->refusal)
            at += (size_t)snprintf(text + at, sizeof text - at, given++ ? ", %s" : "; its inputs are %s",
                                   onnx_value_text(input, n->inputs[i]));
    if (*text) /* a body that was reported already says nothing */
        onnx_report(n->scope, n->proto, text);
    return false;
}

void *onnx_alloc(struct onnx_node *n, size_t count, size_t size)
{
    void *memory = onnx_reader_alloc(n->reader, count, size);

    if (!memory)
        n->refused = true;
    return memory;
}

/* ---- values ---- */

struct onnx_value *onnx_value_create(struct onnx_reader *r, enum onnx_type type, size_t rank, const int64_t *dims)
{
    if (!onnx_dims_fit(rank, dims))
        return onnx_fail_null(r, "a tensor has more than %d dimensions, a negative size, or 2^31 elements and more",
                              ONNX_RANK_MAX);
    struct onnx_value *v = onnx_reader_alloc(r, 1, sizeof *v);
    if (!v)
        return NULL;
    v->type = type;
    v->rank = rank;
    for (size_t i = 0; i < rank; i++)
        v->dims[i] = dims[i];
    return v;
}

struct onnx_value *onnx_value_unknown(struct onnx_reader *r)
{
    struct onnx_value *v = onnx_value_create(r, ONNX_UNDEFINED, 0, NULL);

    if (v)
        v->refusal = "";
    return v;
}

/* ---- elements on the host ---- */

double onnx_element(const struct onnx_value *v, size_t i)
{
    const unsigned char *at = (const unsigned char *)v->data + i * onnx_type_size(v->type);
    double f64;

    if (v->type == ONNX_DOUBLE) {
        memcpy(&f64, at, sizeof f64);
        return f64;
    }
    return element_get(onnx_data_type(v->type), v->data, i);
}

/** Truncates toward zero; NaN becomes 0. */
static int64_t integer_of(double value)
{
    return isnan(value) ? 0 : value >= 0x1p63 ? INT64_MAX : value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

int64_t onnx_element_int(const struct onnx_value *v, size_t i)
{
    const unsigned char *at = (const unsigned char *)v->data + i * onnx_type_size(v->type);
    uint64_t bits = 0;

    if (onnx_type_is_float(v->type))
        return integer_of(onnx_element(v, i));
    memcpy(&bits, at, onnx_type_size(v->type));
    if (onnx_type_is_signed(v->type)) {
        unsigned unused = 64 - 8 * (unsigned)onnx_type_size(v->type);

        return (int64_t)(bits << unused) >> unused;
    }
    return (int64_t)bits;
}

WNNNumber onnx_element_number(const struct onnx_value *v, size_t i)
{
    if (onnx_type_is_float(v->type))
        return wnnNumber(onnx_element(v, i));
    return v->type == ONNX_UINT64 ? wnnNumberUint64((uint64_t)onnx_element_int(v, i)) : wnnNumberInt64(onnx_element_int(v, i));
}

void onnx_store_int(enum onnx_type type, void *data, size_t i, int64_t value)
{
    const struct onnx_format *f = onnx_format_of(type);
    const size_t size = onnx_type_size(type);
    const unsigned unused = f ? 64u - f->bits : 0;

    if (onnx_type_is_float(type)) {
        onnx_store(type, data, i, (double)value);
    } else if (type == ONNX_BOOL) {
        ((unsigned char *)data)[i] = value != 0;
    } else {
        if (f) /* the low bits */
            value = onnx_type_is_signed(type) ? (int64_t)((uint64_t)value << unused) >> unused
                                              : (int64_t)((uint64_t)value << unused >> unused);
        memcpy((unsigned char *)data + i * size, &value, size); /* the low bytes */
    }
}

void onnx_store(enum onnx_type type, void *data, size_t i, double value)
{
    if (type == ONNX_DOUBLE)
        memcpy((unsigned char *)data + i * sizeof value, &value, sizeof value);
    else if (onnx_type_is_float(type))
        element_set(onnx_data_type(type), data, i, value);
    else if (type == ONNX_UINT64 && value >= 0x1p63)
        onnx_store_int(type, data, i, (int64_t)(value >= 0x1p64 ? UINT64_MAX : (uint64_t)value));
    else if (type == ONNX_BOOL)
        ((unsigned char *)data)[i] = value != 0;
    else
        onnx_store_int(type, data, i, integer_of(value));
}

/* ---- inputs ---- */

struct onnx_value *onnx_input(struct onnx_node *n, size_t i)
{
    return i < n->input_count ? n->inputs[i] : NULL;
}

WNNOperand onnx_error_operand(struct onnx_node *n)
{
    return n->reader->error_operand;
}

WNNOperand onnx_value_operand(struct onnx_node *n, struct onnx_value *v)
{
    uint32_t dims[ONNX_RANK_MAX] = {0};
    WNNOperandDataType type = onnx_data_type(v->type);

    if (v->refusal)
        return onnx_refuse_operand(n, "%s%s", v->refusal[0] ? "an input " : "", v->refusal);
    if (v->exact)
        return v->exact;
    if (v->operand)
        return v->operand;
    if ((!v->data && !v->file && !v->raw) || type == WNNOperandDataType_Undefined)
        return onnx_refuse_operand(n, "an input is of type %s, which WebNN does not have", onnx_type_name(v->type));
    if (!onnx_elements(v))
        return onnx_refuse_operand(n, "an input has no elements%s%s; WebNN has no empty tensors", v->empty ? ", as " : "",
                                   v->empty ? v->empty : "");
    for (size_t i = 0; i < v->rank; i++)
        dims[i] = (uint32_t)v->dims[i]; /* none is open in a constant */
    WNNOperandDescriptor descriptor = {type, v->rank, dims, NULL};
    size_t bytes = (size_t)onnx_elements(v) * onnx_type_size(v->type);

    if (v->raw && onnx_draft_type(v->type))
        return v->operand = file_map_lend_cast(v->map, n->builder, &descriptor, onnx_draft_type(v->type), v->raw);
    if (v->raw || !dtype_is_public(type))
        return onnx_value_compute(n->reader, v) ? (v->operand = onnx_constant_operand(n, type, v->rank, dims, v->data))
                                                : onnx_error_operand(n);
    v->operand = v->file ? file_map_lend(v->map, n->builder, &descriptor, v->file, bytes)
                         : wnnGraphBuilderConstant(n->builder, &descriptor, v->data, bytes);
    return v->operand;
}

WNNOperand onnx_operand(struct onnx_node *n, size_t i)
{
    struct onnx_value *v = onnx_input(n, i);

    if (!v)
        return onnx_refuse_operand(n, "input %zu is missing", i);
    return onnx_value_operand(n, v);
}

WNNOperand onnx_operand_optional(struct onnx_node *n, size_t i)
{
    struct onnx_value *v = onnx_input(n, i);

    return v ? onnx_value_operand(n, v) : NULL;
}

/** Brings numbers to the host that are made of dimensions which the file does not leave open. */
static bool compute_sizes(struct onnx_reader *r, struct onnx_value *v)
{
    int64_t count = onnx_elements(v);
    WNNSize size;

    if (!r->open.count || !v->operand || onnx_value_is_open(v) || !onnx_type_size(v->type))
        return false;
    for (int64_t i = 0; i < count; i++)
        if (!wnnOperandGetElement(v->operand, (size_t)i, &size) || size.expression)
            return false;
    void *data = onnx_reader_alloc(r, (size_t)count + 1, onnx_type_size(v->type));
    for (int64_t i = 0; data && i < count; i++)
        if (wnnOperandGetElement(v->operand, (size_t)i, &size))
            onnx_store_int(v->type, data, (size_t)i, size.least);
    v->data = data;
    return data != NULL;
}

bool onnx_value_compute(struct onnx_reader *r, struct onnx_value *v)
{
    size_t size = onnx_type_size(v->type);
    void *data;

    if (v->data)
        return true;
    if (v->raw)
        return (v->data = onnx_from_raw(r, v->type, v->raw, (size_t)onnx_elements(v))) != NULL;
    if (v->file) {
        data = onnx_reader_alloc(r, (size_t)onnx_elements(v), size);
        if (data)
            memcpy(data, v->file, (size_t)onnx_elements(v) * size);
        v->data = data;
        return data != NULL;
    }
    if (!v->is_static || !v->operand || !size)
        return compute_sizes(r, v);
    data = onnx_reader_alloc(r, (size_t)onnx_elements(v), size);
    if (!data)
        return false;
    switch (wnnGraphBuilderGetConstantValue(r->model->builder, v->operand, data, (size_t)onnx_elements(v) * size)) {
    case WNNStatus_Success:
        break;
    case WNNStatus_OperationError:
        return onnx_fail_budget(r);
    default:
        return false;
    }
    v->data = data;
    return true;
}

bool onnx_value_is_known(struct onnx_node *n, struct onnx_value *v)
{
    return v && !v->refusal && !v->exact && onnx_value_compute(n->reader, v);
}

bool onnx_is_constant(struct onnx_node *n, size_t i)
{
    return onnx_value_is_known(n, onnx_input(n, i));
}

const char *onnx_depends(struct onnx_node *n, size_t i)
{
    char **needed = n->reader->options->needed;
    const struct onnx_value *v = onnx_input(n, i);

    if (v && v->depends && needed && !*needed)
        *needed = strdup(v->depends);
    return v && v->depends ? onnx_escape(n->reader, v->depends) : NULL;
}

const struct onnx_value *onnx_constant(struct onnx_node *n, size_t i)
{
    struct onnx_value *v = onnx_input(n, i);

    if (v && onnx_is_constant(n, i))
        return v;
    if (!v)
        onnx_refuse(n, "input %zu is missing", i);
    else if (v->refusal && !v->refusal[0])
        onnx_refuse(n, "%s", "");
    else if (v->refusal)
        onnx_refuse(n, "input %zu %s", i, v->refusal);
    else if (v->is_static)
        onnx_refuse(n, "input %zu must be known when the graph is built, but cannot be computed there", i);
    else if (v->depends)
        onnx_refuse(n,
                    "input %zu depends on an input of the model, \"%s\", but a static graph needs its value when it is built: "
                    "%s gives it",
                    i, onnx_depends(n, i),
                    n->reader->options->command ? "--constant NAME=VALUE or NAME=FILE.npy" : "the option constants");
    else
        onnx_refuse(n, "input %zu depends on an input of the model, but a static graph needs its value when it is built", i);
    return NULL;
}

const int64_t *onnx_integers(struct onnx_node *n, size_t i, size_t *count)
{
    const struct onnx_value *v = onnx_constant(n, i);

    *count = 0;
    if (!v)
        return NULL;
    if (onnx_type_is_float(v->type))
        return onnx_refuse_null(n, "input %zu is of type %s, it must hold integers", i, onnx_type_name(v->type));
    *count = (size_t)onnx_elements(v);
    if (v->type == ONNX_INT64 && *count)
        return v->data;
    int64_t *list = onnx_alloc(n, *count + 1, sizeof *list);
    for (size_t k = 0; list && k < *count; k++)
        list[k] = onnx_element_int(v, k);
    return list;
}

double onnx_number(struct onnx_node *n, size_t i, double fallback)
{
    const struct onnx_value *v = onnx_input(n, i) ? onnx_constant(n, i) : NULL;

    if (!v)
        return fallback;
    if (onnx_elements(v) != 1) {
        onnx_refuse(n, "input %zu has %lld elements, it must have one", i, (long long)onnx_elements(v));
        return fallback;
    }
    return onnx_element(v, 0);
}

bool onnx_axis(struct onnx_node *n, int64_t axis, size_t rank, uint32_t *result)
{
    *result = 0;
    if (axis < -(int64_t)rank || axis >= (int64_t)rank)
        return onnx_refuse(n, "axis %lld is not one of %zu dimensions", (long long)axis, rank);
    *result = (uint32_t)(axis < 0 ? axis + (int64_t)rank : axis);
    return true;
}

const uint32_t *onnx_axes(struct onnx_node *n, const int64_t *axes, size_t count, size_t rank)
{
    uint32_t *result = count <= rank ? onnx_alloc(n, count + 1, sizeof *result) : NULL, seen = 0;

    if (count > rank)
        onnx_refuse(n, "there are %zu axes, but only %zu dimensions", count, rank);
    for (size_t i = 0; result && i < count; i++) {
        if (!onnx_axis(n, axes[i], rank, &result[i]))
            return NULL;
        if (seen >> result[i] & 1)
            return onnx_refuse_null(n, "axis %lld is given twice", (long long)axes[i]);
        seen |= 1u << result[i];
    }
    return result;
}

/* ---- outputs ---- */

bool onnx_output_value(struct onnx_node *n, size_t i, struct onnx_value *v)
{
    if (n->refused)
        return false;
    if (i < n->output_count)
        n->outputs[i] = v;
    return true;
}

bool onnx_output_as(struct onnx_node *n, size_t i, WNNOperand operand, enum onnx_type type)
{
    if (n->refused)
        return false;
    if (wnnOperandIsError(operand)) {
        WNNStringView message = {NULL, 0};

        wnnGraphBuilderGetError(n->builder, &message);
        return onnx_refuse(n, "%.*s", (int)(message.length > 500 ? 500 : message.length),
                           message.length ? message.data : "the builder refused it");
    }
    if (i >= n->output_count)
        return true;
    struct onnx_value *v = onnx_value_create(n->reader, type, 0, NULL);
    if (!v)
        return onnx_refuse(n, "out of memory");
    v->rank = wnnOperandGetRank(operand);
    for (size_t d = 0; d < v->rank; d++)
        v->dims[d] = onnx_dimension(n, operand, d);
    v->operand = operand;
    v->is_static = n->is_static;
    n->outputs[i] = v;
    return true;
}

bool onnx_output(struct onnx_node *n, size_t i, WNNOperand operand)
{
    return onnx_output_as(n, i, operand, onnx_type_of(wnnOperandGetDataType(operand)));
}

static bool output_dims_fit(struct onnx_node *n, size_t i, size_t rank, const int64_t *dims)
{
    if (onnx_dims_fit(rank, dims))
        return true;
    if (rank > ONNX_RANK_MAX)
        return onnx_refuse(n, "output %zu would have %zu dimensions, an operand has at most %d", i, rank, ONNX_RANK_MAX);
    for (size_t d = 0; d < rank; d++)
        if (dims[d] < 0 || dims[d] > INT32_MAX)
            return onnx_refuse(n, "output %zu would have a dimension of %lld", i, (long long)dims[d]);
    return onnx_refuse(n, "output %zu would have 2^31 elements and more", i);
}

void *onnx_output_constant(struct onnx_node *n, size_t i, enum onnx_type type, size_t rank, const int64_t *dims)
{
    if (n->refused || !output_dims_fit(n, i, rank, dims))
        return NULL;
    if (!onnx_type_size(type))
        return onnx_refuse_null(n, "output %zu would be of a type that WebNN does not have", i);
    struct onnx_value *v = onnx_value_create(n->reader, type, rank, dims);
    if (v)
        v->data = onnx_alloc(n, onnx_elements(v) ? (size_t)onnx_elements(v) : 1, onnx_type_size(type));
    if (!v || !v->data)
        return onnx_refuse_null(n, "out of memory");
    v->is_static = true;
    if (i < n->output_count)
        n->outputs[i] = v;
    return (void *)v->data;
}

bool onnx_output_view(struct onnx_node *n, size_t i, const struct onnx_value *v, size_t rank, const int64_t *dims)
{
    if (n->refused || !output_dims_fit(n, i, rank, dims))
        return false;
    struct onnx_value *view = onnx_value_create(n->reader, v->type, rank, dims);
    if (!view)
        return onnx_refuse(n, "out of memory");
    view->data = v->data;
    view->file = v->file;
    view->raw = v->raw;
    view->map = v->map;
    view->is_static = true;
    return onnx_output_value(n, i, view);
}

/* ---- builder calls that importers need often ---- */

/** Returns by how many powers of two the largest of finite numbers must be divided for all to be in the range of float32. */
static int shift_of(const double *x, size_t count)
{
    enum { TOP = 100, BOTTOM = -60 }; /* the last one of 53 bits is then above the least number of float32 */
    int most = INT_MIN, exponent;

    for (size_t i = 0; i < count; i++)
        if (isfinite(x[i]) && x[i] != 0) {
            frexp(x[i], &exponent);
            most = exponent > most ? exponent : most;
        }
    return most == INT_MIN || (most > BOTTOM && most < TOP) ? 0 : most;
}

/** Returns a constant of float64, which builders do not take: sums of float32 numbers, times powers of two. */
static WNNOperand double_operand(struct onnx_node *n, size_t rank, const uint32_t *dims, const double *x)
{
    struct onnx_dims shape = {rank, {0}};
    WNNOperand sum = NULL, part;
    bool more = true;

    if (rank)
        memcpy(shape.at, dims, rank * sizeof(*dims));
    const size_t count = onnx_dims_product(n, &shape, 0, rank);
    float *numbers = onnx_alloc(n, count, sizeof(*numbers));
    double *rest = onnx_alloc(n, count, sizeof(*rest));
    int shift = shift_of(x, count);

    for (size_t i = 0; numbers && rest && i < count; i++) {
        rest[i] = ldexp(x[i], -shift);
        if (ldexp(rest[i], shift) != x[i] && x[i] == x[i])
            return onnx_refuse_operand(n, "a constant of float64 has numbers of too different sizes, such as %g", x[i]);
    }
    for (int parts = 0; numbers && rest && more; parts++) {
        if (parts == 3) /* what float32 does not have remains */
            return onnx_refuse_operand(n, "a constant of float64 has numbers of too different sizes");
        more = false;
        for (size_t i = 0; i < count; i++) {
            numbers[i] = (float)rest[i];
            rest[i] = isfinite(rest[i]) ? rest[i] - (double)numbers[i] : 0;
            more = more || rest[i] != 0;
            rest[i] = rest[i] != 0 ? rest[i] : copysign(0, x[i]); /* whose sum with -0 is -0 */
        }
        part = onnx_cast(n, onnx_constant_operand(n, WNNOperandDataType_Float32, rank, dims, numbers), DTYPE_FLOAT64);
        sum = sum ? onnx_add(n, sum, part) : part;
    }
    for (int step; sum && shift; shift -= step) {
        step = shift < -126 ? -126 : shift > 127 ? 127 : shift;
        sum = onnx_mul(n, sum, onnx_cast(n, onnx_scalar(n, WNNOperandDataType_Float32, ldexp(1, step)), DTYPE_FLOAT64));
    }
    return sum ? sum : onnx_error_operand(n);
}

WNNOperand onnx_scalar(struct onnx_node *n, WNNOperandDataType type, double value)
{
    return type == DTYPE_FLOAT64 ? onnx_constant_operand(n, type, 0, NULL, &value)
                                 : wnnGraphBuilderConstantScalar(n->builder, type, wnnNumber(value));
}

WNNOperand onnx_constant_operand(struct onnx_node *n, WNNOperandDataType type, size_t rank, const uint32_t *dims,
                                 const void *data)
{
    size_t bytes = dtype_size(type);

    if (type == DTYPE_FLOAT64)
        return double_operand(n, rank, dims, data);
    for (size_t d = 0; d < rank; d++) {
        if (dims[d] && bytes > SIZE_MAX / 2 / dims[d])
            bytes = 0; /* which the builder refuses */
        bytes *= dims[d];
    }
    return wnnGraphBuilderConstant(n->builder, &(WNNOperandDescriptor){type, rank, dims, NULL}, data, bytes);
}

WNNOperand onnx_reshape(struct onnx_node *n, WNNOperand operand, size_t rank, const uint32_t *dims)
{
    bool same = wnnOperandGetRank(operand) == rank;

    for (size_t d = 0; same && d < rank; d++)
        same = onnx_dimension(n, operand, d) == dims[d];
    if (!same && onnx_any_open(rank, dims))
        return wnnGraphBuilderReshapeDynamic(n->builder, operand, onnx_sizes_operand(n, rank, dims), n->options);
    return same ? operand : wnnGraphBuilderReshape(n->builder, operand, rank, dims, n->options);
}

WNNOperand onnx_transpose(struct onnx_node *n, WNNOperand operand, size_t rank, const uint32_t *permutation)
{
    WNNTransposeOptions o = WNN_TRANSPOSE_OPTIONS_INIT;
    size_t has = wnnOperandGetRank(operand);

    if (has != rank) { /* in a node that was refused for something else, too, where checks are left out */
        if (!n->refused)
            onnx_refuse(n, "an operand has rank %zu where %zu is needed", has, rank);
        return onnx_error_operand(n);
    }
    o.label = n->label;
    o.permutationCount = rank;
    o.permutation = permutation;
    return wnnGraphBuilderTranspose(n->builder, operand, &o);
}

WNNOperand onnx_slice_axis(struct onnx_node *n, WNNOperand operand, uint32_t axis, uint32_t start, uint32_t size)
{
    uint32_t starts[ONNX_RANK_MAX] = {0}, sizes[ONNX_RANK_MAX];
    size_t rank = wnnOperandGetRank(operand);
    WNNSliceOptions o = WNN_SLICE_OPTIONS_INIT;

    if (wnnOperandIsError(operand) || axis >= rank)
        return onnx_error_operand(n);
    for (size_t d = 0; d < rank; d++)
        sizes[d] = onnx_dimension(n, operand, d);
    if (!start && size == sizes[axis])
        return operand;
    starts[axis] = start;
    sizes[axis] = size;
    o.label = n->label;
    if (onnx_is_open(start) || onnx_any_open(rank, sizes))
        return wnnGraphBuilderSliceDynamic(n->builder, operand, onnx_sizes_operand(n, rank, starts),
                                           onnx_sizes_operand(n, rank, sizes), &o);
    return wnnGraphBuilderSlice(n->builder, operand, rank, starts, rank, sizes, &o);
}

WNNOperand onnx_cast(struct onnx_node *n, WNNOperand operand, WNNOperandDataType type)
{
    if (wnnOperandGetDataType(operand) == type)
        return operand;
    return type == DTYPE_FLOAT64 ? wnnGraphBuilderCastToFloat64(n->builder, operand, n->options)
                                 : wnnGraphBuilderCast(n->builder, operand, type, n->options);
}

WNNOperand onnx_wide(struct onnx_node *n, WNNOperand x)
{
    return wnnOperandGetDataType(x) == WNNOperandDataType_Float16 ? onnx_cast(n, x, WNNOperandDataType_Float32) : x;
}
