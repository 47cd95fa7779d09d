#!/usr/bin/env bash
# check_plugin.sh PLUGIN LIBRARY: the plug-in exports one name; neither it nor the library must have
# CUDA's libraries to be loaded.
set -euo pipefail
plugin=$1
library=$2
exported=$(nm -D --defined-only "$plugin" | awk '{print $3}')
if [ "$exported" != adapvae_cuda_device_table ]; then
  printf 'the plug-in exports:\n%s\n' "$exported" >&2
  exit 1
fi
for file in "$plugin" "$library"; do
  if readelf -d "$file" | grep NEEDED | grep -iE 'cuda|cublas|nvidia|adapvae'; then
    echo "$file cannot be loaded without these" >&2
    exit 1
  fi
done
echo "the plug-in stands alone: $(stat -c %s "$plugin") bytes"
