// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Opens and times ONNX Runtime, for ort_case.mjs and operators.mjs (run where the package onnxruntime-node is installed).
// Results go to tensors that exist already, as they do in webnn-bench; else copying them would be half of a short run's time.
import { createRequire } from 'node:module';

export const ort = createRequire(`${process.cwd()}/`)('onnxruntime-node');

/** Returns the session, and the milliseconds that creating it took. */
export async function open(file, threads) {
  const start = performance.now();
  const session = await ort.InferenceSession.create(file, {
    executionProviders: ['cpu'], graphOptimizationLevel: 'all',
    intraOpNumThreads: Number(threads), interOpNumThreads: 1, executionMode: 'sequential',
  });
  return { session, load: performance.now() - start };
}

/** Prints one JSON line with the keys of the shared ort_bench.mjs, and those of `more`. */
export async function time({ session, load }, feeds, results, seconds, more = {}) {
  for (let i = 0; i < 3; i++) await session.run(feeds, results);
  const times = [];
  const end = performance.now() + Number(seconds) * 1000;
  while (performance.now() < end || times.length < 5) {
    const t = performance.now();
    await session.run(feeds, results);
    times.push(performance.now() - t);
  }
  times.sort((a, b) => a - b);
  const ms = (x) => +x.toFixed(4);
  console.log(JSON.stringify({
    engine: `onnxruntime ${ort.env.versions.node ?? ort.env.versions.common}`, ...more, runs: times.length, load_ms: ms(load),
    median_ms: ms(times[times.length >> 1]), min_ms: ms(times[0]), p90_ms: ms(times[Math.floor(times.length * 0.9)]),
    rss_mb: Math.round(process.resourceUsage().maxRSS / 1024),
  }));
}
