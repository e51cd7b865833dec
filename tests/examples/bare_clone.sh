#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Runs what pages say to run on files of this project, in a copy of the tree that has nothing next to it.
#
#   bare_clone.sh SOURCES BUILD PAGE ...
#
# A command is a line of a code block (with what a backslash continues) that names a file below examples/ and begins with a
# program that is built, a compiler, node or a program that an earlier line made.  It must succeed, and print what a comment
# "# prints TEXT" says.  What the page makes stays for its later lines.  Commands of node and Python are left out where there is no package,
# and those that name ../shared, which a page has for readers who have that folder.
set -u

[ $# -ge 3 ] || { sed -n '3,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
sources=$1 build=$2
shift 2
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/tree/build/release"
cp -r "$sources/examples" "$sources/include" "$folder/tree/"
ln -s "$build/bin" "$folder/tree/build/release/bin"
for package in node python; do [ ! -d "$build/$package" ] || ln -s "$build/$package" "$folder/tree/build/release/"; done
cd "$folder/tree" || exit 2
export PATH="$build/bin:$PATH" WEBNN_SHARED="$folder/none" WEBNN_NODE_PACKAGE="$build/node/webnn-node"
count=0 failed=0

for page in "$@"; do
    # Lines of code blocks: indented by four, or between fences.
    sed -e ':a' -e '/\\$/{N;s/ *\\\n */ /;ba' -e '}' "$sources/$page" |
        awk '/^ *```/ { inside = !inside; next } inside || /^    / { sub(/^ */, ""); print }' >"$folder/lines"
    while read -r line; do
        command=${line%%  #*} program=${line%% *}
        case $command in *../shared*) continue ;; *examples/*) ;; *) continue ;; esac
        case $program in
        webnn-run | webnnc | webnn-bench | build/* | ./* | cc | [a-z]*_[a-z]* | classify | denoise) ;;
        node) [ -d "$build/node/webnn-node" ] && command -v node >/dev/null || continue ;;
        PYTHONPATH=*) [ -d "$build/python/webnn" ] && python3 -c 'import numpy' 2>/dev/null || continue ;;
        *) continue ;;
        esac
        count=$((count + 1))
        sh -c "$command" </dev/null >"$folder/out" 2>&1 || {
            printf '%s: "%s" failed:\n%s\n' "$page" "$command" "$(cat "$folder/out")"
            failed=1
        }
        case $line in
        *'# prints '*) grep -qF -- "${line#*# prints }" "$folder/out" || {
            printf '%s: "%s" printed:\n%s\n' "$page" "$line" "$(cat "$folder/out")"
            failed=1
        } ;;
        esac
    done <"$folder/lines"
done
[ "$count" -gt 0 ] || { echo "The pages have no command that could be run."; failed=1; }
echo "$count commands"
exit "$failed"
