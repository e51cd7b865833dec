#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What the library takes an emulated processor for: check.sh EMULATOR CPU WEBNN-RUN REGISTERS SET
# Generated code must use vector registers up to REGISTERS (xmm, ymm) and none that are wider, oneDNN must call its instruction
# set SET.  (An instruction that the processor lacks ends the program with a signal.)
set -euo pipefail
emulator=$1 cpu=$2 program=$3 registers=$4 set=$5
model=$(dirname "$0")/wide.webnn
output=$(mktemp)
trap 'rm -f "$output"' EXIT

run() {
    "$emulator" -cpu "$cpu" "$program" "$model" --random 1 > "$output" 2>&1 || {
        echo "webnn-run fails on $cpu:"
        tail -5 "$output"
        exit 1
    }
}

WEBNN_DEBUG=dump-asm,no-library run
widest=$(grep -oE '%[xyz]mm' "$output" | sort -u | tail -1)
[ "$widest" = "%$registers" ] || {
    echo "on $cpu generated code uses registers up to $widest, not %$registers"
    exit 1
}

DNNL_VERBOSE=1 run
found=$(sed -nE 's/^onednn_verbose,(v1,)?info,cpu,isa://p' "$output")
[ "$found" = "$set" ] || {
    echo "on $cpu oneDNN uses \"$found\", not \"$set\""
    exit 1
}
