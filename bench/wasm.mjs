// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Times networks that webnnc made WebAssembly modules of, and ONNX Runtime Web's WebAssembly on the same ONNX files, with one
// thread and in turns.
//
//   node bench/wasm.mjs --webnnc build/release/bin/webnnc [--features +relaxed-simd] [--ort NODE_MODULES] [--rounds N] FILE.onnx ...
//
// NODE_MODULES is a folder in which onnxruntime-web is installed.  Inputs are sines, or small integers.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';

const { values: options, positionals: files } = parseArgs({
    allowPositionals: true,
    options: { webnnc: { type: 'string', default: 'build/release/bin/webnnc' }, features: { type: 'string' },
               ort: { type: 'string' }, rounds: { type: 'string', default: '40' } },
});

function fill(array) {
    for (let i = 0; i < array.length; i++)
        array[i] = array instanceof Float32Array ? Math.sin(i) : typeof array[0] === 'bigint' ? BigInt(i % 100) : i % 100;
    return array;
}

/** Returns the smallest and the median time of each function, in milliseconds, called in turns. */
async function times(functions) {
    const lists = functions.map(() => []);
    for (let i = 0; i < Number(options.rounds); i++)
        for (const [k, f] of functions.entries()) {
            const start = performance.now();
            await f();
            lists[k].push(performance.now() - start);
        }
    return lists.map((list) => list.sort((a, b) => a - b)).map((list) => [list[0], list[list.length >> 1]]);
}

async function ortSession(file, inputs) {
    const ort = await import(pathToFileURL(createRequire(join(options.ort, 'x.js')).resolve('onnxruntime-web')));
    ort.env.wasm.numThreads = 1;
    const session = await ort.InferenceSession.create(readFileSync(file), { executionProviders: ['wasm'] });
    const feeds = Object.fromEntries(inputs.map((x) => [x.name, new ort.Tensor(x.dataType, x.array, x.shape)]));
    return () => session.run(feeds);
}

const folder = mkdtempSync(join(tmpdir(), 'wasm-'));
try {
    for (const file of files) {
        const name = basename(file, '.onnx'), module = join(folder, 'network.wasm');
        const features = options.features ? ['--features', options.features] : [];
        execFileSync(options.webnnc, [file, '-o', module, '--name', 'network', ...features]);
        const { load, inputs } = await import(`${pathToFileURL(join(folder, 'network.mjs'))}?${name}`);
        const network = await load({ module: readFileSync(module) });
        const arrays = inputs.map((x) => ({ ...x, array: fill(network.inputs[x.name]).slice() }));
        const functions = [() => network.run()];
        if (options.ort)
            functions.push(await ortSession(file, arrays));
        const text = (await times(functions)).map((x) => `${x[0].toFixed(2)} (${x[1].toFixed(2)})`);
        console.log(`| ${name} | ${text.join(' | ')} |`);
    }
} finally {
    rmSync(folder, { recursive: true });
}
