#!/usr/bin/env bash
# The library on devices, in QEMU: the firmware on bare Cortex-M boards compared with the same program on the PC,
# a power cut at every flash operation, a scorer in flash, sizes, stack and instructions compared with
# docs/results/edge.md, and the symbols that the library needs.
# usage: run.sh pc            the program on the PC (build/twin); leaves its model and output in build/edge
#        run.sh board PRESET  one board, after that (build/PRESET and build/PRESET-score)
#        run.sh packages      the packages for Arduino and Zephyr
set -euo pipefail
cd "$(dirname "$0")/../.."
native=build/twin
left=build/edge
mkdir -p "$left"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "edge: $*" >&2; exit 1; }

board() { # PRESET ELF [QEMU-OPTION...]
  local machine
  case $1 in
    cortex-m4f*) machine=mps2-an386 ;;
    cortex-m7*) machine=mps2-an500 ;;
    cortex-m55*) machine=mps3-an547 ;;
  esac
  timeout 300 qemu-system-arm -M "$machine" -nographic -monitor none -serial none \
    -semihosting-config enable=on,target=native "${@:3}" -kernel "$2" 2>&1  # where QEMU writes it
}

on_pc() {
  "$native/tests/edge/test_small_math" || fail "exp or log"

  # Births when the data bring something new, over a reboot.
  "$native/examples/cortex-m/firmware" "$work/flash" >"$left/pc.out" || { cat "$left/pc.out"; fail "the twin failed"; }
  tests/edge/check_firmware.py "$left/pc.out"
  echo "firmware, PC: ok"

  # The power goes at every flash operation.
  cuts=0
  while :; do
    code=0
    "$native/tests/edge/powercut" "$work/cut" >"$work/cut.out" || code=$?
    [ $code -eq 0 ] && break
    [ $code -eq 3 ] || { cat "$work/cut.out"; fail "power cut $cuts: code $code"; }
    cuts=$((cuts + 1))
  done
  [ $cuts -gt 10 ] || fail "only $cuts power cuts"
  echo "power cuts, PC: ok ($cuts)"
  tests/edge/model_of.py "$work/flash" "$left/model.safetensors"
}

on_board() {
  local preset=$1 elf=build/$1/tests/edge score cuts others
  board "$preset" "build/$preset/examples/cortex-m/firmware.elf" >"$work/$preset.out" ||
    { cat "$work/$preset.out"; fail "$preset: the firmware failed"; }
  tests/edge/check_firmware.py "$work/$preset.out" "$left/pc.out"
  echo "firmware, $preset: ok"
  board "$preset" "$elf/powercut.elf" >"$work/cut.out" || { cat "$work/cut.out"; fail "$preset: power cuts"; }
  cuts=$(awk '/^\.+$/ { print length($0) }' "$work/cut.out")
  [ "${cuts:-0}" -gt 10 ] || fail "$preset: too few power cuts"
  echo "power cuts, $preset: ok ($cuts)"
  # A scorer in flash: the model that the PC saved, the rows that the firmware ended with.
  score=build/$preset-score/tests/edge/score_flash.elf
  board "$preset" "$score" >"$work/score.out" || { cat "$work/score.out"; fail "$preset: the scorer failed"; }
  tests/edge/check_firmware.py --rows-only "$work/score.out" "$left/pc.out"
  echo "scorer in flash, $preset: ok"

  # ---- sizes, stack, instructions ----
  {
    echo "flash.learn $(arm-none-eabi-size "$elf/size_learn.elf" | awk 'NR == 2 { print $1 + $2 }')"
    echo "flash.score $(arm-none-eabi-size "$score" | awk -v model="$(stat -c %s $left/model.safetensors)" \
      'NR == 2 { print $1 + $2 - model - 11200 }')"
    if [ -f "$elf/measure.elf" ]; then board "$preset" "$elf/measure.elf" -icount shift=0; fi
  } >"$work/figures"
  cp "$work/figures" "$left/$preset.figures"
  tests/edge/check_figures.py "$preset" "$work/figures" docs/results/edge.md

  # ---- what the library needs of others ----
  arm-none-eabi-gcc -mcpu="${preset/m4f/m4}" -mthumb -mfloat-abi=hard -flto=auto -flinker-output=nolto-rel -nostdlib -r \
    -Wl,--whole-archive "build/$preset/capi/libadapvae.a" -o "$work/library.o" 2>"$work/log" || { cat "$work/log"; fail "$preset: the library alone"; }
  arm-none-eabi-nm -u "$work/library.o" | awk '$1 == "U" && $2 !~ /adapvae/ { print $2 }' | LC_ALL=C sort -u >"$work/needs"
  if grep -E '^(malloc|free|calloc|realloc|__cxa|_Zn|_Zd|__gxx|printf|fprintf|sprintf|snprintf|puts|fopen|fwrite|exit|abort|getenv|__assert)' \
    "$work/needs"; then
    fail "$preset: the library needs what devices do not have"
  fi
  others=$(grep -v '^__aeabi_' "$work/needs" | comm -13 tests/edge/needed_symbols.txt -)
  [ -z "$others" ] || fail "$preset: symbols that tests/edge/needed_symbols.txt does not have:" $others
  echo "symbols, $preset: ok"
}

packages() {
  # Their one source, as those build it.
  local package flags
  tools/device_packages.py "$work/packages"
  for package in arduino zephyr; do
    flags=(-std=gnu++20)
    [ $package = zephyr ] && flags=(-std=c++20 -fno-exceptions -fno-rtti -DADAPVAE_NO_HEAP -DADAPVAE_STRIP_STRINGS -DADAPVAE_SMALL_CODE)
    arm-none-eabi-g++ -mcpu=cortex-m4 -mfpu=fpv4-sp-d16 -mfloat-abi=hard -mthumb -Os -Wall -Wno-psabi "${flags[@]}" \
      -c "$work/packages/$package/adapvae/src/adapvae.cpp" -o "$work/$package.o" || fail "the package for $package"
    arm-none-eabi-nm -u "$work/$package.o" | grep -wE 'malloc|free|printf' && fail "$package: a heap or stdio"
    echo "package, $package: ok"
  done
}

case ${1:-} in
  pc) on_pc ;;
  board) on_board "$2" ;;
  packages) packages ;;
  *) fail "usage: run.sh pc | board PRESET | packages" ;;
esac
