#!/usr/bin/env bash
# Runs test files with Node's test runner, two files at a time. usage: node_tests.sh TEST_FILE...
# ADAPVAE_TEST_NAME: only tests whose name contains it. ADAPVAE_TEST_JUNIT: where results are written.
set -euo pipefail
options=(--test --test-concurrency=2 --test-timeout=240000 --test-force-exit
  --test-reporter=spec --test-reporter-destination=stdout)
[ -z "${ADAPVAE_TEST_JUNIT:-}" ] || options+=(--test-reporter=junit "--test-reporter-destination=$ADAPVAE_TEST_JUNIT")
[ -z "${ADAPVAE_TEST_NAME:-}" ] || options+=("--test-name-pattern=${ADAPVAE_TEST_NAME}")
exec node "${options[@]}" "$@"
