"""Writes metrics.txt: scikit-learn's and SciPy's figures for random labellings.

Run by hand when the reference is to change; the tests only read the file. A case is a line of numbers:
rows, labels and clusters of all rows, then NMI (arithmetic), NMI (geometric), ARI, homogeneity,
completeness, V-measure, accuracy, purity.
"""
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn import metrics

rng = np.random.default_rng(3)
with open(Path(__file__).parent / "metrics.txt", "w") as out:
    for case in range(40):
        rows = int(rng.integers(1, 120))
        labels = rng.integers(0, rng.integers(1, 9), rows)
        agree = rng.random(rows) < rng.random()
        found = np.where(agree, (labels * 7) % 11, rng.integers(0, rng.integers(1, 13), rows))
        table = metrics.cluster.contingency_matrix(labels, found)
        i, j = linear_sum_assignment(-table)
        values = [metrics.normalized_mutual_info_score(labels, found),
                  metrics.normalized_mutual_info_score(labels, found, average_method="geometric"),
                  metrics.adjusted_rand_score(labels, found),
                  *metrics.homogeneity_completeness_v_measure(labels, found),
                  table[i, j].sum() / rows, table.max(0).sum() / rows]
        print(rows, *labels, *found, *(repr(float(v)) for v in values), file=out)
