// Compiled, never run: what the types must let through, and what they must not.
import { AdapVAE, AdapVAEError, NOVEL, type Report, type Scores, type Stage } from 'adapvae';
import { AdapVAE as Inline } from 'adapvae/inline';
import { AdapVAE as InWorker } from 'adapvae/worker';

const model: AdapVAE = await AdapVAE.create({ preset: 'browser', seed: 3, kinds: true, drift: 'shift' });
const report: Report = model.learn(new Float32Array(784));
const scores: Scores = model.score([[0, 1], [1, 0]]);
const novel: boolean = (scores.flags[0] & NOVEL) !== 0 && report.stopped;
const text: string = model.explain([1, 2, 3]);
const data: Record<string, unknown> = model.explain(new Float64Array(3), 'json');
const bytes: Uint8Array = model.save();
void new Blob([model.save()]);
model.setProgress((stage: Stage, fraction: number) => fraction < 0.5 && stage !== 'close');
model.setProgress(null);
model.set('drift', 'affine');
model.set('learning_rate', 0.1);
model.load(bytes.buffer);
model.merge(1, 2, { force: true }).toFixed();
const { part }: { part: number } = model.split(1);
const again: AdapVAE = await Inline.load(bytes, { wasm: fetch('adapvae.wasm') });
await AdapVAE.create({ inputs: 3 }, { wasm: new URL('file:///adapvae.wasm'), simd: false });
const { config } = await AdapVAE.inspect(bytes);
config.inputs.toFixed();
{
  using short = await AdapVAE.scorer(bytes);
  short.info().backend.at(0);
}
try {
  model.forget(part);
} catch (error) {
  if (error instanceof AdapVAEError && error.status === 'ADAPVAE_UNKNOWN_CLUSTER') error.index.toFixed();
}

const far: InWorker = await InWorker.create({ inputs: 3 });
const farReport: Report = await far.learn(new Float32Array(3), { transfer: true });
const farText: string = await far.explain([1, 2, 3]);
const how: 'shared' | 'address' | 'between' = far.stopping;
far.stop();

// @ts-expect-error: no such field
await AdapVAE.create({ inputz: 3 });
// @ts-expect-error: no such choice
await AdapVAE.create({ drift: 'sideways' });
// @ts-expect-error: a number
model.set('learning_rate', 'fast');
// @ts-expect-error: a worker's answers are promises
const wrong: Report = far.learn([1]);
// @ts-expect-error: create() makes them
new AdapVAE();
// @ts-expect-error: no such status
void (new AdapVAEError('ADAPVAE_OK', '').status === 'ADAPVAE_FINE');

export { again, data, farReport, farText, how, novel, text, wrong };
