#!/usr/bin/env bash
# Checks the direction of #include edges: who may include whom, and which folder may see Eigen.
# A folder may always include itself.
set -euo pipefail
cd "$(dirname "$0")/.."

# folder: folders it may include
edges='
base:
compute: base
network: base compute
mixture: base compute
structure: base compute mixture
replay: base compute mixture network
model: base compute mixture network structure replay
'
bad=0
complain() { printf 'include direction: %s\n' "$*" >&2; bad=1; }

while IFS=: read -r folder allowed; do
  [ -n "$folder" ] && [ -d "lib/$folder" ] || continue
  while IFS=: read -r file line text; do
    target=$(sed -E 's/.*#include "([a-z_]+)\/.*/\1/' <<<"$text")
    [ "$target" = "$folder" ] && continue
    grep -qw -- "$target" <<<"$allowed" || complain "$file:$line: $folder may not include $target"
  done < <(grep -rnE '#include "[a-z_]+/' "lib/$folder")
done <<<"$edges"

for folder in lib/*/; do
  grep -q "^$(basename "$folder"):" <<<"$edges" || complain "$folder is missing from the table"
done

# Eigen through one file only, never in kernels, never in the public header.
while read -r file; do
  [ "$file" = lib/base/eigen.h ] || complain "$file includes Eigen; only lib/base/eigen.h may"
done < <(grep -rlE '#include <(Eigen|unsupported)/' lib capi || true)

# Kernels share no inline code with the rest: see lib/compute/kernels.h.
while IFS=: read -r file line text; do
  case $text in
    *'<cstddef>'* | *'<cstdint>'* | *'"compute/kernel'*) ;;
    *) complain "$file:$line: a kernel file may include nothing but kernels.h and its own parts" ;;
  esac
done < <(grep -nE '^#include' lib/compute/kernels_*.cpp lib/compute/kernel_*.h lib/compute/kernels.h)

# The public header is C and stands alone.
while IFS=: read -r file line text; do
  case $text in
    *'<stdint.h>'* | *'<stddef.h>'*) ;;
    *) complain "$file:$line: the public header may include only stdint.h and stddef.h" ;;
  esac
done < <(grep -nE '^#include' capi/include/adapvae/adapvae.h /dev/null)

# The program is built on the public header and on helpers for files and threads. Nothing of the core may reach
# it, neither directly nor through a header of tools/.
queue=(cli/*.cpp cli/*.h cli/report/*.cpp cli/report/*.h)
seen=' '
while [ ${#queue[@]} -gt 0 ]; do
  file=${queue[0]}
  queue=("${queue[@]:1}")
  while IFS=: read -r line text; do
    target=$(sed -E 's/.*#include "([^"]+)".*/\1/' <<<"$text")
    case $target in
      cli/*) ;;
      tools/*)
        case $seen in
          *" $target "*) ;;
          *) seen+="$target " queue+=("$target") ;;
        esac
        ;;
      *) complain "$file:$line: cli may include cli and tools only, and tools' headers only each other" ;;
    esac
  done < <(grep -nE '^#include "' "$file")
done

[ $bad -eq 0 ] || exit 1
echo "include directions: ok"
