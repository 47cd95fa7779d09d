#!/usr/bin/env python3
"""One stream, learnt by every language, comes out the same.

    golden.py FOLDER NAME=COMMAND...

COMMAND takes ROWS STREAM_ROWS MODEL_OUT preset=NAME FIELD=VALUE... as tests/wasm/record_stream.c does and prints the
same lines; the first is what the others are held to. cli=PROGRAM is the command line, which has words of its own.
Clusters, components and every row's cluster must be the same, bounds within 1e-6 of their size, novelty within 1e-3: builds
of one compiler and instruction set agree to the byte, and the table says which do. NAME@ISA=COMMAND: that instruction
set, held to the first command with the same.
"""
import gzip
import hashlib
import json
import os
import pathlib
import shlex
import struct
import subprocess
import sys

DATA = pathlib.Path(__file__).resolve().parent.parent.parent / "examples/data"
STREAM_ROWS, SETTINGS = 200, ["preset=edge", "seed=5"]


def digits(kinds, most, skip):
    images = gzip.open(DATA / "digits8x8-images.idx.gz").read()[16:]
    labels = gzip.open(DATA / "digits8x8-labels.idx.gz").read()[8:]
    chosen = [i for i, label in enumerate(labels) if label in kinds][skip:skip + most]
    largest = max(images)
    return [images[64 * i + j] / largest for i in chosen for j in range(64)]


def write_rows(folder):
    """Kinds 0 to 2, then those with 3 beside them: as numbers, and as NPY for the program."""
    numbers = digits({0, 1, 2}, STREAM_ROWS, 0) + digits({0, 1, 2, 3}, STREAM_ROWS, 300)
    raw = struct.pack(f"<{len(numbers)}f", *numbers)
    (folder / "rows").write_bytes(raw)
    header = repr({"descr": "<f4", "fortran_order": False, "shape": (len(numbers) // 64, 64)}).encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    (folder / "rows.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + raw)


def lines(text):
    return [json.loads(line) for line in text.splitlines() if line]


def record(name, command, isa, folder):
    """What a command says: reports, clusters by id, scores, and its file."""
    model = folder / f"{name}.model"
    model.unlink(missing_ok=True)
    environment = {**os.environ, **({"ADAPVAE_ISA": isa} if isa else {})}

    def run(*words):
        done = subprocess.run([str(word) for word in words], capture_output=True, text=True, env=environment)
        if done.returncode != 0:
            raise SystemExit(f"golden: {name} failed: {done.stderr}")
        return lines(done.stdout)

    if name == "cli":
        program = shlex.split(command)
        run(*program, "learn", "-q", "-m", model, "--preset", "edge", "--seed", 5, folder / "rows.npy")
        scores = [{"id": row["cluster"], "component": row["component"], "novelty": row["novelty"]}
                  for row in run(*program, "score", "-m", model, folder / "rows.npy")]
        clusters = {row["id"]: row for row in run(*program, "clusters", "--json", "-m", model)}
        return None, clusters, scores, model
    said = run(*shlex.split(command), folder / "rows", STREAM_ROWS, model, *SETTINGS)
    return ([line for line in said if "stream" in line], {line["cluster"]: line for line in said if "cluster" in line},
            [line for line in said if "novelty" in line], model)


def compare(name, ours, expected):
    """The largest differences, or the end."""
    def demand(same, what):
        if not same:
            raise SystemExit(f"golden: {name}: {what}")

    reports, clusters, scores, _ = ours
    bound = 0.0
    if reports is not None:
        demand([(r["clusters"], r["births"]) for r in reports] == [(r["clusters"], r["births"]) for r in expected[0]],
               f"other streams: {reports}, not {expected[0]}")
        bound = max(abs(a["bound"] - b["bound"]) / abs(b["bound"]) for a, b in zip(reports, expected[0]))
    demand(set(clusters) == set(expected[1]), f"other clusters: {sorted(clusters)}, not {sorted(expected[1])}")
    demand(len(scores) == len(expected[2]) == 2 * STREAM_ROWS, f"{len(scores)} rows")
    for i, (a, b) in enumerate(zip(scores, expected[2])):
        demand((a["id"], a["component"]) == (b["id"], b["component"]), f"row {i}: {a}, not {b}")
    novelty = max(abs(a["novelty"] - b["novelty"]) for a, b in zip(scores, expected[2]))
    demand(bound <= 1e-6, f"bound differs by {bound} of its size")
    demand(novelty <= 1e-3, f"novelty differs by {novelty}")
    return bound, novelty


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    write_rows(folder)
    first, expected = None, {}
    print("| front | clusters, ids, components | bound, relative | novelty | file |")
    print("|---|---|---|---|---|")
    for argument in sys.argv[2:]:
        name, command = argument.split("=", 1)
        name, _, isa = name.partition("@")
        first = first or command
        if isa not in expected:
            expected[isa] = record("reference", first, isa, folder)
            births = expected[isa][0][1]["births"]
            if births < 1:
                raise SystemExit("golden: the second stream brings no birth: it tells nothing")
        ours = record(name, command, isa, folder)
        bound, novelty = compare(name, ours, expected[isa])
        digest = [hashlib.sha256(record[3].read_bytes()).digest() for record in (ours, expected[isa])]
        print(f"| {name}{' beside C at ' + isa if isa else ''} | the same | {bound:.1g} | {novelty:.1g} | "
              f"{'the same bytes' if digest[0] == digest[1] else 'other bytes'} |")


main()
