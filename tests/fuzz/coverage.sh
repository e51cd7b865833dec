#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# coverage.sh BUILD SOURCE LLVM_CONFIG: runs every fuzz target over its corpus (the tree's, and what runs of the preset fuzz
# have found) and some generated models, and prints the lines that were reached of every reader.  COVERAGE_MODELS says how many
# models.
set -euo pipefail
build=$1 source=$2 tools=$("$3" --bindir)
profiles=$build/profiles
rm -rf "$profiles"
mkdir -p "$profiles"
export LLVM_PROFILE_FILE=$profiles/%4m.profraw OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive

objects=()
for target in "$build"/bin/fuzz_*; do
    name=$(basename "$target")
    name=${name#fuzz_}
    name=${name//_/-}
    folders=()
    for folder in "$source/tests/fuzz/corpus/$name" "$source/build/fuzz/corpus/$name"; do
        [ -d "$folder" ] && folders+=("$folder")
    done
    seeds=$build/corpus/$name
    mkdir -p "$seeds"
    "$target" -runs=0 "${folders[@]}" "$seeds" >"$profiles/$name.log" 2>&1 || echo "fuzz_$name failed: $profiles/$name.log"
    objects+=(-object "$target")
done
"$build/bin/generated-models" --seed 1 --count "${COVERAGE_MODELS:-2600}" --jobs "$(nproc)" --keep "$profiles" || true
objects+=(-object "$build/bin/generated-models")

"$tools/llvm-profdata" merge -sparse -o "$profiles/all.profdata" "$profiles"/*.profraw
"$tools/llvm-cov" report "${objects[@]:1}" -instr-profile "$profiles/all.profdata" --show-region-summary=false \
    --show-branch-summary=false "$source"/frontend/readers "$source"/frontend/load "$source"/runtime/program \
    "$source"/runtime/rt "$source"/ir/text "$source"/examples/support/wav.c
