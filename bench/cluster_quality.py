"""How well clusters are found, on made-up mixtures and on real vectors. Labels only score.

usage: cluster_quality.py --build DIRECTORY [--data DIRECTORY] [NAME...]

Names: known limits (need no data); umap moco bearings rare (need --data, a folder that holds
mnist-umap10, imagenet50-moco and cwru as gzipped IDX files). Every figure is printed with the protocol
that it belongs to; several are means over seeds. Needs scikit-learn for the scores and for k-means.
"""
import argparse
import gzip
import os
import re
import subprocess
import tempfile

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.neighbors import KNeighborsClassifier

SEEDS = range(5)


def read_idx(path):
    with gzip.open(path) as file:
        data = file.read()
    kinds = {8: ">u1", 13: ">f4"}
    shape = [int.from_bytes(data[4 + 4 * i:8 + 4 * i], "big") for i in range(data[3])]
    return np.frombuffer(data, kinds[data[2]], offset=4 + 4 * data[3]).reshape(shape)


def accuracy(labels, found):
    _, found = np.unique(found, return_inverse=True)
    table = np.zeros((found.max() + 1, labels.max() + 1))
    np.add.at(table, (found, labels), 1)
    rows, columns = linear_sum_assignment(-table)
    return table[rows, columns].sum() / len(labels)


class Run:
    """One run of cluster_streams: births by stream, and per row what it said before and after."""

    def __init__(self, build, rows, blocks=None, **options):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "rows.f32")
            out = os.path.join(folder, "out.csv")
            np.asarray(rows, dtype="<f4").tofile(path)
            words = [f"{name}={value}" for name, value in options.items()]
            if blocks is not None:
                np.savetxt(os.path.join(folder, "blocks"), blocks, fmt="%d")
                words.append("blocks=" + os.path.join(folder, "blocks"))
            text = subprocess.run(
                [os.path.join(build, "bench", "cluster_streams"), path, str(rows.shape[1]), out]
                + words, check=True, stdout=subprocess.PIPE, text=True).stdout
            table = np.loadtxt(out, delimiter=",")
        self.novelty = table[:, 1]
        self.found = table[:, 3].astype(int)
        self.born = {int(m[2]): int(m[1]) for m in re.finditer(r"stream (\d+): born (\d+)", text)}
        self.seconds = float(re.search(r"([0-9.]+) s,", text)[1])
        self.clusters = int(re.search(r"^K (\d+)", text, re.M)[1])


def line(name, values):
    values = np.array(values)
    mean, spread = values.mean(0), values.std(0)
    print(f"{name:54}", "  ".join(f"{m:.4g} ± {s:.2g}" for m, s in zip(mean, spread)), flush=True)


def scores(labels, run):
    return (normalized_mutual_info_score(labels, run.found),
            adjusted_rand_score(labels, run.found), accuracy(labels, run.found), run.clusters,
            run.seconds)


# ---- made-up mixtures ---------------------------------------------------------------------------


def mixture(rng, dims, kinds, ratio, spread):
    weight = np.geomspace(1, 1 / ratio, kinds)
    turn = [np.linalg.qr(rng.normal(size=(dims, dims)))[0] * np.exp(rng.uniform(-0.7, 0.7, dims))
            for _ in range(kinds)]
    return weight / weight.sum(), spread * rng.normal(size=(kinds, dims)), turn


def draw(rng, world, rows):
    weight, center, turn = world
    kind = rng.choice(len(weight), rows, p=weight)
    noise = rng.normal(size=(rows, center.shape[1]))
    values = np.empty_like(noise)
    for k in range(len(weight)):
        values[kind == k] = center[k] + noise[kind == k] @ turn[k].T
    return values, kind


def known(options):
    print("made-up mixtures, 51 streams of 2,000 rows: dims kinds ratio | K, NMI, births after "
          "stream 1, of them false (counting relics), seconds")
    total = 0
    for dims, kinds, ratio, spread in [
            (2, 1, 1, 5), (2, 8, 1, 20), (10, 1, 1, 5), (10, 5, 1, 5), (10, 20, 1, 5),
            (10, 40, 1, 5), (10, 5, 100, 5), (10, 20, 100, 5), (50, 1, 1, 5), (50, 10, 1, 3),
            (50, 40, 1, 3), (50, 10, 100, 3)]:
        rng = np.random.default_rng(7)
        rows, kind = draw(rng, mixture(rng, dims, kinds, ratio, spread), 51 * 2000)
        run = Run(options.build, rows, block=2000)
        later = sum(stream > 1 for stream in run.born.values())
        # False: one more cluster for a kind that has one already, not counting relics, which hold
        # past rows of kinds that were born since and get no rows any more.
        def doubled(least):
            majority = [np.bincount(kind[run.found == k]).argmax() for k in np.unique(run.found)
                        if (run.found == k).mean() > least]
            return max(0, min(later, len(majority) - len(set(majority))))
        false, with_relics = doubled(0.001), doubled(0.0)
        total += false
        print(f"  {dims:3} {kinds:3} {ratio:4} | {run.clusters:3}  "
              f"{normalized_mutual_info_score(kind, run.found):.3f}  {later:3} {false:3} "
              f"({with_relics})  {run.seconds:.1f}", flush=True)
    print(f"  false births in all: {total}")


def limits(options):
    print("detection limits, 10 dims: a new kind among 1,000 rows of three old ones, born in its "
          "stream in so many of 10 tries; rows (down) x distance in deviations (across)")
    distances = [3, 4, 5, 6, 8, 12]
    print("       " + "".join(f"{d:5}" for d in distances))
    for count in [5, 10, 20, 50, 100, 200]:
        found = []
        for distance in distances:
            hits = 0
            for seed in range(10):
                rng = np.random.default_rng(seed)
                center = np.zeros((3, 10))
                center[1, 0], center[2, 1] = 12, 12
                direction = rng.normal(size=10)
                fresh = distance * direction / np.linalg.norm(direction)
                old = [center[rng.integers(0, 3, 1000)] + rng.normal(size=(1000, 10))
                       for _ in range(2)]
                rows = np.vstack([old[0], old[1], fresh + rng.normal(size=(count, 10))])
                run = Run(options.build, rows, blocks=[1000, 1000 + count], seed=seed)
                own = run.found[-count:]
                hits += any(run.born.get(k, 0) == 2 and (own == k).mean() > 0.5
                            for k in np.unique(own))
            found.append(hits)
        print(f"  {count:4} " + "".join(f"{h:5}" for h in found), flush=True)


# ---- real vectors -------------------------------------------------------------------------------


def load_umap(options):
    folder = os.path.join(options.data, "mnist-umap10")
    return (read_idx(os.path.join(folder, "train-features.idx.gz")),
            read_idx(os.path.join(folder, "train-labels.idx.gz")))


def umap(options):
    print("MNIST embedded by UMAP, 70,000 x 10: NMI, ARI, accuracy, K, seconds")
    rows, labels = load_umap(options)
    batch, streams, digits, own_stream = [], [], [], []
    for seed in SEEDS:
        order = np.random.default_rng(seed).permutation(len(rows))
        batch.append(scores(labels[order], Run(options.build, rows[order], effective=20000,
                                               seed=seed)))
        streams.append(scores(labels[order], Run(options.build, rows[order], block=1000,
                                                 seed=seed)))
        order = order[np.argsort(labels[order], kind="stable")]
        run = Run(options.build, rows[order], blocks=np.bincount(labels), effective=1000, seed=seed)
        digits.append(scores(labels[order], run))
        homes = [np.bincount(run.found[labels[order] == d]).argmax() for d in range(10)]
        own_stream.append(sum(run.born.get(home, 1) == d + 1 for d, home in enumerate(homes)))
    line("one block, 20,000 effective rows", batch)
    line("70 streams of 1,000 shuffled rows, past discarded", streams)
    line("ten streams, one digit each, 1,000 effective rows", digits)
    print("  digits whose cluster was born in their own stream, by seed:", own_stream)


def f1(chosen, true):
    return 2 * (chosen & true).sum() / max(1, chosen.sum() + true.sum())


def born_f1(run, part, truth):
    """F1 of the union of clusters born after the first stream whose majority is the new kind."""
    found, true = run.found[part], truth[part]
    mine = [k for k in run.born if run.born[k] > 1 and (found == k).any()
            and true[found == k].mean() > 0.5]
    return f1(np.isin(found, mine), true)


def rare(options):
    print("1 % of a new digit: 5,000 rows of the others, then ten streams of 990 + 10: F1 of the "
          "union of clusters born since whose majority it is, stream rows and held-out rows; and "
          "of the 15 nearest neighbours' labels, held-out rows")
    rows, labels = load_umap(options)
    near = KNeighborsClassifier(15).fit(rows, labels).predict(rows)
    pairs = [(5, [0, 1, 2, 3, 4])] + [(d, [k for k in range(10) if k != d]) for d in range(10)]
    for new, old in pairs:
        for pending, strays in ((0, True), (400, True), (0, False)):
            result = []
            for seed in SEEDS:
                rng = np.random.default_rng(seed)
                # Without strays: rows of old digits that the embedding put among the new one's
                # are left out.
                usable = np.isin(labels, old) & (strays | (near != new))
                known_rows = rng.permutation(np.flatnonzero(usable))
                new_rows = rng.permutation(np.flatnonzero(labels == new))
                order = list(known_rows[:5000])
                for stream in range(10):
                    begin = 5000 + 990 * stream
                    order += list(rng.permutation(np.r_[known_rows[begin:begin + 990],
                                                        new_rows[10 * stream:10 * stream + 10]]))
                order += list(known_rows[14900:14900 + 99 * 150]) + list(new_rows[100:250])
                order = np.array(order)
                run = Run(options.build, rows[order], blocks=[5000] + 10 * [1000], seed=seed,
                          pending=pending)
                truth = labels[order] == new
                scored = []
                for part in (slice(5000, 15000), slice(15000, None)):
                    scored.append(born_f1(run, part, truth))
                # What the embedding allows: the label that most of a row's neighbours have.
                scored.append(f1(near[order[15000:]] == new, truth[15000:]))
                result.append(scored)
            line(f"digit {new}, {len(old)} old ones, {'pool' if pending else 'no pool'}"
                 f"{'' if strays else ', strays left out'}", result)
    rare_bearings(options)


def rare_bearings(options):
    print("1 % of a new fault: 1,500 rows of the other nine kinds, then ten streams of 198 + 2, ten "
          "principal components of the 1,500: the same F1, over the nine faults")
    rows, labels = (np.concatenate([read_idx(os.path.join(options.data, "cwru",
                                                          f"{part}-{what}.idx.gz"))
                                    for part in ("train", "test")])
                    for what in ("features", "labels"))
    for pending in (0, 400):
        result = []
        for new in range(1, 10):
            for seed in SEEDS:
                rng = np.random.default_rng(seed)
                old_rows = rng.permutation(np.flatnonzero(labels != new))
                new_rows = rng.permutation(np.flatnonzero(labels == new))
                order = list(old_rows[:1500])
                for stream in range(10):
                    begin = 1500 + 198 * stream
                    order += list(rng.permutation(np.r_[old_rows[begin:begin + 198],
                                                        new_rows[2 * stream:2 * stream + 2]]))
                held_out = old_rows[3480:]
                order = np.array(order + list(held_out) + list(new_rows[20:20 + len(held_out) // 99]))
                reduced = PCA(10).fit(rows[order[:1500]]).transform(rows[order])
                run = Run(options.build, reduced, blocks=[1500] + 10 * [200], seed=seed,
                          pending=pending)
                truth = labels[order] == new
                result.append([born_f1(run, part, truth)
                               for part in (slice(1500, 3500), slice(3500, None))])
        line(f"{'pool' if pending else 'no pool'}", result)


def bearings(options):
    folder = os.path.join(options.data, "cwru")
    train = read_idx(os.path.join(folder, "train-features.idx.gz")).astype(float)
    test = read_idx(os.path.join(folder, "test-features.idx.gz")).astype(float)
    labels = read_idx(os.path.join(folder, "train-labels.idx.gz"))
    test_labels = read_idx(os.path.join(folder, "test-labels.idx.gz"))
    print("bearing vibration, 256 bands: held-out NMI, accuracy, K; k-means with the true K: NMI, "
          "accuracy")
    for dims in (5, 10, 20):
        pca = PCA(dims).fit(train)
        peer = KMeans(10, n_init=10, random_state=0).fit(pca.transform(train)).predict(
            pca.transform(test))
        result = []
        for seed in SEEDS:
            order = np.random.default_rng(seed).permutation(len(train))
            run = Run(options.build, np.vstack([pca.transform(train[order]), pca.transform(test)]),
                      blocks=[len(train)], seed=seed)
            found = run.found[len(train):]
            result.append((normalized_mutual_info_score(test_labels, found),
                           accuracy(test_labels, found), run.clusters,
                           normalized_mutual_info_score(test_labels, peer),
                           accuracy(test_labels, peer)))
        line(f"one block, {dims} principal components", result)
    print("one fault after another, 10 components: held-out NMI, K; births in the kind's own stream "
          "(of 9), rows until the first novelty > 0.5 (worst), novel among the first 20 (least)")
    for name, basis in (("components of all rows", train),
                        ("components of the healthy state only", train[labels == 0])):
        pca = PCA(10).fit(basis)
        result = []
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            order = np.concatenate([rng.permutation(np.flatnonzero(labels == k))
                                    for k in range(10)])
            blocks = np.bincount(labels)
            run = Run(options.build, np.vstack([pca.transform(train[order]), pca.transform(test)]),
                      blocks=blocks, seed=seed)
            begin = np.cumsum(blocks) - blocks
            first, share = [], []
            for k in range(1, 10):
                novel = run.novelty[begin[k]:begin[k] + blocks[k]] > 0.5
                first.append(np.argmax(novel) + 1 if novel.any() else len(novel))
                share.append(novel[:20].sum())
            own = sum(k + 1 in run.born.values() for k in range(1, 10))
            result.append((normalized_mutual_info_score(test_labels, run.found[len(train):]),
                           run.clusters, own, max(first), min(share)))
        line(name, result)
        print("  rows until the first novelty > 0.5, worst kind, by seed:",
              [int(r[3]) for r in result])


def moco(options):
    folder = os.path.join(options.data, "imagenet50-moco")
    rows = read_idx(os.path.join(folder, "train-features.idx.gz")).astype(float)
    labels = read_idx(os.path.join(folder, "train-labels.idx.gz"))
    print("50 classes of ImageNet, MoCo features, 2,500 rows: NMI, accuracy, K; k-means with the "
          "true K: NMI, accuracy")
    for dims in (10, 20, 40):
        reduced = PCA(dims, random_state=0).fit_transform(rows)
        peer = KMeans(50, n_init=10, random_state=0).fit_predict(reduced)
        result = []
        for seed in SEEDS:
            order = np.random.default_rng(seed).permutation(len(rows))
            run = Run(options.build, reduced[order], seed=seed, clusters=100)
            result.append((normalized_mutual_info_score(labels[order], run.found),
                           accuracy(labels[order], run.found), run.clusters,
                           normalized_mutual_info_score(labels, peer), accuracy(labels, peer)))
        line(f"{dims} principal components", result)


def main():
    tests = {"known": known, "limits": limits, "umap": umap, "rare": rare, "bearings": bearings,
             "moco": moco}
    parser = argparse.ArgumentParser()
    parser.add_argument("names", nargs="*", choices=[[], *tests])
    parser.add_argument("--build", required=True)
    parser.add_argument("--data")
    options = parser.parse_args()
    names = options.names or (list(tests) if options.data else ["known", "limits"])
    for name in names:
        if name not in ("known", "limits") and not options.data:
            parser.error(f"{name} needs --data")
        tests[name](options)


main()
