#!/usr/bin/env bash
# The firmware's twin on a Linux board, in QEMU, beside the PC: the same births and clusters, novelty within 1e-3.
# usage: board_parity.sh NATIVE_BUILD PRESET    (the board's build folder is build/PRESET)
set -euo pipefail
cd "$(dirname "$0")/../.."
case $2 in
  aarch64-linux) compiler=aarch64-linux-gnu-gcc qemu=qemu-aarch64-static ;;
  riscv64-linux) compiler=riscv64-linux-gnu-gcc qemu=qemu-riscv64-static ;;
  armhf-linux) compiler=arm-linux-gnueabihf-gcc qemu=qemu-arm-static ;;
  *) echo "board_parity: no board '$2'" >&2; exit 1 ;;
esac
libraries=$(dirname "$("$compiler" -print-file-name=libc.so.6)")/..
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1/examples/cortex-m/firmware" "$work/flash" >"$work/pc.out"
"$qemu" -L "$libraries" "build/$2/examples/cortex-m/firmware" "$work/board_flash" >"$work/board.out" ||
  { cat "$work/board.out"; echo "board_parity: $2 failed" >&2; exit 1; }
tests/edge/check_firmware.py "$work/board.out" "$work/pc.out"
echo "firmware, $2: ok"
