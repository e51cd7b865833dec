# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random cases of the operators in sums.py, windows.py and recurrent.py."""
import numpy as np

from drawing import NOT_FINITE, family
from values import TYPES, is_float, round_to


# ---- reductions

@family('reduce', 'argMin', 'argMax')
def arg(draw, name):
    shape = draw.shape(1)
    return draw.case(name, draw.tensor('x', draw.elements(draw.any_type(), shape)), draw.integer(0, len(shape) - 1),
                     options={'keepDimensions': draw.choose(None, True, False),
                              'outputDataType': draw.choose(None, 'int32', 'int64')})


def reduce_options(draw, shape):
    return {'axes': draw.maybe(draw.some_axes(len(shape)), 0.8), 'keepDimensions': draw.choose(None, True, False)}


@family('reduce', 'reduceMax', 'reduceMin')
def extreme(draw, name):
    shape = draw.shape()
    return draw.case(name, draw.tensor('x', draw.elements(draw.any_type(), shape)), options=reduce_options(draw, shape))


def moderate(draw, kind, shape):
    """Floats whose sums, squares and exponentials stay inside of the range; sometimes one that is not finite."""
    x = draw.floats(kind, shape, draw.choose(0.1, 1.0, 4.0))
    if not draw.finite and draw.chance(0.1):
        x = draw.sprinkled(x, 0.05, NOT_FINITE)
    return x


@family('reduce', 'reduceSum', 'reduceL1', 'reduceSumSquare', 'reduceProduct')
def reduce_any(draw, name):
    kind, shape = draw.any_type('int8', 'uint8'), draw.shape()
    if not is_float(kind):
        x = draw.integers(kind, shape)
    elif name == 'reduceProduct':
        x = round_to(np.where(draw.random.random(shape) < 0.5, -1, 1) * 2.0 ** draw.random.uniform(-0.02, 0.02, shape), kind)
    else:
        x = moderate(draw, kind, shape)
    return draw.case(name, draw.tensor('x', x), options=reduce_options(draw, shape))


@family('reduce', 'reduceMean', 'reduceL2', 'reduceLogSumExp')
def reduce_floats(draw, name):
    shape = draw.shape()
    x = moderate(draw, draw.float_type(), shape)
    if name == 'reduceLogSumExp' and draw.chance(0.3):
        x = (x * TYPES[x.dtype.name](200)).astype(x.dtype)
    return draw.case(name, draw.tensor('x', x), options=reduce_options(draw, shape))


@family('reduce', 'reduceLogSum')
def reduce_log_sum(draw, name):
    shape = draw.shape()
    x = moderate(draw, draw.float_type(), shape)
    return draw.case(name, draw.tensor('x', np.abs(x) if draw.chance(0.8) else x), options=reduce_options(draw, shape))


@family('reduce', 'cumulativeSum')
def cumulative_sum(draw, name):
    kind, shape = draw.any_type('int8', 'uint8'), draw.shape(1)
    x = moderate(draw, kind, shape) if is_float(kind) else draw.integers(kind, shape)
    return draw.case(name, draw.tensor('x', x), draw.integer(0, len(shape) - 1),
                     options={'exclusive': draw.choose(None, True, False), 'reversed': draw.choose(None, True, False)})


@family('normalize', 'softmax')
def softmax(draw, name):
    shape = draw.shape(1)
    x = moderate(draw, draw.float_type(), shape)
    return draw.case(name, draw.tensor('x', (x * x.dtype.type(draw.choose(1, 1, 30, 300))).astype(x.dtype)),
                     draw.integer(0, len(shape) - 1))


# ---- normalisation

def affine(draw, kind, shape):
    """scale and bias, each of them given or not."""
    return {n: draw.tensor(n, draw.floats(kind, shape)) if draw.chance(0.6) else None for n in ('scale', 'bias')}


def epsilon(draw):
    return draw.maybe(draw.choose(1e-5, 1e-3, 0.5, 1e-6))


@family('normalize', 'batchNormalization')
def batch_normalization(draw, name):
    kind, shape = draw.float_type(), draw.shape(1)
    axis = draw.integer(0, len(shape) - 1)
    size = [shape[axis]]
    x = draw.tensor('x', moderate(draw, kind, shape))
    mean = draw.tensor('mean', draw.floats(kind, size))
    variance = draw.tensor('variance', round_to(draw.random.uniform(0.01, 4, size), kind))
    return draw.case(name, x, mean, variance, options={'axis': None if axis == 1 and draw.chance(0.5) else axis,
                                                       'epsilon': epsilon(draw), **affine(draw, kind, size)})


@family('normalize', 'instanceNormalization')
def instance_normalization(draw, name):
    kind, shape, layout = draw.float_type(), draw.shape(4, 4), draw.choose(None, 'nchw', 'nhwc')
    channels = [shape[3] if layout == 'nhwc' else shape[1]]
    x = draw.tensor('x', moderate(draw, kind, shape))
    return draw.case(name, x, options={'layout': layout, 'epsilon': epsilon(draw), **affine(draw, kind, channels)})


@family('normalize', 'layerNormalization')
def layer_normalization(draw, name):
    kind, shape = draw.float_type(), draw.shape()
    axes = draw.maybe(draw.some_axes(len(shape)), 0.7)
    sizes = shape[1:] if axes is None else [shape[a] for a in axes]
    x = draw.tensor('x', moderate(draw, kind, shape))
    return draw.case(name, x, options={'axes': axes, 'epsilon': epsilon(draw), **affine(draw, kind, sizes)})


# ---- products of matrices

@family('product', 'matmul')
def matmul(draw, name):
    kind = draw.float_type()
    m, k, n = draw.size(9), draw.size(9), draw.size(9)
    if draw.chance(0.15):
        k = draw.integer(100, 600)
    if draw.chance(0.1):
        m, n = draw.integer(30, 140), draw.integer(30, 140)
    a, b = draw.broadcast(2, 2)
    return draw.case(name, draw.tensor('a', moderate(draw, kind, [*a, m, k])),
                     draw.tensor('b', moderate(draw, kind, [*b, k, n])))


@family('product', 'gemm')
def gemm(draw, name):
    kind = draw.float_type()
    m, k, n = draw.size(9), draw.size(9), draw.size(9)
    transposed = [draw.choose(None, True, False) for _ in range(2)]
    a = draw.tensor('a', moderate(draw, kind, [k, m] if transposed[0] else [m, k]))
    b = draw.tensor('b', moderate(draw, kind, [n, k] if transposed[1] else [k, n]))
    options = {'aTranspose': transposed[0], 'bTranspose': transposed[1], 'alpha': draw.maybe(draw.choose(1, 0.5, -2, 0.1, 0)),
               'beta': draw.maybe(draw.choose(1, 0.5, -2, 0.1, 0))}
    if draw.chance(0.7):
        options['c'] = draw.tensor('c', draw.floats(kind, draw.part_of([m, n])))
    return draw.case(name, a, b, options=options)


# ---- convolutions, pooling

def window_options(draw, largest=3):
    return {'padding': draw.maybe([draw.integer(0, largest) for _ in range(4)], 0.6),
            'strides': draw.maybe([draw.integer(1, largest) for _ in range(2)], 0.5),
            'dilations': draw.maybe([draw.integer(1, largest) for _ in range(2)], 0.3)}


def image(draw, kind, channels, layout, smallest):
    """An image that the window fits in: smallest are the least sizes without padding."""
    sizes = [max(draw.size(9), s) for s in smallest]
    batches = draw.integer(1, 3)
    x = moderate(draw, kind, [batches, *sizes, channels] if layout == 'nhwc' else [batches, channels, *sizes])
    return x, sizes


def least(window, options):
    padding, dilations = options['padding'] or [0, 0, 0, 0], options['dilations'] or [1, 1]
    return [max(1, (window[i] - 1) * dilations[i] + 1 - padding[2 * i] - padding[2 * i + 1]) for i in range(2)]


def filters(draw, kind, layout, outputs, inputs, window):
    sizes = {'o': outputs, 'i': inputs, 'h': window[0], 'w': window[1]}
    return draw.floats(kind, [sizes[letter] for letter in layout])


def channels_of(draw):
    """Channels and groups: ordinary, grouped, depthwise."""
    groups = 1 if draw.chance(0.5) else draw.integer(1, 5)
    inputs = 1 if draw.chance(0.3) else draw.integer(1, 5)
    outputs = 1 if draw.chance(0.3) else draw.integer(1, 5)
    if draw.chance(0.15):
        inputs, outputs = draw.choose(16, 17, 32, 64), draw.choose(16, 24, 33, 64)
    return groups, inputs, outputs


@family('window', 'conv2d')
def conv2d(draw, name):
    kind = draw.float_type()
    groups, inputs, outputs = channels_of(draw)
    window = draw.choose([1, 1], [3, 3], [3, 3], [draw.integer(1, 5), draw.integer(1, 5)])
    options = window_options(draw)
    layout, filter_layout = draw.choose(None, 'nchw', 'nhwc'), draw.choose(None, 'oihw', 'hwio', 'ohwi', 'ihwo')
    x, _ = image(draw, kind, inputs * groups, layout, least(window, options))
    w = filters(draw, kind, filter_layout or 'oihw', outputs * groups, inputs, window)
    options.update(inputLayout=layout, filterLayout=filter_layout, groups=draw.maybe(groups, 0.5) if groups == 1 else groups)
    x, w = draw.tensor('x', x), draw.tensor('w', w)
    if draw.chance(0.5):
        options['bias'] = draw.tensor('bias', draw.floats(kind, [outputs * groups]))
    return draw.case(name, x, w, options=options)


@family('window', 'convTranspose2d')
def conv_transpose2d(draw, name):
    kind = draw.float_type()
    groups, inputs, outputs = channels_of(draw)
    window = [draw.integer(1, 4), draw.integer(1, 4)]
    options = window_options(draw)
    strides, dilations = options['strides'] or [1, 1], options['dilations'] or [1, 1]
    layout, filter_layout = draw.choose(None, 'nchw', 'nhwc'), draw.choose(None, 'iohw', 'hwoi', 'ohwi')
    x, sizes = image(draw, kind, inputs * groups, layout, [1, 1])
    full = [(sizes[i] - 1) * strides[i] + (window[i] - 1) * dilations[i] + 1 for i in range(2)]
    if options['padding'] is not None:
        for i in range(2):
            begin = draw.integer(0, min(3, full[i] - 1))
            options['padding'][2 * i:2 * i + 2] = [begin, draw.integer(0, min(3, full[i] - 1 - begin))]
    padding = options['padding'] or [0, 0, 0, 0]
    more = [draw.integer(0, s - 1) for s in strides]
    if draw.chance(0.3):
        options['outputSizes'] = [full[i] - padding[2 * i] - padding[2 * i + 1] + more[i] for i in range(2)]
        options['outputPadding'] = draw.maybe([draw.integer(0, s - 1) for s in strides], 0.3)
    elif draw.chance(0.5):
        options['outputPadding'] = more
    options.update(inputLayout=layout, filterLayout=filter_layout, groups=draw.maybe(groups, 0.5) if groups == 1 else groups)
    w = filters(draw, kind, filter_layout or 'iohw', outputs, inputs * groups, window)
    x, w = draw.tensor('x', x), draw.tensor('w', w)
    if draw.chance(0.5):
        options['bias'] = draw.tensor('bias', draw.floats(kind, [outputs * groups]))
    return draw.case(name, x, w, options=options)


@family('window', 'averagePool2d', 'l2Pool2d', 'maxPool2d')
def pool(draw, name):
    kind = draw.any_type() if name == 'maxPool2d' else draw.float_type()
    window, options, layout = [draw.integer(1, 5), draw.integer(1, 5)], window_options(draw), draw.choose(None, 'nchw', 'nhwc')
    channels = draw.choose(1, 3, 8, 16, 17)
    if draw.chance(0.15):
        options['dilations'] = None
        x, sizes = image(draw, kind if is_float(kind) else 'float32', channels, layout, [1, 1])
        window = None
    else:
        x, sizes = image(draw, kind if is_float(kind) else 'float32', channels, layout, least(window, options))
    if not is_float(kind):
        x = draw.integers(kind, x.shape)
    options.update(layout=layout, windowDimensions=window, outputShapeRounding=draw.choose(None, 'floor', 'ceil'))
    if draw.chance(0.2):
        # The sizes that result from rounding down or up.
        window, padding = window or sizes, options['padding'] or [0, 0, 0, 0]
        strides, dilations = options['strides'] or [1, 1], options['dilations'] or [1, 1]
        spans = [sizes[i] - (window[i] - 1) * dilations[i] - 1 + padding[2 * i] + padding[2 * i + 1] for i in range(2)]
        up = draw.chance(0.5)
        options['outputSizes'] = [(-(-spans[i] // strides[i]) if up else spans[i] // strides[i]) + 1 for i in range(2)]
    return draw.case(name, draw.tensor('x', x), options=options)


def far(draw):
    """A number much larger than the image, in all magnitudes."""
    return int(10 ** draw.random.uniform(0.5, 4))


def extreme_axis(draw, size):
    """Window, paddings, stride and dilation of one axis, with at most 200 places of output and one at least."""
    while True:
        window = draw.integer(1, 4)
        begin, end = (far(draw) if draw.chance(0.5) else draw.integer(0, 2) for _ in range(2))
        stride = far(draw) if draw.chance(0.6) else draw.integer(1, 3)
        dilation = far(draw) if draw.chance(0.5) else 1
        span = size + begin + end - (window - 1) * dilation - 1
        if 0 <= span < 200 * stride:
            return window, begin, end, stride, dilation


@family('extreme', 'conv2d', 'averagePool2d', 'l2Pool2d', 'maxPool2d')
def extreme_window(draw, name):
    kind, layout = draw.float_type(), draw.choose(None, 'nchw', 'nhwc')
    sizes, channels = [draw.integer(1, 9), draw.integer(1, 9)], draw.integer(1, 4)
    axes = [extreme_axis(draw, sizes[0]), (1, 0, 0, 1, 1) if draw.chance(0.3) else extreme_axis(draw, sizes[1])]
    x = draw.tensor('x', draw.floats(kind, [1, *sizes, channels] if layout == 'nhwc' else [1, channels, *sizes]))
    options = {'padding': [n for a in axes for n in a[1:3]], 'strides': [a[3] for a in axes], 'dilations': [a[4] for a in axes]}
    window = [a[0] for a in axes]
    if name != 'conv2d':
        if draw.chance(0.3):
            # A window much larger than the image, without dilation.
            larger = far(draw)
            options['dilations'][0], options['strides'][0], window[0] = 1, max(1, larger // 7), larger
            options['padding'][:2] = [larger // 2, larger - larger // 2]
        options.update(layout=layout, windowDimensions=window)
        return draw.case(name, x, options=options)
    groups = channels if draw.chance(0.3) else 1
    options.update(inputLayout=layout, groups=groups)
    w = draw.tensor('w', draw.floats(kind, [groups * draw.integer(1, 3), channels // groups, *window]))
    return draw.case(name, x, w, options=options)


@family('extreme', 'convTranspose2d')
def extreme_transposed(draw, name):
    kind, channels, outputs = draw.float_type(), draw.integer(1, 3), draw.integer(1, 3)
    layout, groups = draw.choose(None, 'nchw', 'nhwc'), channels if draw.chance(0.3) else 1
    sizes, window = [draw.integer(1, 6), draw.integer(1, 6)], [draw.integer(1, 4), draw.integer(1, 4)]
    strides, dilations, padding = [], [], []
    for i in range(2):
        large = draw.chance(0.5)
        strides.append(far(draw) if large else draw.integer(1, 3))
        dilations.append(far(draw) if draw.chance(0.5) else 1)
        full = (sizes[i] - 1) * strides[i] + (window[i] - 1) * dilations[i] + 1
        # What is left of the result has at most 300 places.
        kept = draw.integer(1, min(full, 300))
        begin = draw.integer(0, full - kept)
        padding += [begin, full - kept - begin]
    x = draw.tensor('x', draw.floats(kind, [1, *sizes, channels] if layout == 'nhwc' else [1, channels, *sizes]))
    w = draw.tensor('w', draw.floats(kind, [channels, outputs, *window]))
    options = {'padding': padding, 'strides': strides, 'dilations': dilations, 'inputLayout': layout, 'groups': groups}
    return draw.case(name, x, w, options=options)


# ---- recurrent networks

def recurrent_options(draw, kind, gates, size, lead, weight_layouts, activations):
    options = {'layout': draw.choose(None, *weight_layouts)}
    for bias in ('bias', 'recurrentBias'):
        if draw.chance(0.6):
            options[bias] = draw.tensor(bias, draw.floats(kind, [*lead, gates * size]))
    if draw.chance(0.5):
        options['activations'] = [draw.choose('relu', 'sigmoid', 'tanh') for _ in range(activations)]
    if gates == 3:
        options['resetAfter'] = draw.choose(None, True, False)
    elif draw.chance(0.5):
        options['peepholeWeight'] = draw.tensor('peepholeWeight', draw.floats(kind, [*lead, 3 * size]))
    return options


@family('recurrent', 'gru', 'lstm')
def recurrent(draw, name):
    kind, gates = draw.float_type(), 3 if name == 'gru' else 4
    steps, batch, inputs, size = draw.integer(1, 4), draw.integer(1, 4), draw.size(5), draw.size(5)
    direction = draw.choose(None, 'forward', 'backward', 'both')
    directions = 2 if direction == 'both' else 1
    scale = draw.choose(0.3, 1.0) / np.sqrt(size)
    x = draw.tensor('x', draw.floats(kind, [steps, batch, inputs]))
    weight = draw.tensor('weight', draw.floats(kind, [directions, gates * size, inputs], scale))
    recurrent_weight = draw.tensor('recurrentWeight', draw.floats(kind, [directions, gates * size, size], scale))
    options = recurrent_options(draw, kind, gates, size, [directions], *(
        (['zrn', 'rzn'], 2) if name == 'gru' else (['iofg', 'ifgo'], 3)))
    sequence = draw.choose(None, True, False)
    options.update(direction=direction, returnSequence=sequence)
    for state in ('initialHiddenState', 'initialCellState')[:1 if name == 'gru' else 2]:
        if draw.chance(0.5):
            options[state] = draw.tensor(state, draw.floats(kind, [directions, batch, size]))
    count = (1 if name == 'gru' else 2) + bool(sequence)
    return draw.case(name, x, weight, recurrent_weight, steps, size, options=options,
                     outputs=[f'output{i}' for i in range(count)])


@family('recurrent', 'gruCell', 'lstmCell')
def cell(draw, name):
    kind, gates = draw.float_type(), 3 if name == 'gruCell' else 4
    batch, inputs, size = draw.integer(1, 4), draw.size(5), draw.size(5)
    x = draw.tensor('x', draw.floats(kind, [batch, inputs]))
    weight = draw.tensor('weight', draw.floats(kind, [gates * size, inputs]))
    recurrent_weight = draw.tensor('recurrentWeight', draw.floats(kind, [gates * size, size]))
    states = [draw.tensor(n, draw.floats(kind, [batch, size])) for n in ('hiddenState', 'cellState')[:gates - 2]]
    options = recurrent_options(draw, kind, gates, size, [], *(
        (['zrn', 'rzn'], 2) if gates == 3 else (['iofg', 'ifgo'], 3)))
    return draw.case(name, x, weight, recurrent_weight, *states, size, options=options,
                     outputs='output' if gates == 3 else ['output0', 'output1'])
