#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs what takes longer than test.sh and finds less: the clang build for its warnings, everything under the address and
# undefined-behaviour sanitizers, fuzz targets for WEBNN_FUZZ_SECONDS each (15), the tests labelled `long` with random graphs for
# WEBNN_RANDOM_SECONDS (40), and what runs generated code with the instruction set capped to AVX2 and to the x86-64 baseline.  With
# WEBNN_CHECK=all the whole release suite runs with these caps, and a part of it for aarch64 in QEMU's user mode.
part=check
source "$(dirname "$0")/suites.sh"

# Entries labelled `repeat` compute what others do; WEBNN_CHECK=all runs it, too.
repeated='|repeat'
# Readers, programs and messages are the same with any; tests of passes and engines name their processor.
capped=(-R '^(api|models|onnx|runtime-rt)(-|$)')
if [ "${WEBNN_CHECK:-}" = all ]; then
    repeated=
    capped=()
fi

# Clang warns about what it parses, whatever it optimises.
step cmake --preset clang -DCMAKE_C_FLAGS_RELEASE="-O0 -DNDEBUG" -DCMAKE_CXX_FLAGS_RELEASE="-O0 -DNDEBUG"
step cmake --build --preset clang -j "$jobs"
step cmake --preset asan
step cmake --build --preset asan -j "$jobs"
suite asan asan -LE "^(long$repeated)\$"
step cmake --preset fuzz -DWEBNN_FUZZ_SECONDS="${WEBNN_FUZZ_SECONDS:-15}"
step cmake --build --preset fuzz -j "$jobs"
suite fuzz fuzz
step cmake --preset release -DWEBNN_RANDOM_SECONDS="${WEBNN_RANDOM_SECONDS:-40}"
step cmake --build --preset release -j "$jobs"
suite long release -L '^long$' ${repeated:+-LE '^repeat$'}
# Kernels, networks and models; without those entries that choose an instruction set themselves.
for isa in avx2 baseline; do
    WEBNN_DEBUG=isa=$isa suite "$isa" release "${capped[@]}" -LE "^(long|isa$repeated)\$"
done
# What starts no other program, but Node.js, which starts itself.
if [ "${WEBNN_CHECK:-}" = all ]; then
    step .ci/setup.sh aarch64
    step cmake --preset aarch64
    step cmake --build --preset aarch64 -j "$jobs"
    suite aarch64 aarch64 -R '^(ir|passes|codegen|kernels|runtime|frontend|api|models|text|files|public|wpt-conformance|node)-' \
        -LE '^(gpu|long|repeat)$' -E '^codegen-opencl-ptx$'
fi
finish
