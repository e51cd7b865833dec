#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Prints how large the tree is: lines of code by folder, words of documentation by page, and what changed since a revision.
#
#   size.sh [REVISION]      compares with REVISION (HEAD^); prints the sums and what differs
#   size.sh --sums          prints the three sums that check_structure.sh holds against its ceilings: product, tests, pages
#
# Lines of code are those of all text files that git tracks: C, headers, tables, scripts and the texts of tests, comments
# included.  Pages, generated files, data and fuzz corpora do not count; neither do pages that a program writes.
set -u
cd "$(dirname "$0")/../.." || exit 2

counted() { # reads file names; prints "KIND NAME" for those that count
    awk '
        /^tests\/fuzz\/corpus\// || /\.(json|png|npy|npz|abi|in|ll|map|onnx|1)$/ { next }
        /^include\/webnn\/webnn_(operators|draft)\.hpp$/ || /^docs\/(operators|onnx)\.md$/ || /^tests\/readers\/onnx\/refused\.txt$/ { next }
        /\.md$/ { print "pages " $0; next }
        /^(include|frontend|ir|passes|codegen|runtime)\// { print "product " $0; next }
        /^tests\// { print "tests " $0 }'
}

measured() { # ROOT; reads "KIND NAME"; prints "KIND GROUP SIZE" a file: lines of a folder, words of a page
    while read -r kind name; do
        [ -f "$1/$name" ] || continue
        if [ "$kind" = pages ]; then
            echo "$kind $name $(wc -w <"$1/$name")"
        else
            echo "$kind ${name%%/*} $(wc -l <"$1/$name")"
        fi
    done
}

sums() { awk '{ sum[$1] += $3 } END { print "product", sum["product"] + 0; print "tests", sum["tests"] + 0; print "pages", sum["pages"] + 0 }'; }

git rev-parse --git-dir >/dev/null 2>&1 || { echo "size.sh: this is no checkout of git" >&2; exit 77; }
if [ "${1:-}" = --sums ]; then
    git ls-files | counted | measured . | sums
    exit
fi
revision=${1:-HEAD^}
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/tree"
git archive "$revision" | tar -x -C "$scratch/tree" || exit 2
git ls-files | counted | measured . >"$scratch/new"
git ls-tree -r --name-only "$revision" | counted | measured "$scratch/tree" >"$scratch/old"
awk -v revision="$revision" '
    { group = $1 " " $2; groups[group]; size[FILENAME == ARGV[1], group] += $3; sum[FILENAME == ARGV[1], $1] += $3 }
    END {
        for (g in groups)
            if (g !~ /^pages/ || size[0, g] != size[1, g])
                printf "%-9s%-34s%8d%+8d\n", substr(g, 1, index(g, " ") - 1), substr(g, index(g, " ") + 1), size[0, g],
                    size[0, g] - size[1, g] | "sort"
        close("sort")
        for (k = split("product tests pages", kinds, " "); k > 0; k--)
            printf "%-9s%-34s%8d%+8d\n", kinds[k], k == 3 ? "words in all" : "lines in all", sum[0, kinds[k]],
                sum[0, kinds[k]] - sum[1, kinds[k]]
        print "The last column is the change since " revision "."
    }' "$scratch/old" "$scratch/new"
