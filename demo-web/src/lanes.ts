/** The lives of clusters as lanes, over streams of which a file may claim billions. */
import type { ModelEvent, State } from './learner';

const LEAST_STEP = 40; // pixels of a stream …
const MOST_WIDTH = 6000; // … unless all would take more than this
const MOST_LANES = 200;
const DIGIT = 8; // pixels

export interface Lane {
  id: number;
  from: number;
  to: number | null;
  into: number;
}

/** The lane of an event: that of the cluster which begins or ends by it. */
export const laneOf = ({ type, id, other }: ModelEvent): number => (type === 'born' || type === 'forgotten' ? id : other);

/** By id; of many those that live, and of those that have ended the last ones. */
export function lanesOf({ clusters, alive, events }: Pick<State, 'clusters' | 'alive' | 'events'>): Map<number, Lane> {
  const lanes = new Map<number, Lane>();
  for (const { id, bornStream } of clusters) lanes.set(id, { id, from: bornStream, to: null, into: 0 });
  for (const event of events) {
    const { type, id, stream } = event;
    const lane = laneOf(event);
    if (alive.has(lane)) continue; // it is there, is too small to be shown, or its end was undone
    if (type === 'born' && !lanes.has(id)) lanes.set(id, { id, from: stream, to: stream, into: 0 });
    const ends = type === 'merged' || type === 'retired' || type === 'forgotten';
    if (ends) lanes.set(lane, { id: lane, from: lanes.get(lane)?.from ?? stream, to: stream, into: lane === id ? 0 : id });
  }
  const ended = [...lanes.values()].filter(({ to }) => to !== null).sort((a, b) => a.to! - b.to!);
  for (const { id } of ended.slice(0, Math.max(0, lanes.size - MOST_LANES))) lanes.delete(id);
  return new Map([...lanes].sort(([a], [b]) => a - b));
}

/** Pixels of a stream, where there are `room` of them for all. */
export const stepOf = (streams: number, room: number): number => Math.min(Math.max(LEAST_STEP, Math.min(90, room / streams)), MOST_WIDTH / streams);

/** The streams whose numbers stand below the lanes: as many as have room, `step` pixels a stream. */
export function ticksOf(streams: number, step: number): number[] {
  const room = Math.max(LEAST_STEP, DIGIT * (String(streams).length + 1));
  const least = Math.ceil(room / step);
  const power = 10 ** Math.floor(Math.log10(least));
  const stride = power * [1, 2, 5, 10].find((times) => times * power >= least)!;
  const count = Math.floor(streams / stride);
  return stride === 1 ? Array.from({ length: count }, (_, i) => i + 1) : [1, ...Array.from({ length: count }, (_, i) => (i + 1) * stride)];
}
