/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Makes small random graphs for lowering: element-wise operators, data movement and reductions, and puts their nodes into
 * clusters.  The same seed (random_seed) gives the same graph.
 */
#pragma once

#include "support/kernels.h"

enum { NODES_MAX = 14, VALUES_MAX = 64 };

struct builder {
    struct graph *g;
    uint32_t count;
    struct value *values[VALUES_MAX];
};

static uint32_t pick(uint32_t n)
{
    return (uint32_t)(random_bits() % n);
}

static struct value *any_value(const struct builder *b)
{
    return b->values[pick(b->count)];
}

static struct value *any_float(const struct builder *b)
{
    for (int i = 0; i < 20; i++) {
        struct value *v = any_value(b);
        if (dtype_is_float(v->type.type))
            return v;
    }
    return b->values[0];
}

/** Appends a node if the call is valid; its results join the values. */
static bool append(struct builder *b, enum op op, uint32_t count, struct value *const *inputs, const void *options,
                   const union op_args *args)
{
    struct node *n = node_create(b->g, NULL, op, "", count, inputs, options, args, &(struct error){0});

    if (!n)
        return false;
    for (uint32_t i = 0; i < n->result_count && b->count < VALUES_MAX; i++)
        b->values[b->count++] = n->results[i];
    return true;
}

static struct value *add_input(struct builder *b, dtype type, uint32_t rank, const uint32_t *dims)
{
    struct tensor_type t = {.type = type, .rank = rank};
    char name[20];

    memcpy(t.dims, dims, rank * sizeof dims[0]);
    snprintf(name, sizeof name, "x%u", b->g->input_count);
    struct value *v = graph_add_input(b->g, name, strlen(name), &t);
    assert_non_null(v);
    if (b->count < VALUES_MAX)
        b->values[b->count++] = v;
    return v;
}

/** Returns an operand that can be broadcast to v: another value, or a new input with some dimensions 1 or missing. */
static struct value *partner(struct builder *b, const struct value *v)
{
    uint32_t dims[RANK_MAX], rank = v->type.rank, drop = rank ? pick(rank + 1) : 0;

    for (int i = 0; i < 6; i++) {
        struct value *o = any_value(b);
        if (o->type.type == v->type.type && o->type.rank == rank && !memcmp(o->type.dims, v->type.dims, rank * sizeof dims[0]))
            return o;
    }
    if (pick(2))
        drop = 0;
    for (uint32_t d = drop; d < rank; d++)
        dims[d - drop] = pick(3) ? v->type.dims[d] : 1;
    return add_input(b, v->type.type, rank - drop, dims);
}

static bool add_elementwise(struct builder *b)
{
    static const enum op unary[] = {OP_ABS,     OP_NEG,  OP_RELU, OP_EXP,        OP_TANH,
                                    OP_SIGMOID, OP_SQRT, OP_GELU, OP_HARD_SWISH, OP_IDENTITY};
    static const enum op binary[] = {OP_ADD, OP_SUB, OP_MUL, OP_MAX, OP_MIN, OP_DIV, OP_GREATER, OP_PRELU};
    struct value *v = any_float(b), *in[3] = {v, NULL, NULL};

    switch (pick(6)) {
    case 0:
    case 1:
        return append(b, unary[pick(10)], 1, in, NULL, NULL);
    case 2:
        return append(b, OP_CAST, 1, in, NULL,
                      &(union op_args){.cast.dataType = pick(2) ? WNNOperandDataType_Float16 : WNNOperandDataType_Float32});
    case 3: {
        struct value *cmp[2] = {v, partner(b, v)};
        if (!append(b, OP_LESSER, 2, cmp, NULL, NULL))
            return false;
        in[0] = b->values[b->count - 1];
        in[1] = v;
        in[2] = partner(b, v);
        return append(b, OP_WHERE, 3, in, NULL, NULL);
    }
    default:
        in[1] = partner(b, v);
        return append(b, binary[pick(8)], 2, in, NULL, NULL);
    }
}

static bool add_reshape(struct builder *b)
{
    struct value *v = any_value(b);
    uint32_t dims[RANK_MAX], rank = 0;
    int64_t left = type_elements(&v->type);

    for (int tries = 0; tries < 12 && left > 1 && rank < 4; tries++) {
        static const uint32_t primes[] = {2, 3, 5, 7};
        uint32_t d = primes[pick(4)];
        if (left % d)
            continue;
        if (pick(2) && left % (d * 2) == 0)
            d *= 2;
        dims[rank++] = d;
        left /= d;
    }
    if (left > 1 || !rank)
        dims[rank++] = (uint32_t)left;
    return append(b, OP_RESHAPE, 1, &v, NULL, &(union op_args){.reshape = {rank, dims}});
}

static bool add_movement(struct builder *b)
{
    struct value *v = any_value(b), *in[2] = {v, v};
    const uint32_t rank = v->type.rank;
    uint32_t a[RANK_MAX] = {0}, c[RANK_MAX] = {0}, axis = rank ? pick(rank) : 0;

    if (!rank)
        return false;
    switch (pick(9)) {
    case 0: {
        WNNTransposeOptions o = WNN_TRANSPOSE_OPTIONS_INIT;
        for (uint32_t d = 0; d < rank; d++) {
            uint32_t e = pick(d + 1);
            a[d] = a[e];
            a[e] = d;
        }
        o.permutation = a;
        o.permutationCount = rank;
        return append(b, OP_TRANSPOSE, 1, in, &o, NULL);
    }
    case 1: {
        for (uint32_t d = 0; d < rank; d++) {
            a[d] = pick(v->type.dims[d]);
            c[d] = 1 + pick(v->type.dims[d] - a[d]);
        }
        return append(b, OP_SLICE, 1, in, NULL, &(union op_args){.slice = {rank, a, rank, c}});
    }
    case 2: {
        WNNPadOptions o = WNN_PAD_OPTIONS_INIT;
        o.mode = pick(3);
        o.value = wnnNumber(1.5);
        for (uint32_t d = 0; d < rank; d++) {
            a[d] = pick(v->type.dims[d] < 3 ? v->type.dims[d] : 3);
            c[d] = pick(v->type.dims[d] < 3 ? v->type.dims[d] : 3);
        }
        return append(b, OP_PAD, 1, in, &o, &(union op_args){.pad = {rank, a, rank, c}});
    }
    case 3: {
        WNNReverseOptions o = WNN_REVERSE_OPTIONS_INIT;
        o.axes = &axis;
        o.axesCount = 1;
        return append(b, OP_REVERSE, 1, in, &o, NULL);
    }
    case 4:
        in[1] = partner(b, v);
        return append(b, OP_CONCAT, 2, in, NULL, &(union op_args){.concat.axis = axis});
    case 5: {
        WNNSplitOptions o = WNN_SPLIT_OPTIONS_INIT;
        if (v->type.dims[axis] < 2)
            return false;
        o.axis = axis;
        a[0] = 1 + pick(v->type.dims[axis] - 1);
        a[1] = v->type.dims[axis] - a[0];
        return append(b, OP_SPLIT, 1, in, &o, &(union op_args){.split = {2, a, 0}});
    }
    case 6:
        for (uint32_t d = 0; d < rank; d++)
            a[d] = 1 + (type_elements(&v->type) < 200 ? pick(2) : 0);
        return append(b, OP_TILE, 1, in, NULL, &(union op_args){.tile = {rank, a}});
    case 7: {
        WNNGatherOptions o = WNN_GATHER_OPTIONS_INIT;
        o.axis = axis;
        in[1] = add_input(b, WNNOperandDataType_Int64, 1, (uint32_t[]){1 + pick(4)});
        return append(b, OP_GATHER, 2, in, &o, NULL);
    }
    default:
        return append(b, OP_TRIANGULAR, 1, in, NULL, NULL);
    }
}

static bool add_reducing(struct builder *b)
{
    static const enum op reductions[] = {OP_REDUCE_SUM, OP_REDUCE_MEAN,        OP_REDUCE_MAX,
                                         OP_REDUCE_L2,  OP_REDUCE_LOG_SUM_EXP, OP_REDUCE_L1};
    struct value *v = any_float(b);
    const uint32_t axis = v->type.rank ? pick(v->type.rank) : 0;

    if (!v->type.rank)
        return false;
    switch (pick(6)) {
    case 0:
        return append(b, OP_SOFTMAX, 1, &v, NULL, &(union op_args){.softmax.axis = axis});
    case 1: {
        WNNLayerNormalizationOptions o = WNN_LAYER_NORMALIZATION_OPTIONS_INIT;
        o.axes = &axis;
        o.axesCount = 1;
        return append(b, OP_LAYER_NORMALIZATION, 3, (struct value *[]){v, NULL, NULL}, &o, NULL);
    }
    case 2: {
        WNNCumulativeSumOptions o = WNN_CUMULATIVE_SUM_OPTIONS_INIT;
        o.exclusive = pick(2);
        o.reversed = pick(2);
        return append(b, OP_CUMULATIVE_SUM, 1, &v, &o, &(union op_args){.cumulativeSum.axis = axis});
    }
    case 3: {
        WNNPool2dOptions o = WNN_POOL2D_OPTIONS_INIT;
        o.windowDimensions = (uint32_t[]){2, 2};
        o.windowDimensionsCount = 2;
        o.padding = (uint32_t[]){pick(2), pick(2), pick(2), pick(2)};
        o.paddingCount = 4;
        o.layout = pick(2);
        return append(b, pick(2) ? OP_MAX_POOL2D : OP_AVERAGE_POOL2D, 1, &v, &o, NULL);
    }
    default: {
        WNNReduceOptions o = WNN_REDUCE_OPTIONS_INIT;
        o.axes = &axis;
        o.axesCount = 1;
        o.keepDimensions = pick(2);
        return append(b, reductions[pick(6)], 1, &v, &o, NULL);
    }
    }
}

/** Returns a random graph, which the caller frees. */
GRAPHS_UNUSED static struct graph *random_graph(void)
{
    static const uint32_t shapes[][4] = {{2, 3, 4, 5}, {1, 2, 6, 6}, {4, 6, 1, 3}, {2, 12, 5, 1}};
    struct builder b = {.g = graph_create()};
    const uint32_t rank = 1 + pick(4), nodes = 2 + pick(NODES_MAX - 1);
    uint32_t made = 0;

    assert_non_null(b.g);
    add_input(&b, pick(3) ? WNNOperandDataType_Float32 : WNNOperandDataType_Float16, rank, shapes[pick(4)] + 4 - rank);
    for (int tries = 0; tries < 200 && made < nodes; tries++) {
        uint32_t kind = pick(10);
        made += kind < 5 ? add_elementwise(&b) : kind < 6 ? add_reshape(&b) : kind < 8 ? add_movement(&b) : add_reducing(&b);
    }
    for (uint32_t i = 0; i < b.count; i++) {
        struct value *v = b.values[i];
        char name[20];
        snprintf(name, sizeof name, "y%u", i);
        if (v->producer && (!value_use_count(v) || !pick(6)))
            assert_true(graph_add_output(b.g, name, strlen(name), v));
    }
    return b.g;
}

/** Makes clusters of neighbours in the execution order, as large as lower_can_join allows. */
GRAPHS_UNUSED static void cluster_greedily(struct graph *g)
{
    struct node *nodes[NODES_MAX * 3];
    struct cluster *c = NULL;
    uint32_t count = 0;

    graph_for_each (g, n) {
        nodes[count++] = n;
        if (count > 1 && (count == NODES_MAX * 3 || !lower_can_join(NULL, nodes, count, NULL))) {
            nodes[0] = n;
            count = 1;
        }
        if (count == 1)
            c = cluster_create(g, CLUSTER_KERNEL);
        assert_non_null(c);
        n->cluster = c;
    }
}
