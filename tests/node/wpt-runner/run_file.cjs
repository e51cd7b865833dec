// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// run_file.cjs ROOT FILE VARIANT PACKAGE
// Runs one test file of web-platform-tests in this process, as a window would, and writes what came of it to file descriptor 3 as
// JSON: {harness: {status, message}, tests: [{name, status, message}]}.
//
// The globals that a shell has to provide (testharness.js, "ShellTestEnvironment") are made here; the package installs the rest.
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const vm = require('node:vm');

const [root, file, variant, packagePath] = process.argv.slice(2);

let reported = false;

function report(result) {
  if (reported)
    return;
  reported = true;
  fs.writeSync(3, JSON.stringify(result));
}

// ---------------------------------------------------------------------------------------------- the global scope

const define = (name, value) => Object.defineProperty(globalThis, name, { value, writable: true, enumerable: true, configurable: true });

define('self', globalThis);
define('window', globalThis);
define('Window', class Window {});
define('GLOBAL', { isWindow: () => true, isWorker: () => false, isShadowRealm: () => false });
define('location', {
  search: variant,
  pathname: `/${file}`,
  href: `https://web-platform.test/${file}${variant}`,
  toString() { return this.href; },
});
define('isSecureContext', true);

// Interface definitions are fetched from the server of the suite, which here is the folder.
define('fetch', async (url) => {
  const text = fs.readFileSync(path.join(root, String(url)), 'utf8');
  return { ok: true, text: async () => text };
});

define('crossOriginIsolated', true);

// Older engines get what tests use of newer ones: detaching a buffer, asking for it, sets without the
// items of others, and a class that stands for Float16Array, whose elements the tests do not look at.
const addMethod = (name, property) => {
  if (!(name in ArrayBuffer.prototype))
    Object.defineProperty(ArrayBuffer.prototype, name, { enumerable: false, configurable: true, ...property });
};
addMethod('transfer', { writable: true, value() { return structuredClone(this, { transfer: [this] }); } });
addMethod('detached', {
  get() {
    try {
      return new Uint8Array(this) === undefined;
    } catch {
      return true;
    }
  },
});
if (!('Float16Array' in globalThis))
  define('Float16Array', class Float16Array extends Uint16Array {});
if (!('difference' in Set.prototype))
  Object.defineProperty(Set.prototype, 'difference', {
    value(other) { return new Set([...this].filter((item) => !other.has(item))); },
    writable: true, enumerable: false, configurable: true,
  });

require(path.join(packagePath, 'global.js'));

// ---------------------------------------------------------------------------------------------- the test

const run = (name) => vm.runInThisContext(fs.readFileSync(name, 'utf8'), { filename: name });

const messageOf = (error) => error && error.stack ? error.stack : String(error);

process.on('uncaughtException', (error) => {
  report({ harness: { status: 1, message: `uncaught exception: ${messageOf(error)}` }, tests: [] });
  process.exit(1);
});
// Rejections that a test handles later are none of the runner's business.
process.on('unhandledRejection', () => {});
process.on('exit', () => {
  report({ harness: { status: 1, message: 'the process ended before the tests were complete' }, tests: [] });
});

const testFile = path.join(root, file);
const scripts = [];
for (const line of fs.readFileSync(testFile, 'utf8').split('\n')) {
  const meta = /^\/\/\s*META:\s*script=(\S+)\s*$/.exec(line);
  if (meta)
    scripts.push(meta[1].startsWith('/') ? path.join(root, meta[1]) : path.resolve(path.dirname(testFile), meta[1]));
}

run(path.join(root, 'resources/testharness.js'));
add_completion_callback((tests, status) => {
  report({
    harness: { status: status.status, message: status.message },
    tests: tests.map(({ name, status, message }) => ({ name, status, message })),
  });
});
for (const script of scripts)
  run(script);
run(testFile);
