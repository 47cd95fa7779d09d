"""Runs the benchmarks: ours and a named peer in turn, in one run, best of several.

usage: bench.py --build DIRECTORY [NAME] [--rounds N] [--json]
One line a case: case, unit, ours, peer_name, peer, ratio (ours / peer, above 1 = ours is faster).
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

PAPER = ("784,500,500,2000,10", 500)
DESKTOP = ("784,256,128,10", 100)
MEDIUM = ("784,128,64,8", 100)
TINY = ("64,32,4", 32)


def report(case, unit, ours, peer_name, peer, as_json):
    ratio = ours / peer
    if as_json:
        print(json.dumps({"case": case, "unit": unit, "ours": round(ours, 3),
                          "peer_name": peer_name, "peer": round(peer, 3),
                          "ratio": round(ratio, 3)}), flush=True)
    else:
        print(f"{case:42} {ours:12.1f} {peer:12.1f} {unit:10} {ratio:7.2f} x  {peer_name}",
              flush=True)


class Runner:
    """A process that times one burst of work for every line it is sent."""

    def __init__(self, command, network=None, threads=1, rows=0, **environment):
        settings = dict(os.environ, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads),
                        **environment)
        self.batch = rows
        if network:
            sizes, self.batch = network
            command = command + [sizes, str(self.batch), str(threads)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=settings)
        self.best = float("inf")
        self.name = ""

    def burst(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline().split()
        if len(answer) != 2:
            sys.exit("bench: a runner stopped: " + " ".join(self.process.args))
        self.best = min(self.best, float(answer[0]))
        self.name = answer[1]

    def rows_per_second(self):
        self.process.stdin.close()
        self.process.wait()
        return self.batch / self.best


def compare(ours, peer, rounds):
    for _ in range(rounds):
        ours.burst()
        peer.burst()
    return ours.rows_per_second(), peer.rows_per_second()


def made_up_rows(path, rows, dims, kinds):
    """Rows of a few kinds of unequal size that overlap a little, always the same."""
    import numpy as np
    rng = np.random.default_rng(1)
    centers = 4.0 * rng.normal(size=(kinds, dims))
    kind = rng.choice(kinds, rows, p=np.arange(1, kinds + 1) / np.arange(1, kinds + 1).sum())
    spread = np.exp(rng.uniform(-0.7, 0.7, size=(kinds, dims)))
    values = centers[kind] + spread[kind] * rng.normal(size=(rows, dims))
    values.astype("<f4").tofile(path)


def compare_mixture(options, here, step):
    ours = os.path.join(options.build, "bench", "bench_mixture")
    peer = [sys.executable, os.path.join(here, "peers", "sklearn_mixture.py")]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "rows.f32")
        made_up_rows(path, 20000, 10, 20)
        step("mixture_lap_10_dims_30_clusters",
             Runner([ours, "lap", path, "10", "30"], rows=20000),
             Runner(peer + ["lap", path, "10", "30"], rows=20000))
        step("mixture_stream_row_1000000_beside_row_10000",
             Runner([ours, "old", path, "10"], rows=5000),
             Runner([ours, "young", path, "10"], rows=5000), "ours-young")
        rows = 70000
        if options.rows:
            path = options.rows
            rows = os.path.getsize(path) // 40
        else:
            made_up_rows(path, rows, 10, 20)
        rounds, options.rounds = options.rounds, 1
        step("mixture_whole_fit_10_dims", Runner([ours, "fit", path, "10"], rows=rows),
             Runner(peer + ["fit", path, "10", "30"], rows=rows))
        options.rounds = rounds


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("name", nargs="?", choices=["gemm", "vae", "joint", "boundary", "isa", "threads", "mixture"])
    parser.add_argument("--build", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rows", help="file of 10-dimensional float rows for the whole fit")
    options = parser.parse_args()
    here = os.path.dirname(os.path.abspath(__file__))
    vae = [os.path.join(options.build, "bench", "bench_vae")]
    torch = [sys.executable, os.path.join(here, "peers", "torch_vae.py")]

    def wanted(name):
        return options.name in (None, name)

    def step(case, ours, peer, peer_name=None):
        rows, peer_rows = compare(ours, peer, options.rounds)
        report(case, "rows/s", rows, peer_name or peer.name, peer_rows, options.json)

    if not options.json:
        print(f"{'case':42} {'ours':>12} {'peer':>12} {'unit':10} {'ratio':>7}    peer")
    if wanted("vae"):
        for name, network in (("paper", PAPER), ("medium", MEDIUM), ("tiny", TINY)):
            step(f"vae_step_{name}_{network[0].replace(',', '-')}_batch{network[1]}",
                 Runner(vae, network), Runner(torch, network))
        tiny_dnn = os.path.join(options.build, "bench", "tiny_dnn_autoencoder")
        if os.path.exists(tiny_dnn):
            step("vae_step_medium_beside_tiny_dnn", Runner(vae, MEDIUM), Runner([tiny_dnn], MEDIUM))
    if wanted("joint"):
        joint = [os.path.join(options.build, "bench", "bench_joint")]
        for name, (sizes, batch) in (("paper", PAPER), ("desktop", DESKTOP), ("browser", MEDIUM)):
            step(f"joint_epoch_{name}_{sizes.replace(',', '-')}",
                 Runner(joint + [sizes, str(batch), "joint"], rows=batch),
                 Runner(joint + [sizes, str(batch), "plain"], rows=batch))
    if wanted("boundary"):
        boundary = [os.path.join(options.build, "bench", "bench_boundary")]
        for preset in ("edge", "browser"):
            for rows in (1, 32, 1024):
                step(f"score_{preset}_{rows}_rows",
                     Runner(boundary + [preset, str(rows), "capi"], rows=rows),
                     Runner(boundary + [preset, str(rows), "core"], rows=rows))
    if wanted("isa"):
        step("vae_step_paper_avx2", Runner(vae, PAPER, ADAPVAE_ISA="avx2"), Runner(torch, PAPER))
        step("vae_step_paper_baseline", Runner(vae, PAPER, ADAPVAE_ISA="baseline"),
             Runner(vae, PAPER, ADAPVAE_ISA="scalar"), "ours-scalar")
    if wanted("threads"):
        step("vae_step_paper_2_threads", Runner(vae, PAPER, threads=2), Runner(vae, PAPER),
             "ours-1-thread")
    if wanted("mixture"):
        compare_mixture(options, here, step)
    if wanted("gemm"):
        lines = subprocess.run([os.path.join(options.build, "bench", "bench_gemm")], check=True,
                               stdout=subprocess.PIPE, text=True).stdout.splitlines()
        for line in lines:
            case, ours, blas, native, portable = line.split()
            for peer_name, peer in (("openblas", blas), ("eigen-native", native),
                                    ("eigen-x86-64", portable)):
                report(case, "GFLOP/s", float(ours), peer_name, float(peer), options.json)


main()
