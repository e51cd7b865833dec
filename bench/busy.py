#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures what threads cost and gain: networks with one thread and with several, on an idle machine and next to busy processes.

usage: busy.py --bench build/release/bin/webnn-bench [--threads N] [--busy N] [--rounds N] MODEL...

The busy processes are this script's own.  Every round runs all four cases in turns; the table has the median of each case's
medians in milliseconds, the ratio of several threads to one, and that of the first run to the median.
"""
import argparse
import json
import multiprocessing
import os
import statistics
import subprocess
import sys


def spin():
    while True:
        pass


def measure(options, model, threads):
    command = [options.bench, model, "--threads", str(threads), "--no-peaks", "--json", "--seconds", str(options.seconds)]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{' '.join(command)}: {result.stderr.strip()}")
    case = json.loads(result.stdout)
    return case["first_ms"], case["median_ms"]


def run_round(options, model, busy):
    workers = [multiprocessing.Process(target=spin, daemon=True) for _ in range(busy)]
    for worker in workers:
        worker.start()
    try:
        return [measure(options, model, threads) for threads in (1, options.threads)]
    finally:
        for worker in workers:
            worker.kill()
            worker.join()


def cells_of(rounds):
    """One thread, several, their ratio, the first run of several, and its ratio to the others: medians over the rounds."""
    one = statistics.median(r[0][1] for r in rounds)
    several = statistics.median(r[1][1] for r in rounds)
    first = statistics.median(r[1][0] for r in rounds)
    return ["%.4g" % one, "%.4g" % several, "%.2f" % (several / one), "%.4g" % first, "%.1f" % (first / several)]


def row_of(options, model):
    """The line of the table for a model."""
    folder, name = os.path.split(model.rstrip("/"))
    cells = [os.path.basename(folder) if name == "model.onnx" else os.path.splitext(name)[0]]
    cases = {0: [], options.busy: []}
    for _ in range(options.rounds):
        for busy in cases:
            cases[busy].append(run_round(options, model, busy))
    for rounds in cases.values():
        cells += cells_of(rounds)
    return "| " + " | ".join(cells) + " |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", required=True, help="the program webnn-bench")
    parser.add_argument("--threads", type=int, default=os.cpu_count(), help="of the runs with several (default: all processors)")
    parser.add_argument("--busy", type=int, default=1, help="busy processes (default: 1)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=0.5, help="of each measurement")
    parser.add_argument("models", nargs="+", metavar="MODEL", help="files or folders that webnn-bench reads")
    options = parser.parse_args()

    columns = "1 thread | %d threads | ratio | first run | to the others" % options.threads
    print("| network | %s | next to %d busy: %s |" % (columns, options.busy, columns))
    print("| --- |" + " ---: |" * 10)
    for model in options.models:
        print(row_of(options, model), flush=True)


if __name__ == "__main__":
    main()
