#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Suites whose shared data are absent are skipped and say why; with WEBNN_REQUIRE_SHARED=ON they fail.
#
# usage: check_shared.sh BUILD_DIR SOURCE_DIR
set -eu

build=$1
source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/empty"
suites='^(wpt-conformance|wpt-validation|onnx-model|onnx-node-tests|hostile|text-roundtrip|bench-memory-models)$'
count=7

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

for required in OFF ON; do
    cmake -S "$source" -B "$work/$required" -G Ninja -DWEBNN_SHARED="$work/empty" -DWEBNN_REQUIRE_SHARED=$required >"$work/log" ||
        { cat "$work/log"; exit 1; }
    (cd "$work/$required" && ctest -R "$suites" --verbose >out.txt 2>&1) && status=0 || status=$?
    if [ $required = OFF ]; then
        [ $status -eq 0 ] || fail "suites without data fail: $(cat "$work/OFF/out.txt")"
        [ "$(grep -c '\*\*\*Skipped' "$work/OFF/out.txt")" -eq $count ] || fail "not all are skipped: $(cat "$work/OFF/out.txt")"
        [ "$(grep -c 'skipped: ' "$work/OFF/out.txt")" -ge $count ] || fail "a reason is missing: $(cat "$work/OFF/out.txt")"
    else
        [ "$(grep -c '\*\*\*Failed' "$work/ON/out.txt")" -eq $count ] || fail "not all fail: $(cat "$work/ON/out.txt")"
    fi
done

# Programs that find out when they run.
for program in test-models-lenet test-ir-spec-table test-examples-text; do
    [ -x "$build/bin/$program" ] || continue
    WEBNN_SHARED="$work/empty" "$build/bin/$program" >"$work/out.txt" 2>&1 && status=0 || status=$?
    [ $status -eq 77 ] || fail "$program ends with $status without data, not with 77: $(cat "$work/out.txt")"
    grep -q 'skipped: .* is absent' "$work/out.txt" || fail "$program does not say why: $(cat "$work/out.txt")"
    WEBNN_SHARED="$work/empty" WEBNN_REQUIRE_SHARED=1 "$build/bin/$program" >"$work/out.txt" 2>&1 && status=0 || status=$?
    [ $status -ne 0 ] && [ $status -ne 77 ] || fail "$program ends with $status though its data are required"
done
