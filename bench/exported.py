#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares graphs as public exporters write them, small and of random weights, with ONNX Runtime: results and times.

    bench/exported.py --run build/release/bin/webnn-run --models FOLDER [OPTION ...] [PATTERN ...]

--run FILE       webnn-run
--ort FOLDER     where the Node.js package onnxruntime-node is installed (default: where WEBNN_NODE_MODULES says)
--models FOLDER  where the models are written, NAME/model.onnx with manifest and arrays each (needs Python's packages onnx and
                 numpy: the script goes on under the first python3 on the PATH that has them)
--threads N      default 1; --rounds N turns of each engine (default 3); --seconds S per turn (default 0.5)
--check          compares results only; exits with 77 where a package is absent
PATTERN          regular expressions; graphs whose names have one of them (default: all)

Each graph is named by the model that it follows.  Results must agree within its tolerance, ONNX Runtime's being the reference.
Of each engine the best run of all rounds counts; a ratio above 1 means that ONNX Runtime is faster.  Exit status 1 if results
differ or an engine failed.
"""
import argparse
import json
import math
import os
import re
import subprocess
import sys

import compare
import exported_graphs
import interpreter

HERE = os.path.dirname(os.path.abspath(__file__))


def case_of(folder):
    with open(os.path.join(folder, "manifest.json")) as f:
        return json.load(f)


def turn_of_ort(a, folder):
    command = ["node", os.path.join(HERE, "ort_case.mjs"), folder, str(a.threads), str(a.seconds)]
    return compare.run_json(command, a.ort)["min_ms"]


def webnn_command(a, folder, *more):
    case = case_of(folder)
    inputs = []
    for i in case["cases"][0]["inputs"]:
        inputs += ["--input", f"{i['name']}={os.path.join(folder, i['file'])}"]
    return [a.run, os.path.join(folder, "model.onnx"), *inputs, "--threads", str(a.threads), *case["options"], *more]


def turn_of_webnn(a, folder, repeat):
    out = compare.run_process(webnn_command(a, folder, "--first", "0", "--repeat", str(repeat))).stdout
    return float(re.search(r"smallest ([\d.]+) ms", out)[1])


def difference(a, folder):
    """Returns what webnn-run says about results that differ, or nothing."""
    case = case_of(folder)
    import numpy as np
    files = {o: os.path.join(folder, o + ".npy") for o in case["outputs"]}
    # Sizes of what has no elements do not matter.
    wanted = [part for o in case["outputs"] if np.load(files[o]).size for part in ("--compare", f"{o}={files[o]}")]
    tolerance = ["--atol", str(case["atol"]), "--rtol", str(case["rtol"]), "--quiet"]
    done = subprocess.run(webnn_command(a, folder, *wanted, *tolerance), capture_output=True, text=True)
    return "" if done.returncode == 0 else (done.stderr + done.stdout).strip()


def measure(a, name):
    folder = os.path.join(a.models, name)
    exported_graphs.write(folder, name)
    ort = turn_of_ort(a, folder)
    wrong = difference(a, folder)
    if wrong:
        return {"graph": name, "error": wrong}
    if a.check:
        return {"graph": name}
    once = turn_of_webnn(a, folder, 5)
    repeat = min(100000, max(5, int(a.seconds * 1e3 / once)))
    times = {"graph": name, "webnn": once, "onnxruntime": ort}
    for _ in range(a.rounds):
        times["webnn"] = min(times["webnn"], turn_of_webnn(a, folder, repeat))
        times["onnxruntime"] = min(times["onnxruntime"], turn_of_ort(a, folder))
    return times


def arguments():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--run", "--models"):
        p.add_argument(name, required=True)
    modules = os.environ.get("WEBNN_NODE_MODULES")
    p.add_argument("--ort", default=os.path.dirname(modules.rstrip("/")) if modules else None)
    p.add_argument("--check", action="store_true")
    p.add_argument("--threads", type=int, default=1)
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=0.5)
    p.add_argument("patterns", nargs="*", metavar="PATTERN")
    a = p.parse_args()
    compare.make_absolute(a, ("run", "models"))
    a.seconds = 0.0 if a.check else a.seconds
    return a


def main():
    a = arguments()
    if not (a.ort and os.path.exists(os.path.join(a.ort, "node_modules", "onnxruntime-node"))):
        print("WEBNN_NODE_MODULES or --ort must name where onnxruntime-node is installed")
        return 77 if a.check else 2
    try:
        interpreter.need("numpy", "onnx")
    except SystemExit as e:
        print(e)
        return 77 if a.check else 1
    failed, ratios = False, []
    print(f"{'graph':28} | {'equal':5} | {'webnn ms':>9} {'ort ms':>9} {'ratio':>6}")
    for name in exported_graphs.GRAPHS:
        if a.patterns and not any(re.search(p, name) for p in a.patterns):
            continue
        try:
            row = measure(a, name)
        except (RuntimeError, OSError, TypeError) as e:
            row = {"graph": name, "error": str(e)}
        if "error" in row:
            failed = True
            print(f"{name:28} | no    | {row['error']}", flush=True)
            continue
        if a.check:
            print(f"{name:28} | yes", flush=True)
            continue
        ratios.append(row["webnn"] / row["onnxruntime"])
        print(f"{name:28} | yes   | {row['webnn']:9.4f} {row['onnxruntime']:9.4f} {ratios[-1]:6.2f}", flush=True)
    if ratios:
        print(f"{len(ratios)} graphs, geometric mean {math.exp(sum(map(math.log, ratios)) / len(ratios)):.2f}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
