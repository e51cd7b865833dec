# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Model files: named dimensions, constants, saved graphs, and what is refused."""
import os
import pathlib
import tempfile
import unittest

import numpy as np
import webnn

import support

context = webnn.ML().create_context(device_type="cpu")
scratch = tempfile.TemporaryDirectory()
folder = pathlib.Path(scratch.name)

# A model with two inputs whose shapes share a name, and one whose values decide a shape.
PRODUCT = support.model(
    [support.node("MatMul", ["a", "b"], ["p"]), support.node("Add", ["p", "w"], ["y"])],
    [("a", "float32", ["m", "k"]), ("b", "float32", ["k", 2])], [("y", "float32", ["m", 2])],
    [("w", np.array([10, 20], np.float32))])
RESHAPE = support.model([support.node("Reshape", ["x.1", "shape"], ["y"])],
                        [("x.1", "float32", ["n", 2]), ("shape", "int64", [2])], [("y", "float32", ["p", "q"])])


def ones(*shape):
    return np.ones(shape, np.float32)


class Models(unittest.TestCase):
    def refuses(self, error, pattern, function, *args, **keywords):
        with self.assertRaisesRegex(error, pattern):
            function(*args, **keywords)

    def test_dimensions(self):
        model = webnn.load(PRODUCT, context)
        self.assertEqual(model.dimensions, ["m", "k"])
        self.assertEqual(model.inputs, {"a": {"data_type": "float32", "shape": ["m", "k"]},
                                        "b": {"data_type": "float32", "shape": ["k", 2]}})
        self.assertEqual(model.outputs, {"y": {"data_type": "float32", "shape": ["m", 2]}})
        self.assertEqual(repr(model), f"<webnn.MLModel inputs={model.inputs} outputs={model.outputs}>")
        self.assertIs(model.context, context)
        for m, k in ((1, 3), (4, 3), (1, 3), (2, 5)):
            self.assertEqual(model(a=ones(m, k), b=ones(k, 2))["y"].tolist(), [[10 + k, 20 + k]] * m)
        self.assertEqual({k: model.counts[k] for k in ("built", "found", "held")}, {"built": 3, "found": 1, "held": 3})
        model.clear()
        self.assertEqual(model.counts["held"], 0)
        graph = model.graph({"m": 2, "k": 3})
        self.assertIn("<webnn.MLGraph inputs={'a': {'data_type': 'float32', 'shape': [2, 3]}", repr(graph))
        self.assertEqual(context.compute(graph, {"a": ones(2, 3), "b": ones(3, 2)})["y"][0].tolist(), [13, 23])
        self.assertEqual(model.graph(shapes={"a": (7, 1)}).outputs["y"]["shape"], [7, 2])
        self.refuses(ValueError, "'k' is 9; its bounds are 2 and 8", webnn.load(PRODUCT, names={"k": (2, 8)}).graph, {"m": 1, "k": 9})
        self.refuses(ValueError, "k has 1 bounds, not 2", webnn.load, PRODUCT, names={"k": [2]})
        empty = webnn.load(support.model([support.node("Concat", ["x", "e"], ["y"], axis=0)], [("x", "float32", [2]), (
            "e", "float32", ["n"])], [("y", "float32", ["k"])]))
        self.assertEqual((empty(x=ones(2), e=ones(0))["y"].tolist(), "input 'e' has no elements" in empty.notes), ([1, 1], True))
        tokens = webnn.load(support.model([support.node("Cast", ["x"], ["y"], to=1)], [("x", "uint8", ["n"])], [("y", "float32", ["n"])]))
        self.assertEqual([tokens(x=x)["y"].tolist() for x in (np.arange(3, dtype=np.uint8), b"\1")], [[0, 1, 2], [1]])
        fixed = webnn.load(PRODUCT, context, dimensions={"k": 3}, graph_limit=1)
        self.assertEqual(fixed(a=ones(1, 3), b=ones(3, 2).tobytes())["y"].shape, (1, 2))
        self.refuses(ValueError, "folder_limit is -1", webnn.load, PRODUCT, context, folder_limit=-1)
        self.assertEqual(webnn.load(PRODUCT).context.lost, False)  # the module's own context

    def test_sizes_at_run_time(self):
        boxes = np.array([[[0, 0, 2, 2], [0, 0, 2, 1.5], [5, 5, 6, 6], [9, 9, 9, 9]]], np.float32)
        scores = np.array([[[0.5, 0.25, 0.75, 0]]], np.float32)
        model = webnn.load(support.model(
            [support.node("NonMaxSuppression", ["boxes", "scores", "most", "overlap", "threshold"], ["rows"]),
             support.node("Transpose", ["rows"], ["columns"])],
            [("boxes", "float32", [1, "n", 4]), ("scores", "float32", [1, 1, "n"])],
            [("rows", "int64", ["kept", 3]), ("columns", "int64", [3, "kept"])],
            [("most", np.array([9])), ("overlap", np.array([0.5], np.float32)), ("threshold", np.array([0.1], np.float32))]),
            context)
        for threshold, kept in ((0.1, [2, 0]), (0.6, [2]), (0.9, [])):
            results = model(boxes=boxes, scores=np.where(scores > threshold, scores, 0).astype(np.float32))
            self.assertEqual(list(results), ["rows", "columns"])
            self.assertEqual(results["rows"].tolist(), [[0, 0, i] for i in kept])
            self.assertEqual(results["columns"].tolist(), [[0] * len(kept), [0] * len(kept), kept])
        graph = model.graph({"n": 4})
        self.assertEqual(sorted(graph.outputs), ["columns", "columns.shape[1]", "rows", "rows.shape[0]"])

    def test_outputs(self):
        heads = support.model([support.node("Neg", ["a"], ["n"]), support.node("Abs", ["a"], ["p"])],
                              [("a", "float32", ["m"])], [("n", "float32", ["m"]), ("p", "float32", ["m"])])
        some = webnn.load(heads, context, outputs=("p",))
        self.assertEqual({k: v.tolist() for k, v in some(a=-ones(2)).items()}, {"p": [1, 1]})
        idle = support.model([support.node("Abs", ["a"], ["p"])], [("a", "float32", [2]), ("b", "float32", [3])],
                             [("p", "float32", [2])])
        self.assertEqual(webnn.load(idle, context)(a=-ones(2), b=ones(3))["p"].tolist(), [1, 1])
        heads = support.model([support.node("Neg", ["a"], ["n"]), support.node("Abs", ["b"], ["p"])],
                              [("a", "float32", ["m"]), ("b", "float32", ["m"])],
                              [("n", "float32", ["m"]), ("p", "float32", ["m"])])
        some = webnn.load(heads, context, outputs=["n"])
        for given in ({"a": ones(2)}, {"a": ones(2), "b": ones(2)}):
            self.assertEqual({k: v.tolist() for k, v in some(given).items()}, {"n": [-1, -1]})
        self.refuses(TypeError, "input 'a' is missing", some, {"b": ones(2)})
        self.refuses(TypeError, "input 'c' is not one of the model's", some, {"a": ones(2), "c": ones(2)})
        for given in ["n"], {"n": ones(2)}:
            self.refuses(TypeError, r"model: there is no input 'outputs'; outputs are chosen by .*load.*context\.compute", some,
                         a=ones(2), outputs=given)
        self.refuses(TypeError, "outputs is a str", webnn.load, heads, context, outputs="p")
        self.refuses(TypeError, "an output is of type int", webnn.load, heads, context, outputs=[1])
        self.refuses(ValueError, "no output 'q'", webnn.load, heads, context, outputs=["q"])

    def test_wrong_arrays(self):
        model = webnn.load(PRODUCT, context)
        self.refuses(TypeError, r"model: input 'b' is missing; the model has \['a', 'b'\]", model, a=ones(1, 1))
        self.refuses(TypeError, r"model: input 'c' is not one of the model's, which are \['a', 'b'\]", model, a=ones(1, 1), b=ones(1, 2), c=ones(1))
        self.refuses(TypeError, "arrays are given by name", model, ones(1, 1), ones(1, 2))
        self.refuses(TypeError, "input 'a' is of type list", model, a=[[1]], b=ones(1, 2))
        self.refuses(TypeError, "input 'a' has elements of int32; the graph wants float32", model,
                     a=np.ones((1, 1), np.int32), b=ones(1, 2))
        self.refuses(ValueError, "k", model, a=ones(1, 3), b=ones(4, 2))
        self.refuses(ValueError, "a", model, a=ones(3), b=ones(3, 2))
        self.refuses(ValueError, "z", model.graph, {"z": 1})
        self.refuses(ValueError, "k|m", model.graph, {"m": 2})
        self.refuses(TypeError, "m is of type str, not int", model.graph, {"m": "2"})
        self.assertEqual(model(a=ones(1, 3), b=ones(3, 2))["y"].tolist(), [[13, 23]])

    def test_constants(self):
        model = webnn.load(RESHAPE, context, constants={"shape": np.array([1, 4])})
        self.assertEqual(model({"x.1": ones(2, 2)})["y"].shape, (1, 4))
        self.refuses((ValueError, webnn.Error), "shape", webnn.load(RESHAPE, context), {"x.1": ones(2, 2)},
                     shape=np.array([1, 4]))
        self.refuses(TypeError, "constant 'shape'|constant is of type str", webnn.load, RESHAPE, context, constants={"shape": "x"})

    def test_files(self):
        path = folder / "product.onnx"
        path.write_bytes(PRODUCT)
        for given in (path, str(path), os.fsencode(path).decode()):
            self.assertEqual(webnn.load(given, context)(a=ones(1, 1), b=ones(1, 2))["y"].tolist(), [[11, 21]])
        self.refuses(FileNotFoundError, "absent.onnx", webnn.load, folder / "absent.onnx", context)
        self.refuses(webnn.DataError, "", webnn.load, b"this is no model", context)
        self.refuses(webnn.DataError, "", webnn.load, __file__, context)
        self.refuses(TypeError, "", webnn.load, 5, context)
        self.refuses(TypeError, "context is of type int", webnn.load, path, 5)
        self.refuses(ValueError, "null", webnn.load, "a\0b", context)
        kept = folder / "graphs"
        for loaded in (0, 1):
            model = webnn.load(path, context, folder=kept)
            model(a=ones(1, 1), b=ones(1, 2))
            self.assertEqual(model.counts["loaded"], loaded)
        model = webnn.load(path, context, folder=kept, folder_limit=1)
        model(a=ones(2, 1), b=ones(1, 2))
        self.assertEqual(len(list(kept.iterdir())), 1)
        text = folder / "sum.webnn"
        text.write_text('webnn_graph "sum" v1 { inputs { x: f32[2]; } nodes { y = add(x, x); } outputs { y; } }')
        model = webnn.load(text)
        self.assertEqual((model.name, model(x=ones(2))["y"].tolist()), ("sum", [2, 2]))

    def test_saved_graphs(self):
        graph = webnn.load(PRODUCT, context).graph({"m": 1, "k": 2})
        path = folder / "graph.bin"
        graph.save(path)
        again = context.load_graph(path)
        arrays = {"a": np.random.default_rng(1).random((1, 2), np.float32), "b": ones(2, 2)}
        self.assertEqual(graph(arrays)["y"].tobytes(), again(arrays)["y"].tobytes())
        self.assertEqual((again.operand_count, again.get_output_names()), (0, ["y"]))
        self.refuses(FileNotFoundError, "absent", context.load_graph, folder / "absent")
        self.refuses(webnn.DataError, "", context.load_graph, __file__)
        self.refuses(FileNotFoundError, "folder", graph.save, folder / "no" / "folder")
        graph.destroy()
        self.refuses(webnn.InvalidStateError, "destroyed", graph, arrays)

    def test_profile(self):
        timed = webnn.ML().create_context(device_type="cpu", profile=True)
        model = webnn.load(PRODUCT, timed)
        for _ in range(5):
            model(a=ones(1, 1), b=ones(1, 2))
        times = timed.profile()
        self.assertEqual(len(times), 5)
        self.assertTrue(all(t["submitted"] <= t["begun"] <= t["ended"] for t in times))
        self.assertEqual(timed.profile(), [])
        for _ in range(5000):
            model(a=ones(1, 1), b=ones(1, 2))
        self.assertEqual(len(timed.profile()), 4096)
        timed.destroy()
        self.assertEqual(timed.profile(), [])


try:
    unittest.main()
finally:
    scratch.cleanup()
