# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What random cases are made of: shapes, elements, options; and the table of operators."""
import numpy as np

from cases import Case
from values import TYPES, Tensor, is_float, limits, round_to

FAMILIES = {}    # family: operator: function of a Draw


def family(name, *operators):
    """Registers how cases of these operators are drawn.  The function gets a Draw and the operator's name."""
    def register(function):
        for operator in operators:
            FAMILIES.setdefault(name, {})[operator] = function
        return function
    return register


SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, -2.5]
NOT_FINITE = [np.inf, -np.inf, np.nan]


class Draw:
    """A stream of random choices, and the case that they make."""

    def __init__(self, seed, number, key):
        self.random = np.random.Generator(np.random.PCG64([seed, number, key]))
        self.inputs = {}
        self.finite = False    # floats are moderate ones
        # Whether weights, biases and other second operands are constants: all, none, or each by chance.
        self.rest = self.choose(True, False, None)

    # ---- choices

    def integer(self, low, high):
        """Inclusive."""
        return int(self.random.integers(low, high + 1))

    def choose(self, *choices):
        return choices[self.integer(0, len(choices) - 1)]

    def chance(self, share):
        return bool(self.random.random() < share)

    def size(self, largest=6):
        """Mostly small, sometimes beyond the width of vectors."""
        return self.choose(16, 17, 33, 64, 65) if self.chance(0.08) else self.integer(1, largest)

    def shape(self, low=0, high=5, elements=4096):
        if high >= 5 and self.chance(0.05):
            return [self.integer(1, 3) for _ in range(self.integer(6, 8))]
        if high >= 4 and self.chance(0.03):
            # Enough elements for several threads, most of them along one axis.
            shape = [self.integer(1, 4) for _ in range(max(low, self.integer(1, high)))]
            shape[self.integer(0, len(shape) - 1)] = self.integer(2000, 12000) // int(np.prod(shape))
            return shape
        shape = [self.size() for _ in range(self.integer(low, high))]
        while int(np.prod(shape, dtype=np.int64)) > elements:
            largest = int(np.argmax(shape))
            shape[largest] = shape[largest] // 2
        return shape

    def part_of(self, shape):
        """A shape that is broadcast to the given one."""
        part = [1 if self.chance(0.25) else n for n in shape]
        return part[self.integer(0, len(part)):] if self.chance(0.35) else part

    def broadcast(self, count, high=5):
        """Shapes that are broadcast against each other; none of them need have the common one."""
        shape = self.shape(0, high)
        return [self.part_of(shape) for _ in range(count)]

    def some_axes(self, rank):
        """Different axes in any order, also none or all of them."""
        return [int(a) for a in self.random.permutation(rank)[:self.integer(0, rank)]]

    def float_type(self):
        return 'float16' if self.chance(0.3) else 'float32'

    def any_type(self, *but):
        return self.choose(*[t for t in TYPES if t not in but])

    # ---- elements

    def floats(self, kind, shape, scale=1.0):
        return round_to(self.random.standard_normal(shape) * scale, kind)

    def wide(self, kind, shape):
        """Floats of all magnitudes."""
        powers = self.random.uniform(-24, 15, shape) if kind == 'float16' else self.random.uniform(-149, 127, shape)
        return round_to(np.where(self.random.random(shape) < 0.5, -1, 1) * 2.0 ** powers, kind)

    def sprinkled(self, array, share, values):
        """A share of the elements replaced by one of the values each."""
        others = self.random.choice(np.array(values, array.dtype), array.shape)
        return np.asarray(np.where(self.random.random(array.shape) < share, others, array), array.dtype)

    def with_special(self, array, share=0.3):
        """Some elements replaced by zeros, infinities, NaN and the ends of the range."""
        info = np.finfo(array.dtype)
        ends = [info.max, info.min, info.tiny, info.smallest_subnormal, -info.smallest_subnormal]
        return self.sprinkled(array, share, SPECIAL + NOT_FINITE + ends)

    def integers(self, kind, shape):
        """Small ones, or of the whole range with its ends."""
        low, high = limits(kind)
        if self.chance(0.4):
            return self.random.integers(max(low, -5), min(high, 9), shape, np.int64).astype(TYPES[kind])
        full = self.random.integers(low, high, shape, TYPES[kind], endpoint=True)
        ends = np.array([low, high, 0, 1, high - 1, low + 1, min(high, 3)], TYPES[kind])
        return self.sprinkled(full, 0.25, ends)

    def elements(self, kind, shape):
        """Of any kind: what operators get that compute nothing, or everything exactly."""
        if not is_float(kind):
            return self.integers(kind, shape)
        how = self.integer(0, 3)
        if self.finite:
            return self.floats(kind, shape)
        if how == 0:
            return self.wide(kind, shape)
        array = self.floats(kind, shape, self.choose(0.1, 1.0, 10.0, 1000.0))
        return self.with_special(array) if how == 1 else np.rint(array) if how == 2 else array

    # ---- the case

    def tensor(self, name, array, constant=None):
        """An input of the case, given as a constant by chance if nothing else is said."""
        if constant is None:
            constant = self.chance(0.33) if self.rest is None or name in ('x', 'a') else self.rest
        self.inputs[name] = Tensor(array, constant)
        return name

    def case(self, operator, *arguments, options=None, outputs='output'):
        """A case of one operator.  Options that are None are absent."""
        form = [{f'argument{i}': a} for i, a in enumerate(arguments)]
        options = {k: v for k, v in (options or {}).items() if v is not None}
        if options:
            form.append({'options': options})
        return Case(operator, self.inputs, [{'name': operator, 'arguments': form, 'outputs': outputs}])

    def maybe(self, value, share=0.5):
        """A value, or None: an option that is given or absent."""
        return value if self.chance(share) else None
