// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times a decoder in ONNX Runtime's CPU engine, for language_models.py.
//
//   node decode.mjs MODEL.onnx SEQUENCE CAPACITY VALID THREADS SECONDS     (run where the package onnxruntime-node is installed)
//
// The caches have room for CAPACITY tokens, of which VALID count with those of this run: SEQUENCE of them.  A cache and the one
// that comes of it are one tensor, so that the operator for attention writes in place.
import { open, ort, time } from './ort_time.mjs';

const [file, ...numbers] = process.argv.slice(2);
const [sequence, capacity, valid, threads, seconds] = numbers.map(Number);

const sizes = { sequence, total: capacity, past: capacity };
const arrays = { float32: Float32Array, float16: globalThis.Float16Array ?? Uint16Array, int64: BigInt64Array };
const tensor = ({ name, type, shape }) => {
  const dims = shape.map((d) => (typeof d === 'number' ? d : sizes[d]));
  const data = new arrays[type](dims.reduce((a, b) => a * b, 1));
  if (name === 'input_ids') data.forEach((_, i) => { data[i] = BigInt(300 + (i * 37) % 40000); });
  if (name === 'attention_mask') data.fill(1n, 0, valid);
  return new ort.Tensor(type, data, dims);
};

const opened = await open(file, threads);
const feeds = Object.fromEntries(opened.session.inputMetadata.map((m) => [m.name, tensor(m)]));
const results = Object.fromEntries(opened.session.outputMetadata.map((m) =>
  [m.name, feeds[m.name.replace(/^present/, 'past_key_values')] ?? tensor(m)]));

await time(opened, feeds, results, seconds, { threads });
