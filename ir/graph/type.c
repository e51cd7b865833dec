/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Handles tensor types: sizes, strides, printing, and the check that every type in a graph has passed. */
#include "ir/graph/dims.h"

#include <string.h>

int64_t type_elements(const struct tensor_type *t)
{
    int64_t count = 1;

    for (uint32_t i = 0; i < t->rank; i++)
        count *= t->dims[i];
    return count;
}

int64_t type_bytes(const struct tensor_type *t)
{
    if (dtype_packed_bits(t->type)) /* whole words */
        return (type_elements(t) + dtype_per_word(t->type) - 1) / dtype_per_word(t->type) * (int64_t)sizeof(uint32_t);
    return type_elements(t) * (int64_t)dtype_size(t->type);
}

bool type_same_dims(const struct tensor_type *a, const struct tensor_type *b)
{
    return a->rank == b->rank && !memcmp(a->dims, b->dims, a->rank * sizeof *a->dims);
}

bool type_equal(const struct tensor_type *a, const struct tensor_type *b)
{
    return a->type == b->type && type_same_dims(a, b);
}

void type_strides(const struct tensor_type *t, int64_t strides[RANK_MAX])
{
    int64_t stride = 1;

    for (uint32_t i = t->rank; i-- > 0;) {
        strides[i] = stride;
        stride *= t->dims[i];
    }
}

const char *type_print(char *buf, size_t size, const struct tensor_type *t)
{
    size_t used = 0;

    if (size == 0)
        return buf;
    for (uint32_t i = 0; i <= t->rank + 1; i++) {
        char piece[16];

        if (i == 0)
            snprintf(piece, sizeof piece, "%s[", dtype_short_name(t->type));
        else if (i <= t->rank)
            snprintf(piece, sizeof piece, i <= RANK_MAX && dim_is_open(t->dims[i - 1]) ? "%s?" : "%s%u", i == 1 ? "" : ", ",
                     i <= RANK_MAX ? t->dims[i - 1] : 0);
        else
            snprintf(piece, sizeof piece, "]");
        size_t length = strlen(piece);
        if (used + length >= size)
            break;
        memcpy(buf + used, piece, length);
        used += length;
    }
    buf[used] = '\0';
    return buf;
}

bool type_check_data_type(dtype type, bool knows_draft, const char *what, struct error *e)
{
    if (dtype_is_public(type) || (dtype_is_draft(type) && knows_draft))
        return true;
    if (dtype_is_draft(type))
        return error_set(e, WNNStatus_TypeError, "%s: %s is a data type of the draft; create the context with draftDataTypes",
                         what, dtype_name(type));
    return error_set(e, WNNStatus_TypeError, "%s: dataType %u is not an operand data type", what, (unsigned)type);
}

bool type_check(const struct tensor_type *t, const char *what, struct error *e)
{
    if (dtype_size(t->type) == 0)
        return error_set(e, WNNStatus_TypeError, "%s has no valid data type (value %u)", what, (unsigned)t->type);
    if (t->rank > RANK_MAX)
        return error_set(e, WNNStatus_TypeError, "%s has rank %u, the largest supported is %d", what, t->rank, RANK_MAX);
    for (uint32_t i = 0; i < t->rank; i++)
        if (t->dims[i] == 0 || t->dims[i] > ELEMENT_COUNT_MAX)
            return error_set(e, WNNStatus_TypeError, "%s has size %u in dimension %u, allowed are 1 to %d", what, t->dims[i], i,
                             ELEMENT_COUNT_MAX);

    int64_t count = 1;
    for (uint32_t i = 0; i < t->rank; i++) {
        count *= t->dims[i]; /* both factors are below 2^31 */
        if (count > ELEMENT_COUNT_MAX) {
            char shape[160];
            return error_set(e, WNNStatus_TypeError, "%s has too many elements in %s, the largest count is %d", what,
                             type_print(shape, sizeof shape, t), ELEMENT_COUNT_MAX);
        }
    }
    if (count > TENSOR_BYTES_MAX / (int64_t)dtype_size(t->type))
        return error_set(e, WNNStatus_TypeError, "%s has %lld bytes, the largest supported are %lld", what,
                         (long long)type_bytes(t), (long long)TENSOR_BYTES_MAX);
    return true;
}
