# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""gru, lstm and their cells, by the specification's emulations."""
import copy

import numpy as np

from registry import default, operator
from values import ARITHMETIC, FUNCTION_ULPS, Bounded, Expected, bounded, matmul, sigmoid

SMALL = 2048    # multiply-adds of a step


def activation(name):
    function, ulps = {'relu': (lambda x: np.maximum(x, 0), 0), 'sigmoid': (sigmoid, FUNCTION_ULPS + 1),
                      'tanh': (np.tanh, FUNCTION_ULPS)}[name]
    return lambda x: (x.as_argument() if ulps else x).through(function, ulps)


def stored(state, kind):
    """A state between two steps: kept in float32, or rounded to float16 where that is the type."""
    if kind == 'float32':
        return state
    return Bounded(state.v, state.e + 2.0 ** -11 * (np.abs(state.v) + state.e) + 2.0 ** -25)


class Gates:
    """Rows of the weights and biases by the letter of their gate."""

    def __init__(self, order, size, weight, recurrent, bias, recurrent_bias):
        self.order, self.size = order, size
        self.weight, self.recurrent = weight, recurrent
        self.bias, self.recurrent_bias = bias, recurrent_bias

    def rows(self, letter):
        at = self.order.index(letter) * self.size
        return slice(at, at + self.size)

    def from_input(self, letter, x):
        return matmul(x, self.weight[self.rows(letter)].T)

    def from_state(self, letter, state):
        return matmul(state, self.recurrent[self.rows(letter)].T)

    def biases(self, letter):
        return Bounded(self.bias[self.rows(letter)]), Bounded(self.recurrent_bias[self.rows(letter)])


def gru_step(gates, x, hidden, reset_after, activations):
    first, second = (activation(a) for a in activations)

    def gate(letter):
        b, rb = gates.biases(letter)
        return first((b + rb) + (gates.from_input(letter, x) + gates.from_state(letter, hidden)))

    z, r = gate('z'), gate('r')
    b, rb = gates.biases('n')
    if reset_after:
        n = second(b + (gates.from_input('n', x) + r * (rb + gates.from_state('n', hidden))))
    else:
        n = second((b + rb) + (gates.from_input('n', x) + gates.from_state('n', r * hidden)))
    return z * hidden + n * (Bounded(1.0) - z)


def lstm_step(gates, peephole, x, hidden, cell, activations):
    gate_activation, cell_activation, output_activation = (activation(a) for a in activations)

    def sums(letter):
        b, rb = gates.biases(letter)
        return (b + rb) + (gates.from_input(letter, x) + gates.from_state(letter, hidden))

    def gate(letter):
        # Weights of the peepholes stand in the order i, o, f whatever the layout.
        at = 'iof'.index(letter) * gates.size
        return gate_activation(cell * Bounded(peephole[at:at + gates.size]) + sums(letter))

    i, f, o = gate('i'), gate('f'), gate('o')
    g = cell_activation(sums('g'))
    cell = f * cell + i * g
    return o * output_activation(cell), cell


def option_array(options, name, shape):
    given = options.get(name)
    return np.zeros(shape) if given is None else given.array.astype(np.float64)


def recurrent_operands(arguments, options, count, directions):
    """Weights and biases per direction, as Gates."""
    weight, recurrent = (t.array.astype(np.float64) for t in arguments[1:3])
    size = recurrent.shape[-1]
    lead = [directions] if directions else []
    bias = option_array(options, 'bias', lead + [count * size])
    recurrent_bias = option_array(options, 'recurrentBias', lead + [count * size])
    if not directions:
        weight, recurrent, bias, recurrent_bias = weight[None], recurrent[None], bias[None], recurrent_bias[None]
    order = default(options, 'layout', 'zrn' if count == 3 else 'iofg')
    return [Gates(order, size, weight[d], recurrent[d], bias[d], recurrent_bias[d]) for d in range(max(directions, 1))]


def gru_activations(options):
    return default(options, 'activations', ['sigmoid', 'tanh'])


def lstm_activations(options):
    return default(options, 'activations', ['sigmoid', 'tanh', 'tanh'])


def small_in_doubles(compute):
    """Sums, gates and states of small networks are float64, sigmoid and tanh those of float32 (docs/semantics.md)."""
    def wrapped(name, arguments, options):
        gates, size = (3 if name.startswith('gru') else 4), arguments[2].shape[-1]
        batch, inputs = arguments[0].shape[-2:]
        before = copy.copy(ARITHMETIC.__dict__)
        if gates * size * (inputs + size) * batch <= SMALL:
            ARITHMETIC.sums_in_doubles()
        try:
            return compute(name, arguments, options)
        finally:
            ARITHMETIC.__dict__.update(before)
    return wrapped


@operator('gruCell')
@small_in_doubles
def gru_cell(name, arguments, options):
    gates = recurrent_operands(arguments, options, 3, 0)[0]
    return gru_step(gates, bounded(arguments[0]), bounded(arguments[3]), default(options, 'resetAfter', True),
                    gru_activations(options)).expected(arguments[0].type)


@operator('lstmCell')
@small_in_doubles
def lstm_cell(name, arguments, options):
    gates = recurrent_operands(arguments, options, 4, 0)[0]
    peephole = option_array(options, 'peepholeWeight', [3 * gates.size])
    hidden, cell = lstm_step(gates, peephole, bounded(arguments[0]), bounded(arguments[3]), bounded(arguments[4]),
                             lstm_activations(options))
    return [hidden.expected(arguments[0].type), cell.expected(arguments[0].type)]


def together(parts, axis):
    return Expected(np.stack([p.low for p in parts], axis), np.stack([p.high for p in parts], axis),
                    free=np.stack([p.free for p in parts], axis))


@operator('gru', 'lstm')
@small_in_doubles
def recurrent_network(name, arguments, options):
    x, steps, kind = arguments[0].array.astype(np.float64), arguments[3], arguments[0].type
    direction = default(options, 'direction', 'forward')
    directions = 2 if direction == 'both' else 1
    all_gates = recurrent_operands(arguments, options, 3 if name == 'gru' else 4, directions)
    shape = [directions, x.shape[1], all_gates[0].size]
    first_hidden, first_cell = (option_array(options, k, shape) for k in ('initialHiddenState', 'initialCellState'))
    peephole = option_array(options, 'peepholeWeight', [directions, 3 * shape[2]])
    last_hidden, last_cell, sequence = [], [], []
    for d in range(directions):
        hidden, cell = Bounded(first_hidden[d]), Bounded(first_cell[d])
        backward = d == 1 or direction == 'backward'
        results = [None] * steps
        for step in range(steps):
            at = steps - step - 1 if backward else step
            if name == 'gru':
                exact = gru_step(all_gates[d], Bounded(x[at]), hidden, default(options, 'resetAfter', True),
                                 gru_activations(options))
            else:
                exact, new_cell = lstm_step(all_gates[d], peephole[d], Bounded(x[at]), hidden, cell, lstm_activations(options))
                cell = stored(new_cell, kind)
            hidden = stored(exact, kind)
            results[at] = hidden.expected(kind)
        last_hidden.append(hidden.expected(kind))
        last_cell.append(cell.expected(kind))
        sequence.append(together(results, 0))
    outputs = [together(last_hidden, 0)] + ([together(last_cell, 0)] if name == 'lstm' else [])
    if default(options, 'returnSequence', False):
        outputs.append(together(sequence, 1))
    return outputs
