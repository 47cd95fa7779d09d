#!/usr/bin/env bash
# Installs the npm package of build/npm/adapvae as a user would, together with the tools of package.json, and
# runs the tests there. usage: run.sh [TEST_FILE...]
# ADAPVAE_TEST_NAME: only tests whose name contains it.
set -euo pipefail
cd "$(dirname "$0")/../.."
export ADAPVAE_SOURCE=$PWD
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
exec "$ADAPVAE_SOURCE/tests/suites/node_tests.sh" "$@"
