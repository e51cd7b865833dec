#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the decoders of the shared data here, in ONNX Runtime and in llama.cpp, in turns: one token, and a prompt of 128.

    bench/language_models.py --bin build/release/bin --models FOLDER [--ort FOLDER] [--llama FOLDER] [--peers FOLDER] [OPTION ...] [NAME ...]
    bench/language_models.py --draw FILE

--bin FOLDER     has webnn-run and webnn-bench
--models FOLDER  has NAME.onnx, which the make_decoder.py next to ort_bench.mjs writes, and NAME.gguf of make_gguf.py.  Prompts are
                 of NAME_last.onnx where there is one, whose logits are the last token's alone
--ort FOLDER     where the Node.js package onnxruntime-node is installed; --llama FOLDER where node-llama-cpp is;
                 --peers FOLDER has llama-bench of ik_llama.cpp.  Without one of them its columns stay empty
--script FILE    llama_bench.mjs (default: the one in $WEBNN_SHARED/bench, or in ../shared next to the repository)
--rounds N       how often each engine has its turn (default 3); --seconds S per turn (default 2); --threads "1 2"
--best           the best runs instead of the medians
--json FILE      everything that was measured; --draw FILE measures nothing: prints what an earlier run wrote with --json
NAME             default: decoder_135m_q4, _q8, _f16 and _f32, as far as there are files

A token has 255 others before it in a cache with room for 512, a prompt has nothing before it.  Here the caches are states; ONNX
Runtime is given one tensor for a cache and what comes of it.  `int8` rounds activations to 8 bits in blocks of 32, which both
others do with weights of 4 and 8 bits.  The limit of a token is the time in which its weights are read once, at the speed of
reading 512 MiB, measured in the same run.  Python needs the package onnx; the script goes on under the first python3 on the PATH
that has it.  Exit status 1 if an engine failed.
"""
import argparse
import json
import multiprocessing
import os
import re
import struct
import subprocess
import sys
import tempfile

import compare
import interpreter
import peers

HERE = os.path.dirname(os.path.abspath(__file__))
NAMES = ("decoder_135m_q4", "decoder_135m_q8", "decoder_135m_f16", "decoder_135m_f32")
CAPACITY = 512
WORK = {"token": (1, 256), "prompt": (128, 128)}    # how many tokens are computed, and how many count with them
PRECISIONS = {"webnn": "float32", "webnn int8": "int8"}
STATES = "past_key_values.*=present.*"


# ---- what is run

def write_npy(path, values):
    """Writes int64 numbers of the shape [1, n]."""
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': (1, {len(values)}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    with open(path, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(values)}q", *values))


def weight_bytes(path):
    """Returns the bytes of what matrix products multiply by, which is read once for every token."""
    import onnx
    graph = onnx.load(path, load_external_data=False).graph
    made_of = {n.output[0]: n.input[0] for n in graph.node if n.op_type == "Cast"}
    used = set()
    for n in graph.node:
        if n.op_type in ("MatMul", "Gemm", "MatMulNBits"):
            used.update(made_of.get(i, i) for i in n.input[1:])
    return sum(len(i.raw_data) for i in graph.initializer if i.name in used)


def weight_bytes_apart(path):
    """Does the same in a process of its own: the memory of this one would count as the peak of those that it starts."""
    with multiprocessing.Pool(1) as pool:
        return pool.apply(weight_bytes, (path,))


def model_of(a, name, work):
    last = os.path.join(a.models, name + "_last.onnx")
    return last if work == "prompt" and os.path.exists(last) else os.path.join(a.models, name + ".onnx")


def run_measured(command):
    """Runs a command; returns what it printed, and its peak memory in MiB."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        with subprocess.Popen(command, stdout=out, stderr=err) as p:
            _, status, usage = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
        texts = [f.read() for f in (out, err) if not f.seek(0)]
    if p.returncode:
        raise RuntimeError(f"{' '.join(command)}: {(texts[1] or texts[0]).strip()[-400:]}")
    return texts[0], usage.ru_maxrss / 1024


def time_webnn(a, name, work, threads, precision, repeat):
    sequence, valid = WORK[work]
    with tempfile.TemporaryDirectory() as folder:
        ids, mask = (os.path.join(folder, n + ".npy") for n in ("ids", "mask"))
        write_npy(ids, [300 + i * 37 % 40000 for i in range(sequence)])
        write_npy(mask, [int(i < valid) for i in range(CAPACITY)])
        out, rss = run_measured([os.path.join(a.bin, "webnn-run"), model_of(a, name, work), "--input", "input_ids=" + ids, "--input",
                                 "attention_mask=" + mask, "--dim", f"past={CAPACITY}", "--state", STATES, "--precision", precision,
                                 "--threads", str(threads), "--repeat", str(repeat), "--first", "0"])
    times = re.search(r"median ([\d.]+) ms, smallest ([\d.]+) ms", out)
    if not times:
        raise RuntimeError(f"webnn-run printed no times: {out[-400:]}")
    return {"median": float(times[1]), "min": float(times[2]), "rss": rss}


def turn_of_webnn(a, name, work, threads, precision):
    """Takes about as many seconds as the others' turns."""
    once = time_webnn(a, name, work, threads, precision, 5)["min"]
    return time_webnn(a, name, work, threads, precision, max(5, int(a.seconds * 1e3 / once)))


def turn_of_ort(a, name, work, threads):
    sequence, valid = WORK[work]
    found = compare.run_json(["node", os.path.join(HERE, "decode.mjs"), model_of(a, name, work), str(sequence), str(CAPACITY),
                              str(valid), str(threads), str(a.seconds)], a.ort)
    return {"median": found["median_ms"], "min": found["min_ms"], "rss": found["rss_mb"], "engine": found["engine"]}


def turns_of_llama(a, name, threads):
    """Returns the turns of both kinds of work, which one process does."""
    found = compare.run_json(["node", a.script, os.path.join(a.models, name + ".gguf"), str(threads), str(a.seconds)], a.llama)
    return {"token": {"median": found["decode_ms"], "min": found["decode_min_ms"], "rss": found["rss_mb"]},
            "prompt": {"median": found["prefill_ms"], "min": found["prefill_ms"], "rss": found["rss_mb"]}}


# ---- one run

def measure_network(a, name, threads):
    """Returns a row for each kind of work, with the turns of each engine."""
    turns = {work: {} for work in WORK}
    for _ in range(a.rounds):
        for work in WORK:
            for engine, precision in PRECISIONS.items():
                turns[work].setdefault(engine, []).append(turn_of_webnn(a, name, work, threads, precision))
            if a.ort:
                turns[work].setdefault("ONNX Runtime", []).append(turn_of_ort(a, name, work, threads))
        if a.llama and os.path.exists(os.path.join(a.models, name + ".gguf")):
            for work, turn in turns_of_llama(a, name, threads).items():
                turns[work].setdefault("llama.cpp", []).append(turn)
        for work in WORK if peers.has_llama(a.peers, os.path.join(a.models, name)) else ():
            turns[work].setdefault("ik_llama.cpp", []).append(
                peers.time_llama(a.peers, os.path.join(a.models, name), threads, WORK[work], a.seconds))
    return [{"network": name, "work": work, "threads": threads, "weights": weight_bytes_apart(model_of(a, name, work)),
             "engines": {engine: {"median_ms": compare.middle(of, "median"), "min_ms": min(t["min"] for t in of),
                                  "rss_mib": compare.middle(of, "rss") if "rss" in of[0] else 0, "rounds_ms": [t["median"] for t in of]}
                         for engine, of in turns[work].items()}} for work in WORK]


def measure(a):
    found = {"commit": compare.commit(), "rounds": a.rounds, "seconds": a.seconds, "machine": [], "rows": [], "failed": []}
    names = a.names or [n for n in NAMES if os.path.exists(os.path.join(a.models, n + ".onnx"))]
    for threads in a.threads:
        peaks = {}
        bench = argparse.Namespace(bench=os.path.join(a.bin, "webnn-bench"))
        compare.measure_peaks(bench, threads, peaks)
        found["machine"].append(peaks)
        for name in names:
            try:
                rows = measure_network(a, name, threads)
                compare.measure_peaks(bench, threads, peaks)
            except (RuntimeError, OSError, KeyError, json.JSONDecodeError) as e:
                found["failed"].append({"network": name, "threads": threads, "error": str(e)})
                print(f"{name}, {threads} threads: {e}", file=sys.stderr)
                continue
            found["rows"] += rows
            print(f"{name}, {threads} thread{'s' if threads > 1 else ''}: measured", file=sys.stderr)
    return found


# ---- printing

def read_gbs(machine):
    """Returns how fast memory is read that no cache holds."""
    return max(machine["bandwidth"], key=lambda b: b["mib"])["read_gbs"]


def engine_names(found):
    return list(dict.fromkeys(name for r in found["rows"] for name in r["engines"]))


def print_table(found, best):
    key = "min_ms" if best else "median_ms"
    machine = {m["threads"]: m for m in found["machine"]}
    engines = engine_names(found)
    print(f"webnn {found['machine'][0]['version']} ({found['commit']}) against "
          f"{' and '.join(e for e in engines if e not in PRECISIONS) or 'no other engine'}: {'best runs' if best else 'medians'} in"
          f" milliseconds; {found['machine'][0]['processor']};\nmemory is read at "
          + ", ".join(f"{read_gbs(m):.1f} GB/s by {t} thread{'s' if t > 1 else ''}" for t, m in machine.items()) + "\n")
    print(f"| network | work | threads | {' | '.join(engines)} | limit by bytes | share, float32 | share, int8 | MiB |")
    print("|---" * (len(engines) + 7) + "|")
    for r in sorted(found["rows"], key=lambda r: (r["work"] == "prompt", NAMES.index(r["network"]) if r["network"] in NAMES else 99)):
        of = r["engines"]
        cells = [r["network"], r["work"], str(r["threads"])]
        cells += [compare.three_digits(of[e][key]) if e in of else "" for e in engines]
        limit = r["weights"] / read_gbs(machine[r["threads"]]) / 1e6
        if r["work"] == "token":
            cells += [compare.three_digits(limit)] + [f"{limit / of[e][key]:.0%}" if e in of else "" for e in PRECISIONS]
        else:
            cells += [""] * 3
        cells.append(" / ".join(f"{of[e]['rss_mib']:.0f}" for e in engines if e in of and of[e]["rss_mib"] and e != "webnn int8"))
        print("| " + " | ".join(cells) + " |")


# ---- command line

def arguments():
    shared = os.environ.get("WEBNN_SHARED") or os.path.join(HERE, "..", "..", "shared")
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--bin", "--models", "--ort", "--llama", "--peers", "--json", "--draw"):
        p.add_argument(name)
    p.add_argument("--script", default=os.path.join(shared, "bench", "llama_bench.mjs"))
    compare.add_turns(p)
    p.add_argument("names", nargs="*", metavar="NAME")
    a = p.parse_args()
    if not a.draw and not (a.bin and a.models):
        p.error("--bin and --models are needed")
    compare.make_absolute(a, ("bin", "models", "script", "peers"))
    return a


def main():
    a = arguments()
    if a.draw:
        found = compare.read_found(a.draw)
    else:
        interpreter.need("onnx")
        found = measure(a)
    if found["rows"]:
        print_table(found, a.best)
    compare.write_found(a.json, found)
    return 1 if found["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
