// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import type { MLContext, MLContextOptions, MLGraph, MLGraphBuilder } from './index.js';

export interface NativeContextOptions extends MLContextOptions {
  /** Names the folder of built programs of engine 'gpu', which must be the user's alone; 'off' for none. */
  cache?: string;
  /** Asks for the same bits with any number of threads, on processors of one kind. */
  deterministic?: boolean;
  /** Names the device of engine 'gpu': its number, or a part of its name. */
  device?: string;
  engine?: 'auto' | 'cpu' | 'gpu';
  /** Gets what the context has to say, among it which options of methods are ignored. */
  log?: (level: 'info' | 'warning' | 'error', message: string) => void;
  /** Says how many bytes tensors, weights and the memory that graphs compute in may take; 0 for no limit. */
  memoryLimit?: number;
  /** Says how exactly convolutions and matmuls of float32 operands are computed. */
  precision?: 'float32' | 'bf16x2' | 'bf16' | 'int8';
  /** Says how many threads one computation has; 0 stands for all processors. */
  threadCount?: number;
}

/** Does what ml.createContext does, with more options. */
export function createContext(options?: NativeContextOptions): Promise<MLContext>;

export interface DeviceInfo {
  kind: 'other' | 'cpu' | 'gpu' | 'accelerator';
  name: string;
  platform: string;
  /** What it lacks to run graphs, '' if it runs them. */
  lacks: string;
  memoryBytes: number;
  /** Of one tensor at most. */
  bufferBytes: number;
}

/** Lists the devices that engine 'gpu' may be asked for, by their numbers. */
export function listDevices(): DeviceInfo[];
/** Says what graphs of a context run on. */
export function getDevice(context: MLContext): DeviceInfo;

/**
 * Says which inputs and outputs of the graph that the builder builds are states: { inputName: outputName }.  What the output is
 * after a dispatch, the input is before the next one; one tensor may be given for both, and is changed in place.
 */
export function setStates(builder: MLGraphBuilder, states: Record<string, string>): void;
/** Lets the builder's build round the constant weights of matmuls to 8 or 4 bits, with a scale for each block of 32. */
export function quantizeWeights(builder: MLGraphBuilder, format: 'none' | 'int8' | 'int4'): void;

export interface QuantizedWeights {
  /** How many matrices have been rounded. */
  matrices: number;
  bytesBefore: number;
  /** Scales included. */
  bytesAfter: number;
}

/** Says what quantizeWeights came to in the build of a graph. */
export function getQuantizedWeights(graph: MLGraph): QuantizedWeights;
/** Writes a compiled graph to a file, for loadGraph on this machine or one like it. */
export function saveGraph(graph: MLGraph, path: string): Promise<undefined>;
/** Says which engine a context needs to load a file, for NativeContextOptions.engine. */
export function getFileEngine(path: string): 'cpu' | 'gpu';
/** Makes a graph of a file, without compiling.  Code in a file is trusted as that of a shared library is. */
export function loadGraph(context: MLContext, path: string): Promise<MLGraph>;
