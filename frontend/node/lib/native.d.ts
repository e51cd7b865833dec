// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import type {
  AllowSharedBufferSource, MLContext, MLContextOptions, MLGraph, MLGraphBuilder, MLNamedOperands, MLOperand,
  MLOperandDataType, MLOperandDescriptor,
} from './index.js';

export interface NativeContextOptions extends MLContextOptions {
  /** Names the folder of built programs of engine 'gpu', which must be the user's alone; 'off' for none. */
  cache?: string;
  /** Asks for the same bits with any number of threads, on processors of one kind. */
  deterministic?: boolean;
  /** Gets every computation that has ended: when it was submitted, began and ended, in milliseconds of one clock. */
  computed?: (graph: MLGraph, times: { submitted: number; begun: number; ended: number }) => void;
  /** Names the device of engine 'gpu': its number, or a part of its name. */
  device?: string;
  /** Lets operands be bfloat16, float8e4m3 and float8e5m2, as the entry draft does. */
  draftDataTypes?: boolean;
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

/** Counts what was compiled for sizes of named dimensions (webnn-node/draft), and found, dropped and kept since then. */
export function getVariantCounts(graph: MLGraph): { built: number; found: number; evicted: number; held: number };
/** Sets for how many combinations of sizes that is kept (16). */
export function setVariantLimit(graph: MLGraph, limit: number): void;
/** Writes a compiled graph to a file, for loadGraph on this machine or one like it. */
export function saveGraph(graph: MLGraph, path: string): Promise<undefined>;
/** Says which engine a context needs to load a file, for NativeContextOptions.engine. */
export function getFileEngine(path: string): 'cpu' | 'gpu';
/** Makes a graph of a file, without compiling.  Code in a file is trusted as that of a shared library is. */
export function loadGraph(context: MLContext, path: string): Promise<MLGraph>;

/** Builds as builder.build does; the signal ends the build. */
export function buildGraph(builder: MLGraphBuilder, outputs: MLNamedOperands, options?: { signal?: AbortSignal }): Promise<MLGraph>;

export type NamedDescriptors = Record<string, { dataType: MLOperandDataType; shape: number[] }>;
/** Says what a graph takes and gives. */
export function describeGraph(graph: MLGraph): { inputs: NamedDescriptors; outputs: NamedDescriptors };

export interface ModelPort {
  readonly name: string;
  /** Absent where the file does not say it. */
  readonly dataType?: MLOperandDataType;
  /** Says that the file calls it bool: its elements are uint8 of 0 and 1. */
  readonly boolean: boolean;
  /** A size, the name of one that is open, or null for one without a name; absent where the file does not say it. */
  readonly shape?: readonly (number | string | null)[];
}

export interface ModelDescription {
  readonly name: string;
  readonly format: 'onnx' | 'webnn' | 'json' | 'manifest';
  readonly inputs: readonly ModelPort[];
  readonly outputs: readonly ModelPort[];
  /** Names the dimensions of inputs that are open, each with its largest size. */
  readonly dimensions: Readonly<Record<string, number>>;
  readonly metadata: Readonly<Record<string, string>>;
}

/** Names a file or a folder with a manifest, or holds the bytes of a file. */
export type ModelSource = string | AllowSharedBufferSource;

export interface ModelSizes {
  /** Sizes of open dimensions by their names. */
  dimensions?: Record<string, number>;
  /** Shapes of inputs, which bind the names in them. */
  shapes?: Record<string, Iterable<number>>;
}

export interface ModelOptions extends ModelSizes {
  /** Makes inputs constants. */
  constants?: Record<string, MLOperandDescriptor & { data: AllowSharedBufferSource }>;
  /** Names the outputs that are wanted; what only the others need is not computed. */
  outputs?: Iterable<string>;
  /** Bounds, least and greatest size, of dimensions that stay names: one graph serves all their sizes (ONNX). */
  names?: Record<string, Iterable<number>>;
  /** Names the file of weights of a .webnn text or JSON. */
  weights?: string;
  /** Says where the bytes of a model would lie as a file, and thereby the files that it names. */
  path?: string;
}

/** Describes a model file, of which weights are not read. */
export function describeModel(model: ModelSource): ModelDescription;

/** Adds the network of a model file to a builder; `operands` take the place of inputs. */
export function readModel(
  builder: MLGraphBuilder, model: ModelSource, options?: ModelOptions & { operands?: MLNamedOperands },
): { name: string; notes: string; inputs: Record<string, MLOperand>; outputs: Record<string, MLOperand> };

export type TypedArray = Exclude<ArrayBufferView, DataView>;
export type ModelInput = TypedArray | { data: TypedArray; shape: Iterable<number> };
export interface ModelOutput {
  data: TypedArray;
  dataType: MLOperandDataType;
  shape: readonly number[];
}

/** Holds a model whose sizes may change, with the graphs that were built for them. */
export class Model implements ModelDescription {
  private constructor();
  readonly name: string;
  readonly format: ModelDescription['format'];
  readonly inputs: readonly ModelPort[];
  readonly outputs: readonly ModelPort[];
  readonly dimensions: Readonly<Record<string, number>>;
  readonly metadata: Readonly<Record<string, string>>;
  /** Lines about values that were read differently than given, once a graph was built. */
  readonly notes: string;
  /** Gives the graph for these sizes, which is built if it is not kept; the signal ends the build. */
  getGraph(options?: ModelSizes & { signal?: AbortSignal }): Promise<MLGraph>;
  /**
   * Computes all outputs; the signal ends build and computation. Arrays are read before it returns. Of one without a shape one
   * dimension may be open, which has the size that is left.
   */
  compute(
    inputs: Record<string, ModelInput>, options?: { dimensions?: Record<string, number>; signal?: AbortSignal },
  ): Promise<Record<string, ModelOutput>>;
  /** Gives up all graphs that are kept. */
  clear(): void;
}

/** Opens a model file; graphs are built when their sizes are known, or loaded from `folder`, which must be the user's alone. */
export function loadModel(
  context: MLContext, model: ModelSource, options?: ModelOptions & { folder?: string; folderLimit?: number; graphLimit?: number },
): Promise<Model>;
