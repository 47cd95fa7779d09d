// The same model in a worker, so that learning blocks nobody: every method of AdapVAE gives a promise.
//
//   import { AdapVAE } from 'adapvae/worker';
//   const model = await AdapVAE.create({ preset: 'browser' });
//   await model.setProgress((stage, fraction) => bar.value = fraction);
//   button.onclick = () => model.stop();
//   const report = await model.learn(rows);
//
// A worker that learns hears no message. How a stop reaches it: by a flag in shared memory where pages
// may share memory; else by an address that the worker tries to read now and then, and that is taken
// back to stop it.
import { AdapVAEError } from './error.mjs';

export { AdapVAEError } from './error.mjs';

const METHODS =
  'learn push flush setTime setBudget reset score probabilities encode decode reconstruct generate interpolate ' +
  'info clusters cluster resolve moments label merge split forget undo set setSensitivity config ' +
  'events explain gain applyGains save load';

async function startWorker() {
  if (typeof Worker === 'function') {
    return new Worker(new URL('./worker-host.mjs', import.meta.url), { type: 'module' });
  }
  const threads = 'node:worker_threads'; // not for bundlers to find
  const { Worker: Thread } = await import(/* @vite-ignore */ /* webpackIgnore: true */ threads);
  return new Thread(new URL('./worker-host.mjs', import.meta.url));
}

function sharedFlag() {
  const allowed = globalThis.crossOriginIsolated ?? typeof SharedArrayBuffer === 'function';
  return allowed ? new Int32Array(new SharedArrayBuffer(4)) : null;
}

// What a worker can be given to load from.
async function sendable(given) {
  const source = await given;
  if (typeof Response === 'function' && source instanceof Response) return source.arrayBuffer();
  return source instanceof URL || typeof source === 'string' ? new URL(source, globalThis.location?.href).href : source;
}

// A part of a buffer would take the whole of it along.
const { slice } = Object.getPrototypeOf(Uint8Array).prototype;
const alone = (value) =>
  ArrayBuffer.isView(value) && value.byteLength < value.buffer.byteLength ? slice.call(value) : value;

const KEY = Symbol('use AdapVAE.create()');

export class AdapVAE {
  #worker;
  #own; // the worker is ours to end
  #calls = new Map();
  #last = 0;
  #flag = sharedFlag();
  #address = null;
  #stoppable = true;
  #progress = null;
  /** How a stop reaches a stream that is being learnt: 'shared', 'address', or 'between' streams only. */
  stopping;

  constructor(key, worker, own) {
    if (key !== KEY) throw new TypeError('await AdapVAE.create() makes a model');
    this.#worker = worker;
    this.#own = own;
    const listen = (type, hear) =>
      worker.on ? worker.on(type, hear) : worker.addEventListener(type, (event) => hear(event.data ?? event));
    listen('message', (message) => this.#hear(message));
    listen('error', (error) => this.#end(new AdapVAEError('ADAPVAE_UNAVAILABLE', `the worker failed: ${error.message ?? 'it could not be loaded'}`)));
  }

  static async #start(how, given, runtime) {
    const { worker, wasm, stoppable = true, ...rest } = runtime;
    const client = new AdapVAE(KEY, worker ?? (await startWorker()), !worker);
    try {
      const source = wasm === undefined ? {} : { wasm: await sendable(wasm) };
      // Looking at an address takes time: not for those who will not stop.
      client.#stoppable = stoppable;
      const stop = client.#flag ? { flag: client.#flag } : { address: client.#newAddress() };
      client.stopping = await client.#call('start', [how, alone(given), { ...rest, ...source }, stop]);
      return client;
    } catch (error) {
      client.dispose();
      throw error;
    }
  }
  static create(options = {}, runtime = {}) {
    return AdapVAE.#start('create', options, runtime);
  }
  static load(bytes, runtime = {}) {
    return AdapVAE.#start('load', bytes, runtime);
  }
  static scorer(bytes, runtime = {}) {
    return AdapVAE.#start('scorer', bytes, runtime);
  }

  #newAddress() {
    if (!this.#stoppable || this.#flag || typeof URL.createObjectURL !== 'function') return null;
    return (this.#address ??= URL.createObjectURL(new Blob(['go on'])));
  }
  #call(method, args, transfer = []) {
    if (!this.#worker) return Promise.reject(new AdapVAEError('ADAPVAE_INVALID_ARGUMENT', 'the model was disposed of'));
    const call = ++this.#last;
    return new Promise((resolve, reject) => {
      this.#worker.postMessage({ call, method, args, address: this.#newAddress() }, transfer);
      this.#calls.set(call, { resolve, reject });
    });
  }
  #hear({ call, progress, result, error }) {
    if (progress) {
      if (this.#progress?.(...progress) === false) this.stop();
      return;
    }
    const { resolve, reject } = this.#calls.get(call);
    this.#calls.delete(call);
    if (!error) resolve(result);
    else if (error.status) reject(new AdapVAEError(error.status, error.message, error.index));
    else reject(new Error(error.message));
  }
  #end(error) {
    for (const { reject } of this.#calls.values()) reject(error);
    this.#calls.clear();
    if (this.#own) this.#worker?.terminate();
    this.#worker = null;
    if (this.#address) URL.revokeObjectURL(this.#address);
    this.#address = null;
  }

  /** Called as learning goes on, some thirty times a second at most; null: none. */
  setProgress(progress) {
    this.#progress = progress ?? null;
    return this.#call('setProgress', [Boolean(progress)]);
  }
  /** Ends the streams of all calls made so far early; their promises give reports as ever. */
  stop() {
    if (this.#flag) Atomics.store(this.#flag, 0, this.#last);
    if (this.#address) URL.revokeObjectURL(this.#address);
    this.#address = null;
  }
  dispose() {
    if (!this.#worker) return;
    if (!this.#own) this.#worker.postMessage({ method: 'end' });
    this.#end(new AdapVAEError('ADAPVAE_INVALID_ARGUMENT', 'the model was disposed of'));
  }

  static {
    for (const method of METHODS.split(' ')) {
      AdapVAE.prototype[method] = function call(...args) {
        // The last argument of a call with rows may say that they need not be kept.
        const given = args.at(-1)?.transfer === true && args.pop();
        const sent = args.map(alone);
        return this.#call(method, sent, given && ArrayBuffer.isView(sent[0]) ? [sent[0].buffer] : []);
      };
    }
    if (Symbol.dispose) AdapVAE.prototype[Symbol.dispose] = AdapVAE.prototype.dispose;
  }
}
