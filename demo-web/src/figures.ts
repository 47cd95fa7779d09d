/** How well a model knows the digits' streams once all have played: every row of them scored anew, beside its label. Labels only score. */
import { nmi } from './nmi';
import type { Stream } from './scenario';

export interface Figures {
  rows: number;
  nmi: number;
  /** Clusters that took at least one row. */
  clusters: number;
}

export async function figuresOf(
  streams: Iterable<Stream>,
  score: (rows: Float32Array<ArrayBuffer>) => ArrayLike<number> | Promise<ArrayLike<number>>,
): Promise<Figures> {
  const [labels, ids]: [string[], number[]] = [[], []];
  for (const stream of streams) {
    ids.push(...Array.from(await score(stream.rows)));
    labels.push(...stream.labels);
  }
  return { rows: labels.length, nmi: nmi(labels, ids), clusters: new Set(ids).size };
}
