# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Detectors and recognisers of exported.py: small backbones, heads as torchvision, Ultralytics and tf2onnx write them."""
import math

IMAGE = 128


# ---- parts

def conv(g, x, inputs, outputs, window=3, stride=1, groups=1, activation="Relu"):
    w = g.k(g.noise(outputs, inputs // groups, window, window, scale=1 / math.sqrt(window * window * inputs / groups)))
    y = g.Conv(x, w, g.k(g.noise(outputs, scale=0.1)), strides=[stride] * 2, pads=[window // 2] * 4, group=groups)
    if activation == "SiLU":
        return g.Mul(y, g.Sigmoid(y))
    if activation == "Relu6":
        return g.Clip(y, g.k(0), g.k(6))
    return g.node(activation, [y]) if activation else y


def backbone(g, x, channels=(16, 32, 64), activation="Relu"):
    """Halves pictures step by step, with a residual in each; returns the last two results."""
    levels, inputs = [], 3
    for outputs in channels:
        x = conv(g, x, inputs, outputs, 3, 2, activation=activation)
        x = g.Add(x, conv(g, x, outputs, outputs, 3, activation=activation))
        levels.append(x)
        inputs = outputs
    return levels[-2:]


def picture(g, height=IMAGE, width=IMAGE, name="images"):
    return g.input(name, g.random.uniform(0, 1, (1, 3, height, width)).astype("float32"), ["batch", 3, height, width])


def columns(g, x, *parts):
    """Takes a last dimension apart."""
    return g.node("Split", [x, g.ints(*parts)], len(parts), axis=-1)


def anchors(g, height, width, step, sizes):
    y, x = g.np.meshgrid((g.np.arange(height) + 0.5) * step, (g.np.arange(width) + 0.5) * step, indexing="ij")
    at = g.np.stack([x, y], -1).reshape(-1, 1, 2)
    half = g.np.array([[s / 2, s / 2] for s in sizes])
    return g.np.concatenate([at - half, at + half], -1).reshape(-1, 4).astype("float32")


def decode(g, deltas, boxes, weights=(1.0, 1.0, 1.0, 1.0)):
    """torchvision's BoxCoder: corners of boxes [n, 4] moved by deltas [n, 4]."""
    low, high = boxes[:, :2], boxes[:, 2:]
    sizes, centers = high - low, (low + high) / 2
    move, grow = columns(g, deltas, 2, 2)
    center = g.Add(g.Mul(g.Div(move, g.k(weights[:2])), g.k(sizes)), g.k(centers))
    grow = g.Clip(g.Div(grow, g.k(weights[2:])), "", g.k(math.log(1000 / 16)))
    half = g.Mul(g.Mul(g.Exp(grow), g.k(sizes)), g.k(0.5))
    return g.Clip(g.Concat(g.Sub(center, half), g.Add(center, half), axis=1), g.k(0), g.k(IMAGE))


def batched_nms(g, boxes, scores, classes, overlap, most):
    """torchvision.ops.batched_nms: boxes of different classes are moved apart by more than the picture."""
    far = g.Mul(g.Cast(classes, to=1), g.Add(g.ReduceMax(boxes, keepdims=0), g.k(1)))
    moved = g.Unsqueeze(g.Add(boxes, g.Unsqueeze(far, g.ints(1))), g.ints(0))
    kept = g.NonMaxSuppression(moved, g.Unsqueeze(scores, g.ints(0, 1)), g.ints(2**31 - 1), g.k(overlap))
    kept = g.Squeeze(g.Gather(kept, g.ints(2), axis=1), g.ints(1))
    return g.Slice(kept, g.ints(0), g.ints(most), g.ints(0))


def take(g, x, at):
    return g.Gather(x, at, axis=0)


def detections(g, boxes, scores, labels):
    for x, name, kind in ((boxes, "boxes", "float32"), (scores, "scores", "float32"), (labels, "labels", "int64")):
        g.output(x, name, kind)


# ---- detectors

def ssd_torchvision(g, classes=21):
    """SSDLite: scores of all classes, the best of each by TopK, batched NMS."""
    levels = backbone(g, picture(g), activation="Relu6")
    scores, deltas, places = [], [], []
    for x, channels, step in zip(levels, (32, 64), (4, 8)):
        side = IMAGE // step
        for rows, out in ((classes, scores), (4, deltas)):
            y = conv(g, x, channels, channels, 3, groups=channels, activation="Relu6")
            y = conv(g, y, channels, 3 * rows, 1, activation=None)
            y = g.Transpose(g.Reshape(y, g.ints(1, 3, rows, side, side)), perm=[0, 3, 4, 1, 2])
            out.append(g.Reshape(y, g.ints(1, -1, rows)))
        places.append(anchors(g, side, side, step, (2 * step, 3 * step, 4 * step)))
    scores = g.Softmax(g.Squeeze(g.Concat(*scores, axis=1), g.ints(0)), axis=-1)
    boxes = decode(g, g.Squeeze(g.Concat(*deltas, axis=1), g.ints(0)), g.np.concatenate(places), (10.0, 10.0, 5.0, 5.0))
    found = []
    for c in range(1, 4):    # of the classes that a script unrolls
        s = g.Squeeze(g.Slice(scores, g.ints(c), g.ints(c + 1), g.ints(1)), g.ints(1))
        kept = g.Squeeze(g.Transpose(g.NonZero(g.Greater(s, g.k(0.001))), perm=[1, 0]), g.ints(1))
        s, b = take(g, s, kept), take(g, boxes, kept)
        top, at = g.node("TopK", [s, g.Min(g.Shape(s), g.ints(300))], 2, axis=0)
        found.append((take(g, b, at), top, g.Expand(g.k(c, "int64"), g.Shape(top))))
    boxes, scores, labels = (g.Concat(*parts, axis=0) for parts in zip(*found))
    kept = batched_nms(g, boxes, scores, labels, 0.55, 100)
    detections(g, take(g, boxes, kept), take(g, scores, kept), take(g, labels, kept))


def retinanet_torchvision(g, classes=8):
    """Scores of places and classes in one list, those above a threshold, the best of them, batched NMS."""
    levels = backbone(g, picture(g))
    found = []
    for x, channels, step in zip(levels, (32, 64), (4, 8)):
        side = IMAGE // step
        s, d = (conv(g, conv(g, x, channels, channels), channels, 3 * n, activation=None) for n in (classes, 4))
        s, d = (g.Reshape(g.Transpose(g.Reshape(y, g.ints(1, 3, n, side, side)), perm=[0, 3, 4, 1, 2]), g.ints(-1, n))
                for y, n in ((s, classes), (d, 4)))
        s = g.Sigmoid(g.Reshape(s, g.ints(-1)))
        kept = g.Squeeze(g.Transpose(g.NonZero(g.Greater(s, g.k(0.05))), perm=[1, 0]), g.ints(1))
        s = take(g, s, kept)
        top, at = g.node("TopK", [s, g.Min(g.Shape(s), g.ints(200))], 2, axis=0)
        at = take(g, kept, at)
        place = g.Div(at, g.k(classes, "int64"))
        boxes = decode(g, d, anchors(g, side, side, step, (2 * step, 3 * step, 4 * step)))
        found.append((take(g, boxes, place), top, g.Mod(at, g.k(classes, "int64"))))
    boxes, scores, labels = (g.Concat(*parts, axis=0) for parts in zip(*found))
    kept = batched_nms(g, boxes, scores, labels, 0.5, 300)
    detections(g, take(g, boxes, kept), take(g, scores, kept), take(g, labels, kept))


def faster_rcnn_torchvision(g, classes=5, proposals=64):
    """Proposals by TopK and NMS, RoiAlign, a head for each of them, and once more NMS of all classes."""
    x = backbone(g, picture(g))[1]
    side = IMAGE // 8
    h = conv(g, x, 64, 64)
    s, d = (conv(g, h, 64, 3 * n, 1, activation=None) for n in (1, 4))
    s = g.Reshape(g.Transpose(s, perm=[0, 2, 3, 1]), g.ints(-1))
    d = g.Reshape(g.Transpose(g.Reshape(d, g.ints(1, 3, 4, side, side)), perm=[0, 3, 4, 1, 2]), g.ints(-1, 4))
    top, at = g.node("TopK", [s, g.ints(200)], 2, axis=0)
    boxes = take(g, decode(g, d, anchors(g, side, side, 8, (16, 32, 48))), at)
    kept = batched_nms(g, boxes, g.Sigmoid(top), g.Expand(g.k(0, "int64"), g.Shape(top)), 0.7, proposals)
    rois = take(g, boxes, kept)
    batch = g.Expand(g.k(0, "int64"), g.Shape(kept))
    y = g.RoiAlign(x, rois, batch, output_height=5, output_width=5, sampling_ratio=2, spatial_scale=1 / 8, mode="avg",
                   coordinate_transformation_mode="output_half_pixel")
    y = g.Relu(g.linear(g.Flatten(y, axis=1), 64 * 25, 128))
    s = g.Softmax(g.linear(y, 128, classes), axis=-1)
    move = g.Reshape(g.linear(y, 128, classes * 4), g.ints(-1, classes, 4))
    center = g.Unsqueeze(rois, g.ints(1))
    boxes = g.Reshape(g.Clip(g.Add(center, move), g.k(0), g.k(IMAGE)), g.ints(-1, 4))
    s = g.Reshape(s, g.ints(-1))
    n = g.Range(g.k(0, "int64"), g.Squeeze(g.Shape(s), g.ints(0)), g.k(1, "int64"))
    labels = g.Mod(n, g.k(classes, "int64"))
    kept = g.Squeeze(g.Transpose(g.NonZero(g.And(g.Greater(s, g.k(0.05)), g.Greater(labels, g.k(0, "int64")))), perm=[1, 0]),
                     g.ints(1))
    boxes, s, labels = (take(g, p, kept) for p in (boxes, s, labels))
    kept = batched_nms(g, boxes, s, labels, 0.5, 50)
    detections(g, take(g, boxes, kept), take(g, s, kept), take(g, labels, kept))


def yolo_head(g, x, channels, step, classes):
    """A level of Ultralytics' head: distributions of distances to four edges, and scores."""
    d = conv(g, x, channels, 64, activation="SiLU")
    d = conv(g, d, 64, 64, 1, activation=None)
    s = conv(g, x, channels, classes, 1, activation=None)
    return g.Concat(g.Reshape(d, g.ints(1, 64, -1)), g.Reshape(s, g.ints(1, classes, -1)), axis=1)


def yolo(g, classes=20):
    """YOLOv8: [batch, 4 + classes, places] of boxes and scores."""
    levels = backbone(g, picture(g), activation="SiLU")
    y = g.Concat(*(yolo_head(g, x, c, 0, classes) for x, c in zip(levels, (32, 64))), axis=2)
    d, s = g.node("Split", [y, g.ints(64, classes)], 2, axis=1)
    d = g.Softmax(g.Transpose(g.Reshape(d, g.ints(1, 4, 16, -1)), perm=[0, 2, 1, 3]), axis=1)
    d = g.Conv(d, g.k(g.np.arange(16).reshape(1, 16, 1, 1)))
    low, high = g.node("Split", [g.Reshape(d, g.ints(1, 4, -1)), g.ints(2, 2)], 2, axis=1)
    at = g.np.concatenate([anchors(g, IMAGE // n, IMAGE // n, 1, (0,))[:, :2] for n in (4, 8)]).T[None]
    step = g.np.concatenate([g.np.full((IMAGE // n) ** 2, n) for n in (4, 8)])[None, None]
    return g.Mul(g.Concat(g.Sub(g.k(at), low), g.Add(g.k(at), high), axis=1), g.k(step)), g.Sigmoid(s)


def yolo_nms(g):
    """YOLOv8 with NonMaxSuppression and GatherND appended, as end-to-end exports do."""
    boxes, scores = yolo(g)
    boxes = g.Transpose(boxes, perm=[0, 2, 1])
    found = g.NonMaxSuppression(boxes, scores, g.ints(50), g.k(0.45), g.k(0.6))
    batch, label, at = g.node("Split", [found, g.ints(1, 1, 1)], 3, axis=1)
    g.output(g.GatherND(boxes, g.Concat(batch, at, axis=1)), "boxes")
    g.output(g.GatherND(scores, found), "scores")
    g.output(label, "labels", "int64")


def yolo_top(g, most=100, classes=20):
    """YOLOv10: no NMS; the best places, and of those the best classes."""
    boxes, scores = yolo(g, classes)
    boxes, scores = (g.Transpose(x, perm=[0, 2, 1]) for x in (boxes, scores))
    _, at = g.node("TopK", [g.ReduceMax(scores, g.ints(-1), keepdims=0), g.ints(most)], 2, axis=-1)
    at = g.Unsqueeze(at, g.ints(-1))
    boxes = g.GatherElements(boxes, g.Tile(at, g.ints(1, 1, 4)), axis=1)
    scores = g.Flatten(g.GatherElements(scores, g.Tile(at, g.ints(1, 1, classes)), axis=1), axis=1)
    top, at = g.node("TopK", [scores, g.ints(most)], 2, axis=-1)
    label, row = g.Mod(at, g.k(classes, "int64")), g.Div(at, g.k(classes, "int64"))
    boxes = g.GatherElements(boxes, g.Tile(g.Unsqueeze(row, g.ints(-1)), g.ints(1, 1, 4)), axis=1)
    g.output(g.Concat(boxes, g.Unsqueeze(top, g.ints(-1)), g.Cast(g.Unsqueeze(label, g.ints(-1)), to=1), axis=-1), "output0")


def yolo_ultralytics(g, most=50, classes=20):
    """nms=True of Ultralytics' export: the best class of each place, boxes of classes moved apart, zeros after them."""
    boxes, scores = yolo(g, classes)
    boxes, scores = (g.Transpose(x, perm=[0, 2, 1]) for x in (boxes, scores))
    box, scores = (g.Gather(x, g.k(0, "int64"), axis=0) for x in (boxes, scores))
    score, label = g.ReduceMax(scores, g.ints(-1), keepdims=0), g.ArgMax(scores, axis=-1, keepdims=0)
    score = g.Mul(score, g.Cast(g.Greater(score, g.k(0.6)), to=1))
    score, at = g.node("TopK", [score, g.ints(5 * most)], 2, axis=-1)
    box, label = take(g, box, at), g.Cast(take(g, label, at), to=1)
    moved = g.Add(box, g.Mul(g.Unsqueeze(label, g.ints(-1)), g.k(2.0 * IMAGE)))
    kept = g.NonMaxSuppression(g.Unsqueeze(moved, g.ints(0)), g.Unsqueeze(score, g.ints(0, 1)), g.ints(2**31 - 1), g.k(0.45),
                               g.k(0.0))
    kept = g.Slice(g.Squeeze(g.Gather(kept, g.ints(2), axis=1), g.ints(1)), g.ints(0), g.ints(most), g.ints(0))
    found = g.Concat(take(g, box, kept), g.Unsqueeze(take(g, score, kept), g.ints(1)),
                     g.Unsqueeze(take(g, label, kept), g.ints(1)), axis=1)
    rest = g.Sub(g.ints(most), g.Slice(g.Shape(found), g.ints(0), g.ints(1)))
    pads = g.Reshape(g.Concat(g.ints(0, 0, 0), rest, axis=0), g.ints(-1, 2))    # as torch has them, the last dimension first
    pads = g.Transpose(g.Slice(pads, g.ints(-1), g.ints(-2**63 + 1), g.ints(0), g.ints(-1)), perm=[1, 0])
    found = g.Pad(found, g.Cast(g.Reshape(pads, g.ints(-1)), to=7), g.k(0.0))
    g.output(g.ScatterND(g.k(g.np.zeros((1, most, 6))), g.k([[0]], "int64"), g.Unsqueeze(found, g.ints(0))), "output0")


def multi_head(g, q, k, v, size, heads):
    q, k, v = (g.Transpose(g.Reshape(g.linear(x, size, size), g.ints(1, -1, heads, size // heads)), perm=[0, 2, 1, 3])
               for x in (q, k, v))
    s = g.Softmax(g.MatMul(g.Mul(q, g.k((size // heads) ** -0.5)), g.Transpose(k, perm=[0, 1, 3, 2])), axis=-1)
    return g.linear(g.Reshape(g.Transpose(g.MatMul(s, v), perm=[0, 2, 1, 3]), g.ints(1, -1, size)), size, size)


def norm(g, x, size):
    return g.LayerNormalization(x, g.k(g.random.uniform(0.5, 1.5, size)), g.k(g.noise(size, scale=0.1)), axis=-1)


def rt_detr(g, fine=False, queries=40, classes=8, size=64, heads=4, points=4, bins=33):
    """RT-DETR, or D-FINE, which refines distributions of distances: attention samples maps of several sizes by GridSample."""
    levels = [conv(g, x, c, size, 1, activation=None) for x, c in zip(backbone(g, picture(g)), (32, 64))]
    sides = [IMAGE // 4, IMAGE // 8]
    small = g.Transpose(g.Reshape(levels[1], g.ints(1, size, -1)), perm=[0, 2, 1])
    placed = g.Add(small, g.k(g.noise(1, sides[1] ** 2, size)))
    small = norm(g, g.Add(small, multi_head(g, placed, placed, small, size, heads)), size)
    small = norm(g, g.Add(small, g.linear(g.ms("Gelu", [g.linear(small, size, 2 * size)]), 2 * size, size)), size)
    small = g.Reshape(g.Transpose(small, perm=[0, 2, 1]), g.ints(1, size, sides[1], sides[1]))
    large = g.Resize(small, "", g.k([1, 1, 2, 2]), mode="nearest", nearest_mode="floor",
                     coordinate_transformation_mode="asymmetric")
    large = conv(g, g.Concat(large, levels[0], axis=1), 2 * size, size, activation="SiLU")
    small = g.Concat(conv(g, large, size, size, 3, 2, activation="SiLU"), small, axis=1)
    small = conv(g, small, 2 * size, size, activation="SiLU")
    memory = g.Concat(*(g.Transpose(g.Reshape(x, g.ints(1, size, -1)), perm=[0, 2, 1]) for x in (large, small)), axis=1)
    at = [g.np.concatenate([anchors(g, s, s, 1 / s, (0,))[:, :2], g.np.full((s * s, 2), 0.05 * IMAGE / 4 / s)], 1)
          for s in sides]
    at = g.np.concatenate(at)[None]
    x = norm(g, g.linear(memory, size, size), size)
    scores = g.linear(x, size, classes)
    ref = g.Add(g.linear(g.Relu(g.linear(x, size, size)), size, 4), g.k(g.np.log(at / (1 - at))))
    _, best = g.node("TopK", [g.ReduceMax(scores, g.ints(-1), keepdims=0), g.ints(queries)], 2, axis=1)
    best = g.Unsqueeze(best, g.ints(-1))
    ref, x = (g.GatherElements(v, g.Tile(best, g.ints(1, 1, n)), axis=1) for v, n in ((ref, 4), (x, size)))
    ref = g.Sigmoid(ref)
    for _ in range(2):
        y = g.Add(x, g.linear(g.Relu(g.linear(ref, 4, 2 * size)), 2 * size, size))
        x = norm(g, g.Add(x, multi_head(g, y, y, x, size, heads)), size)
        x = norm(g, g.Add(x, sampled_attention(g, x, ref, memory, sides, size, heads, points)), size)
        x = norm(g, g.Add(x, g.linear(g.Relu(g.linear(x, size, 2 * size)), 2 * size, size)), size)
        h = g.Relu(g.linear(x, size, size))
        if fine:
            shares = g.Softmax(g.Reshape(g.linear(h, size, 4 * bins), g.ints(1, queries, 4, bins)), axis=-1)
            far = g.Reshape(g.MatMul(shares, g.k(g.np.linspace(-1, 1, bins)[:, None])), g.ints(1, queries, 4))
            center, extent = columns(g, ref, 2, 2)
            low, high = columns(g, g.Mul(g.Add(far, g.k(0.5)), g.Concat(extent, extent, axis=-1)), 2, 2)
            low, high = g.Sub(center, low), g.Add(center, high)
            ref = g.Clip(g.Concat(g.Mul(g.Add(low, high), g.k(0.5)), g.Sub(high, low), axis=-1), g.k(0.0), g.k(1.0))
        else:
            odds = g.Log(g.Div(g.Clip(ref, g.k(1e-5), ""), g.Clip(g.Sub(g.k(1.0), ref), g.k(1e-5), "")))
            ref = g.Sigmoid(g.Add(g.linear(h, size, 4), odds))
    scores = g.Sigmoid(g.linear(x, size, classes))
    sizes = g.input("orig_target_sizes", g.np.array([[640, 480]], "int64"))
    center, extent = columns(g, ref, 2, 2)
    half = g.Mul(extent, g.k(0.5))
    boxes = g.Concat(g.Sub(center, half), g.Add(center, half), axis=-1)
    boxes = g.Mul(boxes, g.Cast(g.Unsqueeze(g.Tile(sizes, g.ints(1, 2)), g.ints(1)), to=1))
    top, at = g.node("TopK", [g.Flatten(scores, axis=1), g.ints(queries)], 2, axis=-1)
    row = g.Unsqueeze(g.Div(at, g.k(classes, "int64")), g.ints(-1))
    g.output(g.Sub(at, g.Mul(g.Div(at, g.k(classes, "int64")), g.k(classes, "int64"))), "labels", "int64")
    g.output(g.GatherElements(boxes, g.Tile(row, g.ints(1, 1, 4)), axis=1), "boxes")
    g.output(top, "scores")


def sampled_attention(g, x, ref, memory, sides, size, heads, points):
    """Deformable attention: each head of a query looks at a few places of each map."""
    width, count = size // heads, len(sides) * points
    value = g.Reshape(g.linear(memory, size, size), g.ints(1, -1, heads, width))
    value = g.Reshape(g.Transpose(value, perm=[0, 2, 3, 1]), g.ints(heads, width, -1))
    moves = g.Reshape(g.linear(x, size, heads * count * 2), g.ints(1, -1, heads, count, 2))
    shares = g.Softmax(g.Reshape(g.linear(x, size, heads * count), g.ints(1, -1, heads, count)), axis=-1)
    center, extent = columns(g, g.Unsqueeze(ref, g.ints(2, 3)), 2, 2)
    places = g.Add(center, g.Mul(g.Mul(moves, g.k(1 / points)), g.Mul(extent, g.k(0.5))))
    places = g.Sub(g.Mul(places, g.k(2.0)), g.k(1.0))
    places = g.Reshape(g.Transpose(places, perm=[0, 2, 1, 3, 4]), g.ints(heads, -1, count, 2))
    maps = g.node("Split", [value, g.ints(*(s * s for s in sides))], len(sides), axis=2)
    parts = g.node("Split", [places, g.ints(*[points] * len(sides))], len(sides), axis=2)
    seen = [g.GridSample(g.Reshape(m, g.ints(heads, width, s, s)), p, mode="bilinear", padding_mode="zeros", align_corners=0)
            for m, p, s in zip(maps, parts, sides)]
    shares = g.Reshape(g.Transpose(shares, perm=[0, 2, 1, 3]), g.ints(heads, 1, -1, count))
    y = g.ReduceSum(g.Mul(g.Concat(*seen, axis=-1), shares), g.ints(-1), keepdims=0)
    return g.linear(g.Transpose(g.Reshape(y, g.ints(1, size, -1)), perm=[0, 2, 1]), size, size)


def ssd_tensorflow(g, classes=10, most=20):
    """tf2onnx's SSD: pictures with channels last, combined NMS of each class, then the best of all classes, padded."""
    x = g.input("image_tensor", g.random.integers(0, 256, (1, IMAGE, IMAGE, 3)).astype("uint8"))
    x = g.Transpose(g.Sub(g.Mul(g.Cast(x, to=1), g.k(2 / 255)), g.k(1)), perm=[0, 3, 1, 2])
    x = backbone(g, x, activation="Relu6")[1]
    side = IMAGE // 8
    s, d = (conv(g, x, 64, 3 * n, 1, activation=None) for n in (classes + 1, 4))
    s, d = (g.Reshape(g.Transpose(y, perm=[0, 2, 3, 1]), g.ints(1, -1, n)) for y, n in ((s, classes + 1), (d, 4)))
    s = g.Slice(g.Sigmoid(s), g.ints(1), g.ints(classes + 1), g.ints(2))
    boxes = decode(g, g.Squeeze(d, g.ints(0)), anchors(g, side, side, 8, (16, 32, 48)), (10.0, 10.0, 5.0, 5.0))
    boxes = g.Unsqueeze(boxes, g.ints(0))
    found = g.NonMaxSuppression(boxes, g.Transpose(s, perm=[0, 2, 1]), g.ints(most), g.k(0.6), g.k(0.3))
    pick = g.Gather(found, g.ints(0, 2, 1), axis=1)
    score = g.GatherND(s, pick)
    top, at = g.node("TopK", [score, g.Min(g.Shape(score), g.ints(most))], 2, axis=0)
    found = take(g, found, at)
    b = g.GatherND(boxes, g.Gather(found, g.ints(0, 2), axis=1))
    detections(g, b, top, g.Squeeze(g.Gather(found, g.ints(1), axis=1), g.ints(1)))


# ---- recognisers

def mobilenet(g):
    x = picture(g)
    for inputs, outputs, stride in ((3, 16, 2), (16, 24, 2), (24, 24, 1), (24, 48, 2)):
        y = conv(g, x, inputs, 4 * inputs, 1, activation="Relu6")
        y = conv(g, y, 4 * inputs, 4 * inputs, 3, stride, groups=4 * inputs, activation="Relu6")
        y = conv(g, y, 4 * inputs, outputs, 1, activation=None)
        x = g.Add(x, y) if stride == 1 else y
    x = g.Flatten(g.GlobalAveragePool(x), axis=1)
    g.output(g.Gemm(x, g.k(g.noise(100, 48, scale=0.1)), g.k(g.noise(100)), transB=1), "logits")


def efficientnet(g):
    """Squeezes and excites, with HardSwish."""
    x = conv(g, picture(g), 3, 32, 3, 2, activation="HardSwish")
    for stride in (1, 2):
        y = conv(g, x, 32, 32, 3, stride, groups=32, activation="HardSwish")
        s = g.ReduceMean(y, g.ints(2, 3), keepdims=1)
        s = g.HardSigmoid(conv(g, conv(g, s, 32, 8, 1), 8, 32, 1, activation=None), alpha=1 / 6)
        x = conv(g, g.Mul(y, s), 32, 32, 1, activation=None)
    g.output(g.linear(g.ReduceMean(x, g.ints(2, 3), keepdims=0), 32, 100), "logits")


def crnn(g, classes=37):
    """Text recognisers: a picture becomes a sequence for two bidirectional LSTMs."""
    x = picture(g, 32, 128)
    for inputs, outputs in ((3, 32), (32, 64)):
        x = g.MaxPool(conv(g, x, inputs, outputs), kernel_shape=[2, 2], strides=[2, 2])
    x = g.Transpose(g.Squeeze(g.ReduceMean(x, g.ints(2), keepdims=1), g.ints(2)), perm=[2, 0, 1])
    inputs = 64
    for _ in range(2):
        w = [g.k(g.noise(2, 4 * 64, n, scale=0.1)) for n in (inputs, 64)]
        y = g.node("LSTM", [x, *w, g.k(g.noise(2, 8 * 64, scale=0.1))], 1, hidden_size=64, direction="bidirectional")
        x = g.Reshape(g.Transpose(y, perm=[0, 2, 1, 3]), g.ints(0, 0, -1))
        inputs = 128
    g.output(g.LogSoftmax(g.linear(x, 128, classes), axis=2), "log_probs")


def vit(g, size=128, heads=4):
    """Patches by a convolution, a class token, attention as torch writes it with an Einsum-free packed projection."""
    x = g.Conv(picture(g), g.k(g.noise(size, 3, 16, 16, scale=1 / 28)), strides=[16, 16], kernel_shape=[16, 16])
    x = g.Transpose(g.Reshape(x, g.ints(1, size, -1)), perm=[0, 2, 1])
    token = g.Concat(g.Slice(g.Shape(x), g.ints(0), g.ints(1)), g.ints(1, size), axis=0)
    token = g.Expand(g.k(g.noise(1, 1, size)), token)
    x = g.Add(g.Concat(token, x, axis=1), g.k(g.noise(1, 65, size)))
    norm = lambda x: g.LayerNormalization(x, g.k(g.random.uniform(0.5, 1.5, size)), g.k(g.noise(size, scale=0.1)), axis=-1)
    for _ in range(2):
        y = g.Reshape(g.linear(norm(x), size, 3 * size), g.ints(1, 65, 3, heads, size // heads))
        y = g.Transpose(y, perm=[2, 0, 3, 1, 4])
        q, k, v = (g.Gather(y, g.k(i, "int64"), axis=0) for i in range(3))
        s = g.Softmax(g.Mul(g.MatMul(q, g.Transpose(k, perm=[0, 1, 3, 2])), g.k((size // heads) ** -0.5)), axis=-1)
        y = g.Reshape(g.Transpose(g.MatMul(s, v), perm=[0, 2, 1, 3]), g.ints(1, 65, size))
        x = g.Add(x, g.linear(y, size, size))
        y = g.linear(norm(x), size, 4 * size)
        y = g.Mul(g.Mul(y, g.Add(g.Erf(g.Div(y, g.k(math.sqrt(2)))), g.k(1))), g.k(0.5))
        x = g.Add(x, g.linear(y, 4 * size, size))
    g.output(g.linear(g.Gather(norm(x), g.k(0, "int64"), axis=1), size, 100), "logits")


GRAPHS = {
    "ssdlite-torchvision": ssd_torchvision,
    "retinanet-torchvision": retinanet_torchvision,
    "faster-rcnn-torchvision": faster_rcnn_torchvision,
    "yolov8-nms": yolo_nms,
    "yolov10": yolo_top,
    "yolo11-ultralytics-nms": yolo_ultralytics,
    "rt-detr": rt_detr,
    "d-fine": lambda g: rt_detr(g, True),
    "ssd-tf2onnx": ssd_tensorflow,
    "mobilenet-v2": mobilenet,
    "efficientnet": efficientnet,
    "crnn": crnn,
    "vit": vit,
}
