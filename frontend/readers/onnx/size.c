/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes sizes from what a file says: numbers that fit where they go, or a refusal that names them.
 */
#include "ir/support/checked.h"
#include "frontend/readers/onnx/internal.h"
#include "frontend/readers/onnx/open.h"

bool onnx_dims_fit(size_t rank, const int64_t *dims)
{
    int64_t product = 1;

    for (size_t i = 0; i < rank; i++)
        if (dims[i] < 0 || dims[i] > INT32_MAX || !checked_mul(product, dims[i] ? dims[i] : 1, &product) || product > INT32_MAX)
            return false;
    return rank <= ONNX_RANK_MAX;
}

int64_t onnx_elements(const struct onnx_value *v)
{
    int64_t elements = 1;

    for (size_t i = 0; i < v->rank; i++)
        elements *= onnx_is_open(v->dims[i]) ? 1 : v->dims[i]; /* onnx_dims_fit is true of every value */
    return elements;
}

int64_t onnx_sum(struct onnx_node *n, const char *what, int64_t a, int64_t b)
{
    int64_t sum = 0;

    if (!checked_add(a, b, &sum))
        onnx_refuse(n, "%s, %lld + %lld, does not fit 64 bits", what, (long long)a, (long long)b);
    return sum;
}

int64_t onnx_times(struct onnx_node *n, const char *what, int64_t a, int64_t b)
{
    int64_t product = 0;

    if (!checked_mul(a, b, &product))
        onnx_refuse(n, "%s, %lld * %lld, does not fit 64 bits", what, (long long)a, (long long)b);
    return product;
}

uint32_t onnx_size(struct onnx_node *n, const char *what, int64_t number)
{
    uint32_t size = 0;

    if (!checked_size(number, &size))
        onnx_refuse(n, "%s is %lld, it must be from 0 to %d", what, (long long)number, INT32_MAX);
    return size;
}

int64_t onnx_whole(struct onnx_node *n, const char *what, double number, int64_t low, int64_t high)
{
    int64_t whole = low;

    if (!checked_whole(number, low, high, &whole))
        onnx_refuse(n, "%s is %g, it must be a number from %lld to %lld", what, number, (long long)low, (long long)high);
    return whole;
}
