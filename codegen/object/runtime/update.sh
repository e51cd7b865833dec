#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiles runtime.c to runtime32.ll and runtime64.ll, in a folder (this one), by clang of LLVM's version.
#
#   update.sh [FOLDER]
#
# Constants that object_text.c writes, attributes, and alignments, which depend on the target, are left out.
set -eu
cd "$(dirname "$0")"
out=${1:-.}
for target in 32:armv7-none-eabi 64:x86_64-none-elf; do
    clang-19 --target="${target#*:}" -std=c17 -I ../../.. -I ../../../include -ffreestanding -O0 -Xclang -disable-O0-optnone -w \
        -S -emit-llvm -o - runtime.c | opt-19 -S -passes='always-inline,sroa,early-cse,simplifycfg' |
        sed -E '/= external |^(target|attributes|source_filename|;|!|$)/d; / atomic /!s/, align [0-9]+//
                s/ #[0-9]+ \{/ minsize optsize {/; s/ #[0-9]+|dso_local | noundef|(local_)?unnamed_addr |, !.*//g
                s/  +;.*//' >"$out/runtime${target%:*}.ll"
done
