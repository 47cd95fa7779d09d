#!/usr/bin/env bash
# Installs the tools that a folder's package.json names, unless they are there already.
# usage: npm_tools.sh FOLDER
set -euo pipefail
cd "$1"
tools=$(node -e 'const f = require("./package.json"); console.log(Object.entries(f.devDependencies).join(" "))')
[ "$(cat node_modules/.tools 2>/dev/null)" != "$tools" ] || exit 0
npm install --no-package-lock --no-audit --no-fund --loglevel=error
echo "$tools" >node_modules/.tools
