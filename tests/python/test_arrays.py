# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reader of arrays takes valid ones and refuses others, and lets everything go that it held."""
import array
import ctypes
import gc
import subprocess
import sys
import unittest

import numpy as np
import webnn

TYPES = ["float32", "float16", "int32", "uint32", "int64", "uint64", "int8", "uint8"]
context = webnn.ML().create_context(device_type="cpu")


def identity(data_type="float32", shape=(2, 3)):
    builder = context.create_graph_builder()
    return builder.build({"y": builder.identity(builder.input("x", shape, data_type))})


def compute(graph, value, **options):
    return context.compute(graph, {"x": value}, **options)["y"]


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device", ctypes.c_int32), ("device_id", ctypes.c_int32), ("rank", ctypes.c_int32),
                ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16),
                ("shape", ctypes.POINTER(ctypes.c_int64)), ("strides", ctypes.POINTER(ctypes.c_int64)),
                ("offset", ctypes.c_uint64)]


DELETER = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class Managed(ctypes.Structure):
    _fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]


new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class DLPack:
    """A tensor by DLPack that its maker says anything about, and that counts how often it is deleted."""

    def __init__(self, values, sizes, strides=None, kind=1, capsule_name=b"dltensor", has_deleter=True, **fields):
        self.deleted, self.kind, self.capsule_name = 0, kind, capsule_name
        self.keep = [(ctypes.c_int64 * max(1, len(s)))(*s) for s in (sizes, strides or [])]
        self.values = values
        self.managed = Managed(Tensor(values.ctypes.data, 1, 0, len(sizes), 2, 32, 1, self.keep[0],
                                      self.keep[1] if strides else None, 0))
        if has_deleter:
            self.managed.deleter = DELETER(self.count)
        for name, value in fields.items():
            setattr(self.managed.tensor, name, value)

    def count(self, _):
        self.deleted += 1

    def __dlpack_device__(self):
        return (self.kind, 0)

    def __dlpack__(self, **_):
        return new_capsule(ctypes.addressof(self.managed), self.capsule_name, None)


class Arrays(unittest.TestCase):
    def refuses(self, error, pattern, function, *args, **keywords):
        with self.assertRaisesRegex(error, pattern):
            function(*args, **keywords)

    def test_data_types(self):
        for name in TYPES:
            graph = identity(name)
            value = np.arange(6).reshape(2, 3).astype(name)
            for given in (value, value.tobytes(), bytearray(value.tobytes()), memoryview(value), value.ravel(),
                          np.asfortranarray(value), np.repeat(value, 2, axis=1)[:, ::2], value[::-1][::-1]):
                result = compute(graph, given)
                self.assertEqual((result.dtype, result.shape), (value.dtype, value.shape))
                self.assertEqual(result.tobytes(), value.tobytes())
            for other in TYPES + ["float64", "int16", "complex64", ">i4", ">f4", "S4", "O"]:
                if np.dtype(other) != value.dtype and not (other == "uint8"):
                    self.refuses((ValueError, TypeError), "compute: input 'x'|", compute, graph, np.zeros((2, 3), other))
        self.assertEqual(compute(identity("int32"), array.array("i", range(6))).tolist(), [[0, 1, 2], [3, 4, 5]])
        self.assertEqual(compute(identity("uint8"), np.ones((2, 3), bool)).tolist(), [[1, 1, 1]] * 2)
        self.assertEqual(compute(identity("float32", []), np.float32(7)).tolist(), 7)
        self.assertEqual(compute(identity("float32", [2]), (ctypes.c_float * 2)(1, 2)).tolist(), [1, 2])
        reversed_rows = np.arange(6, dtype=np.float32).reshape(2, 3)[::-1]
        self.assertEqual(compute(identity(), reversed_rows).tolist(), reversed_rows.tolist())

    def test_refused(self):
        graph, right = identity(), np.zeros((2, 3), np.float32)
        self.refuses(TypeError, "input 'x' is of type list", compute, graph, [[1, 2, 3]] * 2)
        self.refuses(TypeError, "input 'x' is of type NoneType", compute, graph, None)
        self.refuses(ValueError, r"has shape \[3, 2\]; the graph wants \[2, 3\]", compute, graph, right.T)
        self.refuses(ValueError, r"has shape \[5\]; the graph wants \[2, 3\]", compute, graph, right.ravel()[:5])
        self.refuses(TypeError, "has elements of float64; the graph wants float32", compute, graph, right.astype(float))
        self.refuses(TypeError, "has elements of uint8; the graph wants float32", compute, graph, bytes(23))
        self.refuses(ValueError, "more than 32", compute, graph, DLPack(right, [1] * 33))
        self.refuses(TypeError, "inputs is of type list, not dict", context.compute, graph, [right])
        self.refuses(TypeError, "a name is of type int", context.compute, graph, {1: right})
        self.refuses(ValueError, r"input 'x' is missing; the graph has \['x'\]", context.compute, graph, {})
        self.refuses(ValueError, "input 'z' is not one", context.compute, graph, {"x": right, "z": right})
        self.refuses(TypeError, "graph is of type int, not MLGraph", context.compute, 1, {})
        other = webnn.ML().create_context(device_type="cpu")
        self.refuses(ValueError, "another context", other.compute, graph, {"x": right})
        other.destroy()
        self.refuses(webnn.InvalidStateError, "lost", other.create_tensor, [1])

    def test_outputs(self):
        graph, value = identity(), np.arange(6, dtype=np.float32).reshape(2, 3)
        out = np.zeros((2, 3), np.float32)
        self.assertIs(compute(graph, value, outputs={"y": out}), out)
        self.assertEqual(out.tolist(), value.tolist())
        flat = bytearray(24)
        self.assertIs(compute(graph, value, outputs={"y": flat}), flat)
        self.assertEqual(bytes(flat), value.tobytes())
        tensor = DLPack(np.zeros((2, 3), np.float32), [2, 3])
        compute(graph, value, outputs={"y": tensor})
        self.assertEqual((tensor.values.tolist(), tensor.deleted), (value.tolist(), 1))
        frozen = np.zeros((2, 3), np.float32)
        frozen.flags.writeable = False
        self.refuses(ValueError, "output 'y' is read-only", compute, graph, value, outputs={"y": frozen})
        self.refuses(ValueError, "output 'y' is read-only", compute, graph, value, outputs={"y": bytes(24)})
        self.refuses(ValueError, "output 'y' is not contiguous", compute, graph, value, outputs={"y": out.T.copy().T})
        self.refuses(ValueError, "output 'y' is missing", compute, graph, value, outputs={})
        self.refuses(ValueError, "overlap|same", compute, graph, out, outputs={"y": out})
        builder = context.create_graph_builder()
        x = builder.input("x", [2, 3])
        graph = builder.build({"y": builder.identity(x), "z": builder.neg(x)})
        given = {"z": np.zeros((2, 3), np.float32)}
        self.assertEqual(context.compute(graph, {"x": value}, given).keys(), {"z"})
        self.assertEqual(given["z"].tolist(), (-value).tolist())
        self.refuses(TypeError, r"graph: there is no input 'outputs'; outputs are chosen by .*load.*context\.compute", graph,
                     x=value, outputs=["z"])

    def test_chosen_outputs_need_their_inputs(self):
        builder = context.create_graph_builder()
        graph = builder.build({"y": builder.neg(builder.input("a", [2])), "z": builder.abs(builder.input("outputs", [2]))})
        a, y = np.ones(2, np.float32), np.zeros(2, np.float32)
        self.assertIs(context.compute(graph, {"a": a}, {"y": y})["y"], y)
        self.assertEqual(y.tolist(), [-1, -1])
        self.refuses(ValueError, '0 inputs are given, the graph has 2; missing: "a"', context.compute, graph, {}, {"y": y})
        self.refuses(ValueError, r"input 'outputs' is missing", context.compute, graph, {"a": a})
        self.assertEqual(graph(a=a, outputs=a).keys(), {"y", "z"})  # it is an input's name here

    def test_dlpack(self):
        graph, value = identity(), np.arange(6, dtype=np.float32)
        good = [DLPack(value, [2, 3]), DLPack(value, [6]), DLPack(value, [2, 3], [3, 1]), DLPack(value, [2, 3], kind=3),
                DLPack(value, [2, 3], has_deleter=False)]
        for tensor in good:
            self.assertEqual(compute(graph, tensor).ravel().tolist(), value.tolist())
        self.assertEqual([t.deleted for t in good], [1, 1, 1, 1, 0])
        columns = DLPack(value, [2, 3], [1, 2])
        self.assertEqual(compute(graph, columns).tolist(), value.reshape(3, 2).T.tolist())
        repeated = DLPack(value, [2, 3], [0, 1])
        self.assertEqual(compute(graph, repeated).tolist(), [[0, 1, 2]] * 2)
        shifted = DLPack(np.arange(8, dtype=np.float32), [2, 3], offset=8)
        self.assertEqual(compute(graph, shifted).ravel().tolist(), [2, 3, 4, 5, 6, 7])

    def test_wrong_dlpack(self):
        graph, value = identity(), np.arange(6, dtype=np.float32)
        huge, none = 2**62, ctypes.POINTER(ctypes.c_int64)()
        bad = [DLPack(value, [2, 3], rank=-1), DLPack(value, [2, 3], rank=2**31 - 1), DLPack(value, [2, 3], shape=none),
               DLPack(value, [-2, -3]), DLPack(value, [huge, huge]), DLPack(value, [2, 3], [huge, 1]), DLPack(value, [3, 2]),
               DLPack(value, [2, 3], bits=3), DLPack(value, [2, 3], bits=0), DLPack(value, [2, 3], bits=64),
               DLPack(value, [2, 3], lanes=2), DLPack(value, [2, 3], code=4), DLPack(value, [2, 3], data=0),
               DLPack(value, [0, 3]), DLPack(value, [2**31, 2**31])]
        for tensor in bad:
            self.refuses((ValueError, TypeError), "compute: input 'x' has ", compute, graph, tensor)
        self.assertEqual([t.deleted for t in bad], [1] * len(bad))
        for tensor in (DLPack(value, [2, 3], capsule_name=b"other"), DLPack(value, [2, 3], capsule_name=b"used_dltensor")):
            self.refuses(TypeError, "no capsule 'dltensor'", compute, graph, tensor)
            self.assertEqual(tensor.deleted, 0)
        self.refuses(ValueError, "device of DLPack's kind 2", compute, graph, DLPack(value, [2, 3], kind=2))
        self.refuses(TypeError, "", compute, graph, DLPack(value, [2, 3], kind="cpu"))

        class Raises:
            def __dlpack_device__(self):
                return (1, 0)

            def __dlpack__(self, **_):
                raise ZeroDivisionError

        self.refuses(ZeroDivisionError, "", compute, graph, Raises())
        Raises.__dlpack__ = lambda self: 5
        self.refuses(TypeError, "no capsule", compute, graph, Raises())
        for device in (1, (1,), (), None):
            Raises.__dlpack_device__ = lambda self, d=device: d
            self.refuses(TypeError, "no pair", compute, graph, Raises())

    def test_nothing_is_held(self):
        graph, value = identity(), np.zeros((2, 3), np.float32)
        wrong = [value.T, value.astype(float), np.zeros((2, 3), ">f4"), bytearray(3), DLPack(value, [3, 2])]
        right = [value, bytearray(24), np.asfortranarray(value)]
        before = [sys.getrefcount(v) for v in wrong + right]
        for _ in range(50):
            for one in right:
                compute(graph, one)
                compute(graph, value, outputs={"y": bytearray(24)})
            for one in wrong:
                for function in (lambda: compute(graph, one), lambda: compute(graph, value, outputs={"y": one}),
                                 lambda: compute(graph, value, outputs={"y": one, "z": one})):
                    self.refuses((ValueError, TypeError), "", function)
        del one, function
        gc.collect()
        self.assertEqual([sys.getrefcount(v) for v in wrong + right], before)
        for one in wrong + right:
            if isinstance(one, bytearray):
                one.append(0)  # which Python refuses while a buffer of it is held

    def test_results_stay(self):
        """A result's memory is its own, and lives as long as an array that was made of it."""
        graph = identity()
        first = compute(graph, np.ones((2, 3), np.float32))
        view = first[1:]
        compute(graph, np.zeros((2, 3), np.float32))
        del first
        gc.collect()
        self.assertEqual(view.tolist(), [[1, 1, 1]])

    def test_without_numpy(self):
        """Without NumPy a result is a webnn.Array; those of other packages read it by DLPack."""
        program = """if True:
            import array, sys
            numpy = sys.modules.get("numpy")
            sys.modules["numpy"] = None
            import webnn
            builder = webnn.ML().create_context(device_type="cpu").create_graph_builder()
            x = builder.input("x", [2, 3])
            h = builder.cast(x, "float16")
            try:
                builder.constant([1, 2], data_type="float32")
            except TypeError as error:
                assert "lists need NumPy" in str(error)
            graph = builder.build({"y": builder.neg(x), "h": h})
            results = graph(x=array.array("f", range(6)))
            y = results["y"]
            assert type(y) is webnn.Array and y.shape == (2, 3) and y.data_type == "float32", y
            assert repr(y) == "<webnn.Array float32 (2, 3)>" and y.tolist() == [[0, -1, -2], [-3, -4, -5]]
            assert memoryview(y)[1, 2] == -5 and memoryview(y).c_contiguous and bytes(y) == memoryview(y).tobytes()
            assert memoryview(results["h"]).format == "e" and y.__dlpack_device__() == (1, 0)
            for i in range(1000):
                y.__dlpack__()
            assert sys.getrefcount(y) == 3
            del sys.modules["numpy"]
            import numpy
            taken = numpy.from_dlpack(y), numpy.from_dlpack(results["h"])
            assert sys.getrefcount(y) == 4
            del y, results
            assert taken[0].tolist() == [[0, -1, -2], [-3, -4, -5]] and taken[1][1, 2] == 5
        """
        subprocess.run([sys.executable, "-c", program], check=True)


unittest.main()
