# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the benchmark programs that other engines bring, as far as a folder has them and there are models in their formats.

A model in an engine's format lies next to NAME.onnx, from which the engine's own converter makes it: NAME.param of ncnn (its
program makes up weights), NAME.mnn of MNN, NAME.tflite for XNNPACK under TensorFlow Lite, NAME.gguf of ik_llama.cpp.  The programs
print the shortest and the mean of their runs; the latter stands for the median, which none of them prints.
"""
import json
import os
import re
import subprocess
import typing


class Peer(typing.NamedTuple):
    """An engine: its program, the ending of its models, its arguments, what it prints, and the milliseconds of its unit."""
    program: str
    ending: str
    arguments: typing.Callable
    printed: str  # with groups `least` and `mean`
    unit: float


def ncnn_shape(model):
    """Returns the shapes of the inputs of the ONNX file as benchncnn takes them: width first, without the batch."""
    import onnx
    graph = onnx.load(os.path.splitext(model)[0] + ".onnx", load_external_data=False).graph
    weights = {i.name for i in graph.initializer}
    shapes = [[d.dim_value for d in i.type.tensor_type.shape.dim][1:] for i in graph.input if i.name not in weights]
    return ",".join(f"[{','.join(str(d) for d in reversed(shape))}]" for shape in shapes)


PEERS = {
    "ncnn": Peer("benchncnn", ".param", lambda model, threads, runs:
                 [str(runs), str(threads), "0", "-1", "0", f"param={model}", f"shape={ncnn_shape(model)}"],
                 r"min = *(?P<least>[\d.]+) +max = *[\d.]+ +avg = *(?P<mean>[\d.]+)", 1),
    "MNN": Peer("MNNV2Basic.out", ".mnn", lambda model, threads, runs: [model, str(runs), "0", "0", str(threads)],
                r"Avg= *(?P<mean>[\d.]+) ms.*?min= *(?P<least>[\d.]+) ms", 1),
    "XNNPACK": Peer("benchmark_model", ".tflite", lambda model, threads, runs:
                    [f"--graph={model}", f"--num_threads={threads}", "--use_xnnpack=true", f"--num_runs={runs}", "--min_secs=0"],
                    r"count=\d+ .*?min=(?P<least>[\d.]+) .*?avg=(?P<mean>[\d.]+)", 1e-3),
}
LLAMA = "llama-bench"  # of ik_llama.cpp


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()[-400:]}")
    return done.stdout + done.stderr


def present(folder, model):
    """Returns the engines whose program is in the folder and which have a model; `model` is its path without an ending."""
    return [name for name, peer in PEERS.items() if folder and os.path.exists(model + peer.ending)
            and os.access(os.path.join(folder, peer.program), os.X_OK)]


def time_peer(folder, name, model, threads, seconds):
    """Takes a turn of about so many seconds.  Returns milliseconds."""
    peer = PEERS[name]

    def times(runs):
        command = [os.path.join(folder, peer.program), *peer.arguments(model + peer.ending, threads, runs)]
        text = run(command)
        found = list(re.finditer(peer.printed, text))
        if not found:
            raise RuntimeError(f"{' '.join(command)} printed no times: {text.strip()[-400:]}")
        return [float(found[-1][group]) * peer.unit for group in ("least", "mean")]  # the first may be a warm-up

    least, mean = times(max(5, int(seconds * 1e3 / max(times(3)[0], 1e-3))))
    return {"median": mean, "min": least}


def has_llama(folder, model):
    return bool(folder) and os.path.exists(model + ".gguf") and os.access(os.path.join(folder, LLAMA), os.X_OK)


def time_llama(folder, model, threads, work, seconds):
    """Times tokens, (computed, valid): a prompt, or one token after the others.  Rows of weights are interleaved (-rtr 1)."""
    computed, valid = work
    what = ["-p", str(computed), "-n", "0"] if computed == valid else ["-p", "0", "-n", "0", "-gp", f"{valid - computed},{computed}"]

    def samples(runs):
        text = run([os.path.join(folder, LLAMA), "-m", model + ".gguf", "-t", str(threads), "-rtr", "1", *what, "-r", str(runs),
                    "-o", "json"])
        return sorted(ns / 1e6 for ns in json.loads(text[text.index("["):text.rindex("]") + 1])[-1]["samples_ns"])

    found = samples(max(3, int(seconds * 1e3 / samples(2)[0])))
    return {"median": found[len(found) // 2], "min": found[0]}
