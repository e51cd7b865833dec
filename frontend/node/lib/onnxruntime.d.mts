// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Declares ONNX Runtime Web on this package; its own types are those of onnxruntime-web.
import * as ort from 'onnxruntime-web';

export interface SessionOptions extends ort.InferenceSession.SessionOptions {
  /** padding: false makes a session for each length of a text, instead of one for each of 16, 32, 64, ... */
  webnn?: { padding?: boolean };
}

export const InferenceSession: {
  /** Makes a session of a file's path or its bytes, on WebNN unless executionProviders names others only. */
  create(model: string | ArrayBufferLike | Uint8Array, options?: SessionOptions): Promise<ort.InferenceSession>;
};
export const Tensor: typeof ort.Tensor;
export const env: typeof ort.env;
declare const runtime: Omit<typeof ort, 'InferenceSession'> & { InferenceSession: typeof InferenceSession };
export default runtime;
