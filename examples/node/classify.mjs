// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classifies a picture, by builder calls of the program's own.
//
//   node classify.mjs MODEL [PICTURE.png]
//
// MODEL is a folder with a network described layer by layer (docs/formats.md), such as examples/models/shapes: manifest.json,
// weights, and classes.txt with a label in each line.  support/manifest.mjs makes builder calls of it.  PICTURE.png is
// MODEL/test_224.png if it is not given.
import fs from 'node:fs';
import path from 'node:path';

import { buildManifest } from './support/manifest.mjs';
import { webnn } from './support/packages.mjs';
import { printTop, readPng, toNchw } from './support/picture.mjs';

const { ml, MLGraphBuilder } = webnn();

const [folder, picture = path.join(folder ?? '', 'test_224.png')] = process.argv.slice(2);
if (folder === undefined) {
  console.error('usage: classify.mjs MODEL [PICTURE.png]');
  process.exit(2);
}
const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'manifest.json')));
const labels = fs.readFileSync(path.join(folder, 'classes.txt'), 'utf8').split('\n');
const [{ name, dataType, shape }] = manifest.inputs;
const result = manifest.outputs.at(-1);
const begin = performance.now();

const context = await ml.createContext();
const graph = await buildManifest(new MLGraphBuilder(context), folder, manifest, [result.name]);
const input = await context.createTensor({ dataType, shape, writable: true });
const output = await context.createTensor({ dataType: result.dataType, shape: result.shape, readable: true });
const built = performance.now();

context.writeTensor(input, toNchw(readPng(picture), ...shape.slice(1)));
context.dispatch(graph, { [name]: input }, { [result.name]: output });
const values = new Float32Array(await context.readTensor(output));

console.log(`${picture}: built in ${(built - begin).toFixed(0)} ms, computed in ${(performance.now() - built).toFixed(1)} ms`);
printTop(values, labels);
