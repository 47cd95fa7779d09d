"""Writes the seeds of fuzz_rows: a byte for the format, one for the options, a small file.

usage: make_rows_corpus.py FOLDER
"""
import gzip
import os
import struct
import sys
import zlib

SNIFF, CSV, TSV, JSONL, IDX, NPY, IMAGE, PACKED = range(8)


def npy(descr, shape, data, version=1, order="False", extra=""):
    text = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, {extra}}}"
    text += " " * (-(len(text) + 11) % 16) + "\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text.encode() + data


def png(width, height, kind, depth, channels, interlace=0):
    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
    row = (width * channels * depth + 7) // 8
    raw = b"".join(bytes([y % 5]) + bytes((x * 37 + y * 11) % 256 for x in range(row)) for y in range(height))
    head = struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, interlace)
    palette = chunk(b"PLTE", bytes(range(48))) if kind == 3 else b""
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + palette + chunk(b"IDAT", zlib.compress(raw))
            + chunk(b"IEND", b""))


# 8 × 8, grey, written by stb_image_write.
JPEG = bytes.fromhex(
    "ffd8ffe000104a46494600010100000100010000ffdb0084000d090a0b0a080d0b0a0b0e0e0d0f13201513121213271c1e17202e2931302e"
    "292d2c333a4a3e333646372c2d405741464c4e525352323e5a615a50604a51524f010e0e0e131113261515264f352d354f4f4f4f4f4f4f4f"
    "4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4f4fffc0001108000800080301220002"
    "1101031101ffc401a20000010501010101010100000000000000000102030405060708090a0b100002010303020403050504040000017d01"
    "020300041105122131410613516107227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738393a"
    "434445464748494a535455565758595a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7a8"
    "a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9fa01000301010101"
    "01010101010000000000000102030405060708090a0b11000201020404030407050404000102770001020311040521310612415107617113"
    "22328108144291a1b1c109233352f0156272d10a162434e125f11718191a262728292a35363738393a434445464748494a53545556575859"
    "5a636465666768696a737475767778797a82838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4"
    "c5c6c7c8c9cad2d3d4d5d6d7d8d9dae2e3e4e5e6e7e8e9eaf2f3f4f5f6f7f8f9faffda000c03010002110311003f0087c0507fabe3d2bd07"
    "c8f6ae1fc05ff2cff0af41a00fffd9")
FLOATS = struct.pack("<6f", 1, 2, 3, 4, 5, 6)
IDX_BYTES = bytes([0, 0, 8, 3]) + struct.pack(">3i", 3, 2, 2) + bytes(range(12))
IDX_FLOATS = bytes([0, 0, 13, 2]) + struct.pack(">2i", 3, 2) + struct.pack(">6f", 1, 2, 3, 4, 5, 6)
SEEDS = [
    (CSV, 0, b"a,b,c\n1,2,3\n4,5,6\n"), (SNIFF, 1, b"\xef\xbb\xbfa;b;c\r\n1;;3\r\n4;5;6"),
    (CSV, 16, b'a,b,c\n1,2,"x\r\ny ""z"", w"\n3,4,5" pipe\n'), (TSV, 2, b"1\t2\tx\n3\t\t\n"),
    (CSV, 28, b'"1", 2 ,c\n-1e5,+.5,"q"\n'), (CSV, 0, b'1,"2\n3\n4'), (CSV, 0, b'1,"2"x\n'),
    (JSONL, 0, b"[1,2.5e3,-0]\n\n[4,true,null]\n"), (SNIFF, 20, b'{"1":1,"b":2,"c":"\\u00e9\\ud83d\\ude00"}\n'),
    (JSONL, 1, b'{"a":1,"b":"x\\n"}\n{"b":2,"a":1e-400}\n'), (JSONL, 0, b"[[1]]"), (JSONL, 0, b"[NaN]\n"),
    (IDX, 0, IDX_BYTES), (IDX, 32, IDX_FLOATS), (IDX, 0, gzip.compress(IDX_BYTES, mtime=0)),
    (PACKED, 0, IDX_FLOATS), (IDX, 0, gzip.compress(bytes([0, 0, 8, 1, 0, 0, 2, 0]) + bytes(512), mtime=0)),
    (NPY, 0, npy("'<f4'", "(2, 3)", FLOATS)), (NPY, 0, npy("'|u1'", "(2, 3, 2)", bytes(12), 2)),
    (NPY, 0, npy("'>i8'", "(3,)", bytes(24), 3)), (NPY, 0, npy("'<f4'", "()", FLOATS[:4])),
    (NPY, 0, npy("[('a', '<f4')]", "(6,)", FLOATS)), (NPY, 0, npy("'<f8'", "(1, 3)", FLOATS, 1, "True")),
    (IMAGE, 0, png(8, 8, 0, 8, 1)), (IMAGE, 64, png(8, 8, 2, 8, 3)), (IMAGE, 128, png(7, 5, 6, 16, 4)),
    (IMAGE, 0, png(8, 8, 3, 4, 1)), (IMAGE, 0, png(8, 8, 4, 8, 2, 1)), (IMAGE, 0, JPEG),
]

os.makedirs(sys.argv[1], exist_ok=True)
for number, (form, bits, data) in enumerate(SEEDS):
    with open(os.path.join(sys.argv[1], f"seed{number:02}"), "wb") as file:
        file.write(bytes([form, bits]) + data)
