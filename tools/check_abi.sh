#!/usr/bin/env bash
# The shared library is binary compatible with the recorded ABI; what was added since is fine.
# usage: check_abi.sh BUILD_DIRECTORY [record]
set -euo pipefail
cd "$(dirname "$0")/.."
library=$1/capi/libadapvae.so
recorded=capi/abi/adapvae.abi
if [ "${2:-}" = record ]; then
  abidw --headers-dir capi/include --drop-private-types --exported-interfaces-only --no-corpus-path \
    --no-comp-dir-path --no-show-locs "$library" | sed -E "s|path='[^']*/([^/']+)'|path='\1'|" >"$recorded"
  exit
fi
# Bits of the answer: 1, 2 errors; 4 a change; 8 an incompatible one.
answer=0
abidiff --headers-dir2 capi/include --drop-private-types --no-added-syms "$recorded" "$library" >build/abi.log ||
  answer=$?
if [ $((answer & 11)) -ne 0 ]; then
  cat build/abi.log >&2
  echo "check_abi: the ABI has changed; before 1.0 that is allowed: say so in CHANGELOG and record it anew" >&2
  exit 1
fi
echo "ABI: ok"
