#!/usr/bin/env bash
# Everything that a user may do to link adapvae, from an install tree that has been moved: find_package
# in C, pkg-config, FetchContent, and the two files of the amalgamation. The examples must run, and say what they should.
# usage: run.sh STATIC_BUILD SHARED_BUILD
set -euo pipefail
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
static_build=$1
shared_build=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() { echo "consumers: $*" >&2; exit 1; }
quietly() { "$@" >log 2>&1 || { cat log >&2; fail "failed: $*"; }; }

# The examples in the directory given; a library path for shared ones.
run_examples() {
  local bin=$1
  "$bin/minimal" >out || fail "minimal"
  [ "$(awk '{print $4}' out | head -3 | sort -u | wc -l)" -eq 3 ] || fail "minimal: three clusters"
  "$bin/sensor_novelty" >out || { cat out >&2; fail "sensor_novelty"; }
  grep -q "alarm" out || fail "sensor_novelty: alarm"
  "$bin/save_resume" "$work/model" >out || { cat out >&2; fail "save_resume"; }
  "$bin/in_static_memory" >out || { cat out >&2; fail "in_static_memory"; }
  # Two kinds, then a third: novel when it comes, known later.
  awk 'BEGIN { srand(3); for (i = 0; i < 1000; ++i) { k = i < 500 ? i % 2 : i % 3;
    print 5*k + rand() "," 3 - 4*k + rand() "," (k == 2 ? 9 : 0) + rand() } }' >rows.csv
  "$bin/stream_csv" <rows.csv >out || fail "stream_csv"
  [ "$(wc -l <out)" -eq 1000 ] || fail "stream_csv: a line for each row"
  awk 'NR > 500 && NR <= 560 && (NR - 1) % 3 == 2 { n += $2 > 0.5; ++all }
       END { exit !(n > 0.9 * all) }' out || fail "stream_csv: the third kind is novel"
  printf '1,2\n1,x\n' | "$bin/stream_csv" >/dev/null 2>out && fail "stream_csv took x"
  grep -q "line 2, column 2" out || fail "stream_csv: says where"
}

for kind in static shared; do
  build=$static_build
  [ $kind = shared ] && build=$shared_build
  quietly cmake --install "$build" --prefix "$work/first"
  rm -rf moved && mv first moved
  quietly cmake -S "$source_dir/tests/consumers/c" -B find-$kind -G Ninja \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$work/moved" -DEXAMPLES="$source_dir/examples"
  quietly cmake --build find-$kind
  run_examples "find-$kind"
  echo "find_package, $kind: ok"

  export PKG_CONFIG_PATH=$work/moved/lib/pkgconfig:$work/moved/lib64/pkgconfig
  flags=()
  [ $kind = static ] && flags=(--static)
  mkdir -p pc-$kind
  for example in minimal sensor_novelty save_resume in_static_memory stream_csv; do
    # shellcheck disable=SC2046
    quietly cc -std=c11 -Wall -Wextra -Werror -O1 "$source_dir/examples/$example.c" \
      -o "pc-$kind/$example" $(pkg-config "${flags[@]}" --cflags --libs adapvae) \
      -Wl,-rpath,"$work/moved/lib" -Wl,--gc-sections
  done
  run_examples "pc-$kind"
  echo "pkg-config, $kind: ok"
  if [ $kind = static ]; then
    cp pc-static/minimal stripped && strip stripped
  else
    cp -L moved/lib/libadapvae.so stripped && strip stripped
  fi
  echo "stripped, $kind ($([ $kind = static ] && echo minimal || echo library)): $(stat -c %s stripped) bytes"
done

quietly cmake -S "$source_dir/tests/consumers/fetch" -B fetch -G Ninja \
  -DCMAKE_BUILD_TYPE=Release -DADAPVAE_SOURCE="$source_dir" -DADAPVAE_WERROR=ON
quietly cmake --build fetch
fetch/minimal >out || fail "minimal, fetched"
fetch/streaming >out || { cat out >&2; fail "streaming"; }
echo "FetchContent: ok"

# Two files, by two compilers; without exceptions and RTTI a C program needs no C++ runtime.
mkdir -p two/adapvae
quietly "$source_dir/tools/amalgamate.py" two/adapvae
quietly g++ -std=c++20 -O1 -Wall -Wextra -Werror -fno-exceptions -fno-rtti -c two/adapvae/adapvae.cpp -o gcc.o
quietly clang++ -std=c++20 -O1 -Wall -Wextra -Werror -c two/adapvae/adapvae.cpp -o clang.o
for compiler in gcc clang; do
  mkdir -p two-$compiler
  linker=cc
  [ $compiler = clang ] && linker=clang++
  for example in minimal sensor_novelty save_resume in_static_memory stream_csv; do
    quietly cc -std=c11 -O1 -Itwo -c "$source_dir/examples/$example.c" -o example.o
    quietly $linker example.o $compiler.o -lm -o two-$compiler/$example
  done
  run_examples two-$compiler
  echo "amalgamation, $compiler: ok"
done
