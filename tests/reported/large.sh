#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# large.sh MAKE_LARGE.PY REPORTED REFUSALS WEBNN_RUN WEBNNC: makes the large cases in a folder of its own and runs them.
set -eu

if [ ! -e "$1" ]; then
    echo "skipped: $1 is absent"
    [ "${WEBNN_REQUIRE_SHARED:-0}" = 0 ] && exit 77
    exit 1
fi
for python in python3 /usr/bin/python3 none; do
    "$python" -c "import numpy, onnx" 2> /dev/null && break
done
if [ $python = none ]; then
    echo "skipped: no python3 has numpy and onnx (Debian: python3-numpy, python3-onnx)"
    exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$python" "$1" "$folder"
shift
reported=$1
shift
"$reported" "$folder" "$@"
