#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks and measures the engine for GPUs on one machine, in one go and within a time limit.  Needs nothing installed.

    bench/gpu_check.py --bin build/release/bin --data SHARED [--device DEVICE] [--json FILE] [OPTION ...]
    bench/gpu_check.py --draw FILE

--bin FOLDER     has the programs: webnn-run and webnn-bench, and of the tests those that are to run (docs/gpu.md)
--data FOLDER    has wpt/conformance and models, as the shared data has them; absent ones are left out
--device D       a number or a part of a name, as --engine gpu:D has it (default: the first)
--libs FOLDER    libraries that the programs need and the machine may lack.  Those of gcc (in its folder gcc) and of C (in libc) are
                 used only where the machine's own are not there or are older than the programs need.  No other program sees them
--work FOLDER    where built programs are kept (default: a temporary folder, so that everything is rebuilt)
--seconds S      the limit of all (default 450).  What does not fit into the rest of it is left out, and what takes longer is
                 ended; the report comes in any case
--every N        of the conformance cases each N-th (default 16)
--only A,B --skip A,B   parts: %(parts)s
--small          small sizes and short times, for devices that are processors
--json FILE      everything that was found, rewritten after each part; --draw FILE prints the report of such a file again

Exit status 1 if a test failed, a part broke off, or no device was found; 2 if nothing failed, but a test took so long that it was
ended: it may hang, or the time may have been too short.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import gpu_cases

HERE = os.path.dirname(os.path.abspath(__file__))
NETWORKS = ("mobilenetv2", "resnet50", "bert_encoder")
TAIL = 12                                           # lines that are kept of what failed
SHOWN = 6                                           # of a list of what failed
SKIPPED = 77

# Tests by their programs: arguments, the most seconds.
TESTS = {"test-opencl-kernels": (["shapes"], 120), "test-opencl-float16": ([], 60), "test-opencl-float64": ([], 60),
         "test-frontend-loops": (["6"], 30), "test-api-compact-weights": (["few"], 60)}
MODELS = ("mnist-8", "stories260k", "silero-vad-16k")


# ---- processes

def end_process(p):
    try:
        os.killpg(p.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    p.wait()


class Machine:
    """Runs programs with a limit of time: the rest of the whole, or less."""

    def __init__(self, a):
        self.a = a
        self.end = time.monotonic() + a.seconds
        self.launcher = []
        self.environment = {k: v for k, v in os.environ.items() if k not in ("WEBNN_DEBUG", "WEBNN_ENGINE")}
        drivers = [f for f in ("/usr/local/nvidia/lib64", "/usr/local/nvidia/lib") if os.path.isdir(f)]
        machines = [f for f in [*self.environment.get("LD_LIBRARY_PATH", "").split(":"), *drivers] if f]
        self.paths = [f for f in [a.libs, *machines] if f]
        if machines:
            self.environment["LD_LIBRARY_PATH"] = ":".join(machines)
        self.environment.update(WEBNN_CACHE=os.path.join(a.work, "cache"), CUDA_CACHE_PATH=os.path.join(a.work, "cuda"),
                                POCL_CACHE_DIR=os.path.join(a.work, "pocl"), OMP_WAIT_POLICY="passive", WEBNN_SHARED=a.data or "")
        os.makedirs(self.environment["WEBNN_CACHE"], mode=0o700, exist_ok=True)

    def left(self):
        return self.end - time.monotonic()

    def run(self, command, limit, **environment):
        """Returns what a command printed, its exit status (None: it was ended) and its seconds."""
        limit = min(limit, self.left())
        if limit < 1:
            return {"rc": None, "out": "", "seconds": 0.0, "left_out": True}
        start = time.monotonic()
        with tempfile.TemporaryFile() as out:
            try:
                p = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=self.a.work,
                                     env={**self.environment, **environment}, start_new_session=True)
            except OSError as e:
                return {"rc": 126, "out": str(e), "seconds": 0.0}
            try:
                code = p.wait(limit)
            except subprocess.TimeoutExpired:
                end_process(p)
                code = None
            except BaseException:
                end_process(p)
                raise
            out.seek(0)
            text = out.read().decode(errors="replace")
        return {"rc": code, "out": text, "seconds": time.monotonic() - start}

    def program(self, name):
        path = os.path.join(self.a.bin, name)
        return path if os.access(path, os.X_OK) else None

    def run_program(self, name, arguments, limit, **environment):
        paths = ":".join(self.paths)
        return self.run([*self.launcher, self.program(name), *arguments], limit, LD_LIBRARY_PATH=paths, **environment)

    def run_python(self, script, arguments, limit):
        # A script opens the loader by its path, and keeps the machine's own libraries.
        return read_object(self.run([sys.executable, "-B", os.path.join(HERE, script), *map(str, arguments)], limit)["out"])

    def choose_launcher(self):
        """Finds out with which libraries programs start."""
        found = self.run_program("webnn-run", ["--version"], 20)
        if found["rc"] and self.a.libs:
            self.paths.append(os.path.join(self.a.libs, "gcc"))
            found = self.run_program("webnn-run", ["--version"], 20)
        if found["rc"] and self.a.libs:
            libc = os.path.join(self.a.libs, "libc")
            self.launcher = [os.path.join(libc, "ld-linux-x86-64.so.2"), "--library-path", ":".join([libc, *self.paths])]
            found = self.run_program("webnn-run", ["--version"], 20)
        return found


# ---- what programs print

def read_object(text):
    """Returns the last JSON object that stands in a line of its own."""
    for line in reversed(text.splitlines()):
        if line.startswith("{"):
            try:
                return json.loads(line)
            except json.JSONDecodeError:
                break
    return {"error": text.strip()[-400:] or "nothing was printed"}


def read_cases(text):
    """Returns the cases in what `webnn-bench --json` printed, which may have been ended in the middle."""
    found = {}
    for line in text.splitlines():
        line = line.strip().rstrip(",")
        if line.startswith('{"level"'):
            try:
                case = json.loads(line)
            except json.JSONDecodeError:
                continue
            found[case["name"]] = case
    return found


def read_steps(text):
    """Returns the networks' steps of `webnn-bench --steps --json`, those that take longest first."""
    found = {}
    for line in text.splitlines():
        if line.startswith('{"name"'):
            try:
                network = json.loads(line)
            except json.JSONDecodeError:
                continue
            found[network["name"]] = sorted(network["steps"], key=lambda s: -s["least_ms"] * s.get("calls", 1))
    return found


def read_tests(text, code):
    """Returns how many tests passed and failed, and what they said if one did."""
    passed = sum(int(n) for n in re.findall(r"\[  PASSED  \] (\d+) test", text))
    failed = sum(int(n) for n in re.findall(r"\[  FAILED  \] (\d+) test", text))
    for name, good, count in re.findall(r"^(\S+): (\d+) of (\d+) cases passed", text, re.M):
        passed, failed = passed + int(good), failed + int(count) - int(good)
    state = "passed" if code == 0 else "skipped" if code == SKIPPED else "ended" if code is None else "failed"
    found = {"state": state, "passed": passed, "failed": max(failed, int(state == "failed"))}
    steps = re.search(r"steps: (\d+) on a device of OpenCL's, (\d+) on the processor", text)
    if steps:
        found["steps"], found["elsewhere"] = int(steps[1]), int(steps[2])
    if state in ("failed", "ended"):
        found["tail"] = [line[:200] for line in text.strip().splitlines()[-TAIL:]]
    return found


# ---- parts: each takes the machine and what was found, and puts its own there

def part_device(m, found):
    """The devices, how fast the driver copies, and what the engine says of them."""
    size = 1 << 22 if m.a.small else 1 << 28
    loader = os.path.join(m.a.libs, "libOpenCL.so.1") if m.a.libs else ""
    found["opencl"] = m.run_python("gpu_reference.py", ["opencl", size, m.a.device, loader], 60)
    found["program"] = m.choose_launcher()["out"].strip()[:200]
    listed = m.run_program("webnn-run", ["--list-devices"], 60)
    found["engine"] = {"devices": re.findall(r"^\s*\d.*$", listed["out"], re.M)[:16], "rc": listed["rc"]}
    smi = shutil.which("nvidia-smi") or "/usr/bin/nvidia-smi"
    if os.path.exists(smi):
        query = "--query-gpu=name,driver_version,memory.total,clocks.max.sm,clocks.max.mem,power.limit"
        found["nvidia_smi"] = m.run([smi, query, "--format=csv,noheader"], 20)["out"].strip()[:400]


def bench(m, arguments, limit, engine=None):
    return m.run_program("webnn-bench", ["--json", "--no-peaks", "--tensors", "--engine", engine or m.engine, *arguments], limit)


def write_cases(m):
    path = os.path.join(m.a.work, "cases.txt")
    with open(path, "w") as f:
        f.write("\n".join(gpu_cases.cases(gpu_cases.SMALL if m.a.small else gpu_cases.FULL).values()) + "\n")
    return path


def time_cases(m, names, seconds, limit, **how):
    """Times cases one by one, so that one that takes too long costs the others nothing."""
    found = {}
    for name in names:
        level = "model" if name in NETWORKS or name in ("token", "prompt") else "kernel,operator"
        out = bench(m, ["--file", m.cases, "--level", level, "--case", name, "--seconds", str(seconds)], limit, **how)
        if out.get("left_out"):
            continue
        case = read_cases(out["out"]).get(name)
        found[name] = case or {"error": f"ended after {out['seconds']:.0f} s" if out["rc"] is None else out["out"][-300:]}
    return found


def part_speed(m, found):
    """Element-wise kernels, products, networks and a language model; networks are built twice, the first time without a cache."""
    seconds = 0.1 if m.a.small else 0.5
    found["kernels"] = time_cases(m, ("relu", "chain", "transpose", "softmax", "gemm-f32", "gemm-f16"), seconds, 40)
    found["networks"] = time_cases(m, NETWORKS[:1] if m.a.small else NETWORKS, seconds, 90)
    found["warm"] = time_cases(m, found["networks"], seconds / 5, 60)
    found["language"] = time_cases(m, ("token", "prompt"), seconds, 90)


def part_processor(m, found):
    """The same networks on the engine for processors, with all of them."""
    m.environment["OMP_NUM_THREADS"] = str(os.cpu_count())
    names = [n for n in (*NETWORKS, "token", "prompt") if not m.a.small or n in ("mobilenetv2", "token")]
    found["processor"] = time_cases(m, names, 0.3, 30, engine="cpu")


def part_cublas(m, found):
    found["cublas"] = m.run_python("gpu_reference.py", ["cublas", (gpu_cases.SMALL if m.a.small else gpu_cases.FULL)["gemm"]], 60)


def part_torch(m, found):
    found["torch"] = m.run_python("gpu_reference.py", ["torch", 0.5, *NETWORKS], 90)


def part_tests(m, found):
    """The tests that run on a device, each in a process of its own."""
    found["tests"] = {}
    for name, (arguments, limit) in TESTS.items():
        if m.program(name) and m.left() > 5:
            out = m.run_program(name, arguments, limit, WEBNN_ENGINE=m.engine, WEBNN_CACHE="off")
            found["tests"][name] = {**read_tests(out["out"], out["rc"]), "seconds": out["seconds"]}
    for model in MODELS:
        folder = os.path.join(m.a.data or "", "models", model)
        if m.program("onnx-models") and os.path.isdir(folder) and m.left() > 5:
            out = m.run_program("onnx-models", [folder], 60, WEBNN_ENGINE=m.engine)
            found["tests"][f"onnx-models {model}"] = {**read_tests(out["out"], out["rc"]), "seconds": out["seconds"]}


def part_random(m, found):
    """Random graphs, with another seed for each run, on the first device."""
    seconds = 5 if m.a.small else 25
    if m.program("random-graphs"):
        seed = int(time.time()) % 100000
        out = m.run_program("random-graphs", ["--seed", str(seed), "--seconds", str(seconds), "--count", "1000000", "--variant",
                                              "engine=gpu"], seconds + 60)
        found["random"] = {"seed": seed, **read_tests(out["out"], out["rc"]), "tail": out["out"].strip().splitlines()[-TAIL:]}


def part_conformance(m, found):
    """Conformance cases, several files at a time: most of their time is the driver's compiler's."""
    files = sorted(glob.glob(os.path.join(m.a.data or "", "wpt", "conformance", "*.json")))
    if not files or not m.program("wpt-conformance"):
        return

    def run(path):
        out = m.run_program("wpt-conformance", [path, "--mode", "engine", "--every", str(m.a.every)], 60, WEBNN_ENGINE=m.engine)
        return os.path.basename(path)[:-5], None if out.get("left_out") else read_tests(out["out"], out["rc"])
    with concurrent.futures.ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
        results = {name: r for name, r in pool.map(run, files) if r}
    found["conformance"] = {"files": len(files), "ran": len(results), "every": m.a.every,
                            **{key: sum(r.get(key, 0) for r in results.values()) for key in ("passed", "failed", "steps", "elsewhere")},
                            "bad": {n: r for n, r in results.items() if r["state"] in ("failed", "ended")}}


def part_tune(m, found):
    """The best sizes of tiles, and what they change."""
    out = m.run_program("webnn-bench", ["--tune", "--engine", m.engine, "--seconds", "0.02" if m.a.small else "0.3"],
                        240 if m.a.small else 150)
    kept = re.search(r"^kept: .*", out["out"], re.M)
    found["tune"] = {"rc": out["rc"], "seconds": out["seconds"], "kept": kept[0] if kept else "",
                     "tail": [] if kept else out["out"].strip().splitlines()[-TAIL:]}
    if kept:
        found["tuned"] = time_cases(m, ("gemm-f32", "gemm-f16", *(NETWORKS[:1] if m.a.small else NETWORKS)), 0.1 if m.a.small else 0.5, 60)


def part_steps(m, found):
    """The steps that take longest."""
    found["steps"] = {}
    for name in (*NETWORKS[:1], "token") if m.a.small else (*NETWORKS, "token", "prompt"):
        out = m.run_program("webnn-bench", ["--steps", "--json", "--tensors", "--engine", m.engine, "--file", m.cases, "--level",
                                            "model", "--case", name, "--seconds", "0.2"], 40)
        found["steps"].update({n: steps[:8] for n, steps in read_steps(out["out"]).items()})


# In their order, each with the share of the time left that it may take.
PARTS = {"device": (part_device, 0.2), "speed": (part_speed, 0.5), "cublas": (part_cublas, 0.25), "tests": (part_tests, 0.35),
         "conformance": (part_conformance, 0.35), "random": (part_random, 0.3), "tune": (part_tune, 0.5),
         "torch": (part_torch, 0.5), "steps": (part_steps, 0.7), "processor": (part_processor, 1)}


# ---- the report

def number(value, digits=3):
    return f"{value:.{digits}g}" if value < 10 ** digits else f"{value:.0f}"


def case_ms(found, section, name):
    return found.get(section, {}).get(name, {}).get("median_ms")


def lines_of_devices(found):
    opencl = found.get("opencl", {})
    for i, d in enumerate(opencl.get("devices", [])):
        yield (f"OpenCL {i}: {d['name']}, driver {d['driver']}, {d['version']}, {d['compute_units']} units, {d['megahertz']} MHz, "
               f"{d['memory_bytes'] / 2 ** 30:.1f} GiB, local {d['local_bytes'] // 1024} KiB")
    if "error" in opencl:
        yield f"OpenCL: {opencl['error']}"
    if found.get("nvidia_smi"):
        yield f"nvidia-smi: {found['nvidia_smi']}"
    for line in found.get("engine", {}).get("devices", []):
        yield f"the engine sees: {line}"


def lines_of_tests(found):
    for name, t in found.get("tests", {}).items():
        yield f"{name}: {t['state']} ({t['passed']} passed, {t['failed']} failed, {t['seconds']:.0f} s)"
        yield from (f"    {line}" for line in t.get("tail", []))
    c = found.get("conformance")
    if c:
        yield (f"conformance, each {c['every']}-th case: {c['passed']} passed, {c['failed']} failed in {c['ran']} of {c['files']} files; "
               f"{c['steps']} steps on the device, {c['elsewhere']} elsewhere")
        for name, r in list(c["bad"].items())[:SHOWN]:
            yield f"    {name}: {r['state']}: " + " | ".join(r.get("tail", [])[-3:])
        if len(c["bad"]) > SHOWN:
            yield f"    and {len(c['bad']) - SHOWN} more files: {', '.join(list(c['bad'])[SHOWN:])}"
    r = found.get("random")
    if r:
        yield f"random graphs from seed {r['seed']} on: {r['state']}: " + " | ".join(line[:200] for line in r["tail"][-3:])


def lines_of_kernels(found):
    copy = found.get("opencl", {}).get("copy_gbs")
    if copy:
        yield f"copies between buffers: {number(copy)} GB/s, read and written"
    for name, c in found.get("kernels", {}).items():
        if "error" in c:
            yield f"{name}: {c['error']}"
        elif name.startswith("gemm"):
            yield f"{name}: {number(c['median_ms'])} ms, {number(c['gflops'] / 1e3)} TFLOP/s"
        else:
            yield f"{name}: {number(c['median_ms'])} ms, {number(c['gbs'])} GB/s" + (f", {c['gbs'] / copy:.0%} of a copy" if copy else "")
    blas = found.get("cublas", {})
    if "error" in blas:
        yield f"cuBLAS: {blas['error']}"
    for name, gflops in blas.get("gflops", {}).items():
        ours = found.get("kernels", {}).get("gemm-f16" if "16" in name else "gemm-f32", {}).get("gflops")
        yield f"cuBLAS, {name}: {number(gflops / 1e3)} TFLOP/s" + (f"; the engine has {ours / gflops:.0%} of it" if ours else "")


def lines_of_networks(found):
    names = {**found.get("networks", {}), **found.get("language", {})}
    for name, c in names.items():
        if "error" in c:
            yield f"{name}: {c['error']}"
            continue
        words = [f"{number(c['median_ms'])} ms (best {number(c['min_ms'])})",
                 f"built in {number(c['build_ms'] + c['first_ms'])} ms with the first run"]
        warm = found.get("warm", {}).get(name, {})
        if "build_ms" in warm:
            words.append(f"with programs kept {number(warm['build_ms'] + warm['first_ms'])} ms")
        if case_ms(found, "processor", name):
            words.append(f"processor {number(case_ms(found, 'processor', name))} ms")
        for way, t in found.get("torch", {}).get("networks", {}).get(name, {}).items():
            if isinstance(t, dict):
                words.append(f"PyTorch ({way}) {number(t['median_ms'])} ms")
        yield f"{name}: " + ", ".join(words)
    if "error" in found.get("torch", {}):
        yield f"PyTorch: {found['torch']['error']}"


def lines_of_tuning(found):
    t = found.get("tune")
    if t:
        yield f"{t['kept'] or 'nothing was kept'} ({t['seconds']:.0f} s)"
        yield from (f"    {line}" for line in t["tail"])
    for name in found.get("tuned", {}):
        before, after = (case_ms(found, s, name) for s in ("networks" if name in NETWORKS else "kernels", "tuned"))
        if before and after:
            yield f"{name}: {number(before)} ms before, {number(after)} ms tuned"


def lines_of_steps(found):
    for name, steps in found.get("steps", {}).items():
        yield f"{name}: " + "; ".join(f"{s['name']} {s['least_ms']:.4f} ms x {s.get('calls', 1)} ({s['implementation']})" for s in steps)


def report(found):
    """Returns all lines."""
    lines = [f"webnn on a GPU: {found.get('program', '')}"]
    for title, of in (("Devices", lines_of_devices), ("Results", lines_of_tests), ("Kernels", lines_of_kernels),
                      ("Networks", lines_of_networks), ("Tuning", lines_of_tuning), ("Longest steps", lines_of_steps)):
        some = list(of(found))
        lines += [f"== {title}", *some] if some else []
    times = found.get("times", {})
    lines.append("== Times: " + ", ".join(f"{name} {seconds:.0f} s" for name, seconds in times.items()) +
                 (f"; left out: {', '.join(found['left_out'])}" if found.get("left_out") else ""))
    return lines


def tests_of(found):
    return [*found.get("tests", {}).values(), found.get("random", {}), found.get("conformance", {}),
            *found.get("conformance", {}).get("bad", {}).values()]


def status_of(found):
    """Returns the exit status."""
    tests = tests_of(found)
    if any(t.get("failed") for t in tests) or found.get("errors") or not found.get("engine", {"devices": [1]})["devices"]:
        return 1
    return 2 if any(t.get("state") == "ended" for t in tests) else 0


# ---- command line

def write_json(path, found):
    if path:
        with open(path + ".new", "w") as f:
            json.dump(found, f, indent=1)
        os.replace(path + ".new", path)


def arguments():
    p = argparse.ArgumentParser(description=__doc__ % {"parts": ", ".join(PARTS)}, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--bin", "--data", "--libs", "--work", "--json", "--draw"):
        p.add_argument(name)
    p.add_argument("--device", default="")
    p.add_argument("--seconds", type=float, default=450)
    p.add_argument("--every", type=int, default=16)
    p.add_argument("--only", type=lambda text: text.split(","), default=list(PARTS))
    p.add_argument("--skip", type=lambda text: text.split(","), default=[])
    p.add_argument("--small", action="store_true")
    a = p.parse_args()
    if not a.draw and not a.bin:
        p.error("--bin is needed")
    unknown = [n for n in (*a.only, *a.skip) if n not in PARTS]
    if unknown:
        p.error(f"there is no part {unknown[0]}; there are {', '.join(PARTS)}")
    for name in ("bin", "data", "libs", "work", "json"):
        if getattr(a, name):
            setattr(a, name, os.path.abspath(getattr(a, name)))
    return a


def stop(*_):
    raise KeyboardInterrupt


def measure(a):
    found = {"times": {}, "left_out": [], "small": a.small}
    m = Machine(a)
    m.engine = "gpu:" + a.device if a.device else "gpu"
    m.cases = write_cases(m)
    end = m.end
    try:
        for name, (part, share) in PARTS.items():
            if name not in a.only or name in a.skip:
                continue
            m.end = end
            if m.left() < 5:
                found["left_out"].append(name)
                continue
            start = time.monotonic()
            m.end = start + m.left() * share
            print(f"gpu_check: {name}, {end - start:.0f} s are left", file=sys.stderr, flush=True)
            try:
                part(m, found)
            except (OSError, ValueError, KeyError, TypeError) as e:    # a part that fails leaves the others
                found.setdefault("errors", {})[name] = f"{type(e).__name__}: {e}"
                print(f"gpu_check: {name}: {e}", file=sys.stderr, flush=True)
            found["times"][name] = time.monotonic() - start
            write_json(a.json, found)
    except KeyboardInterrupt:
        found["left_out"].append("everything after a signal")
    return found


def main():
    a = arguments()
    if a.draw:
        with open(a.draw) as f:
            found = json.load(f)
    else:
        signal.signal(signal.SIGTERM, stop)
        folder = None if a.work else tempfile.mkdtemp(prefix="gpu_check_")
        a.work = a.work or folder
        os.makedirs(a.work, exist_ok=True)
        try:
            found = measure(a)
            write_json(a.json, found)
        finally:
            if folder:
                shutil.rmtree(folder, ignore_errors=True)
    print("\n".join(report(found)), flush=True)
    return status_of(found)


if __name__ == "__main__":
    sys.exit(main())
