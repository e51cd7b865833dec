// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exports the interfaces, after adding what the working group's drafts of dynamic shapes and low precision have; it stays there for all of the program.
'use strict';

const { enableDraft, interfaces } = require('./interfaces.js');

enableDraft();

module.exports = interfaces;
