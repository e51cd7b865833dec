#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times the same networks here and in ONNX Runtime, in turns, and shows how far each kernel is from the machine's limits.

    bench/compare.py --bench build/release/bin/webnn-bench --ort FOLDER --models FOLDER [OPTION ...] [NAME ...]
    bench/compare.py --draw FILE [--tsv] [--chart FILE] [--best]

--ort FOLDER     where the Node.js package onnxruntime-node is installed
--peers FOLDER   has the benchmark programs of other engines, which take their turns, too, where there are models in their formats:
                 benchncnn, MNNV2Basic.out, benchmark_model (XNNPACK); peers.py says where models lie
--networks G     bench: the benchmark networks, forms: some of them in 8 bits or float16, attention: networks of long sequences,
                 models: trained ones with inputs of their own, all: all of them (default)
--models FOLDER  has NAME.onnx of the first three groups, as far as they are to be measured: make_models.py next to the script
                 writes the first, quantize.py NAME.FORM.onnx of those (dynamic, qdq, float16), make_attention_nets.py the third.
                 Both engines read the same file
--cases FOLDER   has folders of trained networks, each with an ONNX file and a manifest.json, whose first case both engines run
                 (default: models in $WEBNN_SHARED, or in ../shared next to the repository)
--script FILE    ort_bench.mjs for the benchmark networks (default: the one in $WEBNN_SHARED/bench; trained ones: ort_case.mjs;
                 others: operators.mjs)
--rounds N       how often each engine has its turn (default 3); --seconds S per turn (default 2); --threads "1 2"
--steps N        of each network the N steps that take most of the time, with their share of the machine's limit (default 5;
                 0: no profile is taken).  --json has all of them.
--built-in       our side builds the networks of webnn-bench --level model instead of reading the files
--debug TEXT     debug switches for our side
--json FILE      everything that was measured; --chart FILE the ratios as SVG; --best of the best runs, which on a machine that
                 others use say more than medians
--draw FILE      measures nothing: prints (and with --chart draws) what an earlier run wrote with --json
--tsv            instead of all that the table bench/results/networks.tsv, with the machine and the versions; --machine TEXT says
                 what the machine is, where its processor does not
NAME             networks (default: all of the groups)

Turns alternate, so that a neighbour on the machine hurts both alike; of each engine the median over the rounds of its medians is
taken, and the best run of any round is shown next to it.  Exit status 1 if an engine failed.

Builds are timed cold, where every kernel is compiled, and warm, where all of them come from a folder of kernels that are kept; of
both, and of creating a session, the shortest of all rounds counts.

The limit of a step is the longer of two times: its operations at the peak of their arithmetic (float32, bfloat16, int8), and its
bytes.  Weights come at the speed of reading as much memory as all steps of the network touch together, other
operands and results at that of copying as much as the step touches, and what several calls of a step touch again at that of
reading once more what it touches.  The shares are those of the shortest calls; the peaks are the best that were seen in the same
run, measured again for each network (bench/README.md).
"""
import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile

import peers

HERE = os.path.dirname(os.path.abspath(__file__))
GROUPS = {"bench": "benchmark networks, random weights", "forms": "the same in 8 bits and float16",
          "attention": "attention over long sequences", "models": "trained networks"}
# The networks of these groups are files of no other list.
FILES = {"forms": [f"{name}.{form}" for form, names in (
             ("dynamic", ("bert_encoder", "resnet50", "mobilenetv2")), ("qdq", ("bert_encoder", "resnet50", "mobilenetv2")),
             ("float16", ("mlp_batch1", "row_norms"))) for name in names],
         "attention": ["attention_1024", "whisper_tiny_encoder", "diffusion_block"]}
WORDS = {"attention_1024": "12 heads", "whisper_tiny_encoder": "1500 positions", "diffusion_block": "4096 positions",
         "bert_encoder": "4 layers, 128 tokens", "elementwise_chain": "14 operators, 4 Mi elements", "qdq_resblock": "8 bits",
         "cct-2": "classifies pictures", "magika-v3": "types of files", "mnist-8": "digits", "silero-vad-16k": "speech, a frame",
         "stories260k": "language, 64 tokens", "super-resolution": "224x224", "ultraface-rfb-320": "finds faces"}
BUILDS = ("webnn", "build_ms"), ("webnn", "warm_build_ms"), ("onnxruntime", "build_ms")
SHORT = 0.001  # seconds of a run in which only building counts
PEAKS = {"float32": "gflops", "bfloat16": "bfloat16_gflops", "int8": "int8_gops"}


# ---- running

def run_process(command, folder=None, kernels="off"):
    """Runs a command; webnn keeps its kernels in the folder `kernels`."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env={**os.environ, "WEBNN_CACHE": kernels})
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()[-400:]}")
    return done


def run_json(command, folder=None, kernels="off"):
    return json.loads(run_process(command, folder, kernels).stdout)


def is_built_in(a, network):
    return a.built_in and network[0] == "bench"


def webnn_command(a, network, threads, seconds, debug):
    group, name = network
    if group == "models":
        what = [os.path.join(a.cases, name)]
    else:
        what = ["--level", "model", "--case", name, "--no-peaks"] if is_built_in(a, network) else \
               [os.path.join(a.models, name + ".onnx")]
    return [a.bench, *what, "--json", "--threads", str(threads), "--seconds", str(seconds)] + (["--debug", debug] if debug else [])


def time_webnn(a, network, threads, seconds=None, kernels="off"):
    found = run_json(webnn_command(a, network, threads, seconds or a.seconds, a.debug), None, kernels)
    if not is_built_in(a, network):
        return {"median": found["median_ms"], "min": found["min_ms"], "build": found["read_ms"] + found["build_ms"],
                "rss": found["rss_mb"], "gflops": found["gflops"], "gbs": found["gbs"]}
    case = next(c for c in found["cases"] if c["name"] == network[1])
    if "error" in case:
        raise RuntimeError(f"{network[1]}: {case['error']}")
    return {"median": case["median_ms"], "min": case["min_ms"], "build": case["build_ms"], "rss": case["rss_mib"],
            "gflops": case["gflops"], "gbs": case["gbs"]}


def time_ort(a, network, threads):
    group, name = network
    script = {"bench": a.script, "models": os.path.join(HERE, "ort_case.mjs")}.get(group, os.path.join(HERE, "operators.mjs"))
    model = os.path.join(a.cases, name) if group == "models" else os.path.join(a.models, name + ".onnx")
    found = run_json(["node", script, model, str(threads), str(a.seconds)], a.ort)
    return {"median": found["median_ms"], "min": found["min_ms"], "build": found["load_ms"], "rss": found["rss_mb"],
            "engine": found["engine"]}


def level(peaks, size):
    """Returns the bandwidths that were measured in about as much memory."""
    return min(peaks["bandwidth"], key=lambda b: abs(math.log(b["mib"] * 2**20 / max(size, 1))))


def limit_of(step, peaks, touched):
    """Returns the milliseconds that a step which touches so many bytes takes at least, and what of the machine says so."""
    far, near = level(peaks, touched), level(peaks, step["distinct_bytes"])
    times = {
        "memory": step["weight_bytes"] / max(far["read_gbs"], far["copy_gbs"])
        + (step["distinct_bytes"] - step["weight_bytes"]) / near["copy_gbs"]
        + (step["bytes"] - step["distinct_bytes"]) / max(near["read_gbs"], near["copy_gbs"]),
        step["arithmetic"]: step["operations"] / (peaks[PEAKS[step["arithmetic"]]] or peaks["gflops"]),
    }
    bound = max(times, key=times.get)
    return times[bound] / 1e6, bound


def measure_peaks(a, threads, peaks):
    found = run_json([a.bench, "--peaks", "--json", "--threads", str(threads)])
    if not peaks:
        peaks.update(found)
    for key in PEAKS.values():
        peaks[key] = max(peaks[key], found[key])
    for best, now in zip(peaks["bandwidth"], found["bandwidth"]):
        best.update({key: max(best[key], now[key]) for key in now})


def profile_webnn(a, network, threads):
    """Returns the steps of a network, as webnn-bench --steps --json has them, and the milliseconds of a run outside of them."""
    found = run_json(webnn_command(a, network, threads, min(a.seconds, 1), a.debug) + ["--steps"])
    for step in found["steps"]:
        for key, rate in (("flops", "gflops"), ("bytes", "gbs")):
            step[rate] = step[key] / step["least_ms"] / 1e6 if step["least_ms"] else 0
    return found["steps"], found["between_steps_ms"]


def add_limits(steps, peaks):
    touched = sum(step["distinct_bytes"] for step in steps)
    for step in steps:
        step["limit_ms"], step["bound"] = limit_of(step, peaks, touched)
        step["share_of_limit"] = step["limit_ms"] / step["least_ms"] if step["least_ms"] else None


# ---- one run

def middle(turns, key):
    return statistics.median(t[key] for t in turns)


def least(turns, key):
    return min(t[key] for t in turns)


def summary(turns):
    return {"median_ms": middle(turns, "median"), "min_ms": least(turns, "min"), "build_ms": least(turns, "build"),
            "rss_mib": middle(turns, "rss"), "rounds_ms": [t["median"] for t in turns]}


def compare_network(a, network, threads):
    webnn, warm, ort = [], [], []
    path = os.path.join(a.models or "", network[1])
    others = {name: [] for name in peers.present(a.peers, path)} if network[0] != "models" else {}
    with tempfile.TemporaryDirectory() as kernels:
        time_webnn(a, network, threads, SHORT, kernels)
        for _ in range(a.rounds):
            webnn.append(time_webnn(a, network, threads))
            warm.append(time_webnn(a, network, threads, SHORT, kernels))
            ort.append(time_ort(a, network, threads))
            for name, turns in others.items():
                turns.append(peers.time_peer(a.peers, name, path, threads, a.seconds))
    row = {"group": network[0], "network": network[1], "threads": threads, "webnn": summary(webnn), "onnxruntime": summary(ort)}
    row["ratio"] = row["onnxruntime"]["median_ms"] / row["webnn"]["median_ms"]
    row["ratio_of_bests"] = row["onnxruntime"]["min_ms"] / row["webnn"]["min_ms"]
    row["webnn"]["gflops"], row["webnn"]["gbs"] = middle(webnn, "gflops"), middle(webnn, "gbs")
    row["webnn"]["warm_build_ms"] = least(warm, "build")
    row["engine"] = ort[0]["engine"]
    row["peers"] = {name: {"median_ms": middle(turns, "median"), "min_ms": least(turns, "min")} for name, turns in others.items()}
    if a.steps:
        row["steps"], row["between_steps_ms"] = profile_webnn(a, network, threads)
    return row


def benchmark_networks(a):
    listed = run_process([a.bench, "--list", "--level", "model"]).stdout
    known = [line.split()[1] for line in listed.splitlines()]
    return [("bench", n) for n in known if os.path.exists(os.path.join(a.models, n + ".onnx"))]


def networks_of_files(a, group):
    return [(group, n) for n in FILES[group] if os.path.exists(os.path.join(a.models, n + ".onnx"))]


def trained_networks(a):
    """Returns the folders whose manifest is of an ONNX file; others describe a network by layers, which only we read."""
    found = []
    for name in sorted(os.listdir(a.cases)) if os.path.isdir(a.cases) else []:
        path = os.path.join(a.cases, name, "manifest.json")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                manifest = json.load(f)
            if str(manifest.get("model", "")).endswith(".onnx") and manifest.get("cases"):
                found.append(("models", name))
    if not found:
        print(f"no trained networks: {a.cases} has no folders with a manifest.json of an ONNX file")
    return found


def commit():
    done = subprocess.run(["git", "-C", HERE, "rev-parse", "--short", "HEAD"], capture_output=True, text=True)
    return done.stdout.strip()


def measure(a):
    networks = benchmark_networks(a) if a.networks in ("bench", "all") else []
    for group in FILES:
        networks += networks_of_files(a, group) if a.networks in (group, "all") else []
    networks += trained_networks(a) if a.networks in ("models", "all") else []
    networks = [n for n in networks if not a.names or n[1] in a.names]
    found = {"seconds": a.seconds, "rounds": a.rounds, "commit": commit(), "machine": [], "networks": [], "failed": []}
    for threads in a.threads:
        peaks = {}
        measure_peaks(a, threads, peaks)
        peaks.update(run_json([a.bench, "--overhead", "--json", "--threads", str(threads)]))
        found["machine"].append(peaks)
        print_machine(peaks)
        print_header()
        for network in networks:
            try:
                row = compare_network(a, network, threads)
                measure_peaks(a, threads, peaks)
            except (RuntimeError, OSError, KeyError, json.JSONDecodeError) as e:
                print(f"{network[1]:20} {threads:2} {e}")
                found["failed"].append({"network": network[1], "threads": threads, "error": str(e)})
                continue
            found["networks"].append(row)
            print_row(row)
        for row in found["networks"]:
            if row["threads"] == threads:
                add_limits(row.get("steps", []), peaks)
        print_builds([row for row in found["networks"] if row["threads"] == threads])
    return found


# ---- printing

def print_machine(m):
    bandwidth = ", ".join(f"in {b['mib']:g} MiB copy {b['copy_gbs']:.1f}, read {b['read_gbs']:.1f} GB/s"
                          for b in m["bandwidth"])
    print(f"\n{m['processor']}, {m['threads']} thread{'s' if m['threads'] > 1 else ''}: {m['gflops']:.1f} GFLOP/s,"
          f" bfloat16 {m['bfloat16_gflops']:.1f}, int8 {m['int8_gops']:.1f}; {bandwidth}")
    print(f"apart from kernels: compute {m['compute_us']:.2f} us, each step {m['step_us']:.2f} us, dispatch returns after"
          f" {m['dispatch_idle_us']:.2f} us (just idle), {m['dispatch_asleep_us']:.2f} us (asleep) or"
          f" {m['dispatch_queued_us']:.2f} us (busy)\n")


def print_header():
    print(f"{'network':20} {'T':>2} | {'webnn ms':>9} {'best':>9} | {'ort ms':>9} {'best':>9} | {'ort/webnn':>9} {'of bests':>8}"
          f" | {'build ms':>8} {'warm':>6} {'ort':>6} {'ratio':>6} {'warm':>5} | {'MiB':>4} {'ort':>4}")


def print_row(r):
    w, o = r["webnn"], r["onnxruntime"]
    print(f"{r['network']:20} {r['threads']:2} | {w['median_ms']:9.3f} {w['min_ms']:9.3f} | {o['median_ms']:9.3f}"
          f" {o['min_ms']:9.3f} | {r['ratio']:9.2f} {r['ratio_of_bests']:8.2f} | {w['build_ms']:8.1f}"
          f" {w['warm_build_ms']:6.1f} {o['build_ms']:6.1f} {build_ratio(r, 'build_ms'):6.2f} {build_ratio(r, 'warm_build_ms'):5.2f}"
          f" | {w['rss_mib']:4.0f} {o['rss_mib']:4.0f}", flush=True)
    for name, p in r.get("peers", {}).items():
        print(f"{name:>20}    | {'':9} {'':9} | {p['median_ms']:9.3f} {p['min_ms']:9.3f} | {p['median_ms'] / w['median_ms']:9.2f}"
              f" {p['min_ms'] / w['min_ms']:8.2f}", flush=True)


def build_ratio(r, key):
    return r["webnn"][key] / r["onnxruntime"]["build_ms"]


def print_builds(rows):
    """Prints what builds take of creating sessions."""
    for key, word in (("build_ms", "cold"), ("warm_build_ms", "warm")):
        ratios = [build_ratio(r, key) for r in rows]
        if ratios:
            print(f"{word} builds: {statistics.geometric_mean(ratios):.2f} of ONNX Runtime's session creation as a geometric mean,"
                  f" {max(ratios):.2f} at most")


def print_steps(r, count):
    steps = r.get("steps")
    if not steps:
        return
    total = sum(s["ms"] for s in steps)
    least = sum(s["least_ms"] for s in steps)
    moving = sum(s["ms"] for s in steps if s["moves"])
    limit = sum(s["limit_ms"] for s in steps)
    print(f"\n{r['network']}, {r['threads']} thread{'s' if r['threads'] > 1 else ''}: {len(steps)} steps in {total:.3f} ms,"
          f" {limit / least:.0%} of the limits of all steps, {moving / total:.1%} of the time only moves bytes,"
          f" {r.get('between_steps_ms', 0) / total:.1%} passes between steps")
    print(f"  {'step':>4} {'name':32} {'implementation':24} {'ms':>8} {'time':>5} {'GFLOP/s':>8} {'GB/s':>6} {'of limit':>8}")
    for s in sorted(steps, key=lambda s: -s["ms"])[:count]:
        share = f"{s['share_of_limit']:8.0%}" if s["share_of_limit"] is not None else f"{'':8}"
        print(f"  {s['step']:4} {s['name'][:32]:32} {s['implementation'][:24]:24} {s['ms']:8.3f} {s['ms'] / total:5.0%}"
              f" {s['gflops']:8.1f} {s['gbs']:6.1f} {share} {s['bound']}")


def print_all(found):
    for m in found["machine"]:
        print_machine(m)
        print_header()
        for r in found["networks"]:
            if r["threads"] == m["threads"]:
                print_row(r)


# ---- bench/results/networks.tsv

def three_digits(x):
    return f"{x:.0f}" if x >= 100 else f"{x:#.3g}"


def print_tsv(found, best, machine):
    key, what = ("min_ms", "the best run of each") if best else ("median_ms", "medians")
    rows = {(r.get("group", "bench"), r["network"], r["threads"]): r for r in found["networks"]}
    threads = sorted({t for _, _, t in rows})
    engine = found["networks"][0].get("engine", "ONNX Runtime").replace("onnxruntime", "ONNX Runtime")
    commit_words = [f"({found['commit']})"] if found.get("commit") else []
    webnn = " ".join(["webnn", found["machine"][0].get("version", "")] + commit_words)
    print(f"# {webnn} against {engine} on the same ONNX files in turns ({what} in milliseconds, batch 1;"
          f" {machine or found['machine'][0]['processor']})")
    heads = [cell for t in threads for cell in (f"webnn, {t} thread{'s' if t > 1 else ''}", "ONNX Runtime", "ratio")]
    print("\t".join(["group", "network", *heads, "build: cold", "warm", "session", "MiB"]))
    for group, words in GROUPS.items():
        names = list(dict.fromkeys(n for g, n, _ in rows if g == group))
        for name in names:
            cells = [words, f"{name} ({WORDS[name]})" if name in WORDS else name]
            for t in threads:
                r = rows.get((group, name, t))
                cells += [three_digits(r["webnn"][key]), three_digits(r["onnxruntime"][key]),
                          f"{r['ratio_of_bests' if best else 'ratio']:.2f}"] if r else [""] * 3
            r = rows.get((group, name, threads[0]))
            cells += [*(f"{r[side][key]:.0f}" for side, key in BUILDS),
                      f"{r['webnn']['rss_mib']:.0f} / {r['onnxruntime']['rss_mib']:.0f}"] if r else [""] * 4
            print("\t".join(cells))


# ---- the chart

STYLE = """
  text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1f2328; }
  .title { font-size: 16px; font-weight: 600; }
  .soft { fill: #59636e; }
  .grid { stroke: #d1d9e0; stroke-width: 1; }
  .one { stroke: #59636e; stroke-width: 1.5; }
  .s0 { fill: #0969da; }
  .s1 { fill: #8250df; }
  .s2 { fill: #1a7f37; }
  @media (prefers-color-scheme: dark) {
    text { fill: #f0f6fc; }
    .soft { fill: #9198a1; }
    .grid { stroke: #3d444d; }
    .one { stroke: #9198a1; }
    .s0 { fill: #4493f8; }
    .s1 { fill: #ab7df8; }
    .s2 { fill: #3fb950; }
  }
"""


def draw_chart(found, best):
    """Draws bars from 1 (as fast as ONNX Runtime) on a logarithmic axis, by group.  The same figures give the same bytes."""
    threads = sorted({r["threads"] for r in found["networks"]})
    networks = list(dict.fromkeys((r.get("group", "bench"), r["network"]) for r in found["networks"]))
    groups = [g for g in GROUPS if any(n[0] == g for n in networks)]
    ratio = {(r.get("group", "bench"), r["network"], r["threads"]): r["ratio_of_bests" if best else "ratio"]
             for r in found["networks"]}
    low = min(0, math.floor(math.log2(min(ratio.values()))))
    high = max(1, math.ceil(math.log2(max(ratio.values()))))
    left, right, top, bar, gap, heading = 164, 60, 84, 12, 14, 24 if len(groups) > 1 else 0
    width, row = 760, len(threads) * bar + gap
    bottom = top + len(networks) * row + len(groups) * heading

    def x(value):
        return left + (math.log2(value) - low) / (high - low) * (width - left - right)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{bottom + 36}" viewBox="0 0 {width} {bottom + 36}"'
           ' role="img">', "  <title>Time of ONNX Runtime divided by the time of the compiled graph, by network</title>",
           f"  <style>{STYLE}  </style>", '  <text class="title" x="16" y="26">Times as fast as ONNX Runtime</text>']
    machine = found["machine"][0]["processor"] if found["machine"] else ""
    out.append(f'  <text class="soft" x="16" y="46">the same ONNX files, {"best" if best else "medians"} of alternating runs;'
               f' {machine.replace("&", "&amp;").replace("<", "&lt;")}</text>')
    for i, t in enumerate(threads):
        out.append(f'  <rect class="s{i % 3}" x="{16 + 110 * i}" y="58" width="12" height="12" rx="2"/>'
                   f'<text x="{34 + 110 * i}" y="69">{t} thread{"s" if t > 1 else ""}</text>')
    for e in range(low, high + 1):
        out.append(f'  <line class="{"one" if e == 0 else "grid"}" x1="{x(2 ** e):.1f}" y1="{top - 4}" x2="{x(2 ** e):.1f}"'
                   f' y2="{bottom}"/><text class="soft" x="{x(2 ** e):.1f}" y="{bottom + 18}" text-anchor="middle">{2 ** e:g}×</text>')
    y = top + gap / 2
    for group in groups:
        if heading:
            out.append(f'  <text class="soft" x="16" y="{y + 11:.1f}">{GROUPS[group]}</text>')
        y += heading
        for name in (n for g, n in networks if g == group):
            out.append(f'  <text x="{left - 12}" y="{y + len(threads) * bar / 2 + 4.5:.1f}" text-anchor="end">{name}</text>')
            for i, t in enumerate(threads):
                value = ratio.get((group, name, t))
                if not value:
                    continue
                begin, end = sorted((x(1), x(value)))
                out.append(f'  <rect class="s{i % 3}" x="{begin:.1f}" y="{y + i * bar:.1f}" width="{max(end - begin, 1):.1f}"'
                           f' height="{bar - 2}" rx="2"/><text class="soft" x="{max(end, x(1)) + 6:.1f}"'
                           f' y="{y + i * bar + bar - 2.5:.1f}" style="font-size: 11px">{value:.2f}</text>')
            y += row
    return "\n".join(out + ["</svg>", ""])


# ---- what was measured, in a file

def read_found(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def write_found(path, found):
    """Writes what was measured, if a file is named."""
    if path:
        with open(path, "w", encoding="utf-8") as f:
            json.dump(found, f, indent=1)
            f.write("\n")


# ---- command line

def add_turns(parser):
    """Adds the options that say how engines take turns."""
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2)
    parser.add_argument("--threads", default="1 2", type=lambda text: [int(t) for t in text.split()])
    parser.add_argument("--best", action="store_true")


def make_absolute(a, names):
    """Makes the paths of options absolute: engines run in other folders."""
    for name in names:
        if getattr(a, name):
            setattr(a, name, os.path.abspath(getattr(a, name)))


def arguments():
    shared = os.environ.get("WEBNN_SHARED") or os.path.join(HERE, "..", "..", "shared")
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--bench", "--ort", "--peers", "--models", "--debug", "--json", "--chart", "--draw", "--machine"):
        p.add_argument(name)
    p.add_argument("--networks", choices=(*GROUPS, "all"), default="all")
    p.add_argument("--cases", default=os.path.join(shared, "models"))
    p.add_argument("--script", default=os.path.join(shared, "bench", "ort_bench.mjs"))
    add_turns(p)
    p.add_argument("--steps", type=int, default=5)
    p.add_argument("--built-in", action="store_true")
    p.add_argument("--tsv", action="store_true")
    p.add_argument("names", nargs="*", metavar="NAME")
    a = p.parse_args()
    if not a.draw and not (a.bench and a.ort and (a.models or a.networks == "models")):
        p.error("--bench and --ort are needed, and --models for all but the trained networks")
    make_absolute(a, ("bench", "script", "models", "cases", "peers"))
    return a


def main():
    a = arguments()
    if a.draw:
        found = read_found(a.draw)
        if not a.tsv:
            print_all(found)
    else:
        found = measure(a)
    for m in found["machine"] if a.steps and not a.tsv else []:
        if not a.draw:
            print_machine(m)
        for r in found["networks"]:
            if r["threads"] == m["threads"]:
                print_steps(r, a.steps)
    if a.tsv and found["networks"]:
        print_tsv(found, a.best, a.machine)
    write_found(a.json, found)
    if a.chart and found["networks"]:
        with open(a.chart, "w", encoding="utf-8") as f:
            f.write(draw_chart(found, a.best))
    return 1 if found["failed"] else 0


if __name__ == "__main__":
    sys.exit(main())
