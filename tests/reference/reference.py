#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares the library with computations from the specification's text, on random options.  See README.md next to this file."""
import argparse
import os
import shlex
import signal
import sys
import time
import traceback
import zlib

sys.dont_write_bytecode = True    # no caches in the source tree

try:
    import numpy as np
except ImportError:
    print(f'skipped: {sys.executable} has no numpy')
    sys.exit(77)

import draw_chains    # noqa: F401
import draw_elements  # noqa: F401  (these modules fill the table of operators)
import draw_sums      # noqa: F401
import published
from cases import read_file
from drawing import FAMILIES, Draw
from engine import DOUBLES, MODES, Died, Engine
from registry import OPERATORS
from values import ARITHMETIC, is_float


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--program', default='build/release/bin/reference-run', help='the built reference-run')
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--rounds', type=int, default=1, help='cases of each operator')
    parser.add_argument('--first', type=int, default=0, help='the first round')
    parser.add_argument('--family', action='append', choices=sorted(FAMILIES), help='repeatable; default: all')
    parser.add_argument('--operator', choices=sorted(OPERATORS))
    parser.add_argument('--mode', action='append', choices=sorted(MODES), help='repeatable; default: all')
    parser.add_argument('--case', action='append', metavar='FILE', help='the cases of a file in place of random ones')
    parser.add_argument('--wpt', metavar='FOLDER', help='compare the reference itself with the published conformance data')
    parser.add_argument('--out', default='.', metavar='FOLDER', help='where files of failing cases go')
    parser.add_argument('--timeout', type=float, default=60, metavar='SECONDS', help='for one case')
    return parser.parse_args()


def describe(case):
    """The operators and operands of a case on a few lines."""
    operands = ', '.join(f'{n}: {t.type}{list(t.shape)}{" constant" if t.constant else ""}' for n, t in case.inputs.items())
    return '\n'.join(['  ' + operands] + [f'  {s["outputs"]} = {s["name"]} {s["arguments"]}' for s in case.operators])


def compare(expected, answer):
    """The error in an answer; an empty string if it is right."""
    if isinstance(answer, str):
        return answer
    for name, result in expected.items():
        wrong = result.wrong(answer[name])
        if wrong.any():
            place = tuple(int(i) for i in np.argwhere(wrong)[0])
            low, high, actual = (float(a[place]) if is_float(result.type) else int(a[place])
                                 for a in (result.low, result.high, answer[name]))
            wanted = f'{low!r}' if result.high is result.low else f'{low!r} to {high!r}'
            return f'{name}{list(place)} is {actual!r}, expected {wanted} ({int(wrong.sum())} of {wrong.size} are wrong)'
    return ''


class Run:
    """Cases, the engines they go to, and what came out."""

    def __init__(self, given):
        self.given = given
        self.engines = [Engine(given.program, mode, given.timeout) for mode in given.mode or MODES]
        self.cases = self.computed = self.failures = self.elements = self.free = self.round = 0

    def check(self, case, repeat, path):
        """Computes a case in all modes.  repeat: the arguments that repeat it; path: of the file for it, if it fails."""
        self.cases += 1
        expected = {}
        for doubles in {e.mode in DOUBLES for e in self.engines}:
            ARITHMETIC.in_doubles() if doubles else ARITHMETIC.in_floats()
            expected[doubles] = case.evaluate()
        for engine in self.engines:
            engine.send(case, expected[engine.mode in DOUBLES])
        for engine in self.engines:
            wanted = expected[engine.mode in DOUBLES]
            try:
                message = compare(wanted, engine.receive(wanted))
            except Died as died:
                message = str(died)
            self.computed += 1
            self.elements += sum(result.low.size for result in wanted.values())
            self.free += sum(int(result.free.sum()) for result in wanted.values() if result.free is not None)
            if not message:
                continue
            self.failures += 1
            print(f'FAILED {case.name}, mode {engine.mode}: {message}\n{describe(case)}')
            command = [sys.executable, sys.argv[0], '--program', self.given.program, *repeat, '--mode', engine.mode]
            print(f'  again: {shlex.join(command)}')
            if path:
                os.makedirs(self.given.out, exist_ok=True)
                case.write(path, wanted)
                print(f'  written: {path}')
            sys.stdout.flush()

    def random(self):
        given = self.given
        for number in range(given.first, given.first + given.rounds):
            self.round = number
            for family, operators in FAMILIES.items():
                for operator, draw in operators.items():
                    if (given.family and family not in given.family) or given.operator not in (None, operator):
                        continue
                    key = zlib.crc32(f'{family} {operator}'.encode())
                    repeat = ['--seed', str(given.seed), '--first', str(number), '--family', family, '--operator', operator]
                    path = os.path.join(given.out, f'reference-{given.seed}-{number}-{family}-{operator}.json')
                    try:
                        self.check(draw(Draw(given.seed, number, key), operator), repeat, path)
                    except (ArithmeticError, LookupError, TypeError, ValueError):
                        # A mistake of the reference: the other cases are still worth running.
                        self.failures += 1
                        print(f'FAILED in the reference itself, {shlex.join(repeat)}\n{traceback.format_exc()}', flush=True)

    def files(self):
        for path in self.given.case:
            for case, form in read_file(path):
                del form
                self.check(case, ['--case', path], None)


def main():
    given = arguments()
    start = time.monotonic()
    missing = set(OPERATORS) - {o for operators in FAMILIES.values() for o in operators}
    assert not missing, f'no cases are drawn of {missing}'
    if given.wpt:
        if not os.path.isdir(given.wpt):
            print(f'skipped: there is no folder {given.wpt}')
            return 77
        count, wrong = published.run(given.wpt)
        print(f'the reference reproduces {count - wrong} of {count} published cases ({time.monotonic() - start:.0f} s)')
        return 1 if wrong or not count else 0
    run = Run(given)
    # A long run that is ended counts what it has done.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        run.files() if given.case else run.random()
    except KeyboardInterrupt:
        print(f'interrupted in round {run.round}')
    for engine in run.engines:
        if engine.stop() not in (0, None):
            run.failures += 1
            print(f'FAILED: mode {engine.mode} ended with an error')
    print(f'{run.cases} cases, {run.computed} computations in the modes {" ".join(e.mode for e in run.engines)}, '
          f'{run.elements} elements ({run.free} of them without a bound): '
          f'{run.failures} failed ({time.monotonic() - start:.0f} s)')
    return 1 if run.failures or not run.cases else 0


if __name__ == '__main__':
    sys.exit(main())
