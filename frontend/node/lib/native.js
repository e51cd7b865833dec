// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exports what the library has beyond the specification; none of it is on the standard's interfaces.
'use strict';

const { getGraph, clearModel, createCancellation, cancel, dispatchCancellable, ...functions } = require('./interfaces.js').extensions;

module.exports = { ...functions, ...require('./model.js') };
