// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
'use strict';

module.exports = require('./interfaces.js').interfaces;
