/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Drawing matmuls and recurrent operators: operands whose sizes fit each other. */
#include "drawing.h"

bool draw_matmul(struct drawing *d)
{
    uint32_t dims[RANK_MAX], skip, batch = 0;
    struct generator *r = d->r;

    if (!draw_first(d, 2))
        return false;
    struct tensor_type a = *type0(d);
    bool right = chance(r, 70); /* is the drawn operand the left one? */
    skip = chance(r, 40) ? a.rank - 2 : draw(r, a.rank - 1);
    for (uint32_t i = skip; i + 2 < a.rank; i++)
        dims[batch++] = chance(r, 60) ? a.dims[i] : a.dims[i] == 1 && chance(r, 50) ? draw_from(r, 1, 3) : 1;
    uint32_t other = draw_size(r, 40);
    dims[batch] = right ? a.dims[a.rank - 1] : other;
    dims[batch + 1] = right ? other : a.dims[a.rank - 2];
    struct value *b = draw_like(d, batch + 2, dims, CONTENT_SMALL);
    d->inputs[1] = right ? b : d->inputs[0];
    d->inputs[0] = right ? d->inputs[0] : b;
    d->count = 2;
    return b != NULL;
}

bool draw_gemm(struct drawing *d)
{
    if (!draw_first(d, 2))
        return false;
    draw_simple_options(d);
    const struct tensor_type *a = type0(d);
    uint32_t columns = draw_size(d->r, 40), shared = a->dims[d->o.gemm.aTranspose ? 0 : 1];
    uint32_t b[2] = {d->o.gemm.bTranspose ? columns : shared, d->o.gemm.bTranspose ? shared : columns};
    uint32_t c[2] = {chance(d->r, 50) ? 1 : a->dims[d->o.gemm.aTranspose ? 1 : 0], chance(d->r, 30) ? 1 : columns};
    uint32_t skip = c[0] == 1 && chance(d->r, 50) ? (c[1] == 1 && chance(d->r, 50) ? 2 : 1) : 0;

    d->inputs[1] = draw_like(d, 2, b, CONTENT_SMALL);
    if (chance(d->r, 60))
        d->inputs[2] = draw_like(d, 2 - skip, c + skip, CONTENT_SMALL);
    d->count = 3;
    return true;
}

/* ---- recurrent ---- */

bool draw_recurrent(struct drawing *d)
{
    struct generator *r = d->r;
    bool lstm = d->op == OP_LSTM || d->op == OP_LSTM_CELL, cell = d->op == OP_LSTM_CELL || d->op == OP_GRU_CELL;
    uint32_t gates = lstm ? 4 : 3, hidden = draw_from(r, 1, chance(r, 20) ? 17 : 6), directions = 1;

    d->inputs[0] = draw_operand(r, DT_FLOAT32_FLOAT16, cell ? 2 : 3, cell ? 2 : 3);
    if (!d->inputs[0])
        return false;
    draw_simple_options(d);
    const uint32_t *in = type0(d)->dims + !cell; /* batch, input */
    if (!cell && type0(d)->dims[0] > 12)
        return false;
    if (d->op == OP_LSTM)
        directions = d->o.lstm.direction == WNNRecurrentNetworkDirection_Both ? 2 : 1;
    else if (d->op == OP_GRU)
        directions = d->o.gru.direction == WNNRecurrentNetworkDirection_Both ? 2 : 1;
    d->count = op_input_slots(d->op);
    for (uint32_t i = 1; i < d->count; i++) {
        const char *name = op_infos[d->op].ins[i].name;
        uint32_t dims[3] = {directions, gates * hidden, 0}, rank = 2;
        if (op_infos[d->op].ins[i].optional && chance(r, 40))
            continue;
        if (!strcmp(name, "weight") || !strcmp(name, "recurrentWeight")) {
            dims[2] = *name == 'w' ? in[1] : hidden;
            rank = 3;
        } else if (!strcmp(name, "peepholeWeight")) {
            dims[1] = 3 * hidden;
        } else if (strstr(name, "State")) {
            dims[1] = in[0];
            dims[2] = hidden;
            rank = 3;
        }
        d->inputs[i] = draw_like(d, rank - cell, dims + cell, CONTENT_SMALL);
    }
    if (cell) {
        d->args.lstmCell.hiddenSize = hidden;
    } else {
        d->args.lstm.steps = type0(d)->dims[0];
        d->args.lstm.hiddenSize = hidden;
    }
    return true;
}
