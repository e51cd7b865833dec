# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random cases of the operators in elementwise.py and movement.py."""
import numpy as np

from drawing import NOT_FINITE, family
from values import INTEGERS, TYPES, is_float, limits, round_to

SIGNED = ('float32', 'float16', 'int64', 'int32', 'int8')


# ---- element by element

@family('unary', 'abs', 'neg', 'sign', 'relu')
def signed_unary(draw, name):
    kind = draw.choose(*SIGNED)
    return draw.case(name, draw.tensor('x', draw.elements(kind, draw.shape())))


@family('unary', 'ceil', 'floor', 'roundEven', 'sqrt', 'reciprocal', 'exp', 'log', 'sin', 'cos', 'tan', 'erf', 'tanh', 'isNaN',
        'isInfinite')
def float_unary(draw, name):
    return draw.case(name, draw.tensor('x', draw.elements(draw.float_type(), draw.shape())))


@family('unary', 'identity')
def identity(draw, name):
    return draw.case(name, draw.tensor('x', draw.elements(draw.any_type(), draw.shape())))


@family('unary', 'logicalNot')
def logical_not(draw, name):
    return draw.case(name, draw.tensor('x', draw.integers('uint8', draw.shape())))


@family('binary', 'add', 'sub', 'mul', 'div', 'max', 'min', 'equal', 'notEqual', 'greater', 'greaterOrEqual', 'lesser',
        'lesserOrEqual')
def binary(draw, name):
    kind = draw.any_type()
    a, b = (draw.elements(kind, s) for s in draw.broadcast(2))
    return draw.case(name, draw.tensor('a', a), draw.tensor('b', b))


@family('binary', 'pow')
def power(draw, name):
    kind = draw.any_type()
    a, b = draw.broadcast(2)
    base = draw.elements(kind, a)
    if is_float(kind):
        exponent = draw.choose(lambda: draw.elements(kind, b), lambda: draw.floats(kind, b, 3),
                               lambda: np.rint(draw.floats(kind, b, 3)),
                               lambda: np.full(b, draw.choose(-1, 0, 0.5, 1, 2, 3), TYPES[kind]))()
    else:
        low = 0 if kind.startswith('u') else -3
        exponent = draw.random.integers(low, 12, b).astype(TYPES[kind])
    return draw.case(name, draw.tensor('a', base), draw.tensor('b', exponent))


@family('binary', 'logicalAnd', 'logicalOr', 'logicalXor')
def logical(draw, name):
    a, b = (draw.integers('uint8', s) for s in draw.broadcast(2))
    return draw.case(name, draw.tensor('a', a), draw.tensor('b', b))


@family('binary', 'where')
def where(draw, name):
    kind = draw.any_type()
    condition, a, b = draw.broadcast(3)
    kept = np.where(draw.random.random(condition) < 0.5, draw.integers('uint8', condition), 0).astype(np.uint8)
    return draw.case(name, draw.tensor('condition', kept), draw.tensor('a', draw.elements(kind, a)),
                     draw.tensor('b', draw.elements(kind, b)))


@family('cast', 'cast')
def cast(draw, name):
    source, target = draw.any_type(), draw.any_type()
    x = draw.elements(source, draw.shape())
    if is_float(source) and draw.chance(0.5):
        # Mostly inside of the target's range, at halves, and at its ends.
        low, high = limits(target) if target in INTEGERS else (-1000, 1000)
        inside = draw.random.uniform(max(low, -1e5), min(high, 1e5), x.shape)
        x = round_to(draw.sprinkled(inside, 0.3, [low, high, 0, 127.5, -128.5, 255.5]), source)
    return draw.case(name, draw.tensor('x', x), target)


def number(draw, kind):
    """A bound of clamp, or the value of pad: also between the type's numbers and outside of its range."""
    if is_float(kind):
        return draw.choose(0, 1.0, -1.5, 6, 0.1, 'Infinity', '-Infinity', 1e39, -1e39, float(draw.random.standard_normal()))
    low, high = limits(kind)
    return draw.choose(0, 1, 0.5, 1.5, 2.5, -3, 100, str(low), str(high), str(low - 1), str(high + 1), 'Infinity', '-Infinity')


@family('cast', 'clamp')
def clamp(draw, name):
    kind = draw.any_type()
    low, high = draw.maybe(number(draw, kind), 0.7), draw.maybe(number(draw, kind), 0.7)
    if low is not None and high is not None and float(low) > float(high):
        low, high = high, low
    return draw.case(name, draw.tensor('x', draw.elements(kind, draw.shape())), options={'minValue': low, 'maxValue': high})


@family('activation', 'prelu')
def prelu(draw, name):
    kind = draw.choose(*SIGNED)
    x, slope = draw.broadcast(2)
    return draw.case(name, draw.tensor('x', draw.elements(kind, x)), draw.tensor('slope', draw.elements(kind, slope)))


@family('activation', 'gelu', 'hardSwish', 'sigmoid', 'softplus', 'softsign')
def activation(draw, name):
    return draw.case(name, draw.tensor('x', activation_input(draw)))


def activation_input(draw):
    """Where activations bend, and beyond what exp can take."""
    kind = draw.float_type()
    shape = draw.shape()
    how = draw.integer(0, 3)
    if how == 0:
        return draw.elements(kind, shape)
    return draw.floats(kind, shape, draw.choose(0.01, 1.0, 4.0, 40.0))


def factor(draw):
    return draw.maybe(float(draw.random.uniform(-2, 3)))


@family('activation', 'elu', 'leakyRelu')
def with_alpha(draw, name):
    return draw.case(name, draw.tensor('x', activation_input(draw)), options={'alpha': factor(draw)})


@family('activation', 'hardSigmoid', 'linear')
def with_alpha_and_beta(draw, name):
    return draw.case(name, draw.tensor('x', activation_input(draw)),
                     options={'alpha': factor(draw), 'beta': draw.maybe(float(draw.random.normal()))})


# ---- quantisation

def blocks(draw, shape):
    """A shape that is blockwise broadcast to the given one."""
    return [draw.choose(*[d for d in range(1, n + 1) if n % d == 0]) for n in shape]


def scales(draw, kind, shape):
    return round_to(2.0 ** draw.random.uniform(-8, 3, shape), kind)


@family('quantize', 'quantizeLinear')
def quantize(draw, name):
    kind, target = draw.float_type(), draw.choose('uint8', 'int8', 'uint32', 'int32')
    shape = draw.shape()
    block = blocks(draw, shape)
    x = draw.choose(lambda: draw.floats(kind, shape, draw.choose(1, 100)), lambda: draw.elements(kind, shape))()
    scale = scales(draw, kind, block)
    if draw.chance(0.3):
        scale = np.full(block, draw.choose(0.25, 0.5, 1, 2), TYPES[kind])    # quotients that are halves
        x = round_to(np.rint(draw.random.standard_normal(shape) * 40) / 8, kind)
    return draw.case(name, draw.tensor('x', x), draw.tensor('scale', scale),
                     draw.tensor('zeroPoint', draw.integers(target, block)))


@family('quantize', 'dequantizeLinear')
def dequantize(draw, name):
    kind, source = draw.float_type(), draw.choose('uint8', 'int8', 'uint32', 'int32')
    shape = draw.shape()
    block = blocks(draw, shape)
    return draw.case(name, draw.tensor('x', draw.integers(source, shape)), draw.tensor('scale', scales(draw, kind, block)),
                     draw.tensor('zeroPoint', draw.integers(source, block)))


# ---- movement

@family('movement', 'concat')
def concat(draw, name):
    kind = draw.any_type()
    shape = draw.shape(1)
    axis = draw.integer(0, len(shape) - 1)
    parts = []
    for i in range(draw.integer(1, 5)):
        part = list(shape)
        part[axis] = draw.size()
        parts.append(draw.tensor(f'x{i}', draw.elements(kind, part)))
    return draw.case(name, parts, axis)


@family('movement', 'expand')
def expand(draw, name):
    shape = draw.shape()
    return draw.case(name, draw.tensor('x', draw.elements(draw.any_type(), draw.part_of(shape))), shape)


@family('movement', 'reshape')
def reshape(draw, name):
    shape = draw.shape()
    count, new = int(np.prod(shape, dtype=np.int64)), []
    while draw.chance(0.7) and len(new) < 5:
        new.append(draw.choose(*[d for d in range(1, count + 1) if count % d == 0]))
        count //= new[-1]
    if count > 1 or draw.chance(0.3):
        new.append(count)
    return draw.case(name, draw.tensor('x', draw.elements(draw.any_type(), shape)), new)


@family('movement', 'reverse')
def reverse(draw, name):
    shape = draw.shape()
    return draw.case(name, draw.tensor('x', draw.elements(draw.any_type(), shape)),
                     options={'axes': draw.maybe(draw.some_axes(len(shape)), 0.7)})


@family('movement', 'slice')
def slice_(draw, name):
    shape = draw.shape()
    starts = [draw.integer(0, n - 1) for n in shape]
    sizes = [draw.integer(1, n - s) for n, s in zip(shape, starts)]
    return draw.case(name, draw.tensor('x', draw.elements(draw.any_type(), shape)), starts, sizes,
                     options={'strides': draw.maybe([draw.integer(1, n) for n in sizes])})


@family('movement', 'split')
def split(draw, name):
    shape = draw.shape(1)
    axis = draw.integer(0, len(shape) - 1)
    if draw.chance(0.5):
        parts = count = draw.choose(*[d for d in range(1, shape[axis] + 1) if shape[axis] % d == 0])
    else:
        parts = []
        while sum(parts) < shape[axis]:
            parts.append(draw.integer(1, shape[axis] - sum(parts)))
        count = len(parts)
    return draw.case(name, draw.tensor('x', draw.elements(draw.any_type(), shape)), parts,
                     options={'axis': axis if axis or draw.chance(0.5) else None}, outputs=[f'output{i}' for i in range(count)])


@family('movement', 'tile')
def tile(draw, name):
    shape = draw.shape(0, 4, 512)
    return draw.case(name, draw.tensor('x', draw.elements(draw.any_type(), shape)), [draw.integer(1, 3) for _ in shape])


@family('movement', 'transpose')
def transpose(draw, name):
    shape = draw.shape()
    return draw.case(name, draw.tensor('x', draw.elements(draw.any_type(), shape)),
                     options={'permutation': draw.maybe([int(i) for i in draw.random.permutation(len(shape))], 0.8)})


@family('movement', 'triangular')
def triangular(draw, name):
    return draw.case(name, draw.tensor('x', draw.elements(draw.any_type(), draw.shape(2))),
                     options={'upper': draw.choose(None, True, False), 'diagonal': draw.maybe(draw.integer(-7, 7), 0.7)})


@family('movement', 'pad')
def pad(draw, name):
    kind, mode = draw.any_type(), draw.choose(None, 'constant', 'edge', 'reflection')
    shape = draw.shape(0, 5, 1024)
    most = [n - 1 if mode == 'reflection' else 4 for n in shape]
    begin, end = ([draw.integer(0, min(m, 5)) for m in most] for _ in range(2))
    return draw.case(name, draw.tensor('x', draw.elements(kind, shape)), begin, end,
                     options={'mode': mode, 'value': draw.maybe(number(draw, kind))})


# ---- gather, scatter

def indices(draw, shape, size):
    """Indices of an axis, negative ones too, some of them outside."""
    kind = draw.choose('int32', 'uint32', 'int64')
    low = 0 if kind == 'uint32' else -size
    array = draw.random.integers(low, size, shape, np.int64)
    if draw.chance(0.3):
        lowest, highest = limits(kind)
        outside = np.array([min(size, highest), highest, max(lowest, -size - 1), lowest], object)
        array = draw.sprinkled(array.astype(object), 0.3, outside)
    return array.astype(TYPES[kind])


def axis_option(draw, axis):
    return {'axis': axis if axis or draw.chance(0.5) else None}


@family('gather', 'gather')
def gather(draw, name):
    shape = draw.shape(1, 4, 1024)
    axis = draw.integer(0, len(shape) - 1)
    return draw.case(name, draw.tensor('x', draw.elements(draw.any_type(), shape)),
                     draw.tensor('indices', indices(draw, draw.shape(0, 2, 16), shape[axis])), options=axis_option(draw, axis))


@family('gather', 'gatherElements')
def gather_elements(draw, name):
    shape = draw.shape(1)
    axis = draw.integer(0, len(shape) - 1)
    taken = [draw.size() if i == axis else n for i, n in enumerate(shape)]
    return draw.case(name, draw.tensor('x', draw.elements(draw.any_type(), shape)),
                     draw.tensor('indices', indices(draw, taken, shape[axis])), options=axis_option(draw, axis))


def coordinates(draw, shape, lead):
    count = draw.integer(1, len(shape))
    return indices(draw, [*lead, count], min(shape[:count])), shape[count:]


@family('gather', 'gatherND')
def gather_nd(draw, name):
    shape = draw.shape(1, 4, 1024)
    index, _ = coordinates(draw, shape, draw.shape(0, 2, 16))
    return draw.case(name, draw.tensor('x', draw.elements(draw.any_type(), shape)), draw.tensor('indices', index))


@family('gather', 'scatterElements')
def scatter_elements(draw, name):
    kind, shape = draw.any_type(), draw.shape(1)
    axis = draw.integer(0, len(shape) - 1)
    taken = [draw.size() if i == axis else n for i, n in enumerate(shape)]
    return draw.case(name, draw.tensor('x', draw.elements(kind, shape)),
                     draw.tensor('indices', indices(draw, taken, shape[axis])),
                     draw.tensor('updates', draw.elements(kind, taken)), options=axis_option(draw, axis))


@family('gather', 'scatterND')
def scatter_nd(draw, name):
    kind, shape = draw.any_type(), draw.shape(1, 4, 1024)
    lead = draw.shape(0, 2, 16)
    index, rest = coordinates(draw, shape, lead)
    return draw.case(name, draw.tensor('x', draw.elements(kind, shape)), draw.tensor('indices', index),
                     draw.tensor('updates', draw.elements(kind, [*lead, *rest])))


# ---- resample2d

@family('resample', 'resample2d')
def resample(draw, name):
    kind = draw.choose('float32', 'float16', 'uint8', 'int8')
    shape = [draw.size(7) for _ in range(4)]
    while int(np.prod(shape)) > 4096:
        shape[int(np.argmax(shape))] //= 2
    axes = draw.maybe([int(a) for a in draw.random.permutation(4)[:2]], 0.7)
    options = {'mode': draw.choose(None, 'nearest-neighbor', 'linear'), 'axes': axes}
    if draw.chance(0.6):
        options['sizes'] = [draw.size(12), draw.size(12)]
    if draw.chance(0.5):
        options['scales'] = [draw.choose(1, 2, 3, 0.5, 1.5, 1.25) if shape[a] > 1 else draw.choose(1, 2, 3)
                             for a in axes or [2, 3]]
    x = draw.integers(kind, shape) if not is_float(kind) else draw.floats(kind, shape)
    if is_float(kind) and draw.chance(0.15):
        x = draw.sprinkled(x, 0.1, NOT_FINITE)
    return draw.case(name, draw.tensor('x', x), options=options)
