#!/usr/bin/env python3
"""Instructions for a row, scored and learnt, by preset: valgrind's callgrind counts them.

    count.py PROGRAM [PRESET...]
"""
import os
import re
import subprocess
import sys
import tempfile

INPUTS = {"edge": 64, "browser": 784, "desktop": 784}
ROWS = {"edge": 100, "browser": 50, "desktop": 50}
LEVELS = {"edge": ("scalar", "avx2"), "browser": ("scalar", "avx2"), "desktop": ("avx2",)}
FUNCTIONS = ("adapvae_score", "adapvae_learn")


def count(program, preset, level):
    """Instructions inside each function, per row."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "callgrind.out")
        done = subprocess.run(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", "--collect-atstart=no"]
            + [f"--toggle-collect={function}" for function in FUNCTIONS]
            + [program, preset, str(INPUTS[preset]), str(ROWS[preset])],
            env={**os.environ, "ADAPVAE_ISA": level}, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(done.stderr)
        text = subprocess.run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", out],
                              capture_output=True, text=True, check=True).stdout
    numbers = []
    for function in FUNCTIONS:
        found = re.search(rf"^\s*([\d,]+) .*\b{function}\b", text, re.M)
        numbers.append(int(found[1].replace(",", "")) // ROWS[preset])
    return numbers


program = sys.argv[1]
print("| preset | inputs | kernels | score, a row | learn, a row |")
print("|---|---|---|---|---|")
for preset in sys.argv[2:] or INPUTS:
    for level in LEVELS[preset]:
        score, learn = count(program, preset, level)
        print(f"| `{preset}` | {INPUTS[preset]} | {level} | {score:,} | {learn:,} |", flush=True)
