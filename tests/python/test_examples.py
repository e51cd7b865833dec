# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The examples print what they should: on a small model made here, and on the networks that tests share."""
import pathlib
import subprocess
import sys
import tempfile

import numpy as np

import support

EXAMPLES = support.ROOT / "examples/python"


def run(name, *arguments):
    return subprocess.run([sys.executable, EXAMPLES / name, *map(str, arguments)], capture_output=True, text=True)


def sentence_model(folder):
    """Writes a model as sentence-transformers have it, whose hidden state is a table's row for each token."""
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "a", "cat", "dog", "##s", "sleep"]
    table = np.zeros((len(words), 4), np.float32)
    table[5:9] = [[1, 0, 0, 0], [0.8, 0.6, 0, 0], [0, 0, 0.1, 0], [0, 0, 0, 1]]
    inputs = [(n, "int64", ["batch", "sequence"]) for n in ("input_ids", "attention_mask", "token_type_ids")]
    nodes = [support.node("Gather", ["table", "input_ids"], ["rows"]),
             support.node("Cast", ["attention_mask"], ["mask"], to=1), support.node("Cast", ["token_type_ids"], ["types"], to=1),
             support.node("Sub", ["mask", "types"], ["weights"]), support.node("Unsqueeze", ["weights", "last"], ["column"]),
             support.node("Mul", ["rows", "column"], ["hidden"])]
    (folder / "model.onnx").write_bytes(support.model(nodes, inputs, [("hidden", "float32", ["batch", "sequence", 4])],
                                                      [("table", table), ("last", np.array([2]))]))
    (folder / "vocab.txt").write_text("\n".join(words))


with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    absent = run("embed.py", folder, "a"), run("classify.py", folder / "absent")
    assert all(a.returncode == 1 and a.stderr.startswith("there is no model") for a in absent), absent
    assert "usage" in run("embed.py").stderr or "embed.py FOLDER" in run("embed.py").stderr
    sentence_model(folder)
    done = run("embed.py", folder, "A cat", "a dógs", "sleep xyz")
    assert done.returncode == 0, done.stderr
    rows = [[float(v) for v in line.split()[:3]] for line in done.stdout.splitlines()]
    dogs = np.array([0.8, 0.6, 0.1]) / np.sqrt(1.01)
    assert np.allclose(rows, [[1, dogs[0], 0], [dogs[0], 1, 0], [0, 0, 1]], atol=6e-4), done.stdout

shapes = pathlib.Path(__file__).parents[2] / "examples/models/shapes"
for picture in ("heart", "star"):
    done = run("classify.py", shapes, shapes / f"{picture}.png")
    assert done.stdout.splitlines()[0].endswith(picture), done.stdout + done.stderr

models = support.shared("models")
done = run("classify.py", models / "mobilenetv2")
assert done.stdout.splitlines()[0] == " 99.59 %  387  lesser panda", done.stdout + done.stderr
assert len(done.stdout.splitlines()) == 5
done = run("embed.py", models / "stories260k", "there was a little girl", "there was a little boy", "He was sad")
rows = [[float(v) for v in line.split()[:3]] for line in done.stdout.splitlines()]
assert rows[0][1] > rows[0][2] and rows[1][0] > rows[1][2], done.stdout + done.stderr
