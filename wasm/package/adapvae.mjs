// adapvae for browsers, workers and Node: finds the WebAssembly module beside this file.
//
//   import { AdapVAE } from 'adapvae';
//   const model = await AdapVAE.create({ inputs: 64 });
//   model.learn(rows);                                 // Float32Array, 64 numbers a row
//   const { id, novelty } = model.score(row);
import { Model } from './core.mjs';

export { NOTHING_LEARNT, NOVEL, PROVISIONAL, hasSimd } from './core.mjs';
export { AdapVAEError } from './error.mjs';

export class AdapVAE extends Model {
  // Addresses are literal so that bundlers find the files.
  static source(simd) {
    return simd ? new URL('./adapvae.wasm', import.meta.url) : new URL('./adapvae-scalar.wasm', import.meta.url);
  }
}
