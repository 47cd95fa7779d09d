/** Plays streams: rows come one by one, each already scored; when all have come, the stream is learnt. */
import type { Scores } from 'adapvae';
import type { Stream } from './scenario';
import type { Learnt, Learner } from './learner';

export interface Source {
  readonly finished: boolean;
  next(): Stream | Promise<Stream>;
}
export type Phase = 'arriving' | 'learning' | 'resting' | 'finished';

export interface Watcher {
  /** Before a stream that comes at once, counted from 0, and after the last one. */
  hurries(stream: number): Promise<void>;
  began(stream: Stream, scores: Scores): void;
  came(stream: Stream, scores: Scores, count: number): void;
  learning(stream: Stream): void;
  learnt(stream: Stream, scores: Scores, result: Learnt): void;
  changed(): void;
  /** All streams have been learnt. */
  ended(): void;
  failed(error: unknown): void;
}

const ROWS_PER_SECOND = 55;
const FIRST_ROWS_PER_SECOND = 150; // nothing is known yet, so there is less to see
const REST = 3200; // milliseconds to look at a birth
const STEP_ROWS = 10;

export class Player {
  playing = false;
  speed = 1;
  phase: Phase = 'resting';
  /** Streams learnt since the start. */
  learnt = 0;
  /** Until so many are learnt, streams come at once and without a rest; then the player pauses. */
  private hurryTo = 0;
  private stream: Stream | null = null;
  private scores: Scores | null = null;
  private shown = 0;
  private exact = 0;
  private rested = REST;
  private last = 0;
  private working = false;
  /** Goes up with every restart, so that answers to older questions are dropped. */
  private turn = 0;

  constructor(
    private readonly learner: Learner,
    private source: Source | null,
    private readonly watcher: Watcher,
  ) {
    const frame = (now: number): void => {
      const passed = Math.min(100, now - this.last);
      this.last = now;
      if (this.playing && !this.working) this.advance(passed);
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  }

  play(on: boolean): void {
    this.playing = on;
    this.watcher.changed();
  }

  restart(source: Source | null, hurryTo = 0): void {
    ++this.turn;
    this.source = source;
    this.learnt = 0;
    this.hurryTo = hurryTo;
    this.stream = this.scores = null;
    this.shown = this.exact = 0;
    this.rested = REST;
    this.working = false;
    this.phase = source ? 'resting' : 'finished';
    this.watcher.changed();
  }

  /** Scores the stream that comes in once more: the line has moved. */
  async rescore(): Promise<void> {
    const [stream, turn] = [this.stream, this.turn];
    if (!stream || this.phase !== 'arriving') return;
    const scores = await this.learner.score(stream.rows);
    if (turn !== this.turn || stream !== this.stream || this.phase !== 'arriving') return;
    this.scores = scores;
    this.watcher.began(stream, scores);
    this.watcher.came(stream, scores, this.shown);
  }

  /** Ten rows more, or what comes after the last one. */
  step(): void {
    this.play(false);
    if (this.working) return;
    if (this.phase === 'arriving' && this.shown < this.stream!.count) this.reveal(this.shown + STEP_ROWS);
    else if (this.phase === 'arriving') void this.learn();
    else void this.begin();
  }

  /** Streams that are still to be played at once. */
  get hurry(): number {
    return Math.max(0, this.hurryTo - this.learnt);
  }

  private advance(passed: number): void {
    if (this.hurry) {
      if (this.phase === 'resting') return void this.begin();
      this.reveal(this.stream!.count);
      return void this.learn();
    }
    if (this.phase === 'resting') {
      this.rested += passed * this.speed;
      if (this.rested >= REST) void this.begin();
    } else if (this.phase === 'arriving') {
      const rate = this.learner.state?.clusters.length ? ROWS_PER_SECOND : FIRST_ROWS_PER_SECOND;
      this.exact += (passed / 1000) * rate * this.speed;
      this.reveal(Math.floor(this.exact));
      if (this.shown >= this.stream!.count) void this.learn();
    }
  }

  private reveal(count: number): void {
    const next = Math.min(count, this.stream!.count);
    if (next === this.shown) return;
    this.shown = next;
    this.exact = Math.max(this.exact, next);
    this.watcher.came(this.stream!, this.scores!, this.shown);
  }

  private async work(task: (still: () => boolean) => Promise<void>): Promise<void> {
    const turn = this.turn;
    this.working = true;
    try {
      await task(() => turn === this.turn);
    } catch (error) {
      if (turn === this.turn) {
        this.phase = 'resting'; // a stream that was refused is over
        this.play(false);
        this.watcher.failed(error);
      }
    } finally {
      if (turn === this.turn) this.working = false;
    }
  }

  private begin(): Promise<void> {
    return this.work(async (still) => {
      if (!this.source || this.source.finished) {
        this.phase = 'finished';
        this.hurryTo = 0;
        this.play(false);
        return this.watcher.ended();
      }
      if (this.hurry) await this.watcher.hurries(this.learnt);
      if (!still()) return;
      const stream = await this.source.next();
      if (!still()) return;
      const scores = await this.learner.score(stream.rows);
      if (!still()) return;
      [this.stream, this.scores, this.shown, this.exact, this.phase] = [stream, scores, 0, 0, 'arriving'];
      this.watcher.began(stream, scores);
      this.watcher.changed();
    });
  }

  private learn(): Promise<void> {
    return this.work(async (still) => {
      this.phase = 'learning';
      const [stream, scores] = [this.stream!, this.scores!];
      this.watcher.learning(stream);
      this.watcher.changed();
      const result = await this.learner.learn(stream.rows);
      if (!still()) return;
      this.phase = 'resting';
      const hurried = this.hurry === 1;
      ++this.learnt;
      this.rested = result.report.births ? 0 : REST / 2;
      this.watcher.learnt(stream, scores, result);
      if (hurried) {
        await this.watcher.hurries(this.learnt);
        if (!still()) return;
        this.playing = false;
      }
      this.watcher.changed();
    });
  }
}
