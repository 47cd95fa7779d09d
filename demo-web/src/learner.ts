/** The model in its worker, and what the page knows of it after every change. */
import { AdapVAE } from 'adapvae/worker';
import type { AdapVAE as Model, Cluster, ModelEvent, Options, Report, Scores, Stage } from 'adapvae';
import { knownBy, type Knowledge, type Known } from './known';
import { pictureOf, type Picture } from './picture';

type Later = Awaited<ReturnType<typeof AdapVAE.create>>;
export type { Cluster, Known, Model, ModelEvent };

export interface State extends Knowledge {
  /** The last ones. */
  events: ModelEvent[];
}

const MOST_EVENTS = 2000; // that the page keeps of a model's

export interface Learnt {
  report: Report;
  events: ModelEvent[];
  milliseconds: number;
}

export class Learner {
  state: State | null = null;
  /** Goes up when another model takes the place of this. */
  turn = 0;
  /** A person has corrected the model, by more than a name. */
  corrected = false;
  /** Learning of one stream waits for that of another: each tells the events that are its own. */
  private queue: Promise<unknown> = Promise.resolve();
  private listeners: (() => void)[] = [];
  private progress: (stage: Stage, fraction: number) => void = () => {};

  private constructor(private model: Later) {}

  static async create(options: Options): Promise<Learner> {
    const learner = new Learner(await AdapVAE.create(options));
    await learner.begin();
    return learner;
  }

  onChange(listener: () => void): void {
    this.listeners.push(listener);
  }
  onProgress(listener: (stage: Stage, fraction: number) => void): void {
    this.progress = listener;
  }

  /** A new model in the place of the old one, whose worker ends. */
  async replace(make: () => Promise<Later>): Promise<void> {
    const model = await make();
    this.model.dispose();
    this.model = model;
    ++this.turn;
    this.corrected = false;
    await this.begin();
  }
  async restart(options: Options): Promise<void> {
    await this.replace(() => AdapVAE.create(options));
  }
  async open(bytes: Uint8Array): Promise<void> {
    await this.replace(() => AdapVAE.load(bytes));
  }
  save(): Promise<Uint8Array & { readonly buffer: ArrayBuffer }> {
    return this.model.save();
  }

  private sensitivity = 1;
  /** Above 1 more is called novel. Holds for models to come as well. */
  async setSensitivity(sensitivity: number): Promise<void> {
    this.sensitivity = sensitivity;
    await this.model.setSensitivity(sensitivity);
    await this.tell();
  }

  private async begin(): Promise<void> {
    if (this.sensitivity !== 1) await this.model.setSensitivity(this.sensitivity);
    await this.model.setProgress((stage, fraction) => this.progress(stage, fraction));
    await this.refresh();
  }

  /** What matters to rows that may come. */
  async about(): Promise<{ inputs: number; rows: number; blockRows: number; standardises: boolean }> {
    const { inputs, rows, blockRows } = this.state!.info;
    return { inputs, rows, blockRows, standardises: (await this.model.config()).scale_inputs === 'standardise' };
  }
  /** How its rows may be drawn, if nobody knows but the model: by what its clusters stand for. */
  async picture(): Promise<Picture> {
    const { image_width: width, image_height: height } = await this.model.config();
    if (width * height === this.inputs) return { kind: 'image', width, height };
    const [low, high] = [new Float64Array(this.inputs), new Float64Array(this.inputs)];
    for (const { prototype } of this.state!.clusters)
      prototype.forEach((value, i) => {
        low[i] = Math.min(low[i]!, value);
        high[i] = Math.max(high[i]!, value);
      });
    low.forEach((least, i) => {
      const margin = 0.1 * (high[i]! - least);
      [low[i], high[i]] = [least - margin, high[i]! + margin];
    });
    return pictureOf(low, high);
  }

  get inputs(): number {
    return this.state?.info.inputs ?? 0;
  }
  get events(): ModelEvent[] {
    return this.state?.events ?? [];
  }
  find(id: number): Known | undefined {
    return this.state?.clusters.find((cluster) => cluster.id === id);
  }
  /** What people call it. */
  title(id: number): string {
    const name = this.find(id)?.name;
    return name ? `${name} (cluster ${id})` : `cluster ${id}`;
  }

  score(rows: Float32Array): Promise<Scores> {
    return this.model.score(rows);
  }
  async encode(rows: Float32Array): Promise<Float32Array> {
    return (await this.model.encode(rows)).mean;
  }
  decode(features: Float32Array): Promise<Float32Array> {
    return this.model.decode(features);
  }
  reconstruct(rows: Float32Array): Promise<Float32Array> {
    return this.model.reconstruct(rows);
  }

  /** `replay`: so many rows drawn from its clusters are learnt with each, where the model has room for them. */
  learn(rows: Float32Array, replay?: number): Promise<Learnt> {
    const result = this.queue.then(() => (replay === undefined ? this.learnNow(rows) : this.learnWith(replay, rows)));
    this.queue = result.catch(() => {});
    return result;
  }

  private async learnWith(replay: number, rows: Float32Array): Promise<Learnt> {
    const { model } = this;
    const { replay_ratio: usual } = await model.config();
    const raised = await model.set('replay_ratio', replay).then(
      () => true,
      () => false, // a model from a file may have less room
    );
    try {
      return await this.learnNow(rows);
    } finally {
      if (raised) await model.set('replay_ratio', usual!);
    }
  }

  private async learnNow(rows: Float32Array): Promise<Learnt> {
    const before = this.events.at(-1)?.sequence ?? 0;
    const start = performance.now();
    const report = await this.model.learn(rows);
    const milliseconds = performance.now() - start;
    await this.refresh();
    return { report, milliseconds, events: this.events.filter(({ sequence }) => sequence > before) };
  }

  /** A correction by the person: name, merge, split, forget, undo. */
  async correct<T>(change: (model: Later) => Promise<T>): Promise<T> {
    const before = this.events.at(-1)?.sequence ?? 0;
    const result = await change(this.model);
    await this.refresh();
    this.corrected ||= this.events.some(({ sequence, type }) => sequence > before && type !== 'labelled');
    return result;
  }

  private async refresh(): Promise<void> {
    const known = await knownBy(this.model);
    const events = await this.model.events(Math.max(0, known.info.events - MOST_EVENTS));
    this.state = { ...known, events };
    await this.tell();
  }

  /** Each part of the page in a task of its own, so that none is a long one. */
  private async tell(): Promise<void> {
    for (const listener of this.listeners) {
      listener();
      await new Promise((resolve) => setTimeout(resolve));
    }
  }
}
