#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# In a new Debian system with nothing but make a clean checkout, with the shared data next to it, makes a target of the README's.
#
# usage: checkout.sh SOURCE_DIR CODENAME TARGET
set -euo pipefail
. "$(dirname "$0")/system.sh"
git -C "$1" rev-parse -q --verify HEAD >/dev/null || skip "the sources have no history"
new_system "$2" make
git clone -q "$1" "$root/work/webnn"
inside "cd /work/webnn && { make $3 || { .ci/summary.sh; false; } }" || fail "make $3"
tail -n 5 "$work/log"
