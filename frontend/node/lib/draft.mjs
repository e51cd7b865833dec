// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import interfaces from './draft.js';

export const { ml, ML, MLContext, MLTensor, MLGraph, MLOperand, MLGraphBuilder } = interfaces;
