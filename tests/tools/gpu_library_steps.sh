#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# gpu_library_steps.sh RUN... -- WEBNN_RUN MODEL
# Computes a network once on the first OpenCL device, by the program RUN with its arguments before, and lists which
# contractions oneDNN's GPU engine has not taken.  A step that does not run on the device fails it.  Exit code 77: no device, or no such
# model.
set -euo pipefail
run=()
while [ "$1" != -- ]; do
    run+=("$1")
    shift
done
webnn_run=$2 model=$3

if [ ! -e "$model" ]; then
    echo "there is no $model"
    [ "${WEBNN_REQUIRE_SHARED:-0}" = 1 ] && exit 1
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
status=0
"${run[@]}" "$webnn_run" --engine gpu "$model" --random 1 --quiet --profile >"$folder/out" 2>&1 || status=$?
if [ $status -ne 0 ]; then
    cat "$folder/out"
    exit $status
fi
# A step's line: its number, its name (an operator, and its label in brackets), the implementation, which copies have not, and
# five numbers.
awk '
    $1 ~ /^[0-9]+$/ && NF > 6 {
        steps++
        library = $0 ~ / ocl:/
        own = $0 ~ / opencl, /
        copy = $0 ~ / copy| state/
        if (library) taken++
        else if (own && $2 ~ /^(conv2d|convTranspose2d|matmul|gemm)$/) { refused++; list = list "\n  " $2 " " $3 }
        else if (!own && !copy) { strange++; print "not a step of the device: " $0 }
    }
    END {
        printf "%d steps: %d by oneDNN, which refused %d contractions%s\n", steps, taken, refused, list
        exit !steps || strange ? 1 : 0
    }' "$folder/out"
