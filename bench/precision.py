#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints what each precision costs in accuracy and gains in time, as a table in Markdown.

    bench/precision.py --bin build/release/bin [OPTION ...] MODEL ...

MODEL            a folder of the shared models (manifest.json with cases: their inputs, and their outputs as the reference), or
                 an ONNX file with fixed shapes (noise, and our own float32 as the reference)
--bin FOLDER     has webnn-run and webnn-bench
--threads N      default 1; --seconds S each time a network is timed (default 0.5); --rounds N (default 3): the precisions take
                 turns, and the best run counts, as on a machine that others use medians say little
--forced         times and results with the debug switch prefer-bfloat16: every contraction in bfloat16 that can be, whatever
                 it costs.  Without it both are those of the compiler's choice, which on a processor that gains nothing is
                 float32.

of peak: what the steps that compute in bfloat16 reach of the machine's peak of it, measured in the same run (bf16x2 does three
times the multiply-adds); empty where none does.
error: the largest difference from the reference, relative to the largest absolute value of that output, over all outputs
and cases.
top 1: of rows of 2 or more numbers, how many have their maximum in the same place.  Exit status 1 if something failed.
"""
import argparse
import array
import ast
import json
import math
import os
import struct
import subprocess
import sys
import tempfile
import zipfile

PRECISIONS = ("float32", "bf16x2", "bf16")


def parse_npy(data):
    """Returns shape and numbers of a float32 array, or None for other types."""
    wide = data[6] > 1
    length = struct.unpack_from("<I" if wide else "<H", data, 8)[0]
    start = (12 if wide else 10) + length
    header = ast.literal_eval(data[start - length:start].decode("latin1"))
    if header["descr"] != "<f4":
        return None
    numbers = array.array("f")
    numbers.frombytes(data[start:])
    return header["shape"], numbers


def read_npy(path):
    with open(path, "rb") as f:
        return parse_npy(f.read())


def read_npz(path):
    with zipfile.ZipFile(path) as z:
        return {n[:-4]: parse_npy(z.read(n)) for n in z.namelist() if n.endswith(".npy")}


def run_process(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()[-300:]}")
    return done.stdout


def named(entries):
    """Returns a manifest's inputs or outputs of a case, which have two forms, as a map from name to file."""
    return entries if isinstance(entries, dict) else {e["name"]: e["file"] for e in entries}


def model_cases(model):
    """Returns (inputs by name, reference outputs by name) of each case; for a file, one of noise without a reference."""
    if not os.path.isdir(model):
        return [({}, {})]
    with open(os.path.join(model, "manifest.json")) as f:
        cases = json.load(f)["cases"]
    return [tuple({n: os.path.join(model, f) for n, f in named(c[k]).items()} for k in ("inputs", "outputs")) for c in cases]


def common(a, precision):
    return ["--threads", str(a.threads), "--precision", precision] + (["--debug", "prefer-bfloat16"] if a.forced else [])


def run_case(a, model, inputs, precision):
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.npz")
        given = [x for n, f in inputs.items() for x in ("--input", f"{n}={f}")] or ["--random", "1"]
        run_process([os.path.join(a.bin, "webnn-run"), model, *given, "--quiet", "--output", out, *common(a, precision)])
        return read_npz(out)


class Accuracy:
    def __init__(self):
        self.error, self.rows, self.same = 0.0, 0, 0

    def add(self, got, want):
        (shape, x), (_, y) = got, want
        largest = max((abs(v) for v in y), default=0) or 1
        worst = max((abs(p - q) for p, q in zip(x, y)), default=0)
        self.error = max(self.error, worst / largest) if not math.isnan(worst) else math.nan
        width = shape[-1] if shape else 1
        for i in range(0, len(y) if width > 1 else 0, width):
            self.rows += 1
            self.same += max(range(width), key=lambda k: x[i + k]) == max(range(width), key=lambda k: y[i + k])


def measure_accuracy(a, model):
    found = {p: Accuracy() for p in PRECISIONS}
    for inputs, reference in model_cases(model):
        want = {n: read_npy(f) for n, f in reference.items()}
        for p in PRECISIONS:
            got = run_case(a, model, inputs, p)
            want = want or got
            for name in want:
                if got.get(name) and want[name]:
                    found[p].add(got[name], want[name])
    return found


def bench(a, precision, *what):
    return json.loads(run_process([os.path.join(a.bin, "webnn-bench"), *what, "--json", "--seconds", str(a.seconds),
                                   *common(a, precision)]))


def measure_times(a, model):
    best = dict.fromkeys(PRECISIONS, math.inf)
    for _ in range(a.rounds):
        for p in PRECISIONS:
            best[p] = min(best[p], bench(a, p, model)["min_ms"])
    return best


def share_of_peak(steps, peak):
    """Returns what the steps in bfloat16 reach of its peak together, or None if there are none."""
    bfloat16 = [s for s in steps if s["arithmetic"] == "bfloat16" and s["least_ms"]]
    return sum(s["operations"] for s in bfloat16) / sum(s["least_ms"] for s in bfloat16) / 1e6 / peak if bfloat16 and peak else None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bin", required=True)
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--seconds", type=float, default=0.5)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--forced", action="store_true")
    p.add_argument("models", nargs="+")
    a = p.parse_args()
    failed = False

    peak = bench(a, "float32", "--peaks")["bfloat16_gflops"]
    print("| network | ms: " + " | ".join(PRECISIONS) + " | of peak: " + " | ".join(PRECISIONS[1:]) +
          " | error: " + " | ".join(PRECISIONS) + " | top 1: bf16x2 | bf16 |")
    print("| --- |" + " ---: |" * (3 * len(PRECISIONS) + 1))
    for model in a.models:
        name = os.path.splitext(os.path.basename(model.rstrip("/")))[0]
        try:
            times, accuracy = measure_times(a, model), measure_accuracy(a, model)
            shares = [share_of_peak(bench(a, q, model, "--steps")["steps"], peak) for q in PRECISIONS[1:]]
        except (RuntimeError, OSError, ValueError, KeyError) as e:
            print(f"{name}: {e}", file=sys.stderr)
            failed = True
            continue
        cells = [f"{times[q]:.3g}" for q in PRECISIONS] + ["" if s is None else f"{100 * s:.0f} %" for s in shares]
        cells += [f"{accuracy[q].error:.1e}" for q in PRECISIONS]
        cells += [f"{100 * accuracy[q].same / accuracy[q].rows:.1f} %" if accuracy[q].rows else "" for q in PRECISIONS[1:]]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
