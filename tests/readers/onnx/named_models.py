#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""named_models.py ONNX-NAMED-MODELS SHARED [--large]: runs ONNX files with names in their inputs' shapes at several sizes.

The files are those of SHARED, and what its scripts make; names are given to dimensions there as exporters do.
"""
import importlib.util
import os
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import onnx
    from onnx import helper, numpy_helper
except ImportError:
    if sys.executable != '/usr/bin/python3' and os.path.exists('/usr/bin/python3'):
        os.execv('/usr/bin/python3', ['/usr/bin/python3'] + sys.argv)
    print('skipped: python3 has no numpy and onnx (Debian: python3-numpy, python3-onnx)')
    sys.exit(77)

program, shared = sys.argv[1:3]
bench = os.path.join(shared, 'bench')
models = os.path.join(shared, 'models')
if not os.path.isdir(bench) or not os.path.isdir(models):
    print(f'skipped: {bench} or {models} is absent')
    sys.exit(1 if os.environ.get('WEBNN_REQUIRE_SHARED', '0') != '0' else 77)


def script(name):
    spec = importlib.util.spec_from_file_location(name, os.path.join(bench, name + '.py'))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def free_reshapes(graph):
    """Shapes of three numbers and more take the first two from their input."""
    shapes = {node.input[1] for node in graph.node if node.op_type == 'Reshape'}
    for tensor in graph.initializer:
        numbers = numpy_helper.to_array(tensor).copy()
        if tensor.name in shapes and numbers.size >= 3:
            numbers[:2] = 0
            tensor.CopyFrom(numpy_helper.from_array(numbers, tensor.name))


def slice_positions(graph, count):
    """The table of positions, [count, size], is cut to the length of what it is added to."""
    table = next(tensor.name for tensor in graph.initializer if len(tensor.dims) == 2 and tensor.dims[0] == count)
    at, add = next((i, node) for i, node in enumerate(graph.node) if table in node.input)
    x = next(name for name in add.input if name != table)
    for name, number in (('axis_0', 0), ('axis_1', 1)):
        graph.initializer.append(numpy_helper.from_array(np.array([number], np.int64), name))
    nodes = [helper.make_node('Shape', [x], ['shape']), helper.make_node('Gather', ['shape', 'axis_1'], ['length']),
             helper.make_node('Slice', [table, 'axis_0', 'length', 'axis_0'], ['positions'])]
    for node in reversed(nodes):
        graph.node.insert(at, node)
    add.input[list(add.input).index(table)] = 'positions'


def name(source, folder, names, change=None):
    """Writes a copy of a file in which dimensions have names: {input: {place: name}}.  Returns its path."""
    model = onnx.load(source)
    if change:
        change(model.graph)
    for value in model.graph.input:
        for place, text in names.get(value.name, {}).items():
            value.type.tensor_type.shape.dim[place].dim_param = text
    del model.graph.value_info[:]
    for value in model.graph.output:
        value.type.tensor_type.ClearField('shape')
    path = os.path.join(folder, 'named_' + os.path.basename(source))
    onnx.save(model, path)
    return path


def run(path, reads, *sizes):
    global failed
    failed |= subprocess.run([program, path, str(reads), *sizes], check=False).returncode != 0


def recurrent(folder):
    """Writes a Scan over the steps, and an RNN whose rows have lengths, which are loops of the builder.  Returns the path."""
    floats = lambda name, *dims: helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, dims or None)
    body = helper.make_graph([helper.make_node('Add', ['state', 'row'], ['sum']), helper.make_node('Tanh', ['sum'], ['next']),
                              helper.make_node('Shape', ['next'], ['shape']),
                              helper.make_node('Reshape', ['next', 'shape'], ['each'])],
                             'body', [floats('state', 'batch', 4), floats('row', 'batch', 4)],
                             [floats('next', 'batch', 4), floats('each', 'batch', 4)])
    again = helper.make_graph([helper.make_node('Mul', ['v', 'half'], ['v2']), helper.make_node('Add', ['v2', 'start'], ['v3']),
                               helper.make_node('Identity', ['go'], ['on'])], 'again',
                              [helper.make_tensor_value_info('i', onnx.TensorProto.INT64, []),
                               helper.make_tensor_value_info('go', onnx.TensorProto.BOOL, []), floats('v', 'batch', 4)],
                              [helper.make_tensor_value_info('on', onnx.TensorProto.BOOL, []), floats('v3', 'batch', 4)])
    weights = np.linspace(-1, 1, 32).astype(np.float32).reshape(2, 1, 4, 4)
    nodes = [helper.make_node('Scan', ['start', 'x'], ['last', 'states'], num_scan_inputs=1, body=body),
             helper.make_node('Shape', ['x'], ['sizes']), helper.make_node('Gather', ['sizes', 'zero'], ['steps']),
             helper.make_node('Loop', ['steps', '', 'last'], ['v'], body=again),
             helper.make_node('RNN', ['states', 'w', 'r', '', 'lengths'], ['y', 'y_h'], hidden_size=4)]
    graph = helper.make_graph(nodes, 'graph', [floats('x', 'steps', 'batch', 4), floats('start', 'batch', 4),
                                               helper.make_tensor_value_info('lengths', onnx.TensorProto.INT32, ['batch'])],
                              [floats('v'), floats('y'), floats('y_h')],
                              [numpy_helper.from_array(w, name) for w, name in zip(weights, 'wr')] +
                              [numpy_helper.from_array(np.array(0, np.int64), 'zero'),
                               numpy_helper.from_array(np.array(0.5, np.float32), 'half')])
    path = os.path.join(folder, 'recurrent.onnx')
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 14)]), path)
    return path


picture = {0: 'batch', 2: 'height', 3: 'width'}
NODES = {  # of the suite's tests: names of dimensions of input 0, and sizes
    'spacetodepth': (picture, 'batch=2,height=4,width=6', 'batch=1,height=2,width=8'),
    'maxpool_2d_ceil': (picture, 'batch=1,height=4,width=4', 'batch=2,height=5,width=7'),
    'averagepool_2d_ceil': (picture, 'batch=1,height=9,width=6', 'batch=2,height=5,width=7'),
    'lppool_2d_strides': (picture, 'batch=1,height=32,width=32', 'batch=2,height=9,width=11'),
    'convinteger_with_padding': (picture, 'batch=1,height=3,width=3', 'batch=2,height=7,width=5'),
    'matmulinteger': ({0: 'batch'}, 'batch=4', 'batch=9'),
    'split_equal_parts_2d_opset13': ({1: 'length'}, 'length=6', 'length=8'),
}


def normalised(folder):
    """Writes an LRN, which must know the channels."""
    types = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [1, 'channels', 2, 2]) for name in 'xy']
    graph = helper.make_graph([helper.make_node('LRN', ['x'], ['y'], size=3)], 'graph', types[:1], types[1:])
    path = os.path.join(folder, 'normalised.onnx')
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid('', 14)]), path)
    return path


failed = False
with tempfile.TemporaryDirectory() as folder:
    if '--large' in sys.argv:
        script('make_decoder').make('decoder_135m_q4', os.path.join(folder, 'decoder.onnx'))
        run(os.path.join(folder, 'decoder.onnx'), 2, 'sequence=33,past=0,total=33', 'sequence=34,past=0,total=34',
            'sequence=1,past=34,total=35', 'sequence=3,past=35,total=38')
        sys.exit(failed)
    networks = script('make_models')
    for made in ('mobilenetv2', 'resnet50', 'unet_tiny', 'bert_encoder', 'lstm_speech'):
        networks.MODELS[made]().save(folder)
    script('make_attention_nets').whisper_tiny_encoder(os.path.join(folder, 'whisper.onnx'))
    file = lambda made: os.path.join(folder, made + '.onnx')
    for made in ('mobilenetv2', 'resnet50', 'unet_tiny'):
        run(name(file(made), folder, {'x': picture}), 1, 'batch=1,height=64,width=64', 'batch=2,height=96,width=32')
    run(name(file('bert_encoder'), folder, {'x': {0: 'batch', 1: 'length'}}, free_reshapes), 1, 'batch=1,length=128',
        'batch=1,length=7', *(f'batch={2 + i % 3},length={33 + i * i}' for i in range(6)))
    run(name(file('whisper'), folder, {'mel': {0: 'batch', 2: 'frames'}},
             lambda graph: (free_reshapes(graph), slice_positions(graph, 1500))), 1, 'batch=1,frames=100', 'batch=2,frames=77')
    run(name(file('lstm_speech'), folder, {'x': {0: 'steps'}}), 1, 'steps=5', 'steps=9')
    run(normalised(folder), 'numbers', 'channels=3', 'channels=7')
    for test, (names, *sizes) in NODES.items():
        source = os.path.join(shared, 'onnx-node-tests', 'node', 'test_' + test, 'model.onnx')
        run(name(source, folder, {onnx.load(source).graph.input[0].name: names}), 1, *sizes)
    run(recurrent(folder), 1, 'steps=5,batch=1', 'steps=40,batch=3', 'steps=1,batch=2')
    for weights in ('q4', 'q8', 'f32'):
        decoder = os.path.join(bench, 'decoder_tiny', f'decoder_tiny_{weights}.onnx')
        run(decoder, 2, 'sequence=3,past=0,total=3', 'sequence=1,past=3,total=4', 'sequence=2,past=4,total=6',
            'sequence=7,past=0,total=7', *(f'sequence={16 + i},past={40 - i * i},total={56 + i - i * i}' for i in range(5)))
    run(os.path.join(models, 'magika-v3', 'model.onnx'), 1, 'unk__214=1', 'unk__214=3')
    run(name(file('lstm_speech'), folder, {'x': {1: 'batch'}}), 1, 'batch=1', 'batch=3')
    inputs = {'super-resolution': {'input': picture}, 'ultraface-rfb-320': {'input': {0: 'batch'}},
              'silero-vad-16k': {'input': {0: 'batch'}, 'state': {1: 'batch'}}}
    for folder_name, names in inputs.items():
        sizes = ('batch=1', 'batch=2') if len(names['input']) == 1 else ('batch=1,height=24,width=40', 'batch=2,height=17,width=9')
        run(name(os.path.join(models, folder_name, 'model.onnx'), folder, names), 1, *sizes)
sys.exit(failed)
