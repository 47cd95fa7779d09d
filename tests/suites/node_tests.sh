#!/usr/bin/env bash
# Runs test files with Node's test runner, two files at a time. usage: node_tests.sh TEST_FILE...
# ADAPVAE_TEST_NAME: only tests whose name contains it.
set -euo pipefail
options=(--test --test-concurrency=2 --test-timeout=240000 --test-force-exit --test-reporter=spec)
[ -z "${ADAPVAE_TEST_NAME:-}" ] || options+=("--test-name-pattern=${ADAPVAE_TEST_NAME}")
exec node "${options[@]}" "$@"
