// Puts the npm package together: assemble.mjs SIMD_MODULE SCALAR_MODULE OUTPUT_DIRECTORY
import { copyFileSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const [simd, scalar, output] = process.argv.slice(2);
const source = join(import.meta.dirname, 'package');
rmSync(output, { recursive: true, force: true });
mkdirSync(output, { recursive: true });
for (const name of readdirSync(source)) {
  if (!name.endsWith('.mjs')) {
    copyFileSync(join(source, name), join(output, name));
    continue;
  }
  // Comments and indentation stay in the repository. What stands in quotes behind " // " is no comment.
  const lines = readFileSync(join(source, name), 'utf8').split('\n');
  const short = lines.map((line) => line.replace(/(^|\s)\/\/( [^'"`]*)?$/, '').trim());
  writeFileSync(join(output, name), short.filter((line) => line !== '' && !line.startsWith('//')).join('\n') + '\n');
}
copyFileSync(simd, join(output, 'adapvae.wasm'));
copyFileSync(scalar, join(output, 'adapvae-scalar.wasm'));
copyFileSync(join(import.meta.dirname, '..', 'LICENSE'), join(output, 'LICENSE'));

writeFileSync(join(output, 'inline.mjs'), `import { Model } from './core.mjs';

export { NOTHING_LEARNT, NOVEL, PROVISIONAL, hasSimd } from './core.mjs';
export { AdapVAEError } from './error.mjs';

const MODULE = '${readFileSync(simd).toString('base64')}';
let module;
export class AdapVAE extends Model {
  static source() {
    return (module ??= WebAssembly.compile(Uint8Array.from(atob(MODULE), (c) => c.charCodeAt(0))));
  }
}
`);
