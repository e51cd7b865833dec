// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs that do harm in the middle of a call: getters and iterators that destroy, collect, build and call back.
import assert from 'node:assert/strict';
import test from 'node:test';

import { webnn, ml, MLGraphBuilder, f32, smallGraph } from './support.mjs';

const isInvalidState = (error) => error instanceof DOMException && error.name === 'InvalidStateError';

test('a getter that destroys the context in the middle of a call', async () => {
  const { context, graph, input, output } = await smallGraph();
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', f32(4));
  assert.throws(() => builder.softmax(x, 0, { get label() { context.destroy(); return 'a'; } }), isInvalidState);
  assert.throws(() => context.dispatch(graph, { get x() { return input; } }, { y: output }), isInvalidState);
});

test('a getter that builds the graph in the middle of a call of its builder', async () => {
  const context = await ml.createContext();
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', f32(4));
  const y = builder.abs(x);
  let built;
  assert.throws(() => builder.elu(y, { get alpha() { built ??= builder.build({ y }); return 1; } }), isInvalidState);
  assert.ok(await built instanceof webnn.MLGraph);
});

test('an iterator that collects garbage, and forgets what it has given', async () => {
  const context = await ml.createContext();
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', f32(4));
  function* operands() {
    for (let i = 0; i < 20; i++) {
      yield builder.abs(x);
      globalThis.gc();
    }
  }
  assert.deepEqual(builder.concat(operands(), 0).shape, [80]);
});

test('proxies whose traps lie, throw and destroy', async () => {
  const { context, graph, input, output } = await smallGraph();
  const mine = new Error('mine');
  for (const trap of ['ownKeys', 'getOwnPropertyDescriptor', 'get'])
    assert.throws(() => context.dispatch(graph, new Proxy({ x: input }, { [trap]() { throw mine; } }), { y: output }), (error) => error === mine);
  const without = new Proxy({}, { ownKeys: () => ['x', 'z'], getOwnPropertyDescriptor: () => undefined });
  assert.throws(() => context.dispatch(graph, without, { y: output }), TypeError);
  const destroying = new Proxy({ x: input }, { get(target, key) { input.destroy(); return target[key]; } });
  assert.throws(() => context.dispatch(graph, destroying, { y: output }), TypeError);
});

test('a promise whose result has a then of the program\'s', async () => {
  const { context, output } = await smallGraph();
  let inner;
  Object.defineProperty(ArrayBuffer.prototype, 'then', {
    get() {
      inner ??= context.readTensor(output, new Float32Array(4));
      context.lost;
      return undefined;
    },
    configurable: true,
  });
  try {
    await context.readTensor(output);
  } finally {
    delete ArrayBuffer.prototype.then;
  }
  assert.equal(await inner, undefined);
});

test('many promises of a context that is destroyed all settle', async () => {
  const { context, output } = await smallGraph();
  const promises = Array.from({ length: 500 }, () => context.readTensor(output));
  promises.push(...Array.from({ length: 50 }, () => context.createTensor(f32(1000))));
  context.destroy();
  for (const { status, reason } of await Promise.allSettled(promises))
    assert.ok(status === 'fulfilled' || isInvalidState(reason));
  assert.equal((await Promise.allSettled(promises.slice(0, 500))).filter(({ status }) => status === 'fulfilled').length, 0);
});

test('names and labels of any characters and any length', async () => {
  const context = await ml.createContext();
  const builder = new MLGraphBuilder(context);
  const names = ['\0', 'a\0b', '\u{1F600}', '\uD800', '__proto__', 'constructor', '%s%n'];
  const outputs = Object.fromEntries(names.map((name, i) => [name, builder.abs(builder.input(name, f32(i + 1)), { label: name })]));
  const graph = await builder.build(outputs);
  const tensors = async (options) => Object.fromEntries(await Promise.all(names.map(async (name, i) =>
    [name, await context.createTensor({ ...f32(i + 1), ...options })])));
  context.dispatch(graph, await tensors({}), await tensors({ readable: true }));
  const other = new MLGraphBuilder(context);
  assert.throws(() => other.input('', f32(1)), TypeError);
  assert.throws(() => other.abs(other.input('x', f32(1)), { label: 'a'.repeat(1 << 17) }), TypeError);
  assert.throws(() => other.abs(other.input('y', f32(1)), { label: Symbol('s') }), TypeError);
});

test('more operands and dimensions than there can be', async () => {
  const context = await ml.createContext();
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', f32(1));
  assert.throws(() => builder.concat(Array(9000).fill(x), 0), TypeError);
  assert.throws(() => builder.concat([], 0), TypeError);
  assert.throws(() => builder.input('many', f32(...Array(5000).fill(1))), TypeError);
  assert.throws(() => builder.split(x, Array(10000).fill(1)), TypeError);
  assert.throws(() => builder.reshape(x, { *[Symbol.iterator]() { for (let i = 0; i < 100000; i++) yield 1; } }), TypeError);
  await assert.rejects(context.createTensor(f32(2 ** 31 - 1, 2)), TypeError);
});

test('objects made without their constructors', async () => {
  const { context } = await smallGraph();
  for (const forged of [Object.create(webnn.MLGraphBuilder.prototype), Object.setPrototypeOf({}, webnn.MLGraphBuilder.prototype)])
    assert.throws(() => forged.input('x', f32(1)), TypeError);
  const builder = new MLGraphBuilder(context);
  Object.setPrototypeOf(builder, null);
  assert.deepEqual(MLGraphBuilder.prototype.input.call(builder, 'x', f32(1)).shape, [1]);
});
