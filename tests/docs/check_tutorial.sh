#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A tutorial says what its program is and prints: the page's first block of code is a program of its own, the others are, one
# after the other, the example's file from its first #include on, and the block of text is what that prints.  Both programs are
# compiled against the library in the build folder and run.
#
# usage: check_tutorial.sh PAGE EXAMPLE LANGUAGE LIBRARY_DIR COMPILER [OPTION ...]
set -euo pipefail

page=$1 example=$2 language=$3 libraries=$(realpath "$4")
shift 4
include=$(realpath "$(dirname "$page")/../include")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "FAIL: $page: $*" >&2
    exit 1
}

# blocks LANGUAGE: the page's blocks of that language, each in a file block_LANGUAGE_N.
blocks() {
    awk -v work="$work" -v language="$1" '
        $0 == "```" language { file = work "/block_" language "_" sprintf("%02d", ++n); printf "" >file; next }
        /^```/ { file = "" }
        file { print >file }' "$page"
}
blocks "$language"
blocks text

first=$work/block_${language}_01
[ -s "$first" ] || fail "there is no block of $language"
mv "$first" "$work/version.$language"
# Blank lines between blocks are the page's margin.
grep -hv '^$' "$work/block_${language}"_* >"$work/page"
sed -n '/^#include/,$p' "$example" | grep -v '^$' >"$work/file"
diff -u "$work/file" "$work/page" || fail "its blocks are not $example"

compile() { # SOURCE PROGRAM OPTION ...
    local source=$1 program=$2
    shift 2
    "$@" -Wall -Wextra -Werror -I"$include" "$source" -L"$libraries" -lwebnn -Wl,-rpath,"$libraries" -o "$program" ||
        fail "$source does not compile"
}
compile "$work/version.$language" "$work/version" "$@"
"$work/version" | grep -qE '^webnn [0-9]+\.[0-9]+\.[0-9]+$' || fail "the first program does not print the version"
compile "$example" "$work/tutorial" "$@"
(cd "$work" && ./tutorial) >"$work/printed" || fail "the program fails"
diff -u "$work/block_text_01" "$work/printed" || fail "the program prints something else"
