// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import type { MLContext, MLContextOptions, MLGraph } from './index.js';

export interface NativeContextOptions extends MLContextOptions {
  /** Asks for the same bits with any number of threads, on processors of one kind. */
  deterministic?: boolean;
  /** Names the device of engine 'gpu': its number, or a part of its name. */
  device?: string;
  engine?: 'auto' | 'cpu' | 'gpu';
  /** Says how exactly convolutions and matmuls of float32 operands are computed. */
  precision?: 'float32' | 'bf16x2' | 'bf16' | 'int8';
  /** Says how many threads one computation has; 0 stands for all processors. */
  threadCount?: number;
}

/** Does what ml.createContext does, with more options. */
export function createContext(options?: NativeContextOptions): Promise<MLContext>;
/** Writes a compiled graph to a file, for loadGraph on this machine or one like it. */
export function saveGraph(graph: MLGraph, path: string): Promise<undefined>;
/** Makes a graph of a file, without compiling.  Code in a file is trusted as that of a shared library is. */
export function loadGraph(context: MLContext, path: string): Promise<MLGraph>;
