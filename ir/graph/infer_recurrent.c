/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Validates gru, gruCell, lstm and lstmCell and infers their shapes. */
#include "ir/graph/infer_steps.h"

#include <inttypes.h>

/** Holds the sizes that the shapes of a recurrent operator's operands are made of. */
struct recurrent {
    uint32_t directions; /* 0: a cell, whose operands lack that dimension */
    uint32_t batch, input, hidden;
    uint32_t gates;
};

/** Returns a dimension that is a multiple of hiddenSize, or 0, which no operand has, when it is too large. */
static uint32_t times_hidden(const struct recurrent *r, uint32_t factor)
{
    int64_t size = size_mul(r->hidden, factor);

    return size > ELEMENT_COUNT_MAX ? 0 : (uint32_t)size;
}

/** Checks that the operand in that slot, if it is there, has the shape [directions,] rows[, columns]. */
static bool check_recurrent(struct call *c, const struct recurrent *r, uint32_t slot, uint32_t rows, uint32_t columns)
{
    uint32_t dims[3], rank = 0;

    if (!input_exists(c, slot))
        return true;
    if (r->directions)
        dims[rank++] = r->directions;
    dims[rank++] = rows;
    if (columns)
        dims[rank++] = columns;
    return check_shape(c, slot, rank, dims);
}

/** Checks weight, recurrentWeight and the limit of hiddenSize: bias and recurrentBias, joined, must be a valid tensor, too. */
static bool check_weights(struct call *c, const struct recurrent *r)
{
    uint32_t rows = times_hidden(r, r->gates);

    if (!r->hidden)
        return call_error(c, "hiddenSize is 0");
    if (!check_dimension(c, size_mul(r->hidden, 2 * r->gates), "the gates of hiddenSize in bias and recurrentBias"))
        return false;
    return check_recurrent(c, r, 1, rows, r->input) && check_recurrent(c, r, 2, rows, r->hidden);
}

/** Checks *steps; 0 is as many as the input has where names say how many. */
static bool check_steps(struct call *c, uint32_t *steps)
{
    const uint32_t dim = input_type(c, 0)->dims[0];

    if (!*steps && dim_is_open(dim))
        *steps = dim;
    else if (!*steps)
        return call_error(c, "steps is 0");
    else if (*steps > ELEMENT_COUNT_MAX || dim_differs(c->graph, dim, *steps))
        return call_error(c, "dimension 0 of input is %s, steps is %" PRIu32, DIM_PRINT(dim), *steps);
    return true;
}

/** Sets the default of activations: sigmoid, then tanh. */
static bool activations_default(struct call *c, const WNNRecurrentNetworkActivation **activations, size_t *count,
                                size_t expected)
{
    static const WNNRecurrentNetworkActivation defaults[3] = {
        WNNRecurrentNetworkActivation_Sigmoid, WNNRecurrentNetworkActivation_Tanh, WNNRecurrentNetworkActivation_Tanh};

    if (*activations)
        return check_list_size(c, "activations", *count, expected);
    *activations = arena_copy(&c->graph->arena, defaults, expected * sizeof(defaults[0]));
    *count = expected;
    return *activations || error_out_of_memory(c->error);
}

/** Sets the results: `states` times [directions,] batch, hidden, then the sequence if it was asked for. */
static bool recurrent_results(struct call *c, const struct recurrent *r, uint32_t states, bool sequence, uint32_t steps)
{
    uint32_t dims[4] = {steps, r->directions, r->batch, r->hidden};

    if (!infer_results(c, states + sequence))
        return false;
    for (uint32_t i = 0; i < states; i++)
        if (!(r->directions ? infer_result(c, i, 3, dims + 1) : infer_result(c, i, 2, dims + 2)))
            return false;
    return !sequence || infer_result(c, states, 4, dims);
}

static struct recurrent network_sizes(const struct call *c, WNNRecurrentNetworkDirection direction, uint32_t hidden,
                                      uint32_t gates)
{
    const struct tensor_type *input = input_type(c, 0);

    return (struct recurrent){direction == WNNRecurrentNetworkDirection_Both ? 2 : 1, input->dims[1], input->dims[2], hidden,
                              gates};
}

static struct recurrent cell_sizes(const struct call *c, uint32_t hidden, uint32_t gates)
{
    const struct tensor_type *input = input_type(c, 0);

    return (struct recurrent){0, input->dims[0], input->dims[1], hidden, gates};
}

bool infer_gru(struct call *c)
{
    WNNGruOptions *o = c->options;
    uint32_t steps = c->args.gru.steps;
    const struct recurrent r = network_sizes(c, o->direction, c->args.gru.hiddenSize, 3);
    const uint32_t rows = times_hidden(&r, 3);

    return check_steps(c, &steps) && check_weights(c, &r) && check_recurrent(c, &r, 3, rows, 0) &&
           check_recurrent(c, &r, 4, rows, 0) && check_recurrent(c, &r, 5, r.batch, r.hidden) &&
           activations_default(c, &o->activations, &o->activationsCount, 2) &&
           recurrent_results(c, &r, 1, o->returnSequence, steps);
}

bool infer_gru_cell(struct call *c)
{
    WNNGruCellOptions *o = c->options;
    const struct recurrent r = cell_sizes(c, c->args.gruCell.hiddenSize, 3);
    const uint32_t rows = times_hidden(&r, 3);

    return check_weights(c, &r) && check_recurrent(c, &r, 3, r.batch, r.hidden) && check_recurrent(c, &r, 4, rows, 0) &&
           check_recurrent(c, &r, 5, rows, 0) && activations_default(c, &o->activations, &o->activationsCount, 2) &&
           recurrent_results(c, &r, 1, false, 0);
}

bool infer_lstm(struct call *c)
{
    WNNLstmOptions *o = c->options;
    uint32_t steps = c->args.lstm.steps;
    const struct recurrent r = network_sizes(c, o->direction, c->args.lstm.hiddenSize, 4);
    const uint32_t rows = times_hidden(&r, 4);

    return check_steps(c, &steps) && check_weights(c, &r) && check_recurrent(c, &r, 3, rows, 0) &&
           check_recurrent(c, &r, 4, rows, 0) && check_recurrent(c, &r, 5, times_hidden(&r, 3), 0) &&
           check_recurrent(c, &r, 6, r.batch, r.hidden) && check_recurrent(c, &r, 7, r.batch, r.hidden) &&
           activations_default(c, &o->activations, &o->activationsCount, 3) &&
           recurrent_results(c, &r, 2, o->returnSequence, steps);
}

bool infer_lstm_cell(struct call *c)
{
    WNNLstmCellOptions *o = c->options;
    const struct recurrent r = cell_sizes(c, c->args.lstmCell.hiddenSize, 4);
    const uint32_t rows = times_hidden(&r, 4);

    return check_weights(c, &r) && check_recurrent(c, &r, 3, r.batch, r.hidden) &&
           check_recurrent(c, &r, 4, r.batch, r.hidden) && check_recurrent(c, &r, 5, rows, 0) &&
           check_recurrent(c, &r, 6, rows, 0) && check_recurrent(c, &r, 7, times_hidden(&r, 3), 0) &&
           activations_default(c, &o->activations, &o->activationsCount, 3) && recurrent_results(c, &r, 2, false, 0);
}
