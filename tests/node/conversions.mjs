// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conversions of arguments, and errors.
import assert from 'node:assert/strict';
import test from 'node:test';

import { ml, MLGraphBuilder, f32, smallGraph } from './support.mjs';

const context = await ml.createContext();
const newBuilder = () => new MLGraphBuilder(context);

/** An object that records which members are read, in order. */
function recorded(members, log) {
  return new Proxy(members, {
    get(target, name) {
      log.push(name);
      return target[name];
    },
  });
}

test('dictionaries are read inherited members first, then by name', async () => {
  const builder = newBuilder();
  const x = builder.input('x', f32(1, 3, 8, 8));
  const log = [];
  builder.averagePool2d(x, recorded({}, log));
  assert.deepEqual(log, ['label', 'dilations', 'layout', 'outputShapeRounding', 'outputSizes', 'padding', 'strides', 'windowDimensions']);
  log.length = 0;
  await context.createTensor(recorded({ ...f32(2), readable: true }, log));
  assert.deepEqual(log, ['dataType', 'shape', 'readable', 'writable']);
  log.length = 0;
  await ml.createContext(recorded({}, log));
  assert.deepEqual(log, ['accelerated', 'powerPreference']);
});

test('integers with [EnforceRange] are truncated and have to be in range, the others wrap', () => {
  const builder = newBuilder();
  const x = builder.input('x', f32(2, 3));
  assert.deepEqual(builder.softmax(x, 1.9).shape, [2, 3]);
  assert.deepEqual(builder.softmax(x, '1').shape, [2, 3]);
  assert.deepEqual(builder.softmax(x, -0.5).shape, [2, 3]);
  for (const wrong of [NaN, Infinity, -1, 2 ** 32, undefined, 'abc', 1n, Symbol('s'), {}])
    assert.throws(() => builder.softmax(x, wrong), TypeError);
  assert.deepEqual(builder.cumulativeSum(x, 2 ** 32 + 1).shape, [2, 3]);
  assert.deepEqual(builder.cumulativeSum(x, NaN).shape, [2, 3]);
  assert.deepEqual(builder.tile(x, [1 - 2 ** 32, 2]).shape, [2, 6]);
  assert.throws(() => builder.triangular(x, { diagonal: 2 ** 31 }), TypeError);
});

test('sequences come from any iterable, item by item', () => {
  const builder = newBuilder();
  const x = builder.input('x', f32(2, 3));
  assert.deepEqual(builder.reshape(x, new Set([6])).shape, [6]);
  assert.deepEqual(builder.reshape(x, new Uint32Array([3, 2])).shape, [3, 2]);
  function* sizes() {
    yield 3;
    yield 2;
  }
  assert.deepEqual(builder.reshape(x, sizes()).shape, [3, 2]);
  let asked = 0;
  const endless = { [Symbol.iterator]: () => ({ next() { asked++; return { done: false, value: -1 }; } }) };
  assert.throws(() => builder.reshape(x, endless), TypeError);
  assert.equal(asked, 1);
  for (const wrong of [6, '6', null, undefined, {}, { [Symbol.iterator]: 1 }])
    assert.throws(() => builder.reshape(x, wrong), TypeError);
  assert.deepEqual(builder.split(x, 3, { axis: 1 }).map(({ shape }) => shape), [[2, 1], [2, 1], [2, 1]]);
  assert.deepEqual(builder.split(x, [1, 2], { axis: 1 }).map(({ shape }) => shape), [[2, 1], [2, 2]]);
  assert.deepEqual(builder.concat([x, x], 0).shape, [4, 3]);
  assert.throws(() => builder.concat([x, {}], 0), TypeError);
});

test('exceptions of getters come through, and later arguments are not converted', () => {
  const builder = newBuilder();
  const x = builder.input('x', f32(2, 3));
  const mine = new Error('mine');
  const throwing = { get label() { throw mine; } };
  assert.throws(() => builder.softmax(x, 0, throwing), (error) => error === mine);
  let converted = false;
  assert.throws(() => builder.softmax(x, -1, { get label() { converted = true; return ''; } }), TypeError);
  assert.equal(converted, false);
});

test('numbers are BigInts or doubles, and saturate', async () => {
  const builder = newBuilder();
  const outputs = {
    big: builder.constant('int64', 2n ** 63n - 1n),
    huge: builder.constant('int64', 2n ** 80n),
    unsigned: builder.constant('uint64', 2n ** 64n - 1n),
    float: builder.constant('float32', 2n ** 70n),
    small: builder.constant('int8', -1000.5),
    object: builder.constant('int64', { valueOf: () => 5n }),
    text: builder.constant('float32', '1.5'),
  };
  for (const name of Object.keys(outputs))
    outputs[name] = builder.identity(outputs[name]);
  const graph = await builder.build(outputs);
  const tensors = {};
  for (const [name, { dataType, shape }] of Object.entries(outputs))
    tensors[name] = await context.createTensor({ dataType, shape, readable: true });
  context.dispatch(graph, {}, tensors);
  const read = async (name, View) => new View(await context.readTensor(tensors[name]))[0];
  assert.equal(await read('big', BigInt64Array), 2n ** 63n - 1n);
  assert.equal(await read('huge', BigInt64Array), 2n ** 63n - 1n);
  assert.equal(await read('unsigned', BigUint64Array), 2n ** 64n - 1n);
  assert.equal(await read('float', Float32Array), 2 ** 70);
  assert.equal(await read('small', Int8Array), -128);
  assert.equal(await read('object', BigInt64Array), 5n);
  assert.equal(await read('text', Float32Array), 1.5);
  assert.throws(() => newBuilder().constant('float32', Symbol('s')), TypeError);
});

test('enumerations take their values only', () => {
  const builder = newBuilder();
  const x = builder.input('x', f32(1, 1, 4, 4));
  assert.throws(() => builder.averagePool2d(x, { layout: 'NCHW' }), TypeError);
  assert.throws(() => builder.cast(x, 'float64'), TypeError);
  assert.equal(builder.cast(x, { toString: () => 'int8' }).dataType, 'int8');
  return assert.rejects(ml.createContext({ powerPreference: 'much' }), TypeError);
});

test('buffers: every class that fits, offsets, shared memory; detached, resizable and other ones are refused', () => {
  const builder = newBuilder();
  const bytes = new ArrayBuffer(16);
  for (const buffer of [bytes, new SharedArrayBuffer(16), new Uint8Array(bytes), new Float32Array(bytes), new Float32Array(6).subarray(2),
    new Float32Array(new SharedArrayBuffer(16))])
    assert.deepEqual(builder.constant(f32(4), buffer).shape, [4]);
  assert.equal(builder.constant({ dataType: 'float16', shape: [2] }, new Uint16Array(2)).dataType, 'float16');
  for (const buffer of [new Int32Array(4), new DataView(bytes), new Float64Array(2), new Uint8ClampedArray(16), new Float32Array(3), [1, 2, 3, 4], null])
    assert.throws(() => builder.constant(f32(4), buffer), TypeError);
  const moved = new ArrayBuffer(16);
  const view = new Float32Array(moved);
  structuredClone(moved, { transfer: [moved] });
  assert.throws(() => builder.constant(f32(4), moved), TypeError);
  assert.throws(() => builder.constant(f32(4), view), TypeError);
  if ('resizable' in ArrayBuffer.prototype)
    assert.throws(() => builder.constant(f32(4), new ArrayBuffer(16, { maxByteLength: 32 })), TypeError);
});

test('a detached buffer is called so wherever buffers are taken, and an empty one is too short', async () => {
  const { context: own, input, output } = await smallGraph();
  const view = new Float32Array(4);
  structuredClone(view.buffer, { transfer: [view.buffer] });
  const detached = { name: 'TypeError', message: /(buffer|inputData|outputData) is detached/ };
  const short = { name: 'TypeError', message: /\b0 bytes/ };
  for (const [given, expected] of [[view, detached], [view.buffer, detached], [new DataView(new ArrayBuffer(0)), /DataView/],
    [new Float32Array(0), short], [new ArrayBuffer(0), short]]) {
    assert.throws(() => newBuilder().constant(f32(4), given), expected);
    assert.throws(() => own.writeTensor(input, given), expected);
    await assert.rejects(own.createConstantTensor(f32(4), given), expected);
    await assert.rejects(own.readTensor(output, given), expected);
  }
});

test('messages name the element of a list or record, and what was given', async () => {
  const builder = newBuilder();
  const x = builder.input('x', f32(2, 3));
  const { context: own, graph, input } = await smallGraph();
  const cases = [
    [() => builder.reshape(x, [-1, 2]), 'reshape: newShape[0] is -1, which is outside the range of 0 to 4294967295'],
    [() => builder.reshape(x, [3, 2n]), 'reshape: newShape[1] is 2, not a number'],
    [() => builder.tile(x, [1, Symbol('s')]), 'tile: repetitions[1] is a symbol, not a number'],
    [() => builder.split(x, [1, NaN]), 'split: splits[1] is not a finite number'],
    [() => builder.concat([x, 'y'], 0), "concat: inputs[1] is 'y', not an MLOperand"],
    [() => builder.resample2d(x, { scales: [1, 1e39] }), 'resample2d: scales[1] is not a finite number of single precision'],
    [() => builder.lstm(x, x, x, 1, 1, { activations: ['tanh', 'elu'] }), "lstm: activations[1] is 'elu'; it may be 'relu', 'sigmoid', 'tanh'"],
    [() => builder.input('y', { dataType: 'float32', shape: [1, -5] }), 'input: shape[1] is -5, which is outside the range of 0 to 4294967295'],
    [() => builder.add(x, null), 'add: b is null, not an MLOperand'],
    [() => builder.constant(1), 'constant: tensor is 1: it takes (tensor), (descriptor, buffer) or (dataType, value)'],
    [() => builder.constant(x), 'constant: tensor is an MLOperand: it takes (tensor), (descriptor, buffer) or (dataType, value)'],
    [() => own.dispatch(graph, { x: input }, { y: context }), "dispatch: outputs['y'] is an MLContext, not an MLTensor"],
  ];
  for (const [act, message] of cases)
    assert.throws(act, { name: 'TypeError', message });
});

test('a buffer that a getter detaches is seen as it is when its bytes are taken', () => {
  const builder = newBuilder();
  const buffer = new ArrayBuffer(16);
  const descriptor = { dataType: 'float32', get shape() { structuredClone(buffer, { transfer: [buffer] }); return [4]; } };
  assert.throws(() => builder.constant(descriptor, buffer), TypeError);
});

test('records are own enumerable properties; other keys and values are refused', async () => {
  const { graph, input, output, context: own } = await smallGraph();
  const inputs = Object.create({ inherited: 1 }, { hidden: { value: 1, enumerable: false } });
  inputs.x = input;
  own.dispatch(graph, inputs, { y: output });
  assert.throws(() => own.dispatch(graph, { x: input, [Symbol('s')]: input }, { y: output }), TypeError);
  assert.throws(() => own.dispatch(graph, 'x', { y: output }), TypeError);
  assert.throws(() => own.dispatch(graph, { x: {} }, { y: output }), TypeError);
  assert.throws(() => own.dispatch(graph, { x: input, z: input }, { y: output }), TypeError);
});

test('overloads are chosen by the number of arguments and by type', async () => {
  const builder = newBuilder();
  const tensor = await context.createConstantTensor(f32(2), new Float32Array(2));
  assert.deepEqual(builder.constant(tensor).shape, [2]);
  assert.throws(() => builder.constant(f32(2)), TypeError);
  assert.throws(() => builder.constant(), TypeError);
  assert.throws(() => builder.constant(tensor, undefined), TypeError);
  assert.throws(() => builder.constant(null, new Float32Array(2)), TypeError);
  const readable = await context.createTensor({ ...f32(2), readable: true });
  await assert.rejects(context.readTensor(readable, undefined), TypeError);
  await assert.rejects(ml.createContext(5), TypeError);
});

test('errors carry the message of the library and the name of the specification', async () => {
  const builder = newBuilder();
  const x = builder.input('x', f32(2));
  assert.throws(() => builder.add(x, builder.input('y', f32(3)), { label: 'sum' }), { name: 'TypeError', message: /add \[sum\]/ });
  await builder.build({ z: builder.abs(x) }); // what has been thrown does not spoil the builder
  assert.throws(() => builder.abs(x), (error) => error instanceof DOMException && error.name === 'InvalidStateError');
  await assert.rejects(newBuilder().build({}), TypeError);
});

test('support limits are objects with their members by name', () => {
  const limits = context.opSupportLimits();
  assert.deepEqual(Object.keys(limits), Object.keys(limits).sort());
  assert.deepEqual(Object.keys(limits.conv2d), ['bias', 'filter', 'input', 'output']);
  assert.deepEqual(limits.conv2d.input, { dataTypes: ['float32', 'float16'], rankRange: { max: 4, min: 4 } });
  assert.equal(typeof limits.maxTensorByteLength, 'number');
});
