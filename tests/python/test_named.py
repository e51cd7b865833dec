# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Named dimensions: strings in shapes, computations on arrays of any size, the operators of the draft of dynamic shapes."""
import unittest

import numpy as np
import webnn

context = webnn.ML().create_context(device_type="cpu")


class Named(unittest.TestCase):
    def setUp(self):
        self.b = context.create_graph_builder()

    def integers(self, *values):
        return self.b.constant(np.array(values, np.int64))

    def test_shapes(self):
        b, x = self.b, self.b.input("x", ("batch", "length", np.int64(8)))
        self.assertEqual(x.shape, ["batch", "length", 8])
        self.assertIn("['batch', 'length', 8]", repr(x))
        self.assertEqual(b.reduce_sum(x, axes=[1]).shape, ["batch", 8])
        for error, shape, pattern in ((TypeError, "batch", "shape is of type str"), (TypeError, [1.5], r"shape\[0\] is of type float"),
                                      (ValueError, [""], "name of dimension 0"), (TypeError, [None], r"shape\[0\]")):
            with self.assertRaisesRegex(error, pattern):
                b.input("y", shape)
        with self.assertRaisesRegex(TypeError, r"shape\[0\] is of type str, not int"):
            b.constant(np.zeros(2, np.float32), shape=["n"])
        with self.assertRaisesRegex(ValueError, "add: the shapes of a and b"):
            b.add(x, b.input("z", [7]))

    def test_any_size(self):
        """One graph computes arrays of any size, and says what does not fit."""
        b, weights = self.b, np.arange(24, dtype=np.float32).reshape(8, 3)
        x, y = b.input("x", ["rows", "n", 8]), b.input("y", ["rows"])
        graph = b.build({"z": b.concat([b.matmul(x, b.constant(weights))] * 2, 1), "y": b.neg(y)})
        self.assertEqual(graph.inputs["x"], {"data_type": "float32", "shape": ["rows", "n", 8]})
        self.assertEqual(graph.outputs["y"]["shape"], ["rows"])
        self.assertEqual(graph.compute_shapes({"x": (2, 5, 8)}), {"z": [2, 10, 3], "y": [2]})
        for rows, n in ((2, 3), (1, 5), (2, 3)):
            value = np.arange(rows * n * 8, dtype=np.float32).reshape(rows, n, 8)
            result = graph(x=value, y=np.ones(rows, np.float32))
            self.assertTrue(np.array_equal(result["z"], np.concatenate([value @ weights] * 2, 1)))
            self.assertEqual(result["y"].tolist(), [-1] * rows)
        self.assertEqual({k: graph.variant_counts[k] for k in ("built", "found")}, {"built": 2, "found": 1})
        graph.set_variant_limit(1)
        self.assertEqual(graph.variant_counts["held"], 1)
        given = {"x": value, "y": np.ones(2, np.float32)}
        out = {"z": np.empty((2, 6, 3), np.float32)}
        context.compute(graph, given, out)
        self.assertTrue(np.array_equal(out["z"], result["z"]))
        for error, pattern, inputs, outputs in (
            (ValueError, r"output 'z' has shape \[6, 2, 3\]; the graph wants \[2, 6, 3\]", given, {"z": np.empty((6, 2, 3), np.float32)}),
            (ValueError, r"input 'x' has shape \[2, 24\]; the graph wants \['rows', 'n', 8\]", {**given, "x": value.reshape(2, 24)}, None),
            (TypeError, "elements of float64; the graph wants float32", {**given, "x": value.astype(float)}, None),
            (ValueError, "rows", {**given, "y": np.ones(3, np.float32)}, None),
            (ValueError, "input 'x' is missing", {"y": given["y"]}, None),
        ):
            with self.assertRaisesRegex(error, pattern):
                context.compute(graph, inputs, outputs)
        for error, wrong in ((TypeError, 5), (ValueError, {"x": [2, 5, 9]}), (ValueError, {"x": [1] * 32}), (ValueError, {"v": [1]}),
                             (TypeError, {"x": ["n"]})):
            with self.assertRaises(error):
                graph.compute_shapes(wrong)

    def test_dispatch(self):
        graph = self.b.build({"y": self.b.neg(self.b.input("x", ["n"]))})
        for n in (3, 4):
            x, y = context.create_tensor([n]), context.create_tensor([n])
            context.write_tensor(x, np.arange(n, dtype=np.float32))
            context.dispatch(graph, {"x": x}, {"y": y})
            self.assertEqual(context.read_tensor(y).tolist(), [-float(i) for i in range(n)])
        with self.assertRaises(ValueError):
            context.dispatch(graph, {"x": x}, {"y": context.create_tensor([3])})

    def test_operators(self):
        """Pads to a multiple of 4, as the draft's explainer does, and splits, tiles and counts."""
        b, x = self.b, self.b.input("x", ["n", 2])
        n = b.slice(b.cast(b.shape(x), "int64"), [0], [1])
        pad = b.modulus_floor(b.neg(n), self.integers(4))
        padded = b.pad_dynamic(x, self.integers(0, 0), b.concat([pad, self.integers(0)], 0))
        half = b.div(b.add(n, pad), self.integers(2))
        first, second = b.split_dynamic(padded, b.concat([half, half], 0))
        counted = b.range(b.constant(0, data_type="int64"), b.squeeze(half, axes=[0]), b.constant(1, data_type="int64"))
        rest = b.cast(b.unsqueeze(b.modulus_truncate(counted, b.constant(2, data_type="int64")), [1]), "float32")
        wide = b.expand_dynamic(rest, b.concat([half, self.integers(2)], 0))
        part = b.slice_dynamic(b.tile_dynamic(wide, self.integers(1, 2)), self.integers(0, 1), b.concat([half, self.integers(2)], 0))
        y = b.reshape_dynamic(b.add(b.add(first, second), part), b.concat([half, self.integers(1, 2)], 0), label="last")
        self.assertEqual(b.reshape_to2d(x).shape, ["n", 2])
        self.assertEqual(b.reshape_to2d(x, axis=0).shape[0], 1)
        self.assertEqual(b.resample2d_dynamic(b.unsqueeze(x, [0, 1]), sizes=self.integers(6, 4)).shape, [1, 1, 6, 4])
        with self.assertRaisesRegex(ValueError, "squeeze"):
            b.squeeze(x, axes=[1])
        with self.assertRaisesRegex(TypeError, r"unsqueeze: 'axes' is missing; it is called unsqueeze\(input, axes, \*, label=''\)"):
            b.unsqueeze(x)
        value = np.arange(6, dtype=np.float32).reshape(3, 2)
        whole = np.concatenate([value, np.zeros((1, 2), np.float32)])
        expected = whole[:2] + whole[2:] + np.array([[0, 0], [1, 1]], np.float32)
        self.assertTrue(np.array_equal(b.build({"y": y})(x=value)["y"], expected[:, None]))


if __name__ == "__main__":
    unittest.main()
