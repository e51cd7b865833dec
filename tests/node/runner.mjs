// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// runner.mjs RUNNER SUITE
// What wpt-runner makes of files that pass, fail, throw, end, crash and never end; SUITE lends its harness.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import test from 'node:test';

const [runner, suite] = process.argv.slice(2);
const root = fs.mkdtempSync(path.join(os.tmpdir(), 'wpt-runner-'));
process.on('exit', () => fs.rmSync(root, { recursive: true }));
fs.mkdirSync(path.join(root, 'webnn', 'resources'), { recursive: true });
fs.symlinkSync(path.join(suite, 'resources'), path.join(root, 'resources'));
fs.writeFileSync(path.join(root, 'webnn', 'resources', 'shared.js'), 'const shared = 5;');
fs.writeFileSync(path.join(root, 'rules.json'),
  JSON.stringify({ rules: [{ test: '^fails', message: 'expected 2|mine', reason: 'an example' }, { test: 'set-up|harness', message: 'no set-up', reason: 'another' }] }));

function write(file, text) {
  fs.writeFileSync(path.join(root, `webnn/${file}.https.any.js`), text);
}

function run(pattern, ...options) {
  const json = path.join(root, 'results.json');
  const { status, stdout, stderr } = spawnSync(process.execPath,
    [runner, '--json', json, '--expectations', path.join(root, 'rules.json'), ...options, root, pattern], { encoding: 'utf8' });
  return { status, stdout, stderr, ...JSON.parse(fs.readFileSync(json, 'utf8')) };
}

test('tests pass, fail and fail as expected; META lines give scripts and variants', () => {
  write('mixed', `// META: variant=?cpu
// META: variant=?gpu
// META: script=./resources/shared.js
test(() => assert_equals(shared, 5), 'passes');
promise_test(async () => assert_true(await navigator.ml.createContext() instanceof MLContext), 'has navigator.ml');
test(() => assert_equals(1, location.search === '?gpu' ? 2 : 1), 'fails for one variant');
test(() => assert_equals(1, 3), 'is wrong');
test(() => assert_equals(1, 2), '[optional] fails with a prefix');
`);
  const { status, total, results, stdout } = run('mixed');
  assert.equal(status, 1);
  assert.deepEqual(total, { pass: 5, expected: 3, skip: 0, fail: 2 });
  assert.deepEqual(results.map(({ variant }) => variant), ['?cpu', '?gpu']);
  assert.match(stdout, /fail: is wrong/);
  assert.equal(results[1].tests.find(({ name }) => name.startsWith('fails')).expected, 'an example');
});

test('a set-up that fails as expected excuses the tests that it keeps from running; a strict run wants every rule needed', () => {
  write('set-up', `promise_setup(async () => { throw new Error('no set-up'); });
promise_test(async () => {}, 'does not run');`);
  const { status, total, unneeded } = run('set-up');
  assert.deepEqual(total, { pass: 0, expected: 2, skip: 0, fail: 0 });
  assert.deepEqual(unneeded, ['an example']);
  assert.equal(status, 1); // nothing has passed
  write('set-up-no-more', `test(() => {}, 'passes'); test(() => assert_equals(1, 2), 'fails');`);
  assert.equal(run('set-up-no-more').status, 0);
  const strict = run('set-up-no-more', '--strict');
  assert.equal(strict.status, 1);
  assert.match(strict.stdout, /no test needs this rule: another/);
});

test('files that throw, end, exit and crash fail, and the others go on; a variant can be chosen', () => {
  write('bad-throws', 'throw new Error("mine");');
  write('bad-ends', 'promise_test(() => new Promise(() => {}), "never settles");');
  write('bad-exits', 'test(() => {}, "passes"); process.exit(3);');
  write('bad-crashes', 'process.kill(process.pid, "SIGSEGV");');
  write('bad-not', '// META: variant=?cpu\n// META: variant=?gpu\ntest(() => {}, "passes");');
  const { status, results } = run('bad-', '--variant', 'cpu');
  assert.equal(status, 1);
  assert.equal(results.length, 5);
  for (const { file, fail, pass } of results)
    assert.equal(fail > 0, !file.includes('bad-not'), `${file}: ${pass} passed, ${fail} failed`);
});

test('a file that never ends fails when its time is over', () => {
  write('hangs', 'for (;;);');
  const { status, total } = run('hangs', '--timeout', '1');
  assert.equal(status, 1);
  assert.equal(total.fail, 1);
});

test('a rule needs a reason, and a folder has to be a suite', () => {
  fs.writeFileSync(path.join(root, 'bare.json'), '{"rules": [{"test": "x"}]}');
  const bare = spawnSync(process.execPath, [runner, '--expectations', path.join(root, 'bare.json'), root]);
  assert.equal(bare.status, 2);
  assert.equal(spawnSync(process.execPath, [runner, os.tmpdir()]).status, 2);
  assert.equal(spawnSync(process.execPath, [runner, '--what', root]).status, 2);
});
