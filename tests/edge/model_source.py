#!/usr/bin/env python3
"""A snapshot as a C file, aligned as its weights need it: model_source.py SNAPSHOT OUTPUT_C"""
import sys

data = open(sys.argv[1], "rb").read()
with open(sys.argv[2], "w") as out:
    out.write("#include <stdint.h>\n")
    out.write(f"const uint32_t model_size = {len(data)};\n")
    out.write("__attribute__((aligned(8))) const uint8_t model_bytes[] = {\n")
    out.writelines("    %s,\n" % ", ".join(map(str, data[at:at + 24])) for at in range(0, len(data), 24))
    out.write("};\n")
