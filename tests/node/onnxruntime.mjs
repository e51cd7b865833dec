// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests that ONNX Runtime Web, its WebNN provider on navigator.ml of webnn-node, gives the reference outputs of ONNX models.
//
//   node onnxruntime.mjs MODELS [--seconds S] [--threads N]
//
// MODELS has a folder with manifest.json and model.onnx for each model.  With --seconds, each model also runs that long by
// ONNX Runtime Web's own WebAssembly and by the CPU provider of onnxruntime-node, each in a process of its own, and a table
// compares times per run.  WEBNN_NODE_MODULES names the folder node_modules with onnxruntime-web, and with onnxruntime-node
// for the table; where it does not, the exit status is 77.  --threads (1) is for webnn-node and onnxruntime-node.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';

import { readNpy } from '../../examples/node/support/npy.mjs';
import { onnxRuntimeWeb, packageFile } from '../../examples/node/support/packages.mjs';

const { values: options, positionals: [models] } = parseArgs({
  allowPositionals: true,
  options: { seconds: { type: 'string' }, threads: { type: 'string', default: '1' }, engine: { type: 'string' } },
});

// ---------------------------------------------------------------------------------------------- engines

/** Each returns a runtime, and the options of its sessions. */
const engines = {
  async webnn() {
    return [await onnxRuntimeWeb(), { executionProviders: ['webnn'] }];
  },
  async wasm() {
    return [await onnxRuntimeWeb(), { executionProviders: ['wasm'] }];
  },
  async node() {
    const ort = createRequire(import.meta.url)(packageFile('onnxruntime-node'));
    return [ort, { executionProviders: ['cpu'], intraOpNumThreads: Number(options.threads), interOpNumThreads: 1 }];
  },
};

/** Counts the graphs that are built and run. */
function countCalls() {
  const count = { build: 0, dispatch: 0 };
  for (const [prototype, name] of [[MLGraphBuilder.prototype, 'build'], [MLContext.prototype, 'dispatch']]) {
    const { [name]: method } = prototype;
    prototype[name] = function (...given) {
      count[name]++;
      return Reflect.apply(method, this, given);
    };
  }
  return count;
}

// ---------------------------------------------------------------------------------------------- models

/** Returns the sizes of free dimensions, by name, for the inputs of a case. */
function freeDimensions(manifest, { inputs }) {
  const sizes = {};
  for (const { name, declaredShape } of manifest.inputs)
    declaredShape.forEach((size, axis) => {
      if (typeof size === 'string')
        sizes[size] = inputs.find((input) => input.name === name).shape[axis];
    });
  return sizes;
}

function feedsOf(ort, folder, { inputs }) {
  return Object.fromEntries(inputs.map(({ name, file, shape }) => {
    const { dataType, data } = readNpy(path.join(folder, file));
    return [name, new ort.Tensor(dataType, data, shape)];
  }));
}

/** Returns the largest error of the outputs as a part of the tolerance: 1 is the limit. */
function worstError(folder, { outputs }, { atol, rtol }, results) {
  let worst = 0;
  for (const { name, file } of outputs) {
    const expected = readNpy(path.join(folder, file)).data;
    const actual = results[name].data;
    if (actual.length !== expected.length)
      return Infinity;
    expected.forEach((value, i) => {
      const error = Math.abs(Number(actual[i]) - Number(value)) / (atol + rtol * Math.abs(Number(value)));
      worst = Math.max(worst, Number.isNaN(error) ? Infinity : error);
    });
  }
  return worst;
}

async function medianTime(session, feeds, seconds) {
  const times = [];
  for (let i = 0; i < 3; i++)
    await session.run(feeds);
  for (const end = performance.now() + seconds * 1000; performance.now() < end || times.length < 5;) {
    const begin = performance.now();
    await session.run(feeds);
    times.push(performance.now() - begin);
  }
  return times.sort((a, b) => a - b)[times.length >> 1];
}

/** Runs all cases of a model, with a session for each set of free dimensions. */
async function runModel([ort, sessionOptions], folder, count) {
  const manifest = JSON.parse(fs.readFileSync(path.join(folder, 'manifest.json')));
  const model = fs.readFileSync(path.join(folder, manifest.model));
  const result = { worst: 0, milliseconds: undefined, dispatches: 0 };
  let session;
  let last;
  for (const each of manifest.cases) {
    const freeDimensionOverrides = freeDimensions(manifest, each);
    if (JSON.stringify(freeDimensionOverrides) !== last) {
      await session?.release();
      session = await ort.InferenceSession.create(model, { ...sessionOptions, freeDimensionOverrides, logSeverityLevel: 3 });
      last = JSON.stringify(freeDimensionOverrides);
    }
    const feeds = feedsOf(ort, folder, each);
    const before = count?.dispatch ?? 0;
    result.worst = Math.max(result.worst, worstError(folder, each, manifest.tolerance, await session.run(feeds)));
    result.dispatches = (count?.dispatch ?? 0) - before;
    if (options.seconds && result.milliseconds === undefined)
      result.milliseconds = await medianTime(session, feeds, Number(options.seconds));
  }
  await session.release();
  return result;
}

/** Runs all models by one engine, and returns {name: result}. */
async function runAll(names, engine) {
  const runtime = await engines[engine]();
  const count = engine === 'webnn' ? countCalls() : undefined;
  const results = {};
  for (const name of names) {
    try {
      results[name] = await runModel(runtime, path.join(models, name), count);
    } catch (error) {
      results[name] = { error: error.message };
    }
  }
  return results;
}

// ---------------------------------------------------------------------------------------------- the program

/** Prints what came of the WebNN provider, and returns whether all of it is right. */
function report(results) {
  let isRight = true;
  for (const [name, { worst, dispatches, error }] of Object.entries(results)) {
    const ok = error === undefined && worst <= 1 && dispatches > 0;
    isRight &&= ok;
    const text = error ?? `${worst.toFixed(3)} of the tolerance, graphs in a run: ${dispatches}`;
    console.log(`${ok ? 'ok' : 'FAILED'} ${name}: ${text}`);
  }
  return isRight;
}

function printTable(results) {
  const column = (engine, name) => results[engine][name]?.milliseconds?.toFixed(3) ?? '-';
  console.log('\n| model | graphs | webnn-node, ms | onnxruntime-node, ms | onnxruntime-web wasm, ms |');
  console.log('| --- | --- | --- | --- | --- |');
  for (const [name, { dispatches }] of Object.entries(results.webnn)) {
    const times = ['webnn', 'node', 'wasm'].map((engine) => column(engine, name));
    console.log(`| \`${name}\` | ${[dispatches, ...times].join(' | ')} |`);
  }
}

function inProcess(engine) {
  const { stdout, stderr, status } = spawnSync(process.execPath,
    [fileURLToPath(import.meta.url), models, '--engine', engine, '--seconds', options.seconds, '--threads', options.threads],
    { encoding: 'utf8', env: { ...process.env, OMP_NUM_THREADS: options.threads } });
  if (status !== 0)
    throw new Error(`${engine}: ${stderr}`);
  return JSON.parse(stdout);
}

if (!fs.existsSync(path.join(process.env.WEBNN_NODE_MODULES ?? '', 'onnxruntime-web'))) {
  console.log('skipped: WEBNN_NODE_MODULES names no folder node_modules with the package onnxruntime-web');
  process.exit(77);
}
const names = fs.readdirSync(models).filter((name) => fs.existsSync(path.join(models, name, 'model.onnx'))).sort();
if (options.engine) {
  process.stdout.write(JSON.stringify(await runAll(names, options.engine)));
} else if (options.seconds) {
  const results = { webnn: inProcess('webnn'), node: inProcess('node'), wasm: inProcess('wasm') };
  process.exitCode = report(results.webnn) ? 0 : 1;
  printTable(results);
} else {
  process.exitCode = report(await runAll(names, 'webnn')) && names.length > 0 ? 0 : 1;
}
