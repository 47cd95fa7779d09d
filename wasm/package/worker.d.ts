import type { AdapVAE as Model, Bytes, Options, Progress, Runtime } from './adapvae.js';

export { AdapVAEError } from './adapvae.js';

export interface WorkerRuntime extends Runtime {
  /** A worker that runs 'adapvae/worker-host'; unless given, one is started, and ended by dispose(). */
  worker?: Worker;
  /**
   * false: where pages may not share memory, the worker does not look for a stop within a stream, which
   * takes some percent of its time.
   */
  stoppable?: boolean;
}
/** Rows in a typed array need not be copied if they are not needed any more. */
export interface Transfer {
  transfer: true;
}

type Later<Method> = Method extends (...args: infer Args) => infer Result
  ? (...args: Args | [...args: Args, transfer: Transfer]) => Promise<Result>
  : never;
type Methods = Exclude<keyof Model, 'setProgress' | 'stop' | 'dispose' | 'explain' | 'set' | typeof Symbol.dispose>;

/** AdapVAE in a worker: the same methods, each with a promise. */
export interface AdapVAE extends Readonly<{ [Name in Methods]: Later<Model[Name]> }> {
  set(...args: Parameters<Model['set']>): Promise<void>;
  explain(row: Parameters<Model['explain']>[0], format?: 'text'): Promise<string>;
  explain(row: Parameters<Model['explain']>[0], format: 'json'): Promise<Record<string, unknown>>;
  /** Called as learning goes on, some thirty times a second at most; false stops. */
  setProgress(progress: Progress | null): Promise<void>;
  /** Ends the streams of all calls made so far early; their promises give reports as ever. */
  stop(): void;
  /** Ends the worker, whatever it is doing. */
  dispose(): void;
  [Symbol.dispose](): void;
  /** How a stop reaches a stream that is being learnt; 'between': only between streams. */
  readonly stopping: 'shared' | 'address' | 'between';
}
export declare const AdapVAE: {
  create(options?: Options, runtime?: WorkerRuntime): Promise<AdapVAE>;
  load(bytes: Bytes, runtime?: WorkerRuntime): Promise<AdapVAE>;
  scorer(bytes: Bytes, runtime?: WorkerRuntime): Promise<AdapVAE>;
};
