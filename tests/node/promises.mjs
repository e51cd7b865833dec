// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Promises, destruction, the end of the process, workers.
import assert from 'node:assert/strict';
import test from 'node:test';
import { Worker } from 'node:worker_threads';

import { webnn, ml, MLGraphBuilder, f32, smallGraph, runProgram, sanitized } from './support.mjs';

const isInvalidState = (error) => error instanceof DOMException && error.name === 'InvalidStateError';

/** A graph whose compilation takes a while: matmuls each of another size, so that they share no code. */
async function largeBuilder(context, layers) {
  const builder = new MLGraphBuilder(context);
  let x = builder.input('x', f32(16, 16));
  for (let i = 16; i < 16 + layers; i++)
    x = builder.tanh(builder.matmul(x, builder.constant(f32(i, i + 1), new Float32Array(i * (i + 1)))));
  return { builder, y: x };
}

test('dispatch, read and write compute', async () => {
  const { context, graph, input, output } = await smallGraph(3);
  context.writeTensor(input, new Float32Array([1, 2, 3]));
  context.dispatch(graph, { x: input }, { y: output });
  const result = await context.readTensor(output);
  assert.ok(result instanceof ArrayBuffer);
  assert.deepEqual([...new Float32Array(result)], [2, 4, 6]);
  const own = new Float32Array(3);
  assert.equal(await context.readTensor(output, own), undefined);
  assert.deepEqual([...own], [2, 4, 6]);
  const shared = new Float32Array(new SharedArrayBuffer(20), 8);
  await context.readTensor(output, shared);
  assert.deepEqual([...shared], [2, 4, 6]);
  for (const Bytes of [Uint8Array, Int8Array]) { // the second is no class of the specification's, but ONNX Runtime Web's
    const bytes = new Bytes(12);
    await context.readTensor(output, bytes);
    assert.deepEqual([...new Float32Array(bytes.buffer)], [2, 4, 6]);
  }
});

test('a program\'s buffer that is detached while it is read into rejects the promise', async () => {
  const { context, output } = await smallGraph();
  const buffer = new ArrayBuffer(16);
  const promise = context.readTensor(output, buffer);
  structuredClone(buffer, { transfer: [buffer] });
  await assert.rejects(promise, TypeError);
  await assert.rejects(context.readTensor(output, new ArrayBuffer(20)), TypeError);
  await assert.rejects(context.readTensor(output, new Int32Array(4)), TypeError);
});

test('the event loop turns while a graph is being compiled', async () => {
  const context = await ml.createContext();
  const { builder, y } = await largeBuilder(context, sanitized ? 8 : 40);
  let turns = 0;
  let isBuilt = false;
  const turn = () => {
    turns++;
    if (!isBuilt)
      setImmediate(turn);
  };
  setImmediate(turn);
  const promise = builder.build({ y });
  assert.equal(turns, 0);
  await promise;
  isBuilt = true;
  assert.ok(turns > 0);
});

test('destroy() is idempotent, loses the context and everything of it', async () => {
  const { context, graph, input, output } = await smallGraph();
  let info;
  const lost = context.lost.then((value) => { info = value; });
  assert.equal(context.lost, context.lost);
  context.destroy();
  context.destroy();
  await lost;
  assert.equal(typeof info.message, 'string');
  assert.ok(info.message.length > 0);
  await assert.rejects(context.createTensor(f32(1)), isInvalidState);
  await assert.rejects(context.createConstantTensor(f32(1), new Int8Array(9)), isInvalidState);
  await assert.rejects(context.readTensor(output), isInvalidState);
  assert.throws(() => context.writeTensor(input, new Int8Array(3)), isInvalidState);
  assert.throws(() => context.dispatch(graph, { x: input }, { y: output }), isInvalidState);
  assert.throws(() => new MLGraphBuilder(context), isInvalidState);
});

test('a read is pending until the program hears of its end: destroying the tensor first rejects it', async () => {
  for (let i = 0; i < 6; i++) {
    const { context, output } = await smallGraph();
    const promises = [context.readTensor(output), context.readTensor(output, new Float32Array(4))];
    for (const until = performance.now() + 3; performance.now() < until;)
      ; // the library has read by then
    (i % 2 ? output : context).destroy();
    for (const promise of promises)
      await assert.rejects(promise, isInvalidState);
  }
});

test('graphs and tensors are destroyed one by one', async () => {
  const { context, graph, input, output } = await smallGraph();
  input.destroy();
  input.destroy();
  assert.throws(() => context.writeTensor(input, new Float32Array(4)), TypeError);
  assert.throws(() => context.dispatch(graph, { x: input }, { y: output }), TypeError);
  graph.destroy();
  assert.throws(() => context.dispatch(graph, { x: input }, { y: output }), isInvalidState);
  assert.deepEqual(input.shape, [4]);
});

test('objects of another context are refused', async () => {
  const [a, b] = [await smallGraph(), await smallGraph()];
  assert.throws(() => a.context.dispatch(b.graph, { x: a.input }, { y: a.output }), TypeError);
  assert.throws(() => a.context.writeTensor(b.input, new Float32Array(4)), TypeError);
  await assert.rejects(a.context.readTensor(b.output), TypeError);
});

test('a GPUDevice is not supported, and no tensor is exportable', async () => {
  const { context, output } = await smallGraph();
  const { output: other } = await smallGraph();
  for (const wrong of [undefined, null, 1, {}, context])
    await assert.rejects(context.createExportableTensor(f32(2), wrong), { name: 'TypeError', message: /gpuDevice is not a GPUDevice/ });
  await assert.rejects(context.createExportableTensor(f32(2)), TypeError);
  for (const wrong of [undefined, {}, context, output, other])
    assert.throws(() => context.exportToGPU(wrong), TypeError);
  globalThis.GPUDevice = class GPUDevice {};
  try {
    const device = new globalThis.GPUDevice();
    await assert.rejects(ml.createContext(device), { name: 'NotSupportedError' });
    await assert.rejects(context.createExportableTensor({ ...f32(2), dataType: 'none' }, device), TypeError);
    await assert.rejects(context.createExportableTensor(f32(2), device), { name: 'NotSupportedError' });
    context.destroy();
    await assert.rejects(context.createExportableTensor(f32(2), device), isInvalidState);
    assert.throws(() => context.exportToGPU(output), isInvalidState);
    assert.throws(() => context.exportToGPU({}), TypeError);
  } finally {
    delete globalThis.GPUDevice;
  }
});

test('nothing keeps the process alive, and a promise that waits does', () => {
  const { stdout, stderr, status } = runProgram(`
    const { context, graph, input, output } = await smallGraph();
    context.lost.then(() => console.log('lost'));
    context.dispatch(graph, { x: input }, { y: output });
    context.readTensor(output).then(() => console.log('read'));
  `);
  assert.equal(stderr, '');
  assert.equal(stdout, 'read\n');
  assert.equal(status, 0);
});

for (const end of ['process.exit(0)', 'throw 1', '// by itself'])
  test(`a process that ends with work under way ends cleanly: ${end}`, () => {
    const { signal, status } = runProgram(`
      const contexts = [await ml.createContext(), await ml.createContext()];
      const { context, graph, input, output } = await smallGraph(100000);
      for (const each of contexts) {
        const builder = new MLGraphBuilder(each);
        let x = builder.input('x', f32(64, 64));
        for (let i = 0; i < ${sanitized ? 4 : 40}; i++)
          x = builder.tanh(builder.matmul(x, builder.constant(f32(64, 64), new Float32Array(4096).fill(i))));
        builder.build({ x });
      }
      for (let i = 0; i < 100; i++) {
        context.dispatch(graph, { x: input }, { y: output });
        context.readTensor(output);
      }
      ml.createContext();
      ${end};
    `);
    assert.equal(signal, null);
    assert.equal(status, end.startsWith('throw') ? 1 : 0);
  });

test('workers have contexts of their own, and can be terminated with work under way', async () => {
  const source = `
    const { parentPort, workerData } = require('node:worker_threads');
    const { ml, MLGraphBuilder } = require(workerData);
    (async () => {
      const context = await ml.createContext();
      const builder = new MLGraphBuilder(context);
      const x = builder.input('x', { dataType: 'float32', shape: [2] });
      const graph = await builder.build({ y: builder.add(x, x) });
      const input = await context.createConstantTensor({ dataType: 'float32', shape: [2] }, new Float32Array(2));
      const tensor = await context.createTensor({ dataType: 'float32', shape: [2], writable: true, readable: true });
      const output = await context.createTensor({ dataType: 'float32', shape: [2], readable: true });
      context.writeTensor(tensor, new Float32Array([1, 2]));
      context.dispatch(graph, { x: tensor }, { y: output });
      parentPort.postMessage([...new Float32Array(await context.readTensor(output))]);
      for (;;)
        await context.readTensor(output);
    })();
  `;
  const workers = Array.from({ length: 3 }, () => new Worker(source, { eval: true, workerData: process.env.WEBNN_NODE_PACKAGE }));
  const results = await Promise.all(workers.map((worker) => new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  })));
  assert.deepEqual(results, [[2, 4], [2, 4], [2, 4]]);
  await Promise.all(workers.map((worker) => worker.terminate()));
  const { context, output } = await smallGraph();
  assert.equal((await context.readTensor(output)).byteLength, 16);
});
