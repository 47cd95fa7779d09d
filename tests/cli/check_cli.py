"""The program as a user has it: a real file system, real pipes, real signals.

usage: check_cli.py PROGRAM
"""
import gzip
import json
import os
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
SMALL = ["--block", "150", "--set", "pretrain_epochs=10", "--set", "joint_epochs=3", "--threads", "1"]


def call(*words, rows=None, code=0):
    done = subprocess.run([PROGRAM, *map(str, words)], input=rows, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=120)
    assert done.returncode == code, (words, done.returncode, done.stderr)
    return done


def lines(text):
    return [json.loads(line) for line in text.splitlines()]


def world(count, kinds=2, seed=1):
    """Rows of some kinds in turn."""
    rng = random.Random(seed)
    return [[10 * (i % kinds) + rng.gauss(0, 1), 500 - 70 * (i % kinds) + rng.gauss(0, 5),
             3 + (i % kinds == 2) + rng.gauss(0, 0.1)] for i in range(count)]


def csv(rows, delimiter=","):
    return "".join(delimiter.join(repr(x) for x in row) + "\n" for row in rows)


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Cli(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def write(self, name, data):
        mode = "wb" if isinstance(data, bytes) else "w"
        with open(self.path(name), mode) as file:
            file.write(data)
        return self.path(name)

    def test_a_new_kind_is_novel_then_born_then_known(self):
        rows = world(300) + [row for row in world(450, 3, 2)]
        labels = [i % 2 for i in range(300)] + [i % 3 for i in range(450)]
        text = "x,y,z,kind\n" + "".join(f"{a},{b},{c},k{k}\n" for (a, b, c), k in zip(rows, labels))
        done = call("learn", *SMALL, "--labels", "kind", "--model", self.path("m"),
                    "--events", self.path("events"), rows=text)
        out = lines(done.stdout)
        self.assertEqual([line["row"] for line in out], list(range(1, 751)))
        first = [line["novel"] for line, k in zip(out[300:450], labels[300:450]) if k == 2]
        last = [line["novel"] for line, k in zip(out[600:], labels[600:]) if k == 2]
        self.assertGreater(sum(first), 0.9 * len(first))
        self.assertLess(sum(last), 0.1 * len(last))
        born = [event for line in out[300:] for event in line.get("events", [])
                if event["event"] == "born"]
        self.assertTrue(born)
        self.assertIn('"level":"clusters"', done.stderr)
        with open(self.path("events")) as file:
            events = [json.loads(line) for line in file]
        self.assertTrue(any(event["event"] == "born" for event in events))
        # What was learnt is known to another process.
        scored = lines(call("score", "-m", self.path("m"), "-q", rows=csv(world(30, 3, 3))).stdout)
        self.assertEqual(len({line["cluster"] for line in scored[0::3]}
                             & {line["cluster"] for line in scored[1::3]}), 0)

    def test_all_formats_say_the_same(self):
        rows = [[struct.unpack("<f", struct.pack("<f", x))[0] for x in row] for row in world(200)]
        flat = [x for row in rows for x in row]
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (200, 3), }"
        header += " " * (118 - len(header) - 1) + "\n"
        numpy = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
        idx = bytes([0, 0, 13, 2]) + struct.pack(">ii", 200, 3) + struct.pack(">600f", *flat)
        files = {
            "a.csv": csv(rows), "b.tsv": csv(rows, "\t"), "c.csv": csv(rows, ";"),
            "d.csv": "\ufeff\"x\", y ,z\r\n" + csv(rows).replace("\n", "\r\n"),
            "e.jsonl": "".join(json.dumps(row) + "\n" for row in rows),
            "f.jsonl": "".join(json.dumps({"z": r[2], "x": r[0], "y": r[1]}) + "\n" for r in rows),
            "g.npy": numpy + struct.pack("<600f", *flat), "h.idx": idx, "i.idx.gz": gzip.compress(idx),
        }
        said = {}
        for name, data in files.items():
            extra = ["--columns", "x,y,z"] if name[0] in "df" else []
            path = self.write(name, data if isinstance(data, bytes) else data)
            said[name] = call("learn", *SMALL, *extra, path, "-q").stdout
        self.assertEqual(len(set(said.values())), 1, {k: v[:200] for k, v in said.items()})
        self.assertEqual(call("learn", *SMALL, "-q", rows=csv(rows)).stdout, said["a.csv"])

    def test_a_resumed_run_is_the_uninterrupted_one(self):
        rows = world(750, 3)
        whole = self.write("whole.csv", csv(rows))
        call("learn", *SMALL, "-m", self.path("one"), whole)
        call("learn", *SMALL, "-m", self.path("two"), rows=csv(rows[:450]))
        call("learn", *SMALL, "-m", self.path("two"), rows=csv(rows[450:]))
        self.assertEqual(read(self.path("one")), read(self.path("two")))

    def test_a_stop_saves_and_the_next_run_goes_on(self):
        rows = [row + [2.0 * i] for i, row in enumerate(world(600, 3))]
        words = ["learn", *SMALL, "--time", "4", "--set", "half_life_time=500"]
        call(*words, "-m", self.path("one"), rows=csv(rows))
        for how in (signal.SIGTERM, signal.SIGINT):
            path = self.path(f"two{how}")
            process = subprocess.Popen([PROGRAM, *words, "-m", path, "--flush"], text=True,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.PIPE)
            process.stdin.write(csv(rows[:400]))
            process.stdin.flush()
            for _ in range(300):  # two blocks are learnt and said; a hundred rows wait
                process.stdout.readline()
            time.sleep(0.3)
            process.send_signal(how)
            out, error = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, error)
            waiting = lines(out)
            self.assertEqual([line["row"] for line in waiting], list(range(301, 401)))
            self.assertTrue(all(line["waiting"] for line in waiting))
            self.assertIn("100 wait", call("inspect", path).stdout)
            call(*words, "-m", path, rows=csv(rows[400:]))
            self.assertEqual(read(path), read(self.path("one")))

    def test_rows_are_answered_as_they_come(self):
        process = subprocess.Popen([PROGRAM, "learn", *SMALL, "--as-met", "--flush", "-q"], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for i, row in enumerate(world(160)):
            process.stdin.write(csv([row]))
            process.stdin.flush()
            line = json.loads(process.stdout.readline())
            self.assertEqual(line["row"], i + 1)
            self.assertEqual(line["cluster"] is None, i < 150)
        process.stdin.close()
        self.assertEqual(process.stdout.read(), "")
        process.stdout.close()
        self.assertEqual(process.wait(timeout=60), 0)

    def test_a_reader_that_goes_away_costs_nothing(self):
        process = subprocess.Popen([PROGRAM, "learn", *SMALL, "-m", self.path("m"), "-q"], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdout.close()
        try:
            process.stdin.write(csv(world(600)))
            process.stdin.close()
        except BrokenPipeError:
            pass
        self.assertEqual(process.wait(timeout=60), 0, process.stderr.read())
        process.stderr.close()
        self.assertIn("learnt", call("inspect", self.path("m")).stdout)

    def test_errors_say_where_and_what_to_do(self):
        for rows, words, said in [
                ("1,2\n1,x\n", [], "standard input, line 2, column 2: 'x' is no number"),
                ("a,b\n1,2\n1\n", [], "line 3: 1 columns where the first line has 2"),
                ("a,b\n1,\n", [], "line 2, column 2 (b): no value; --missing skip"),
                ("1,inf\n", [], "column 2: 'inf' is not a finite number"),
                ('1,"2\n', [], "line 1, column 2: a quote is not closed"),
                ("[1,2]\n[1,[2]]\n", [], "line 2, column 4: only numbers"),
                ("a,b\n1,2\n", ["--columns", "a,c"], "no column 'c'; there are: a b"),
                ("", [], "standard input: no rows"),
                ("\x00\x00\x08\x03", [], "standard input: "),
                ("1,2\n", ["--set", "latnt=3"], "latent"),
                ("1,2\n", ["--preset", "edge"], "for rows of 64 numbers, these have 2")]:
            done = call("learn", *words, rows=rows, code=1)
            self.assertIn(said, done.stderr, (rows, words))
        for words, said in [(["lern"], "did you mean learn?"), (["learn", "--modle", "x"], "--model?"),
                            (["learn", "--model"], "--model needs FILE"), (["score"], "--model FILE"),
                            (["learn", "--block", "x"], "--block x"), (["learn", "--missing", "x"], "--missing"),
                            (["merge", "-m", "/nonexistent", "1", "2"], "/nonexistent")]:
            done = call(*words, rows="1,2\n", code=1 if said in ("/nonexistent", "--block x") else 2)
            self.assertIn(said, done.stderr)
        call(code=2)
        for words in (["--help"], ["learn", "--help"], ["--version"]):
            self.assertTrue(call(*words).stdout)

    def test_an_error_keeps_what_came_before(self):
        rows = csv(world(200)) + "1,2,oops\n"
        done = call("learn", *SMALL, "-m", self.path("m"), rows=rows, code=1)
        self.assertIn("line 201, column 3", done.stderr)
        self.assertIn("what came before is learnt and saved", done.stderr)
        self.assertIn("200 learnt", call("inspect", self.path("m")).stdout)
        # A model that cannot be read, or is for other rows, is left alone.
        before = read(self.path("m"))
        call("learn", "-m", self.path("m"), rows="1,2\n", code=1)
        self.write("bad", before[:-1])
        self.assertIn("bad: ", call("learn", "-m", self.path("bad"), rows=rows, code=1).stderr)
        self.assertEqual(read(self.path("bad")), before[:-1])
        self.assertEqual(read(self.path("m")), before)

    def test_what_is_fixed_in_a_model_stays(self):
        call("learn", *SMALL, "-m", self.path("m"), rows=csv(world(200)))
        before = read(self.path("m"))
        for words, said in [(["--set", "latent=2"], "latent is 3"), (["--seed", "7"], "seed is 1"),
                            (["--block", "99"], "block_rows is 150")]:
            self.assertIn(said, call("learn", "-m", self.path("m"), *words, rows=csv(world(9)),
                                     code=1).stderr)
        self.assertEqual(read(self.path("m")), before)
        call("learn", "-m", self.path("m"), "--set", "sensitivity=2", rows=csv(world(9)))
        self.assertIn("sensitivity=2", call("inspect", self.path("m")).stdout)

    def test_missing_values(self):
        text = "a,b\n1,2\n1,NA\n2,3\n"
        self.assertEqual([line["row"] for line in lines(call("learn", "--missing", "skip", rows=text).stdout)],
                         [1, 3])
        self.assertEqual(len(lines(call("learn", "--missing", "last", rows=text).stdout)), 3)

    def test_corrections(self):
        call("learn", *SMALL, "-m", self.path("m"), rows=csv(world(300)))
        listed = lines(call("clusters", "--json", "-m", self.path("m")).stdout)
        ids = [cluster["id"] for cluster in listed]
        self.assertGreaterEqual(len(ids), 2)
        call("label", "-m", self.path("m"), ids[0], "the \"first\"")
        named = lines(call("score", "-m", self.path("m"), "-q", rows=csv(world(10))).stdout)
        self.assertTrue(any(line.get("name") == "the \"first\"" for line in named))
        before = read(self.path("m"))
        done = call("merge", "-m", self.path("m"), ids[0], ids[1], code=1)
        self.assertIn("--force", done.stderr)
        self.assertEqual(read(self.path("m")), before)
        call("merge", "--force", "-m", self.path("m"), ids[0], ids[1])
        self.assertEqual(len(call("clusters", "--json", "-m", self.path("m")).stdout.splitlines()),
                         len(ids) - 1)
        part = int(call("split", "--force", "-m", self.path("m"), ids[0]).stdout)
        self.assertNotIn(part, ids)
        call("forget", "-m", self.path("m"), part)
        call("forget", "-m", self.path("m"), 999999, code=1)
        self.assertIn("novelty", call("explain", "-m", self.path("m"), rows="1,500,3\n").stdout)

    def test_a_full_disk_leaves_the_old_model(self):
        if not os.path.exists("/dev/full"):
            self.skipTest("no /dev/full")
        call("learn", *SMALL, "-m", self.path("m"), rows=csv(world(200)))
        before = read(self.path("m"))
        os.symlink("/dev/full", self.path("m.new"))
        call("learn", "-m", self.path("m"), rows=csv(world(200)), code=1)
        self.assertEqual(read(self.path("m")), before)


unittest.main(verbosity=1)
