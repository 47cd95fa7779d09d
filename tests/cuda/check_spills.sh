#!/usr/bin/env bash
# check_spills.sh NVCC SOURCE_DIRECTORY: no kernel spills registers to memory, and how many it uses.
set -euo pipefail
nvcc=$1
source=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for architecture in 75 90; do
  "$nvcc" -std=c++20 -O3 -cubin -arch="sm_$architecture" -Xptxas -v -I"$source/lib" \
    "$source/lib/compute/cuda/cuda_device.cu" -o "$folder/device.cubin" 2>"$folder/log"
  kernels=$(grep -c 'Used [0-9]* registers' "$folder/log") || true
  [ "$kernels" -ge 14 ] || { cat "$folder/log" >&2; echo "kernels are missing" >&2; exit 1; }
  if grep -E '[1-9][0-9]* bytes (stack frame|spill)' "$folder/log"; then
    echo "sm_$architecture: a kernel spills" >&2
    exit 1
  fi
  most=$(grep -oE 'Used [0-9]+ registers' "$folder/log" | grep -oE '[0-9]+' | sort -n | tail -1)
  echo "sm_$architecture: $kernels kernels, no spills, at most $most registers"
done
