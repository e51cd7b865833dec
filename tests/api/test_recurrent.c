/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Small recurrent operators whose gates cancel: results must be as exact as the web platform's conformance tests ask.
 *
 * Biases are drawn so that the sum in front of an activation is a small part, 2^-12, of the terms: a sum in float32
 * leaves it a dozen bits.  The reference is the specification's emulation, in double.  Activations are relu, which adds no
 * error of its own; in cells sigmoid and tanh, too, which are to be as exact.
 */
#include <inttypes.h>
#include <math.h>

#include "support/random.h"
#include "support/api.h"
#include "webnn/webnn.h"

enum { HIDDEN_MAX = 8, INPUTS_MAX = 4, BATCH_MAX = 3, STEPS_MAX = 3, GATES_MAX = 4, DIRECTIONS_MAX = 2 };
enum { STATES_MAX = DIRECTIONS_MAX * BATCH_MAX * HIDDEN_MAX, ROWS_MAX = DIRECTIONS_MAX * GATES_MAX * HIDDEN_MAX };
enum { ROUNDS = 4 };

enum kind { GRU, GRU_CELL, LSTM, LSTM_CELL };

static const struct {
    const char *name;
    int64_t ulp; /* the web platform's tolerance for results of the operator */
} operators[] = {[GRU] = {"gru", 6}, [GRU_CELL] = {"gruCell", 3}, [LSTM] = {"lstm", 3}, [LSTM_CELL] = {"lstmCell", 1}};

static const char *const modes[] = {"", "no-passes", "no-library", "isa=avx2", "isa=baseline"};

/** An operator with its operands.  Gates stand in the order of the default layout: z, r, n or i, o, f, g. */
struct problem {
    enum kind kind;
    bool reset_after, has_peephole, backward, constant, smooth; /* smooth: sigmoid and tanh */
    uint32_t steps, directions, batch, inputs, hidden, gates;
    float x[STEPS_MAX * BATCH_MAX * INPUTS_MAX], w[ROWS_MAX * INPUTS_MAX], r[ROWS_MAX * HIDDEN_MAX];
    float b[ROWS_MAX], rb[ROWS_MAX], p[DIRECTIONS_MAX * 3 * HIDDEN_MAX], h[STATES_MAX], c[STATES_MAX];
};

/* ---- the reference ---- */

static double gate_activation(const struct problem *q, double x)
{
    return q->smooth ? 1 / (1 + exp(-x)) : x > 0 ? x : 0;
}

static double state_activation(const struct problem *q, double x)
{
    return q->smooth ? tanh(x) : x > 0 ? x : 0;
}

/** One direction of a problem. */
struct direction {
    const struct problem *q;
    const float *w, *r, *b, *rb, *p;
};

static struct direction direction_of(const struct problem *q, uint32_t d)
{
    const uint32_t rows = q->gates * q->hidden;

    return (struct direction){q,
                              q->w + d * rows * q->inputs,
                              q->r + d * rows * q->hidden,
                              q->b + d * rows,
                              q->rb + d * rows,
                              q->p + d * 3 * q->hidden};
}

static double from_input(const struct direction *d, uint32_t row, const float *x)
{
    double sum = 0;

    for (uint32_t k = 0; k < d->q->inputs; k++)
        sum += (double)x[k] * (double)d->w[row * d->q->inputs + k];
    return sum;
}

static double from_state(const struct direction *d, uint32_t row, const double *h)
{
    double sum = 0;

    for (uint32_t k = 0; k < d->q->hidden; k++)
        sum += h[k] * (double)d->r[row * d->q->hidden + k];
    return sum;
}

/** Returns what goes into the activation of a gate, with both biases (not for the new gate of gru with resetAfter). */
static double gate(const struct direction *d, uint32_t g, uint32_t j, const float *x, const double *h)
{
    const uint32_t row = g * d->q->hidden + j;

    return from_input(d, row, x) + from_state(d, row, h) + ((double)d->b[row] + (double)d->rb[row]);
}

static void gru_step(const struct direction *d, const float *x, double *h)
{
    const uint32_t hidden = d->q->hidden;
    double z[HIDDEN_MAX], r[HIDDEN_MAX], rh[HIDDEN_MAX], n[HIDDEN_MAX];

    for (uint32_t j = 0; j < hidden; j++) {
        z[j] = gate_activation(d->q, gate(d, 0, j, x, h));
        r[j] = gate_activation(d->q, gate(d, 1, j, x, h));
        rh[j] = r[j] * h[j];
    }
    for (uint32_t j = 0; j < hidden; j++) {
        const uint32_t row = 2 * hidden + j;
        n[j] = from_input(d, row, x) + (double)d->b[row] + r[j] * (from_state(d, row, h) + (double)d->rb[row]);
        n[j] = state_activation(d->q, d->q->reset_after ? n[j] : gate(d, 2, j, x, rh));
    }
    for (uint32_t j = 0; j < hidden; j++)
        h[j] = z[j] * h[j] + n[j] * (1 - z[j]);
}

static void lstm_step(const struct direction *d, const float *x, double *h, double *c)
{
    const uint32_t hidden = d->q->hidden;
    double v[GATES_MAX][HIDDEN_MAX];

    for (uint32_t j = 0; j < hidden; j++) {
        for (uint32_t g = 0; g < GATES_MAX; g++) {
            const double peephole = d->q->has_peephole && g < 3 ? c[j] * (double)d->p[g * hidden + j] : 0;
            const double sum = gate(d, g, j, x, h) + peephole;
            v[g][j] = g < 3 ? gate_activation(d->q, sum) : state_activation(d->q, sum);
        }
    }
    for (uint32_t j = 0; j < hidden; j++) {
        c[j] = v[2][j] * c[j] + v[0][j] * v[3][j];
        h[j] = v[1][j] * state_activation(d->q, c[j]);
    }
}

static bool is_lstm(const struct problem *q)
{
    return q->kind == LSTM || q->kind == LSTM_CELL;
}

static void reference(const struct problem *q, double *h, double *c)
{
    for (uint32_t i = 0; i < q->directions * q->batch * q->hidden; i++) {
        h[i] = (double)q->h[i];
        c[i] = (double)q->c[i];
    }
    for (uint32_t d = 0; d < q->directions; d++) {
        const struct direction way = direction_of(q, d);
        const bool backward = d || q->backward;
        for (uint32_t s = 0; s < q->steps; s++) {
            for (uint32_t m = 0; m < q->batch; m++) {
                const float *x = q->x + ((backward ? q->steps - 1 - s : s) * q->batch + m) * q->inputs;
                const uint32_t state = (d * q->batch + m) * q->hidden;
                if (is_lstm(q))
                    lstm_step(&way, x, h + state, c + state);
                else
                    gru_step(&way, x, h + state);
            }
        }
    }
}

/* ---- problems ---- */

static void numbers(float *to, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        to[i] = (float)random_in_range(-1, 1);
}

/**
 * Biases with which the gates of one row of the batch cancel in the first step.  The new gate of gru stays: what it is added to
 * depends on the reset gate, which is small.
 */
static void cancel(struct problem *q, uint32_t d)
{
    const struct direction way = direction_of(q, d);
    const bool backward = d || q->backward;
    const uint32_t row = random_below(q->batch), rows = q->gates * q->hidden, state = (d * q->batch + row) * q->hidden;
    const float *x = q->x + ((backward ? q->steps - 1 : 0) * q->batch + row) * q->inputs;
    double h[HIDDEN_MAX];

    for (uint32_t j = 0; j < q->hidden; j++)
        h[j] = (double)q->h[state + j];
    for (uint32_t g = 0; g < q->gates; g++) {
        for (uint32_t j = 0; j < q->hidden; j++) {
            const double peephole = q->has_peephole && g < 3 ? (double)q->c[state + j] * (double)way.p[g * q->hidden + j] : 0;
            const double rest = gate(&way, g, j, x, h) + peephole - (double)way.b[g * q->hidden + j];
            q->b[d * rows + g * q->hidden + j] = (float)(ldexp(1 + fabs(random_in_range(-1, 1)), -12) - rest);
        }
    }
}

static void draw_problem(struct problem *q, enum kind kind)
{
    const bool cell = kind == GRU_CELL || kind == LSTM_CELL;

    memset(q, 0, sizeof *q);
    q->kind = kind;
    q->gates = is_lstm(q) ? 4 : 3;
    q->reset_after = random_below(2);
    q->has_peephole = is_lstm(q) && random_below(2);
    q->steps = cell ? 1 : 1 + random_below(STEPS_MAX);
    q->directions = cell ? 1 : 1 + random_below(2);
    q->backward = !cell && q->directions == 1 && random_below(2);
    q->batch = 1 + random_below(BATCH_MAX);
    q->inputs = 1 + random_below(INPUTS_MAX);
    q->hidden = 1 + random_below(HIDDEN_MAX);
    q->constant = random_below(2);
    numbers(q->x, STEPS_MAX * BATCH_MAX * INPUTS_MAX);
    numbers(q->w, ROWS_MAX * INPUTS_MAX);
    numbers(q->r, ROWS_MAX * HIDDEN_MAX);
    numbers(q->b, ROWS_MAX);
    numbers(q->rb, ROWS_MAX);
    numbers(q->p, DIRECTIONS_MAX * 3 * HIDDEN_MAX);
    numbers(q->h, STATES_MAX);
    numbers(q->c, STATES_MAX);
    for (uint32_t d = 0; d < q->directions; d++)
        cancel(q, d);
}

/* ---- through the library ---- */

struct building {
    WNNGraphBuilder builder;
    WNNNamedBuffer inputs[8];
    size_t input_count;
};

/** An operand of the last `rank` of the dimensions (a cell has no directions, and no steps). */
static WNNOperand operand(struct building *b, char const *name, float *data, bool constant, uint32_t rank, const uint32_t *dims)
{
    const WNNOperandDescriptor type = {WNNOperandDataType_Float32, rank, dims, NULL};
    size_t bytes = sizeof(float);

    for (uint32_t i = 0; i < rank; i++)
        bytes *= dims[i];
    if (constant)
        return wnnGraphBuilderConstant(b->builder, &type, data, bytes);
    b->inputs[b->input_count++] = (WNNNamedBuffer){WNN_STR(name), data, bytes};
    return wnnGraphBuilderInput(b->builder, WNN_STR(name), &type);
}

static void add_operator(struct building *b, struct problem *q, WNNOperand *outputs)
{
    static const WNNRecurrentNetworkActivation relus[3] = {
        WNNRecurrentNetworkActivation_Relu, WNNRecurrentNetworkActivation_Relu, WNNRecurrentNetworkActivation_Relu};
    const bool cell = q->kind == GRU_CELL || q->kind == LSTM_CELL, k = q->constant;
    const uint32_t rows = q->gates * q->hidden, first = cell;
    const uint32_t x_dims[] = {q->steps, q->batch, q->inputs}, w_dims[] = {q->directions, rows, q->inputs};
    const uint32_t r_dims[] = {q->directions, rows, q->hidden}, b_dims[] = {q->directions, rows};
    const uint32_t p_dims[] = {q->directions, 3 * q->hidden}, s_dims[] = {q->directions, q->batch, q->hidden};
    const WNNRecurrentNetworkDirection direction = q->directions > 1 ? WNNRecurrentNetworkDirection_Both
                                                   : q->backward     ? WNNRecurrentNetworkDirection_Backward
                                                                     : WNNRecurrentNetworkDirection_Forward;
    WNNOperand x = operand(b, "x", q->x, false, 3 - first, x_dims + first);
    WNNOperand w = operand(b, "w", q->w, k, 3 - first, w_dims + first);
    WNNOperand r = operand(b, "r", q->r, k, 3 - first, r_dims + first);
    WNNOperand bias = operand(b, "b", q->b, k, 2 - first, b_dims + first);
    WNNOperand recurrent = operand(b, "rb", q->rb, k, 2 - first, b_dims + first);
    WNNOperand h = operand(b, "h", q->h, false, 3 - first, s_dims + first), c = NULL, p = NULL;

    if (is_lstm(q))
        c = operand(b, "c", q->c, false, 3 - first, s_dims + first);
    if (q->has_peephole)
        p = operand(b, "p", q->p, k, 2 - first, p_dims + first);
    switch (q->kind) {
    case GRU: {
        WNNGruOptions o = WNN_GRU_OPTIONS_INIT;
        o.bias = bias, o.recurrentBias = recurrent, o.initialHiddenState = h, o.resetAfter = q->reset_after;
        o.direction = direction, o.activationsCount = 2, o.activations = relus;
        wnnGraphBuilderGru(b->builder, x, w, r, q->steps, q->hidden, &o, outputs);
        break;
    }
    case GRU_CELL: {
        WNNGruCellOptions o = WNN_GRU_CELL_OPTIONS_INIT;
        o.bias = bias, o.recurrentBias = recurrent, o.resetAfter = q->reset_after;
        if (!q->smooth)
            o.activationsCount = 2, o.activations = relus;
        outputs[0] = wnnGraphBuilderGruCell(b->builder, x, w, r, h, q->hidden, &o);
        break;
    }
    case LSTM: {
        WNNLstmOptions o = WNN_LSTM_OPTIONS_INIT;
        o.bias = bias, o.recurrentBias = recurrent, o.peepholeWeight = p, o.initialHiddenState = h, o.initialCellState = c;
        o.direction = direction, o.activationsCount = 3, o.activations = relus;
        wnnGraphBuilderLstm(b->builder, x, w, r, q->steps, q->hidden, &o, outputs);
        break;
    }
    case LSTM_CELL: {
        WNNLstmCellOptions o = WNN_LSTM_CELL_OPTIONS_INIT;
        o.bias = bias, o.recurrentBias = recurrent, o.peepholeWeight = p;
        if (!q->smooth)
            o.activationsCount = 3, o.activations = relus;
        wnnGraphBuilderLstmCell(b->builder, x, w, r, h, c, q->hidden, &o, outputs);
        break;
    }
    }
}

/** The last hidden states and, of lstm, the last cell states. */
static void compute(struct problem *q, char const *mode, float *h, float *c)
{
    const size_t bytes = q->directions * q->batch * q->hidden * sizeof(float);
    const size_t count = is_lstm(q) ? 2 : 1;
    struct building b = {.input_count = 0};
    WNNContextOptions o = WNN_CONTEXT_OPTIONS_INIT;
    WNNOperand outputs[3] = {NULL};

    o.threadCount = 1;
    o.debug = WNN_STR(mode);
    OWNED(context) WNNContext context = context_with(&o);
    b.builder = builder_of(context);
    add_operator(&b, q, outputs);
    const WNNNamedOperand named[2] = {{WNN_STR("y"), outputs[0]}, {WNN_STR("yc"), outputs[1]}};
    OWNED(compiled) WNNGraph graph = build(b.builder, count, named);
    const WNNNamedBuffer results[2] = {{WNN_STR("y"), h, bytes}, {WNN_STR("yc"), c, bytes}};
    assert_success(wnnGraphCompute(graph, b.input_count, b.inputs, count, results));
}

static int64_t place(float f)
{
    int32_t bits;

    memcpy(&bits, &f, sizeof bits);
    return bits < 0 ? -(int64_t)(bits & INT32_MAX) : bits;
}

static void compare(const struct problem *q, char const *mode, char const *what, const float *actual, const double *expected)
{
    for (uint32_t i = 0; i < q->directions * q->batch * q->hidden; i++) {
        const int64_t ulp = llabs(place(actual[i]) - place((float)expected[i]));
        if (ulp > operators[q->kind].ulp)
            fail_msg("%s%s, mode \"%s\", %" PRIu32 " steps, %" PRIu32 " directions, batch %" PRIu32 ", %" PRIu32
                     " inputs, %" PRIu32 " hidden: %s state %" PRIu32 " is %.9g, expected %.9g, %" PRId64 " ULP away",
                     operators[q->kind].name, q->reset_after ? " with resetAfter" : "", mode, q->steps, q->directions, q->batch,
                     q->inputs, q->hidden, what, i, (double)actual[i], expected[i], ulp);
    }
}

static void check(struct problem *q)
{
    double h[STATES_MAX], c[STATES_MAX];
    float actual_h[STATES_MAX], actual_c[STATES_MAX];

    reference(q, h, c);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        compute(q, modes[i], actual_h, actual_c);
        compare(q, modes[i], "hidden", actual_h, h);
        if (is_lstm(q))
            compare(q, modes[i], "cell", actual_c, c);
    }
}

TEST(cancelling_gates_are_exact)
{
    struct problem q;

    for (int round = 0; round < ROUNDS; round++) {
        for (enum kind kind = GRU; kind <= LSTM_CELL; kind++) {
            draw_problem(&q, kind);
            check(&q);
        }
    }
}

/** Gates up to some tens, where sigmoid is e^x: rounding its argument to float32 would cost it as many ULP as that is large. */
TEST(cells_with_sigmoid_and_tanh_are_exact)
{
    struct problem q;

    for (int round = 0; round < 4 * ROUNDS; round++) {
        for (enum kind kind = GRU_CELL; kind <= LSTM_CELL; kind += LSTM_CELL - GRU_CELL) {
            draw_problem(&q, kind);
            q.smooth = true;
            for (uint32_t i = 0; i < ROWS_MAX; i++)
                q.b[i] = 12 * (float)random_in_range(-1, 1);
            check(&q);
        }
    }
}

/**
 * The weights of the web platform's gru cases, in both directions and with resetAfter.  Its test expects -2.2133157 as element
 * 7, by sums in float32; the exact number is -2.2133148.
 */
TEST(both_directions_of_the_published_gru_are_right)
{
    static const float x[12] = {1, 2, 2, 1, 1, 1, 3, 4, 1, 2, 1, 1};
    static const float w[8] = {1, -1, 2, -2, 0.5f, -0.5f, 0, 0.1f};
    static const float b[12] = {1, 2, 1, 2, 1, 1, 1, 1, 0.5f, 0.5f, 0.5f, 0.5f};
    struct problem q = {.kind = GRU,
                        .reset_after = true,
                        .constant = true,
                        .steps = 2,
                        .directions = 2,
                        .batch = 3,
                        .inputs = 2,
                        .hidden = 4,
                        .gates = 3};
    float h[STATES_MAX], c[STATES_MAX];

    memcpy(q.x, x, sizeof x);
    for (uint32_t i = 0; i < 48; i++)
        q.w[i] = w[i % 8];
    for (uint32_t i = 0; i < 96; i++)
        q.r[i] = 0.1f;
    for (uint32_t i = 0; i < 24; i++)
        q.b[i] = q.rb[i] = b[i % 12];
    check(&q);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        compute(&q, modes[i], h, c);
        assert_true(llabs(place(h[7]) - place(-2.2133157253265381f)) <= operators[GRU].ulp);
    }
}
