/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Knows the gates of recurrent operators: for a layout of the specification it says which part of the weights' and biases' rows
 * belongs to which gate.  (Peephole weights stand in the order i, o, f whatever the layout is: that of the enum.)
 */
#pragma once

#include "ir/graph/ir.h"

enum { GRU_Z, GRU_R, GRU_N };
enum { LSTM_I, LSTM_O, LSTM_F, LSTM_G };

/** Says what a recurrent operator has, and where. */
struct gates {
    uint32_t hidden; /* the size of a state */
    const WNNRecurrentNetworkActivation *activations;
    const uint8_t *places; /* by gate, its place among the parts */
    bool reset_after;
    WNNRecurrentNetworkDirection direction;
    struct {
        uint32_t bias, recurrent_bias, peephole, hidden, cell;
    } slots; /* of inputs; 0: there is none */
};

/** Returns what gru, gruCell, lstm or lstmCell has. */
struct gates gates_of(const struct node *n);
