#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Whatever names the Candidate Recommendation Draft names the one of CMakeLists.txt (WEBNN_DRAFT), and the shared specification,
# where it is at hand, is that one.
#
# usage: check_draft.sh ROOT DRAFT SHARED
set -euo pipefail
cd "$1"
draft="Candidate Recommendation Draft, $2" shared=$3/spec/README.md
status=0

files='README.md CHANGELOG.md include/webnn/webnn.h docs/semantics.md frontend/node/lib/README.md frontend/node/index.d.ts.in'
files+=" $(grep -rlI 'Recommendation Draft' docs include frontend ir passes codegen runtime examples)"
[ ! -f "$shared" ] || files+=" $shared"
for file in $(printf '%s\n' $files | sort -u); do
    # The text in one line, without what begins a line of a comment.
    text=$(sed 's,^ *\(\*\|//\) *,,' "$file" | tr -s '\n ' ' ')
    rest=${text//"$draft"/}
    if [ "$rest" = "$text" ] || [[ $rest = *"Recommendation Draft"* ]]; then
        echo "$file does not name the $draft, or another one, too"
        status=1
    fi
done
exit $status
