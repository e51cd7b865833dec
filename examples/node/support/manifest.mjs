// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes builder calls of networks that are described layer by layer (docs/formats.md).
import path from 'node:path';

import { readNpy } from './npy.mjs';

/** Builds the network of a manifest in that folder, with outputs by names of layers.  Operations have the names of methods. */
export function buildManifest(builder, folder, manifest, outputs) {
  const operands = {};
  for (const { name, dataType, shape } of manifest.inputs)
    operands[name] = builder.input(name, { dataType, shape });
  for (const { id, file, dataType, shape } of manifest.constants)
    operands[id] = builder.constant({ dataType, shape }, readNpy(path.join(folder, file)).data);
  // Options that are operands stand as their names; a filter, a new shape and an axis are arguments of their own.
  for (const { id, op, inputs, newShape, filter, bias, c, axis, ...options } of manifest.layers) {
    const own = op === 'reshape' ? [newShape] : op === 'softmax' ? [axis] : op === 'conv2d' ? [operands[filter]] : [];
    const given = inputs.map((name) => operands[name]);
    operands[id] = builder[op](...given, ...own, { ...options, bias: operands[bias], c: operands[c] });
  }
  return builder.build(Object.fromEntries(outputs.map((name) => [name, operands[name]])));
}
