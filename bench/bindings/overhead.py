#!/usr/bin/env python3
"""What Python adds to adapvae_score():  overhead.py COMPILER FOLDER

The same library, model and rows, from C and from Python in turn; best of many, five rounds.
"""
import pathlib
import subprocess
import sys
import time

import adapvae
import numpy as np

COUNTS = [1024, 1]
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
compiler, folder = sys.argv[1], pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
library = pathlib.Path(adapvae.__file__).parent
subprocess.check_call([compiler, "-O2", f"-I{ROOT / 'capi/include'}", str(ROOT / "bench/bindings/overhead.c"),
                       str(library / "libadapvae.so"), f"-Wl,-rpath,{library}", "-o", str(folder / "overhead")])


def best_from_python(call):
    best, end = 1e9, time.perf_counter() + 1
    start = time.perf_counter()
    while start < end:
        call()
        now = time.perf_counter()
        best, start = min(best, now - start), now
    return best


print("| network | rows | C, µs | Python, µs | ratio | more, µs |")
print("|---|---|---|---|---|---|")
for preset, inputs in (("edge", 64), ("desktop", 784)):
    rows = np.random.default_rng(1).random((1024, inputs), dtype=np.float32)
    model = adapvae.AdapVAE(preset=preset, pretrain_epochs=1, joint_epochs=1, neighbour_epochs=1).partial_fit(rows[:200])
    model.save(folder / "model")
    rows.tofile(folder / "rows")
    best = {count: [1e9, 1e9] for count in COUNTS}
    for _ in range(5):
        told = subprocess.run([str(folder / "overhead"), str(folder / "model"), str(folder / "rows"),
                               *map(str, COUNTS)], check=True, capture_output=True, text=True).stdout.split()
        for count, seconds in zip(COUNTS, map(float, told)):
            some = rows[:count]
            ours = best_from_python(lambda: model.score_rows(some))
            best[count] = [min(best[count][0], seconds), min(best[count][1], ours)]
    for count, (c, python) in best.items():
        print(f"| {preset} | {count} | {1e6 * c:.1f} | {1e6 * python:.1f} | {python / c:.3f} | {1e6 * (python - c):.1f} |")
