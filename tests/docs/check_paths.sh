#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# check_paths.sh ROOT
# Files and identifiers that pages and comments name exist in the source tree, so that a renamed file takes its mentions along.
#
#   paths         what begins with a folder of the tree, such as ir/graph/ir.h or passes/layout, in every page, source and script;
#                 "*" stands for any characters
#   file names    name.c, name.h and the like without a folder, in pages (between backquotes) and in comments of sources: a file
#                 of that name exists somewhere
#   identifiers   words between backquotes in pages that have an underscore or a capital inside: some source has them, or an
#                 example in a page; in comments of sources words of small letters with an underscore inside: some code has them
#                 outside of comments, or a file is named so
#
# Prints every mention that names nothing and exits with 1; else prints how much it looked at.
set -eu
cd "$1"

# Files that are named and belong to somebody else, are generated, or stand for any file of their kind.
elsewhere='webgpu.h cmocka.h make_models.py make_decoder.py make_gguf.py ort_bench.mjs amx_sites.h shapes.h operators_x.c version.c version.cc
           tutorial.cc'
# What docs/extending.md adds to the tree as an example.
made_up='made_up|merge[_-]relus'
# What comments may say that no code does: names in the system, in formats and in other libraries, mathematical ones, names that
# stand for any of their kind, and the names that values get in a print.
said='^(protected_symlinks|nonpad_kv_seqlen|eltwise_relu|nearest_neighbor|gamma_[a-z0-9]|prefix_.*|onnx_x_operators|[a-z0-9]+_[0-9]+)$'

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The tree, without build folders, and the texts to look at: data and the seeds of fuzz targets mention nothing.
find . \( -name .git -o -name .cache -o -path ./build -o -path ./out -o -path ./shared \) -prune -o -print | sed 's,^\./,,' > "$work/tree"
grep -E '\.(md|c|h|cc|def|py|mjs|sh|txt|cmake|in|proto|1)$|(^|/)Makefile$|^\.ci/run$' "$work/tree" | grep -v '^tests/fuzz/corpus/' > "$work/texts"
grep -E '\.md$' "$work/texts" > "$work/pages"
grep -E '\.(c|h|cc|def)$' "$work/texts" > "$work/sources"

tr '\n' '\0' < "$work/texts" | xargs -0 grep -HnE '(^|[^A-Za-z0-9_./$-])(ir|passes|codegen|runtime|frontend|include|tests|bench|examples|docs|\.ci|webnn)/' > "$work/lines"
tr '\n' '\0' < "$work/pages" | xargs -0 grep -HnE '`' > "$work/quoted"
tr '\n' '\0' < "$work/pages" | xargs -0 grep -Hn '' > "$work/examples"
tr '\n' '\0' < "$work/sources" | xargs -0 grep -HnE '[a-z0-9_]\.(c|cc|h|def|py|sh|mjs)\b' > "$work/named"
grep -vE '\.md$' "$work/texts" | tr '\n' '\0' | xargs -0 grep -ohE '[A-Za-z_][A-Za-z0-9_]*' | sort -u > "$work/words"
# The code of the sources, without comments, and their comments, "file:line:text".
tr '\n' '\0' < "$work/sources" | xargs -0 awk -v code="$work/code" -v comments="$work/comments" '
FNR == 1 { inside = 0 }
{
    rest = $0
    outside = ""
    comment = ""
    while (rest != "") {
        if (inside) {
            end = index(rest, "*/")
            comment = comment (end ? substr(rest, 1, end - 1) : rest)
            rest = end ? substr(rest, end + 2) : ""
            inside = !end
        } else if (match(rest, /"([^"\\]|\\.)*"|\047([^\047\\]|\\.)\047|\/\*|\/\//)) {
            token = substr(rest, RSTART, RLENGTH)
            outside = outside substr(rest, 1, RSTART - 1)
            rest = substr(rest, RSTART + RLENGTH)
            if (token == "//") {
                comment = comment rest
                rest = ""
            } else if (token == "/*")
                inside = 1
            else
                outside = outside token
        } else {
            outside = outside rest
            rest = ""
        }
    }
    print outside >> code
    if (comment != "")
        print FILENAME ":" FNR ":" comment >> comments
}'
grep -vE '\.(c|h|cc|def|md)$' "$work/texts" | tr '\n' '\0' | xargs -0 cat >> "$work/code"
grep -ohE '[A-Za-z_][A-Za-z0-9_]*' "$work/code" | sort -u > "$work/coded"

awk -v work="$work" -v elsewhere="$elsewhere" -v made_up="$made_up" -v said="$said" '
BEGIN {
    count = split(elsewhere, part, " ")
    for (i = 1; i <= count; i++)
        base[part[i]] = 1
}

# Of "file:line:text" its place and its text.
function split_line()
{
    match($0, /^[^:]*:[0-9]+:/)
    place = substr($0, 1, RLENGTH - 1)
    text = substr($0, RLENGTH + 1)
}

function complain(what)
{
    if (what ~ made_up)
        return
    print place ": " what
    failures++
}

function check_path(p,    pattern, f)
{
    sub(/[.,:;-]+$/, "", p)
    sub(/\/$/, "", p)
    if (p ~ /^webnn\//)
        p = "include/" p
    paths++
    # Files of CMake and scripts name what lies next to them, tests include what lies in tests/.
    folder = place
    sub(/[^\/]*$/, "", folder)
    if (p in exists || (folder p) in exists || (text_is_include && ("tests/" p) in exists))
        return
    if (p ~ /\*/) {
        pattern = "^" p
        gsub(/\./, "[.]", pattern)
        gsub(/\*/, ".*", pattern)
        for (f in exists)
            if (f ~ pattern)
                return
    }
    complain("there is no " p)
}

function check_name(n)
{
    names++
    if (!(n in base))
        complain("there is no file " n)
}

FILENAME == work "/tree" {
    exists[$0] = 1
    n = $0
    sub(/.*\//, "", n)
    base[n] = 1
    sub(/\..*/, "", n)
    stem[n] = 1
    next
}

FILENAME == work "/words" { word[$0] = 1; next }

FILENAME == work "/coded" { coded[$0] = 1; next }

FILENAME == work "/comments" {
    split_line()
    text = " " text " "
    while (match(text, /[^A-Za-z0-9_.\/<>-][a-z][a-z0-9]*(_[a-z0-9]+)+[^A-Za-z0-9_]/)) {
        w = substr(text, RSTART + 1, RLENGTH - 2)
        text = substr(text, RSTART + RLENGTH - 1)
        identifiers++
        if (!(w in coded) && !(w in stem) && w !~ said)
            complain("no code has " w)
    }
    next
}

# Examples in pages: blocks that are fenced or indented.
FILENAME == work "/examples" {
    split_line()
    file = place
    sub(/:[0-9]*$/, "", file)
    if (file != fenced_file)
        fenced = 0
    fenced_file = file
    if (text ~ /^ *```/)
        fenced = !fenced
    else if (fenced || text ~ /^    /) {
        count = split(text, part, /[^A-Za-z0-9_]+/)
        for (i = 1; i <= count; i++)
            word[part[i]] = 1
    }
    next
}

FILENAME == work "/lines" {
    split_line()
    gsub(/\\-/, "-", text) # as man pages write it
    text_is_include = text ~ /^[ \t]*#[ \t]*include/
    text = " " text
    while (match(text, /[^A-Za-z0-9_.\/$-](ir|passes|codegen|runtime|frontend|include|tests|bench|examples|docs|\.ci|webnn)\/[A-Za-z0-9_.\/*-]*/)) {
        path = substr(text, RSTART + 1, RLENGTH - 1)
        text = substr(text, RSTART + RLENGTH)
        # What goes on as a placeholder or a list is a part of a path only.
        if (text !~ /^[<{$%]/ && path !~ /^webnn\/$/)
            check_path(path)
    }
    next
}

FILENAME == work "/quoted" {
    split_line()
    count = split(text, part, "`")
    for (i = 2; i <= count; i += 2) {
        if (part[i] ~ /^[a-z0-9_]+\.(c|cc|h|def|py|sh|mjs)$/)
            check_name(part[i])
        w = part[i]
        sub(/\(.*\)$/, "", w)
        if (w ~ /^[A-Za-z][A-Za-z0-9_]*$/ && w ~ /_|[a-z][A-Z]/) {
            identifiers++
            if (!(w in word))
                complain("no source has " w)
        }
    }
    next
}

# Comments of sources.
{
    split_line()
    if (text ~ /^[ \t]*#[ \t]*include/)
        next
    if (text ~ /^ *(\/\*|\*|\/\/)/)
        ;
    else if (!match(text, /\/\*|\/\//))
        next
    else
        text = substr(text, RSTART)
    text = " " text
    while (match(text, /[^A-Za-z0-9_.\/<>*-][a-z0-9_]+\.(c|cc|h|def|py|sh|mjs)[^A-Za-z0-9_(]/)) {
        check_name(substr(text, RSTART + 1, RLENGTH - 2))
        text = substr(text, RSTART + RLENGTH - 1)
    }
}

END {
    printf "%d paths, %d names of files, %d identifiers: %d name nothing\n", paths, names, identifiers, failures
    exit failures > 0
}' "$work/tree" "$work/words" "$work/coded" "$work/comments" "$work/examples" "$work/lines" "$work/quoted" "$work/named"
