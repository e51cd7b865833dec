# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that sum: reductions, products of matrices, normalisation, softmax."""
import numpy as np

from registry import default, operator
from values import (FUNCTION_ULPS, ARITHMETIC, TYPES, Bounded, Expected, bounded, cast_number, growth, is_float, matmul, wrap)


# ---- argMin, argMax

@operator('argMin', 'argMax')
def arg(name, arguments, options):
    x, axis = arguments[0].array, arguments[1]
    keep, target = default(options, 'keepDimensions', False), default(options, 'outputDataType', 'int32')
    # The first extreme and the first NaN, as docs/semantics.md has it; the specification leaves ties open.
    index = np.argmin(x, axis) if name == 'argMin' else np.argmax(x, axis)
    return Expected((np.expand_dims(index, axis) if keep else index).astype(TYPES[target]))


# ---- reductions

def reduction(arguments, options):
    x = arguments[0].array
    axes = default(options, 'axes', list(range(x.ndim)))
    kept = [1 if i in axes else n for i, n in enumerate(x.shape)]
    shape = kept if default(options, 'keepDimensions', False) else [n for i, n in enumerate(x.shape) if i not in axes]
    return x, tuple(axes), shape


@operator('reduceMax', 'reduceMin')
def extreme(name, arguments, options):
    x, axes, shape = reduction(arguments, options)
    return Expected((np.max if name == 'reduceMax' else np.min)(x, axis=axes).reshape(shape))


@operator('reduceSum', 'reduceMean', 'reduceL1', 'reduceL2', 'reduceSumSquare', 'reduceLogSum')
def reduce_sum(name, arguments, options):
    x, axes, shape = reduction(arguments, options)
    kind = arguments[0].type
    square, absolute = name in ('reduceL2', 'reduceSumSquare'), name == 'reduceL1'
    if not is_float(kind):
        x = x.astype(object)
        terms = x * x if square else abs(x) if absolute else x
        return Expected(wrap(np.asarray(np.sum(terms, axis=axes), object), kind).reshape(shape))
    terms = Bounded(x)
    terms = terms * terms if square else Bounded(np.abs(terms.v)) if absolute else terms
    total = terms.sum(axes)
    if name == 'reduceMean':
        count = terms.v.size // max(total.v.size, 1)
        total = total * Bounded(1 / count, ARITHMETIC.roundoff / count)
    elif name == 'reduceL2':
        total = total.through(lambda v: np.sqrt(np.maximum(v, 0) + np.where(np.isnan(v), v, 0)), 1)
    elif name == 'reduceLogSum':
        total = total.through(np.log, FUNCTION_ULPS)
        total = Bounded(total.v, np.where(np.isnan(terms.sum(axes).e), np.inf, total.e))
    return total.reshape(shape).expected(kind)


@operator('reduceProduct')
def reduce_product(name, arguments, options):
    x, axes, shape = reduction(arguments, options)
    kind = arguments[0].type
    if not is_float(kind):
        return Expected(wrap(np.asarray(np.prod(x.astype(object), axis=axes), object), kind).reshape(shape))
    v = np.prod(x.astype(np.float64), axis=axes)
    count = x.size // max(np.size(v), 1)
    return Bounded(v, growth(count) * np.abs(v) + ARITHMETIC.smallest).reshape(shape).expected(kind)


@operator('reduceLogSumExp')
def log_sum_exp(name, arguments, options):
    x, axes, shape = reduction(arguments, options)
    x = x.astype(np.float64)
    highest = np.max(x, axis=axes, keepdims=True)
    shift = np.where(np.isfinite(highest), highest, 0)
    total = (Bounded(x) - Bounded(shift)).through(np.exp, FUNCTION_ULPS).sum(axes)
    return (total.through(np.log, FUNCTION_ULPS) + Bounded(shift)).reshape(shape).expected(arguments[0].type)


@operator('cumulativeSum')
def cumulative_sum(name, arguments, options):
    x, axis, kind = arguments[0].array, arguments[1], arguments[0].type
    exclusive, reverse = default(options, 'exclusive', False), default(options, 'reversed', False)

    def running(values):
        values = np.flip(values, axis) if reverse else values
        total = np.cumsum(values, axis)
        if exclusive:
            first = np.zeros_like(np.take(values, [0], axis))
            total = np.concatenate([first, np.take(total, range(values.shape[axis] - 1), axis)], axis)
        return np.flip(total, axis) if reverse else total

    if not is_float(kind):
        return Expected(wrap(running(x.astype(object)), kind))
    x = x.astype(np.float64)
    count = x.shape[axis]
    return Bounded(running(x), growth(count) * running(np.abs(x)) + count * ARITHMETIC.smallest).expected(kind)


@operator('softmax')
def softmax(name, arguments, options):
    x, axis = arguments[0].array.astype(np.float64), arguments[1]
    highest = np.max(x, axis=axis, keepdims=True)
    # Infinity minus infinity is NaN: a row with +Infinity, or of -Infinity only, is NaN throughout.
    terms = (Bounded(x) - Bounded(highest)).through(np.exp, FUNCTION_ULPS)
    return (terms / terms.sum([axis])).expected(arguments[0].type)


# ---- products of matrices

@operator('matmul')
def matmul_(name, arguments, options):
    return matmul(arguments[0], arguments[1]).expected(arguments[0].type)


@operator('gemm')
def gemm(name, arguments, options):
    kind = arguments[0].type
    a, b = (t.array.astype(np.float64) for t in arguments[:2])
    a = a.T if default(options, 'aTranspose', False) else a
    b = b.T if default(options, 'bTranspose', False) else b
    alpha = float(cast_number(default(options, 'alpha', 1.0), kind))
    beta = float(cast_number(default(options, 'beta', 1.0), kind))
    # alpha may be applied to A, to B or to the product.
    product = (matmul(a, b) * alpha).rounded()
    if options.get('c') is None:
        return product.expected(kind)
    c = np.broadcast_to(options['c'].array.astype(np.float64), product.v.shape)
    # The summand may be added before all products: its roundings are those of a sum of as many terms.
    more = growth(a.shape[1] + 2) * np.abs(beta * c)
    total = product + Bounded(c) * beta
    return Bounded(total.v, total.e + more).expected(kind)


# ---- normalisation

def scaled(x, mean, variance, scale, bias, epsilon, kind):
    """scale * (x - mean) / sqrt(variance + epsilon) + bias, as written or as x * s + (bias - mean * s)."""
    root = (variance + epsilon).through(lambda v: np.sqrt(np.maximum(v, 0) + np.where(np.isnan(v) | (v < 0), np.nan, 0)), 1)
    factor = scale / root
    written = scale * ((x - mean) / root) + bias
    apart = 4 * ARITHMETIC.roundoff * (np.abs(x.v * factor.v) + np.abs(mean.v * factor.v) + np.abs(bias.v))
    return Bounded(written.v, written.e + apart).expected(kind)


def option_tensor(options, name, value, shape):
    given = options.get(name)
    return bounded(value) if given is None else Bounded(given.array.astype(np.float64).reshape(shape))


@operator('batchNormalization')
def batch_normalization(name, arguments, options):
    kind = arguments[0].type
    x, axis = bounded(arguments[0]), default(options, 'axis', 1)
    shape = [-1 if i == axis else 1 for i in range(x.v.ndim)]
    mean, variance = (bounded(t).reshape(shape) for t in arguments[1:3])
    return scaled(x, mean, variance, option_tensor(options, 'scale', 1.0, shape), option_tensor(options, 'bias', 0.0, shape),
                  float(cast_number(default(options, 'epsilon', 1e-5), kind)), kind)


def normalised(x, axes, options, shape, kind):
    count = 1
    for axis in axes:
        count *= x.v.shape[axis]
    share = Bounded(1 / count, ARITHMETIC.roundoff / count)
    mean = x.sum(axes) * share if axes else x
    difference = x - mean if axes else Bounded(x.v - x.v)
    square = difference * difference
    variance = square.sum(axes) * share if axes else square
    return scaled(x, mean, variance, option_tensor(options, 'scale', 1.0, shape), option_tensor(options, 'bias', 0.0, shape),
                  float(cast_number(default(options, 'epsilon', 1e-5), kind)), kind)


@operator('instanceNormalization')
def instance_normalization(name, arguments, options):
    nchw = default(options, 'layout', 'nchw') == 'nchw'
    return normalised(bounded(arguments[0]), [2, 3] if nchw else [1, 2], options, [1, -1, 1, 1] if nchw else [1, 1, 1, -1],
                      arguments[0].type)


@operator('layerNormalization')
def layer_normalization(name, arguments, options):
    x = bounded(arguments[0])
    axes = default(options, 'axes', list(range(1, x.v.ndim)))
    options = dict(options)
    for member in ('scale', 'bias'):
        if options.get(member) is not None and axes:
            # Dimension i of scale and bias belongs to dimension axes[i] of the input.
            order = np.argsort(axes)
            options[member] = type(options[member])(np.transpose(options[member].array, order))
    shape = [n if i in axes else 1 for i, n in enumerate(x.v.shape)]
    return normalised(x, sorted(axes), options, shape, arguments[0].type)
