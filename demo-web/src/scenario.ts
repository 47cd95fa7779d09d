/** What the page plays: streams of digits, each after the first with a kind that was never there before. */
import type { Options } from 'adapvae';
import { PIXELS, type Digits } from './digits';
import { randomNumbers, shuffle } from './random';

export interface Stream {
  title: string;
  rows: Float32Array<ArrayBuffer>;
  count: number;
  /** What a person would call each row. For the reader of the page: the model never gets them. */
  labels: string[];
  /** The row belongs to a kind that no stream before had. */
  unseen: boolean[];
}

/** One in twenty ordinary rows may be called novel: with few rows learnt, one in a hundred lets too much of the new pass. */
export const digitsOptions = (seed: number): Options => ({ preset: 'browser', false_alarm_rate: 0.05, seed });
const STREAM_SEED = 7;

const KINDS = [0, 1, 3, 4, 6, 7, 2, 9, 5, 8];
const FIRST_KINDS = 2;
const FIRST_ROWS = 240; // of each
const NEW_ROWS = 100;
const KNOWN_ROWS = 240; // of all kinds together, in each later stream
const LEAST_KNOWN = 40; // of each

export const STREAMS = KINDS.length - FIRST_KINDS + 1;

/** The known come alone for a while, so that one sees where the new kind comes in. */
export function arrange<T>(known: T[], fresh: T[], random: () => number): T[] {
  const old = shuffle(known, random);
  const alone = old.splice(0, Math.floor(old.length * 0.4));
  return [...alone, ...shuffle([...old, ...fresh], random)];
}

export class Scenario {
  private readonly used: number[];
  private readonly random: () => number;
  private made = 0;

  constructor(private readonly digits: Digits) {
    this.random = randomNumbers(STREAM_SEED);
    this.used = Array.from({ length: digits.kinds }, () => 0);
  }

  get finished(): boolean {
    return this.made >= STREAMS;
  }

  next(): Stream {
    const number = this.made++;
    const known = number === 0 ? [] : KINDS.slice(0, FIRST_KINDS + number - 1);
    const fresh = number === 0 ? KINDS.slice(0, FIRST_KINDS) : [KINDS[FIRST_KINDS + number - 1]!];
    const each = known.length ? Math.max(LEAST_KNOWN, Math.floor(KNOWN_ROWS / (known.length + 1))) : 0;
    const old = known.flatMap((kind) => Array<number>(each).fill(kind));
    const young = fresh.flatMap((kind) => Array<number>(number === 0 ? FIRST_ROWS : NEW_ROWS).fill(kind));
    const order = arrange(old, young, this.random);
    const rows = new Float32Array(order.length * PIXELS);
    order.forEach((kind, at) => this.digits.copy(kind, this.used[kind]!++, rows, at));
    return {
      title: number === 0 ? `Stream 1: ${fresh.join(' and ')}` : `Stream ${number + 1}: ${known.join(' ')}, then also ${fresh[0]}`,
      rows,
      count: order.length,
      labels: order.map(String),
      unseen: order.map((kind) => fresh.includes(kind)),
    };
  }
}

/** All streams, in their order. */
export function* streamsOf(digits: Digits): Generator<Stream> {
  const scenario = new Scenario(digits);
  while (!scenario.finished) yield scenario.next();
}
