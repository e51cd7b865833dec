// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times one ONNX model of fixed shapes in ONNX Runtime's CPU engine, for operators.py.
//
//   node operators.mjs MODEL.onnx THREADS SECONDS     (run where the package onnxruntime-node is installed)
//
// As ort_bench.mjs of the shared data, but for two things: inputs may have any type that the operators take, and results go to
// tensors that exist before, as they do in webnn-bench; else copying them would be half of the time of a short operator.
// Floating-point numbers are noise between -1 and 1, of float16's between 0.5 and 1; integers and booleans are 0 or 1.
import { createRequire } from 'node:module';

const ort = createRequire(`${process.cwd()}/`)('onnxruntime-node');
const [file, threads, seconds] = process.argv.slice(2);

let state = 12345;
const random = () => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) / 2 ** 32;
const bit = () => Number(random() < 0.5);
const kinds = {
  float32: [Float32Array, () => 2 * random() - 1],
  float16: [globalThis.Float16Array ?? Uint16Array,
            globalThis.Float16Array ? () => (0.5 + random() / 2) * (2 * bit() - 1)
                                    : () => (bit() << 15) | (14 << 10) | (random() * 1024)],
  int64: [BigInt64Array, () => BigInt(bit())],
  int32: [Int32Array, bit], int8: [Int8Array, bit], uint8: [Uint8Array, bit], bool: [Uint8Array, bit],
};
const tensor = ({ type, shape }) => {
  const [kind, number] = kinds[type];
  return new ort.Tensor(type, kind.from({ length: shape.reduce((a, b) => a * b, 1) }, number), shape);
};
const tensors = (metadata) => Object.fromEntries(metadata.map((m) => [m.name, tensor(m)]));

const start = performance.now();
const session = await ort.InferenceSession.create(file, {
  executionProviders: ['cpu'], graphOptimizationLevel: 'all',
  intraOpNumThreads: Number(threads), interOpNumThreads: 1, executionMode: 'sequential',
});
const load = performance.now() - start;
const feeds = tensors(session.inputMetadata), results = tensors(session.outputMetadata);

const times = [];
for (let i = 0; i < 3; i++) await session.run(feeds, results);
const end = performance.now() + Number(seconds) * 1000;
while (performance.now() < end || times.length < 5) {
  const t = performance.now();
  await session.run(feeds, results);
  times.push(performance.now() - t);
}
times.sort((a, b) => a - b);
console.log(JSON.stringify({
  engine: `onnxruntime ${ort.env.versions.node ?? ort.env.versions.common}`,
  load_ms: load, median_ms: times[times.length >> 1], min_ms: times[0],
  rss_mb: Math.round(process.resourceUsage().maxRSS / 1024), runs: times.length,
}));
