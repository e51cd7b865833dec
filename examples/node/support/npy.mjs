// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads arrays in NumPy's format .npy: little-endian, in C order.
import fs from 'node:fs';

const types = {
  '<f4': ['float32', Float32Array], '<i4': ['int32', Int32Array], '<i8': ['int64', BigInt64Array],
  '<u4': ['uint32', Uint32Array], '|i1': ['int8', Int8Array], '|u1': ['uint8', Uint8Array],
};

/** Returns {dataType, shape, data}. */
export function readNpy(name) {
  const file = fs.readFileSync(name);
  const begin = 10 + file.readUInt16LE(8);
  const header = file.toString('latin1', 10, begin);
  const [, descr] = /'descr': '(.*?)'/.exec(header);
  if (!types[descr] || /'fortran_order': True/.test(header))
    throw new Error(`${name}: arrays of ${header} are not read`);
  const [dataType, View] = types[descr];
  const shape = [.../'shape': \((.*?)\)/.exec(header)[1].matchAll(/\d+/g)].map(Number);
  return { dataType, shape, data: new View(new Uint8Array(file.subarray(begin)).buffer) };
}
