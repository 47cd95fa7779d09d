// A real Chromium and a server for it.
import { execFileSync } from 'node:child_process';
import { createReadStream, existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { extname, join, normalize } from 'node:path';

import { chromium } from 'playwright-core';

const TYPES = {
  '.html': 'text/html',
  '.mjs': 'text/javascript',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.wasm': 'application/wasm',
};

// Files of `folder`, and an empty page at /; `headers` go with all of them.
export async function serve(folder, headers = {}) {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url, 'http://localhost').pathname));
    const file = join(folder, path);
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    if (existsSync(file) && statSync(file).isFile()) {
      response.setHeader('Content-Type', TYPES[extname(file)] ?? 'application/octet-stream');
      createReadStream(file).pipe(response);
    } else if (path === '/') {
      response.setHeader('Content-Type', 'text/html');
      response.end('<!doctype html><title>adapvae</title>');
    } else {
      response.statusCode = 404;
      response.end();
    }
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { address: `http://127.0.0.1:${server.address().port}`, close: () => server.close() };
}

export const ISOLATED = { 'Cross-Origin-Opener-Policy': 'same-origin', 'Cross-Origin-Embedder-Policy': 'require-corp' };

export const launch = (args = []) =>
  chromium.launch({ executablePath: execFileSync('sh', ['-c', 'command -v chromium'], { encoding: 'utf8' }).trim(), args });

// An open page of the folder, in a context of its own; what goes wrong there goes wrong here.
export async function open(browser, address, path = '/', options = {}) {
  const page = await browser.newPage(options);
  const errors = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  // What a page's policy forbids is told on the console alone.
  page.on('console', (message) => {
    if (message.type() === 'error' && /Content Security Policy|Trusted/.test(message.text())) errors.push(message.text());
  });
  await page.goto(address + path);
  return { page, errors };
}
