"""scikit-learn's BayesianGaussianMixture as a peer: one line on standard input = one timed burst.

usage: sklearn_mixture.py lap|fit ROWS.f32 DIMS CLUSTERS
"""
import sys
import time
import warnings

import numpy as np
from sklearn.mixture import BayesianGaussianMixture

warnings.filterwarnings("ignore")
what, path, dims, clusters = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
rows = np.fromfile(path, dtype="<f4").reshape(-1, dims).astype(float)


def model(steps):
    return BayesianGaussianMixture(n_components=clusters, covariance_type="full", max_iter=steps,
                                   weight_concentration_prior_type="dirichlet_process",
                                   random_state=0)


def lap():
    _, log_r = running._e_step(rows)
    running._m_step(rows, log_r)


if what == "lap":
    running = model(1).fit(rows)
    work, times = lap, 5
else:
    work, times = lambda: model(100).fit(rows), 1
for line in sys.stdin:
    best = float("inf")
    for _ in range(times):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    print(best, "scikit-learn", flush=True)
