/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Holds the specification's layouts of recurrent weights as tables, which are nowhere else. */
#include "ir/graph/gates.h"

static const uint8_t *gru_places(WNNGruWeightLayout layout)
{
    static const uint8_t places[][3] = {
        [WNNGruWeightLayout_Zrn] = {[GRU_Z] = 0, [GRU_R] = 1, [GRU_N] = 2},
        [WNNGruWeightLayout_Rzn] = {[GRU_Z] = 1, [GRU_R] = 0, [GRU_N] = 2},
    };
    return places[layout];
}

static const uint8_t *lstm_places(WNNLstmWeightLayout layout)
{
    static const uint8_t places[][4] = {
        [WNNLstmWeightLayout_Iofg] = {[LSTM_I] = 0, [LSTM_O] = 1, [LSTM_F] = 2, [LSTM_G] = 3},
        [WNNLstmWeightLayout_Ifgo] = {[LSTM_I] = 0, [LSTM_F] = 1, [LSTM_G] = 2, [LSTM_O] = 3},
    };
    return places[layout];
}

struct gates gates_of(const struct node *n)
{
    switch ((int)n->op) {
    case OP_GRU: {
        const WNNGruOptions *o = n->options;
        return (struct gates){n->args.gru.hiddenSize, o->activations, gru_places(o->layout),
                              o->resetAfter,          o->direction,   {.bias = 3, .recurrent_bias = 4, .hidden = 5}};
    }
    case OP_GRU_CELL: {
        const WNNGruCellOptions *o = n->options;
        return (struct gates){n->args.gruCell.hiddenSize,
                              o->activations,
                              gru_places(o->layout),
                              o->resetAfter,
                              WNNRecurrentNetworkDirection_Forward,
                              {.hidden = 3, .bias = 4, .recurrent_bias = 5}};
    }
    case OP_LSTM: {
        const WNNLstmOptions *o = n->options;
        return (struct gates){n->args.lstm.hiddenSize,
                              o->activations,
                              lstm_places(o->layout),
                              false,
                              o->direction,
                              {.bias = 3, .recurrent_bias = 4, .peephole = 5, .hidden = 6, .cell = 7}};
    }
    default: {
        const WNNLstmCellOptions *o = n->options;
        return (struct gates){n->args.lstmCell.hiddenSize,
                              o->activations,
                              lstm_places(o->layout),
                              false,
                              WNNRecurrentNetworkDirection_Forward,
                              {.hidden = 3, .cell = 4, .bias = 5, .recurrent_bias = 6, .peephole = 7}};
    }
    }
}
