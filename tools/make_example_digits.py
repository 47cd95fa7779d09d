#!/usr/bin/env python3
"""Makes the example digits in examples/data from the full MNIST training set.

Usage: tools/make_example_digits.py MNIST_FOLDER [OUTPUT_FOLDER]

MNIST_FOLDER holds the training images and labels as IDX files, gzipped or not, named
train-images-idx3-ubyte (as tools/fetch_mnist.sh leaves them) or train-images.idx, and the same
for the labels. OUTPUT_FOLDER is examples/data of this repository unless given.

Rows are drawn and shuffled by the SHA-256 of a word and their row number, so the choice and the
order are the same on every machine and in every version of Python.
"""

import gzip
import hashlib
import pathlib
import struct
import sys

ROWS_PER_DIGIT = 500
DIGITS = 10
IMAGES_MD5 = "6bbc9ace898e44ae57da46a324031adb"
LABELS_MD5 = "a25bea736e30d166cdddb491f175f624"
UBYTE = 0x08


def read_verified(folder, names, md5):
    """The uncompressed bytes of the first file of these names that exists, checked by its md5."""
    for name in [name + suffix for name in names for suffix in ("", ".gz")]:
        path = folder / name
        if not path.is_file():
            continue
        data = path.read_bytes()
        if data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        if hashlib.md5(data).hexdigest() != md5:
            sys.exit(f"{path}: not the MNIST file that was expected: its md5 is not {md5}")
        return data
    sys.exit(f"{folder}: holds none of {', '.join(names)} (with or without .gz)")


def shuffled(rows, word):
    """The rows in an order that depends on the word and on nothing else."""
    return sorted(rows, key=lambda row: hashlib.sha256(f"{word} {row}".encode()).digest())


def write_idx(path, sizes, values):
    """Writes a gzipped ubyte IDX file whose bytes carry neither a time nor a name."""
    header = struct.pack(f">BBBB{len(sizes)}I", 0, 0, UBYTE, len(sizes), *sizes)
    with open(path, "wb") as file:
        with gzip.GzipFile(filename="", mode="wb", compresslevel=9, fileobj=file, mtime=0) as packed:
            packed.write(header + values)
    packed_md5 = hashlib.md5(path.read_bytes()).hexdigest()
    plain_md5 = hashlib.md5(header + values).hexdigest()
    print(f"{path.name}: {path.stat().st_size} bytes, md5 {packed_md5}, uncompressed {plain_md5}")


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit("usage: make_example_digits.py MNIST_FOLDER [OUTPUT_FOLDER]")
    source = pathlib.Path(sys.argv[1])
    default_output = pathlib.Path(__file__).resolve().parent.parent / "examples" / "data"
    output = pathlib.Path(sys.argv[2]) if len(sys.argv) == 3 else default_output

    # The md5s fix the contents, so the headers (16 and 8 bytes) need no parsing.
    images = read_verified(source, ["train-images-idx3-ubyte", "train-images.idx"], IMAGES_MD5)[16:]
    labels = read_verified(source, ["train-labels-idx1-ubyte", "train-labels.idx"], LABELS_MD5)[8:]
    image_size = 28 * 28

    taken = [0] * DIGITS
    chosen = []
    for row in shuffled(range(len(labels)), "draw"):
        if taken[labels[row]] < ROWS_PER_DIGIT:
            taken[labels[row]] += 1
            chosen.append(row)
    # Shuffled once more: common digits reach their 500 early, so the order of the draw would end
    # with the rare ones alone, which is a drifting stream and not an even one.
    chosen = shuffled(chosen, "order")

    output.mkdir(parents=True, exist_ok=True)
    chosen_images = b"".join(images[row * image_size : (row + 1) * image_size] for row in chosen)
    chosen_labels = bytes(labels[row] for row in chosen)
    write_idx(output / "mnist-5000-images.idx.gz", (len(chosen), 28, 28), chosen_images)
    write_idx(output / "mnist-5000-labels.idx.gz", (len(chosen),), chosen_labels)


if __name__ == "__main__":
    main()
