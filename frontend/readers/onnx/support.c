/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Every part of the ONNX reader uses these: memory that is freed with the reader, errors, names in messages, a map.
 */

#include "ir/support/checked.h"
#include "frontend/readers/files/file.h"
#include "frontend/readers/onnx/internal.h"
#include "frontend/readers/onnx/open.h"

/* ---- errors ---- */

bool onnx_fail(struct onnx_reader *r, const char *format, ...)
{
    char text[1200];

    WITH_ARGUMENTS(format, vsnprintf(text, sizeof text, format, arguments));
    if (!r->failed)
        file_error(r->error, "%s: %s", PATH_SHOWN(r->path), text);
    r->failed = true;
    return false;
}

/* ---- the budget ---- */

bool onnx_charge(struct onnx_reader *r, const char *what, uint64_t operations, uint64_t bytes)
{
    if (!r->model->builder || !wnnGraphBuilderSpend(r->model->builder, WNN_STR(what), operations, bytes))
        return true;
    return onnx_fail_budget(r);
}

bool onnx_fail_budget(struct onnx_reader *r)
{
    WNNStringView text = wnnGetLastErrorMessage();

    return onnx_fail(r, "%.*s", (int)text.length, text.data);
}

/* ---- memory ---- */

void *onnx_reader_alloc(struct onnx_reader *r, size_t count, size_t size)
{
    size_t bytes = 0;
    void *memory;

    if (!checked_bytes(count, size, &bytes))
        return onnx_fail_null(r, "%zu elements of %zu bytes are more than memory can hold", count, size);
    if (!onnx_charge(r, "memory for what the model says", 0, bytes))
        return NULL;
    memory = arena_alloc(&r->memory, bytes);
    if (!memory)
        onnx_fail_memory(r);
    return memory;
}

bool onnx_spend(struct onnx_reader *r, size_t steps)
{
    enum { STEPS_AT_A_TIME = 1024 };

    if (r->failed)
        return false;
    r->steps += steps < SIZE_MAX / STEP_OPERATIONS - r->steps ? steps : SIZE_MAX / STEP_OPERATIONS - r->steps;
    if (r->steps < STEPS_AT_A_TIME)
        return true;
    steps = r->steps;
    r->steps = 0;
    return onnx_charge(r, "unrolling loops and functions", STEP_OPERATIONS * steps, 0);
}

/* ---- names in messages ---- */

const char *onnx_escape(struct onnx_reader *r, const char *name)
{
    enum { SHOWN = 144 };
    char *out = onnx_reader_alloc(r, SHOWN, 1);

    return out ? escape_text(out, SHOWN, name ? name : "", name ? strlen(name) : 0) : "?";
}

/* ---- the map ---- */

static char null_value; /* the item that stands for NULL, which a name map does not hold */

void *onnx_map_get(const struct name_map *map, const char *name, bool *found)
{
    void *item = name_map_find(map, name, strlen(name));

    if (found)
        *found = item;
    return item == &null_value ? NULL : item;
}

enum name_map_status onnx_map_add(struct name_map *map, const char *name, void *value)
{
    return name_map_add(map, name, strlen(name), value ? value : &null_value);
}

/* ---- sizes from what a file says: numbers that fit where they go, or a refusal that names them ---- */

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
