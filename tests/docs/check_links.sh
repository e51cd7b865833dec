#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Links between pages lead to files that are there, and docs/README.md lists every page of docs/.
#
# usage: check_links.sh ROOT
set -euo pipefail
cd "$1"

failed=0
count=0
while IFS= read -r page; do
    folder=$(dirname "$page")
    while IFS= read -r target; do
        count=$((count + 1))
        [ -e "$folder/${target%%#*}" ] || { echo "$page: there is no $target"; failed=1; }
    done < <(grep -oE '\]\([^()]+\)' "$page" | sed 's/^](\(.*\))$/\1/' | grep -vE '^(https?:|#)' || true)
done < <(find . \( -name .git -o -path ./build -o -path ./out -o -path ./shared -o -name node_modules \) -prune -o -name '*.md' -print)

for page in docs/*.md; do
    name=${page#docs/}
    [ "$name" = README.md ] || grep -qF "]($name)" docs/README.md || { echo "docs/README.md does not list $name"; failed=1; }
done
echo "$count links"
exit $failed
