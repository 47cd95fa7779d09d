#!/usr/bin/env bash
# clang-tidy over the core and the C API. usage: check_tidy.sh BUILD_DIRECTORY [changed]
# changed: only the sources that differ from the upstream branch; without one, or if none differ, those of the
# last commit.
set -euo pipefail
cd "$(dirname "$0")/.."
# Kernels are one source compiled per level: the scalar one stands for all.
sources() { grep -E '^(lib|capi)/.*\.cpp$' | grep -vE 'kernels_(avx|baseline|neon|simd)' || true; }
if [ "${2:-}" = changed ]; then
  base=$(git merge-base HEAD '@{upstream}' 2>/dev/null || git rev-parse HEAD)
  files=$(git diff --name-only --diff-filter=d "$base" | sources)
  [ -n "$files" ] || files=$(git diff --name-only --diff-filter=d HEAD~1 2>/dev/null | sources)
else
  files=$(git ls-files | sources)
fi
[ -n "$files" ] || { echo "tidy: no source has changed: ok"; exit 0; }
xargs -P "$(nproc)" -n 1 clang-tidy --quiet -p "$1" 2>/dev/null <<<"$files"
echo "tidy, $(wc -l <<<"$files") sources: ok"
