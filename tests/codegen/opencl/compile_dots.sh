#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiles programs that multiply bytes as they are printed for devices with the instruction
# (codegen/opencl/prelude.c), by clang in place of the devices' own compilers: nothing runs.  NVIDIA's assembly goes
# through ptxas, too, where there is one in the PATH or in the variable PTXAS.
#
#   compile_dots.sh TEST-CODEGEN-OPENCL-PRINT CLANG
set -u
print=$1
clang=$2
here=$(dirname "$0")
scratch=$(mktemp -d) || exit 1
trap 'rm -rf "$scratch"' EXIT
status=0

program() { # KIND [FILE ...]: prints it, after these files
    kind=$1
    shift
    "$print" dots "$kind" >"$scratch/$kind.body" || exit 1
    cat "$@" "$scratch/$kind.body" >"$scratch/$kind.cl"
}

compile() { # KIND OPTION ...
    kind=$1
    shift
    "$clang" -x cl -cl-std=CL1.2 -Xclang -finclude-default-header -O2 -w "$@" "$scratch/$kind.cl" && return
    echo "clang does not compile the program of $kind"
    status=1
}

program plain
compile plain -target spir64 -fsyntax-only
program khr
compile khr -target spir64 -fsyntax-only
program arm
compile arm -target spir64 -fsyntax-only -Dcl_arm_integer_dot_product_int8=1

program ptx "$here/ptx_builtins.cl"
compile ptx -target nvptx64-nvidia-nvcl -Xclang -target-cpu -Xclang sm_61 -S -o "$scratch/dots.ptx"
count=$(grep -c 'dp4a\.s32\.s32' "$scratch/dots.ptx")
echo "$count instructions for four products"
[ "$count" -gt 0 ] || status=1
ptxas=${PTXAS:-$(command -v ptxas)}
if [ -n "$ptxas" ]; then
    "$ptxas" -arch=sm_75 -o "$scratch/dots.cubin" "$scratch/dots.ptx" || status=1
else
    echo "there is no ptxas: what clang has made is not assembled"
fi
exit $status
