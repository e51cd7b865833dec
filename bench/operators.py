#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times single operators and typical small groups of them here and in ONNX Runtime, in turns, and prints a table by ratio.

    bench/operators.py --bench build/release/bin/webnn-bench --ort FOLDER --models FOLDER [OPTION ...] [PATTERN ...]

--ort FOLDER     where the Node.js package onnxruntime-node is installed
--models FOLDER  where the models are written, NAME.onnx each (needs Python's packages onnx and numpy: the script goes on under the
                 first python3 on the PATH that has them)
--threads N      default 1; --rounds N turns of each engine (default 2); --seconds S per turn (default 0.15)
--debug TEXT     debug switches for our side
--json FILE      everything that was measured
--draw FILE      measures nothing: prints what an earlier run wrote with --json
PATTERN          regular expressions; cases whose names have one of them (default: all cases)

Of each engine the best run of all rounds counts.  The time of a model that does next to nothing is measured first and taken off
ONNX Runtime's times, since that is what a call from JavaScript costs, not the operator.  Ratio above 1: ours is faster.
Exit status 1 if an engine failed.
"""
import argparse
import json
import math
import os
import re
import sys

import compare
import interpreter

HERE = os.path.dirname(os.path.abspath(__file__))
OPSET = 17
CALL = "call"    # the case that does next to nothing


# ---- models

class Model:
    """Builds one ONNX model: m.Add(x, y, axis=1) appends a node and returns its output."""

    def __init__(self):
        import numpy
        import onnx
        import onnx.numpy_helper
        import onnx.shape_inference
        self.np, self.onnx = numpy, onnx
        self.nodes, self.inputs, self.constants = [], [], []
        self.random = numpy.random.default_rng(1)

    def name(self):
        return f"v{len(self.nodes)}_{len(self.inputs)}_{len(self.constants)}"

    def type_of(self, kind):
        return self.onnx.numpy_helper.from_array(self.np.zeros(0, kind)).data_type

    def x(self, *shape, kind="float32"):
        """Makes an input."""
        self.inputs.append(self.onnx.helper.make_tensor_value_info("in_" + self.name(), self.type_of(kind), shape))
        return self.inputs[-1].name

    def k(self, values, kind="float32"):
        """Makes a constant."""
        self.constants.append(self.onnx.numpy_helper.from_array(self.np.array(values, kind), "k_" + self.name()))
        return self.constants[-1].name

    def w(self, *shape, kind="float32"):
        """Makes a constant of noise, as weights are: sums over all but the first dimension are about as large as one number."""
        if kind in ("int8", "uint8"):
            return self.k(self.random.integers(-100 if kind == "int8" else 0, 100, shape), kind)
        return self.k(self.random.standard_normal(shape) / math.sqrt(max(1, math.prod(shape[1:]))), kind)

    def ints(self, *values):
        return self.k(values, "int64")

    def node(self, op, inputs, outputs=1, **attributes):
        names = [f"v{len(self.nodes)}_{i}" for i in range(outputs)]
        self.nodes.append(self.onnx.helper.make_node(op, list(inputs), names, **attributes))
        return names[0] if outputs == 1 else names

    def __getattr__(self, op):
        return lambda *inputs, **attributes: self.node(op, inputs, **attributes)

    def save(self, path, outputs):
        h = self.onnx.helper
        empty = [h.make_empty_tensor_value_info(o) for o in ([outputs] if isinstance(outputs, str) else outputs)]
        graph = h.make_graph(self.nodes, "operators", self.inputs, empty, self.constants)
        model = h.make_model(graph, opset_imports=[h.make_opsetid("", OPSET)], ir_version=8)
        inferred = {v.name: v for v in self.onnx.shape_inference.infer_shapes(model, strict_mode=True).graph.output}
        for value in model.graph.output:
            value.CopyFrom(inferred[value.name])
        self.onnx.checker.check_model(model)
        self.onnx.save(model, path)


# ---- groups of operators as exporters write them

def gelu(m, x):
    return m.Mul(m.Mul(x, m.Add(m.Erf(m.Div(x, m.k(math.sqrt(2)))), m.k(1))), m.k(0.5))


def gelu_tanh(m, x):
    inner = m.Mul(m.Add(x, m.Mul(m.Pow(x, m.k(3)), m.k(0.044715))), m.k(math.sqrt(2 / math.pi)))
    return m.Mul(m.Mul(x, m.k(0.5)), m.Add(m.Tanh(inner), m.k(1)))


def rms_norm(m, x, size):
    square = m.ReduceMean(m.Pow(x, m.k(2)), axes=[-1])
    return m.Mul(m.Mul(x, m.Reciprocal(m.Sqrt(m.Add(square, m.k(1e-6))))), m.k([1.5] * size))


def layer_norm(m, x, size, kind="float32"):
    return m.LayerNormalization(x, m.k([1.5] * size, kind), m.k([0.1] * size, kind))


def group_norm(m, groups, *shape):
    x = m.Reshape(m.x(*shape), m.ints(shape[0], groups, -1))
    x = m.Reshape(m.InstanceNormalization(x, m.k([1] * groups), m.k([0] * groups)), m.ints(*shape))
    return m.Add(m.Mul(x, m.w(shape[1], 1, 1)), m.w(shape[1], 1, 1))


def batch_norm(m, *shape):
    c = shape[1]
    return m.BatchNormalization(m.x(*shape), m.k([1.5] * c), m.k([0.5] * c), m.k([0.1] * c), m.k([2] * c))


def attention(m, heads, tokens, size):
    q, k, v = (m.x(1, heads, tokens, size) for _ in range(3))
    scores = m.Div(m.MatMul(q, m.Transpose(k, perm=[0, 1, 3, 2])), m.k(math.sqrt(size)))
    return m.MatMul(m.Softmax(scores, axis=-1), v)


def rotary(m, heads, tokens, size):
    x = m.x(1, heads, tokens, size)
    half = size // 2
    low, high = (m.Slice(x, m.ints(a), m.ints(b), m.ints(3)) for a, b in ((0, half), (half, size)))
    rotated = m.Concat(m.Neg(high), low, axis=3)
    return m.Add(m.Mul(x, m.w(tokens, size)), m.Mul(rotated, m.w(tokens, size)))


def recurrent(m, op, gates, steps, batch, inputs, hidden):
    x, w, r = m.x(steps, batch, inputs), m.w(1, gates * hidden, inputs), m.w(1, gates * hidden, hidden)
    b = m.w(1, 2 * gates * hidden)
    extra = {"linear_before_reset": 1} if op == "GRU" else {}
    return m.node(op, [x, w, r, b], 2 if op == "GRU" else 3, hidden_size=hidden, **extra)[0]


def conv(m, batch, inputs, size, outputs, window, stride=1, groups=1, dilation=1, relu=True, kind="float32", bias=True):
    height, width = size if isinstance(size, tuple) else (size, size)
    x = m.x(batch, inputs, height, width, kind=kind)
    pad = dilation * (window - 1) // 2
    extra = [m.w(outputs, kind=kind)] if bias else []
    y = m.Conv(x, m.w(outputs, inputs // groups, window, window, kind=kind), *extra, pads=[pad] * 4, strides=[stride] * 2,
               group=groups, dilations=[dilation] * 2)
    return m.Relu(y) if relu else y


def conv_1d(m, inputs, size, outputs, window):
    return m.Relu(m.Conv(m.x(1, inputs, size), m.w(outputs, inputs, window), m.w(outputs), pads=[window // 2] * 2))


def conv_transposed(m, inputs, size, outputs, window):
    pad = (window - 2) // 2
    return m.ConvTranspose(m.x(1, inputs, size, size), m.w(inputs, outputs, window, window), m.w(outputs), strides=[2, 2],
                           pads=[pad] * 4)


def quantized(m, x, scale=0.02):
    return m.DequantizeLinear(m.QuantizeLinear(x, m.k(scale), m.k(128, "uint8")), m.k(scale), m.k(128, "uint8"))


def quantized_conv(m, inputs, size, outputs, window, groups=1):
    w = m.DequantizeLinear(m.w(outputs, inputs // groups, window, window, kind="int8"), m.k(0.01), m.k(0, "int8"))
    x = quantized(m, m.x(1, inputs, size, size))
    return quantized(m, m.Relu(m.Conv(x, w, m.w(outputs), pads=[window // 2] * 4, group=groups)))


def quantized_matmul(m, rows, inner, columns):
    w = m.DequantizeLinear(m.w(inner, columns, kind="int8"), m.k(0.01), m.k(0, "int8"))
    return quantized(m, m.MatMul(quantized(m, m.x(rows, inner)), w))


def quantized_attention(m, heads, tokens, size):
    q, k, v = (quantized(m, m.x(1, heads, tokens, size)) for _ in range(3))
    k = quantized(m, m.Transpose(k, perm=[0, 1, 3, 2]))
    scores = m.Softmax(m.Mul(quantized(m, m.MatMul(q, k), 0.1), m.k(1 / math.sqrt(size))), axis=-1)
    return quantized(m, m.MatMul(quantized(m, scores, 0.008), v))


def quantized_conv_transpose(m, inputs, size, outputs):
    w = m.DequantizeLinear(m.w(inputs, outputs, 4, 4, kind="int8"), m.k(0.01), m.k(0, "int8"))
    x = quantized(m, m.x(1, inputs, size, size))
    return quantized(m, m.ConvTranspose(x, w, m.w(outputs), strides=[2, 2], pads=[1] * 4))


def quantized_conv_computed(m, inputs, size, outputs, window):
    x, w = quantized(m, m.x(1, inputs, size, size)), quantized(m, m.x(outputs, inputs, window, window))
    return quantized(m, m.Conv(x, w, pads=[window // 2] * 4))


def resize(m, mode, scale, *shape, **attributes):
    return m.Resize(m.x(*shape), "", m.k([1, 1, scale, scale]), mode=mode, **attributes)


def pool(m, op, window, stride, *shape):
    return m.node(op, [m.x(*shape)], kernel_shape=[window] * 2, strides=[stride] * 2, pads=[window // 2] * 4)


HW = (1, 64, 112, 112)    # an image inside of a network
TOKENS = (1, 512, 768)    # a sentence inside of a transformer

CASES = {
    CALL: lambda m: m.Relu(m.x(1)),
    # element-wise
    "relu": lambda m: m.Relu(m.x(*HW)),
    "sigmoid": lambda m: m.Sigmoid(m.x(*HW)),
    "tanh": lambda m: m.Tanh(m.x(*HW)),
    "exp": lambda m: m.Exp(m.x(*HW)),
    "log": lambda m: m.Log(m.Abs(m.x(*HW))),
    "sqrt": lambda m: m.Sqrt(m.Abs(m.x(*HW))),
    "erf": lambda m: m.Erf(m.x(*HW)),
    "sin": lambda m: m.Sin(m.x(*HW)),
    "floor": lambda m: m.Floor(m.x(*HW)),
    "round": lambda m: m.Round(m.x(*HW)),
    "clip": lambda m: m.Clip(m.x(*HW), m.k(-0.5), m.k(0.5)),
    "leaky-relu": lambda m: m.LeakyRelu(m.x(*HW), alpha=0.1),
    "elu": lambda m: m.Elu(m.x(*HW)),
    "softplus": lambda m: m.Softplus(m.x(*HW)),
    "hard-swish": lambda m: m.HardSwish(m.x(*HW)),
    "silu": lambda m: (lambda x: m.Mul(x, m.Sigmoid(x)))(m.x(*HW)),
    "gelu-erf": lambda m: gelu(m, m.x(*TOKENS)),
    "gelu-tanh": lambda m: gelu_tanh(m, m.x(*TOKENS)),
    "prelu-channels": lambda m: m.PRelu(m.x(*HW), m.w(64, 1, 1)),
    "add": lambda m: m.Add(m.x(*HW), m.x(*HW)),
    "add-small": lambda m: m.Add(m.x(128, 768), m.x(128, 768)),
    "mul-scalar": lambda m: m.Mul(m.x(*HW), m.k(0.3)),
    "add-row": lambda m: m.Add(m.x(*TOKENS), m.x(768)),
    "mul-column": lambda m: m.Mul(m.x(*TOKENS), m.x(1, 512, 1)),
    "mul-channel": lambda m: m.Mul(m.x(*HW), m.x(1, 64, 1, 1)),
    "mul-image": lambda m: m.Mul(m.x(*HW), m.x(1, 1, 112, 112)),
    "add-outer": lambda m: m.Add(m.x(1024, 1), m.x(1, 1024)),
    "add-middle": lambda m: m.Add(m.x(32, 1, 64, 64), m.x(1, 8, 1, 64)),
    "div": lambda m: m.Div(m.x(*HW), m.Add(m.Abs(m.x(*HW)), m.k(1))),
    "pow-half": lambda m: m.Pow(m.Abs(m.x(*TOKENS)), m.k(0.7)),
    "max": lambda m: m.Max(m.x(*HW), m.x(*HW)),
    "greater": lambda m: m.Greater(m.x(*HW), m.x(*HW)),
    "where": lambda m: m.Where(m.x(1, 1, 512, 512, kind="bool"), m.x(1, 8, 512, 512), m.k(-1e9)),
    "logical-and": lambda m: m.And(m.x(1024, 1024, kind="bool"), m.x(1024, 1, kind="bool")),
    "add-int32": lambda m: m.Add(m.x(1024, 1024, kind="int32"), m.x(1024, 1024, kind="int32")),
    "mul-int64": lambda m: m.Mul(m.x(512, 1024, kind="int64"), m.x(512, 1024, kind="int64")),
    "cast-f32-i32": lambda m: m.Cast(m.x(1024, 1024), to=6),
    "cast-i64-f32": lambda m: m.Cast(m.x(1024, 1024, kind="int64"), to=1),
    "cast-u8-f32": lambda m: m.Cast(m.x(1, 3, 512, 512, kind="uint8"), to=1),
    "cast-f32-u8": lambda m: m.Cast(m.Abs(m.x(1, 3, 512, 512)), to=2),
    "cast-f32-f16": lambda m: m.Cast(m.x(1024, 1024), to=10),
    "cast-f16-f32": lambda m: m.Cast(m.x(1024, 1024, kind="float16"), to=1),
    "equal-int64": lambda m: m.Equal(m.x(512, 1024, kind="int64"), m.x(512, 1, kind="int64")),
    # reductions
    "reduce-sum-inner": lambda m: m.ReduceSum(m.x(1024, 1024), m.ints(1)),
    "reduce-sum-outer": lambda m: m.ReduceSum(m.x(1024, 1024), m.ints(0)),
    "reduce-sum-middle": lambda m: m.ReduceSum(m.x(32, 128, 256), m.ints(1)),
    "reduce-sum-all": lambda m: m.ReduceSum(m.x(1024, 1024), keepdims=0),
    "reduce-sum-short": lambda m: m.ReduceSum(m.x(131072, 8), m.ints(1)),
    "reduce-mean-image": lambda m: m.ReduceMean(m.x(*HW), axes=[2, 3]),
    "reduce-mean-channels": lambda m: m.ReduceMean(m.x(*HW), axes=[1]),
    "reduce-max-inner": lambda m: m.ReduceMax(m.x(1024, 1024), axes=[1]),
    "reduce-max-outer": lambda m: m.ReduceMax(m.x(1024, 1024), axes=[0]),
    "reduce-l2": lambda m: m.ReduceL2(m.x(1024, 1024), axes=[1]),
    "reduce-lse": lambda m: m.ReduceLogSumExp(m.x(1024, 1024), axes=[1]),
    "argmax-inner": lambda m: m.ArgMax(m.x(1024, 1000), axis=1),
    "argmax-channels": lambda m: m.ArgMax(m.x(1, 21, 256, 256), axis=1),
    "cumsum-inner": lambda m: m.CumSum(m.x(1024, 1024), m.k(1, "int64")),
    "cumsum-outer": lambda m: m.CumSum(m.x(1024, 1024), m.k(0, "int64")),
    "reduce-prod": lambda m: m.ReduceProd(m.x(1024, 1024), axes=[1]),
    "reduce-sum-int64": lambda m: m.ReduceSum(m.x(1024, 512, kind="int64"), m.ints(1)),
    # normalisation
    "softmax-inner": lambda m: m.Softmax(m.x(12 * 128, 128), axis=1),
    "softmax-classes": lambda m: m.Softmax(m.x(16, 30000), axis=1),
    "softmax-channels": lambda m: m.Softmax(m.x(1, 21, 256, 256), axis=1),
    "softmax-outer": lambda m: m.Softmax(m.x(512, 1024), axis=0),
    "log-softmax": lambda m: m.LogSoftmax(m.x(128, 4096), axis=1),
    "layer-norm": lambda m: layer_norm(m, m.x(*TOKENS), 768),
    "layer-norm-short": lambda m: layer_norm(m, m.x(16384, 16), 16),
    "layer-norm-skip": lambda m: layer_norm(m, m.Add(m.x(*TOKENS), m.x(*TOKENS)), 768),
    "rms-norm": lambda m: rms_norm(m, m.x(*TOKENS), 768),
    "instance-norm": lambda m: m.InstanceNormalization(m.x(1, 32, 128, 128), m.w(32), m.w(32)),
    "instance-norm-small": lambda m: m.InstanceNormalization(m.x(8, 64, 16, 16), m.w(64), m.w(64)),
    "batch-norm": lambda m: batch_norm(m, *HW),
    "group-norm": lambda m: group_norm(m, 32, 1, 128, 64, 64),
    "softmax-short": lambda m: m.Softmax(m.x(65536, 10), axis=1),
    "softmax-masked": lambda m: m.Softmax(m.Add(m.x(1, 12, 256, 256), m.x(1, 1, 1, 256)), axis=3),
    "lrn": lambda m: m.LRN(m.x(1, 64, 56, 56), size=5),
    # data movement
    "transpose-matrix": lambda m: m.Transpose(m.x(1024, 1024), perm=[1, 0]),
    "transpose-nchw-nhwc": lambda m: m.Transpose(m.x(*HW), perm=[0, 2, 3, 1]),
    "transpose-nhwc-nchw": lambda m: m.Transpose(m.x(1, 112, 112, 64), perm=[0, 3, 1, 2]),
    "transpose-rgb": lambda m: m.Transpose(m.x(1, 512, 512, 3), perm=[0, 3, 1, 2]),
    "transpose-heads": lambda m: m.Transpose(m.x(1, 512, 12, 64), perm=[0, 2, 1, 3]),
    "transpose-keys": lambda m: m.Transpose(m.x(1, 512, 12, 64), perm=[0, 2, 3, 1]),
    "transpose-uint8": lambda m: m.Transpose(m.x(1, 512, 512, 3, kind="uint8"), perm=[0, 3, 1, 2]),
    "depth-to-space": lambda m: m.DepthToSpace(m.x(1, 64, 128, 128), blocksize=2),
    "space-to-depth": lambda m: m.SpaceToDepth(m.x(1, 16, 256, 256), blocksize=2),
    "pixel-shuffle-3": lambda m: m.DepthToSpace(m.x(1, 27, 224, 224), blocksize=3, mode="CRD"),
    "channel-shuffle": lambda m: m.Reshape(m.Transpose(m.Reshape(m.x(1, 116, 28, 28), m.ints(1, 2, 58, 28, 28)),
                                                       perm=[0, 2, 1, 3, 4]), m.ints(1, 116, 28, 28)),
    "windows": lambda m: m.Transpose(m.x(1, 8, 7, 8, 7, 96), perm=[0, 1, 3, 2, 4, 5]),
    "concat-channels": lambda m: m.Concat(m.x(1, 64, 64, 64), m.x(1, 64, 64, 64), axis=1),
    "concat-inner": lambda m: m.Concat(m.x(4096, 64), m.x(4096, 32), m.x(4096, 32), axis=1),
    "split-inner": lambda m: m.node("Split", [m.x(512, 2304)], 3, axis=1),
    "slice-inner": lambda m: m.Slice(m.x(1024, 1024), m.ints(100), m.ints(900), m.ints(1)),
    "slice-stride": lambda m: m.Slice(m.x(1, 64, 128, 128), m.ints(0, 0), m.ints(128, 128), m.ints(2, 3), m.ints(2, 2)),
    "pad-constant": lambda m: m.Pad(m.x(1, 64, 112, 112), m.ints(0, 0, 1, 1, 0, 0, 1, 1)),
    "pad-reflect": lambda m: m.Pad(m.x(1, 64, 112, 112), m.ints(0, 0, 3, 3, 0, 0, 3, 3), mode="reflect"),
    "pad-edge": lambda m: m.Pad(m.x(1, 64, 112, 112), m.ints(0, 0, 2, 2, 0, 0, 2, 2), mode="edge"),
    "gather-rows": lambda m: m.Gather(m.w(30000, 256), m.x(1, 512, kind="int64")),
    "gather-columns": lambda m: m.Gather(m.x(1024, 1024), m.k(list(range(0, 1024, 3)), "int64"), axis=1),
    "gather-elements": lambda m: m.GatherElements(m.x(1024, 256), m.x(1024, 256, kind="int64"), axis=1),
    "scatter-nd": lambda m: m.ScatterND(m.x(1024, 256), m.k([[3 * i] for i in range(300)], "int64"), m.x(300, 256)),
    "scatter-elements": lambda m: m.ScatterElements(m.x(1024, 256), m.x(1024, 256, kind="int64"), m.x(1024, 256), axis=1),
    "tile": lambda m: m.Tile(m.x(1, 64, 64, 16), m.ints(1, 1, 1, 8)),
    "expand": lambda m: m.Expand(m.x(1, 8, 1, 64, 64), m.ints(1, 8, 4, 64, 64)),
    "reverse": lambda m: m.Slice(m.x(1024, 1024), m.ints(-1), m.ints(-2**63), m.ints(1), m.ints(-1)),
    "triangular": lambda m: m.Trilu(m.x(8, 384, 384), upper=0),
    "one-hot": lambda m: m.OneHot(m.x(1024, kind="int64"), m.k(1000, "int64"), m.k([0, 1])),
    "top-k": lambda m: m.node("TopK", [m.x(64, 1000), m.ints(5)], 2),
    "top-k-row": lambda m: m.node("TopK", [m.x(1, 1000), m.ints(5)], 2),
    "top-k-boxes": lambda m: m.node("TopK", [m.x(1, 8400), m.ints(100)], 2),
    "rotary": lambda m: rotary(m, 12, 512, 64),
    # images
    "resize-nearest": lambda m: resize(m, "nearest", 2, 1, 32, 64, 64, coordinate_transformation_mode="asymmetric",
                                       nearest_mode="floor"),
    "resize-nearest-down": lambda m: resize(m, "nearest", 0.75, 1, 32, 128, 128),
    "resize-linear": lambda m: resize(m, "linear", 2, 1, 32, 64, 64, coordinate_transformation_mode="half_pixel"),
    "resize-linear-down": lambda m: resize(m, "linear", 0.4375, 1, 3, 512, 512, coordinate_transformation_mode="half_pixel"),
    "resize-corners": lambda m: resize(m, "linear", 4, 1, 21, 64, 64, coordinate_transformation_mode="align_corners"),
    "resize-cubic": lambda m: resize(m, "cubic", 2, 1, 3, 224, 224),
    "max-pool-3x3-s2": lambda m: pool(m, "MaxPool", 3, 2, 1, 64, 112, 112),
    "max-pool-2x2-s2": lambda m: m.MaxPool(m.x(1, 64, 112, 112), kernel_shape=[2, 2], strides=[2, 2]),
    "max-pool-3x3-s1": lambda m: pool(m, "MaxPool", 3, 1, 1, 192, 28, 28),
    "max-pool-5x5-s1": lambda m: pool(m, "MaxPool", 5, 1, 1, 256, 20, 20),
    "average-pool-3x3-s1": lambda m: pool(m, "AveragePool", 3, 1, 1, 192, 28, 28),
    "average-pool-2x2-s2": lambda m: m.AveragePool(m.x(1, 64, 112, 112), kernel_shape=[2, 2], strides=[2, 2]),
    "average-pool-global": lambda m: m.GlobalAveragePool(m.x(8, 1280, 7, 7)),
    "average-pool-7x7": lambda m: m.AveragePool(m.x(1, 512, 14, 14), kernel_shape=[7, 7], strides=[7, 7]),
    "grid-sample": lambda m: m.GridSample(m.x(1, 16, 64, 64), m.x(1, 64, 64, 2)),
    "max-pool-global": lambda m: m.GlobalMaxPool(m.x(8, 512, 14, 14)),
    # convolutions: batch, inputs, size, outputs, window
    "conv-1x1": lambda m: conv(m, 1, 64, 56, 256, 1),
    "conv-1x1-late": lambda m: conv(m, 1, 512, 7, 2048, 1),
    "conv-1x1-batch": lambda m: conv(m, 8, 128, 28, 128, 1),
    "conv-1x1-s2": lambda m: conv(m, 1, 256, 56, 512, 1, stride=2),
    "conv-3x3": lambda m: conv(m, 1, 64, 56, 64, 3),
    "conv-3x3-late": lambda m: conv(m, 1, 512, 7, 512, 3),
    "conv-3x3-batch": lambda m: conv(m, 8, 64, 28, 64, 3),
    "conv-3x3-28": lambda m: conv(m, 1, 128, 28, 128, 3),
    "conv-3x3-14": lambda m: conv(m, 1, 256, 14, 256, 3),
    "conv-3x3-large": lambda m: conv(m, 1, 32, (240, 320), 32, 3),
    "conv-3x3-inputs": lambda m: m.Conv(m.x(1, 64, 28, 28), m.x(64, 64, 3, 3), pads=[1] * 4),
    "conv-1x1-14": lambda m: conv(m, 1, 1024, 14, 256, 1),
    "conv-1x1-squeeze": lambda m: m.Sigmoid(conv(m, 1, 480, 1, 120, 1)),
    "conv-16x16-patches": lambda m: m.Conv(m.x(1, 3, 224, 224), m.w(768, 3, 16, 16), m.w(768), strides=[16, 16]),
    "conv-groups-2": lambda m: conv(m, 1, 96, 28, 256, 5, groups=2),
    "conv-gray": lambda m: conv(m, 1, 1, 128, 32, 3),
    "conv-3x3-s2": lambda m: conv(m, 1, 128, 56, 128, 3, stride=2),
    "conv-3x3-dilated": lambda m: conv(m, 1, 64, 56, 64, 3, dilation=2),
    "conv-3x3-grouped": lambda m: conv(m, 1, 128, 56, 128, 3, groups=32),
    "conv-3x3-few": lambda m: conv(m, 1, 16, 128, 16, 3),
    "conv-3x3-last": lambda m: conv(m, 1, 64, 128, 3, 3, relu=False),
    "conv-5x5": lambda m: conv(m, 1, 32, 56, 64, 5),
    "conv-7x7-stem": lambda m: conv(m, 1, 3, 224, 64, 7, stride=2),
    "conv-depthwise-3x3": lambda m: conv(m, 1, 96, 112, 96, 3, groups=96),
    "conv-depthwise-s2": lambda m: conv(m, 1, 144, 56, 144, 3, groups=144, stride=2),
    "conv-depthwise-5x5": lambda m: conv(m, 1, 240, 28, 240, 5, groups=240),
    "conv-depthwise-batch": lambda m: conv(m, 8, 192, 28, 192, 3, groups=192),
    "conv-1d": lambda m: conv_1d(m, 80, 1500, 384, 3),
    "conv-1d-long": lambda m: conv_1d(m, 1, 16000, 64, 31),
    "conv-1d-depthwise": lambda m: m.Conv(m.x(1, 256, 1000), m.w(256, 1, 7), m.w(256), pads=[3, 3], group=256),
    "conv-transpose-2x2": lambda m: conv_transposed(m, 128, 28, 64, 2),
    "conv-transpose-4x4": lambda m: conv_transposed(m, 64, 56, 32, 4),
    "conv-transpose-3x3": lambda m: m.ConvTranspose(m.x(1, 64, 32, 32), m.w(64, 64, 3, 3), strides=[2, 2], pads=[1] * 4,
                                                    output_padding=[1, 1]),
    # matmuls
    "matmul-square": lambda m: m.MatMul(m.x(512, 512), m.x(512, 512)),
    "matmul-weights": lambda m: m.MatMul(m.x(128, 768), m.w(768, 768)),
    "matmul-tall": lambda m: m.MatMul(m.x(4096, 64), m.w(64, 64)),
    "matmul-wide": lambda m: m.MatMul(m.x(16, 768), m.w(768, 8000)),
    "matmul-row": lambda m: m.MatMul(m.x(1, 1024), m.w(1024, 4096)),
    "matmul-row-small": lambda m: m.MatMul(m.x(1, 256), m.w(256, 256)),
    "matmul-transposed": lambda m: m.MatMul(m.x(256, 512), m.Transpose(m.x(256, 512), perm=[1, 0])),
    "matmul-heads": lambda m: m.MatMul(m.x(12, 128, 64), m.x(12, 64, 128)),
    "gemm-classifier": lambda m: m.Gemm(m.x(1, 1280), m.w(1000, 1280), m.w(1000), transB=1),
    "gemm-batch": lambda m: m.Gemm(m.x(32, 2048), m.w(1000, 2048), m.w(1000), transB=1),
    "dense-gelu": lambda m: gelu(m, m.Add(m.MatMul(m.x(128, 768), m.w(768, 3072)), m.w(3072))),
    "matmul-vectors": lambda m: m.MatMul(m.x(512, 1, 64), m.x(512, 64, 1)),
    "matmul-column": lambda m: m.MatMul(m.x(2048, 512), m.w(512, 1)),
    "matmul-batch-weights": lambda m: m.MatMul(m.x(8, 128, 256), m.w(256, 1024)),
    "matmul-odd": lambda m: m.MatMul(m.x(101, 203), m.w(203, 307)),
    "einsum": lambda m: m.Einsum(m.x(1, 128, 12, 64), m.x(1, 128, 12, 64), equation="bqhd,bkhd->bhqk"),
    "attention": lambda m: attention(m, 12, 128, 64),
    "attention-long": lambda m: attention(m, 8, 1024, 64),
    # recurrent
    "lstm-short": lambda m: recurrent(m, "LSTM", 4, 10, 1, 64, 64),
    "lstm-long": lambda m: recurrent(m, "LSTM", 4, 200, 1, 128, 128),
    "lstm-batch": lambda m: recurrent(m, "LSTM", 4, 50, 16, 128, 256),
    "gru-short": lambda m: recurrent(m, "GRU", 3, 10, 1, 64, 64),
    "gru-long": lambda m: recurrent(m, "GRU", 3, 200, 1, 128, 128),
    "gru-batch": lambda m: recurrent(m, "GRU", 3, 50, 16, 128, 256),
    "lstm-both-ways": lambda m: m.node("LSTM", [m.x(100, 1, 64), m.w(2, 512, 64), m.w(2, 512, 128)], 3, hidden_size=128,
                                       direction="bidirectional")[0],
    # 8 bits
    "quantize": lambda m: m.QuantizeLinear(m.x(*HW), m.k(0.01), m.k(128, "uint8")),
    "quantize-channels": lambda m: m.QuantizeLinear(m.x(*HW), m.k([0.01 + i / 1e4 for i in range(64)]), m.k([0] * 64, "int8"),
                                                    axis=1),
    "dequantize": lambda m: m.DequantizeLinear(m.x(*HW, kind="uint8"), m.k(0.01), m.k(128, "uint8")),
    "quantized-conv": lambda m: quantized_conv(m, 64, 56, 64, 3),
    "quantized-conv-1x1": lambda m: quantized_conv(m, 128, 28, 256, 1),
    "quantized-matmul": lambda m: quantized_matmul(m, 128, 768, 768),
    "quantized-attention": lambda m: quantized_attention(m, 12, 128, 64),
    "quantized-conv-transpose": lambda m: quantized_conv_transpose(m, 64, 32, 64),
    "quantized-conv-computed": lambda m: quantized_conv_computed(m, 64, 56, 64, 3),
    "quantized-gemm-computed": lambda m: quantized(m, m.Gemm(quantized(m, m.x(128, 768)), quantized(m, m.x(768, 768)), transB=1)),
    "quantized-add": lambda m: quantized(m, m.Add(quantized(m, m.x(*HW)), quantized(m, m.x(*HW)))),
    "quantized-depthwise": lambda m: quantized_conv(m, 96, 56, 96, 3, groups=96),
    "matmul-integer": lambda m: m.MatMulInteger(m.x(128, 768, kind="uint8"), m.w(768, 768, kind="int8"), m.k(128, "uint8"),
                                                m.k(0, "int8")),
    "matmul-integer-heads": lambda m: m.MatMulInteger(m.x(12, 128, 64, kind="uint8"), m.x(12, 64, 128, kind="uint8"),
                                                      m.x(kind="uint8"), m.x(kind="uint8")),
    "matmul-integer-square": lambda m: m.MatMulInteger(m.x(512, 512, kind="uint8"), m.x(512, 512, kind="uint8"),
                                                       m.x(kind="uint8"), m.x(kind="uint8")),
    "dynamic-quantize": lambda m: m.node("DynamicQuantizeLinear", [m.x(128, 3072)], 3),
    # float16
    "f16-add": lambda m: m.Add(m.x(*HW, kind="float16"), m.x(*HW, kind="float16")),
    "f16-sigmoid": lambda m: m.Sigmoid(m.x(*HW, kind="float16")),
    "f16-softmax": lambda m: m.Softmax(m.x(1024, 512, kind="float16"), axis=1),
    "f16-layer-norm": lambda m: layer_norm(m, m.x(*TOKENS, kind="float16"), 768, "float16"),
    "f16-transpose": lambda m: m.Transpose(m.x(*HW, kind="float16"), perm=[0, 2, 3, 1]),
    "f16-matmul": lambda m: m.MatMul(m.x(128, 768, kind="float16"), m.w(768, 768, kind="float16")),
    "f16-conv": lambda m: conv(m, 1, 64, 56, 64, 3, kind="float16"),
}


def write_models(folder, names):
    os.makedirs(folder, exist_ok=True)
    for name in names:
        m = Model()
        m.save(os.path.join(folder, name + ".onnx"), CASES[name](m))


# ---- measuring

def measure_case(a, name):
    """Times both engines in turns, and returns of each the turn with the best run."""
    times = {"webnn": [], "onnxruntime": []}
    for _ in range(a.rounds):
        times["webnn"].append(compare.time_webnn(a, ("operators", name), a.threads))
        times["onnxruntime"].append(compare.time_ort(a, ("operators", name), a.threads))
    return {"case": name, **{engine: min(turns, key=lambda t: t["min"]) for engine, turns in times.items()}}


def measure(a, names):
    found = {"threads": a.threads, "cases": [], "failed": []}
    for name in [CALL] + [n for n in names if n != CALL]:
        try:
            found["cases"].append(measure_case(a, name))
        except (RuntimeError, OSError, KeyError, json.JSONDecodeError) as e:
            found["failed"].append({"case": name, "error": str(e)})
            if name == CALL:
                break    # what all others' ratios are made with
            continue
        call = found["cases"][0]["onnxruntime"]["min"]
        row = found["cases"][-1]
        row["ratio"] = max(row["onnxruntime"]["min"] - (0 if name == CALL else call), 1e-5) / row["webnn"]["min"]
        print_row(row)
    return found


# ---- printing

def print_header(threads):
    print(f"{'case, ' + str(threads) + (' thread' if threads == 1 else ' threads'):24} | {'webnn ms':>9} {'ort ms':>9}"
          f" {'ratio':>6} | {'GFLOP/s':>8} {'GB/s':>6} | {'build ms':>8} {'session':>8}")


def print_row(r):
    w, o = r["webnn"], r["onnxruntime"]
    # The rates that time_webnn reports belong to its median; the table is about the best run.
    gflops, gbs = (w[key] * w["median"] / w["min"] for key in ("gflops", "gbs"))
    print(f"{r['case']:24} | {w['min']:9.4f} {o['min']:9.4f} {r['ratio']:6.2f} | {gflops:8.1f} {gbs:6.1f} | {w['build']:8.1f} {o['build']:8.1f}", flush=True)


def print_table(found):
    rows = sorted((r for r in found["cases"] if r["case"] != CALL), key=lambda r: r["ratio"])
    print()
    print_header(found["threads"])
    for r in rows:
        print_row(r)
    for f in found["failed"]:
        print(f"{f['case']:24} | {f['error']}")
    if rows:
        bounds = (0, 0.8, 0.95, 1.05, 1.5, 2, 4, math.inf)
        counts = [sum(low <= r["ratio"] < high for r in rows) for low, high in zip(bounds, bounds[1:])]
        mean = math.exp(sum(math.log(r["ratio"]) for r in rows) / len(rows))
        print(f"\n{len(rows)} cases, geometric mean {mean:.2f}; " +
              ", ".join(f"{low:g} to {high:g}: {n}" for low, high, n in zip(bounds, bounds[1:], counts)))


# ---- command line

def arguments():
    shared = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--bench", "--ort", "--models", "--debug", "--json", "--draw"):
        shared.add_argument(name)
    shared.add_argument("--script", default=os.path.join(HERE, "operators.mjs"))
    shared.add_argument("--threads", type=int, default=1)
    shared.add_argument("--rounds", type=int, default=2)
    shared.add_argument("--seconds", type=float, default=0.15)
    shared.add_argument("patterns", nargs="*", metavar="PATTERN")
    a = shared.parse_args()
    if not a.draw and not (a.bench and a.ort and a.models):
        shared.error("--bench, --ort and --models are needed")
    compare.make_absolute(a, ("bench", "script", "models"))
    a.built_in = False    # compare.py's option: models are files
    return a


def main():
    a = arguments()
    if a.draw:
        found = compare.read_found(a.draw)
    else:
        names = [n for n in CASES if not a.patterns or any(re.search(p, n) for p in a.patterns)]
        interpreter.need("numpy", "onnx")
        write_models(a.models, names + [CALL])
        print_header(a.threads)
        found = measure(a, names)
    print_table(found)
    compare.write_found(a.json, found)
    return 1 if found["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
