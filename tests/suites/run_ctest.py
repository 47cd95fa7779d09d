#!/usr/bin/env python3
"""Runs tests of a preset in parallel, or the ones whose name contains NAME.

usage: run_ctest.py PRESET [--jobs N] [--junit FILE] [--limit SECONDS] [-k NAME] [-- CTEST_OPTION...]

NAME is looked for in the names of CTest's tests first, then in the names of doctest's cases. The exit status is 77 if
there is no such test.
"""
import argparse
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def listed(preset, selection):
    shown = subprocess.run(["ctest", "--preset", preset, "--show-only=json-v1", *selection], cwd=ROOT, check=True,
                           stdout=subprocess.PIPE)
    return json.loads(shown.stdout)["tests"]


def cases(preset, selection, name):
    """Runs the doctest cases that contain NAME. Returns how many programs have some, and the worst exit status."""
    programs = {test["command"][0] for test in listed(preset, selection)
                if any(word.startswith("--source-file=") for word in test["command"])}
    found, worst = 0, 0
    for program in sorted(programs):
        pattern = f"--test-case=*{name}*"
        answer = subprocess.run([program, pattern, "--count"], stdout=subprocess.PIPE, text=True).stdout
        if int((re.findall(r"(\d+)\s*$", answer.strip()) or ["0"])[0]):
            found += 1
            worst = max(worst, subprocess.run([program, pattern]).returncode)
    return found, worst


def main():
    words = sys.argv[1:]
    selection = []
    if "--" in words:
        selection = words[words.index("--") + 1:]
        words = words[:words.index("--")]
    parser = argparse.ArgumentParser()
    parser.add_argument("preset")
    parser.add_argument("--jobs", default="1")
    parser.add_argument("--junit")
    parser.add_argument("--limit", default="900", help="seconds of a test")
    parser.add_argument("-k", dest="name", default="")
    options = parser.parse_args(words)
    run = ["ctest", "--preset", options.preset, "--parallel", options.jobs, "--no-tests=error", "--timeout", options.limit,
           "--test-output-size-passed", "1000000", "--test-output-size-failed", "1000000", *selection]
    if options.junit:
        pathlib.Path(options.junit).unlink(missing_ok=True)
        run += ["--output-junit", options.junit]
    if options.name:
        chosen = [test["name"] for test in listed(options.preset, selection) if options.name in test["name"]]
        if not chosen:
            found, worst = cases(options.preset, selection, options.name)
            if not found:
                print(f"no test of {options.preset} has a name with '{options.name}'")
                return 77
            return worst
        # A second -R would replace the first one.
        if "-R" in run:
            del run[run.index("-R"):run.index("-R") + 2]
        run += ["-R", "^(" + "|".join(map(re.escape, chosen)) + ")$"]
    return subprocess.run(run, cwd=ROOT).returncode


sys.exit(main())
