/// <reference lib="esnext.disposable" />

/** Numbers one after the other, row by row, or an array of rows. */
export type Rows = ArrayLike<number> | ArrayLike<ArrayLike<number>>;
export type Bytes = ArrayBufferLike | ArrayBufferView;
/** A WebAssembly module, its bytes, a response that has them, or their address. */
export type WasmSource = WebAssembly.Module | Bytes | Response | URL | string;

export interface Runtime {
  /** Instead of the file beside the package. */
  wasm?: WasmSource | Promise<WasmSource>;
  /** Which of the two files; unless given, what the engine can do. */
  simd?: boolean;
}

export type StatusName =
  | 'ADAPVAE_INVALID_ARGUMENT'
  | 'ADAPVAE_SHAPE_MISMATCH'
  | 'ADAPVAE_NON_FINITE'
  | 'ADAPVAE_UNKNOWN_CLUSTER'
  | 'ADAPVAE_OUT_OF_MEMORY'
  | 'ADAPVAE_UNAVAILABLE'
  | 'ADAPVAE_CORRUPT_DATA'
  | 'ADAPVAE_NEWER_FORMAT'
  | 'ADAPVAE_BUSY'
  | 'ADAPVAE_REFUSED'
  | 'ADAPVAE_LATE'
  | 'ADAPVAE_FOREIGN'
  | 'ADAPVAE_DIVERGED'
  | 'ADAPVAE_NO_MORE';

/** A call that throws has changed nothing. */
export declare class AdapVAEError extends Error {
  constructor(status: StatusName, message: string, index?: number);
  readonly name: 'AdapVAEError';
  readonly status: StatusName;
  /** Row, field of the configuration or byte of a file; -1: none. */
  readonly index: number;
}

export type PresetName = 'paper' | 'desktop' | 'edge' | 'browser';
type Switch = boolean | 'on' | 'off';

/** Every field of docs/configuration.md, by its name there. `inputs` or a preset must be given. */
export interface Config {
  inputs?: number;
  latent?: number;
  hidden1?: number;
  hidden2?: number;
  hidden3?: number;
  hidden4?: number;
  scale_inputs?: 'off' | 'standardise';
  missing_values?: Switch;
  likelihood?: 'bernoulli' | 'gaussian' | 'gaussian_learned';
  likelihood_variance?: number;
  activation?: 'linear' | 'relu' | 'leaky_relu' | 'tanh' | 'sigmoid' | 'softplus';
  initialisation?: 'he' | 'xavier';
  covariance?: 'full' | 'diagonal';
  max_clusters?: number;
  block_rows?: number;
  pass_rows?: number;
  replay_rows?: number;
  pending_rows?: number;
  aliases?: number;
  undo_steps?: number;
  events?: number;
  restore_on_failure?: Switch;
  seed?: number;
  batch?: number;
  pretrain_epochs?: number;
  adapt_epochs?: number;
  joint_epochs?: number;
  sweeps?: number;
  freeze_encoder_after?: number;
  neighbour_epochs?: number;
  neighbour_weight?: number;
  learning_rate?: number;
  prior_weight?: number;
  pretrain_mask_probability?: number;
  pretrain_noise?: number;
  joint_mask_probability?: number;
  joint_noise?: number;
  image_width?: number;
  image_height?: number;
  image_channels?: number;
  augment?: Switch;
  augment_shift?: number;
  augment_rotation?: number;
  augment_scale?: number;
  augment_shear?: number;
  replay_ratio?: number;
  replay_balance?: number;
  replay_radius?: number;
  replay_filter?: Switch;
  drift?: 'off' | 'shift' | 'affine' | 'two_stage';
  distillation?: number;
  replay_in_fit?: 'off' | 'fit' | 'counted';
  prior_mode?: 'scaled' | 'empirical' | 'fitted';
  learn_concentration?: Switch;
  prior_scale?: number;
  prior_beta?: number;
  prior_strength?: number;
  concentration?: number;
  row_weight?: number;
  effective_rows?: number;
  effective_part?: number;
  laps?: number;
  rounds?: number;
  divisions?: Switch;
  merge_old_with_new?: Switch;
  unexplained_births?: Switch;
  birth_novelty?: number;
  hysteresis_streams?: number;
  hysteresis_growth?: number;
  pending_part?: number;
  pending_streams?: number;
  kinds?: Switch;
  kind_resolution?: number;
  half_life_rows?: number;
  half_life_time?: number;
  false_alarm_rate?: number;
  sensitivity?: number;
  novelty_error_weight?: number;
}
export interface Options extends Config {
  /** Values to begin with; the fields given beside it come on top. */
  preset?: PresetName;
}

export interface Field {
  name: keyof Config;
  group: string;
  type: 'integer' | 'number' | 'switch' | 'choice';
  /** set() can change it. */
  live: boolean;
  lowest: number;
  highest: number;
  /** The default. */
  preset: number;
  choices: string[];
  sentence: string;
}

/** What learning a stream came to. */
export interface Report {
  /** Learnt in this call; 0: push() gathered rows, the rest is as before. */
  streams: number;
  rows: number;
  clusters: number;
  /** Of the mixture; a cluster has one or several. */
  components: number;
  births: number;
  merges: number;
  retirements: number;
  refusals: number;
  replayRows: number;
  drifted: number;
  /** Ended early, by a budget or a stop. */
  stopped: boolean;
  bound: number;
  loss: number;
  logLikelihood: number;
  mixture: number;
  entropy: number;
  distillation: number;
  replayAccuracy: number;
  largestDrift: number;
  skippedSteps: number;
  repairs: number;
}

/** Of every row; arrays of `count` numbers. */
export interface Scores {
  count: number;
  /** Most probable cluster; 0 before anything is learnt. */
  id: Uint32Array;
  /** Most probable component of that cluster. */
  component: Uint32Array;
  probability: Float32Array;
  /** In [0, 1]; novel if above 0.5. */
  novelty: Float32Array;
  logDensity: Float32Array;
  /** PROVISIONAL, NOTHING_LEARNT, NOVEL. */
  flags: Uint32Array;
}
export declare const PROVISIONAL: 1;
export declare const NOTHING_LEARNT: 2;
export declare const NOVEL: 4;

export interface Features {
  mean: Float32Array;
  variance: Float32Array;
}
export interface Drawn {
  rows: Float32Array;
  features: Float32Array;
}
export interface Generated extends Drawn {
  ids: Uint32Array;
}

export interface Info {
  clusters: number;
  rowsWaiting: number;
  undoSteps: number;
  streams: number;
  rows: number;
  idsGiven: number;
  events: number;
  memoryBytes: number;
  snapshotBytes: number;
  time: number;
  /** 'simd128' or 'scalar'. */
  backend: string;
  scoresOnly: boolean;
  latent: number;
  inputs: number;
  blockRows: number;
  components: number;
  /** Of the model's WebAssembly memory. */
  heapBytes: number;
}

export interface Cluster {
  id: number;
  /** Of the mixture that belong to it. */
  components: number;
  parent: number;
  bornStream: number;
  seenStream: number;
  rows: number;
  weight: number;
  birthRows: number;
  birthGain: number;
  provisional: boolean;
  name: string;
}

export interface Moments {
  mean: Float64Array;
  /** latent × latent */
  covariance: Float64Array;
}

export type EventType =
  | 'born'
  | 'merged'
  | 'retired'
  | 'not_born'
  | 'forgotten'
  | 'split'
  | 'noticed'
  | 'labelled'
  | 'undone'
  | 'drifted'
  | 'repaired'
  | 'learnt'
  | 'rescaled'
  | 'warned';
export type EventReason = 'none' | 'bound' | 'rows' | 'room' | 'one' | 'covariance' | 'step' | 'rate' | 'known' | 'range' | 'capacity' | 'stuck' | 'training' | 'missing';
export interface ModelEvent {
  type: EventType;
  reason: EventReason;
  /** Events between the one before and this are not kept any more. */
  missed: boolean;
  sequence: number;
  stream: number;
  id: number;
  other: number;
  gain: number;
  rows: number;
  clusters: number;
  /** Of reason 'range': the input that is farthest out, from 0; else -1. */
  input: number;
  /** A line of English. */
  text: string;
}

export interface Snapshot {
  clusters: number;
  format: number;
  streams: number;
  rows: number;
  rowsWaiting: number;
  events: number;
  time: number;
  version: string;
  config: Required<Config>;
}

/** What is in a set of gains. */
export interface Gains {
  gains: number;
  /** Clusters, of all gains. */
  born: number;
  /** Of the base. */
  clusters: number;
  rows: number;
  /** That the base has learnt. */
  baseStreams: number;
}
/** A pair of these counts once. */
export interface GainKey {
  worker?: number | bigint;
  sequence?: number | bigint;
}
/** What became of the cluster that was born as number `local`, from 1, of a worker's gain. */
export interface Alias {
  worker: number;
  sequence: number;
  local: number;
  id: number;
}

export interface Metrics {
  rows: number;
  labels: number;
  clusters: number;
  nmi: number;
  nmiGeometric: number;
  ari: number;
  homogeneity: number;
  completeness: number;
  vMeasure: number;
  accuracy: number;
  purity: number;
}

export type Stage = 'pretrain' | 'adapt' | 'embed' | 'births' | 'joint' | 'close';
/** Called within learn, push and flush; false ends the stream early. It may not call the model. */
export type Progress = (stage: Stage, fraction: number) => boolean | number | void;

export interface DrawOptions {
  /** Of this cluster; 0: of all, by their weight. */
  id?: number;
  seed?: number;
}
export interface MoveOptions {
  /** Against the evidence, if need be. */
  force?: boolean;
}

/** Whether this engine has simd128. */
export declare function hasSimd(): boolean;

export declare class AdapVAE {
  private constructor();

  static create(options?: Options, runtime?: Runtime): Promise<AdapVAE>;
  /** A model of what a snapshot holds. */
  static load(bytes: Bytes, runtime?: Runtime): Promise<AdapVAE>;
  /** The same in a fraction of the memory, only to score, encode, generate and explain. */
  static scorer(bytes: Bytes, runtime?: Runtime): Promise<AdapVAE>;
  static inspect(bytes: Bytes, runtime?: Runtime): Promise<Snapshot>;
  static inspectGains(gains: Bytes, runtime?: Runtime): Promise<Gains>;
  /** All gains of these sets, each once: the same bytes whatever the order. */
  static mergeGains(sets: Iterable<Bytes>, runtime?: Runtime): Promise<Uint8Array & { readonly buffer: ArrayBuffer }>;
  static fields(runtime?: Runtime): Promise<Field[]>;
  static presets(runtime?: Runtime): Promise<PresetName[]>;
  /** Bytes that such a model takes. */
  static memoryRequired(options?: Options, runtime?: Runtime): Promise<number>;
  /** Agreement of clusters with labels. */
  static evaluate(labels: ArrayLike<number>, ids: ArrayLike<number>, runtime?: Runtime): Promise<Metrics>;
  static version(runtime?: Runtime): Promise<string>;

  /** Learns a stream of 1 to block_rows rows. */
  learn(rows: Rows): Report;
  /** Any number of rows: they wait until there are block_rows of them, which are then learnt. */
  push(rows: Rows): Report;
  /** Learns the rows that wait. */
  flush(): Report;
  setProgress(progress: Progress | null): void;
  /** Within a progress function: the same as returning false. */
  stop(): void;
  /** Time of the rows to come, for half_life_time. */
  setTime(time: number): void;
  /** Seconds that a stream may take; 0: as long as it takes. */
  setBudget(seconds: number): void;
  /** Nothing is learnt any more. */
  reset(): void;

  score(rows: Rows): Scores;
  /** Of every cluster: `ids` of the columns, `probability` row after row. */
  probabilities(rows: Rows): { ids: Uint32Array; probability: Float32Array };
  encode(rows: Rows): Features;
  decode(features: Rows): Float32Array;
  reconstruct(rows: Rows): Float32Array;
  generate(count: number, options?: DrawOptions): Generated;
  interpolate(from: number, to: number, count: number): Drawn;

  info(): Info;
  clusters(): Cluster[];
  cluster(id: number): Cluster;
  /** Id of the cluster that holds what `id` held; 0: none. */
  resolve(id: number): number;
  moments(id: number): Moments;

  label(id: number, name: string): void;
  /** `other` goes into `id`; the change of the evidence bound. */
  merge(id: number, other: number, options?: MoveOptions): number;
  split(id: number, options?: MoveOptions): { part: number; gain: number };
  forget(id: number): void;
  undo(): void;

  /** Changes a live field. */
  set<Name extends keyof Config>(name: Name, value: NonNullable<Config[Name]>): void;
  setSensitivity(sensitivity: number): void;
  config(): Required<Config>;

  /** Those after event number `since`; without it, those that no call has given yet. */
  events(since?: number): ModelEvent[];
  explain(row: Rows): string;
  explain(row: Rows, format: 'text'): string;
  explain(row: Rows, format: 'json'): Record<string, unknown>;

  /** What rows, any number of them, would add to this model, the base, which stays as it is: a set of one gain. */
  gain(rows: Rows, key?: GainKey): Uint8Array & { readonly buffer: ArrayBuffer };
  /** Adds gains of this model, of any number of workers, as one stream: all of them, or none. */
  applyGains(gains: Bytes): { report: Report; aliases: Alias[] };

  /** The same bytes as on any other platform. */
  save(): Uint8Array & { readonly buffer: ArrayBuffer };
  /** Into this model, whose configuration must agree. */
  load(bytes: Bytes): void;

  /** Gives the memory back. */
  dispose(): void;
  [Symbol.dispose](): void;
}
