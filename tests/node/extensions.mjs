// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The entry native of the package: options of contexts, saved graphs.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

import { webnn, ml, f32, smallGraph, packageFolder } from './support.mjs';

const { createContext, saveGraph, loadGraph } = createRequire(import.meta.url)(path.join(packageFolder, 'native.js'));
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'webnn-node-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true }));

test('contexts take the options of the library, and refuse wrong ones', async () => {
  const context = await createContext({ threadCount: 1, precision: 'int8', deterministic: true, engine: 'cpu', accelerated: false });
  assert.ok(context instanceof webnn.MLContext);
  assert.equal(context.accelerated, false);
  for (const wrong of [{ threadCount: -1 }, { threadCount: 100000 }, { precision: 'half' }, { engine: 'npu' }, 5])
    await assert.rejects(createContext(wrong), TypeError);
  await assert.rejects(createContext({ engine: 'gpu', device: 'there is no device of this name' }), { name: 'NotSupportedError' });
});

test('a graph is saved, loaded and dispatched', async () => {
  const { context, graph } = await smallGraph(3);
  const file = path.join(folder, 'graph');
  assert.equal(await saveGraph(graph, file), undefined);
  const other = await ml.createContext();
  const loaded = await loadGraph(other, file);
  assert.ok(loaded instanceof webnn.MLGraph);
  const input = await other.createTensor({ ...f32(3), writable: true });
  const output = await other.createTensor({ ...f32(3), readable: true });
  other.writeTensor(input, new Float32Array([1, 2, 3]));
  other.dispatch(loaded, { x: input }, { y: output });
  assert.deepEqual([...new Float32Array(await other.readTensor(output))], [2, 4, 6]);
  await assert.rejects(loadGraph(other, path.join(folder, 'absent')), { name: 'DataError' });
  await assert.rejects(saveGraph(graph, path.join(folder, 'no', 'such', 'folder')), { name: 'UnknownError' });
  await assert.rejects(saveGraph(graph, 'a\0b'), TypeError);
  await assert.rejects(saveGraph({}, file), TypeError);
  context.destroy();
  await assert.rejects(saveGraph(graph, file), { name: 'InvalidStateError' });
});
