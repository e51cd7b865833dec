# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Builders: every operator is there, arguments convert, and errors name their cause."""
import inspect
import unittest

import numpy as np
import webnn

import support

context = webnn.ML().create_context(device_type="cpu")


class Builder(unittest.TestCase):
    def setUp(self):
        self.b = context.create_graph_builder()
        self.image = self.b.input("image", [1, 4, 8, 8])
        self.filter = self.b.constant(np.ones((8, 4, 3, 3), np.float32))

    def refuses(self, error, pattern, function, *args, **keywords):
        with self.assertRaisesRegex(error, pattern):
            function(*args, **keywords)

    def test_operators(self):
        """The methods are the rows of the table, with signatures that help() and inspect know."""
        rows = "".join((support.ROOT / "ir/graph" / file).read_text() for file in ("ops.def", "ops_draft.def"))
        names = [line.split(",")[1].strip() for line in rows.splitlines()
                 if line.startswith("OP")]
        own = {"input", "constant", "build", "build_async", "set_states", "quantize_weights"}
        methods = [name for name in vars(webnn.MLGraphBuilder) if not name.startswith("__") and name not in own]
        self.assertEqual(len(methods), len(names))
        self.assertEqual({m.replace("_", "") for m in methods}, {n.lower() for n in names})
        for name in ("is_nan", "gather_nd", "conv_transpose2d", "l2_pool2d", "reduce_log_sum_exp", "gru_cell", "where"):
            self.assertIn(name, methods)
        parameters = inspect.signature(webnn.MLGraphBuilder.conv2d).parameters
        self.assertEqual(list(parameters)[:4], ["self", "input", "filter", "bias"])
        self.assertEqual(parameters["bias"].kind, inspect.Parameter.KEYWORD_ONLY)

    def test_arguments_convert(self):
        b = self.b
        self.assertEqual(b.conv2d(self.image, filter=self.filter, padding=(1, 1, 1, 1), groups=np.int64(1)).shape, [1, 8, 8, 8])
        self.assertEqual(b.conv2d(input=self.image, filter=self.filter, strides=np.array([2, 2]), bias=None).shape, [1, 8, 3, 3])
        self.assertEqual([o.shape for o in b.split(self.image, 2, axis=1)], [[1, 2, 8, 8]] * 2)
        self.assertEqual([o.shape for o in b.split(self.image, np.array([1, 3]), axis=1)], [[1, 1, 8, 8], [1, 3, 8, 8]])
        self.assertEqual(b.concat((self.image, self.image), axis=1).shape, [1, 8, 8, 8])
        self.assertEqual(b.concat((o for o in [self.image]), 1).shape, [1, 4, 8, 8])
        for name in ("float16", np.float16, np.dtype("float16")):
            self.assertEqual(b.cast(self.image, name).data_type, "float16")
        self.assertEqual(b.clamp(self.image, min_value=-1, max_value=np.float32(2.5), label="c").shape, [1, 4, 8, 8])
        self.assertEqual(b.reduce_mean(self.image, axes=[2, 3], keep_dimensions=np.bool_(True)).shape, [1, 4, 1, 1])
        recurrent = b.gru(b.input("s", [2, 1, 3]), b.input("w", [1, 12, 3]), b.input("r", [1, 12, 4]), 2, 4,
                          activations=["relu", "tanh"], return_sequence=True)
        self.assertEqual([o.shape for o in recurrent], [[1, 1, 4], [2, 1, 1, 4]])

    def test_numbers(self):
        """Numbers arrive as they are: 64 bits of integers, floats, infinities."""
        b, outputs = context.create_graph_builder(), {}
        values = {"int64": [2**63 - 1, -2**63, 0], "uint64": [2**64 - 1, 2**70], "float32": [0.5, float("inf"), 3],
                  "int8": [-300, 5], "uint8": [True, 255.0]}
        for name, numbers in values.items():
            for i, number in enumerate(numbers):
                outputs[f"{name}{i}"] = b.identity(b.add(b.constant(number, data_type=name), b.input(f"i{name}{i}", [], name)))
        graph = b.build(outputs)
        results = graph({n: np.zeros([], p["data_type"]) for n, p in graph.inputs.items()})
        found = {name: [results[f"{name}{i}"].item() for i in range(len(v))] for name, v in values.items()}
        self.assertEqual(found, {"int64": [2**63 - 1, -2**63, 0], "uint64": [2**64 - 1, 2**64 - 1],
                                 "float32": [0.5, float("inf"), 3], "int8": [-128, 5], "uint8": [1, 255]})

    def test_constants(self):
        b, value = self.b, np.arange(6, dtype=np.float32).reshape(2, 3)
        tensor = context.create_constant_tensor(value)
        self.assertTrue(tensor.constant)
        given = [b.constant(value), b.constant(value.tobytes(), [2, 3], "float32"), b.constant(value.tolist(), data_type="float32"),
                 b.constant(value.ravel(), shape=[2, 3]), b.constant(value.T, shape=(2, 3)), b.constant(tensor),
                 b.constant(value[:, ::-1])]
        graph = context.create_graph_builder()
        self.assertEqual([o.shape for o in given], [[2, 3]] * 7)
        x = b.input("x", [2, 3])
        graph = b.build({str(i): b.add(x, o) for i, o in enumerate(given)})
        results = list(graph(x=np.zeros((2, 3), np.float32)).values())
        expected = [value] * 4 + [value.T.ravel().reshape(2, 3), value, value[:, ::-1]]
        self.assertTrue(all(np.array_equal(r, e) for r, e in zip(results, expected)))
        b = context.create_graph_builder()
        self.refuses(TypeError, "constant: value has elements of float64, which WebNN does not have", b.constant, np.zeros(2))
        self.refuses(TypeError, "value has elements of int32; the constant wants float32", b.constant, np.zeros(2, np.int32),
                     None, "float32")
        self.refuses(ValueError, r"value has shape \[6\]; the constant wants \[2, 2\]", b.constant, value, [2, 2])
        self.refuses(TypeError, "value is a number, which needs a data_type", b.constant, 1.0)
        self.refuses(TypeError, "value is a number", b.constant, 1.0, [2], "float32")
        self.refuses(TypeError, "constant: value.* is of type str", b.constant, "text")
        self.refuses(ValueError, "inhomogeneous|sequence", b.constant, [[1], [1, 2]], data_type="float32")
        self.refuses(ValueError, "data_type is 'float'; it is one of ", b.constant, 1, data_type="float")

    def test_wrong_arguments(self):
        """Messages name operator, label, argument and value."""
        b, image, filter = self.b, self.image, self.filter
        for error, pattern, method, args, keywords in (
            (TypeError, r"^conv2d: 'filter' is missing; it is called conv2d\(input, filter, \*, bias=None", b.conv2d, [image], {}),
            (TypeError, r"^conv2d \[c\]: there is no argument 'stride'; it is called", b.conv2d, [image, filter],
             {"stride": 1, "label": "c"}),
            (TypeError, r"^conv2d: 'filter' is given twice", b.conv2d, [image, filter], {"filter": filter}),
            (TypeError, r"^conv2d: there are too many arguments", b.conv2d, [image, filter, filter], {}),
            (TypeError, r"^conv2d \[c\]: filter is of type int, not MLOperand", b.conv2d, [image, 5], {"label": "c"}),
            (TypeError, r"^conv2d: label is of type int, not str|^label is of type int", b.conv2d, [image, filter], {"label": 1}),
            (TypeError, r"^conv2d: strides\[1\] is of type str, not a number", b.conv2d, [image, filter], {"strides": [1, "a"]}),
            (TypeError, r"^conv2d: strides is of type int, not a list", b.conv2d, [image, filter], {"strides": 1}),
            (TypeError, r"^conv2d: input_layout is of type int, not str", b.conv2d, [image, filter], {"input_layout": 1}),
            (ValueError, r"^conv2d \[c\]: groups takes an integer from 0 to 4294967295, not -1", b.conv2d, [image, filter],
             {"groups": -1, "label": "c"}),
            (ValueError, r"^conv2d \[c\]: the 4 channels.* 3 groups", b.conv2d, [image, filter], {"groups": 3, "label": "c"}),
            (ValueError, r"^conv2d: inputLayout takes nchw or nhwc, not \"nhcw\"", b.conv2d, [image, filter],
             {"input_layout": "nhcw"}),
            (ValueError, r"^add \[sum\]: the shapes of a and b, \[1, 4, 8, 8\] and \[8, 4, 3, 3\]", b.add, [image, filter],
             {"label": "sum"}),
            (TypeError, r"^concat: inputs is of type MLOperand, not a list", b.concat, [image, 0], {}),
            (TypeError, r"^concat: inputs\[1\] is of type NoneType", b.concat, [[image, None], 0], {}),
            (TypeError, r"^leaky_relu: alpha is of type list, not a number", b.leaky_relu, [image], {"alpha": [1]}),
            (ValueError, r"^leaky_?[rR]elu: alpha takes a finite number, not NaN", b.leaky_relu, [image], {"alpha": float("nan")}),
            (TypeError, r"^cumulative_sum: exclusive is of type str, not bool", b.cumulative_sum, [image, 0], {"exclusive": "no"}),
            (TypeError, r"^cast: data_type is of type list", b.cast, [image, []], {}),
            (ValueError, r"^data_type is 'float'|dataType|data type", b.cast, [image, "float"], {}),
            (ValueError, r"shape\[0\] is -1, which is not from 0 to 4294967295", b.input, ["n", [-1]], {}),
            (ValueError, r"shape\[1\] is 18446744073709551616", b.input, ["n", [1, 2**64]], {}),
            (TypeError, r"shape is of type int", b.input, ["n", 3], {}),
            (TypeError, r"shape\[0\] is of type float, not int", b.input, ["n", [1.0]], {}),
            (ValueError, r"shape has 33 dimensions", b.input, ["n", [1] * 33], {}),
            (ValueError, r'input "image": an input of that name exists', b.input, ["image", [1]], {}),
            (TypeError, r"name is of type bytes, not str", b.input, [b"n", [1]], {}),
            (TypeError, r"outputs is of type list, not dict", b.build, [[image]], {}),
            (TypeError, r"y is of type int, not MLOperand", b.build, [{"y": 1}], {}),
            (ValueError, r"image|input", b.build, [{"y": image}], {}),
            (ValueError, r"'int2'; it is one of \['none', 'int8', 'int4'\]", b.quantize_weights, ["int2"], {}),
        ):
            with self.subTest(pattern):
                self.refuses(error, pattern, method, *args, **keywords)
        # None of these leaves an error behind.
        self.assertEqual(b.build({"y": b.relu(image)}).get_output_names(), ["y"])
        self.refuses(webnn.InvalidStateError, "built", b.relu, image)
        other = webnn.MLGraphBuilder(context)
        self.refuses(ValueError, "another|builder", other.relu, image)

    def test_contexts(self):
        ml = webnn.ML()
        self.refuses(ValueError, r"engine is 'tpu'; it is one of \['auto', 'cpu', 'gpu'\]", ml.create_context, engine="tpu")
        self.refuses(TypeError, "engine is of type int", ml.create_context, engine=1)
        self.refuses(TypeError, "", ml.create_context, no_such_option=1)
        self.refuses(ValueError, "threads is -1", ml.create_context, threads=-1)
        self.refuses(ValueError, "memory_limit is -5, which is not from 0 to 1844", ml.create_context, memory_limit=-5)
        self.refuses(TypeError, "memory_limit is of type str, not int", ml.create_context, memory_limit="1 GB")
        self.refuses(ValueError, "debug|switch", ml.create_context, debug="no-such-switch")
        self.refuses(webnn.NotSupportedError, "", ml.create_context, engine="gpu", device="no such device")
        self.refuses(TypeError, "", webnn.MLGraphBuilder, 1)
        for cls in (webnn.MLContext, webnn.MLGraph, webnn.MLTensor, webnn.MLOperand, webnn.MLModel, webnn.Array):
            self.refuses(TypeError, "cannot create", cls)
        limited = ml.create_context(engine="cpu", memory_limit=1000, deterministic=True, threads=1, precision="bf16")
        self.refuses(webnn.UnknownError, "1000", limited.create_tensor, [1000])
        self.assertTrue(issubclass(webnn.UnknownError, RuntimeError) and issubclass(webnn.UnknownError, webnn.Error))
        self.refuses(webnn.InvalidStateError, "profile=True", limited.profile)
        self.assertEqual(set(limited.device), {"kind", "name", "platform", "lacks", "memory_bytes", "buffer_bytes"})
        self.assertTrue(all(set(d) == set(limited.device) for d in webnn.devices()))
        limited.destroy()
        self.assertTrue(limited.lost)
        self.assertEqual(len(context.op_support_limits()), 5 + 95)

    def test_tensors(self):
        b = context.create_graph_builder()
        graph = b.build({"y": b.neg(b.input("x", [2]))})
        source, target = context.create_tensor([2]), context.create_tensor((2,), np.float32, writable=False)
        write_only = context.create_tensor([2], readable=False)
        self.refuses(ValueError, "readable", context.read_tensor, write_only)
        self.refuses(ValueError, "writable", context.write_tensor, target, np.zeros(2, np.float32))
        self.refuses(ValueError, r"write_tensor: data has shape \[3\]; the tensor wants \[2\]", context.write_tensor, source,
                     np.zeros(3, np.float32))
        self.refuses(TypeError, "write_tensor: data has elements of float64; the tensor wants float32", context.write_tensor,
                     source, np.zeros(2))
        self.refuses(TypeError, "read_tensor: output has elements of int32", context.read_tensor, target, np.zeros(2, np.int32))
        self.refuses(TypeError, "tensor is of type int, not MLTensor", context.write_tensor, 1, b"")
        halves, longer = context.create_tensor([2], np.float16), context.create_tensor([3])
        for error, wrong in (TypeError, halves), (ValueError, longer):
            self.refuses(error, 'for input "x" is f', context.dispatch, graph, {"x": wrong}, {"y": target})
            self.refuses(error, 'for output "y" is f', context.dispatch, graph, {"x": source}, {"y": wrong})
        self.refuses(TypeError, "x is of type ndarray, not MLTensor", context.dispatch, graph, {"x": np.zeros(2)}, {"y": target})
        self.refuses(ValueError, "0 inputs are given, the graph has 1", context.dispatch, graph, {}, {"y": target})
        self.refuses(webnn.NotSupportedError, "exportable", context.create_tensor, [1], exportable_to_gpu=True)
        context.write_tensor(source, np.array([1, 2], np.float32))
        context.dispatch(graph, {"x": source}, {"y": target})
        out = np.zeros(2, np.float32)
        self.assertIs(context.read_tensor(target, out), out)
        self.assertEqual((out.tolist(), context.read_tensor(target).tolist()), ([-1, -2], [-1, -2]))
        source.destroy()
        self.refuses((ValueError, webnn.Error), "destroyed", context.read_tensor, source)

    def test_states(self):
        """A state is changed in place, by one array and by one tensor."""
        b = context.create_graph_builder()
        total = b.add(b.input("old", [2]), b.input("x", [2]))
        self.refuses(TypeError, "states is of type list", b.set_states, ["old"])
        self.refuses(TypeError, "the name of an output is of type int", b.set_states, {"old": 1})
        b.set_states({"old": "new"})
        graph = b.build({"new": b.identity(total)})
        state, one = np.zeros(2, np.float32), np.ones(2, np.float32)
        for _ in range(3):
            context.compute(graph, {"old": state, "x": one}, {"new": state})
        self.assertEqual(state.tolist(), [3, 3])
        tensor, x = context.create_tensor([2]), context.create_tensor([2])
        context.write_tensor(x, one)
        for _ in range(3):
            context.dispatch(graph, {"old": tensor, "x": x}, {"new": tensor})
        self.assertEqual(context.read_tensor(tensor).tolist(), [3, 3])

    def test_draft_types(self):
        """A context knows the draft's data types if it is asked to; arrays have their bits."""
        self.refuses((ValueError, webnn.Error), "draftDataTypes", self.b.input, "x", [3], "bfloat16")
        draft = webnn.ML().create_context(device_type="cpu", draft_data_types=True)
        self.assertIn("float8e4m3", draft.op_support_limits()["cast"]["input"]["dataTypes"])
        for name, bits, dtype in (("bfloat16", [0x3F80, 0xC000, 0x4049], np.uint16),
                                  ("float8e4m3", [0x38, 0xC0, 0x45], np.uint8), ("float8e5m2", [0x3C, 0xC0, 0x42], np.uint8)):
            b = draft.create_graph_builder()
            x = b.cast(b.input("x", [3], name), "float32")
            graph = b.build({"y": x, "z": b.cast(b.neg(x), name)})
            results = draft.compute(graph, {"x": np.array(bits, dtype)})
            np.testing.assert_array_equal(results["y"], [1, -2, {"bfloat16": 3.140625, "float8e4m3": 3.25}.get(name, 3)])
            flipped = np.asarray(results["z"]) ^ np.array(1 << (8 * dtype().itemsize - 1), dtype)
            np.testing.assert_array_equal(flipped, bits)

    def test_quantized(self):
        b = context.create_graph_builder()
        weights = np.random.default_rng(1).standard_normal((512, 256)).astype(np.float32)
        b.quantize_weights("int8")
        graph = b.build({"y": b.matmul(b.input("x", [1, 512]), b.constant(weights))})
        self.assertEqual(graph.quantized_weights["matrices"], 1)
        self.assertLess(graph.quantized_weights["bytes_after"], graph.quantized_weights["bytes_before"] / 3)


unittest.main()
