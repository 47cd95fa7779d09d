"""The paper's protocols over seeds, beside the paper's figures and k-means. Labels only score.

usage: paper.py --build DIRECTORY PROTOCOL [--seeds N | --seeds A-B] [--preset NAME] [--rows N]
                [--fraction F] [--set name=value]... [--data DIRECTORY] [--json] [--out DIRECTORY]
                [--no-peers]

PROTOCOL: p1 p2 p2-paper p3 p3-paper p4 p5 fashion fashion-p2 p6; p5 and p6 are two runs each, which
also have names of their own (p5-cifar10, p5-imagenet50, p6-faults, p6-healthy). --set takes the names
of docs/configuration.md and those of bench/paper/paper.cpp. --data is a folder of data sets, each a
folder of IDX files; MNIST and Fashion-MNIST need none. Results go to OUT/PROTOCOL.json and .md
(default build/paper), pictures, too, if --out is given; --json prints the JSON objects, one a line,
and not the table.
"""
import argparse
import datetime
import json
import os
import platform
import shlex
import statistics
import subprocess
import sys
import tempfile

GROUPS = {"p5": ["p5-cifar10", "p5-imagenet50"], "p6": ["p6-faults", "p6-healthy"]}
FRACTIONS = [0.01, 0.02, 0.05, 0.10, 0.15, 0.20]
LEVELS = [("clusters", ""), ("components", "components_")]
METRICS = ["nmi", "nmi_geometric", "ari", "hs", "cs", "vm", "acc", "purity"]
HEADS = ["NMI", "NMI geom.", "ARI", "HS", "CS", "VM", "ACC", "purity", "K", "seconds", "peak MB"]
PEERS = [("k-means on the inputs", "inputs"), ("k-means on our latents", "latent")]

# Percent, as published; the paper's NMI is the geometric one. Its autoencoder had seen labels and,
# in streams, every digit: see the note under the table.
PUBLISHED = {
    "p1": [("AdapVAE, paper", dict(nmi_geometric=85.72, ari=83.53, hs=89.34, vm=85.65, k="11-15")),
           ("DEC (knows K)", dict(nmi_geometric=84.67, ari=83.67, k="10")),
           ("VaDE (knows K)", dict(nmi_geometric=80.35, ari=74.06, k="10")),
           ("VAE + DP, paper", dict(nmi_geometric=81.70, ari=70.49, k="19-26"))],
    "p4": [("AdapVAE, paper, on REUTERS-10K",
            dict(nmi_geometric=45.32, ari=42.66, hs=48.88, vm=45.40))],
    "p5-cifar10": [("AdapVAE, paper, on STL-10",
                    dict(nmi_geometric=75.26, ari=70.72, hs=77.61, vm=75.22))],
}
# Precision and recall by digit; 1 is three clusters in the paper: their recalls summed, their
# precisions weighted by the rows found.
PAPER_DIGITS = [(100, 96.60), (97.7, 97.93), (92.96, 99.64), (99.21, 95.20), (98.80, 99.62),
                (99.64, 77.45), (99.64, 97.03), (97.52, 97.80), (88.03, 98.57), (83.47, 96.29)]
PAPER_RARE = {0.01: "not found", 0.02: "recall 76.1", 0.20: "found, two clusters"}
NOTE = """The paper's figures are not of an unsupervised protocol without a future: the authors' scripts load
an autoencoder that was pretrained with labels and, for streams, had seen every digit. Ours use no label
but to make streams and to score; "strict" uses nothing from later streams, "paper's way" pretrains on
unlabelled rows of all classes."""


def say(*words):
    print(*words, file=sys.stderr, flush=True)


class Bench:
    def __init__(self, options):
        self.options = options
        self.program = os.path.join(options.build, "bench", "paper", "paper")
        lines = subprocess.run([self.program, "--list"], check=True, stdout=subprocess.PIPE,
                               text=True).stdout.splitlines()
        self.known = {name: (data, sentence)
                      for name, data, sentence in (line.split("\t") for line in lines)}

    def folder(self, name):
        """Where the protocol's set is: in --data, or where ./run puts what it can fetch."""
        data = self.known[name][0]
        here = [os.path.join(self.options.data, data)] if self.options.data else []
        here.append(os.path.join("build", "data", data))
        for folder in here:
            if os.path.isdir(folder):
                return folder
        sys.exit(f"paper: no data set {data}; give the folder that holds it with --data")

    def run(self, name, seed, settings):
        """One seed: the program's JSON object, with the peers' scores."""
        words = [f"preset={self.options.preset}"] + settings
        if self.options.out:
            words.append("out=" + self.options.out)
        say(f"paper: {name} seed {seed} {' '.join(words)}")
        with tempfile.TemporaryDirectory() as folder:
            # k-means has nothing to say about rare or no news.
            wanted = self.options.peers and not name.startswith(("p3", "p6-healthy"))
            if wanted:
                words.append("vectors=" + folder)
            done = subprocess.run([self.program, name, self.folder(name), str(seed)] + words,
                                  stdout=subprocess.PIPE, text=True)
            if done.returncode != 0:
                sys.exit(done.returncode)
            result = json.loads(done.stdout.splitlines()[-1])
            if wanted:
                result["peers"] = peers(folder, seed)
        return result


def result_classes(result):
    return [c for stream in result["streams"] for c in stream["new_classes"]]


def peers(folder, seed):
    """k-means with the true K on the rows of all streams at once, scored on the held-out rows."""
    import numpy as np
    from scipy.optimize import linear_sum_assignment
    from sklearn import metrics
    from sklearn.cluster import KMeans

    def read(part):
        return np.fromfile(os.path.join(folder, part + ".f32"), "<f4")

    labels = read("labels-test").astype(int)
    classes = len(np.unique(labels))
    out = {}
    for _, space in PEERS:
        test = read(space + "-test").reshape(len(labels), -1)
        train = read(space + "-train").reshape(-1, test.shape[1])
        found = KMeans(classes, n_init=3, random_state=seed).fit(train).predict(test)
        table = metrics.cluster.contingency_matrix(labels, found)
        homogeneity, completeness, v_measure = metrics.homogeneity_completeness_v_measure(
            labels, found)
        out[space] = {
            "k": classes,
            "nmi": metrics.normalized_mutual_info_score(labels, found),
            "nmi_geometric": metrics.normalized_mutual_info_score(
                labels, found, average_method="geometric"),
            "ari": metrics.adjusted_rand_score(labels, found), "hs": homogeneity,
            "cs": completeness, "vm": v_measure,
            "acc": table[linear_sum_assignment(-table)].sum() / len(labels),
            "purity": table.max(axis=0).sum() / len(labels),
        }
    return out


# ---- tables --------------------------------------------------------------------------------------


def spread(values, factor=1.0, digits=1):
    """Mean ± standard deviation; without the latter for one value, a dash for none."""
    values = [factor * v for v in values if v is not None]
    if not values:
        return "–"
    mean = f"{statistics.mean(values):.{digits}f}"
    return mean if len(values) == 1 else f"{mean} ± {statistics.stdev(values):.{digits}f}"


def line(cells):
    return "| " + " | ".join(cells) + " |"


def table(heads, rows):
    return [line(heads), line(["---"] * len(heads))] + [line(row) for row in rows] + [""]


def agreement_table(name, results):
    rows = []
    for level, prefix in LEVELS:
        rows.append([f"adapvae, {level}"]
                    + [spread([r[prefix + m] for r in results], 100) for m in METRICS]
                    + [spread([r[prefix + "k"] for r in results]),
                       spread([r["seconds"] for r in results], digits=0),
                       spread([r["peak_mb"] for r in results], digits=0)])
    for title, space in PEERS:
        scored = [r["peers"][space] for r in results if "peers" in r]
        if scored:
            rows.append([title + " (knows K)"]
                        + [spread([s[m] for s in scored], 100) for m in METRICS]
                        + [str(scored[0]["k"]), "–", "–"])
    for title, figures in PUBLISHED.get(name, []):
        rows.append([title] + [f"{figures[m]:.2f}" if m in figures else "–" for m in METRICS]
                    + [figures.get("k", "–"), "–", "–"])
    return table([""] + HEADS, rows)


def novelty_table(name, results):
    rows = []
    for i, first in enumerate(results[0]["novelty"]):
        found = [r["novelty"][i] for r in results]
        delays = [n["delay_rows"] for n in found if n["delay_rows"] >= 0]
        row = [str(first["class"]), str(first["stream"])]
        row += [spread([n[key] for n in found], 100) for key in ("precision", "recall", "f1")]
        row += [f"{sum(n['found'] for n in found)} of {len(found)}",
                spread([n["clusters"] for n in found]), spread(delays, digits=0),
                spread([n["flagged"] for n in found], 100)]
        if name in ("p2", "p2-paper"):
            row += [f"{value:g}" for value in PAPER_DIGITS[first["class"]]]
        rows.append(row)
    heads = ["class", "stream", "precision", "recall", "F1", "found", "clusters", "delay (rows)",
             "flagged at once"]
    if name in ("p2", "p2-paper"):
        heads += ["precision, paper", "recall, paper"]
    mean = [f"mean: precision {spread([r['novelty_precision'] for r in results], 100)}, recall "
            f"{spread([r['novelty_recall'] for r in results], 100)}, F1 "
            f"{spread([r['novelty_f1'] for r in results], 100)}; accuracy with a cluster's class "
            f"fixed at its birth {spread([r['frozen'] for r in results], 100)}.", ""]
    return table(heads, rows) + mean


def stream_table(results):
    rows = []
    for i, first in enumerate(results[0]["streams"]):
        same = [r["streams"][i] for r in results]
        rows.append([str(first["stream"]), " ".join(map(str, first["new_classes"])) or "nothing",
                     spread([s["nmi"] for s in same], 100),
                     spread([s["components_nmi"] for s in same], 100),
                     spread([s["earlier_nmi"] for s in same], 100),
                     spread([s["earlier_frozen"] for s in same], 100),
                     spread([s["k"] for s in same]), spread([s["components_k"] for s in same]),
                     spread([s["births"] for s in same]),
                     spread([s["births"] if not s["new_classes"] else s["stray_births"]
                             for s in same]),
                     spread([s["false_alarms"] for s in same], 100)])
    return table(["stream", "new", "NMI", "NMI, components", "NMI, earlier classes",
                  "frozen accuracy, earlier classes", "K", "components", "births", "of nothing new",
                  "false alarms before"], rows)


def rare_table(results):
    rows = []
    for fraction in sorted({r["rare"]["fraction"] for r in results}):
        same = [r for r in results if r["rare"]["fraction"] == fraction]
        row = [f"{100 * fraction:g} %"]
        for where in ("held_out", "streams"):
            found = [r["rare"][where] for r in same]
            row += [f"{sum(f['found'] for f in found)} of {len(found)}"]
            row += [spread([f[key] for f in found], 100) for key in ("precision", "recall", "f1")]
        row += [spread([r["rare"]["held_out"]["clusters"] for r in same]),
                spread([r["stray_births"] for r in same]),
                spread([r["k"] for r in same]), PAPER_RARE.get(round(fraction, 3), "–")]
        rows.append(row)
    heads = ["fives", "found", "precision", "recall", "F1", "found, streams' rows", "precision",
             "recall", "F1", "clusters", "other births", "K", "paper"]
    return table(heads, rows)


def report(bench, results_by_name):
    """Markdown of all runs so far."""
    commit = subprocess.run(["git", "describe", "--always", "--dirty"], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, text=True).stdout.strip() or "unknown"
    out = [f"# {bench.options.protocol}", "",
           f"`./run paper {shlex.join(bench.options.words)}`; commit {commit}, "
           f"{datetime.date.today()}, {machine()}. Percent; ± is the standard deviation over seeds; "
           "rows that are scored are held out.", ""]
    for name, results in results_by_name.items():
        seeds = sorted({r["seed"] for r in results})
        births = [r["false_births"] for r in results]
        first = results[0]
        out += [f"## {name}: {bench.known[name][1]}", "",
                f"Preset {first['preset']}, seeds {', '.join(map(str, seeds))}; "
                f"{first['rows']} rows in {len(first['streams'])} streams, {first['held_out_rows']} "
                f"held out, {first['threads']} threads.", ""]
        if first["rare"]:
            out += rare_table(results)
        elif len(set(result_classes(first))) == 1:
            out += [f"Births in streams without anything new: {spread(births)} a seed (by seed: "
                    f"{', '.join(map(str, births))}).", ""]
        else:
            out += agreement_table(name, results)
            if first["novelty"]:
                out += novelty_table(name, results) + stream_table(results)
    return "\n".join(out + [NOTE, ""])


def machine():
    try:
        with open("/proc/cpuinfo") as file:
            model = next(line.split(":")[1].strip() for line in file if "model name" in line)
    except (OSError, StopIteration):
        model = platform.machine()
    return f"{model}, {os.cpu_count()} cores"


# ---- running -------------------------------------------------------------------------------------


def read_seeds(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last) + 1) if last else range(int(first))


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("protocol")
    parser.add_argument("--build", required=True)
    parser.add_argument("--seeds", type=read_seeds, default=range(5))
    parser.add_argument("--preset", default="desktop")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--fraction", type=float, action="append")
    parser.add_argument("--set", action="append", default=[], metavar="name=value")
    parser.add_argument("--data")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--out")
    parser.add_argument("--no-peers", dest="peers", action="store_false")
    options = parser.parse_args()
    # As it was typed, without what ./run added.
    words = sys.argv[1:]
    at = words.index("--build")
    options.words = words[:at] + words[at + 2:]
    return parser, options


def main():
    parser, options = read_options()
    bench = Bench(options)
    names = GROUPS.get(options.protocol, [options.protocol])
    if not set(names) <= set(bench.known):
        lines = [f"  {name:14} {sentence}" for name, (_, sentence) in bench.known.items()]
        parser.exit(2, f"paper: there is no protocol '{options.protocol}'; there are\n"
                    + "\n".join(lines) + "\n  p5, p6         both of each\n")
    folder = options.out or os.path.join("build", "paper")
    os.makedirs(folder, exist_ok=True)
    settings = list(options.set) + ([f"rows={options.rows}"] if options.rows else [])
    fixed = any(word.startswith("fraction=") for word in settings)
    results = {}
    for name in names:
        variants = [[]]
        if name.startswith("p3") and not fixed:
            variants = [[f"fraction={f:g}"] for f in options.fraction or FRACTIONS]
        for seed in options.seeds:
            for variant in variants:
                result = bench.run(name, seed, settings + variant)
                results.setdefault(name, []).append(result)
                if options.json:
                    print(json.dumps(result), flush=True)
                # After each, so that a run that is stopped leaves what it has.
                with open(os.path.join(folder, options.protocol + ".json"), "w") as file:
                    for lines in results.values():
                        file.writelines(json.dumps(r) + "\n" for r in lines)
                text = report(bench, results)
                with open(os.path.join(folder, options.protocol + ".md"), "w") as file:
                    file.write(text)
    if not options.json:
        print(text)
    say(f"paper: written to {folder}/{options.protocol}.json and .md")


if __name__ == "__main__":
    main()
