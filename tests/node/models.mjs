// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Model files by the entry native of the package, on examples/models/shapes, whose dimension batch is free.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import util from 'node:util';

import { readNpy } from '../../examples/node/support/npy.mjs';
import { MLGraphBuilder, f32, ml, packageFolder, runProgram, smallGraph, webnn } from './support.mjs';

const native = createRequire(import.meta.url)(path.join(packageFolder, 'native.js'));
const { buildGraph, createContext, describeGraph, describeModel, loadModel, readModel } = native;
const shapes = fileURLToPath(new URL('../../examples/models/shapes', import.meta.url));
const file = path.join(shapes, 'model.onnx');
const moon = readNpy(path.join(shapes, 'moon.npy')).data;
const expected = readNpy(path.join(shapes, 'moon_probabilities.npy')).data;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'webnn-node-models-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true }));

function isMoon(probabilities, at = 0) {
  for (let i = 0; i < 8; i++)
    assert.ok(Math.abs(probabilities[at * 8 + i] - expected[i]) < 1e-5, `${probabilities[at * 8 + i]} is not ${expected[i]}`);
}

test('a model is described, from a path and from bytes', () => {
  const { name, format, inputs, outputs, dimensions, metadata } = describeModel(file);
  assert.equal(format, 'onnx');
  assert.deepEqual(inputs, [{ name: 'image', boolean: false, dataType: 'float32', shape: ['batch', 1, 24, 24] }]);
  assert.deepEqual(outputs.map((port) => port.shape), [['batch', 8]]);
  assert.deepEqual(Object.keys(dimensions), ['batch']);
  assert.equal(metadata.ir_version !== undefined, true);
  const bytes = fs.readFileSync(file);
  for (const source of [bytes, new Uint8Array(bytes).buffer])
    assert.deepEqual(describeModel(source), describeModel(file));
  assert.equal(typeof name, 'string');
  for (const [wrong, kind] of [[path.join(folder, 'absent'), 'DataError'], [Buffer.from('no model'), 'DataError'],
    ['a\0b', 'TypeError'], [5, 'TypeError'], [undefined, 'TypeError']])
    assert.throws(() => describeModel(wrong), { name: kind });
});

test('outputs are cut to what counts', async () => {
  const text = Buffer.from(`webnn_graph "counted" v1 { inputs { x: f32[2, 3]; }
    nodes { y = abs(x); t = transpose(y); s = reduceMin(y); n = cast(s, type="int32"); }
    outputs { y; t; "y.shape[1]" = n; "t.shape[0]" = n; } }`);
  const model = await loadModel(await createContext(), text);
  for (const [x, shape, y, t] of [[[3, -2, 4, 5, 9, 6], [2, 2], [3, 2, 5, 9], [3, 5, 2, 9]], [[7, 8, 9, 7, 8, 9], [2, 3], [7, 8, 9, 7, 8, 9], [7, 7, 8, 8, 9, 9]],
    [[0, 1, 2, 3, 4, 5], [2, 0], [], []]]) {
    const results = await model.compute({ x: Float32Array.from(x) });
    assert.deepEqual(Object.keys(results), ['y', 't']);
    assert.deepEqual([[...results.y.data], results.y.shape, [...results.t.data]], [y, shape, t]);
  }
});

test('a model is built for the outputs that are wanted', async () => {
  const context = await createContext();
  const text = Buffer.from('webnn_graph "two" v1 { inputs { x: f32[2]; } nodes { a = neg(x); b = abs(x); } outputs { a; b; } }');
  const some = await (await loadModel(context, text, { outputs: ['b'] })).compute({ x: Float32Array.of(-1, 2) });
  assert.deepEqual(Object.entries(some).map(([name, { data }]) => [name, [...data]]), [['b', [1, 2]]]);
  await assert.rejects(loadModel(context, text, { outputs: ['c'] }), { name: 'TypeError', message: /no output 'c'; there are 'a', 'b'/ });
  const apart = Buffer.from('webnn_graph "apart" v1 { inputs { x: f32[1]; y: f32[1]; } nodes { a = neg(x); b = abs(y); } outputs { a; b; } }');
  const first = await loadModel(context, apart, { outputs: ['a'] });
  for (const given of [{ x: Float32Array.of(1) }, { x: Float32Array.of(1), y: Float32Array.of(2) }])
    assert.deepEqual([...(await first.compute(given)).a.data], [-1]);
  await assert.rejects(first.compute({ y: Float32Array.of(2) }), /input "x" is missing/);
  await assert.rejects(loadModel(context, text, { outputs: 'b' }), { name: 'TypeError' });
});

test('a model computes for every size, whose graphs are kept', async () => {
  const context = await createContext();
  const model = await loadModel(context, file, { graphLimit: 2 });
  isMoon((await model.compute({ image: moon })).probabilities.data);
  const batch = Float32Array.from([...moon, ...new Float32Array(576), ...moon]);
  for (const image of [batch, { data: batch, shape: [3, 1, 24, 24] }]) {
    const { probabilities } = await model.compute({ image });
    assert.deepEqual([probabilities.dataType, [...probabilities.shape]], ['float32', [3, 8]]);
    isMoon(probabilities.data, 0);
    isMoon(probabilities.data, 2);
  }
  const both = await Promise.all([1, 2, 3, 1].map((n) => model.compute({ image: batch.subarray(0, n * 576) })));
  assert.deepEqual(both.map(({ probabilities }) => probabilities.shape[0]), [1, 2, 3, 1]);
  both.forEach(({ probabilities }) => isMoon(probabilities.data));
  for (const size of [1, 4]) { // kept, and to be built: arrays are read before compute returns
    const image = Float32Array.from({ length: size * 576 }, (_, i) => moon[i % 576]);
    const computed = model.compute({ image });
    image.fill(0);
    isMoon((await computed).probabilities.data);
  }
  assert.equal(model.notes, '');
  const few = await loadModel(context, file, { names: { batch: [2, 4] } });
  await assert.rejects(few.getGraph({ dimensions: { batch: 5 } }), /'batch' is 5; its bounds are 2 and 4/);
  await assert.rejects(loadModel(context, file, { names: { batch: [2] } }), /has 1 bounds, not 2/);
  const graph = await model.getGraph({ dimensions: { batch: 5 } });
  assert.deepEqual(describeGraph(graph).inputs.image, { dataType: 'float32', shape: [5, 1, 24, 24] });
  model.clear();
  isMoon((await model.compute({ image: moon })).probabilities.data);
});

test('a folder keeps graphs for the next start', async () => {
  const graphs = path.join(folder, 'graphs');
  fs.mkdirSync(graphs, { mode: 0o700 });
  for (let i = 0; i < 2; i++) {
    const model = await loadModel(await createContext({ engine: 'cpu' }), file, { folder: graphs, dimensions: { batch: 1 } });
    isMoon((await model.compute({ image: moon })).probabilities.data);
    assert.equal(fs.readdirSync(graphs).length, 1);
  }
  const limited = await loadModel(await createContext({ engine: 'cpu' }), file, { folder: graphs, folderLimit: 1 });
  isMoon((await limited.compute({ image: new Float32Array([...moon, ...moon]) })).probabilities.data);
  assert.equal(fs.readdirSync(graphs).length, 1);
});

test('wrong arguments of models are refused by name', async () => {
  const context = await createContext();
  await assert.rejects(loadModel({}, file), { name: 'TypeError', message: 'loadModel: context is not an MLContext' });
  await assert.rejects(loadModel(ml.createContext(), file), /await it/);
  await assert.rejects(loadModel(context, file, { dimensions: { bach: 1 } }), /bach/);
  await assert.rejects(loadModel(context, file, { dimension: { batch: 1 } }), /no option 'dimension'; did you mean 'dimensions'/);
  await assert.rejects(loadModel(context, file, 5), /loadModel: options is not an object/);
  await assert.rejects(loadModel(context), /loadModel: model, which is no path, is neither an ArrayBuffer/);
  await assert.rejects(loadModel(context, file, { constants: { image: { dataType: 'float32', shape: [1] } } }), /no member data/);
  const model = await loadModel(context, file);
  await assert.rejects(model.compute({}), /input "image" is missing/);
  await assert.rejects(model.compute({ image: moon }, { sginal: null }), /compute: there is no option "sginal"; there are .*signal/);
  await assert.rejects(model.getGraph({ outputs: [] }), /getGraph: there is no option "outputs"/);
  await assert.rejects(model.compute({ image: moon, mask: moon }), /no input "mask"; it has \["image"\]/);
  await assert.rejects(model.compute({ image: moon.subarray(1) }), /575 elements.*576.*\[batch, 1, 24, 24\]/);
  const refuses = (image, message) => assert.rejects(model.compute({ image }), { name: 'TypeError', message });
  await refuses(new Int32Array(576), /image" is an Int32Array of 576 elements; .* wants float32 \[1, 1, 24, 24\], a Float32Array of 576/);
  await refuses({ data: new Float64Array(7), shape: [2, 1, 24, 24] }, /a Float64Array of 7 elements; .*, a Float32Array of 1152/);
  await refuses({ data: moon, shape: [-1, 1, 24, 24] }, /input "image" is given the shape \[-1, 1, 24, 24\]: sizes are integers/);
  for (const shape of [[1, 1, 12, 48], [24, 24]])
    await refuses({ data: moon, shape }, /is given the shape \[[0-9, ]+\]: the model wants \[batch, 1, 24, 24\]/);
  await refuses({ data: moon, shape: [2, 1, 24, 24] }, /is a Float32Array of 576 elements; the model wants float32 \[2, 1, 24, 24\]/);
  isMoon((await model.compute({ image: { data: new Uint8Array(Uint8Array.from(Buffer.from(moon.buffer, moon.byteOffset, 2304))),
    shape: [1, 1, 24, 24] } })).probabilities.data);
  const tensor = await context.createTensor({ ...f32(1), writable: true });
  assert.throws(() => context.writeTensor(tensor, new Float64Array(1)), /is a Float64Array, which does not hold .* float32/);
  assert.throws(() => context.writeTensor(tensor, new Int32Array(1)), /is an Int32Array, which/);
  for (const signal of [5, null, {}, new AbortController()]) {
    const wrong = (call) => ({ name: 'TypeError', message: `${call}: signal is not an AbortSignal, such as the signal of an AbortController` });
    await assert.rejects(model.compute({ image: moon }, { signal }), wrong('compute'));
    await assert.rejects(model.getGraph({ signal }), wrong('getGraph'));
    await assert.rejects(buildGraph(new MLGraphBuilder(context), {}, { signal }), wrong('buildGraph'));
  }
  await assert.rejects(buildGraph(new MLGraphBuilder(context), {}, { sginal: null }), /buildGraph: there is no option "sginal"/);
  await assert.rejects(model.compute({ image: moon }, null), /compute: options is not an object/);
  for (const image of [[1], { data: moon }, { shape: [1] }, null, new DataView(new ArrayBuffer(8))])
    await assert.rejects(model.compute({ image }), /input "image" is neither a typed array nor/);
  await assert.rejects(model.getGraph({ dimensions: { batch: -1 } }), TypeError);
  isMoon((await model.compute({ image: moon })).probabilities.data);
});

test('a model is read into a builder, with operators of the program\'s own before and after', async () => {
  const context = await ml.createContext();
  const builder = new MLGraphBuilder(context);
  const pixels = builder.input('pixels', { dataType: 'uint8', shape: [1, 1, 24, 24] });
  const image = builder.div(builder.cast(pixels, 'float32'), builder.constant('float32', 255));
  const { inputs, outputs, notes } = readModel(builder, file, { operands: { image } });
  assert.deepEqual([Object.keys(inputs), Object.keys(outputs), typeof notes], [[], ['probabilities'], 'string']);
  const best = builder.argMax(outputs.probabilities, 1);
  const graph = await builder.build({ best });
  const from = await context.createTensor({ dataType: 'uint8', shape: [1, 1, 24, 24], writable: true });
  const to = await context.createTensor({ dataType: best.dataType, shape: best.shape, readable: true });
  context.writeTensor(from, Uint8Array.from(moon, (x) => Math.round(x * 255)));
  context.dispatch(graph, { pixels: from }, { best: to });
  assert.equal(new Int32Array(await context.readTensor(to))[0], expected.indexOf(Math.max(...expected)));
  assert.throws(() => readModel({}, file), TypeError);
  // What a getter does to a constant is seen: its bytes are asked for after all options.
  const data = new Float32Array(576);
  const constants = { image: { dataType: 'float32', shape: [1, 1, 24, 24], data } };
  const moved = { constants, get operands() { structuredClone(data, { transfer: [data.buffer] }); return {}; } };
  assert.throws(() => readModel(new MLGraphBuilder(context), file, moved), /data is detached/);
  assert.throws(() => readModel(builder, file), /has built its graph already/);
});

test('a signal ends a build', async () => {
  const context = await createContext();
  const reason = new Error('not wanted any more');
  await assert.rejects(buildGraph(new MLGraphBuilder(context), {}, { signal: AbortSignal.abort(reason) }), reason);
  const begin = () => {
    const builder = new MLGraphBuilder(context);
    let x = builder.input('x', f32(64, 64));
    for (let i = 0; i < 400; i++)
      x = builder.softmax(builder.matmul(x, builder.constant(f32(64, 64), Float32Array.from({ length: 4096 }, (_, k) => Math.sin(i + k)))), 1);
    return [builder, { y: x }];
  };
  const controller = new AbortController();
  const building = buildGraph(...begin(), { signal: controller.signal });
  controller.abort(reason);
  await assert.rejects(building, reason);
  const graph = await buildGraph(...begin(), { signal: new AbortController().signal });
  assert.ok(graph instanceof webnn.MLGraph);
  const model = await loadModel(context, file);
  const other = new AbortController();
  const waiting = model.compute({ image: moon }, { signal: other.signal });
  other.abort(reason);
  await assert.rejects(waiting, reason);
  isMoon((await model.compute({ image: moon })).probabilities.data);
});

test('a signal ends a computation, and the model goes on', async () => {
  const text = `webnn_graph "long" v1 { inputs { x: f32[320, 320]; } nodes { ${
    Array.from({ length: 200 }, (_, i) => `v${i + 1} = matmul(${i ? `v${i}` : 'x'}, ${i ? `v${i}` : 'x'});`).join(' ')
  } } outputs { v200; } }`;
  let told = 0;
  const context = await createContext({ computed: () => told++ });
  const model = await loadModel(context, Buffer.from(text));
  const x = Float32Array.from({ length: 320 * 320 }, (_, i) => i % 321 === 0);
  await model.compute({ x });
  const controller = new AbortController();
  const reason = new Error('not wanted any more');
  const computing = model.compute({ x }, { signal: controller.signal });
  setTimeout(() => controller.abort(reason), 1);
  await assert.rejects(computing, reason);
  const { data } = (await model.compute({ x }, { signal: new AbortController().signal })).v200;
  assert.deepEqual(data, x);
  assert.equal(told, 2); // a computation that did not end is not told
});

test('computed gets the times of every computation', async () => {
  const times = [];
  const context = await createContext({ computed: (...given) => times.push(given) });
  const model = await loadModel(context, file);
  await model.compute({ image: moon });
  const graph = await model.getGraph({ dimensions: { batch: 1 } });
  const input = await context.createTensor({ ...f32(1, 1, 24, 24), writable: true });
  const output = await context.createTensor({ ...f32(1, 8), readable: true });
  context.dispatch(graph, { image: input }, { probabilities: output });
  await context.readTensor(output);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(times.length, 2);
  assert.equal(times[1][0], graph);
  for (const [, { submitted, begun, ended }] of times)
    assert.ok(submitted > 0 && submitted <= begun && begun <= ended);
  await assert.rejects(createContext({ computed: 1 }), { message: 'createContext: computed is not a function' });
});

test('objects are shown, and promises are told from what they promise', async () => {
  const { context, graph, input } = await smallGraph(3);
  assert.match(util.inspect(graph), /^MLGraph \{\s+inputs: .*x: \{ dataType: 'float32', shape: \[ 3 \] \}/s);
  assert.match(util.inspect(input), /^MLTensor \{\s+dataType: 'float32',\s+shape: \[ 3 \],\s+readable: false,\s+writable: true/);
  assert.match(util.inspect(context), /^MLContext \{ accelerated: (true|false) \}$/);
  assert.match(util.inspect(await loadModel(context, file)), /^Model \{.*shape: \[ 'batch', 1, 24, 24 \]/s);
  assert.throws(() => new MLGraphBuilder(ml.createContext()), /context is a Promise of an MLContext: await it/);
  await assert.rejects(createContext({ engine: 'tpu' }), /engine is 'tpu'; it may be 'auto', 'cpu', 'gpu'/);
  assert.throws(() => new MLGraphBuilder(context).input('x', { dataType: 'float', shape: [] }),
    /dataType is 'float'; it may be 'float32', 'float16', /);
});

test('models that are open do not keep Node.js alive, and end with a worker', () => {
  const { status, stderr } = runProgram(`
    import { createRequire } from 'node:module';
    import { Worker, isMainThread } from 'node:worker_threads';
    const native = createRequire('${packageFolder}/')('./native.js');
    const text = \`const native = require('${packageFolder}/native.js');
      native.createContext().then((c) => native.loadModel(c, '${file}')).then((m) => { m.getGraph({ dimensions: { batch: 2 } }); process.exit(0); });\`;
    new Worker(text, { eval: true, execArgv: [] });
    const model = await native.loadModel(await native.createContext(), '${file}');
    model.getGraph({ dimensions: { batch: 3 } });
    await model.getGraph({ dimensions: { batch: 1 } });`);
  assert.equal(stderr, '');
  assert.equal(status, 0);
});

test('whatever the arguments are, functions answer with a value or an exception', async () => {
  let state = 12345;
  const draw = (list) => list[(state = (Math.imul(state, 1103515245) + 12345) >>> 0, state >>> 8) % list.length];
  const context = await createContext({ threadCount: 1 });
  const model = await loadModel(context, file);
  const detached = new Uint8Array(8);
  structuredClone(detached, { transfer: [detached.buffer] });
  const bytes = fs.readFileSync(file);
  const throwing = new Proxy({}, { get() { throw new RangeError('asked'); }, ownKeys() { throw new RangeError('asked'); } });
  const simple = [undefined, null, 0, -1, 2 ** 53, NaN, '', 'batch', 'a\0b', file, Symbol('s'), 5n, [], [1, 2], {}, () => 1, detached,
    bytes, bytes.subarray(0, 99), new DataView(new ArrayBuffer(4)), new Int32Array(1), context, new MLGraphBuilder(context), model, throwing,
    Promise.resolve(1)];
  const value = (depth) => (depth > 0 && draw([true, false])
    ? Object.fromEntries(Array.from({ length: draw([1, 2, 3]) }, () => [draw(['dimensions', 'shapes', 'constants', 'operands',
      'batch', 'image', 'data', 'shape', 'dataType', 'signal', 'folder', 'graphLimit', 'path', '__proto__']), value(depth - 1)]))
    : draw(simple));
  const functions = [describeModel, readModel, loadModel, describeGraph, buildGraph, (a) => model.compute(a), (a) => model.getGraph(a)];
  for (let i = 0; i < 4000; i++) {
    const call = draw(functions);
    try {
      const result = call(...Array.from({ length: draw([1, 2, 3]) }, () => value(3)));
      await Promise.race([result, new Promise((resolve) => setTimeout(resolve, 200))]);
    } catch (error) {
      assert.ok(error instanceof Error, String(error));
    }
  }
  isMoon((await model.compute({ image: moon })).probabilities.data);
});
