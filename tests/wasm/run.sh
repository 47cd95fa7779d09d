#!/usr/bin/env bash
# Installs the npm package of build/npm as a user would, with the tools of package.json beside it, and
# runs the tests there. usage: run.sh [TEST_FILE...]
set -euo pipefail
cd "$(dirname "$0")/../.."
export ADAPVAE_SOURCE=$PWD
node wasm/assemble.mjs build/wasm/wasm/adapvae.wasm build/wasm/wasm/adapvae-scalar.wasm build/npm/adapvae
place=build/npm/test
mkdir -p "$place"
find "$place" -mindepth 1 -maxdepth 1 ! -name node_modules -exec rm -rf {} +
cp -r tests/wasm/. "$place"
tools/npm_tools.sh "$place"
cd "$place"
# As from a registry: only what the package's `files` let through.
archive=$(cd ../adapvae && npm pack --silent --pack-destination ../test)
rm -rf node_modules/adapvae
mkdir node_modules/adapvae
tar -xzf "$archive" --strip-components=1 -C node_modules/adapvae
[ $# -gt 0 ] || set -- *.test.mjs
exec node --test --test-concurrency=1 --test-reporter=spec --test-timeout=240000 --test-force-exit "$@"
