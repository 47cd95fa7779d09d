"""Writes mixture_full.txt and mixture_diag.txt: what scikit-learn's BayesianGaussianMixture finds.

Run by hand when the reference is to change; the tests only read the files. Needs scikit-learn
(python3-sklearn). Each file holds, as plain numbers: rows, dims, clusters, steps; alpha, beta, nu;
base mean; base scale (full matrix or diagonal); the rows; the start (a cluster number per row); and the
result: weights, means, covariances.

The start is one cluster number per row, then `steps` times an E- and an M-step. scikit-learn neither
sorts clusters by size (we do, so the reference keeps them in falling order of size throughout), nor
does it use the diagonal model's own E[log λ] (it takes the Wishart's), so the diagonal file has
clusters that are far apart, where that makes no difference.
"""
import sys
from pathlib import Path

import numpy as np
from sklearn.mixture import BayesianGaussianMixture

STEPS = 300


def reference(kind, spread, path):
    rng = np.random.default_rng(5)
    sizes = [120, 80, 50, 30]
    dims = 3
    centers = rng.normal(size=(len(sizes), dims)) * spread
    rows, start = [], []
    for k, size in enumerate(sizes):
        mix = np.linalg.qr(rng.normal(size=(dims, dims)))[0] * np.exp(rng.uniform(-0.5, 0.5, dims))
        if kind == "diag":
            mix = np.diag(np.exp(rng.uniform(-0.5, 0.5, dims)))
        rows.append(centers[k] + rng.normal(size=(size, dims)) @ mix.T)
        start += [k] * size
    rows = np.vstack(rows).astype(np.float32).astype(float)
    start = np.array(start)
    moved = rng.random(len(start)) < 0.1  # a start that is not the answer
    start[moved] = rng.integers(0, 2, moved.sum())
    alpha, beta, nu = 2.0, 0.5, dims + 2.0
    mean = rows.mean(0)
    scale = 0.2 * np.mean(rows.var(0))
    prior = scale * np.eye(dims) if kind == "full" else scale * np.ones(dims)
    model = BayesianGaussianMixture(
        n_components=len(sizes), covariance_type=kind, reg_covar=0.0,
        weight_concentration_prior_type="dirichlet_process", weight_concentration_prior=alpha,
        mean_precision_prior=beta, mean_prior=mean, degrees_of_freedom_prior=nu,
        covariance_prior=prior)
    model._check_parameters(rows)
    model._initialize(rows, np.eye(len(sizes))[start])
    for _ in range(STEPS):
        _, log_r = model._e_step(rows)
        model._m_step(rows, log_r)
        mass = np.exp(log_r).sum(0)
        assert (np.diff(mass) < 0).all(), "clusters changed their order of size"
    model._set_parameters(model._get_parameters())
    with open(path, "w") as out:
        def write(values):
            flat = np.atleast_1d(values).ravel()
            print(" ".join(repr(float(v)) for v in flat), file=out)
        write([len(rows), dims, len(sizes), STEPS])
        write([alpha, beta, nu])
        for values in (mean, prior, rows, start, model.weights_, model.means_, model.covariances_):
            write(values)


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    reference("full", 2.5, folder / "mixture_full.txt")
    reference("diag", 9.0, folder / "mixture_diag.txt")
