/** What a model knows, with the picture of each cluster. Of a model in a worker or of one in this thread. */
import type { AdapVAE, Cluster, Info, Moments } from 'adapvae';

export interface Known extends Cluster {
  moments: Moments;
  prototype: Float32Array;
}

type Method<Name extends 'clusters' | 'info' | 'moments' | 'decode' | 'learn' | 'score' | 'save'> = AdapVAE[Name] extends (...args: infer Args) => infer Result
  ? (...args: Args) => Result | Promise<Result>
  : never;
export interface Asked {
  clusters: Method<'clusters'>;
  info: Method<'info'>;
  moments: Method<'moments'>;
  decode: Method<'decode'>;
}
export interface Taught extends Asked {
  learn: Method<'learn'>;
  score: Method<'score'>;
  save: Method<'save'>;
}

export async function knownBy(model: Asked): Promise<{ clusters: Known[]; info: Info }> {
  const [clusters, info] = await Promise.all([model.clusters(), model.info()]);
  const moments = await Promise.all(clusters.map(({ id }) => model.moments(id)));
  const means = new Float32Array(clusters.length * info.latent);
  moments.forEach(({ mean }, i) => means.set(mean, i * info.latent));
  const rows = clusters.length ? await model.decode(means) : new Float32Array();
  return {
    info,
    clusters: clusters
      .map((cluster, i) => ({ ...cluster, moments: moments[i]!, prototype: rows.slice(i * info.inputs, (i + 1) * info.inputs) }))
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
