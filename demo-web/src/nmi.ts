/** Agreement of clusters with labels: mutual information over the mean of both entropies, 1 if they are the same but for names. */
export function nmi(labels: ArrayLike<number | string>, ids: ArrayLike<number>): number {
  const total = labels.length;
  if (total === 0 || ids.length !== total) throw new Error('a label for every row is needed');
  const [byLabel, byId, byBoth] = [new Map<string, number>(), new Map<string, number>(), new Map<string, number>()];
  const count = (counts: Map<string, number>, key: string): Map<string, number> => counts.set(key, (counts.get(key) ?? 0) + 1);
  for (let i = 0; i < total; ++i) {
    count(byLabel, String(labels[i]));
    count(byId, String(ids[i]));
    count(byBoth, `${labels[i]} ${ids[i]}`);
  }
  const entropy = (counts: Map<string, number>): number => {
    let sum = 0;
    for (const rows of counts.values()) sum -= (rows / total) * Math.log(rows / total);
    return sum;
  };
  const [hLabel, hId] = [entropy(byLabel), entropy(byId)];
  const mean = (hLabel + hId) / 2;
  return mean > 0 ? (hLabel + hId - entropy(byBoth)) / mean : 1;
}
