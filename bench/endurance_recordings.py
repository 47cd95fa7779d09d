"""Recorded streams in their natural order, as files that bench/endurance reads.

landsat ships with the project. The others are gzipped IDX files in a folder of data sets: cwru (bearings at one load,
then at another), wisdm (activities, one user after the other), nsl-kdd (network connections).
"""
import array
import csv
import gzip
import pathlib
import struct
import sys

LANDSAT = pathlib.Path(__file__).resolve().parent.parent / "examples/data/landsat.csv"


def read_idx(path):
    """Rows of numbers."""
    data = gzip.open(path).read()
    kind, dimensions = data[2], data[3]
    shape = struct.unpack(f">{dimensions}I", data[4:4 + 4 * dimensions])
    values = array.array("f" if kind == 0x0D else "B", data[4 + 4 * dimensions:])
    if kind == 0x0D and sys.byteorder == "little":
        values.byteswap()
    width = len(values) // shape[0]
    return [values[i * width:(i + 1) * width] for i in range(shape[0])]


def landsat(_):
    with open(LANDSAT, newline="") as file:
        lines = list(csv.reader(file))[1:]
    names = sorted({line[-1] for line in lines})
    return [([float(x) for x in line[:-1]], names.index(line[-1])) for line in lines]


def parts(folder, names):
    rows = []
    for name in names:
        labels = [int(label[0]) for label in read_idx(folder / f"{name}-labels.idx.gz")]
        rows += list(zip(read_idx(folder / f"{name}-features.idx.gz"), labels))
    return rows


def cwru(data):
    return parts(data / "cwru", ["train", "drift3hp"])


def wisdm(data):
    users = [int(user[0]) for user in read_idx(data / "wisdm" / "train-users.idx.gz")]
    rows = parts(data / "wisdm", ["train"])
    return [rows[i] for i in sorted(range(len(rows)), key=lambda i: (users[i], i))]


def nsl_kdd(data):
    return parts(data / "nsl-kdd", ["train"])


RECORDINGS = {"landsat": landsat, "cwru": cwru, "wisdm": wisdm, "nsl-kdd": nsl_kdd}


def write(data, folder, names):
    """Writes the recordings of these names (none: all) into the folder: (name, path) of each."""
    out = []
    for name in names or RECORDINGS:
        if name not in RECORDINGS:
            sys.exit(f"endurance: there is no recording '{name}'; there are: {' '.join(RECORDINGS)}")
        rows = RECORDINGS[name](pathlib.Path(data))
        path = pathlib.Path(folder) / f"{name}.rows"
        with open(path, "wb") as file:
            file.write(struct.pack("=ii", len(rows), len(rows[0][0])))
            for x, label in rows:
                file.write(struct.pack("=i", label) + array.array("f", x).tobytes())
        out.append((name, path))
    return out
