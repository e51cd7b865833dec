// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Finds the packages that the examples use: webnn-node, and what npm has installed.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const require = createRequire(import.meta.url);
const built = fileURLToPath(new URL('../../../build/release/node/webnn-node', import.meta.url));

/** Is the folder of the package webnn-node: what WEBNN_NODE_PACKAGE names, else that of the release build. */
export const webnnFolder = process.env.WEBNN_NODE_PACKAGE ?? built;

/** Returns the interfaces of webnn-node, without globals. */
export const webnn = () => require(webnnFolder);

/** Returns the path of a file of an npm package, in the folder node_modules that WEBNN_NODE_MODULES names (default: here).
 * Throws if it is not there. */
export function packageFile(name) {
  const file = path.resolve(process.env.WEBNN_NODE_MODULES ?? 'node_modules', name);
  if (!fs.existsSync(file))
    throw new Error(`there is no ${file}; WEBNN_NODE_MODULES names the folder node_modules that npm has filled`);
  return file;
}

/** Loads the module in such a file. */
export const importPackage = (name) => import(pathToFileURL(packageFile(name)).href);

/** Loads ONNX Runtime Web on navigator.ml of webnn-node; a program with both packages imports 'webnn-node/onnxruntime'. */
export const onnxRuntimeWeb = async () => (await import(pathToFileURL(path.join(webnnFolder, 'onnxruntime.mjs')).href)).default;
