#!/usr/bin/env bash
# Walks through the built page (demo-web/build.sh) in a real Chromium.
# usage: run.sh [journeys|timed|screenshots|TEST_FILE...]
#   timed        what is measured by the clock; run it on a machine that does nothing else
#   journeys     everything else
#   screenshots  makes the pictures of docs/web instead
# ADAPVAE_TEST_NAME: only tests whose name contains it.
# The code that the page offers is linked with ADAPVAE_LIBRARY (build/release/capi/libadapvae.a).
set -euo pipefail
cd "$(dirname "$0")/../.."
export ADAPVAE_SOURCE=$PWD
place=build/web/journeys
mkdir -p "$place"
cp tests/web/*.mjs tests/web/*.ts tests/wasm/browser.mjs "$place"
cd "$place"
timed=budgets.test.mjs
case ${1:-} in
  screenshots) exec node screenshots.mjs ;;
  timed) set -- "$timed" ;;
  '' | journeys)
    (cd .. && npx --no-install vite build --ssr journeys/parts.ts --outDir journeys/parts --logLevel warn)
    set -- $(ls *.test.mjs | grep -v "^$timed$")
    ;;
esac
exec "$ADAPVAE_SOURCE/tests/suites/node_tests.sh" "$@"
