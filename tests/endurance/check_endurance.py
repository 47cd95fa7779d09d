#!/usr/bin/env python3
"""Small versions of the endurance families must give the right clusters: check_endurance.py PROGRAM

Each family is learnt with three seeds. Two of them must have exactly one id for each state: rounding differs between
instruction sets, and one seed may fall on the other side of a decision. Long runs: ./run endurance.
"""
import json
import subprocess
import sys

SEEDS = 3
# Families whose figures are worse, and by how much: docs/results/endurance.md says why.
SURPLUS_IDS = {"stuck_input": 2, "heavy_tails": 3}  # of a seed
LEAST_NMI = {"heavy_tails": 0.88, "blocks_of_10": 0.85}  # mean of the seeds
LEAST_KEPT = {"heavy_tails": 0.9, "blocks_of_10": 0.75}
FEWER_IDS = {"blocks_of_10"}  # not every state is found


def mean(rows, key):
    return sum(row[key] for row in rows) / len(rows)


def faults(family, rows):
    surplus = SURPLUS_IDS.get(family, 0)
    exact = sum(row["ids_ever"] <= row["states"] + surplus and (family in FEWER_IDS or row["ids_ever"] >= row["states"])
                for row in rows)
    if exact < SEEDS - 1:
        yield f"ids ever used {[row['ids_ever'] for row in rows]}, states {rows[0]['states']}"
    for key, least in (("nmi_end", LEAST_NMI.get(family, 0.95)), ("ids_kept", LEAST_KEPT.get(family, 0.95))):
        if not mean(rows, key) >= least:
            yield f"{key} {mean(rows, key):.3f}, at least {least}"
    if not mean(rows, "false_alarms") <= 0.03:
        yield f"false alarms {mean(rows, 'false_alarms'):.4f}, target 0.01"
    if family == "burst" and not mean(rows, "burst_known") >= 0.85:
        yield f"burst known {mean(rows, 'burst_known'):.3f}"
    if family == "standstill" and not mean(rows, "first_block_novel") >= 0.95:
        yield f"novel in the first block {mean(rows, 'first_block_novel'):.3f}"


def main():
    command = [sys.argv[1], "--small"]
    for seed in range(1, SEEDS + 1):
        command += ["--seed", str(seed)]
    families = {}
    for line in subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines():
        row = json.loads(line.replace("nan", "NaN"))
        families.setdefault(row["family"], []).append(row)
    assert len(families) >= 23, "families are missing"
    bad = [f"{family}: {fault}" for family, rows in families.items() for fault in faults(family, rows)]
    print("\n".join(bad) or f"{len(families)} families are as they should be")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
