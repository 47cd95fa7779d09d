import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { defineConfig, type Plugin } from 'vite';

/** Writes the service worker, which knows every file of the page. */
function offline(): Plugin {
  let folder = '';
  return {
    name: 'offline',
    apply: 'build',
    configResolved: (config) => void (folder = join(config.root, config.build.outDir)),
    closeBundle() {
      const files = readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .map((file) => join(folder, file))
        .filter((file) => statSync(file).isFile() && !file.endsWith('service-worker.js'))
        .sort();
      const hash = createHash('sha256');
      for (const file of files) hash.update(relative(folder, file)).update(readFileSync(file));
      const names = files.map((file) => relative(folder, file).replaceAll('\\', '/'));
      const text = readFileSync('service-worker.js', 'utf8')
        .replace('__VERSION__', hash.digest('hex').slice(0, 16))
        .replace('__FILES__', JSON.stringify(names));
      writeFileSync(join(folder, 'service-worker.js'), text);
    },
  };
}

/** The page's policy, which a server may send as well; that a page must not be put into another's frame only a server can say. */
const policy = /http-equiv="Content-Security-Policy" content="([^"]+)"/.exec(readFileSync(join(import.meta.dirname, 'index.html'), 'utf8'))![1]!;
const styleHash = createHash('sha256').update(readFileSync(join(import.meta.dirname, 'src/report.css'))).digest('base64');

export default defineConfig({
  base: './', // the page works from any folder of any server
  build: { target: 'es2022', assetsInlineLimit: 0 },
  optimizeDeps: { exclude: ['adapvae'] },
  define: { REPORT_STYLE_HASH: JSON.stringify(`sha256-${styleHash}`) },
  preview: { headers: { 'Content-Security-Policy': `${policy}; frame-ancestors 'none'`, 'X-Content-Type-Options': 'nosniff' } },
  plugins: [offline()],
});
