// The golden stream through the npm package; as tests/wasm/record_stream.c:
//
//   node record_stream.mjs PACKAGE_FOLDER ROWS STREAM_ROWS MODEL_OUT preset=NAME [FIELD=VALUE]...
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, path, streamRows, out, ...settings] = process.argv.slice(2);
const { AdapVAE } = await import(pathToFileURL(resolve(join(folder, 'adapvae.mjs'))));
const bytes = readFileSync(path);
const rows = new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
const options = Object.fromEntries(settings.map((setting) => setting.split('=')));
const model = await AdapVAE.create({ ...options, seed: Number(options.seed) });
const say = (object) => console.log(JSON.stringify(object));
const block = Number(streamRows) * model.info().inputs;
for (let at = 0; at < rows.length; at += block) {
  const { clusters, births, bound, loss } = model.learn(rows.subarray(at, at + block));
  say({ stream: at / block, clusters, births, bound, loss });
}
for (const { id, components, parent, rows: held } of model.clusters()) say({ cluster: id, components, parent, rows: held });
const { id, component, novelty } = model.score(rows);
id.forEach((each, i) => say({ id: each, component: component[i], novelty: novelty[i] }));
writeFileSync(out, model.save());
