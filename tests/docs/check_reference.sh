#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The reference that the target `doc` renders: Doxygen understands every comment, every public function, type and class has one
# (members of structs, enumerators and macros need none), and every operator links to its section of the specification.
#
# usage: check_reference.sh DOXYFILE DOC_DIR OPERATORS_MD
# DOC_DIR is where the Doxyfile writes.
set -euo pipefail

doxyfile=$1 folder=$2 operators=$3
command -v doxygen >/dev/null || { echo "skipped: there is no doxygen (Debian: doxygen)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The same settings in a folder of the test's own.
sed "s|$folder|$work|" "$doxyfile" >"$work/Doxyfile"
doxygen "$work/Doxyfile"
others=$(grep -vE '\((variable|macro definition|enumvalue)\) .* is not documented' "$work/warnings.txt" || true)
[ -z "$others" ] || { echo "$others"; exit 1; }

urls=$(grep -oE 'https://www.w3.org/TR/webnn/#dom-mlgraphbuilder-[a-z0-9]+' "$operators" | sort -u)
count=$(wc -l <<<"$urls")
[ "$count" -gt 50 ] || { echo "$operators has $count links to the specification"; exit 1; }
missing=0
while read -r url; do
    grep -qF "href=\"$url\"" "$work/html/webnn__operators_8h.html" || { echo "the reference does not link to $url"; missing=1; }
done <<<"$urls"
[ "$missing" -eq 0 ] || exit 1
echo "$count operators link to the specification"
