#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# keep_corpus.sh [KILOBYTES]: takes the smallest inputs over that runs of the preset fuzz have found, as long as each reaches
# code that the others do not, up to so many kilobytes for each target (default 16).
set -euo pipefail
cd "$(dirname "$0")/../.."
limit=$((${1:-16} * 1024))

for target in build/fuzz/bin/fuzz_*; do
    name=$(basename "$target")
    name=${name#fuzz_}
    name=${name//_/-}
    kept=tests/fuzz/corpus/$name
    merged=$(mktemp -d)
    mkdir -p "$kept"
    "$target" -merge=1 -max_len=8192 "$merged" "$kept" "build/fuzz/corpus/$name" >/dev/null 2>&1 || echo "$target: not merged" >&2
    rm -rf "$kept"
    mkdir -p "$kept"
    total=0
    while read -r size file; do
        total=$((total + size))
        [ "$total" -le "$limit" ] || break
        cp "$file" "$kept/"
    done < <(find "$merged" -type f -printf '%s %p\n' | sort -n)
    rm -rf "$merged"
    echo "$name: $(find "$kept" -type f | wc -l) inputs"
done
