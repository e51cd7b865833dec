/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Writes the formulas of recurrent operators as nodes: the specification's emulations of gruCell and lstmCell, with the input's
 * share of the gates computed apart (for all steps at once).  A description and operands become the states after one step.
 *
 * Gates are known by their place, the number of their rows in the weights, which depends on the layout.  Sums are made in
 * another order than the emulations have, which docs/semantics.md leaves free.
 */
#include "passes/recurrent/recurrent.h"

#include <string.h>

#include "ir/graph/gates.h"

#include "passes/support.h"

/* ---- what a node says ---- */

/** Returns the input in a slot, of which 0 is none. */
static struct value *optional_input(const struct node *n, uint32_t slot)
{
    return slot ? n->inputs[slot].value : NULL;
}

void recurrent_describe(const struct node *n, struct recurrent *r)
{
    const struct tensor_type *t = &n->inputs[0].value->type;
    const struct gates g = gates_of(n);

    *r = (struct recurrent){.node = n, .hidden = g.hidden, .activations = g.activations, .reset_after = g.reset_after};
    r->steps = t->rank == 3 ? t->dims[0] : 1;
    r->batch = t->dims[t->rank - 2];
    r->inputs = t->dims[t->rank - 1];
    r->input = n->inputs[0].value;
    r->weight = n->inputs[1].value;
    r->recurrent_weight = n->inputs[2].value;
    r->bias = optional_input(n, g.slots.bias);
    r->recurrent_bias = optional_input(n, g.slots.recurrent_bias);
    r->peephole = optional_input(n, g.slots.peephole);
    r->hidden_state = optional_input(n, g.slots.hidden);
    r->cell_state = optional_input(n, g.slots.cell);
    r->lstm = n->op == OP_LSTM || n->op == OP_LSTM_CELL;
    r->gates = r->lstm ? 4 : 3;
    r->hidden_result = n->results[0];
    r->cell_result = r->lstm ? n->results[1] : NULL;
    r->sequence_result = n->result_count > 1U + r->lstm ? n->results[1 + r->lstm] : NULL;
    r->directions = g.direction == WNNRecurrentNetworkDirection_Both ? 2 : 1;
    r->backward[0] = g.direction == WNNRecurrentNetworkDirection_Backward;
    r->backward[1] = g.direction == WNNRecurrentNetworkDirection_Both;
}

static uint32_t place_of(const struct recurrent *r, uint32_t gate)
{
    return gates_of(r->node).places[gate];
}

/* ---- nodes ---- */

static struct value *op2(struct recurrent_builder *b, enum op op, struct value *x, struct value *y)
{
    return make_node(b->g, b->before, op, b->r->node, 2, (struct value *[]){x, y}, NULL, NULL);
}

static struct value *add(struct recurrent_builder *b, struct value *x, struct value *y)
{
    return op2(b, OP_ADD, x, y);
}

static struct value *mul(struct recurrent_builder *b, struct value *x, struct value *y)
{
    return op2(b, OP_MUL, x, y);
}

/**
 * Applies an activation.  In cells, whose results are to be right to the last digit, sigmoid and tanh are float64's; in gru and
 * lstm these would be a good part of the time, and are float32's.
 */
static struct value *activate(struct recurrent_builder *b, uint32_t activation, struct value *x)
{
    const struct node *n = b->r->node;
    const dtype given = x ? x->type.type : WNNOperandDataType_Float32,
                type = n->op == OP_GRU || n->op == OP_LSTM ? WNNOperandDataType_Float32 : DTYPE_FLOAT64;
    enum op op = OP_TANH;

    switch (b->r->activations[activation]) {
    case WNNRecurrentNetworkActivation_Relu:
        return make_node(b->g, b->before, OP_RELU, n, 1, &x, NULL, NULL);
    case WNNRecurrentNetworkActivation_Sigmoid:
        op = OP_SIGMOID;
        break;
    case WNNRecurrentNetworkActivation_Tanh:
    case WNNRecurrentNetworkActivation_Force32:
        break;
    }
    if (given != type)
        x = make_cast(b->g, b->before, n, x, type);
    x = make_node(b->g, b->before, op, n, 1, &x, NULL, NULL);
    return given != type ? make_cast(b->g, b->before, n, x, given) : x;
}

static struct value *slice(struct recurrent_builder *b, struct value *v, uint32_t axis, uint32_t start, uint32_t size)
{
    return make_slice(b->g, b->before, b->r->node, v, axis, start, size);
}

struct value *recurrent_part(struct recurrent_builder *b, struct value *v, uint32_t start, uint32_t size)
{
    return slice(b, v, 0, start, size);
}

struct value *recurrent_reshape(struct recurrent_builder *b, struct value *v, uint32_t rank, const uint32_t *dims)
{
    if (v && v->type.rank == rank && !memcmp(v->type.dims, dims, rank * sizeof *dims))
        return v;
    return make_reshape(b->g, b->before, b->r->node, v, rank, dims);
}

/**
 * Returns x times the transposed rows, plus c (may be NULL).  No library takes matmuls in float64, and a generated kernel is
 * several times faster if the weights of neighbouring results are neighbours, so these are transposed (when the graph is built,
 * if they are constant).
 */
static struct value *matmul_plus(struct recurrent_builder *b, struct value *x, struct value *rows, struct value *c)
{
    static const uint32_t swapped[2] = {1, 0};
    WNNGemmOptions options = WNN_GEMM_OPTIONS_INIT;

    options.bTranspose = x && x->type.type != DTYPE_FLOAT64;
    if (!options.bTranspose)
        rows = make_transpose(b->g, b->before, b->r->node, rows, swapped);
    return make_node(b->g, b->before, OP_GEMM, b->r->node, 3, (struct value *[]){x, rows, c}, &options, NULL);
}

/* ---- the input's share ---- */

/** Returns recurrentBias as far as it may be added before the step: after the reset gate it is not the new gate's. */
static struct value *early_bias(struct recurrent_builder *b, struct value *bias)
{
    const struct recurrent *r = b->r;
    const struct tensor_type rest = {bias->type.type, 1, {r->hidden}};
    union op_args args;

    if (r->lstm || !r->reset_after)
        return bias;
    memset(&args, 0, sizeof args); /* axis 0; the new gate is the last one in either layout */
    return make_node(b->g, b->before, OP_CONCAT, r->node, 2,
                     (struct value *[]){recurrent_part(b, bias, 0, 2 * r->hidden), graph_add_scalar(b->g, &rest, wnnNumber(0))},
                     NULL, &args);
}

struct value *recurrent_project(struct recurrent_builder *b, struct value *x, struct value *weight, struct value *bias,
                                struct value *recurrent_bias)
{
    if (recurrent_bias)
        recurrent_bias = early_bias(b, recurrent_bias);
    if (bias && recurrent_bias)
        bias = add(b, bias, recurrent_bias);
    else if (!bias)
        bias = recurrent_bias;
    return matmul_plus(b, x, weight, bias);
}

/* ---- the state's share ---- */

struct value *recurrent_block(struct recurrent_builder *b, struct value *rows, uint32_t place, uint32_t width)
{
    static const uint32_t order[3] = {0, 2, 1};
    const uint32_t hidden = b->r->hidden, dims[3] = {hidden / width, width, hidden};
    struct value *v = recurrent_part(b, rows, place * hidden, hidden);

    return make_transpose(b->g, b->before, b->r->node, recurrent_reshape(b, v, 3, dims), order);
}

/**
 * Returns a vector or a state in the shape that a matmul of blocks has: [batch, hidden / width, 1, width].  All nodes of a step
 * having one shape, the lowering sees at once that they belong into one kernel.
 */
static struct value *in_blocks(struct recurrent_builder *b, const struct recurrent_operands *o, struct value *v)
{
    const uint32_t width = o->block_width;

    if (!v || !width)
        return v;
    const uint32_t dims[4] = {b->r->batch, b->r->hidden / width, 1, width};
    return v->type.rank == 1 ? recurrent_reshape(b, v, 3, dims + 1) : recurrent_reshape(b, v, 4, dims);
}

/** Multiplies the state by the rows of `count` gates from place `first` on, cut into out[place]. */
static void matmuls(struct recurrent_builder *b, const struct recurrent_operands *o, uint32_t first, uint32_t count,
                    struct value *state, struct value **out)
{
    const uint32_t hidden = b->r->hidden;
    const uint32_t row[4] = {b->r->batch, 1, 1, hidden};

    if (o->block_width) {
        state = recurrent_reshape(b, state, 4, row);
        for (uint32_t place = first; place < first + count; place++)
            out[place] = op2(b, OP_MATMUL, state, o->blocks[place]);
        return;
    }
    struct value *all = matmul_plus(b, state, recurrent_part(b, o->rows, first * hidden, count * hidden), NULL);
    for (uint32_t i = 0; i < count; i++)
        out[first + i] = slice(b, all, 1, i * hidden, hidden);
}

/** Returns what goes into the activation of the gate at `place`. */
static struct value *gate_sum(struct recurrent_builder *b, const struct recurrent_operands *o, uint32_t place,
                              struct value *const *from_state)
{
    const uint32_t hidden = b->r->hidden;

    return add(b, in_blocks(b, o, slice(b, o->projected, 1, place * hidden, hidden)), from_state[place]);
}

/* ---- cells ---- */

static void gru_cell(struct recurrent_builder *b, const struct recurrent_operands *o, struct value **hidden)
{
    const struct recurrent *r = b->r;
    const uint32_t z_place = place_of(r, GRU_Z), r_place = place_of(r, GRU_R), n_place = place_of(r, GRU_N);
    struct value *from_state[RECURRENT_GATES_MAX] = {NULL}, *z, *reset, *n, *rest;

    matmuls(b, o, 0, r->reset_after ? 3 : 2, o->hidden, from_state);
    z = activate(b, 0, gate_sum(b, o, z_place, from_state));
    reset = activate(b, 0, gate_sum(b, o, r_place, from_state));
    if (r->reset_after)
        from_state[n_place] =
            mul(b, reset, o->recurrent_bias ? add(b, from_state[n_place], o->recurrent_bias) : from_state[n_place]);
    else
        matmuls(b, o, n_place, 1, mul(b, reset, o->hidden), from_state);
    n = activate(b, 1, gate_sum(b, o, n_place, from_state));
    rest = op2(b, OP_SUB, make_number(b->g, r->input, 1), z);
    n = mul(b, n, rest); /* first: C leaves the order open in which arguments are evaluated */
    *hidden = add(b, mul(b, z, o->hidden), n);
}

static struct value *lstm_gate(struct recurrent_builder *b, const struct recurrent_operands *o, uint32_t gate,
                               struct value *const *from_state)
{
    struct value *sum = gate_sum(b, o, place_of(b->r, gate), from_state);

    if (gate == LSTM_G)
        return activate(b, 1, sum);
    return activate(b, 0, o->peephole[gate] ? add(b, mul(b, o->cell, o->peephole[gate]), sum) : sum);
}

static void lstm_cell(struct recurrent_builder *b, const struct recurrent_operands *o, struct value **hidden,
                      struct value **cell)
{
    struct value *from_state[RECURRENT_GATES_MAX] = {NULL}, *i, *out, *f, *g;

    matmuls(b, o, 0, 4, o->hidden, from_state);
    i = lstm_gate(b, o, LSTM_I, from_state);
    out = lstm_gate(b, o, LSTM_O, from_state);
    f = lstm_gate(b, o, LSTM_F, from_state);
    g = lstm_gate(b, o, LSTM_G, from_state);
    i = mul(b, i, g); /* first, as in gru_cell */
    *cell = add(b, mul(b, f, o->cell), i);
    *hidden = mul(b, out, activate(b, 2, *cell));
}

void recurrent_cell(struct recurrent_builder *b, const struct recurrent_operands *o, struct value **hidden, struct value **cell)
{
    const uint32_t dims[2] = {b->r->batch, b->r->hidden};
    struct recurrent_operands own = *o;

    *hidden = *cell = NULL;
    own.hidden = in_blocks(b, o, o->hidden);
    own.cell = in_blocks(b, o, o->cell);
    own.recurrent_bias = in_blocks(b, o, o->recurrent_bias);
    for (uint32_t i = 0; i < RECURRENT_PEEPHOLES; i++)
        own.peephole[i] = in_blocks(b, o, o->peephole[i]);
    if (b->r->lstm)
        lstm_cell(b, &own, hidden, cell);
    else
        gru_cell(b, &own, hidden);
    *hidden = *hidden ? recurrent_reshape(b, *hidden, 2, dims) : NULL;
    *cell = *cell ? recurrent_reshape(b, *cell, 2, dims) : NULL;
}
