// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The garbage collector frees native memory (--expose-gc), and memory in use stays.
import assert from 'node:assert/strict';
import test from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';

import { ml, MLGraphBuilder, f32, smallGraph, sanitized } from './support.mjs';

async function collect() {
  for (let i = 0; i < 4; i++) {
    globalThis.gc();
    await turn();
  }
}

test('tensors that are forgotten are collected in time, as the collector knows their size', { skip: sanitized }, async () => {
  const context = await ml.createContext();
  const data = new Float32Array(1 << 20), count = 500;
  const before = process.memoryUsage().rss;
  let most = 0;
  for (let i = 0; i < count; i++) {
    const tensor = await context.createTensor({ ...f32(1 << 20), writable: true });
    context.writeTensor(tensor, data);
    most = Math.max(most, process.memoryUsage().rss);
  }
  // A collector that marks concurrently may lag behind a fast program, but not by half of all tensors.
  assert.ok(most < before + data.byteLength * count / 2, `resident memory grew from ${before} to ${most} bytes`);
});

test('contexts that reactions of their promise refer to are collected', async () => {
  let collected = 0;
  const registry = new FinalizationRegistry(() => collected++);
  for (let i = 0; i < 20; i++) {
    const { context } = await smallGraph();
    context.lost.then(() => context.destroy());
    registry.register(context, undefined);
  }
  await collect();
  assert.ok(collected >= 18, `${collected} of 20 contexts were collected`);
});

test('operands and graphs keep what they need', async () => {
  const y = await (async () => {
    const context = await ml.createContext();
    const builder = new MLGraphBuilder(context);
    return builder.abs(builder.input('x', f32(5)));
  })();
  await collect();
  assert.deepEqual(y.shape, [5]);
  const { context, graph, input, output } = await smallGraph(2);
  await collect();
  context.writeTensor(input, new Float32Array([1, 2]));
  context.dispatch(graph, { x: input }, { y: output });
  const promise = context.readTensor(output);
  await collect();
  assert.deepEqual([...new Float32Array(await promise)], [2, 4]);
});

test('build, dispatch, read, destroy many times: memory stays', { skip: sanitized }, async () => {
  const cycle = async () => {
    const { context, graph, input, output } = await smallGraph(1000);
    context.dispatch(graph, { x: input }, { y: output });
    await context.readTensor(output);
    context.destroy();
  };
  for (let i = 0; i < 30; i++)
    await cycle();
  await collect();
  const before = process.memoryUsage();
  for (let i = 0; i < 60; i++)
    await cycle();
  await collect();
  const after = process.memoryUsage();
  assert.ok(after.external <= before.external + 100000, `external memory grew from ${before.external} to ${after.external} bytes`);
  assert.ok(after.rss <= before.rss + 40e6, `resident memory grew from ${before.rss} to ${after.rss} bytes`);
});
