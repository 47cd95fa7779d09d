"""The program as a user has it: a real file system, real pipes, real signals.

usage: check_cli.py PROGRAM GOLDEN SOURCE_FOLDER

GOLDEN prints what the C API says of the rows of a CSV file (golden_lines.c).
"""
import gzip
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

PROGRAM = os.path.abspath(sys.argv.pop(1))
GOLDEN = os.path.abspath(sys.argv.pop(1))
SOURCE = os.path.abspath(sys.argv.pop(1))
SMALL = ["--block", "150", "--set", "pretrain_epochs=10", "--set", "joint_epochs=3", "--threads", "1"]


def call(*words, rows=None, code=0):
    done = subprocess.run([PROGRAM, *map(str, words)], input=rows, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, timeout=240)
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


def png(width, height, pixels):
    """A grey PNG of 8 bits."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    lines_of = b"".join(b"\0" + bytes(pixels[y * width:(y + 1) * width]) for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(lines_of)) + chunk(b"IEND", b""))


def patterns(count, seed=1):
    """8 × 8 images of two kinds in turn: a bar that lies and one that stands."""
    rng = random.Random(seed)
    out = []
    for i in range(count):
        image = [rng.randrange(40) for _ in range(64)]
        for j in range(8):
            image[24 + j if i % 2 else 8 * j + 3] = 200 + rng.randrange(50)
        out.append(image)
    return out


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
        # Events stand on the last row of the block that brought them.
        self.assertEqual({line["row"] % 150 for line in out if line.get("events")}, {0})
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
                ("1,2\n", ["--preset", "edge"], "for rows of 64 numbers, these have 2")]:
            done = call("learn", *words, rows=rows, code=1)
            self.assertIn(said, done.stderr, (rows, words))
        for words, said in [(["lern"], "did you mean learn?"), (["learn", "--modle", "x"], "--model?"),
                            (["learn", "--model"], "--model needs FILE"), (["score"], "--model FILE"),
                            (["learn", "--block", "x"], "--block x"), (["learn", "--set", "latnt=3"], "latent"),
                            (["learn", "--threads", "x"], "--threads x"), (["clusters", "a", "b"], "too many"), (["learn", "--missing", "x"], "--missing"),
                            (["merge", "-m", "/nonexistent", "1", "2"], "/nonexistent")]:
            done = call(*words, rows="1,2\n", code=1 if said == "/nonexistent" else 2)
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

    def test_lines_are_what_the_c_api_says(self):
        path = self.write("rows.csv", csv(world(450, 3)))
        said = lines(call("learn", *SMALL, "-q", path).stdout)
        golden = subprocess.run([GOLDEN, path, "150"], check=True, text=True, timeout=120,
                                stdout=subprocess.PIPE).stdout.splitlines()
        self.assertEqual(len(said), 450)
        for line, direct in zip(said, golden):
            bits = [struct.unpack("<I", struct.pack("<f", line[name]))[0]
                    for name in ("probability", "novelty")]
            self.assertEqual(f"{line['cluster'] or 0} {line['kind'] or 0} {bits[0]:08x} {bits[1]:08x}", direct)

    def test_images_are_rows(self):
        images = patterns(300)
        os.mkdir(self.path("folder"))
        for i, image in enumerate(images):
            self.write(f"folder/{i:04}.png", png(8, 8, image))
        self.write("folder/notes.txt", "not an image")
        idx = bytes([0, 0, 8, 3]) + struct.pack(">iii", 300, 8, 8) + bytes(sum(images, []))
        self.write("all.idx", idx)
        # A sheet of 20 × 15 of them.
        sheet = [images[y // 8 * 20 + x // 8][y % 8 * 8 + x % 8] for y in range(120) for x in range(160)]
        self.write("sheet.png", png(160, 120, sheet))
        self.write("labels.txt", "".join(f"kind{i % 2}\n" for i in range(300)))
        words = [*SMALL, "-q", "--set", "latent=4", "--set", "hidden1=32", "--set", "hidden2=0"]
        by_idx = call("learn", *words, self.path("all.idx")).stdout
        by_sheet = call("learn", *words, "--tile", "8x8", self.path("sheet.png"))
        by_folder = call("learn", *words, "--labels", self.path("labels.txt"), "-m", self.path("m"),
                         "--report", self.path("r.html"), self.path("folder"))
        self.assertTrue(all(line.pop("file").endswith(".png") for line in lines(by_sheet.stdout)))
        strip = re.compile('"file":"[^"]*",')
        self.assertEqual(strip.sub("", by_sheet.stdout), by_idx)
        self.assertEqual(strip.sub("", by_folder.stdout), by_idx)
        self.assertIn("2 labels", call("evaluate", "-q", "-m", self.path("m"), "--labels", self.path("labels.txt"),
                                       self.path("folder")).stdout)
        self.assertIn("data:image/png", read(self.path("r.html")).decode())
        call("generate", "-m", self.path("m"), "--each", "-n", "5", "-o", self.path("grid.png"))
        self.assertTrue(read(self.path("grid.png")).startswith(b"\x89PNG"))
        made = lines(call("generate", "-m", self.path("m"), "--means").stdout)
        self.assertEqual({len(line["row"]) for line in made}, {64})
        # Smaller ones are brought to size; others are refused, by name.
        self.write("folder/0100.png", png(9, 8, [0] * 72))
        self.assertIn("0100.png: 9 × 8 pixels where the first has 8 × 8; --size",
                      call("learn", *words, self.path("folder"), code=1).stderr)
        call("learn", *words, "--size", "4x4", self.path("folder"))
        for bad, said in [(read(self.path("sheet.png"))[:200], "damaged"), (b"\x89PNG junk", "not a PNG"),
                          (b"\xff\xd8\xff", "not a PNG or JPEG"),
                          (png(1, 1, [0])[:16] + struct.pack(">II", 60000, 60000) + png(1, 1, [0])[24:],
                           "not a PNG")]:
            self.assertIn(said, call("learn", self.write("bad.png", bad), code=1).stderr)

    def test_corrections_are_taken_back(self):
        call("learn", *SMALL, "-m", self.path("m"), rows=csv(world(300)))
        states = [read(self.path("m"))]
        ids = [c["id"] for c in lines(call("clusters", "--json", "-m", self.path("m")).stdout)]
        for name in ("a", "b", "c"):
            call("label", "-m", self.path("m"), ids[0], name)
            states.append(read(self.path("m")))
        call("merge", "--force", "-m", self.path("m"), ids[0], ids[1])
        self.assertIn("merged", call("events", "-m", self.path("m")).stdout)
        for before in reversed(states):
            call("undo", "-m", self.path("m"))
            self.assertEqual(read(self.path("m")), before)
        self.assertNotIn("merged", call("events", "-m", self.path("m")).stdout)
        self.assertIn("no correction", call("undo", "-m", self.path("m"), code=1).stderr)
        call("label", "-m", self.path("m"), ids[0], "a")
        call("learn", "-m", self.path("m"), rows=csv(world(150)))
        self.assertIn("learnt since", call("undo", "-m", self.path("m"), code=1).stderr)

    def test_a_killed_run_goes_on_from_its_last_save(self):
        rows = world(1500, 3)
        call("learn", *SMALL, "-m", self.path("one"), rows=csv(rows))
        process = subprocess.Popen([PROGRAM, "learn", *SMALL, "-m", self.path("two"), "--save-every", "300",
                                    "--flush"], text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        process.stdin.write(csv(rows[:1100]))
        process.stdin.flush()
        for _ in range(1050):
            process.stdout.readline()
        process.kill()
        process.communicate()
        seen = int(re.search(r"rows +(\d+) learnt", call("inspect", self.path("two")).stdout).group(1))
        self.assertIn(seen, (600, 900))
        call("learn", *SMALL, "-m", self.path("two"), rows=csv(rows[seen:]))
        self.assertEqual(read(self.path("one")), read(self.path("two")))
        # What the killed run wrote down and did not save is not told twice.
        told = [call("events", "--all", "--json", "-m", self.path(name)).stdout for name in ("one", "two")]
        self.assertEqual(told[0], told[1])

    def test_bad_input_is_refused_and_the_model_stays(self):
        call("learn", *SMALL, "-m", self.path("m"), rows=csv(world(300)))
        before = read(self.path("m"))
        whole = gzip.compress(bytes([0, 0, 8, 2]) + struct.pack(">ii", 50, 3) + os.urandom(150))
        for name, data, said in [
                ("cut.idx.gz", whole[:len(whole) // 2], "cut.idx.gz: truncated"),
                ("junk", bytes(range(128, 256)) * 50, "rows of 3 numbers, these have 1"),
                ("wide.csv", b"1,2,3,4\n", "rows of 3 numbers, these have 4"),
                ("empty.npy", b"\x93NUMPY", "not a whole NPY file"),
                ("nan.csv", b"1,nan,3\n", "line 1, column 2: no value"),
                ("empty.csv", b"", "no rows")]:
            done = call("learn", "-m", self.path("m"), self.write(name, data), code=1)
            self.assertIn(said, done.stderr, name)
            self.assertNotIn("Traceback", done.stderr)
        # A line without end: refused after 64 MiB, whatever follows.
        endless = subprocess.Popen(["head", "-c", "10000000000", "/dev/zero"], stdout=subprocess.PIPE)
        done = subprocess.run([PROGRAM, "learn", "-m", self.path("m"), "--format", "csv"], timeout=120,
                              stdin=endless.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        endless.stdout.close()
        endless.wait()
        self.assertEqual(done.returncode, 1)
        self.assertIn("64 MiB", done.stderr)
        self.assertEqual(read(self.path("m")), before)

    def test_a_full_disk(self):
        if os.geteuid() != 0 or shutil.which("mount") is None:
            self.skipTest("needs a file system of its own")
        os.mkdir(self.path("small"))
        if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", self.path("small")],
                          stderr=subprocess.DEVNULL).returncode != 0:
            self.skipTest("cannot mount")
        self.addCleanup(subprocess.run, ["umount", self.path("small")])
        model = self.path("small/m")
        call("learn", *SMALL, "-m", model, rows=csv(world(300)))
        before = read(model)
        with open(self.path("small/filler"), "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 1024)
            except OSError:
                pass
        done = call("learn", "-m", model, rows=csv(world(300)), code=1)
        self.assertIn("No space left", done.stderr)
        self.assertEqual(read(model), before)

    def test_only_one_changes_a_model_at_a_time(self):
        call("learn", *SMALL, "-m", self.path("m"), rows=csv(world(300)))
        before = read(self.path("m"))
        process = subprocess.Popen([PROGRAM, "learn", "-m", self.path("m"), "--save-every", "0.1s"], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdin.write(csv(world(3)))
        process.stdin.flush()
        while not os.path.exists(self.path("m.lock")):
            time.sleep(0.01)
        time.sleep(0.3)
        for words in (["label", "-m", self.path("m"), 1, "x"], ["undo", "-m", self.path("m")],
                      ["learn", "-m", self.path("m")]):
            self.assertIn("another adapvae", call(*words, rows=csv(world(3)), code=1).stderr)
        # A save that is due comes with the next row, and rows of the open block are in it.
        process.stdin.write(csv(world(2)))
        process.stdin.flush()
        for _ in range(200):
            if re.search("[45] wait", call("inspect", self.path("m")).stdout):
                break
            time.sleep(0.05)
        process.kill()
        process.communicate()
        self.assertRegex(call("inspect", self.path("m")).stdout, "[45] wait")
        self.assertNotEqual(read(self.path("m")), before)
        call("label", "-m", self.path("m"), 1, "x")
        self.assertFalse(os.path.exists(self.path("m.lock")))

    def test_lost_output_is_an_error_and_a_failed_start_leaves_nothing(self):
        if os.path.exists("/dev/full"):
            for words in (["learn", *SMALL], ["selftest"]):
                with open("/dev/full", "w") as full:
                    done = subprocess.run([PROGRAM, *words], input=csv(world(300)), text=True, stdout=full,
                                          stderr=subprocess.PIPE, timeout=60)
                self.assertEqual(done.returncode, 1, words)
                self.assertIn("standard output: No space left", done.stderr)
        call("learn", *SMALL, "-m", self.path("m"), rows="a,b,c\n1,2,x\n", code=1)
        self.assertFalse(os.path.exists(self.path("m")))
        call("learn", *SMALL, "-m", self.path("m"), "--labels", "c", rows="a,b,c\n1,2,x\n")
        # No header: a row with a text stays a row.
        self.assertEqual(len(lines(call("learn", "--labels", "3", rows="1,2,x\n3,4,y\n").stdout)), 2)
        one, two = self.write("1.csv", "a,b\n1,2\n"), self.write("2.csv", "b,a\n1,2\n")
        self.assertIn("other columns", call("learn", one, two, code=1).stderr)

    def test_the_report_is_one_file_that_is_well_formed(self):
        rows = "x,y,<z>,kind\n" + "".join(f"{a},{b},{c},k{i % 3}</td>\n" for i, (a, b, c) in enumerate(world(450, 3)))
        os.environ["SOURCE_DATE_EPOCH"] = "1000000000"
        call("learn", *SMALL, "-m", self.path("m"), "--labels", "kind", "--title", "<b>&",
             "--report", self.path("r.html"), rows=rows)
        page = read(self.path("r.html")).decode()
        self.assertTrue(page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>"))
        for text in ("&lt;b&gt;&amp;", "&lt;z&gt;", "2001-09-09", "adapvae learn"):
            self.assertIn(text, page)
        for pattern in ("<b>&", "k1</td>", "https?://", "<script", r"\b(nan|NaN|inf)\b"):
            self.assertIsNone(re.search(pattern, page), pattern)
        self.assertEqual(page.count("<svg"), page.count("</svg>"))
        self.assertEqual(page.count("<details"), page.count("</details>"))
        # Without rows, without a journal: still a page.
        os.remove(self.path("m.events"))
        call("report", "-m", self.path("m"), "-q")
        self.assertIn("<svg", read(self.path("m.html")).decode())

    def test_helpers(self):
        self.assertNotIn("FAIL", call("selftest").stdout)
        size = lines(call("size", "--preset", "edge", "--inputs", "32", "--json").stdout)[0]
        more = lines(call("size", "--preset", "edge", "--inputs", "64", "--json").stdout)[0]
        self.assertLess(size["learner_bytes"], more["learner_bytes"])
        self.assertEqual(size["scorer_bytes"], size["scorer_in_place_bytes"] + size["weight_bytes"])
        self.assertGreater(size["snapshot_bytes"], size["weight_bytes"])
        bench = lines(call("bench", "edge", "--json", "-j", "1").stdout)
        self.assertEqual(bench[0]["preset"], "edge")
        self.assertGreater(bench[0]["score_many_rows_per_second"], 0)
        self.assertIn(".TH ADAPVAE", call("man").stdout)
        for shell in ("bash", "zsh", "fish"):
            text = call("completion", shell).stdout
            self.assertIn("max-seconds-per-block", text)
            if shutil.which(shell):
                subprocess.run([shell, "-n"], input=text, text=True, check=True)
        call("completion", code=2)

    def test_the_demo_finds_every_digit(self):
        # Sanitizers are slow: there it need not learn well.
        few = "ADAPVAE_TEST_SANITIZED" in os.environ
        done = call("demo", self.path("demo"), "--data", os.path.join(SOURCE, "examples/data"), "--threads", "2",
                    *(["--set", "pretrain_epochs=1", "--set", "adapt_epochs=1", "--set", "joint_epochs=1"] if few else []))
        if few:
            self.assertIn("AdapVAE paper", read(self.path("demo/report.html")).decode())
            return
        found = re.findall(r"^(\d) +([\d.]+) % +([\d.]+) %", done.stdout, re.M)
        self.assertEqual([digit for digit, _, _ in found], [str(d) for d in range(10)])
        self.assertGreater(sum(float(recall) for _, _, recall in found) / 10, 80)
        self.assertGreater(sum(float(precision) for _, precision, _ in found) / 10, 80)
        page = read(self.path("demo/report.html")).decode()
        self.assertIn("AdapVAE paper", page)
        call("score", "-m", self.path("demo/digits.safetensors"), "-q",
             os.path.join(SOURCE, "examples/data/mnist-5000-images.idx.gz"))

    def test_the_guide_runs_as_written(self):
        with open(os.path.join(SOURCE, "docs/command_line.md")) as file:
            blocks = re.findall(r"^```sh\n(.*?)^```", file.read(), re.M | re.S)
        self.assertGreater(len(blocks), 3)
        shutil.copy(os.path.join(SOURCE, "examples/data/landsat.csv"), self.path("landsat.csv"))
        environment = dict(os.environ, PATH=os.path.dirname(PROGRAM) + ":" + os.environ["PATH"])
        for block in blocks:
            subprocess.run(["bash", "-euo", "pipefail", "-c", block], cwd=self.folder.name, check=True,
                           env=environment, timeout=240, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        with open(self.path("landsat.csv")) as file:
            ground = [line.strip().split(",")[-1] for line in file][1:]
        with open(self.path("ground.jsonl")) as file:
            novel = [json.loads(line)["novel"] for line in file]
        cotton = [n for n, g in zip(novel[1200:1600], ground[1200:1600]) if g == "cotton"]
        soil = [n for n, g in zip(novel[400:1600], ground[400:1600]) if g != "cotton"]
        later = [n for n, g in zip(novel[1600:2000], ground[1600:2000]) if g == "cotton"]
        self.assertGreater(sum(cotton) / len(cotton), 0.8)
        self.assertLess(sum(soil) / len(soil), 0.03)
        self.assertLess(sum(later) / len(later), 0.3)


unittest.main(verbosity=1)
