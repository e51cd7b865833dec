#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the small network that examples and pages run, on pictures that it draws itself, so that no one else owns either.

usage: train_shapes.py OUT_DIR      (needs Debian's python3-numpy; takes about half a minute)

The network says which of eight shapes a grey picture of 24 x 24 pixels shows.  OUT_DIR gets, some 70 KB in all:

    model.onnx                the network; its input "image" [batch, 1, 24, 24] has grey levels from 0 to 1
    manifest.json, weights/   the same network layer by layer, for one picture (docs/formats.md), and a case with its result
    classes.txt               a label in each line
    star.png, heart.png       pictures to classify

Prints the share of held-out pictures that are classified right.  The same seed gives the same files on every machine: training
is in float64, and weights are rounded to multiples of 1/256, which swallows what processors add up in different order.
"""
import json
import os
import struct
import sys
import zlib

import numpy as np

SIZE, SEED, BATCH, EPOCHS, RATE = 24, 1, 24, 5, 0.006
TRAINING, HELD_OUT = 6000, 2000
CLASSES = ["circle", "triangle", "square", "star", "heart", "cross", "moon", "arrow"]

# ---------------------------------------------------------------------------------------------------------------- pictures


def ring(count, *radii):
    """Corners at even angles from the top on, whose distances from the centre take turns."""
    return [(radii[i % len(radii)] * np.sin(2 * np.pi * i / count), -radii[i % len(radii)] * np.cos(2 * np.pi * i / count))
            for i in range(count)]


def polygon(x, y, corners):
    """Whether points are inside, by how many edges a ray to the right crosses."""
    inside = np.zeros(x.shape, bool)
    for (ax, ay), (bx, by) in zip(corners, corners[1:] + corners[:1]):
        if ay != by:
            inside ^= ((ay > y) != (by > y)) & (x < (bx - ax) * (y - ay) / (by - ay) + ax)
    return inside


def covers(name, x, y):
    """Whether points of the plane are on the shape, which is about as large as the circle around the origin of radius 1."""
    if name == "circle":
        return x * x + y * y < 0.7
    if name == "triangle":
        return polygon(x, y, ring(3, 1.05))
    if name == "square":
        return np.maximum(abs(x), abs(y)) < 0.72
    if name == "star":
        return polygon(x, y, ring(10, 1.05, 0.44))
    if name == "heart":
        u, v = 1.25 * x, 0.15 - 1.25 * y
        return (u * u + v * v - 1) ** 3 < u * u * v ** 3
    if name == "cross":
        return (np.minimum(abs(x), abs(y)) < 0.28) & (np.maximum(abs(x), abs(y)) < 0.92)
    if name == "moon":
        return (x * x + y * y < 0.8) & ((x - 0.42) ** 2 + (y + 0.2) ** 2 > 0.5)
    return polygon(x, y, [(-0.95, -0.24), (0.05, -0.24), (0.05, -0.72), (1.0, 0.0), (0.05, 0.72), (0.05, 0.24), (-0.95, 0.24)])


def draw(name, size, centre, radius, angle, samples):
    """The share of each pixel that the shape covers."""
    at = (np.arange(size * samples) + 0.5) / (size * samples) * 2 - 1
    x, y = np.meshgrid(at - centre[0], at - centre[1])
    c, s = np.cos(angle) / radius, np.sin(angle) / radius
    on = covers(name, c * x + s * y, c * y - s * x)
    return on.reshape(size, samples, size, samples).mean((1, 3))


def pictures(random, count):
    """Pictures [count, SIZE, SIZE, 1] of many places, sizes, turns and contrasts, with noise, and their classes."""
    images, classes = np.empty((count, SIZE, SIZE, 1)), np.arange(count) % len(CLASSES)
    for i in range(count):
        shape = draw(CLASSES[classes[i]], SIZE, random.uniform(-0.25, 0.25, 2), random.uniform(0.45, 0.8),
                     random.uniform(-0.5, 0.5), 2)
        contrast = random.uniform(0.35, 1)
        ground = random.uniform(0, 1 - contrast)
        if random.randint(2):
            shape = 1 - shape
        images[i, :, :, 0] = ground + contrast * shape + random.normal(0, random.uniform(0, 0.06), (SIZE, SIZE))
    return np.round(np.clip(images, 0, 1) * 255) / 255, classes


def write_png(path, levels):
    """A grey picture; not compressed, because libraries compress differently."""
    rows = b"".join(b"\0" + bytes(row) for row in levels)
    stored = b"\x78\x01\x01" + struct.pack("<HH", len(rows), len(rows) ^ 0xFFFF) + rows + struct.pack(">I", zlib.adler32(rows))
    parts = [(b"IHDR", struct.pack(">IIBBBBB", levels.shape[1], levels.shape[0], 8, 0, 0, 0, 0)), (b"IDAT", stored), (b"IEND", b"")]
    with open(path, "wb") as f:
        f.write(b"\x89PNG\r\n\x1a\n")
        for kind, data in parts:
            f.write(struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)))


# ----------------------------------------------------------------------------------------------------------------- network

# Pictures are [N, H, W, C] here and filters [3 * 3 * C, O], so that a convolution is a copy and one product of matrices.
CHANNELS, FEATURES = (1, 8, 12, 12, 12), (SIZE // 8) ** 2 * 12
CONVOLUTIONS = ("conv1", "conv2", "conv3", "conv4")
PLANES = {"conv1": SIZE, "conv2": SIZE // 4, "conv3": SIZE // 4, "conv4": SIZE // 4}  # height of the result


def conv(p, name, x, kept):
    """Convolves with a padding of 1; what the way back needs goes to kept."""
    size, stride = PLANES[name], x.shape[1] // PLANES[name]
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    seen = [padded[:, i:i + x.shape[1]:stride, k:k + x.shape[2]:stride] for i in range(3) for k in range(3)]
    kept[name] = np.concatenate(seen, 3).reshape(-1, len(p[name + "_filter"])), x.shape, stride
    return (kept[name][0] @ p[name + "_filter"] + p[name + "_bias"]).reshape(len(x), size, size, -1)


def conv_back(p, grads, name, dy, kept):
    """Stores the gradients of filter and bias, and returns that of the input."""
    columns, (n, h, w, c), stride = kept[name]
    flat = dy.reshape(-1, dy.shape[3])
    grads[name + "_filter"], grads[name + "_bias"] = columns.T @ flat, flat.sum(0)
    if name == "conv1":
        return None
    back = (flat @ p[name + "_filter"].T).reshape(n, h // stride, w // stride, 9, c)
    dx = np.zeros((n, h + 2, w + 2, c))
    for i in range(9):
        dx[:, i // 3:i // 3 + h:stride, i % 3:i % 3 + w:stride] += back[:, :, :, i]
    return dx[:, 1:-1, 1:-1]


def pool(x):
    """The windows of 2 x 2 pixels, in the last dimension."""
    n, h, w, c = x.shape
    return x.reshape(n, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 5, 2, 4).reshape(n, h // 2, w // 2, c, 4)


def pool_back(windows, dy):
    n, h, w, c, _ = windows.shape
    dx = (np.arange(4) == windows.argmax(-1)[..., None]) * dy[..., None]
    return dx.reshape(n, h, w, c, 2, 2).transpose(0, 1, 4, 2, 5, 3).reshape(n, 2 * h, 2 * w, c)


def forward(p, x, kept):
    """Probabilities [N, classes]."""
    a = np.maximum(conv(p, "conv1", x, kept), 0)
    b = pool(a)
    c = np.maximum(conv(p, "conv2", b.max(-1), kept), 0)
    d = np.maximum(conv(p, "conv3", c, kept), 0)
    e = np.maximum(conv(p, "conv4", d, kept) + c, 0)
    f = pool(e)
    g = f.max(-1).reshape(len(x), FEATURES)
    z = g @ p["classifier_weight"] + p["classifier_bias"]
    z = np.exp(z - z.max(1, keepdims=True))
    kept["values"] = a, b, c, d, e, f, g
    return z / z.sum(1, keepdims=True)


def gradients(p, x, classes):
    """Of the mean cross entropy."""
    kept, grads, n = {}, {}, len(x)
    dz = forward(p, x, kept)
    a, b, c, d, e, f, g = kept["values"]
    dz[np.arange(n), classes] -= 1
    dz /= n
    grads["classifier_weight"], grads["classifier_bias"] = g.T @ dz, dz.sum(0)
    de = pool_back(f, (dz @ p["classifier_weight"].T).reshape(f.shape[:4])) * (e > 0)
    dd = conv_back(p, grads, "conv4", de, kept) * (d > 0)
    dc = (conv_back(p, grads, "conv3", dd, kept) + de) * (c > 0)
    conv_back(p, grads, "conv1", pool_back(b, conv_back(p, grads, "conv2", dc, kept)) * (a > 0), kept)
    return grads


def train(random):
    """Adam, with a rate that falls to zero.  Returns the weights as files have them."""
    p = {}
    for i, name in enumerate(CONVOLUTIONS):
        p[name + "_filter"] = random.normal(0, np.sqrt(2 / (9 * CHANNELS[i])), (9 * CHANNELS[i], CHANNELS[i + 1]))
        p[name + "_bias"] = np.zeros(CHANNELS[i + 1])
    p["classifier_weight"] = random.normal(0, np.sqrt(1 / FEATURES), (FEATURES, len(CLASSES)))
    p["classifier_bias"] = np.zeros(len(CLASSES))
    images, classes = pictures(random, TRAINING)
    first, second = ({k: np.zeros_like(v) for k, v in p.items()} for _ in range(2))
    batches = np.concatenate([random.permutation(TRAINING).reshape(-1, BATCH) for _ in range(EPOCHS)])
    for step, batch in enumerate(batches, 1):
        rate = RATE / 2 * (1 + np.cos(np.pi * step / len(batches))) * np.sqrt(1 - 0.999 ** step) / (1 - 0.9 ** step)
        for k, g in gradients(p, images[batch], classes[batch]).items():
            first[k] += 0.1 * (g - first[k])
            second[k] += 0.001 * (g * g - second[k])
            p[k] -= rate * first[k] / (np.sqrt(second[k]) + 1e-8)
    return {k: np.round(v * 256) / 256 for k, v in p.items()}


def exported(p):
    """The weights in the layouts of files: filters [O, C, 3, 3], and features with their channels first."""
    out = {}
    for name, w in p.items():
        if name.endswith("_filter"):
            w = w.reshape(3, 3, -1, w.shape[1]).transpose(3, 2, 0, 1)
        elif name == "classifier_weight":
            w = w.reshape(SIZE // 8, SIZE // 8, -1, len(CLASSES)).transpose(2, 0, 1, 3).reshape(FEATURES, -1)
        out[name] = np.ascontiguousarray(w, "<f4")
    return out


# -------------------------------------------------------------------------------------------------- ONNX (fields of onnx.proto)

FLOAT = 1


def varint(n):
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def integer(field, n):
    return varint(field << 3) + varint(n)


def message(field, *parts):
    data = b"".join(p.encode() if isinstance(p, str) else p for p in parts)
    return varint(field << 3 | 2) + varint(len(data)) + data


def value_info(field, name, shape):
    dims = [message(1, integer(1, d) if isinstance(d, int) else message(2, d)) for d in shape]
    return message(field, message(1, name), message(2, message(1, integer(1, FLOAT), message(2, *dims))))


def node(kind, name, inputs, output, **attributes):
    """Attributes are lists of integers, or one."""
    made = [message(5, message(1, k), *([integer(3, v), integer(20, 2)] if isinstance(v, int) else
                                        [integer(8, i) for i in v] + [integer(20, 7)])) for k, v in attributes.items()]
    return message(1, *[message(1, i) for i in inputs], message(2, output), message(3, name), message(4, kind), *made)


def onnx(p):
    def convolution(name, x, stride):
        return node("Conv", name, [x, name + "_filter", name + "_bias"], name + "_out", kernel_shape=[3, 3],
                    pads=[1, 1, 1, 1], strides=[stride, stride])

    nodes = [
        convolution("conv1", "image", 1), node("Relu", "relu1", ["conv1_out"], "relu1_out"),
        node("MaxPool", "pool1", ["relu1_out"], "pool1_out", kernel_shape=[2, 2], strides=[2, 2]),
        convolution("conv2", "pool1_out", 2), node("Relu", "relu2", ["conv2_out"], "relu2_out"),
        convolution("conv3", "relu2_out", 1), node("Relu", "relu3", ["conv3_out"], "relu3_out"),
        convolution("conv4", "relu3_out", 1), node("Add", "residual", ["conv4_out", "relu2_out"], "residual_out"),
        node("Relu", "relu4", ["residual_out"], "relu4_out"),
        node("MaxPool", "pool2", ["relu4_out"], "pool2_out", kernel_shape=[2, 2], strides=[2, 2]),
        node("Flatten", "flatten", ["pool2_out"], "flatten_out", axis=1),
        node("Gemm", "classifier", ["flatten_out", "classifier_weight", "classifier_bias"], "logits"),
        node("Softmax", "softmax", ["logits"], "probabilities", axis=1),
    ]
    weights = [message(5, *[integer(1, d) for d in w.shape], integer(2, FLOAT), message(8, name),
                       message(9, w.tobytes())) for name, w in p.items()]
    graph = message(7, *nodes, message(2, "shapes"), *weights, value_info(11, "image", ["batch", 1, SIZE, SIZE]),
                    value_info(12, "probabilities", ["batch", len(CLASSES)]))
    return integer(1, 8) + message(2, "train_shapes.py") + graph + message(8, integer(2, 17))


# ---------------------------------------------------------------------------------------------------------------- manifest


def manifest(p):
    def convolution(name, x, stride):
        return {"id": name, "op": "conv2d", "inputs": [x], "filter": name + "_filter", "bias": name + "_bias",
                "padding": [1, 1, 1, 1], "strides": [stride, stride], "dilations": [1, 1], "groups": 1}

    def layer(name, op, *inputs, **options):
        return {"id": name, "op": op, "inputs": list(inputs), **options}

    layers = [
        convolution("conv1", "image", 1), layer("relu1", "relu", "conv1"),
        layer("pool1", "maxPool2d", "relu1", windowDimensions=[2, 2], strides=[2, 2]),
        convolution("conv2", "pool1", 2), layer("relu2", "relu", "conv2"),
        convolution("conv3", "relu2", 1), layer("relu3", "relu", "conv3"),
        convolution("conv4", "relu3", 1), layer("residual", "add", "conv4", "relu2"), layer("relu4", "relu", "residual"),
        layer("pool2", "maxPool2d", "relu4", windowDimensions=[2, 2], strides=[2, 2]),
        layer("flatten", "reshape", "pool2", newShape=[1, FEATURES]),
        layer("logits", "gemm", "flatten", "classifier_weight", c="classifier_bias", alpha=1, beta=1, bTranspose=False),
        layer("probabilities", "softmax", "logits", axis=1, outputShape=[1, len(CLASSES)]),
    ]
    return {
        "name": "shapes", "task": "which of eight shapes a picture shows",
        "inputs": [{"name": "image", "dataType": "float32", "shape": [1, 1, SIZE, SIZE]}],
        "constants": [{"id": k, "file": "weights/%s.npy" % k, "dataType": "float32", "shape": list(v.shape)} for k, v in p.items()],
        "layers": layers,
        "outputs": [{"name": "probabilities", "dataType": "float32", "shape": [1, len(CLASSES)]}],
        "cases": [{"inputs": {"image": "moon.npy"}, "outputs": {"probabilities": "moon_probabilities.npy"},
                   "tolerance": {"probabilities": {"atol": 1e-5}}}],
    }


def main(out):
    random = np.random.RandomState(SEED)  # whose numbers stay the same in all versions of NumPy
    p = train(random)
    images, classes = pictures(random, HELD_OUT)
    right = np.mean(forward(p, images, {}).argmax(1) == classes)
    print("%.1f %% of %d held-out pictures are classified right" % (100 * right, HELD_OUT))
    files = exported(p)
    os.makedirs(os.path.join(out, "weights"), exist_ok=True)
    for name, w in files.items():
        np.save(os.path.join(out, "weights", name + ".npy"), w)
    with open(os.path.join(out, "model.onnx"), "wb") as f:
        f.write(onnx(files))
    with open(os.path.join(out, "classes.txt"), "w") as f:
        f.writelines(label + "\n" for label in CLASSES)
    with open(os.path.join(out, "manifest.json"), "w") as f:
        json.dump(manifest(files), f, indent=1)
        f.write("\n")
    for name, angle in (("star", 0.2), ("heart", -0.3)):
        levels = np.round(40 + 190 * draw(name, 96, (0.05, -0.02), 0.7, angle, 4)).astype(np.uint8)
        write_png(os.path.join(out, name + ".png"), levels)
    image = (np.round(255 * (0.9 - 0.8 * draw("moon", SIZE, (0, 0), 0.7, 0.2, 4)))[None, :, :, None] / 255).astype("<f4")
    np.save(os.path.join(out, "moon.npy"), image.reshape(1, 1, SIZE, SIZE))
    np.save(os.path.join(out, "moon_probabilities.npy"), forward(p, image.astype(float), {}).astype("<f4"))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
