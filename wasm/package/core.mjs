// The C API of adapvae.h as a class. What loads the module is in adapvae.mjs and inline.mjs.
//
// Every model has an instance of the module of its own: its memory goes when the model goes, and a
// stream that is being learnt knows which function to tell. Views of WebAssembly memory die when it
// grows, so they are made anew for every use, and results are copies.

import { AdapVAEError } from './error.mjs';

// Structs as adapvae.h declares them, without struct_size, which is first in all of them. Fields lie
// where C's alignment puts them. i int32, u uint32, U uint64, d double, s text, n name of 32 bytes;
// fields that begin with reserved are skipped.
export const STRUCTS = {
  error: 'i status,i index,i reserved,s message',
  field: 'i type,i live,i reserved,d lowest,d highest,d preset,s name,s group,s choices,s sentence',
  report:
    'i streams,i rows,i clusters,i components,i births,i merges,i retirements,i refusals,i replay_rows,' +
    'i drifted,i stopped,d bound,d loss,d log_likelihood,d mixture,d entropy,d distillation,' +
    'd replay_accuracy,d largest_drift,U skipped_steps,U repairs',
  info:
    'i clusters,i rows_waiting,i undo_steps,U streams,U rows,U ids_given,U events,U memory_bytes,' +
    'U snapshot_bytes,d time,s backend,i scores_only,i latent,i inputs,i block_rows,i components',
  cluster:
    'u id,i components,u parent,U born_stream,U seen_stream,d rows,d weight,d birth_rows,d birth_gain,' +
    'i provisional,n name',
  event:
    'i type,i reason,i missed,U sequence,U stream,u id,u other,d gain,d rows,i clusters,i input',
  snapshot: 'i clusters,U format,U streams,U rows,U rows_waiting,U events,d time,n version',
  gains: 'i gains,i born,i clusters,U rows,U base_streams,U base_mark,U encoder_mark',
  metrics:
    'i rows,i labels,i clusters,d nmi,d nmi_geometric,d ari,d homogeneity,d completeness,' +
    'd v_measure,d accuracy,d purity',
};
// Names of the header's enums, by number.
export const EVENTS =
  'born merged retired not_born forgotten split noticed labelled undone drifted repaired learnt rescaled warned'.split(' ');
export const REASONS = 'none bound rows room one covariance step rate known range capacity stuck training missing'.split(' ');
export const STAGES = 'pretrain adapt embed births joint close'.split(' ');
export const PROVISIONAL = 1;
export const NOTHING_LEARNT = 2;
export const NOVEL = 4;

const SIZES = { i: 4, u: 4, U: 8, d: 8, s: 4, n: 32 };
const camel = (name) => name.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
export const LAYOUTS = {};
for (const [struct, text] of Object.entries(STRUCTS)) {
  let end = 4;
  let widest = 4;
  const fields = text.split(',').map((field) => {
    const [type, name] = field.split(' ');
    const alignment = type === 'n' ? 1 : SIZES[type];
    const at = Math.ceil(end / alignment) * alignment;
    end = at + SIZES[type];
    widest = Math.max(widest, alignment);
    return { type, at, name: camel(name) };
  });
  LAYOUTS[struct] = { fields, size: Math.ceil(end / widest) * widest };
}

const utf8 = new TextDecoder();
const CONFIG_BYTES = 2048; // more than adapvae_config has: what is beyond it stays zero
const SCRATCH_BYTES = 4096;
const STRUCT_AT = CONFIG_BYTES; // of the scratch memory: a configuration, a struct, an error
const ERROR_AT = 3072;
const OUT_AT = 3584;
const CHUNK_FLOATS = 1 << 18; // rows that are only looked at go through a buffer of this size

const invalid = (message, index) => new AdapVAEError('ADAPVAE_INVALID_ARGUMENT', message, index);

// ---- the module ---------------------------------------------------------------------------------

// A module whose one function gives back a vector.
const SIMD_PROBE = new Uint8Array(43);
SIMD_PROBE.set([0, 97, 115, 109, 1, 0, 0, 0, 1, 5, 1, 96, 0, 1, 123, 3, 2, 1, 0, 10, 22, 1, 20, 0, 253, 12]);
SIMD_PROBE[42] = 11;
/** Whether this engine has simd128. */
export const hasSimd = () => WebAssembly.validate(SIMD_PROBE);

async function compileResponse(response) {
  if (!response.ok) throw new AdapVAEError('ADAPVAE_UNAVAILABLE', `${response.url}: ${response.status}`);
  const type = response.headers.get('Content-Type') ?? '';
  return type.startsWith('application/wasm') && WebAssembly.compileStreaming
    ? WebAssembly.compileStreaming(response)
    : WebAssembly.compile(await response.arrayBuffer());
}

async function compileUrl(url) {
  if (url.protocol === 'file:' && globalThis.process?.versions?.node) {
    const files = 'node:fs/promises'; // not for bundlers to find
    const { readFile } = await import(/* @vite-ignore */ /* webpackIgnore: true */ files);
    return WebAssembly.compile(await readFile(url));
  }
  return compileResponse(await fetch(url));
}

const compiled = new Map(); // by address: a page needs one copy of the code
/** Module, bytes, Response or address, or a promise of one, to a module. */
export async function compile(given) {
  const source = await given;
  if (source instanceof WebAssembly.Module) return source;
  if (typeof Response === 'function' && source instanceof Response) return compileResponse(source);
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  const url = new URL(source, globalThis.location?.href);
  const known = compiled.get(url.href);
  if (known) return known;
  const module = compileUrl(url);
  compiled.set(url.href, module);
  module.catch(() => compiled.delete(url.href));
  return module;
}

// An instance with its memory, and how to read and write there.
class Instance {
  static async of(module) {
    const instance = new Instance();
    const wasi = {
      clock_time_get: (_clock, _precision, at) => {
        instance.view.setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
        return 0;
      },
      environ_sizes_get: (count, bytes) => {
        instance.view.setUint32(count, 0, true);
        instance.view.setUint32(bytes, 0, true);
        return 0;
      },
      environ_get: () => 0,
      proc_exit: (code) => {
        throw new Error(`the module ended itself: ${code}`);
      },
    };
    const { exports } = await WebAssembly.instantiate(module, {
      wasi_snapshot_preview1: wasi,
      env: { emscripten_notify_memory_growth: () => {} },
      adapvae: { progress: (stage, fraction) => instance.progress(stage, fraction) },
    });
    instance.c = exports;
    exports._initialize?.();
    instance.scratch = instance.allocate(SCRATCH_BYTES);
    return instance;
  }

  progress = () => 1;
  staged = 0; // memory for rows and results of one call; kept for the next
  stagedBytes = 0;

  get buffer() {
    return this.c.memory.buffer;
  }
  get view() {
    return new DataView(this.c.memory.buffer);
  }

  allocate(bytes) {
    const at = bytes < 2 ** 31 ? this.c.malloc(bytes) : 0;
    if (at === 0) throw new AdapVAEError('ADAPVAE_OUT_OF_MEMORY', 'WebAssembly memory cannot grow further');
    return at;
  }
  stage(bytes) {
    if (bytes > this.stagedBytes) {
      this.c.free(this.staged);
      this.staged = this.stagedBytes = 0;
      this.staged = this.allocate(bytes);
      this.stagedBytes = bytes;
    }
    return this.staged;
  }
  // Texts of a call, which lie in the staged memory.
  texts(...texts) {
    const encoder = new TextEncoder();
    const bytes = texts.map((text) => encoder.encode(`${text}\0`));
    let at = this.stage(bytes.reduce((sum, text) => sum + text.length, 0));
    return bytes.map((text, i) => {
      if (text.indexOf(0) !== text.length - 1) throw invalid(`${JSON.stringify(texts[i])}: a text has no zero bytes`);
      new Uint8Array(this.buffer, at).set(text);
      at += text.length;
      return at - text.length;
    });
  }
  text(at) {
    const bytes = new Uint8Array(this.buffer, at);
    return utf8.decode(bytes.subarray(0, bytes.indexOf(0)));
  }
  // Text by a call(text, capacity, needed), asked for its size first.
  longText(call) {
    const needed = this.scratch + OUT_AT;
    let status = call(0, 0, needed);
    if (status !== 0) return { status };
    const bytes = this.view.getUint32(needed, true);
    const at = this.allocate(bytes);
    try {
      status = call(at, bytes, needed);
      return { status, text: status === 0 ? this.text(at) : '' };
    } finally {
      this.c.free(at);
    }
  }

  // Where a struct may be written.
  struct(name, at = this.scratch + STRUCT_AT) {
    new Uint8Array(this.buffer, at, LAYOUTS[name].size).fill(0);
    this.view.setUint32(at, LAYOUTS[name].size, true);
    return at;
  }
  read(name, at = this.scratch + STRUCT_AT) {
    const view = this.view;
    const result = {};
    for (const { type, at: offset, name: key } of LAYOUTS[name].fields) {
      if (key === 'reserved') continue;
      const here = at + offset;
      if (type === 'i') result[key] = view.getInt32(here, true);
      else if (type === 'u') result[key] = view.getUint32(here, true);
      else if (type === 'U') result[key] = Number(view.getBigUint64(here, true));
      else if (type === 'd') result[key] = view.getFloat64(here, true);
      else if (type === 's') result[key] = this.text(view.getUint32(here, true));
      else result[key] = this.text(here);
    }
    return result;
  }

  error(status, { index = -1, message } = {}) {
    const name = this.text(this.c.adapvae_status_name(status));
    return new AdapVAEError(name, message || name, index);
  }
  // Of calls that take an adapvae_error.
  check(call) {
    const status = call(this.struct('error', this.scratch + ERROR_AT));
    if (status !== 0) throw this.error(status, this.read('error', this.scratch + ERROR_AT));
  }

  // What is in a set of gains, and two sets as one.
  gains(set) {
    const at = this.stage(set.byteLength);
    new Uint8Array(this.buffer, at).set(asBytes(set));
    const found = this.struct('gains');
    this.check((error) => this.c.adapvae_inspect_gains(at, set.byteLength, found, error));
    const { baseMark, encoderMark, ...gains } = this.read('gains'); // marks are more than a number holds
    return gains;
  }
  merge(a, b) {
    const size = this.scratch + OUT_AT;
    const most = a.byteLength + b.byteLength;
    const at = this.stage(2 * most);
    new Uint8Array(this.buffer, at).set(a);
    new Uint8Array(this.buffer, at + a.byteLength).set(b);
    this.check((error) =>
      this.c.adapvae_merge_gains(at, a.byteLength, at + a.byteLength, b.byteLength, at + most, most, size, error));
    return new Uint8Array(this.buffer, at + most, this.view.getUint32(size, true)).slice();
  }

  // A configuration at the start of the scratch memory.
  configure({ preset, ...fields }) {
    const { c, scratch } = this;
    new Uint8Array(this.buffer, scratch, CONFIG_BYTES).fill(0);
    c.adapvae_config_init(scratch, CONFIG_BYTES);
    if (preset !== undefined) {
      const [name] = this.texts(preset);
      this.check((error) => c.adapvae_config_preset(scratch, name, error));
    }
    for (const [key, value] of Object.entries(fields)) {
      if (value === undefined) continue;
      const [name, text] = this.texts(key, fieldText(value));
      try {
        this.check((error) => c.adapvae_config_set(scratch, name, text, error));
      } catch (error) {
        error.message = `${key}: ${error.message}`;
        throw error;
      }
    }
    return scratch;
  }
  fields() {
    const all = [];
    while (this.c.adapvae_config_field(all.length, this.struct('field')) === 0) all.push(this.read('field'));
    return all.map(({ type, live, choices, ...rest }) => ({
      ...rest,
      type: ['integer', 'number', 'switch', 'choice'][type],
      live: live === 1,
      choices: choices === '' ? [] : choices.split(' '),
    }));
  }
  // Of the configuration in the scratch memory, as an object.
  configuration() {
    const result = {};
    for (const { name, type } of this.fields()) {
      const [at] = this.texts(name);
      const { text } = this.longText((to, capacity, needed) =>
        this.c.adapvae_config_get(this.scratch, at, to, capacity, needed));
      if (type === 'switch') result[name] = text === 'on';
      else if (type === 'choice') result[name] = text;
      else result[name] = Number(text);
    }
    return result;
  }
}

const fieldText = (value) => (typeof value === 'boolean' ? (value ? 'on' : 'off') : String(value));

// ---- the class ----------------------------------------------------------------------------------

const KEY = Symbol('use AdapVAE.create()');

export class Model {
  #instance;
  #model;
  #inputs;
  #latent;
  #busy = false;
  #progress = null;
  #thrown = null;
  #seen = 0;

  constructor(key, instance, model) {
    if (key !== KEY) throw new TypeError('await AdapVAE.create() makes a model');
    this.#instance = instance;
    this.#model = model;
    instance.progress = (stage, fraction) => this.#tell(stage, fraction);
    ({ inputs: this.#inputs, latent: this.#latent } = this.info());
  }

  // ---- making one

  static async #start(runtime) {
    const simd = runtime.simd ?? hasSimd();
    return Instance.of(await compile(runtime.wasm ?? this.source(simd)));
  }
  // make(options, model, error) in a new instance.
  static async #made(runtime, bytes, make) {
    const instance = await Model.#start.call(this, runtime);
    const { c, scratch } = instance;
    const at = bytes ? instance.allocate(bytes.byteLength) : 0;
    if (bytes) new Uint8Array(instance.buffer, at).set(asBytes(bytes));
    instance.check((error) => make(instance, at, scratch + OUT_AT, error));
    if (bytes) c.free(at);
    return new this(KEY, instance, instance.view.getUint32(scratch + OUT_AT, true));
  }

  static create(config = {}, runtime = {}) {
    return Model.#made.call(this, runtime, null, (instance, _, out, error) =>
      instance.c.adapvae_create(instance.configure(config), 0, out, error));
  }
  static load(bytes, runtime = {}) {
    return Model.#made.call(this, runtime, bytes, ({ c }, at, out, error) =>
      c.adapvae_create_from(at, bytes.byteLength, 0, out, error));
  }
  static scorer(bytes, runtime = {}) {
    return Model.#made.call(this, runtime, bytes, ({ c }, at, out, error) =>
      c.adapvae_create_scorer_from(at, bytes.byteLength, 0, out, 0, error));
  }

  // ---- without a model

  static async inspect(bytes, runtime = {}) {
    const instance = await Model.#start.call(this, runtime);
    const at = instance.stage(bytes.byteLength);
    new Uint8Array(instance.buffer, at).set(asBytes(bytes));
    const config = instance.configure({});
    const snapshot = instance.struct('snapshot');
    instance.check((error) => instance.c.adapvae_inspect(at, bytes.byteLength, snapshot, config, error));
    return { ...instance.read('snapshot'), config: instance.configuration() };
  }
  static async inspectGains(gains, runtime = {}) {
    return (await Model.#start.call(this, runtime)).gains(gains);
  }
  static async mergeGains(sets, runtime = {}) {
    const instance = await Model.#start.call(this, runtime);
    let all = null;
    for (const set of sets) {
      const next = asBytes(set);
      if (all === null) instance.gains(next); // checked even if it is the only one
      all = all === null ? next.slice() : instance.merge(all, next);
    }
    if (all === null) throw invalid('there are no gains: give at least one set');
    return all;
  }
  static async fields(runtime = {}) {
    return (await Model.#start.call(this, runtime)).fields();
  }
  static async presets(runtime = {}) {
    const instance = await Model.#start.call(this, runtime);
    const names = [];
    for (let at; (at = instance.c.adapvae_preset_name(names.length)); ) names.push(instance.text(at));
    return names;
  }
  static async memoryRequired(config = {}, runtime = {}) {
    const instance = await Model.#start.call(this, runtime);
    const out = instance.scratch + OUT_AT;
    const at = instance.configure(config);
    instance.check((error) => instance.c.adapvae_memory_required(at, 0, out, error));
    return instance.view.getUint32(out, true);
  }
  static async evaluate(labels, ids, runtime = {}) {
    if (labels.length !== ids.length) throw invalid('labels and ids are not of one length');
    const instance = await Model.#start.call(this, runtime);
    const at = instance.stage(8 * ids.length + 8);
    new Int32Array(instance.buffer, at, labels.length).set(labels);
    new Uint32Array(instance.buffer, at + 4 * labels.length, ids.length).set(ids);
    const metrics = instance.struct('metrics');
    instance.check((error) =>
      instance.c.adapvae_evaluate(at, at + 4 * labels.length, labels.length, 0, metrics, error));
    return instance.read('metrics');
  }
  static async version(runtime = {}) {
    const instance = await Model.#start.call(this, runtime);
    return instance.text(instance.c.adapvae_version_string());
  }

  // ---- calls

  // The instance, when a call may begin.
  #open() {
    if (!this.#instance) throw invalid('the model was disposed of');
    if (this.#busy) throw new AdapVAEError('ADAPVAE_BUSY', 'called from within a call on the same model');
    return this.#instance;
  }
  #call(name, ...args) {
    const { c } = this.#instance;
    try {
      return c[`adapvae_${name}`](this.#model, ...args);
    } catch (error) {
      this.#instance = null; // trapped half-way: nothing in it is to be believed
      throw error;
    }
  }
  #check(status, offset = 0) {
    if (status === 0) return;
    const instance = this.#instance;
    instance.c.adapvae_last_error(this.#model, instance.struct('error', instance.scratch + ERROR_AT));
    const last = instance.read('error', instance.scratch + ERROR_AT);
    if (last.status !== status) throw instance.error(status);
    if (last.index >= 0) last.index += offset;
    throw instance.error(status, last);
  }
  #struct(struct, name, ...args) {
    const instance = this.#open();
    this.#check(this.#call(name, ...args, instance.struct(struct)));
    return instance.read(struct);
  }

  // ---- learning

  #tell(stage, fraction) {
    if (!this.#progress) return 1;
    try {
      const answer = this.#progress(STAGES[stage], fraction);
      return answer === false || answer === 0 ? 0 : 1;
    } catch (error) {
      this.#thrown = { error }; // it may not leave through the library
      return 0;
    }
  }
  #learn(name, rows) {
    const instance = this.#open();
    const args = [];
    if (name !== 'flush') {
      const block = asRows(rows, this.#inputs);
      const at = instance.stage(4 * block.count * this.#inputs);
      block.copy(new Float32Array(instance.buffer, at, block.count * this.#inputs), 0, block.count);
      args.push(at, block.count, 0);
    }
    const report = instance.struct('report');
    let status;
    this.#busy = true;
    this.#thrown = null;
    try {
      status = this.#call(name, ...args, report);
    } finally {
      this.#busy = false;
    }
    if (this.#thrown) throw this.#thrown.error;
    this.#check(status);
    const result = instance.read('report');
    result.stopped = result.stopped === 1;
    return result;
  }
  learn(rows) {
    return this.#learn('learn', rows);
  }
  push(rows) {
    return this.#learn('push', rows);
  }
  flush() {
    return this.#learn('flush');
  }
  setProgress(progress) {
    this.#open();
    this.#check(this.#call('wasm_watch', progress ? 1 : 0));
    this.#progress = progress ?? null;
  }
  stop() {
    if (this.#instance) this.#instance.c.adapvae_stop(this.#model);
  }
  setTime(time) {
    this.#open();
    this.#check(this.#call('set_time', time));
  }
  setBudget(seconds) {
    this.#open();
    this.#check(this.#call('set_budget', seconds));
  }
  reset() {
    this.#open();
    this.#check(this.#call('reset'));
    this.#seen = 0;
  }

  // ---- rows

  // A block of rows [count × width] in pieces through the staged memory: call(input, count, output) writes
  // `out` floats a row behind them, and take(floats at output, first row, count) copies those.
  #through(block, out, call, take) {
    const instance = this.#open();
    const { width } = block;
    const most = Math.max(1, Math.floor(CHUNK_FLOATS / (width + out)));
    for (let first = 0; first < block.count; first += most) {
      const count = Math.min(most, block.count - first);
      const input = instance.stage(4 * count * (width + out));
      const output = input + 4 * count * width;
      block.copy(new Float32Array(instance.buffer, input, count * width), first, count);
      this.#check(call(input, count, output), first);
      take(instance.buffer, output, first, count);
    }
  }
  score(rows) {
    const block = asRows(rows, this.#inputs);
    const { count } = block;
    const id = new Uint32Array(count);
    const component = new Uint32Array(count);
    const probability = new Float32Array(count);
    const novelty = new Float32Array(count);
    const logDensity = new Float32Array(count);
    const flags = new Uint32Array(count);
    this.#through(
      block, 6,
      (input, n, output) => this.#call('score', input, n, 0, output),
      (buffer, output, first, n) => {
        const whole = new Uint32Array(buffer, output, 6 * n);
        const real = new Float32Array(buffer, output, 6 * n);
        for (let i = 0, at = 0; i < n; ++i, at += 6) {
          id[first + i] = whole[at];
          component[first + i] = whole[at + 1];
          probability[first + i] = real[at + 2];
          novelty[first + i] = real[at + 3];
          logDensity[first + i] = real[at + 4];
          flags[first + i] = whole[at + 5];
        }
      });
    return { count, id, component, probability, novelty, logDensity, flags };
  }
  probabilities(rows) {
    const ids = Uint32Array.from(this.clusters(), ({ id }) => id);
    // Without clusters rows are checked all the same.
    const width = Math.max(ids.length, 1);
    const block = asRows(rows, this.#inputs);
    const probability = new Float32Array(block.count * ids.length);
    this.#through(
      block, width,
      (input, n, output) => this.#call('probabilities', input, n, 0, output),
      (buffer, output, first, n) =>
        probability.set(new Float32Array(buffer, output, n * ids.length), first * ids.length));
    return { ids, probability };
  }
  encode(rows) {
    const m = this.#latent;
    const block = asRows(rows, this.#inputs);
    const mean = new Float32Array(block.count * m);
    const variance = new Float32Array(block.count * m);
    this.#through(
      block, 2 * m,
      (input, n, output) => this.#call('encode', input, n, 0, output, output + 4 * n * m),
      (buffer, output, first, n) => {
        mean.set(new Float32Array(buffer, output, n * m), first * m);
        variance.set(new Float32Array(buffer, output + 4 * n * m, n * m), first * m);
      });
    return { mean, variance };
  }
  #map(name, rows, width) {
    const d = this.#inputs;
    const block = asRows(rows, width);
    const result = new Float32Array(block.count * d);
    this.#through(
      block, d,
      (input, n, output) => this.#call(name, input, n, 0, output),
      (buffer, output, first, n) => result.set(new Float32Array(buffer, output, n * d), first * d));
    return result;
  }
  decode(features) {
    return this.#map('decode', features, this.#latent);
  }
  reconstruct(rows) {
    return this.#map('reconstruct', rows, this.#inputs);
  }
  // call(rows, features, ids) to copies of what it wrote.
  #drawn(count, call) {
    if (!(count >= 0)) throw invalid('count is not a number of rows');
    const instance = this.#open();
    const [d, m] = [count * this.#inputs, count * this.#latent];
    const rows = instance.stage(4 * (d + m + count) + 4);
    const features = rows + 4 * d;
    const ids = features + 4 * m;
    this.#check(call(rows, features, ids));
    return {
      rows: new Float32Array(instance.buffer, rows, d).slice(),
      features: new Float32Array(instance.buffer, features, m).slice(),
      ids: new Uint32Array(instance.buffer, ids, count).slice(),
    };
  }
  generate(count, { id = 0, seed = 1 } = {}) {
    return this.#drawn(count, (rows, features, ids) => this.#call('generate', id, seed, count, rows, features, ids));
  }
  interpolate(from, to, count) {
    const { rows, features } = this.#drawn(count, (r, f) => this.#call('interpolate', from, to, count, r, f));
    return { rows, features };
  }

  // ---- clusters

  info() {
    const { scoresOnly, ...info } = this.#struct('info', 'get_info');
    return { ...info, scoresOnly: scoresOnly === 1, heapBytes: this.#instance.buffer.byteLength };
  }
  #cluster(name, which) {
    const { provisional, ...cluster } = this.#struct('cluster', name, which);
    return { ...cluster, provisional: provisional === 1 };
  }
  clusters() {
    return Array.from({ length: this.info().clusters }, (_, i) => this.#cluster('cluster_at', i));
  }
  cluster(id) {
    return this.#cluster('cluster_of', id);
  }
  resolve(id) {
    this.#open();
    return this.#call('resolve', id) >>> 0;
  }
  moments(id) {
    const instance = this.#open();
    const m = this.#latent;
    const mean = instance.stage(8 * (m + m * m));
    this.#check(this.#call('moments', id, mean, mean + 8 * m));
    return {
      mean: new Float64Array(instance.buffer, mean, m).slice(),
      covariance: new Float64Array(instance.buffer, mean + 8 * m, m * m).slice(),
    };
  }

  // ---- corrections

  label(id, name) {
    const [at] = this.#open().texts(name);
    this.#check(this.#call('label', id, at));
  }
  merge(id, other, { force = false } = {}) {
    const { scratch } = this.#open();
    this.#check(this.#call('merge', id, other, force ? 1 : 0, scratch + OUT_AT));
    return this.#instance.view.getFloat64(scratch + OUT_AT, true);
  }
  split(id, { force = false } = {}) {
    const { scratch } = this.#open();
    this.#check(this.#call('split', id, force ? 1 : 0, scratch + OUT_AT + 8, scratch + OUT_AT));
    const { view } = this.#instance;
    return { part: view.getUint32(scratch + OUT_AT + 8, true), gain: view.getFloat64(scratch + OUT_AT, true) };
  }
  forget(id) {
    this.#open();
    this.#check(this.#call('forget', id));
  }
  undo() {
    this.#open();
    this.#check(this.#call('undo'));
  }

  // ---- settings

  set(name, value) {
    const [at, text] = this.#open().texts(name, fieldText(value));
    this.#check(this.#call('set', at, text));
  }
  setSensitivity(sensitivity) {
    this.set('sensitivity', sensitivity);
  }
  config() {
    const instance = this.#open();
    this.#check(this.#call('get_config', instance.configure({})));
    return instance.configuration();
  }

  // ---- events and explanations

  events(since = this.#seen) {
    const instance = this.#open();
    const events = [];
    const at = instance.struct('event');
    const sequence = at + LAYOUTS.event.fields[3].at;
    instance.view.setBigUint64(sequence, BigInt(since), true);
    while (this.#call('next_event', at) === 0) {
      const { type, reason, missed, ...event } = instance.read('event');
      const { text } = instance.longText((to, capacity, needed) =>
        instance.c.adapvae_event_text(at, 0, to, capacity, needed));
      events.push({ type: EVENTS[type], reason: REASONS[reason], missed: missed === 1, ...event, text });
      this.#seen = Math.max(this.#seen, event.sequence);
    }
    return events;
  }
  explain(row, format = 'text') {
    const instance = this.#open();
    const block = asRows(row, this.#inputs);
    if (block.count !== 1) throw invalid('explain takes one row');
    const at = instance.stage(4 * this.#inputs);
    block.copy(new Float32Array(instance.buffer, at, this.#inputs), 0, 1);
    const { status, text } = instance.longText((to, capacity, needed) =>
      this.#call('explain', at, format === 'json' ? 1 : 0, to, capacity, needed));
    this.#check(status);
    return format === 'json' ? JSON.parse(text) : text;
  }

  // ---- one model, many machines

  gain(rows, { worker = 0, sequence = 0 } = {}) {
    const instance = this.#open();
    const block = asRows(rows, this.#inputs);
    const numbers = [worker, sequence].map((number) => {
      if (!(number >= 0) || number >= 2 ** 64 || (typeof number === 'number' && !Number.isSafeInteger(number))) {
        throw invalid('worker and sequence are whole numbers from 0 on');
      }
      return BigInt(number);
    });
    const size = instance.scratch + OUT_AT;
    this.#check(this.#call('gain', 0, 0, 0, 0, 0, 0, size));
    const most = instance.view.getUint32(size, true);
    const floats = block.count * this.#inputs;
    const key = instance.stage(16 + 4 * floats + most);
    numbers.forEach((number, i) => instance.view.setBigUint64(key + 8 * i, number, true));
    block.copy(new Float32Array(instance.buffer, key + 16, floats), 0, block.count);
    const bytes = key + 16 + 4 * floats;
    this.#check(this.#call('gain', key + 16, block.count, 0, key, bytes, most, size));
    return new Uint8Array(instance.buffer, bytes, instance.view.getUint32(size, true)).slice();
  }
  applyGains(gains) {
    const instance = this.#open();
    const set = asBytes(gains);
    const { born } = instance.gains(set);
    const aliasBytes = 24;
    const at = instance.stage(born * aliasBytes + set.byteLength);
    const bytes = at + born * aliasBytes;
    new Uint8Array(instance.buffer, bytes).set(set);
    this.#check(this.#call('apply_gains', bytes, set.byteLength, born > 0 ? at : 0, born, instance.struct('report')));
    const report = instance.read('report');
    report.stopped = report.stopped === 1;
    const { view } = instance;
    const aliases = Array.from({ length: born }, (_, i) => ({
      worker: Number(view.getBigUint64(at + i * aliasBytes, true)),
      sequence: Number(view.getBigUint64(at + i * aliasBytes + 8, true)),
      local: view.getUint32(at + i * aliasBytes + 16, true),
      id: view.getUint32(at + i * aliasBytes + 20, true),
    }));
    return { report, aliases };
  }

  // ---- snapshots

  save() {
    const instance = this.#open();
    const size = instance.scratch + OUT_AT;
    this.#check(this.#call('save', 0, 0, size));
    const bytes = instance.view.getUint32(size, true);
    const at = instance.stage(bytes);
    this.#check(this.#call('save', at, bytes, size));
    return new Uint8Array(instance.buffer, at, bytes).slice();
  }
  load(bytes) {
    const instance = this.#open();
    const at = instance.stage(bytes.byteLength);
    new Uint8Array(instance.buffer, at).set(asBytes(bytes));
    this.#check(this.#call('load', at, bytes.byteLength));
    this.#seen = this.info().events;
  }

  // ---- the end

  dispose() {
    if (!this.#instance) return;
    this.#open();
    this.#call('destroy');
    this.#instance = this.#progress = null;
  }
}
if (Symbol.dispose) Model.prototype[Symbol.dispose] = Model.prototype.dispose;

const asBytes = (bytes) =>
  ArrayBuffer.isView(bytes) ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : new Uint8Array(bytes);

// Rows as given: numbers one after the other, or an array of rows; copy(target, first, count).
function asRows(rows, width) {
  if (typeof rows?.length !== 'number') throw invalid('rows are numbers in an array, or an array of such rows');
  if (ArrayBuffer.isView(rows) || typeof rows[0] === 'number') {
    const count = rows.length / width;
    if (!Number.isInteger(count)) {
      throw new AdapVAEError('ADAPVAE_SHAPE_MISMATCH', `${rows.length} numbers are not rows of ${width}`);
    }
    const part = (first, n) => (rows.subarray ? rows.subarray(first, first + n) : rows.slice(first, first + n));
    return { count, width, copy: (target, first, n) => target.set(part(first * width, n * width)) };
  }
  const count = rows.length;
  for (let i = 0; i < count; ++i) {
    if (rows[i]?.length !== width) {
      throw new AdapVAEError('ADAPVAE_SHAPE_MISMATCH', `a row has ${rows[i]?.length} numbers instead of ${width}`, i);
    }
  }
  return {
    count,
    width,
    copy: (target, first, n) => {
      for (let i = 0; i < n; ++i) target.set(rows[first + i], i * width);
    },
  };
}
