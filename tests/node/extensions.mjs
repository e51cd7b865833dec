// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The entry native of the package: options of contexts, states, quantized weights, saved graphs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

import { webnn, ml, MLGraphBuilder, f32, smallGraph, packageFolder } from './support.mjs';

const { createContext, listDevices, getDevice, setStates, quantizeWeights, getQuantizedWeights, saveGraph, loadGraph, getFileEngine } = createRequire(import.meta.url)(path.join(packageFolder, 'native.js'));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'webnn-node-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true }));

test('a context\'s log says which options are ignored, and reads no members for a context without one', async () => {
  const messages = [];
  const context = await createContext({ deviceType: 'gpu', log: (...given) => messages.push(given) });
  assert.match(messages[0][1], /^createContext: there is no option "deviceType"/);
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', f32(1, 1, 4, 4));
  const y = builder.averagePool2d(x, { windowDimensions: [3, 3], strides: [2, 2], roundingType: 'ceil', [Symbol('s')]: 1 });
  assert.deepEqual(y.shape, [1, 1, 1, 1]);
  builder.conv2d(x, x, { autoPad: 'same-upper', label: 'c' });
  await builder.build({ y });
  const warnings = messages.filter(([level]) => level === 'warning').map(([, message]) => message);
  assert.match(warnings[1], /^averagePool2d: there is no option "roundingType", it is ignored: .*outputShapeRounding/);
  assert.match(warnings[2], /^conv2d: there is no option "autoPad", it is ignored: .*padding/);
  assert.ok(messages.some(([level, message]) => level === 'info' && /a graph was built/.test(message)));
  context.destroy();
  await context.lost;
  await new Promise(setImmediate);
  assert.deepEqual(messages.at(-1), ['info', 'the context was destroyed']);
  await assert.rejects(createContext({ log: 1 }), { name: 'TypeError', message: 'createContext: log is not a function' });
  const plain = new MLGraphBuilder(await createContext());
  plain.averagePool2d(plain.input('x', f32(1, 1, 4, 4)), new Proxy({}, { ownKeys() { throw new Error('asked'); } }));
});

test('contexts take the options of the library, and refuse wrong ones', async () => {
  const context = await createContext({ threadCount: 1, precision: 'int8', deterministic: true, engine: 'cpu', accelerated: false });
  assert.ok(context instanceof webnn.MLContext);
  assert.equal(context.accelerated, false);
  for (const wrong of [{ threadCount: -1 }, { threadCount: 100000 }, { precision: 'half' }, { engine: 'npu' }, { threads: 1 }, 5])
    await assert.rejects(createContext(wrong), TypeError);
  await assert.rejects(createContext({ engine: 'gpu', device: 'there is no device of this name' }), { name: 'NotSupportedError' });
});

test('devices are listed, and a context tells its own', async () => {
  const members = ['bufferBytes', 'kind', 'lacks', 'memoryBytes', 'name', 'platform'];
  for (const device of listDevices()) {
    assert.deepEqual(Object.keys(device).sort(), members);
    assert.ok(['other', 'cpu', 'gpu', 'accelerator'].includes(device.kind));
    assert.ok(device.name.length > 0 && device.memoryBytes > 0);
  }
  const device = getDevice(await createContext({ engine: 'cpu' }));
  assert.deepEqual(Object.keys(device).sort(), members);
  assert.equal(device.kind, 'cpu');
  assert.throws(() => getDevice({}), TypeError);
  assert.throws(() => getDevice(), TypeError);
});

test('memory has a limit if one is given', async () => {
  const context = await createContext({ engine: 'cpu', memoryLimit: 4096, cache: 'off' });
  const shape = (count) => ({ ...f32(count), writable: true });
  await context.createTensor(shape(512));
  await assert.rejects(context.createTensor(shape(4096)), { name: 'UnknownError' });
  for (const wrong of [-1, 2 ** 60, NaN, Infinity])
    await assert.rejects(createContext({ memoryLimit: wrong }), TypeError);
});

test('a graph is saved, loaded and dispatched', async () => {
  const { context, graph } = await smallGraph(3);
  const file = path.join(folder, 'graph');
  assert.equal(await saveGraph(graph, file), undefined);
  const engine = getFileEngine(file);
  assert.match(engine, /^(cpu|gpu)$/);
  const other = await createContext({ engine });
  const loaded = await loadGraph(other, file);
  assert.ok(loaded instanceof webnn.MLGraph);
  const input = await other.createTensor({ ...f32(3), writable: true });
  const output = await other.createTensor({ ...f32(3), readable: true });
  other.writeTensor(input, new Float32Array([1, 2, 3]));
  other.dispatch(loaded, { x: input }, { y: output });
  assert.deepEqual([...new Float32Array(await other.readTensor(output))], [2, 4, 6]);
  await assert.rejects(loadGraph(other, path.join(folder, 'absent')), { name: 'DataError' });
  assert.throws(() => getFileEngine(path.join(folder, 'absent')), { name: 'DataError' });
  assert.throws(() => getFileEngine(), TypeError);
  await assert.rejects(saveGraph(graph, path.join(folder, 'no', 'such', 'folder')), { name: 'UnknownError' });
  await assert.rejects(saveGraph(graph, 'a\0b'), TypeError);
  await assert.rejects(saveGraph({}, file), TypeError);
  context.destroy();
  await assert.rejects(saveGraph(graph, file), { name: 'InvalidStateError' });
});

/** A builder of present = past + x and y = 2 * past, whose operands have three elements. */
function counter(context) {
  const builder = new webnn.MLGraphBuilder(context);
  const past = builder.input('past', f32(3)), x = builder.input('x', f32(3));
  return { builder, outputs: { present: builder.add(past, x), y: builder.add(past, past) } };
}

test('a state is changed in place, and only where it was said', async () => {
  const context = await ml.createContext();
  const tensor = (options) => context.createTensor({ ...f32(3), ...options });
  const x = await tensor({ writable: true }), y = await tensor({ readable: true });
  const state = await tensor({ readable: true, writable: true });
  context.writeTensor(x, new Float32Array([1, 2, 3]));
  context.writeTensor(state, new Float32Array([10, 20, 30]));
  const { builder, outputs } = counter(context);
  assert.equal(setStates(builder, { past: 'present' }), undefined);
  const graph = await builder.build(outputs);
  for (let i = 0; i < 3; i++) context.dispatch(graph, { past: state, x }, { present: state, y });
  assert.deepEqual([...new Float32Array(await context.readTensor(state))], [13, 26, 39]);
  assert.deepEqual([...new Float32Array(await context.readTensor(y))], [24, 48, 72]);
  const plain = counter(context);
  const other = await plain.builder.build(plain.outputs);
  assert.throws(() => context.dispatch(other, { past: state, x }, { present: state, y }), TypeError);
});

test('states that the graph does not have are refused by build, other arguments at once', async () => {
  const context = await ml.createContext();
  for (const [states, message] of [[{ absent: 'present' }, /absent/], [{ past: 'absent' }, /absent/]]) {
    const { builder, outputs } = counter(context);
    setStates(builder, states);
    await assert.rejects(builder.build(outputs), (e) => e instanceof TypeError && message.test(e.message));
  }
  const { builder, outputs } = counter(context);
  for (const wrong of [undefined, 5, { past: Symbol('no string') }]) assert.throws(() => setStates(builder, wrong), TypeError);
  assert.throws(() => setStates({}, { past: 'present' }), TypeError);
  assert.throws(() => setStates(builder), TypeError);
  await builder.build(outputs);
  assert.throws(() => setStates(builder, { past: 'present' }), { name: 'InvalidStateError' });
  assert.throws(() => quantizeWeights(builder, 'int8'), { name: 'InvalidStateError' });
});

test('weights are quantized if they are asked to be', async () => {
  const context = await ml.createContext();
  const build = (format) => {
    const builder = new webnn.MLGraphBuilder(context);
    const weights = Float32Array.from({ length: 512 * 256 }, (_, i) => Math.sin(i));
    const w = builder.constant(f32(512, 256), weights);
    if (format) assert.equal(quantizeWeights(builder, format), undefined);
    return builder.build({ y: builder.matmul(builder.input('x', f32(1, 512)), w) });
  };
  const none = { matrices: 0, bytesBefore: 0, bytesAfter: 0 };
  assert.deepEqual(getQuantizedWeights(await build()), none);
  assert.deepEqual(getQuantizedWeights(await build('none')), none);
  const int8 = getQuantizedWeights(await build('int8')), int4 = getQuantizedWeights(await build('int4'));
  assert.equal(int8.matrices, 1);
  assert.equal(int8.bytesBefore, 512 * 256 * 4);
  assert.ok(int8.bytesAfter < int8.bytesBefore / 3 && int4.bytesAfter < int8.bytesAfter);
  assert.throws(() => quantizeWeights(new webnn.MLGraphBuilder(context), 'int2'), TypeError);
  assert.throws(() => getQuantizedWeights({}), TypeError);
});
