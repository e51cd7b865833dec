// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Measures what JavaScript costs: the package for Node.js against the same calls in C (docs/node.md).
//
//   node --expose-gc bench/node.mjs MODEL [--bench build/release/bin/webnn-bench] [--rounds N]
//
// MODEL is a folder with a network described layer by layer.  With --bench the figures in C are taken in turns with those in
// JavaScript, N times (3), and the best round of each is printed.  OMP_NUM_THREADS says how many threads both use (1).
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { buildManifest } from '../examples/node/support/manifest.mjs';
import { readNpy } from '../examples/node/support/npy.mjs';
import { webnn } from '../examples/node/support/packages.mjs';

process.env.OMP_NUM_THREADS ??= '1';
const { ml, MLGraphBuilder } = webnn();
const { values: options, positionals: [folder] } = parseArgs({
  allowPositionals: true, options: { bench: { type: 'string' }, rounds: { type: 'string', default: '3' } },
});

/** Returns median and smallest time of a call in milliseconds. */
async function measure(call, seconds) {
  const times = [];
  for (let i = 0; i < 20; i++)
    await call();
  for (const end = performance.now() + seconds * 1000; performance.now() < end || times.length < 5;) {
    const begin = performance.now();
    await call();
    times.push(performance.now() - begin);
  }
  times.sort((a, b) => a - b);
  return { median: times[times.length >> 1], min: times[0] };
}

// ---------------------------------------------------------------------------------------------- graphs with tensors

const elements = { dataType: 'float32', shape: [16] };

async function oneOperator(context) {
  const builder = new MLGraphBuilder(context);
  const graph = await builder.build({ y: builder.relu(builder.input('x', elements)) });
  const input = await context.createTensor({ ...elements, writable: true });
  const output = await context.createTensor({ ...elements, readable: true });
  return { graph, inputs: { x: input }, outputs: { y: output } };
}

async function network(context) {
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'manifest.json')));
  const names = manifest.outputs.map(({ name }) => name);
  const graph = await buildManifest(new MLGraphBuilder(context), folder, manifest, names);
  const inputs = {};
  const outputs = {};
  for (const { name, dataType, shape } of manifest.inputs) {
    inputs[name] = await context.createTensor({ dataType, shape, writable: true });
    context.writeTensor(inputs[name], readNpy(path.join(folder, manifest.cases[0].inputs[name])).data);
  }
  for (const { name, dataType, shape } of manifest.outputs)
    outputs[name] = await context.createTensor({ dataType, shape, readable: true });
  return { graph, inputs, outputs };
}

/** Dispatches a graph and reads every output. */
async function run(context, { graph, inputs, outputs }) {
  context.dispatch(graph, inputs, outputs);
  await Promise.all(Object.values(outputs).map((tensor) => context.readTensor(tensor)));
}

// ---------------------------------------------------------------------------------------------- figures

/** Compiles that many matmuls, each of another size; returns how long it took, and the longest that a timer of 1 ms paused
 * meanwhile, in milliseconds. */
async function timerGap(context, layers) {
  const builder = new MLGraphBuilder(context);
  let x = builder.input('x', { dataType: 'float32', shape: [16, 64] });
  for (let i = 1; i <= layers; i++) {
    const shape = [63 + i, 64 + i];
    const weights = builder.constant({ dataType: 'float32', shape }, new Float32Array(shape[0] * shape[1]));
    x = builder.tanh(builder.matmul(x, weights));
  }
  let gap = 0;
  const promise = builder.build({ x });
  const begin = performance.now();
  let last = begin;
  const timer = setInterval(() => {
    gap = Math.max(gap, performance.now() - last);
    last = performance.now();
  }, 1);
  await promise;
  gap = Math.max(gap, performance.now() - last);
  clearInterval(timer);
  return { compilation: performance.now() - begin, gap };
}

/** Returns the resident memory in MiB after every hundredth of 1,000 cycles of build, dispatch, read and destroy. */
async function cycles(context) {
  const memory = [];
  for (let i = 1; i <= 1000; i++) {
    const each = await oneOperator(context);
    await run(context, each);
    for (const object of [each.graph, ...Object.values(each.inputs), ...Object.values(each.outputs)])
      object.destroy();
    if (i % 100 === 0) {
      globalThis.gc?.();
      await new Promise(setImmediate); // when finalizers run
      memory.push(Math.round(process.memoryUsage.rss() / 2 ** 20));
    }
  }
  return memory;
}

function inC(...words) {
  const { stdout, stderr, status } = spawnSync(options.bench, [...words, '--threads', process.env.OMP_NUM_THREADS, '--json'],
    { encoding: 'utf8' });
  if (status !== 0)
    throw new Error(stderr);
  return JSON.parse(stdout.trim().split('\n').at(-1));
}

const context = await ml.createContext();
const gaps = [await timerGap(context, 100), await timerGap(context, 800)];
const [small, large] = [await oneOperator(context), await network(context)];
const best = {};
const keep = (name, time) => { best[name] = Math.min(best[name] ?? Infinity, time); };
for (let round = 0; round < Number(options.rounds); round++) {
  keep('call', 1000 * (await measure(() => run(context, small), 1)).median);
  const { median, min } = await measure(() => run(context, large), 2);
  keep('median', median);
  keep('min', min);
  if (options.bench) {
    keep('callC', inC('--overhead').dispatch_read_us);
    const model = inC(folder, '--seconds', '2');
    keep('medianC', model.median_ms);
    keep('minC', model.min_ms);
  }
}
const memory = await cycles(context);

const [call, callC, median, medianC, min, minC] = ['call', 'callC', 'median', 'medianC', 'min', 'minC']
  .map((name) => best[name]?.toFixed(2) ?? '-');
console.log(`one operator, dispatch and readTensor awaited: ${call} us, in C ${callC} us`);
console.log(`${path.basename(folder)}: median ${median} ms, in C ${medianC} ms; smallest ${min} ms, in C ${minC} ms`);
for (const { compilation, gap } of gaps)
  console.log(`a compilation of ${compilation.toFixed(0)} ms: largest gap between timers ${gap.toFixed(1)} ms`);
console.log(`1,000 cycles of build, dispatch, read and destroy: resident MiB after each hundred ${memory.join(' ')}`);
