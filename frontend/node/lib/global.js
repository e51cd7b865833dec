// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Installs WebNN as a browser has it: the interfaces as properties of the global object, and navigator.ml.
'use strict';

const { ml, ...interfaces } = require('./index.js');

const { defineProperty } = Object;

for (const name of Object.keys(interfaces))
  defineProperty(globalThis, name, { value: interfaces[name], writable: true, enumerable: false, configurable: true });

// Node.js 21 and later have a navigator; before that, one is made that has nothing but ml.
if (typeof globalThis.Navigator !== 'function') {
  class Navigator {
    constructor() {
      throw new TypeError('Illegal constructor');
    }
  }
  const { prototype } = Navigator;
  defineProperty(prototype, Symbol.toStringTag, { value: 'Navigator', writable: false, enumerable: false, configurable: true });
  defineProperty(globalThis, 'Navigator', { value: Navigator, writable: true, enumerable: false, configurable: true });
  const navigator = Object.create(prototype);
  const { get } = Object.getOwnPropertyDescriptor({ get navigator() { return navigator; } }, 'navigator');
  defineProperty(globalThis, 'navigator', { get, set: undefined, enumerable: true, configurable: true });
}

const owner = globalThis.navigator;
const { get } = Object.getOwnPropertyDescriptor({
  get ml() {
    if (this !== owner)
      throw new TypeError('Illegal invocation');
    return ml;
  },
}, 'ml');
defineProperty(globalThis.Navigator.prototype, 'ml', { get, set: undefined, enumerable: true, configurable: true });
