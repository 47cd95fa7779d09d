#!/usr/bin/env bash
# The bindings as users get them, from source packages, each with its own tests; a model over Dask and MPI; then the
# golden stream through all.
# usage: run.sh PYTHON (the distribution's), after a build of `shared` (adapvae, adapvae_cli, record_stream)
set -euo pipefail
cd "$(dirname "$0")/../.."
system_python=$1
place=$PWD/build/bindings
mkdir -p "$place"
say() { printf 'bindings: %s\n' "$*" >&2; }

# The shared library's install tree, for what finds it by pkg-config.
rm -rf "$place/prefix"
cmake --install build/shared --prefix "$place/prefix" >"$place/install.log"

# -- Python: source package, wheel of that, install of the wheel into a new environment
say "Python: packing"
python=$place/python
rm -rf "$python"
mkdir -p "$python"
"$system_python" -m venv --system-site-packages "$python/venv"
(cd bindings/python && "$system_python" setup.py --quiet sdist --dist-dir "$python" egg_info --egg-base "$python") \
  >"$python/sdist.log" 2>&1 || { tail -n 40 "$python/sdist.log" >&2; exit 1; }
"$python/venv/bin/pip" wheel --quiet --no-index --no-build-isolation --no-deps --wheel-dir "$python" "$python"/adapvae-*.tar.gz
"$python/venv/bin/pip" install --quiet --no-index --no-deps "$python"/adapvae-*.whl
say "Python: testing"
(cd bindings/python/tests && PYTHONMALLOC=debug PYTHONDONTWRITEBYTECODE=1 "$python/venv/bin/python" -m unittest)

# The same calls with every access of the library watched, Python's own memory included. (Memory that was given back is
# kept for a while to be watched, too; a test asks that it is little.)
say "Python: testing with AddressSanitizer"
asan=$python/asan
mkdir -p "$asan"
cp -r bindings/python/src/adapvae "$asan"
tools/amalgamate.py "$asan/native"
g++ -std=c++20 -O1 -g1 -fPIC -shared -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-exceptions -fno-rtti \
  "$asan/native/adapvae.cpp" -o "$asan/adapvae/libadapvae.so"
(
  cd bindings/python/tests
  LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so)"
  export LD_PRELOAD
  ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=4 PYTHONMALLOC=malloc PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$asan \
    "$system_python" -m unittest test_gains test_model
)

# -- MPI: the example, on the installed library
say "MPI: testing"
tests/mpi/run.sh "$place/prefix"

# -- Go: the module with the amalgamation beside it, without a network, then with the race detector
say "Go: testing"
go=$place/go
mkdir -p "$go"
cp -r bindings/go/. "$go"
tools/amalgamate.py "$go"
(
  cd "$go"
  export GOPROXY=off GOFLAGS=-mod=mod CGO_ENABLED=1
  unformatted=$(gofmt -l .)
  [ -z "$unformatted" ] || { say "gofmt: $unformatted"; exit 1; }
  go vet ./...
  go test ./...
  go test -race .
  go build -o "$place/record_stream_go" ./record_stream
)

# -- Rust: the sources compiled, then an installed library
say "Rust: testing"
bindings/rust/declare.py --check
(
  cd bindings/rust
  export CARGO_TARGET_DIR=$place/rust
  cargo test --offline --quiet
  cargo build --offline --quiet --example record_stream
  PKG_CONFIG_PATH=$(dirname "$(find "$place/prefix" -name adapvae.pc)")
  LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
  export PKG_CONFIG_PATH LD_LIBRARY_PATH
  CARGO_TARGET_DIR=$place/rust-installed cargo test --offline --quiet --no-default-features
)

# -- the golden stream
say "golden stream"
library=$PWD/build/shared/capi
c++ -std=c++17 -O1 -Icapi/include tests/bindings/record_stream.cpp -L"$library" -ladapvae -Wl,-rpath,"$library" \
  -o "$place/record_stream_cpp"
fronts=("C=$PWD/build/shared/tests/record_stream" "C++=$place/record_stream_cpp" "cli=$PWD/build/shared/adapvae"
  "Python=$python/venv/bin/python tests/bindings/record_stream.py" "Go=$place/record_stream_go"
  "Rust=$place/rust/debug/examples/record_stream")
# The npm package, if it was built (./run test wasm) after the library was: an older one may be another version's.
if [ build/npm/adapvae/adapvae.wasm -nt "$library/libadapvae.so" ]; then
  fronts+=("npm@baseline=node tests/bindings/record_stream.mjs build/npm/adapvae")
else
  say "golden stream: without the npm package, which is not built or older than the library"
fi
"$system_python" tests/bindings/golden.py "$place/golden" "${fronts[@]}"
