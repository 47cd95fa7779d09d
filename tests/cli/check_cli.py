"""The program as a user has it: a real file system, real pipes, real signals.

usage: check_cli.py PROGRAM GOLDEN SOURCE_FOLDER

GOLDEN prints what the C API says of the rows of a CSV file (golden_lines.c).
"""
import base64
import gzip
import hashlib
import json
import os
import random
import re
import resource
import shutil
import signal
import stat
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


def forged(model, metadata):
    """A model's file with other metadata and a right checksum (docs/format.md)."""
    length, = struct.unpack_from("<Q", model)
    header = json.loads(model[8:8 + length])
    header["__metadata__"].update(metadata, **{"adapvae.checksum": 16 * "0"})
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-(8 + len(text)) % 64)
    out = bytearray(struct.pack("<Q", len(text)) + text + model[8 + length:])
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0xC96C5795D7870F42 if value & 1 else 0)
        table.append(value)
    crc = 2**64 - 1
    for byte in out:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    at = out.index(16 * b"0")
    out[at:at + 16] = b"%016x" % (crc ^ (2**64 - 1))
    return bytes(out)


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


def crc64(data):
    """As docs/format.md says: CRC-64/XZ."""
    table = []
    for i in range(256):
        for _ in range(8):
            i = (i >> 1) ^ 0xC96C5795D7870F42 if i & 1 else i >> 1
        table.append(i)
    crc = (1 << 64) - 1
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ (crc >> 8)
    return crc ^ ((1 << 64) - 1)


def rewritten(model, metadata):
    """A model's file with other metadata, and a checksum that is right."""
    size = struct.unpack("<Q", model[:8])[0]
    header = json.loads(model[8:8 + size])
    for key in metadata:
        assert key in header["__metadata__"], (key, list(header["__metadata__"]))
    header["__metadata__"].update(metadata, **{"adapvae.checksum": "0" * 16})
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 64)
    out = struct.pack("<Q", len(text)) + text + model[8 + size:]
    return out.replace(b"0" * 16, b"%016x" % crc64(out), 1)


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
        for how in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
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

    def test_a_session_that_ends_saves_once_and_nohup_ignores_it(self):
        rows = csv(world(100))
        for ignored in (False, True):
            path = self.path(f"m{ignored}")
            process = subprocess.Popen([PROGRAM, "learn", *SMALL, "-m", path, "--as-met", "--flush"], text=True,
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                       preexec_fn=(lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
                                       if ignored else None)
            process.stdin.write(rows)
            process.stdin.flush()
            for _ in range(100):
                process.stdout.readline()
            for _ in range(20):  # shell and kernel each send one
                process.send_signal(signal.SIGHUP)
            if ignored:
                process.stdin.write(rows)
                process.stdin.flush()
            _, error = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 0, error)
            self.assertIn("200 learnt" if ignored else "100 wait", call("inspect", path).stdout)

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
                ("a,b\n1,\n", ["--missing", "refuse"], "line 2, column 2 (b): no value; --missing skip"),
                ("1,inf\n", [], "column 2: 'inf' is not a finite number"),
                ('1,"2\n', [], "line 1, column 2: the quote that begins here is not closed"),
                ("[1,2]\n[1,[2]]\n", [], "line 2, column 2: only numbers"),
                ('{"a":1}\n{"a":NaN}\n', [], "line 2, column 1 (a): NaN is not valid JSON"),
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

    def test_missing_values_are_filled(self):
        whole = world(600)
        gaps = [[None if (i * 7 + j * 3) % 11 == 0 else x for j, x in enumerate(row)] for i, row in enumerate(whole)]
        text = "\n".join(",".join("" if x is None else str(x) for x in row) for row in gaps) + "\n"
        with open(self.path("gaps.csv"), "w", encoding="utf-8") as file:
            file.write(text)
        # From a file, whose first rows are seen, and from a pipe, whose are not.
        for model, words, rows in [("a", [self.path("gaps.csv")], None), ("b", [], text)]:
            done = call("learn", *SMALL, "-m", self.path(model), *words, rows=rows)
            self.assertEqual(len(lines(done.stdout)), 600)
            self.assertIn("missing_values=on", call("inspect", self.path(model)).stdout)
            seen = lines(call("score", "-m", self.path(model), self.path("gaps.csv")).stdout)
            expected = lines(call("score", "-m", self.path(model), rows=csv(whole)).stdout)
            same = sum(a["cluster"] == b["cluster"] for a, b in zip(seen, expected))
            self.assertGreater(same, 570)
            call("explain", "-m", self.path(model), rows=text[:text.index("\n") + 1])
            call("report", "-m", self.path(model), "-o", self.path("r.html"), self.path("gaps.csv"))
        # Explanations name columns as the header does.
        odd = "flow,pressure,heat\n" + csv([[whole[0][0], whole[0][1] + 300, whole[0][2]]])
        self.assertIn("\n  pressure (input 1): ", call("explain", "-m", self.path("a"), rows=odd).stdout)
        # A row without any value is left out and counted.
        empty = call("score", "-m", self.path("a"), rows=csv(whole[:2]) + "," * (len(whole[0]) - 1) + "\n")
        self.assertEqual(len(lines(empty.stdout)), 2)
        self.assertIn("1 rows left out", empty.stderr)
        # A model of rows without gaps refuses them and says what to do.
        with open(self.path("whole.csv"), "w", encoding="utf-8") as file:
            file.write(csv(whole))
        call("learn", *SMALL, "--set", "missing_values=off", "-m", self.path("c"), self.path("whole.csv"))
        self.assertIn("missing_values=on", call("learn", "-m", self.path("c"), rows=text, code=1).stderr)

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

    def test_a_write_that_fails_leaves_the_old_file(self):
        call("learn", *SMALL, "-m", self.path("m"), rows=csv(world(200)))
        call("report", "-q", "-m", self.path("m"))
        names = ("m", "m.html")
        before = {name: read(self.path(name)) for name in names}
        size = len(before["m"]) - 1000  # room for the journal, not for the model
        self.assertGreater(size, 2 * os.path.getsize(self.path("m.events")))
        for words in (["learn", "-m", self.path("m")], ["report", "-m", self.path("m")]):
            done = subprocess.run([PROGRAM, *words], input=csv(world(200)), text=True, capture_output=True, timeout=60,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("File too large", done.stderr)
        self.assertEqual({name: read(self.path(name)) for name in names}, before)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["m", "m.events", "m.html"])

    def test_temporary_files_follow_no_link(self):
        victim = self.write("victim", "precious")
        for name in ("m.new", "m.undo.new", "page.new"):
            os.symlink(victim, self.path(name))
        call("learn", *SMALL, "-m", self.path("m"), rows=csv(world(200)))
        call("label", "-m", self.path("m"), 1, "x")
        call("report", "-q", "-m", self.path("m"), "-o", self.path("page"))
        self.assertEqual(read(victim), b"precious")
        self.assertTrue(all(os.path.islink(self.path(name)) for name in ("m.new", "m.undo.new", "page.new")))
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["m", "m.events", "m.new", "m.undo", "m.undo.new",
                                                                "page", "page.new", "victim"])
        # A link at a name that can be guessed, by somebody else, is not followed.
        if os.geteuid() == 0:
            os.remove(self.path("m.events"))
            os.symlink(victim, self.path("m.events"))
            os.chown(self.path("m.events"), 12345, 12345, follow_symlinks=False)
            self.assertIn("m.events: a symbolic link of another user",
                          call("label", "-m", self.path("m"), 1, "y", code=1).stderr)
            self.assertEqual(read(victim), b"precious")
        # Nor is any link in place of the lock.
        os.symlink(victim, self.path("m.lock"))
        self.assertIn("m.lock: ", call("label", "-m", self.path("m"), 1, "y", code=1).stderr)

    def test_a_file_is_on_the_disk_before_its_name_is(self):
        if shutil.which("strace") is None or "ADAPVAE_TEST_SANITIZED" in os.environ:
            self.skipTest("needs strace, which sanitizers do not bear")
        call("learn", *SMALL, "-m", self.path("m"), rows=csv(world(150)))
        names = set()
        for _ in range(2):
            done = subprocess.run(["strace", "-f", "-s", "4096", "-e", "trace=openat,?open,fsync,?rename,?renameat,?renameat2", PROGRAM,
                                   "label", "-m", self.path("m"), "1", "x"], capture_output=True, text=True, timeout=60)
            if "ptrace" in done.stderr and done.returncode != 0:
                self.skipTest("may not trace")
            made = re.search(r'"([^"]*)", (\S*O_CREAT\S*), 0[0-7]+\) = (\d+)\n(?:(?!open).*\n)*?.*fsync\((\d+)\) += 0\n'
                             r'.*rename\w*\((?:AT_FDCWD, )?"([^"]*)", (?:AT_FDCWD, )?"([^"]*)"(?:, 0)?\) = 0\n'
                             r'.*"([^"]*)", \S*O_DIRECTORY\S*\) = (\d+)\n.*fsync\((\d+)\) += 0\n', done.stderr)
            self.assertIsNotNone(made, done.stderr)
            temporary, flags, file, synced, renamed, to, folder, opened, folder_synced = made.groups()
            self.assertLessEqual({"O_EXCL", "O_NOFOLLOW", "O_CLOEXEC"}, set(flags.split("|")))
            self.assertEqual((file, temporary, opened), (synced, renamed, folder_synced))
            self.assertEqual((to, os.path.dirname(temporary)), (os.path.realpath(self.path("m")), folder.rstrip("/")))
            names.add(temporary)
        self.assertEqual(len(names), 2)

    def test_a_link_to_a_model_is_the_model(self):
        os.mkdir(self.path("a"))
        os.mkdir(self.path("b"))
        os.symlink("../b/real", self.path("a/link"))  # there is none yet
        call("learn", *SMALL, "-m", self.path("a/link"), rows=csv(world(300)))
        first = read(self.path("b/real"))
        call("label", "-m", self.path("a/link"), 1, "x")
        self.assertNotEqual(read(self.path("b/real")), first)
        call("learn", "-m", self.path("a/link"), rows=csv(world(150)))
        self.assertEqual(os.readlink(self.path("a/link")), "../b/real")
        # What stands beside a model is found by every name.
        self.assertEqual(os.listdir(self.path("a")), ["link"])
        self.assertEqual(call("events", "-m", self.path("a/link")).stdout,
                         call("events", "-m", self.path("b/real")).stdout)
        call("label", "-m", self.path("a/link"), 1, "y")
        call("undo", "-m", self.path("b/real"))
        os.symlink("loop", self.path("loop"))
        self.assertIn("loop: ", call("learn", *SMALL, "-m", self.path("loop"), rows=csv(world(9)), code=1).stderr)

    def test_modes_and_owners_stay(self):
        def mode(name):
            return oct(os.stat(self.path(name)).st_mode & 0o7777)
        old = os.umask(0o027)
        self.addCleanup(os.umask, old)
        call("learn", *SMALL, "-m", self.path("m"), rows=csv(world(300)))
        self.assertEqual((mode("m"), mode("m.events")), ("0o640", "0o640"))
        os.umask(0o022)
        os.chmod(self.path("m"), 0o600)
        os.remove(self.path("m.events"))
        if os.geteuid() == 0:
            os.chown(self.path("m"), 12345, 54321)
        call("learn", "-m", self.path("m"), rows=csv(world(300)))
        call("label", "-m", self.path("m"), 1, "x")
        call("label", "-m", self.path("m"), 1, "y")
        call("report", "-q", "-m", self.path("m"))
        call("report", "-q", "-m", self.path("m"), "-o", self.path("page"))
        made = ("m", "m.events", "m.undo", "m.undo2", "m.html")
        self.assertEqual({name: mode(name) for name in made}, dict.fromkeys(made, "0o600"))
        self.assertEqual(mode("page"), "0o644")
        call("undo", "-m", self.path("m"))
        self.assertEqual(mode("m"), "0o600")
        if os.geteuid() == 0:
            for name in ("m", "m.events", "m.undo", "m.html"):
                found = os.stat(self.path(name))
                self.assertEqual((found.st_uid, found.st_gid), (12345, 54321), name)
        os.chmod(self.path("page"), 0o664)
        call("report", "-q", "-m", self.path("m"), "-o", self.path("page"))
        self.assertEqual(mode("page"), "0o664")

    def test_devices_and_pipes_are_written_not_replaced(self):
        call("learn", *SMALL, "-m", self.path("m"), rows=csv(world(300)))
        os.mkfifo(self.path("pipe"))
        for words in (["report", "-q", "-m", self.path("m"), "-o", self.path("pipe")],
                      ["learn", *SMALL, "-q", "--report", self.path("pipe")],
                      ["learn", *SMALL, "-q", "--events", self.path("pipe")]):
            process = subprocess.Popen([PROGRAM, *words], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE)
            reader = subprocess.Popen(["cat", self.path("pipe")], stdout=subprocess.PIPE)
            for one in (reader, process):
                self.addCleanup(lambda one=one: (one.kill(), one.communicate()))
            _, error = process.communicate(csv(world(300)).encode(), timeout=60)
            self.assertTrue(stat.S_ISFIFO(os.stat(self.path("pipe")).st_mode), words)
            page, _ = reader.communicate(timeout=60)
            self.assertEqual((process.returncode, error), (0, b""), words)
            self.assertIn(b'"event":"born"' if "--events" in words else b"</html>", page)
        # By a link, so that a program that replaces it does no harm to the machine.
        os.symlink("/dev/full", self.path("full"))
        if os.path.exists("/dev/full"):
            for words in (["report", "-m", self.path("m"), "-o", self.path("full")],
                          ["learn", *SMALL, "--events", self.path("full")]):
                self.assertIn("full: No space left", call(*words, rows=csv(world(300)), code=1).stderr)
                self.assertEqual(os.readlink(self.path("full")), "/dev/full")
        page = call("report", "-q", "-m", self.path("m"), "-o", "/dev/stdout").stdout
        self.assertTrue(page.endswith("</html>\n"))
        self.write("log", "before\n")
        with open(self.path("log"), "a") as log:
            subprocess.run([PROGRAM, "report", "-q", "-m", self.path("m"), "-o", "/dev/stdout"], stdout=log, check=True)
        self.assertTrue(read(self.path("log")).startswith(b"before\n<!DOCTYPE"))

    def test_an_output_is_no_input(self):
        text = csv(world(300))
        rows, model = self.write("rows.csv", text), self.path("m")
        call("learn", *SMALL, "-m", model, rows)
        os.link(rows, self.path("hard.csv"))
        os.symlink("rows.csv", self.path("soft.csv"))
        os.mkdir(self.path("folder"))
        picture = self.write("folder/a.png", png(8, 8, patterns(1)[0]))
        labels = self.write("labels.txt", "a\n" * 300)
        names = ["rows.csv", "m", "m.events", "folder/a.png", "labels.txt"]
        before = {name: read(self.path(name)) for name in names}
        hard, soft = self.path("hard.csv"), self.path("soft.csv")
        for words, one, other in [
                (["report", "-m", model, "-o", model], "--model", "--output"),
                (["report", "-m", model, "-o", soft, rows], "--output", "the input"),
                (["report", "-m", model, "-o", self.path("m.events")], "--output", "--events"),
                (["learn", *SMALL, "--events", rows, rows], "--events", "the input"),
                (["learn", *SMALL, "-m", model, "--events", hard, soft], "--events", "the input"),
                (["learn", *SMALL, "-m", rows, soft], "--model", "the input"),
                (["learn", *SMALL, "-m", model, "--report", self.path("m.events"), rows], "--events", "--report"),
                (["learn", *SMALL, "-m", self.path("x"), "--report", self.path("x"), rows], "--model", "--report"),
                (["learn", *SMALL, "--report", picture, self.path("folder")], "--report", "the input"),
                (["learn", *SMALL, "--labels", labels, "--report", labels, rows], "--labels", "--report"),
                (["score", "-m", model, "--report", rows, rows], "--report", "the input"),
                (["score", "-m", model, "--report", model, rows], "--model", "--report"),
                (["generate", "-m", model, "-o", model], "--model", "--output"),
                (["learn", *SMALL, "-m", model, self.path("m.events")], "--events", "the input")]:
            done = call(*words, code=2)
            self.assertIn("the same file", done.stderr, words)
            self.assertIn(one + " ", done.stderr, words)
            self.assertIn(other + " ", done.stderr, words)
            self.assertIn("choose another file for", done.stderr, words)
        with open(rows) as file:
            done = subprocess.run([PROGRAM, "learn", *SMALL, "--events", rows], stdin=file, text=True, capture_output=True)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("standard input", done.stderr)
        for words in (["score", "-q", "-m", model, rows], ["evaluate", "-m", rows, "--labels", "1", model]):
            with open(rows, "a") as file:
                done = subprocess.run([PROGRAM, *words], stdout=file, text=True, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 2, done.stderr)
            self.assertIn("standard output", done.stderr)
        self.assertEqual({name: read(self.path(name)) for name in names}, before)
        # What is not a file of data may be both.
        call("learn", *SMALL, "--events", "/dev/null", rows)
        call("learn", *SMALL, "--report", self.path("folder/b.png"), self.path("folder"), "--missing", "skip")

    def test_one_model_by_two_names_is_changed_by_one_at_a_time(self):
        os.mkdir(self.path("other"))
        names = [self.path("m"), self.path("hard"), self.path("other/soft"), self.path("later")]
        call("learn", *SMALL, "-m", names[0], rows=csv(world(300)))
        os.link(names[0], names[1])
        os.symlink(names[0], names[2])
        process = subprocess.Popen([PROGRAM, "learn", "-m", names[2], "--save-every", "150", "--flush"], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(lambda: (process.kill(), process.wait()))
        before = os.stat(names[0]).st_ino
        process.stdin.write(csv(world(3)))
        process.stdin.flush()
        for _ in range(500):
            if os.path.exists(self.path("m.lock")):
                break
            time.sleep(0.01)
        time.sleep(0.3)
        for name in names[:3]:
            self.assertIn("another adapvae", call("label", "-m", name, 1, "x", code=1).stderr, name)
        # A save makes a new file: that is held then, and the old one, if it has a name still, is free.
        process.stdin.write(csv(world(147)))
        process.stdin.flush()
        for _ in range(150):
            process.stdout.readline()
        for _ in range(200):
            if os.stat(names[0]).st_ino != before:
                break
            time.sleep(0.05)
        os.link(names[0], names[3])
        for name in (names[0], names[2], names[3]):
            self.assertIn("another adapvae", call("label", "-m", name, 1, "x", code=1).stderr, name)
        call("label", "-m", names[1], 1, "x")
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0)
        for name in names:
            call("label", "-m", name, 1, "z")
        self.assertFalse([name for name in os.listdir(self.folder.name) if name.endswith(".lock")])

    def test_memory_has_a_limit(self):
        def bounded(*words, rows=b"", said=(), most=3 << 29):
            # Sanitizers reserve more than any limit.
            limit = None if "ADAPVAE_TEST_SANITIZED" in os.environ else \
                lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most))
            done = subprocess.run([PROGRAM, *map(str, words)], input=rows, capture_output=True, timeout=240,
                                  preexec_fn=limit)
            self.assertEqual(done.returncode, 1, (words, done.stderr))
            self.assertNotIn("out of memory", done.stderr.decode(), words)
            for text in said:
                self.assertIn(text, done.stderr.decode(), words)
        model, rows = self.path("m"), self.write("rows.csv", csv(world(300)))
        call("learn", *SMALL, "-m", model, rows)
        for words in (["inspect", "/dev/zero"], ["clusters", "-m", "/dev/zero"], ["score", "-m", "/dev/zero", rows],
                      ["undo", "-m", "/dev/zero"], ["learn", "/dev/zero"], ["learn", "-f", "npy", "/dev/zero"],
                      ["learn", "-f", "image", "/dev/zero"]):
            bounded(*words, said=["/dev/zero: "])
        for words in (["learn", "-f", "csv", "/dev/zero"], ["learn", "-f", "jsonl", "/dev/zero"],
                      ["events", "-m", model, "--events", "/dev/zero"]):
            bounded(*words, said=["/dev/zero: a line of more than 8.4 MB", "--max-memory"])
        # A small file that plans a large model.
        big = self.write("big", rewritten(read(model), {"config.max_clusters": "20000"}))
        self.assertLess(os.path.getsize(big), 30000)
        for words in (["clusters", "-m", big], ["learn", "-m", big, rows], ["score", "-m", big, rows],
                      ["label", "-m", big, 1, "x"], ["generate", "-m", big],
                      ["learn", "--set", "max_clusters=20000", rows]):
            bounded(*words, said=["the model needs ", " GB of memory, and the limit is 1G; --max-memory "])
        self.assertIn("more than --max-memory allows", call("inspect", big).stdout)
        self.assertIn("--max-memory 4M raises it", call("clusters", "-m", model, "--max-memory", "64K", code=1).stderr)
        call("clusters", "-m", model, "--max-memory", "4M")
        for bad in ("x", "0", "-1G", "1X", "", "nan"):
            self.assertIn("--max-memory", call("clusters", "-m", model, "--max-memory", bad, code=2).stderr)
        # Rows that are read as a whole, packed or not; labels; lines.
        zeros = bytes([0, 0, 8, 2]) + struct.pack(">ii", 1 << 22, 8) + bytes(1 << 25)
        header = "{'descr': '<f4', 'fortran_order': False, 'shape': (500000, 8), }\n"
        numpy = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + bytes(16000000)
        for name, data in [("z.idx", zeros), ("z.idx.gz", gzip.compress(zeros, 1)), ("z.npy", numpy)]:
            bounded("learn", "--max-memory", "20M", self.write(name, data), said=["--max-memory"])
        self.write("few.idx", bytes([0, 0, 8, 2]) + struct.pack(">ii", 2, 8) + bytes(16))
        bounded("learn", "--max-memory", "4M", "--labels", self.write("many.txt", "a\n" * 100000), self.path("few.idx"),
                said=["--labels", "--max-memory"])
        bounded("learn", "--max-memory", "4M", self.write("z.png", png(2000, 1000, bytes(2000000))),
                said=["this image takes up to 12000000 bytes", "--max-memory"])
        bounded("learn", "--max-memory", "64M", rows=b"1," * 1000000, said=["a line of more than 524 kB"])
        text = "".join(f"{a},{b},{c},label{i}\n" for i, (a, b, c) in enumerate(world(20000)))
        bounded("evaluate", "-m", model, "--max-memory", "4400K", "--labels", "4", rows=text.encode(),
                said=["the table of labels is too large", "--max-memory"])
        bounded("evaluate", "-m", model, "--labels", "4", rows=b"1,2,3," + b"x" * 2000 + b"\n",
                said=["row 1: a label of more than 1024 bytes"])
        # Fields take more than their text: so do as many as a line can have.
        for line in (b"," * 1000000, b"1," * 520000 + b"1\n", b"[" + b"1," * 520000 + b"1]\n"):
            bounded("learn", "-f", "jsonl" if line[:1] == b"[" else "csv", "--max-memory", "128M", rows=line,
                    most=1 << 28)

    def test_control_characters_do_not_reach_the_terminal(self):
        bad = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")
        evil = "\x1b]0;owned\x07\r\x7f\x9b31m\u202e"

        def run(*words, code=0, rows=""):
            done = subprocess.run([PROGRAM, *words], input=rows.encode(), capture_output=True, timeout=60)
            self.assertEqual(done.returncode, code, done)
            text = done.stdout.decode() + done.stderr.decode()
            self.assertIsNone(bad.search(text), (words, text))
            return text
        model = self.path("m")
        call("learn", *SMALL, "-m", model, rows=csv(world(300)))
        ids = [c["id"] for c in lines(call("clusters", "--json", "-m", model).stdout)]
        name = evil + "\nall"
        call("label", "-m", model, ids[0], name)
        self.assertIn(r"\x1b]0;owned\x07\x0d\x7f\u009b31m\u202e\x0aall", run("clusters", "-m", model))
        self.assertEqual(len(run("clusters", "-m", model).splitlines()), len(ids) + 1)
        for words in (["clusters", "--json", "-m", model], ["score", "-q", "-m", model]):
            text = run(*words, rows=csv(world(20)))
            found = [line["name"] for line in lines(text) if line.get("name")]
            self.assertEqual(set(found), {name})
        run("events", "-m", model)
        # In messages: names of files and options, column names, cells.
        run("learn", self.path(evil), code=1)
        run("inspect", self.path(evil), code=1)
        run(evil, code=2)
        run("learn", "--" + evil, code=2)
        run("clusters", evil, code=2)
        run("label", "-m", model, evil, "x", code=2)
        run("learn", "--columns", "x", rows=f"a,{evil}b\n1,2\n", code=1)
        run("learn", rows=f"1,2\n1,{evil}\n", code=1)
        run("learn", rows=f'{{"{evil}":1}}\n{{"{evil}":"{evil}"}}\n', code=1)
        run("report", "-m", model, "-o", self.path(evil))
        self.assertIsNone(re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", read(self.path(evil)).decode()))
        # In a model's file.
        run("inspect", self.write("version", rewritten(read(model), {"adapvae.version": "1\x1b[2J\x9b\x7f"})))
        # Of a name that is not UTF-8 JSON is made all the same.
        os.mkdir(self.path("folder"))
        for i, image in enumerate(patterns(3)):
            with open(os.path.join(self.path("folder").encode(), b"%d\x9b\xff\x1b\x7f.png" % i), "wb") as file:
                file.write(png(8, 8, image))
        files = [line["file"] for line in lines(run("learn", "-q", *SMALL, self.path("folder")))]
        self.assertEqual(os.path.basename(files[2]), "2\ufffd\ufffd\x1b\x7f.png")

    def test_lines_are_what_the_c_api_says(self):
        path = self.write("rows.csv", csv(world(450, 3)))
        said = lines(call("learn", *SMALL, "-q", path).stdout)
        golden = subprocess.run([GOLDEN, path, "150"], check=True, text=True, timeout=120,
                                stdout=subprocess.PIPE).stdout.splitlines()
        self.assertEqual(len(said), 450)
        for line, direct in zip(said, golden):
            bits = [struct.unpack("<I", struct.pack("<f", line[name]))[0]
                    for name in ("probability", "novelty")]
            self.assertEqual(f"{line['cluster'] or 0} {line['component'] or 0} {bits[0]:08x} {bits[1]:08x}", direct)

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
                          (b"\xff\xd8\xff", "a JPEG image that cannot be read"), (b"\xff\xd8", "not a PNG or JPEG"),
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
                ("empty.npy", b"\x93NUMPY", "truncated: shorter than the header of an NPY file"),
                ("inf.csv", b"1,inf,3\n", "line 1, column 2: 'inf' is not a finite number"),
                ("empty.csv", b"", "no rows")]:
            done = call("learn", "-m", self.path("m"), self.write(name, data), code=1)
            self.assertIn(said, done.stderr, name)
            self.assertNotIn("Traceback", done.stderr)
        # A line without end: refused after 8 MiB, whatever follows.
        endless = subprocess.Popen(["head", "-c", "10000000000", "/dev/zero"], stdout=subprocess.PIPE)
        done = subprocess.run([PROGRAM, "learn", "-m", self.path("m"), "--format", "csv"], timeout=120,
                              stdin=endless.stdout, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        endless.stdout.close()
        endless.wait()
        self.assertEqual(done.returncode, 1)
        self.assertIn("a line of more than 8.4 MB", done.stderr)
        self.assertEqual(read(self.path("m")), before)

    def test_little_that_unpacks_to_much_takes_little_memory(self):
        zeros = bytes(200_000_000)
        image = png(1, 1, [0])
        packed = zlib.compress(zeros, 1)
        self.write("bomb.png", image[:33] + struct.pack(">I", len(packed)) + b"IDAT" + packed + bytes(4) + image[-12:])
        self.write("bomb.idx.gz", gzip.compress(zeros, 1))
        # Sanitizers take memory of their own.
        limit = "" if "ADAPVAE_TEST_SANITIZED" in os.environ else "ulimit -v 150000; "
        for name, said in [("bomb.png", "it unpacks to more than its size says"),
                           ("bomb.idx.gz", "IDX element type 0 is not")]:
            done = subprocess.run(["bash", "-c", limit + 'exec "$0" learn "$1"', PROGRAM, self.path(name)],
                                  stderr=subprocess.PIPE, text=True, timeout=60)
            self.assertIn(said, done.stderr)
            self.assertEqual(done.returncode, 1)

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

    def test_the_report_runs_nothing_and_is_as_large_as_can_be_shown(self):
        name = "<img src=x onerror=bad()>" + 200_000 * "x"
        rows = f"a,{name},kind\n" + "".join(f"{a},{b},{name[:1000]}\n" for a, b, _ in world(300, 3))
        call("learn", *SMALL, "-m", self.path("m"), "--labels", "kind", "--report", self.path("r.html"), "-q", rows=rows)
        page = read(self.path("r.html")).decode()
        self.assertLess(len(page), 600_000)
        self.assertNotIn("<img src=x", page)
        self.assertIsNone(re.search(r"<[^>]*\s(style|on\w+)=", page), "what the policy would refuse")
        policy = re.search('<meta http-equiv="Content-Security-Policy" content="([^"]+)">', page).group(1)
        style = re.search("<style>(.*?)</style>", page, re.S).group(1)
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        self.assertEqual(policy, f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; base-uri 'none'; "
                                 "form-action 'none'")
        self.assertLess(page.index("http-equiv"), page.index("<style>"))
        # As many blocks as a file may claim.
        self.write("m", forged(read(self.path("m")), {"adapvae.streams": "4294967280"}))
        os.remove(self.path("m.events"))
        call("report", "-m", self.path("m"), "-o", self.path("many.html"), "-q")
        page = read(self.path("many.html")).decode()
        self.assertIn("4,294,967,280", page)
        self.assertLess(len(page), 600_000)

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
