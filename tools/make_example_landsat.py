#!/usr/bin/env python3
"""Makes examples/data/landsat.csv: a scanner's four bands over ground that changes.

usage: make_example_landsat.py SATELLITE.csv > landsat.csv

SATELLITE.csv is the Statlog set (6,435 rows, 36 numbers, class), for example by
Rscript -e 'library(mlbench); data(Satellite); write.csv(Satellite, "satellite.csv",
                                                         row.names=FALSE, quote=FALSE)'
"""
import csv
import random
import sys

NAMES = {"grey soil": "grey_soil", "very damp grey soil": "damp_soil", "cotton crop": "cotton",
         "red soil": "red_soil"}
# Rows, and the part of each ground.
PLAN = [(800, {"grey soil": .5, "very damp grey soil": .5}),
        (400, {"grey soil": .5, "very damp grey soil": .5}),
        (800, {"grey soil": .35, "very damp grey soil": .35, "cotton crop": .3}),
        (800, {"grey soil": .3, "very damp grey soil": .3, "cotton crop": .15, "red soil": .25})]

with open(sys.argv[1], newline="") as file:
    rows = list(csv.reader(file))[1:]
of = {}
for row in rows:
    of.setdefault(row[36], []).append(row[16:20])  # the pixel in the middle of nine
rng = random.Random(1)
for ground in sorted(of):
    rng.shuffle(of[ground])
print("green,red,infrared1,infrared2,ground")
for count, parts in PLAN:
    block = [(of[ground].pop(), NAMES[ground])
             for ground, part in parts.items() for _ in range(round(count * part))]
    rng.shuffle(block)
    for bands, name in block:
        print(",".join(bands) + "," + name)
