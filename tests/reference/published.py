# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference itself against the published conformance data: expected values are to be reproduced within their tolerance."""
import glob
import os
import re

import numpy as np

from cases import read_file, tensor_from
from values import contiguous, is_float, place


def distances(actual, expected, metric):
    if not is_float(actual.dtype.name):
        return np.abs(actual.astype(object) - expected.astype(object)).astype(np.float64)
    if metric == 'ULP':
        far = np.abs(place(actual) - place(expected)).astype(np.float64)
    else:
        far = np.where(actual == expected, 0, np.abs(actual.astype(np.float64) - expected))
    both = np.isnan(actual) & np.isnan(expected)
    one = np.isnan(actual) != np.isnan(expected)
    return np.where(both, 0, np.where(one, np.inf, far))


def check(case, form):
    """An empty string, or the error."""
    expected = case.evaluate(list(form['outputs']))
    tolerance = form['tolerance']
    for name, output in form['outputs'].items():
        actual, wanted = contiguous(expected[name].middle()), tensor_from(output).array
        if actual.dtype != wanted.dtype or actual.shape != wanted.shape:
            return f'{name} is {actual.dtype} {actual.shape}, expected {wanted.dtype} {wanted.shape}'
        if np.array_equal(actual, wanted):
            continue
        far = distances(actual, wanted, tolerance['metric'])
        if np.any(far > tolerance['value']):
            worst = np.unravel_index(np.argmax(far), far.shape)
            return (f'{name}{list(map(int, worst))}: {actual[worst]}, expected {wanted[worst]}: {far[worst]} '
                    f'{tolerance["metric"]}, tolerance {tolerance["value"]}')
    return ''


def contradictions():
    """(file, name) of cases whose expected values contradict the specification's text."""
    path = os.path.join(os.path.dirname(__file__), '..', 'wpt', 'contradictions.def')
    with open(path, encoding='utf-8') as lines:
        return set(re.findall(r'^CONTRADICTION\("([^"]*)", "([^"]*)"', lines.read(), re.M))


def run(folder):
    """Prints differences from the expected results; the number of cases and of differences."""
    count = wrong = 0
    contradicting = contradictions()
    for path in sorted(glob.glob(os.path.join(folder, '*.json'))):
        if '.int4' in path:
            continue    # types that the specification does not have
        for case, form in read_file(path):
            count += 1
            message = check(case, form)
            if (os.path.basename(path).removesuffix('.json'), case.name) in contradicting:
                message = '' if message else 'passes, but is listed in tests/wpt/contradictions.def'
            if message:
                wrong += 1
                print(f'{os.path.basename(path)}: {case.name}: {message}')
    return count, wrong
