// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// examples.mjs MOBILENETV2
// Tests that the examples in JavaScript see a lesser panda.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const model = process.argv[2];
const examples = fileURLToPath(new URL('../../examples/node', import.meta.url));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'webnn-examples-'));
test.after(() => fs.rmSync(folder, { recursive: true }));

/** Returns what an example prints. */
function run(name, ...words) {
  const { stdout, stderr, status } = spawnSync(process.execPath, [path.join(examples, name), ...words],
    { encoding: 'utf8', timeout: 120000 });
  assert.equal(stderr, '');
  assert.equal(status, 0);
  return stdout;
}

/** Returns why a test that needs npm packages cannot run, false if it can. */
function missing(...packages) {
  const absent = packages.filter((name) => !fs.existsSync(path.join(process.env.WEBNN_NODE_MODULES ?? '', name)));
  return absent.length > 0 && `WEBNN_NODE_MODULES names no folder node_modules with ${absent.join(' and ')}`;
}

test('builder calls of the program\'s own', () => {
  assert.match(run('classify.mjs', model), /\n 99\.59 % {2}387 {2}lesser panda\n {2}0\.21 % {2}358 {2}polecat\n/);
});

test('ONNX Runtime Web on navigator.ml', { skip: missing('onnxruntime-web') }, () => {
  const file = path.join(folder, 'mobilenetv2.onnx');
  assert.equal(run('write_onnx.mjs', model, file), '');
  assert.match(run('classify_onnx.mjs', file, path.join(model, 'test_224.png'), path.join(model, 'classes.txt')),
    /\n 99\.59 % {2}387 {2}lesser panda\n {2}0\.21 % {2}358 {2}polecat\n/);
  // A file with an open dimension, and one that was made of a manifest: grey pictures.
  const shapes = path.join(examples, '../models/shapes');
  assert.equal(run('write_onnx.mjs', shapes, file), '');
  for (const onnx of [path.join(shapes, 'model.onnx'), file])
    assert.match(run('classify_onnx.mjs', onnx, path.join(shapes, 'star.png'), path.join(shapes, 'classes.txt')),
      /\n 99\.32 % {2}3 {2}star\n {2}0\.68 % {2}5 {2}cross\n/);
});

test('a pipeline of transformers.js', { skip: missing('onnxruntime-web', '@huggingface/transformers') }, () => {
  assert.match(run('pipeline.mjs', model), /^ 99\.59 % {2}lesser panda\n {2}0\.21 % {2}polecat\n/);
});

test('pictures are read, and other files are refused', async () => {
  const { readPng } = await import(path.join(examples, 'support/picture.mjs'));
  const { width, height, pixels } = readPng(path.join(examples, '../data/still_life.png'));
  assert.equal(pixels.length, width * height * 3);
  assert.throws(() => readPng(path.join(examples, 'classify.mjs')), /is no PNG file/);
});
