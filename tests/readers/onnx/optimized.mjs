// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests that models which ONNX Runtime saves optimised, at each of its levels, are read and give the results of the models as
// they were.
//
//   node optimized.mjs WEBNN-RUN MODELS BENCH
//
// MODELS has a folder with manifest.json and model.onnx for each model.  BENCH has small decoders with references, and the
// programs that make networks, which take Python with its package onnx; ONNX Runtime's own results are their references.
// WEBNN_NODE_MODULES names the folder node_modules with onnxruntime-node; where it does not, the exit status is 77.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

import { packageFile } from '../../../examples/node/support/packages.mjs';

const [webnnRun, models, bench] = process.argv.slice(2);
const levels = ['basic', 'extended', 'all'];

if (!fs.existsSync(path.join(process.env.WEBNN_NODE_MODULES ?? '', 'onnxruntime-node'))) {
  console.log('skipped: WEBNN_NODE_MODULES names no folder node_modules with the package onnxruntime-node');
  process.exit(77);
}
const ort = createRequire(import.meta.url)(packageFile('onnxruntime-node'));
const scratch = fs.mkdtempSync(path.join(os.tmpdir(), 'webnn-optimized-'));

// ---------------------------------------------------------------------------------------------- networks

/** Returns {name, model, atol, rtol, cases: [{inputs, outputs}]} of a folder; files by the names of inputs and outputs. */
function ofManifest(folder) {
  const { name, model, tolerance, cases } = JSON.parse(fs.readFileSync(path.join(folder, 'manifest.json')));
  const files = (list) => Object.fromEntries(list.map(({ name, file }) => [name, path.join(folder, file)]));
  return { name, model: path.join(folder, model), ...tolerance,
    cases: cases.map(({ inputs, outputs }) => ({ inputs: files(inputs), outputs: files(outputs) })) };
}

function ofDecoder(weights) {
  const folder = path.join(bench, 'decoder_tiny');
  const cache = [0, 1].flatMap((layer) => ['key', 'value'].map((part) => `${layer}.${part}`));
  const files = (prefix, names) => Object.fromEntries(names.map((name) => [name, path.join(folder, `${prefix}.${name}.npy`)]));
  return { name: `decoder_tiny_${weights}`, model: path.join(folder, `decoder_tiny_${weights}.onnx`), atol: 1e-4, rtol: 1e-4,
    cases: ['decode', 'prompt'].map((call) => ({
      inputs: files(call, ['input_ids', 'attention_mask', ...cache.map((name) => `past_key_values.${name}`)]),
      outputs: files(`${weights}.${call}`, ['logits', ...cache.map((name) => `present.${name}`)]) })) };
}

/**
 * Makes networks of random weights.  Results of 8 bits that lie between two numbers may be rounded either way, and what follows
 * spreads that: of networks that have them most elements must agree, and not too many layers follow each other.
 */
function makeNetworks() {
  const python = (...given) => spawnSync('python3', given, { encoding: 'utf8', cwd: scratch }).status === 0;
  const made = ['mobilenetv2', 'unet_tiny', 'lstm_speech', 'qdq_resblock'];

  if (!python('-c', 'import onnx') || !python(path.join(bench, 'make_models.py'), scratch, ...made)) {
    console.log('skipped: networks that python3 with its package onnx makes');
    return [];
  }
  for (const [form, source] of [['dynamic', 'mobilenetv2'], ['dynamic', 'unet_tiny'], ['qdq', 'unet_tiny']]) {
    python(path.join(bench, 'quantize.py'), form, `${source}.onnx`, `${source}.${form}.onnx`);
    made.push(`${source}.${form}`);
  }
  return made.map((name) => ({ name, model: path.join(scratch, `${name}.onnx`), atol: 1e-4, rtol: 1e-3,
    share: /qdq|dynamic/.test(name) ? 0.5 : 0 }));
}

// ---------------------------------------------------------------------------------------------- comparing

function writeNpy(file, { dims, data }) {
  const shape = dims.map((size) => `${size},`).join('');
  const header = `{'descr': '<f4', 'fortran_order': False, 'shape': (${shape}), }`;
  const begin = Buffer.from(`\x93NUMPY\x01\x00\0\0${header.padEnd(117)}\n`, 'latin1');
  begin.writeUInt16LE(begin.length - 10, 8);
  fs.writeFileSync(file, Buffer.concat([begin, Buffer.from(data.buffer, data.byteOffset, data.byteLength)]));
  return file;
}

/** Returns a case with what a session computes of random numbers. */
async function computed(session) {
  let state = 1;
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 31 - 1;
  const feeds = Object.fromEntries(session.inputMetadata.map(({ name, shape }) => {
    const data = Float32Array.from({ length: shape.reduce((a, b) => a * b, 1) }, next);
    return [name, new ort.Tensor('float32', data, shape)];
  }));
  const results = await session.run(feeds);
  const write = (tensors) => Object.fromEntries(
    Object.entries(tensors).map(([name, tensor]) => [name, writeNpy(path.join(scratch, `${name}.npy`), tensor)]));
  return { inputs: write(feeds), outputs: write(results) };
}

/** Returns the error of the results of a model in a file, or undefined. */
function compare(file, { inputs, outputs }, { atol, rtol, share = 0 }) {
  const given = [file, '--quiet', '--atol', atol, '--rtol', rtol];
  for (const [option, files] of [['--input', inputs], ['--compare', outputs]])
    for (const [name, each] of Object.entries(files))
      given.push(option, `${name}=${each}`);
  const { status, stdout, stderr } = spawnSync(webnnRun, given.map(String), { encoding: 'utf8' });
  const beyond = [...stdout.matchAll(/(\d+) of (\d+) elements are beyond/g)];
  if (status === 0 || (status === 1 && beyond.length > 0 && beyond.every(([, wrong, all]) => wrong <= share * all)))
    return undefined;
  return `${stdout}${stderr}`;
}

async function check(network) {
  const wrong = [];
  for (const level of levels) {
    const saved = path.join(scratch, `saved.${level}.onnx`);
    const session = await ort.InferenceSession.create(network.model,
      { graphOptimizationLevel: level, optimizedModelFilePath: saved, logSeverityLevel: 3, intraOpNumThreads: 1 });
    for (const each of network.cases ?? [await computed(session)]) {
      const problem = compare(saved, each, network);
      if (problem)
        wrong.push(`${level}: ${problem}`);
    }
    await session.release();
  }
  return wrong;
}

// ---------------------------------------------------------------------------------------------- the program

const networks = [
  ...fs.readdirSync(models).filter((name) => fs.existsSync(path.join(models, name, 'model.onnx'))).sort()
    .map((name) => ofManifest(path.join(models, name))),
  ...['f32', 'q4', 'q8'].map(ofDecoder),
  ...makeNetworks(),
];
try {
  for (const network of networks) {
    const wrong = await check(network);
    console.log(wrong.length === 0 ? `ok ${network.name}` : `FAILED ${network.name}\n${wrong.join('\n')}`);
    if (wrong.length > 0)
      process.exitCode = 1;
  }
} finally {
  fs.rmSync(scratch, { recursive: true });
}
