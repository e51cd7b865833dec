// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Holds the JavaScript modules of webnnc against what check.sh compiled: every data type, names that mean something to
// JavaScript, files from elsewhere and from a server, and files that are wrong.
//
//   node wasm_types.mjs     in a folder with types.wasm, extremes.wasm, and weights.wasm with weights.bin
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { pathToFileURL } from 'node:url';

const here = (file) => pathToFileURL(`${process.cwd()}/${file}`);
const expected = [['f', 'float32', Float32Array], ['h', 'float16', Uint16Array], ['i', 'int32', Int32Array],
                  ['u', 'uint32', Uint32Array], ['l', 'int64', BigInt64Array], ['m', 'uint64', BigUint64Array],
                  ['b', 'int8', Int8Array], ['__proto__', 'uint8', Uint8Array], ['*/ "odd"\n', 'float32', Float32Array]];
const types = await import(here('types.mjs'));

// Each output is the input at its place, whose last element is that place: no two tensors can be exchanged.
async function checkTypes(network) {
    const values = Object.fromEntries(expected.map(([name, , type], i) =>
        [name, type.from(name.startsWith('*') ? [3] : [1, 2, 3, 4, 5, i], (x) => name.match(/^[lm]$/) ? BigInt(x) : x)]));
    const results = network.run(values);
    types.outputs.forEach((x, i) => {
        const [name, dataType, type] = expected[i];
        assert.deepEqual([x.dataType, results[x.name].constructor], [dataType, type], x.name);
        assert.deepEqual(results[x.name], values[name], x.name);
    });
}

assert.deepEqual(types.inputs, expected.map(([name, dataType]) => ({ name, dataType, shape: name.startsWith('*') ? [] : [2, 3] })));
const network = await types.load();
for (const [name, , type] of expected)
    assert.equal(Object.getOwnPropertyDescriptor(network.inputs, name).value.constructor, type, name);
await checkTypes(network);

// Files by URL, path, bytes; from a server that knows the type of modules and from one that does not.
const bytes = readFileSync('types.wasm');
for (const module of [here('types.wasm'), 'types.wasm', bytes, new Uint8Array(bytes).buffer])
    await checkTypes(await types.load({ module }));
const server = createServer((request, response) => {
    const found = request.url !== '/absent';
    response.writeHead(found ? 200 : 404, { 'content-type': request.url === '/typed' ? 'application/wasm' : 'text/plain' });
    response.end(found ? bytes : 'nothing is here');
});
await new Promise((done) => server.listen(0, '127.0.0.1', done));
const site = `http://127.0.0.1:${server.address().port}`;
await checkTypes(await types.load({ module: `${site}/typed` }));
await checkTypes(await types.load({ module: new URL(`${site}/untyped`) }));
await checkTypes(await types.load({ module: await fetch(`${site}/typed`) }));
await assert.rejects(types.load({ module: `${site}/absent` }), /\/absent: the server answered 404/);
server.close();

// Anything but a module.
await assert.rejects(types.load({ module: new Uint8Array(8) }), /this engine does not take types.wasm, which was compiled for WebAssembly with \+simd128/);
await assert.rejects(types.load({ module: 'absent.wasm' }), /ENOENT/);

// Weights in a file.
const { load } = await import(here('weights.mjs'));
const y = (await load()).run({ x: Float32Array.of(1, 2) }).y;
assert.deepEqual([...y], [2, 4]);
const weights = readFileSync('weights.bin');
assert.deepEqual([...(await load({ weights })).run({ x: Float32Array.of(5, 6) }).y], [6, 8]);
weights[8] ^= 1;
for (const bytes of [weights, weights.subarray(1)])
    await assert.rejects(load({ weights: bytes }), /weights_set_weights: the file with weights is missing, or not the one/);

// Minimum and maximum keep NaN, and -0 is less than +0, whatever instructions they are; as in JavaScript.
const extremes = await import(here('extremes.mjs'));
const x = Float32Array.of(NaN, -0, 0, 7, -1, Infinity, -Infinity, 2.5);
const mixed = [1, -0, 1, -0, 1, -0, 1, -0], { max, min } = Math;
const wanted = {
    relu: (v) => max(v, 0), relu6: (v) => min(max(v, 0), 6), max_p: (v) => max(v, 0), max_n: (v) => max(v, -0),
    max_c: (v) => max(v, 2.5), min_p: (v) => min(v, 0), min_n: (v) => min(v, -0), min_c: (v) => min(v, 2.5),
    max_m: (v, i) => max(v, mixed[i]), min_m: (v, i) => min(v, mixed[i]), max_x: (v) => v,
};
const got = (await extremes.load()).run({ x });
for (const [name, function_] of Object.entries(wanted))
    assert.deepEqual([...got[name]], [...x].map(function_), name);
