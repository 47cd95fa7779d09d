#!/usr/bin/env python3
"""Writes measured figures of boards into docs/results/edge.md.

    update_edge_figures.py PRESET...      after ./run test edge; reads build/edge/PRESET.figures
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs/results/edge.md"
measured = {preset: dict(line.split() for line in open(ROOT / f"build/edge/{preset}.figures")) for preset in sys.argv[1:]}
lines, columns = [], {}
for line in DOCUMENT.read_text().splitlines():
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if any(preset in cells for preset in measured):
        columns = {preset: cells.index(preset) for preset in measured if preset in cells}
    elif not line.startswith("|"):
        columns = {}
    name = re.fullmatch(r"`([a-z_.]+)`", cells[0])
    for preset, column in columns.items():
        if name and column < len(cells) and cells[column] and name[1] in measured[preset]:
            cells[column] = f"{int(measured[preset][name[1]]):,}"
            line = "| " + " | ".join(cells) + " |"
    lines.append(line)
DOCUMENT.write_text("\n".join(lines) + "\n")
