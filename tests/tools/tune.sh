#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tune.sh WEBNN_BENCH
# Tunes the first OpenCL device: every fact is tried, and a file is kept.  A processor is refused.  Exit code 77: no device.
set -euo pipefail
bench=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export WEBNN_CACHE="$folder"

if "$bench" --tune --engine cpu >"$folder/out" 2>&1 || ! grep -q "nothing to tune" "$folder/out"; then
    cat "$folder/out"
    exit 1
fi
# Of one case, as PoCL compiles the large tiles of others for minutes.
if ! "$bench" --tune --engine gpu --case "one row" --seconds 0.02 >"$folder/out" 2>&1; then
    cat "$folder/out"
    grep -q "there is no OpenCL\|OpenCL has no device\|without OpenCL" "$folder/out" && exit 77
    exit 1
fi
cat "$folder/out"
grep -q "^kept: tile_numbers [0-9]*, .*times as fast as before" "$folder/out"
ls "$folder"/*.tune >/dev/null
