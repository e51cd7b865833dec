// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes a network with a manifest (docs/formats.md) as an ONNX file, for the examples that take such files: the operators
// of MobileNetV2 and of examples/models/shapes.
import path from 'node:path';

import { readNpy } from './npy.mjs';

// ---------------------------------------------------------------------------------------------- protocol buffers

function varint(number) {
  const bytes = [];
  let rest = BigInt.asUintN(64, BigInt(number));
  for (; rest > 127n; rest >>= 7n)
    bytes.push(Number(rest & 127n) | 128);
  return Buffer.from([...bytes, Number(rest)]);
}

export const integer = (field, number) => Buffer.concat([varint(field << 3), varint(number)]);
export const bytes = (field, data) => Buffer.concat([varint((field << 3) | 2), varint(data.length), data]);
export const text = (field, string) => bytes(field, Buffer.from(string));
export const message = (field, ...parts) => bytes(field, Buffer.concat(parts));
function float(field, number) {
  const data = Buffer.alloc(4);
  data.writeFloatLE(number);
  return Buffer.concat([varint((field << 3) | 5), data]);
}

// ---------------------------------------------------------------------------------------------- ONNX (fields of onnx.proto)

export const FLOAT = 1;
export const INT64 = 7;

export const tensor = (name, type, shape, data) => [
  ...shape.map((size) => integer(1, size)), integer(2, type), text(8, name),
  bytes(9, Buffer.from(data.buffer, data.byteOffset, data.byteLength)),
];
const valueInfo = (field, name, shape) => message(field, text(1, name),
  message(2, message(1, integer(1, FLOAT), message(2, ...shape.map((size) => message(1, integer(1, size)))))));
export const attributes = {
  float: (name, value) => message(5, text(1, name), float(2, value), integer(20, 1)),
  int: (name, value) => message(5, text(1, name), integer(3, value), integer(20, 2)),
  ints: (name, values) => message(5, text(1, name), ...values.map((value) => integer(8, value)), integer(20, 7)),
};
export const node = (type, inputs, output, ...rest) =>
  message(1, ...inputs.map((name) => text(1, name)), text(2, output), text(4, type), ...rest);

/** Returns the node of a layer.  What it needs besides is added to constants, as [name, type, shape, data]. */
function nodeOf(layer, constants) {
  const { id, op, inputs } = layer;
  const constant = (suffix, type, shape, data) => {
    constants.push([`${id}_${suffix}`, type, shape, data]);
    return `${id}_${suffix}`;
  };
  switch (op) {
    case 'add':
      return node('Add', inputs, id);
    case 'relu':
      return node('Relu', inputs, id);
    case 'maxPool2d':
      return node('MaxPool', inputs, id, attributes.ints('kernel_shape', layer.windowDimensions),
        attributes.ints('strides', layer.strides));
    case 'averagePool2d':
      if (layer.windowDimensions)
        break;
      return node('GlobalAveragePool', inputs, id);
    case 'clamp':
      return node('Clip', [...inputs, constant('min', FLOAT, [], Float32Array.of(layer.minValue)),
        constant('max', FLOAT, [], Float32Array.of(layer.maxValue))], id);
    case 'conv2d': {
      const [top, bottom, left, right] = layer.padding;
      return node('Conv', [...inputs, layer.filter, layer.bias], id,
        attributes.ints('pads', [top, left, bottom, right]), attributes.ints('strides', layer.strides),
        attributes.ints('dilations', layer.dilations), attributes.int('group', layer.groups));
    }
    case 'gemm':
      return node('Gemm', [...inputs, layer.c], id, attributes.float('alpha', layer.alpha),
        attributes.float('beta', layer.beta), attributes.int('transB', layer.bTranspose ? 1 : 0));
    case 'reshape':
      return node('Reshape', [...inputs,
        constant('shape', INT64, [layer.newShape.length], BigInt64Array.from(layer.newShape, BigInt))], id);
    case 'softmax':
      return node('Softmax', inputs, id, attributes.int('axis', layer.axis));
  }
  throw new Error(`${id}: this layer (${op}) has no ONNX form here`);
}

/** Returns the bytes of an ONNX file with the network of a manifest in that folder, up to the layer `output`; `input` is the
 * new name of its input. */
export function onnxOfManifest(folder, manifest, input, output) {
  const constants = manifest.constants.map(({ id, file, shape }) => [id, FLOAT, shape, readNpy(path.join(folder, file)).data]);
  const [own] = manifest.inputs;
  const last = manifest.layers.findIndex(({ id }) => id === output);
  const layers = manifest.layers.slice(0, last + 1).map(({ inputs, ...layer }) =>
    ({ ...layer, inputs: inputs.map((name) => (name === own.name ? input : name)) }));
  const nodes = layers.map((layer) => nodeOf(layer, constants));
  return Buffer.concat([
    integer(1, 8), // ir_version
    message(7, ...nodes, text(2, manifest.name), ...constants.map((constant) => message(5, ...tensor(...constant))),
      valueInfo(11, input, own.shape), valueInfo(12, output, manifest.layers[last].outputShape)),
    message(8, integer(2, 17)), // opset
  ]);
}
