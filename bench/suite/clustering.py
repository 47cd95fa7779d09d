"""Clustering of labelled tables: adapvae with its defaults, and named methods of scikit-learn, in the same run.

Labels score; methods that are marked "told K" get the number of classes. Rows with label 0 are noise: they are
clustered and not scored.
"""
import time

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.preprocessing import StandardScaler

import estimator


def _standardised(fit):
    return lambda rows, classes, seed: fit(StandardScaler().fit_transform(rows.astype(float)), classes, seed)


def _dp_mixture(rows, classes, seed):
    model = BayesianGaussianMixture(n_components=min(30, len(rows)), max_iter=300, random_state=seed)
    return model.fit_predict(rows)


BASELINES = {
    "DP mixture": _standardised(_dp_mixture),
    "k-means told K": _standardised(lambda rows, k, seed: KMeans(k, n_init=10, random_state=seed).fit_predict(rows)),
    "GMM told K": _standardised(lambda rows, k, seed: GaussianMixture(n_components=k, n_init=3, reg_covar=1e-4, random_state=seed).fit_predict(rows)),
    "Ward told K": _standardised(lambda rows, k, seed: AgglomerativeClustering(k).fit_predict(rows)),
}
# Of these a user need not know how many clusters there are.
UNKNOWN_K = ["DP mixture"]


def run(table, seed, settings, with_baselines):
    """Method -> (ARI, NMI, clusters, seconds)."""
    scored = table.labels > 0
    classes = len(np.unique(table.labels[scored]))
    methods = {"adapvae": lambda rows, _, seed: estimator.cluster(rows, seed, settings)}
    if with_baselines:
        methods.update(BASELINES)
    out = {}
    for name, method in methods.items():
        began = time.perf_counter()
        found = method(table.rows, classes, seed)
        seconds = time.perf_counter() - began
        out[name] = (adjusted_rand_score(table.labels[scored], found[scored]),
                     normalized_mutual_info_score(table.labels[scored], found[scored]),
                     len(np.unique(found[scored])), seconds)
    return classes, out
