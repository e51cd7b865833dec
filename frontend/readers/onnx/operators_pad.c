/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports ONNX Pad in all its modes, and CenterCropPad: as pad and slice, or as gathers of whole rows where WebNN's pad has no
 * such mode (wrap, reflection further than the tensor is wide).
 */
#include <string.h>

#include "frontend/readers/onnx/counted.h"
#include "frontend/readers/onnx/open.h"
#include "frontend/readers/onnx/compose.h"

struct padding {
    int64_t before[ONNX_RANK_MAX], after[ONNX_RANK_MAX]; /* negative: elements taken away */
};

/** Takes away what negative paddings say, and makes them 0. */
static WNNOperand crop(struct onnx_node *n, WNNOperand x, struct padding *p, const struct onnx_value *v)
{
    uint32_t starts[ONNX_RANK_MAX], sizes[ONNX_RANK_MAX];
    bool any = false;

    for (size_t d = 0; d < v->rank; d++) {
        int64_t from = p->before[d] < 0 ? -p->before[d] : 0, end = p->after[d] < 0 ? -p->after[d] : 0;

        if (from + end >= v->dims[d])
            return onnx_refuse_operand(n, "nothing is left of dimension %zu", d);
        starts[d] = (uint32_t)from;
        sizes[d] = (uint32_t)(v->dims[d] - from - end);
        any = any || from || end;
        p->before[d] += from;
        p->after[d] += end;
    }
    return any ? wnnGraphBuilderSlice(n->builder, x, v->rank, starts, v->rank, sizes,
                                      &(WNNSliceOptions){.label = n->label, .stridesCount = 0})
               : x;
}

static WNNOperand pad(struct onnx_node *n, WNNOperand x, const struct padding *p, WNNPaddingMode mode, WNNNumber value)
{
    uint32_t before[ONNX_RANK_MAX], after[ONNX_RANK_MAX];
    size_t rank = wnnOperandGetRank(x);
    WNNPadOptions o = WNN_PAD_OPTIONS_INIT;
    bool any = false;

    for (size_t d = 0; d < rank; d++) {
        before[d] = (uint32_t)p->before[d];
        after[d] = (uint32_t)p->after[d];
        any = any || before[d] || after[d];
    }
    o.label = n->label;
    o.mode = mode;
    o.value = value;
    return any ? wnnGraphBuilderPad(n->builder, x, rank, before, rank, after, &o) : x;
}

/** Returns where element i of a padded axis comes from; i counts from the first element that is not padding. */
static int64_t source_of(int64_t i, int64_t size, bool wrap)
{
    int64_t period = wrap || size == 1 ? size : 2 * (size - 1), at = i % period;

    at += at < 0 ? period : 0;
    return at < size ? at : period - at;
}

/** Pads axis by axis with elements of the tensor itself. */
static WNNOperand pad_by_gather(struct onnx_node *n, WNNOperand x, const struct padding *p, bool wrap)
{
    for (size_t d = 0; !wnnOperandIsError(x) && d < wnnOperandGetRank(x); d++) {
        int64_t size = onnx_dimension(n, x, d), total = size + p->before[d] + p->after[d];

        if (total == size)
            continue;
        if (onnx_is_open(size))
            return onnx_refuse_open(n), onnx_error_operand(n);
        if (total > INT32_MAX)
            return onnx_refuse_operand(n, "dimension %zu would be %lld", d, (long long)total);
        int32_t *indices = onnx_alloc(n, (size_t)total, sizeof *indices);
        if (!indices)
            return onnx_error_operand(n);
        for (int64_t i = 0; i < total; i++)
            indices[i] = (int32_t)source_of(i - p->before[d], size, wrap);
        x = onnx_gather_constant(n, x, (uint32_t)d, (uint32_t)total, indices);
    }
    return x;
}

/** Returns a border whose value is computed in the graph: a mask tells it from the rest. */
static WNNOperand pad_by_mask(struct onnx_node *n, WNNOperand x, const struct padding *p, WNNOperand value)
{
    WNNOperand mask = onnx_scalar(n, WNNOperandDataType_Uint8, 1);

    mask = pad(n, onnx_expand(n, mask, onnx_dims_of(n, x)), p, WNNPaddingMode_Constant, wnnNumber(0));
    x = pad(n, x, p, WNNPaddingMode_Constant, wnnNumber(0));
    return wnnGraphBuilderWhere(n->builder, mask, x, onnx_reshape(n, value, 0, NULL), n->options);
}

static bool read_padding(struct onnx_node *n, struct padding *p)
{
    const struct onnx_value *v = n->inputs[0];
    size_t count, axis_count = v->rank;
    const int64_t *pads = n->version < 2    ? onnx_ints(n, "paddings", &count)
                          : n->version < 11 ? onnx_ints(n, "pads", &count)
                                            : onnx_integers(n, 1, &count);
    const int64_t *list = NULL;
    const uint32_t *axes = NULL;

    *p = (struct padding){{0}, {0}};
    if (onnx_input(n, 3)) {
        list = onnx_integers(n, 3, &axis_count);
        axes = list ? onnx_axes(n, list, axis_count, v->rank) : NULL;
    }
    if (n->refused || !pads)
        return onnx_refuse(n, "the pads are missing");
    if (count != 2 * axis_count)
        return onnx_refuse(n, "there are %zu pads for %zu dimensions", count, axis_count);
    for (size_t i = 0; i < axis_count; i++) {
        size_t d = axes ? axes[i] : i;

        if (pads[i] < -INT32_MAX || pads[i] > INT32_MAX || pads[i + axis_count] < -INT32_MAX ||
            pads[i + axis_count] > INT32_MAX)
            return onnx_refuse(n, "pads %lld and %lld are too large", (long long)pads[i], (long long)pads[i + axis_count]);
        if (onnx_is_open(v->dims[d]) && (pads[i] < 0 || pads[i + axis_count] < 0))
            return onnx_refuse_open(n);
        p->before[d] = pads[i];
        p->after[d] = pads[i + axis_count];
    }
    return true;
}

/** Lets only so many elements count of the dimension that does in the input, whose padding gets the value. */
static WNNOperand pad_counted(struct onnx_node *n, WNNOperand x, const struct padding *p, const char *mode, WNNOperand value)
{
    const struct onnx_value *v = n->inputs[0];
    const int64_t more = p->before[v->counted] + p->after[v->counted];
    WNNOperand count;

    if (!p->before[v->counted] && !p->after[v->counted])
        return x;
    if (strcmp(mode, "constant") != 0)
        return onnx_refuse_operand(n, "its mode is %s along dimension %u, whose size is known at run time only", mode,
                                   v->counted);
    count = onnx_add(n, v->count, onnx_scalar_like(n, v->count, (double)more));
    onnx_set_count(n, onnx_max(n, count, onnx_scalar_like(n, count, 0)), v->counted);
    return onnx_fill_padding(n, v, x, value);
}

bool onnx_import_pad(struct onnx_node *n)
{
    const char *mode = onnx_string(n, "mode", "constant");
    const struct onnx_value *v = n->inputs[0];
    struct padding p;
    WNNNumber value = wnnNumber(n->version < 11 ? onnx_float(n, "value", 0) : 0);
    bool wide = false;

    if (!read_padding(n, &p))
        return false;
    WNNOperand x = onnx_operand(n, 0);
    if (v->count)
        x = pad_counted(n, x, &p, mode,
                        onnx_input(n, 2) ? onnx_reshape(n, onnx_operand(n, 2), 0, NULL)
                                         : onnx_scalar_like(n, x, n->version < 11 ? onnx_float(n, "value", 0) : 0));
    x = crop(n, x, &p, v);
    if (n->refused)
        return false;
    for (size_t d = 0; d < wnnOperandGetRank(x); d++) /* an open size is greater, or the builder refuses a computation */
        wide = wide || p.before[d] >= (int64_t)onnx_dimension(n, x, d) || p.after[d] >= (int64_t)onnx_dimension(n, x, d);
    if (!strcmp(mode, "constant")) {
        if (onnx_input(n, 2) && onnx_elements(n->inputs[2]) != 1)
            return onnx_refuse(n, "constant_value must be a scalar");
        if (onnx_input(n, 2) && !onnx_is_constant(n, 2))
            x = pad_by_mask(n, x, &p, onnx_operand(n, 2));
        else
            x = pad(n, x, &p, WNNPaddingMode_Constant, onnx_input(n, 2) ? onnx_element_number(n->inputs[2], 0) : value);
    } else if (!strcmp(mode, "edge")) {
        x = pad(n, x, &p, WNNPaddingMode_Edge, value);
    } else if (!strcmp(mode, "reflect")) {
        x = wide ? pad_by_gather(n, x, &p, false) : pad(n, x, &p, WNNPaddingMode_Reflection, value);
    } else if (!strcmp(mode, "wrap")) {
        x = pad_by_gather(n, x, &p, true);
    } else {
        return onnx_refuse(n, "its mode is none of constant, edge, reflect and wrap");
    }
    return onnx_output_as(n, 0, x, v->type);
}

bool onnx_import_center_crop_pad(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0];
    size_t count, axis_count = v->rank;
    const int64_t *shape = onnx_integers(n, 1, &count), *list = onnx_ints(n, "axes", &axis_count);
    const uint32_t *axes = list ? onnx_axes(n, list, axis_count, v->rank) : NULL;
    struct padding p = {{0}, {0}};

    if (!shape || n->refused)
        return false;
    if (!list)
        axis_count = v->rank;
    if (count != axis_count)
        return onnx_refuse(n, "there are %zu sizes for %zu axes", count, axis_count);
    for (size_t i = 0; i < count; i++) {
        size_t d = axes ? axes[i] : i;
        int64_t more = (int64_t)onnx_size(n, "a dimension of the result", shape[i]) - v->dims[d];

        if (shape[i] < 1)
            return onnx_refuse(n, "dimension %zu would be %lld", d, (long long)shape[i]);
        /* The smaller half of the padding, or of the crop, comes first. */
        p.before[d] = more / 2;
        p.after[d] = more - more / 2;
    }
    return onnx_output_as(n, 0, pad(n, crop(n, onnx_operand(n, 0), &p, v), &p, WNNPaddingMode_Constant, wnnNumber(0)), v->type);
}
