// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The entry onnxruntime of the package: sessions of free dimensions, and a text pipeline of transformers.js, wholly on WebNN.
//
// WEBNN_NODE_MODULES names the folder node_modules with onnxruntime-web and @huggingface/transformers; without them it is skipped.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { pathToFileURL } from 'node:url';

import { makeTextModel } from './text_model.mjs';

const modules = process.env.WEBNN_NODE_MODULES ?? '';
const missing = ['onnxruntime-web', '@huggingface/transformers'].filter((name) => !fs.existsSync(path.join(modules, name)));
if (missing.length > 0) {
  console.log(`skipped: WEBNN_NODE_MODULES names no folder node_modules with ${missing.join(' and ')}`);
  process.exit(77);
}
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'webnn-text-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true }));
makeTextModel(folder, 'encoder');
const file = path.join(folder, 'encoder/onnx/model.onnx');
const entry = path.join(process.env.WEBNN_NODE_PACKAGE, 'onnxruntime.mjs');

const { default: ort } = await import(pathToFileURL(entry).href);
const counts = { build: 0, dispatch: 0 };
for (const [prototype, name] of [[MLGraphBuilder.prototype, 'build'], [MLContext.prototype, 'dispatch']]) {
  const { [name]: method } = prototype;
  prototype[name] = function (...given) {
    counts[name]++;
    return Reflect.apply(method, this, given);
  };
}
const ids = (rows) => new ort.Tensor('int64', BigInt64Array.from(rows.flat(), BigInt), [rows.length, rows[0].length]);
const feeds = (...rows) => ({ input_ids: ids(rows), attention_mask: ids(rows.map((row) => row.map(() => 1))) });

/** Returns the largest difference of two arrays of one length. */
function difference(a, b) {
  assert.equal(a.length, b.length);
  return a.reduce((most, x, i) => Math.max(most, Math.abs(x - b[i])), 0);
}

test('texts of any length run on WebNN whole, and give what ONNX Runtime gives by itself', async () => {
  const session = await ort.InferenceSession.create(file, { logSeverityLevel: 3 });
  const bytes = fs.readFileSync(file), copy = Buffer.concat([Buffer.alloc(8), bytes]);
  const part = await ort.InferenceSession.create(copy.buffer, copy.byteOffset + 8, bytes.length, { logSeverityLevel: 3 });
  assert.deepEqual(part.inputNames, session.inputNames);
  const exact = await ort.InferenceSession.create(file, { logSeverityLevel: 3, webnn: { padding: false } });
  const wasm = await ort.InferenceSession.create(file, { logSeverityLevel: 3, executionProviders: ['wasm'] });
  assert.deepEqual(session.inputNames, wasm.inputNames);
  assert.deepEqual(session.outputNames, wasm.outputNames);
  assert.deepEqual(session.inputMetadata.map(({ name, type, shape }) => [name, type, shape]),
    wasm.inputMetadata.map(({ name, type, shape }) => [name, type, shape]));
  for (const row of [[2, 5, 6, 3], [2, 6, 3], Array.from({ length: 20 }, (_, i) => i % 14)]) {
    const before = { ...counts };
    const { last_hidden_state: given } = await session.run(feeds(row, row.toReversed?.() ?? [...row].reverse()));
    assert.equal(counts.dispatch, before.dispatch + 1);
    const { last_hidden_state: expected } = await wasm.run(feeds(row, [...row].reverse()));
    assert.deepEqual(given.dims, expected.dims);
    assert.ok(difference(given.data, expected.data) < 1e-4);
    const { last_hidden_state: unpadded } = await exact.run(feeds(row, [...row].reverse()));
    assert.ok(difference(unpadded.data, expected.data) < 1e-4);
  }
  assert.equal(counts.build, 2 + 3); // lengths up to 16 share a graph, and without padding each has its own
  await assert.rejects(session.run({ ...feeds([2, 3]), attention_mask: ids([[1, 1, 1]]) }), /sequence_length is 2 and, of input/);
  await session.release();
  await exact.release();
});

test('the provider takes every node', () => {
  const text = `import { InferenceSession, Tensor } from '${entry}';
    const session = await InferenceSession.create('${file}', { logSeverityLevel: 1 });
    const ids = new Tensor('int64', BigInt64Array.of(2n, 5n, 3n), [1, 3]);
    await session.run({ input_ids: ids, attention_mask: ids });`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', text], { encoding: 'utf8' });
  const [, nodes, taken] = /nodes in the graph: (\d+) number of nodes supported by WebNN: (\d+)/.exec(stdout + stderr);
  assert.equal(taken, nodes);
});

test('a pipeline of transformers.js', async () => {
  const { env, pipeline } = await import(pathToFileURL(path.join(modules, '@huggingface/transformers/dist/transformers.node.mjs')).href);
  env.allowRemoteModels = false;
  env.localModelPath = folder;
  const embed = await pipeline('feature-extraction', 'encoder', { device: 'auto', dtype: 'fp32' });
  const texts = ['the panda', 'the panda eats bamboo and sleeps in a tree', 'a tree and a panda and a tree and a panda and a panda in a tree'];
  for (const each of [...texts, texts]) {
    const before = counts.dispatch;
    const { dims, data } = await embed(each, { pooling: 'mean', normalize: true });
    assert.equal(counts.dispatch, before + 1);
    assert.deepEqual(dims, [[each].flat().length, 16]);
    assert.ok(data.every(Number.isFinite));
  }
});
