#!/usr/bin/env bash
# Installs the tools of a folder's package-lock.json, unless they are there already.
# usage: npm_tools.sh FOLDER
set -euo pipefail
cd "$1"
lock=$(sha256sum <package-lock.json)
[ "$(cat node_modules/.lock-hash 2>/dev/null)" != "$lock" ] || exit 0
npm ci --no-audit --no-fund --loglevel=error
echo "$lock" >node_modules/.lock-hash
