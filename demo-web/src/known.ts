/** What a model knows, with the picture of each cluster. Of a model in a worker or of one in this thread. */
import type { AdapVAE, Cluster, Info, Moments } from 'adapvae';

export interface Known extends Cluster {
  moments: Moments;
  prototype: Float32Array;
}

type Method<Name extends 'clusters' | 'info' | 'moments' | 'interpolate' | 'learn' | 'score' | 'save'> = AdapVAE[Name] extends (...args: infer Args) => infer Result
  ? (...args: Args) => Result | Promise<Result>
  : never;
export interface Asked {
  clusters: Method<'clusters'>;
  info: Method<'info'>;
  moments: Method<'moments'>;
  interpolate: Method<'interpolate'>;
}
export interface Taught extends Asked {
  learn: Method<'learn'>;
  score: Method<'score'>;
  save: Method<'save'>;
}

const MOST_SHOWN = 200; // clusters that a page can show
const MOST_BYTES = 1 << 26; // of their moments and pictures: a file may claim any number of clusters, features and inputs

export interface Knowledge {
  /** Those that the page shows, by id: all, or the largest if there are many. */
  clusters: Known[];
  /** Ids of all. */
  alive: ReadonlySet<number>;
  components: number;
  /** Rows that all of them hold. */
  mass: number;
  info: Info;
}

/** The number of clusters that the page shows, given the bytes that it keeps of each. */
export const mostShown = ({ latent, inputs }: { latent: number; inputs: number }): number =>
  Math.max(1, Math.min(MOST_SHOWN, Math.floor(MOST_BYTES / (8 * latent * latent + 4 * inputs))));

export async function knownBy(model: Asked): Promise<Knowledge> {
  const [all, info] = await Promise.all([model.clusters(), model.info()]);
  const most = mostShown(info);
  const clusters = all.length > most ? [...all].sort((a, b) => b.rows - a.rows || a.id - b.id).slice(0, most) : all;
  const moments = await Promise.all(clusters.map(({ id }) => model.moments(id)));
  const prototypes = await Promise.all(clusters.map(({ id }) => model.interpolate(id, id, 1)));
  return {
    info,
    alive: new Set(all.map(({ id }) => id)),
    components: all.reduce((sum, { components }) => sum + components, 0),
    mass: all.reduce((sum, { rows }) => sum + rows, 0),
    clusters: clusters
      .map((cluster, i) => ({ ...cluster, moments: moments[i]!, prototype: prototypes[i]!.rows }))
      .sort((a, b) => a.id - b.id),
  };
}

/** Bytes of a model's file that hold what it knows of past rows, beside the network's weights. */
export function statisticsBytes(file: Uint8Array): number {
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
  const header = JSON.parse(new TextDecoder().decode(file.subarray(8, 8 + length))) as Record<string, { data_offsets: [number, number] }>;
  const [from, to] = header['clusters.state']!.data_offsets;
  return to - from;
}
