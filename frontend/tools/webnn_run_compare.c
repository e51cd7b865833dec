/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Implements webnn-run --compare, which compares an output with an array in a file.
 *
 * An element passes if |actual - expected| <= atol + rtol * |expected|; NaN passes where NaN is expected, an infinity only
 * where the same one is.  Integers are compared exactly unless a tolerance is given.
 */
#include <math.h>

#include "frontend/readers/files/element.h"
#include "frontend/readers/files/npz.h"
#include "frontend/tools/webnn_run.h"

/*
 * By these a reader of expected outputs would still call results the same: float32 in another order of adding, and a floor for
 * numbers near 0 of the size that rounding leaves there.
 */
static const double atol_default = 1e-5, rtol_default = 1e-3;

static void print_place(const struct npy_array *a, size_t index)
{
    size_t rest = npy_elements(a);

    printf("[");
    for (size_t i = 0; i < a->rank; i++) {
        rest /= a->shape[i];
        printf("%s%zu", i ? ", " : "", index / rest % a->shape[i]);
    }
    printf("]");
}

struct worst {
    double error;
    size_t index;
};

static void keep_worst(struct worst *w, double error, size_t index)
{
    if (!(error > w->error))
        return;
    w->error = error;
    w->index = index;
}

static void print_worst(const char *kind, const struct worst *w, const struct npy_array *actual,
                        const struct npy_array *expected)
{
    printf("  largest %s error %g", kind, w->error);
    if (w->error > 0) {
        printf(" at ");
        print_place(actual, w->index);
        printf(": %.9g instead of %.9g", element_get(actual->dataType, actual->data, w->index),
               element_get(expected->dataType, expected->data, w->index));
    }
    printf("\n");
}

/** Returns |actual - expected|: 0 for equal ones, infinity if only one of them is a number (or finite). */
static double difference(WNNOperandDataType type, const void *actual, const void *expected, size_t index)
{
    double x = element_get(type, actual, index), y = element_get(type, expected, index);
    uint64_t a, b;

    if (type == WNNOperandDataType_Int64 || type == WNNOperandDataType_Uint64) {
        /* Different ones may be the same double. */
        memcpy(&a, (const char *)actual + index * sizeof a, sizeof a);
        memcpy(&b, (const char *)expected + index * sizeof b, sizeof b);
        if (type == WNNOperandDataType_Int64) { /* keeps the order */
            a ^= UINT64_C(1) << 63;
            b ^= UINT64_C(1) << 63;
        }
        return (double)(a > b ? a - b : b - a);
    }
    if (x == y || (isnan(x) && isnan(y)))
        return 0;
    return isfinite(x) && isfinite(y) ? fabs(x - y) : (double)INFINITY;
}

static bool compare(const struct run_options *o, const struct result *r, const struct npy_array *expected, const char *path)
{
    const struct npy_array *actual = &r->array;
    bool exact = !element_is_float(actual->dataType) && o->atol < 0 && o->rtol < 0;
    double atol = o->atol >= 0 ? o->atol : exact ? 0 : atol_default, rtol = o->rtol >= 0 ? o->rtol : exact ? 0 : rtol_default;
    size_t count = npy_elements(actual), beyond = 0, first = 0;
    struct worst absolute = {0, 0}, relative = {0, 0};

    for (size_t i = 0; i < count; i++) {
        double size = fabs(element_get(expected->dataType, expected->data, i));
        double error = difference(actual->dataType, actual->data, expected->data, i);

        keep_worst(&absolute, error, i);
        keep_worst(&relative, error > 0 ? error / size : 0, i); /* infinite for an expected 0 */
        if (error <= atol + (isfinite(size) ? rtol * size : 0))
            continue;
        if (!beyond++)
            first = i;
    }
    printf("compare '%s' with %s: %s\n", NAME_SHOWN(r->name), escape_text((char[300]){0}, 300, path, strlen(path)),
           beyond ? "MISMATCH" : "ok");
    print_worst("absolute", &absolute, actual, expected);
    print_worst("relative", &relative, actual, expected);
    if (beyond) {
        printf("  %zu of %zu elements are beyond %g + %g * |expected|, the first at ", beyond, count, atol, rtol);
        print_place(actual, first);
        printf("\n");
    }
    return !beyond;
}

bool results_compare(const struct run_options *o, size_t count, const struct result *results)
{
    struct error e = {0};
    char has[256], wants[256];
    bool all = true;

    for (size_t i = 0; i < o->compares.count; i++) {
        const struct argument_pair *pair = &o->compares.items[i];
        const struct result *r = result_find(count, results, pair->name, "--compare");
        struct npy_array expected;

        if (!r)
            return false;
        if (!(npz_is_path(pair->value) ? npz_read_array(pair->value, pair->name, &expected, &e)
                                       : npy_read(pair->value, &expected, &e)))
            return complain("%s", e.message);
        if (expected.dataType != r->array.dataType || expected.rank != r->array.rank ||
            memcmp(expected.shape, r->array.shape, expected.rank * sizeof *expected.shape))
            all = complain("--compare %s: %s is %s, the output is %s", pair->name, pair->value,
                           describe_type(has, sizeof has, expected.dataType, expected.rank, expected.shape),
                           describe_type(wants, sizeof wants, r->array.dataType, r->array.rank, r->array.shape));
        else
            all &= compare(o, r, &expected, pair->value);
        npy_free(&expected);
    }
    return all;
}
