/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports random numbers, which are constants: they are drawn when the model is read, from the node's seed, or from its name if
 * it has none.  So a graph gives the same results every time, and so does a model that is read again.
 */
#include <math.h>
#include <string.h>

#include "frontend/readers/onnx/internal.h"
#include "frontend/readers/onnx/compose.h"

/** Returns where the numbers of a node begin, and says in a note that they stay. */
static uint64_t seed_of(struct onnx_node *n)
{
    uint64_t seed = 0xCBF29CE484222325;
    const double given = onnx_float(n, "seed", 0);

    if (onnx_has(n, "seed"))
        memcpy(&seed, &given, sizeof seed);
    else
        for (const char *at = n->proto->n_output ? n->proto->output[0] : ""; *at; at++)
            seed = (seed ^ (unsigned char)*at) * 0x100000001B3;
    model_note(n->reader->model, "%s '%s' draws its numbers when the model is read: they are the same in every computation",
               n->row->name, onnx_escape(n->reader, n->proto->name ? n->proto->name : ""));
    return seed;
}

/** Returns a number between 0 and 1, neither of which it is (splitmix64). */
static double draw(uint64_t *state)
{
    uint64_t x = *state += 0x9E3779B97F4A7C15;

    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9;
    x = (x ^ x >> 27) * 0x94D049BB133111EB;
    return ((double)((x ^ x >> 31) >> 12) + 0.5) * 0x1p-52;
}

static bool charge(struct onnx_node *n, uint64_t count)
{
    return onnx_charge(n->reader, "drawing random numbers", 16 * count, 0);
}

/** Returns uniform float32 numbers. */
static WNNOperand draw_constant(struct onnx_node *n, size_t rank, const uint32_t *dims)
{
    struct onnx_dims shape = {rank, {0}};
    uint64_t state = seed_of(n);
    float *x;

    memcpy(shape.at, dims, rank * sizeof *dims);
    const uint32_t count = onnx_dims_product(n, &shape, 0, rank);
    x = n->refused || !charge(n, count) ? NULL : onnx_alloc(n, count, sizeof *x);
    for (uint32_t i = 0; x && i < count; i++)
        x[i] = (float)(0x1p-24 * floor(0x1p24 * draw(&state)));
    return x ? onnx_constant_operand(n, WNNOperandDataType_Float32, rank, dims, x) : onnx_error_operand(n);
}

/** RandomNormal and RandomUniform, of a shape or of that of an input. */
bool onnx_import_random(struct onnx_node *n)
{
    const bool normal = strstr(n->row->name, "Normal"), like = n->input_count > 0;
    const enum onnx_type fallback = like && onnx_type_is_float(n->inputs[0]->type) ? n->inputs[0]->type : ONNX_FLOAT;
    const enum onnx_type type = (enum onnx_type)onnx_int(n, "dtype", fallback);
    const double a = onnx_float(n, normal ? "mean" : "low", 0), b = onnx_float(n, normal ? "scale" : "high", 1);
    size_t rank = like ? n->inputs[0]->rank : 0;
    const int64_t *dims = like ? n->inputs[0]->dims : onnx_ints(n, "shape", &rank);
    uint64_t state = seed_of(n);

    if (n->refused || !dims || !onnx_type_is_float(type) || onnx_format_of(type))
        return onnx_refuse(n, "numbers of type %s, or of no shape", onnx_type_name(type));
    void *data = onnx_output_constant(n, 0, type, rank, dims);
    size_t count = data ? 1 : 0;

    for (size_t d = 0; d < rank; d++)
        count *= (size_t)dims[d];
    if (!charge(n, count))
        return false;
    for (size_t i = 0; i < count; i++) {
        const double u = draw(&state);

        onnx_store(type, data, i, normal ? a + b * sqrt(-2 * log(u)) * cos(2 * M_PI * draw(&state)) : a + (b - a) * u);
    }
    return data != NULL;
}

bool onnx_import_bernoulli(struct onnx_node *n)
{
    const struct onnx_value *v = n->inputs[0];
    const enum onnx_type type = (enum onnx_type)onnx_int(n, "dtype", v->type);
    WNNOperand x = onnx_operand(n, 0);
    const struct onnx_dims dims = onnx_dims_of(n, x);

    if (n->refused || !onnx_data_type(type) || (onnx_format_of(type) && type != ONNX_BOOL))
        return onnx_refuse(n, "it makes %s, which is not read here", onnx_type_name(type));
    x = onnx_greater(n, onnx_cast(n, x, WNNOperandDataType_Float32), draw_constant(n, dims.rank, dims.at));
    return onnx_output_as(n, 0, onnx_cast(n, x, onnx_data_type(type)), type);
}
