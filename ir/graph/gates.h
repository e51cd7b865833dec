/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/*
 * Declares the gates of recurrent operators: for a layout of the specification, the part of the weights' and biases' rows that
 * belongs to each gate.  (Peephole weights are always in the order of the enum: i, o, f.)
 */
#pragma once

#include "ir/graph/ir.h"

enum { GRU_Z, GRU_R, GRU_N };
enum { LSTM_I, LSTM_O, LSTM_F, LSTM_G };

/** The operands of a recurrent operator, and their slots. */
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

/** Returns those of gru, gruCell, lstm or lstmCell. */
struct gates gates_of(const struct node *n);
