#!/usr/bin/env bash
# Every C and C++ file is as clang-format would write it.
set -euo pipefail
cd "$(dirname "$0")/.."
git ls-files '*.h' '*.hpp' '*.c' '*.cpp' | xargs clang-format --dry-run --Werror
echo "format: ok"
