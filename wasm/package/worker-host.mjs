// Runs in the worker: a model, and the calls that worker.mjs sends for it.
import { AdapVAE } from './adapvae.mjs';

const PROGRESS_MS = 33; // between two messages of progress
const LOOK_MS = 20; // between two looks at the address

let model = null;
let stop = {};
let running = 0; // number of the call
let address = null; // of that call
let stopped = false;
let progressWanted = false;
let told = 0;
let looked = 0;
let send;

// Reading an address that was taken back fails. It is read whole before the next line runs, which
// only workers can do, and takes no round through this worker's own queue of messages.
function addressGone() {
  try {
    const request = new XMLHttpRequest();
    request.open('GET', address, false);
    request.send();
    return request.status !== 200;
  } catch {
    return true;
  }
}

function stopAsked(now) {
  if (stop.flag) return Atomics.load(stop.flag, 0) >= running;
  if (!stop.looks || !address || now - looked < LOOK_MS) return false;
  looked = now;
  return addressGone();
}

function onProgress(stage, fraction) {
  const now = performance.now();
  stopped ||= stopAsked(now);
  if (progressWanted && (now - told >= PROGRESS_MS || fraction === 1)) {
    told = now;
    send({ progress: [stage, fraction] });
  }
  return !stopped;
}

async function start(how, given, runtime, stopBy) {
  model = await AdapVAE[how](given, runtime);
  model.setProgress(onProgress);
  stop = stopBy;
  if (stop.flag) return 'shared';
  // Can this worker read such an address at all? A page's rules may forbid it.
  address = stop.address;
  stop.looks = Boolean(address) && typeof XMLHttpRequest === 'function' && !addressGone();
  return stop.looks ? 'address' : 'between';
}

function perform(method, args) {
  if (method === 'start') return start(...args);
  if (method === 'setProgress') {
    progressWanted = args[0];
    return undefined;
  }
  return model[method](...args);
}

const buffers = (result) =>
  [result, ...Object.values(result ?? {})].filter(ArrayBuffer.isView).map((view) => view.buffer);

async function hear({ call, method, args, address: given }) {
  if (method === 'end') {
    model?.dispose();
    model = null;
    return;
  }
  running = call;
  address = given;
  stopped = false;
  looked = 0;
  try {
    const result = await perform(method, args);
    send({ call, result }, buffers(result));
  } catch (error) {
    send({ call, error: { status: error.status, message: error.message, index: error.index } });
  }
}

// One at a time, in order, also while a model is being made.
let queue = Promise.resolve();
const take = (message) => {
  queue = queue.then(() => hear(message));
};

if (typeof self === 'object' && typeof self.postMessage === 'function') {
  send = (message, transfer = []) => self.postMessage(message, transfer);
  self.addEventListener('message', (event) => take(event.data));
} else {
  const threads = 'node:worker_threads'; // not for bundlers to find
  import(/* @vite-ignore */ /* webpackIgnore: true */ threads).then(({ parentPort }) => {
    send = (message, transfer = []) => parentPort.postMessage(message, transfer);
    parentPort.on('message', take);
  });
}
