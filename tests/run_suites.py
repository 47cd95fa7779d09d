#!/usr/bin/env python3
"""Builds and runs the test suites. `./run test` calls it after it has installed what they need.

usage: run_suites.py [SUITE...] [-k NAME] [--times] [--jobs N] [--install-seconds N]
       run_suites.py --list [SUITE...]: the names of the suites that would run

A suite is a list of steps (suites.py). One build runs at a time, with all cores. Tests run while the next build
compiles. Every step writes a log to build/test-logs. The exit status is 0 if every step passed.
"""
import argparse
import os
import pathlib
import queue
import signal
import subprocess
import sys
import threading
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "suites"))

import results  # noqa: E402
import suites  # noqa: E402

LOGS = ROOT / "build/test-logs"
STEP_LIMIT = 2700  # seconds; the longest step of the full list (QEMU) has its own limit


class Runner:
    def __init__(self, steps, jobs):
        self.steps = steps
        self.jobs = jobs
        self.done = queue.Queue()
        self.running = {}
        self.start = time.monotonic()
        self.processes = set()

    def lane_is_free(self, step):
        if any(other.alone for other in self.running):
            return False
        if step.alone:
            return not self.running
        same = [other for other in self.running if other.lane == step.lane]
        return len(same) < (1 if step.lane == "build" else self.jobs)

    def run(self):
        waiting = list(self.steps)
        while waiting or self.running:
            for step in list(waiting):
                needs = [other for other in self.steps if other.name in step.after]
                if any(other.state in ("failed", "not run") for other in needs):
                    step.state = "not run"
                    step.reason = next(other.name for other in needs if other.state in ("failed", "not run"))
                    waiting.remove(step)
                    self.say(step)
                elif all(other.state in ("passed", "skipped") for other in needs) and self.lane_is_free(step):
                    waiting.remove(step)
                    self.begin(step)
            if self.running:
                step = self.done.get()
                del self.running[step]
                self.say(step)

    def begin(self, step):
        thread = threading.Thread(target=self.execute, args=(step,), daemon=True)
        self.running[step] = thread
        thread.start()

    def execute(self, step):
        try:
            self.run_commands(step)
        except Exception:  # a fault of this program must not leave the others waiting
            step.state = "failed"
            with open(step.log, "a") as log:
                traceback.print_exc(file=log)
        self.done.put(step)

    def run_commands(self, step):
        step.began = time.monotonic() - self.start
        step.log = LOGS / (step.name.replace("/", "-").replace(" ", "-") + ".log")
        watch = results.watch(step)
        code = 0
        with open(step.log, "wb") as log:
            for command in step.commands:
                log.write(("$ " + " ".join(map(str, command)) + "\n").encode())
                log.flush()
                start = time.monotonic()
                code = self.call(step, command, log)
                step.command_seconds.append(time.monotonic() - start)
                if code:
                    break
        step.seconds = time.monotonic() - self.start - step.began
        step.state = {0: "passed", 77: "skipped"}.get(code, "failed")
        results.collect(step, watch)

    def call(self, step, command, log):
        try:
            priority = [] if step.urgent else ["nice", "-n", "10"]
            process = subprocess.Popen([*priority, *map(str, command)], cwd=ROOT, env={**os.environ, **step.environment},
                                       stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                                       start_new_session=True)
        except OSError as error:
            log.write(f"{command[0]}: {error.strerror}\n".encode())
            return 127
        self.processes.add(process)
        limit = step.limit or STEP_LIMIT
        timer = threading.Timer(limit, os.killpg, (process.pid, signal.SIGKILL))
        timer.start()
        start = time.monotonic()
        _, status, usage = os.wait4(process.pid, 0)  # for the processor time of all that it started
        timer.cancel()
        self.processes.discard(process)
        process.returncode = os.waitstatus_to_exitcode(status)
        step.processor_seconds += usage.ru_utime + usage.ru_stime
        if process.returncode == -signal.SIGKILL and time.monotonic() - start >= limit:
            log.write(f"\nkilled after {limit} seconds\n".encode())
            return 124
        return process.returncode

    def say(self, step):
        at = time.monotonic() - self.start
        text = f"{results.clock(at)}  {step.state:8} {step.name}"
        if step.state == "not run":
            text += f": needs '{step.reason}'"
        elif step.seconds >= 1:
            text += f" ({results.clock(step.seconds)})"
        if step.state == "skipped":
            text += ": " + step.last_line()
        print(text, flush=True)

    def stop(self):
        for process in list(self.processes):
            os.killpg(process.pid, signal.SIGKILL)


def main():
    parser = argparse.ArgumentParser(prog="./run test", add_help=False)
    parser.add_argument("suites", nargs="*")
    parser.add_argument("-k", dest="name", default="")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--install-seconds", type=float, default=0)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    names = options.suites
    if not names:
        names = suites.DEFAULT
    elif names == ["full"]:
        names = suites.FULL
        os.environ["ADAPVAE_TEST_SIZE"] = "full"
    unknown = [name for name in names if name not in suites.FULL]
    if unknown:
        sys.exit(f"run: there is no suite '{unknown[0]}'; there are: {' '.join(suites.FULL)}, and full for all")
    if options.list:
        print(" ".join(names))
        return
    LOGS.mkdir(parents=True, exist_ok=True)
    runner = Runner(suites.plan(names, options.name, options.jobs), options.jobs)
    try:
        runner.run()
    except KeyboardInterrupt:
        runner.stop()
        sys.exit(130)
    elapsed = time.monotonic() - runner.start
    if options.times:
        results.print_times(runner.steps, options.install_seconds, elapsed)
    sys.exit(results.summary(runner.steps, names, options.name, options.install_seconds, elapsed))


if __name__ == "__main__":
    main()
