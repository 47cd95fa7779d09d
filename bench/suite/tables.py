"""Labelled tables from a folder: one folder a table, with features and labels as IDX files (gzipped or not)."""
import dataclasses
import gzip
import pathlib

import numpy as np

_TYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}


@dataclasses.dataclass
class Table:
    name: str
    rows: np.ndarray  # [n x d]
    labels: np.ndarray  # [n]


def read_idx(path):
    opened = gzip.open(path) if path.suffix == ".gz" else open(path, "rb")
    with opened as file:
        data = file.read()
    kind, dimensions = data[2], data[3]
    sizes = np.frombuffer(data, ">i4", dimensions, 4)
    return np.frombuffer(data, _TYPES[kind], offset=4 + 4 * dimensions).reshape(sizes)


def _find(folder, words):
    for word in words:
        for path in sorted(folder.glob(f"*{word}.idx*")):
            return path
    return None


def read_tables(folder, seed, most_rows=0):
    """Every table of the folder, its rows in random order; at most most_rows of each (0: all)."""
    for place in sorted(path for path in pathlib.Path(folder).iterdir() if path.is_dir()):
        features, labels = _find(place, ["features", "images"]), _find(place, ["labels"])
        if features is None or labels is None:
            continue
        rows, classes = read_idx(features), read_idx(labels)
        order = np.random.default_rng(seed).permutation(len(rows))
        if most_rows:
            order = order[:most_rows]
        yield Table(place.name, rows.reshape(len(rows), -1)[order].astype(np.float32), classes.reshape(-1)[order].astype(int))
