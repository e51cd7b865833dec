# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Data types, rounding, and values with a bound of their error.

An operator's result is either exact, or a real number and how far a correct implementation may be from it.  The bound is a
running error analysis: every operation inside of an operator may round to float32 (unit roundoff 2^-24), sums may be taken in
any order, elementary functions may be off by the few units in the last place that docs/semantics.md grants.  The operator's
result is rounded once more, to its own data type.
"""
import math

import numpy as np

np.seterr(all='ignore')  # infinities and NaN are results here

TYPES = {'float32': np.float32, 'float16': np.float16, 'int32': np.int32, 'uint32': np.uint32, 'int64': np.int64,
         'uint64': np.uint64, 'int8': np.int8, 'uint8': np.uint8}
FLOATS = ('float32', 'float16')
INTEGERS = ('int32', 'uint32', 'int64', 'uint64', 'int8', 'uint8')

FUNCTION_ULPS = 4        # docs/semantics.md: exp, expm1, log, log1p, sin, cos, tan, tanh, erf
POW_ULPS = 16            # likewise


class Arithmetic:
    """What an implementation computes in inside of an operator: float32 as docs/semantics.md allows, or float64, which is what
    the interpreter and so the folding of constants compute in."""

    def __init__(self):
        self.in_floats()

    def in_floats(self):
        self.roundoff = self.function_roundoff = 2.0 ** -24     # half of the distance from 1 to the next number
        self.smallest = self.function_smallest = 2.0 ** -149    # what gradual underflow can lose, twice

    def in_doubles(self):
        self.sums_in_doubles()
        self.function_roundoff, self.function_smallest = self.roundoff, self.smallest

    def sums_in_doubles(self):
        """Elementary functions stay as exact as they were."""
        # The reference computes in float64, too: its own roundings count as much again.
        self.roundoff = 2.0 ** -52
        self.smallest = 2.0 ** -1074


ARITHMETIC = Arithmetic()


def type_name(array):
    return array.dtype.name


def contiguous(array):
    """In row-major order; numpy's function of that name makes scalars one-dimensional."""
    return np.array(array, order='C')


def is_float(name):
    return name in FLOATS


def limits(name):
    """The smallest and largest value of an integer data type, as Python integers."""
    info = np.iinfo(TYPES[name])
    return int(info.min), int(info.max)


def round_to(values, name):
    """Real numbers (float64) rounded to a float data type, nearest even, overflow to infinity."""
    return np.asarray(values, np.float64).astype(TYPES[name])


def wrap(integers, name):
    """Integers of any size (an array of Python's) modulo 2^bits, two's complement."""
    low, high = limits(name)
    span = high - low + 1
    flat = [(int(i) - low) % span + low for i in np.asarray(integers, object).ravel()]
    return np.array(flat, TYPES[name]).reshape(np.shape(integers))


def cast_number(x, name):
    """The specification's "cast a number to a data type", for values of options; exact for Python integers."""
    if is_float(name):
        return round_to(float(x), name)[()]
    low, high = limits(name)
    if isinstance(x, float):
        if math.isnan(x):
            return TYPES[name](0)
        if math.isinf(x):
            return TYPES[name](high if x > 0 else low)
    return TYPES[name](round(min(max(x, low), high)))


class Tensor:
    """An operand's value; constant: whether it is given to the builder as a constant."""

    def __init__(self, array, constant=False):
        self.array = np.asarray(array)
        self.constant = constant

    @property
    def type(self):
        return type_name(self.array)

    @property
    def shape(self):
        return self.array.shape


class Expected:
    """What a result may be: from low to high, in its data type; NaN where low is NaN; anything where free."""

    def __init__(self, low, high=None, zero_sign=False, free=None):
        self.low = np.asarray(low)
        self.high = self.low if high is None else np.asarray(high)
        self.zero_sign = zero_sign
        self.free = free

    @property
    def type(self):
        return type_name(self.low)

    @property
    def shape(self):
        return self.low.shape

    def wrong(self, actual):
        """Where actual (of the same type and shape) is not allowed."""
        if not is_float(self.type):
            return (actual < self.low) | (actual > self.high)
        with np.errstate(invalid='ignore'):
            right = (actual >= self.low) & (actual <= self.high)
        if self.zero_sign:
            exact = (self.low == 0) & (self.high == 0)
            right &= ~exact | (np.signbit(actual) == np.signbit(self.low))
        right |= np.isnan(self.low) & np.isnan(actual)
        if self.free is not None:
            right |= self.free
        return ~right

    def width(self):
        """The distance between the ends, in units in the last place, of the widest element."""
        if self.high is self.low or not is_float(self.type):
            return 0
        finite = np.isfinite(self.low) & np.isfinite(self.high)
        return int(np.max(np.where(finite, place(contiguous(self.high)) - place(contiguous(self.low)), 0), initial=0))

    def middle(self):
        """One allowed value, for what reads the result."""
        if self.high is self.low or not is_float(self.type):
            return self.low
        return round_to((self.low.astype(np.float64) + self.high) / 2, self.type)


class Bounded:
    """Real numbers v (float64), each at most e away from what an implementation may have computed."""

    def __init__(self, v, e=None):
        self.v = np.asarray(v, np.float64)
        if e is None:
            self.e = np.zeros(self.v.shape)
        else:
            e = np.broadcast_to(np.asarray(e, np.float64), self.v.shape)
            self.e = np.where(np.isfinite(self.v), np.where(np.isnan(e), np.inf, e), 0.0)

    def rounded(self):
        """The same, after one rounding."""
        return Bounded(self.v, self.e + ARITHMETIC.roundoff * (np.abs(self.v) + self.e) + ARITHMETIC.smallest)

    def plus_ulps(self, ulps):
        unit = 2 * ARITHMETIC.function_roundoff * (np.abs(self.v) + self.e) + ARITHMETIC.function_smallest
        return Bounded(self.v, self.e + ulps * unit)

    def as_argument(self):
        """Rounded to what elementary functions take."""
        return Bounded(self.v, self.e + ARITHMETIC.function_roundoff * np.abs(self.v) + ARITHMETIC.function_smallest)

    def __add__(self, other):
        other = bounded(other)
        return Bounded(self.v + other.v, self.e + other.e).rounded()

    def __sub__(self, other):
        return self + -bounded(other)

    def __neg__(self):
        return Bounded(-self.v, self.e)

    def __mul__(self, other):
        other = bounded(other)
        return Bounded(self.v * other.v,
                       product_or_zero(np.abs(self.v), other.e) + product_or_zero(self.e, np.abs(other.v))
                       + product_or_zero(self.e, other.e)).rounded()

    def __truediv__(self, other):
        other = bounded(other)
        quotient = self.v / other.v
        room = np.abs(other.v) - other.e
        error = (self.e + product_or_zero(np.abs(quotient), other.e)) / room
        error = np.where((other.e == 0) & (self.e == 0), 0.0, np.where(room > 0, error, np.inf))
        return Bounded(quotient, error).rounded()

    def __getitem__(self, key):
        return Bounded(self.v[key], self.e[key])

    def reshape(self, shape):
        return Bounded(self.v.reshape(shape), self.e.reshape(shape))

    def through(self, function, ulps):
        """A monotone function, computed with an error of that many units in the last place."""
        v = function(self.v)
        e = np.fmax(np.abs(function(self.v + self.e) - v), np.abs(v - function(self.v - self.e)))
        e = np.where(self.e == 0, 0.0, e)
        return Bounded(v, e).plus_ulps(ulps)

    def sum(self, axes, keep=True):
        count = 1
        for axis in axes:
            count *= self.v.shape[axis]
        absolute = np.sum(np.abs(self.v) + self.e, axis=tuple(axes), keepdims=keep)
        error = np.sum(self.e, axis=tuple(axes), keepdims=keep)
        return Bounded(np.sum(self.v, axis=tuple(axes), keepdims=keep),
                       error + growth(count) * absolute + count * ARITHMETIC.smallest)

    def expected(self, name):
        """Rounded to a float data type at last."""
        free = np.isinf(self.e)
        return Expected(round_to(self.v - np.where(free, 0, self.e), name),
                        round_to(self.v + np.where(free, 0, self.e), name), free=free)

    def expected_integer(self, name):
        """Rounded to an integer data type at last, halves to even, saturated."""
        low, high = limits(name)
        return Expected(np.clip(np.rint(self.v - self.e), low, high).astype(TYPES[name]),
                        np.clip(np.rint(self.v + self.e), low, high).astype(TYPES[name]))


def bounded(x):
    if isinstance(x, Bounded):
        return x
    return Bounded(np.asarray(x.array if isinstance(x, Tensor) else x, np.float64))


def product_or_zero(a, b):
    """a * b, where zero times infinity is zero: no error of something infinite."""
    return np.where((a == 0) | (b == 0), 0.0, a * b)


def growth(count):
    """The relative error of a sum of so many terms, in any order (Higham's gamma)."""
    x = count * ARITHMETIC.roundoff
    return x / (1 - x)


def matmul(a, b):
    """The product of bounded matrices (and stacks of them), rounding products and sums."""
    a, b = bounded(a), bounded(b)
    count = a.v.shape[-1]
    big_a, big_b = np.abs(a.v) + a.e, np.abs(b.v) + b.e
    error = big_a @ b.e + a.e @ big_b + growth(count + 1) * (big_a @ big_b) + count * ARITHMETIC.smallest
    return Bounded(a.v @ b.v, error)


def by_element(function):
    """A function of Python's math module over an array; NaN where it is not defined."""
    def one(x):
        try:
            return function(x)
        except (ValueError, OverflowError):
            return math.nan
    return np.vectorize(one, otypes=[np.float64])


sin, cos, tan, erf = (by_element(f) for f in (math.sin, math.cos, math.tan, math.erf))


def place(array):
    """The place of a float among the representable ones, as the metric counts them."""
    bits = array.view(np.int16 if array.dtype == np.float16 else np.int32).astype(np.int64)
    low = bits & (0x7FFF if array.dtype == np.float16 else 0x7FFFFFFF)
    return np.where(bits < 0, -low, low)


def sigmoid(x):
    return 1 / (np.exp(-x) + 1)
