# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Classifies a picture.

    python3 classify.py MODEL [PICTURE] [LABELS]

MODEL is a model file, or a folder with one, that takes a picture [1, 3, H, W] normalised as networks trained on ImageNet want
it, or grey levels [1, 1, H, W], and gives a number for each class.  PICTURE is a PNG of its size or a multiple, or with Pillow
any picture (default: test_224.png in the folder); LABELS has a label in each line (default: classes.txt in the folder).
"""
import pathlib
import struct
import sys
import zlib

import numpy as np
import webnn


def read_png(path):
    """Returns the levels [H, W, 3] of a PNG of 8 bits without interlacing, which needs no package beyond NumPy."""
    data = path.read_bytes()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        sys.exit(f"{path} is no PNG; with Pillow (python3-pil) other pictures are read, too")
    chunks, at = b"", 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, bits, colour, _, _, interlaced = struct.unpack(">IIBBBBB", data[at + 8:at + 21])
        elif kind == b"IDAT":
            chunks += data[at + 8:at + 8 + length]
        at += length + 12
    channels = {0: 1, 2: 3, 6: 4}.get(colour)
    if bits != 8 or interlaced or not channels:
        sys.exit(f"{path} has {bits} bits, colour type {colour}; with Pillow (python3-pil) it is read, too")
    rows = np.frombuffer(zlib.decompress(chunks), np.uint8).reshape(height, 1 + width * channels)
    image = np.zeros((height + 1, (width + 1) * channels), np.int64)  # with a margin above and to the left
    for y, (kind, *row) in enumerate(rows.tolist()):
        here, above = image[y + 1].tolist(), image[y].tolist()
        for i, value in enumerate(row, channels):
            left, up, corner = here[i - channels], above[i], above[i - channels]
            if kind == 4:
                p = left + up - corner
                predicted = min((abs(p - left), 0, left), (abs(p - up), 1, up), (abs(p - corner), 2, corner))[2]
            else:
                predicted = (0, left, up, (left + up) // 2)[kind]
            here[i] = (value + predicted) & 255
        image[y + 1] = here
    levels = image[1:, channels:].reshape(height, width, channels)
    return levels[:, :, :3] if channels > 1 else np.repeat(levels, 3, axis=2)


def read_picture(path, height, width):
    """Returns the levels [H, W, 3] of a picture in the size that the model has."""
    try:
        from PIL import Image
    except ImportError:
        picture = read_png(path)
        rows, columns = picture.shape[0] // height, picture.shape[1] // width
        if picture.shape != (height * rows, width * columns, 3):
            sys.exit(f"{path} is not {width} x {height} or a multiple; with Pillow (python3-pil) it is resized")
        return picture.reshape(height, rows, width, columns, 3).mean(axis=(1, 3))
    return np.asarray(Image.open(path).convert("RGB").resize((width, height), Image.Resampling.BILINEAR))


def main(model_path, picture=None, labels=None):
    folder = pathlib.Path(model_path)
    if not folder.exists():
        sys.exit(f"there is no model at {folder}")
    model = webnn.load(folder)
    name, declared = next(iter(model.inputs.items()))
    _, channels, height, width = declared["shape"]
    levels = read_picture(pathlib.Path(picture or folder / "test_224.png"), height, width) / 255
    if channels == 1:
        normalised = (levels @ [0.299, 0.587, 0.114])[:, :, None]
    else:
        normalised = (levels - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    scores = next(iter(model({name: normalised.transpose(2, 0, 1)[None].astype(np.float32)}).values())).ravel()
    if not np.isclose(scores.sum(), 1, atol=1e-3):  # logits
        scores = np.exp(scores - scores.max())
        scores /= scores.sum()
    lines = pathlib.Path(labels or folder / "classes.txt")
    lines = lines.read_text().splitlines() if lines.exists() else [""] * len(scores)
    for index in np.argsort(-scores)[:5]:
        print(f"{100 * scores[index]:6.2f} %  {index}  {lines[index]}")


if __name__ == "__main__":
    if not 2 <= len(sys.argv) <= 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
