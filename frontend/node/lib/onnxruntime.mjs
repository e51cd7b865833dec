// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ONNX Runtime Web, whose WebNN provider runs on this package, for programs in Node.js and for transformers.js.
//
// It prepares what the provider expects of a browser: navigator.ml, GPUDevice, the folder of WebAssembly files, and a budget of V8
// without which one function of ONNX Runtime keeps the optimizing compiler busy for a minute.  Sessions of models with free
// dimensions are made for the sizes that a run has, since the provider takes static shapes only.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import v8 from 'node:v8';

import './global.js';
import native from './native.js';

/** Returns the folder of onnxruntime-web's files, which is a package of the program. */
function findRuntime() {
  const places = [import.meta.url, process.argv[1], path.join(process.cwd(), 'program.js'),
    ...(process.env.WEBNN_NODE_MODULES ? [path.resolve(process.env.WEBNN_NODE_MODULES, '../program.js')] : [])];
  for (const place of places.filter(Boolean)) {
    try {
      return path.dirname(createRequire(place).resolve('onnxruntime-web'));
    } catch {
      // It is not installed there.
    }
  }
  throw new Error('webnn-node/onnxruntime needs the package onnxruntime-web (npm install onnxruntime-web)');
}

v8.setFlagsFromString('--wasm-tiering-budget=100000000');
globalThis.GPUDevice ??= class GPUDevice {}; // the provider asks whether its option is one
const folder = findRuntime();
const ort = await import(pathToFileURL(path.join(folder, 'ort.all.bundle.min.mjs')).href);
ort.env.wasm.wasmPaths = `${folder}/`;
ort.env.wasm.numThreads = 1;

// ---------------------------------------------------------------------------------------------- one session at a time

let last = Promise.resolve();

/** ONNX Runtime makes and runs one session of the provider at a time. */
function inTurn(work) {
  const result = last.then(work);
  last = result.catch(() => {});
  return result;
}

const isWebNN = (provider) => (provider?.name ?? provider) === 'webnn';

// ---------------------------------------------------------------------------------------------- free dimensions

const SESSIONS_MAX = 8;

/** Returns the size that a run of n is padded to: the next of 16, 32, 64, ... */
const padded = (n) => Math.max(16, 2 ** Math.ceil(Math.log2(n)));

/** Says which free dimension is the length of a text, whose end may be padded: that of attention_mask which input_ids has, too. */
function paddedDimension({ inputs, outputs, dimensions }) {
  const names = (name) => inputs.find((input) => input.name === name)?.shape?.filter((size) => typeof size === 'string') ?? [];
  const length = names('attention_mask').at(-1);
  const known = ({ shape }) => shape?.every((size) => typeof size === 'number' || size in dimensions);
  return length !== undefined && names('input_ids').includes(length) && inputs.every(known) && outputs.every(known)
    ? length : undefined;
}

/** Copies a tensor into one of another shape, whose sizes are larger, or smaller: missing elements are 0, surplus ones go. */
function reshape(tensor, shape) {
  const { dims, data, type } = tensor;
  if (dims.every((size, i) => size === shape[i]))
    return tensor;
  const result = new data.constructor(shape.reduce((n, size) => n * size, 1));
  const rank = shape.length;
  const copy = (axis, from, to) => {
    const count = Math.min(dims[axis], shape[axis]);
    if (axis === rank - 1) {
      result.set(data.subarray(from * dims[axis], from * dims[axis] + count), to * shape[axis]);
      return;
    }
    for (let i = 0; i < count; i++)
      copy(axis + 1, from * dims[axis] + i, to * shape[axis] + i);
  };
  copy(0, 0, 0);
  return new ort.Tensor(type, result, shape);
}

/** Is a session of a model with free dimensions: one session of ONNX Runtime for each combination of their sizes. */
class SizedSession {
  #bytes;
  #options;
  #description;
  #padded;
  #sessions = new Map();

  constructor(bytes, options, description) {
    this.#bytes = bytes;
    this.#options = options;
    this.#description = description;
    this.#padded = options?.webnn?.padding === false ? undefined : paddedDimension(description);
  }

  get inputNames() { return this.#description.inputs.map(({ name }) => name); }
  get outputNames() { return this.#description.outputs.map(({ name }) => name); }
  get inputMetadata() { return this.#metadata(this.#description.inputs); }
  get outputMetadata() { return this.#metadata(this.#description.outputs); }

  #metadata(ports) {
    return ports.map(({ name, dataType, boolean, shape }) =>
      ({ name, isTensor: true, type: boolean ? 'bool' : dataType, shape: shape?.map((size) => size ?? '') }));
  }

  /** Returns the sizes of free dimensions that tensors have. */
  #sizesOf(feeds) {
    const sizes = {};
    for (const { name, shape } of this.#description.inputs)
      shape?.forEach((size, i) => {
        const given = feeds[name]?.dims[i];
        if (typeof size !== 'string' || given === undefined)
          return;
        if (sizes[size] !== undefined && sizes[size] !== given)
          throw new Error(`the dimension ${size} is ${sizes[size]} and, of input ${name}, ${given}`);
        sizes[size] = given;
      });
    return sizes;
  }

  async #sessionOf(sizes) {
    const key = JSON.stringify(sizes);
    let session = this.#sessions.get(key);
    this.#sessions.delete(key);
    if (session === undefined) {
      const freeDimensionOverrides = { ...this.#options?.freeDimensionOverrides, ...sizes };
      session = await ort.InferenceSession.create(this.#bytes, { ...this.#options, freeDimensionOverrides });
    }
    this.#sessions.set(key, session);
    if (this.#sessions.size > SESSIONS_MAX) {
      const [[oldest, released]] = this.#sessions;
      this.#sessions.delete(oldest);
      await released.release();
    }
    return session;
  }

  run(feeds, ...rest) {
    return inTurn(async () => {
      const real = this.#sizesOf(feeds);
      const sizes = { ...real };
      if (this.#padded !== undefined && real[this.#padded] > 0)
        sizes[this.#padded] = padded(real[this.#padded]);
      const fit = (ports, tensors, from) => Object.fromEntries(Object.entries(tensors).map(([name, tensor]) => {
        const shape = ports.find((port) => port.name === name)?.shape;
        return [name, sizes[this.#padded] === real[this.#padded] || shape === undefined ? tensor
          : reshape(tensor, tensor.dims.map((size, i) => (shape[i] === this.#padded ? from[this.#padded] : size)))];
      }));
      const session = await this.#sessionOf(sizes);
      const results = await session.run(fit(this.#description.inputs, feeds, sizes), ...rest);
      return fit(this.#description.outputs, results, real);
    });
  }

  release() {
    return inTurn(async () => {
      for (const session of this.#sessions.values())
        await session.release();
      this.#sessions.clear();
    });
  }

  startProfiling() {
    this.#sessions.forEach((session) => session.startProfiling());
  }

  endProfiling() {
    this.#sessions.forEach((session) => session.endProfiling());
  }
}

/** Makes a session, on WebNN unless executionProviders names others only. */
async function create(model, ...rest) {
  const options = typeof rest.at(-1) === 'object' ? rest.pop() : {}; // after the range of an ArrayBuffer, if there is one
  const providers = options.executionProviders?.length > 0 ? options.executionProviders : ['webnn'];
  const bytes = typeof model === 'string' ? fs.readFileSync(model)
    : model instanceof Uint8Array ? model : new Uint8Array(model, ...rest);
  const own = { ...options, executionProviders: providers };
  if (!providers.some(isWebNN))
    return ort.InferenceSession.create(bytes, own);
  const description = native.describeModel(bytes);
  const free = Object.keys(description.dimensions).filter((name) => own.freeDimensionOverrides?.[name] === undefined);
  const nameless = description.inputs.filter(({ shape }) => shape?.includes(null)).map(({ name }) => name);
  if (nameless.length > 0)
    process.emitWarning(`${nameless.join(', ')} of ${description.name || 'the model'} have dimensions without a size or a ` +
                        'name: ONNX Runtime leaves the nodes that depend on them to WebAssembly', 'WebNNWarning');
  if (free.length === 0)
    return inTurn(() => ort.InferenceSession.create(bytes, own));
  return new SizedSession(bytes, own, description);
}

export const InferenceSession = { create };
export const { Tensor, env } = ort;
const runtime = { ...ort, InferenceSession };
export default runtime;

// This is where transformers.js looks for a runtime before it takes its own.
globalThis[Symbol.for('onnxruntime')] = runtime;
