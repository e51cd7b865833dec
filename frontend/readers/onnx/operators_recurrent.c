/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Imports LSTM, GRU, RNN and DynamicQuantizeLSTM.  They become lstm and gru where they mean the same; else (RNN, other
 * activations, clip, input_forget, sequence_lens, the output gate's peephole, which sees the new cell state in ONNX and the old
 * one in WebNN) steps composed of matmuls and element-wise operators, one after the other.
 */
#include <string.h>

#include "frontend/readers/onnx/control_loop.h"
#include "frontend/readers/onnx/open.h"
#include "frontend/readers/onnx/term.h"

enum kind { RNN, GRU, LSTM };
enum { STEPS_MAX = 4096, GATES_MAX = 4, ACTIVATIONS_MAX = 3 };

/* Holds the rows of W, R and B per hidden element, and the activations per direction with their usual names. */
static const struct kind_info {
    uint32_t gates;
    size_t activations;
    const char *usual[ACTIVATIONS_MAX];
} kinds[] = {{1, 1, {"Tanh", NULL, NULL}}, {3, 2, {"Sigmoid", "Tanh", NULL}}, {4, 3, {"Sigmoid", "Tanh", "Tanh"}}};

struct recurrent {
    enum kind kind;
    uint32_t steps, batch, hidden, directions;
    bool backward;                                                 /* the only direction is */
    bool batch_first, reset_after, input_forget, clips, quantizes; /* quantizes: what the weights multiply */
    double clip;
    struct onnx_activation activations[2][ACTIVATIONS_MAX];
    WNNOperand x, w, r, bias, lengths, state, cell, peephole; /* time first; optional ones NULL */
};

/* ---- reading ---- */

static bool read_activations(struct onnx_node *n, struct recurrent *r)
{
    const struct kind_info *info = &kinds[r->kind];
    size_t count, counts[ONNX_PARAMETERS], used[ONNX_PARAMETERS] = {0}, wanted = info->activations * r->directions;
    const char *const *names = onnx_strings(n, "activations", &count);
    const float *lists[ONNX_PARAMETERS] = {onnx_floats(n, "activation_alpha", &counts[0]),
                                           onnx_floats(n, "activation_beta", &counts[1])};

    if (n->refused)
        return false;
    if (names && count != wanted)
        return onnx_refuse(n, "%zu activations, it needs %zu", count, wanted);
    for (size_t i = 0; i < wanted; i++) {
        struct onnx_activation *a = &r->activations[i / info->activations][i % info->activations];

        if (!onnx_activation_find(n, names ? names[i] : info->usual[i % info->activations], a))
            return false;
        for (size_t k = 0; k < ONNX_PARAMETERS; k++) /* in the order of the functions that have one */
            if (a->parameter_names[k] && lists[k] && used[k] < counts[k])
                a->parameters[k] = (double)lists[k][used[k]++];
    }
    return true;
}

static bool read_direction(struct onnx_node *n, struct recurrent *r)
{
    const char *direction = onnx_string(n, "direction", "forward");

    r->directions = strcmp(direction, "bidirectional") ? 1 : 2;
    r->backward = !strcmp(direction, "reverse");
    return r->directions == 2 || r->backward || !strcmp(direction, "forward") ||
           onnx_refuse(n, "direction \"%.40s\" is not known", direction);
}

static WNNOperand swap_first(struct onnx_node *n, WNNOperand x, bool swap)
{
    static const uint32_t permutation[ONNX_RANK_MAX] = {1, 0, 2, 3, 4, 5, 6, 7}; /* the rank is checked later */

    return swap && x && onnx_dims_of(n, x).rank >= 2 ? onnx_transpose(n, x, onnx_dims_of(n, x).rank, permutation) : x;
}

/* Returns whether lengths matter: those that are known and reach to the end mean nothing. */
static bool lengths_matter(struct onnx_node *n, const struct recurrent *r)
{
    const struct onnx_value *v = onnx_input(n, 4);

    if (!v || !onnx_is_constant(n, 4))
        return v != NULL;
    for (size_t i = 0; i < (size_t)onnx_elements(v); i++)
        if (onnx_element_int(v, i) != r->steps)
            return true;
    return false;
}

/*
 * Returns input i, [directions, columns, rows] of bytes, as LSTM has its weights.  Inputs scale and scale + 1 have a number for
 * each direction, or for each of its rows.
 */
static WNNOperand quantized_weights(struct onnx_node *n, size_t i, size_t scale)
{
    static const uint32_t rows_first[] = {0, 2, 1};
    WNNOperand by[2] = {onnx_operand(n, scale), onnx_operand_optional(n, scale + 1)};

    for (size_t k = 0; k < 2 && by[k]; k++) {
        struct onnx_dims dims = onnx_dims_of(n, by[k]);

        dims.at[2] = dims.rank == 2 ? dims.at[1] : 1;
        dims.at[1] = 1;
        dims.rank = 3;
        by[k] = onnx_reshape_to(n, by[k], dims);
    }
    return onnx_transpose(n, onnx_dequantize(n, onnx_operand(n, i), by[0], by[1], 0), 3, rows_first);
}

static bool read_recurrent(struct onnx_node *n, struct recurrent *r)
{
    struct onnx_dims x, w, u;

    r->batch_first = onnx_int(n, "layout", 0) != 0;
    r->clips = onnx_has(n, "clip");
    r->clip = onnx_float(n, "clip", 0);
    if (!read_direction(n, r) || !read_activations(n, r))
        return false;
    r->x = swap_first(n, onnx_operand(n, 0), r->batch_first);
    r->w = r->quantizes ? quantized_weights(n, 1, 8) : onnx_operand(n, 1);
    r->r = r->quantizes ? quantized_weights(n, 2, 10) : onnx_operand(n, 2);
    r->bias = onnx_operand_optional(n, 3);
    r->state = swap_first(n, onnx_operand_optional(n, 5), r->batch_first);
    if (r->kind == LSTM) {
        r->cell = swap_first(n, onnx_operand_optional(n, 6), r->batch_first);
        r->peephole = onnx_operand_optional(n, 7);
    }
    x = onnx_dims_of(n, r->x);
    w = onnx_dims_of(n, r->w);
    u = onnx_dims_of(n, r->r);
    if (n->refused)
        return false;
    r->steps = x.at[0];
    r->batch = x.at[1];
    r->hidden = u.at[2];
    uint32_t rows = kinds[r->kind].gates * r->hidden;
    if (x.rank != 3 || w.rank != 3 || u.rank != 3 || w.at[0] != r->directions || u.at[0] != r->directions ||
        w.at[1] / kinds[r->kind].gates != r->hidden || w.at[1] != rows || u.at[1] != rows || w.at[2] != x.at[2])
        return onnx_refuse(
            n, "X, W and R of ranks %zu, %zu, %zu, with %u and %u rows for a hidden size of %u, do not fit %u directions",
            x.rank, w.rank, u.rank, w.at[1], u.at[1], r->hidden, r->directions);
    if (onnx_int(n, "hidden_size", r->hidden) != r->hidden)
        return onnx_refuse(n, "hidden_size is %lld, R has %u", (long long)onnx_int(n, "hidden_size", 0), r->hidden);
    if (r->bias && (onnx_dims_of(n, r->bias).rank != 2 || onnx_dims_of(n, r->bias).at[1] != 2 * rows))
        return onnx_refuse(n, "B has %u elements per direction instead of %u", onnx_dims_of(n, r->bias).at[1], 2 * rows);
    if (lengths_matter(n, r))
        r->lengths = onnx_cast(n, onnx_operand(n, 4), WNNOperandDataType_Int32);
    return !n->refused;
}

/* ---- as one operator ---- */

static bool is_native_function(const char *name, WNNRecurrentNetworkActivation *activation)
{
    const bool relu = !strcmp(name, "Relu"), sigmoid = !strcmp(name, "Sigmoid");

    *activation = relu      ? WNNRecurrentNetworkActivation_Relu
                  : sigmoid ? WNNRecurrentNetworkActivation_Sigmoid
                            : WNNRecurrentNetworkActivation_Tanh;
    return relu || sigmoid || !strcmp(name, "Tanh");
}

/* Returns whether the output gate's peephole is known to be zero. */
static bool peephole_agrees(struct onnx_node *n, const struct recurrent *r)
{
    const struct onnx_value *p = onnx_input(n, 7);

    if (!r->peephole)
        return true;
    if (!onnx_is_constant(n, 7) || onnx_elements(p) != 3 * (int64_t)r->hidden * r->directions)
        return false;
    for (uint32_t d = 0; d < r->directions; d++)
        for (uint32_t i = 0; i < r->hidden; i++)
            if (onnx_element(p, ((size_t)d * 3 + 1) * r->hidden + i) != 0)
                return false;
    return true;
}

static bool is_native(struct onnx_node *n, const struct recurrent *r, WNNRecurrentNetworkActivation *activations)
{
    if (r->kind == RNN || r->quantizes || r->clips || r->input_forget || r->lengths || !peephole_agrees(n, r))
        return false;
    for (size_t i = 0; i < kinds[r->kind].activations; i++)
        if (!is_native_function(r->activations[0][i].name, &activations[i]) ||
            (r->directions == 2 && r->activations[1][i].name != r->activations[0][i].name))
            return false;
    return true;
}

/* Makes the outputs by WebNN's operator: Y (may be NULL), Y_h, Y_c. */
static void make_native(struct onnx_node *n, const struct recurrent *r, const WNNRecurrentNetworkActivation *activations,
                        WNNOperand outputs[3])
{
    uint32_t rows = kinds[r->kind].gates * r->hidden;
    const uint32_t steps = onnx_is_open(r->steps) ? 0 : r->steps;
    WNNOperand bias = r->bias ? onnx_slice_axis(n, r->bias, 1, 0, rows) : NULL;
    WNNOperand recurrent_bias = r->bias ? onnx_slice_axis(n, r->bias, 1, rows, rows) : NULL, results[3] = {NULL, NULL, NULL};
    WNNRecurrentNetworkDirection direction = r->directions == 2 ? WNNRecurrentNetworkDirection_Both
                                             : r->backward      ? WNNRecurrentNetworkDirection_Backward
                                                                : WNNRecurrentNetworkDirection_Forward;
    WNNStatus status;

    if (r->kind == GRU) {
        WNNGruOptions o = WNN_GRU_OPTIONS_INIT;
        o.label = n->label;
        o.bias = bias;
        o.recurrentBias = recurrent_bias;
        o.initialHiddenState = r->state;
        o.resetAfter = r->reset_after;
        o.returnSequence = onnx_wants(n, 0);
        o.direction = direction;
        o.activationsCount = 2;
        o.activations = activations;
        status = wnnGraphBuilderGru(n->builder, r->x, r->w, r->r, steps, r->hidden, &o, results);
        outputs[1] = results[0];
        outputs[0] = results[1];
    } else {
        WNNLstmOptions o = WNN_LSTM_OPTIONS_INIT;
        o.label = n->label;
        o.bias = bias;
        o.recurrentBias = recurrent_bias;
        o.peepholeWeight = r->peephole;
        o.initialHiddenState = r->state;
        o.initialCellState = r->cell;
        o.returnSequence = onnx_wants(n, 0);
        o.direction = direction;
        o.activationsCount = 3;
        o.activations = activations;
        status = wnnGraphBuilderLstm(n->builder, r->x, r->w, r->r, steps, r->hidden, &o, results);
        outputs[0] = results[2];
        outputs[1] = results[0];
        outputs[2] = results[1];
    }
    for (size_t i = 0; i < 3 && status != WNNStatus_Success; i++)
        outputs[i] = onnx_error_operand(n);
}

/* ---- step by step ---- */

static WNNOperand activate(struct onnx_node *n, const struct recurrent *r, const struct onnx_activation *a, WNNOperand x)
{
    return onnx_activate(n, a, r->clips ? onnx_clamp(n, x, -r->clip, r->clip) : x);
}

/* Holds what the steps of one direction need. */
struct direction {
    const struct onnx_activation *activations;
    WNNOperand input;        /* [steps, batch, gates * hidden]: the input's share, with both biases where they only add */
    WNNOperand valid;        /* [steps, batch, 1]: whether a sequence has the step; NULL: all do */
    WNNOperand weights;      /* [hidden, gates * hidden] */
    WNNOperand gate_weights; /* of GRU's first two gates, [hidden, 2 * hidden], and of its new gate, [hidden, hidden], if the */
    WNNOperand new_weights;  /* reset gate multiplies the state before they do; else NULL */
    WNNOperand new_bias;     /* of GRU's new gate, if it is added after the reset gate; else NULL */
    WNNOperand peepholes[3]; /* i, o, f; NULL: none */
};

static WNNOperand of_direction(struct onnx_node *n, WNNOperand x, uint32_t d, size_t rank)
{
    if (!x)
        return NULL;
    x = onnx_slice_axis(n, x, 0, d, 1);
    struct onnx_dims dims = onnx_dims_of(n, x);
    if (dims.rank < rank) {
        if (!wnnOperandIsError(x))
            onnx_refuse(n, "an input of %zu dimensions, it must have %zu: one for the directions, and %zu", dims.rank, rank + 1,
                        rank);
        return onnx_error_operand(n);
    }
    for (size_t i = 0; i < rank; i++)
        dims.at[i] = dims.at[dims.rank - rank + i];
    dims.rank = rank;
    return onnx_reshape_to(n, x, dims);
}

/* Returns what weights multiply for x: with quantised weights the numbers that its bytes stand for. */
static WNNOperand multiplied(struct onnx_node *n, const struct recurrent *r, WNNOperand x)
{
    return r->quantizes ? onnx_term_of(n, "x: q = dynamic(x); dequantize(q[0], q[1], q[2], 0)", x, 0, NULL) : x;
}

static WNNOperand gate(struct onnx_node *n, const struct recurrent *r, WNNOperand all, uint32_t index)
{
    return onnx_slice_axis(n, all, 1, index * r->hidden, r->hidden);
}

static void start_direction(struct onnx_node *n, const struct recurrent *r, uint32_t d, struct direction *run)
{
    static const uint32_t swap[] = {1, 0};
    uint32_t rows = kinds[r->kind].gates * r->hidden;
    struct onnx_dims x = onnx_dims_of(n, r->x);
    WNNOperand bias = of_direction(n, r->bias, d, 1), recurrent;

    memset(run, 0, sizeof *run);
    run->activations = r->activations[d];
    run->weights = onnx_transpose(n, of_direction(n, r->r, d, 2), 2, swap);
    run->input = onnx_reshape(n, multiplied(n, r, r->x), 2, (uint32_t[]){onnx_dims_product(n, &x, 0, 2), x.at[2]});
    run->input = onnx_matmul(n, run->input, onnx_transpose(n, of_direction(n, r->w, d, 2), 2, swap));
    if (bias) {
        recurrent = onnx_slice_axis(n, bias, 0, rows, rows);
        bias = onnx_slice_axis(n, bias, 0, 0, rows);
        if (r->kind == GRU && r->reset_after) {
            WNNOperand parts[] = {onnx_slice_axis(n, recurrent, 0, 0, 2 * r->hidden),
                                  onnx_expand(n, onnx_scalar_like(n, recurrent, 0), (struct onnx_dims){1, {r->hidden}})};
            run->new_bias = onnx_slice_axis(n, recurrent, 0, 2 * r->hidden, r->hidden);
            recurrent = onnx_concat(n, 2, parts, 0);
        }
        run->input = onnx_add(n, run->input, onnx_add(n, bias, recurrent));
    }
    run->input = onnx_reshape(n, run->input, 3, (uint32_t[]){r->steps, r->batch, rows});
    for (uint32_t i = 0; i < 3 && r->peephole; i++)
        run->peepholes[i] = onnx_slice_axis(n, of_direction(n, r->peephole, d, 1), 0, i * r->hidden, r->hidden);
    if (r->kind == GRU && !r->reset_after) {
        run->gate_weights = onnx_slice_axis(n, run->weights, 1, 0, 2 * r->hidden);
        run->new_weights = onnx_slice_axis(n, run->weights, 1, 2 * r->hidden, r->hidden);
    }
    if (r->lengths)
        run->valid = onnx_greater(n, onnx_reshape(n, r->lengths, 3, (uint32_t[]){1, r->batch, 1}),
                                  onnx_iota(n, WNNOperandDataType_Int32, 3, 0, r->steps));
}

static WNNOperand peep(struct onnx_node *n, WNNOperand x, WNNOperand weights, WNNOperand cell)
{
    return weights ? onnx_add(n, x, onnx_mul(n, weights, cell)) : x;
}

static void step_lstm(struct onnx_node *n, const struct recurrent *r, const struct direction *run, WNNOperand x,
                      WNNOperand *state, WNNOperand *cell)
{
    const struct onnx_activation *a = run->activations;
    WNNOperand all = onnx_add(n, x, onnx_matmul(n, multiplied(n, r, *state), run->weights)), in, forget, fresh, out;

    in = activate(n, r, &a[0], peep(n, gate(n, r, all, 0), run->peepholes[0], *cell));
    forget = r->input_forget ? onnx_linear(n, in, -1, 1)
                             : activate(n, r, &a[0], peep(n, gate(n, r, all, 2), run->peepholes[2], *cell));
    fresh = activate(n, r, &a[1], gate(n, r, all, 3));
    *cell = onnx_add(n, onnx_mul(n, forget, *cell), onnx_mul(n, in, fresh));
    out = activate(n, r, &a[0], peep(n, gate(n, r, all, 1), run->peepholes[1], *cell));
    *state = onnx_mul(n, out, activate(n, r, &a[2], *cell));
}

static void step_gru(struct onnx_node *n, const struct recurrent *r, const struct direction *run, WNNOperand x,
                     WNNOperand *state)
{
    const struct onnx_activation *a = run->activations;
    const uint32_t gates_width = 2 * r->hidden;
    WNNOperand product = onnx_matmul(n, *state, r->reset_after ? run->weights : run->gate_weights);
    WNNOperand gates, update, reset, from_state, fresh;

    gates = onnx_add(n, onnx_slice_axis(n, x, 1, 0, gates_width), onnx_slice_axis(n, product, 1, 0, gates_width));
    update = activate(n, r, &a[0], gate(n, r, gates, 0));
    reset = activate(n, r, &a[0], gate(n, r, gates, 1));
    if (r->reset_after)
        from_state = onnx_mul(n, reset, onnx_scale_bias(n, gate(n, r, product, 2), NULL, run->new_bias));
    else
        from_state = onnx_matmul(n, onnx_mul(n, reset, *state), run->new_weights);
    fresh = activate(n, r, &a[1], onnx_add(n, gate(n, r, x, 2), from_state));
    *state = onnx_add(n, onnx_mul(n, onnx_linear(n, update, -1, 1), fresh), onnx_mul(n, update, *state));
}

static WNNOperand zero_state(struct onnx_node *n, const struct recurrent *r)
{
    return onnx_expand(n, onnx_scalar_like(n, r->x, 0), (struct onnx_dims){2, {r->batch, r->hidden}});
}

/** Makes one step of x, [batch, gates * hidden]: states, the hidden one and LSTM's cell, become those after it.  Returns what
 * the sequence has of it. */
static WNNOperand make_step(struct onnx_node *n, const struct recurrent *r, const struct direction *run, WNNOperand x,
                            WNNOperand valid, WNNOperand states[2])
{
    const WNNOperand before[2] = {states[0], states[1]};

    if (r->kind == LSTM)
        step_lstm(n, r, run, x, &states[0], &states[1]);
    else if (r->kind == GRU)
        step_gru(n, r, run, x, &states[0]);
    else
        states[0] = activate(n, r, &run->activations[0], onnx_add(n, x, onnx_matmul(n, states[0], run->weights)));
    if (!valid)
        return states[0];
    /* After a sequence's end states stay and results are 0. */
    WNNOperand result = onnx_where(n, valid, states[0], onnx_scalar_like(n, states[0], 0));
    for (uint32_t i = 0; i < 2 && states[i]; i++)
        states[i] = onnx_where(n, valid, states[i], before[i]);
    return result;
}

static WNNOperand loop_steps(struct onnx_node *n, const struct recurrent *r, const struct direction *run, bool backward,
                             WNNOperand states[2])
{
    WNNLoopSlices scanned[2] = {{run->input, 0, backward}, {run->valid, 0, backward}}, stacked = {NULL, 0, backward};
    WNNOperand parameters[4] = {NULL}, outputs[3] = {NULL}, next[2] = {NULL};
    struct control_iterations l = {.iterations = r->steps,
                                   .carried_count = r->kind == LSTM ? 2 : 1,
                                   .scanned_count = run->valid ? 2 : 1,
                                   .stacked_count = 1,
                                   .carried = states,
                                   .parameters = parameters,
                                   .next = next,
                                   .outputs = outputs,
                                   .scanned = scanned,
                                   .stacked = &stacked};

    if (!control_begin(n, &l))
        return onnx_error_operand(n);
    memcpy(next, parameters, l.carried_count * sizeof *next);
    stacked.operand =
        make_step(n, r, run, parameters[l.carried_count], run->valid ? parameters[l.carried_count + 1] : NULL, next);
    if (!control_end(n, &l, true))
        return onnx_error_operand(n);
    memcpy(states, outputs, l.carried_count * sizeof *states);
    return outputs[l.carried_count];
}

/** Makes the steps one after the other, as an iteration of a loop around them must. */
static WNNOperand unroll_steps(struct onnx_node *n, const struct recurrent *r, const struct direction *run, bool backward,
                               WNNOperand states[2])
{
    const uint32_t x[] = {r->batch, kinds[r->kind].gates * r->hidden}, valid[] = {r->batch, 1};
    const uint32_t row[] = {1, r->batch, r->hidden};
    WNNOperand *results = onnx_alloc(n, r->steps, sizeof *results);

    if (r->steps > STEPS_MAX)
        onnx_refuse(n, "%u steps within a loop, at most %d can be", r->steps, STEPS_MAX);
    for (uint32_t i = 0; i < r->steps && !n->refused; i++) {
        const uint32_t t = backward ? r->steps - 1 - i : i;
        WNNOperand now = run->valid ? onnx_reshape(n, onnx_slice_axis(n, run->valid, 0, t, 1), 2, valid) : NULL;
        WNNOperand result = make_step(n, r, run, onnx_reshape(n, onnx_slice_axis(n, run->input, 0, t, 1), 2, x), now, states);

        results[t] = onnx_reshape(n, result, 3, row);
    }
    return n->refused ? onnx_error_operand(n) : onnx_concat(n, r->steps, results, 0);
}

/** Makes the steps of one direction.  Returns [steps, 1, batch, hidden]; states are [1, batch, hidden] at the end. */
static WNNOperand run_direction(struct onnx_node *n, const struct recurrent *r, uint32_t d, WNNOperand states[2])
{
    const bool backward = d ? true : r->backward;
    struct direction run;

    states[0] = r->state ? of_direction(n, r->state, d, 2) : zero_state(n, r);
    states[1] = r->kind != LSTM ? NULL : r->cell ? of_direction(n, r->cell, d, 2) : zero_state(n, r);
    start_direction(n, r, d, &run);
    WNNOperand results = (r->steps > 1 && control_may_begin(n) ? loop_steps : unroll_steps)(n, r, &run, backward, states);
    for (uint32_t i = 0; i < 2 && states[i]; i++)
        states[i] = onnx_reshape(n, states[i], 3, (uint32_t[]){1, r->batch, r->hidden});
    return onnx_reshape(n, results, 4, (uint32_t[]){r->steps, 1, r->batch, r->hidden});
}

static void make_steps(struct onnx_node *n, const struct recurrent *r, WNNOperand outputs[3])
{
    WNNOperand sequences[2], states[2] = {NULL, NULL}, cells[2] = {NULL, NULL}, after[2];

    for (uint32_t d = 0; d < r->directions && !n->refused; d++) {
        sequences[d] = run_direction(n, r, d, after);
        states[d] = after[0];
        cells[d] = after[1];
    }
    if (n->refused)
        return;
    outputs[0] = onnx_concat(n, r->directions, sequences, 1);
    outputs[1] = onnx_concat(n, r->directions, states, 0);
    outputs[2] = r->kind == LSTM ? onnx_concat(n, r->directions, cells, 0) : NULL;
}

/* ---- the operators ---- */

bool onnx_import_recurrent(struct onnx_node *n)
{
    static const uint32_t batch_first[] = {2, 0, 1, 3};
    WNNRecurrentNetworkActivation activations[ACTIVATIONS_MAX];
    WNNOperand outputs[3] = {NULL, NULL, NULL};
    struct recurrent recurrent = {.kind = !strcmp(n->row->name, "RNN")   ? RNN
                                          : !strcmp(n->row->name, "GRU") ? GRU
                                                                         : LSTM},
                     *r = &recurrent;

    r->quantizes = n->row->domain != NULL;
    r->reset_after = r->kind == GRU && onnx_int(n, "linear_before_reset", 0) != 0;
    r->input_forget = r->kind == LSTM && onnx_int(n, "input_forget", 0) != 0;
    if (!read_recurrent(n, r))
        return false;
    const bool native = is_native(n, r, activations);
    if (onnx_is_open(r->hidden) || (onnx_is_open(r->steps) && !native && !control_may_begin(n)))
        return onnx_refuse_open(n);
    if (native)
        make_native(n, r, activations, outputs);
    else
        make_steps(n, r, outputs);
    if (n->refused)
        return false;
    if (onnx_wants(n, 0))
        onnx_output(n, 0,
                    r->batch_first && onnx_dims_of(n, outputs[0]).rank == 4 ? onnx_transpose(n, outputs[0], 4, batch_first)
                                                                            : outputs[0]);
    if (onnx_wants(n, 1))
        onnx_output(n, 1, swap_first(n, outputs[1], r->batch_first));
    if (onnx_wants(n, 2))
        onnx_output(n, 2, swap_first(n, outputs[2], r->batch_first));
    return !n->refused;
}
