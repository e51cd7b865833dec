#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Where there is no apt-get, .ci/setup.sh says what to install and lets the build go on; and warnings are errors in CI only.
#
# usage: setup.sh SOURCE_DIR
set -euo pipefail

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for program in bash cat paste fold sed; do
    ln -s "$(command -v "$program")" "$work/"
done

fail() { cat "$work/log"; echo "FAIL: $*"; exit 1; }

PATH=$work "$work/bash" "$1/.ci/setup.sh" demo >"$work/log" 2>&1 || fail "setup.sh without apt-get"
for what in "no apt-get here" "LLVM 19" "oneDNN" docs/building.md libdnnl-dev; do
    grep -q "$what" "$work/log" || fail "\"$what\" is not in what setup.sh says"
done

cd "$1"
for setting in "CI=true" "CI="; do
    env "$setting" cmake --preset release -N >"$work/log"
    grep -q "WEBNN_WERROR=\"${setting#CI=}\"" "$work/log" || fail "WEBNN_WERROR with $setting"
done
