#!/usr/bin/env python3
"""adapvae with its defaults on labelled tables, and named methods of scikit-learn in the same run. `./run suite` calls it.

usage: suite.py clustering|novelty --data DIRECTORY [--seeds N] [--only TEXT] [--json FILE]

DIRECTORY has one folder for each table, with features.idx.gz and labels.idx.gz. Labels only score.

clustering: label 0 is noise, which is clustered but not scored. Methods that are told K get the number of classes.
novelty: labels other than 0 are anomalies. 70 % of the rows of each class are for training: once without the anomalies
(clean) and once with them (contaminated). Scores are of the other rows.
"""
import argparse
import json
import sys
import time
import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.ensemble import IsolationForest
from sklearn.metrics import adjusted_rand_score, average_precision_score, normalized_mutual_info_score, roc_auc_score
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors

import tables
from adapvae import AdapVAE

MOST_MIXTURE_COLUMNS = 200  # beyond, scikit-learn's mixtures take too long


def standardised(rows, *others):
    mean, width = rows.mean(0, dtype=float), rows.std(0, dtype=float)
    width[width < 1e-9] = 1.0
    return [(x - mean) / width for x in (rows, *others)]


def mixture(kind, rows, **settings):
    """Fitted, with the smallest ridge that lets it."""
    for ridge in (1e-6, 1e-4, 1e-2, 1.0):
        try:
            return kind(reg_covar=ridge, **settings).fit(rows)
        except ValueError:
            pass
    return None


# ---- clustering ------------------------------------------------------------------------------------------------------

def cluster_adapvae(rows, classes, seed):
    return AdapVAE(seed=seed + 1).fit(rows).labels_


def cluster_dp(rows, classes, seed):
    (rows,) = standardised(rows)
    return mixture(BayesianGaussianMixture, rows, n_components=min(30, len(rows)), max_iter=300, random_state=seed).predict(rows)


def cluster_k_means(rows, classes, seed):
    (rows,) = standardised(rows)
    return KMeans(classes, n_init=10, random_state=seed).fit_predict(rows)


def cluster_gmm(rows, classes, seed):
    (rows,) = standardised(rows)
    return mixture(GaussianMixture, rows, n_components=classes, n_init=3, random_state=seed).predict(rows)


CLUSTERING = {"adapvae": cluster_adapvae, "DP mixture": cluster_dp, "k-means told K": cluster_k_means, "GMM told K": cluster_gmm}


def clustering(table, seed):
    scored = table.labels > 0
    truth = table.labels[scored]
    classes = len(np.unique(truth))
    for name, method in CLUSTERING.items():
        began = time.perf_counter()
        found = method(table.rows, classes, seed)[scored]
        yield name, {"ARI": adjusted_rand_score(truth, found), "NMI": normalized_mutual_info_score(truth, found),
                     "clusters": len(np.unique(found)), "classes": classes, "seconds": time.perf_counter() - began}


# ---- novelty ---------------------------------------------------------------------------------------------------------

def novelty_adapvae(train, test, seed):
    return -AdapVAE(seed=seed + 1).fit(train).score_samples(test)


def novelty_neighbours(train, test, seed):
    train, test = standardised(train, test)
    return NearestNeighbors(n_neighbors=5).fit(train).kneighbors(test)[0].mean(1)


def novelty_lof(train, test, seed):
    train, test = standardised(train, test)
    return -LocalOutlierFactor(novelty=True).fit(train).score_samples(test)


def novelty_forest(train, test, seed):
    return -IsolationForest(random_state=seed).fit(train).score_samples(test)


def novelty_dp(train, test, seed):
    if train.shape[1] > MOST_MIXTURE_COLUMNS:
        return None
    train, test = standardised(train, test)
    model = mixture(BayesianGaussianMixture, train, n_components=min(30, len(train)), max_iter=200, random_state=seed)
    return None if model is None else -model.score_samples(test)


def novelty_mahalanobis(train, test, seed):
    train, test = standardised(train, test)
    covariance = np.atleast_2d(np.cov(train.T)) + 1e-3 * np.eye(train.shape[1])
    return np.einsum("ij,ji->i", test, np.linalg.solve(covariance, test.T))


def novelty_histograms(train, test, seed):
    """HBOS: the columns' histograms, as if columns were independent."""
    score = np.zeros(len(test))
    for column, values in zip(train.T, test.T):
        counts, edges = np.histogram(column, 10)
        step = edges[1] - edges[0]
        height = counts[np.clip(np.searchsorted(edges, values, side="right") - 1, 0, 9)] / max(counts.max(), 1)
        outside = (values < edges[0] - step / 2) | (values > edges[-1] + step / 2)
        score -= np.log(np.where(outside, 0.0, height) + 0.1)
    return score


def novelty_axes(train, test, seed):
    """PCA: squared distances along all principal axes, each by its variance."""
    train, test = standardised(train, test)
    axes = PCA(random_state=seed).fit(train)
    used = axes.explained_variance_ > 1e-9
    return (axes.transform(test)[:, used] ** 2 / axes.explained_variance_[used]).sum(1)


NOVELTY = {"adapvae": novelty_adapvae, "5-NN on stored rows": novelty_neighbours, "LOF on stored rows": novelty_lof,
           "isolation forest": novelty_forest, "DP mixture": novelty_dp, "Mahalanobis": novelty_mahalanobis,
           "histograms": novelty_histograms, "principal axes": novelty_axes}


def novelty(table, seed):
    anomaly = table.labels != 0
    random = np.random.default_rng(seed + 1000)
    train = np.zeros(len(anomaly), bool)
    for kind in (False, True):
        rows = np.flatnonzero(anomaly == kind)
        train[random.permutation(rows)[:int(0.7 * len(rows))]] = True
    for training, chosen in (("clean", train & ~anomaly), ("contaminated", train)):
        for name, method in NOVELTY.items():
            began = time.perf_counter()
            scores = method(table.rows[chosen], table.rows[~train], seed)
            if scores is None:
                continue
            scores = np.nan_to_num(scores)
            yield f"{name}, {training}", {"AUROC": roc_auc_score(anomaly[~train], scores),
                                          "AP": average_precision_score(anomaly[~train], scores),
                                          "seconds": time.perf_counter() - began}


# ---- report ----------------------------------------------------------------------------------------------------------

def summary(results, key):
    """results: table -> method -> figures, means over the seeds."""
    methods = list(dict.fromkeys(method for row in results.values() for method in row))
    for part in dict.fromkeys(method.partition(", ")[2] for method in methods):
        chosen = [method for method in methods if method.partition(", ")[2] == part]
        figures = [figure for figure in next(iter(results.values()))[chosen[0]] if figure != "classes"]
        full = [row for row in results.values() if all(method in row for method in chosen)]
        print(f"\n{part or 'all'}: {len(full)} tables\n\n| method | " + " | ".join(figures) + " | mean rank | best |")
        print("|---" * (len(figures) + 3) + "|")
        ranks = {method: [] for method in chosen}
        for row in full:
            order = sorted(chosen, key=lambda method: -row[method][key])
            for method in chosen:
                ranks[method].append(1 + order.index(method))
        for method in chosen:
            cells = [f"{np.mean([row[method][figure] for row in full]):.3f}" for figure in figures]
            print(f"| {method} | " + " | ".join(cells) + f" | {np.mean(ranks[method]):.2f} | {ranks[method].count(1)} |")
        others = [method for method in chosen if not method.startswith("adapvae")]
        own = next(method for method in chosen if method.startswith("adapvae"))
        gap = {name: row[own][key] - max(row[method][key] for method in others if method in row)
               for name, row in results.items()}
        worst = sorted(gap, key=gap.get)[:10]
        print(f"\nworst against the best of the others ({key}): " + ", ".join(f"{name} {gap[name]:+.2f}" for name in worst))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=["clustering", "novelty"])
    parser.add_argument("--data", required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--json")
    given = parser.parse_args()
    warnings.filterwarnings("ignore")
    run, key = {"clustering": (clustering, "ARI"), "novelty": (novelty, "AUROC")}[given.suite]
    collected = {}
    for seed in range(given.seeds):
        for table in tables.read_tables(given.data, seed):
            if given.only not in table.name:
                continue
            for method, figures in run(table, seed):
                collected.setdefault(table.name, {}).setdefault(method, []).append(figures)
                print(f"{table.name} seed {seed}: {method}: {key} {figures[key]:.3f}", file=sys.stderr, flush=True)
    if not collected:
        sys.exit(f"suite: {given.data} has no folder with features.idx.gz and labels.idx.gz")
    results = {name: {method: {figure: float(np.mean([row[figure] for row in rows])) for figure in rows[0]}
                      for method, rows in methods.items()} for name, methods in collected.items()}
    if given.json:
        with open(given.json, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)
    summary(results, key)
    if given.suite == "clustering":
        exact = [row["adapvae"]["clusters"] == row["adapvae"]["classes"] for row in results.values()]
        print(f"\nadapvae finds as many clusters as there are classes on {sum(exact)} of {len(exact)} tables")


if __name__ == "__main__":
    main()
