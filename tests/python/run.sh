#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs the tests of the Python package, as `make python` does where the other tests are not built.
#
# usage: run.sh BUILD_DIR [PYTHON]
set -uo pipefail

build=$(realpath "$1") python=${2:-/usr/bin/python3}
[ -x "$python" ] || python=python3
export PYTHONPATH=$build/python WEBNN_BUILD=$build PYTHONDONTWRITEBYTECODE=1
failed=0
for test in "$(dirname "$0")"/test_*.py; do
    "$python" "$test"
    case $? in
    0) echo "passed: $(basename "$test")" ;;
    77) ;; # it has said why it is skipped
    *) echo "FAILED: $(basename "$test")"; failed=1 ;;
    esac
done
exit "$failed"
