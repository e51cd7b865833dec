# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases: a small graph with its inputs, in the form of the published conformance data, and its evaluation."""
import json
import math

import numpy as np

import elementwise  # noqa: F401  (these modules fill the table of computations)
import movement     # noqa: F401
import recurrent    # noqa: F401
import sums         # noqa: F401
import windows      # noqa: F401
from registry import OPERATORS
from values import TYPES, Expected, Tensor, contiguous, growth, is_float, round_to


def summed_terms(name, arguments):
    """How many terms each element of a product is the sum of, at least; 1 for other elements."""
    if name == 'matmul':
        return arguments[0].shape[-1]
    if name in ('gemm', 'conv2d', 'convTranspose2d'):
        return max(arguments[0].array.size, arguments[1].array.size)
    return 1


class Case:
    """inputs: name to Tensor.  operators: {"name", "arguments": [{label: value}, ...], "outputs": name or names}.

    chain: results that are not exact go on as intervals.  All operators that read one must be non-decreasing in it, so that the
    ends of the interval give the ends of the result's."""

    def __init__(self, name, inputs, operators, chain=False):
        self.name, self.inputs, self.operators, self.chain = name, inputs, operators, chain

    def evaluate(self, wanted=None):
        """Name to Expected of the wanted results, or of all that no operator reads."""
        values, expected, read, terms = dict(self.inputs), {}, set(), {}

        def resolve(value, end):
            if isinstance(value, str) and value in values:
                read.add(value)
                if end and value in expected:
                    return Tensor(getattr(expected[value], end), values[value].constant)
                return values[value]
            if isinstance(value, list):
                return [resolve(v, end) for v in value]
            return value

        def compute(step, end):
            positional, options = [], {}
            for argument in step['arguments']:
                (label, value), = argument.items()
                if label == 'options':
                    options = {k: resolve(v, end) for k, v in value.items() if v is not None}
                else:
                    positional.append(resolve(value, end))
            results = OPERATORS[step['name']](step['name'], positional, options)
            names = [step['outputs']] if isinstance(step['outputs'], str) else step['outputs']
            terms.update((name, summed_terms(step['name'], positional)) for name in names)
            return names, results if isinstance(results, list) else [results]

        for step in self.operators:
            source = step['arguments'][0].get('argument0')
            inexact = self.chain and isinstance(source, str) and source in expected
            count = terms.get(source, 1) if inexact else 1
            names, results = compute(step, 'low' if inexact else None)
            if inexact:
                _, upper = compute(step, 'high')
                results = [enclosure(step, a, b, self, count, expected[source]) for a, b in zip(results, upper)]
            constant = self.is_constant(step, values)
            for name, result in zip(names, results):
                expected[name] = result
                values[name] = Tensor(result.middle(), constant)
        return {name: expected[name] for name in (wanted or (n for n in expected if n not in read))}

    @staticmethod
    def is_constant(step, values):
        """Whether an operator reads constants only: folding gives a constant, which convolutions treat as one."""
        given = [value for argument in step['arguments'] for value in argument.values()]
        names = [n for value in given for n in (value if isinstance(value, list) else [value]) if isinstance(n, str)]
        return all(values[n].constant for n in names if n in values)

    def request(self, expected, constants):
        """What reference-run reads.  constants: all inputs are given as constants."""
        def describe(kind, shape):
            return {'dataType': kind, 'shape': list(shape)}
        head = {'inputs': {n: {**describe(t.type, t.shape), 'constant': constants or t.constant}
                           for n, t in self.inputs.items()},
                'operators': self.operators,
                'outputs': {n: describe(r.type, r.shape) for n, r in expected.items()}}
        text = json.dumps(head).encode()
        data = b''.join(contiguous(t.array).tobytes() for t in self.inputs.values())
        return b'%d %d\n' % (len(text), len(data)) + text + data

    def write(self, path, expected):
        """As a file of the published form, with the widest interval as its tolerance."""
        case = {'name': self.name,
                'inputs': {n: described(t.array, t.constant) for n, t in self.inputs.items()}, 'operators': self.operators,
                'outputs': {n: described(r.middle()) for n, r in expected.items()},
                'tolerance': {'metric': 'ULP', 'value': max(r.width() for r in expected.values())},
                'chain': self.chain}
        with open(path, 'w', encoding='utf-8') as file:
            json.dump({'op': self.operators[-1]['name'], 'source': 'tests/reference', 'tests': [case]}, file)
            file.write('\n')


def enclosure(step, low, high, case, count, source):
    """What an operator gives between the ends of its operand.  What is added to a product may have been added to its partial
    sums, each of which was rounded."""
    added = None
    if count == 1:
        pass
    elif step['name'] in ('add', 'sub'):
        added = case.inputs[step['arguments'][1]['argument1']].array.astype(np.float64)
    elif step['name'] == 'linear':
        added = np.float64(step['arguments'][1]['options']['beta'])
    free = None
    if source.free is not None and source.free.any():
        free = np.ones(low.shape, bool)
    if added is None or not is_float(low.type):
        return Expected(low.low, high.high, free=free)
    room = growth(count) * np.abs(added)
    return Expected(round_to(low.low - room, low.type), round_to(high.high + room, low.type), free=free)


def number_to_json(x):
    if isinstance(x, float):
        if math.isnan(x):
            return 'NaN'
        if math.isinf(x):
            return 'Infinity' if x > 0 else '-Infinity'
        return '-0' if x == 0 and math.copysign(1, x) < 0 else x
    return x if abs(x) < 2 ** 53 else str(x)


def described(array, constant=None):
    """An operand as the data have it: the numbers one after the other."""
    flat = array.astype(np.float64) if is_float(array.dtype.name) else array
    form = {'dataType': array.dtype.name, 'shape': list(array.shape)}
    form['data'] = [number_to_json(x) for x in flat.ravel().tolist()]
    if constant is not None:
        form['constant'] = constant
    return form


def tensor_from(form):
    """The elements of an operand; one number stands for all of them."""
    data, kind, shape = form['data'], form['dataType'], form['shape']
    whole = data if isinstance(data, list) else [data]
    if is_float(kind):
        array = np.array([float(x) for x in whole], np.float64).astype(TYPES[kind])
    else:
        array = np.array([int(x) for x in whole], TYPES[kind])
    array = array.reshape(shape) if isinstance(data, list) else np.broadcast_to(array[0], shape)
    return Tensor(array, form.get('constant', False))


def read_file(path):
    """The cases of a file and what they say themselves: (Case, JSON) one after the other."""
    with open(path, encoding='utf-8') as file:
        document = json.load(file)
    for form in document['tests']:
        yield Case(form['name'], {n: tensor_from(f) for n, f in form['inputs'].items()}, form['operators'],
                   form.get('chain', False)), form
