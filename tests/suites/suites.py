"""The suites and their steps: what is built, what is run, in which order.

To add a test to a preset, add it to tests/CMakeLists.txt with the suite's label. To add a step, add a line here.
"""
import dataclasses
import os
import pathlib
import shutil

import results

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DEFAULT = ["check", "native", "capi", "cli", "wasm", "web", "sanitize", "edge", "cuda", "bindings"]
FULL = DEFAULT + ["clang", "threads", "edge-full"]
# Emulators and sanitizers look at instructions, memory and orders of events, which do not depend on repetition
# (tests/support/test_size.h).
BRIEF_SIZE = {"ADAPVAE_TEST_SIZE": "brief"}
USUAL_SIZE = {"ADAPVAE_TEST_SIZE": "usual"}


@dataclasses.dataclass(eq=False)
class Step:
    suite: str
    name: str
    commands: list
    lane: str = "run"  # or "build": one at a time, with all cores
    after: list = dataclasses.field(default_factory=list)
    alone: bool = False  # it measures time: nothing else runs meanwhile
    urgent: bool = False  # it plays in real time: what runs meanwhile gets the processor time that it leaves
    environment: dict = dataclasses.field(default_factory=dict)
    limit: int = 0  # seconds
    build_folder: pathlib.Path = None
    junit: pathlib.Path = None
    state: str = "waiting"
    reason: str = ""
    log: pathlib.Path = None
    began: float = 0
    seconds: float = 0
    processor_seconds: float = 0
    found: results.Found = dataclasses.field(default_factory=results.Found)
    command_seconds: list = dataclasses.field(default_factory=list)

    def last_line(self):
        lines = self.log.read_text(errors="replace").strip().splitlines() if self.log else []
        return lines[-1] if lines else ""


class Plan:
    """Collects steps. A build that several suites need is made once, for the first of them."""

    def __init__(self, name, jobs):
        self.steps = []
        self.full = os.environ.get("ADAPVAE_TEST_SIZE") == "full"
        self.name = name  # of one test, or nothing for all
        self.jobs = jobs

    def add(self, suite, name, *commands, **more):
        if any(step.name == name for step in self.steps):
            return name
        self.steps.append(Step(suite, name, list(commands), **more))
        return name

    def build(self, suite, preset, *targets, options=(), after=(), environment=None):
        """Configures and builds a preset; with other targets than before, another step of the same folder."""
        known = [step for step in self.steps if step.lane == "build" and step.build_folder == ROOT / "build" / preset]
        for step in known:
            built = step.commands[-1][step.commands[-1].index("--target") + 1:] if "--target" in step.commands[-1] else []
            if not built or (targets and set(targets) <= set(built)):
                return step.name
        name = f"build {preset}" + (f" {len(known) + 1}" if known else "")
        compile_command = ["cmake", "--build", "--preset", preset, "--parallel", self.jobs]
        if targets:
            compile_command += ["--target", *targets]
        return self.add(suite, name, ["cmake", "--preset", preset, *options], compile_command, lane="build",
                        after=[step.name for step in known] + list(after), environment=environment or {},
                        build_folder=ROOT / "build" / preset)

    def ctest(self, suite, preset, *selection, after, title="", environment=None, limit=0):
        name = f"test {preset}" + (f" {title}" if title else "")
        file = ROOT / "build/test-logs" / (name.replace(" ", "-") + ".xml")
        command = ["python3", "tests/suites/run_ctest.py", preset, "--jobs", self.jobs, "--junit", file]
        if limit or self.full:
            command += ["--limit", limit or 3600]
        if self.name:
            command += ["-k", self.name]
        return self.add(suite, name, [*command, "--", *selection], after=after, junit=file, limit=limit,
                        environment=environment or {})

    def script(self, suite, name, *commands, filtered=False, **more):
        """A script that is one test; `filtered` ones pick tests by ADAPVAE_TEST_NAME themselves."""
        if self.name and not filtered and self.name not in name:
            return None
        more["environment"] = {**more.get("environment", {}), "ADAPVAE_TEST_NAME": self.name}
        return self.add(suite, name, *commands, **more)


def check(plan):
    plan.script("check", "include directions", ["tools/check_includes.sh"])
    plan.script("check", "format", ["tools/check_format.sh"])
    shared = plan.build("check", "shared", *SHARED_TARGETS)
    plan.script("check", "exported symbols", ["tools/check_exports.sh", "build/shared"], after=[shared])
    plan.script("check", "ABI", ["tools/check_abi.sh", "build/shared"], after=[shared])
    plan.script("check", "lint", ["tools/check_tidy.sh", "build/shared", *([] if plan.full else ["changed"])],
                after=[shared])


SHARED_TARGETS = ["adapvae", "adapvae_cli", "test_link", "test_capi", "kill_while_saving", "configuration_doc",
                  "record_stream"]


def native(plan):
    release = plan.build("native", "release")
    plan.ctest("native", "release", "-L", "native", title="native", after=[release])
    for level in ("baseline", "scalar"):
        plan.ctest("native", "release", "-L", "native", "-R", "^network", title=f"network {level}", after=[release],
                   environment={"ADAPVAE_ISA": level})


def capi(plan):
    release = plan.build("capi", "release")
    shared = plan.build("capi", "shared", *SHARED_TARGETS)
    plan.ctest("capi", "release", "-L", "capi", title="capi", after=[release])
    # Numbers are those of the static library.
    plan.ctest("capi", "shared", "-L", "capi", "-E", "stress|fuzz", title="capi", after=[shared])
    plan.script("capi", "consumers", ["tests/consumers/run.sh", ROOT / "build/release", ROOT / "build/shared"],
                after=[release, shared])


def cli(plan):
    release = plan.build("cli", "release")
    plan.ctest("cli", "release", "-L", "cli", title="cli", after=[release])


def npm_package(plan, suite):
    modules = plan.build(suite, "wasm", "adapvae_simd", "adapvae_scalar", "test_compute", "test_network")
    return plan.add(suite, "npm package", ["node", "wasm/assemble.mjs", "build/wasm/wasm/adapvae.wasm",
                                           "build/wasm/wasm/adapvae-scalar.wasm", "build/npm/adapvae"], after=[modules])


def wasm(plan):
    package = npm_package(plan, "wasm")
    release = plan.build("wasm", "release")
    plan.ctest("wasm", "wasm", "-R", "^(compute|network)", after=[package])
    plan.script("wasm", "npm package in Node and Chromium", ["tests/wasm/run.sh"], after=[package, release],
                filtered=True)


def web(plan):
    package = npm_package(plan, "web")
    release = plan.build("web", "release")
    page = plan.add("web", "page", ["demo-web/build.sh"], after=[package])
    plan.script("web", "web journeys", ["tests/web/run.sh", "journeys"], after=[page, release], urgent=True, filtered=True)
    plan.script("web", "web timed", ["tests/web/run.sh", "timed"], after=[page, release], alone=True, filtered=True)


def sanitize(plan):
    build = plan.build("sanitize", "asan")
    plan.ctest("sanitize", "asan", after=[build], environment=USUAL_SIZE if plan.full else BRIEF_SIZE)


def edge(plan, boards=("cortex-m7", "cortex-m4f"), suite="edge"):
    twin = plan.build(suite, "twin")
    model = plan.add(suite, "firmware on the PC", ["tests/edge/run.sh", "pc"], after=[twin])
    for board in boards:
        learn = plan.build(suite, board)
        score = plan.build(suite, f"{board}-score", after=[model],
                           options=[f"-DADAPVAE_EDGE_MODEL={ROOT / 'build/edge/model.safetensors'}"])
        plan.script(suite, f"firmware on {board}", ["tests/edge/run.sh", "board", board], after=[learn, score])
    plan.script(suite, "packages for devices", ["tests/edge/run.sh", "packages"])


def edge_full(plan):
    edge(plan, ["cortex-m55"], "edge-full")
    small = plan.build("edge-full", "small-code", "test_base", "test_compute")
    plan.ctest("edge-full", "small-code", "-R", "^(base|compute)", after=[small])
    twin = "firmware on the PC"
    # One emulated processor runs everything. The others leave out what is long and learns a lot: the same C++ on
    # other numbers. Firmware on each of them makes the births and clusters of the PC.
    brief = ["-LE", "cuda", "-E", "long_run|restore|replay_regression|endurance|stress"]
    for board, selection in (("aarch64-linux", ["-LE", "cuda"]), ("riscv64-linux", brief), ("armhf-linux", brief)):
        build = plan.build("edge-full", board)
        plan.ctest("edge-full", board, *selection, after=[build], environment=BRIEF_SIZE, limit=4 * 3600)
        plan.script("edge-full", f"firmware on {board}", ["tests/edge/board_parity.sh", "build/twin", board],
                    after=[build, twin])
    plan.script("edge-full", "NEON", ["tests/edge/check_neon.sh", "build/aarch64-linux"], after=["build aarch64-linux"])


def cuda(plan):
    # The bodies of the kernels, compiled as C++.
    release = plan.build("cuda", "release")
    plan.ctest("cuda", "release", "-L", "cuda", title="device kernels on the host", after=[release])
    if not shutil.which(os.environ.get("CUDACXX", "nvcc")):
        plan.add("cuda", "CUDA plug-in", ["sh", "-c", "echo 'nvcc was not found; install CUDA 13 or set CUDACXX'; exit 77"])
        return
    build = plan.build("cuda", "cuda", "adapvae_cuda", "host_plugin", "test_capi", "bench_cuda")
    plan.ctest("cuda", "cuda", "-L", "cuda", "-E", r"^device\.", after=[build])


def bindings(plan):
    shared = plan.build("bindings", "shared", *SHARED_TARGETS)
    prepared = plan.add("bindings", "install tree", ["tests/bindings/run.sh", "prefix"], after=[shared])
    fronts = [plan.script("bindings", language, ["tests/bindings/run.sh", language], after=[prepared], filtered=True)
              for language in ("python", "go", "rust")]
    if plan.full:  # `sanitize` makes the same calls from C
        plan.script("bindings", "python with AddressSanitizer", ["tests/bindings/run.sh", "python-asan"], filtered=True)
    plan.script("bindings", "mpi", ["tests/mpi/run.sh", ROOT / "build/bindings/prefix"], after=[prepared])
    if not plan.name:
        package = npm_package(plan, "bindings")
        plan.script("bindings", "golden stream", ["tests/bindings/run.sh", "golden"], after=[*fronts, package])


def clang(plan):
    build = plan.build("clang", "clang")
    plan.ctest("clang", "clang", "-L", "native|capi", after=[build])


def threads(plan):
    # Programs with several threads.
    build = plan.build("threads", "tsan", "test_capi", "test_compute", "test_network", "test_tools")
    plan.ctest("threads", "tsan", "-R", r"^(capi\.|compute\.determinism|network\.network_determinism|tools\.thread_pool)",
               after=[build], environment=BRIEF_SIZE, limit=4 * 3600)


def plan(names, name, jobs):
    made = Plan(name, jobs)
    # Builds start in this order. What takes long to run is built first.
    functions = {"wasm": wasm, "web": web, "native": native, "cli": cli, "capi": capi, "check": check,
                 "bindings": bindings, "sanitize": sanitize, "edge": edge, "cuda": cuda, "clang": clang,
                 "threads": threads, "edge-full": edge_full}
    for suite, function in functions.items():
        if suite in names:
            function(made)
    return made.steps
