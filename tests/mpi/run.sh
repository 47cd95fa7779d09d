#!/usr/bin/env bash
# examples/mpi from an install tree, on real processes: two ranks, and three, come to the model of one.
# usage: run.sh PREFIX (of an installed adapvae)
set -euo pipefail
cd "$(dirname "$0")/../.."
prefix=$1
place=$PWD/build/mpi
fail() { echo "mpi: $*" >&2; exit 1; }

rm -rf "$place"
mkdir -p "$place"
{ cmake -S examples/mpi -B "$place/build" -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$prefix" &&
  cmake --build "$place/build"; } >"$place/log" 2>&1 || { cat "$place/log" >&2; fail "cannot be built"; }
LD_LIBRARY_PATH=$(dirname "$(find "$prefix" -name 'libadapvae.so' | head -1)")
export LD_LIBRARY_PATH
for ranks in 1 2 3; do
  mpirun --allow-run-as-root --oversubscribe --mca btl self,vader -n $ranks "$place/build/learn_mpi" \
    examples/data/landsat.csv "$place/$ranks.safetensors" >"$place/$ranks.out" 2>"$place/$ranks.err" ||
    { cat "$place/$ranks.out" "$place/$ranks.err" >&2; fail "$ranks ranks"; }
done
grep -q "^2800 rows" "$place/1.out" || { cat "$place/1.out" >&2; fail "not all rows are in the model"; }
# The first two streams are rank 0's own.
[ "$(grep -c "stream [3-9]: cluster .* born out of" "$place/1.out")" -ge 2 ] || { cat "$place/1.out" >&2; fail "cotton and red soil are not born"; }
for ranks in 2 3; do
  # Every number of every line, to 1e-9.
  paste -d ' ' "$place/1.out" "$place/$ranks.out" | awk -v ranks=$ranks '
    { if (NF % 2) exit bad = 1
      for (i = 1; i <= NF / 2; ++i) {
        d = $i - $(i + NF / 2)
        if (d < 0) d = -d
        if (($i ~ /^[-0-9.e+]+$/) ? d > 1e-9 : $i != $(i + NF / 2)) exit bad = 1
        if (d > most) most = d
      } }
    END { if (bad) { print "line " NR ": " $0; exit 1 } print "mpi, " ranks " ranks as one: ok (largest difference " most + 0 ")" }' ||
    fail "$ranks ranks differ from one"
  cmp -s "$place/1.safetensors" "$place/$ranks.safetensors" || fail "$ranks ranks: another file"
done
