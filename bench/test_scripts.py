#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests what compare.py, precision.py and operators.py compute from measurements: limits, ratios, the table, the chart.  Tests
under which Python they run."""
import argparse
import contextlib
import io
import os
import stat
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import compare
import interpreter
import operators
import precision

PEAKS = {"gflops": 200, "bfloat16_gflops": 100, "int8_gops": 800, "gdivisions": 5, "processor": "P", "version": "1",
         "bandwidth": [{"mib": 1, "copy_gbs": 80, "read_gbs": 140}, {"mib": 512, "copy_gbs": 20, "read_gbs": 10}]}


def step(**what):
    return {"distinct_bytes": 0, "bytes": 0, "weight_bytes": 0, "arithmetic": "float32", "operations": 0, "divisions": 0,
            **what}


class Limits(unittest.TestCase):
    def limit(self, ms, bound, touched=0, **what):
        found = compare.limit_of(step(**what), PEAKS, touched)
        self.assertAlmostEqual(found[0], ms)
        self.assertEqual(found[1], bound)

    def test_each_arithmetic_has_its_own_peak(self):
        self.limit(1, "float32", operations=200e6)
        self.limit(1, "int8", operations=800e6, arithmetic="int8")
        self.limit(1, "bfloat16", operations=100e6, arithmetic="bfloat16")
        self.limit(1, "division", operations=100e6, divisions=5e6)

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


class Figures(unittest.TestCase):
    def setUp(self):
        def row(group, name, threads, ratio):
            times = {"median_ms": 2.0, "min_ms": 1.0, "build_ms": 30.4, "rss_mib": 80}
            return {"group": group, "network": name, "threads": threads, "webnn": times, "engine": "onnxruntime 1.2",
                    "onnxruntime": {**times, "min_ms": ratio}, "ratio": ratio / 2, "ratio_of_bests": ratio}
        self.found = {"machine": [PEAKS], "commit": "abc", "networks": [
            row(g, n, t, r) for t in (1, 2) for g, n, r in (("bench", "resnet50", 1.5), ("models", "mnist-8", 4.0))]}

    def markdown(self, *what):
        with contextlib.redirect_stdout(io.StringIO()) as out:
            compare.print_markdown(self.found, *what)
        return out.getvalue().splitlines()

    def test_the_table_has_both_groups(self):
        lines = self.markdown(True, None)
        self.assertIn("webnn 1 (abc) against ONNX Runtime 1.2", lines[0])
        self.assertTrue(lines[0].endswith("; P):"))
        self.assertEqual(len({line.count("|") for line in lines[2:]}), 1)
        self.assertEqual([line.split("|")[1].strip() for line in lines[4:]],
                         ["*benchmark networks, random weights*", "resnet50", "*trained networks*", "mnist-8 (digits)"])
        self.assertIn("| 1.00 | 1.50 | 1.50 | 1.00 | 1.50 | 1.50 | 30 / 30 | 80 / 80 |", lines[5])
        self.assertTrue(self.markdown(False, "a machine")[0].endswith("; a machine):"))

    def test_the_chart_has_both_groups(self):
        chart = compare.draw_chart(self.found, True)
        for text in (*compare.GROUPS.values(), "resnet50", "mnist-8", ">4.00<"):
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
