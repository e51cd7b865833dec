#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds and tests: a clang build for its warnings, the sanitizer build, fuzz targets for a minute each (WEBNN_FUZZ_SECONDS), then the
# release build, whose summary comes last.
# WEBNN_SHARED names the directory with conformance data and models (default ../shared); tests that need it say so when it is absent.
set -uo pipefail
cd "$(dirname "$0")/.."

export OMP_WAIT_POLICY=${OMP_WAIT_POLICY:-passive}
jobs=$(nproc)
failed=()

step() {
    echo "== $*"
    "$@" || failed+=("$*")
}

step cmake --preset clang
step cmake --build --preset clang -j "$jobs"
step cmake --preset asan
step cmake --build --preset asan -j "$jobs"
step ctest --preset asan -j "$jobs"
step cmake --preset fuzz -DWEBNN_FUZZ_SECONDS="${WEBNN_FUZZ_SECONDS:-60}"
step cmake --build --preset fuzz -j "$jobs"
step ctest --preset fuzz -j "$jobs"
step cmake --preset release
step cmake --build --preset release -j "$jobs"
step ctest --preset release -j "$jobs"

if [ ${#failed[@]} -gt 0 ]; then
    printf 'failed: %s\n' "${failed[@]}"
    exit 1
fi
