# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the graphs of exported.py: small models of random weights, operator by operator as public exporters write them."""
import json
import math
import os

import exported_language
import exported_vision
import operators

OPSET = 18


class Graph(operators.Model):
    """Builds one ONNX model with its arrays: g.Add(x, y) appends a node, g.ms("Gelu", [x]) one of ONNX Runtime's."""

    def __init__(self):
        super().__init__()
        self.arrays, self.results, self.options, self.bodies = {}, [], [], 0
        self.atol, self.rtol = 1e-4, 1e-3

    def input(self, name, values, dims=None):
        """Makes an input with its values; dims are names where sizes are open."""
        values = self.np.asarray(values)
        self.arrays[name] = values
        self.inputs.append(self.onnx.helper.make_tensor_value_info(name, self.type_of(values.dtype), dims or values.shape))
        return name

    def noise(self, *shape, scale=1.0, kind="float32"):
        return (self.random.standard_normal(shape) * scale).astype(kind)

    def bytes(self, *shape):
        return self.k(self.random.integers(0, 256, shape), "uint8")

    def ms(self, op, inputs, outputs=1, **attributes):
        return self.node(op, inputs, outputs, domain="com.microsoft", **attributes)

    def output(self, x, name, kind="float32"):
        """Makes an output, of a type that the checker does not have to infer."""
        self.nodes.append(self.onnx.helper.make_node("Identity", [x], [name]))
        self.results.append(self.onnx.helper.make_tensor_value_info(name, self.type_of(kind), None))

    def body(self, make, inputs=()):
        """Makes the graph of a branch or a loop, whose results make() returns the names of."""
        outer = self.nodes
        self.bodies += 1
        first = len(outer) + 1000 * self.bodies
        self.nodes = [None] * first    # names go on
        results = [self.onnx.helper.make_tensor_value_info(name, kind, None) for name, kind in make()]
        graph = self.onnx.helper.make_graph(self.nodes[first:], "body", list(inputs), results)
        self.nodes = outer
        return graph

    def linear(self, x, inner, columns, bias=True):
        y = self.MatMul(x, self.k(self.noise(inner, columns, scale=1 / math.sqrt(inner))))
        return self.Add(y, self.k(self.noise(columns, scale=0.1))) if bias else y

    def write(self, folder):
        h = self.onnx.helper
        os.makedirs(folder, exist_ok=True)
        graph = h.make_graph(self.nodes, os.path.basename(folder), self.inputs, self.results, self.constants)
        model = h.make_model(graph, opset_imports=[h.make_opsetid("", OPSET), h.make_opsetid("com.microsoft", 1)], ir_version=9)
        self.onnx.save(model, os.path.join(folder, "model.onnx"))
        for name, values in self.arrays.items():
            self.np.save(os.path.join(folder, name + ".npy"), values)
        manifest = {"name": os.path.basename(folder), "model": "model.onnx", "atol": self.atol, "rtol": self.rtol,
                    "options": self.options, "outputs": [r.name for r in self.results],
                    "cases": [{"inputs": [{"name": name, "file": name + ".npy"} for name in self.arrays]}]}
        with open(os.path.join(folder, "manifest.json"), "w") as f:
            json.dump(manifest, f)


# ---- mixture of experts

def experts(g, tokens, size=256, inner=512, count=8, k=2, bits=0, block=0, zeros=False, gated=True, kind="float32",
            shares=False):
    """A router and its experts: numbers (0 bits), or quantised for each row or block; one gated matrix, or silu and two."""
    x = g.input("x", g.noise(tokens, size, kind=kind))
    router = [g.MatMul(x, g.k(g.noise(size, count, scale=1 / math.sqrt(size)), kind))]
    options = {"k": k, "normalize_routing_weights": int(gated), "activation_type": "silu"}
    if gated:
        options |= {"activation_type": "swiglu", "swiglu_fusion": 1, "activation_alpha": 1.702, "activation_beta": 1.0,
                    "swiglu_limit": 7.0}
    shapes = [((1 + gated) * inner, size), (size, inner)] + ([] if gated else [(inner, size)])
    inputs, points = [], []
    for rows, columns in shapes:
        bias = g.k(g.noise(count, rows, scale=0.1), kind)
        if not bits:
            inputs += [g.k(g.noise(count, rows, columns, scale=1 / math.sqrt(columns)), kind), bias]
            continue
        blocks = [columns // block] if block else []
        inputs += [g.bytes(count, rows, columns * bits // 8),
                   g.k(g.random.uniform(0.5, 1.5, (count, rows, *blocks)) / 2**(bits - 2) / math.sqrt(columns), kind), bias]
        points.append(g.bytes(count, rows, blocks[0] * bits // 8) if block else g.bytes(count, rows * bits // 8))
    if bits:
        options |= {"expert_weight_bits": bits} | ({"block_size": block} if block else {})
        inputs += [""] * (9 - len(inputs)) + (points if zeros else [""] * len(points)) + [""] * (3 - len(points))
        inputs += [g.Sigmoid(router[0])] if shares else []
    g.output(g.ms("QMoE" if bits else "MoE", [x, *router, *inputs], **options), "y", kind)


# ---- attention with caches

def grouped_attention(g, tokens, past, capacity, heads=8, kv_heads=2, size=64, bits=0, channels=False, rotary=True):
    """Tokens after `past` others in caches of that capacity: numbers (0 bits), or with a scale for all or each channel."""
    q, k, v = (g.input(n, g.noise(1, tokens, h * size)) for n, h in (("q", heads), ("k", kv_heads), ("v", kv_heads)))
    shape = (1, kv_heads, capacity, size)
    if bits:
        kept = [g.random.integers(-8, 8, shape) if bits == 4 else g.random.integers(-128, 128, shape) for _ in range(2)]
        kept = [(c[..., ::2] + 8 + 16 * (c[..., 1::2] + 8)).astype("uint8") if bits == 4 else c.astype("int8") for c in kept]
        scales = [g.k(g.random.uniform(1, 2, (1, kv_heads, 1, size) if channels else 1) * 4 / 2**bits) for _ in range(2)]
    else:
        kept = [g.noise(*shape) for _ in range(2)]
        scales = []
    for c in kept:
        c[:, :, past:] = 0    # what ONNX Runtime leaves there
    caches = [g.input(n, c) for n, c in zip(("past_k", "past_v"), kept)]
    last = g.input("last", g.np.array([past + tokens - 1], "int32"))
    total = g.k(past + tokens, "int32")
    angles = g.np.outer(g.np.arange(capacity), 10000.0 ** (-g.np.arange(size // 2) / (size // 2)))
    rotation = [g.k(g.np.cos(angles)), g.k(g.np.sin(angles))] if rotary else ["", ""]
    more = ["", "", "", *scales] if scales else []
    kind = "PER_CHANNEL" if channels else "PER_TENSOR"
    options = {"kv_cache_bit_width": bits, "k_quant_type": kind, "v_quant_type": kind} if bits else {}
    y, *present = g.ms("GroupQueryAttention", [q, k, v, *caches, last, total, *rotation, *more], 3, num_heads=heads,
                       kv_num_heads=kv_heads, do_rotary=int(rotary), **options)
    g.output(y, "y")
    for x, name in zip(present, ("present_k", "present_v")):
        g.output(x, name, kept[0].dtype)


def shared_attention(g, past, capacity, heads=8, size=64):
    """A token after `past` others in caches with room for more, whose first ones count; both inputs are keys and values."""
    q, k, v = (g.input(n, g.noise(1, 1, heads * size)) for n in "qkv")
    kept = [g.noise(1, heads, capacity, size) for _ in range(2)]
    caches = [g.input(n, c) for n, c in zip(("past_k", "past_v"), kept)]
    length = g.input("length", g.np.array([past], "int32"))
    mask = g.input("mask", g.np.ones((1, past + 1), "int32"))
    y = g.ms("DecoderMaskedMultiHeadAttention", [q, k, v, mask, "", *caches, length], 3, num_heads=heads,
             past_present_share_buffer=1)
    for x, name in zip(y, ("y", "present_k", "present_v")):
        g.output(x, name)


# ---- detectors

def detected(g, classes, count, most, least=0.3, overlap=0.5, dense=True):
    """Boxes in clusters: with many scores that count, or with those of twenty objects only, as detectors give them."""
    at = g.random.uniform(0, 1, (40, 2))[g.random.integers(0, 40, count)] + g.noise(count, 2, scale=0.02)
    size = g.random.uniform(0.05, 0.2, (count, 2))
    scores = g.random.uniform(0, 1, (1, classes, count)) ** 3
    if not dense:
        scores *= 0.1
        for few in g.random.permutation(count)[:320].reshape(20, 16):
            at[few], size[few] = at[few[0]] + g.noise(16, 2, scale=0.01), size[few[0]]
            scores[0, g.random.integers(0, classes), few] = g.random.uniform(0.3, 1, 16)
    boxes = g.input("boxes", g.np.concatenate([at - size / 2, at + size / 2], 1)[None].astype("float32"))
    y = g.NonMaxSuppression(boxes, g.input("scores", scores.astype("float32")), g.ints(most), g.k(overlap), g.k(least))
    g.output(y, "selected", "int64")


GRAPHS = {
    "nms-90-1917": lambda g: detected(g, 90, 1917, 100),
    "nms-80-8400": lambda g: detected(g, 80, 8400, 100),
    "nms-1-8400": lambda g: detected(g, 1, 8400, 300),
    "nms-90-1917-objects": lambda g: detected(g, 90, 1917, 100, dense=False),
    "nms-80-8400-objects": lambda g: detected(g, 80, 8400, 100, dense=False),
    "nms-1-8400-objects": lambda g: detected(g, 1, 8400, 300, dense=False),
    "dmmha-shared": lambda g: shared_attention(g, 255, 512),
    "gqa-token": lambda g: grouped_attention(g, 1, 255, 512),
    "gqa-token-8": lambda g: grouped_attention(g, 1, 255, 512, bits=8),
    "gqa-token-8-channels": lambda g: grouped_attention(g, 1, 255, 512, bits=8, channels=True),
    "gqa-token-4": lambda g: grouped_attention(g, 1, 255, 512, bits=4),
    "gqa-token-4-channels": lambda g: grouped_attention(g, 1, 255, 512, bits=4, channels=True),
    "gqa-prompt-8": lambda g: grouped_attention(g, 128, 0, 128, bits=8, channels=True),
    "moe-token": lambda g: experts(g, 1),
    "moe-prompt": lambda g: experts(g, 64),
    "qmoe-token-4": lambda g: experts(g, 1, bits=4, block=32),
    "qmoe-token-8": lambda g: experts(g, 1, bits=8, block=32),
    "qmoe-token-4-rows": lambda g: experts(g, 1, bits=4),
    "qmoe-token-8-rows": lambda g: experts(g, 1, bits=8, zeros=True),
    "qmoe-token-4-zeros": lambda g: experts(g, 1, bits=4, block=32, zeros=True),
    "moe-32-prompt": lambda g: experts(g, 128, count=32, k=4),
    "moe-half": lambda g: experts(g, 1, kind="float16"),
    "qmoe-half": lambda g: experts(g, 1, bits=4, block=32, kind="float16"),
    "qmoe-shares": lambda g: experts(g, 3, bits=4, block=32, zeros=True, shares=True),
    "qmoe-shares-prompt": lambda g: experts(g, 33, bits=8, block=64, zeros=True, shares=True),
    "qmoe-32-prompt": lambda g: experts(g, 128, count=32, k=4, bits=4, block=32),
    "qmoe-prompt-4": lambda g: experts(g, 64, bits=4, block=32),
    "qmoe-prompt-8-rows": lambda g: experts(g, 64, bits=8),
}


GRAPHS |= exported_language.GRAPHS | exported_vision.GRAPHS


def write(folder, name):
    g = Graph()
    GRAPHS[name](g)
    g.write(folder)
