#!/usr/bin/env python3
"""Reads a model's snapshot by an independent reading of docs/format.md.

usage: snapshot_check.py TEST_MODEL

Lets the test binary write a snapshot and the latents of the rows that wait in it, and computes
those latents from the snapshot's tensors. Only the standard library is used.
"""
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

from tensor_file_exchange import FORMAT, ZEROS, crc64

SIZES = {**FORMAT, "U32": "I"}


def read_file(path):
    with open(path, "rb") as file:
        whole = file.read()
    (length,) = struct.unpack_from("<Q", whole)
    header = json.loads(whole[8:8 + length].decode())
    metadata = header.pop("__metadata__")
    checksum = metadata.pop("adapvae.checksum")
    assert checksum == "%016x" % crc64(whole.replace(checksum.encode(), ZEROS.encode()))
    tensors = {}
    for name, entry in header.items():
        start, end = entry["data_offsets"]
        code = SIZES[entry["dtype"]]
        count = (end - start) // struct.calcsize(code)
        assert count == math.prod(entry["shape"]), name
        values = struct.unpack_from(f"<{count}{code}", whole, 8 + length + start)
        tensors[name] = (entry["dtype"], entry["shape"], values)
    return metadata, tensors


def matrix(tensor):
    _, (rows, columns), values = tensor
    return [values[i * columns:(i + 1) * columns] for i in range(rows)]


def dense(x, weight, bias):
    return [b + sum(a * w[j] for a, w in zip(x, weight)) for j, b in enumerate(bias)]


def check(metadata, tensors, latent):
    assert metadata["adapvae.format"] == "2"
    config = {key[7:]: value for key, value in metadata.items() if key.startswith("config.")}
    assert config["activation"] == "tanh" and config["covariance"] == "full", config
    m, inputs = int(config["latent"]), int(config["inputs"])
    clusters = int(metadata["adapvae.clusters"])
    count = int(metadata["adapvae.components"])
    assert metadata["adapvae.streams"] == "2" and metadata["adapvae.rows"] == "400"
    assert metadata["adapvae.rows_pending"] == "5"
    assert float(metadata["adapvae.time_pending"]) == 0.5

    for name, dtype, shape in (
            ("clusters.id", "U64", [clusters]), ("clusters.name", "U8", [clusters, 32]),
            ("components.id", "U64", [count]), ("components.cluster", "U64", [count]),
            ("components.rows", "F64", [count]), ("components.mean", "F64", [count, m]),
            ("components.covariance", "F64", [count, m, m]), ("block.rows", "F32", [5, inputs])):
        assert tensors[name][:2] == (dtype, shape), (name, tensors[name][:2])
    ids = tensors["clusters.id"][2]
    assert len(set(ids)) == clusters and min(ids) >= 1
    names = [bytes(row).rstrip(b"\0").decode() for row in matrix(tensors["clusters.name"])]
    assert names[ids.index(1)] == "ein Käse" and names.count("") == clusters - 1, names
    assert abs(sum(tensors["components.rows"][2]) - 400) < 1e-6
    assert set(tensors["components.cluster"][2]) == set(ids)
    covariance = tensors["components.covariance"][2]
    for k in range(count):
        c = [covariance[(k * m + i) * m:(k * m + i + 1) * m] for i in range(m)]
        assert all(c[i][i] > 0 and c[i][j] == c[j][i] for i in range(m) for j in range(m))
        assert all(c[i][j] ** 2 < c[i][i] * c[j][j] for i in range(m) for j in range(i))

    for row, expected in zip(matrix(tensors["block.rows"]), matrix(latent["latent"])):
        hidden = dense(row, matrix(tensors["encoder.0.weight"]), tensors["encoder.0.bias"][2])
        hidden = [math.tanh(x) for x in hidden]
        heads = dense(hidden, matrix(tensors["encoder.1.weight"]), tensors["encoder.1.bias"][2])
        assert all(abs(a - b) < 1e-4 for a, b in zip(heads, expected)), (heads, expected)


def main():
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run(
            [sys.argv[1], "--no-skip", "--test-case=snapshot: for the reference"],
            env={**os.environ, "ADAPVAE_EXCHANGE_DIRECTORY": directory}, check=True)
        _, latent = read_file(os.path.join(directory, "latent.safetensors"))
        check(*read_file(os.path.join(directory, "model.safetensors")), latent)
    print("snapshot: read")


if __name__ == "__main__":
    main()
