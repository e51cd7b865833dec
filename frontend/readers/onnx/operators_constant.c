/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports ONNX operators that make or rename values: constants, shapes, ranges, casts.  They become constants on the host (all
 * shapes are known, so that Shape and Size are constants of any input), or builder calls.
 */
#include <math.h>
#include <string.h>
#include <strings.h>

#include "frontend/readers/onnx/counted.h"
#include "frontend/readers/onnx/open.h"
#include "frontend/readers/onnx/compose.h"
#include "webnn/webnn_draft.h"

enum { HOST_FILL = 1 << 12 }; /* larger fills become an expand of a scalar, which costs nothing in a graph */

/* ---- constants ---- */

static bool constant_list(struct onnx_node *n, enum onnx_type type, const void *list, size_t count, bool scalar)
{
    void *data = onnx_output_constant(n, 0, type, scalar ? 0 : 1, &(int64_t){(int64_t)count});

    if (data && count)
        memcpy(data, list, count * onnx_type_size(type));
    return data != NULL;
}

bool onnx_import_constant(struct onnx_node *n)
{
    size_t count;
    const float *floats;
    const int64_t *ints;

    if (onnx_has(n, "value"))
        return onnx_output_value(n, 0, onnx_tensor(n, "value"));
    if (onnx_has(n, "value_float"))
        return constant_list(n, ONNX_FLOAT, &(float){(float)onnx_float(n, "value_float", 0)}, 1, true);
    if (onnx_has(n, "value_int"))
        return constant_list(n, ONNX_INT64, &(int64_t){onnx_int(n, "value_int", 0)}, 1, true);
    if ((floats = onnx_floats(n, "value_floats", &count)))
        return constant_list(n, ONNX_FLOAT, floats, count, false);
    if ((ints = onnx_ints(n, "value_ints", &count)))
        return constant_list(n, ONNX_INT64, ints, count, false);
    return onnx_refuse(n, "its value is a string, a sparse tensor or missing; WebNN has numbers only");
}

static bool output_filled(struct onnx_node *n, size_t i, enum onnx_type type, size_t rank, const int64_t *dims,
                          const void *element)
{
    WNNOperandDataType data_type = onnx_data_type(type);
    size_t size = onnx_type_size(type);
    uint32_t shape[ONNX_RANK_MAX];
    double count = 1;

    for (size_t d = 0; d < rank && d < ONNX_RANK_MAX; d++) {
        if ((dims[d] < 0 || dims[d] > INT32_MAX) && !onnx_is_open(dims[d]))
            return onnx_refuse(n, "a dimension of the result would be %lld", (long long)dims[d]);
        count *= (double)dims[d];
        shape[d] = (uint32_t)dims[d];
    }
    if (rank > ONNX_RANK_MAX)
        return onnx_refuse(n, "the result would have more than %d dimensions", ONNX_RANK_MAX);
    const bool open = onnx_any_open(rank, shape);
    n->is_static = !open;
    if ((count > HOST_FILL || open) && data_type != WNNOperandDataType_Undefined) {
        WNNOperand scalar = onnx_constant_operand(n, data_type, 0, NULL, element);

        struct onnx_dims to = {rank, {0}};

        memcpy(to.at, shape, rank * sizeof *shape);
        return onnx_output_as(n, i, onnx_expand(n, scalar, to), type);
    }
    unsigned char *data = onnx_output_constant(n, i, type, rank, dims);
    for (size_t k = 0; data && (double)k < count; k++)
        memcpy(data + k * size, element, size);
    return data != NULL;
}

bool onnx_import_constant_of_shape(struct onnx_node *n)
{
    size_t rank;
    const int64_t *dims = onnx_sizes(n, 0, &rank);
    const struct onnx_value *value = onnx_has(n, "value") ? onnx_tensor(n, "value") : NULL;

    if (!dims || n->refused)
        return false;
    if (value && onnx_elements(value) != 1)
        return onnx_refuse(n, "its value has %lld elements, it must have one", (long long)onnx_elements(value));
    return value ? output_filled(n, 0, value->type, rank, dims, value->data)
                 : output_filled(n, 0, ONNX_FLOAT, rank, dims, &(float){0});
}

/* ---- shapes ---- */

/** Returns a bound of Shape's slice: negative ones count from the end, all are clamped. */
static size_t clamp_bound(int64_t at, size_t rank)
{
    if (at < 0)
        at += (int64_t)rank;
    if (at < 0)
        return 0;
    return (size_t)at < rank ? (size_t)at : rank;
}

/** Makes the sizes from start on, of which one is known at run time only. */
static bool counted_shape(struct onnx_node *n, const struct onnx_value *v, size_t start, size_t end)
{
    const uint32_t rank = (uint32_t)(end - start), at = v->counted - (uint32_t)start;
    int64_t low[ONNX_RANK_MAX] = {0};
    WNNOperand exact = onnx_constant_operand(n, WNNOperandDataType_Int64, 1, &rank, v->dims + start), here;

    memcpy(low, v->dims + start, rank * sizeof(*low));
    low[at] = 0;
    here = onnx_equal(n, onnx_iota(n, WNNOperandDataType_Int32, 1, 0, rank), onnx_scalar(n, WNNOperandDataType_Int32, at));
    exact = onnx_where(n, here, onnx_cast(n, v->count, WNNOperandDataType_Int64), exact);
    return onnx_output_sizes(n, 1, rank, v->dims + start, low, exact);
}

bool onnx_import_shape(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0];
    size_t start = clamp_bound(onnx_int(n, "start", 0), v->rank);
    size_t end = clamp_bound(onnx_int(n, "end", (int64_t)v->rank), v->rank);

    if (v->refusal)
        return onnx_refuse(n, "its input %s", v->refusal);
    if (v->count && v->counted >= start && v->counted < end)
        return counted_shape(n, v, start, end);
    uint32_t sizes[ONNX_RANK_MAX] = {0};
    for (size_t d = start; d < end; d++)
        sizes[d - start] = (uint32_t)v->dims[d];
    if (end > start && onnx_any_open(end - start, sizes))
        return onnx_output(n, 0, onnx_sizes_operand(n, end - start, sizes));
    return constant_list(n, ONNX_INT64, v->dims + start, end > start ? end - start : 0, false);
}

bool onnx_import_size(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0];

    if (v->refusal)
        return onnx_refuse(n, "its input %s", v->refusal);
    if (v->count) {
        const int64_t all = onnx_elements(v), low = 0;
        const WNNOperand count = onnx_cast(n, v->count, WNNOperandDataType_Int64);

        return onnx_output_sizes(n, 0, 1, &all, &low,
                                 onnx_mul(n, count, onnx_scalar_like(n, count, (double)(all / v->dims[v->counted]))));
    }
    if (onnx_value_is_open(v)) {
        const int64_t all = onnx_size_quotient(n, v->rank, v->dims, 0, NULL);

        return onnx_output(n, 0, onnx_size_scalar(n, all, WNNOperandDataType_Int64));
    }
    return constant_list(n, ONNX_INT64, &(int64_t){onnx_elements(v)}, 1, true);
}

bool onnx_import_range(struct onnx_node *n)
{
    bool sizes = false;

    for (size_t i = 0; i < n->input_count; i++)
        sizes = sizes ||
                (n->inputs[i] && n->inputs[i]->operand && !onnx_is_constant(n, i) && onnx_is_sizes(n, n->inputs[i]->operand));
    if (sizes) {
        WNNOperand parts[3];

        onnx_ignore(n, "stash_type");
        for (size_t i = 0; i < 3; i++)
            parts[i] = onnx_reshape(n, onnx_operand(n, i), 0, NULL);
        return onnx_output(n, 0, wnnGraphBuilderRange(n->builder, parts[0], parts[1], parts[2], n->options));
    }
    const struct onnx_value *start = onnx_constant(n, 0), *limit = onnx_constant(n, 1), *delta = onnx_constant(n, 2);
    enum onnx_type type = start ? start->type : ONNX_UNDEFINED;
    double count, step;

    onnx_ignore(n, "stash_type"); /* sums are computed in double, whatever it says */
    if (!start || !limit || !delta)
        return false;
    if (onnx_elements(start) != 1 || onnx_elements(limit) != 1 || onnx_elements(delta) != 1)
        return onnx_refuse(n, "start, limit and delta must be scalars");
    step = onnx_element(delta, 0);
    if (step == 0 || isnan(step))
        return onnx_refuse(n, "delta is 0");
    count = ceil((onnx_element(limit, 0) - onnx_element(start, 0)) / step);
    count = count > 0 ? count : 0;
    if (!(count <= INT32_MAX))
        return onnx_refuse(n, "it would have %g elements", count);
    void *data = onnx_output_constant(n, 0, type, 1, &(int64_t){(int64_t)count});
    for (size_t i = 0; data && (double)i < count; i++)
        if (onnx_type_is_float(type))
            onnx_store(type, data, i, onnx_element(start, 0) + (double)i * step);
        else
            onnx_store_int(type, data, i,
                           (int64_t)((uint64_t)onnx_element_int(start, 0) + i * (uint64_t)onnx_element_int(delta, 0)));
    return data != NULL;
}

/** Returns the coordinates, int64 [rank, elements], of the elements that are not 0, of which only so many count. */
static bool find_non_zero(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0];
    WNNOperand x = onnx_operand(n, 0), flags, at, count, parts[ONNX_RANK_MAX];
    const struct onnx_dims dims = onnx_dims_of(n, x);
    const uint32_t all = onnx_dims_product(n, &dims, 0, dims.rank);
    uint32_t inner = all;

    flags = wnnGraphBuilderNotEqual(n->builder, x, onnx_scalar_like(n, x, 0), n->options);
    flags = onnx_cast(n, flags, WNNOperandDataType_Int32);
    if (v->count)
        flags = onnx_fill_padding(n, v, flags, onnx_scalar_like(n, flags, 0));
    at = onnx_compact(n, onnx_reshape(n, flags, 1, &all), &count);
    if (n->refused || !dims.rank)
        return onnx_refuse(n, "its input has no dimensions");
    for (size_t d = 0; d < dims.rank; d++) {
        inner /= dims.at[d];
        x = onnx_divide(n, at, inner, &at);
        parts[d] = onnx_reshape(n, x, 2, (uint32_t[]){1, all});
    }
    onnx_set_count(n, count, 1);
    return onnx_output(n, 0, onnx_cast(n, onnx_concat(n, dims.rank, parts, 0), WNNOperandDataType_Int64));
}

bool onnx_import_non_zero(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0];
    int64_t count = 0, at = 0, *data;

    if (!onnx_is_constant(n, 0) || v->count)
        return find_non_zero(n);
    for (size_t i = 0; i < (size_t)onnx_elements(v); i++)
        count += onnx_element(v, i) != 0;
    data = onnx_output_constant(n, 0, ONNX_INT64, 2, (int64_t[]){(int64_t)v->rank, count});
    for (size_t i = 0; data && i < (size_t)onnx_elements(v); i++) {
        size_t rest = i;

        if (onnx_element(v, i) == 0)
            continue;
        for (size_t d = v->rank; d-- > 0;) {
            data[(int64_t)d * count + at] = (int64_t)(rest % (size_t)v->dims[d]);
            rest /= (size_t)v->dims[d];
        }
        at++;
    }
    return data != NULL;
}

bool onnx_import_eye_like(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0];
    enum onnx_type type = (enum onnx_type)onnx_int(n, "dtype", v->type);
    int64_t k = onnx_int(n, "k", 0);
    WNNTriangularOptions o = WNN_TRIANGULAR_OPTIONS_INIT;
    uint32_t dims[2] = {(uint32_t)v->dims[0], (uint32_t)v->dims[1]};

    if (v->rank != 2)
        return onnx_refuse(n, "its input has %zu dimensions, it must have 2", v->rank);
    if (!onnx_data_type(type))
        return onnx_refuse(n, "it makes %s, which WebNN does not have", onnx_type_name(type));
    if (!onnx_elements(v))
        return onnx_output_constant(n, 0, type, 2, v->dims) != NULL;
    /* What lies beyond the corners lies outside all the same. */
    o.label = n->label;
    o.diagonal = (int32_t)(k < -v->dims[0] ? -v->dims[0] : k > v->dims[1] ? v->dims[1] : k);
    WNNOperand y = wnnGraphBuilderExpand(n->builder, onnx_scalar(n, onnx_data_type(type), 1), 2, dims, n->options);
    y = wnnGraphBuilderTriangular(n->builder, y, &o);
    o.upper = false;
    n->is_static = true;
    return onnx_output_as(n, 0, wnnGraphBuilderTriangular(n->builder, y, &o), type);
}

/* ---- casts ---- */

/** Casts tensors without elements, or to or from types that operands do not have. */
static bool cast_on_host(struct onnx_node *n, enum onnx_type type)
{
    const struct onnx_value *v = onnx_constant(n, 0);
    void *data = v ? onnx_output_constant(n, 0, type, v->rank, v->dims) : NULL;

    for (size_t i = 0; data && i < (size_t)onnx_elements(v); i++)
        if (onnx_type_is_float(v->type))
            onnx_store(type, data, i, onnx_element(v, i));
        else if (type == ONNX_BOOL)
            ((unsigned char *)data)[i] = onnx_element(v, i) != 0;
        else if (v->type == ONNX_UINT64 && onnx_type_is_float(type))
            onnx_store(type, data, i, onnx_element(v, i));
        else
            onnx_store_int(type, data, i, onnx_element_int(v, i));
    return data != NULL;
}

static bool cast_to(struct onnx_node *n, enum onnx_type type)
{
    const bool narrows = onnx_format_of(type) && type != ONNX_BOOL, saturate = !narrows || onnx_int(n, "saturate", 1) != 0;
    struct onnx_value *v = n->inputs[0];
    WNNOperandDataType from = onnx_data_type(v->type), to = onnx_data_type(type);

    if (v->refusal)
        return onnx_refuse(n, "its input %s", v->refusal);
    if (v->type == type)
        return onnx_output_value(n, 0, v);
    if (!onnx_type_size(type) || (!to && !onnx_is_constant(n, 0)))
        return onnx_refuse(n, "it makes %s, which WebNN does not have", onnx_type_name(type));
    if (!to || !from || !onnx_elements(v) ||
        ((v->type == ONNX_DOUBLE || type == ONNX_DOUBLE) && !narrows && onnx_is_constant(n, 0)))
        return cast_on_host(n, type);
    if (v->sums && !v->is_static && onnx_type_is_float(type))
        return onnx_output_as(n, 0, onnx_cast(n, v->sums, to), type);
    WNNOperand x = onnx_operand(n, 0);
    if (type == ONNX_BOOL)
        x = wnnGraphBuilderNotEqual(n->builder, x, onnx_scalar_like(n, x, 0), n->options);
    else if (narrows) { /* integers of another size lose bits; numbers are rounded to those of 2 and 4 bits (ONNX's int4.md),
                         * and saturate beyond those of 16 bits, as beyond those of 8 and 32 */
        const bool cuts = onnx_type_is_float(v->type) && !onnx_type_is_float(type), wide = to == WNNOperandDataType_Int32;
        x = onnx_narrow(n, cuts && !wide ? wnnGraphBuilderRoundEven(n->builder, x, n->options) : x, type,
                        onnx_type_is_float(type) ? saturate : cuts && wide);
    } else
        x = onnx_cast(n, x, to);
    return onnx_output_as(n, 0, x, type);
}

/** Returns the type of a name in TensorProto.DataType, such as INT64. */
static enum onnx_type type_by_name(const char *name)
{
    for (enum onnx_type t = ONNX_FLOAT; t <= ONNX_UINT64; t++)
        if (!strcasecmp(name, t == ONNX_FLOAT ? "FLOAT" : t == ONNX_DOUBLE ? "DOUBLE" : onnx_type_name(t)))
            return t;
    return ONNX_UNDEFINED;
}

bool onnx_import_cast(struct onnx_node *n)
{
    /* These attributes are about 8-bit floats only, the latter about powers of two. */
    onnx_ignore(n, "saturate");
    onnx_ignore(n, "round_mode");
    return cast_to(n, n->version < 6 ? type_by_name(onnx_string(n, "to", "")) : (enum onnx_type)onnx_int(n, "to", 0));
}

bool onnx_import_cast_like(struct onnx_node *n)
{
    onnx_ignore(n, "saturate");
    onnx_ignore(n, "round_mode");
    n->is_static = n->inputs[0]->is_static; /* of the other one only the type matters */
    return cast_to(n, n->inputs[1]->type);
}

/* ---- what changes nothing ---- */

/** Nothing is dropped when a network is used. */
bool onnx_import_dropout(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0];
    double ratio = 0.5;

    onnx_ignore(n, n->version < 12 ? "ratio" : "seed");
    if (n->version < 7) {
        if (!onnx_int(n, "is_test", 0))
            return onnx_refuse(n, "it drops values, as in training");
    }
    if (n->version >= 12 && onnx_input(n, 2) && onnx_number(n, 2, 0) != 0) {
        ratio = onnx_number(n, 1, 0.5);
        if (ratio != 0)
            return onnx_refuse(n, "training_mode is true: it drops values at random");
    }
    if (onnx_wants(n, 1)) {
        enum onnx_type type = n->version < 10 ? v->type : ONNX_BOOL;
        union {
            unsigned char bytes[8];
            uint64_t align;
        } one = {{0}};

        onnx_store_int(type, one.bytes, 0, 1);
        if (!output_filled(n, 1, type, v->rank, v->dims, one.bytes))
            return false;
    }
    return onnx_output_value(n, 0, n->inputs[0]);
}
