// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the drafts of dynamic shapes and of low precision add to the interfaces of index.d.ts.
import type {
  MLDimension, MLInterpolationMode, MLOperand, MLOperandDataType, MLOperatorOptions, MLSliceOptions, MLSplitOptions,
} from './index.js';

export * from './index.js';

export interface MLInputOperandDescriptor {
  dataType: MLOperandDataType;
  shape: Iterable<MLDimension>;
}

export type MLNamedShapes = Record<string, Iterable<number>>;

export interface MLSqueezeOptions extends MLOperatorOptions {
  axes?: Iterable<number>;
}

export interface MLReshapeTo2dOptions extends MLOperatorOptions {
  axis?: number;
}

export type MLSliceDynamicOptions = MLSliceOptions;

export interface MLResample2dDynamicOptions extends MLOperatorOptions {
  mode?: MLInterpolationMode;
  scales?: Iterable<number>;
  sizes?: MLOperand;
  axes?: Iterable<number>;
}

declare module './index.js' {
  interface DimensionKinds {
    name: string;
  }

  interface DraftDataTypes {
    lowPrecision: 'bfloat16' | 'float8e4m3' | 'float8e5m2';
  }

  interface MLGraph {
    computeShapes(inputShapes: MLNamedShapes): Record<string, number[]>;
  }

  interface MLGraphBuilder {
    input(name: string, descriptor: MLInputOperandDescriptor): MLOperand;
    shape(input: MLOperand, options?: MLOperatorOptions): MLOperand;
    range(start: MLOperand, limit: MLOperand, delta: MLOperand, options?: MLOperatorOptions): MLOperand;
    modulusFloor(a: MLOperand, b: MLOperand, options?: MLOperatorOptions): MLOperand;
    modulusTruncate(a: MLOperand, b: MLOperand, options?: MLOperatorOptions): MLOperand;
    squeeze(input: MLOperand, options?: MLSqueezeOptions): MLOperand;
    unsqueeze(input: MLOperand, axes: Iterable<number>, options?: MLOperatorOptions): MLOperand;
    reshapeTo2d(input: MLOperand, options?: MLReshapeTo2dOptions): MLOperand;
    reshapeDynamic(input: MLOperand, newShape: MLOperand, options?: MLOperatorOptions): MLOperand;
    expandDynamic(input: MLOperand, newShape: MLOperand, options?: MLOperatorOptions): MLOperand;
    sliceDynamic(input: MLOperand, starts: MLOperand, sizes: MLOperand, options?: MLSliceDynamicOptions): MLOperand;
    padDynamic(input: MLOperand, beginningPadding: MLOperand, endingPadding: MLOperand, options?: MLOperatorOptions): MLOperand;
    splitDynamic(input: MLOperand, splits: MLOperand, options?: MLSplitOptions): MLOperand[];
    resample2dDynamic(input: MLOperand, options?: MLResample2dDynamicOptions): MLOperand;
    tileDynamic(input: MLOperand, repetitions: MLOperand, options?: MLOperatorOptions): MLOperand;
  }
}
