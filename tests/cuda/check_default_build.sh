#!/usr/bin/env bash
# check_default_build.sh BUILD_DIRECTORY LIBRARY: a build without ADAPVAE_CUDA looked for no CUDA
# compiler, and nothing of CUDA, or what would load it, is in the library.
set -euo pipefail
build=$1
library=$2
if grep -q '^CMAKE_CUDA_COMPILER' "$build/CMakeCache.txt"; then
  echo "the default build looked for a CUDA compiler" >&2
  exit 1
fi
names=$(nm "$library" 2>/dev/null; nm -D "$library" 2>/dev/null || true)
[ -n "$names" ] || { echo "no names in $library" >&2; exit 1; }
if grep -iE 'cuda|cublas|dlopen|DeviceTable' <<<"$names"; then
  echo "the default library has names of CUDA" >&2
  exit 1
fi
if strings -a "$library" | grep -iE 'libcu|adapvae_cuda'; then
  echo "the default library speaks of CUDA's files" >&2
  exit 1
fi
echo "no CUDA in the default library"
