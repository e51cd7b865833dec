// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Prints global.d.ts, which declares as globals whatever index.d.ts exports, as a browser has it.
//
//   node global_types.mjs index.d.ts
import fs from 'node:fs';

const lines = [];
for (const [, kind, name] of fs.readFileSync(process.argv[2], 'utf8').matchAll(/^export (type|interface|class) (ML\w*)/gm)) {
  lines.push(`  type ${name} = webnn.${name};`);
  if (kind === 'class')
    lines.push(`  var ${name}: typeof webnn.${name};`);
}
console.log(`// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Declares what \`import 'webnn-node/global'\` installs, and the types of the specification's dictionaries.
import type * as webnn from './index.js';

declare global {
  interface Navigator {
    readonly ml: webnn.ML;
  }
  var navigator: Navigator;
${lines.join('\n')}
}`);
