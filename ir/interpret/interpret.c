/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Drives the reference interpreter.  From a graph (or a node) and its inputs' bytes it computes the outputs' bytes, and bounds
 * if asked for.  Which function computes an operator, or a family of them, stands in the table below; the functions are in
 * interpret_<family>.c.
 */
#include "ir/interpret/interpret.h"

#include <assert.h>
#include <stdlib.h>

static interpret_function *const functions[OP_ROWS] = {
#define OP(...)
#define OP_UNARY(id, ...) [OP_##id] = interpret_elementwise,
#define OP_TEST(id, ...) [OP_##id] = interpret_elementwise,
#define OP_BINARY(id, ...) [OP_##id] = interpret_elementwise,
#define OP_REDUCE(id, ...) [OP_##id] = interpret_reduce,
#define OP_POOL2D(id, ...) [OP_##id] = interpret_pool2d,
#include "ir/graph/ops.def"
#undef OP
    [OP_ARG_MIN] = interpret_arg_min_max,
    [OP_ARG_MAX] = interpret_arg_min_max,
    [OP_BATCH_NORMALIZATION] = interpret_batch_normalization,
    [OP_CAST] = interpret_elementwise,
    [OP_CLAMP] = interpret_elementwise,
    [OP_CONCAT] = interpret_concat,
    [OP_CONV2D] = interpret_convolution,
    [OP_CONV_TRANSPOSE2D] = interpret_convolution,
    [OP_CUMULATIVE_SUM] = interpret_cumulative_sum,
    [OP_IDENTITY] = interpret_reshape,
    [OP_DEQUANTIZE_LINEAR] = interpret_quantisation,
    [OP_QUANTIZE_LINEAR] = interpret_quantisation,
    [OP_ELU] = interpret_elementwise,
    [OP_EXPAND] = interpret_expand,
    [OP_GATHER] = interpret_gather,
    [OP_GATHER_ELEMENTS] = interpret_gather_elements,
    [OP_GATHER_ND] = interpret_coordinates,
    [OP_GEMM] = interpret_gemm,
    [OP_GRU] = interpret_network,
    [OP_GRU_CELL] = interpret_network,
    [OP_HARD_SIGMOID] = interpret_elementwise,
    [OP_INSTANCE_NORMALIZATION] = interpret_instance_normalization,
    [OP_LAYER_NORMALIZATION] = interpret_layer_normalization,
    [OP_LEAKY_RELU] = interpret_elementwise,
    [OP_LINEAR] = interpret_elementwise,
    [OP_LSTM] = interpret_network,
    [OP_LSTM_CELL] = interpret_network,
    [OP_MATMUL] = interpret_matmul,
    [OP_PAD] = interpret_pad,
    [OP_PRELU] = interpret_elementwise,
    [OP_RESAMPLE2D] = interpret_resample2d,
    [OP_RESHAPE] = interpret_reshape,
    [OP_REVERSE] = interpret_reverse,
    [OP_SCATTER_ELEMENTS] = interpret_scatter_elements,
    [OP_SCATTER_ND] = interpret_coordinates,
    [OP_SLICE] = interpret_slice,
    [OP_SOFTMAX] = interpret_softmax,
    [OP_SPLIT] = interpret_split,
    [OP_TILE] = interpret_tile,
    [OP_TRANSPOSE] = interpret_transpose,
    [OP_TRIANGULAR] = interpret_triangular,
    [OP_WHERE] = interpret_elementwise,
    [OP_LOOP] = interpret_loop,
    [OP_SCATTER_REDUCE] = interpret_scatter_reduce,
};

void *interpret_memory(struct interpretation *t, int64_t count, size_t size)
{
    void *p = arena_array(&t->memory, count > 0 ? (size_t)count : 1, size);
    if (!p)
        error_out_of_memory(t->error);
    return p;
}

/* ---- one node ---- */

/** Returns bounds, or NULL if all of them are 0: then the operand is certain as a whole. */
static const double *drop_zero_bounds(const double *bounds, const struct tensor_type *type)
{
    for (int64_t k = 0; bounds && k < type_elements(type); k++)
        if (bounds[k] != 0)
            return bounds;
    return NULL;
}

/** Returns elements of a packed type as bytes, as interpret_load reads them.  Returns NULL if memory runs out. */
static const void *unpack(struct interpretation *t, const struct tensor_type *type, const void *data)
{
    const int64_t count = type_elements(type);
    const uint32_t bits = dtype_packed_bits(type->type), per_word = dtype_per_word(type->type);
    uint8_t *bytes = interpret_memory(t, count, 1);

    for (int64_t i = 0; bytes && i < count; i++) {
        uint32_t word;
        memcpy(&word, (const char *)data + i / per_word * (int64_t)sizeof word, sizeof word);
        bytes[i] = word >> bits * (i % per_word) & ((1u << bits) - 1);
    }
    return bytes;
}

/** Returns an operand's bytes where elements may be read: constants that were lent may lie askew, which matters to all but
 * those operators that move bytes, and packed ones become bytes.  Returns NULL if memory runs out. */
static const void *straight(struct interpretation *t, const struct tensor_type *type, const void *data)
{
    if (dtype_packed_bits(type->type))
        return unpack(t, type, data);
    if ((uintptr_t)data % dtype_size(type->type) == 0 || op_infos[t->node->op].flags & OPF_MOVEMENT)
        return data;
    void *moved = interpret_memory(t, type_elements(type), dtype_size(type->type));
    if (moved)
        memcpy(moved, data, (size_t)type_bytes(type));
    return moved;
}

bool node_interpret_bounds(const struct node *n, const void *const *inputs, const double *const *input_bounds,
                           void *const *results, double *const *result_bounds, struct error *e)
{
    struct interpretation t = {.node = n, .error = e, .bounds = result_bounds != NULL};
    bool ok = false;

    assert(functions[n->op]);
    t.inputs = interpret_memory(&t, n->input_count, sizeof *t.inputs);
    t.results = interpret_memory(&t, n->result_count, sizeof *t.results);
    if (t.inputs && t.results) {
        for (uint32_t i = 0; i < n->input_count; i++) {
            if (!n->inputs[i].value)
                continue;
            t.inputs[i].type = &n->inputs[i].value->type;
            t.inputs[i].data = straight(&t, t.inputs[i].type, inputs[i]);
            if (!t.inputs[i].data) {
                arena_free(&t.memory);
                return false;
            }
            if (result_bounds && input_bounds)
                t.inputs[i].bound = drop_zero_bounds(input_bounds[i], t.inputs[i].type);
        }
        for (uint32_t i = 0; i < n->result_count; i++) {
            t.results[i].type = &n->results[i]->type;
            t.results[i].data = results[i];
            t.results[i].bound = result_bounds ? result_bounds[i] : NULL;
        }
        ok = functions[n->op](&t);
    }
    arena_free(&t.memory);
    return ok;
}

bool node_interpret(const struct node *n, const void *const *inputs, void *const *results, struct error *e)
{
    return node_interpret_bounds(n, inputs, NULL, results, NULL, e);
}

/* ---- a graph ---- */

/** Holds what the run knows of a value. */
struct held {
    const void *data;
    const double *bound;
    void *own;         /* results: data, to be freed */
    double *own_bound; /* results: bound, to be freed */
    uint32_t pending;  /* uses by nodes that have yet to run, and by outputs */
};

static void held_drop(struct held *h)
{
    if (--h->pending)
        return;
    free(h->own);
    free(h->own_bound);
    h->own = NULL;
    h->own_bound = NULL;
}

/** Marks the nodes that the outputs need and counts the uses of every value by them. */
static void mark_needed(struct graph *g, struct held *held, bool *needed)
{
    for (uint32_t i = 0; i < g->output_count; i++)
        held[g->outputs[i].value->index].pending++;
    for (struct node *n = g->last; n; n = n->prev) {
        for (uint32_t r = 0; r < n->result_count; r++)
            needed[n->index] |= held[n->results[r]->index].pending > 0;
        if (!needed[n->index])
            continue;
        for (uint32_t i = 0; i < n->input_count; i++)
            if (n->inputs[i].value)
                held[n->inputs[i].value->index].pending++;
    }
}

static bool run_node(struct node *n, struct held *held, bool bounds, struct error *e)
{
    struct arena memory = {0};
    const void **inputs = arena_array(&memory, n->input_count + 1, sizeof *inputs);
    const double **input_bounds = arena_array(&memory, n->input_count + 1, sizeof *input_bounds);
    void **results = arena_array(&memory, n->result_count + 1, sizeof *results);
    double **result_bounds = arena_array(&memory, n->result_count + 1, sizeof *result_bounds);
    bool ok = inputs && input_bounds && results && result_bounds;

    for (uint32_t i = 0; ok && i < n->input_count; i++) {
        const struct value *v = n->inputs[i].value;
        if (!v)
            continue;
        inputs[i] = v->kind == VALUE_CONSTANT ? v->constant->data : held[v->index].data;
        input_bounds[i] = held[v->index].bound;
        assert(inputs[i]);
    }
    for (uint32_t i = 0; ok && i < n->result_count; i++) {
        const struct value *v = n->results[i];
        struct held *h = &held[v->index];
        h->pending++; /* held until the node is done, also if nothing reads it */
        h->data = h->own = results[i] = malloc((size_t)type_bytes(&v->type));
        ok = h->own != NULL;
        if (ok && bounds) {
            h->bound = h->own_bound = result_bounds[i] = calloc((size_t)type_elements(&v->type), sizeof(double));
            ok = h->own_bound != NULL;
        }
    }
    if (!ok)
        error_out_of_memory(e);
    else
        ok = node_interpret_bounds(n, inputs, input_bounds, results, bounds ? result_bounds : NULL, e);
    arena_free(&memory);
    if (!ok)
        return false;
    for (uint32_t i = 0; i < n->result_count; i++)
        held_drop(&held[n->results[i]->index]);
    for (uint32_t i = 0; i < n->input_count; i++)
        if (n->inputs[i].value)
            held_drop(&held[n->inputs[i].value->index]);
    return true;
}

bool graph_interpret_from(struct graph *g, const void *const *inputs, const double *const *input_bounds, void *const *outputs,
                          double *const *bounds, struct error *e)
{
    struct held *held = calloc(g->value_count + 1, sizeof *held);
    bool *needed = calloc(g->node_count + 1, sizeof *needed);
    bool ok = held && needed;

    if (!ok)
        error_out_of_memory(e);
    if (ok) {
        mark_needed(g, held, needed);
        for (uint32_t i = 0; i < g->input_count; i++)
            held[g->inputs[i]->index].data = inputs[i];
        for (uint32_t i = 0; input_bounds && i < g->input_count; i++)
            held[g->inputs[i]->index].bound = input_bounds[i];
    }
    if (ok)
        graph_for_each (g, n)
            if (ok && needed[n->index])
                ok = run_node(n, held, bounds != NULL, e);
    for (uint32_t i = 0; ok && i < g->output_count; i++) {
        const struct value *v = g->outputs[i].value;
        const struct held *h = &held[v->index];
        memcpy(outputs[i], v->kind == VALUE_CONSTANT ? v->constant->data : h->data, (size_t)type_bytes(&v->type));
        if (!bounds)
            continue;
        size_t count = (size_t)type_elements(&v->type);
        if (h->bound)
            memcpy(bounds[i], h->bound, count * sizeof(double));
        else
            memset(bounds[i], 0, count * sizeof(double));
    }
    for (uint32_t i = 0; held && i < g->value_count; i++) {
        free(held[i].own);
        free(held[i].own_bound);
    }
    free(held);
    free(needed);
    return ok;
}

bool graph_interpret_bounds(struct graph *g, const void *const *inputs, void *const *outputs, double *const *bounds,
                            struct error *e)
{
    return graph_interpret_from(g, inputs, NULL, outputs, bounds, e);
}

bool graph_interpret(struct graph *g, const void *const *inputs, void *const *outputs, struct error *e)
{
    return graph_interpret_bounds(g, inputs, outputs, NULL, e);
}
