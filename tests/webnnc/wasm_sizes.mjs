// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads sized.mjs, which webnnc wrote for batches of pictures, at two sizes: each picture has the result that it has alone.
import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const { load, inputs } = await import(pathToFileURL(resolve('sized.mjs')));
await assert.rejects(load(), /size "batch": expected one of 3 numbers from 1 to 3/);
await assert.rejects(load({ sizes: { batch: 4 } }), /got 4/);
await assert.rejects(load({ sizes: { batches: 1 } }), /no size is called "batches"; there are: "batch"/);
assert.deepEqual(inputs[0].shape, [null, 1, 24, 24]);
const both = await load({ sizes: { batch: 2 } }), one = await load({ module: both.module, sizes: { batch: 1 } });
assert.deepEqual(both.shapes, { image: [2, 1, 24, 24], probabilities: [2, 8] });
both.inputs.image.forEach((_, i, all) => { all[i] = Math.sin(i * i); });
const { probabilities } = both.run();
for (const i of [0, 1])
    one.run({ image: both.inputs.image.subarray(576 * i, 576 * (i + 1)) }).probabilities.forEach((x, k) =>
        assert.ok(Math.abs(x - probabilities[8 * i + k]) < 1e-6));
