/** A bearing on a machine, simulated: what a sensor on its housing would hear, as spectra, healthy first and then with one fault after another. */
import { randomNumbers } from './random';
import { arrange, type Stream } from './scenario';

const SAMPLES = 1024; // of a window
const RATE = 12_000; // samples a second
export const BANDS = 64;
const [QUIET, LOUD] = [-62, -2]; // decibels that become 0 and 1

/** Balls, and the ball's diameter beside that of its circle: they decide how often a fault is rolled over in a turn of the shaft. */
const [BALLS, RATIO] = [9, 0.2];
const CAGE = (1 - RATIO) / 2;
const OUTER = BALLS * CAGE;
const INNER = (BALLS * (1 + RATIO)) / 2;
const BALL = (1 - RATIO * RATIO) / RATIO; // both races, in a turn of the ball

interface Fault {
  title: string;
  /** Knocks in a turn of the shaft. */
  rate: number;
  strength: number;
  /** Knocks are louder and softer so many times in a turn, as the fault goes in and out of the load. */
  swing: number;
  depth: number;
  /** How well each of MODES is rung from there. */
  rings: [number, number, number];
}
/** Resonances of the housing: frequency in Hz, seconds to ring down. */
const MODES: [number, number][] = [
  [1500, 0.0016],
  [2900, 0.001],
  [4300, 0.0007],
];
const FAULTS: Fault[] = [
  { title: 'a fault of the outer ring', rate: OUTER, strength: 0.9, swing: 0, depth: 0, rings: [0.15, 1, 0.2] },
  { title: 'a fault of the inner ring', rate: INNER, strength: 0.8, swing: 1, depth: 0.8, rings: [0.1, 0.25, 1] },
  { title: 'a fault of a ball', rate: BALL, strength: 0.8, swing: CAGE, depth: 0.6, rings: [1, 0.1, 0.35] },
];
const HARMONICS = [0.5, 0.22, 0.12, 0.07, 0.04];

/** Adds amplitude · keep^i · sin(turn · i + phase) from sample `first` to `last`, by turning a pointer, which costs less than a sine a sample. */
function addTone(signal: Float64Array, first: number, last: number, amplitude: number, turn: number, phase: number, keep: number): void {
  const [turnX, turnY] = [keep * Math.cos(turn), keep * Math.sin(turn)];
  let x = amplitude * Math.cos(phase);
  let y = amplitude * Math.sin(phase);
  for (let i = first; i < last; ++i) {
    signal[i]! += y;
    const before = x;
    x = before * turnX - y * turnY;
    y = before * turnY + y * turnX;
  }
}

/** A knock at a time (seconds, maybe before the window) that rings a resonance down. */
function addKnock(signal: Float64Array, at: number, amplitude: number, [frequency, decay]: [number, number]): void {
  const first = Math.max(0, Math.ceil(at * RATE));
  const last = Math.min(signal.length, Math.ceil((at + 7 * decay) * RATE));
  const late = first / RATE - at;
  const turn = 2 * Math.PI * frequency;
  addTone(signal, first, last, amplitude * Math.exp(-late / decay), turn / RATE, turn * late, Math.exp(-1 / (RATE * decay)));
}

/** One window as the sensor gets it. */
function listen(fault: Fault | null, random: () => number): Float64Array {
  const signal = new Float64Array(SAMPLES);
  const around = (value: number, part: number): number => value * (1 + part * (2 * random() - 1));
  const turns = around(29.5, 0.02); // a second
  const load = around(1, 0.15);
  HARMONICS.forEach((amplitude, i) => {
    addTone(signal, 0, SAMPLES, around(amplitude * load, 0.2), (2 * Math.PI * turns * (i + 1)) / RATE, 2 * Math.PI * random(), 1);
  });
  let slow = 0;
  for (let i = 0; i < SAMPLES; ++i) {
    const noise = random() + random() + random() + random() - 2;
    slow += 0.2 * (noise - slow);
    signal[i]! += 0.05 * noise + 0.12 * load * slow; // the sensor's own, and that of what flows and rubs
  }
  if (fault) {
    const gap = 1 / (turns * fault.rate);
    const swing = 2 * Math.PI * random();
    const strength = around(fault.strength * load, 0.25);
    for (let t = -gap * (1 + random()); t < SAMPLES / RATE; t += gap) {
      const at = t + 0.01 * gap * (2 * random() - 1); // balls slip a little
      const height = strength * (1 + fault.depth * Math.cos(2 * Math.PI * turns * fault.swing * at + swing));
      MODES.forEach((mode, i) => addKnock(signal, at, height * fault.rings[i]!, mode));
    }
  }
  return signal;
}

const HANN = Float64Array.from({ length: SAMPLES }, (_, i) => 0.5 - 0.5 * Math.cos((2 * Math.PI * i) / SAMPLES));
const COSINE = Float64Array.from({ length: SAMPLES / 2 }, (_, i) => Math.cos((2 * Math.PI * i) / SAMPLES));
const SINE = Float64Array.from({ length: SAMPLES / 2 }, (_, i) => -Math.sin((2 * Math.PI * i) / SAMPLES));

/** Fast Fourier transform of SAMPLES numbers in place. */
function transform(real: Float64Array, imaginary: Float64Array): void {
  for (let i = 1, j = 0; i < SAMPLES; ++i) {
    let bit = SAMPLES >> 1;
    for (; j & bit; bit >>= 1) j ^= bit;
    j ^= bit;
    if (i >= j) continue;
    const kept = real[i]!; // the imaginary part is still 0
    real[i] = real[j]!;
    real[j] = kept;
  }
  for (let half = 1; half < SAMPLES; half *= 2) {
    for (let k = 0; k < half; ++k) {
      const x = COSINE[(k * SAMPLES) / (2 * half)]!;
      const y = SINE[(k * SAMPLES) / (2 * half)]!;
      for (let i = k; i < SAMPLES; i += 2 * half) {
        const j = i + half;
        const a = real[j]! * x - imaginary[j]! * y;
        const b = real[j]! * y + imaginary[j]! * x;
        real[j] = real[i]! - a;
        imaginary[j] = imaginary[i]! - b;
        real[i]! += a;
        imaginary[i]! += b;
      }
    }
  }
}

/** Loudness in bands of equal width from 0 to half the rate, as numbers in [0, 1]. */
function spectrum(signal: Float64Array, row: Float32Array): void {
  const real = signal.map((value, i) => value * HANN[i]!);
  const imaginary = new Float64Array(SAMPLES);
  transform(real, imaginary);
  const wide = SAMPLES / 2 / BANDS;
  for (let band = 0; band < BANDS; ++band) {
    let power = 0;
    for (let i = band * wide; i < (band + 1) * wide; ++i) power += (real[i]! * real[i]! + imaginary[i]! * imaginary[i]!) / wide;
    const decibels = 10 * Math.log10((16 * power) / (SAMPLES * SAMPLES) + 1e-12);
    row[band] = Math.max(0, Math.min(1, (decibels - QUIET) / (LOUD - QUIET)));
  }
}

const FIRST_ROWS = 240;
const HEALTHY_ROWS = 160;
const OLD_FAULT_ROWS = 30; // of each fault that came before
const NEW_ROWS = 70;
const SLICE = 8; // milliseconds of making rows at a time

export class Vibration {
  private readonly random: () => number;
  private made = 0;

  constructor(seed: number) {
    this.random = randomNumbers(2654435761 * (seed + 1));
  }

  /** Healthy, healthy again, then a fault at a time. */
  get finished(): boolean {
    return this.made >= FAULTS.length + 2;
  }

  async next(): Promise<Stream> {
    const number = this.made++;
    const fresh = FAULTS[number - 2] ?? null;
    const old = FAULTS.slice(0, Math.max(0, number - 2));
    const repeat = (fault: Fault | null, count: number): (Fault | null)[] => Array<Fault | null>(count).fill(fault);
    const order = arrange(
      [...repeat(null, number === 0 ? FIRST_ROWS : HEALTHY_ROWS), ...old.flatMap((fault) => repeat(fault, OLD_FAULT_ROWS))],
      fresh ? repeat(fresh, NEW_ROWS) : [],
      this.random,
    );
    const rows = new Float32Array(order.length * BANDS);
    let since = performance.now();
    for (const [at, fault] of order.entries()) {
      spectrum(listen(fault, this.random), rows.subarray(at * BANDS, (at + 1) * BANDS));
      if (performance.now() - since < SLICE) continue;
      await new Promise((resolve) => setTimeout(resolve)); // the page stays alive
      since = performance.now();
    }
    return {
      title: `Stream ${number + 1}: ` + (fresh ? `healthy${old.length ? ', the faults of before' : ''}, then also ${fresh.title}` : number ? 'healthy, as before' : 'a healthy bearing'),
      rows,
      count: order.length,
      labels: order.map((fault) => fault?.title ?? 'healthy'),
      unseen: order.map((fault) => (number === 0 ? true : fault !== null && fault === fresh)),
    };
  }
}
