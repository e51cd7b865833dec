// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// idl.mjs IDL OPERATORS
// Holds the package against the specification's interface definitions: interfaces with their members and lengths, dictionaries
// by the order in which their members are read, enumerations and integers by trying them; and opSupportLimits() against the
// data types and ranks that the specification requires (OPERATORS, its table of operators).
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

import { webnn, ml, MLGraphBuilder, f32, packageFolder } from './support.mjs';

// ---------------------------------------------------------------------------------------------- reading the IDL

const text = fs.readFileSync(process.argv[2], 'utf8').replace(/\/\/.*$/gm, '').replace(/\s+/g, ' ');

/** Splits at commas outside of brackets. */
function splitList(list) {
  const parts = [];
  let depth = 0;
  let part = '';
  for (const c of list) {
    depth += '(<['.includes(c) - ')>]'.includes(c);
    if (c === ',' && depth === 0) {
      parts.push(part.trim());
      part = '';
    } else {
      part += c;
    }
  }
  return part.trim() ? [...parts, part.trim()] : parts;
}

/** "optional T name = default" */
function parseDeclaration(declaration) {
  const [, optional, type, name] = /^(optional |required )?(.*?) (\w+)(?: = .*)?$/.exec(declaration);
  return { type, name, optional: optional === 'optional ' };
}

const interfaces = new Map(); // name -> {operations: Map(name -> [arguments]), attributes: [name]}
const dictionaries = new Map(); // name -> {parent, members}
const enumerations = new Map(); // name -> values

for (const [, kind, name, parent, body] of text.matchAll(/\b(interface|dictionary|enum) (ML\w*)(?: : (\w+))? \{(.*?)\}\s*;(?= |$)/g)) {
  if (kind === 'enum') {
    enumerations.set(name, splitList(body).map((value) => value.replaceAll('"', '')));
  } else if (kind === 'dictionary') {
    const entry = dictionaries.get(name) ?? { parent, members: [] };
    entry.members.push(...body.split(';').map((member) => member.trim()).filter(Boolean).map(parseDeclaration));
    dictionaries.set(name, entry);
  } else {
    const entry = interfaces.get(name) ?? { operations: new Map(), attributes: [] };
    for (const member of body.split(';').map((each) => each.trim()).filter(Boolean)) {
      const operation = /^(?:.* )?(\w+) ?\((.*)\)$/.exec(member);
      const attribute = /^readonly attribute .* (\w+)$/.exec(member);
      if (attribute)
        entry.attributes.push(attribute[1]);
      else
        entry.operations.set(operation[1], [...(entry.operations.get(operation[1]) ?? []), splitList(operation[2]).map(parseDeclaration)]);
    }
    interfaces.set(name, entry);
  }
}

/** The members of a dictionary in the order in which Web IDL reads them. */
function membersInOrder(name) {
  const { parent, members } = dictionaries.get(name);
  return [...(parent ? membersInOrder(parent) : []), ...[...members].sort((a, b) => (a.name < b.name ? -1 : 1))];
}

// ---------------------------------------------------------------------------------------------- values for arguments

const context = await ml.createContext();

/** A value that the type's conversion accepts. */
function acceptable(type, builder) {
  if (type === 'MLOperand')
    return builder.constant(f32(2), new Float32Array(2));
  if (type === 'MLOperandDataType')
    return 'float32';
  return /^sequence|^\(/.test(type) ? [] : 0;
}

test('the IDL has been understood', () => {
  assert.equal(interfaces.size, 6);
  assert.ok(interfaces.get('MLGraphBuilder').operations.size >= 90);
  assert.ok(dictionaries.size >= 40 && enumerations.size >= 10);
});

test('interfaces have exactly the members of the IDL, with its lengths', () => {
  for (const [name, { operations, attributes }] of interfaces) {
    const { prototype } = webnn[name];
    const expected = [...operations.keys(), ...attributes, 'constructor'];
    assert.deepEqual(Object.getOwnPropertyNames(prototype).sort(), [...new Set(expected)].sort(), name);
    for (const attribute of attributes)
      assert.equal(typeof Object.getOwnPropertyDescriptor(prototype, attribute).get, 'function');
    for (const [operation, overloads] of operations) {
      const owner = operation === 'constructor' ? webnn[name] : prototype[operation];
      const lengths = overloads.map((given) => given.filter(({ optional }) => !optional).length);
      assert.equal(owner.length, Math.min(...lengths), `${name}.${operation}`);
    }
  }
});

const operators = [...interfaces.get('MLGraphBuilder').operations].filter(([name]) => !['constructor', 'input', 'constant', 'build'].includes(name));

test('operators read the members of their dictionaries in order, after their arguments', () => {
  for (const [name, [declared]] of operators) {
    const builder = new MLGraphBuilder(context);
    const read = [];
    const options = new Proxy({}, { get(target, key) { read.push(key); } });
    const given = declared.slice(0, -1).map(({ type }) => acceptable(type, builder));
    try {
      builder[name](...given, options);
    } catch (error) {
      assert.ok(error instanceof TypeError, `${name}: ${error}`);
    }
    assert.deepEqual(read, membersInOrder(declared.at(-1).type).map((member) => member.name), name);
  }
});

/** What the conversion of each type refuses. */
const refused = {
  'MLOperand': [{}, null, 1],
  'boolean': [],
  'double': [NaN, Infinity, 1n, Symbol('s')],
  'MLNumber': [Symbol('s')],
  'USVString': [Symbol('s')],
  '[EnforceRange] unsigned long': [-1, 2 ** 32, NaN, 1n],
  '[EnforceRange] long': [2 ** 31, -(2 ** 31) - 1, NaN],
  'unsigned long': [1n, Symbol('s')],
  'float': [NaN, 1e39],
};

const show = (value) => (Array.isArray(value) ? `[${value.map(String)}]` : String(value));

function refusedBy(type) {
  const item = /^sequence<(.*)>$/.exec(type)?.[1];
  if (item)
    return [1, 'text', {}, ...refusedBy(item).map((value) => [value])];
  if (type.startsWith('('))
    return [-1, NaN, [-1], {}];
  if (enumerations.has(type))
    return ['', 'no such value', null];
  assert.ok(type in refused, `the test knows no type ${type}`);
  return refused[type];
}

test('arguments and members have the types of the IDL', () => {
  for (const [name, [declared]] of operators) {
    const builder = new MLGraphBuilder(context);
    const positional = declared.slice(0, -1);
    const good = positional.map(({ type }) => acceptable(type, builder));
    // A later conversion that would be noticed: a refusal has to come before it.
    const later = (act) => {
      let reached = false;
      const options = { get label() { reached = true; return ''; } };
      assert.throws(() => act(options), TypeError);
      return reached;
    };
    positional.forEach(({ type, name: argument }, i) => {
      for (const value of refusedBy(type))
        assert.equal(later((options) => builder[name](...good.map((v, k) => (k === i ? value : v)), options)), false,
          `${name}: ${argument} takes ${show(value)}`);
    });
    for (const { type, name: member } of membersInOrder(declared.at(-1).type)) {
      for (const value of refusedBy(type)) {
        // The proxy's own error comes when the member after this one is read, or none at all if it is the last.
        const read = [];
        const options = new Proxy({ [member]: value }, { get(target, key) { read.push(key); return target[key]; } });
        assert.throws(() => builder[name](...good, options), TypeError);
        assert.equal(read.at(-1), member, `${name}: ${member} takes ${show(value)}`);
      }
      for (const value of enumerations.get(type) ?? []) {
        const read = [];
        const options = new Proxy({ [member]: value }, { get(target, key) { read.push(key); return target[key]; } });
        try {
          builder[name](...good, options);
        } catch (error) {
          assert.ok(error instanceof TypeError);
        }
        assert.equal(read.at(-1), membersInOrder(declared.at(-1).type).at(-1).name, `${name}: ${member} refuses ${value}`);
      }
    }
  }
});

test('opSupportLimits() has exactly the members of the IDL', () => {
  const check = (value, type, where) => {
    if (!dictionaries.has(type))
      return;
    const members = membersInOrder(type);
    assert.deepEqual(Object.keys(value), members.map(({ name }) => name), where);
    for (const member of members)
      check(value[member.name], member.type, `${where}.${member.name}`);
  };
  check(context.opSupportLimits(), 'MLOpSupportLimits', 'limits');
});

test('opSupportLimits() covers the data types and ranks that are required', () => {
  const { operators: rows } = JSON.parse(fs.readFileSync(process.argv[3], 'utf8'));
  const limits = context.opSupportLimits();
  let checked = 0;
  for (const { name, operands } of rows) {
    for (const { operand, required_data_types: types, required_ranks: ranks } of operands) {
      const member = operand.replace(/^outputs\[(\d)\].*/, 'output$1').replace(/'s items$/, '');
      const { dataTypes, rankRange } = limits[name][member];
      const [low, high = low] = ranks.split(' to ').map(Number);
      for (const type of types.split(', '))
        assert.ok(dataTypes.includes(type), `${name}: ${member} lacks ${type}`);
      assert.ok(rankRange.min <= low && rankRange.max >= high, `${name}: ${member} lacks ranks ${ranks}`);
      checked++;
    }
  }
  assert.ok(checked > 200);
});

test('the TypeScript declarations name every interface, dictionary, enumeration, method and value', () => {
  const declarations = fs.readFileSync(path.join(packageFolder, 'index.d.ts'), 'utf8');
  const has = (expression, what) => assert.match(declarations, expression, what);
  for (const [name, { operations, attributes }] of interfaces) {
    has(new RegExp(`export class ${name} `), name);
    for (const member of [...operations.keys(), ...attributes])
      has(new RegExp(`\\b${member}[(:]`), `${name}.${member}`);
  }
  for (const name of [...dictionaries.keys()].filter((each) => each.endsWith('Options')))
    has(new RegExp(`export interface ${name} `), name);
  for (const [name, values] of enumerations)
    has(new RegExp(`export type ${name} = ${values.map((value) => `'${value}'`).join(' \\| ')}[ ;]`), name);
});
