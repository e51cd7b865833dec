#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Fits the prices by which the library, generated kernels and Winograd are compared (struct contraction_prices and
winograd_prices) to measured contractions.

    fit_cost.py --bench build/release/bin/webnn-bench [--turns N] [--seconds S] [--save FILE] [--write ir/target/prices.h KIND]
    fit_cost.py --load FILE [--show] [--write ir/target/prices.h KIND]

Every case is a matmul or a convolution, or a chain of such with weights of their own, since in networks weights do not stay in L2
and activations come from the operator before.  It is timed with the library and by generated kernels in turns, on one thread; some
3x3 convolutions by Winograd, too, with the macro-tiles that their kernels have.  The time of a way is a sum of features times prices,
none of which is negative: the least squares of relative errors.  Prints the prices with the errors that remain, and what choosing by
them loses against the best choices.  --write puts them into the table as the prices of KIND of machine, FULL_RATE, HALF_RATE or
AVX2; which one the machine is, ir/target/target.c says.  Needs NumPy.
"""
import argparse
import json
import re
import statistics
import subprocess
import tempfile
import textwrap
import typing

import numpy

CHAINS, PADDED_ROWS, REUSED_SHARE, SCRATCH_SHARE = 8, 4, 0.5, 0.8  # ir/target/target.c: the last row of padded_rows, shares
CHAIN_BYTES, CHAIN_LINKS = 4 << 20, 12  # weights of a chain, which leave L2 from run to run, and operators at most
LANES = 8  # of the machine's vectors
FEATURES = ["call", "matrix", "product", "ragged", "window", "near", "far"]
WAYS = ("library", "packed", "unpacked", "winograd", "tile")
WINOGRAD = ["macro_tile", "product", "read", "input", "output", "memory", "near", "far"]
TILE = ["work", "step", "split_near", "split_far", "apart"]
NAMES = {"winograd": WINOGRAD, "tile": TILE}  # FEATURES of the other ways
RESULTS = {16: (2, 2), 24: (2, 4), 36: (4, 4)}  # of Winograd's tiles, by their points


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
    links: int = 1  # operators in a chain, of which every other one has inner and columns exchanged


def chain(name, case, operator, shape):
    """Returns a chain of such operators with weights of their own: odd ones add a residual, even ones have relu."""
    inner, columns, window = case.channels, case.columns, case.inner // case.channels
    links = min(CHAIN_LINKS, max(2, CHAIN_BYTES // (4 * case.inner * columns) // 2 * 2))
    consts = nodes = ""
    for i in range(links):
        few, many = (columns, inner) if i % 2 else (inner, columns)
        consts += f'w{i}: f32[{shape(few, many)}] @weights("{few * window}"); b{i}: f32[{many}] @weights("100"); '
        last = f"add(c{i}, {f'y{i - 2}' if i > 1 else 'x'})" if i % 2 else f"relu(c{i})"
        nodes += f"{operator(i, f'y{i - 1}' if i else 'x')}; y{i} = {last}; "
    return case._replace(name=f"{name}-chain", links=links, text=f"{case.text.split('}')[0]}}} consts {{ {consts}}} "
                         f"nodes {{ {nodes}}} outputs {{ y{links - 1}; }}")


def matmuls(rows, inner, columns):
    case = matmul(rows, inner, columns)
    return chain(case.name, case, lambda i, x: f"m{i} = matmul({x}, w{i}); c{i} = add(m{i}, b{i})", lambda few, many: f"{few}, {many}")


def convolutions(size, inputs, outputs, window=1):
    case, pad = convolution(size, inputs, outputs, window), window // 2
    return chain(case.name, case, lambda i, x: f'c{i} = conv2d({x}, w{i}, bias=b{i}, padding=[{pad}, {pad}, {pad}, {pad}], '
                 'inputLayout="nhwc")', lambda few, many: f"{many}, {few}, {window}, {window}")


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


class Image(typing.NamedTuple):
    """A 3x3 convolution that Winograd computes, or several, whose weights come from memory and take longest."""
    name: str
    size: int
    inputs: int
    outputs: int
    copies: int
    text: str


def image(size, inputs, outputs, copies=1):
    consts, nodes = "", ""
    for i in range(copies):
        consts += (f'w{i}: f32[{outputs}, {inputs}, 3, 3] @weights("{inputs * 9}"); b{i}: f32[{outputs}] @weights("100"); ')
        nodes += (f'c{i} = conv2d({f"y{i - 1}" if i else "x"}, w{i}, bias=b{i}, padding=[1, 1, 1, 1], inputLayout="nhwc"); '
                  f"y{i} = relu(c{i}); ")
    return Image(f"image-{size}-{inputs}-{outputs}-{copies}", size, inputs, outputs, copies,
                 f"inputs {{ x: f32[1, {size}, {size}, {inputs}]; }} consts {{ {consts}}} nodes {{ {nodes}}} "
                 f"outputs {{ y{copies - 1}; }}")


EMPTY = Case("empty", 0, 1, 0, 0, 0, True, "inputs { x: f32[1]; } nodes { y = relu(x); } outputs { y; }")


def cases():
    yield EMPTY
    for inner, columns in ((64, 64), (128, 512), (256, 256), (512, 512), (384, 1536), (768, 768), (768, 3072), (3072, 768),
                           (1024, 1000), (2048, 512)):
        for rows in (1, 2, 4, 8, 16, 50, 128):
            if rows * inner * columns < 1.5e8:  # longer runs measure what else the machine does
                yield matmuls(rows, inner, columns)
    for rows in (384, 1500):
        yield matmuls(rows, 384, 1536)
        yield matmuls(rows, 384, 384)
    for rows, inner, columns in ((1, 64, 64), (1, 256, 256), (1, 1024, 1024), (4, 256, 256), (16, 64, 128), (16, 512, 512),
                                 (64, 64, 64), (128, 64, 128), (128, 128, 64), (128, 768, 768), (384, 64, 384), (384, 384, 64)):
        yield matmul(rows, inner, columns, 1, False)
    for batch, rows, inner, columns in ((12, 128, 64, 128), (12, 128, 128, 64), (16, 1, 64, 64), (8, 16, 32, 64), (16, 50, 32, 50)):
        yield matmul(rows, inner, columns, batch, False)
    for size, few, many in ((56, 64, 256), (28, 128, 512), (14, 256, 1024), (7, 512, 2048), (112, 16, 96), (56, 24, 144),
                            (28, 32, 192), (14, 96, 576), (7, 160, 960), (7, 320, 1280)):
        yield convolutions(size, few, many)
    for size, channels in ((56, 64), (28, 128), (14, 256), (7, 512), (112, 32), (32, 32), (64, 16)):
        yield convolutions(size, channels, channels, 3)
    for size, inputs, outputs, window in ((224, 3, 64, 7), (224, 3, 32, 3), (56, 128, 128, 3), (28, 256, 256, 3), (14, 512, 512, 3),
                                          (56, 256, 512, 1), (28, 512, 1024, 1), (14, 1024, 2048, 1)):
        yield convolution(size, inputs, outputs, window, 2)


def images():
    for size, channels in ((56, 64), (28, 128), (112, 32), (112, 16), (32, 64), (32, 32), (64, 16), (64, 64), (28, 48), (28, 96),
                           (10, 64), (20, 64), (40, 64), (80, 16), (160, 16), (16, 128), (8, 128), (7, 128), (5, 128)):
        yield image(size, channels, channels)
    yield image(14, 256, 256)
    for size, few, many in ((56, 16, 64), (28, 32, 128), (64, 32, 64), (32, 64, 128), (14, 64, 256)):
        yield image(size, few, many)
        yield image(size, many, few)
    for channels, copies in ((256, 12), (512, 3)):
        yield image(4, channels, channels, copies)


def tiled():
    """Yields matmuls that are one register tile, too large for sums to take turns, some with panels of several, and with an A that
    lies apart along the sum."""
    for rows, vectors in ((5, 1), (6, 1), (7, 1), (8, 1), (3, 2), (4, 2), (5, 2), (6, 2), (2, 3), (3, 3), (4, 3), (2, 4)):
        yield matmul(rows, 1024, vectors * LANES)
    for inner, vectors in ((256, 5), (256, 7), (2048, 5), (2048, 7)):
        yield matmul(96, inner, vectors * LANES)
    for rows, inner, columns in ((49, 512, 512), (196, 512, 256), (784, 256, 128), (784, 512, 256), (3136, 256, 64)):
        apart = matmul(rows, inner, columns)
        yield apart._replace(name=apart.name + "-apart", text=apart.text.replace(f"[{rows}, {inner}]", f"[{inner}, {rows}]")
                             .replace("matmul(x, w)", "gemm(x, w, aTranspose=true)"))


def processor():
    """Returns the processor's name and, since clouds call many the same, its family and model."""
    with open("/proc/cpuinfo") as file:
        facts = dict(re.findall(r"^([^\t:]+)\t*: (.*)$", file.read(), re.M))
    return f"{facts['model name']}, family {facts['cpu family']}, model {facts['model']}"


def l2_bytes():
    with open("/sys/devices/system/cpu/cpu0/cache/index2/size") as file:
        return int(file.read().strip().rstrip("K")) * 1024


def vector_lanes():
    with open("/proc/cpuinfo") as file:
        return 16 if "avx512f" in file.read() else 8


def run(bench, all_cases, seconds, debug):
    """Returns the best microseconds of each case, and what is printed about kernels."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
        file.write("".join(f"operator {c.name}: {c.text}\n" for c in all_cases))
        file.flush()
        out = subprocess.run([bench, "--file", file.name, "--level", "operator", "--threads", "1", "--no-peaks", "--json",
                              "--seconds", str(seconds), "--debug", debug], check=True, capture_output=True, text=True)
    return {case["name"]: case["min_ms"] * 1e3 for case in json.loads(out.stdout)["cases"]}, out.stderr


def cut(image, kernels):
    """Returns what Winograd's kernel says: the number of macro-tiles, their tiles along height and width, and a tile's points."""
    kernel = kernels[kernels.index("kernel winograd"):]
    *count, height, width = [int(re.search(f"parallel p{i} < (\\d+)", kernel)[1]) for i in range(5)]
    for points, results in RESULTS.items():
        tiles = [-(-image.size // r) for r in results]
        if (f"float32[{points * image.inputs * image.outputs}]" in kernel.split("stage 0")[0] and
                [-(-t // n) for t, n in zip(tiles, count[1:])] == [height, width]):
            return [int(numpy.prod(count)), height, width, points]
    raise SystemExit(f"{image.name} has macro-tiles of {height} x {width} tiles of an unknown kind")


def measure(bench, turns, seconds):
    """Returns the best microseconds of each case, by the library, by generated kernels and by Winograd."""
    times = {"library": {}, "generated": {}, "winograd": {}, "tile": {}, "cut": {}, "processor": processor()}
    for turn in range(turns):
        ways = [("library", "prefer-library"), ("generated", "no-library")]
        for way, debug in ways if turn % 2 == 0 else ways[::-1]:
            for part in (list(cases()), *([c] for c in images())):
                for name, best in run(bench, part, seconds, debug + ",skip=winograd")[0].items():
                    times[way][name] = min(best, times[way].get(name, 1e9))
        for c in images():
            found, kernels = run(bench, [c], seconds, "no-library,prefer-winograd,dump-kernels")
            times["winograd"][c.name] = min(found[c.name], times["winograd"].get(c.name, 1e9))
            times["cut"][c.name] = cut(c, kernels)
        for c in tiled():
            found, steps = run(bench, [c], seconds, "no-library,dump-program")
            times["tile"][c.name] = min(found[c.name], times["tile"].get(c.name, 1e9))
            times["cut"][c.name] = [int(n) for n in re.search(r"tiles of (\d+) rows x (\d+) vectors", steps).groups()]
    return times


def features(case, far_bytes):
    """Returns the counts of runtime/engine/onednn/onednn_choose.c, of which struct contraction_prices has the units."""
    kib = (1 if case.constant else case.batch) * case.inner * case.columns * 4 / 1024
    products = case.batch * case.rows * case.inner * case.columns / 1e3
    window = case.inner // case.channels
    ends = [(case.channels, case.columns), (case.columns, case.channels)][:case.links]
    ragged = products * sum(columns % 16 > 0 for _, columns in ends) / len(ends)
    windows = products * sum(1 / channels for channels, _ in ends) / len(ends) if window > 1 else 0
    return [case.links * n for n in (1, case.batch, products, ragged, windows, *((0, kib) if kib * 1024 > far_bytes else (kib, 0)))]


def winograd_features(c, cut, l2):
    """Returns the counts of passes/cluster/winograd.c, of which struct winograd_prices has the units."""
    count, height, width, points = cut
    inputs, outputs = (-(-n // LANES) * LANES for n in (c.inputs, c.outputs))
    tiles, weights = height * width, points * c.inputs * outputs
    read = (RESULTS[points][0] * height + 2) * (RESULTS[points][1] * width + 2)
    again = (count - 1) * weights / 256
    scratch = 4 * points * tiles * (c.inputs + c.outputs)
    spilled, near = max(0, scratch - SCRATCH_SHARE * l2) / 1024, 4 * weights + scratch < REUSED_SHARE * l2
    return c.copies * numpy.array([count, count * -(-tiles // PADDED_ROWS) * PADDED_ROWS * weights / 1e3,
                                   count * read * inputs / 1e3, count * tiles * points * inputs / 1e3,
                                   count * tiles * points * outputs / 1e3, 1.4 * count * spilled,
                                   *((again, 0) if near else (0, again))])


def tile_features(c, cut):
    """Returns the counts of ir/schedule/schedule_mr_nr.c, of which struct tile_prices has the units."""
    rows, vectors = cut
    strips = [vectors] * (c.columns // LANES // vectors) + [c.columns // LANES % vectors][:c.columns // LANES % vectors]
    apart = c.name.endswith("apart") * rows * sum(strips)
    split = rows * sum(strips) if len(strips) > 1 and not apart else 0
    return c.inner * c.rows / rows * numpy.array([sum(max(rows * v, rows + v, CHAINS) for v in strips), len(strips),
                                                  *((split, 0) if c.inner <= 512 else (0, split)), apart])


def non_negative(a, b):
    """Returns the x without negative elements for which |a x - b| is least, by descent along one coordinate after the other."""
    square, towards, x = a.T @ a, a.T @ b, numpy.zeros(a.shape[1])
    for _ in range(5000):
        for i in numpy.flatnonzero(square.diagonal()):
            x[i] = max(0, x[i] + (towards[i] - square[i] @ x) / square[i, i])
    return x


def fit(measured, far_bytes, l2, show):
    """Returns the prices of each way in nanoseconds, and what to say of the errors that remain."""
    prices, remarks = {}, []
    for way in WAYS:
        timed = measured[way if way in measured else "generated"]
        if way == "winograd":
            taken = [c for c in images() if c.copies == 1]
            counts = numpy.array([winograd_features(c, measured["cut"][c.name], l2) for c in taken], float)
        elif way == "tile":
            taken = list(tiled())
            counts = numpy.array([tile_features(c, measured["cut"][c.name]) for c in taken], float)
        else:
            taken = [c for c in cases() if c is not EMPTY and (way == "library" or c.constant == (way == "packed"))]
            counts = numpy.array([features(c, far_bytes) for c in taken], float)
        empty = timed.get(EMPTY.name, measured["generated"][EMPTY.name])
        wanted = numpy.array([max(timed[c.name] - empty, 0.05) * 1e3 for c in taken])
        prices[way] = non_negative(counts / wanted[:, None], numpy.ones(len(taken)))
        errors = counts @ prices[way] / wanted - 1
        if way == "winograd":
            prices[way][WINOGRAD.index("memory")] = min(
                timed[c.name] * 1e3 / (c.copies * measured["cut"][c.name][3] * c.inputs * c.outputs / 256)
                for c in images() if c.copies > 1)
        for c, e, w in zip(taken, errors, wanted):
            if show:
                print(f"{way:9} {c.name:32} {w / 1e3:10.1f} us {100 * e:+6.0f} %")
        remarks.append(f"{way} {100 * statistics.median(abs(errors)):.0f} % ({100 * numpy.quantile(abs(errors), 0.9):.0f} %)")
    return prices, ", ".join(remarks)


def table(kind, prices, remarks, name):
    """Returns the text of the prices of a kind of machine."""
    lines = [f"#define {kind}_PRICES"]
    for way in WAYS:
        members = ", ".join(f".{n} = {p:.3g}" for n, p in zip(NAMES.get(way, FEATURES), prices[way]) if p > 0)
        lines.append(f"    .{way} = {{{members}}}" + ("," if way != WAYS[-1] else ""))
    text = " \\\n".join(line.ljust(126) for line in lines[:-1]) + " \\\n" + lines[-1]
    comment = textwrap.fill(f"Errors, and what a tenth exceeds: {remarks}. */", 128, initial_indent=" * ", subsequent_indent=" * ",
                            break_long_words=False)
    return f"/* {kind}: {name}.\n{comment}\n{text}\n"


def write(path, kind, text):
    """Puts the text in the place of that kind's prices."""
    with open(path) as file:
        before = file.read()
    after, count = re.subn(rf"/\* {kind}:(?:(?!\*/)[\s\S])*\*/\n#define {kind}_PRICES(?:.*\\\n)*.*\n", lambda _: text, before)
    if count != 1:
        raise SystemExit(f"{path} has {count} definitions of {kind}_PRICES with a comment before")
    with open(path, "w") as file:
        file.write(after)


def regret(measured, prices, far_bytes, l2, worth):
    """Prints what the choices by these prices take, and the library alone and generated kernels alone, against the best ones."""
    ratios = {"chosen": [], "library": [], "generated": []}
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
    packed, of_tiles = dict(zip(FEATURES, prices["packed"])), dict(zip(WINOGRAD, prices["winograd"]))
    for c in images():
        weights = 9 * c.inputs * c.outputs
        direct = c.copies * c.size ** 2 * weights / 1e3 * (packed["product"] + packed["window"] / c.inputs)
        transformed = max(winograd_features(c, measured["cut"][c.name], l2) @ prices["winograd"],
                          (c.copies > 1) * c.copies * weights / 9 * measured["cut"][c.name][3] / 256 * of_tiles["memory"])
        way = "winograd" if transformed < direct else "generated"
        loss = measured[way][c.name] / min(measured[w][c.name] for w in ("winograd", "generated"))
        if loss > 1.02:
            print(f"  {c.name}: {way} takes {loss:.2f} of the best")
    for way, of in ratios.items():
        print(f"{way}: {numpy.exp(numpy.mean(numpy.log(of))):.3f} of the best, the worst {max(of):.2f}")


def main():
    global LANES
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--bench")
    p.add_argument("--turns", type=int, default=4)
    p.add_argument("--seconds", type=float, default=0.05, help="for each case in a turn")
    p.add_argument("--far", type=float, default=l2_bytes(),
                   help="weights of more bytes come from beyond the L2 cache (cache.l2_between_calls of its bytes; default: all)")
    p.add_argument("--lanes", type=int, default=vector_lanes(), help="numbers in a vector of generated code (default: this machine's)")
    p.add_argument("--worth", type=float, default=1, help="share of the library's time that a kernel may take")
    p.add_argument("--write", nargs=2, metavar=("TABLE", "KIND"))
    p.add_argument("--show", action="store_true", help="print every case")
    p.add_argument("--save", help="keep the measurements in this file")
    p.add_argument("--load", help="take measurements from this file")
    o = p.parse_args()
    LANES = o.lanes
    if o.load:
        with open(o.load) as file:
            measured = json.load(file)
    else:
        measured = measure(o.bench, o.turns, o.seconds)
    if o.save:
        with open(o.save, "w") as file:
            json.dump(measured, file)
    prices, remarks = fit(measured, o.far, l2_bytes(), o.show)
    text = table(o.write[1] if o.write else "THIS", prices, remarks, measured["processor"])
    print(text, end="")
    regret(measured, prices, o.far, l2_bytes(), o.worth)
    if o.write:
        write(o.write[0], o.write[1], text)


if __name__ == "__main__":
    main()
