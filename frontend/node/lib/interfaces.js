// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Makes the interface objects of WebNN: classes, prototypes and properties as Web IDL describes them.  What methods do is in
// the addon, webnn.node, which converts arguments and calls the library.
//
// Everything that is needed of the realm is taken here, before a program can change it: the addon and this file never look
// anything up that a program could have replaced.
'use strict';

let native;
try {
  native = require('./webnn.node');
} catch (error) {
  error.message += '\nThe libraries that it needs are Debian\'s packages libgomp1, libffi8 and libprotobuf-c1.';
  throw error;
}

const { apply, ownKeys, getOwnPropertyDescriptor, defineProperty } = Reflect;
const { create, freeze, setPrototypeOf } = Object;
const { toStringTag, iterator } = Symbol;
const { reject } = Promise;
const { isView } = ArrayBuffer;
const PromiseConstructor = Promise;
const TypeErrorConstructor = TypeError;
const Bytes = Uint8Array;

const getterOf = (prototype, name) => getOwnPropertyDescriptor(prototype, name)?.get;

// ---------------------------------------------------------------------------------------------- buffers

const TypedArrayPrototype = Reflect.getPrototypeOf(Uint8Array.prototype);
const typedArray = {
  name: getterOf(TypedArrayPrototype, toStringTag), // undefined for anything but a typed array
  buffer: getterOf(TypedArrayPrototype, 'buffer'),
  byteOffset: getterOf(TypedArrayPrototype, 'byteOffset'),
  byteLength: getterOf(TypedArrayPrototype, 'byteLength'),
};
const dataView = {
  buffer: getterOf(DataView.prototype, 'buffer'),
  byteOffset: getterOf(DataView.prototype, 'byteOffset'),
  byteLength: getterOf(DataView.prototype, 'byteLength'),
};
const bufferClasses = [
  {
    name: 'ArrayBuffer',
    byteLength: getterOf(ArrayBuffer.prototype, 'byteLength'),
    resizable: getterOf(ArrayBuffer.prototype, 'resizable'), // Node.js 20 and later
  },
  {
    name: 'SharedArrayBuffer',
    byteLength: getterOf(SharedArrayBuffer.prototype, 'byteLength'),
    resizable: getterOf(SharedArrayBuffer.prototype, 'growable'),
  },
];

// Returns the row of bufferClasses that value belongs to.
function classOfBuffer(value) {
  for (let i = 0; i < 2; i++) {
    try {
      apply(bufferClasses[i].byteLength, value, []);
      return bufferClasses[i];
    } catch {
      // It is of another class, or of none.
    }
  }
  return undefined;
}

// Returns a Uint8Array over the bytes, or undefined if they are detached or not there any more.
function bytesOf(buffer, offset, length) {
  try {
    return new Bytes(buffer, offset, length);
  } catch {
    return undefined;
  }
}

function describeBuffer(value) {
  if (typeof value !== 'object' || value === null)
    return undefined;
  if (!isView(value)) {
    const found = classOfBuffer(value);
    if (found === undefined)
      return undefined;
    return [found.name, bytesOf(value), found.resizable !== undefined && apply(found.resizable, value, [])];
  }
  const name = apply(typedArray.name, value, []);
  const getters = name === undefined ? dataView : typedArray;
  const buffer = apply(getters.buffer, value, []);
  const found = classOfBuffer(buffer);
  const resizable = found.resizable !== undefined && apply(found.resizable, buffer, []);
  let bytes;
  try {
    bytes = bytesOf(buffer, apply(getters.byteOffset, value, []), apply(getters.byteLength, value, []));
  } catch {
    // It is a DataView over a detached buffer.
  }
  return [name ?? 'DataView', bytes, resizable];
}

// ---------------------------------------------------------------------------------------------- what belongs to a context

const LEVELS = ['', 'info', 'warning', 'error']; // as WNNLogLevel
const lost = new WeakMap();
const { get: weakGet, set: weakSet } = WeakMap.prototype;

function lostOf(context) {
  let entry = apply(weakGet, lost, [context]);
  if (entry === undefined) {
    entry = { promise: undefined, resolve: undefined, log: undefined, computed: undefined };
    entry.promise = new PromiseConstructor((resolve) => { entry.resolve = resolve; });
    apply(weakSet, lost, [context, entry]);
  }
  return entry;
}

// ---------------------------------------------------------------------------------------------- interfaces

const intrinsics = [
  DOMException,
  TypeError,
  iterator,
  (prototype) => create(prototype),
  freeze,
  ownKeys,
  (object, key) => getOwnPropertyDescriptor(object, key)?.enumerable === true,
  (value) => value++, // what it was, as a number or a BigInt
  describeBuffer,
  (value) => typeof GPUDevice === 'function' && value instanceof GPUDevice,
  (context) => lostOf(context).promise,
  (context, message) => { lostOf(context).resolve({ message }); },
  (context, name, callback) => { lostOf(context)[name] = callback; },
  (context, level, message) => { apply(lostOf(context).log, undefined, [LEVELS[level], message]); },
  (context, graph, submitted, begun, ended) => {
    apply(lostOf(context).computed, undefined, [graph, { submitted, begun, ended }]);
  },
];

const illegal = (name) => {
  const holder = {
    [name]: class {
      constructor() {
        throw new TypeErrorConstructor('Illegal constructor');
      }
    },
  };
  return holder[name];
};

const MLGraphBuilder = class MLGraphBuilder {
  constructor(context) {
    if (arguments.length < 1)
      throw new TypeErrorConstructor('MLGraphBuilder constructor: 1 argument is required, but only 0 present');
    native.construct(this, context);
  }
};

// These stand in the order of enum interface of the addon.
const classes = [illegal('ML'), illegal('MLContext'), illegal('MLTensor'), illegal('MLGraph'), illegal('MLOperand'), MLGraphBuilder,
  illegal('OpenModel'), illegal('Cancellation')]; // the last two are what model.js keeps to itself

// Makes a function of that name and length without a constructor, as methods have none.
function methodOf(name, length, isPromise, call) {
  const { [name]: method } = isPromise ? {
    [name](...given) {
      try {
        return apply(call, this, given);
      } catch (error) {
        return apply(reject, PromiseConstructor, [error]);
      }
    },
  } : {
    [name](...given) {
      return apply(call, this, given);
    },
  };
  defineProperty(method, 'length', { value: length, configurable: true });
  return method;
}

function getterFor(name, isPromise, call) {
  return getOwnPropertyDescriptor(isPromise ? {
    get [name]() {
      try {
        return apply(call, this, []);
      } catch (error) {
        return apply(reject, PromiseConstructor, [error]);
      }
    },
  } : {
    get [name]() {
      return apply(call, this, []);
    },
  }, name).get;
}

// These functions belong to no interface.
const extensions = {};

// What drafts add or replaces, until its entry is imported.
const drafts = [];

function enableDraft() {
  for (let i = 0; i < drafts.length; i++)
    drafts[i]();
}

function define(index, name, length, isAttribute, isPromise, call, isDraft) {
  if (isDraft) {
    drafts.push(() => define(index, name, length, isAttribute, isPromise, call, false));
    return;
  }
  if (index === classes.length) {
    extensions[name] = methodOf(name, length, isPromise, call);
    return;
  }
  const property = isAttribute
    ? { get: getterFor(name, isPromise, call), set: undefined, enumerable: true, configurable: true }
    : { value: methodOf(name, length, isPromise, call), writable: true, enumerable: true, configurable: true };
  defineProperty(classes[index].prototype, name, property);
}

for (const { name, prototype } of classes)
  defineProperty(prototype, toStringTag, { value: name, writable: false, enumerable: false, configurable: true });

// What console.log shows of the objects, which have no properties of their own.
const shown = {
  MLContext: ({ accelerated }) => ({ accelerated }),
  MLTensor: ({ dataType, shape, readable, writable, constant }) => ({ dataType, shape, readable, writable, constant }),
  MLGraph: (graph) => extensions.describeGraph(graph),
  MLOperand: ({ dataType, shape }) => ({ dataType, shape }),
};
for (const { name, prototype } of classes)
  if (shown[name] !== undefined)
    defineProperty(prototype, Symbol.for('nodejs.util.inspect.custom'), {
      value(depth, options, inspect) {
        try {
          return `${name} ${inspect(shown[name](this), { ...options, depth: 5 })}`;
        } catch {
          return name; // the prototype itself
        }
      },
      writable: true, enumerable: false, configurable: true,
    });

// The addon reads both lists while programs run, so that nothing inherited may show through.
setPrototypeOf(intrinsics, null);
const prototypes = setPrototypeOf(classes.map(({ prototype }) => prototype), null);

const ml = native.start(intrinsics, prototypes, define);
process.on('exit', native.shutdown);

const [ML, MLContext, MLTensor, MLGraph, MLOperand] = classes;

module.exports = { enableDraft, extensions, interfaces: { ml, ML, MLContext, MLTensor, MLGraph, MLOperand, MLGraphBuilder } };
