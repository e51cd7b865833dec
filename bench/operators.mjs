// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times one ONNX model of fixed shapes in ONNX Runtime's CPU engine, for operators.py.
//
//   node operators.mjs MODEL.onnx THREADS SECONDS     (run where the package onnxruntime-node is installed)
//
// It does what ort_bench.mjs of the shared data does, but inputs may have any type that the operators take, and ort_time.mjs
// says where results go.
// Floating-point numbers are noise between -1 and 1, of float16's between 0.5 and 1; integers and booleans are 0 or 1.
import { open, ort, time } from './ort_time.mjs';

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

const opened = await open(file, threads);

await time(opened, tensors(opened.session.inputMetadata), tensors(opened.session.outputMetadata), seconds);
