/** What happened with the page's streams, stream by stream, and how well clusters match what a person would call the rows. */
import type { Scores } from 'adapvae';
import type { Learnt, Learner } from './learner';
import { nmi } from './nmi';
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

/** Of all rows of the first streams of a source, which are made again: nobody keeps them. Null if they have no labels. */
export async function scoreStreams(
  learner: Learner,
  source: Source,
  streams: number,
): Promise<{ byCluster: number; byComponent: number } | null> {
  const labels: string[] = [];
  const ids: number[] = [];
  const components: number[] = [];
  for (let i = 0; i < streams && !source.finished; ++i) {
    const stream = await source.next();
    const scores = await learner.score(stream.rows);
    labels.push(...stream.labels);
    ids.push(...scores.id);
    components.push(...scores.component);
  }
  if (new Set(labels).size < 2) return null;
  return { byCluster: nmi(labels, ids), byComponent: nmi(labels, components) };
}
