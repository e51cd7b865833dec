# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Operators that compute element by element: the specification's unary, binary and logical ones, activations, casts, clamp and
quantisation."""
import numpy as np

from registry import default, operator
from values import (FUNCTION_ULPS, POW_ULPS, TYPES, Bounded, Expected, cast_number, cos, erf, is_float, limits, round_to,
                    sigmoid, sin, tan, wrap)


def correctly_rounded(function, name, *arrays):
    """A correctly rounded operation.  float16 operands are exact in float64, and rounding its result once more gives the
    correctly rounded one for +, -, *, / and square roots.  In float32 numpy rounds correctly itself."""
    if name == 'float32':
        return Expected(function(*arrays), zero_sign=True)
    return Expected(round_to(function(*(a.astype(np.float64) for a in arrays)), name), zero_sign=True)


# ---- unary

EXACT = {'abs': np.abs, 'ceil': np.ceil, 'floor': np.floor, 'roundEven': np.rint, 'sqrt': np.sqrt, 'neg': np.negative,
         'reciprocal': lambda x: np.ones_like(x) / x}


@operator(*EXACT)
def exact_unary(name, arguments, options):
    x = arguments[0].array
    if is_float(arguments[0].type):
        return correctly_rounded(EXACT[name], arguments[0].type, x)
    return Expected(EXACT[name](x))


@operator('identity')
def identity(name, arguments, options):
    return Expected(arguments[0].array, zero_sign=True)


@operator('sign')
def sign(name, arguments, options):
    x = arguments[0].array
    return Expected(np.where(x > 0, 1, np.where(x < 0, -1, 0)).astype(x.dtype))


FUNCTIONS = {'exp': np.exp, 'log': np.log, 'sin': sin, 'cos': cos, 'tan': tan, 'erf': erf, 'tanh': np.tanh}


@operator(*FUNCTIONS)
def function(name, arguments, options):
    v = FUNCTIONS[name](arguments[0].array.astype(np.float64))
    return Bounded(v).plus_ulps(FUNCTION_ULPS).expected(arguments[0].type)


# ---- binary

def maximum(a, b):
    """NaN if one is; -0 is less than +0."""
    greater = np.where(a > b, a, np.where(b > a, b, np.where(np.signbit(a), b, a)))
    return np.where(np.isnan(a), a, np.where(np.isnan(b), b, greater)).astype(a.dtype)


def minimum(a, b):
    return -maximum(-a, -b)


def truncating_division(a, b):
    """By integers of any size; a quotient by zero is zero."""
    def one(x, y):
        x, y = int(x), int(y)
        if y == 0:
            return 0
        quotient = abs(x) // abs(y)
        return quotient if (x < 0) == (y < 0) else -quotient
    return np.vectorize(one, otypes=[object])(a, b)


def integer_power(bits):
    """A power modulo 2^bits; a negative exponent truncates the exact value."""
    def one(x, y):
        x, y = int(x), int(y)
        if y >= 0:
            return pow(x, y, 1 << bits)
        if x == 1 or (x == -1 and y % 2 == 0):
            return 1
        return -1 if x == -1 else 0
    return np.vectorize(one, otypes=[object])


ARITHMETIC_FUNCTIONS = {'add': np.add, 'sub': np.subtract, 'mul': np.multiply}


@operator('add', 'sub', 'mul', 'div', 'max', 'min', 'pow')
def binary(name, arguments, options):
    kind = arguments[0].type
    a, b = np.broadcast_arrays(arguments[0].array, arguments[1].array)
    if is_float(kind):
        if name in ('max', 'min'):
            return Expected((maximum if name == 'max' else minimum)(a, b), zero_sign=True)
        if name == 'pow':
            return Bounded(np.power(a.astype(np.float64), b)).plus_ulps(POW_ULPS).expected(kind)
        return correctly_rounded({**ARITHMETIC_FUNCTIONS, 'div': np.divide}[name], kind, a, b)
    if name == 'div':
        return Expected(wrap(truncating_division(a, b), kind))
    if name == 'pow':
        return Expected(wrap(integer_power(a.dtype.itemsize * 8)(a, b), kind))
    return Expected({**ARITHMETIC_FUNCTIONS, 'max': np.maximum, 'min': np.minimum}[name](a, b))


# ---- logical

COMPARISONS = {'equal': np.equal, 'notEqual': np.not_equal, 'greater': np.greater, 'greaterOrEqual': np.greater_equal,
               'lesser': np.less, 'lesserOrEqual': np.less_equal}
LOGICAL = {'logicalAnd': np.logical_and, 'logicalOr': np.logical_or, 'logicalXor': np.logical_xor}


@operator(*COMPARISONS, *LOGICAL)
def logical(name, arguments, options):
    return Expected({**COMPARISONS, **LOGICAL}[name](arguments[0].array, arguments[1].array).astype(np.uint8))


@operator('logicalNot', 'isNaN', 'isInfinite')
def logical_unary(name, arguments, options):
    function = {'logicalNot': lambda x: x == 0, 'isNaN': np.isnan, 'isInfinite': np.isinf}[name]
    return Expected(function(arguments[0].array).astype(np.uint8))


@operator('where')
def where(name, arguments, options):
    condition, a, b = (t.array for t in arguments)
    return Expected(np.where(condition != 0, a, b), zero_sign=True)


# ---- casts, clamp

def saturated(numbers, name):
    """Floats and integers of any size, truncated to a data type's range."""
    low, high = limits(name)
    whole = [high if x == np.inf else low if x == -np.inf else int(x) for x in numbers]
    return np.array([min(max(x, low), high) for x in whole], TYPES[name])


@operator('cast')
def cast(name, arguments, options):
    x, source, target = arguments[0].array, arguments[0].type, arguments[1]
    if is_float(target):
        # Beyond 2^53 float64 is not exact, but float16 is infinite there, and numpy casts straight to float32.
        direct = x.astype(TYPES[target]) if target == 'float32' else x.astype(np.float64).astype(TYPES[target])
        return Expected(direct, zero_sign=True)
    if not is_float(source):
        return Expected(wrap(x, target))
    # Out of range the specification asks for nothing; docs/semantics.md says that it saturates and that NaN is 0.
    return Expected(saturated([0 if np.isnan(f) else f for f in x.astype(np.float64).ravel()], target).reshape(x.shape))


def python_number(given):
    """A number as JSON has it: special values and large integers are strings."""
    if not isinstance(given, str):
        return given
    try:
        return int(given)
    except ValueError:
        return float(given)


@operator('clamp')
def clamp(name, arguments, options):
    x, kind = arguments[0].array, arguments[0].type
    bounds = [default(options, k, None) for k in ('minValue', 'maxValue')]
    low, high = (None if b is None else cast_number(python_number(b), kind) for b in bounds)
    for bound, lesser in ((low, False), (high, True)):
        if bound is None or np.isnan(bound):
            continue
        other = np.full(x.shape, bound, x.dtype)
        if is_float(kind):
            x = minimum(x, other) if lesser else maximum(x, other)
        else:
            x = np.minimum(x, other) if lesser else np.maximum(x, other)
    return Expected(x)


# ---- activations

@operator('relu')
def relu(name, arguments, options):
    x = arguments[0].array
    if is_float(arguments[0].type):
        return Expected(maximum(x, np.zeros_like(x)), zero_sign=True)
    return Expected(np.maximum(x, np.zeros_like(x)))


def leaky(x, slope, kind):
    """max(0, x) + slope * min(0, x), whose products are rounded once.  A zero has either sign."""
    if not is_float(kind):
        zero = np.zeros_like(x)
        return Expected(np.maximum(x, zero) + slope * np.minimum(x, zero))
    x, slope = x.astype(np.float64), np.asarray(slope, np.float64)
    zero = np.zeros_like(x)
    return Expected(round_to(maximum(zero, x) + slope * minimum(zero, x), kind))


@operator('prelu')
def prelu(name, arguments, options):
    x, slope = np.broadcast_arrays(arguments[0].array, arguments[1].array)
    return leaky(x, slope, arguments[0].type)


@operator('leakyRelu')
def leaky_relu(name, arguments, options):
    kind = arguments[0].type
    return leaky(arguments[0].array, cast_number(default(options, 'alpha', 0.01), kind), kind)


def expm1_of_negative(x):
    return np.expm1(np.minimum(x, 0))


@operator('elu')
def elu(name, arguments, options):
    kind = arguments[0].type
    alpha = float(cast_number(default(options, 'alpha', 1.0), kind))
    x = arguments[0].array.astype(np.float64)
    negative = Bounded(x).through(expm1_of_negative, FUNCTION_ULPS) * alpha
    return Bounded(np.maximum(x, 0) + negative.v, np.where(x > 0, 0, negative.e)).expected(kind)


@operator('hardSigmoid')
def hard_sigmoid(name, arguments, options):
    kind = arguments[0].type
    alpha = float(cast_number(default(options, 'alpha', 0.2), kind))
    beta = float(cast_number(default(options, 'beta', 0.5), kind))
    line = Bounded(arguments[0].array) * alpha + beta
    return line.through(lambda x: np.clip(x, 0, 1), 0).expected(kind)


@operator('hardSwish')
def hard_swish(name, arguments, options):
    x = Bounded(arguments[0].array)
    return (x * (x + 3).through(lambda y: np.clip(y, 0, 6), 0) / 6).expected(arguments[0].type)


@operator('linear')
def linear(name, arguments, options):
    kind = arguments[0].type
    alpha = float(cast_number(default(options, 'alpha', 1.0), kind))
    beta = float(cast_number(default(options, 'beta', 0.0), kind))
    return (Bounded(arguments[0].array) * alpha + beta).expected(kind)


@operator('gelu')
def gelu(name, arguments, options):
    x = Bounded(arguments[0].array)
    return (x * 0.5 * ((x / Bounded(np.sqrt(2.0)).rounded()).through(erf, FUNCTION_ULPS) + 1)).expected(arguments[0].type)


@operator('sigmoid')
def logistic(name, arguments, options):
    # exp may be off by units in its last place, which the sum and the quotient pass on; they round once each.
    return Bounded(sigmoid(arguments[0].array.astype(np.float64))).plus_ulps(FUNCTION_ULPS + 1).expected(arguments[0].type)


@operator('softplus')
def softplus(name, arguments, options):
    x = arguments[0].array.astype(np.float64)
    tail = Bounded(-np.abs(x)).through(np.exp, FUNCTION_ULPS).through(np.log1p, FUNCTION_ULPS)
    return (Bounded(np.maximum(x, 0)) + tail).expected(arguments[0].type)


@operator('softsign')
def softsign(name, arguments, options):
    x = Bounded(arguments[0].array)
    return (x / (Bounded(np.abs(x.v)) + 1)).expected(arguments[0].type)


# ---- quantisation

def blockwise(array, shape):
    """Every element of array repeated so often along each dimension that the shape results."""
    for axis, size in enumerate(shape):
        array = np.repeat(array, size // array.shape[axis], axis)
    return array


@operator('quantizeLinear')
def quantize(name, arguments, options):
    x, target = arguments[0].array, arguments[2].type
    scale, zero = (blockwise(t.array, x.shape) for t in arguments[1:])
    quotient = np.rint(round_to(x.astype(np.float64) / scale.astype(np.float64), 'float32').astype(np.float64))
    # int(q) is exact, and so is its sum with the zero point.
    sums = [0 if np.isnan(q) else q if np.isinf(q) else int(q) + int(z) for q, z in zip(quotient.ravel(), zero.ravel())]
    return Expected(saturated(sums, target).reshape(x.shape))


@operator('dequantizeLinear')
def dequantize(name, arguments, options):
    x, kind, target = arguments[0].array, arguments[0].type, arguments[1].type
    scale, zero = (blockwise(t.array, x.shape).astype(np.float64) for t in arguments[1:])
    x = x.astype(np.float64)
    if kind in ('int8', 'uint8'):
        return Expected(round_to((x - zero) * scale, target))
    # Operands may be cast to floats first, as in the specification's emulation.
    return ((Bounded(x).rounded() - Bounded(zero).rounded()) * Bounded(scale)).expected(target)
