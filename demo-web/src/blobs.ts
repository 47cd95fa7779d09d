/** Points of a plane: three blobs that drift, and later one that was never there. */
import { randomNumbers, shuffle } from './random';
import { arrange, type Stream } from './scenario';

const STREAMS = 8;
const NEW_AT = 5; // the stream in which the fourth blob comes, counted from 0
const FIRST_ROWS = 100; // of each
const ROWS = 60; // of each later on
const NEW_ROWS = 70;

interface Blob {
  x: number;
  y: number;
  /** Where it goes in a stream. */
  dx: number;
  dy: number;
  wide: number;
}

export class Blobs {
  private readonly random: () => number;
  private readonly blobs: Blob[];
  private made = 0;

  constructor(seed: number) {
    this.random = randomNumbers(2246822519 * (seed + 1));
    const turn = 2 * Math.PI * this.random();
    // The first three stand around the middle and drift around it; the fourth stays in the middle.
    const around = [0, 1, 2].map((i) => {
      const angle = turn + (2 * Math.PI * i) / 3;
      const [x, y] = [Math.cos(angle), Math.sin(angle)];
      const pace = 0.1 + 0.06 * this.random();
      return { x: 3 * x, y: 3 * y, dx: -3 * pace * y, dy: 3 * pace * x, wide: 0.4 + 0.2 * this.random() };
    });
    this.blobs = [...around, { x: 0, y: 0, dx: 0, dy: 0, wide: 0.35 }];
  }

  get finished(): boolean {
    return this.made >= STREAMS;
  }

  private normal(): number {
    return Math.sqrt(-2 * Math.log(1 - this.random())) * Math.cos(2 * Math.PI * this.random());
  }

  next(): Stream {
    const number = this.made++;
    const repeat = (blob: number, count: number): number[] => Array<number>(count).fill(blob);
    const old = [0, 1, 2, ...(number > NEW_AT ? [3] : [])].flatMap((blob) => repeat(blob, number === 0 ? FIRST_ROWS : ROWS));
    const order = number === NEW_AT ? arrange(old, repeat(3, NEW_ROWS), this.random) : shuffle(old, this.random);
    const rows = new Float32Array(order.length * 2);
    order.forEach((blob, at) => {
      const { x, y, dx, dy, wide } = this.blobs[blob]!;
      const now = number + at / order.length; // they drift within a stream as well
      rows[2 * at] = x + dx * now + wide * this.normal();
      rows[2 * at + 1] = y + dy * now + wide * this.normal();
    });
    const title = number === 0 ? 'three blobs' : number < NEW_AT ? 'the blobs have moved' : number === NEW_AT ? 'then also a fourth blob' : 'four blobs';
    return {
      title: `Stream ${number + 1}: ${title}`,
      rows,
      count: order.length,
      labels: order.map((blob) => `blob ${blob + 1}`),
      unseen: order.map((blob) => number === 0 || (number === NEW_AT && blob === 3)),
    };
  }
}
