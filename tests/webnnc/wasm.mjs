// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a compiled network in a WebAssembly module and compares its outputs.
//
//   node wasm.mjs MODULE PREFIX INPUT.npy ... -- EXPECTED.npy ...
//
// The module exports PREFIX_run_with, PREFIX_workspace_size, its memory and __heap_base; nothing is imported.  An output passes
// when no element is further off than 1e-4 of the largest absolute value expected.
import { readFileSync } from 'node:fs';

const [path, prefix, ...files] = process.argv.slice(2);
const split = files.indexOf('--');

function readNpy(file) {
    const bytes = readFileSync(file);
    const length = bytes.readUInt16LE(8);
    const header = bytes.toString('latin1', 10, 10 + length);
    if (!header.includes("'<f4'") || header.includes("'fortran_order': True"))
        throw new Error(`${file}: not float32 in C order`);
    const data = bytes.subarray(10 + length);
    return new Float32Array(data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength));
}

const inputs = files.slice(0, split).map(readNpy);
const expected = files.slice(split + 1).map(readNpy);
const module = await WebAssembly.compile(readFileSync(path));
if (WebAssembly.Module.imports(module).length)
    throw new Error(`the module imports ${JSON.stringify(WebAssembly.Module.imports(module))}`);
const { exports } = await WebAssembly.instantiate(module, {});
const memory = exports.memory;

let end = exports.__heap_base.value;
function allocate(bytes) {
    const start = (end + 63) & ~63;
    end = start + bytes;
    const missing = end - memory.buffer.byteLength;
    if (missing > 0)
        memory.grow(Math.ceil(missing / 65536));
    return start;
}

const workspace = allocate(exports[`${prefix}_workspace_size`](1));
const from = inputs.map((x) => allocate(x.byteLength));
const to = expected.map((x) => allocate(x.byteLength));
inputs.forEach((x, i) => new Float32Array(memory.buffer, from[i], x.length).set(x));
const run = exports[`${prefix}_run_with`];
if (run(workspace, 0, 0, ...to) !== 5)
    throw new Error('a NULL input is not refused');
const start = performance.now();
const status = run(workspace, 0, ...from, ...to);
if (status !== 0)
    throw new Error(`run_with returned ${status}`);
console.log(`${prefix}: ${(performance.now() - start).toFixed(1)} ms`);

let failed = false;
expected.forEach((want, i) => {
    const got = new Float32Array(memory.buffer, to[i], want.length);
    let largest = 0, scale = 0;
    want.forEach((x, k) => {
        const difference = Math.abs(got[k] - x);
        scale = Math.max(scale, Math.abs(x));
        if (!(difference <= largest))
            largest = difference;
    });
    const ok = largest <= 1e-4 * scale;
    console.log(`output ${i}: largest difference ${largest.toExponential(2)} of ${scale.toPrecision(4)}${ok ? '' : ' WRONG'}`);
    failed ||= !ok;
});
process.exit(failed ? 1 : 0);
