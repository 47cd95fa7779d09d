#!/usr/bin/env bash
# Builds the page into build/web/dist out of the npm package in build/npm/adapvae. usage: build.sh
set -euo pipefail
cd "$(dirname "$0")/.."
place=build/web
mkdir -p "$place"
find "$place" -mindepth 1 -maxdepth 1 ! -name node_modules -exec rm -rf {} +
cp -r demo-web/. "$place"
node demo-web/tools/make-digits.mjs "$place/public/digits.bin"
# The style of the program's reports, for the page's.
sed -n '/R"css(/,/^)css"/{//!p}' cli/report/style.cpp >"$place/src/report.css"
node demo-web/tools/make-maths.mjs docs/math.md "$place/src/report.css" "$place/public/maths.html"
tools/npm_tools.sh "$place"
cd "$place"
rm -rf node_modules/adapvae
cp -r ../npm/adapvae node_modules/adapvae
npm run --silent build
