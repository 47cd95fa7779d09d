// The page without a network. The build puts in the names of its files and a version that they decide.
const VERSION = '__VERSION__';
const FILES = __FILES__;
const PREFIX = `adapvae ${self.registration.scope} `;
const CACHE = PREFIX + VERSION;
const PATIENCE = 3000; // milliseconds, then the page of before

// A module whose one function gives back a vector: engines without simd128 need the other file.
const probe = new Uint8Array(43);
probe.set([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 22, 1, 20, 0, 253, 12]);
probe[42] = 11;
const simd = WebAssembly.validate(probe);
const needed = FILES.filter((file) => !file.endsWith('.wasm') || file.includes('scalar') !== simd);

self.addEventListener('install', (event) => {
  // Files whose names carry no hash may be old ones in the browser's own cache.
  const fetched = needed.map((file) => new Request(file, { cache: file.startsWith('assets/') ? 'default' : 'no-cache' }));
  event.waitUntil(
    caches
      .open(CACHE)
      .then((cache) => cache.addAll(fetched))
      .then(() => self.skipWaiting()),
  );
});

self.addEventListener('activate', (event) => {
  const clean = async () => {
    for (const name of await caches.keys()) if (name.startsWith(PREFIX) && name !== CACHE) await caches.delete(name);
    await self.clients.claim();
  };
  event.waitUntil(clean());
});

// A page comes from the network, so that a new build is there at once; what it is made of, out of the cache.
async function page(request) {
  const network = fetch(request);
  network.catch(() => {}); // it is waited for below
  const late = new Promise((resolve) => setTimeout(resolve, PATIENCE));
  const answer = await Promise.race([network, late]).catch(() => null);
  if (answer?.ok) return answer;
  const cache = await caches.open(CACHE);
  return (await cache.match(request, { ignoreSearch: true })) ?? (await cache.match('index.html')) ?? network;
}

async function part(request) {
  const cache = await caches.open(CACHE);
  return (await cache.match(request)) ?? fetch(request);
}

self.addEventListener('fetch', (event) => {
  const { request } = event;
  if (request.method !== 'GET' || !request.url.startsWith(self.registration.scope)) return;
  event.respondWith(request.mode === 'navigate' ? page(request) : part(request));
});
