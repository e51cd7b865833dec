// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs of docs/node.md run as they stand.
//
//   node snippets.mjs SOURCES
//
// What needs onnxruntime-web is skipped where WEBNN_NODE_MODULES names no folder node_modules with it.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

const sources = process.argv[2];
const modules = process.env.WEBNN_NODE_MODULES ?? '';
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'webnn-snippets-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true }));
fs.mkdirSync(path.join(folder, 'node_modules'));
fs.symlinkSync(path.join(sources, 'examples'), path.join(folder, 'examples'));
// The package is copied, since a link would lead to where no other packages are.
fs.cpSync(process.env.WEBNN_NODE_PACKAGE, path.join(folder, 'node_modules/webnn-node'), { recursive: true });
for (const name of modules && fs.existsSync(modules) ? fs.readdirSync(modules) : [])
  if (name !== 'webnn-node')
    fs.symlinkSync(path.join(modules, name), path.join(folder, 'node_modules', name));

const programs = [...fs.readFileSync(path.join(sources, 'docs/node.md'), 'utf8').matchAll(/^```js\n(.*?)^```$/gms)];
assert.ok(programs.length >= 3);
for (const [, text] of programs) {
  const skip = text.includes('onnxruntime') && !fs.existsSync(path.join(modules, 'onnxruntime-web')) && 'no onnxruntime-web';
  test(text.split('\n').find((line) => !line.startsWith("import fs")), { skip }, () => {
    const file = path.join(folder, 'program.mjs');
    fs.writeFileSync(file, text);
    const { status, stdout, stderr } = spawnSync(process.execPath, [file], { cwd: folder, encoding: 'utf8', timeout: 600000 });
    assert.equal(status, 0, stderr);
    // The comment after a console.log begins with what it prints last, in brackets.
    for (const [, printed] of text.matchAll(/console\.log\(.*\); \/\/ \[([-\d., ]+)\]/g)) {
      const numbers = printed.split(',').map((number) => `${Number(number)}`);
      assert.match(stdout, new RegExp(`\\[\\s*${numbers.join(',\\s*')}\\s*\\]`));
    }
  });
}
