#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Opens pages of webnn-run --report in a browser without a screen, and checks what its script has drawn.
#
#   browser.sh WEBNN_RUN SHAPES [MODELS]      SHAPES: examples/models/shapes; MODELS: the shared networks
set -u
command -v chromium >/dev/null || { echo "skipped: there is no chromium"; exit 77; }
run=$1 shapes=$2 models=${3:-}
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
failed=0

drawn() { # MODEL OPTION ...: leaves the drawn page in dom; texts of elements are separated by tags
    "$run" "$@" --engine cpu --random 1 --quiet --report "$folder/page.html" || exit 1
    timeout 60 chromium --headless --no-sandbox --disable-gpu --user-data-dir="$folder/profile" --enable-logging=stderr --dump-dom \
        "file://$folder/page.html#step-1" >"$folder/dom" 2>"$folder/log"
    grep -i 'uncaught\|CONSOLE.*error' "$folder/log" && failed=1
    steps=$(grep -o '{"kind": "' "$folder/page.html" | wc -l)
    holds "$steps" '<g class="card (library|kernel|copy)( sel)?" data-step'
    holds 1 '<g class="card (library|kernel|copy) sel" data-step="1"'
}
holds() { # COUNT EXPRESSION
    count=$(grep -oE -- "$2" "$folder/dom" | wc -l)
    [ "$count" -eq "$1" ] || { echo "$model: $count of $2, not $1"; failed=1; }
}

model=shapes
drawn "$shapes" --dim batch=1
holds 1 '<td>relu3</td><td>Relu</td><td>relu</td><td>fused with [0-9]+ others?</td>'
holds 14 '<td>[a-z]+[0-9]?</td><td>[A-Z][A-Za-z]+</td><td>[A-Za-z0-9, ]+</td><td>'
holds 1 '<b>14 → [0-9]+</b>'
model=compiled
"$run" "$shapes" --dim batch=1 --engine cpu --quiet --save "$folder/shapes.wnn" && drawn "$folder/shapes.wnn"
for model in mobilenetv2 stories260k rnnoise; do
    [ ! -d "$models/$model" ] || drawn "$models/$model"
done
exit "$failed"
