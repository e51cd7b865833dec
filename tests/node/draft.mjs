// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// draft.mjs IDL
// The entry draft: the standard entry has none of it until it is imported, then all that IDL, the blocks of the draft, has; the
// examples of the draft's explainer.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { webnn, ml, MLGraphBuilder, f32, packageFolder } from './support.mjs';

const idl = process.argv[2] ? fs.readFileSync(process.argv[2], 'utf8') : '';
const operators = [...idl.matchAll(/(?:MLOperand|sequence<MLOperand>) (\w+)\(([^)]*?)(?:, *)?(?:optional [^)]*)?\)/g)]
  .map(([, name, required]) => [name, required.trim() ? required.split(',').filter((each) => each.trim()).length : 0]);
const context = await ml.createContext();
const ints = (b, ...values) => b.constant({ dataType: 'int64', shape: [values.length] }, new BigInt64Array(values.map(BigInt)));
const length = { dataType: 'float32', shape: [1, 'sequence_length'] };

/** Dispatches a graph of input x and output y for a shape of x, and returns y's shape and elements. */
async function compute(graph, shape) {
  const x = await context.createTensor({ ...f32(...shape), writable: true });
  const { y: wanted } = graph.computeShapes({ x: shape });
  const y = await context.createTensor({ ...f32(...wanted), readable: true });
  context.writeTensor(x, Float32Array.from({ length: shape.reduce((a, b) => a * b) }, (_, i) => i + 1));
  context.dispatch(graph, { x }, { y });
  return [wanted, [...new Float32Array(await context.readTensor(y))]];
}

test('the standard entry is the standard', () => {
  const b = new MLGraphBuilder(context);
  assert.throws(() => b.input('x', length), { name: 'TypeError', message: /shape\[1\] is not a finite number/ });
  assert.equal('computeShapes' in webnn.MLGraph.prototype, false);
  assert.deepEqual(operators.filter(([name]) => name in MLGraphBuilder.prototype), []);
  assert.deepEqual(b.input('y', f32('2')).shape, [2]); // as Web IDL converts
  assert.throws(() => b.input('z', { dataType: 'bfloat16', shape: [2] }), { name: 'TypeError', message: /draft/ });
  assert.equal(context.opSupportLimits().input.dataTypes.includes('bfloat16'), false);
});

const standard = MLGraphBuilder.prototype.input;
const { createContext, describeGraph, getVariantCounts, setVariantLimit } = await import(path.join(packageFolder, 'native.mjs'));
const draft = await import(path.join(packageFolder, 'draft.mjs'));

test('the entry adds what the draft has, to the same interfaces', () => {
  assert.equal(draft.MLGraphBuilder, MLGraphBuilder);
  for (const [name, required] of operators)
    assert.equal(MLGraphBuilder.prototype[name].length, required, name);
  assert.equal(operators.length, idl ? 14 : 0);
  assert.equal(webnn.MLGraph.prototype.computeShapes.length, 1);
  assert.notEqual(MLGraphBuilder.prototype.input, standard);
  assert.throws(() => standard.call(new MLGraphBuilder(context), 'x', length), TypeError);
});

test('shapes have names', () => {
  const b = new MLGraphBuilder(context), x = b.input('x', length);
  assert.deepEqual(x.shape, [1, 'sequence_length']);
  assert.ok(Object.isFrozen(x.shape));
  assert.deepEqual(b.input('z', { dataType: 'float32', shape: ['2', 3, null] }).shape, ['2', 3, 'null']);
  const [, joined] = b.concat([x, b.input('past', { ...length, shape: [1, 'past'] })], 1).shape;
  assert.equal(typeof joined, 'string');
  for (const shape of [[''], [-1], [0], [1.5e10], [Symbol('n')]])
    assert.throws(() => b.input('w', { dataType: 'float32', shape }), TypeError);
  assert.throws(() => b.constant(length, new Float32Array(4)), TypeError); // always concrete
  assert.throws(() => b.add(b.input('a', { ...length, shape: ['n', 2] }), b.input('b', { ...length, shape: ['n', 3] })), TypeError);
});

test('operands have the data types of low precision', async () => {
  const context = await ml.createContext(), types = { bfloat16: Uint16Array, float8e4m3: Uint8Array, float8e5m2: Uint8Array };
  const written = { bfloat16: [0x3f80, 0xc040], float8e4m3: [0x38, 0xc4], float8e5m2: [0x3c, 0xc2] }; // 1 and -3
  for (const [dataType, View] of Object.entries(types)) {
    const b = new MLGraphBuilder(context), descriptor = { dataType, shape: [2] };
    const x = b.input('x', descriptor), ones = b.constant(descriptor, new View([written[dataType][0], written[dataType][0]]));
    assert.equal(x.dataType, dataType);
    assert.throws(() => b.constant(descriptor, new Int16Array(2)), { name: 'TypeError', message: /Int16Array/ });
    const sum = b.add(b.cast(x, 'float32'), b.cast(ones, 'float32'));
    const graph = await b.build({ sum, y: b.cast(b.sub(sum, b.cast(ones, 'float32')), dataType) });
    const tensor = (options) => context.createTensor({ ...descriptor, ...options });
    const given = await tensor({ writable: true }), y = await tensor({ readable: true });
    const total = await context.createTensor({ ...f32(2), readable: true });
    context.writeTensor(given, new View(written[dataType]));
    context.dispatch(graph, { x: given }, { sum: total, y });
    assert.deepEqual([...new Float32Array(await context.readTensor(total))], [2, -2]);
    assert.deepEqual([...new View(await context.readTensor(y))], written[dataType]);
    assert.ok(context.opSupportLimits().input.dataTypes.includes(dataType));
    const own = await createContext({ draftDataTypes: true }), none = await createContext();
    assert.equal(new MLGraphBuilder(own).input('x', descriptor).dataType, dataType);
    assert.throws(() => new MLGraphBuilder(none).input('x', descriptor), { name: 'TypeError', message: /draft/ });
  }
});

test('one graph runs at any length', async () => {
  const b = new MLGraphBuilder(context);
  const graph = await b.build({ y: b.relu(b.input('x', length)) });
  for (const n of [1, 37, 1])
    assert.deepEqual(await compute(graph, [1, n]), [[1, n], Array.from({ length: n }, (_, i) => i + 1)]);
  assert.deepEqual(describeGraph(graph).outputs.y.shape, [1, 'sequence_length']);
  assert.deepEqual(getVariantCounts(graph), { built: 2, found: 1, evicted: 0, held: 2 });
  setVariantLimit(graph, 1);
  assert.equal(getVariantCounts(graph).held, 1);
  assert.throws(() => graph.computeShapes({ x: [2, 37] }), { name: 'TypeError', message: /sequence_length/ });
  for (const wrong of [undefined, { x: 5 }, { x: [1, -1] }, { z: [1] }, { x: Array(40).fill(1) }])
    assert.throws(() => graph.computeShapes(wrong), TypeError);
  const x = await context.createTensor(f32(1, 3)), y = await context.createTensor(f32(1, 4));
  assert.throws(() => context.dispatch(graph, { x }, { y }), TypeError);
  graph.destroy();
  assert.throws(() => graph.computeShapes({ x: [1, 3] }), { name: 'InvalidStateError' });
});

test('a sequence is padded to a multiple of the block size', async () => {
  const b = new MLGraphBuilder(context), x = b.input('x', { dataType: 'float32', shape: ['seq_len', 2] });
  const shape = b.cast(b.shape(x), 'int64');
  const pad = b.modulusFloor(b.neg(b.slice(shape, [0], [1])), ints(b, 4));
  const padded = b.padDynamic(x, ints(b, 0, 0), b.concat([pad, ints(b, 0)], 0));
  const graph = await b.build({ y: padded });
  assert.deepEqual(await compute(graph, [3, 2]), [[4, 2], [1, 2, 3, 4, 5, 6, 0, 0]]);
  assert.deepEqual(graph.computeShapes({ x: [37, 2] }), { y: [40, 2] });
});

test('heads are split by a shape that is computed', async () => {
  const b = new MLGraphBuilder(context), x = b.input('x', { dataType: 'float32', shape: [1, 'seqlen', 512] });
  const batch = b.slice(b.shape(x), [0], [2]);
  const heads = b.constant({ dataType: 'uint32', shape: [2] }, new Uint32Array([8, 64]));
  const y = b.reshapeDynamic(x, b.concat([batch, heads], 0));
  assert.deepEqual(y.shape, [1, 'seqlen', 8, 64]);
  const graph = await b.build({ y, __proto__: b.identity(y) });
  assert.deepEqual(graph.computeShapes({ x: [1, 37, 512] }).y, [1, 37, 8, 64]);
});

test('the other operators', async () => {
  const b = new MLGraphBuilder(context), x = b.input('x', { dataType: 'float32', shape: ['n', 1, 4] });
  const n = b.slice(b.cast(b.shape(x), 'int64'), [0], [1]), scalar = (value) => b.constant('int64', value);
  assert.deepEqual(b.squeeze(x, { axes: [1] }).shape, ['n', 4]);
  assert.deepEqual(b.unsqueeze(x, [0, 2]).shape, [1, 'n', 1, 1, 4]);
  assert.deepEqual(b.reshapeTo2d(x).shape, ['n', 4]);
  assert.deepEqual(b.reshapeTo2d(x, { axis: 0 }).shape[0], 1);
  assert.throws(() => b.squeeze(x, { axes: [2] }), { name: 'TypeError', message: /^squeeze/ });
  const counted = b.range(scalar(0), b.squeeze(n, { axes: [0] }), scalar(1));
  assert.deepEqual(counted.shape, ['n']);
  const parts = b.splitDynamic(x, ints(b, 1, 3), { axis: 2, label: 'parts' });
  assert.deepEqual(parts.map(({ shape }) => shape[2]), [1, 3]);
  const last = b.sliceDynamic(x, b.concat([b.sub(n, ints(b, 1)), ints(b, 0, 0)], 0), ints(b, 1, 1, 2), { strides: [1, 1, 2] });
  const wide = b.expandDynamic(last, b.concat([n, ints(b, 1, 1)], 0));
  const tiled = b.tileDynamic(b.squeeze(wide, { axes: [1] }), ints(b, 1, 2));
  const rest = b.cast(b.unsqueeze(b.modulusTruncate(counted, scalar(2)), [1]), 'float32');
  const picture = b.unsqueeze(b.unsqueeze(b.mul(tiled, rest), [0]), [0]);
  const larger = b.resample2dDynamic(picture, { sizes: b.concat([n, ints(b, 4)], 0), mode: 'linear' });
  const graph = await b.build({ y: larger });
  assert.deepEqual(await compute(graph, [3, 1, 4]), [[1, 1, 3, 4], [0, 0, 0, 0, 9, 9, 9, 9, 0, 0, 0, 0]]);
});
