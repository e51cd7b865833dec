# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks give the same bits as the programs in C give (webnn-run), and the results that their references say."""
import json
import os
import pathlib
import subprocess
import tempfile

import numpy as np
import webnn

import support

NETWORKS = ["lenet", "mobilenetv2", "rnnoise", "mnist-8", "magika-v3", "silero-vad-16k", "stories260k", "cct-2"]
models = support.shared("models")
program = pathlib.Path(os.environ["WEBNN_BUILD"]) / "bin/webnn-run"
context = webnn.ML().create_context(engine="cpu")


def case_inputs(folder):
    """Returns the paths of the arrays of a model's first case, by the names of its inputs."""
    case = json.loads((folder / "manifest.json").read_text())["cases"][0]
    inputs = case["inputs"]
    if isinstance(inputs, dict):
        return {name: folder / (i if isinstance(i, str) else i["file"]) for name, i in inputs.items()}
    return {i["name"]: folder / i["file"] for i in inputs}


def check(name):
    folder = models / name
    paths = case_inputs(folder)
    file = folder / "model.onnx"
    path = file if file.exists() else folder
    arrays = {n: np.load(p) for n, p in paths.items()}
    results = webnn.load(path, context, shapes={n: a.shape for n, a in arrays.items()})(arrays)
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([program, path, "--engine", "cpu", "--quiet", "--output", f"{scratch}/all.npz"]
                       + [word for n, p in paths.items() for word in ("--input", f"{n}={p}")], check=True)
        expected = np.load(f"{scratch}/all.npz")
        assert set(expected.files) == set(results), (name, expected.files, list(results))
        for output in results:
            a, b = results[output], expected[output]
            assert a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes(), (name, output)
    print(f"{name}: {len(results)} outputs are equal, bit by bit")


for network in NETWORKS:
    check(network)
