// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Classifies a picture, by a pipeline of transformers.js on navigator.ml of webnn-node, and a model folder made here.
//
//   node pipeline.mjs MODEL [PICTURE]
//
// MODEL is the folder of MobileNetV2, described layer by layer.  The program makes of it what a model hub would have:
// config.json, preprocessor_config.json and onnx/model.onnx.  WEBNN_NODE_MODULES names the folder node_modules with the
// packages @huggingface/transformers and onnxruntime-web.
//
// transformers.js takes the ONNX Runtime of webnn-node/onnxruntime, which is loaded before it; it knows no devices of such a one
// but 'auto'.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { onnxOfManifest } from './support/onnx_writer.mjs';
import { importPackage, onnxRuntimeWeb } from './support/packages.mjs';

const [folder, picture = path.join(folder ?? '', 'test_224.png')] = process.argv.slice(2);
if (folder === undefined) {
  console.error('usage: pipeline.mjs MODEL [PICTURE]');
  process.exit(2);
}

/** Makes the model folder `name` in `root`. */
function makeModel(root, name) {
  const labels = fs.readFileSync(path.join(folder, 'classes.txt'), 'utf8').trimEnd().split('\n');
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'manifest.json')));
  const write = (file, content) => {
    fs.mkdirSync(path.dirname(path.join(root, name, file)), { recursive: true });
    fs.writeFileSync(path.join(root, name, file), content);
  };
  write('onnx/model.onnx', onnxOfManifest(folder, manifest, 'pixel_values', 'logits'));
  write('config.json', JSON.stringify({ model_type: 'mobilenet_v2', id2label: { ...labels } }));
  write('preprocessor_config.json', JSON.stringify({
    image_processor_type: 'MobileNetV2ImageProcessor', do_resize: true, size: { height: 224, width: 224 }, resample: 2,
    do_rescale: true, rescale_factor: 1 / 255,
    do_normalize: true, image_mean: [0.485, 0.456, 0.406], image_std: [0.229, 0.224, 0.225],
  }));
}

await onnxRuntimeWeb();
const { env, pipeline } = await importPackage('@huggingface/transformers/dist/transformers.node.mjs');
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'webnn-pipeline-'));
try {
  makeModel(root, 'mobilenetv2');
  env.allowRemoteModels = false;
  env.localModelPath = root;
  const classify = await pipeline('image-classification', 'mobilenetv2',
    { device: 'auto', dtype: 'fp32' });
  for (const { label, score } of await classify(picture, { top_k: 5 }))
    console.log(`${(100 * score).toFixed(2).padStart(6)} %  ${label}`);
} finally {
  fs.rmSync(root, { recursive: true });
}
