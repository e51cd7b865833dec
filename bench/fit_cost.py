#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits the prices by which the library and generated kernels are compared (struct contraction_prices) to measured contractions.

    fit_cost.py --bench build/release/bin/webnn-bench [--turns N] [--seconds S] [--save FILE] [--write ir/target/prices.h KIND]
    fit_cost.py --load FILE [--show] [--write ir/target/prices.h KIND]

Every case is a matmul or a convolution, and is timed with the library and by generated kernels in turns, on one thread.  The time
of a way is a sum of features times prices, none of which is negative: the least squares of relative errors.  Prints the prices with
the errors that remain, and what choosing by them loses against the best choices.  --write puts them into the table as the prices of
KIND of machine, FULL_RATE, HALF_RATE or AVX2; which one the machine is, ir/target/target.c says.  Needs NumPy.
"""
import argparse
import json
import re
import statistics
import subprocess
import tempfile
import typing

import numpy

FEATURES = ["call", "matrix", "product", "ragged", "window", "near", "far"]
WAYS = ("library", "packed", "unpacked")


class Case(typing.NamedTuple):
    """A contraction: what the features are computed from, and its graph."""
    name: str
    batch: int
    rows: int
    inner: int
    columns: int
    channels: int  # that lie one after the other: of a matmul all that is summed
    constant: bool
    text: str


def matmul(rows, inner, columns, batch=1, constant=True):
    lead = f"{batch}, " if batch > 1 else ""
    inputs = f"x: f32[{lead}{rows}, {inner}]; "
    weights = f"w: f32[{lead}{inner}, {columns}]"
    consts = f'consts {{ {weights} @weights("{inner}"); }} ' if constant else ""
    inputs += "" if constant else weights + "; "
    return Case(f"matmul-{batch}-{rows}-{inner}-{columns}-{'constant' if constant else 'late'}", batch, rows, inner, columns, inner,
                constant, f"inputs {{ {inputs}}} {consts}nodes {{ y = matmul(x, w); }} outputs {{ y; }}")


def convolution(size, inputs, outputs, window=1, stride=1):
    pad, out = window // 2, (size - 1) // stride + 1
    return Case(f"conv-{size}-{inputs}-{outputs}-{window}-{stride}", 1, out * out, inputs * window * window, outputs, inputs, True,
                f"inputs {{ x: f32[1, {size}, {size}, {inputs}]; }} "
                f'consts {{ w: f32[{outputs}, {inputs}, {window}, {window}] @weights("{inputs * window * window}"); '
                f'b: f32[{outputs}] @weights("100"); }} nodes {{ c = conv2d(x, w, bias=b, padding=[{pad}, {pad}, {pad}, {pad}], '
                f'strides=[{stride}, {stride}], inputLayout="nhwc"); y = relu(c); }} outputs {{ y; }}')


EMPTY = Case("empty", 0, 1, 0, 0, 0, True, "inputs { x: f32[1]; } nodes { y = relu(x); } outputs { y; }")


def cases():
    yield EMPTY
    for inner, columns in ((64, 64), (128, 512), (256, 256), (512, 512), (384, 1536), (768, 768), (768, 3072), (3072, 768),
                           (1024, 1000), (2048, 512)):
        for rows in (1, 2, 4, 8, 16, 50, 128):
            if rows * inner * columns < 1.5e8:  # longer runs measure what else the machine does
                yield matmul(rows, inner, columns)
    for rows, inner, columns in ((1, 64, 64), (1, 256, 256), (1, 1024, 1024), (4, 256, 256), (16, 64, 128), (16, 512, 512),
                                 (64, 64, 64), (128, 64, 128), (128, 128, 64), (128, 768, 768), (384, 64, 384), (384, 384, 64)):
        yield matmul(rows, inner, columns, 1, False)
    for batch, rows, inner, columns in ((12, 128, 64, 128), (12, 128, 128, 64), (16, 1, 64, 64), (8, 16, 32, 64), (16, 50, 32, 50)):
        yield matmul(rows, inner, columns, batch, False)
    for size, few, many in ((56, 64, 256), (28, 128, 512), (14, 256, 1024), (7, 512, 2048), (112, 16, 96), (56, 24, 144),
                            (28, 32, 192), (14, 96, 576), (7, 160, 960), (7, 320, 1280)):
        yield convolution(size, few, many)
        yield convolution(size, many, few)
    for size, channels in ((56, 64), (28, 128), (14, 256), (7, 512), (112, 32), (32, 32), (64, 16)):
        yield convolution(size, channels, channels, 3)
    for size, inputs, outputs, window in ((224, 3, 64, 7), (224, 3, 32, 3), (56, 128, 128, 3), (28, 256, 256, 3), (14, 512, 512, 3),
                                          (56, 256, 512, 1), (28, 512, 1024, 1), (14, 1024, 2048, 1)):
        yield convolution(size, inputs, outputs, window, 2)


def processor():
    """Returns the processor's name and, since clouds call many the same, its family and model."""
    with open("/proc/cpuinfo") as file:
        facts = dict(re.findall(r"^([^\t:]+)\t*: (.*)$", file.read(), re.M))
    return f"{facts['model name']}, family {facts['cpu family']}, model {facts['model']}"


def l2_bytes():
    with open("/sys/devices/system/cpu/cpu0/cache/index2/size") as file:
        return int(file.read().strip().rstrip("K")) * 1024


def measure(bench, all_cases, turns, seconds):
    """Returns the best microseconds of each case, by the library and by generated kernels."""
    times = {"library": {}, "generated": {}, "processor": processor()}
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("".join(f"operator {c.name}: {c.text}\n" for c in all_cases))
        file.flush()
        for turn in range(turns):
            ways = [("library", "prefer-library"), ("generated", "no-library")]
            for way, debug in ways if turn % 2 == 0 else ways[::-1]:
                out = subprocess.run([bench, "--file", file.name, "--level", "operator", "--threads", "1", "--no-peaks", "--json",
                                      "--seconds", str(seconds), "--debug", debug + ",skip=winograd"],
                                     check=True, capture_output=True, text=True).stdout
                for case in json.loads(out)["cases"]:
                    times[way][case["name"]] = min(case["min_ms"] * 1e3, times[way].get(case["name"], 1e9))
    return times


def features(case, far_bytes):
    """Returns the counts of runtime/engine/onednn/onednn_choose.c, of which struct contraction_prices has the units."""
    kib = (1 if case.constant else case.batch) * case.inner * case.columns * 4 / 1024
    products = case.batch * case.rows * case.inner * case.columns / 1e3
    ragged = products if case.columns % 16 else 0
    windows = products / case.channels if case.channels < case.inner else 0
    return [1, case.batch, products, ragged, windows, *((0, kib) if kib * 1024 > far_bytes else (kib, 0))]


def non_negative(a, b):
    """Returns the x without negative elements for which |a x - b| is least, by descent along one coordinate after the other."""
    square, towards, x = a.T @ a, a.T @ b, numpy.zeros(a.shape[1])
    for _ in range(5000):
        for i in numpy.flatnonzero(square.diagonal()):
            x[i] = max(0, x[i] + (towards[i] - square[i] @ x) / square[i, i])
    return x


def fit(measured, far_bytes, show):
    """Returns the prices of each way in nanoseconds, and what to say of the errors that remain."""
    prices, remarks = {}, []
    for way in WAYS:
        timed = measured["library" if way == "library" else "generated"]
        taken = [c for c in cases() if c is not EMPTY and (way == "library" or c.constant == (way == "packed"))]
        counts = numpy.array([features(c, far_bytes) for c in taken], float)
        wanted = numpy.array([max(timed[c.name] - timed[EMPTY.name], 0.05) * 1e3 for c in taken])
        prices[way] = non_negative(counts / wanted[:, None], numpy.ones(len(taken)))
        errors = counts @ prices[way] / wanted - 1
        for c, e, w in zip(taken, errors, wanted):
            if show:
                print(f"{way:9} {c.name:32} {w / 1e3:10.1f} us {100 * e:+6.0f} %")
        remarks.append(f"{way} {100 * statistics.median(abs(errors)):.0f} % ({100 * numpy.quantile(abs(errors), 0.9):.0f} %)")
    return prices, ", ".join(remarks)


def table(kind, prices, remarks, name):
    """Returns the text of the prices of a kind of machine."""
    lines = [f"#define {kind}_PRICES"]
    for way in WAYS:
        members = ", ".join(f".{n} = {p:.3g}" for n, p in zip(FEATURES, prices[way]) if p > 0)
        lines.append(f"    .{way} = {{{members}}}" + ("," if way != WAYS[-1] else ""))
    text = " \\\n".join(line.ljust(126) for line in lines[:-1]) + " \\\n" + lines[-1]
    return f"/* {kind}: {name}.\n * Errors, and what a tenth exceeds: {remarks}. */\n{text}\n"


def write(path, kind, text):
    """Puts the text in the place of that kind's prices."""
    with open(path) as file:
        before = file.read()
    after, count = re.subn(rf"/\* {kind}:(?:(?!\*/)[\s\S])*\*/\n#define {kind}_PRICES(?:.*\\\n)*.*\n", lambda _: text, before)
    if count != 1:
        raise SystemExit(f"{path} has {count} definitions of {kind}_PRICES with a comment before")
    with open(path, "w") as file:
        file.write(after)


def regret(measured, prices, far_bytes, worth):
    """Prints what the choices by these prices take, and the library alone and generated kernels alone, against the best ones."""
    chosen, ratios = [], {"chosen": [], "library": [], "generated": []}
    for c in cases():
        if c is EMPTY:
            continue
        x = numpy.array(features(c, far_bytes))
        library, generated = x @ prices["library"], x @ prices["packed" if c.constant else "unpacked"]
        way = "library" if library * worth <= generated else "generated"
        times = {w: measured[w][c.name] for w in ("library", "generated")}
        best = min(times.values())
        ratios["chosen"].append(times[way] / best)
        for w, t in times.items():
            ratios[w].append(t / best)
        if times[way] > 1.02 * best:
            print(f"  {c.name}: {way} takes {times[way] / best:.2f} of the best")
    for way, of in ratios.items():
        print(f"{way}: {numpy.exp(numpy.mean(numpy.log(of))):.3f} of the best, the worst {max(of):.2f}")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bench")
    p.add_argument("--turns", type=int, default=4)
    p.add_argument("--seconds", type=float, default=0.05, help="for each case in a turn")
    p.add_argument("--far", type=float, default=l2_bytes(),
                   help="weights of more bytes come from beyond the L2 cache (cache.l2_between_calls of its bytes; default: all)")
    p.add_argument("--worth", type=float, default=1, help="share of the library's time that a kernel may take")
    p.add_argument("--write", nargs=2, metavar=("TABLE", "KIND"))
    p.add_argument("--show", action="store_true", help="print every case")
    p.add_argument("--save", help="keep the measurements in this file")
    p.add_argument("--load", help="take measurements from this file")
    o = p.parse_args()
    if o.load:
        with open(o.load) as file:
            measured = json.load(file)
    else:
        measured = measure(o.bench, list(cases()), o.turns, o.seconds)
    if o.save:
        with open(o.save, "w") as file:
            json.dump(measured, file)
    prices, remarks = fit(measured, o.far, o.show)
    text = table(o.write[1] if o.write else "THIS", prices, remarks, measured["processor"])
    print(text, end="")
    regret(measured, prices, o.far, o.worth)
    if o.write:
        write(o.write[0], o.write[1], text)


if __name__ == "__main__":
    main()
