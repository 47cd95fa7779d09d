"""A model that learns from more rows than one machine has, with Dask. Import it by name: it needs dask.

    model = AdapVAE(freeze_encoder_after=1).partial_fit(some_rows)    # features, and the kinds that are there
    adapvae.dask.partial_fit(model, array)                            # all the rest, wherever it lies

Every partition becomes a gain (AdapVAE.gain) on the worker that has it; gains are merged by pairs and added where the
model is. The key of a gain is the partition's number: a task that Dask runs again, because a worker was lost or slow,
counts once. What comes of it depends on the partitions, not on how many workers there are or who has done what.
"""
import functools
from typing import Any, List, Optional

import dask
import numpy as np

from ._library import AdapVAEError
from ._model import AdapVAE, merge_gains
from ._records import Alias


@functools.lru_cache(maxsize=1)
def _base(snapshot: bytes) -> AdapVAE:
    return AdapVAE.from_bytes(snapshot)


def _gain(snapshot: bytes, rows: Any, number: int) -> bytes:
    model = _base(snapshot)
    if len(rows) == 0:  # which a data frame's partition may be
        rows = np.empty((0, model.n_features_in_), np.float32)
    return model.gain(rows, worker=number)


def _merge(*sets: bytes) -> bytes:
    return merge_gains(sets)


def _partitions(X: Any) -> List[Any]:
    if isinstance(X, (list, tuple)):
        return list(X)  # of arrays, data frames, delayed ones or futures of these
    if not hasattr(X, "to_delayed"):
        raise TypeError("give a Dask array or data frame, or a list of their like, of delayed ones or of futures")
    if getattr(X, "ndim", 2) != 2:
        raise ValueError(f"Expected 2D array, got {X.ndim}D")
    if hasattr(X, "rechunk") and len(X.chunks[1]) > 1:
        X = X.rechunk({1: -1})
    return list(np.ravel(X.to_delayed()))


def partial_fit(model: AdapVAE, X: Any, client: Optional[Any] = None) -> List[Alias]:
    """Adds all rows of X to the model, which must have learnt something, as one stream; its network stays as it is.

    X: a Dask array or data frame, or a list of arrays, data frames, delayed ones or futures of these. client: a
    distributed.Client; None: the current one, or Dask's own threads. All of it happens, or, if it fails, nothing. The
    answer tells what became of the clusters that were born at partitions (Alias.worker is the partition's number).
    """
    if not model.__sklearn_is_fitted__():
        raise AdapVAEError("there is no model yet: learn a stream first, by model.partial_fit(rows)", "ADAPVAE_UNAVAILABLE")
    if client is None:
        client = _current_client()
    snapshot: Any = model.to_bytes()
    snapshot = dask.delayed(snapshot) if client is None else client.scatter(snapshot, broadcast=True, hash=False)
    sets = [dask.delayed(_gain, pure=True)(snapshot, part, number) for number, part in enumerate(_partitions(X))]
    while len(sets) > 1:
        sets = [dask.delayed(_merge, pure=True)(*sets[i:i + 2]) for i in range(0, len(sets), 2)]
    if not sets:
        return []
    gains = sets[0].compute() if client is None else client.compute(sets[0]).result()
    return model.apply_gains(gains)


def _current_client() -> Optional[Any]:
    try:
        from distributed import get_client

        return get_client()
    except (ImportError, ValueError):
        return None
