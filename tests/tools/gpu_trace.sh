#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# gpu_trace.sh WEBNN_RUN MODEL
# Computes a network once on the first OpenCL device and reads the trace: between its first step and its last there are steps
# only, all of them in the device's queue, and after them the outputs are read.  Exit code 77: no device, or no such model.
set -euo pipefail
run=$1 model=$2

if [ ! -e "$model" ]; then
    echo "there is no $model"
    [ "${WEBNN_REQUIRE_SHARED:-0}" = 1 ] && exit 1
    exit 77
fi
if "$run" --list-devices | grep "^there are no devices"; then
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
if ! "$run" --engine gpu "$model" --random 1 --quiet --profile --trace "$folder/trace" 2>"$folder/errors"; then
    cat "$folder/errors"
    exit 1
fi
# One event is one line; times are in microseconds.  In the order of their beginnings, with the row they are on:
sed -n 's/.*"tid":\([0-9]*\),"ts":\([0-9.]*\),.*"cat":"\(step\|transfer\)","name":"\([^"]*\)".*/\2 \1 \3 \4/p' "$folder/trace" |
    sort -n >"$folder/events"
awk '
    $3 == "step" { if (steps && between != "") wrong = between; between = ""; steps++; rows[$2] = 1 }
    $3 == "transfer" { if (steps) { between = $4; if (first == "") first = $4 } else before++ }
    END {
        for (r in rows) count++
        printf "%d steps on %d row, %d transfers before them, then %s\n", steps, count, before, first
        if (wrong != "") { print "between the steps there is a transfer: " wrong; exit 1 }
        exit !(steps > 3 && count == 1 && before > 0 && first == "read")
    }' "$folder/events"
