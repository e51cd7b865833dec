#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Checks the structure of the sources: who may call and include whom, and how large files, lines and structs are.
#
#   check_structure.sh SOURCES LIBRARY ...
#
# SOURCES is the root of the source tree, a LIBRARY one of the static libraries that are built from its folders
# (libwebnn_codegen_lower.a of the folder codegen/lower).  Needs nm, awk and find only.  Prints what violates a rule; exits with 1 if
# anything does.
#
# A rule that is broken today for a reason has that reason in one of the lists of exceptions below.  An exception that is no
# longer needed is a violation, too, so that the lists only shrink.
set -u

[ $# -ge 2 ] || { sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
sources=$1
shift
cd "$sources" || exit 2
scratch=$(mktemp -d) || exit 2
trap 'rm -rf "$scratch"' EXIT
failed=0

fail() {
    printf '%s\n' "$1"
    failed=1
}

code() { # FOLDER ...: the C and C++ files below
    find "$@" -type f \( -name '*.c' -o -name '*.h' -o -name '*.cc' \) | sort
}

# ------------------------------------------------------------------------------------------------ cycles

# Reads edges, "FROM TO" a line; prints those that are part of a cycle or on a way from one cycle to another.
cycles() {
    sort -u | awk '
        $1 != $2 { from[++n] = $1; to[n] = $2 }
        END {
            do {
                split("", has_out); split("", has_in)
                for (i = 1; i <= n; i++) if (i in from) { has_out[from[i]] = 1; has_in[to[i]] = 1 }
                removed = 0
                for (i = 1; i <= n; i++)
                    if (i in from && (!(to[i] in has_out) || !(from[i] in has_in))) { delete from[i]; removed = 1 }
            } while (removed)
            for (i = 1; i <= n; i++) if (i in from) print from[i] " -> " to[i]
        }'
}

# "CALLER CALLED" by the names of object files, of all calls between the members of the libraries; "symbol" as a third word.
calls() {
    nm -A -P "$@" 2>/dev/null | awk '
        { member = $1; sub(/.*\[/, "", member); sub(/\.cc?\.o\]:$/, "", member) }
        $3 ~ /^[TDBRVW]$/ { defined_in[$2] = member }
        $3 == "U" { caller[++n] = member; symbol[n] = $2 }
        END { for (i = 1; i <= n; i++) if (symbol[i] in defined_in) print caller[i], defined_in[symbol[i]], symbol[i] }'
}

# Files of codegen/lower call and include files below them only (codegen/lower/lower.c lists the layers).
library=
for candidate in "$@"; do
    case $candidate in *libwebnn_codegen_lower.a) library=$candidate ;; esac
done
if [ -z "$library" ] || [ ! -e "$library" ]; then
    fail "The library of codegen is not among the arguments, so that its calls cannot be checked."
else
    code codegen/lower | sed 's|.*/||; s|\.[a-z]*$||' | sort -u >"$scratch/lower"
    code codegen | grep -v '^codegen/lower/' | sed 's|.*/||; s|\.[a-z]*$||' | sort -u | comm -12 - "$scratch/lower" >"$scratch/twice"
    [ -s "$scratch/twice" ] && fail "A file of codegen/lower has the name of another one in codegen: $(tr '\n' ' ' <"$scratch/twice")"
    calls "$library" | awk 'FILENAME == ARGV[1] { lower[$1]; next } $1 in lower && $2 in lower { print $1, $2 }' "$scratch/lower" - >"$scratch/edges"
    [ "$(wc -l <"$scratch/edges")" -ge 20 ] || fail "nm finds hardly any calls in $library: is this the library of codegen?"
    for file in $(code codegen/lower); do
        name=$(basename "$file" | sed 's|\.[a-z]*$||')
        sed -n "s|^#include \"codegen/lower/\(.*\)\.h\"|$name \1|p" "$file" >>"$scratch/edges"
    done
    cycles <"$scratch/edges" >"$scratch/cycles"
    [ -s "$scratch/cycles" ] && fail "Files of codegen/lower call or include each other in circles:
$(sed 's/^/    /' "$scratch/cycles")"
fi

# Calls through pointers are not seen above.  One leads back up, and is the stated exception: expr_value of struct emitter.  An
# index may be data, so that index.c needs expressions, which need loads, which need indices.
found=$(grep -n '(\*' codegen/lower/emitter.h | grep -v '(\*expr_value)(')
[ -n "$found" ] && fail "struct emitter has a pointer to a function that is not a stated exception: $found"
grep -q '(\*expr_value)(' codegen/lower/emitter.h ||
    fail "struct emitter has no expr_value: the exception for it in check_structure.sh is no longer needed."

# ------------------------------------------------------------------------------------------------ includes

# Headers of LLVM are included in codegen only, and not by what lowers kernels and prints OpenCL C; those of oneDNN in runtime/engine/onednn only.
found=$(code ir passes codegen runtime frontend include tests bench examples | grep -v '^codegen/' | xargs grep -l '^#include *<llvm')
[ -n "$found" ] && fail "Headers of LLVM are included outside of codegen: $found"
found=$(code codegen/lower codegen/opencl | xargs grep -lE '^#include *<llvm|LLVM(Build|Type|Value|Const)')
[ -n "$found" ] && fail "LLVM is used in codegen/lower or codegen/opencl: $found"
found=$(code ir passes codegen runtime frontend include examples | grep -v '^runtime/engine/onednn/' |
    xargs grep -lE '^#include *[<"](oneapi/)?dnnl')
[ -n "$found" ] && fail "Headers of oneDNN are included outside of runtime/engine/onednn: $found"

# What each folder may include: FOLDER, then folders and headers, those below included.  The longest FOLDER counts.
cat >"$scratch/rules" <<'RULES'
include                 webnn
ir                      webnn ir
ir/support              webnn ir/support
ir/graph                webnn ir/support ir/graph ir/text
ir/text                 webnn ir/support ir/graph ir/text
ir/interpret            webnn ir/support ir/graph ir/interpret
ir/rules                webnn ir/support ir/graph ir/rules
ir/kernel               webnn ir/support ir/graph/type.h ir/rules ir/kernel
ir/loop                 webnn ir/support ir/text ir/loop
ir/expansion            webnn ir/support ir/graph ir/kernel ir/expansion
ir/target               webnn ir/support ir/graph ir/kernel ir/target
ir/schedule             webnn ir/support ir/graph ir/kernel ir/target ir/schedule ir/program.h
passes                  webnn ir passes
codegen                 webnn ir codegen
codegen/lower            webnn ir codegen/lower
codegen/llvm            webnn ir codegen/codegen.h codegen/lower codegen/llvm
codegen/object          webnn ir codegen/codegen.h codegen/kernel_abi.h codegen/lower codegen/llvm codegen/object
codegen/opencl          webnn ir codegen/lower codegen/opencl
codegen/plugin          webnn ir codegen/codegen.h codegen/object/object.h codegen/plugin
runtime/host            webnn ir runtime/host
runtime/program         webnn ir codegen/kernel_abi.h runtime/host runtime/engine/engine.h runtime/program
runtime/engine          webnn ir runtime/engine/library_info.h
runtime/engine/onednn   webnn ir runtime/host runtime/program runtime/engine/engine.h runtime/engine/library_info.h runtime/engine/onednn
runtime/engine/cpu      webnn ir codegen runtime/host runtime/program runtime/engine/engine.h runtime/engine/onednn runtime/engine/cpu
runtime/engine/opencl   webnn ir codegen/opencl runtime/host runtime/program runtime/engine/engine.h runtime/engine/onednn runtime/engine/opencl
runtime/compile         webnn ir passes runtime/engine/engine.h runtime/compile
runtime/api             webnn ir runtime/host runtime/program runtime/engine/engine.h runtime/engine/cpu/engine_cpu.h runtime/engine/opencl/engine_opencl.h runtime/compile runtime/api
runtime/rt              webnn ir runtime/host runtime/program runtime/engine/onednn runtime/engine/cpu
frontend                webnn ir passes codegen runtime frontend
frontend/builder        webnn ir runtime/api frontend/builder
frontend/load           webnn ir runtime/host runtime/api frontend/load
frontend/readers        webnn ir frontend/readers frontend/builder/builder.h
RULES
code include ir passes codegen runtime frontend | xargs grep -H '^#include "[a-z_]*/' | awk '
FILENAME == ARGV[1] { rule[$1] = $0; next }
{
    file = $0; sub(/:.*/, "", file)
    to = $0; sub(/[^"]*"/, "", to); sub(/".*/, "", to)
    for (folder = file; !(folder in rule); ) if (!sub(/\/[^\/]*$/, "", folder)) break
    count = split(rule[folder], allowed, " ")
    for (i = 2; i <= count; i++) if (index(to "/", allowed[i] "/") == 1) next
    print file " includes " to ", which " folder " may not."
}' "$scratch/rules" - >"$scratch/upward"
[ -s "$scratch/upward" ] && fail "$(cat "$scratch/upward")"

# Arrays and bytes grow by ir/support/array.h.  The program that webnnc has compiled around an object needs the C library alone.
found=$(code ir passes codegen runtime frontend bench | grep -v -e '^ir/support/array.c$' -e '^frontend/tools/runner/runner.c$' |
    xargs grep -l 'realloc(')
[ -n "$found" ] && fail "realloc is called outside of ir/support/array.c: $found"

# ------------------------------------------------------------------------------------------------ sizes

# No file has more than 700 lines, but: FILE and why.
cat >"$scratch/long" <<'LONG'
LONG
texts() { # FOLDER ...: the code, the tables, the texts of tests and the scripts below
    find "$@" -type f \( -name '*.c' -o -name '*.h' -o -name '*.cc' -o -name '*.def' -o -name '*.webnn' -o -name '*.sh' \
        -o -name '*.py' -o -name '*.mjs' -o -name CMakeLists.txt \) ! -path '*/corpus/*' | sort
}
texts ir passes codegen runtime frontend include tests bench examples | xargs wc -l |
    awk '$2 != "total" && $1 > 700 { print $2, $1 }' >"$scratch/lengths"
awk 'FILENAME == ARGV[1] { known[$1]; next } !($1 in known) { print $1 " has " $2 " lines; files have 700 at most." }' \
    "$scratch/long" "$scratch/lengths" >"$scratch/out"
awk 'FILENAME == ARGV[1] { long[$1]; next } NF && !($1 in long) { print $1 " has no more than 700 lines: its exception can go." }' \
    "$scratch/lengths" "$scratch/long" >>"$scratch/out"
[ -s "$scratch/out" ] && fail "$(cat "$scratch/out")"

# No line of code or of CMake's files has more than 128 columns.
{ texts ir passes codegen runtime frontend include tests bench examples; echo CMakeLists.txt; } |
    grep -E '(\.c|\.h|\.cc|\.def|CMakeLists\.txt)$' |
    xargs awk 'length($0) > 128 { print FILENAME ":" FNR " has " length($0) " columns; lines have 128 at most." }' >"$scratch/out"
[ -s "$scratch/out" ] && fail "$(cat "$scratch/out")"

# No struct has more than 25 members, but: FILE STRUCT and why.  Members are all declarations between the braces, those of
# structs inside included.
cat >"$scratch/wide" <<'WIDE'
frontend/tools/webnn_run.h run_options    the options of a program, one member each
WIDE
code ir passes codegen runtime frontend include bench examples | xargs awk '
    FNR == 1 { comment = inside = 0 }
    { # without comments
        while (match($0, /\/\*([^*]|\*+[^*\/])*\*+\//)) $0 = substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH)
        if (comment) { if (!sub(/.*\*\//, "")) next; comment = 0 }
        if (sub(/\/\*.*/, "")) comment = 1
        sub(/\/\/.*/, "")
    }
    /^(typedef )?struct( [A-Za-z0-9_]+)? \{/ {
        name = $0; sub(/ \{.*/, "", name); sub(/.*struct ?/, "", name)
        inside = 1; members = 0
        next
    }
    inside && /^\}/ {
        if (name == "") { name = $0; gsub(/[};]/, "", name); sub(/^ +/, "", name) }
        if (members > 25) print FILENAME, name, members
        inside = 0
    }
    inside { # parameters of functions may go on in the next line
        pending = pending $0
        while (gsub(/\([^()]*\)/, "", pending)) ;
        if (pending ~ /\(/) next
        members += gsub(/[,;]/, "", pending)
        pending = ""
    }' >"$scratch/widths"
awk 'FILENAME == ARGV[1] { known[$1 " " $2]; next } !(($1 " " $2) in known) { print $1 ": struct " $2 " has " $3 " members; structs have 25 at most." }' \
    "$scratch/wide" "$scratch/widths" >"$scratch/out"
awk 'FILENAME == ARGV[1] { wide[$1 " " $2]; next } NF && !(($1 " " $2) in wide) { print $1 ": struct " $2 " has no more than 25 members: its exception can go." }' \
    "$scratch/widths" "$scratch/wide" >>"$scratch/out"
[ -s "$scratch/out" ] && fail "$(cat "$scratch/out")"

# No two functions of more than 8 lines have bodies that are equal but for names and constants.
git ls-files '*.c' '*.cc' 2>/dev/null | xargs awk -f tests/structure/equal_bodies.awk >"$scratch/out"
[ -s "$scratch/out" ] && fail "Functions have equal bodies; make them one:
$(cat "$scratch/out")"

# How large the tree may be (size.sh says what counts).  A row is KIND and CEILING, or KIND + ALLOWANCE and the capability that
# it is for.  Ceilings only fall: a change that removes lines lowers them.
cat >"$scratch/ceilings" <<'CEILINGS'
product 107676
product + 2500  the specification of 2026-06-26 and faults that public reports led to
product + 3500  Python
product + 1500  ONNX files and ONNX Runtime Web in the Node package
product + 800   webnn-run --report
product + 25    pictures for models whose batch is open
product + 920   runs that are cancelled, chosen outputs, element types and futures in C++
product + 1500  other machines and packaging
product + 2000  starting at once
product + 6000  models that were refused
product + 6000  named dimensions
product + 710   named dimensions in files and objects
product + 4000  faster kernels
product + 60    prices fitted to measurements
tests 76226
tests + 4000    the specification of 2026-06-26 and faults that public reports led to
tests + 1500    Python
tests + 600     ONNX files and ONNX Runtime Web in the Node package
tests + 300     webnn-run --report, the network in examples/models
tests + 680     runs that are cancelled, chosen outputs, element types and futures in C++
tests + 800     other machines and packaging
tests + 615     the loop IR, and devices' schedules in its interpreter
tests + 800     starting at once
tests + 1565    models that were refused
tests + 1560    named dimensions
tests + 80      named dimensions in files and objects, bounds of names in Python and Node.js
tests + 800     faster kernels
tests + 490     weights of 2 and 1 bits, data types of the low-precision draft
pages 43310
pages + 800     Python
pages + 800     ONNX files and ONNX Runtime Web in the Node package
pages + 400     webnn-run --report, the network in examples/models
pages + 200     runs that are cancelled, chosen outputs, element types and futures in C++
pages + 800     other machines and packaging
pages + 800     starting at once
pages + 800     models that were refused
pages + 800     named dimensions
pages + 800     faster kernels
CEILINGS
if sums=$(tests/structure/size.sh --sums); then
    echo "$sums" | awk 'FILENAME == ARGV[1] { ceiling[$1] += $2 == "+" ? $3 : $2; next }
        $2 > ceiling[$1] { print "The tree has " $2 ($1 == "pages" ? " words of pages" : " lines of " $1) "; " ceiling[$1] " are allowed." }' \
        "$scratch/ceilings" - >"$scratch/out"
    [ -s "$scratch/out" ] && fail "$(cat "$scratch/out")"
fi

[ "$failed" -eq 0 ] && echo "The structure is as it should be."
exit "$failed"
