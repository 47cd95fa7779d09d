/** As 'adapvae', with the WebAssembly module (simd128) inside the JavaScript. */
export * from './adapvae.js';
