/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Reads the windows of convolutions and pools (compose.h). */
#include "frontend/readers/onnx/compose.h"

#include "frontend/readers/onnx/open.h"

#include <string.h>

#include "ir/support/checked.h"

/* Says which of a node's spatial dimensions a window has: `rank` from `first` on, of `all`, as those from `to` on of two. */
struct part {
    size_t all, first, rank, to;
};

/* Reads a list of one positive number per spatial dimension. */
static bool read_list(struct onnx_node *n, const char *name, const struct part *p, uint32_t *result)
{
    size_t count;
    const int64_t *list = onnx_ints(n, name, &count);

    result[0] = 1;
    result[1] = 1;
    if (!list)
        return !n->refused;
    if (count != p->all)
        return onnx_refuse(n, "%s has %zu numbers for %zu spatial dimensions", name, count, p->all);
    for (size_t i = 0; i < p->rank; i++) {
        if (list[p->first + i] < 1)
            return onnx_refuse(n, "%s has %lld in it", name, (long long)list[p->first + i]);
        result[p->to + i] = onnx_size(n, name, list[p->first + i]);
    }
    return !n->refused;
}

static bool read_pads(struct onnx_node *n, const struct part *p, struct onnx_window *w)
{
    static const char *const names[] = {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"};
    const char *auto_pad = onnx_string(n, "auto_pad", "NOTSET");
    size_t count, kind;
    const int64_t *pads = onnx_ints(n, "pads", &count);

    for (kind = 0; kind < 4 && strcmp(auto_pad, names[kind]) != 0; kind++)
        ;
    if (kind == 4)
        return onnx_refuse(n, "auto_pad \"%.40s\" is not known", auto_pad);
    w->auto_pad = (enum onnx_auto_pad)kind;
    if (!pads || kind == ONNX_PAD_VALID)
        return !n->refused;
    if (count != 2 * p->all)
        return onnx_refuse(n, "pads has %zu numbers for %zu spatial dimensions", count, p->all);
    for (size_t i = 0; i < p->rank; i++) {
        w->before[p->to + i] = onnx_size(n, "a number in pads", pads[p->first + i]);
        w->after[p->to + i] = onnx_size(n, "a number in pads", pads[p->all + p->first + i]);
    }
    return !n->refused;
}

static bool read_part(struct onnx_node *n, WNNOperand x, const uint32_t *kernel, const struct part *p, struct onnx_window *w)
{
    const struct onnx_dims dims = onnx_dims_of(n, x);

    w->rank = p->rank;
    w->in[0] = w->in[1] = 1;
    for (size_t i = 0; i < p->rank; i++)
        w->in[p->to + i] = dims.at[2 + p->first + i];
    if (!kernel && !onnx_has(n, "kernel_shape"))
        return onnx_refuse(n, "kernel_shape is missing");
    if (!read_list(n, "kernel_shape", p, w->kernel) || !read_list(n, "strides", p, w->strides) ||
        !read_list(n, "dilations", p, w->dilations) || !read_pads(n, p, w))
        return false;
    for (size_t d = p->to; kernel && d < p->to + p->rank; d++) {
        uint32_t size = kernel[p->first + d - p->to];

        if (onnx_is_open(size))
            return onnx_refuse_open(n);
        if (onnx_has(n, "kernel_shape") && w->kernel[d] != size)
            return onnx_refuse(n, "kernel_shape has %u where the filter has %u", w->kernel[d], size);
        w->kernel[d] = size;
    }
    for (int d = 0; d < 2; d++) {
        int64_t span = onnx_times(n, "kernel_shape less 1 times dilations", (int64_t)w->kernel[d] - 1, w->dilations[d]);

        if (!checked_size(onnx_sum(n, "a window's size", span, 1), &w->extent[d]))
            return onnx_refuse(n, "kernel_shape %u with dilations %u makes a window of more than %d elements", w->kernel[d],
                               w->dilations[d], INT32_MAX);
    }
    return !n->refused;
}

bool onnx_window_read(struct onnx_node *n, WNNOperand x, const uint32_t *kernel, struct onnx_window *w)
{
    const size_t rank = onnx_dims_of(n, x).rank;

    memset(w, 0, sizeof *w);
    if (n->refused)
        return false;
    if (rank < 3 || rank > 4)
        return onnx_refuse(n, "its input has %zu dimensions; windows of 1 and 2 dimensions can be expressed", rank);
    return read_part(n, x, kernel, &(struct part){rank - 2, 0, rank - 2, 4 - rank}, w);
}

bool onnx_window_read_3d(struct onnx_node *n, WNNOperand x, const uint32_t *kernel, struct onnx_window *depth,
                         struct onnx_window *plane)
{
    const struct onnx_dims dims = onnx_dims_of(n, x);

    memset(depth, 0, sizeof *depth);
    memset(plane, 0, sizeof *plane);
    if (onnx_any_open(dims.rank, dims.at))
        return onnx_refuse_open(n);
    if (n->refused || !read_part(n, x, kernel, &(struct part){3, 0, 1, 0}, depth) ||
        !read_part(n, x, kernel, &(struct part){3, 1, 2, 0}, plane))
        return false;
    return onnx_window_pad_same(n, depth) && onnx_window_pad_same(n, plane);
}

bool onnx_window_pad_same(struct onnx_node *n, struct onnx_window *w)
{
    bool upper = w->auto_pad == ONNX_PAD_SAME_UPPER;

    for (int d = 0; d < 2 && (upper || w->auto_pad == ONNX_PAD_SAME_LOWER); d++) {
        const bool open = onnx_is_open(w->in[d]);
        int64_t out = ((int64_t)w->in[d] + w->strides[d] - 1) / w->strides[d];
        int64_t total = open ? (int64_t)w->extent[d] - 1 : (out - 1) * w->strides[d] + w->extent[d] - w->in[d];

        if (open && w->strides[d] != 1)
            return onnx_refuse_open(n);
        total = total < 0 ? 0 : total > INT32_MAX ? INT32_MAX : total;
        w->before[d] = (uint32_t)(upper ? total / 2 : total - total / 2);
        w->after[d] = (uint32_t)total - w->before[d];
    }
    return true;
}

WNNOperand onnx_to_2d(struct onnx_node *n, WNNOperand x)
{
    struct onnx_dims dims = onnx_dims_of(n, x);

    if (dims.rank != 3)
        return x;
    dims.at[3] = dims.at[2];
    dims.at[2] = 1;
    dims.rank = 4;
    return onnx_reshape_to(n, x, dims);
}

WNNOperand onnx_from_2d(struct onnx_node *n, const struct onnx_window *w, WNNOperand y)
{
    struct onnx_dims dims = onnx_dims_of(n, y);

    if (w->rank != 1 || dims.rank != 4)
        return y;
    dims.at[2] = dims.at[3];
    dims.rank = 3;
    return onnx_reshape_to(n, y, dims);
}
