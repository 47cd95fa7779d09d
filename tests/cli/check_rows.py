"""Tables that Python writes (csv, json, numpy) are read as what they are.

usage: check_rows.py PRINT_ROWS

PRINT_ROWS prints the rows of a file (print_rows.cpp). Without numpy its files are not tried.
"""
import csv
import json
import os
import random
import struct
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy
except ImportError:
    numpy = None

PRINT_ROWS = os.path.abspath(sys.argv.pop(1))
PIECES = ['"', '""', ",", ";", "\t", "\n", "\r\n", "\n\n", "a", "é", "😀", "x y", "'", "\\", "0", "null", "{", "[",
          "\u2028", "\u00a0", "5\" pipe"]


def single(x):
    """x in single precision."""
    return struct.unpack("<f", struct.pack("<f", x))[0]


def number(rng):
    return rng.choice([rng.gauss(0, 1), rng.uniform(-1e6, 1e6), float(rng.randrange(-10**6, 10**6)),
                       10.0 ** rng.randrange(-60, 38), 0.0, -0.0, rng.randrange(2**63), 5e-324])


def label(rng):
    """Blanks at either end belong to a field in quotes alone: the writer does not quote for them."""
    return "".join(rng.choice(PIECES) for _ in range(rng.randrange(6))).strip()


def table(rng):
    columns = rng.randrange(1, 6)
    return [([number(rng) for _ in range(columns)], label(rng)) for _ in range(rng.randrange(1, 30))]


class Rows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "rows")

    def rows(self, *words):
        done = subprocess.run([PRINT_ROWS, self.path, *words], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        lines = [json.loads(line) for line in done.stdout.splitlines()]
        return [(line[:-1], bytes.fromhex(line[-1]).decode()) for line in lines]

    def expect(self, rows, *words):
        wanted = [([single(x) for x in numbers], text) for numbers, text in rows]
        self.assertEqual([([single(x) for x in numbers], text) for numbers, text in self.rows(*words)], wanted)

    def test_csv(self):
        for seed in range(40):
            rng = random.Random(seed)
            rows = table(rng)
            with open(self.path, "w", newline="", encoding=rng.choice(["utf-8", "utf-8-sig"])) as file:
                writer = csv.writer(file, delimiter=rng.choice(",;\t"), lineterminator=rng.choice(["\n", "\r\n"]),
                                    quoting=rng.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL, csv.QUOTE_NONNUMERIC]))
                writer.writerow(["name, \"of\"\nthe label"] + [f"x{i}" for i in range(len(rows[0][0]))])
                for numbers, text in rows:
                    writer.writerow([text] + [repr(x) for x in numbers])
            with self.subTest(seed=seed):
                self.expect(rows, "name, \"of\"\nthe label")

    def test_json(self):
        for seed in range(40):
            rng = random.Random(seed)
            rows = table(rng)
            ascii_only, objects = rng.random() < 0.5, rng.random() < 0.5
            with open(self.path, "w", encoding="utf-8", newline=rng.choice(["\n", "\r\n"])) as file:
                for numbers, text in rows:
                    if objects:
                        members = list({"é\n": text, **{f"x{i}": x for i, x in enumerate(numbers)}}.items())
                        if file.tell() > 0:
                            rng.shuffle(members)
                        line = dict(members)
                    else:
                        line = [text, *numbers]
                    file.write(json.dumps(line, ensure_ascii=ascii_only,
                                          separators=rng.choice([(",", ":"), (" , ", " : ")])) + "\n")
            with self.subTest(seed=seed):
                self.expect(rows, "é\n" if objects else "1")

    @unittest.skipIf(numpy is None, "no numpy")
    def test_numpy(self):
        rng = numpy.random.default_rng(1)
        for kind in ("<f4", "<f8", ">f4", ">f8", "|i1", "<i2", ">i2", "<i4", ">i4", "<i8", "<u2", ">u4", "<u8", "|b1"):
            for shape in ((7,), (5, 3), (4, 2, 3), (1, 1, 1, 2)):
                for version in ((1, 0), (2, 0), (3, 0)):
                    values = (rng.normal(0, 50, shape) if kind[1] in "fi" else rng.integers(0, 2, shape)).astype(kind)
                    with open(self.path, "wb") as file:
                        numpy.lib.format.write_array(file, values, version=version)
                    with self.subTest(kind=kind, shape=shape, version=version):
                        rows = values.astype(numpy.float32).reshape(shape[0], -1)
                        self.expect([(row, "") for row in rows.tolist()])
        numpy.save(self.path + ".npy", rng.integers(0, 256, (4, 2, 2)).astype("u1"))
        os.rename(self.path + ".npy", self.path)
        self.expect([((row / numpy.float64(255)).tolist(), "")
                     for row in numpy.load(self.path).reshape(4, -1).astype(numpy.float64)])
        for values, said in [(numpy.zeros((3, 2), order="F"), "Fortran order"), (numpy.float32(1), "shape ()"),
                             (numpy.zeros(3, [("a", "f4")]), "records"), (numpy.zeros(3, "f2"), "'<f2'"),
                             (numpy.zeros(3, "c8"), "'<c8'"), (numpy.zeros((0, 3)), "no rows"),
                             (numpy.array(["x"]), "'<U1'")]:
            with open(self.path, "wb") as file:
                numpy.lib.format.write_array(file, numpy.asarray(values))
            done = subprocess.run([PRINT_ROWS, self.path], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 1)
            self.assertIn(said, done.stderr)


unittest.main(verbosity=1)
