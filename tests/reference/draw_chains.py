# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random cases of several operators, one after the other, which the library's passes fuse."""
import numpy as np

import draw_elements  # noqa: F401  (families that chains begin with)
import draw_sums      # noqa: F401
from cases import Case
from drawing import FAMILIES, family
from values import TYPES, is_float, limits, round_to

# Without options.  All operators here are non-decreasing in the operand that they read from the chain.
PLAIN = ['relu', 'tanh', 'sigmoid', 'erf', 'softplus', 'softsign', 'floor', 'roundEven']
FIRST = {'window': ['conv2d', 'convTranspose2d', 'averagePool2d', 'l2Pool2d', 'maxPool2d'], 'product': ['matmul', 'gemm'],
         'normalize': ['softmax', 'batchNormalization', 'instanceNormalization', 'layerNormalization'],
         'reduce': ['reduceSum', 'reduceMean', 'reduceL2', 'reduceMax', 'cumulativeSum'],
         'binary': ['add', 'mul', 'max', 'where'], 'movement': ['concat', 'transpose', 'pad', 'expand', 'slice', 'tile'],
         'gather': ['gather', 'scatterElements'], 'quantize': ['dequantizeLinear', 'quantizeLinear'],
         'resample': ['resample2d'],
         'cast': ['cast'], 'activation': ['gelu', 'hardSwish'], 'recurrent': ['gruCell']}


def float_step(draw, kind, shape, i):
    """Name, further arguments and options of an operator after floats."""
    how = draw.integer(0, 8)
    if how <= 1:
        return draw.choose(*PLAIN), [], {}
    if how == 2:
        return 'clamp', [], {'minValue': draw.choose(None, -1, -0.25), 'maxValue': draw.choose(None, 0.5, 6)}
    if how == 3:
        return draw.choose('elu', 'leakyRelu'), [], {'alpha': float(draw.random.uniform(0, 1))}
    if how == 4:
        return draw.choose('linear', 'hardSigmoid'), [], {'alpha': float(draw.random.uniform(0, 2)),
                                                          'beta': float(draw.random.normal())}
    if how <= 6:
        other = draw.tensor(f'other{i}', draw.floats(kind, draw.part_of(list(shape))))
        return draw.choose('add', 'add', 'sub', 'max', 'min'), [other], {}
    if how == 7:
        axes = draw.some_axes(len(shape))
        return draw.choose('reduceSum', 'reduceMean', 'reduceMax', 'reduceMin'), [], {
            'axes': axes, 'keepDimensions': draw.choose(None, True)}
    target = draw.choose('uint8', 'int8')
    scale = draw.tensor(f'scale{i}', np.full([1] * len(shape), round_to(draw.random.uniform(0.01, 0.2), kind), TYPES[kind]))
    return 'quantizeLinear', [scale, draw.tensor(f'zero{i}', draw.integers(target, [1] * len(shape)))], {}


def moving_step(draw, kind, shape, i):
    """Likewise, of an operator that moves elements of any type."""
    how = draw.integer(0, 5)
    if how == 0:
        return 'transpose', [], {'permutation': [int(a) for a in draw.random.permutation(len(shape))]}
    if how == 1:
        return 'reverse', [], {'axes': draw.some_axes(len(shape))}
    if how == 2:
        starts = [draw.integer(0, n - 1) for n in shape]
        return 'slice', [starts, [draw.integer(1, n - s) for n, s in zip(shape, starts)]], {}
    if how == 3:
        begin, end = ([draw.integer(0, 2) for _ in shape] for _ in range(2))
        return 'pad', [begin, end], {'mode': draw.choose('constant', 'edge'), 'value': 1}
    if how == 4:
        return 'reshape', [[int(np.prod(shape, dtype=np.int64))]], {}
    if is_float(kind):
        return 'cast', [draw.choose('float32', 'float16')], {}
    return 'max', [draw.tensor(f'other{i}', draw.integers(kind, draw.part_of(list(shape))))], {}


@family('chain', *(name for names in FIRST.values() for name in names))
def chain(draw, name):
    draw.finite = True
    first = next(f for f, names in FIRST.items() if name in names)
    begin = FAMILIES[first][name](draw, name)
    steps = list(begin.operators)
    for i in range(draw.integer(1, 3)):
        result, = Case(name, draw.inputs, steps, chain=True).evaluate().items()
        source, expected = result
        make = float_step if is_float(expected.type) and draw.chance(0.7) else moving_step
        operator, further, options = make(draw, expected.type, expected.shape, i)
        arguments = [{f'argument{k}': a} for k, a in enumerate([source, *further])]
        options = {k: v for k, v in options.items() if v is not None}
        if options:
            arguments.append({'options': options})
        steps.append({'name': operator, 'arguments': arguments, 'outputs': f'step{i}'})
    return Case(f'chain of {" ".join(s["name"] for s in steps)}', draw.inputs, steps, chain=True)


def dequantized(draw, name, array):
    """The step that gives an operand of that name and shape from 8-bit integers, in place of the input."""
    kind, first = array.dtype.name, name in ('x', 'a')
    constant = draw.inputs.pop(name).constant or not first
    source = draw.choose('uint8', 'int8') if first else 'int8'
    ones = [1] * array.ndim
    zero = draw.integers(source, ones) if first or draw.chance(0.3) else np.zeros(ones, TYPES[source])
    low, high = limits(source)
    elements = draw.random.integers(low, high, array.shape, np.int64, endpoint=True).astype(TYPES[source])
    draw.tensor(f'{name}_quantized', elements, constant)
    draw.tensor(f'{name}_scale', np.full(ones, round_to(draw.random.uniform(0.005, 0.05), kind), TYPES[kind]), True)
    draw.tensor(f'{name}_zero', zero, True)
    return {'name': 'dequantizeLinear', 'outputs': name,
            'arguments': [{'argument0': f'{name}_quantized'}, {'argument1': f'{name}_scale'}, {'argument2': f'{name}_zero'}]}


@family('quantized', 'conv2d', 'convTranspose2d', 'matmul', 'gemm', 'averagePool2d', 'maxPool2d', 'add')
def quantized(draw, name):
    """An operator between dequantizeLinear and quantizeLinear, which the library may compute with integers."""
    draw.finite = True
    while True:
        draw.inputs = {}
        first = next(f for f, names in FIRST.items() if name in names)
        begin = FAMILIES[first][name](draw, name)
        operands = [a for argument in begin.operators[0]['arguments'] for a in argument.values() if isinstance(a, str)]
        if is_float(draw.inputs[operands[0]].type):
            break
    steps = [dequantized(draw, operand, draw.inputs[operand].array) for operand in operands] + begin.operators
    result = 'output'
    if draw.chance(0.4):
        steps.append({'name': 'relu', 'arguments': [{'argument0': result}], 'outputs': 'positive'})
        result = 'positive'
    if draw.chance(0.7):
        expected, = Case(name, draw.inputs, steps, chain=True).evaluate().values()
        target, ones = draw.choose('uint8', 'int8'), [1] * len(expected.shape)
        draw.tensor('scale', np.full(ones, round_to(draw.random.uniform(0.01, 0.2), expected.type), TYPES[expected.type]), True)
        draw.tensor('zero', draw.integers(target, ones), True)
        steps.append({'name': 'quantizeLinear', 'outputs': 'quantized',
                      'arguments': [{'argument0': result}, {'argument1': 'scale'}, {'argument2': 'zero'}]})
    return Case(f'quantized {" ".join(s["name"] for s in steps)}', draw.inputs, steps, chain=True)
