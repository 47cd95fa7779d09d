#!/usr/bin/env bash
# The struct adapvae_config of the public header is what the table of the configuration prints.
# usage: check_config_header.sh CONFIGURATION_DOC
set -euo pipefail
cd "$(dirname "$0")/.."
header=capi/include/adapvae/adapvae.h
diff <(sed -n '/^typedef struct adapvae_config {/,/^} adapvae_config;/p' "$header") <("$1" header) ||
  { echo "check_config_header: put the output of 'configuration_doc header' into $header" >&2; exit 1; }
echo "struct of the header: ok"
