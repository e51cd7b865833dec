#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wpt-runner: runs tests of web-platform-tests, unmodified, on this package.  docs/node.md describes it.
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));

const usage = `usage: wpt-runner [OPTION]... ROOT [PATTERN]...

Runs ROOT/webnn/**/*.any.js, each variant of each file in a process of its own.  ROOT is a checkout of web-platform-tests, or
a folder with its folders resources, interfaces and webnn.  A PATTERN is a part of a file's path; without one, all files run.

  --variant TEXT         only variants whose name contains TEXT, such as cpu; files without variants run always
  --expectations FILE    known failures (default: expectations.json next to this program)
  --json FILE            writes all results to FILE
  --jobs N               so many processes at once (default: the number of processors)
  --timeout SECONDS      for one file (default: 120; files with META timeout=long: six times as many)
  --package FOLDER       the package to test (default: WEBNN_NODE_PACKAGE, else that of build/release)
  --strict               a rule of the expectations that no test needs is a failure, too
  --quiet                prints failures and the sum only

Exit status: 0 if all tests passed or failed as expected, 1 if not, 2 for a wrong command line.
`;

// ---------------------------------------------------------------------------------------------- the command line

function fail(text) {
  process.stderr.write(`wpt-runner: ${text}\n`);
  process.exit(2);
}

function parseArguments(given) {
  const options = {
    variant: '', expectations: path.join(here, 'expectations.json'), json: undefined,
    jobs: os.availableParallelism?.() ?? os.cpus().length, timeout: 120,
    package: process.env.WEBNN_NODE_PACKAGE ?? path.join(here, '../../../build/release/node/webnn-node'),
    quiet: false, strict: false, root: undefined, patterns: [],
  };
  for (let i = 0; i < given.length; i++) {
    const name = /^--([a-z]+)$/.exec(given[i])?.[1];
    if (name === 'help') {
      process.stdout.write(usage);
      process.exit(0);
    } else if (name === 'quiet' || name === 'strict') {
      options[name] = true;
    } else if (name === undefined) {
      if (options.root === undefined)
        options.root = path.resolve(given[i]);
      else
        options.patterns.push(given[i]);
    } else if (!['variant', 'expectations', 'json', 'jobs', 'timeout', 'package'].includes(name)) {
      fail(`there is no option --${name}`);
    } else if (i + 1 === given.length) {
      fail(`--${name} needs a value`);
    } else {
      const value = given[++i];
      options[name] = name === 'jobs' || name === 'timeout' ? Number(value) : value;
      if (typeof options[name] === 'number' && !(options[name] > 0))
        fail(`--${name} is ${value}, which is no positive number`);
    }
  }
  if (options.root === undefined)
    fail('no folder is given; --help shows what there is');
  options.package = path.resolve(options.package);
  if (!fs.existsSync(path.join(options.package, 'webnn.node')))
    fail(`${options.package} has no webnn.node; --package names the folder of the built package`);
  return options;
}

// ---------------------------------------------------------------------------------------------- which tests there are

function* filesBelow(folder) {
  for (const entry of fs.readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = path.join(folder, entry.name);
    if (entry.isDirectory())
      yield* filesBelow(name);
    else if (entry.name.endsWith('.any.js'))
      yield name;
  }
}

function metaOf(file) {
  const meta = { variants: [], long: false };
  for (const line of fs.readFileSync(file, 'utf8').split('\n')) {
    const [, key, value] = /^\/\/\s*META:\s*(\w+)=(.*?)\s*$/.exec(line) ?? [];
    if (key === 'variant')
      meta.variants.push(value);
    else if (key === 'timeout')
      meta.long = value === 'long';
    else if (!line.startsWith('//') && line.trim() !== '')
      break;
  }
  if (meta.variants.length === 0)
    meta.variants.push('');
  return meta;
}

function findRuns({ root, patterns, variant }) {
  if (!fs.existsSync(path.join(root, 'resources/testharness.js')) || !fs.existsSync(path.join(root, 'webnn')))
    fail(`${root} has no resources/testharness.js or no webnn/`);
  const runs = [];
  for (const name of filesBelow(path.join(root, 'webnn'))) {
    const file = path.relative(root, name);
    if (patterns.length > 0 && !patterns.some((pattern) => file.includes(pattern)))
      continue;
    const { variants, long } = metaOf(name);
    for (const each of variants)
      if (each === '' || each.includes(variant))
        runs.push({ file, variant: each, long });
  }
  return runs;
}

// ---------------------------------------------------------------------------------------------- expectations

// Rules are [{test, message, reason}], the first two of which are regular expressions; an absent one matches everything.  The name
// of a test counts without the prefix that says whether the specification requires its data types and ranks.
function readExpectations(name) {
  return JSON.parse(fs.readFileSync(name, 'utf8')).rules.map((rule) => {
    if (!rule.reason)
      fail(`a rule in ${name} has no reason`);
    return { test: new RegExp(rule.test ?? '', 'u'), message: new RegExp(rule.message ?? '', 'u'), reason: rule.reason, used: 0 };
  });
}

function expectedReason(rules, { name, message }) {
  const plain = name.replace(/^\[(required|optional)\] /, '');
  const rule = rules.find((each) => each.test.test(plain) && each.message.test(message ?? ''));
  if (rule)
    rule.used++;
  return rule?.reason;
}

// ---------------------------------------------------------------------------------------------- running

function runOne({ file, variant, long }, options) {
  return new Promise((resolve) => {
    const begin = performance.now();
    const child = spawn(process.execPath, [path.join(here, 'run_file.cjs'), options.root, file, variant, options.package],
      { stdio: ['ignore', 'pipe', 'pipe', 'pipe'] });
    let output = '';
    let json = '';
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      child.kill('SIGKILL');
    }, options.timeout * (long ? 6 : 1) * 1000);
    child.stdout.on('data', (data) => { output += data; });
    child.stderr.on('data', (data) => { output += data; });
    child.stdio[3].on('data', (data) => { json += data; });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      let result;
      try {
        result = JSON.parse(json);
      } catch {
        result = { harness: { status: 1, message: 'there is no result' }, tests: [] };
      }
      if (timedOut)
        result.harness = { status: 2, message: `the time of ${options.timeout * (long ? 6 : 1)} s is over` };
      else if (signal !== null || code !== 0)
        result.harness = { status: 1, message: `the process ended with ${signal ?? code}: ${result.harness.message ?? ''}\n${output}` };
      resolve({ file, variant, seconds: (performance.now() - begin) / 1000, ...result });
    });
  });
}

// testharness.js numbers its statuses so: PASS 0, FAIL 1, TIMEOUT 2, NOTRUN 3, PRECONDITION_FAILED 4.
const OUTCOMES = ['pass', 'fail', 'timeout', 'notrun', 'skip'];

function judge(run, rules) {
  const sum = { pass: 0, expected: 0, skip: 0, fail: 0 };
  const failures = [];
  const tests = run.harness.status === 0 ? run.tests : [{ name: '(harness)', ...run.harness }, ...run.tests];
  let setUp; // why a file's set-up fails as expected, so that its tests do not run
  for (const test of tests) {
    test.outcome = OUTCOMES[test.status] ?? 'fail';
    if (test.outcome === 'pass' || test.outcome === 'skip') {
      sum[test.outcome]++;
      continue;
    }
    test.expected = (test.outcome === 'notrun' ? setUp : undefined) ?? expectedReason(rules, test);
    if (test.name === '(harness)')
      setUp = test.expected;
    if (test.expected) {
      sum.expected++;
    } else {
      sum.fail++;
      failures.push(test);
    }
  }
  return { sum, failures, tests };
}

async function main() {
  const options = parseArguments(process.argv.slice(2));
  const rules = readExpectations(options.expectations);
  const runs = findRuns(options);
  const total = { pass: 0, expected: 0, skip: 0, fail: 0 };
  const results = [];
  let next = 0;
  let done = 0;

  if (runs.length === 0)
    fail('no test file matches');
  const worker = async () => {
    while (next < runs.length) {
      const run = await runOne(runs[next++], options);
      const { sum, failures, tests } = judge(run, rules);
      done++;
      for (const key of Object.keys(total))
        total[key] += sum[key];
      results.push({ file: run.file, variant: run.variant, seconds: run.seconds, ...sum, tests });
      if (!options.quiet || failures.length > 0)
        console.log(`[${done}/${runs.length}] ${run.file}${run.variant}: ${sum.pass} passed, ${sum.fail} failed, ` +
          `${sum.expected} failed as expected, ${sum.skip} skipped, ${run.seconds.toFixed(1)} s`);
      for (const { name, outcome, message } of failures)
        console.log(`    ${outcome}: ${name}\n        ${String(message).split('\n').slice(0, 12).join('\n        ')}`);
    }
  };
  await Promise.all(Array.from({ length: Math.min(options.jobs, runs.length) }, worker));
  const unneeded = rules.filter(({ used }) => used === 0).map(({ reason }) => reason);
  if (options.json) {
    results.sort((a, b) => (a.file + a.variant < b.file + b.variant ? -1 : 1));
    fs.writeFileSync(options.json, JSON.stringify({ total, unneeded, results }, undefined, 1));
  }
  console.log(`${runs.length} runs of files: ${total.pass} passed, ${total.fail} failed, ${total.expected} failed as expected, ` +
    `${total.skip} skipped`);
  for (const reason of options.strict ? unneeded : [])
    console.log(`no test needs this rule: ${reason}`);
  process.exitCode = total.fail === 0 && total.pass > 0 && !(options.strict && unneeded.length > 0) ? 0 : 1;
}

await main();
