#!/usr/bin/env python3
"""What the firmware of examples/cortex-m said: births when cotton (row 1,201) and red soil (row 2,001) come,
not before; it went on after the power went. With the output of another machine: the same clusters for every row, by
whatever ids, and novelty within 0.02. (Of two halves of a block that are equally large, rounding decides which is born.)

    check_firmware.py [--rows-only] OUTPUT [OTHER]
"""
import re
import sys

arguments = [a for a in sys.argv[1:] if a != "--rows-only"]


def rows(path):
    found = re.findall(r"row (\d+): cluster (\d+), novelty (\d+) millionths", open(path).read())
    return {int(row): (int(cluster), int(novelty)) for row, cluster, novelty in found}


def check(condition, message):
    if not condition:
        raise SystemExit(f"{arguments[0]}: {message}")


text = open(arguments[0]).read()
if "--rows-only" not in sys.argv:
    births = [int(stream) for stream in re.findall(r"stream (\d+): cluster \d+ born", text)]
    check({13, 21} <= set(births), f"births in streams {births}: none for cotton (13) or red soil (21)")
    check(not any(1 < stream < 13 for stream in births), f"a birth among soils: {births}")
    novel = {int(to): int(count) for to, count in re.findall(r"rows to (\d+): novel (\d+)", text)}
    check(len(novel) == 28, f"{len(novel)} streams, not 28")
    check(novel[1300] >= 20 and novel[2100] >= 15, "what is new was not novel when it came")
    check(sum(novel[to] for to in range(200, 1300, 100)) < 30, "too many soils were novel")
    check(re.search(r"the power goes\n.*model 14 found", text), "it did not go on after the power went")
    check(text.rstrip().splitlines()[-1].endswith("done") or "flash operations" in text, "it did not end")
own = rows(arguments[0])
check(len(own) >= 8, "rows are missing")
if len(arguments) > 1:
    there, back = {}, {}
    for row, (cluster, novelty) in rows(arguments[1]).items():
        mine = own[row][0]
        check(there.setdefault(cluster, mine) == mine and back.setdefault(mine, cluster) == cluster,
              f"row {row}: cluster {mine}, where rows like it have another")
        check(abs(own[row][1] - novelty) <= 20000, f"row {row}: novelty {own[row][1]}, not {novelty}, millionths")
