#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiles printed kernels with matrix instructions for NVIDIA's GPUs: clang makes PTX of the OpenCL C, and NVIDIA's assembler
# accepts it, for the oldest chip that has the instructions and for a later one, without registers in memory.
#
#   check_ptx.sh PRINTER CLANG PTXAS
#
# PRINTER is print_ptx.  Exits with 77 if clang knows no such target.
set -u

[ $# -eq 3 ] || { sed -n '3,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
printer=$1 clang=$2 ptxas=$3
"$clang" --print-targets 2>/dev/null | grep -q nvptx64 || { echo "skipped: $clang has no target nvptx64"; exit 77; }
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
kernels=0

fail() {
    printf '%s\n' "$1"
    exit 1
}

check() { # CASE FORM ARCHITECTURE: of $scratch/kernel.cl
    "$clang" -x cl -cl-std=CL1.2 -target nvptx64-nvidia-nvcl -Xclang -finclude-default-header -Xclang -target-feature \
        -Xclang +ptx70 -Xclang -target-cpu -Xclang "$3" -O2 -w -S -o "$scratch/kernel.ptx" "$scratch/kernel.cl" ||
        fail "case $1, form $2: clang does not compile it for $3"
    grep -q 'mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32' "$scratch/kernel.ptx" ||
        fail "case $1, form $2: there is no matrix instruction"
    "$ptxas" -v -arch="$3" -o "$scratch/kernel.cubin" "$scratch/kernel.ptx" >"$scratch/log" 2>&1 ||
        fail "case $1, form $2: ptxas does not take it for $3: $(cat "$scratch/log")"
    grep -q ' 0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads' "$scratch/log" ||
        fail "case $1, form $2: registers lie in memory: $(cat "$scratch/log")"
    printf 'case %s, form %s, %s: %s\n' "$1" "$2" "$3" "$(sed -n 's/.*: Used/used/p' "$scratch/log")"
    kernels=$((kernels + 1))
}

"$printer" probe >"$scratch/kernel.cl" || fail "the probe is not printed"
check probe 0 sm_80
check probe 0 sm_90
case=0
while "$printer" "$case" 1 >"$scratch/kernel.cl"; do
    form=1
    while "$printer" "$case" "$form" >"$scratch/kernel.cl"; do
        check "$case" "$form" sm_80
        check "$case" "$form" sm_90
        [ "$case" -lt 2 ] || break # all forms of the first cases only
        form=$((form + 1))
    done
    case=$((case + 1))
done
[ "$kernels" -gt 25 ] || fail "only $kernels kernels were printed"
