#!/usr/bin/env bash
# The shared library exports exactly the names in capi/exported_symbols.txt.
# usage: check_exports.sh BUILD_DIRECTORY
set -euo pipefail
cd "$(dirname "$0")/.."
library=$1/capi/libadapvae.so
[ -f "$library" ] || { echo "check_exports: no $library" >&2; exit 1; }
exported=$(nm -D --defined-only "$library" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)
diff <(sort capi/exported_symbols.txt) <(printf '%s\n' "$exported") ||
  { echo "check_exports: exported names differ from capi/exported_symbols.txt" >&2; exit 1; }
echo "exported names: ok"
