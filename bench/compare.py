#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the same networks here and in ONNX Runtime, in turns, and prints medians and their ratio.

    bench/compare.py --bench build/release/bin/webnn-bench --ort FOLDER --models FOLDER [--script FILE] [NAME ...]

--ort     a folder in which the Node.js package onnxruntime-node is installed
--models  a folder with NAME.onnx, written by the make_models.py beside the script
--script  ort_bench.mjs (default: bench/ort_bench.mjs in $WEBNN_SHARED, or in ../shared beside the repository)
--rounds  how often each engine has its turn (default 3); --seconds per turn (default 2); --threads "1 2"
NAME      networks (default: all that both sides have)

Turns alternate, so that a neighbour on the machine hurts both alike; of each engine the median over the rounds of its medians is
taken, and the best run of any round is shown beside it.  Exit status 1 if an engine failed.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def run_json(command, folder=None):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()[-400:]}")
    return json.loads(done.stdout)


def time_webnn(a, name, threads):
    found = run_json([a.bench, "--json", "--no-peaks", "--level", "model", "--case", name, "--threads", str(threads),
                      "--seconds", str(a.seconds)])
    case = next(c for c in found["cases"] if c["name"] == name)
    if "error" in case:
        raise RuntimeError(f"{name}: {case['error']}")
    return {"median": case["median_ms"], "min": case["min_ms"], "load": case["build_ms"], "rss": case["rss_mib"]}


def time_ort(a, name, threads):
    found = run_json(["node", a.script, os.path.join(a.models, name + ".onnx"), str(threads), str(a.seconds)], a.ort)
    return {"median": found["median_ms"], "min": found["min_ms"], "load": found["load_ms"], "rss": found["rss_mb"]}


def middle(turns, key):
    return statistics.median(t[key] for t in turns)


def main():
    shared = os.environ.get("WEBNN_SHARED") or os.path.join(HERE, "..", "..", "shared")
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bench", required=True)
    p.add_argument("--ort", required=True)
    p.add_argument("--models", required=True)
    p.add_argument("--script", default=os.path.join(shared, "bench", "ort_bench.mjs"))
    p.add_argument("--rounds", type=int, default=3)
    p.add_argument("--seconds", type=float, default=2)
    p.add_argument("--threads", default="1 2")
    p.add_argument("names", nargs="*", metavar="NAME")
    a = p.parse_args()
    a.bench, a.script, a.models = (os.path.abspath(x) for x in (a.bench, a.script, a.models))

    listed = subprocess.run([a.bench, "--list", "--level", "model"], capture_output=True, text=True, check=True).stdout
    ours = [line.split()[1] for line in listed.splitlines()]
    names = a.names or [n for n in ours if os.path.exists(os.path.join(a.models, n + ".onnx"))]
    failed = False
    print(f"{'network':20} {'T':>2} {'webnn ms':>10} {'best':>9} {'ort ms':>10} {'best':>9} {'ort/webnn':>9} {'of bests':>8}"
          f" {'build ms':>9} {'load ms':>8} {'MiB':>5} {'ort':>5}")
    for threads in (int(t) for t in a.threads.split()):
        for name in names:
            webnn, ort = [], []
            try:
                for _ in range(a.rounds):
                    webnn.append(time_webnn(a, name, threads))
                    ort.append(time_ort(a, name, threads))
            except (RuntimeError, OSError, json.JSONDecodeError) as e:
                print(f"{name:20} {threads:2} {e}")
                failed = True
                continue
            w, o = middle(webnn, "median"), middle(ort, "median")
            wb, ob = min(t["min"] for t in webnn), min(t["min"] for t in ort)
            print(f"{name:20} {threads:2} {w:10.3f} {wb:9.3f} {o:10.3f} {ob:9.3f} {o / w:9.2f} {ob / wb:8.2f}"
                  f" {middle(webnn, 'load'):9.1f} {middle(ort, 'load'):8.1f} {middle(webnn, 'rss'):5.0f} {middle(ort, 'rss'):5.0f}",
                  flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
