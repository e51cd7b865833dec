#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the cases that gpu_check.py times, in the form of bench/cases.txt: sizes that fill a GPU, and a language model.

    bench/gpu_cases.py [--small] [NAME ...]
"""
import math
import sys

FULL = {"elements": 1 << 26, "gemm": 4096, "layers": 30, "hidden": 576, "heads": 9, "shared_heads": 3, "ffn": 1536,
        "vocabulary": 49152, "others": 255, "prompt": 128}
SMALL = {"elements": 1 << 20, "gemm": 256, "layers": 2, "hidden": 128, "heads": 4, "shared_heads": 2, "ffn": 256,
         "vocabulary": 1024, "others": 63, "prompt": 32}
BLOCK = 32              # weights of 4 bits have a scale for so many
VARIANCE_OF_4_BITS = (16 * 16 - 1) / 12


def line(level, name, inputs, consts, nodes, outputs):
    blocks = [("inputs", inputs), ("consts", consts), ("nodes", nodes), ("outputs", outputs)]
    return f"{level} {name}: " + " ".join(f"{word} {{ {' '.join(part)} }}" for word, part in blocks if part)


def shape(*sizes):
    return "[" + ", ".join(map(str, sizes)) + "]"


class Decoder:
    """One step of a decoder with the sizes of SmolLM2-135M: `rows` tokens after `others`, weights of 4 bits."""

    def __init__(self, size, rows, others):
        self.size, self.rows, self.others = size, rows, others
        self.head = size["hidden"] // size["heads"]
        self.inputs, self.consts, self.nodes, self.outputs = [], [], [], []
        self.count = 0
        half = (1, rows, self.head // 2)
        self.cos, self.sin = (self.const("f32", half, '@weights("3")') for _ in range(2))
        self.mask = self.const("f32", (rows, rows + others), '@weights("3")')
        self.scale = self.const("f32", (), f"@scalar({self.head ** -0.5:.9g})")
        self.epsilon = self.const("f32", (), "@scalar(1e-5)")

    def const(self, kind, sizes, value):
        self.count += 1
        self.consts.append(f"c{self.count}: {kind}{shape(*sizes)} {value};")
        return f"c{self.count}"

    def op(self, operator, *operands, **options):
        self.count += 1
        words = [*map(str, operands), *(f"{key}={value}" for key, value in options.items())]
        self.nodes.append(f"n{self.count} = {operator}({', '.join(words)});")
        return f"n{self.count}"

    def linear(self, x, k, n):
        w = self.const("u4", (k // BLOCK, BLOCK, n), '@weights("1")')
        scale = self.const("f32", (k // BLOCK, 1, n), f"@scalar({1 / math.sqrt(VARIANCE_OF_4_BITS * k):.9g})")
        zero = self.const("u8", (k // BLOCK, 1, n), "@scalar(8)")
        wide = self.op("dequantizeLinear", self.op("cast", w, '"uint8"'), scale, zero)
        return self.op("matmul", x, self.op("reshape", wide, shape(k, n)))

    def norm(self, x):
        mean = self.op("reduceMean", self.op("mul", x, x), axes="[1]", keepDimensions="true")
        root = self.op("sqrt", self.op("add", mean, self.epsilon))
        return self.op("mul", self.op("div", x, root), self.const("f32", (self.size["hidden"],), "@scalar(1.5)"))

    def split(self, x, count):
        """Returns [count, rows, head]."""
        return self.op("transpose", self.op("reshape", x, shape(self.rows, count, self.head)), permutation="[1, 0, 2]")

    def rotate(self, x, count):
        half = self.head // 2
        a, b = (self.op("slice", x, shape(0, 0, at), shape(count, self.rows, half)) for at in (0, half))
        first = self.op("sub", self.op("mul", a, self.cos), self.op("mul", b, self.sin))
        second = self.op("add", self.op("mul", b, self.cos), self.op("mul", a, self.sin))
        return self.op("concat", f"[{first}, {second}]", 2)

    def cached(self, x, name):
        """Returns x appended to the content of a cache.  What x adds to the cache is an output."""
        self.outputs.append(f"{x};")
        if not self.others:
            return x
        self.inputs.append(f"{name}: f32{shape(self.size['shared_heads'], self.others, self.head)};")
        return self.op("concat", f"[{name}, {x}]", 1)

    def attention(self, x, number):
        hidden, heads, shared = (self.size[key] for key in ("hidden", "heads", "shared_heads"))
        rows, head, total = self.rows, self.head, self.rows + self.others
        q = self.rotate(self.split(self.linear(x, hidden, hidden), heads), heads)
        k = self.cached(self.rotate(self.split(self.linear(x, hidden, shared * head), shared), shared), f"k{number}")
        v = self.cached(self.split(self.linear(x, hidden, shared * head), shared), f"v{number}")
        q = self.op("reshape", q, shape(shared, heads // shared, rows, head))
        k, v = (self.op("reshape", t, shape(shared, 1, total, head)) for t in (k, v))
        scores = self.op("matmul", q, self.op("transpose", k, permutation="[0, 1, 3, 2]"))
        scores = self.op("add", self.op("mul", scores, self.scale), self.mask)
        y = self.op("matmul", self.op("softmax", scores, 3), v)
        y = self.op("transpose", self.op("reshape", y, shape(heads, rows, head)), permutation="[1, 0, 2]")
        return self.linear(self.op("reshape", y, shape(rows, hidden)), hidden, hidden)

    def feed_forward(self, x):
        hidden, ffn = self.size["hidden"], self.size["ffn"]
        gate, up = self.linear(x, hidden, ffn), self.linear(x, hidden, ffn)
        return self.linear(self.op("mul", self.op("mul", gate, self.op("sigmoid", gate)), up), ffn, hidden)

    def text(self, name):
        hidden, vocabulary = self.size["hidden"], self.size["vocabulary"]
        self.inputs.append(f"ids: i32{shape(self.rows)};")
        table = self.const("f16", (vocabulary, hidden), '@weights("1")')
        x = self.op("cast", self.op("gather", table, "ids"), '"float32"')
        for number in range(self.size["layers"]):
            x = self.op("add", x, self.attention(self.norm(x), number))
            x = self.op("add", x, self.feed_forward(self.norm(x)))
        last = self.op("slice", self.norm(x), shape(self.rows - 1, 0), shape(1, hidden))
        self.outputs.append(f"{self.linear(last, hidden, vocabulary)};")
        return line("model", name, self.inputs, self.consts, self.nodes, self.outputs)


def cases(size):
    """Returns the text of each case by its name."""
    n, side = size["elements"], size["gemm"]
    found = {
        "relu": line("kernel", "relu", [f"x: f32[{n}];"], [], ["y = relu(x);"], ["y;"]),
        "chain": line("kernel", "chain", [f"x: f32[{n}];", f"y: f32[{n}];"], [],
                      ["a = mul(x, y);", "b = add(a, x);", "c = tanh(b);", "d = mul(c, y);", "e = sub(d, a);", "f = relu(e);"], ["f;"]),
        "transpose": line("kernel", "transpose", [f"x: f32[{side}, {side}];"], [], ["y = transpose(x);"], ["y;"]),
        "softmax": line("kernel", "softmax", [f"x: f32[{side}, {side}];"], [], ["y = softmax(x, 1);"], ["y;"]),
    }
    for kind in ("f32", "f16"):
        found[f"gemm-{kind}"] = line("operator", f"gemm-{kind}", [f"a: {kind}[{side}, {side}];", f"b: {kind}[{side}, {side}];"], [],
                                     ["y = matmul(a, b);"], ["y;"])
    found["token"] = Decoder(size, 1, size["others"]).text("token")
    found["prompt"] = Decoder(size, size["prompt"], 0).text("prompt")
    return found


def main():
    names = [a for a in sys.argv[1:] if a != "--small"]
    found = cases(SMALL if "--small" in sys.argv else FULL)
    for name, text in found.items():
        if not names or name in names:
            print(text)


if __name__ == "__main__":
    main()
