// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Declares what `import 'webnn-node/global'` installs.
import type * as webnn from './index.js';

declare global {
  interface Navigator {
    readonly ml: webnn.ML;
  }
  type ML = webnn.ML;
  type MLContext = webnn.MLContext;
  type MLTensor = webnn.MLTensor;
  type MLGraph = webnn.MLGraph;
  type MLOperand = webnn.MLOperand;
  type MLGraphBuilder = webnn.MLGraphBuilder;
  var navigator: Navigator;
  var ML: typeof webnn.ML;
  var MLContext: typeof webnn.MLContext;
  var MLTensor: typeof webnn.MLTensor;
  var MLGraph: typeof webnn.MLGraph;
  var MLOperand: typeof webnn.MLOperand;
  var MLGraphBuilder: typeof webnn.MLGraphBuilder;
}
