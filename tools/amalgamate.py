#!/usr/bin/env python3
"""The whole library as two files: adapvae.h (with adapvae.hpp beside it) and adapvae.cpp.

    amalgamate.py OUTPUT_DIRECTORY

Compile adapvae.cpp with any C++20 compiler of the gcc or clang family:

    c++ -std=c++20 -O3 -fno-exceptions -fno-rtti -c adapvae.cpp

With these two flags a program needs the C library and libm alone; without them it must be linked as C++.
Kernels of every instruction set are in it; the processor's best is chosen at run time. Sources are taken
in the order of the CMake files, headers where they are first needed.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
# Instruction sets that need other flags than the rest: what gcc and clang call them.
TARGETS = {
    "avx2": "avx2,fma",
    "avx512": "avx512f,avx512vl,avx512bw,avx512dq,avx2,fma",
}
# When a level is compiled at all.
CONDITIONS = {
    "baseline": "defined(__x86_64__)",
    "avx2": "defined(__x86_64__)",
    "avx512": "defined(__x86_64__)",
    "neon": "defined(__aarch64__)",
    "simd128": "defined(__wasm_simd128__)",
}


def version():
    return re.search(r"project\(adapvae VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]


def sources():
    lib = re.findall(r"^  ([a-z_]+/[a-z0-9_]+\.cpp)$", (ROOT / "lib/CMakeLists.txt").read_text(), re.M)
    capi = re.findall(r"^  (src/[a-z_]+\.cpp)$", (ROOT / "capi/CMakeLists.txt").read_text(), re.M)
    kernels = [name for name in lib if "/kernels_" in name]
    return [ROOT / "lib" / n for n in lib if n not in kernels], [ROOT / "capi" / n for n in capi]


class Amalgam:
    def __init__(self):
        self.out = []
        self.seen = set()
        self.system = []

    def find(self, name, beside):
        for base in (beside.parent, ROOT / "lib", ROOT / "capi/include"):
            if (base / name).is_file():
                return (base / name).resolve()
        raise SystemExit(f"amalgamate: {beside}: cannot find {name}")

    def add(self, path, once=True):
        """A file with its own headers before it, system headers taken out."""
        if once and path in self.seen:
            return
        self.seen.add(path)
        self.out.append(f"// ---- {path.relative_to(ROOT)}\n")
        for line in path.read_text().splitlines(keepends=True):
            own = re.match(r'\s*#include "([^"]+)"', line)
            # CUDA is for builds by CMake.
            if own and own[1].startswith(("adapvae/", "compute/cuda/")):
                continue
            if own:
                # What has no guard is meant to be included again.
                self.add(self.find(own[1], path), once="/kernel_" not in own[1])
            elif line.startswith("#include <") and path.name != "clock.cpp":
                if line not in self.system:
                    self.system.append(line)
            elif line.strip() != "#pragma once":
                self.out.append(line)
        self.out.append("\n")

    def add_kernels(self, level):
        path = ROOT / f"lib/compute/kernels_{level}.cpp"
        condition = CONDITIONS.get(level)
        if condition:
            self.out.append(f"#if {condition}\n")
        target = TARGETS.get(level)
        if target:
            self.out.append(
                "#if defined(__clang__)\n"
                f'#pragma clang attribute push(__attribute__((target("{target}"))), apply_to = function)\n'
                "#else\n#pragma GCC push_options\n"
                f'#pragma GCC target("{target}")\n#endif\n')
        # Names of a level live in a namespace of its own.
        begin = len(self.out)
        self.add(path)
        text = "".join(self.out[begin:])
        del self.out[begin:]
        text = text.replace("namespace {", f"namespace {level} {{", 1)
        text = text.replace("return &kTable;", f"return &{level}::kTable;")
        self.out.append(text)
        if target:
            self.out.append(
                "#if defined(__clang__)\n#pragma clang attribute pop\n#else\n#pragma GCC pop_options\n#endif\n")
        for macro in sorted(set(re.findall(r"#define (ADAPVAE_[A-Z_]+)", text))):
            self.out.append(f"#undef {macro}\n")
        if condition:
            self.out.append("#endif\n")


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    output = pathlib.Path(sys.argv[1])
    output.mkdir(parents=True, exist_ok=True)
    include = ROOT / "capi/include/adapvae"
    for name in ("adapvae.h", "adapvae.hpp", "adapvae_experimental.h"):
        (output / name).write_text((include / name).read_text())

    amalgam = Amalgam()
    lib, capi = sources()
    amalgam.add(ROOT / "lib/compute/kernels.h")
    for level in ("scalar", *CONDITIONS):
        amalgam.add_kernels(level)
    for path in lib + capi:
        amalgam.add(path)
    license_text = "".join(f"// {line}".rstrip() + "\n" for line in (ROOT / "LICENSE").read_text().splitlines())
    has = "".join(
        f"#if {condition}\n#define ADAPVAE_HAS_{level.upper()}\n#endif\n" for level, condition in CONDITIONS.items())
    head = (
        f"// adapvae {version()}, all of it in one file: made by tools/amalgamate.py, not by hand.\n"
        f"// Needs adapvae.h beside it and C++20: c++ -std=c++20 -O3 -fno-exceptions -fno-rtti -c adapvae.cpp\n//\n{license_text}\n"
        f'#define ADAPVAE_VERSION_STRING "{version()}"\n{has}\n#include "adapvae.h"\n#include "adapvae_experimental.h"\n\n'
        + "".join(sorted(amalgam.system)) + "\n")
    (output / "adapvae.cpp").write_text(head + "".join(amalgam.out))


if __name__ == "__main__":
    main()
