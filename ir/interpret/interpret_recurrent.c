/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Computes gru, lstm and their cells, after the specification's emulations.  States between steps are kept unrounded; every
 * number carries its bound, so that values and bounds are one computation.
 */
#include "ir/interpret/interpret.h"

#include <float.h>

#include "ir/graph/gates.h"

/** This is a number and how far a correct implementation's may be off. */
struct approx {
    double v, e;
};

static struct approx rounded(double v, double e)
{
    if (isinf(v) && isfinite(e)) /* a sum with an infinity */
        return (struct approx){v, 0};
    if (!(fabs(v) + e <= FLT_MAX)) /* where float32 overflows, infinities may meet on the way */
        return (struct approx){v, INFINITY};
    return (struct approx){v, e + 0x1p-24 * (fabs(v) + e) + 0x1p-149};
}

static struct approx plus(struct approx a, struct approx b)
{
    return rounded(a.v + b.v, a.e + b.e);
}

static struct approx times(struct approx a, struct approx b)
{
    return rounded(a.v * b.v, fabs(a.v) * b.e + a.e * fabs(b.v) + a.e * b.e);
}

static double activation(WNNRecurrentNetworkActivation kind, double x)
{
    switch (kind) {
    case WNNRecurrentNetworkActivation_Relu:
        return isnan(x) ? x : x > 0 ? x : 0;
    case WNNRecurrentNetworkActivation_Sigmoid:
        return 1 / (1 + exp(-x));
    case WNNRecurrentNetworkActivation_Tanh:
        return tanh(x);
    case WNNRecurrentNetworkActivation_Force32:
        break;
    }
    return NAN;
}

/** Applies an activation.  All three of them rise, so that the ends of the operand's interval give the ends of the result's. */
static struct approx activate(WNNRecurrentNetworkActivation kind, struct approx x)
{
    double y = activation(kind, x.v);

    if (!isfinite(x.e)) /* may even be NaN */
        return (struct approx){y, INFINITY};
    double below = y - activation(kind, x.v - x.e), above = activation(kind, x.v + x.e) - y;
    double own = kind == WNNRecurrentNetworkActivation_Relu ? 0 : (INTERPRET_FUNCTION_ULPS + 2) * 0x1p-23 * fabs(y) + 0x1p-126;

    return (struct approx){y, fmax(below, above) + own};
}

/** This is one operand, widened; its values are NULL if it is absent. */
struct wide_operand {
    const double *v, *e;
};

static struct approx at(struct wide_operand o, int64_t k)
{
    return (struct approx){o.v ? o.v[k] : 0, o.e ? o.e[k] : 0};
}

static struct wide_operand part(struct wide_operand o, int64_t offset)
{
    return (struct wide_operand){o.v ? o.v + offset : NULL, o.e ? o.e + offset : NULL};
}

static bool operand_read(struct interpretation *t, uint32_t slot, struct wide_operand *o)
{
    o->v = t->inputs[slot].type ? interpret_widen(t, slot, NULL) : NULL;
    o->e = t->inputs[slot].bound;
    return o->v || !t->inputs[slot].type;
}

/** Holds what one cell of one direction works with. */
struct cell {
    int64_t batches, inputs, hidden;
    struct wide_operand weight, recurrent, bias, recurrent_bias, peephole;
    const WNNRecurrentNetworkActivation *activations;
    const uint8_t *places; /* where a gate's rows stand in the weights */
    bool reset_after;      /* gru */
};

/** Returns a dot product of count terms, of a row of weights with values, which may be states. */
static struct approx dot(struct wide_operand weights, int64_t row, int64_t count, const struct approx *x)
{
    double v = 0, near = 0, far = 0;
    bool certain = weights.e == NULL;

    for (int64_t k = 0; k < count; k++) {
        struct approx w = at(weights, row * count + k);
        v += w.v * x[k].v;
        if (isfinite(w.v * x[k].v) || !(w.e == 0 && x[k].e == 0)) {
            near += fabs(w.v * x[k].v);
            far += (fabs(w.v) + w.e) * (fabs(x[k].v) + x[k].e);
        }
        certain &= x[k].e == 0;
    }
    /* What a sum of one product leaves to the operator's last rounding happens here, too. */
    return (struct approx){v, interpret_bound_sum(v, near, far, count, certain && !isfinite(v))};
}

static struct approx from_input(const struct cell *c, int gate, int64_t j, const struct approx *x)
{
    return dot(c->weight, c->places[gate] * c->hidden + j, c->inputs, x);
}

static struct approx from_state(const struct cell *c, int gate, int64_t j, const struct approx *h)
{
    return dot(c->recurrent, c->places[gate] * c->hidden + j, c->hidden, h);
}

static struct approx gate_bias(const struct cell *c, struct wide_operand bias, int gate, int64_t j)
{
    return at(bias, c->places[gate] * c->hidden + j);
}

static struct approx both_biases(const struct cell *c, int gate, int64_t j)
{
    return plus(gate_bias(c, c->bias, gate, j), gate_bias(c, c->recurrent_bias, gate, j));
}

/* ---- gru ---- */

/** Computes one step of one row of the batch, from hidden states h to `to`.  reset is room for hidden numbers. */
static void gru_step(const struct cell *c, const struct approx *x, const struct approx *h, struct approx *reset,
                     struct approx *to)
{
    const WNNRecurrentNetworkActivation gates = c->activations[0], new_gate = c->activations[1];

    for (int64_t j = 0; j < c->hidden; j++) {
        struct approx sum = plus(from_input(c, GRU_R, j, x), from_state(c, GRU_R, j, h));
        reset[j] = activate(gates, plus(both_biases(c, GRU_R, j), sum));
        to[j] = times(reset[j], h[j]); /* for resetAfter = false, which needs all of them below */
    }
    if (!c->reset_after)
        memcpy(reset, to, (size_t)c->hidden * sizeof *reset);
    for (int64_t j = 0; j < c->hidden; j++) {
        struct approx sum = plus(from_input(c, GRU_Z, j, x), from_state(c, GRU_Z, j, h));
        struct approx z = activate(gates, plus(both_biases(c, GRU_Z, j), sum)), n;
        if (c->reset_after) {
            struct approx state = plus(gate_bias(c, c->recurrent_bias, GRU_N, j), from_state(c, GRU_N, j, h));
            n = plus(from_input(c, GRU_N, j, x), times(reset[j], state));
            n = activate(new_gate, plus(gate_bias(c, c->bias, GRU_N, j), n));
        } else {
            n = plus(from_input(c, GRU_N, j, x), from_state(c, GRU_N, j, reset));
            n = activate(new_gate, plus(both_biases(c, GRU_N, j), n));
        }
        struct approx rest = rounded(1 - z.v, z.e);
        to[j] = plus(times(z, h[j]), times(n, rest));
    }
}

/* ---- lstm ---- */

/** The peephole weights stand in the order i, o, f whatever the layout. */
static struct approx lstm_gate(const struct cell *c, int gate, int64_t j, const struct approx *x, const struct approx *h,
                               struct approx cell_state)
{
    struct approx sum = plus(from_input(c, gate, j, x), from_state(c, gate, j, h));

    sum = plus(both_biases(c, gate, j), sum);
    if (gate == LSTM_G)
        return activate(c->activations[1], sum);
    if (c->peephole.v)
        sum = plus(times(cell_state, at(c->peephole, gate * c->hidden + j)), sum);
    return activate(c->activations[0], sum);
}

static void lstm_step(const struct cell *c, const struct approx *x, const struct approx *h, const struct approx *state,
                      struct approx *to_h, struct approx *to_state)
{
    for (int64_t j = 0; j < c->hidden; j++) {
        struct approx i = lstm_gate(c, LSTM_I, j, x, h, state[j]), o = lstm_gate(c, LSTM_O, j, x, h, state[j]);
        struct approx f = lstm_gate(c, LSTM_F, j, x, h, state[j]), g = lstm_gate(c, LSTM_G, j, x, h, state[j]);
        to_state[j] = plus(times(f, state[j]), times(i, g));
        to_h[j] = times(o, activate(c->activations[2], to_state[j]));
    }
}

/* ---- networks ---- */

/** This is either network; a cell is one with one step. */
struct network {
    struct cell cell; /* of direction 0 */
    bool lstm;
    int64_t steps, gates;
    WNNRecurrentNetworkDirection direction;
    struct wide_operand input, hidden, state; /* initial states */
    double *out_hidden, *out_state, *out_sequence;
    double *hidden_bounds, *state_bounds, *sequence_bounds;
};

/** Widens a state's error, since a state that is stored between steps may be rounded to the operator's type there. */
static void allow_rounding(struct approx *x, int64_t n, dtype type)
{
    for (int64_t k = 0; k < n; k++)
        x[k].e += type == WNNOperandDataType_Float16 ? 0x1p-11 * (fabs(x[k].v) + x[k].e) + 0x1p-25 : 0;
}

static void keep(const struct approx *from, int64_t n, double *values, double *bounds)
{
    for (int64_t k = 0; k < n; k++) {
        values[k] = from[k].v;
        bounds[k] = isfinite(from[k].v) ? from[k].e : from[k].e == 0 ? 0 : INFINITY;
    }
}

static bool run_direction(struct interpretation *t, const struct network *w, int64_t dir, int64_t directions)
{
    const int64_t inputs = w->cell.inputs, hidden = w->cell.hidden, batches = w->cell.batches, rows = w->gates * hidden;
    const bool backward = dir == 1 || w->direction == WNNRecurrentNetworkDirection_Backward;
    struct cell c = w->cell;
    struct approx *x = interpret_memory(t, inputs, sizeof *x), *h = interpret_memory(t, 5 * hidden, sizeof *h);

    if (!x || !h)
        return false;
    struct approx *state = h + hidden, *next = state + hidden, *next_state = next + hidden, *reset = next_state + hidden;
    c.weight = part(c.weight, dir * rows * inputs);
    c.recurrent = part(c.recurrent, dir * rows * hidden);
    c.bias = part(c.bias, dir * rows);
    c.recurrent_bias = part(c.recurrent_bias, dir * rows);
    c.peephole = part(c.peephole, dir * 3 * hidden);
    for (int64_t b = 0; b < batches; b++) { /* rows of the batch have nothing to do with each other */
        const int64_t own = (dir * batches + b) * hidden;
        for (int64_t j = 0; j < hidden; j++) {
            h[j] = at(w->hidden, own + j);
            state[j] = at(w->state, own + j);
        }
        for (int64_t step = 0; step < w->steps; step++) {
            const int64_t place = backward ? w->steps - 1 - step : step;
            for (int64_t k = 0; k < inputs; k++)
                x[k] = at(w->input, (place * batches + b) * inputs + k);
            if (w->lstm)
                lstm_step(&c, x, h, state, next, next_state);
            else
                gru_step(&c, x, h, reset, next);
            memcpy(h, next, (size_t)hidden * sizeof *h);
            if (w->lstm)
                memcpy(state, next_state, (size_t)hidden * sizeof *state);
            const int64_t at_step = ((place * directions + dir) * batches + b) * hidden;
            if (w->out_sequence)
                keep(h, hidden, w->out_sequence + at_step, w->sequence_bounds + at_step);
            if (step + 1 < w->steps) {
                allow_rounding(h, hidden, t->results[0].type->type);
                allow_rounding(state, hidden, t->results[0].type->type);
            }
        }
        keep(h, hidden, w->out_hidden + own, w->hidden_bounds + own);
        if (w->lstm)
            keep(state, hidden, w->out_state + own, w->state_bounds + own);
    }
    return true;
}

static bool room(struct interpretation *t, uint32_t result, double **values, double **bounds)
{
    const int64_t n = type_elements(t->results[result].type);

    *values = interpret_memory(t, n, sizeof **values);
    *bounds = interpret_memory(t, n, sizeof **bounds);
    return *values && *bounds;
}

static bool run_network(struct interpretation *t, struct network *w)
{
    const int64_t directions = w->direction == WNNRecurrentNetworkDirection_Both ? 2 : 1;
    const uint32_t sequence = w->lstm ? 2 : 1;
    const bool has_sequence = t->node->result_count > sequence;

    if (!room(t, 0, &w->out_hidden, &w->hidden_bounds) || (w->lstm && !room(t, 1, &w->out_state, &w->state_bounds)) ||
        (has_sequence && !room(t, sequence, &w->out_sequence, &w->sequence_bounds)))
        return false;
    for (int64_t dir = 0; dir < directions; dir++)
        if (!run_direction(t, w, dir, directions))
            return false;
    interpret_narrow(t, 0, w->out_hidden, w->hidden_bounds, NULL);
    if (w->lstm)
        interpret_narrow(t, 1, w->out_state, w->state_bounds, NULL);
    if (has_sequence)
        interpret_narrow(t, sequence, w->out_sequence, w->sequence_bounds, NULL);
    return true;
}

bool interpret_network(struct interpretation *t)
{
    const struct tensor_type *input = t->inputs[0].type;
    const struct gates g = gates_of(t->node);
    struct network w = {.lstm = t->node->op == OP_LSTM || t->node->op == OP_LSTM_CELL, .direction = g.direction};
    const struct {
        uint32_t slot;
        struct wide_operand *operand;
    } operands[] = {{1, &w.cell.weight},
                    {2, &w.cell.recurrent},
                    {g.slots.bias, &w.cell.bias},
                    {g.slots.recurrent_bias, &w.cell.recurrent_bias},
                    {g.slots.peephole, &w.cell.peephole},
                    {g.slots.hidden, &w.hidden},
                    {g.slots.cell, &w.state}};

    w.gates = w.lstm ? 4 : 3;
    w.steps = input->rank == 3 ? input->dims[0] : 1;
    w.cell.batches = input->dims[input->rank - 2];
    w.cell.inputs = input->dims[input->rank - 1];
    w.cell.hidden = g.hidden;
    w.cell.activations = g.activations;
    w.cell.places = g.places;
    w.cell.reset_after = g.reset_after;
    if (!operand_read(t, 0, &w.input))
        return false;
    for (size_t i = 0; i < sizeof operands / sizeof *operands; i++)
        if (operands[i].slot && !operand_read(t, operands[i].slot, operands[i].operand))
            return false;
    return run_network(t, &w);
}
