#!/usr/bin/env python3
"""Learns long synthetic sensor streams and prints one table. `./run endurance` calls it.

usage: endurance.py PROGRAM [--seeds N] [--first-seed N] [--small] [--family NAME]... [--data DIRECTORY] [--set name=value]... [--json]
       endurance.py --table FILE: the table of JSON lines that were written before

--data: recorded streams instead (bench/endurance_recordings.py), for which DIRECTORY has the data sets.

Each figure is the mean over the seeds; ids_ever and false births are listed for each seed.
"""
import argparse
import collections
import json
import math
import subprocess
import sys
import tempfile

import endurance_recordings

COLUMNS = [
    ("NMI on arrival", "nmi_arrival", "{:.3f}"), ("NMI at the end", "nmi_end", "{:.3f}"),
    ("states", "states", "{:.0f}"), ("ids ever used", "ids_ever", "list"), ("ids kept", "ids_kept", "{:.3f}"),
    ("false births", "false_births", "list"), ("in the second half", "late_false_births", "list"),
    ("rows until birth", "delay_rows", "list"), ("states not found", "not_found", "list"),
    ("novel in first block", "first_block_novel", "{:.3f}"), ("false alarms", "false_alarms", "{:.4f}"),
    ("burst known", "burst_known", "{:.2f}"), ("loss early", "loss_early", "{:.3g}"), ("loss at the end", "loss_end", "{:.3g}"),
    ("refused", "refused", "list"), ("µs a row, late", "seconds_late", "micro"), ("MB", "memory", "mega"),
]


def cell(rows, key, form):
    values = [row[key] for row in rows]
    if form == "list":
        return " ".join(f"{value:g}" for value in values)
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return ""
    mean = sum(known) / len(known)
    if form == "micro":
        return f"{1e6 * mean:.1f}"
    if form == "mega":
        return f"{mean / 1e6:.1f}"
    return form.format(mean)


def print_table(results):
    families = collections.OrderedDict()
    for row in results:
        families.setdefault(row["family"], []).append(row)
    print("| family | " + " | ".join(title for title, _, _ in COLUMNS) + " |")
    print("|---" * (len(COLUMNS) + 1) + "|")
    for name, rows in families.items():
        print(f"| {name} | " + " | ".join(cell(rows, key, form) for _, key, form in COLUMNS) + " |")


def parse(text):
    return [json.loads(line.replace(":nan", ":NaN").replace(":-nan", ":NaN")) for line in text.splitlines() if line]


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("program", nargs="?")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--first-seed", type=int, default=101)
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--family", action="append", default=[])
    parser.add_argument("--set", action="append", default=[])
    parser.add_argument("--data")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--table")
    options = parser.parse_args()
    if options.table:
        print_table(parse(open(options.table).read()))
        return
    with tempfile.TemporaryDirectory() as folder:
        run(options, folder)


def run(options, folder):
    command = [options.program]
    for seed in range(options.first_seed, options.first_seed + options.seeds):
        command += ["--seed", str(seed)]
    if options.data:
        for name, path in endurance_recordings.write(options.data, folder, options.family):
            command += ["--recording", f"{name}={path}"]
    else:
        for name in options.family:
            command += ["--family", name]
    for setting in options.set:
        command += ["--set", setting]
    if options.small:
        command.append("--small")
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)
    if options.json:
        print(done.stdout, end="")
    else:
        print_table(parse(done.stdout))


if __name__ == "__main__":
    main()
