/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Knows the gates of recurrent operators: for a layout of the specification it says which part of the weights' and biases' rows
 * belongs to which gate.  (Peephole weights stand in the order i, o, f whatever the layout is: that of the enum.)
 */
#ifndef WEBNN_IR_GRAPH_GATES_H_
#define WEBNN_IR_GRAPH_GATES_H_

#include "ir/graph/ir.h"

enum { GRU_Z, GRU_R, GRU_N };
enum { LSTM_I, LSTM_O, LSTM_F, LSTM_G };

/** These return, by gate, its place among the parts. */
const uint8_t *gru_places(WNNGruWeightLayout layout);
const uint8_t *lstm_places(WNNLstmWeightLayout layout);

#endif
