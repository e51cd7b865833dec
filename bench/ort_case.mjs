// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times a model in ONNX Runtime on the inputs of its first case, as webnn-bench takes them:
//
//   node ort_case.mjs FOLDER [THREADS=1] [SECONDS=3]     (run where the package onnxruntime-node is installed)
//
// FOLDER has a manifest.json with "model" (the ONNX file) and "cases", whose arrays are .npy files of any type.  Where the case
// has no outputs, those that are computed are written: OUTPUT.npy.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { open, ort, time } from './ort_time.mjs';

const [folder, threads = '1', seconds = '3'] = process.argv.slice(2);
if (!folder) { console.error('usage: ort_case.mjs FOLDER [THREADS] [SECONDS]'); process.exit(2); }

const TYPES = {
  '<f4': ['float32', Float32Array], '<f8': ['float64', Float64Array], '<i4': ['int32', Int32Array],
  '<i8': ['int64', BigInt64Array], '<f2': ['float16', globalThis.Float16Array ?? Uint16Array],
  '|i1': ['int8', Int8Array], '|u1': ['uint8', Uint8Array], '|b1': ['bool', Uint8Array],
};

function readNpy(path) {
  const bytes = readFileSync(path);
  const wide = bytes[6] > 1;
  const start = (wide ? 12 : 10) + (wide ? bytes.readUInt32LE(8) : bytes.readUInt16LE(8));
  const header = bytes.toString('latin1', wide ? 12 : 10, start);
  const descr = /'descr': *'([^']*)'/.exec(header)[1];
  const shape = /'shape': *\(([^)]*)\)/.exec(header)[1].split(',').filter(d => d.trim()).map(Number);
  if (!TYPES[descr] || /'fortran_order': *True/.test(header)) throw new Error(`${path}: ${header} is not read here`);
  const [type, Array] = TYPES[descr];
  const own = bytes.buffer.slice(bytes.byteOffset + start, bytes.byteOffset + bytes.length); // aligned
  return new ort.Tensor(type, new Array(own), shape);
}

function writeNpy(path, { type, dims, data }) {
  const descr = Object.keys(TYPES).find((key) => TYPES[key][0] === type);
  const shape = dims.map((size) => `${size},`).join('');
  const header = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape}), }`;
  const begin = Buffer.from(`\x93NUMPY\x01\x00\0\0${header.padEnd(header.length + (-(header.length + 11) & 63))}\n`, 'latin1');
  begin.writeUInt16LE(begin.length - 10, 8);
  writeFileSync(path, Buffer.concat([begin, Buffer.from(data.buffer, data.byteOffset, data.byteLength)]));
}

const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8'));
const arrays = (given) => Object.fromEntries((Array.isArray(given) ? given.map(i => [i.name, i.file]) : Object.entries(given))
  .map(([name, file]) => [name, readNpy(join(folder, file))]));

const opened = await open(join(folder, manifest.model), threads);
const feeds = arrays(manifest.cases[0].inputs);
if (!manifest.cases[0].outputs) {
  for (const [name, tensor] of Object.entries(await opened.session.run(feeds))) writeNpy(join(folder, `${name}.npy`), tensor);
  manifest.cases[0].outputs = Object.fromEntries(opened.session.outputNames.map((name) => [name, `${name}.npy`]));
}
const results = arrays(manifest.cases[0].outputs);
for (const name of opened.session.outputNames) if (!results[name]) throw new Error(`${folder}: the case has no output ${name}`);

await time(opened, feeds, results, seconds, { model: manifest.name, threads: Number(threads) });
