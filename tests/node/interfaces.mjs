// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The interface objects: what they are made of, brand checks, entries of the package.
import assert from 'node:assert/strict';
import test from 'node:test';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

import { webnn, ml, MLGraphBuilder, smallGraph, runProgram, packageFolder } from './support.mjs';

const interfaces = ['ML', 'MLContext', 'MLTensor', 'MLGraph', 'MLOperand', 'MLGraphBuilder'];

test('interface objects have their names, and prototypes their tags', () => {
  for (const name of interfaces) {
    const { prototype } = webnn[name];
    assert.equal(webnn[name].name, name);
    assert.equal(prototype[Symbol.toStringTag], name);
    assert.deepEqual(Object.getOwnPropertyDescriptor(webnn[name], 'prototype'),
      { value: prototype, writable: false, enumerable: false, configurable: false });
  }
  assert.equal(Object.prototype.toString.call(ml), '[object ML]');
});

test('only MLGraphBuilder can be constructed, and not without a context', async () => {
  for (const name of interfaces) {
    assert.throws(() => new webnn[name](), TypeError);
    assert.throws(() => webnn[name](), TypeError);
    assert.throws(() => new webnn[name]({}), TypeError);
  }
  const { context } = await smallGraph();
  assert.throws(() => new MLGraphBuilder(Object.create(webnn.MLContext.prototype)), TypeError);
  class Derived extends MLGraphBuilder {}
  const builder = new Derived(context);
  assert.ok(builder instanceof Derived);
  assert.deepEqual(builder.input('x', { dataType: 'int8', shape: [3] }).shape, [3]);
});

test('members are enumerable properties of prototypes, methods have lengths and no prototype', () => {
  const dispatch = Object.getOwnPropertyDescriptor(webnn.MLContext.prototype, 'dispatch');
  assert.ok(dispatch.enumerable && dispatch.writable && dispatch.configurable);
  assert.equal(dispatch.value.length, 3);
  assert.equal(dispatch.value.name, 'dispatch');
  assert.ok(!('prototype' in dispatch.value));
  assert.throws(() => new dispatch.value(), TypeError);
  const accelerated = Object.getOwnPropertyDescriptor(webnn.MLContext.prototype, 'accelerated');
  assert.equal(accelerated.get.name, 'get accelerated');
  assert.equal(accelerated.set, undefined);
  assert.equal(MLGraphBuilder.prototype.lstmCell.length, 6);
  assert.equal(MLGraphBuilder.prototype.constant.length, 1);
  assert.equal(MLGraphBuilder.length, 1);
});

test('wrong receivers are TypeErrors, rejections where a promise is due', async () => {
  const { context, graph, output } = await smallGraph();
  for (const wrong of [undefined, null, 1, {}, graph, new Proxy(context, {})]) {
    assert.throws(() => webnn.MLContext.prototype.dispatch.call(wrong, graph, {}, {}), TypeError);
    assert.throws(() => Reflect.get(webnn.MLContext.prototype, 'accelerated', wrong), TypeError);
    for (const name of ['createTensor', 'readTensor']) {
      const promise = webnn.MLContext.prototype[name].call(wrong, output);
      assert.ok(promise instanceof Promise);
      await assert.rejects(promise, TypeError);
    }
    await assert.rejects(Reflect.get(webnn.MLContext.prototype, 'lost', wrong), TypeError);
  }
  assert.throws(() => context.dispatch({}, {}, {}), TypeError);
});

test('shapes are frozen arrays, the same at every time', async () => {
  const { output } = await smallGraph(7);
  assert.equal(output.shape, output.shape);
  assert.ok(Object.isFrozen(output.shape));
  assert.deepEqual(output.shape, [7]);
});

test('programs that change prototypes change nothing here', () => {
  const { stdout, stderr, status } = runProgram(`
    const tampered = {
      Array: ['map', Symbol.iterator], Promise: ['then', 'catch'], WeakMap: ['get', 'set'],
      Object: ['hasOwnProperty', 'valueOf'], Uint8Array: ['subarray'],
    };
    const failing = { value() { throw new Error('tampered with'); }, configurable: true, writable: true };
    const context = await ml.createContext();
    for (const [name, members] of Object.entries(tampered))
      for (const member of members)
        if (name !== 'Array' || member !== Symbol.iterator)
          Object.defineProperty(globalThis[name].prototype ?? globalThis[name], member, member === 'then' ? {} : failing);
    Object.defineProperty(globalThis, 'DOMException', failing);
    Object.defineProperty(globalThis, 'Promise', failing);
    Object.defineProperty(ArrayBuffer.prototype, 'byteLength', { get: failing.value });
    Object.defineProperty(Object.getPrototypeOf(Uint8Array.prototype), 'buffer', { get: failing.value });
    const builder = new MLGraphBuilder(context);
    const x = builder.input('x', { dataType: 'float32', shape: new Uint8Array([2]) });
    const y = builder.add(x, builder.constant({ dataType: 'float32', shape: [2] }, new Float32Array(2)));
    const graph = await builder.build({ y });
    let name;
    try {
      builder.abs(x);
    } catch (error) {
      name = error.name;
    }
    process.exitCode = graph && context.lost && name === 'InvalidStateError' ? 0 : 1;
  `);
  assert.equal(stderr, '');
  assert.equal(status, 0, stdout);
});

test('the package can be imported, and does not touch globals unless it is asked to', async () => {
  const before = Object.getOwnPropertyNames(globalThis);
  const module = await import(pathToFileURL(path.join(packageFolder, 'index.mjs')).href);
  assert.equal(module.ml, ml);
  assert.deepEqual(Object.getOwnPropertyNames(globalThis), before);
  await import(pathToFileURL(path.join(packageFolder, 'global.js')).href);
  assert.equal(globalThis.navigator.ml, ml);
  assert.equal(globalThis.MLGraphBuilder, MLGraphBuilder);
  assert.equal(Object.getOwnPropertyDescriptor(globalThis, 'MLGraph').enumerable, false);
  assert.throws(() => Reflect.get(globalThis.Navigator.prototype, 'ml', {}), TypeError);
});
