# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The library as reference-run offers it: one process per mode, which computes one case after the other."""
import os
import select
import subprocess

import numpy as np

from values import TYPES

# Name, arguments of reference-run, and whether all inputs are constants, which folding computes.
MODES = {'default': ([], False), 'all-constant': ([], True), 'interpreter': (['--interpreter'], False),
         **{name: (['--debug', switch], False)
            for name, switch in {'no-library': 'no-library', 'no-passes': 'no-passes', 'winograd': 'prefer-winograd',
                                 'avx2': 'isa=avx2', 'baseline': 'isa=baseline'}.items()}}


DOUBLES = ('interpreter',)    # modes that compute in float64 throughout


class Died(Exception):
    """The process ended or did not answer in time."""


class Engine:
    def __init__(self, program, mode, seconds):
        self.program, self.mode, self.seconds = program, mode, seconds
        self.process = None

    def send(self, case, expected):
        if self.process is None:
            environment = {**os.environ, 'OMP_WAIT_POLICY': 'passive'}
            self.process = subprocess.Popen([self.program, *MODES[self.mode][0]], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            env=environment)
        try:
            self.process.stdin.write(case.request(expected, MODES[self.mode][1]))
            self.process.stdin.flush()
        except BrokenPipeError:
            self.stop()

    def receive(self, expected):
        """Name to array, or a string with the library's error."""
        if self.process is None:
            raise Died('the process ended early')
        ready, _, _ = select.select([self.process.stdout], [], [], self.seconds)
        if not ready:
            self.stop()
            raise Died(f'no answer within {self.seconds} s')
        head = self.process.stdout.readline().decode(errors='replace')
        if not head.startswith('ok '):
            if head.startswith('error '):
                return head[6:].rstrip('\n')
            raise Died(f'the process ended with status {self.stop()}')
        data = self.process.stdout.read(int(head[3:]))
        arrays, at = {}, 0
        for name, result in expected.items():
            kind = np.dtype(TYPES[result.type])
            count = int(np.prod(result.shape, dtype=np.int64))
            arrays[name] = np.frombuffer(data, kind, count, at).reshape(result.shape)
            at += count * kind.itemsize
        return arrays

    def stop(self):
        """Ends the process and returns its status."""
        if self.process is None:
            return 0
        process, self.process = self.process, None
        try:
            process.stdin.close()
        except BrokenPipeError:
            pass
        try:
            return process.wait(1)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()
