# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that move elements, and resampling."""
import numpy as np

from registry import default, operator
from elementwise import python_number
from values import ARITHMETIC, Bounded, Expected, cast_number, contiguous, is_float


def moved(array):
    return Expected(contiguous(array), zero_sign=True)


@operator('concat')
def concat(name, arguments, options):
    return moved(np.concatenate([t.array for t in arguments[0]], arguments[1]))


@operator('expand')
def expand(name, arguments, options):
    return moved(np.broadcast_to(arguments[0].array, arguments[1]))


@operator('reshape')
def reshape(name, arguments, options):
    return moved(arguments[0].array.reshape(arguments[1]))


@operator('reverse')
def reverse(name, arguments, options):
    x = arguments[0].array
    axes = default(options, 'axes', list(range(x.ndim)))
    return moved(np.flip(x, tuple(axes)))


@operator('slice')
def slice_(name, arguments, options):
    x, starts, sizes = arguments[0].array, arguments[1], arguments[2]
    strides = default(options, 'strides', [1] * x.ndim)
    return moved(x[tuple(slice(a, a + n, s) for a, n, s in zip(starts, sizes, strides))])


@operator('split')
def split(name, arguments, options):
    x, parts, axis = arguments[0].array, arguments[1], default(options, 'axis', 0)
    if not isinstance(parts, list):
        parts = [x.shape[axis] // parts] * parts
    places = np.cumsum([0] + parts)
    return [moved(np.take(x, range(a, b), axis)) for a, b in zip(places, places[1:])]


@operator('tile')
def tile(name, arguments, options):
    x = arguments[0].array
    for axis, count in enumerate(arguments[1]):
        x = np.concatenate([x] * count, axis)
    return moved(x)


@operator('transpose')
def transpose(name, arguments, options):
    x = arguments[0].array
    return moved(np.transpose(x, default(options, 'permutation', list(range(x.ndim))[::-1])))


@operator('triangular')
def triangular(name, arguments, options):
    x = arguments[0].array
    upper, diagonal = default(options, 'upper', True), default(options, 'diagonal', 0)
    rows, columns = np.indices(x.shape[-2:])
    kept = columns - rows >= diagonal if upper else columns - rows <= diagonal
    return moved(np.where(kept, x, np.zeros_like(x)))


@operator('pad')
def pad(name, arguments, options):
    x, begin, end = arguments[0].array, arguments[1], arguments[2]
    mode = default(options, 'mode', 'constant')
    inside = np.ones([b + n + e for b, n, e in zip(begin, x.shape, end)], bool)
    for axis, (b, n, e) in enumerate(zip(begin, x.shape, end)):
        place = np.arange(b + n + e) - b
        known = (place >= 0) & (place < n)
        if mode == 'reflection':
            place = np.abs(place)
            place = np.where(place >= n, 2 * (n - 1) - place, place)
        x = np.take(x, np.clip(place, 0, n - 1), axis)
        inside &= known.reshape([-1 if i == axis else 1 for i in range(x.ndim)])
    if mode == 'constant':
        x = np.where(inside, x, cast_number(python_number(default(options, 'value', 0)), arguments[0].type)).astype(x.dtype)
    return moved(x)


# ---- gather, scatter

def places(indices, size):
    """Indices clamped to [-size, size - 1]; negative ones count from the end."""
    flat = [min(max(int(i), -size), size - 1) for i in indices.ravel()]
    return np.array([i + size if i < 0 else i for i in flat], np.int64).reshape(indices.shape)


def coordinates(indices, shape):
    """The last dimension of indices holds coordinates into the first dimensions of the shape."""
    return [places(indices[..., k], shape[k]) for k in range(indices.shape[-1])]


@operator('gather')
def gather(name, arguments, options):
    x, axis = arguments[0].array, default(options, 'axis', 0)
    return moved(np.take(x, places(arguments[1].array, x.shape[axis]), axis))


@operator('gatherElements')
def gather_elements(name, arguments, options):
    x, indices, axis = arguments[0].array, arguments[1].array, default(options, 'axis', 0)
    coordinate = list(np.indices(indices.shape))
    coordinate[axis] = places(indices, x.shape[axis])
    return moved(x[tuple(coordinate)])


@operator('gatherND')
def gather_nd(name, arguments, options):
    x = arguments[0].array
    return moved(x[tuple(coordinates(arguments[1].array, x.shape))])


@operator('scatterElements')
def scatter_elements(name, arguments, options):
    x, axis = arguments[0].array.copy(), default(options, 'axis', 0)
    place, updates = places(arguments[1].array, x.shape[axis]), arguments[2].array
    for index in np.ndindex(*place.shape):    # in row-major order: of updates of one element the last one stays
        target = list(index)
        target[axis] = place[index]
        x[tuple(target)] = updates[index]
    return moved(x)


@operator('scatterND')
def scatter_nd(name, arguments, options):
    x, updates = arguments[0].array.copy(), arguments[2].array
    coordinate = coordinates(arguments[1].array, x.shape)
    for index in np.ndindex(*arguments[1].shape[:-1]):
        x[tuple(c[index] for c in coordinate)] = updates[index]
    return moved(x)


# ---- resample2d

def ratio(position, size, target):
    """Numerator and denominator of the clamped input coordinate of an output position: (k + 0.5) / (target / size) - 0.5."""
    denominator = 2 * target
    numerator = (2 * position + 1) * size - target
    return min(max(numerator, 0), (size - 1) * denominator), denominator


@operator('resample2d')
def resample(name, arguments, options):
    x, kind = arguments[0].array, arguments[0].type
    axes = default(options, 'axes', [2, 3])
    scales = default(options, 'scales', [1.0, 1.0])
    sizes = options.get('sizes') or [int(np.floor(x.shape[a] * float(np.float32(s)))) for a, s in zip(axes, scales)]
    if default(options, 'mode', 'nearest-neighbor') == 'nearest-neighbor':
        for axis, size in zip(axes, sizes):
            nearest = []
            for k in range(size):
                numerator, denominator = ratio(k, x.shape[axis], size)
                nearest.append(-((denominator - 2 * numerator) // (2 * denominator)))    # ceil(n / d - 1 / 2)
            x = np.take(x, nearest, axis)
        return moved(x)
    value = Bounded(x)
    # The formula interpolates along x first, the second axis in its own notation; the order matters for infinities only.
    for axis, size in reversed(list(zip(axes, sizes))):
        low, high, fraction = [], [], []
        for k in range(size):
            numerator, denominator = ratio(k, x.shape[axis], size)
            low.append(numerator // denominator)
            high.append(-(-numerator // denominator))
            fraction.append(numerator % denominator / denominator)
        form = [-1 if i == axis else 1 for i in range(x.ndim)]
        t = Bounded(np.reshape(fraction, form), ARITHMETIC.roundoff * np.reshape(fraction, form))
        rest = Bounded(1 - t.v, t.e + np.where(t.v == 0, 0, ARITHMETIC.roundoff))
        value = (Bounded(np.take(value.v, low, axis), np.take(value.e, low, axis)) * rest
                 + Bounded(np.take(value.v, high, axis), np.take(value.e, high, axis)) * t)
    return value.expected(kind) if is_float(kind) else value.expected_integer(kind)
