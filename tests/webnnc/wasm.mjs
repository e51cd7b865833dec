// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs a compiled network in WebAssembly through the JavaScript module that webnnc wrote, and compares its outputs.
//
//   node wasm.mjs MODULE.mjs INPUT.npy ... -- EXPECTED.npy ...
//
// Files are in the order of the network's inputs and outputs.  An output passes when no element is further off than 1e-4 of the
// largest absolute value expected.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [path, ...files] = process.argv.slice(2);
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

const { load, inputs, outputs } = await import(pathToFileURL(resolve(path)));
const given = files.slice(0, split).map(readNpy), expected = files.slice(split + 1).map(readNpy);
const network = await load();
assert.deepEqual(WebAssembly.Module.imports(network.module), []);
assert.deepEqual([inputs.length, outputs.length], [given.length, expected.length]);

const values = Object.fromEntries(inputs.map((x, i) => [x.name, given[i]]));
const first = inputs[0].name;
assert.throws(() => network.run({ missing: given[0] }), /no input is called "missing"; there are: "/);
assert.throws(() => network.run({ [first]: given[0].subarray(1) }), /: expected a Float32Array of \d+ elements, got a Float32Array of/);
assert.throws(() => network.run({ [first]: new Int32Array(given[0].length) }), /got a Int32Array of/);
assert.throws(() => network.run({ [first]: [...given[0]] }), /got an array/);

// An instance of its own, of the module that is compiled: what one computes leaves the other alone.
const other = await load({ module: network.module });
const start = performance.now();
const results = network.run(values);
console.log(`${path}: ${(performance.now() - start).toFixed(1)} ms`);
assert.equal(results, network.outputs);
for (const x of outputs)
    assert.ok(other.outputs[x.name].every((y) => y === 0));
// Inputs stay from one run to the next.
const copies = outputs.map((x) => results[x.name].slice());
outputs.forEach((x) => results[x.name].fill(0));
network.run();
outputs.forEach((x, i) => assert.deepEqual(results[x.name], copies[i]));

let failed = false;
expected.forEach((want, i) => {
    const got = results[outputs[i].name];
    let largest = 0, scale = 0;
    assert.equal(outputs[i].shape.reduce((a, b) => a * b, 1), want.length);
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
