// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classifies a picture, by ONNX Runtime Web, whose WebNN provider runs on navigator.ml of webnn-node.
//
//   node classify_onnx.mjs MODEL.onnx PICTURE.png [LABELS]
//
// MODEL.onnx takes a picture [1, 3, height, width], normalised as networks trained on ImageNet want it, or grey levels
// [1, 1, height, width], and its dimension "batch" may be open; LABELS is a file with a label in each line.  WEBNN_NODE_MODULES names the folder node_modules with the package onnxruntime-web.
import fs from 'node:fs';

import { onnxRuntimeWeb } from './support/packages.mjs';
import { printTop, readPng, toNchw } from './support/picture.mjs';

const [model, picture, labels] = process.argv.slice(2);
if (picture === undefined) {
  console.error('usage: classify_onnx.mjs MODEL.onnx PICTURE.png [LABELS]');
  process.exit(2);
}
const ort = await onnxRuntimeWeb();
const begin = performance.now();
const options = { executionProviders: ['webnn'], logSeverityLevel: 3, freeDimensionOverrides: { batch: 1 } };
const session = await ort.InferenceSession.create(fs.readFileSync(model), options);
const built = performance.now();

const [{ name, shape: [, ...shape] }] = session.inputMetadata;
const pixels = toNchw(readPng(picture), ...shape);
const results = await session.run({ [name]: new ort.Tensor('float32', pixels, [1, ...shape]) });

console.log(`${picture}: built in ${(built - begin).toFixed(0)} ms, computed in ${(performance.now() - built).toFixed(1)} ms`);
printTop(results[session.outputNames.at(-1)].data, labels ? fs.readFileSync(labels, 'utf8').split('\n') : []);
