/** What happened with the page's streams, stream by stream, and how well clusters match what a person would call the rows. */
import type { Scores } from 'adapvae';
import type { Learnt, Learner } from './learner';
import type { Source } from './player';
import type { Stream } from './scenario';

export interface Played {
  title: string;
  rows: number;
  /** Above the line when they came. */
  novel: number;
  unseen: number;
  unseenNovel: number;
  births: number;
  clusters: number;
  milliseconds: number;
  sensitivity: number;
}

export class History {
  played: Played[] = [];

  clear(): void {
    this.played = [];
  }

  learnt(stream: Stream, scores: Scores, { report, milliseconds }: Learnt, sensitivity: number): void {
    const novel = Array.from(scores.novelty, (value) => value > 0.5);
    this.played.push({
      title: stream.title,
      rows: stream.count,
      novel: novel.filter(Boolean).length,
      unseen: stream.unseen.filter(Boolean).length,
      unseenNovel: novel.filter((is, i) => is && stream.unseen[i]).length,
      births: report.births,
      clusters: report.clusters,
      milliseconds,
      sensitivity,
    });
  }
}

/** Mutual information over the arithmetic mean of the entropies, as the library's own. */
export function mutualInformation(labels: readonly string[], ids: ArrayLike<number>): number {
  const count = (keys: string[]): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
    return counts;
  };
  const entropy = (counts: Map<string, number>): number =>
    [...counts.values()].reduce((sum, n) => sum - (n / labels.length) * Math.log(n / labels.length), 0);
  const of = entropy(count([...labels]));
  const clusters = Array.from(ids, String);
  const found = entropy(count(clusters));
  const both = entropy(count(labels.map((label, i) => `${clusters[i]} ${label}`)));
  return of + found === 0 ? 1 : (2 * (of + found - both)) / (of + found);
}

/** Of all rows of the first streams of a source, which are made again: nobody keeps them. Null if they have no labels. */
export async function scoreStreams(
  learner: Learner,
  source: Source,
  streams: number,
): Promise<{ byCluster: number; byKind: number } | null> {
  const labels: string[] = [];
  const ids: number[] = [];
  const kinds: number[] = [];
  for (let i = 0; i < streams && !source.finished; ++i) {
    const stream = source.next();
    const scores = await learner.score(stream.rows);
    labels.push(...stream.labels);
    ids.push(...scores.id);
    kinds.push(...scores.kind);
  }
  if (new Set(labels).size < 2) return null;
  return { byCluster: mutualInformation(labels, ids), byKind: mutualInformation(labels, kinds) };
}
