// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes a network that is described layer by layer (docs/formats.md) as an ONNX file for classify_onnx.mjs.
//
//   node write_onnx.mjs MODEL OUT.onnx
import fs from 'node:fs';
import path from 'node:path';

import { onnxOfManifest } from './support/onnx_writer.mjs';

const [folder, name] = process.argv.slice(2);
if (name === undefined) {
  console.error('usage: write_onnx.mjs MODEL OUT.onnx');
  process.exit(2);
}
const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'manifest.json')));
fs.writeFileSync(name, onnxOfManifest(folder, manifest, manifest.inputs[0].name, manifest.outputs.at(-1).name));
