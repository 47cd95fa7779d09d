"""What the steps of a run have shown: counts of tests and assertions, times, failures."""
import dataclasses
import pathlib
import re
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

# How each kind of test program says how many tests it ran.
COUNTS = [re.compile(pattern, re.M) for pattern in (
    r"^Ran (\d+) tests? in",  # unittest
    r"test result: \w+\. (\d+) passed",  # cargo
    r"^\s*(\d+) tests passed$",  # our scripts
)]
# Node's "spec" reporter; a parent of other tests is not counted.
NODE_TEST = re.compile(r"^( *)([✔✖]) (.*) \(([\d.]+)ms\)$", re.M)
NODE_FAILURES = "failing tests:"
GO_TEST = re.compile(r"^\s*--- PASS", re.M)
SCRIPT_CHECK = re.compile(r": ok\b", re.M)
DOCTEST = re.compile(r"test cases:\s*(\d+).*?assertions:\s*(\d+)", re.S)


@dataclasses.dataclass
class Found:
    tests: int = 0
    assertions: int = 0
    failures: list = dataclasses.field(default_factory=list)
    slow: list = dataclasses.field(default_factory=list)  # (seconds, test)
    units: list = dataclasses.field(default_factory=list)  # (seconds, preset, output)
    phases: dict = dataclasses.field(default_factory=dict)


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def ninja_lines(step):
    file = step.build_folder / ".ninja_log"
    return file.read_text().splitlines()[1:] if file.is_file() else []


def watch(step):
    """What must be known before the step runs, to tell later what it did."""
    return set(ninja_lines(step)) if step.build_folder else None


def collect(step, before):
    if step.build_folder:
        collect_build(step, before)
        return
    step.found.phases["run"] = step.seconds
    if step.junit and step.junit.is_file():
        collect_junit(step)
    else:
        text = step.log.read_text(errors="replace")
        for cases, assertions in DOCTEST.findall(text):
            step.found.tests += int(cases)
            step.found.assertions += int(assertions)
        for pattern in COUNTS:
            step.found.tests += sum(map(int, pattern.findall(text)))
        step.found.tests += len(GO_TEST.findall(text)) + len(SCRIPT_CHECK.findall(text))
        collect_node(step, text.split(NODE_FAILURES)[0])
        if not step.found.slow:
            step.found.slow.append((step.seconds, step.name))


def collect_node(step, text):
    groups = set(re.findall(r"^ *▶ (.*)$", text, re.M))
    for _, mark, name, milliseconds in NODE_TEST.findall(text):
        if name in groups:
            continue
        step.found.tests += 1
        step.found.slow.append((float(milliseconds) / 1000, f"{step.name}: {name}"))
        if mark == "✖":
            step.found.failures.append(name)


def collect_build(step, before):
    spent = {"compile": 0.0, "link": 0.0}
    for line in ninja_lines(step):
        fields = line.split("\t")
        if line in before or len(fields) < 4:
            continue
        seconds = (int(fields[1]) - int(fields[0])) / 1000
        if fields[3].endswith((".o", ".obj")):
            spent["compile"] += seconds
            step.found.units.append((seconds, step.build_folder.name, fields[3]))
        else:
            spent["link"] += seconds
    total = sum(spent.values())
    configured = step.command_seconds[0]
    step.found.phases["configure"] = configured
    for phase, seconds in spent.items():
        step.found.phases[phase] = (step.seconds - configured) * seconds / total if total else 0.0


def collect_junit(step):
    for case in ElementTree.parse(step.junit).getroot().iter("testcase"):
        name = case.get("name")
        output = (case.findtext("system-out") or "")
        if case.find("skipped") is not None or case.get("status") == "notrun":
            continue
        counts = DOCTEST.findall(output)
        ran = re.findall(r"^Ran (\d+) tests? in", output, re.M)
        step.found.tests += sum(int(cases) for cases, _ in counts) + sum(map(int, ran)) or 1
        step.found.assertions += sum(int(assertions) for _, assertions in counts)
        step.found.slow.append((float(case.get("time") or 0), f"{step.name}: {name}"))
        if case.find("failure") is not None or case.find("error") is not None or case.get("status") == "fail":
            step.found.failures.append(name)


PHASES = ["configure", "compile", "link", "run"]


def print_times(steps, install, elapsed):
    """The tables of docs/testing.md, in its format."""
    print("\n| suite | configure | compile | link | run | sum | tests | assertions |\n|---|---|---|---|---|---|---|---|")
    rows = {}
    for step in steps:
        row = rows.setdefault(step.suite, [0.0] * 4 + [0, 0])
        for i, phase in enumerate(PHASES):
            row[i] += step.found.phases.get(phase, 0.0) if step.seconds else 0.0
        row[4] += step.found.tests if step.seconds else 0
        row[5] += step.found.assertions if step.seconds else 0
    for suite, row in list(rows.items()) + [("all", [sum(column) for column in zip(*rows.values())])]:
        print(f"| {suite} | " + " | ".join(clock(x) for x in row[:4] + [sum(row[:4])])
              + f" | {row[4]:,} | {row[5]:,} |")
    print(f"\ninstallation {clock(install)}, everything else {clock(elapsed)} (minutes:seconds; builds and tests overlap)")
    ran = [step for step in steps if step.seconds]
    print(f"\nprocessor time {clock(sum(step.processor_seconds for step in ran))}, browsers not included; most of it:")
    for step in sorted(ran, key=lambda step: -step.processor_seconds)[:10]:
        print(f"{step.processor_seconds:7.0f} s  {step.name}")
    print("\nslowest translation units:")
    for seconds, preset, output in sorted((u for s in ran for u in s.found.units), reverse=True)[:10]:
        name = re.sub(r"(CMakeFiles/)|(\.dir)|(\.o$)|(\.obj$)", "", output)
        print(f"{seconds:7.1f} s  {preset}: {name}")
    print("\nslowest tests:")
    for seconds, name in sorted((t for s in ran for t in s.found.slow), reverse=True)[:10]:
        print(f"{seconds:7.1f} s  {name}")


def tail(step, lines):
    """The part of a log that says what went wrong: from the first failure on, else the end."""
    text = step.log.read_text(errors="replace").splitlines()
    at = next((i for i, line in enumerate(text) if re.search(
        r"FAILED:|ERROR: CHECK|ERROR: REQUIRE|FATAL ERROR|\*\*\*Failed|^FAIL|Traceback|error:|not ok|✖|panicked|ERROR: ",
        line)), max(0, len(text) - lines))
    return text[max(0, at - 3):at + lines - 3]


def summary(steps, names, filtered, install, elapsed):
    failed = [step for step in steps if step.state == "failed"]
    for step in failed:
        print(f"\n==== {step.name} failed; the log is {step.log.relative_to(ROOT)}")
        print("\n".join("  " + line for line in tail(step, 40)))
    print()
    counted = {"tests": 0, "failed": 0, "skipped": 0}
    for suite in names:
        own = [step for step in steps if step.suite == suite]
        tests = sum(step.found.tests for step in own if step.seconds)
        bad = [step for step in own if step.state == "failed"]
        lost = [step for step in own if step.state == "not run"]
        skipped = [step for step in own if step.state == "skipped"]
        state = "FAILED" if bad else "NOT RUN" if lost else "skipped" if skipped and tests == 0 else "passed"
        counted["tests"] += tests
        counted["failed"] += sum(max(1, len(step.found.failures)) for step in bad) + len(lost)
        counted["skipped"] += len(skipped)
        print(f"{suite:10} {state:8} {tests:6,} tests  {clock(sum(step.seconds for step in own)):>6}")
    if failed:
        print("\nto repeat what failed:")
        for step in failed:
            for test in step.found.failures[:10] or [""]:
                print(f"  ./run test {step.suite}" + (f" -k '{test}'" if test else ""))
    print(f"\ninstalled in {clock(install)}, ran in {clock(elapsed)}; logs: build/test-logs")
    if filtered and counted["tests"] == 0 and not failed:
        print(f"run: no test has a name with '{filtered}'")
        return 1
    good = counted["tests"] - sum(len(step.found.failures) for step in failed)
    print(f"{max(0, good)} passed, {counted['failed']} failed, {counted['skipped']} skipped")
    return 1 if counted["failed"] else 0
