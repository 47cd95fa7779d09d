/** What happened to clusters, in words for people, from the numbers of an event. */
import { grouped } from './dom';
import type { ModelEvent } from './learner';

/** Events that change what clusters there are. */
export const CHANGES: ReadonlySet<string> = new Set(['born', 'merged', 'retired', 'split', 'forgotten']);

const rowsOf = (count: number): string => (Math.round(count) === 1 ? '1 row' : `${grouped(count)} rows`);

/** How the evidence bound changes: “evidence +697”. */
function evidence(gain: number): string {
  const size = Math.abs(gain);
  const digits = size < 10 ? size.toFixed(1) : grouped(size);
  return `evidence ${gain < 0 ? '−' : '+'}${digits}`;
}

/** The event in a few words, to stand over its reason. */
export function titleOf({ type, id, other }: ModelEvent): string {
  switch (type) {
    case 'born':
      return `Cluster ${id} is born`;
    case 'merged':
      return `Cluster ${other} goes into cluster ${id}`;
    case 'retired':
      return `Cluster ${other} ends in cluster ${id}`;
    case 'split':
      return `Cluster ${other} is split off cluster ${id}`;
    case 'forgotten':
      return `Cluster ${id} is forgotten`;
    case 'not_born':
      return `No birth out of cluster ${id}`;
    default:
      return '';
  }
}

/** Why, as sentences. */
export function reasonOf({ type, reason, id, other, rows, gain }: ModelEvent): string {
  switch (type) {
    case 'born':
      return other
        ? `${rowsOf(rows)} of this stream, nearest to cluster ${other} until now, fit a cluster of their own better (${evidence(gain)}).`
        : `${rowsOf(rows)} of this stream fit a cluster of their own better (${evidence(gain)}).`;
    case 'merged':
      return gain < 0
        ? `You asked for it; two clusters explained the rows better (${evidence(gain)}).`
        : `The rows of both are explained better by one cluster than by two (${evidence(gain)}).`;
    case 'retired':
      return `${rowsOf(rows)} are too few for a cluster of their own.`;
    case 'split':
      return `You asked for it (${evidence(gain)}).`;
    case 'forgotten':
      return `You asked for it; what ${rowsOf(rows)} had taught is gone.`;
    case 'not_born':
      switch (reason) {
        case 'rows':
          return `Only ${rowsOf(rows)} of this stream belong to cluster ${id}: too few for a new cluster.`;
        case 'room':
          return 'There is no room for more clusters.';
        case 'one':
          return `Nothing in cluster ${id} stands apart.`;
        default:
          return `One cluster more, out of cluster ${id}, would not explain the rows better (${evidence(gain)}).`;
      }
    default:
      return '';
  }
}

/** Title and reason in one, for readers of screens. */
export const told = (event: ModelEvent): string => `${titleOf(event)}. ${reasonOf(event)}`;

/** The clusters that an event is about: those to look at before and after it. */
export function concerned({ type, id, other }: ModelEvent): number[] {
  const both = type === 'born' ? [other, id] : type === 'forgotten' ? [id] : [id, other];
  return both.filter((each) => each > 0);
}
