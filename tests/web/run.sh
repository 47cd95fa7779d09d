#!/usr/bin/env bash
# Builds the page and walks through it in a real Chromium. usage: run.sh [TEST_FILE...]
#        run.sh screenshots: makes the pictures of docs/web instead.
# The code that the page offers is linked with ADAPVAE_LIBRARY (build/release/capi/libadapvae.a).
set -euo pipefail
cd "$(dirname "$0")/../.."
export ADAPVAE_SOURCE=$PWD
demo-web/build.sh
place=build/web/journeys
mkdir -p "$place"
cp tests/web/*.mjs tests/web/*.ts tests/wasm/browser.mjs "$place"
cd "$place"
[ "${1:-}" != screenshots ] || exec node screenshots.mjs
(cd .. && npx --no-install vite build --ssr journeys/parts.ts --outDir journeys/parts --logLevel warn)
[ $# -gt 0 ] || set -- *.test.mjs
failed=0
for file in "$@"; do
  echo "== $file"
  code=0
  timeout -k 10 400 node --test-reporter=spec --test-force-exit "$file" || code=$?
  if [ "$code" -eq 124 ]; then # a browser or a runner that hangs, which is not what is tested
    echo "== $file: once more, it hung"
    code=0
    timeout -k 10 400 node --test-reporter=spec --test-force-exit "$file" || code=$?
  fi
  [ "$code" -eq 0 ] || failed=1
done
exit "$failed"
