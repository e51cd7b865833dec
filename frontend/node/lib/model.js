// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Model files: descriptions, models with named dimensions, builds and computations that an AbortSignal ends.
'use strict';

const { extensions, interfaces } = require('./interfaces.js');

const {
  loadModel: openModel, getGraph: modelGraph, clearModel, describeModel, describeGraph, buildGraph: beginBuild,
  createCancellation, cancel, dispatchCancellable,
} = extensions;
const { MLContext } = interfaces;

const views = {
  float32: Float32Array, float16: globalThis.Float16Array ?? Uint16Array, int32: Int32Array, uint32: Uint32Array,
  int64: BigInt64Array, uint64: BigUint64Array, int8: Int8Array, uint8: Uint8Array,
};

/** Calls begin, lets the signal call end, and rejects with the signal's reason if that ended the work. */
async function withSignal(signal, begin, end) {
  signal.throwIfAborted();
  signal.addEventListener('abort', end);
  try {
    const result = await begin();
    signal.throwIfAborted(); // the work may have been done before it was ended
    return result;
  } catch (error) {
    throw signal.aborted ? signal.reason : error;
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** Calls begin with a flag that the signal raises. */
async function withFlag(signal, begin) {
  if (signal === undefined)
    return begin(undefined);
  const flag = new Int32Array(new ArrayBuffer(4));
  return withSignal(signal, () => begin(flag), () => Atomics.store(flag, 0, 1));
}

function deepFreeze(value) {
  if (typeof value === 'object' && value !== null)
    Object.values(Object.freeze(value)).forEach(deepFreeze);
  return value;
}

/** Refuses options that a function does not have: a misspelt signal, or what is none, would end nothing. */
function checkOptions(call, options, names) {
  if (typeof options !== 'object' || options === null)
    throw new TypeError(`${call}: options is not an object`);
  for (const name of Object.keys(options))
    if (!names.includes(name))
      throw new TypeError(`${call}: there is no option ${JSON.stringify(name)}; there are ${JSON.stringify(names)}`);
  const { signal } = options;
  if (signal !== undefined && (typeof signal?.throwIfAborted !== 'function' || typeof signal.addEventListener !== 'function'))
    throw new TypeError(`${call}: signal is not an AbortSignal, such as the signal of an AbortController`);
}

/** Refuses an array that does not have the elements of an input's shape; of bytes the length is compared. */
function checkArray({ name, dataType }, data, shape) {
  const view = views[dataType];
  const given = data[Symbol.toStringTag];
  const length = shape.reduce((n, size) => n * size, 1);
  const fits = [view?.name, 'Uint8Array', dataType === 'float16' ? 'Uint16Array' : undefined].includes(given);
  if (view !== undefined && Number.isInteger(length) && !(fits && data.byteLength === length * view.BYTES_PER_ELEMENT))
    throw new TypeError(`compute: input ${JSON.stringify(name)} is ${/^[AI]/.test(given) ? 'an' : 'a'} ${given} of ` +
      `${data.length} elements; the model wants ${dataType} [${shape.join(', ')}], ` +
      `${/^I/.test(view.name) ? 'an' : 'a'} ${view.name} of ${length}`);
}

/** Returns the shape of what a program gives for an input: what it says, or the declared one with `length` for what is open. */
function shapeOf({ name, shape }, value, sizes) {
  const given = value.shape && [...value.shape];
  const whole = given?.every((size) => Number.isInteger(size) && size >= 0);
  if (whole && (!shape || (given.length === shape.length && given.every((size, i) => !Number.isInteger(shape[i]) || size === shape[i]))))
    return given;
  if (given)
    throw new TypeError(`compute: input ${JSON.stringify(name)} is given the shape [${given.join(', ')}]: ` +
      (whole ? `the model wants [${shape.map((size) => size ?? '?').join(', ')}]` : 'sizes are integers from 0 on'));
  if (shape === undefined)
    return [value.length];
  const known = shape.map((size) => (typeof size === 'string' ? sizes.get(size) : size) ?? undefined);
  const open = [...known.keys()].filter((i) => known[i] === undefined);
  if (open.length > 1)
    throw new TypeError(`compute: input ${JSON.stringify(name)} has open dimensions [${open.map((i) => shape[i] ?? '?').join(', ')}]: ` +
                        'give { data, shape }, or their sizes in dimensions');
  const product = known.reduce((n, size) => n * (size ?? 1), 1);
  if (open.length === 1)
    known[open[0]] = product === 0 ? 0 : value.length / product;
  if (!Number.isInteger(known[open[0]] ?? 0))
    throw new TypeError(`compute: input ${JSON.stringify(name)} has ${value.length} elements, not a multiple of ${product}, ` +
                        `the product of the other sizes of [${shape.join(', ')}]`);
  return known;
}

/** Returns the first `count` elements along a dimension of what compute gives for an output. */
function cut({ data, dataType, shape }, dimension, count) {
  const product = (sizes) => sizes.reduce((n, size) => n * size, 1);
  const inner = product(shape.slice(dimension + 1));
  const left = shape.map((size, i) => (i === dimension ? count : size));
  const result = new data.constructor(product(left));
  for (let i = 0, from = 0; i < result.length; i += count * inner, from += shape[dimension] * inner)
    result.set(data.subarray(from, from + count * inner), i);
  return { data: result, dataType, shape: left };
}

/** Cuts outputs whose size another one says, which is called NAME.shape[D]. */
function cutAll(outputs) {
  for (const [name, { data, dataType, shape }] of Object.entries(outputs)) {
    const [, of, dimension] = /^(.*)\.shape\[([0-9])\]$/s.exec(name) ?? [];
    if (!Object.hasOwn(outputs, of) || outputs[of].shape[dimension] === undefined || shape.length !== 0 || dataType !== 'int32')
      continue;
    outputs[of] = cut(outputs[of], Number(dimension), Math.min(Math.max(data[0], 0), outputs[of].shape[dimension]));
    delete outputs[name];
  }
  return outputs;
}

class Model {
  #context;
  #open;
  #description;
  #kept = new Map(); // graphs with their tensors, by the shapes of the inputs; the one that was used last is the last
  #limit;
  #partial; // built for some outputs, so that it may need some inputs only

  constructor(context, open, { graphLimit, outputs } = {}) {
    this.#context = context;
    this.#open = open;
    this.#description = deepFreeze(describeModel(open));
    this.#limit = graphLimit || 16;
    this.#partial = outputs !== undefined;
  }

  get name() { return this.#description.name; }
  get format() { return this.#description.format; }
  get inputs() { return this.#description.inputs; }
  get outputs() { return this.#description.outputs; }
  get dimensions() { return this.#description.dimensions; }
  get metadata() { return this.#description.metadata; }
  get notes() { return describeModel(this.#open).notes; }

  /** Gives the graph for these sizes, which is built if it is not kept. */
  async getGraph(options = {}) {
    checkOptions('getGraph', options, ['dimensions', 'shapes', 'signal']);
    const { dimensions, shapes, signal } = options;
    return withFlag(signal, (flag) => modelGraph(this.#open, { dimensions, shapes }, flag));
  }

  #shapesOf(inputs, dimensions) {
    const sizes = new Map(Object.entries(dimensions ?? {}));
    const given = this.inputs.filter(({ name }) => inputs[name] !== undefined);
    const shapes = Object.create(null);
    for (const named of [true, false]) // shapes that are given bind the names in others
      for (const input of given.filter(({ name }) => (inputs[name].shape !== undefined) === named)) {
        shapes[input.name] = shapeOf(input, inputs[input.name], sizes);
        input.shape?.forEach((size, i) => typeof size === 'string' && sizes.set(size, shapes[input.name][i]));
      }
    return shapes;
  }

  /** Makes the tensors of a graph, which belong to it as long as it is kept. */
  async #prepare(shapes, dimensions, signal) {
    const graph = await this.getGraph({ dimensions, shapes, signal });
    const { inputs, outputs } = describeGraph(graph);
    const tensors = (ports, options) => Promise.all(Object.entries(ports).map(async ([name, port]) =>
      [name, await this.#context.createTensor({ ...port, ...options })])).then((list) => new Map(list));
    return { graph, inputs: await tensors(inputs, { writable: true }), outputs: await tensors(outputs, { readable: true }) };
  }

  #keep(key, kept) {
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    for (const [old] of this.#kept) {
      if (this.#kept.size <= this.#limit)
        break;
      this.#kept.delete(old); // its tensors go with the last computation that uses them
    }
  }

  /**
   * Computes all outputs; the signal ends the build and the computation.  inputs has a typed array, or { data, shape }, for
   * each input.  Of an array without a shape one dimension may be open, which has the size that is left.
   */
  async compute(inputs, options = {}) {
    checkOptions('compute', options, ['dimensions', 'signal']);
    const { dimensions, signal } = options;
    const names = this.inputs.map(({ name }) => name);
    for (const name of Object.keys(inputs ?? {})) {
      if (!names.includes(name))
        throw new TypeError(`compute: the model has no input ${JSON.stringify(name)}; it has ${JSON.stringify(names)}`);
      const data = inputs[name]?.data ?? inputs[name];
      if (!ArrayBuffer.isView(data) || data instanceof DataView || (data !== inputs[name] && inputs[name].shape === undefined))
        throw new TypeError(`compute: input ${JSON.stringify(name)} is neither a typed array nor { data, shape } with one`);
    }
    const requireAll = (wanted) => {
      for (const name of wanted)
        if (inputs?.[name] === undefined)
          throw new TypeError(`compute: input ${JSON.stringify(name)} is missing`);
    };
    if (!this.#partial)
      requireAll(names);
    const shapes = this.#shapesOf(inputs ?? {}, dimensions);
    for (const input of this.inputs)
      if (shapes[input.name] !== undefined)
        checkArray(input, inputs[input.name].data ?? inputs[input.name], shapes[input.name]);
    const key = JSON.stringify([Object.entries(shapes), Object.entries(dimensions ?? {})]);
    const arrays = new Map(Object.entries(inputs ?? {}).map(([name, input]) => [name, input.data ?? input]));
    let kept = this.#kept.get(key);
    if (kept === undefined) { // the caller may change the arrays meanwhile
      arrays.forEach((array, name) => arrays.set(name, array.slice()));
      kept = await this.#prepare(shapes, dimensions, signal);
    }
    this.#keep(key, kept);
    const { graph, inputs: from, outputs: to } = kept;
    requireAll(from.keys());
    for (const [name, tensor] of from)
      this.#context.writeTensor(tensor, arrays.get(name));
    const read = () => Promise.all([...to].map(async ([name, tensor]) => {
      const bytes = await this.#context.readTensor(tensor);
      const { dataType, shape } = tensor;
      return [name, { data: new (views[dataType] ?? Uint8Array)(bytes), dataType, shape }];
    }));
    const cancellation = createCancellation();
    dispatchCancellable(this.#context, graph, Object.fromEntries(from), Object.fromEntries(to), cancellation);
    return cutAll(Object.fromEntries(await (signal ? withSignal(signal, read, () => cancel(cancellation)) : read())));
  }

  /** Gives up all graphs that are kept. */
  clear() {
    this.#kept.clear();
    clearModel(this.#open);
  }

  [Symbol.for('nodejs.util.inspect.custom')](depth, options, inspect) {
    const { name, format, inputs, outputs, dimensions } = this.#description;
    return `Model ${inspect({ name, format, inputs, outputs, dimensions }, { ...options, depth: 5 })}`;
  }
}

/** Opens a model, whose graphs are built when their sizes are known. */
async function loadModel(context, model, options = {}) {
  if (!(context instanceof MLContext))
    throw new TypeError(context instanceof Promise ? 'loadModel: context is a Promise of an MLContext: await it'
                                                   : 'loadModel: context is not an MLContext');
  return new Model(context, openModel(context, model, options), options ?? {});
}

/** Builds as builder.build does; the signal ends the build. */
async function buildGraph(builder, outputs, options = {}) {
  checkOptions('buildGraph', options, ['signal']);
  return withFlag(options.signal, (flag) => beginBuild(builder, outputs, flag));
}

module.exports = { Model, loadModel, buildGraph };
