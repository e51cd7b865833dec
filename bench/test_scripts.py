#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests what busy.py, compare.py, fit_cost.py, precision.py, operators.py, language_models.py and gpu_check.py compute from
measurements: limits, ratios, prices, tables, the chart, reports.  Tests under which Python they run."""
import argparse
import contextlib
import io
import os
import pathlib
import stat
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import busy
import compare
try:
    import fit_cost
except ModuleNotFoundError:  # NumPy
    fit_cost = None
import gpu_cases
import gpu_check
import gpu_reference
import interpreter
import language_models
import operators
import peers
import precision

PEAKS = {"gflops": 200, "bfloat16_gflops": 100, "int8_gops": 800, "processor": "P", "version": "1",
         "bandwidth": [{"mib": 1, "copy_gbs": 80, "read_gbs": 140}, {"mib": 512, "copy_gbs": 20, "read_gbs": 10}]}


def step(**what):
    return {"distinct_bytes": 0, "bytes": 0, "weight_bytes": 0, "arithmetic": "float32", "operations": 0, **what}


@unittest.skipUnless(fit_cost, "there is no NumPy")
class Prices(unittest.TestCase):
    PRICES = {"library": [500, 100, 23, 0, 3, 5, 11], "packed": [0, 0, 19, 6, 45, 3, 7], "unpacked": [20, 0, 21, 7, 0, 4, 16],
              "winograd": [500, 20, 400, 0, 100, 50, 0, 10], "tile": [0.2, 0.1, 0.01, 0.03, 0.02]}

    def measured(self):
        def of(case, way):
            return 0.1 + sum(n * p for n, p in zip(fit_cost.features(case, 1 << 19), self.PRICES[way])) / 1e3
        rest = [c for c in fit_cost.cases() if c is not fit_cost.EMPTY]
        cut = {**{c.name: [4, 4, 7, 36] if c.size % 3 else [1, c.size % 5 + 2, 3, 16] for c in fit_cost.images()},
               **{c.name: [min(c.rows, 6), min(c.columns // 8, 2)] for c in fit_cost.tiled()}}
        image = {c.name: fit_cost.winograd_features(c, cut[c.name], 1 << 19) @ self.PRICES["winograd"] / 1e3 + 0.1
                 for c in fit_cost.images()}
        for c in fit_cost.images():
            if c.copies > 1:
                image[c.name] = c.copies * c.inputs * c.outputs * cut[c.name][3] / 256 * 50 / 1e3
        tile = {c.name: fit_cost.tile_features(c, cut[c.name]) @ self.PRICES["tile"] / 1e3 + 0.1 for c in fit_cost.tiled()}
        return {"winograd": image, "tile": tile, "cut": cut, "library": {"empty": 0.1, **{c.name: of(c, "library") for c in rest}}, "processor": "P",
                "generated": {"empty": 0.1, **{c.name: of(c, "packed" if c.constant else "unpacked") for c in rest}}}

    def test_prices_are_found(self):
        prices, remarks = fit_cost.fit(self.measured(), 1 << 19, 1 << 19, False)
        for way in ("library", "packed", "winograd", "tile"):
            for found, price in zip(prices[way], self.PRICES[way]):
                self.assertAlmostEqual(found, price, delta=0.01 + 0.02 * price)
        self.assertEqual(remarks.count(" 0 %"), 5)

    def test_the_table_is_written(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "prices.h")
            table = pathlib.Path(fit_cost.__file__).parent.parent / "ir/target/prices.h"
            pathlib.Path(path).write_text(table.read_text())
            text = fit_cost.table("AVX2", self.PRICES, "library 1 %", "P")
            fit_cost.write(path, "AVX2", text)
            fit_cost.write(path, "AVX2", text)  # of two lines
            after = pathlib.Path(path).read_text()
            self.assertEqual(after.count(text), 1)
            self.assertEqual(after.count("_PRICES"), table.read_text().count("_PRICES"))
            self.assertTrue(all(len(line) <= 128 for line in after.splitlines()))


class Limits(unittest.TestCase):
    def limit(self, ms, bound, touched=0, **what):
        found = compare.limit_of(step(**what), PEAKS, touched)
        self.assertAlmostEqual(found[0], ms)
        self.assertEqual(found[1], bound)

    def test_each_arithmetic_has_its_own_peak(self):
        self.limit(1, "float32", operations=200e6)
        self.limit(1, "int8", operations=800e6, arithmetic="int8")
        self.limit(1, "bfloat16", operations=100e6, arithmetic="bfloat16")

    def test_bytes_come_from_where_they_fit(self):
        self.limit(0.01, "memory", bytes=0.8e6, distinct_bytes=0.8e6)
        self.limit(20, "memory", bytes=400e6, distinct_bytes=400e6)
        self.limit(0.05, "memory", bytes=1e6, distinct_bytes=1e6, weight_bytes=1e6, touched=500e6)
        self.limit(1e6 / 140e6 + 99e6 / 140e6, "memory", bytes=100e6, distinct_bytes=1e6, weight_bytes=1e6, touched=1e6)

    def test_shares_are_of_the_shortest_calls(self):
        steps = [step(operations=100e6, least_ms=1, ms=3)]
        compare.add_limits(steps, PEAKS)
        self.assertAlmostEqual(steps[0]["share_of_limit"], 0.5)

    def test_bfloat16_steps_are_held_against_their_peak(self):
        steps = [step(operations=50e6, arithmetic="bfloat16", least_ms=1), step(operations=9e9, least_ms=1)]
        self.assertAlmostEqual(precision.share_of_peak(steps, 100), 0.5)
        self.assertIsNone(precision.share_of_peak(steps[1:], 100))
        self.assertIsNone(precision.share_of_peak(steps, 0))


class OnAGpu(unittest.TestCase):
    CASE = '{"level": "operator", "name": "gemm-f32", "build_ms": 20, "first_ms": 5, "median_ms": 2, "min_ms": 1, "gflops": 500, "gbs": 9}'

    def test_cases_are_read_although_the_program_was_ended(self):
        text = '{"version": "0", "cases": [\n  ' + self.CASE + ',\n  {"level": "operator", "name": "gemm-f16", "build'
        self.assertEqual(list(gpu_check.read_cases(text)), ["gemm-f32"])
        self.assertEqual(gpu_check.read_cases("Segmentation fault"), {})

    def test_the_longest_steps_come_first(self):
        text = '{"name": "n", "steps": [{"name": "a", "least_ms": 2}, {"name": "b", "least_ms": 1, "calls": 4}]}\nn  an error'
        self.assertEqual([s["name"] for s in gpu_check.read_steps(text)["n"]], ["b", "a"])

    def test_tests_pass_fail_are_skipped_or_ended(self):
        text = "[  PASSED  ] 2 test(s).\n[  FAILED  ] 1 test(s), listed below:\n"
        found = gpu_check.read_tests(text, 1)
        self.assertEqual([found[key] for key in ("state", "passed", "failed")], ["failed", 2, 1])
        self.assertEqual(gpu_check.read_tests("Aborted", 134)["failed"], 1)
        self.assertEqual([gpu_check.read_tests("", code)["state"] for code in (0, 77, None)], ["passed", "skipped", "ended"])
        cases = gpu_check.read_tests("abs: 4 of 5 cases passed (engine)\nsteps: 3 on a device of OpenCL's, 2 on the processor", 1)
        self.assertEqual([cases[key] for key in ("passed", "failed", "steps", "elsewhere")], [4, 1, 3, 2])

    def test_the_last_object_counts_and_anything_else_is_an_error(self):
        self.assertEqual(gpu_check.read_object('warning\n{"a": 1}\n'), {"a": 1})
        self.assertEqual(gpu_check.read_object("no GPU"), {"error": "no GPU"})
        self.assertIn("error", gpu_check.read_object('{"a": '))

    def test_a_report_compares_with_copies_cublas_and_the_first_build(self):
        gemm = gpu_check.read_cases(self.CASE)["gemm-f32"]
        found = {"opencl": {"copy_gbs": 100}, "cublas": {"gflops": {"float32 default": 1000}},
                 "kernels": {"gemm-f32": gemm, "relu": {**gemm, "gbs": 75}, "chain": {"error": "ended after 40 s"}},
                 "networks": {"resnet50": gemm}, "warm": {"resnet50": {**gemm, "build_ms": 1}}, "tune": {"kept": "kept: x", "seconds": 9, "tail": []},
                 "tuned": {"resnet50": {**gemm, "median_ms": 1}}, "left_out": ["torch"], "times": {"speed": 3}}
        text = "\n".join(gpu_check.report(found))
        for part in ("relu: 2 ms, 75 GB/s, 75% of a copy", "chain: ended after 40 s", "1 TFLOP/s; the engine has 50% of it",
                     "resnet50: 2 ms (best 1), built in 25 ms with the first run, with programs kept 6 ms",
                     "resnet50: 2 ms before, 1 ms tuned", "speed 3 s; left out: torch"):
            self.assertIn(part, text)
        self.assertEqual(gpu_check.report({})[0], "webnn on a GPU: ")

    def test_failures_and_hangs_make_the_run_fail(self):
        passed, failed, ended = ({"state": s, "failed": n} for s, n in (("passed", 0), ("failed", 1), ("ended", 0)))
        self.assertEqual(gpu_check.status_of({"tests": {"a": passed}}), 0)
        self.assertEqual(gpu_check.status_of({"tests": {"a": passed, "b": ended}}), 2)
        self.assertEqual(gpu_check.status_of({"conformance": {"failed": 0, "bad": {"abs": ended}}}), 2)
        self.assertEqual(gpu_check.status_of({"tests": {"a": passed, "b": ended}, "random": failed}), 1)
        self.assertEqual(gpu_check.status_of({"tests": {"a": passed}, "errors": {"speed": "KeyError"}}), 1)
        self.assertEqual(gpu_check.status_of({"engine": {"devices": []}}), 1)

    def test_a_command_ends_at_the_limit_of_the_whole(self):
        with tempfile.TemporaryDirectory() as folder:
            m = gpu_check.Machine(argparse.Namespace(seconds=1.5, work=folder, libs=None, data=None, bin=folder))
            self.assertEqual(m.run(["/bin/echo", "word"], 9)["out"], "word\n")
            out = m.run(["/bin/sh", "-c", "echo begun; sleep 60 & wait"], 9)
            self.assertEqual([out["rc"], out["out"]], [None, "begun\n"])
            self.assertLess(out["seconds"], 30)
            self.assertTrue(m.run(["/bin/echo"], 9)["left_out"])

    def test_the_language_model_has_a_line_for_each_of_its_parts(self):
        found = gpu_cases.cases(gpu_cases.SMALL)
        self.assertEqual(found["token"].count("softmax("), gpu_cases.SMALL["layers"])
        self.assertIn("k1: f32[2, 63, 32];", found["token"])
        self.assertNotIn("k0", found["prompt"])

    def test_numbers_repeat_up_to_the_size(self):
        data = gpu_reference.bytes_of(gpu_reference.FLOAT16, 5000)
        self.assertEqual(len(data), 10000)
        self.assertEqual(data[:10], data[4093 * 2:4093 * 2 + 10])


class Figures(unittest.TestCase):
    def setUp(self):
        def row(group, name, threads, ratio):
            times = {"median_ms": 2.0, "min_ms": 1.0, "build_ms": 30.4, "warm_build_ms": 9.6, "rss_mib": 80}
            return {"group": group, "network": name, "threads": threads, "webnn": times, "engine": "onnxruntime 1.2",
                    "onnxruntime": {**times, "min_ms": ratio}, "ratio": ratio / 2, "ratio_of_bests": ratio}
        self.found = {"machine": [PEAKS], "commit": "abc", "networks": [
            row(g, n, t, r) for t in (1, 2) for g, n, r in (("bench", "resnet50", 1.5), ("models", "mnist-8", 4.0))]}

    def tsv(self, *what):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            compare.print_tsv(self.found, *what)
        return out.getvalue().splitlines()

    def test_the_table_has_both_groups(self):
        lines = self.tsv(True, None)
        self.assertIn("webnn 1 (abc) against ONNX Runtime 1.2", lines[0])
        self.assertTrue(lines[0].endswith("; P)"))
        self.assertEqual(len({line.count("\t") for line in lines[1:]}), 1)
        self.assertEqual([line.split("\t")[:2] for line in lines[2:]],
                         [["benchmark networks, random weights", "resnet50"], ["trained networks", "mnist-8 (digits)"]])
        self.assertTrue(lines[2].endswith("\t1.00\t1.50\t1.50\t1.00\t1.50\t1.50\t30\t10\t30\t80 / 80"))
        self.assertTrue(self.tsv(False, "a machine")[0].endswith("; a machine)"))

    def test_the_chart_has_both_groups(self):
        chart = compare.draw_chart(self.found, True)
        for text in (compare.GROUPS["bench"], compare.GROUPS["models"], "resnet50", "mnist-8", ">4.00<"):
            self.assertIn(text, chart)
        self.found["networks"] = self.found["networks"][::2]
        self.assertNotIn(compare.GROUPS["models"], compare.draw_chart(self.found, True))


class Operators(unittest.TestCase):
    def measure(self, webnn, ort):
        """What is found where the engines' turns take so many milliseconds; None: the engine fails."""
        def turns(times):
            def turn(a, network, threads):
                ms = times[network[1]].pop(0)
                if ms is None:
                    raise RuntimeError("no engine")
                return {"min": ms, "median": 2 * ms, "build": 10 / ms, "gflops": 1 / ms, "gbs": 1 / ms}
            return turn
        with mock.patch.object(compare, "time_webnn", turns(webnn)), mock.patch.object(compare, "time_ort", turns(ort)), \
                contextlib.redirect_stdout(io.StringIO()):
            return operators.measure(argparse.Namespace(threads=1, rounds=2), list(webnn)[1:])

    def test_the_best_turn_counts_without_the_call(self):
        found = self.measure({operators.CALL: [1, 1], "relu": [4, 2]}, {operators.CALL: [1, 3], "relu": [6, 5]})
        self.assertEqual(found["cases"][1]["webnn"], {"min": 2, "median": 4, "build": 5, "gflops": 0.5, "gbs": 0.5})
        self.assertAlmostEqual(found["cases"][1]["ratio"], 2)
        self.assertEqual(found["failed"], [])

    def test_without_the_call_there_are_no_ratios(self):
        found = self.measure({operators.CALL: [1, 1], "relu": [4, 2]}, {operators.CALL: [None], "relu": [6, 5]})
        self.assertEqual(found["cases"], [])
        self.assertEqual([f["case"] for f in found["failed"]], [operators.CALL])

    def test_what_fails_is_told(self):
        found = self.measure({operators.CALL: [1, 1], "relu": [None], "exp": [2, 2]}, {operators.CALL: [1, 1], "exp": [3, 3]})
        self.assertEqual([f["case"] for f in found["failed"]], ["relu"])
        self.assertAlmostEqual(found["cases"][1]["ratio"], 1)


class Groups(unittest.TestCase):
    def measured(self, group):
        """Returns which networks a run of a group measures where only some files are, and the scripts of ONNX Runtime's turns."""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("resnet50", "resnet50.qdq", "attention_1024"):
                open(os.path.join(folder, name + ".onnx"), "wb").close()
            a = argparse.Namespace(models=folder, cases=folder, networks=group, names=[], threads=[1], rounds=1, seconds=1, steps=0,
                                   bench="b", script="ort_bench.mjs", ort=None, peers=None, debug=None, built_in=False)
            webnn = {"median_ms": 1, "min_ms": 1, "read_ms": 1, "build_ms": 1, "rss_mb": 1, "gflops": 1, "gbs": 1}
            ort = {"median_ms": 2, "min_ms": 2, "load_ms": 1, "rss_mb": 1, "engine": "onnxruntime 1"}
            scripts = []

            def run_json(command, folder=None, kernels="off"):
                if command[0] == "node":
                    scripts.append(os.path.basename(command[1]))
                return ort if command[0] == "node" else {**webnn, "build_ms": 1 if kernels == "off" else 0.25}

            with mock.patch.object(compare, "run_json", run_json), mock.patch.object(compare, "measure_peaks"), \
                    mock.patch.object(compare, "print_machine"), contextlib.redirect_stdout(io.StringIO()), \
                    mock.patch.object(compare, "benchmark_networks", lambda a: [("bench", "resnet50")]):
                found = compare.measure(a)
        self.assertEqual(found["failed"], [])
        self.assertEqual({(r["webnn"]["build_ms"], r["webnn"]["warm_build_ms"]) for r in found["networks"]}, {(2, 1.25)})
        return [r["network"] for r in found["networks"]], scripts

    def test_files_that_exist_are_measured(self):
        self.assertEqual(self.measured("forms"), (["resnet50.qdq"], ["operators.mjs"]))
        self.assertEqual(self.measured("attention"), (["attention_1024"], ["operators.mjs"]))
        self.assertEqual(self.measured("bench"), (["resnet50"], ["ort_bench.mjs"]))
        self.assertEqual(self.measured("all")[0], ["resnet50", "resnet50.qdq", "attention_1024"])


class Peers(unittest.TestCase):
    PRINTED = {"benchncnn": "loop_count = 5\n   m.param  min =    2.50  max =    9.00  avg =    3.00",
               "MNNV2Basic.out": "Avg= 3.000000 ms, OpSum = 2.9 ms min= 2.500000 ms, max= 9.000000 ms",
               "benchmark_model": "count=1 curr=9 min=9 max=9 avg=9\ncount=50 first=3 curr=3 min=2500 max=9000 avg=3000.0 std=6",
               "llama-bench": 'note\n[{"n_prompt": 0, "samples_ns": [9000000, 2500000, 3000000]}]'}

    def test_times_are_read_of_what_programs_print(self):
        with tempfile.TemporaryDirectory() as folder:
            model = os.path.join(folder, "m")
            for program, text in self.PRINTED.items():
                path = os.path.join(folder, program)
                with open(path, "w", encoding="utf-8") as f:
                    f.write(f"#!/bin/sh\necho \"$*\" >>'{path}.arguments'\ncat <<'TEXT'\n{text}\nTEXT\n")
                os.chmod(path, 0o755)
            self.assertEqual((peers.present(folder, model), peers.has_llama(folder, model)), ([], False))
            for ending in (".param", ".mnn", ".tflite", ".gguf"):
                open(model + ending, "wb").close()
            self.assertEqual(peers.present(None, model), [])
            with mock.patch.object(peers, "ncnn_shape", lambda model: "[8,8,3]"):
                for name in peers.present(folder, model):
                    self.assertEqual(peers.time_peer(folder, name, model, 2, 0.1), {"median": 3, "min": 2.5}, name)
            for work in language_models.WORK.values():
                self.assertEqual(peers.time_llama(folder, model, 2, work, 0.1), {"median": 3, "min": 2.5})
            ran = {program: pathlib.Path(folder, program + ".arguments").read_text(encoding="utf-8") for program in self.PRINTED}
        self.assertIn(f"40 2 0 -1 0 param={model}.param shape=[8,8,3]\n", ran["benchncnn"])
        self.assertIn(f"{model}.mnn 40 0 0 2\n", ran["MNNV2Basic.out"])
        self.assertIn(f"--graph={model}.tflite --num_threads=2 --use_xnnpack=true --num_runs=40", ran["benchmark_model"])
        self.assertIn("-p 128 -n 0 -r 40", ran["llama-bench"])
        self.assertIn("-gp 255,1 -r 40", ran["llama-bench"])


class LanguageModels(unittest.TestCase):
    def test_arrays_are_npy_files(self):
        with tempfile.NamedTemporaryFile() as f:
            language_models.write_npy(f.name, [1, -2, 2**40])
            data = f.read()
        length = int.from_bytes(data[8:10], "little")
        self.assertEqual((data[:8], (10 + length) % 64), (b"\x93NUMPY\x01\x00", 0))
        self.assertIn(b"'descr': '<i8', 'fortran_order': False, 'shape': (1, 3)", data[10:10 + length])
        self.assertEqual([int.from_bytes(data[i:i + 8], "little", signed=True) for i in range(10 + length, len(data), 8)],
                         [1, -2, 2**40])

    def measure(self, others):
        """Returns what one round finds where every engine takes a millisecond more than the one before, and prints."""
        a = argparse.Namespace(ort=others, llama=others, peers=None, models="m", rounds=1)
        times = iter(range(1, 9))

        def turn(*_):
            ms = next(times)
            return {"median": 2 * ms, "min": ms, "rss": 10 * ms}
        with mock.patch.object(language_models, "turn_of_webnn", turn), mock.patch.object(language_models, "turn_of_ort", turn), \
                mock.patch.object(language_models, "turns_of_llama", lambda *_: {w: turn() for w in language_models.WORK}), \
                mock.patch.object(language_models, "weight_bytes_apart", lambda path: 10_000_000), \
                mock.patch.object(os.path, "exists", lambda path: True), contextlib.redirect_stdout(io.StringIO()) as out:
            rows = language_models.measure_network(a, "decoder_135m_q4", 1)
            language_models.print_table({"machine": [{**PEAKS, "threads": 1}], "commit": "abc", "rows": rows}, True)
        return out.getvalue().splitlines()

    def test_the_table_has_each_engine_and_the_share_of_the_limit(self):
        lines = self.measure("folder")
        self.assertIn("webnn 1 (abc) against ONNX Runtime and llama.cpp: best runs", lines[0])
        self.assertEqual(len({line.count("|") for line in lines[3:]}), 1)
        self.assertEqual(lines[5], "| decoder_135m_q4 | token | 1 | 1.00 | 2.00 | 3.00 | 7.00 | 1.00 | 100% | 50% | 10 / 30 / 70 |")
        self.assertEqual(lines[6], "| decoder_135m_q4 | prompt | 1 | 4.00 | 5.00 | 6.00 | 8.00 |  |  |  | 40 / 60 / 80 |")

    def test_without_peers_there_are_no_columns_of_theirs(self):
        lines = self.measure(None)
        self.assertIn("against no other engine", lines[0])
        self.assertTrue(lines[3].startswith("| network | work | threads | webnn | webnn int8 | limit by bytes |"))


class Busy(unittest.TestCase):
    def test_the_row_has_medians_and_ratios_alone_and_next_to_busy_processes(self):
        options = argparse.Namespace(threads=2, busy=1, rounds=3)
        times = iter([(9, 4), (3, 2), (9, 8), (9, 10), (9, 4), (4, 2), (9, 8), (9, 12), (9, 5), (5, 2), (9, 8), (9, 10)])
        spinning = []
        with mock.patch.object(busy, "measure", lambda *_: next(times)), \
                mock.patch.object(busy.multiprocessing, "Process") as process:
            process.side_effect = lambda **_: spinning.append(1) or mock.MagicMock()
            row = busy.row_of(options, "models/lenet/")
        self.assertEqual(row, "| lenet | 4 | 2 | 0.50 | 4 | 2.0 | 8 | 10 | 1.25 | 9 | 0.9 |")
        self.assertEqual(len(spinning), 3)  # one in each round, while both are measured


class Interpreters(unittest.TestCase):
    def run_script(self, package, environment):
        """Runs a script that needs a package, with a python3 on the PATH that says that it has it."""
        with tempfile.TemporaryDirectory() as folder:
            python = os.path.join(folder, "python3")
            with open(python, "w", encoding="utf-8") as f:
                f.write('#!/bin/sh\n[ "$1" = -c ] || echo "taken over: $2"\n')
            os.chmod(python, os.stat(python).st_mode | stat.S_IXUSR)
            script = os.path.join(folder, "script.py")
            with open(script, "w", encoding="utf-8") as f:
                f.write(f"import sys\nsys.path.insert(0, {os.path.dirname(interpreter.__file__)!r})\n"
                        f"import interpreter\ninterpreter.need({package!r})\nprint('ran on')\n")
            return subprocess.run([sys.executable, "-B", script, "option"], capture_output=True, text=True,
                                  env={"PATH": folder, **environment})

    def test_a_python_that_has_the_packages_goes_on(self):
        self.assertEqual(self.run_script("json", {}).stdout, "ran on\n")

    def test_another_python_takes_over(self):
        self.assertEqual(self.run_script("no_such_package", {}).stdout, "taken over: option\n")

    def test_none_is_an_error_that_says_what_is_missing(self):
        done = self.run_script("no_such_package", {interpreter.CHOSEN: "python3"})
        self.assertEqual(done.returncode, 1)
        self.assertIn("no_such_package", done.stderr)


if __name__ == "__main__":
    unittest.main()
