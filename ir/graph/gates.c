/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Holds the specification's layouts of recurrent weights as tables; nobody else has such tables. */
#include "ir/graph/gates.h"

const uint8_t *gru_places(WNNGruWeightLayout layout)
{
    static const uint8_t places[][3] = {
        [WNNGruWeightLayout_Zrn] = {[GRU_Z] = 0, [GRU_R] = 1, [GRU_N] = 2},
        [WNNGruWeightLayout_Rzn] = {[GRU_Z] = 1, [GRU_R] = 0, [GRU_N] = 2},
    };
    return places[layout];
}

const uint8_t *lstm_places(WNNLstmWeightLayout layout)
{
    static const uint8_t places[][4] = {
        [WNNLstmWeightLayout_Iofg] = {[LSTM_I] = 0, [LSTM_O] = 1, [LSTM_F] = 2, [LSTM_G] = 3},
        [WNNLstmWeightLayout_Ifgo] = {[LSTM_I] = 0, [LSTM_F] = 1, [LSTM_G] = 2, [LSTM_O] = 3},
    };
    return places[layout];
}
