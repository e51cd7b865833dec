// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The declarations of the package, by TypeScript's strict checks.  WEBNN_NODE_MODULES names the folder node_modules with the
// package typescript; without it the test is skipped.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

const modules = process.env.WEBNN_NODE_MODULES ?? '';
if (!fs.existsSync(path.join(modules, 'typescript'))) {
  console.log('skipped: WEBNN_NODE_MODULES names no folder node_modules with typescript');
  process.exit(77);
}
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'webnn-types-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true }));
fs.mkdirSync(path.join(folder, 'node_modules'));
fs.symlinkSync(process.env.WEBNN_NODE_PACKAGE, path.join(folder, 'node_modules/webnn-node'));

/** Returns what the compiler says of a program. */
function check(text) {
  fs.writeFileSync(path.join(folder, 'program.mts'), text);
  const { stdout } = spawnSync(process.execPath, [path.join(modules, 'typescript/lib/tsc.js'), '--strict', '--noEmit', '--target',
    'es2022', '--module', 'nodenext', '--types', '', '--preserveSymlinks', 'program.mts'], { cwd: folder, encoding: 'utf8' });
  return stdout.trim();
}

test('globals are those of a browser', () => {
  assert.equal(check(`import 'webnn-node/global';
    const descriptor: MLOperandDescriptor = { dataType: 'float32' satisfies MLOperandDataType, shape: [2] };
    const options: MLConv2dOptions = { groups: 1 };
    const limits: MLOpSupportLimits | undefined = undefined;
    export async function build(): Promise<MLGraph> {
      const context: MLContext = await navigator.ml.createContext({ accelerated: false });
      const builder = new MLGraphBuilder(context), x: MLOperand = builder.input('x', descriptor);
      return builder.build({ y: builder.relu(x) });
    }
    export { options, limits };`), '');
  assert.match(check("import 'webnn-node/global'; const o: MLClampOptions = { minValue: 'a' }; export { o };"), /TS2322/);
});

test('names of dimensions', () => {
  const program = `const descriptor = { dataType: 'float32', shape: [1, 'n'] } as const;
    const builder = new MLGraphBuilder({} as MLContext), x = builder.input('x', descriptor);
    const [batch]: readonly (number | string)[] = x.shape;
    const graph = await builder.build({ y: builder.squeeze(builder.padDynamic(x, x, x), { axes: [0] }) });
    const stored: MLOperandDataType = 'bfloat16', x8 = builder.cast(x, 'float8e4m3');
    const sizes: number[] = graph.computeShapes({ x: [1, 2] }).y;
    quantizeWeights(builder, 'int8');
    export { batch, sizes, stored, x8 };`;
  const native = "import { quantizeWeights } from 'webnn-node/native';";
  assert.equal(check(`${native} import { MLGraphBuilder, type MLContext, type MLOperandDataType } from 'webnn-node/draft'; ${program}`), '');
  assert.match(check(`${native} import { MLGraphBuilder, type MLContext, type MLOperandDataType } from 'webnn-node'; ${program}`), /TS2345[^]*TS2339[^]*MLOperandDataType/);
});

test('models', () => {
  assert.equal(check(`import { createContext, loadModel, describeModel, readModel, buildGraph, type Model } from 'webnn-node/native';
    import { MLGraphBuilder } from 'webnn-node';
    const context = await createContext({ computed: (graph, { begun, ended }) => { const t: number = ended - begun; } });
    const model: Model = await loadModel(context, 'model.onnx', { dimensions: { batch: 1 }, folder: 'graphs' });
    const { y } = await model.compute({ x: { data: new Float32Array(2), shape: [1, 2] } }, { signal: new AbortController().signal });
    const size: number = y.shape[0], largest: number = describeModel('m').dimensions['batch'];
    const builder = new MLGraphBuilder(context);
    await buildGraph(builder, readModel(builder, new Uint8Array(1)).outputs);
    export { size, largest };`), '');
  assert.match(check("import { loadModel } from 'webnn-node/native'; await loadModel(1, 'm');"), /TS2345/);
});
