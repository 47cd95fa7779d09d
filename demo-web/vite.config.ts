import { defineConfig } from 'vite';

export default defineConfig({
  base: './', // the page works from any folder of any server
  build: { target: 'es2022', assetsInlineLimit: 0 },
  optimizeDeps: { exclude: ['adapvae'] },
});
