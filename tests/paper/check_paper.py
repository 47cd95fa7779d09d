"""Runs bench/paper on the shipped digits with tiny settings: the last line is a JSON object with every
key, and the pictures and vectors are there. usage: check_paper.py PROGRAM SOURCE_DIRECTORY"""
import json
import os
import subprocess
import sys
import tempfile

program, source = sys.argv[1:]
DATA = os.path.join(source, "examples", "data", "mnist-5000")
TINY = ["hidden1=16", "hidden2=0", "latent=3", "pretrain_epochs=2", "adapt_epochs=1",
        "joint_epochs=1", "max_clusters=6", "quiet=1"]
SCORES = ["k", "nmi", "nmi_geometric", "ari", "hs", "cs", "vm", "acc", "purity"]
SCORES += ["components_" + name for name in SCORES]
KEYS = SCORES + ["protocol", "set", "preset", "seed", "settings", "threads", "rows", "pretrain_rows",
                 "held_out_rows", "seconds", "peak_mb", "model_mb", "frozen", "births",
                 "false_births", "stray_births", "novelty", "novelty_precision", "novelty_recall",
                 "novelty_f1", "rare", "streams"]
STREAM_KEYS = SCORES + ["stream", "rows", "new_classes", "births", "stray_births", "earlier_nmi",
                        "earlier_frozen", "false_alarms", "seconds"]
FINDING = ["class", "clusters", "precision", "recall", "f1", "found"]


def run(protocol, *words, seed=7):
    done = subprocess.run([program, protocol, DATA, str(seed), *TINY, *words], check=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    result = json.loads(done.stdout.splitlines()[-1])
    for key in KEYS:
        assert key in result, (protocol, key)
    for stream in result["streams"]:
        for key in STREAM_KEYS:
            assert key in stream, (protocol, key)
    assert result["protocol"] == protocol and result["seed"] == seed
    assert result["held_out_rows"] == 1000 and result["peak_mb"] > 0
    assert all(0 <= result[key] <= 1 for key in SCORES if not key.endswith("k") and "ari" not in key)
    return result


def refused(*words):
    return subprocess.run([program, *words], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode != 0


batch = run("p1", "rows=200")
assert batch["rows"] == 200 and len(batch["streams"]) == 1 and batch["novelty"] == []
assert batch["settings"]["rows"] == "200" and batch["novelty_f1"] is None

with tempfile.TemporaryDirectory() as folder:
    strict = run("p2", "rows=60", "out=" + folder, "vectors=" + folder)
    for name, size in (("inputs-train", 300 * 784), ("inputs-test", 1000 * 784),
                       ("latent-train", 300 * 3), ("latent-test", 1000 * 3), ("labels-test", 1000)):
        assert os.path.getsize(os.path.join(folder, name + ".f32")) == 4 * size, name
    for name in ("means", "samples"):
        with open(os.path.join(folder, f"p2-seed7-{name}.png"), "rb") as file:
            assert file.read(4) == b"\x89PNG"
assert [s["new_classes"] for s in strict["streams"]] == [[2 * t, 2 * t + 1] for t in range(5)]
assert [n["class"] for n in strict["novelty"]] == list(range(10))
assert all(key in strict["novelty"][3] for key in FINDING + ["stream", "delay_rows", "flagged"])
again = run("p2", "rows=60")
for key in set(KEYS) - {"seconds", "peak_mb", "streams"}:
    assert again[key] == strict[key], key

assert run("p2-paper", "rows=60", "preset=edge")["pretrain_rows"] == 300
rare = run("p3", "rows=200", "fraction=0.1")["rare"]
assert rare["fraction"] == 0.1 and set(FINDING) <= set(rare["held_out"]) & set(rare["streams"])

assert refused("p9", DATA, "0")
assert refused("p1", DATA, "0", "latnet=3")
assert refused("p1", DATA, "0", "inputs=783")
assert refused("p1", os.path.join(source, "docs"), "0")
