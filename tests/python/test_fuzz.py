# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random arguments for every method: they are taken or refused with an exception of the documented kinds, and nothing stays.

usage: test_fuzz.py [SEED [COUNT]]
"""
import ctypes
import gc
import inspect
import random
import sys
import warnings

import numpy as np
import webnn

import support

seed = int(sys.argv[1]) if len(sys.argv) > 1 else 1
count = int(sys.argv[2]) if len(sys.argv) > 2 else 3000 if support.sanitized() else 10000
chance = random.Random(seed)
warnings.simplefilter("ignore")
REFUSED = (TypeError, ValueError, OverflowError, MemoryError, BufferError, OSError, AttributeError, webnn.Error, ZeroDivisionError)


class Odd:
    """Answers every question in its own way; some answers call back into the builder."""

    def __init__(self, answer):
        self.answer = answer

    def __index__(self):
        return self.answer() if callable(self.answer) else self.answer

    __float__ = __len__ = __index__

    def __getitem__(self, i):
        if i > 3:
            raise IndexError
        return self.__index__()

    def __bool__(self):
        raise ZeroDivisionError

    def __dlpack__(self, **_):
        return self.answer

    def __dlpack_device__(self):
        return (1, 0) if chance.random() < 0.8 else self.answer


def refill():
    """Makes a context with everything, and the values that arguments are drawn from."""
    context = webnn.ML().create_context(device_type="cpu", memory_limit=1 << 26, profile=True)
    builder = context.create_graph_builder()
    x = builder.input("x", [2, 3])
    other = context.create_graph_builder()
    graph = other.build({"y": other.relu(other.input("x", [2, 3]))})
    model = webnn.load(support.relu_model(), context)
    tensors = [context.create_tensor([2, 3]), context.create_tensor([3], "int64"), context.create_constant_tensor(np.ones(2, "f4"))]
    shared = np.ones((2, 3), np.float32)
    values = [None, True, 0, 1, 2, -1, 3, 2**31, 2**32, 2**64, -2**63, 10**30, 0.5, -1e300, float("nan"), float("inf"), "", "x", "y",
              "float32", "int8", "nhwc", "both", "\0", "\ud800", "ü" * 300, b"", b"abc", b"\0" * 24, [], [1], [2, 3], [1, 1, 1, 1],
              [-1], [2**40], ["x"], [None], [[1]], (2, 3), {}, {"x": 1}, {"y": "x"}, {1: 2}, {"batch": 2}, object(), Odd(1), Odd(-1),
              Odd("x"), Odd(lambda: builder.relu(x)), Odd(lambda: chance.random() < 0.9 or builder.build({"y": builder.relu(x)})), np.float32(1),
              np.int64(2), np.bool_(True), np.arange(3), shared, shared.T, shared.astype("f8"), shared.astype(">f4"),
              np.zeros((0, 3), "f4"), np.zeros((2, 3), "e"), np.zeros((1, 1, 2, 2), "f4"), np.zeros(2, object),
              np.zeros(2, [("a", "f4")]), np.zeros((1,) * 32), memoryview(b"123"), memoryview(bytearray(24)), bytearray(24),
              (ctypes.c_double * 3)(), range(3), {2, 3}, (i for i in (2, 3)), np.dtype("int32"), np.float16, int, context, builder,
              graph, model, x, builder.constant(np.ones((2, 3), "f4")), [x, x], {"x": x}, {"y": builder.relu(x)}, {"x": shared},
              {"x": shared, "z": shared}, {"y": shared.copy()}, {"y": tensors[0]}, {"x": tensors[0]}, *tensors]
    targets = [(o, m) for o in (context, builder, graph, model, *tensors, x, webnn, webnn.ML(), other)
               for m in dir(o) if not m.startswith("__") and callable(getattr(o, m)) and m not in
               ("destroy", "save", "save_async", "MLContext") and not m.endswith("_async") and not isinstance(getattr(o, m), type)]
    targets += [(builder, m) for o, m in targets if o is builder] + [(graph, "__call__"), (model, "__call__")] * 20
    names = ["x", "y", "inputs", "outputs", "shape", "data_type", "label", "axis", "axes", "groups", "strides", "pads", "bias",
             "input_layout", "graph", "tensor", "value", "name", "constants", "dimensions", "shapes", "context", "newShape", "alpha"]
    return values, targets, names, x


LIKELY = {"label": ["a", "ü", ""], "axes": [[0], [1], [0, 1]], "axis": [0, 1], "data_type": ["float32", "int8", np.int32],
          "new_shape": [[6], [3, 2]], "name": ["new", "n2"], "shape": [[2], [2, 3]], "splits": [1, [1, 1]], "alpha": [0.5, -1]}
parameters = {}


def choose(function, values, operand, names):
    """Returns arguments that are often as many, and often of the kinds, that the function takes."""
    if function.__name__ not in parameters:
        try:
            parameters[function.__name__] = list(inspect.signature(function).parameters.values())
        except ValueError:
            parameters[function.__name__] = []
    own = parameters[function.__name__]
    required = [p.name for p in own if p.default is p.empty and p.kind != p.VAR_KEYWORD]
    optional = [p.name for p in own if p.default is not p.empty] or names

    def draw(name):
        if chance.random() < 0.2:
            return chance.choice(values)
        return chance.choice(LIKELY.get(name, [operand] if name in required else values))

    wanted = required if chance.random() < 0.8 else names[:chance.randrange(5)]
    chosen = [chance.choice(optional if chance.random() < 0.7 else names) for _ in range(chance.choice((0, 0, 0, 1, 1, 2)))]
    return [draw(name) for name in wanted], {name: draw(name) for name in chosen}


taken = 0
for i in range(count):
    if i % 250 == 0:
        values, targets, names, operand = refill()
        keep = [v for v in values if isinstance(v, (np.ndarray, bytearray, memoryview, Odd))]
        before = [sys.getrefcount(v) for v in keep]
    target, method = chance.choice(targets)
    arguments, keywords = choose(getattr(target, method), values, operand, names)
    try:
        getattr(target, method)(*arguments, **keywords)
        taken += 1
    except REFUSED as error:
        assert not isinstance(error, webnn.UnknownError) or "memory" in str(error) or "limit" in str(error), error
        assert str(error) or isinstance(error, (MemoryError, ZeroDivisionError)), (method, arguments, keywords)
        del error
    if i % 250 == 249:
        arguments = keywords = None
        gc.collect()
        after = [sys.getrefcount(v) for v in keep]
        wrong = [(v, a, b) for v, a, b in zip(keep, after, before) if a != b]
        assert not wrong, f"seed {seed}, call {i}: references of {wrong}"
        for v in keep:
            if isinstance(v, bytearray) and not any(isinstance(m, memoryview) and m.obj is v for m in keep):
                v.append(0)
        values = targets = keep = v = target = operand = None
print(f"{count} calls, {taken} taken")
assert taken > count // 20
