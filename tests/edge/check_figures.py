#!/usr/bin/env python3
"""Measured figures are those of the document, within 3 % both ways.

    check_figures.py PRESET FIGURES DOCUMENT

FIGURES has lines "name number"; the document a table whose first column has the names and whose head has the
presets.
tools/update_edge_figures.py writes the document anew.
"""
import re
import sys

preset, figures, document = sys.argv[1:4]
measured = {}
for line in open(figures):
    if not re.fullmatch(r"[a-z_.]+ \d+", line.strip()):
        raise SystemExit(f"check_figures: not a figure: {line.strip()}")
    name, number = line.split()
    measured[name] = int(number)
column, stated = None, {}
for line in open(document):
    cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
    if preset in cells:
        column = cells.index(preset)
    elif column and len(cells) > column and re.fullmatch(r"`[a-z_.]+`", cells[0]) and cells[column] != "":
        stated[cells[0].strip("`")] = int(cells[column].replace(",", ""))
    elif column and not line.startswith("|"):
        column = None
wrong = []
for name in sorted(measured.keys() | stated.keys()):
    if name not in measured or name not in stated:
        wrong.append(f"{name}: measured {measured.get(name)}, in the document {stated.get(name)}")
    elif abs(measured[name] - stated[name]) > 0.03 * stated[name]:
        wrong.append(f"{name}: measured {measured[name]}, in the document {stated[name]}")
if wrong:
    raise SystemExit(f"check_figures: {document} is not what {preset} has:\n  " + "\n  ".join(wrong))
print(f"figures, {preset}: ok ({len(measured)})")
