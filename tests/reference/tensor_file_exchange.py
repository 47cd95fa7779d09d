#!/usr/bin/env python3
"""Exchanges tensor files with the library, by an independent reading of docs/format.md.

usage: tensor_file_exchange.py TEST_MODEL

Writes files that the given test binary must read, lets it write one, and checks that one. Only the
standard library is used.
"""
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

ODD_NAME = 'quote" back\\slash /\b\f\n\r\t\x01\x1f\x7f é 漢 😀'
METADATA = {"k": "v", "\0key\n": 'line 1\nline 2\t"quoted" \\ \0 end, ½ 𝄞', "": ""}
FORMAT = {"U8": "B", "U16": "H", "F32": "f", "F64": "d", "U64": "Q", "I64": "q"}
NAN = struct.unpack("<d", bytes.fromhex("000000000000f87f"))[0]
TENSORS = {
    "doubles": ("F64", [3], [0.1, -2.5e300, NAN]),
    "whole": ("U64", [], [0xFEDCBA9876543210]),
    "empty": ("I64", [0, 7], []),
    ODD_NAME: ("F32", [1, 2, 3], [1.5, -0.0, math.inf, 1e-42, 3.0, -7.25]),
    "shorts": ("U16", [3], [1, 0x8000, 65535]),
    "bytes": ("U8", [5], [0, 1, 127, 128, 255]),
}
ZEROS = "0" * 16


def pack(dtype, values):
    return struct.pack(f"<{len(values)}{FORMAT[dtype]}", *values)


def crc64(data):
    value = (1 << 64) - 1
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0xC96C5795D7870F42 if value & 1 else 0)
    return value ^ ((1 << 64) - 1)


def make_file(header_order, ascii_only):
    data, entries = b"", {}
    for name, (dtype, shape, values) in TENSORS.items():
        part = pack(dtype, values)
        entries[name] = {"dtype": dtype, "shape": shape,
                         "data_offsets": [len(data), len(data) + len(part)]}
        data += part
    header = {name: entries[name] for name in header_order}
    header["__metadata__"] = {**METADATA, "adapvae.checksum": ZEROS}
    text = json.dumps(header, ensure_ascii=ascii_only).encode()
    text += b" " * (-len(text) % 8)
    whole = struct.pack("<Q", len(text)) + text + data
    return whole.replace(ZEROS.encode(), b"%016x" % crc64(whole))


def refuse_duplicates(pairs):
    assert len({key for key, _ in pairs}) == len(pairs), "a key twice"
    return dict(pairs)


def check_file(whole):
    (length,) = struct.unpack_from("<Q", whole)
    header = json.loads(whole[8:8 + length].decode(), object_pairs_hook=refuse_duplicates)
    data = whole[8 + length:]
    assert (8 + length) % 64 == 0, "data are not aligned"
    metadata = header.pop("__metadata__")
    checksum = metadata.pop("adapvae.checksum")
    assert metadata == METADATA, metadata
    assert whole.count(checksum.encode()) == 1
    assert checksum == "%016x" % crc64(whole.replace(checksum.encode(), ZEROS.encode()))
    assert header.keys() == TENSORS.keys(), header.keys()
    end = 0
    for name, entry in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        dtype, shape, values = TENSORS[name]
        assert entry.keys() == {"dtype", "shape", "data_offsets"}
        assert (entry["dtype"], entry["shape"]) == (dtype, shape), (name, entry)
        start, stop = entry["data_offsets"]
        assert start == end and start % struct.calcsize(FORMAT[dtype]) == 0, (name, entry)
        assert data[start:stop] == pack(dtype, values), name
        end = stop
    assert end == len(data)


def main():
    with tempfile.TemporaryDirectory() as directory:
        def path(name):
            return os.path.join(directory, name)

        for name, order, ascii_only in (
                ("reference", list(TENSORS), False),
                ("reference_shuffled", sorted(TENSORS), True)):
            with open(path(name + ".safetensors"), "wb") as out:
                out.write(make_file(order, ascii_only))
        subprocess.run(
            [sys.argv[1], "--no-skip", "--test-case=tensor file: exchange with the reference"],
            env={**os.environ, "ADAPVAE_EXCHANGE_DIRECTORY": directory}, check=True)
        with open(path("library.safetensors"), "rb") as file:
            check_file(file.read())
    print("tensor files: exchanged")


if __name__ == "__main__":
    main()
