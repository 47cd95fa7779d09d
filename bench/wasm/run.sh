#!/usr/bin/env bash
# Installs the npm package and its peers into the build tree and runs a script of this folder there.
# usage: run.sh SCRIPT [ARGUMENT...]
set -euo pipefail
cd "$(dirname "$0")/../.."
export ADAPVAE_SOURCE=$PWD
node wasm/assemble.mjs build/wasm/wasm/adapvae.wasm build/wasm/wasm/adapvae-scalar.wasm build/npm/adapvae
place=build/npm/bench
mkdir -p "$place"
cp bench/wasm/* tests/wasm/browser.mjs tests/wasm/support.mjs "$place"
tools/npm_tools.sh "$place"
cd "$place"
rm -rf node_modules/adapvae
cp -r ../adapvae node_modules/adapvae
[ ! -f ../../wasm/wasm/bench_step.wasm ] || cp ../../wasm/wasm/bench_step.wasm .
exec node "$@"
