#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Makes what a release has, of the last commit and for the Debian that this runs on: the Debian packages, the wheel, npm's
# archive and SHA256SUMS.  The same commit gives the same bytes, whatever folders they are made in.
#
# usage: release.sh FOLDER
set -euo pipefail

source=$(realpath "$(dirname "$0")/../..")
mkdir -p "$1"
out=$(realpath "$1")
[ -z "$(ls -A "$out")" ] || { echo "release.sh: $out is not empty"; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

umask 022
SOURCE_DATE_EPOCH=$(git -C "$source" log -1 --format=%ct)
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
git -C "$source" archive --prefix=source/ HEAD | tar -x -C "$work"
cd "$work/source"
# Nothing that is linked or compiled has the folder's name in it.
flags=-ffile-prefix-map=$work=.
cmake --preset release -DWEBNN_TESTS=OFF -DWEBNN_PYTHON=ON -DCMAKE_BUILD_WITH_INSTALL_RPATH=ON -DCMAKE_C_FLAGS="$flags" \
    -DCMAKE_CXX_FLAGS="$flags"
cmake --build --preset release --target all webnn-node-pack
cpack --config build/release/CPackConfig.cmake -B "$work/packages"
cp "$work"/packages/*.deb build/release/python/*.whl build/release/node/*.tgz "$out/"
cd "$out"
sha256sum -- * >SHA256SUMS
