// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the tests of the Node.js package share.
import { createRequire } from 'node:module';
import { spawnSync } from 'node:child_process';

export const packageFolder = process.env.WEBNN_NODE_PACKAGE;
const require = createRequire(import.meta.url);
export const webnn = require(packageFolder);
export const { ml, MLContext, MLGraphBuilder } = webnn;

/** Under the sanitizers, which take their time and keep freed memory. */
export const sanitized = process.env.WEBNN_SANITIZED === '1';

export const f32 = (...shape) => ({ dataType: 'float32', shape });

/** A context, a graph y = x + x of n elements, and its tensors. */
export async function smallGraph(n = 4) {
  const context = await ml.createContext();
  const builder = new MLGraphBuilder(context);
  const x = builder.input('x', f32(n));
  const graph = await builder.build({ y: builder.add(x, x) });
  const input = await context.createTensor({ ...f32(n), writable: true });
  const output = await context.createTensor({ ...f32(n), readable: true });
  return { context, graph, input, output };
}

/** Runs a program in a process of its own; `webnn` and `smallGraph` are there. */
export function runProgram(text, ...flags) {
  const source = `import { webnn, ml, MLGraphBuilder, f32, smallGraph } from '${import.meta.url}';\n${text}`;
  return spawnSync(process.execPath, [...flags, '--input-type=module', '--eval', source], { encoding: 'utf8', timeout: 600000 });
}
