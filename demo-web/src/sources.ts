/** What can stream in. An id never changes: addresses of the page may name it. */
import type { Options } from 'adapvae';
import { Blobs } from './blobs';
import { bundledDigits, PIXELS } from './digits';
import type { Picture } from './picture';
import type { Source } from './player';
import { digitsOptions, Scenario } from './scenario';
import { BANDS, Vibration } from './vibration';

export interface Choice {
  id: string;
  title: string;
  /** What comes, said under the title of the page. */
  lead: string;
  inputs: number;
  /** The model's, unless the address says another. */
  seed: number;
  options(seed: number): Options;
  make(seed: number): Promise<Source>;
  picture: Picture;
}

/** A handful of numbers a row. */
export const fewOptions = (inputs: number, seed: number): Options => ({
  inputs,
  latent: Math.max(2, Math.min(4, inputs)),
  hidden1: 32,
  hidden2: 0,
  pretrain_epochs: 120,
  adapt_epochs: 20,
  learning_rate: 0.002,
  pretrain_mask_probability: 0,
  block_rows: 400,
  false_alarm_rate: 0.02,
  seed,
});
/** Some dozens to hundreds of numbers a row, small images among them. */
export const signalOptions = (inputs: number, seed: number): Options => ({ preset: 'edge', inputs, max_clusters: 40, block_rows: 400, undo_steps: 4, events: 256, false_alarm_rate: 0.02, seed });
const UNTOLD = 'No labels, and none of them is stored.';

export const CHOICES: Choice[] = [
  {
    id: 'digits',
    title: 'Digits',
    lead: `Digits stream in. ${UNTOLD} When a kind comes that the model has never met, a cluster is born.`,
    inputs: PIXELS,
    seed: 2, // neither the best nor the worst of those in docs/results/web.md
    options: (seed) => ({ ...digitsOptions(seed), replay_rows: 4000 }), // room for the replay that goes with drawings
    make: async () => new Scenario(await bundledDigits()),
    picture: { kind: 'image', width: 28, height: 28 },
  },
  {
    id: 'vibration',
    title: 'Vibration',
    lead: `Spectra of a bearing’s vibration stream in, 0 to 6 kHz in ${BANDS} bands. They are simulated in this page: a shaft, noise, and faults that knock at the rates of the rings and balls. ${UNTOLD} A fault that the model has never met becomes a cluster.`,
    inputs: BANDS,
    seed: 1,
    options: (seed) => ({ ...signalOptions(BANDS, seed), scale_inputs: 'standardise', likelihood: 'gaussian' }),
    make: async (seed) => new Vibration(seed),
    picture: { kind: 'line', low: new Float32Array(BANDS), high: new Float32Array(BANDS).fill(0.9) },
  },
  {
    id: 'blobs',
    title: 'Blobs that drift',
    lead: `Points of a plane stream in: three blobs that drift, slowly, and later a fourth. ${UNTOLD} The model follows what moves, and tells it from what is new.`,
    inputs: 2,
    seed: 1,
    options: (seed) => ({
      ...fewOptions(2, seed),
      scale_inputs: 'standardise',
      likelihood: 'gaussian',
      likelihood_variance: 0.1,
      prior_scale: 0.1,
      half_life_rows: 400, // what moves is where it was seen last
    }),
    make: async (seed) => new Blobs(seed),
    picture: { kind: 'point', low: [-5, -5], high: [5, 5] },
  },
];
