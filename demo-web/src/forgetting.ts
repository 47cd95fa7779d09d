/** Kinds that come and then never come again: what is left of them in a model? */
import { PIXELS, type Digits } from './digits';
import { knownBy, statisticsBytes, type Known, type Taught } from './known';
import { randomNumbers, shuffle } from './random';

/** The kinds of each stream. */
export const COURSE = [
  [0, 1],
  [3, 4],
  [6, 7],
  [2, 9],
  [5, 8],
] as const;
const EACH_ROWS = 150;
/** The last rows of every kind, which no stream of the course has. */
export const HELD_OUT = 100;
const SHUFFLE_SEED = 7;

export class Course {
  private readonly random = randomNumbers(SHUFFLE_SEED);
  constructor(private readonly digits: Digits) {}

  private rows(chosen: { kind: number; index: number }[]): Float32Array<ArrayBuffer> {
    const rows = new Float32Array(chosen.length * PIXELS);
    chosen.forEach(({ kind, index }, at) => this.digits.copy(kind, index, rows, at));
    return rows;
  }
  /** Streams must be asked for in their order. */
  stream(kinds: readonly number[]): Float32Array<ArrayBuffer> {
    return this.rows(shuffle(kinds.flatMap((kind) => Array.from({ length: EACH_ROWS }, (_, index) => ({ kind, index }))), this.random));
  }
  heldOut(kind: number): Float32Array<ArrayBuffer> {
    return this.rows(Array.from({ length: HELD_OUT }, (_, i) => ({ kind, index: this.digits.each - 1 - i })));
  }
}

export interface Step {
  /** Part of the held-out rows of the first stream's kinds, and of all kinds met so far, that are still recognised. */
  first: number;
  all: number;
  clusters: Known[];
  rowsStored: number;
  statistics: number;
}

/** One model that follows the course. */
export class Pupil {
  readonly steps: Step[] = [];
  /** The kind that a cluster stood for when it was born: that of most held-out rows which it then took. Labels only score. */
  private readonly stoodFor = new Map<number, number>();

  constructor(
    readonly model: Taught,
    private readonly course: Course,
  ) {}

  async learn(rows: Float32Array): Promise<void> {
    await this.model.learn(rows);
    const number = this.steps.length;
    const met = COURSE.slice(0, number + 1).flat();
    const given = new Map<number, Uint32Array>();
    for (const kind of met) given.set(kind, (await this.model.score(this.course.heldOut(kind))).id);
    this.meet(COURSE[number]!, given);
    const recognised = (kinds: readonly number[]): number => {
      let count = 0;
      for (const kind of kinds) for (const id of given.get(kind)!) if (this.stoodFor.get(id) === kind) ++count;
      return count / (kinds.length * HELD_OUT);
    };
    const { clusters, info } = await knownBy(this.model);
    this.steps.push({
      first: recognised(COURSE[0]),
      all: recognised(met),
      clusters,
      rowsStored: info.rowsWaiting,
      statistics: statisticsBytes(await this.model.save()),
    });
  }

  /** What clusters stand for that take rows of these kinds and have not stood for anything yet. */
  private meet(kinds: readonly number[], given: Map<number, Uint32Array>): void {
    const counts = new Map<number, Map<number, number>>();
    for (const kind of kinds)
      for (const id of given.get(kind)!) {
        const of = counts.get(id) ?? new Map<number, number>();
        counts.set(id, of.set(kind, (of.get(kind) ?? 0) + 1));
      }
    for (const [id, of] of counts) if (!this.stoodFor.has(id)) this.stoodFor.set(id, [...of].sort(([, a], [, b]) => b - a)[0]![0]);
  }
}
