// The package as its users' tools see it: one list of symbols, layouts, types, sizes, linters.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { AdapVAE, hasSimd } from 'adapvae';

import { packageFolder, project } from './support.mjs';

const bin = (name) => join(import.meta.dirname, 'node_modules', '.bin', name);
const run = (program, ...args) => execFileSync(program, args, { encoding: 'utf8', cwd: import.meta.dirname });
const inPackage = (name) => readFileSync(join(packageFolder, name));
const header = ['adapvae.h', 'adapvae_experimental.h']
  .map((name) => readFileSync(join(project, 'capi/include/adapvae', name), 'utf8'))
  .join('\n')
  .replace(/\/\*[\s\S]*?\*\//g, '');
const core = await import(join(packageFolder, 'core.mjs'));

test('the modules export what the header declares, by the one list', () => {
  const declared = [...header.matchAll(/ADAPVAE_API[^;]*?\b(adapvae_\w+)\(/g)].map((match) => match[1]).sort();
  const listed = readFileSync(join(project, 'capi/exported_symbols.txt'), 'utf8').trim().split('\n').sort();
  assert.deepEqual(listed, declared);
  for (const name of ['adapvae.wasm', 'adapvae-scalar.wasm']) {
    const module = new WebAssembly.Module(inPackage(name));
    const exported = WebAssembly.Module.exports(module).filter(({ kind }) => kind === 'function').map((each) => each.name);
    assert.deepEqual(exported.filter((each) => each.startsWith('adapvae_') && each !== 'adapvae_wasm_watch').sort(), declared);
    const known = ['adapvae.progress', 'env.emscripten_notify_memory_growth', 'wasi_snapshot_preview1.clock_time_get',
      'wasi_snapshot_preview1.environ_get', 'wasi_snapshot_preview1.environ_sizes_get', 'wasi_snapshot_preview1.proc_exit'];
    for (const each of WebAssembly.Module.imports(module)) assert.ok(known.includes(`${each.module}.${each.name}`), each.name);
  }
});

test('structs lie as the header declares them', () => {
  const types = { int32_t: 'i', adapvae_status: 'i', uint32_t: 'u', adapvae_id: 'u', uint64_t: 'U', double: 'd', 'const char*': 's', char: 'n' };
  for (const [name, text] of Object.entries(core.STRUCTS)) {
    const body = header.match(new RegExp(`typedef struct adapvae_${name} \\{([^}]*)\\}`))[1];
    const fields = [...body.matchAll(/^\s*((?:const )?\w+\*?) (\w+)(\[[^\]]*\])?;/gm)].map(([, type, field, array]) => {
      assert.ok(types[type], type);
      assert.equal(Boolean(array), type === 'char', field);
      if (array) assert.match(array, /^\[(32|ADAPVAE_NAME_BYTES)\]$/);
      return `${types[type]} ${field}`;
    });
    assert.equal(fields.shift(), 'u struct_size');
    assert.deepEqual(text.split(','), fields, name);
  }
  assert.match(header, /#define ADAPVAE_NAME_BYTES 32/);
  const result = header.match(/typedef struct adapvae_result \{([^}]*)\}/)[1];
  assert.deepEqual([...result.matchAll(/(\w+) \w+;/g)].map((match) => match[1]), ['adapvae_id', 'adapvae_id', 'float', 'float', 'float', 'uint32_t']);
});

test('names of events, reasons, stages and flags are the header’s', () => {
  const names = (first, prefix) => {
    const body = header.slice(header.lastIndexOf('enum {', header.indexOf(first)));
    return [...body.slice(0, body.indexOf('}')).matchAll(/ADAPVAE_(\w+) = (\d+)/g)].map(([, name, number], i) => {
      assert.equal(Number(number), prefix === 'flag' ? 2 ** i : i);
      return name.replace(prefix, '').toLowerCase();
    });
  };
  assert.deepEqual(names('ADAPVAE_BORN = 0', ''), core.EVENTS);
  assert.deepEqual(names('ADAPVAE_REASON_NONE = 0', 'REASON_'), core.REASONS);
  assert.deepEqual(names('ADAPVAE_STAGE_PRETRAIN = 0', 'STAGE_'), core.STAGES);
  assert.deepEqual(names('ADAPVAE_PROVISIONAL = 1', 'flag'), ['provisional', 'nothing_learnt', 'novel']);
});

test('types have every field of the configuration, every method, and hold in a program', async () => {
  const types = inPackage('adapvae.d.ts').toString();
  const config = types.match(/export interface Config \{([^}]*)\}/)[1];
  const typed = Object.fromEntries([...config.matchAll(/^\s*(\w+)\?: (.*);$/gm)].map(([, name, type]) => [name, type]));
  const fields = await AdapVAE.fields();
  assert.deepEqual(Object.keys(typed), fields.map(({ name }) => name));
  for (const { name, type, choices } of fields) {
    const expected = { integer: 'number', number: 'number', switch: 'Switch', choice: choices.map((each) => `'${each}'`).join(' | ') };
    assert.equal(typed[name], expected[type], name);
  }
  assert.deepEqual(types.match(/export type PresetName = (.*);/)[1].split(' | '), (await AdapVAE.presets()).map((name) => `'${name}'`));
  const declared = types.slice(types.indexOf('export declare class AdapVAE {'));
  for (const name of Object.getOwnPropertyNames(core.Model.prototype)) {
    if (name !== 'constructor') assert.match(declared, new RegExp(`^  ${name}[<(]`, 'm'), name);
  }
  const statuses = header.slice(header.indexOf('typedef int32_t adapvae_status'));
  for (const [, status] of statuses.slice(0, statuses.indexOf('}')).matchAll(/(ADAPVAE_\w+) = [1-9]/g)) {
    assert.match(types, new RegExp(`\\| '${status}'`));
  }
  for (const resolution of ['bundler', 'nodenext']) {
    const module = resolution === 'bundler' ? 'esnext' : 'nodenext';
    run(bin('tsc'), '--noEmit', '--strict', '--target', 'es2022', '--lib', 'es2022,dom', '--module', module,
      '--moduleResolution', resolution, 'types.test-d.mts');
  }
});

test('publint and are-the-types-wrong have nothing to say', () => {
  const said = run(bin('publint'), '--strict', packageFolder);
  assert.match(said, /All good!/);
  run(bin('attw'), '--pack', packageFolder, '--profile', 'esm-only', '--exclude-entrypoints', 'adapvae.wasm', 'adapvae-scalar.wasm');
});

test('sizes stay below what is promised', () => {
  const packed = (...names) => gzipSync(Buffer.concat(names.map(inPackage)), { level: 9 }).length;
  const sizes = {
    'adapvae.wasm': [packed('adapvae.wasm'), 170_000],
    'adapvae-scalar.wasm': [packed('adapvae-scalar.wasm'), 170_000],
    loader: [packed('adapvae.mjs', 'core.mjs', 'error.mjs'), 8_000],
    'worker client': [packed('worker.mjs', 'error.mjs'), 3_000],
    inline: [packed('inline.mjs', 'core.mjs', 'error.mjs'), 226_000],
  };
  for (const [name, [size, most]] of Object.entries(sizes)) {
    console.log(`${name}: ${size} bytes gzipped, at most ${most}`);
    assert.ok(size <= most, `${name}: ${size} bytes`);
  }
});

test('the package has what it needs and no more', async () => {
  const { version, exports } = JSON.parse(inPackage('package.json'));
  assert.equal(version, await AdapVAE.version());
  const files = readdirSync(packageFolder).sort();
  assert.deepEqual(files, ['LICENSE', 'README.md', 'THIRD_PARTY.md', 'adapvae-scalar.wasm', 'adapvae.d.ts', 'adapvae.mjs', 'adapvae.wasm', 'core.mjs',
    'error.mjs', 'inline.d.ts', 'inline.mjs', 'package.json', 'worker-host.d.ts', 'worker-host.mjs', 'worker.d.ts', 'worker.mjs']);
  for (const target of Object.values(exports).flatMap((entry) => (typeof entry === 'string' ? entry : Object.values(entry)))) {
    assert.ok(files.includes(target.slice(2)), target);
  }
  // Node 20 has simd128: create() without a wish takes that module.
  assert.ok(hasSimd());
  assert.equal((await AdapVAE.create({ inputs: 4 })).info().backend, 'simd128');
});
