#!/usr/bin/env bash
# The bindings as users get them, from source packages, each with its own tests; then the golden stream through all.
# usage: run.sh PART, after a build of `shared` (adapvae, adapvae_cli, record_stream); parts:
#   prefix       the shared library's install tree in build/bindings/prefix: first
#   python       source package, wheel of that, tests of the installed wheel
#   python-asan  the same calls under AddressSanitizer
#   go, rust     their tests
#   golden       after python, go and rust and the npm package: every language gives the same results
# ADAPVAE_TEST_NAME: only tests whose name contains it.
set -euo pipefail
cd "$(dirname "$0")/../.."
# The distribution's own Python: the one that its packages (numpy, dask) belong to.
system_python=$(dpkg -L python3-minimal | grep -m1 '/bin/python3$')
place=$PWD/build/bindings
python=$place/python
only=${ADAPVAE_TEST_NAME:-}
export PYTHONDONTWRITEBYTECODE=1
mkdir -p "$place"

unittests() { # PYTHON [MODULE...]
  local interpreter=$1 code=0
  shift
  (cd bindings/python/tests && "$interpreter" -m unittest -v ${only:+-k "$only"} "$@") || code=$?
  [ $code -ne 5 ] || [ -z "$only" ] || return 0 # no test has that name
  return $code
}

prefix() {
  rm -rf "$place/prefix"
  cmake --install build/shared --prefix "$place/prefix" >"$place/install.log"
}

wheel() {
  rm -rf "$python"
  mkdir -p "$python"
  (cd bindings/python && "$system_python" setup.py --quiet sdist --dist-dir "$python" egg_info --egg-base "$python") \
    >"$python/sdist.log" 2>&1 || { tail -n 40 "$python/sdist.log" >&2; exit 1; }
  "$system_python" -m venv --system-site-packages "$python/venv"
  "$python/venv/bin/pip" wheel --quiet --no-index --no-build-isolation --no-deps --wheel-dir "$python" "$python"/adapvae-*.tar.gz
}

python() {
  wheel
  "$python/venv/bin/pip" install --quiet --no-index --no-deps "$python"/adapvae-*.whl
  PYTHONMALLOC=debug unittests "$python/venv/bin/python"
}

# Every access of the library is watched, Python's own memory included. (Freed memory is kept for a while to be
# watched, too; a test asks that it is little.)
python_asan() {
  local folder=$place/python-asan
  rm -rf "$folder"
  mkdir -p "$folder"
  cp -r bindings/python/src/adapvae "$folder"
  tools/amalgamate.py "$folder/native"
  g++ -std=c++20 -O1 -g1 -fPIC -shared -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-exceptions \
    -fno-rtti "$folder/native/adapvae.cpp" -o "$folder/adapvae/libadapvae.so"
  LD_PRELOAD="$(g++ -print-file-name=libasan.so) $(g++ -print-file-name=libubsan.so)" \
    ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=4 PYTHONMALLOC=malloc PYTHONPATH=$folder \
    unittests "$system_python" test_gains test_model
}

# The module with the amalgamation in it, without a network; at full size with the race detector, for which the
# standard library is compiled anew.
go_module() {
  local folder=$place/go
  mkdir -p "$folder"
  cp -r bindings/go/. "$folder"
  tools/amalgamate.py "$folder"
  cd "$folder"
  export GOPROXY=off GOFLAGS=-mod=mod CGO_ENABLED=1
  local unformatted
  unformatted=$(gofmt -l .)
  [ -z "$unformatted" ] || { echo "gofmt: $unformatted" >&2; exit 1; }
  local race=
  [ "${ADAPVAE_TEST_SIZE:-usual}" != full ] || race=-race
  go test $race -vet=all -v ${only:+-run "$only"} ./...
  go build $race -o "$place/record_stream_go" ./record_stream
}

# The sources compiled, then an installed library.
rust() {
  bindings/rust/declare.py --check
  cd bindings/rust
  export CARGO_TARGET_DIR=$place/rust
  cargo test --offline --quiet $only
  cargo build --offline --quiet --example record_stream
  PKG_CONFIG_PATH=$(dirname "$(find "$place/prefix" -name adapvae.pc)")
  LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
  export PKG_CONFIG_PATH LD_LIBRARY_PATH
  CARGO_TARGET_DIR=$place/rust-installed cargo test --offline --quiet --no-default-features $only
}

golden() {
  local library=$PWD/build/shared/capi
  c++ -std=c++17 -O1 -Icapi/include tests/bindings/record_stream.cpp -L"$library" -ladapvae -Wl,-rpath,"$library" \
    -o "$place/record_stream_cpp"
  "$system_python" tests/bindings/golden.py "$place/golden" "C=$PWD/build/shared/tests/record_stream" \
    "C++=$place/record_stream_cpp" "cli=$PWD/build/shared/adapvae" \
    "Python=$python/venv/bin/python tests/bindings/record_stream.py" "Go=$place/record_stream_go" \
    "Rust=$place/rust/debug/examples/record_stream" \
    "npm@baseline=node tests/bindings/record_stream.mjs build/npm/adapvae"
}

case ${1:-} in
  prefix) prefix ;;
  wheel) wheel ;;
  python) python ;;
  python-asan) python_asan ;;
  go) go_module ;;
  rust) rust ;;
  golden) golden ;;
  *) echo "bindings: no part '${1:-}'; there are: prefix wheel python python-asan go rust golden" >&2; exit 1 ;;
esac
