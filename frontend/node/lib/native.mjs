// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import extensions from './native.js';

export const {
  createContext, listDevices, getDevice, setStates, quantizeWeights, getQuantizedWeights,
  getVariantCounts, setVariantLimit, saveGraph, loadGraph, getFileEngine, buildGraph, describeGraph, describeModel, readModel, loadModel, Model,
} = extensions;
