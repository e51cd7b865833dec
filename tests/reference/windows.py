# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions and pooling.  Places in the padding are skipped, however large it is."""
import numpy as np

from registry import default, operator
from values import ARITHMETIC, Bounded, Expected, contiguous, growth, is_float, limits

FILTERS = {'oihw': (0, 1, 2, 3), 'hwio': (3, 2, 0, 1), 'ohwi': (0, 3, 1, 2), 'ihwo': (3, 0, 1, 2)}
TRANSPOSED_FILTERS = {'iohw': (0, 1, 2, 3), 'hwoi': (3, 2, 0, 1), 'ohwi': (3, 0, 1, 2)}


def windows(options):
    """Padding, strides and dilations."""
    return tuple(default(options, name, value) for name, value in (('padding', [0, 0, 0, 0]), ('strides', [1, 1]),
                                                                   ('dilations', [1, 1])))


def size_of(size, window, begin, end, stride, dilation):
    """Numerator of the specification's output size minus one, and the stride it is divided by."""
    return size - ((window - 1) * dilation + 1) + begin + end, stride


def hits(k, count, size, begin, stride, dilation):
    """Places of the output whose k-th place of the window lies inside of the input, and where."""
    source = np.arange(count, dtype=np.int64) * stride + k * dilation - begin
    inside = np.nonzero((source >= 0) & (source < size))[0]
    return inside, source[inside]


def channels_first(array, layout):
    return array if layout == 'nchw' else np.transpose(array, (0, 3, 1, 2))


def as_layout(array, layout):
    return array if layout == 'nchw' else contiguous(np.transpose(array, (0, 2, 3, 1)))


def by_channels(x, w, groups):
    """Sums over input channels: x is N, C, H, W and w is O, C/groups."""
    n, c, height, width = x.shape
    x = x.reshape(n, groups, c // groups, height * width)
    w = w.reshape(groups, w.shape[0] // groups, c // groups)
    return np.einsum('ngcp,goc->ngop', x, w).reshape(n, -1, height, width)


def with_bias(total, absolute, count, options):
    bias = options.get('bias')
    if bias is not None:
        b = bias.array.astype(np.float64).reshape(1, -1, 1, 1)
        total, absolute, count = total + b, absolute + np.abs(b), count + 1
    return Bounded(total, growth(count + 1) * absolute + count * ARITHMETIC.smallest)


TO_DATA = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]], np.float64)
TO_FILTER = np.array([[1, 0, 0], [.5, .5, .5], [.5, -.5, .5], [0, 0, 1]], np.float64)
FROM_PRODUCTS = np.array([[1, 1, 1, 0], [0, 1, -1, -1]], np.float64)


def winograd_error(x, w, padding, out):
    """The bound of F(2x2, 3x3): the transforms' coefficients, all absolute, on absolute data and filters."""
    n, c, height, width = x.shape
    tiles = [(size + 1) // 2 for size in out]
    room = np.zeros((n, c, 2 * tiles[0] + 2, 2 * tiles[1] + 2))
    rows = slice(padding[0], min(padding[0] + height, room.shape[2]))
    columns = slice(padding[2], min(padding[2] + width, room.shape[3]))
    if rows.stop > rows.start and columns.stop > columns.start:
        finite = np.where(np.isfinite(x), np.abs(x), 0)
        room[:, :, rows, columns] = finite[:, :, :rows.stop - rows.start, :columns.stop - columns.start]
    filters = np.einsum('ab,ocbd,ed->ocae', abs(TO_FILTER), np.abs(w), abs(TO_FILTER))
    bound = np.zeros((n, w.shape[0], 2 * tiles[0], 2 * tiles[1]))
    for i in range(tiles[0]):
        for j in range(tiles[1]):
            tile = room[:, :, 2 * i:2 * i + 4, 2 * j:2 * j + 4]
            data = np.einsum('ab,ncbd,ed->ncae', abs(TO_DATA), tile, abs(TO_DATA))
            products = np.einsum('ncae,ocae->noae', data, filters)
            bound[:, :, 2 * i:2 * i + 2, 2 * j:2 * j + 2] = np.einsum('ab,nobd,ed->noae', abs(FROM_PRODUCTS), products,
                                                                     abs(FROM_PRODUCTS))
    # Roundings on the way of each term: two by two in the transforms of data (4), filters (6) and products (4), the product,
    # the sum over channels.
    return growth(c + 16) * bound[:, :, :out[0], :out[1]]


@operator('conv2d')
def conv2d(name, arguments, options):
    kind, layout = arguments[0].type, default(options, 'inputLayout', 'nchw')
    x = channels_first(arguments[0].array, layout).astype(np.float64)
    w = np.transpose(arguments[1].array, FILTERS[default(options, 'filterLayout', 'oihw')]).astype(np.float64)
    groups = default(options, 'groups', 1)
    padding, strides, dilations = windows(options)
    out = []
    for i in range(2):
        numerator, stride = size_of(x.shape[2 + i], w.shape[2 + i], *padding[2 * i:2 * i + 2], strides[i], dilations[i])
        out.append(numerator // stride + 1)
    total = np.zeros((x.shape[0], w.shape[0], *out))
    absolute = np.zeros_like(total)
    for ky in range(w.shape[2]):
        rows, source_rows = hits(ky, out[0], x.shape[2], padding[0], strides[0], dilations[0])
        if not rows.size:
            continue
        for kx in range(w.shape[3]):
            columns, source_columns = hits(kx, out[1], x.shape[3], padding[2], strides[1], dilations[1])
            if not columns.size:
                continue
            part = x[:, :, source_rows][:, :, :, source_columns]
            place = np.ix_(range(total.shape[0]), range(total.shape[1]), rows, columns)
            total[place] += by_channels(part, w[:, :, ky, kx], groups)
            absolute[place] += by_channels(np.abs(part), np.abs(w[:, :, ky, kx]), groups)
    result = with_bias(total, absolute, w.shape[1] * w.shape[2] * w.shape[3], options)
    if w.shape[2:] == (3, 3) and groups == 1 and strides == [1, 1] and dilations == [1, 1] and arguments[1].constant:
        bias = 0 if options.get('bias') is None else np.abs(options['bias'].array.astype(np.float64)).reshape(1, -1, 1, 1)
        more = 2 * ARITHMETIC.roundoff * (np.abs(total) + bias)
        result = Bounded(result.v, np.maximum(result.e, winograd_error(x, w, padding, out) + more))
    expected = result.expected(kind)
    return relaid(expected, layout)


def relaid(expected, layout):
    return Expected(as_layout(expected.low, layout), as_layout(expected.high, layout),
                    free=None if expected.free is None else as_layout(expected.free, layout))


@operator('convTranspose2d')
def conv_transpose2d(name, arguments, options):
    kind, layout = arguments[0].type, default(options, 'inputLayout', 'nchw')
    x = channels_first(arguments[0].array, layout).astype(np.float64)
    w = np.transpose(arguments[1].array, TRANSPOSED_FILTERS[default(options, 'filterLayout', 'iohw')]).astype(np.float64)
    groups = default(options, 'groups', 1)
    padding, strides, dilations = windows(options)
    out = options.get('outputSizes')
    if out is None:
        more = default(options, 'outputPadding', [0, 0])
        out = [(x.shape[2 + i] - 1) * strides[i] + (w.shape[2 + i] - 1) * dilations[i] + 1 - padding[2 * i] - padding[2 * i + 1]
               + more[i] for i in range(2)]
    inputs, outputs = x.shape[1] // groups, w.shape[1]
    total = np.zeros((x.shape[0], outputs * groups, *out))
    absolute = np.zeros_like(total)

    def targets(k, size, i):
        target = np.arange(size, dtype=np.int64) * strides[i] + k * dilations[i] - padding[2 * i]
        inside = np.nonzero((target >= 0) & (target < out[i]))[0]
        return inside, target[inside]

    # The filter is input channels, output channels of a group: by_channels wants output channels, input channels of a group.
    transposed = w.reshape(groups, inputs, outputs, *w.shape[2:]).transpose(0, 2, 1, 3, 4)
    transposed = transposed.reshape(groups * outputs, inputs, *w.shape[2:])
    for ky in range(w.shape[2]):
        rows, target_rows = targets(ky, x.shape[2], 0)
        for kx in range(w.shape[3]):
            columns, target_columns = targets(kx, x.shape[3], 1)
            if not rows.size or not columns.size:
                continue
            part = x[:, :, rows][:, :, :, columns]
            place = np.ix_(range(total.shape[0]), range(total.shape[1]), target_rows, target_columns)
            total[place] += by_channels(part, transposed[:, :, ky, kx], groups)
            absolute[place] += by_channels(np.abs(part), np.abs(transposed[:, :, ky, kx]), groups)
    result = with_bias(total, absolute, inputs * w.shape[2] * w.shape[3], options)
    return relaid(result.expected(kind), layout)


# ---- pooling

def chosen(count, size, window, begin, stride, dilation):
    """For every place of the output the places of the input in its window."""
    sets = []
    for o in range(count):
        first = o * stride - begin
        # The first place of the window that is not before the input, and the first that is after it.
        low = max(0, -(first // dilation)) if first < 0 else 0
        high = min(window, -(-(size - first) // dilation)) if first < size else 0
        sets.append(np.arange(low, max(low, high), dtype=np.int64) * dilation + first)
    return sets


@operator('averagePool2d', 'l2Pool2d', 'maxPool2d')
def pool(name, arguments, options):
    kind, layout = arguments[0].type, default(options, 'layout', 'nchw')
    x = channels_first(arguments[0].array, layout)
    window = default(options, 'windowDimensions', list(x.shape[2:]))
    padding, strides, dilations = windows(options)
    out = options.get('outputSizes')
    if out is None:
        out = []
        for i in range(2):
            numerator, stride = size_of(x.shape[2 + i], window[i], *padding[2 * i:2 * i + 2], strides[i], dilations[i])
            up = default(options, 'outputShapeRounding', 'floor') == 'ceil'
            out.append((-(-numerator // stride) if up else numerator // stride) + 1)
    rows, columns = (chosen(out[i], x.shape[2 + i], window[i], padding[2 * i], strides[i], dilations[i]) for i in range(2))
    if name == 'maxPool2d':
        return max_pool(x, rows, columns, layout, kind)

    def summed(values):
        # A window is the product of its rows and its columns.
        values = np.stack([values[:, :, r].sum(2) for r in rows], 2)
        return np.stack([values[:, :, :, c].sum(3) for c in columns], 3)

    count = np.array([len(r) for r in rows])[:, None] * np.array([len(c) for c in columns])[None, :]
    x = x.astype(np.float64)
    if name == 'l2Pool2d':
        total = summed(x * x)
        result = Bounded(total, growth(count + 1) * total + count * ARITHMETIC.smallest).through(np.sqrt, 1)
    else:
        total = Bounded(summed(x), growth(count) * summed(np.abs(x)) + count * ARITHMETIC.smallest)
        share = 1 / np.maximum(count, 1)
        result = Bounded(np.where(count == 0, 0, total.v), total.e) * Bounded(np.broadcast_to(share, total.v.shape),
                                                                                  ARITHMETIC.roundoff * share)
        result = Bounded(np.where(np.isinf(total.v), total.v, result.v), result.e)
    return relaid(result.expected(kind), layout)


def max_pool(x, rows, columns, layout, kind):
    lowest = -np.inf if is_float(kind) else limits(kind)[0]

    def highest(values, places, axis):
        if not places.size:
            return np.full([n for i, n in enumerate(values.shape) if i != axis], lowest, values.dtype)
        return np.take(values, places, axis).max(axis)

    x = np.stack([highest(x, r, 2) for r in rows], 2)
    x = np.stack([highest(x, c, 3) for c in columns], 3)
    x[:, :, [not r.size for r in rows]] = x[:, :, :, [not c.size for c in columns]] = 0
    return relaid(Expected(x), layout)
