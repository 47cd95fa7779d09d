#!/usr/bin/env bash
# The kernels of aarch64 are NEON code: fused multiply-adds of four floats, and the library chooses them.
# usage: check_neon.sh BUILD_DIRECTORY
set -euo pipefail
count=$(aarch64-linux-gnu-objdump -d "$1/lib/CMakeFiles/adapvae_core.dir/compute/kernels_neon.cpp.o" |
  grep -cE '\sfmla\s+v[0-9]+\.4s')
[ "$count" -gt 100 ] || { echo "check_neon: only $count vector multiply-adds" >&2; exit 1; }
root=$(dirname "$(dirname "$(readlink -f "$(aarch64-linux-gnu-gcc -print-file-name=libc.so.6)")")")
said=$(qemu-aarch64-static -L "$root" "$1/tests/test_link")
[[ $said == *", neon" ]] || { echo "check_neon: the library says: $said" >&2; exit 1; }
echo "NEON: ok ($count vector multiply-adds)"
