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
  // Comments on lines of their own stay in the repository.
  const lines = readFileSync(join(source, name), 'utf8').split('\n');
  writeFileSync(join(output, name), lines.filter((line) => !/^\s*\/\//.test(line)).join('\n'));
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
