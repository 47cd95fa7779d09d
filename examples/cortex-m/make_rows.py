#!/usr/bin/env python3
"""The rows of examples/data/landsat.csv as a C file: make_rows.py LANDSAT_CSV OUTPUT_C

The data are A. Srinivasan's, Statlog (Landsat Satellite), UCI Machine Learning Repository, 1993, CC BY 4.0:
see examples/data/README.md.
"""
import csv
import sys

with open(sys.argv[1], newline="") as file:
    rows = [row[:4] for row in csv.reader(file)][1:]
with open(sys.argv[2], "w") as out:
    out.write("/* Made by make_rows.py from landsat.csv (CC BY 4.0, doi:10.24432/C55887). */\n#include <stdint.h>\n")
    out.write(f"const int landsat_rows = {len(rows)};\nconst uint8_t landsat[][4] = {{\n")
    out.writelines("    {%s},\n" % ", ".join(row) for row in rows)
    out.write("};\n")
